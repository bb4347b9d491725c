"""Displayed point of a paused run: the point of the pause, or an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .frames import at_frame
from .pause import PausePoint

if TYPE_CHECKING:
    from ..events import Events

__all__ = ["PauseDisplay", "displayed_point"]

_displays: list[PauseDisplay] = []  # the sessions that are paused, the innermost last


def displayed_point() -> PausePoint | None:
    """Return the displayed point in the innermost pause of all sessions; None while nothing is paused."""
    innermost = _displays[-1:]  # another thread may end its pause
    return innermost[0].point if innermost else None


class PauseDisplay:
    """Displayed point of a session at a pause.

    Args:
        events: notified when another point is displayed.

    Attributes:
        paused: the point at which the run is paused; None while it runs.
        point: the displayed point: ``paused``, an earlier one after stepping back, another frame of it, or the point
            of a failure after the run.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self.paused: PausePoint | None = None
        self.point: PausePoint | None = None
        self._lines_back = 0
        self._failure: PausePoint | None = None

    def step_back(self) -> PausePoint:
        """Display the previous line; see ``DebugSession.step_back``."""
        point = self.paused_point()
        if not point.history:
            raise RuntimeError("there is nothing to step back to: no line was stepped through")
        if self._lines_back >= len(point.history):
            raise RuntimeError("there is no earlier line: the history begins here")
        return self._show(point, self._lines_back + 1)

    def step_forward(self) -> PausePoint:
        """Display the next line; see ``DebugSession.step_forward``."""
        point = self.paused_point()
        if self.point is point:
            raise RuntimeError("the run is at this line: to go on, step over or into it")
        return self._show(point, max(self._lines_back - 1, 0))

    def show_operator(self, index: int) -> PausePoint:
        """Display an operator; see ``DebugSession.show_operator``."""
        point = self.paused_point()
        if point.past is None:
            raise RuntimeError("there is no operator to show: only a function that is stepped through keeps them")
        count = len(point.operators)
        if not -count <= index < count:
            raise IndexError(f"index must be one of the {count} operators that ran so far, got {index}")
        self.point, self._lines_back = point.past.at_operator(point, index % count)
        self._events.notify("changed")
        return self.point

    def show_frame(self, index: int) -> PausePoint:
        """Display another function of the stack; see ``DebugSession.show_frame``."""
        point = self._failure or self.paused_point()
        count = len(point.frames)
        if not -count <= index < count:
            raise IndexError(f"index must be one of the {count} functions on the stack, got {index}")
        index %= count
        self.point = point if index == point.frame else at_frame(point, index)
        self._lines_back = 0
        self._events.notify("changed")
        return self.point

    def show_failure(self, point: PausePoint | None) -> None:
        """Display the point of a failure, or with None end this display; do nothing while the run is paused."""
        if self.paused is None and (point is not None or self._failure is not None):
            self._failure = self.point = point
            self._events.notify("changed")

    def _show(self, point: PausePoint, lines_back: int) -> PausePoint:
        self.point = point.past.at_line(point, lines_back) if point.past is not None and lines_back else point
        self._lines_back = lines_back
        self._events.notify("changed")
        return self.point

    def set_point(self, point: PausePoint | None) -> None:
        """Begin a pause at a point, or with None end it."""
        self.paused = self.point = point
        self._failure = None
        if point is not None:
            _displays.append(self)
        elif self in _displays:
            _displays.remove(self)
        self._lines_back = 0

    def shown_point(self) -> PausePoint:
        """Return the displayed point.

        Raises:
            RuntimeError: nothing is paused.
        """
        return self.point or self.paused_point()

    def paused_point(self) -> PausePoint:
        """Return the point of the pause.

        Raises:
            RuntimeError: nothing is paused.
        """
        if self.paused is None:
            raise RuntimeError(f"{self._events.name} is not paused")
        return self.paused
