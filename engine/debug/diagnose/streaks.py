"""Streaks: some conditions count only if they hold in several consecutive observations."""

from __future__ import annotations

from collections.abc import Iterator

from .conditions import Condition, Hit

__all__ = ["Streaks"]


class _Streak:
    """Number of consecutive observations in which a condition held for one subject, and their total number."""

    __slots__ = ("held", "hit", "looks")

    def __init__(self) -> None:
        self.held = self.looks = 0
        self.hit: Hit | None = None

    def look(self, hit: Hit | None) -> bool:
        self.looks += 1
        self.held = 0 if hit is None else self.held + 1
        self.hit = hit
        return hit is not None and self.held >= hit.condition.in_a_row


class Streaks:
    """Streaks by condition and subject."""

    def __init__(self) -> None:
        self._streaks: dict[tuple[str, str], _Streak] = {}

    def look(self, condition: Condition, subject: str, hit: Hit | None) -> bool:
        """Count an observation; return whether the condition has held often enough."""
        if condition.in_a_row == 1:
            return hit is not None
        streak = self._streaks.get((condition.name, subject))
        if streak is None:
            streak = self._streaks[condition.name, subject] = _Streak()
        return streak.look(hit)

    def end(self) -> Iterator[Hit]:
        """Yield, at the end of the run, hits that held in every one of fewer observations than required."""
        for streak in list(self._streaks.values()):
            if streak.hit is not None and streak.looks == streak.held < streak.hit.condition.in_a_row:
                yield streak.hit._replace(capture=None)
        self._streaks.clear()
