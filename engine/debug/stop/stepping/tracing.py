"""Tracing of lines and exceptions for a stepper: ``sys.settrace`` on Python 3.11, ``sys.monitoring`` from 3.12 on.

Both are active only while a function is stepped, each for the thread that steps, and both restore the setup of other
tools (coverage, a debugger).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any, ClassVar, Protocol

__all__ = ["Follower", "Tracing", "tracing"]


def _settrace_of_python() -> Callable[[Any], None]:
    """Return the original ``sys.settrace``: debugpy, when it attaches, replaces it by a wrapper that warns."""
    holder = getattr(sys.modules.get("pydevd_tracing"), "TracingFunctionHolder", None)
    return getattr(holder, "_original_tracing", None) or sys.settrace


_settrace = _settrace_of_python()


class Follower(Protocol):
    """Receiver of the lines of a function and of its callees."""

    @property
    def finished(self) -> bool:
        """True if no more events are needed."""
        ...

    def follows(self, code: CodeType) -> bool:
        """Return whether lines of this code are relevant."""
        ...

    def at_line(self, frame: FrameType) -> None:
        """Handle a line that a followed frame is about to run."""
        ...

    def raised(self, frame: FrameType, error: BaseException, trace: TracebackType | None) -> None:
        """Handle an exception that was raised in a followed frame or propagated to it."""
        ...


class Tracing(Protocol):
    """Tracer of one call, by either mechanism."""

    def run(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Return ``function(*args)``, reporting events to the follower."""
        ...

    def release(self, frame: FrameType | None) -> None:
        """Stop reporting at once, from ``frame`` outwards: the code runs at full speed again."""
        ...


class _SetTrace:
    """Lines from ``sys.settrace``, which is called for every call in the thread while it is set."""

    def __init__(self, follower: Follower, code: CodeType | None) -> None:
        self._follower = follower
        self._before: Any = None

    def run(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        self._before = sys.gettrace()
        _settrace(self._called)
        try:
            return function(*args)
        finally:
            _settrace(self._before)

    def release(self, frame: FrameType | None) -> None:
        # Another tool's tracer continues at once. An outer stepper does not: its commands refer to lines outside.
        is_stepper = isinstance(getattr(self._before, "__self__", None), _SetTrace)
        _settrace(None if is_stepper else self._before)
        # A frame keeps its trace function until it is reset, and loops then run about 8 times slower.
        while frame is not None:
            if frame.f_trace == self._traced:
                frame.f_trace = None
            frame = frame.f_back

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        return self._traced if not self._follower.finished and self._follower.follows(frame.f_code) else None

    def _traced(self, frame: FrameType, event: str, arg: Any) -> Any:
        if self._follower.finished:  # a generator that was suspended when the stepping ended continues
            frame.f_trace = None
            return None
        if event == "line":
            self._follower.at_line(frame)
        elif event == "exception":
            self._follower.raised(frame, arg[1], arg[2])
        frame.f_locals  # noqa: B018  # Python now writes its copy of the variables back: it must be current
        if not self._follower.finished:
            return self._traced
        self.release(frame)
        return None


if sys.version_info >= (3, 12):

    class _Monitoring:
        """Lines from ``sys.monitoring``: calls and exceptions everywhere, lines in followed code."""

        _stacks: ClassVar[dict[int, list[_Monitoring]]] = {}  # by thread: nested steppings, the innermost last
        _lock = threading.RLock()
        _tool = -1
        _listening = False

        def __init__(self, follower: Follower, code: CodeType | None) -> None:
            self._follower = follower
            self._root = code
            # By id: code objects compare by content, and a notebook cell that was run twice leaves two equal ones.
            self._armed: dict[int, CodeType] = {}

        def run(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
            thread = threading.get_ident()
            with self._lock:
                if not self._stacks:
                    self._take_tool()
                self._stacks.setdefault(thread, []).append(self)
                sys.monitoring.restart_events()
                if self._root is not None:  # it is not necessarily the user's
                    self._arm(self._root)
                self._listen()
            try:
                return function(*args)
            finally:
                with self._lock:
                    self._stacks[thread].remove(self)
                    if not self._stacks[thread]:
                        del self._stacks[thread]
                    self._listen()
                    self._disarm()
                    if not self._stacks:
                        self._give_tool_back()

        def release(self, frame: FrameType | None) -> None:
            with self._lock:
                self._listen()
                self._disarm()

        @classmethod
        def _take_tool(cls) -> None:
            # Python assigns ids 3 and 4 to no kind of tool.
            free_ids = [tool for tool in (4, 3) if sys.monitoring.get_tool(tool) is None]
            if not free_ids:
                raise RuntimeError("stepping needs one of sys.monitoring's tool ids 3 and 4, and other tools hold both")
            cls._tool = free_ids[0]
            sys.monitoring.use_tool_id(cls._tool, "hookscope")
            for event, callback in cls._callbacks():
                sys.monitoring.register_callback(cls._tool, event, callback)

        @classmethod
        def _give_tool_back(cls) -> None:
            for event, _ in cls._callbacks():
                sys.monitoring.register_callback(cls._tool, event, None)
            sys.monitoring.free_tool_id(cls._tool)
            cls._tool = -1

        @classmethod
        def _callbacks(cls) -> tuple[tuple[int, Callable[..., Any]], ...]:
            events = sys.monitoring.events
            return (
                (events.LINE, cls._line),
                (events.PY_START, cls._started),
                (events.PY_RESUME, cls._started),
                (events.RAISE, cls._raised),
            )

        @classmethod
        def _listen(cls) -> None:
            """Enable events of calls and exceptions while one of the innermost steppings continues."""
            is_needed = any(not stack[-1]._follower.finished for stack in cls._stacks.values())
            if is_needed != cls._listening:  # set_events visits all code: only on a change
                cls._listening = is_needed
                events = sys.monitoring.events
                calls_and_errors = events.PY_START | events.PY_RESUME | events.RAISE
                sys.monitoring.set_events(cls._tool, calls_and_errors if is_needed else 0)

        def _arm(self, code: CodeType) -> None:
            with self._lock:
                if id(code) not in self._armed and self._tool >= 0:
                    self._armed[id(code)] = code
                    sys.monitoring.set_local_events(self._tool, code, sys.monitoring.events.LINE)

        def _disarm(self) -> None:
            other_tracers = [tracer for stack in self._stacks.values() for tracer in stack if tracer is not self]
            still_armed = {key for tracer in other_tracers for key in tracer._armed}
            for key, code in self._armed.items():
                if key not in still_armed:
                    sys.monitoring.set_local_events(self._tool, code, 0)
            self._armed.clear()

        @classmethod
        def _of_this_thread(cls) -> _Monitoring | None:
            """Return the innermost stepping of the running thread, if it continues."""
            stack = cls._stacks.get(threading.get_ident())
            return stack[-1] if stack and not stack[-1]._follower.finished else None

        @staticmethod
        def _started(code: CodeType, offset: int) -> Any:
            stepping = _Monitoring._of_this_thread()
            if stepping is None:
                return None
            if not stepping._follower.follows(code):
                return sys.monitoring.DISABLE
            stepping._arm(code)
            return None

        @staticmethod
        def _line(code: CodeType, line: int) -> None:
            stepping = _Monitoring._of_this_thread()
            if stepping is None or not stepping._follower.follows(code):
                return
            frame = sys._getframe(1)
            try:
                stepping._follower.at_line(frame)
            finally:
                if stepping._follower.finished:
                    stepping.release(frame)

        @staticmethod
        def _raised(code: CodeType, offset: int, error: BaseException) -> None:
            stepping = _Monitoring._of_this_thread()
            if stepping is None or not stepping._follower.follows(code):
                return
            frame = sys._getframe(1)
            try:
                stepping._follower.raised(frame, error, error.__traceback__)
            finally:
                if stepping._follower.finished:
                    stepping.release(frame)

    tracing: Callable[[Follower, CodeType | None], Tracing] = _Monitoring
else:
    tracing = _SetTrace
