"""What is found between ranks: the conditions, a finding as data, and which ranks are at fault."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict

from ...record.capture import cell_name

__all__ = ["RANK_CONDITIONS", "RankCondition", "RankFinding", "RankFindingData", "at_fault", "ranks_text"]


class RankCondition(NamedTuple):
    """What can be wrong between ranks.

    Attributes:
        name: of the condition.
        meaning: what holds, in words.
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
            "a parameter, or a moving statistic of a batch norm, has not the same bits on all ranks",
        ),
        RankCondition(
            "ranks_alike",
            "ranks that should see or draw different things have the same: rows of the data, or random numbers",
        ),
    )
}
"""By name. One session cannot look for them: it knows one rank."""


class RankFindingData(TypedDict):
    """A ``RankFinding`` as JSON has it; ``figures`` by the rank's number as text."""

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
    """One thing that is wrong between ranks.

    Attributes:
        condition: the name of the condition, one of ``RANK_CONDITIONS``.
        step: the first step in which it was seen.
        ranks: those at fault, rising: the ones that stand against a majority that agrees, or else all that differ.
        path: the cell's path; "" for the root.
        name: of the parameter, or the slot of a value; "" where it is about neither.
        message: what was seen, one sentence.
        advice: what to look at first, one sentence.
        figures: what each rank has, in words.
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
        """The cell as people read it."""
        return cell_name(self.path)

    def data(self) -> RankFindingData:
        """The same as plain data."""
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
    """The ranks that stand against more than half of all; all where no such majority has one value.

    Args:
        values: what each rank has.
    """
    counts: dict[Hashable, int] = {}
    for value in values.values():
        counts[value] = counts.get(value, 0) + 1
    most = max(counts, key=lambda value: counts[value])
    if 2 * counts[most] <= len(values):
        return tuple(sorted(values))
    return tuple(sorted(rank for rank, value in values.items() if value != most))


def ranks_text(ranks: Iterable[int]) -> str:
    """Ranks as people read them: ``rank 1``, ``ranks 0, 1 and 2``."""
    numbers = [str(rank) for rank in ranks]
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    return f"ranks {', '.join(numbers[:-1])} and {numbers[-1]}"
