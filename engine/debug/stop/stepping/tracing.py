"""Tracing of lines and exceptions in one thread: ``sys.settrace`` on Python 3.11, ``sys.monitoring`` from 3.12 on.

A listener is traced from ``trace`` until it is finished; several may be traced in a thread at once, such as those of
two sessions. Both mechanisms are active only as long, and restore the setup of other tools (coverage, a debugger).
"""

from __future__ import annotations

import atexit
import dis
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, TracebackType
from typing import Any, Protocol

__all__ = ["Listener", "prune", "restore", "suspended", "trace", "untrace"]


class Listener(Protocol):
    """Receiver of the lines of one thread."""

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

    def ended(self, frame: FrameType) -> None:
        """Handle the end of a followed frame, by a return or an exception."""
        ...


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.listeners: list[Listener] = []
        # Whether code is followed, by its id, since code compares by content: decided once, for the cost of calls.
        self.decided: dict[int, tuple[CodeType, bool]] = {}
        self.settrace: Any = None  # the mechanism of Python 3.11


_thread = _PerThread()


def trace(listener: Listener, frame: FrameType | None) -> None:
    """Report events of this thread to a listener until it is finished, in ``frame``, its callers and new calls.

    A further call for the same listener arms frames and code that it follows only now.
    """
    _thread.decided.clear()
    if listener not in _thread.listeners:
        _thread.listeners = [*_thread.listeners, listener]
    _start(frame)


def untrace(listener: Listener, frame: FrameType | None) -> None:
    """Report no more events to a listener; without another one, the thread runs at full speed again at once.

    Args:
        listener: the listener.
        frame: the innermost frame that may be traced.
    """
    _thread.decided.clear()
    _thread.listeners = [item for item in _thread.listeners if item is not listener and not item.finished]
    if not _thread.listeners:
        _end(frame)


@contextmanager
def suspended(frame: FrameType | None) -> Iterator[None]:
    """Trace nothing in this thread during the block, such as a pause, in which code of the debugger runs."""
    listeners, _thread.listeners = _thread.listeners, []
    _thread.decided.clear()
    if listeners:
        _end(None)
    try:
        yield
    finally:
        added = [listener for listener in _thread.listeners if listener not in listeners]
        if added:
            _end(None)
        _thread.listeners = [listener for listener in (*listeners, *added) if not listener.finished]
        _thread.decided.clear()
        if _thread.listeners:
            _start(frame)


def _follows(code: CodeType) -> bool:
    return any(not listener.finished and listener.follows(code) for listener in _thread.listeners)


def _report_line(frame: FrameType) -> None:
    listeners = _thread.listeners
    if len(listeners) == 1:  # the frame is traced for it
        listeners[0].at_line(frame)
        return
    for listener in listeners:
        if not listener.finished and listener.follows(frame.f_code):
            listener.at_line(frame)


def _report_error(frame: FrameType, error: BaseException, trace: TracebackType | None) -> None:
    for listener in _thread.listeners:
        if not listener.finished and listener.follows(frame.f_code):
            listener.raised(frame, error, trace)


def _report_end(frame: FrameType) -> None:
    for listener in _thread.listeners:
        if not listener.finished:
            listener.ended(frame)


def _release_finished(frame: FrameType | None) -> bool:
    """Drop finished listeners; return whether others remain."""
    listeners = _thread.listeners
    if len(listeners) == 1 and not listeners[0].finished:  # the usual case, at every line
        return True
    if any(listener.finished for listener in _thread.listeners):
        _thread.listeners = [listener for listener in _thread.listeners if not listener.finished]
        if not _thread.listeners:
            _end(frame)
    return bool(_thread.listeners)


if sys.version_info < (3, 12):

    def _settrace_of_python() -> Any:
        """Return the original ``sys.settrace``: debugpy, when it attaches, replaces it by a wrapper that warns."""
        holder = getattr(sys.modules.get("pydevd_tracing"), "TracingFunctionHolder", None)
        return getattr(holder, "_original_tracing", None) or sys.settrace

    _settrace = _settrace_of_python()

    def _is_suspended(frame: FrameType) -> bool:
        """Return whether a frame that reports its end is one of a generator or a coroutine that only waits."""
        return dis.opname[frame.f_code.co_code[frame.f_lasti]] in ("YIELD_VALUE", "RETURN_GENERATOR")

    class _SetTrace:
        """Trace function of a thread, which is called for every call while it is set."""

        def __init__(self) -> None:
            self._is_set = False
            self._before: Any = None
            # Trace functions of other tools in frames that are traced; of most frames it is None.
            self._frames: dict[FrameType, Any] = {}
            if threading.current_thread() is threading.main_thread():
                # Else Python would call a function of a module that it has cleared.
                atexit.register(self.end, None)

        def start(self, frame: FrameType | None) -> None:
            if not self._is_set:
                self._is_set = True
                self._before = sys.gettrace()
            while frame is not None:
                if frame.f_trace != self._event and _follows(frame.f_code):
                    if frame.f_trace is not None:
                        self._frames[frame] = frame.f_trace
                    frame.f_trace = self._event
                frame = frame.f_back
            _settrace(self._called)

        def end(self, frame: FrameType | None) -> None:
            if not self._is_set:
                return
            self._is_set = False
            _settrace(self._before)
            # A frame keeps its trace function until it is reset, and loops then run about 8 times slower.
            while frame is not None:
                if frame.f_trace == self._event:
                    frame.f_trace = self._frames.get(frame)
                frame = frame.f_back
            self._frames.clear()

        def restore(self) -> None:
            if not self._is_set and sys.gettrace() is None and self._before is not None:
                _settrace(self._before)
            self._before = self._before if self._is_set else None

        def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
            code = frame.f_code
            decision = _thread.decided.get(id(code))
            if decision is None:
                if not _release_finished(frame):  # the session ended in another thread
                    return None
                decision = _thread.decided[id(code)] = code, _follows(code)
            return self._event if decision[1] else None

        def _event(self, frame: FrameType, event: str, arg: Any) -> Any:
            if not self._is_set:  # a generator that was suspended when the tracing ended continues
                frame.f_trace = None
                return None
            try:
                if event == "line":
                    _report_line(frame)
                elif event == "exception":
                    _report_error(frame, arg[1], arg[2])
                elif event == "return" and not _is_suspended(frame):
                    _report_end(frame)
                frame.f_locals  # noqa: B018  # Python now writes its copy of the variables back: it must be current
            finally:
                goes_on = _release_finished(frame)
            return self._event if goes_on else None

    def _start(frame: FrameType | None) -> None:
        if _thread.settrace is None:
            _thread.settrace = _SetTrace()
        _thread.settrace.start(frame)

    def _end(frame: FrameType | None) -> None:
        if _thread.settrace is not None:
            _thread.settrace.end(frame or sys._getframe())

    def prune() -> None:
        """Do nothing: the tracer of a thread ends with it."""

    def restore() -> None:
        """Restore the tracer of another tool after an abort: Python unsets every tracer when one raises."""
        if _thread.settrace is not None:
            _thread.settrace.restore()

else:
    from typing import ClassVar

    class _Monitoring:
        """Events of all threads: calls and exceptions everywhere, lines and returns in followed code."""

        lock: ClassVar[threading.RLock] = threading.RLock()
        threads: ClassVar[dict[int, dict[str, Any]]] = {}  # the variables of ``_thread``, by the thread's identifier
        tool: ClassVar[int] = -1
        # By id: code objects compare by content, and a notebook cell that was run twice leaves two equal ones.
        armed: ClassVar[dict[int, CodeType]] = {}

        @classmethod
        def start(cls, frame: FrameType | None) -> None:
            with cls.lock:
                if cls.tool < 0:
                    cls._take_tool()
                cls.threads[threading.get_ident()] = _thread.__dict__
                sys.monitoring.restart_events()
                while frame is not None:
                    if _follows(frame.f_code):
                        cls.arm(frame.f_code)
                    frame = frame.f_back

        @classmethod
        def end(cls) -> None:
            with cls.lock:
                cls.threads.pop(threading.get_ident(), None)
                cls._give_tool_back()

        @classmethod
        def prune(cls) -> None:
            with cls.lock:
                for thread, variables in tuple(cls.threads.items()):
                    if all(listener.finished for listener in variables["listeners"]):
                        del cls.threads[thread]
                cls._give_tool_back()

        @classmethod
        def arm(cls, code: CodeType) -> None:
            with cls.lock:
                if id(code) not in cls.armed and cls.tool >= 0:
                    cls.armed[id(code)] = code
                    events = sys.monitoring.events
                    sys.monitoring.set_local_events(cls.tool, code, events.LINE | events.PY_RETURN)

        @classmethod
        def _take_tool(cls) -> None:
            # Python assigns ids 3 and 4 to no kind of tool.
            free_ids = [tool for tool in (4, 3) if sys.monitoring.get_tool(tool) is None]
            if not free_ids:
                raise RuntimeError("stepping needs one of sys.monitoring's tool ids 3 and 4, and other tools hold both")
            cls.tool = free_ids[0]
            sys.monitoring.use_tool_id(cls.tool, "hookscope")
            for event, callback in cls._callbacks():
                sys.monitoring.register_callback(cls.tool, event, callback)
            events = sys.monitoring.events
            sys.monitoring.set_events(cls.tool, events.PY_START | events.PY_RESUME | events.RAISE | events.PY_UNWIND)

        @classmethod
        def _give_tool_back(cls) -> None:
            if cls.threads or cls.tool < 0:
                return
            tool, cls.tool = cls.tool, -1
            sys.monitoring.set_events(tool, 0)
            for code in cls.armed.values():
                sys.monitoring.set_local_events(tool, code, 0)
            cls.armed.clear()
            for event, _ in cls._callbacks():
                sys.monitoring.register_callback(tool, event, None)
            sys.monitoring.free_tool_id(tool)

        @classmethod
        def _callbacks(cls) -> tuple[tuple[int, Any], ...]:
            events = sys.monitoring.events
            return (
                (events.LINE, cls._line),
                (events.PY_START, cls._started),
                (events.PY_RESUME, cls._started),
                (events.RAISE, cls._raised),
                (events.PY_RETURN, cls._ended),
                (events.PY_UNWIND, cls._ended),
            )

        @staticmethod
        def _started(code: CodeType, offset: int) -> Any:
            if _thread.listeners:
                if not _release_finished(sys._getframe(1)):
                    return None
                if not _follows(code):
                    return None if len(_Monitoring.threads) > 1 else sys.monitoring.DISABLE
                _Monitoring.arm(code)
            return None

        @staticmethod
        def _line(code: CodeType, line: int) -> None:
            if _thread.listeners:
                frame = sys._getframe(1)
                try:
                    _report_line(frame)
                finally:
                    _release_finished(frame)

        @staticmethod
        def _raised(code: CodeType, offset: int, error: BaseException) -> None:
            if _thread.listeners:
                frame = sys._getframe(1)
                try:
                    _report_error(frame, error, error.__traceback__)
                finally:
                    _release_finished(frame)

        @staticmethod
        def _ended(code: CodeType, offset: int, value: object) -> None:
            if _thread.listeners:
                frame = sys._getframe(1)
                _report_end(frame)
                _release_finished(frame)

    def _start(frame: FrameType | None) -> None:
        _Monitoring.start(frame)

    def _end(frame: FrameType | None) -> None:
        _Monitoring.end()

    def prune() -> None:
        """Free the tool if the threads that were traced have ended, or their listeners are finished."""
        _Monitoring.prune()

    def restore() -> None:
        """Do nothing: other tools of ``sys.monitoring`` keep their events."""
