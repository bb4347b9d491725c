"""Pending requests to ranks: at most one per topic and rank, so that none pile up at a busy rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from time import monotonic
from typing import Any, NamedTuple

from hookscope.widgets.ranks.fleet import Fleet

BUSY = 0.5
"""Seconds after which a rank that has not replied is busy."""

Topic = str | tuple[str, int]
"""The purpose of a request; each rank has at most one pending request per topic."""


class _Open(NamedTuple):
    fields: Mapping[str, Any]
    answer: Future[Any]
    since: float


class Answer(NamedTuple):
    """A rank's reply.

    Attributes:
        fields: the fields of the request.
        value: the result; None if the request failed.
        error: the reason for the failure.
    """

    topic: Topic
    rank: int
    fields: Mapping[str, Any]
    value: Any
    error: str


class Asking:
    """Pending requests of one panel.

    Args:
        fleet: the ranks.
        came: called, in an arbitrary thread, when a reply arrives.
    """

    def __init__(self, fleet: Fleet, came: Callable[[], None]) -> None:
        self._fleet, self._came = fleet, came
        self._open: dict[tuple[Topic, int], _Open] = {}

    def ask(self, topic: Topic, rank: int, kind: str, **fields: Any) -> bool:
        """Send a request, unless one of this topic is pending; return whether it was sent."""
        if (topic, rank) in self._open:
            return False
        answer = self._fleet.ask(kind, [rank], **fields)[rank]
        self._open[topic, rank] = _Open(fields, answer, monotonic())
        answer.add_done_callback(lambda _: self._came())
        return True

    def waits(self, topic: Topic, rank: int) -> float:
        """Return how many seconds a rank's reply has been pending; 0.0 if none is."""
        open_ = self._open.get((topic, rank))
        return 0.0 if open_ is None else max(monotonic() - open_.since, 1e-9)

    def is_busy(self, topic: Topic, rank: int) -> bool:
        """Return whether a rank's reply is overdue."""
        return self.waits(topic, rank) > BUSY

    def taken(self) -> list[Answer]:
        """Remove and return the replies that have arrived."""
        ready = [(key, open_) for key, open_ in self._open.items() if open_.answer.done()]
        answers = []
        for (topic, rank), open_ in ready:
            del self._open[topic, rank]
            error = open_.answer.exception()
            value = None if error is not None else open_.answer.result()
            answers.append(Answer(topic, rank, open_.fields, value, "" if error is None else str(error)))
        return answers

    def futures(self) -> list[Future[Any]]:
        """Return the futures of pending requests."""
        return [open_.answer for open_ in self._open.values()]
