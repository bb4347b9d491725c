"""Requests that are on their way to ranks: one of a kind to each at a time, so that a busy rank gathers none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from time import monotonic
from typing import Any, NamedTuple

from hookscope.widgets.ranks.fleet import Fleet

BUSY = 0.5
"""A rank that has not answered after so many seconds is busy."""

Topic = str | tuple[str, int]
"""What a request is for; to each rank there is one request of a topic at a time."""


class _Open(NamedTuple):
    fields: Mapping[str, Any]
    answer: Future[Any]
    since: float


class Answer(NamedTuple):
    """What a rank has said.

    Attributes:
        fields: those of the request.
        value: what it gave, None where it could not do it.
        error: why it could not.
    """

    topic: Topic
    rank: int
    fields: Mapping[str, Any]
    value: Any
    error: str


class Asking:
    """The requests of one panel.

    Args:
        fleet: the ranks.
        came: called, in some thread, when an answer has come.
    """

    def __init__(self, fleet: Fleet, came: Callable[[], None]) -> None:
        self._fleet, self._came = fleet, came
        self._open: dict[tuple[Topic, int], _Open] = {}

    def ask(self, topic: Topic, rank: int, kind: str, **fields: Any) -> bool:
        """Send a request, unless one of this topic is still on its way; tells whether it was sent."""
        if (topic, rank) in self._open:
            return False
        answer = self._fleet.ask(kind, [rank], **fields)[rank]
        self._open[topic, rank] = _Open(fields, answer, monotonic())
        answer.add_done_callback(lambda _: self._came())
        return True

    def waits(self, topic: Topic, rank: int) -> float:
        """For how many seconds an answer of a rank has been waited for; 0.0 where none is."""
        open_ = self._open.get((topic, rank))
        return 0.0 if open_ is None else max(monotonic() - open_.since, 1e-9)

    def is_busy(self, topic: Topic, rank: int) -> bool:
        """Whether a rank leaves its answer waited for."""
        return self.waits(topic, rank) > BUSY

    def taken(self) -> list[Answer]:
        """Take the answers that have come."""
        come = [(place, open_) for place, open_ in self._open.items() if open_.answer.done()]
        found = []
        for (topic, rank), open_ in come:
            del self._open[topic, rank]
            error = open_.answer.exception()
            value = None if error is not None else open_.answer.result()
            found.append(Answer(topic, rank, open_.fields, value, "" if error is None else str(error)))
        return found

    def futures(self) -> list[Future[Any]]:
        """What is waited for."""
        return [open_.answer for open_ in self._open.values()]
