"""Stepping through Python functions line by line.

One rule decides where to stop. After each stop the command names a set of frames, and the next line that runs
in one of them is the next stop:

- over: the frame of the stop, and the frames that called it;
- out: the frames that called it;
- into: any frame of code that the user wrote.

So no return or unwind event is needed: a frame that has ended runs no more lines, and its callers are in the
set.

Two back ends report lines: ``sys.settrace`` on Python 3.11, ``sys.monitoring`` from 3.12 on. Both exist only
while ``Stepper.call`` runs, so code that is not stepped costs nothing.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import linecache
import os
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, ClassVar

from .pause import DebugAbort, check_command

__all__ = ["Stepper", "Stop", "is_user_code", "user_frame"]

# Bound now: a debugger that attaches later (pydevd) puts a wrapper that warns in the place of sys.settrace.
_settrace = sys.settrace
_gettrace = sys.gettrace

_PACKAGE = Path(__file__).absolute().parents[2]


def _library_folders() -> Iterator[str]:
    yield from (path for key, path in sysconfig.get_paths().items() if "lib" in key)
    yield os.path.dirname(os.__file__)
    yield str(_PACKAGE)
    # In a checkout the folders inside the package are links; a module may know itself by either name.
    yield from (str(folder.resolve()) for folder in _PACKAGE.iterdir() if folder.is_symlink())


_LIBRARIES = tuple({os.path.normcase(folder) + os.sep for folder in _library_folders()})


@functools.lru_cache(maxsize=4096)
def _is_user_file(filename: str) -> bool:
    name = os.path.normcase(filename)
    if f"{os.sep}site-packages{os.sep}" in name or f"{os.sep}dist-packages{os.sep}" in name:
        return False
    return not name.startswith(_LIBRARIES)


def is_user_code(code: CodeType) -> bool:
    """Whether a person wrote this code here: not the standard library, an installed package or Hookscope."""
    filename = code.co_filename
    if filename.startswith("<"):
        # Typed at a prompt if its source is known. Not "<string>", the name of what dataclasses generates and of
        # `python -c`, whose text is known from Python 3.13 on: the two cannot be told apart.
        return filename != "<string>" and bool(linecache.getlines(filename))
    return _is_user_file(filename)


class Stop:
    """One stop of a stepper: a frame that is about to run ``line``, or raised ``exception`` there."""

    def __init__(self, frame: FrameType, line: int, exception: BaseException | None = None) -> None:
        self.frame = frame
        self.line = line
        self.exception = exception
        # One look: before 3.13 a second read of f_locals throws away what was set through the first.
        self._locals = frame.f_locals

    def locals(self) -> dict[str, object]:
        """The local variables by name, as a dictionary of its own."""
        return {name: value for name, value in self._locals.items() if name.isidentifier()}

    def assign(self, name: str, value: object) -> None:
        """Give a local variable of the frame another value."""
        code = self.frame.f_code
        known = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
        if name not in known:
            raise NameError(f"'{name}' is no local variable of {code.co_name}; it has {', '.join(known)}")
        self._locals[name] = value
        if sys.version_info < (3, 13):
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(self.frame), ctypes.c_int(0))


class Stepper:
    """Runs a function and stops at its lines.

    Args:
        on_stop: called at each stop, in the thread that is stopped; returns "over", "into", "out", "continue"
            or "abort". The first stop is the first line of the function.
        user_code: which code "into" enters.
    """

    def __init__(self, on_stop: Callable[[Stop], str], user_code: Callable[[CodeType], bool] = is_user_code) -> None:
        self._on_stop = on_stop
        self._user_code = user_code

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(*args)``, stopping on the way.

        One thread steps at a time; another one waits here. Calls may nest: the inner one stops by its own
        commands, and where both are about one function, the outer one stops in it too.

        Raises:
            DebugAbort: a stop was answered with "abort".
        """
        root = _code_of(function)
        course = _Course(self._on_stop, self._user_code, root)
        with _one_thread:
            try:
                if _running and _running[-1].waits_for(root):
                    _running[-1].courses.append(course)
                    return function(*args)
                courses = _Courses(course, root)
                _running.append(courses)
                try:
                    return _back_end(courses).run(function, args)
                finally:
                    _running.pop()
            finally:
                course.end()
                if course.aborted:  # also if the function itself swallowed the exception
                    raise DebugAbort("aborted from the debugger")


_one_thread = threading.RLock()


def _code_of(function: Callable[..., Any]) -> CodeType | None:
    plain = inspect.unwrap(function)
    return getattr(getattr(plain, "__func__", plain), "__code__", None)


class _Course:
    """Which lines to stop at, by the rule in the module's first lines."""

    def __init__(
        self, on_stop: Callable[[Stop], str], user_code: Callable[[CodeType], bool], root: CodeType | None
    ) -> None:
        self._on_stop = on_stop
        self._user_code = user_code
        self._root = root
        self._root_frame: FrameType | None = None
        self._targets: set[FrameType] = set()
        self.entering = True
        self.finished = False
        self.aborted = False

    def follows(self, code: CodeType) -> bool:
        """Whether lines of this code are ever of interest."""
        return code is self._root or self._user_code(code)

    def at_line(self, frame: FrameType) -> None:
        """A followed frame is about to run a line: stop if it is time to."""
        if self.finished or not (self.entering or frame in self._targets):
            return
        self._root_frame = self._root_frame or frame
        self.finished = True  # unless a command says otherwise: an exception out of on_stop ends the stepping
        command = check_command(self._on_stop(Stop(frame, frame.f_lineno)))
        self.finished = command in ("continue", "abort")
        self.entering = command == "into"
        self._targets = set(self._callers(frame))
        if command != "over":
            self._targets.discard(frame)
        if command == "abort":
            self.aborted = True
            raise DebugAbort("aborted from the debugger")

    def _callers(self, frame: FrameType | None) -> Iterator[FrameType]:
        while frame is not None:
            if self.follows(frame.f_code):
                yield frame
            if frame is self._root_frame:
                return
            frame = frame.f_back

    def end(self) -> None:
        """Stop no more, and let go of the frames: they hold every local variable."""
        self.finished = True
        self._targets = set()
        self._root_frame = None


class _Courses:
    """Courses through one function: of one stepper, or of several that step it at once, each by its own commands."""

    def __init__(self, first: _Course, root: CodeType | None) -> None:
        self.courses = [first]
        self._root = root
        self._begun = False

    def waits_for(self, root: CodeType | None) -> bool:
        """Whether this function is the one that these courses are for, and it has not run a line yet."""
        return root is not None and root is self._root and not self._begun

    @property
    def entering(self) -> bool:
        """Whether one of them stops in the next frame of code that the user wrote."""
        return any(course.entering and not course.finished for course in self.courses)

    @property
    def finished(self) -> bool:
        """Whether none of them stops any more."""
        return all(course.finished for course in self.courses)

    def follows(self, code: CodeType) -> bool:
        """Whether lines of this code are ever of interest to one of them."""
        return any(course.follows(code) for course in self.courses)

    def at_line(self, frame: FrameType) -> None:
        """A followed frame is about to run a line: each of them may stop."""
        self._begun = True
        for course in self.courses:
            course.at_line(frame)


_running: list[_Courses] = []  # of the one thread, the innermost last


class _SetTrace:
    """Lines from ``sys.settrace``, which sees every call in the thread while it is set."""

    def __init__(self, courses: _Courses) -> None:
        self._courses = courses

    def run(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        before = _gettrace()
        _settrace(self._called)
        try:
            return function(*args)
        finally:
            _settrace(before)

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        courses = self._courses
        if courses.entering and courses.follows(frame.f_code):
            return self._traced
        return None

    def _traced(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event != "line":
            return self._traced
        self._courses.at_line(frame)
        if not self._courses.finished:
            return self._traced
        # Full speed again. A frame keeps its trace function until it is told otherwise, and loops then run
        # about 8 times slower.
        _settrace(None)
        inner: FrameType | None = frame
        while inner is not None and inner.f_trace == self._traced:
            inner.f_trace = None
            inner = inner.f_back
        return None


if sys.version_info >= (3, 12):

    class _Monitoring:
        """Lines from ``sys.monitoring``: events on the code that is stepped; call events only for "into"."""

        _stack: ClassVar[list[_Monitoring]] = []  # steppings that nest, all of one thread
        _tool = -1

        def __init__(self, courses: _Courses) -> None:
            self._courses = courses
            self._thread = threading.get_ident()
            # By id: code objects compare by content, and a cell that was run twice leaves two that are equal.
            self._armed: dict[int, CodeType] = {}

        def run(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
            stack = _Monitoring._stack
            if not stack:
                self._take_tool()
            stack.append(self)
            try:
                sys.monitoring.restart_events()
                self._watch_calls(True)
                return function(*args)
            finally:
                # Before anything else: until then each call that is made here is an event.
                sys.monitoring.set_events(self._tool, 0)
                self._disarm()
                stack.pop()
                if stack:
                    stack[-1]._watch_calls(stack[-1]._courses.entering and not stack[-1]._courses.finished)
                else:
                    self._give_tool_back()

        @classmethod
        def _take_tool(cls) -> None:
            # Ids 3 and 4 are the two that Python assigns to no kind of tool.
            free = [tool for tool in (4, 3) if sys.monitoring.get_tool(tool) is None]
            if not free:
                raise RuntimeError("stepping needs one of sys.monitoring's tool ids 3 and 4, and other tools hold both")
            cls._tool = free[0]
            events = sys.monitoring.events
            sys.monitoring.use_tool_id(cls._tool, "hookscope")
            sys.monitoring.register_callback(cls._tool, events.LINE, cls._line)
            sys.monitoring.register_callback(cls._tool, events.PY_START, cls._started)

        @classmethod
        def _give_tool_back(cls) -> None:
            sys.monitoring.register_callback(cls._tool, sys.monitoring.events.LINE, None)
            sys.monitoring.register_callback(cls._tool, sys.monitoring.events.PY_START, None)
            sys.monitoring.free_tool_id(cls._tool)
            cls._tool = -1

        def _watch_calls(self, on: bool) -> None:
            sys.monitoring.set_events(self._tool, sys.monitoring.events.PY_START if on else 0)

        def _arm(self, code: CodeType) -> None:
            if id(code) not in self._armed:
                self._armed[id(code)] = code
                sys.monitoring.set_local_events(self._tool, code, sys.monitoring.events.LINE)

        def _disarm(self) -> None:
            still = {key for other in _Monitoring._stack if other is not self for key in other._armed}
            for key, code in self._armed.items():
                if key not in still:
                    sys.monitoring.set_local_events(self._tool, code, 0)
            self._armed.clear()

        @staticmethod
        def _started(code: CodeType, offset: int) -> Any:
            if not _Monitoring._stack:  # another thread, in the moment in which the stepping ended
                return None
            top = _Monitoring._stack[-1]
            if not top._courses.follows(code):
                return sys.monitoring.DISABLE
            if threading.get_ident() == top._thread and top._courses.entering:
                top._arm(code)
            return None

        @staticmethod
        def _line(code: CodeType, line: int) -> None:
            if not _Monitoring._stack:
                return
            top = _Monitoring._stack[-1]
            if threading.get_ident() != top._thread or top._courses.finished:
                return
            entering = top._courses.entering
            try:
                top._courses.at_line(sys._getframe(1))
            finally:
                if top._courses.finished:
                    top._watch_calls(False)
                    top._disarm()
                elif top._courses.entering != entering:  # set_events visits all code: only on a change
                    top._watch_calls(top._courses.entering)

    _back_end: Callable[[_Courses], _SetTrace | _Monitoring] = _Monitoring
else:
    _back_end = _SetTrace


def user_frame(error: BaseException, user_code: Callable[[CodeType], bool] = is_user_code) -> Stop | None:
    """Where the user's code raised ``error``: the innermost frame of user code in its traceback."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        if user_code(trace.tb_frame.f_code):
            found = trace
        trace = trace.tb_next
    return None if found is None else Stop(found.tb_frame, found.tb_lineno, error)
