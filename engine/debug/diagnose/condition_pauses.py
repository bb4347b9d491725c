"""Pauses at conditions. A condition that spreads from value to value pauses a run once in a step and direction."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING

from hookscope.engine.tensors.nested import tensors_in

from ..record.statistics import statistics
from ..stop.points import point_at_stop
from ..stop.stepping.stepper import Stop
from ..stop.stepping.user_code import frame_to_show
from .checks.formulas import detail_of
from .conditions.values import FiguresObservation

if TYPE_CHECKING:
    from ..events import Events
    from ..stop.stepping.session_stepping import SessionStepping
    from .conditions import Hit
    from .findings import HitStore
    from .producer import Producer
    from .selection import ConditionSelection

__all__ = ["ConditionPauses"]


class ConditionPauses:
    """Pauses for the conditions that the user selected for pausing.

    Args:
        selection: the checked conditions.
        hit_store: the hits, with the muted conditions.
        stepping: pauses.
        events: reports conditions that fail.
    """

    def __init__(
        self, selection: ConditionSelection, hit_store: HitStore, stepping: SessionStepping, events: Events
    ) -> None:
        self._events = events
        self._selection = selection
        self._hit_store = hit_store
        self._stepping = stepping
        self._paused_for: set[tuple[str, str]] = set()  # (spreading condition, direction) in this step

    def run_began(self) -> None:
        """Begin a run: discard the spreading conditions of the run before."""
        self._paused_for.clear()

    def is_due(self, hit: Hit, direction: str) -> bool:
        """Return whether to pause for a hit of a captured value."""
        name = hit.condition.name
        if name not in self._selection.pausing:
            return False
        if hit.condition.spreads:
            if (name, direction) in self._paused_for:
                return False
            self._paused_for.add((name, direction))
        return True

    def paused_for(self, name: str) -> bool:
        """Return whether the run paused for a spreading condition in this step."""
        return bool({(name, "forward"), (name, "backward")} & self._paused_for)

    def pause(self, hit: Hit) -> None:
        """Pause for a hit without a captured value, if the condition is selected for pausing."""
        if hit.condition.name in self._selection.pausing:
            self._pause_at(None, hit.message, hit.path, "", {})

    def pause_at_producer(self, producer: Producer, frame: FrameType | None, values: dict[str, object]) -> None:
        """Pause at an operator that produced a NaN or an infinity from finite values, or a NaN from an infinity."""
        results = values.get("output") if "gradients" not in values else values["gradients"]
        observations = [FiguresObservation(statistics(tensor)) for tensor in tensors_in(results)]
        nonfinite = self._selection.nonfinite
        matching = [
            condition
            for condition in nonfinite
            if condition.name in self._selection.pausing
            and not self._hit_store.is_muted(condition.name, producer.path)
            and any(detail_of(condition, observation, self._events) for observation in observations)
        ]
        if matching:
            self._paused_for |= {(condition.name, producer.direction) for condition in nonfinite}
            self._pause_at(frame, str(producer), producer.path, "operator", values)

    def _pause_at(
        self, frame: FrameType | None, reason: str, path: str, moment: str, values: Mapping[str, object]
    ) -> None:
        if not self._stepping.can_pause():
            return
        frame = frame or frame_to_show(sys._getframe(1))
        point = point_at_stop(Stop(frame, frame.f_lineno), "condition", reason, path, moment, dict(values))
        self._stepping.pause(point, -1)
