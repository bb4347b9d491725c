"""Selection of the conditions that a session checks, and of those that it pauses at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .conditions import Condition
from .conditions.values import ValueObservation

if TYPE_CHECKING:
    from ..record.capture import Capture

__all__ = ["ConditionSelection"]


class ConditionSelection:
    """Checked conditions, which can be added and removed at any time.

    Attributes:
        conditions: the conditions, by name.
        pausing: the names of the conditions that the run pauses at.
        values: the conditions on captured values.
        nonfinite: of these, the conditions on NaN or infinities.
        against_first: whether one of them needs the statistics of the first gradient.
        observed: the classes of the observations so far, other than captured values.
    """

    def __init__(self) -> None:
        self.conditions: dict[str, Condition] = {}
        self.pausing: set[str] = set()
        self.values: list[Condition] = []
        self.nonfinite: list[Condition] = []
        self.against_first = False
        self.observed: set[type[Any]] = set()
        self._about: dict[type[Any], list[Condition]] = {}
        self._at: dict[tuple[str, str, str], list[Condition]] = {}

    def add(self, condition: Condition, pause: bool) -> None:
        """Add a condition, replacing any of this name."""
        self.conditions[condition.name] = condition
        (self.pausing.add if pause else self.pausing.discard)(condition.name)
        self._sort()

    def remove(self, name: str) -> None:
        """Remove a condition."""
        del self.conditions[name]
        self.pausing.discard(name)
        self._sort()

    def _sort(self) -> None:
        self._about = {}
        for condition in self.conditions.values():
            for kind in condition.seen:
                self._about.setdefault(kind, []).append(condition)
        self.values = self._about.get(ValueObservation, [])
        self.nonfinite = [condition for condition in self.values if condition.nonfinite]
        self.against_first = any(condition.against_first for condition in self.values)
        self._at = {}

    def includes(self, *kinds: type[Any]) -> bool:
        """Return whether a condition on one of these classes is checked."""
        return any(kind in self._about for kind in kinds)

    def about(self, kind: type[Any]) -> list[Condition]:
        """Return the conditions on this class of observations."""
        return self._about.get(kind, [])

    def judged(self) -> set[str]:
        """Return the names of the conditions that had something to judge so far."""
        of_values = {condition.name for conditions in self._at.values() for condition in conditions}
        return of_values | {
            condition.name for condition in self.conditions.values() if self.observed.intersection(condition.seen)
        }

    def at(self, capture: Capture) -> list[Condition]:
        """Return the conditions that apply to such a captured value, cached for each kind."""
        kind = capture.cell_type, capture.direction, capture.slot
        conditions = self._at.get(kind)
        if conditions is None:
            conditions = self._at[kind] = [condition for condition in self.values if condition.looks_at(capture)]
        return conditions
