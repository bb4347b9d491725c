"""Long work that says how far it is, and that can be asked to stop.

    with progress("training", total, "steps") as work:
        for batch in batches:
            ...
            work.advance()

Whoever shows it listens (``listen``), and may ask it to stop (``Work.stop``). Nobody needs to: without listeners a step
costs an addition. What runs inside other work in the same thread is nested in it.

The other half is how a wish to stop gets through while the only thread is busy. At a *safe point* nothing is half done:
between two steps of work, and where a session has just made a capture. There whoever was set by ``answer_with``, the
Hookscope kernel, may take what its users sent meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Any

from ..cpu import compiling
from ..cpu.telling import tell
from . import taps

__all__ = ["Stopped", "Work", "answer_with", "answers", "current", "listen", "progress", "safe_point"]

# Seconds between two calls of a listener while work goes on.
_INTERVAL = 0.1


class Stopped(Exception):  # noqa: N818  (a wish of the user, not an error)
    """Raised out of work that somebody asked to stop, and that leaves nothing half done."""

    def _render_traceback_(self) -> list[str]:
        """IPython, where it runs, shows these lines in place of a traceback: nothing is wrong."""
        return [str(self)]


class _PerThread(threading.local):
    innermost: Work | None = None


_here = _PerThread()
_listeners: list[Callable[[Work], None]] = []
_answer: Callable[[], None] | None = None


class Work:
    """Work under way: a context, made by ``progress``.

    Attributes:
        what: its name, as in "training".
        total: how many units there are; None where nobody knows.
        unit: what is counted, as in "steps".
        stoppable: whether it looks at ``stopping``, or raises.
        of: the cell or the session that it is about; None if it is about what it is part of, or about neither.
        detail: more about where it stands, as in "epoch 2 of 10".
        done: how many units are done.
        outer: the work that it is part of.
        began: when, by ``time.monotonic``.
        ended: whether it is over.
        thread: where it runs.
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
        self._asked_to_stop = False
        self._next_tell = 0.0

    def __enter__(self) -> Work:
        self.outer, _here.innermost = _here.innermost, self
        self.began = monotonic()
        self._next_tell = self.began + _INTERVAL
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _here.innermost = self.outer
        self.ended = True
        if _listeners:
            _tell(self)

    def advance(self, count: int = 1) -> None:
        """So many more units are done.

        Raises:
            Stopped: somebody asked for it, and this work ends that way.
        """
        self.done += count
        if _listeners and monotonic() >= self._next_tell:
            _tell(self)
            self._next_tell = monotonic() + _INTERVAL
        safe_point()
        if self._raises and self.stopping:
            asked = self
            while not asked._asked_to_stop and asked.outer is not None:
                asked = asked.outer
            raise Stopped(asked.stopped())

    def stop(self) -> None:
        """Ask it to stop; any thread may. It does after its next unit."""
        self._asked_to_stop = True

    @property
    def stopping(self) -> bool:
        """Whether it is to stop, because somebody asked it to, or the work that it is part of.

        Work that raises stays as it is inside work that ends by itself after a step: that step is to be whole.
        """
        if self._asked_to_stop or self.outer is None:
            return self._asked_to_stop
        return self.outer.stopping and (self.outer._raises or not self._raises)

    def stopped(self) -> str:
        """How far it got, as a sentence of a few words."""
        total = "" if self.total is None else f" of {self.total:,}"
        return f"{self.what} stopped after {self.done:,}{total} {self.unit}"


def progress(
    what: str, total: int | None, unit: str = "steps", *, of: Any = None, raises: bool = True, stoppable: bool = True
) -> Work:
    """Work that begins now, as a context.

    Args:
        what, total, unit, of: see ``Work``.
        raises: whether it ends by ``Stopped`` when it is asked to; without, the loop looks at ``stopping``.
        stoppable: whether it can end early at all.
    """
    return Work(what, total, unit, of, raises, stoppable)


def current() -> Work | None:
    """The innermost work under way in this thread."""
    return _here.innermost


def listen(callback: Callable[[Work], None]) -> Callable[[], None]:
    """Call ``callback(work)`` some times a second while work goes on, in its thread, and at its end.

    Returns:
        What ends that.
    """
    _listeners.append(callback)

    def unsubscribe() -> None:
        if callback in _listeners:
            _listeners.remove(callback)

    return unsubscribe


def answer_with(answer: Callable[[], None] | None) -> None:
    """Set what is called at each safe point; it is called often, and must cost nothing while nothing was sent."""
    global _answer
    _answer = answer


def answers() -> bool:
    """Whether somebody answers at safe points."""
    return _answer is not None


def safe_point() -> None:
    """Nothing is half done here: what users sent meanwhile may be answered."""
    if _answer is not None:
        _answer()


def _tell(work: Work) -> None:
    with taps.muted():
        for callback in tuple(_listeners):
            try:
                callback(work)
            except Exception as error:  # a view that fails must not end the user's work
                if callback in _listeners:
                    _listeners.remove(callback)
                tell(f"hookscope: progress: a listener raised {type(error).__name__}: {error}")


# The rooms below tell of long work by a function that is set here.
compiling.show_with(lambda what, total: progress(what, total, raises=False, stoppable=False))
