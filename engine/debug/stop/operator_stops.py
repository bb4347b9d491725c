"""Stops at operators: a tap that is attached only while an operator has a breakpoint or is the next stop."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from hookscope.engine.tape import taps
from hookscope.engine.tensors.tensor import Tensor

from ..record.capture import pick_slot
from .pause import OperatorRecord
from .points import point_at_stop
from .stepping.stepper import Stop
from .stepping.user_code import frame_to_show

if TYPE_CHECKING:
    from ..watch.attachment import Attachment
    from .breakpoints.collection import Breakpoints
    from .pauses import Pauses
    from .stepping.session_stepping import SessionStepping

__all__ = ["OperatorStops"]


class OperatorStops(taps.Tap):
    """Tap that stops at operators.

    Args:
        attachment: the attachment of the session.
        breakpoints: the breakpoints of the session.
        pauses: the pauses of the session.
        stepping: pauses, and has the next stop of this thread.
    """

    observes_operators = True

    def __init__(
        self, attachment: Attachment, breakpoints: Breakpoints, pauses: Pauses, stepping: SessionStepping
    ) -> None:
        self._attachment = attachment
        self._breakpoints = breakpoints
        self._pauses = pauses
        self._stepping = stepping

    def report_fault(self, method: str, error: Exception) -> bool:
        """Report a fault of this tap."""
        return self._pauses.faults.report_fault(f"stopping at an operator ({method})", error)

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Stop after an operator, if requested."""
        values = [value for _, value in pick_slot("output", outputs, Tensor)]
        self._stop_after(name, "forward", values, {"inputs": inputs, "output": outputs})

    def operator_backward(
        self,
        name: str,
        gradient: Any,
        gradients: list[Any],
        attrs: dict[str, Any],
        inputs: tuple[Any, ...],
        output: Any,
    ) -> None:
        """Stop after a gradient rule, if requested."""
        input_gradients = [_tensor(item) for item in gradients]
        output_gradient = (
            tuple([_tensor(item) for item in gradient]) if isinstance(gradient, tuple) else _tensor(gradient)
        )
        self._stop_after(
            name, "backward", input_gradients, {"grad_output": output_gradient, "grad_input": tuple(input_gradients)}
        )

    def _stop_after(self, name: str, direction: str, values: list[Tensor], names_here: dict[str, Any]) -> None:
        """Stop if requested; ``names_here`` has the names for expressions."""
        visits, pauses = self._attachment.visits, self._pauses
        if pauses.is_paused or not visits.own_run or not pauses.can_stop():
            return
        roots = visits.paths.roots
        visit = (visits.running() or visits.of_no_call(roots[0], "")) if roots else None
        names = {**(visit.names() if visit else {}), **names_here, "value": values[0] if values else None}
        stop = self._breakpoints.first_at(f"ops.{name}", direction, values, lambda: names, operator=True)
        if stop is None and not self._stepping.next_stop.at_operator:
            return
        reason = f"operator {name} ran {direction}" if stop is None else f"breakpoint {stop}"
        kind = "pause" if stop is None else "breakpoint"
        path = "" if visit is None else visit.path
        frame = frame_to_show(sys._getframe(1))
        point = point_at_stop(Stop(frame, frame.f_lineno), kind, reason, path, "operator", names)
        point.operator = OperatorRecord(
            name,
            tuple(names_here.get("inputs", ())),
            names_here.get("output"),
            point.function,
            point.filename,
            point.line,
            path,
        )
        self._stepping.pause(point, -1 if visit is None else visit.depth)


def _tensor(gradient: Any) -> Any:
    return gradient if gradient is None or isinstance(gradient, Tensor) else Tensor._wrap(gradient)
