"""Comparison of ranks on the observer's side: it receives records, requests details, and locates the differences.

Nothing of the engine runs here, and no rank is waited for: a step is compared when the records of all ranks have
arrived. Each kind of fault is reported at its first step.
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

_MOST_AHEAD = 1000  # steps of other ranks that are kept for one that lags behind
_SETTLED = 3  # consecutive steps in which a rank runs the same cells on inputs of the same shapes
_MOST_ASKED = 8  # limit of the requests about one subject, since a difference may prove to be none
_MISMATCH = re.compile(r"the ranks of group '.*?' do not do the same: ", re.DOTALL)
_CALL = re.compile(r"(?:^|; )rank (\d+): ")
_STEPS = (
    "Give all ranks equally many batches: shards of one length, drop_remainder, and no break that one rank takes alone."
)
_COLLECTIVES = "Have all ranks make the same collectives in the same order, with the same shapes and dtypes."
_GONE = "Ask the ranks sooner, or look at them while they run: the details of a step are kept for some steps only."


class _Layout(NamedTuple):
    """The cells that a rank has recently run on inputs of certain shapes.

    Attributes:
        cells: the digest.
        times: the number of consecutive steps.
        since: the first of these.
    """

    cells: str
    times: int
    since: int


class Comparison:
    """Comparison of the records of all ranks.

    Args:
        ranks: the number of ranks, at least 1.

    Attributes:
        findings: the findings, in the order of detection.

    Raises:
        TypeError: ``ranks`` is not an int.
        ValueError: ``ranks`` is below 1.
    """

    def __init__(self, ranks: int) -> None:
        self.ranks = check_positive_int(ranks, "Comparison", "ranks")
        self._steps: dict[int, dict[int, StepRecord]] = {}
        self._newest = [0] * ranks
        self._end_steps: dict[int, int] = {}
        self._findings: dict[str, RankFinding] = {}
        self._rows = AlikeRows(ranks)
        self._requests: dict[tuple[int, Kind], set[str]] = {}  # subjects, by the requested step and kind
        self._details: dict[tuple[int, Kind], dict[int, Sequence[Row] | None]] = {}
        self._tried: dict[str, set[Hashable]] = {}
        self._layouts: list[dict[str, _Layout]] = [{} for _ in range(ranks)]
        self._since: dict[int, int] = {}  # by the requested step: the first step since when the cells differ
        self._explained: set[str] = set()  # parameters whose gradients differed

    @property
    def findings(self) -> list[RankFinding]:
        """The findings in the order of detection; a finding that continues has its current state."""
        return list(self._findings.values())

    def add(self, rank: int, records: Iterable[Mapping[str, object] | Record]) -> None:
        """Add the next records of a rank, in their order.

        Raises:
            ValueError: there is no such rank, or an item is not a record, or does not follow the earlier ones.
        """
        self._check_rank(rank)
        for item in records:
            record = checked_record(item)
            if record["record"] == "failed":
                self._failed(record)
            elif record["record"] == "ended":
                self._end(rank, record)
            else:
                self._step(rank, record)
        self._go_on()

    def wanted(self) -> list[tuple[int, Kind]]:
        """Return the steps and kinds for which details are requested from each rank, until all have arrived."""
        return [key for key in self._requests if len(self._details[key]) < self.ranks]

    def add_detail(self, rank: int, detail: Mapping[str, object] | Detail) -> None:
        """Add a detail of a rank; one that was not requested is ignored.

        Raises:
            ValueError: there is no such rank, or it is not a detail.
        """
        self._check_rank(rank)
        checked = checked_detail(detail)
        key = checked["step"], checked["kind"]
        if key not in self._requests:
            return
        self._details[key][rank] = checked["rows"]
        for next_key, about in list(self._requests.items()):  # in the order of the steps: the first explains the others
            if len(self._details[next_key]) < self.ranks:
                break
            del self._requests[next_key]
            details = self._details.pop(next_key)
            for subject in sorted(about):
                self._name(subject, next_key[0], details)

    # Records

    def _check_rank(self, rank: object) -> None:
        if not isinstance(rank, int) or isinstance(rank, bool) or not 0 <= rank < self.ranks:
            raise ValueError(f"rank must be from 0 to {self.ranks - 1}, but got {rank!r}")

    def _step(self, rank: int, record: StepRecord) -> None:
        number = record["step"]
        if rank in self._end_steps or number <= self._newest[rank]:
            previous = "its end" if rank in self._end_steps else f"step {self._newest[rank]}"
            raise ValueError(f"step {number} of rank {rank} came after {previous}")
        self._newest[rank] = number
        self._steps.setdefault(number, {})[rank] = record
        if len(self._steps) > _MOST_AHEAD:
            del self._steps[min(self._steps)]

    def _end(self, rank: int, record: Ended) -> None:
        if rank in self._end_steps or record["step"] < self._newest[rank]:
            raise ValueError(f"the end of rank {rank} after step {record['step']} came after step {self._newest[rank]}")
        self._end_steps[rank] = self._newest[rank] = record["step"]

    def _go_on(self) -> None:
        for step in sorted(self._steps):
            records = self._steps[step]
            if len(records) == self.ranks:
                self._compare(step, [records[rank] for rank in range(self.ranks)])
            elif min(self._newest) < step:
                break  # it may still arrive from some rank
            del self._steps[step]
        self._count_steps()

    def _count_steps(self) -> None:
        first_end = min(self._end_steps.values(), default=None)
        if first_end is None or "steps" in self._findings:
            return
        ahead = {rank for rank in range(self.ranks) if self._newest[rank] > first_end}
        if not ahead or any(rank not in self._end_steps for rank in range(self.ranks) if rank not in ahead):
            return
        figures = {rank: f"{count} step{'s' * (count != 1)}" for rank, count in enumerate(self._newest)}
        faulty = at_fault({rank: rank in ahead for rank in range(self.ranks)})
        others = sorted({*range(self.ranks)} - ahead)
        message = f"{ranks_text(sorted(ahead))} made step {first_end + 1}, and {ranks_text(others)} did not"
        self._findings.setdefault(
            "steps", RankFinding("ranks_differ", first_end + 1, faulty, "", "", message, _STEPS, figures)
        )

    def _failed(self, record: Failed) -> None:
        match = _MISMATCH.search(record["error"])
        if match is None or "failed" in self._findings:
            return
        _, *parts = _CALL.split(record["error"][match.end() :])
        calls = {int(rank): call for rank, call in zip(parts[::2], parts[1::2], strict=True)}
        if len(calls) < 2:
            return
        faulty = at_fault({rank: re.sub(r" \([^()]*\)$", "", call) for rank, call in calls.items()})
        message = (
            f"{ranks_text(faulty)} called a different collective than the others"
            if len(faulty) < len(calls)
            else (f"{ranks_text(faulty)} called different collectives")
        )
        self._findings.setdefault(
            "failed",
            RankFinding("ranks_differ", record["step"], faulty, record["path"], "", message, _COLLECTIVES, calls),
        )

    # A step

    def _compare(self, step: int, records: Sequence[StepRecord]) -> None:
        self._compare_cells(step, records)
        for subject, kind in (("parameters", "parameters"), ("statistics", "parameters"), ("gradients", "gradients")):
            if len({record[subject] for record in records}) > 1:  # type: ignore[literal-required]
                self._ask(subject, step, kind, step)  # type: ignore[arg-type]
        draws = [draw for record in records for draw in set(record["draws"])]
        if len(draws) > len(set(draws)):
            self._ask("draws", step, "draws")
        finding = self._rows.look(step, records)
        if finding is not None:
            self._findings["rows"] = finding

    def _compare_cells(self, step: int, records: Sequence[StepRecord]) -> None:
        dtypes = tuple(record["dtypes"] for record in records)
        if len(set(dtypes)) > 1:
            self._ask("dtypes", step, "cells", dtypes)
        # Cells that depend on the shapes of the data need not agree, nor those that depend on its values and so change
        # from one step to the next.
        for layouts, record in zip(self._layouts, records, strict=True):
            layout = layouts.get(record["inputs"])
            if layout is not None and layout.cells == record["cells"]:
                layouts[record["inputs"]] = layout._replace(times=layout.times + 1)
            elif layout is not None or len(layouts) < _MOST_AHEAD:
                layouts[record["inputs"]] = _Layout(record["cells"], 1, step)
        layouts_now = [layouts.get(records[0]["inputs"]) for layouts in self._layouts]
        settled_layouts = [state for state in layouts_now if state is not None and state.times >= _SETTLED]
        is_settled = len({record["inputs"] for record in records}) == 1 and len(settled_layouts) == self.ranks
        if is_settled and len({state.cells for state in settled_layouts}) > 1:
            self._since[step] = max(state.since for state in settled_layouts)
            self._ask("cells", step, "cells")

    def _ask(self, subject: str, step: int, kind: Kind, of: Hashable = None) -> None:
        """Request the details of a difference; once for each subject, or once for each ``of``."""
        attempts = self._tried.setdefault(subject, set())
        is_pending = any(subject in about for about in self._requests.values())
        if subject not in self._findings and not is_pending and of not in attempts and len(attempts) < _MOST_ASKED:
            attempts.add(of)
            self._requests.setdefault((step, kind), set()).add(subject)
            self._details.setdefault((step, kind), {})

    def _name(self, subject: str, step: int, details: Mapping[int, Sequence[Row] | None]) -> None:
        """Name a difference after its details have arrived from all ranks."""
        rows = {rank: detail for rank, detail in sorted(details.items()) if detail is not None}
        finding: RankFinding | None
        if len(rows) < self.ranks:
            is_reported = subject == "dtypes" or (subject == "parameters" and self._explained)
            finding = None if is_reported else self._unnamed(subject, step)
        elif subject == "cells":
            finding = naming.first_cell(self._since.get(step, step), rows)
        elif subject == "dtypes":
            finding = naming.first_dtype(step, rows)
        elif subject == "draws":
            finding = naming.alike_draws(step, rows)
        elif subject == "gradients":
            finding = naming.first_gradient(step, rows)
            self._explained.update(name for name, _ in naming.differing(rows))
        else:
            finding = naming.first_parameter(step, rows, subject == "statistics", self._explained)
        if finding is not None:
            self._findings.setdefault(subject, finding)

    def _unnamed(self, subject: str, step: int) -> RankFinding:
        condition = {"draws": "ranks_alike", "cells": "ranks_differ", "gradients": "ranks_differ"}
        statement = f"{subject} are the same" if subject == "draws" else f"{subject} are not the same on all ranks"
        message = f"{statement}; which, the ranks no longer know"
        all_ranks = tuple(range(self.ranks))
        return RankFinding(condition.get(subject, "parameters_differ"), step, all_ranks, "", "", message, _GONE)
