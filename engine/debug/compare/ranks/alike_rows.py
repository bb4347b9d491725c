"""Rows of data that two ranks have seen: in one epoch where a data set of the engine's tells of it, else in one step.

Samples repeat by chance, too, or are drawn anew in each repetition. Then they repeat within a rank as often as between
two, and that is what is compared: were both equally likely, what counts here would come about once in 30,000 times. The
last shards of a data set are filled up with rows of the first; of these each rank has one an epoch at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from .findings import RankFinding, ranks_text
from .records import StepRecord

__all__ = ["AlikeRows"]

_FEWEST = 4  # in one step, if that is most of a batch, and neither rank has seen a row of its own before
_SURE, _TIMES = 14, 8  # in all: more than so many, and so many more for each that a rank repeats
_FILLED_UP = 2  # of a pair of ranks in one epoch
_MOST_KEPT = 500_000
_ADVICE = (
    "Give each rank a shard of its own: the data set's num_shards and shard_id, with the same shuffle on all ranks."
)


class AlikeRows:
    """Is shown the records of all ranks of a step, step by step.

    Args:
        ranks: how many ranks there are.
    """

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        self._passes: list[dict[int, int]] = [{} for _ in range(ranks)]  # their numbers to 1, 2, ... as they come
        self._aligned = True
        self._epoch = 0  # by the number of the pass among those of each rank; 0 where it is not known
        self._between: Counter[tuple[int, int]] = Counter()  # of pairs of ranks, in this epoch
        self._before: Counter[tuple[int, int]] = Counter()  # in those before it
        self._in_a_step: Counter[tuple[int, int]] = Counter()  # the most in one
        self._within: Counter[int] = Counter()
        self._totals: Counter[int] = Counter()
        self._first = 0
        self._found: RankFinding | None = None
        self._is_final = False
        self._forget()

    def _forget(self) -> None:
        self._seen_by: dict[str, tuple[int, ...]] = {}  # of a row
        self._own: list[set[str]] = [set() for _ in range(self._ranks)]

    def look(self, step: int, records: Sequence[StepRecord]) -> RankFinding | None:
        """See the rows of a step, of each rank; returns what is known by now, or None."""
        if self._span_ended(records):
            for pair, count in self._between.items():
                self._before[pair] += max(count - _FILLED_UP, 0)
            self._between.clear()
            self._forget()
            self._is_final = self._found is not None
        if self._is_final:
            return self._found
        if not self._epoch:
            self._seen_by = {}
        self._look_at_step([record["rows"] for record in records])
        for rank, record in enumerate(records):
            self._totals[rank] += len(record["rows"])
            for row in record["rows"]:
                self._see(rank, row, step)
        self._judge()
        return self._found

    def _look_at_step(self, batches: Sequence[Sequence[str]]) -> None:
        rows = [set(batch) for batch in batches]
        new = [
            len(batch) == len(one) and own.isdisjoint(one)
            for batch, one, own in zip(batches, rows, self._own, strict=True)
        ]
        for one, other in combinations(range(self._ranks), 2):
            shared = len(rows[one] & rows[other])
            most = 0.75 * min(len(rows[one]), len(rows[other]))
            if new[one] and new[other] and shared >= max(_FEWEST, most):
                self._in_a_step[one, other] = max(self._in_a_step[one, other], shared)

    def _span_ended(self, records: Sequence[StepRecord]) -> bool:
        """Whether rows are no more to be compared with those before.

        They are with those of this epoch, if by all that ranks have seen they are in the same, and else with those of
        this step.
        """
        told = [record["epoch"] for record in records]
        of_ranks = {
            passes.setdefault(epoch, len(passes) + 1) if epoch else 0
            for passes, epoch in zip(self._passes, told, strict=True)
        }
        before = self._epoch
        # Where one rank alone has gone over other data meanwhile, epochs tell nothing any more.
        self._aligned &= len(of_ranks) == 1
        self._epoch = of_ranks.pop() if self._aligned else 0
        return before != self._epoch

    def _see(self, rank: int, row: str, step: int) -> None:
        if row in self._own[rank]:
            self._within[rank] += 1
            return
        if len(self._own[rank]) < _MOST_KEPT // self._ranks:
            self._own[rank].add(row)
        others = self._seen_by.get(row, ())
        if rank not in others and len(self._seen_by) < _MOST_KEPT:
            self._seen_by[row] = (*others, rank)
        for other in others:
            if other != rank:
                self._between[min(other, rank), max(other, rank)] += 1
                self._first = self._first or step

    def _judge(self) -> None:
        pairs = dict(self._in_a_step)
        for (one, other), count in self._between.items():
            total = self._before[one, other] + count
            if total > _SURE + _TIMES * (self._within[one] + self._within[other]):
                pairs[one, other] = max(total, pairs.get((one, other), 0))
        if not pairs:
            return
        ranks = {rank for pair in pairs for rank in pair}
        in_all = [rank for rank in ranks if all(rank in pair for pair in pairs)]
        if len(in_all) == 1:  # the others have nothing in common without it
            ranks = {in_all[0]}
        figures = {}
        for rank in range(self._ranks):
            shared = sum(count for pair, count in pairs.items() if rank in pair)
            figures[rank] = f"{self._totals[rank]} rows, {shared} of them another rank's too"
        (one, other), count = max(pairs.items(), key=lambda item: item[1])
        span = "in one epoch" if self._epoch else "in the same steps"
        message = f"{ranks_text((one, other))} have seen the same {count} rows of data {span}"
        if len(pairs) > 1:
            message += f", and so have {len(pairs) - 1} more pairs"
        self._found = RankFinding(
            "ranks_alike", self._first, tuple(sorted(ranks)), "", "input[0]", message, _ADVICE, figures
        )
