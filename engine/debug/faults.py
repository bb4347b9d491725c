"""Faults of the debugger itself: each is reported once for its place, and the user's run goes on.

A condition whose formula raises, a tap that fails, an observer, a view: none of them may end a training. The report is
one line on standard error; the traceback goes to Python's logger "hookscope.debug", and is kept in
``DebugSession.faults``. Three kinds of exceptions are not faults and always pass: ``KeyboardInterrupt`` and whatever
else is not an ``Exception``, ``DebugAbort`` and ``Stopped``, and what the user's own code raised (``let_pass``).
"""

from __future__ import annotations

import functools
import logging
import traceback
from collections.abc import Hashable
from types import TracebackType
from typing import NamedTuple, Protocol

from hookscope.engine.cpu.telling import tell
from hookscope.engine.tape.progress import Stopped

from .stop.pause import DebugAbort

__all__ = ["Fault", "Faults", "Forgiving", "forgiven", "kernel_faults", "let_pass", "log_fault"]

# There are few places; observers, of which each is one, may be many.
_MAX_FAULTS = 100

_log = logging.getLogger("hookscope.debug")
# Without any handler Python would print the whole traceback in the middle of a training.
_log.addHandler(logging.NullHandler())

# What the user asked for.
_WISHES = (DebugAbort, Stopped)
_PASSES = "_hookscope_passes"


class Fault(NamedTuple):
    """An exception of the debugger's own.

    Attributes:
        place: where in the debugger, in a few words: "condition 'nan'", "the view 'captures'".
        error: the class and the text of the exception, one line.
        traceback: the traceback as text.
    """

    place: str
    error: str
    traceback: str


class Faults:
    """Reports the faults of one session.

    Args:
        name: what messages call the session.
        kept: where the user finds the tracebacks.
    """

    def __init__(self, name: str, kept: str = "session.faults, and the log 'hookscope.debug'") -> None:
        self._name = name
        self._kept = kept
        self._faults: dict[Hashable, Fault] = {}

    def all(self) -> tuple[Fault, ...]:
        """Return the faults so far, the first of each place, oldest first."""
        return tuple(self._faults.values())

    def forgives(self, place: str, error: BaseException, key: Hashable = None) -> bool:
        """Report an exception, once for its place; return whether the run is to go on as if it had not come.

        Args:
            place: where in the debugger, in a few words.
            error: the exception.
            key: tells places of one name apart.
        """
        if not isinstance(error, Exception) or isinstance(error, _WISHES) or getattr(error, _PASSES, False):
            return False
        if (place, key) not in self._faults and len(self._faults) < _MAX_FAULTS:
            self._faults[place, key] = fault = log_fault(place, error)
            tell(
                f"hookscope: {self._name}: {place} raised {fault.error}; the run goes on without it "
                f"(traceback: {self._kept})"
            )
        return True

    def at(self, place: str) -> forgiven:
        """Return a context that ends without an exception if what is inside raises one that is forgiven."""
        return forgiven(self, place)


class Forgiving(Protocol):
    """Whoever reports faults: ``Faults``, or a session."""

    def forgives(self, place: str, error: BaseException) -> bool:
        """Report an exception; return whether the run is to go on as if it had not come."""
        ...


class forgiven:  # noqa: N801  (a context, used as a function)
    """A context around what the run can do without: what raises in it is reported, and the block is left.

    Args:
        faults: whoever reports it.
        place: where in the debugger, in a few words.
    """

    __slots__ = ("_faults", "_place")

    def __init__(self, faults: Forgiving, place: str) -> None:
        self._faults = faults
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return error is not None and self._faults.forgives(self._place, error)


def log_fault(place: str, error: BaseException) -> Fault:
    """Write an exception with its traceback to the log, and return both as text."""
    try:
        said = " ".join(str(error).split())
    except Exception as second:  # the text of an exception of a user's class
        said = f"<its text raised {type(second).__name__}>"
    name = type(error).__name__
    fault = Fault(place, f"{name}: {said}" if said else name, "".join(traceback.format_exception(error)))
    _log.error("%s raised %s\n%s", place, fault.error, fault.traceback)
    return fault


@functools.cache
def kernel_faults() -> Faults:
    """Return what reports the faults of a kernel that are of no session."""
    return Faults("kernel", "the log 'hookscope.debug'")


def let_pass(error: BaseException) -> None:
    """Mark an exception as the user's own, so that the run ends by it as it would by one of a hook."""
    object.__setattr__(error, _PASSES, True)
