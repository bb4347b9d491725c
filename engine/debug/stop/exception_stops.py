"""Stops at exceptions: breakpoints of the moment "exception", and the failure that stays after the run.

``PATH:exception`` stops when an exception leaves a cell at PATH, with the frames of the function that raised it. So
``.:exception``, or ``exception`` alone, stops at those that leave the network, its optimizer or a gradient call, and
``*:exception`` also at those that the user's code catches inside the network. An exception stops once, at the innermost
of these cells. It continues unchanged afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hookscope.engine.nn.optim.optimizer import Optimizer
from hookscope.engine.tape import taps
from hookscope.engine.tensors.tensor import Tensor

from ..record.capture import pick_slot
from .failure import RaisedError, is_failure, left_known_cell, point_at_error

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.parameter import Parameter

    from ..watch.attachment import Attachment
    from ..watch.visits import Visit
    from .breakpoints.collection import Breakpoints
    from .failure import Failures
    from .pauses import Pauses
    from .stepping.session_stepping import SessionStepping

__all__ = ["ExceptionStops"]


class ExceptionStops:
    """Stops at exceptions of the session's cells.

    Args:
        attachment: the attachment of the session.
        breakpoints: the breakpoints of the session.
        pauses: the pauses of the session.
        stepping: pauses.
        failures: records what leaves the network.
    """

    def __init__(
        self,
        attachment: Attachment,
        breakpoints: Breakpoints,
        pauses: Pauses,
        stepping: SessionStepping,
        failures: Failures,
    ) -> None:
        self._attachment = attachment
        self._breakpoints = breakpoints
        self._pauses = pauses
        self._stepping = stepping
        self._failures = failures

    def left_cell(
        self, cell: Cell, args: tuple[Any, ...], depth: int, visit: Visit | None, error: BaseException
    ) -> None:
        """Stop at an exception that leaves a call of a cell, if there is a breakpoint."""
        if not is_failure(error):
            return
        visits = self._attachment.visits
        leaves_network = visits.is_outermost_root(cell, depth) or (
            isinstance(cell, Optimizer) and visits.is_own(cell.parameters)
        )
        path = visits.paths.path_of(cell)
        if path is None and not leaves_network:
            return
        try:
            self._stop(path, leaves_network, args, depth, visit, error)
            if leaves_network:
                self._failures.record(error)
        finally:
            if leaves_network and not taps.outer_recordings():
                self._pauses.shown_error = None

    def left_gradient_call(self, weights: Sequence[Parameter], error: BaseException) -> None:
        """Stop at an exception that leaves a gradient call, if there is a breakpoint."""
        visits = self._attachment.visits
        if not is_failure(error) or taps.outer_recordings() or visits.in_root_call:
            return
        visit = visits.running()  # in the backward pass the cell whose gradient was computed
        try:
            if visit is not None or left_known_cell(error, visits.paths) or (weights and visits.is_own(weights)):
                self._stop(None, True, (), -1, visit, error)
                self._failures.record(error, None if visit is None else visit.path)
        finally:
            self._pauses.shown_error = None
            visits.leave_all()

    def _stop(
        self,
        path: str | None,
        leaves_network: bool,
        args: tuple[Any, ...],
        depth: int,
        visit: Visit | None,
        error: BaseException,
    ) -> None:
        pauses = self._pauses
        if error is pauses.shown_error or not self._breakpoints.at_exceptions or not pauses.can_stop():
            return
        visits = self._attachment.visits
        values = [value for _, value in pick_slot("input", args, Tensor)]
        roots = visits.paths.roots
        known_visit = visit or (visits.of_no_call(roots[0], "") if roots else None)
        names = {**({} if known_visit is None else known_visit.names_with(values)), "error": error}
        stop = None
        for candidate in dict.fromkeys((path, "" if leaves_network else path)):
            if candidate is not None:
                stop = stop or self._breakpoints.first_at(candidate, "exception", values, lambda: names)
        if stop is None:
            return
        names["passes"] = stop.passes
        backward_path = visit.path if visit is not None and path is None else None
        raised = RaisedError.of(error, self._failures.explainer, pauses.faults, backward_path)
        point = point_at_error(raised, "exception", f"breakpoint {stop}", names)
        self._stepping.pause(point, depth)
