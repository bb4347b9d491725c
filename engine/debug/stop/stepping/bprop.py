"""Runner of one custom ``bprop`` under the stepper, which records its lines and operators.

Stops are live; ``history`` has the earlier lines for display. An exception is shown where the user's code raised it,
even one that leaves the ``bprop`` after "continue".
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any

from hookscope.engine.tape import taps
from hookscope.engine.tape.taps import CellCall

from ..breakpoint import Breakpoint
from ..line_stops import LineStops
from ..pause import DebugAbort, PausePoint
from ..points import lines_with_code, point_at_stop, source_of, stack_of
from .history import BpropHistory, contents
from .stepper import Stepper, Stop, code_of, user_frame
from .variables import Change

if TYPE_CHECKING:
    from ...faults import Faults
    from ...watch.paths import CellPaths
    from ..operator_stops import OperatorStops
    from ..pauses import Pauses

__all__ = ["BpropRun"]


class _OperatorTap(taps.Tap):
    """Tap that reports each operator of one thread, and the cell that ran it."""

    observes_operators = True

    def __init__(self, run: BpropRun, paths: CellPaths, faults: Faults) -> None:
        self._run = run
        self._faults = faults
        self._paths = paths
        self._thread = threading.get_ident()
        self._cells: list[str] = []

    def report_fault(self, method: str, error: Exception) -> bool:
        """Report a fault of this tap."""
        return self._faults.report_fault(f"stepping ({method})", error)

    def cell_enter(self, call: CellCall) -> None:
        """Record the call of a cell inside the bprop."""
        if threading.get_ident() == self._thread:
            self._cells.append(self._paths.name_of(call.cell))

    def cell_exit(self, call: CellCall) -> None:
        """Record its return."""
        if threading.get_ident() == self._thread and self._cells:
            self._cells.pop()

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """Record its exception."""
        self.cell_exit(call)

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Report the operator."""
        if threading.get_ident() == self._thread:
            self._run.operator_ran(name, inputs, outputs, self._cells[-1] if self._cells else "")


class BpropRun:
    """One call of a ``bprop``, from its first line to its end.

    Args:
        path: the cell's path.
        reason: the reason of a pause at the first line; if empty, the first pause is at a line breakpoint.
        names: the debugger's names for ``evaluate``.
        pauses: the pauses of the session.
        operators: the stops at operators, with the next stop of this thread.
        shown_errors: propagating errors that were already shown; nested runs share the list.
        paths: the names of the cells that the bprop calls.
        line_stops: the breakpoints at lines.

    Attributes:
        to_operator: whether the last command was to stop after the next operator.
    """

    def __init__(
        self,
        path: str,
        reason: str,
        names: Mapping[str, object],
        pauses: Pauses,
        operators: OperatorStops,
        shown_errors: list[BaseException],
        paths: CellPaths,
        line_stops: LineStops,
    ) -> None:
        self._faults = pauses.faults
        self._path = path
        self._first_reason: str | None = reason
        self._line_stops = line_stops
        self._has_begun = bool(reason)
        self._names = names
        self._pauses = pauses
        self._operators = operators
        self._shown_errors = shown_errors
        self._stepper = Stepper(
            self._on_stop,
            on_line=self._on_line,
            shown_errors=shown_errors,
            breaks_at=self._breaks_at,
            may_break=self._may_break,
            stops_first=bool(reason),
        )
        self._history = BpropHistory(self._stepper.callers, stack_of(sys._getframe(1)))
        self._tap = _OperatorTap(self, paths, pauses.faults)
        self.to_operator = False
        self._arguments: tuple[Any, ...] = ()
        self._operator: str | None = None
        self._last_frame: FrameType | None = None
        self._last_values: dict[FrameType, dict[str, object]] = {}
        self._line_stop: Breakpoint | None = None
        self._start = "", 0

    def run(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Return ``function(*args)``, with pauses on the way."""
        self._arguments = args
        code = code_of(function)
        if code is not None:
            self._start = code.co_filename, source_of(code)[1]
        taps.attach(self._tap)
        try:
            return self._stepper.call(function, *args)
        except DebugAbort:
            raise
        except Exception as error:  # an exception of the user's bprop is shown, then propagates
            stop = user_frame(error)
            if (
                stop is not None
                and self._has_begun
                and not any(error is shown_error for shown_error in self._shown_errors)
            ):
                self._shown_errors.append(error)
                if self._on_stop(stop) == "abort":
                    raise DebugAbort("aborted from the debugger") from error
            raise
        finally:
            taps.detach(self._tap)
            self._history.clear()
            self._last_values.clear()
            self._last_frame = None
            self._arguments = ()

    def _on_line(self, frame: FrameType) -> None:
        with self._faults.at("stepping (a line is kept)"):
            self._history.passes(frame)
            self._last_frame = frame

    def _may_break(self) -> bool:
        return bool(self._line_stops.of(self._path))

    def _breaks_at(self, frame: FrameType) -> bool:
        self._line_stop = None
        with self._faults.at("stepping (a breakpoint at a line)"):
            self._line_stop = self._line_stops.at(self._path, frame, self._start[0], self._names)
        return self._line_stop is not None

    def operator_ran(self, name: str, inputs: tuple[Any, ...], outputs: Any, path: str) -> None:
        """Record an operator of the bprop, and stop after it if requested."""
        frame = self._stepper.nearest(sys._getframe(1))
        self._history.operator(name, inputs, outputs, path, frame)
        if self.to_operator and frame is not None:
            self._operator = name
            try:
                self._stepper.stop_at(frame)
            finally:
                self._operator = None

    def _on_stop(self, stop: Stop) -> str:
        # Evaluations and displays at a stop must be neither recorded nor watched.
        command = "continue"
        with taps.mute(), self._faults.at("stepping (a stop)"):
            self._has_begun = True
            command = self._pauses.pause_at(self._point(stop))
            if command == "cell":
                self._operators.next_stop.at_any_cell()
                command = "continue"
            self._last_values[stop.frame] = contents(stop.locals())
        self.to_operator = command == "operator"
        return command

    def _point(self, stop: Stop) -> PausePoint:
        point = point_at_stop(
            stop,
            "bprop",
            self._reason(stop),
            self._path,
            "bprop",
            self._names,
            self._history.records,
            self._changed(stop),
        )
        point.history = list(self._history.states)
        point.past = self._history
        point.arguments = self._arguments
        point.stoppable, point.bprop_begins = lines_with_code(stop.frame.f_code), self._start
        if self._operator is not None:
            point.operator = point.operators[-1]
            point.names |= {"inputs": point.operator.inputs, "output": point.operator.outputs}
        elif stop.exception is None:
            del point.history[-1:]  # the line that it is about to run
        if point.assign is not None:

            def assign(name: str, value: object) -> Change:
                change = stop.assign(name, value)
                if stop.frame is self._last_frame:
                    self._history.assigned(change.name, change.value)
                return change

            point.assign = assign
        return point

    def _reason(self, stop: Stop) -> str:
        first_reason, self._first_reason = self._first_reason, None
        line_stop, self._line_stop = self._line_stop, None
        if stop.exception is not None:
            return f"{type(stop.exception).__name__} raised here"
        if self._operator is not None:
            return f"operator {self._operator} ran forward"
        return f"breakpoint {line_stop}" if line_stop is not None else first_reason or "stepped"

    def _changed(self, stop: Stop) -> set[str]:
        previous = self._last_values.get(stop.frame)
        if previous is None:
            return set()
        current = contents(stop.locals())
        return {name for name, content in current.items() if name not in previous or previous[name] is not content}
