"""Pending requests to ranks: at most one per topic and rank, so that none pile up at a busy rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from time import monotonic
from typing import Any, NamedTuple

from hookscope.widgets.ranks.fleet import Fleet

BUSY_SECONDS = 0.5
"""Seconds after which a rank that has not replied is busy."""

Topic = str | tuple[str, int]
"""The purpose of a request; each rank has at most one pending request per topic."""


class _Pending(NamedTuple):
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


class Requests:
    """Pending requests of one panel.

    Args:
        fleet: the ranks.
        on_answer: called, in an arbitrary thread, when a reply arrives.
    """

    def __init__(self, fleet: Fleet, on_answer: Callable[[], None]) -> None:
        self._fleet, self._on_answer = fleet, on_answer
        self._pending: dict[tuple[Topic, int], _Pending] = {}

    def ask(self, topic: Topic, rank: int, kind: str, **fields: Any) -> bool:
        """Send a request, unless one of this topic is pending; return whether it was sent."""
        if (topic, rank) in self._pending:
            return False
        answer = self._fleet.ask(kind, [rank], **fields)[rank]
        self._pending[topic, rank] = _Pending(fields, answer, monotonic())
        answer.add_done_callback(lambda _: self._on_answer())
        return True

    def wait_seconds(self, topic: Topic, rank: int) -> float:
        """Return how many seconds a rank's reply has been pending; 0.0 if none is."""
        pending = self._pending.get((topic, rank))
        return 0.0 if pending is None else max(monotonic() - pending.since, 1e-9)

    def is_busy(self, topic: Topic, rank: int) -> bool:
        """Return whether a rank's reply is overdue."""
        return self.wait_seconds(topic, rank) > BUSY_SECONDS

    def take_answers(self) -> list[Answer]:
        """Remove and return the replies that have arrived."""
        ready = [(key, pending) for key, pending in self._pending.items() if pending.answer.done()]
        answers = []
        for (topic, rank), pending in ready:
            del self._pending[topic, rank]
            error = pending.answer.exception()
            value = None if error is not None else pending.answer.result()
            answers.append(Answer(topic, rank, pending.fields, value, "" if error is None else str(error)))
        return answers

    def futures(self) -> list[Future[Any]]:
        """Return the futures of pending requests."""
        return [pending.answer for pending in self._pending.values()]
