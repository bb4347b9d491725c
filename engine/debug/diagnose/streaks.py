"""How often in a row a condition has held: some count only if they hold at several looks running."""

from __future__ import annotations

from collections.abc import Iterator

from .conditions import Condition, Hit

__all__ = ["Streaks"]


class _Streak:
    """How often in a row a condition has held for one subject, of how many looks in all."""

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
    """Counts the looks of each condition at each subject."""

    def __init__(self) -> None:
        self._streaks: dict[tuple[str, str], _Streak] = {}

    def look(self, condition: Condition, subject: str, hit: Hit | None) -> bool:
        """Count a look; whether the condition has held often enough by now."""
        if condition.in_a_row == 1:
            return hit is not None
        streak = self._streaks.get((condition.name, subject))
        if streak is None:
            streak = self._streaks[condition.name, subject] = _Streak()
        return streak.look(hit)

    def end(self) -> Iterator[Hit]:
        """There are no more looks: what held at each of the few that there were."""
        for streak in list(self._streaks.values()):
            if streak.hit is not None and streak.looks == streak.held < streak.hit.condition.in_a_row:
                yield streak.hit._replace(capture=None)
        self._streaks.clear()
