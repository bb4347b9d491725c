"""What the conditions found: hits one by one, bounded, and findings, which are hits grouped by condition and place."""

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

if TYPE_CHECKING:
    from ..record.ring import CaptureRing
    from .causes import Cause
    from .producer import Producer

__all__ = ["Finding", "Findings", "Found", "Muted"]

# Hits that belong to no capture, and so are not forgotten with one.
_MAX_HITS = 10_000

_COLUMNS = ("condition", "where", "steps", "times", "what", "advice")


@dataclass
class Finding:
    """One thing that is wrong.

    Attributes:
        condition: the name of the condition.
        path: the cell's path ("" for the root, and for what is outside of the network); of a NaN or an infinity, where
            it was made.
        subject: what was looked at first: a capture's key, a parameter's name, or "loss".
        message: what was seen first, one sentence.
        advice: what to look at first, one sentence.
        first_step, last_step: the steps in which it was seen.
        count: how often.
        producer: what made the NaN or the infinity, where that is known.
        outside: "data", "loss" or "optimizer" if it is in none of the cells, else "".
        parameter: the name of the parameter that it is about, or "".
        backward: whether it was seen on the way back.
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

    @property
    def place(self) -> str:
        """Where it is: "data", "loss" or "optimizer", the name of a parameter, or the path of a cell."""
        return self.outside or self.parameter or self.path

    @property
    def where(self) -> str:
        """The same as people read it: "the data", or the name of the cell."""
        return f"the {self.outside}" if self.outside else cell_name(self.path)


class Findings(tuple[Finding, ...]):
    """Findings in the order in which they first occurred; prints as a table.

    Args:
        findings: they.
        ran: by the path of a cell, which place its first call has in the flow of the data.
    """

    _ran: Mapping[str, int]

    def __new__(cls, findings: Iterable[Finding] = (), ran: Mapping[str, int] | None = None) -> Findings:
        made = super().__new__(cls, findings)
        made._ran = ran or {}
        return made

    def causes(self) -> tuple[Cause, ...]:
        """The findings that no other one explains, each with its consequences, worst and earliest first."""
        from .causes import causes_of

        return causes_of(self, self._ran)

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
    what = finding.message.removeprefix(f"{finding.condition} in ")  # which has a column of its own
    return [finding.condition, finding.where, steps, str(finding.count), what, finding.advice]


class Muted(NamedTuple):
    """A condition that is neither found nor paused at in the cell at this path: it is meant so there."""

    condition: str
    path: str


class _Kept(NamedTuple):
    """A hit, and the path where it began."""

    number: int
    hit: Hit
    path: str


class Found:
    """Keeps hits and groups them.

    A hit is kept for as long as its capture; the newest of those that have none. Findings stay: there are at most as
    many as there are conditions times cells.

    Args:
        captures: those that are kept.

    Attributes:
        muted: what is not kept, in the order in which it was muted.
    """

    def __init__(self, captures: CaptureRing) -> None:
        self._captures = weakref.ref(captures)  # which may tell it what was given up
        self._number = 0
        self._of_captures: deque[_Kept] = deque()
        self._others: deque[_Kept] = deque(maxlen=_MAX_HITS)
        self._findings: dict[tuple[str, str], Finding] = {}
        self.muted: list[Muted] = []

    def is_muted(self, condition: str, path: str) -> bool:
        """Whether nobody wants to know of this condition in this cell."""
        return (condition, path) in self.muted if self.muted else False

    def has(self, condition: str, path: str) -> bool:
        """Whether there is a finding of this condition in this cell."""
        return (condition, path) in self._findings

    def mute(self, condition: str, path: str) -> None:
        """Keep no hit of this condition that began in this cell, and forget those that are kept."""
        if not self.is_muted(condition, path):
            self.muted.append(Muted(condition, path))
        self._findings.pop((condition, path), None)
        for hits in (self._of_captures, self._others):
            left = [kept for kept in hits if (kept.hit.condition.name, kept.path) != (condition, path)]
            if len(left) < len(hits):
                hits.clear()
                hits.extend(left)

    def clear(self) -> None:
        """Forget all hits; what is muted stays so."""
        self._of_captures.clear()
        self._others.clear()
        self._findings.clear()

    def keep(self, hit: Hit, origin: str | None = None) -> bool:
        """Keep a hit, unless it is muted where it began; returns whether it is kept.

        Args:
            hit: the hit.
            origin: the path where it began, if that is another one than where it was seen.
        """
        path = hit.path if origin is None else origin
        if self.is_muted(hit.condition.name, path):
            return False
        self._group(hit, path)
        self._forget_given_up()
        return True

    def _group(self, hit: Hit, path: str) -> None:
        self._number += 1
        (self._others if hit.capture is None else self._of_captures).append(_Kept(self._number, hit, path))
        finding = self._findings.get((hit.condition.name, path))
        if finding is None:
            message = hit.message if hit.producer is None else str(hit.producer)
            condition = hit.condition
            self._findings[condition.name, path] = Finding(
                condition.name,
                path,
                hit.subject,
                message,
                condition.advice,
                hit.step,
                hit.step,
                producer=hit.producer,
                outside=condition.place if not path else "",
                parameter=hit.subject if condition.group == "parameters" else "",
                backward=_backward(hit),
            )
            return
        finding.count += 1
        finding.first_step = min(finding.first_step, hit.step)
        finding.last_step = max(finding.last_step, hit.step)

    def _forget_given_up(self) -> None:
        captures = self._captures()
        self.forget(None if captures is None else captures.oldest_index)

    def forget(self, oldest: int | None) -> None:
        """Forget the hits whose captures are gone; ``oldest`` is the index of the oldest one that is kept."""
        hits = self._of_captures
        with suppress(IndexError):  # another thread took the last
            while hits and (oldest is None or _index(hits[0].hit) < oldest):
                hits.popleft()

    def hits(self) -> list[Hit]:
        """Those that are kept now, oldest first."""
        self._forget_given_up()
        return list(self)

    def __iter__(self) -> Iterator[Hit]:
        both = list(self._of_captures), list(self._others)
        ordered: Iterable[_Kept] = merge(*both, key=lambda kept: kept.number)
        return (kept.hit for kept in ordered)

    def findings(self, ran: Mapping[str, int] | None = None) -> Findings:
        """The findings so far; ``ran`` as for ``Findings``."""
        # Sorting is stable: within a step they stay in the order in which they were found.
        return Findings(sorted(self._findings.values(), key=lambda finding: finding.first_step), ran)


def _backward(hit: Hit) -> bool:
    if hit.producer is not None:
        return hit.producer.direction == "backward"
    return (hit.condition.direction if hit.capture is None else hit.capture.direction) == "backward"


def _index(hit: Hit) -> int:
    return -1 if hit.capture is None else hit.capture.index
