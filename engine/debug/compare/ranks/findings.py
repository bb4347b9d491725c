"""Findings between ranks: the conditions, a finding as data, and the ranks at fault."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict

from ...record.capture import cell_name

__all__ = ["RANK_CONDITIONS", "RankCondition", "RankFinding", "RankFindingData", "at_fault", "ranks_text"]


class RankCondition(NamedTuple):
    """A possible fault between ranks.

    Attributes:
        name: the name of the condition.
        meaning: the condition in words.
    """

    name: str
    meaning: str


RANK_CONDITIONS: dict[str, RankCondition] = {
    row.name: row
    for row in (
        RankCondition(
            "ranks_differ",
            "the ranks do not run the same cells, shapes or dtypes, steps or collectives, "
            "or their optimizers are given other gradients",
        ),
        RankCondition(
            "parameters_differ",
            "a parameter, or a moving statistic of a batch norm, does not have the same bits on all ranks",
        ),
        RankCondition(
            "ranks_alike",
            "ranks that should see or draw different things have the same: rows of the data, or random numbers",
        ),
    )
}
"""The conditions by name. A single session cannot check them: it observes one rank."""


class RankFindingData(TypedDict):
    """A ``RankFinding`` in JSON; ``figures`` by the rank's number as text."""

    condition: str
    step: int
    ranks: list[int]
    path: str
    name: str
    message: str
    advice: str
    figures: dict[str, str]


@dataclass(frozen=True)
class RankFinding:
    """One fault between ranks.

    Attributes:
        condition: the name of the condition, one of ``RANK_CONDITIONS``.
        step: the first step with the fault.
        ranks: the ranks at fault, in ascending order: for a difference, those that differ from the majority, or all
            ranks if there is no majority.
        path: the cell's path; "" for the root.
        name: the name of the parameter, or the slot of a value; "" if there is neither.
        message: the observation, one sentence.
        advice: the first thing to check, one sentence.
        figures: the value of each rank, in words.
    """

    condition: str
    step: int
    ranks: tuple[int, ...]
    path: str
    name: str
    message: str
    advice: str
    figures: Mapping[int, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """The name of the cell for display."""
        return cell_name(self.path)

    def data(self) -> RankFindingData:
        """Return the finding as plain data."""
        return {
            "condition": self.condition,
            "step": self.step,
            "ranks": [*self.ranks],
            "path": self.path,
            "name": self.name,
            "message": self.message,
            "advice": self.advice,
            "figures": {str(rank): text for rank, text in self.figures.items()},
        }


def at_fault(values: Mapping[int, Hashable]) -> tuple[int, ...]:
    """Return the ranks that differ from more than half of all; all ranks if no such majority has one value.

    Args:
        values: the value of each rank.
    """
    counts: dict[Hashable, int] = {}
    for value in values.values():
        counts[value] = counts.get(value, 0) + 1
    majority = max(counts, key=lambda value: counts[value])
    if 2 * counts[majority] <= len(values):
        return tuple(sorted(values))
    return tuple(sorted(rank for rank, value in values.items() if value != majority))


def ranks_text(ranks: Iterable[int]) -> str:
    """Return ranks as text: ``rank 1``, ``ranks 0, 1 and 2``."""
    numbers = [str(rank) for rank in ranks]
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    return f"ranks {', '.join(numbers[:-1])} and {numbers[-1]}"
