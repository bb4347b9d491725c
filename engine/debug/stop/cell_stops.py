"""Stops at a moment of a cell: a breakpoint, a condition that held, or the end of a step command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.engine.tape import taps

from ..faults import let_pass
from .expression import take_part, value_of
from .points import point_at_cell

if TYPE_CHECKING:
    from hookscope.engine.tensors.tensor import Tensor

    from ..diagnose.conditions import Hit
    from ..watch.visits import Visit
    from .breakpoints import Breakpoints
    from .editing import Passing
    from .operator_stops import OperatorStops
    from .pauses import Pauses

__all__ = ["CellStops", "edit_again"]


class CellStops:
    """Stops at cells, where the user can edit the values that pass.

    Args:
        breakpoints: the breakpoints of the session.
        pauses: the pauses of the session.
        operators: the stops at operators, with the next stop of this thread.
    """

    def __init__(self, breakpoints: Breakpoints, pauses: Pauses, operators: OperatorStops) -> None:
        self._breakpoints = breakpoints
        self._pauses = pauses
        self._operators = operators

    def stop(
        self,
        visit: Visit,
        passing: Passing,
        slots: list[tuple[str, Tensor]],
        hits: list[Hit],
        stepped_to: bool,
        context: str,
    ) -> bool:
        """Stop if there is a reason; return whether a value was edited."""
        moment = passing.moment
        values = [value for _, value in slots]
        names = visit.names_with(values)
        stop = self._breakpoints.standing(visit.path, moment, values, lambda: names)
        reasons = [hit.message for hit in hits] + ([] if stop is None else [f"breakpoint {stop}"])
        if not reasons and stepped_to:
            reasons.append("stepped")
        if not reasons:
            return False
        if context:
            reasons.append(context)
        if stop is not None:
            names["passes"] = stop.passes
        kind = "condition" if hits else "breakpoint" if stop is not None else "pause"
        self._operators.forget_steps()
        point = point_at_cell(visit.cell, kind, "; ".join(reasons), visit.path, moment, names, passing.values)
        point.passing = passing
        visit.stopped.add(moment)
        self._operators.obey(self._pauses.pause_or_abort(point), visit.depth)
        if not passing.edits:
            return False
        visit.edits[moment] = (point, passing.edits)
        return True


def edit_again(first: Visit, visit: Visit, passing: Passing) -> None:
    """Repeat the edits of the first call in a repeated one, as a hook would run in the second call too."""
    try:
        _edit_again(first, visit, passing)
    except Exception as error:  # the user's edit ends the run as a hook of theirs would
        let_pass(error)
        raise


def _edit_again(first: Visit, visit: Visit, passing: Passing) -> None:
    point, edits = first.edits[passing.moment]
    for edit in edits:
        value = edit.value
        if edit.expression is not None:
            names = {**point.names, **visit.names_with([tensor for _, tensor in passing.slots()])}
            with taps.recorded(taps.outer_recordings()):
                names = {**names, **point.locals, "cell": visit.cell, **passing.values}
                value = value_of(edit.expression, names, take_part)
        passing.assign(edit.name, value, edit.expression)
