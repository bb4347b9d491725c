"""Stepper through the Python code of one thread, line by line.

One rule decides each stop. The command of a stop determines a set of frames; the next line that runs in one of them, or
the next exception that reaches one, is the next stop:

- over: the frame of the stop, and its callers;
- out: its callers;
- into: any followed frame;
- the other commands: none.

Return events are not needed for this: a frame that has ended runs no more lines, and its callers are in the set. A line
with a breakpoint is a stop after each command. ``tracing`` reports lines only while a command or a breakpoint needs
them, so code that is not stepped has no overhead.
"""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any

from hookscope.engine.tape import taps

from ..pause import DebugAbort, check_command
from . import tracing
from .user_code import is_user_code
from .variables import Change, assign, variables

__all__ = ["Stepper", "Stop", "code_of", "is_user_code", "user_frame"]

# The end of an iteration is not reported, unless it leaves the function that is stepped.
_ENDS_OF_ITERATION = (StopIteration, StopAsyncIteration)


class Stop:
    """One stop of a stepper: a frame that is about to run ``line``, or raised ``exception`` there."""

    def __init__(self, frame: FrameType, line: int, exception: BaseException | None = None) -> None:
        self.frame = frame
        self.line = line
        self.exception = exception

    def locals(self) -> dict[str, object]:
        """Return the local variables by name, as a new dictionary."""
        return variables(self.frame)

    def assign(self, name: str, value: object) -> Change:
        """Assign a variable of the frame, or with ``NAME[INDEX]`` one item of it: see ``variables``."""
        return assign(self.frame, name, value)


class Stepper:
    """Stepper of one thread.

    Args:
        on_stop: called at each stop, in the stopped thread; returns one of the commands.
        user_code: returns whether code is followed by "into", "over" and "out".
        on_line: called at each line that is reported, before a stop at it.
        breaks_at: returns whether a breakpoint stops a frame at the line that it is about to run.
        may_break: returns whether code has a line breakpoint; lines of such code are always reported.
        has_breakpoints: returns whether there are line breakpoints.
        on_change: called when the stepping has begun or ended.
        may_enter: returns whether "into" stops in a followed frame: for library code, its caller decides.

    Attributes:
        shown_errors: propagating errors that were already shown.
        aborted: whether the last command was "abort".
    """

    def __init__(
        self,
        on_stop: Callable[[Stop], str],
        user_code: Callable[[CodeType], bool] = is_user_code,
        on_line: Callable[[FrameType], None] | None = None,
        breaks_at: Callable[[FrameType], bool] = lambda frame: False,
        may_break: Callable[[CodeType], bool] = lambda code: False,
        has_breakpoints: Callable[[], bool] = lambda: False,
        on_change: Callable[[], None] = lambda: None,
        may_enter: Callable[[FrameType], bool] = lambda frame: True,
    ) -> None:
        self._on_stop = on_stop
        self._user_code = user_code
        self._on_line = on_line
        self._breaks_at = breaks_at
        self._may_break = may_break
        self._has_breakpoints = has_breakpoints
        self._on_change = on_change
        self._may_enter = may_enter
        self._targets: set[FrameType] = set()
        self._entering = False
        self._entered: CodeType | None = None
        self._roots: list[CodeType] = []  # of the functions that ``call`` runs
        self._calls = 0
        self._outermost: FrameType | None = None
        self.shown_errors: list[BaseException] = []
        self.aborted = False
        self._is_closed = False
        self._pending_abort = False

    # Listener of the tracing

    @property
    def stepping(self) -> bool:
        """True after "over", "into" or "out", until the next stop."""
        return bool(self._entering or self._targets or self._entered)

    @property
    def finished(self) -> bool:
        """True if no line is a stop now or later."""
        return self._is_closed or not (self.stepping or self._pending_abort or self._has_breakpoints())

    def follows(self, code: CodeType) -> bool:
        """Return whether lines of this code are relevant."""
        return ((self.stepping or self._calls) and self._is_users(code)) or self._may_break(code)

    def _is_users(self, code: CodeType) -> bool:
        return any(code is root for root in self._roots) or self._user_code(code)

    def at_line(self, frame: FrameType) -> None:
        """Stop at the line that a followed frame is about to run, if required."""
        if self._pending_abort and frame in self._targets and not leaves_with(frame):
            self._pending_abort = False
            self.forget()
            raise DebugAbort("aborted from the debugger")
        if self._pending_abort or (self._entered is not None and frame.f_code is not self._entered):
            return
        if taps.is_muted():  # a check runs the user's code once more, on a copy
            return
        is_entered = self._may_enter(frame)
        if self._on_line is not None and is_entered:
            self._on_line(frame)
        # The breakpoint first: it counts its passes.
        if (
            self._breaks_at(frame)
            or self._entered is not None
            or (self._entering and is_entered)
            or frame in self._targets
        ):
            self._stop(Stop(frame, frame.f_lineno), frame)

    def raised(self, frame: FrameType, error: BaseException, trace: TracebackType | None) -> None:
        """Show an exception of a followed frame, once, where the user's code raised it."""
        if self._entered is not None or not (self._entering or frame in self._targets) or taps.is_muted():
            return
        if not isinstance(error, Exception) or isinstance(error, (*_ENDS_OF_ITERATION, DebugAbort)):
            return
        if self.was_shown(error):
            return
        self.shown_errors.append(error)
        self._stop(user_frame(error, self.follows, trace) or Stop(frame, frame.f_lineno, error), frame)

    def ended(self, frame: FrameType) -> None:
        """End the stepping with the outermost frame of the last stop: what runs next is not what was stepped."""
        if frame is self._outermost:
            self.forget()
            self._on_change()

    # Commands

    def was_shown(self, error: BaseException) -> bool:
        """Return whether a propagating exception was shown at a stop."""
        return any(error is shown_error for shown_error in self.shown_errors)

    def obey(self, command: str, frame: FrameType | None) -> None:
        """Apply a command at a stop whose innermost running frame is ``frame``."""
        self.forget()
        self.aborted = command == "abort"
        if command in ("over", "into", "out"):
            callers = list(self.callers(frame))
            while callers and not is_user_code(callers[-1].f_code) and callers[-1].f_code not in self._roots:
                callers.pop()  # what runs the user's code: a notebook, a test
            self._outermost = callers[-1] if callers else None
            self._entering = command == "into"
            self._targets = set(callers[1:] if command == "out" else callers)
        self.listen(frame)
        self._on_change()

    def listen(self, frame: FrameType | None) -> None:
        """Trace this thread exactly while there is a reason to."""
        if self.finished:
            if not self._calls and sys.exception() is None:
                self.shown_errors.clear()
            tracing.untrace(self, frame)
        else:
            tracing.trace(self, frame)

    def forget(self) -> None:
        """Forget the last command, and release the frames, which hold every local variable."""
        self._targets = set()
        self._entering = False
        self._entered = None
        self._outermost = None

    @property
    def entering(self) -> bool:
        """True after "into", until the next stop."""
        return self._entering

    def close(self) -> None:
        """Stop never again: the session or the thread has ended."""
        self.forget()
        self._is_closed = True
        self._pending_abort = False
        self.shown_errors.clear()

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], stops_first: bool = True) -> Any:
        """Return ``function(*args)``, stepped: its lines are followed, whoever wrote it.

        Args:
            function: the function.
            args: its arguments.
            stops_first: whether its first line is a stop, even if a decorator that names it (``functools.wraps``) runs
                lines of its own before.

        Raises:
            DebugAbort: a stop was ended by "abort".
        """
        root = code_of(function)
        if root is not None:
            self._roots.append(root)
        if stops_first:
            self._entered = root
            self._entering = self._entering or root is None
        self._calls += 1
        try:
            self.listen(sys._getframe())
            return function(*args)
        finally:
            self._calls -= 1
            if root is not None:
                self._roots.remove(root)
                if self._entered is root:  # it ran no line
                    self._entered = None
            self.listen(sys._getframe())
            tracing.restore()
            if self.aborted and not isinstance(sys.exception(), DebugAbort):  # the function itself swallowed it
                raise DebugAbort("aborted from the debugger")

    def stop_at_error(self, stop: Stop, frame: FrameType) -> None:
        """Show an exception that leaves a function; ``frame`` is the innermost running frame.

        Raises:
            DebugAbort: the stop was ended by "abort".
        """
        assert stop.exception is not None
        self.shown_errors.append(stop.exception)
        self._stop(stop, frame)

    def _stop(self, stop: Stop, frame: FrameType) -> None:
        """Stop, and apply the command from ``frame``, the innermost running frame, outwards."""
        self.forget()  # an exception from on_stop ends the stepping
        with tracing.suspended(frame):
            command = check_command(self._on_stop(stop))
        self.obey(command, frame)
        if command == "abort" and stop.exception is None and leaves_with(frame):
            # An exception here would skip ``__exit__``: it is raised at the next line.
            self._pending_abort = True
            self._targets = set(self.callers(frame))
            self.listen(frame)
            return
        if command == "abort":
            raise DebugAbort("aborted from the debugger") from stop.exception

    def callers(self, frame: FrameType | None) -> Iterator[FrameType]:
        """Yield the frames of the user's code from ``frame`` outwards."""
        while frame is not None:
            if self._is_users(frame.f_code):
                yield frame
            frame = frame.f_back

    def nearest(self, frame: FrameType) -> FrameType | None:
        """Return the innermost of these frames."""
        return next(self.callers(frame), None)


def leaves_with(frame: FrameType) -> bool:
    """Return whether a frame that is about to run a line leaves a ``with`` block there, by a call of ``__exit__``."""
    code, offset = frame.f_code, frame.f_lasti
    following = [item for item in dis.get_instructions(code) if item.offset >= offset and item.opname != "NOP"][:3]
    return len(following) == 3 and all(item.opname == "LOAD_CONST" and item.argval is None for item in following)


def code_of(function: Callable[..., Any]) -> CodeType | None:
    """Return the code of a function, without its decorators."""
    unwrapped = inspect.unwrap(function)
    return getattr(getattr(unwrapped, "__func__", unwrapped), "__code__", None)


def user_frame(
    error: BaseException, user_code: Callable[[CodeType], bool] = is_user_code, trace: TracebackType | None = None
) -> Stop | None:
    """Return the stop where the user's code raised ``error``: the innermost user frame in its traceback."""
    innermost = None
    trace = trace or error.__traceback__
    while trace is not None:
        if user_code(trace.tb_frame.f_code):
            innermost = trace
        trace = trace.tb_next
    return None if innermost is None else Stop(innermost.tb_frame, innermost.tb_lineno, error)
