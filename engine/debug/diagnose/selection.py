"""Which conditions a session looks for, and which of them it pauses at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .conditions import Condition
from .conditions.values import Seen

if TYPE_CHECKING:
    from ..record.capture import Capture

__all__ = ["LookedFor"]


class LookedFor:
    """Conditions, which can be added and removed at any time.

    Attributes:
        conditions: they, by name.
        pausing: the names of those that the run pauses at.
        values: those on captured values.
        nonfinite: of these, the ones that look for NaN or infinities.
        against_first: whether one needs the figures of the first gradient.
    """

    def __init__(self) -> None:
        self.conditions: dict[str, Condition] = {}
        self.pausing: set[str] = set()
        self.values: list[Condition] = []
        self.nonfinite: list[Condition] = []
        self.against_first = False
        self._about: dict[type[Any], list[Condition]] = {}
        self._at: dict[tuple[str, str, str], list[Condition]] = {}

    def add(self, condition: Condition, pause: bool) -> None:
        """Look for a condition; one of this name is replaced."""
        self.conditions[condition.name] = condition
        (self.pausing.add if pause else self.pausing.discard)(condition.name)
        self._sort()

    def remove(self, name: str) -> None:
        """Look for it no more."""
        del self.conditions[name]
        self.pausing.discard(name)
        self._sort()

    def _sort(self) -> None:
        self._about = {}
        for condition in self.conditions.values():
            for kind in condition.seen:
                self._about.setdefault(kind, []).append(condition)
        self.values = self._about.get(Seen, [])
        self.nonfinite = [condition for condition in self.values if condition.nonfinite]
        self.against_first = any(condition.against_first for condition in self.values)
        self._at = {}

    def wanted(self, *kinds: type[Any]) -> bool:
        """Whether a condition about one of these is looked for."""
        return any(kind in self._about for kind in kinds)

    def about(self, kind: type[Any]) -> list[Condition]:
        """Those about such a thing."""
        return self._about.get(kind, [])

    def at(self, capture: Capture) -> list[Condition]:
        """Those on captured values that look at such a one: found once for each kind."""
        kind = capture.cell_type, capture.direction, capture.slot
        found = self._at.get(kind)
        if found is None:
            found = self._at[kind] = [condition for condition in self.values if condition.looks_at(capture)]
        return found
