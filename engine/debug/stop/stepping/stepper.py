"""Stepper through Python functions, line by line.

One rule decides each stop. The command of a stop determines a set of frames; the next line that runs in one of them, or
the next exception that reaches one, is the next stop:

- over: the frame of the stop, and its callers;
- out: its callers;
- into: any frame of the user's code;
- operator: none; the observer of operators calls ``Stepper.stop_at``.

Return and unwind events are not needed: a frame that has ended runs no more lines, and its callers are in the set. A
line with a breakpoint is a stop after each of these commands, and after "continue". ``tracing`` reports the lines only
while ``Stepper.call`` runs, so code that is not stepped has no overhead.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any

from ..pause import DebugAbort, check_command
from .tracing import Tracing, tracing
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
    """Stepper of one function, which stops at its lines and at exceptions.

    Args:
        on_stop: called at each stop, in the stopped thread; returns one of the commands. The first stop is the first
            line of the function, even if a decorator that names it (``functools.wraps``) runs lines of its own before.
        user_code: returns whether "into" enters a code object.
        on_line: called at each line of that code, before a stop at it, until a command ends the stepping.
        shown_errors: propagating errors that were already shown; nested steppers share the list.
        breaks_at: returns whether a breakpoint stops a frame at the line that it is about to run.
        may_break: returns whether there are line breakpoints, so that "continue" keeps checking lines.
        stops_first: whether the first line is a stop without a breakpoint.
    """

    def __init__(
        self,
        on_stop: Callable[[Stop], str],
        user_code: Callable[[CodeType], bool] = is_user_code,
        on_line: Callable[[FrameType], None] | None = None,
        shown_errors: list[BaseException] | None = None,
        breaks_at: Callable[[FrameType], bool] = lambda frame: False,
        may_break: Callable[[], bool] = lambda: False,
        stops_first: bool = True,
    ) -> None:
        self._on_stop = on_stop
        self._user_code = user_code
        self._on_line = on_line
        self._shown_errors = [] if shown_errors is None else shown_errors
        self._breaks_at = breaks_at
        self._may_break = may_break
        self._stops_first = stops_first
        self._course: _Course | None = None
        self._courses: _Courses | None = None

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(*args)``, with stops on the way; a stepper makes one call.

        Calls may be nested: the inner one stops by its own commands. If both step the same function, the outer one
        stops in it too. Threads step independently.

        Raises:
            DebugAbort: a stop was ended by "abort".
        """
        root = code_of(function)
        self._course = course = _Course(
            self._on_stop,
            self._user_code,
            self._on_line,
            self._shown_errors,
            root,
            sys._getframe(),
            self._breaks_at,
            self._may_break,
            self._stops_first,
        )
        running = _thread.running
        try:
            if running and running[-1].waits_for(root):
                self._courses = running[-1]
                running[-1].courses.append(course)
                return function(*args)
            self._courses = _Courses(course, root)
            running.append(self._courses)
            try:
                return self._courses.tracing.run(function, args)
            finally:
                running.pop()
        finally:
            course.end()
            if course.aborted and not isinstance(sys.exception(), DebugAbort):  # the function itself swallowed it
                raise DebugAbort("aborted from the debugger")

    def callers(self, frame: FrameType) -> Iterator[FrameType]:
        """Return the frames of the user's code in the stepped call, from ``frame`` outwards."""
        return iter(()) if self._course is None else self._course.callers(frame)

    def nearest(self, frame: FrameType) -> FrameType | None:
        """Return the innermost of these frames."""
        return next(self.callers(frame), None)

    def stop_at(self, frame: FrameType) -> None:
        """Stop now, at the current line of ``frame``.

        Raises:
            DebugAbort: the stop was ended by "abort".
        """
        if self._course is None or self._courses is None or self._course.finished:
            return
        self._courses.is_stopped = True
        try:
            self._course.stop(Stop(frame, frame.f_lineno), frame)
        finally:
            self._courses.is_stopped = False
            if self._courses.finished:
                self._courses.tracing.release(frame)


def code_of(function: Callable[..., Any]) -> CodeType | None:
    """Return the code of a function, without its decorators."""
    unwrapped = inspect.unwrap(function)
    return getattr(getattr(unwrapped, "__func__", unwrapped), "__code__", None)


class _Course:
    """Decision at which lines one stepper stops, by the rule in the module's docstring."""

    def __init__(
        self,
        on_stop: Callable[[Stop], str],
        user_code: Callable[[CodeType], bool],
        on_line: Callable[[FrameType], None] | None,
        shown_errors: list[BaseException],
        root: CodeType | None,
        boundary: FrameType,
        breaks_at: Callable[[FrameType], bool],
        may_break: Callable[[], bool],
        stops_first: bool,
    ) -> None:
        self._on_stop = on_stop
        self._user_code = user_code
        self._on_line = on_line
        self._shown_errors = shown_errors
        self._root = root
        self._boundary: FrameType | None = boundary
        self._breaks_at = breaks_at
        self._may_break = may_break
        self._targets: set[FrameType] = set()
        self._begun = False
        self._entering = stops_first
        self.finished = False
        self.aborted = False

    def follows(self, code: CodeType) -> bool:
        """Return whether lines of this code are relevant."""
        return code is self._root or self._user_code(code)

    def at_line(self, frame: FrameType) -> None:
        """Stop at the line that a followed frame is about to run, if required."""
        if self.finished or not self._begins(frame):
            return
        if self._on_line is not None:
            self._on_line(frame)
        if self._breaks_at(frame) or self._entering or frame in self._targets:
            self.stop(Stop(frame, frame.f_lineno), frame)

    def _begins(self, frame: FrameType) -> bool:
        self._begun = self._begun or self._root is None or frame.f_code is self._root
        return self._begun

    def raised(self, frame: FrameType, error: BaseException, trace: TracebackType | None) -> None:
        """Show an exception of a followed frame, once, where the user's code raised it."""
        if self.finished or not self._begun or not (self._entering or frame in self._targets):
            return
        if not isinstance(error, Exception) or isinstance(error, (*_ENDS_OF_ITERATION, DebugAbort)):
            return
        if any(error is shown_error for shown_error in self._shown_errors):
            return
        self._shown_errors.append(error)
        self.stop(user_frame(error, self.follows, trace) or Stop(frame, frame.f_lineno, error), frame)

    def stop(self, stop: Stop, frame: FrameType) -> None:
        """Stop, and apply the command from ``frame``, the innermost running frame, outwards."""
        self.finished = True  # until the command is known: an exception from on_stop ends the stepping
        command = check_command(self._on_stop(stop))
        is_step = command in ("over", "into", "out")
        self.finished = not (is_step or command == "operator" or (command == "continue" and self._may_break()))
        self._entering = command == "into"
        self._targets = set(self.callers(frame)) if is_step else set()
        if command == "out":
            self._targets.discard(frame)
        if command == "abort":
            self.aborted = True
            raise DebugAbort("aborted from the debugger") from stop.exception

    def callers(self, frame: FrameType | None) -> Iterator[FrameType]:
        """Yield the followed frames from ``frame`` outwards, up to the stepped call."""
        while frame is not None and frame is not self._boundary:
            if self.follows(frame.f_code):
                yield frame
            frame = frame.f_back

    def end(self) -> None:
        """End the stepping, and release the frames, which hold every local variable."""
        self.finished = True
        self._targets = set()
        self._boundary = None


class _Courses:
    """Courses through one function: of one stepper, or of several at once, each with its own commands."""

    def __init__(self, first: _Course, root: CodeType | None) -> None:
        self.courses = [first]
        self.tracing: Tracing = tracing(self, root)
        self.is_stopped = False  # at a stop outside any line, where evaluated code would be traced
        self._root = root
        self._begun = False

    def waits_for(self, root: CodeType | None) -> bool:
        """Return whether these courses are for this function, and it has not run a line yet."""
        return root is not None and root is self._root and not self._begun

    @property
    def finished(self) -> bool:
        """True if none of the courses stops now or later."""
        return self.is_stopped or all(course.finished for course in self.courses)

    def follows(self, code: CodeType) -> bool:
        """Return whether lines of this code are relevant to one of the courses."""
        return any(course.follows(code) for course in self.courses)

    def at_line(self, frame: FrameType) -> None:
        """Let each course stop at the line that a followed frame is about to run."""
        self._begun = self._begun or frame.f_code is self._root
        for course in self.courses:
            if course.follows(frame.f_code):
                course.at_line(frame)

    def raised(self, frame: FrameType, error: BaseException, trace: TracebackType | None) -> None:
        """Let each course show an exception of a followed frame."""
        for course in self.courses:
            if course.follows(frame.f_code):
                course.raised(frame, error, trace)


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.running: list[_Courses] = []  # the innermost last


_thread = _PerThread()


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
