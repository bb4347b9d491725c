"""Scope of a paused function: evaluation, assignment, and the check of its gradient."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hookscope.engine.tape import taps

from .breakpoints.expression import evaluate, take_part, value_of
from .editing import assign
from .pauses import evaluating

if TYPE_CHECKING:
    from ..compare.gradient_rows import GradientCheck
    from ..events import Events
    from ..watch.paths import CellPaths
    from .breakpoints.collection import Breakpoints
    from .display import PauseDisplay
    from .pause import PausePoint
    from .pauses import Pauses

__all__ = ["PausedScope"]


class PausedScope:
    """Names at the pause of a session.

    Args:
        display: the displayed point.
        events: notified of changes.
        paths: the cells of the session.
        breakpoints: reports breakpoints in cells that an expression calls.
        pauses: undoes assignments if the step is aborted.

    Attributes:
        gradient_checks: the last gradient check of each checked cell, by path.
    """

    def __init__(
        self, display: PauseDisplay, events: Events, paths: CellPaths, breakpoints: Breakpoints, pauses: Pauses
    ) -> None:
        self.gradient_checks: dict[str, GradientCheck] = {}
        self._display = display
        self._events = events
        self._paths = paths
        self._breakpoints = breakpoints
        self._pauses = pauses

    def evaluate(self, expression: str) -> object:
        """Evaluate an expression; see ``DebugSession.evaluate``."""
        point = self._display.shown_point()
        with evaluating(), taps.on_muted_call(self._breakpoints.report_skipped), taps.mute():
            try:
                return value_of(expression, {**point.names, **point.locals}, partial(evaluate, tell=self._put_back))
            finally:
                self._refresh()

    def _put_back(self) -> None:
        self._events.say(
            "changes that an evaluated expression makes to a network are undone: make them by the session's edit, "
            "parameter_edits, set_train and set_requires_grad",
            "put back",
        )

    def edit(self, name: str, expression: str) -> object:
        """Evaluate an expression and assign its value; see ``DebugSession.edit``."""
        point = self._settable_point()
        with evaluating(), taps.on_muted_call(self._breakpoints.report_skipped), taps.open_recordings(point.recordings):
            try:
                value = value_of(expression, {**point.names, **point.locals}, take_part)
            finally:
                self._refresh()
        self._assign(point, name, value, expression)
        return value

    def assign(self, name: str, value: object) -> None:
        """Assign a value; see ``DebugSession.assign``."""
        self._assign(self._settable_point(), name, value, None)

    def check_gradient(self, seconds: float) -> GradientCheck:
        """Check the gradient of the paused bprop; see ``DebugSession.check_gradient``."""
        from ..compare.gradient_check import check_gradient

        point = self._display.paused_point()
        if point.arguments is None:
            raise RuntimeError("there is no gradient to check: the run is not in a bprop")
        with evaluating():
            check = check_gradient(self._paths.cell(point.path), *point.arguments[:-2], seconds=seconds)
        self.gradient_checks[point.path] = check
        return check

    def _settable_point(self) -> PausePoint:
        point = self._display.shown_point()
        if point.kind == "past":
            raise RuntimeError("earlier lines cannot change: step forward to the run's line to set a variable")
        if point.kind == "failure":
            raise RuntimeError("nothing can be set any more: the run has failed")
        if point.exception is not None and point.assign is None:
            raise RuntimeError(f"nothing can be set here: the line has raised {type(point.exception).__name__}")
        if point.assign is None and point.passing is None:
            raise RuntimeError("there is no variable to set: the run is not at a line of a function")
        return point

    def _assign(self, point: PausePoint, name: str, value: object, expression: str | None) -> None:
        if point.passing is not None:
            name, value = assign(point.passing, name, value, expression)
            point.names["value"] = next((tensor for _, tensor in point.passing.slots), None)
        elif point.assign is not None:
            if point.recomputed:  # the second run would not know of the change
                raise RuntimeError(
                    f"no variable can be set here: {point.recomputed} is computed again in the backward pass"
                )
            name, value, undo = point.assign(name, value)
            if undo is not None:
                self._pauses.undo_later(undo)
        point.locals[name] = value
        point.changed.add(name)
        self._events.notify("changed")

    def _refresh(self) -> None:
        """Refresh the variables after an expression, which may share them with a function that it called."""
        has_changed = False
        for point in {self._display.paused, self._display.point}:
            if point is None or point.variables is None:
                continue
            variables = point.variables()
            changed = {name for name, value in variables.items() if point.locals.get(name, point) is not value}
            if changed or variables.keys() != point.locals.keys():
                point.locals = variables
                point.changed |= changed
                has_changed = True
        if has_changed:
            self._events.notify("changed")
