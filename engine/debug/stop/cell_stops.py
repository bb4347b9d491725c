"""Stops at a moment of a cell: a breakpoint, a condition that held, or the end of a step command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .points import point_at_cell

if TYPE_CHECKING:
    from ..watch.value_event import ValueEvent
    from .breakpoints.collection import Breakpoints
    from .stepping.session_stepping import SessionStepping

__all__ = ["CellStops"]


class CellStops:
    """Stops at cells, where the user can edit the values that pass.

    Args:
        breakpoints: the breakpoints of the session.
        stepping: pauses, and has the next stop of this thread.
    """

    def __init__(self, breakpoints: Breakpoints, stepping: SessionStepping) -> None:
        self._breakpoints = breakpoints
        self._stepping = stepping

    def stop(self, event: ValueEvent) -> None:
        """Stop if there is a reason; the user may edit the values of the event meanwhile."""
        visit, moment = event.visit, event.moment
        values = [value for _, value in event.slots]
        names = visit.names_with(values)
        stop = self._breakpoints.first_at(visit.path, moment, values, lambda: names)
        is_step_target = visit.depth <= self._stepping.next_stop.to_depth
        if not (event.hits or stop or is_step_target):
            return
        reasons = [hit.message for hit in event.hits] + ([] if stop is None else [f"breakpoint {stop}"]) or ["stepped"]
        if event.context:
            reasons.append(event.context)
        if stop is not None:
            names["passes"] = stop.passes
        kind = "condition" if event.hits else "breakpoint" if stop is not None else "pause"
        point = point_at_cell(visit.cell, kind, "; ".join(reasons), visit.path, moment, names, event.values)
        point.passing = event
        visit.stopped.add(moment)
        self._stepping.pause(point, visit.depth)
        if event.edits:
            visit.edits[moment] = (point, event.edits)
