"""Stops in custom bprops: whether a bprop runs under the stepper, and where the run continues after it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hookscope.engine.tape import taps
from hookscope.engine.tensors.tensor import Tensor

from ..record.capture import cell_name, pick_slot
from .points import argument_names
from .stepping.bprop import BpropRun

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from ..watch.attachment import Attachment
    from .breakpoints import Breakpoints
    from .operator_stops import OperatorStops
    from .pauses import Pauses

__all__ = ["BpropStops"]


class _PerThread(threading.local):
    depth = 0  # of nested stepped bprops


class BpropStops:
    """Runner of the bprops of the session's cells.

    Args:
        attachment: the attachment of the session.
        breakpoints: the breakpoints of the session.
        pauses: the pauses of the session.
        operators: the stops at operators, with the next stop of this thread.
    """

    def __init__(
        self, attachment: Attachment, breakpoints: Breakpoints, pauses: Pauses, operators: OperatorStops
    ) -> None:
        self._attachment = attachment
        self._breakpoints = breakpoints
        self._pauses = pauses
        self._operators = operators
        self._thread = _PerThread()
        self._shown_errors: list[BaseException] = []

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
        has_stop = stop is not None or self._breakpoints.every_bprop or self._operators.next_stop.in_bprop
        if not has_stop and not self._breakpoints.lines.of(path):
            return function(*args)
        self._operators.forget_steps()
        reason = "" if not has_stop else "the bprop begins" if stop is None else f"breakpoint {stop}"
        self._thread.depth += 1
        run = BpropRun(
            path,
            reason,
            names,
            self._pauses,
            self._operators,
            self._shown_errors,
            visits.paths,
            self._breakpoints.lines,
        )
        try:
            result = run.run(function, args)
        finally:
            self._thread.depth -= 1
            if not self._thread.depth:
                self._shown_errors.clear()
        if run.to_operator:  # no operator ran before the end: the next one is outside
            self._operators.obey("operator", visit.depth)
        return result
