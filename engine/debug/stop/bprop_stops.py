"""Stops in custom bprops: whether a bprop runs under the stepper."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hookscope.engine.tape import taps
from hookscope.engine.tensors.tensor import Tensor

from ..record.capture import cell_name, pick_slot
from .points import argument_names
from .stepping.session_stepping import BpropCall

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from ..watch.attachment import Attachment
    from .breakpoints.collection import Breakpoints
    from .pauses import Pauses
    from .stepping.session_stepping import SessionStepping

__all__ = ["BpropStops"]


class BpropStops:
    """Runner of the bprops of the session's cells.

    Args:
        attachment: the attachment of the session.
        breakpoints: the breakpoints of the session.
        pauses: the pauses of the session.
        stepping: steps through the bprop.
    """

    def __init__(
        self, attachment: Attachment, breakpoints: Breakpoints, pauses: Pauses, stepping: SessionStepping
    ) -> None:
        self._attachment = attachment
        self._breakpoints = breakpoints
        self._pauses = pauses
        self._stepping = stepping

    def run(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Return ``function(*args)``, run under the stepper if the session stops there."""
        path = self._attachment.visits.paths.path_of(cell)
        if path is None:
            return function(*args)
        with taps.in_context(f"in the bprop of {cell_name(path)}"):
            return self._run(cell, path, function, args)

    def _run(self, cell: Cell, path: str, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if not self._pauses.can_stop():
            return function(*args)
        with taps.mute():
            arguments = argument_names(function, args)
            values = [value for _, value in pick_slot("dout", args[-1:], Tensor)]
            visits = self._attachment.visits
            visit = visits.of_bprop(cell) or visits.of_no_call(cell, path)
            names = visit.names_with(values)
            stop = self._breakpoints.first_at(path, "bprop", values, lambda: {**names, **arguments})
        is_entered = self._breakpoints.every_bprop or self._stepping.is_entering()
        if stop is None and not is_entered and not self._breakpoints.lines.of(path):
            return function(*args)
        reason = f"breakpoint {stop}" if stop is not None else "the bprop begins" if is_entered else ""
        return self._stepping.run_bprop(BpropCall(path, args, names, reason), function)
