"""Results of the conditions: hits, bounded in number, and findings, which group hits by condition and place."""

from __future__ import annotations

import html
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

from ..record.capture import cell_name
from ..record.tables import html_table, text_table
from .conditions import Hit
from .streaks import without_call

if TYPE_CHECKING:
    from ..record.ring import CaptureRing
    from .causes import Cause
    from .producer import Producer

__all__ = ["Finding", "Findings", "HitStore", "Muted"]

# Limit of hits without a capture, which are not dropped with one.
_MAX_HITS = 10_000

_COLUMNS = ("condition", "where", "steps", "times", "what", "advice")


@dataclass
class Finding:
    """One detected fault.

    Attributes:
        condition: the name of the condition.
        path: the cell's path ("" for the root, and for anything outside the network); for a NaN or an infinity, the
            path of its origin.
        subject: the first observed subject: a capture's key, a parameter's name, or "loss".
        message: the first observation, one sentence.
        advice: the first thing to check, one sentence.
        first_step, last_step: the first and the last step with a hit.
        count: the number of hits.
        producer: the producer of the NaN or the infinity, if known.
        outside: "data", "loss" or "optimizer" if it is in none of the cells, else "".
        parameter: the name of its parameter, or "".
        backward: whether it was observed in the backward pass.
        certainty: "certain", "likely", or "symptom", the sign of a fault that may be elsewhere.
        steps: the number of steps with a hit.
        minor: whether all of its hits are weaker evidence than others of its condition.
    """

    condition: str
    path: str
    subject: str
    message: str
    advice: str
    first_step: int
    last_step: int
    count: int = 1
    producer: Producer | None = None
    outside: str = ""
    parameter: str = ""
    backward: bool = False
    certainty: str = "likely"
    steps: int = 1
    minor: bool = False

    @property
    def evidence(self) -> str:
        """The steps in which it was seen, such as "in 4 of the 5 steps from 3 to 7"."""
        if self.first_step == self.last_step:
            times = f", {self.count} times" if self.count > 1 else ""
            return f"in step {self.first_step}{times}"
        span = self.last_step - self.first_step + 1
        seen = f"each of the {span}" if self.steps == span else f"{self.steps} of the {span}"
        return f"in {seen} steps from {self.first_step} to {self.last_step}"

    @property
    def place(self) -> str:
        """The location: "data", "loss" or "optimizer", the name of a parameter, or the path of a cell."""
        return self.outside or self.parameter or self.path

    @property
    def where(self) -> str:
        """The location for display: "the data", or the name of the cell."""
        return f"the {self.outside}" if self.outside else cell_name(self.path)


class Findings(tuple[Finding, ...]):
    """Findings in the order of their first occurrence; they print as a table.

    Args:
        findings: the findings.
        call_order: the position of each cell's first call in the flow of the data, by path.
    """

    _call_order: Mapping[str, int]

    def __new__(cls, findings: Iterable[Finding] = (), call_order: Mapping[str, int] | None = None) -> Findings:
        instance = super().__new__(cls, findings)
        instance._call_order = call_order or {}
        return instance

    def causes(self) -> tuple[Cause, ...]:
        """Return the findings that no other finding explains, each with its consequences, worst and earliest first."""
        from .causes import causes_of

        return causes_of(self, self._call_order)

    def __str__(self) -> str:
        return text_table(_COLUMNS, [_cells(finding) for finding in self], ("times",)) if self else "nothing found"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if not self:
            return html.escape(str(self))
        return html_table(_COLUMNS, [_cells(finding) for finding in self], ("times",))


def _cells(finding: Finding) -> list[str]:
    steps = str(finding.first_step)
    if finding.last_step != finding.first_step:
        steps += f" to {finding.last_step}"
    observation = finding.message.removeprefix(f"{finding.condition} in ")  # which has a column of its own
    return [finding.condition, finding.where, steps, str(finding.count), observation, finding.advice]


class Muted(NamedTuple):
    """A condition that is intended in the cell at this path, where it causes neither findings nor pauses, and why."""

    condition: str
    path: str
    reason: str = ""


class _Entry(NamedTuple):
    """A hit, and the path of its origin."""

    number: int
    hit: Hit
    path: str


class _Aside(NamedTuple):
    """Finding of a muted condition in a cell, with its subjects and its hits; the hits have no captures any more."""

    finding: Finding
    subjects: set[str]
    hits: list[_Entry]


class HitStore:
    """Store of hits and findings.

    A hit is kept as long as its capture; of hits without a capture, the newest are kept. Findings stay: there are at
    most as many as conditions times cells.

    Args:
        captures: the ring buffer.

    Attributes:
        mutes: the muted conditions, in the order in which they were muted.
    """

    def __init__(self, captures: CaptureRing) -> None:
        self._captures = weakref.ref(captures)  # the ring reports evictions to this object
        self._number = 0
        self._of_captures: deque[_Entry] = deque()
        self._others: deque[_Entry] = deque(maxlen=_MAX_HITS)
        self._findings: dict[tuple[str, str], Finding] = {}
        self._subjects: dict[tuple[str, str], set[str]] = {}  # of the hits of each finding, without numbers of calls
        self.mutes: list[Muted] = []
        self._set_aside: dict[tuple[str, str], _Aside] = {}

    def is_muted(self, condition: str, path: str) -> bool:
        """Return whether a condition is muted in this cell."""
        return any(mute[:2] == (condition, path) for mute in self.mutes)

    def has(self, condition: str, path: str) -> bool:
        """Return whether there is a finding of this condition in this cell."""
        return (condition, path) in self._findings

    def mute(self, condition: str, path: str, reason: str = "") -> None:
        """Set aside what is known of this condition in this cell, and keep none of its hits from now on."""
        self.unmute(condition, path)
        self.mutes.append(Muted(condition, path, reason))
        location = condition, path
        finding, subjects = self._findings.pop(location, None), self._subjects.pop(location, None)
        removed: list[_Entry] = []
        for hits in (self._of_captures, self._others):
            entries = list(hits)
            hits.clear()
            for entry in entries:
                (removed if (entry.hit.condition.name, entry.path) == location else hits).append(entry)
        if finding is not None:
            hits_aside = [entry._replace(hit=entry.hit._replace(capture=None)) for entry in removed]
            self._set_aside[location] = _Aside(finding, subjects or set(), hits_aside)

    def unmute(self, condition: str, path: str) -> None:
        """Keep the hits of this condition in this cell again; what was known of it before is back."""
        self.mutes = [mute for mute in self.mutes if mute[:2] != (condition, path)]
        aside = self._set_aside.pop((condition, path), None)
        if aside is not None:
            self._findings[condition, path], self._subjects[condition, path] = aside.finding, aside.subjects
            entries = sorted([*self._others, *aside.hits], key=lambda entry: entry.number)
            self._others.clear()
            self._others.extend(entries)

    def withdraw(self, condition: str, path: str, subject: str) -> None:
        """Drop the hits of this condition on one subject in the cell at this path.

        Args:
            condition: the name of the condition.
            path: the path of the cell.
            subject: the subject, such as a parameter; of a value, the hits of all calls of the cell are dropped.
        """
        location, subject = (condition, path), without_call(subject)
        subjects = self._subjects.get(location)
        if subjects is None or subject not in subjects:
            return
        subjects.remove(subject)
        rest: list[_Entry] = []
        for hits in (self._of_captures, self._others):
            entries = list(hits)
            hits.clear()
            for entry in entries:
                if (entry.hit.condition.name, entry.path) != location:
                    hits.append(entry)
                elif without_call(entry.hit.subject) != subject:
                    hits.append(entry)
                    rest.append(entry)
        if rest or not subjects:  # else the hits on its other subjects are not kept any more
            self._findings.pop(location, None)
            self._subjects.pop(location, None)
        for entry in sorted(rest, key=lambda entry: entry.number):
            self._add(entry.hit, path)

    def clear(self) -> None:
        """Remove all hits; muted conditions stay muted."""
        self._of_captures.clear()
        self._others.clear()
        self._findings.clear()
        self._subjects.clear()
        self._set_aside.clear()

    def keep(self, hit: Hit, origin: str | None = None) -> bool:
        """Keep a hit, unless it is muted at its origin; return whether it is kept.

        Args:
            hit: the hit.
            origin: the path of its origin, if different from that of the hit.
        """
        path = hit.path if origin is None else origin
        if self.is_muted(hit.condition.name, path):
            return False
        self._group(hit, path)
        self._forget_given_up()
        return True

    def _group(self, hit: Hit, path: str) -> None:
        self._number += 1
        (self._others if hit.capture is None else self._of_captures).append(_Entry(self._number, hit, path))
        self._add(hit, path)

    def _add(self, hit: Hit, path: str) -> None:
        self._subjects.setdefault((hit.condition.name, path), set()).add(without_call(hit.subject))
        finding = self._findings.get((hit.condition.name, path))
        if finding is None:
            message = hit.message if hit.producer is None else str(hit.producer)
            condition = hit.condition
            self._findings[condition.name, path] = Finding(
                condition.name,
                path,
                hit.subject,
                message,
                hit.advice or ("" if hit.producer is None else hit.producer.advice) or condition.advice,
                hit.step,
                hit.step,
                producer=hit.producer,
                outside=condition.place if not path else "",
                parameter=hit.subject if condition.group == "parameters" else "",
                backward=_backward(hit),
                certainty=condition.certainty,
                minor=hit.minor,
            )
            return
        finding.count += 1
        finding.steps += hit.step > finding.last_step
        finding.minor = finding.minor and hit.minor
        finding.first_step = min(finding.first_step, hit.step)
        finding.last_step = max(finding.last_step, hit.step)

    def _forget_given_up(self) -> None:
        captures = self._captures()
        self.forget(None if captures is None else captures.oldest_index)

    def forget(self, oldest: int | None) -> None:
        """Drop the hits whose captures are gone; ``oldest`` is the index of the oldest capture that is kept."""
        hits = self._of_captures
        with suppress(IndexError):  # another thread took the last
            while hits and (oldest is None or _index(hits[0].hit) < oldest):
                hits.popleft()

    def hits(self) -> list[Hit]:
        """Return the hits that are kept, oldest first."""
        self._forget_given_up()
        return list(self)

    def __iter__(self) -> Iterator[Hit]:
        queues = list(self._of_captures), list(self._others)
        ordered: Iterable[_Entry] = merge(*queues, key=lambda entry: entry.number)
        return (entry.hit for entry in ordered)

    def findings(self, call_order: Mapping[str, int] | None = None) -> Findings:
        """Return the findings so far; ``call_order`` as for ``Findings``."""
        # Sorting is stable: within a step they stay in the order of detection.
        return Findings(sorted(self._findings.values(), key=lambda finding: finding.first_step), call_order)


def _backward(hit: Hit) -> bool:
    if hit.producer is not None:
        return hit.producer.direction == "backward"
    return (hit.condition.direction if hit.capture is None else hit.capture.direction) == "backward"


def _index(hit: Hit) -> int:
    return -1 if hit.capture is None else hit.capture.index
