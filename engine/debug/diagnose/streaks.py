"""Streaks: some conditions count only if they hold in several consecutive observations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .conditions import Condition, Hit

__all__ = ["Streaks", "without_call"]

_CALL = re.compile(r"#\d+ ")


def without_call(subject: str) -> str:
    """Return the key of a capture without the number of the call; other subjects as they are."""
    return _CALL.sub(" ", subject, count=1)


class _Streak:
    """Number of consecutive observations in which a condition held for one subject, and their total number."""

    __slots__ = ("hit", "length", "observations")

    def __init__(self) -> None:
        self.length = self.observations = 0
        self.hit: Hit | None = None

    def add(self, hit: Hit | None) -> bool:
        self.observations += 1
        self.length = 0 if hit is None else self.length + 1
        self.hit = hit
        if hit is None:
            return False
        condition = hit.condition
        is_first = condition.at_first_once and self.observations <= condition.in_a_row
        return is_first or self.length >= condition.in_a_row


class Streaks:
    """Streaks by condition and subject."""

    def __init__(self) -> None:
        self._streaks: dict[tuple[str, str], _Streak] = {}

    def add(self, condition: Condition, subject: str, hit: Hit | None) -> bool:
        """Count an observation; return whether the condition has held often enough."""
        if condition.in_a_row == 1:
            return hit is not None
        streak = self._streaks.get((condition.name, subject))
        if streak is None:
            streak = self._streaks[condition.name, subject] = _Streak()
        return streak.add(hit)

    def end(self) -> Iterator[Hit]:
        """Yield, at the end of the run, hits that held in every one of fewer observations than required.

        Of a value, no call of the cell may have been observed without its hit.
        """
        streaks = list(self._streaks.items())
        excepted = {
            (name, without_call(subject)) for (name, subject), streak in streaks if streak.observations > streak.length
        }
        for (name, subject), streak in streaks:
            if streak.hit is None or (name, without_call(subject)) in excepted:
                continue
            if streak.observations < streak.hit.condition.in_a_row:
                yield streak.hit._replace(capture=None)
        self._streaks.clear()
