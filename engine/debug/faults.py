"""Faults of the debugger itself. The first fault of each subject is reported, and the user's run continues.

A condition whose formula raises, a tap, an observer or a view that fails must not end a training. The report is one
line on standard error; the traceback goes to Python's logger "hookscope.debug" and to ``DebugSession.faults``. Three
kinds of exceptions are not faults and always propagate: ``KeyboardInterrupt`` and anything else that is not an
``Exception``; ``DebugAbort`` and ``Stopped``; and exceptions of the user's own code (``let_pass``).
"""

from __future__ import annotations

import functools
import logging
import traceback
from collections.abc import Hashable
from types import TracebackType
from typing import NamedTuple, Protocol

from hookscope.engine.cpu.notices import tell
from hookscope.engine.tape.progress import Stopped

from .stop.pause import DebugAbort

__all__ = ["Fault", "FaultReporter", "Faults", "kernel_faults", "let_pass", "log_fault", "suppress_faults"]

# Places are few, but each observer is one.
_MAX_FAULTS = 100

_log = logging.getLogger("hookscope.debug")
# Without any handler Python would print the whole traceback in the middle of a training.
_log.addHandler(logging.NullHandler())

# Exceptions that the user requested.
_WISHES = (DebugAbort, Stopped)
_PASSES = "_hookscope_passes"


class Fault(NamedTuple):
    """An exception of the debugger itself.

    Attributes:
        place: the place in the debugger, in a few words: "condition 'nan'", "the view 'captures'".
        error: the class and the message of the exception, one line.
        traceback: the traceback as text.
    """

    place: str
    error: str
    traceback: str


class Faults:
    """Reporter of the faults of one session.

    Args:
        name: the name of the session in messages.
        tracebacks: the location of the tracebacks, for messages.
    """

    def __init__(self, name: str, tracebacks: str = "session.faults, and the log 'hookscope.debug'") -> None:
        self._name = name
        self._tracebacks = tracebacks
        self._faults: dict[Hashable, Fault] = {}

    def all(self) -> tuple[Fault, ...]:
        """Return the faults so far, the first of each subject, oldest first."""
        return tuple(self._faults.values())

    def report_fault(self, subject: str, error: BaseException, key: Hashable = None) -> bool:
        """Report an exception, once for its subject; return whether the run continues as if it had not been raised.

        Args:
            subject: what raised it, in a few words: "condition 'nan'", "the view 'captures'".
            error: the exception.
            key: distinguishes subjects of the same name.
        """
        if not isinstance(error, Exception) or isinstance(error, _WISHES) or getattr(error, _PASSES, False):
            return False
        if (subject, key) not in self._faults and len(self._faults) < _MAX_FAULTS:
            self._faults[subject, key] = fault = log_fault(subject, error)
            tell(
                f"hookscope: {self._name}: {subject} raised {fault.error}; the run goes on without it "
                f"(traceback: {self._tracebacks})"
            )
        return True

    def at(self, subject: str) -> suppress_faults:
        """Return a context that suppresses exceptions that are faults, and reports them."""
        return suppress_faults(self, subject)


class FaultReporter(Protocol):
    """Reporter of faults: ``Faults``, or a session."""

    def report_fault(self, subject: str, error: BaseException) -> bool:
        """Report an exception; return whether the run continues as if it had not been raised."""
        ...


class suppress_faults:  # noqa: N801  (a context manager, used as a function)
    """Context manager for optional work: an exception inside is reported and ends the block.

    Args:
        faults: the reporter.
        subject: the block, in a few words.
    """

    __slots__ = ("_faults", "_subject")

    def __init__(self, faults: FaultReporter, subject: str) -> None:
        self._faults = faults
        self._subject = subject

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return error is not None and self._faults.report_fault(self._subject, error)


def log_fault(subject: str, error: BaseException) -> Fault:
    """Write an exception with its traceback to the log, and return both as text."""
    try:
        message = " ".join(str(error).split())
    except Exception as secondary:  # the text of an exception of a user's class
        message = f"<its text raised {type(secondary).__name__}>"
    name = type(error).__name__
    fault = Fault(subject, f"{name}: {message}" if message else name, "".join(traceback.format_exception(error)))
    _log.error("%s raised %s\n%s", subject, fault.error, fault.traceback)
    return fault


@functools.cache
def kernel_faults() -> Faults:
    """Return the reporter of a kernel's faults that belong to none of its sessions."""
    return Faults("kernel", "the log 'hookscope.debug'")


def let_pass(error: BaseException) -> None:
    """Mark an exception as the user's own, so that it ends the run as one of a hook would."""
    object.__setattr__(error, _PASSES, True)
