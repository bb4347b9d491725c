"""The part of a session that chooses what is looked at while the run stands: that place, or one before it."""

from __future__ import annotations

from ..events import Events
from ..weakly import weakly
from .breakpoint import Breakpoint
from .line_stops import LineStops
from .pause import PausePoint

__all__ = ["Showing", "shown_now"]

_standing: list[Showing] = []  # the sessions that are paused, the innermost last


def shown_now() -> PausePoint | None:
    """What is looked at in the innermost pause of all sessions; None while nothing is paused."""
    standing = _standing[-1:]  # another thread may end its pause
    return standing[0].shown if standing else None


class Showing(Events):
    """What a session can show at a pause.

    Attributes:
        paused: where the run stands still now; None while it runs.
        shown: what is looked at meanwhile: ``paused``, or what was stepped back to.
        breakpoints: where it is to stand still.
    """

    breakpoints: list[Breakpoint]

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._line_stops = LineStops(weakly(self._breakpoints_now), weakly(self.say))
        self.paused: PausePoint | None = None
        self.shown: PausePoint | None = None
        self._lines_back = 0

    def step_back(self) -> PausePoint:
        """Show the line that the bprop passed before the one that is shown; returns what is shown now.

        Raises:
            RuntimeError: nothing is paused, or there is no earlier line.
        """
        point = self._paused_point()
        if not point.history:
            raise RuntimeError("there is nothing to step back to: no line of a bprop that is stepped was passed")
        if self._lines_back >= len(point.history):
            raise RuntimeError("there is no earlier line: the history begins here")
        return self._show(point, self._lines_back + 1)

    def step_forward(self) -> PausePoint:
        """Show the line that came after the one that is shown, in the end where the run stands.

        Raises:
            RuntimeError: nothing is paused, or where the run stands is what is shown.
        """
        point = self._paused_point()
        if self.shown is point:
            raise RuntimeError("this is where the run stands: to go on, step over or into the line")
        return self._show(point, max(self._lines_back - 1, 0))

    def show_operator(self, index: int) -> PausePoint:
        """Show an operator that the bprop ran, and the line that ran it; ``inputs`` and ``output`` name its values.

        Args:
            index: its place among the operators of ``paused``; as in a list, -1 is the last.

        Raises:
            RuntimeError: nothing is paused, or in no bprop that is stepped.
            IndexError: there is no such operator.
        """
        point = self._paused_point()
        if point.past is None:
            raise RuntimeError("there is no operator to show: only a bprop that is stepped keeps them")
        count = len(point.operators)
        if not -count <= index < count:
            raise IndexError(f"index must be one of the {count} operators that ran so far, got {index}")
        self.shown, self._lines_back = point.past.at_operator(point, index % count)
        self.notify("changed")
        return self.shown

    def _show(self, point: PausePoint, lines_back: int) -> PausePoint:
        self.shown = point.past.at_line(point, lines_back) if point.past is not None and lines_back else point
        self._lines_back = lines_back
        self.notify("changed")
        return self.shown

    def _stand_at(self, point: PausePoint | None) -> None:
        """The run stands still here, or with None goes on."""
        self.paused = self.shown = point
        if point is not None:
            point.line_stops = self._line_stops
            _standing.append(self)
        elif self in _standing:
            _standing.remove(self)
        self._lines_back = 0

    def _breakpoints_now(self) -> list[Breakpoint]:
        return self.breakpoints

    def _shown_point(self) -> PausePoint:
        return self.shown or self._paused_point()

    def _paused_point(self) -> PausePoint:
        if self.paused is None:
            raise RuntimeError(f"{self.name} is not paused")
        return self.paused
