"""Rows of data that two ranks have both seen.

Rows are compared within one epoch if a data set of the engine reports the epoch, otherwise within one step. Samples may
also repeat by chance, or because each repetition of the data set draws them again. Then they repeat within a rank as
often as between two ranks, so the two counts are compared: if both kinds of repetition were equally likely, the
threshold would be reached once in 30,000 times. The last shards of a data set are filled with rows of the first shards.
Each rank has at most one such row in an epoch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from .findings import RankFinding, ranks_text
from .records import StepRecord

__all__ = ["AlikeRows"]

_FEWEST = 4  # in one step, if that is most of a batch, and neither rank has seen one of its rows before
_SURE, _TIMES = 14, 8  # in all: more than this many, and this many more for each that a rank repeats
_FILLED_UP = 2  # of a pair of ranks in one epoch
_MOST_KEPT = 500_000
_ADVICE = (
    "Give each rank a shard of its own: the data set's num_shards and shard_id, with the same shuffle on all ranks."
)


class AlikeRows:
    """Detector of common rows, which receives the records of all ranks step by step.

    Args:
        ranks: the number of ranks.
    """

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        self._passes: list[dict[int, int]] = [{} for _ in range(ranks)]  # epochs of each rank, renumbered from 1
        self._aligned = True
        self._epoch = 0  # the number of the pass of all ranks; 0 if it is not known
        self._between: Counter[tuple[int, int]] = Counter()  # of pairs of ranks, in this epoch
        self._before: Counter[tuple[int, int]] = Counter()  # in the epochs before it
        self._in_a_step: Counter[tuple[int, int]] = Counter()  # the maximum in one step
        self._within: Counter[int] = Counter()
        self._totals: Counter[int] = Counter()
        self._first = 0
        self._finding: RankFinding | None = None
        self._is_final = False
        self._forget()

    def _forget(self) -> None:
        self._seen_by: dict[str, tuple[int, ...]] = {}  # ranks by row
        self._own: list[set[str]] = [set() for _ in range(self._ranks)]

    def look(self, step: int, records: Sequence[StepRecord]) -> RankFinding | None:
        """Compare the rows of a step of all ranks; return the finding so far, or None."""
        if self._span_ended(records):
            for pair, count in self._between.items():
                self._before[pair] += max(count - _FILLED_UP, 0)
            self._between.clear()
            self._forget()
            self._is_final = self._finding is not None
        if self._is_final:
            return self._finding
        if not self._epoch:
            self._seen_by = {}
        self._look_at_step([record["rows"] for record in records])
        for rank, record in enumerate(records):
            self._totals[rank] += len(record["rows"])
            for row in record["rows"]:
                self._see(rank, row, step)
        self._judge()
        return self._finding

    def _look_at_step(self, batches: Sequence[Sequence[str]]) -> None:
        rows = [set(batch) for batch in batches]
        is_new = [
            len(batch) == len(first) and rows_before.isdisjoint(first)
            for batch, first, rows_before in zip(batches, rows, self._own, strict=True)
        ]
        for first, second in combinations(range(self._ranks), 2):
            shared = len(rows[first] & rows[second])
            limit = 0.75 * min(len(rows[first]), len(rows[second]))
            if is_new[first] and is_new[second] and shared >= max(_FEWEST, limit):
                self._in_a_step[first, second] = max(self._in_a_step[first, second], shared)

    def _span_ended(self, records: Sequence[StepRecord]) -> bool:
        """Return whether earlier rows are not compared with new ones any more.

        They are compared within this epoch, if according to all ranks they are in the same one, else within this step.
        """
        epochs = [record["epoch"] for record in records]
        positions = {
            passes.setdefault(epoch, len(passes) + 1) if epoch else 0
            for passes, epoch in zip(self._passes, epochs, strict=True)
        }
        previous = self._epoch
        # If one rank alone has iterated over other data meanwhile, epochs are meaningless.
        self._aligned &= len(positions) == 1
        self._epoch = positions.pop() if self._aligned else 0
        return previous != self._epoch

    def _see(self, rank: int, row: str, step: int) -> None:
        if row in self._own[rank]:
            self._within[rank] += 1
            return
        if len(self._own[rank]) < _MOST_KEPT // self._ranks:
            self._own[rank].add(row)
        others = self._seen_by.get(row, ())
        if rank not in others and len(self._seen_by) < _MOST_KEPT:
            self._seen_by[row] = (*others, rank)
        for other_rank in others:
            if other_rank != rank:
                self._between[min(other_rank, rank), max(other_rank, rank)] += 1
                self._first = self._first or step

    def _judge(self) -> None:
        pairs = dict(self._in_a_step)
        for (first, second), count in self._between.items():
            total = self._before[first, second] + count
            if total > _SURE + _TIMES * (self._within[first] + self._within[second]):
                pairs[first, second] = max(total, pairs.get((first, second), 0))
        if not pairs:
            return
        ranks = {rank for pair in pairs for rank in pair}
        common = [rank for rank in ranks if all(rank in pair for pair in pairs)]
        if len(common) == 1:  # the others have no rows in common without it
            ranks = {common[0]}
        figures = {}
        for rank in range(self._ranks):
            shared = sum(count for pair, count in pairs.items() if rank in pair)
            figures[rank] = f"{self._totals[rank]} rows, {shared} of them another rank's too"
        (first, second), count = max(pairs.items(), key=lambda item: item[1])
        span = "in one epoch" if self._epoch else "in the same steps"
        message = f"{ranks_text((first, second))} have seen the same {count} rows of data {span}"
        if len(pairs) > 1:
            message += f", and so have {len(pairs) - 1} more pairs"
        self._finding = RankFinding(
            "ranks_alike", self._first, tuple(sorted(ranks)), "", "input[0]", message, _ADVICE, figures
        )
