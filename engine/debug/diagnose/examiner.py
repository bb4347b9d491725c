"""Trying the conditions on what is seen: on captured values, and on what watchers show of anything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..record.statistics import Statistics
from ..watch.roots import has_parameters
from .checks.formulas import detail_of, report
from .conditions import Condition, Hit, tried
from .streaks import Streaks

if TYPE_CHECKING:
    from ..events import Events
    from ..record.capture import Capture
    from .condition_pauses import ConditionPauses
    from .findings import Found
    from .finiteness import Finiteness
    from .selection import LookedFor

__all__ = ["Examiner"]


class Examiner:
    """Tries the conditions, and keeps where they hold.

    Args:
        looked_for: the conditions.
        found: where hits are kept.
        pauses: pauses for them.
        finiteness: knows where what is not finite began.
        events: told of conditions that fail.
    """

    def __init__(
        self, looked_for: LookedFor, found: Found, pauses: ConditionPauses, finiteness: Finiteness, events: Events
    ) -> None:
        self._looked_for = looked_for
        self._found = found
        self._pauses = pauses
        self._finiteness = finiteness
        self._events = events
        self._streaks = Streaks()
        self._arrived: Statistics | None = None
        self._began: dict[str, tuple[str, int]] = {}  # by spreading condition: where it was first seen, and last when
        self._held_back: list[tuple[Hit, Capture]] = []  # until a cell with parameters comes

    def step_began(self) -> None:
        """A root cell is called."""
        self._held_back.clear()

    def ended(self) -> None:
        """The session ends: keep whatever held in each of the few steps that there were."""
        for hit in self._streaks.end():
            self._found.keep(hit)

    def look(self, seen: Any, path: str, subject: str, step: int) -> None:
        """Try the conditions that are about such a thing on what is seen of a parameter, the loss or a cell."""
        for condition in self._looked_for.about(type(seen)):
            detail = detail_of(condition, seen, self._events)
            message = f"{condition.name} in {subject} ({detail})"
            hit = None if detail is None else Hit(condition, path, subject, step, message)
            if self._streaks.look(condition, subject, hit) and hit is not None and self._found.keep(hit):
                self._pauses.pause(hit)

    def _failed(self, condition: Condition, error: Exception) -> None:
        report(condition, error, self._events)

    def value(self, capture: Capture, names: Callable[[], Mapping[str, Any]]) -> list[Hit]:
        """Try them on a captured value; returns the hits to pause for."""
        looked_for = self._looked_for
        if not looked_for.values:
            return []
        if capture.direction == "forward":
            if not capture.context:
                self._arrived = None
        elif looked_for.against_first and self._is_first_gradient(capture):
            self._arrived = capture.figures()
        wanted, key = looked_for.at(capture), ""
        hits = tried(capture, wanted, self._arrived, names, self._failed)
        held = {hit.condition.name: hit for hit in hits}
        for condition in wanted:
            if condition.in_a_row > 1:
                key = key or capture.key
                hit = held.get(condition.name)
                without_value = None if hit is None else hit._replace(capture=None)
                if not self._streaks.look(condition, key, without_value):
                    held.pop(condition.name, None)
        if not (held or self._held_back):
            return []
        later: list[tuple[Hit, Capture]] = []
        if self._held_back and capture.direction == "forward" and has_parameters(names()["cell"]):
            later, self._held_back = self._held_back, []
        self._held_back += [(hit, capture) for hit in held.values() if hit.condition.inside]
        told = [*later, *((hit, capture) for hit in held.values() if not hit.condition.inside)]
        return [hit for hit, of in told if self._value_held(hit, of)]

    def _is_first_gradient(self, capture: Capture) -> bool:
        """Whether it is the first of its walk; one number, such as a loss scale, stands in until there are several."""
        arrived = self._arrived
        return arrived is None or (arrived.count == 1 and capture.array.size > 1)

    def _value_held(self, hit: Hit, capture: Capture) -> bool:
        """Keep a hit about a value; returns whether to pause for it."""
        name, origin = hit.condition.name, None
        if hit.condition.masks_are_meant and self._finiteness.is_mask(capture.array):
            return False
        if hit.condition.nonfinite:
            hit, origin = self._finiteness.with_origin(hit, capture.array)
        if hit.condition.spreads and origin is None:
            first, last = self._began.get(name, (hit.path, -1))
            origin = first if hit.step - last <= 1 else hit.path
            self._began[name] = (origin, hit.step)
        if not self._found.keep(hit, origin):
            return False
        capture.hits.append(name)
        return self._pauses.is_due(hit, capture.direction)
