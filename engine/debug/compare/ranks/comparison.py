"""Where who looks at many ranks finds what differs between them: fed with records, it asks for details, and names it.

Nothing of the engine runs here, and no rank is waited for: a step is compared when the records of all ranks are there.
Of each thing that can be wrong the first step is told.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from hookscope.engine.base.argument_checks import check_positive_int

from . import naming
from .alike_rows import AlikeRows
from .findings import RankFinding, at_fault, ranks_text
from .records import Detail, Ended, Failed, Kind, Record, Row, StepRecord, checked_detail, checked_record

__all__ = ["Comparison"]

_MOST_AHEAD = 1000  # steps of other ranks that are kept for one that does not come along
_SETTLED = 3  # steps in a row in which a rank runs the same cells on inputs of the same shapes
_MOST_ASKED = 8  # times that a difference may turn out to be none
_MISMATCH = re.compile(r"the ranks of group '.*?' do not do the same: ", re.DOTALL)
_CALL = re.compile(r"(?:^|; )rank (\d+): ")
_STEPS = (
    "Give all ranks equally many batches: shards of one length, drop_remainder, and no break that one rank takes alone."
)
_COLLECTIVES = "Have all ranks make the same collectives in the same order, with the same shapes and dtypes."
_GONE = "Ask the ranks sooner, or look at them while they run: what a step was made of is kept for some steps only."


class _Layout(NamedTuple):
    """Which cells a rank has run lately on inputs of some shapes.

    Attributes:
        cells: the digest.
        times: in how many steps in a row.
        since: the first of these.
    """

    cells: str
    times: int
    since: int


class Comparison:
    """Compares ranks.

    Args:
        ranks: how many there are, at least 1.

    Attributes:
        findings: what was found, in the order in which it was.

    Raises:
        TypeError: ``ranks`` is no int.
        ValueError: ``ranks`` is below 1.
    """

    def __init__(self, ranks: int) -> None:
        self.ranks = check_positive_int(ranks, "Comparison", "ranks")
        self._steps: dict[int, dict[int, StepRecord]] = {}
        self._newest = [0] * ranks
        self._ended: dict[int, int] = {}
        self._found: dict[str, RankFinding] = {}
        self._rows = AlikeRows(ranks)
        self._asked: dict[tuple[int, Kind], set[str]] = {}  # what about, by what is asked for
        self._details: dict[tuple[int, Kind], dict[int, Sequence[Row] | None]] = {}
        self._tried: dict[str, set[Hashable]] = {}
        self._layouts: list[dict[str, _Layout]] = [{} for _ in range(ranks)]
        self._since: dict[int, int] = {}  # of a step that is asked about: since when the cells are others
        self._explained: set[str] = set()  # parameters whose gradients differed

    @property
    def findings(self) -> list[RankFinding]:
        """What was found, in the order in which it was; of what goes on, as it is by now."""
        return list(self._found.values())

    def add(self, rank: int, records: Iterable[Mapping[str, object] | Record]) -> None:
        """Take the next records of a rank, in their order.

        Raises:
            ValueError: there is no such rank, or one of them is no record, or none that follows those before.
        """
        self._check_rank(rank)
        for given in records:
            record = checked_record(given)
            if record["record"] == "failed":
                self._failed(record)
            elif record["record"] == "ended":
                self._end(rank, record)
            else:
                self._step(rank, record)
        self._go_on()

    def wanted(self) -> list[tuple[int, Kind]]:
        """Of which steps, and kinds, ``add_detail`` waits for each rank's detail; the same until all have come."""
        return [key for key in self._asked if len(self._details[key]) < self.ranks]

    def add_detail(self, rank: int, detail: Mapping[str, object] | Detail) -> None:
        """Take a detail of a rank; one that is not waited for is left.

        Raises:
            ValueError: there is no such rank, or it is no detail.
        """
        self._check_rank(rank)
        checked = checked_detail(detail)
        key = checked["step"], checked["kind"]
        if key not in self._asked:
            return
        self._details[key][rank] = checked["rows"]
        for one, about in list(self._asked.items()):  # in the order of the steps: what comes first explains the others
            if len(self._details[one]) < self.ranks:
                break
            del self._asked[one]
            of_ranks = self._details.pop(one)
            for subject in sorted(about):
                self._name(subject, one[0], of_ranks)

    # Records

    def _check_rank(self, rank: object) -> None:
        if not isinstance(rank, int) or isinstance(rank, bool) or not 0 <= rank < self.ranks:
            raise ValueError(f"rank must be from 0 to {self.ranks - 1}, but got {rank!r}")

    def _step(self, rank: int, record: StepRecord) -> None:
        number = record["step"]
        if rank in self._ended or number <= self._newest[rank]:
            before = "its end" if rank in self._ended else f"step {self._newest[rank]}"
            raise ValueError(f"step {number} of rank {rank} came after {before}")
        self._newest[rank] = number
        self._steps.setdefault(number, {})[rank] = record
        if len(self._steps) > _MOST_AHEAD:
            del self._steps[min(self._steps)]

    def _end(self, rank: int, record: Ended) -> None:
        if rank in self._ended or record["step"] < self._newest[rank]:
            raise ValueError(f"the end of rank {rank} after step {record['step']} came after step {self._newest[rank]}")
        self._ended[rank] = self._newest[rank] = record["step"]

    def _go_on(self) -> None:
        for step in sorted(self._steps):
            of_ranks = self._steps[step]
            if len(of_ranks) == self.ranks:
                self._compare(step, [of_ranks[rank] for rank in range(self.ranks)])
            elif min(self._newest) < step:
                break  # of some rank it may still come
            del self._steps[step]
        self._count_steps()

    def _count_steps(self) -> None:
        least = min(self._ended.values(), default=None)
        if least is None or "steps" in self._found:
            return
        more = {rank for rank in range(self.ranks) if self._newest[rank] > least}
        if not more or any(rank not in self._ended for rank in range(self.ranks) if rank not in more):
            return
        figures = {rank: f"{count} step{'s' * (count != 1)}" for rank, count in enumerate(self._newest)}
        at = at_fault({rank: rank in more for rank in range(self.ranks)})
        others = sorted({*range(self.ranks)} - more)
        message = f"{ranks_text(sorted(more))} made step {least + 1}, and {ranks_text(others)} did not"
        self._found.setdefault("steps", RankFinding("ranks_differ", least + 1, at, "", "", message, _STEPS, figures))

    def _failed(self, record: Failed) -> None:
        found = _MISMATCH.search(record["error"])
        if found is None or "failed" in self._found:
            return
        _, *parts = _CALL.split(record["error"][found.end() :])
        calls = {int(rank): call for rank, call in zip(parts[::2], parts[1::2], strict=True)}
        if len(calls) < 2:
            return
        at = at_fault({rank: re.sub(r" \([^()]*\)$", "", call) for rank, call in calls.items()})
        message = (
            f"{ranks_text(at)} asked for another collective than the others"
            if len(at) < len(calls)
            else (f"{ranks_text(at)} asked for different collectives")
        )
        self._found.setdefault(
            "failed", RankFinding("ranks_differ", record["step"], at, record["path"], "", message, _COLLECTIVES, calls)
        )

    # A step

    def _compare(self, step: int, records: Sequence[StepRecord]) -> None:
        self._compare_cells(step, records)
        for subject, kind in (("parameters", "parameters"), ("statistics", "parameters"), ("gradients", "gradients")):
            if len({record[subject] for record in records}) > 1:  # type: ignore[literal-required]
                self._ask(subject, step, kind, step)  # type: ignore[arg-type]
        drawn = [draw for record in records for draw in set(record["draws"])]
        if len(drawn) > len(set(drawn)):
            self._ask("draws", step, "draws")
        found = self._rows.look(step, records)
        if found is not None:
            self._found["rows"] = found

    def _compare_cells(self, step: int, records: Sequence[StepRecord]) -> None:
        dtypes = tuple(record["dtypes"] for record in records)
        if len(set(dtypes)) > 1:
            self._ask("dtypes", step, "cells", dtypes)
        # What hangs on the shapes of the data need not agree, nor what hangs on its values and so changes from one
        # step to the next.
        for layouts, record in zip(self._layouts, records, strict=True):
            before = layouts.get(record["inputs"])
            if before is not None and before.cells == record["cells"]:
                layouts[record["inputs"]] = before._replace(times=before.times + 1)
            elif before is not None or len(layouts) < _MOST_AHEAD:
                layouts[record["inputs"]] = _Layout(record["cells"], 1, step)
        now = [layouts.get(records[0]["inputs"]) for layouts in self._layouts]
        settled = [one for one in now if one is not None and one.times >= _SETTLED]
        alike = len({record["inputs"] for record in records}) == 1 and len(settled) == self.ranks
        if alike and len({one.cells for one in settled}) > 1:
            self._since[step] = max(one.since for one in settled)
            self._ask("cells", step, "cells")

    def _ask(self, subject: str, step: int, kind: Kind, of: Hashable = None) -> None:
        """Want the details about what differs; of one subject once, or once for what is seen ``of`` it."""
        tried = self._tried.setdefault(subject, set())
        waits = any(subject in about for about in self._asked.values())
        if subject not in self._found and not waits and of not in tried and len(tried) < _MOST_ASKED:
            tried.add(of)
            self._asked.setdefault((step, kind), set()).add(subject)
            self._details.setdefault((step, kind), {})

    def _name(self, subject: str, step: int, details: Mapping[int, Sequence[Row] | None]) -> None:
        """The details about what differs have come from all ranks."""
        rows = {rank: one for rank, one in sorted(details.items()) if one is not None}
        found: RankFinding | None
        if len(rows) < self.ranks:
            told = subject == "dtypes" or (subject == "parameters" and self._explained)
            found = None if told else self._unnamed(subject, step)
        elif subject == "cells":
            found = naming.first_cell(self._since.get(step, step), rows)
        elif subject == "dtypes":
            found = naming.first_dtype(step, rows)
        elif subject == "draws":
            found = naming.alike_draws(step, rows)
        elif subject == "gradients":
            found = naming.first_gradient(step, rows)
            self._explained.update(name for name, _ in naming.differing(rows))
        else:
            found = naming.first_parameter(step, rows, subject == "statistics", self._explained)
        if found is not None:
            self._found.setdefault(subject, found)

    def _unnamed(self, subject: str, step: int) -> RankFinding:
        condition = {"draws": "ranks_alike", "cells": "ranks_differ", "gradients": "ranks_differ"}
        what = f"{subject} are the same" if subject == "draws" else f"{subject} are not the same on all ranks"
        message = f"{what}; which, the ranks no longer know"
        everybody = tuple(range(self.ranks))
        return RankFinding(condition.get(subject, "parameters_differ"), step, everybody, "", "", message, _GONE)
