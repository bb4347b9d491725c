"""Progress of long work, and requests to stop it.

    with progress("training", total, "steps") as work:
        for batch in batches:
            ...
            work.advance()

Listeners (``listen``) display the progress, and may request a stop (``Work.stop``). They are optional: without
listeners a step costs an addition. Work that runs inside other work in the same thread is nested in it.

A request to stop must arrive while the only thread is busy. This happens at *safe points*, where all state is
consistent: between two steps of work, and after each capture of a session. There the callback set by ``answer_with``,
the Hookscope kernel's, may handle the messages that its users sent meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Any

from ..cpu import compiling
from ..cpu.notices import tell
from . import taps

__all__ = ["Stopped", "Work", "answer_with", "answers", "current", "listen", "progress", "safe_point"]

# Seconds between two calls of a listener while work goes on.
_INTERVAL = 0.1


class Stopped(Exception):  # noqa: N818  (a request of the user, not an error)
    """Raised by work that was requested to stop; state is consistent."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback, since there is no error."""
        return [str(self)]


class _PerThread(threading.local):
    innermost: Work | None = None


_thread_state = _PerThread()
_listeners: list[Callable[[Work], None]] = []
_answer: Callable[[], None] | None = None


class Work:
    """Work in progress: a context, made by ``progress``.

    Attributes:
        what: its name, as in "training".
        total: the number of units; None if unknown.
        unit: the name of the units, as in "steps".
        stoppable: whether it checks ``stopping``, or raises.
        of: the cell or the session that it concerns; None if it concerns its outer work's, or neither.
        detail: its current position, as in "epoch 2 of 10".
        done: the number of completed units.
        outer: the work that contains it.
        began: its start, by ``time.monotonic``.
        ended: whether it has ended.
        thread: the thread that runs it.
    """

    def __init__(self, what: str, total: int | None, unit: str, of: Any, raises: bool, stoppable: bool) -> None:
        self.what = what
        self.total = total
        self.unit = unit
        self.of = of
        self.detail = ""
        self.done = 0
        self.outer: Work | None = None
        self.began = 0.0
        self.ended = False
        self.thread = threading.current_thread()
        self._raises = raises
        self.stoppable = stoppable
        self._stop_requested = False
        self._next_notification = 0.0

    def __enter__(self) -> Work:
        self.outer, _thread_state.innermost = _thread_state.innermost, self
        self.began = monotonic()
        self._next_notification = self.began + _INTERVAL
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _thread_state.innermost = self.outer
        self.ended = True
        if _listeners:
            _notify_listeners(self)

    def advance(self, count: int = 1) -> None:
        """Add completed units.

        Raises:
            Stopped: a stop was requested, and this work raises.
        """
        self.done += count
        if _listeners and monotonic() >= self._next_notification:
            _notify_listeners(self)
            self._next_notification = monotonic() + _INTERVAL
        safe_point()
        if self._raises and self.stopping:
            origin = self
            while not origin._stop_requested and origin.outer is not None:
                origin = origin.outer
            raise Stopped(origin.stopped())

    def stop(self) -> None:
        """Request it to stop, from any thread. It does after its next unit."""
        self._stop_requested = True

    @property
    def stopping(self) -> bool:
        """Whether a stop was requested, of it or of the work that contains it.

        Work that raises does not stop inside work that ends by itself after a step, so that this step is completed.
        """
        if self._stop_requested or self.outer is None:
            return self._stop_requested
        return self.outer.stopping and (self.outer._raises or not self._raises)

    def stopped(self) -> str:
        """Return the amount of completed work, as a short sentence."""
        total = "" if self.total is None else f" of {self.total:,}"
        return f"{self.what} stopped after {self.done:,}{total} {self.unit}"


def progress(
    what: str, total: int | None, unit: str = "steps", *, of: Any = None, raises: bool = True, stoppable: bool = True
) -> Work:
    """Return new work, as a context.

    Args:
        what, total, unit, of: see ``Work``.
        raises: whether a request to stop raises ``Stopped``; otherwise the loop checks ``stopping``.
        stoppable: whether it can end early at all.
    """
    return Work(what, total, unit, of, raises, stoppable)


def current() -> Work | None:
    """Return the innermost work in progress in this thread."""
    return _thread_state.innermost


def listen(callback: Callable[[Work], None]) -> Callable[[], None]:
    """Call ``callback(work)`` several times a second while work proceeds, in its thread, and at its end.

    Returns:
        A function that ends the calls.
    """
    _listeners.append(callback)

    def unsubscribe() -> None:
        if callback in _listeners:
            _listeners.remove(callback)

    return unsubscribe


def answer_with(answer: Callable[[], None] | None) -> None:
    """Set the callback of each safe point; it is called often, and must be free if there are no messages."""
    global _answer
    _answer = answer


def answers() -> bool:
    """Return whether a callback of safe points is set."""
    return _answer is not None


def safe_point() -> None:
    """Run the callback of safe points, if set: state is consistent here."""
    if _answer is not None:
        _answer()


def _notify_listeners(work: Work) -> None:
    with taps.mute():
        for callback in tuple(_listeners):
            try:
                callback(work)
            except Exception as error:  # a view that fails must not end the user's work
                if callback in _listeners:
                    _listeners.remove(callback)
                tell(f"hookscope: progress: a listener raised {type(error).__name__}: {error}")


# Packages that cannot import this module report long work by a function that is set here.
compiling.show_with(lambda what, total: progress(what, total, raises=False, stoppable=False))
