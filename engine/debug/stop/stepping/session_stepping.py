"""Stepping of a session: the next stop of each thread after a command, and the lines and operators on the way.

Every stop of a session pauses through ``SessionStepping.pause``, which applies the command: the next line
(``stepper``), the next moment of a cell or the next operator (``next_stop``). ``history`` has the earlier lines.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from hookscope.engine.tape import taps
from hookscope.engine.tape.taps import CellCall

from ..breakpoints.breakpoint import Breakpoint
from ..next_stop import NextStop
from ..pause import DebugAbort, PausePoint
from ..pauses import Pauses, check_not_evaluating
from ..points import construct_code, construct_file, point_at_stop, source_of
from . import tracing
from .history import LineHistory, contents
from .stepper import Stepper, Stop, code_of, user_frame
from .user_code import is_calling_code, is_library_code, is_user_code
from .variables import Change

if TYPE_CHECKING:
    from ...watch.attachment import Attachment
    from ...watch.visits import Visit
    from ..breakpoints.collection import Breakpoints

__all__ = ["BpropCall", "SessionStepping"]

# Limit of the frames whose variables at the last stop are compared with those at the next.
_MAX_FRAMES = 16


@dataclass(eq=False)
class BpropCall:
    """One call of a custom ``bprop`` that is stepped.

    Attributes:
        path: the cell's path.
        arguments: the arguments of the call.
        names: the debugger's names for ``evaluate``.
        reason: the reason of a pause at its first line; if empty, its first pause is at a line breakpoint.
        start: the file of the function, and its first line there.
        has_stopped: whether it was paused.
    """

    path: str
    arguments: tuple[Any, ...]
    names: Mapping[str, object]
    reason: str
    start: tuple[str, int] = ("", 0)
    has_stopped: bool = False


class _OperatorRecorder(taps.Tap):
    """Tap that records the operators of one thread, each with the cell that ran it."""

    observes_operators = True

    def __init__(self, thread: _Thread, attachment: Attachment, pauses: Pauses) -> None:
        self._thread = thread
        self._ident = threading.get_ident()
        self._paths = attachment.visits.paths
        self._faults = pauses.faults
        self._cells: list[str] = []

    def report_fault(self, method: str, error: Exception) -> bool:
        """Report a fault of this tap."""
        return self._faults.report_fault(f"stepping ({method})", error)

    def cell_enter(self, call: CellCall) -> None:
        """Record the call of a cell."""
        if threading.get_ident() == self._ident:
            self._cells.append(self._paths.name_of(call.cell))

    def cell_exit(self, call: CellCall) -> None:
        """Record its return."""
        if threading.get_ident() == self._ident and self._cells:
            self._cells.pop()

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """Record its exception."""
        self.cell_exit(call)

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Record the operator."""
        if threading.get_ident() == self._ident:
            frame = self._thread.stepper.nearest(sys._getframe(1))
            path = self._cells[-1] if self._cells else ""
            self._thread.history.operator(name, inputs, outputs, path, frame)


class _Thread:
    """State of one thread that is stepped or has breakpoints at lines.

    Attributes:
        thread: the thread.
        bprops: the custom bprops that are stepped, the innermost last.
        last_values: the contents of a frame's variables at its last stop.
    """

    def __init__(self, stepping: SessionStepping, attachment: Attachment, pauses: Pauses) -> None:
        self._stepping = stepping
        self.thread = threading.current_thread()
        self.stepper = Stepper(
            self._on_stop,
            stepping.follows,
            self._on_line,
            self._breaks_at,
            stepping.may_break,
            stepping.has_line_breakpoints,
            self.update,
            stepping.may_enter,
        )
        self.history = LineHistory(self.stepper.callers)
        self.recorder = _OperatorRecorder(self, attachment, pauses)
        self.bprops: list[BpropCall] = []
        self.last_values: dict[FrameType, dict[str, object]] = {}
        self._line_stop: Breakpoint | None = None
        self._faults = pauses.faults
        self._pauses = pauses
        self._attachment = attachment
        self.last_frame: FrameType | None = None

    def end(self) -> None:
        """Stop no more, and release everything: the session or the thread has ended."""
        self.stepper.close()
        self.bprops.clear()
        self.update()

    def update(self) -> None:
        """Record operators exactly while this thread is stepped, and release everything when it no longer is."""
        is_recorded = self.stepper.stepping or bool(self.bprops)
        (taps.attach if is_recorded else taps.detach)(self.recorder)
        if not is_recorded and self.stepper.finished:
            self.last_values.clear()
            self.last_frame = None
            with self._faults.at("stepping (the history is cleared)"):
                self.history.clear()

    def _on_line(self, frame: FrameType) -> None:
        with self._faults.at("stepping (a line is kept)"):
            self.history.passes(frame)
            self.last_frame = frame

    def _breaks_at(self, frame: FrameType) -> bool:
        self._line_stop = None
        if not self._stepping.has_line_breakpoints():
            return False
        with self._faults.at("stepping (a breakpoint at a line)"):
            self._line_stop = self._stepping.breakpoint_at(self, frame)
        return self._line_stop is not None

    def _on_stop(self, stop: Stop) -> str:
        # Evaluations and displays at a stop must be neither recorded nor watched.
        command = "continue"
        self._stepping.obey_at_line(command)  # also if an interrupt ends the pause
        with taps.mute(), self._faults.at("stepping (a stop)"):
            command = self._pauses.pause_at(self._point(stop))
            self.last_values[stop.frame] = contents(stop.locals())
            if len(self.last_values) > _MAX_FRAMES:  # they hold the variables of frames that have ended
                del self.last_values[next(iter(self.last_values))]
        if command == "abort":
            self._stepping.mark_aborted()
        self._stepping.obey_at_line(command)
        return command

    def _point(self, stop: Stop) -> PausePoint:
        line_stop, self._line_stop = self._line_stop, None
        bprop = self.bprops[-1] if self.bprops else None
        visit = self._attachment.visits.running()
        path, names = _path_and_names(bprop, visit)
        kind, moment = "bprop", "bprop"
        if bprop is None:
            kind = "line" if line_stop is None or line_stop.is_temporary else "breakpoint"
            moment = _moment(stop.frame, visit)
        point = point_at_stop(
            stop, kind, self._reason_of(stop, bprop, line_stop), path, moment, names, changed=self._changed(stop)
        )
        if bprop is not None:
            bprop.has_stopped = True
            point.arguments, point.bprop_begins = bprop.arguments, bprop.start
        self.add_history(point, stop.frame)
        if stop.exception is None:
            del point.history[-1:]  # the line that it is about to run
        if point.assign is not None:
            point.assign = self._assignment(stop)
        return point

    def _assignment(self, stop: Stop) -> Callable[[str, object], Change]:
        def assign(name: str, value: object) -> Change:
            change = stop.assign(name, value)
            if stop.frame is self.last_frame:
                self.history.assigned(change.name, change.value)
            return change

        return assign

    def add_history(self, point: PausePoint, frame: FrameType | None) -> None:
        """Add the recorded lines and operators to the point of a pause in a frame."""
        point.call = self.history.call_of(frame)
        point.operators = self.history.records
        point.history = list(self.history.states)
        point.past = self.history

    def _reason_of(self, stop: Stop, bprop: BpropCall | None, line_stop: Breakpoint | None) -> str:
        first_reason = ""
        if bprop is not None and not bprop.has_stopped:
            first_reason = bprop.reason
        if stop.exception is not None:
            return f"{type(stop.exception).__name__} raised here"
        if line_stop is not None:
            return f"reached line {line_stop.line}" if line_stop.is_temporary else f"breakpoint {line_stop}"
        return first_reason or "stepped"

    def _changed(self, stop: Stop) -> set[str]:
        previous = self.last_values.get(stop.frame)
        if previous is None:
            return set()
        current = contents(stop.locals())
        return {name for name, content in current.items() if name not in previous or previous[name] is not content}


class _Threads(threading.local):
    state: _Thread | None = None


class SessionStepping:
    """Next stops of the threads of a session.

    Args:
        attachment: the attachment of the session.
        breakpoints: the breakpoints of the session.
        pauses: the pauses of the session.

    Attributes:
        next_stop: the next stop of this thread at a cell or an operator.
        operator_tap: the tap that stops at operators, attached while there is a reason to.
        just_my_code: whether only lines of the user's code are stepped through.
    """

    def __init__(self, attachment: Attachment, breakpoints: Breakpoints, pauses: Pauses) -> None:
        self.next_stop = NextStop()
        self.just_my_code = True
        self.operator_tap: Callable[[], taps.Tap | None] = lambda: None
        self._attachment = attachment
        self._breakpoints = breakpoints
        self._pauses = pauses
        self._is_attached = False
        self._threads = _Threads()
        self._states: list[_Thread] = []

    # The session begins and ends

    def stop_at_operators(self, tap: taps.Tap) -> None:
        """Attach ``tap`` whenever an operator may be a stop."""
        self.operator_tap = weakref.ref(tap)

    def attach(self, frame: FrameType) -> None:
        """Begin with the session; ``frame`` is the frame of the user that attaches it."""
        self._is_attached = True
        self.listen(frame)

    def detach(self) -> None:
        """End with the session: no thread stops any more."""
        self._is_attached = False
        self._breakpoints.lines.temporary = None
        self.next_stop = NextStop()
        thread, self._threads = self._threads.state, _Threads()
        states, self._states = self._states, []
        for state in states:  # the others notice at their next call
            state.end()
        if thread is not None:
            thread.stepper.listen(sys._getframe())
        tracing.prune()
        tracing.restore()
        self._pauses.shown_error = None
        self._listen_to_operators()

    # Commands

    def can_pause(self) -> bool:
        """Return whether a pause has an effect now."""
        return not self._pauses.is_paused and self._pauses.can_stop()

    def pause_in(self, frame: FrameType, reason: str) -> None:
        """Pause in a function; see ``DebugSession.pause``."""
        check_not_evaluating()
        if taps.in_repetition() or taps.is_muted():  # the same call once more, or a check that runs a copy
            return
        with taps.mute():
            visit = self._attachment.visits.running()
            path, names = _path_and_names(None, visit)
            moment = _moment(frame, visit)
            point = point_at_stop(Stop(frame, frame.f_lineno), "pause", reason, path, moment, names)
            self.pause(point, -1, frame)

    def pause(self, point: PausePoint, depth: int, frame: FrameType | None = None) -> None:
        """Pause in this thread, and apply the command.

        Args:
            point: the point of the pause.
            depth: the depth of the cell there; -1 is outside all cells.
            frame: the innermost frame that is stepped on from; by default that of the caller.

        Raises:
            DebugAbort: the command was "abort".
        """
        frame = frame or sys._getframe(1)
        self.forget()
        thread = self._threads.state
        if thread is not None and thread.history.states:
            thread.add_history(point, thread.stepper.nearest(frame))
        try:
            with tracing.suspended(frame):
                command = self._pauses.pause_or_abort(point)
        except DebugAbort:
            self.mark_aborted()
            if thread is not None:
                thread.update()
            raise
        self._obey(command, depth, frame, point.exception)

    def _obey(self, command: str, depth: int, frame: FrameType, error: BaseException | None) -> None:
        if self._is_attached:
            self.next_stop.obey(command, depth)
        if command in ("over", "into", "out") or self._threads.state is not None:
            thread = self._thread_state()
            if error is not None:
                thread.stepper.shown_errors.append(error)
            thread.stepper.obey(command, frame)
        self.listen(frame)

    def mark_aborted(self) -> None:
        """Mark the running cells, so that the first whose code catches the ``DebugAbort`` raises it again."""
        for visit in self._attachment.visits.all_running():
            visit.aborted = True

    def obey_at_line(self, command: str) -> None:
        """Apply a command at a line: only "cell" and "operator" stop elsewhere than at lines."""
        self.next_stop.obey(command if command in ("cell", "operator") else "continue", -1)
        self._listen_to_operators()

    def forget(self) -> None:
        """Forget the last command in this thread, which is done or superseded."""
        self.next_stop.obey("continue", -1)
        if self._threads.state is not None:
            self._threads.state.stepper.forget()

    def listen(self, frame: FrameType | None = None) -> None:
        """Trace lines of this thread, and attach the tap for operators, exactly while there is a reason to."""
        self._listen_to_operators()
        thread = self._threads.state
        if self.has_line_breakpoints() or thread is not None:
            thread = self._thread_state()
            thread.stepper.listen(frame or sys._getframe(1))
            thread.update()

    def _listen_to_operators(self) -> None:
        tap = self.operator_tap()
        if tap is not None:
            is_needed = self.next_stop.at_operator or self._breakpoints.at_operators
            (taps.attach if is_needed and self._is_attached else taps.detach)(tap)

    def run_began(self) -> None:
        """Begin a run in this thread."""
        tracing.restore()
        thread = self._threads.state
        if thread is not None or self._breakpoints.lines.any:
            self.listen(sys._getframe(1))

    def _thread_state(self) -> _Thread:
        if self._threads.state is None:
            for state in self._states:
                if not state.thread.is_alive():
                    state.end()
            self._threads.state = _Thread(self, self._attachment, self._pauses)
            self._states = [*(state for state in self._states if state.thread.is_alive()), self._threads.state]
        return self._threads.state

    # What the stepper asks

    def follows(self, code: CodeType) -> bool:
        """Return whether lines of this code are stepped through."""
        return is_user_code(code) or (not self.just_my_code and is_library_code(code))

    def may_enter(self, frame: FrameType) -> bool:
        """Return whether a frame is the user's, or library code that stepped code calls."""
        if self.just_my_code or not is_library_code(frame.f_code):
            return True
        caller = frame.f_back
        while caller is not None and is_calling_code(caller.f_code):
            caller = caller.f_back
        return caller is not None and self.follows(caller.f_code)

    def has_line_breakpoints(self) -> bool:
        """Return whether a line breakpoint may stop a thread."""
        return self._is_attached and self._breakpoints.lines.any

    def may_break(self, code: CodeType) -> bool:
        """Return whether a function has a line breakpoint."""
        return self._is_attached and self._breakpoints.lines.may_be_in(code)

    def breakpoint_at(self, thread: _Thread, frame: FrameType) -> Breakpoint | None:
        """Return the breakpoint that stops a frame at the line that it is about to run."""
        if not self._breakpoints.lines.any or not self._pauses.can_stop():
            return None
        visits = self._attachment.visits
        bprop = thread.bprops[-1] if thread.bprops else None
        running = visits.all_running()
        if bprop is None and taps.in_repetition():
            return None  # a repeated call is the same call
        cells = [(visit.path, construct_file(visit.cell)) for visit in running]
        if bprop is not None:
            cells.append((bprop.path, bprop.start[0]))
        return self._breakpoints.lines.at(frame, cells, _path_and_names(bprop, visits.running())[1])

    # Custom bprops

    def is_entering(self) -> bool:
        """Return whether the last command of this thread was "into"."""
        thread = self._threads.state
        return thread is not None and thread.stepper.entering

    def run_bprop(self, call: BpropCall, function: Callable[..., Any]) -> Any:
        """Return ``function(*call.arguments)``, stepped."""
        thread = self._thread_state()
        code = code_of(function)
        if code is not None:
            call.start = code.co_filename, source_of(code)[1]
        thread.bprops.append(call)
        thread.update()
        try:
            return thread.stepper.call(function, call.arguments, stops_first=bool(call.reason))
        except DebugAbort:
            raise
        except Exception as error:  # an exception of the user's bprop is shown, then propagates
            stop = user_frame(error)
            if stop is not None and call.has_stopped and not thread.stepper.was_shown(error):
                thread.stepper.stop_at_error(stop, sys._getframe())
            raise
        finally:
            if call in thread.bprops:  # else the session ended meanwhile
                thread.bprops.remove(call)
            thread.update()


def _path_and_names(bprop: BpropCall | None, visit: Visit | None) -> tuple[str, Mapping[str, object]]:
    """Return the path and the debugger's names at a line."""
    if bprop is not None:
        return bprop.path, bprop.names
    return ("", {}) if visit is None else (visit.path, visit.names())


def _moment(frame: FrameType, visit: Visit | None) -> str:
    """Return "construct" in the ``construct`` of the innermost running cell, else ""."""
    return "construct" if visit is not None and frame.f_code is construct_code(visit.cell) else ""
