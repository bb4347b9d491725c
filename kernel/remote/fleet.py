"""Fleet of ranks attached to a notebook: requests to all of them, and a pause of one rank that holds the others.

A rank reports its pause. Ranks that run the same code reach the same pause a moment later. The others are then
requested to hold at their next safe point, or where they wait for other ranks, and continue when no rank is paused.
Ended ranks are not waited for.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from time import monotonic, sleep
from typing import Any

from hookscope.engine.debug.compare.ranks import Comparison, RankFinding
from hookscope.engine.debug.compare.ranks.findings import ranks_text
from hookscope.engine.debug.remote import Card, Remote, RemoteError
from hookscope.engine.distributed.waiting import RankState, deadlock, missing, same_waits

from .outputs import Outputs
from .relay import Relay

__all__ = ["Fleet", "RemoteRank"]

_SECONDS_TO_THE_SAME_PAUSE = 0.3
_SECONDS_BETWEEN_LOOKS = 1.0


class RemoteRank:
    """One attached rank.

    Attributes:
        rank: the rank's number.
        remote: the connection to the rank.
        relay: relays its widgets' comms.
        paused: whether the rank is at a pause of its own.
    """

    def __init__(
        self, card: Card, on_message: Callable[[RemoteRank, Mapping[str, Any]], None], on_end: Callable[[], None]
    ) -> None:
        self.rank = card.rank
        self.paused = False
        self.relay = Relay()
        self._on_message = on_message
        self.remote = Remote(card, self._receive, on_end)
        self.relay.remote = self.remote

    @property
    def gone(self) -> bool:
        """Whether its process has ended or is detached."""
        return bool(self.remote.gone)

    def _receive(self, message: dict[str, Any], buffers: list[memoryview]) -> None:
        if message["type"] == "comm":
            self.relay.receive(message, buffers)
        else:
            self._on_message(self, message)


class Fleet:
    """Ranks that were started together.

    Args:
        cards: the cards of all ranks.

    Attributes:
        ranks: the ranks by number.
        outputs: the destination of their output; None discards it.
        stop_on: the conditions across ranks, of ``RANK_CONDITIONS``, at which all ranks are held.
        when_forms: called with a rank and its new static forms for a saved notebook.

    Raises:
        RemoteError: a rank does not reply.
    """

    def __init__(self, cards: Sequence[Card]) -> None:
        self._lock = threading.RLock()
        self._observers: list[Callable[[], None]] = []
        self._holds = 0  # the number of the newest hold
        self._held_by_hand = False
        self._resolved: dict[int, RankState] = {}
        self._before: dict[int, RankState] = {}
        self._closing = threading.Event()
        self._hold_timer = threading.Timer(0.0, self._hold)
        self.outputs: Outputs | None = None
        self.stop_on: frozenset[str] = frozenset()
        self._compared = 0  # the number of the session that is compared
        self._comparison = Comparison(len(cards))
        self._detail_requests: set[tuple[int, int, str]] = set()
        self.when_forms: Callable[[int, dict[str, str]], None] | None = None
        self.ranks: dict[int, RemoteRank] = {}
        for card in sorted(cards, key=lambda card: card.rank):
            self.ranks[card.rank] = RemoteRank(card, self._receive, partial(self._on_end, card.rank))
        if len(self.ranks) > 1:
            threading.Thread(target=self._watch, name="hookscope watches ranks", daemon=True).start()
        try:
            self.ask_all("hello")
        except RemoteError:
            self.leave()
            raise

    @property
    def living(self) -> list[RemoteRank]:
        """The ranks that have not ended."""
        return [member for member in self.ranks.values() if not member.gone]

    def observe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` when a rank pauses, resumes or ends, in any thread; return its unsubscribe function."""
        self._observers.append(callback)
        return lambda: self._observers.remove(callback) if callback in self._observers else None

    def findings(self) -> list[RankFinding]:
        """Return the differences between the ranks in the newest session, oldest first; see ``across_ranks``."""
        with self._lock:
            return self._comparison.findings

    def findings_at_the_end(self, seconds: float) -> list[RankFinding]:
        """Return the differences after their requested details have arrived, or after a timeout in seconds."""
        deadline = monotonic() + seconds
        while self._comparison.wanted() and self.living and monotonic() < deadline:
            sleep(0.005)
        return self.findings()

    # Requests

    def ask(self, kind: str, /, ranks: Iterable[int] | None = None, **fields: Any) -> dict[int, Future[Any]]:
        """Send a request to these ranks, by default to all that have not ended; return the futures by rank."""
        targets = [member.rank for member in self.living] if ranks is None else list(ranks)
        return {rank: self.ranks[rank].remote.ask(kind, **fields) for rank in targets}

    def ask_all(
        self, kind: str, /, ranks: Iterable[int] | None = None, timeout: float = 10.0, **fields: Any
    ) -> dict[int, Any]:
        """Send a request and wait; return the ranks' results by number.

        Raises:
            RemoteError: a rank failed, or did not reply in time.
        """
        results = self.try_all(kind, ranks, timeout, **fields)
        for value in results.values():
            if isinstance(value, RemoteError):
                raise value
        return results

    def try_all(
        self, kind: str, /, ranks: Iterable[int] | None = None, timeout: float = 10.0, **fields: Any
    ) -> dict[int, Any]:
        """Send a request and wait; return each rank's result, or its RemoteError."""
        results: dict[int, Any] = {}
        for rank, answer in self.ask(kind, ranks, **fields).items():
            try:
                results[rank] = answer.result(timeout)
            except RemoteError as error:
                results[rank] = error
            except TimeoutError:
                results[rank] = RemoteError(f"rank {rank} gave no answer within {timeout:g} s: it is busy")
        return results

    def resume(self, command: str = "continue", ranks: Iterable[int] | None = None) -> None:
        """Resume paused ranks with a command of ``COMMANDS``; by default all that are paused, or held by ``hold``.

        Raises:
            ValueError: no such rank is paused.
        """
        if ranks is None and self._held_by_hand:
            with self._lock:
                self._held_by_hand = False
                self._hold_or_release()
            if not any(member.paused for member in self.living):
                return
        paused = [rank for rank, member in self.ranks.items() if member.paused and not member.gone]
        targets = [rank for rank in (paused if ranks is None else ranks) if rank in paused]
        if not targets:
            raise ValueError("no rank is paused" if ranks is None else "that rank is not paused")
        self.ask("resume", targets, command=command)

    def abort(self) -> None:
        """Abort the running code on all ranks, at each rank's next cell."""
        self.ask("abort")

    def interrupt(self, ranks: Iterable[int] | None = None) -> None:
        """Interrupt the running code on these ranks, by default on all, like Ctrl-C."""
        self.ask("interrupt", ranks)

    def leave(self) -> None:
        """Detach from all ranks."""
        self._closing.set()
        for member in self.ranks.values():
            member.remote.leave()
            member.relay.close()

    # Events of the ranks, each in the thread of its connection

    def _receive(self, member: RemoteRank, message: Mapping[str, Any]) -> None:
        kind = message["type"]
        if kind in ("paused", "resumed"):
            with self._lock:
                member.paused = kind == "paused"
                self._hold_or_release()
        elif kind == "record":
            self._compare(member.rank, message["session"], message["record"])
        elif kind == "forms" and self.when_forms is not None:
            self.when_forms(member.rank, message["forms"])
        elif kind in ("stream", "display", "error") and self.outputs is not None:
            self.outputs.receive(member.rank, message)
        if kind in ("paused", "resumed", "held", "goes on"):
            self._notify()

    def _compare(self, rank: int, session: int, record: Mapping[str, object]) -> None:
        with self._lock:
            if session > self._compared:  # the ranks use a new network
                self._compared, self._comparison, self._detail_requests = session, Comparison(len(self.ranks)), set()
            if session < self._compared:
                return
            previous = len(self._comparison.findings)
            with contextlib.suppress(ValueError):  # a rank with another version
                self._comparison.add(rank, [record])
            self._ask_details(session)
            self._report_findings(previous)

    def _ask_details(self, session: int) -> None:
        """Request, once from all ranks, details that may explain a difference; no other data of a network is sent."""
        for step, kind in self._comparison.wanted():
            if (session, step, kind) in self._detail_requests:
                continue
            self._detail_requests.add((session, step, kind))
            for rank, answer in self.ask("detail", self.ranks, step=step, kind=kind).items():
                answer.add_done_callback(partial(self._receive_detail, rank, session, step, kind))

    def _receive_detail(self, rank: int, session: int, step: int, kind: str, answer: Future[Any]) -> None:
        with self._lock:
            if session != self._compared:
                return
            previous = len(self._comparison.findings)
            failed = answer.exception() is not None
            with contextlib.suppress(ValueError):
                self._comparison.add_detail(
                    rank, {"step": step, "kind": kind, "rows": None} if failed else answer.result()
                )
            self._report_findings(previous)

    def _report_findings(self, before: int) -> None:
        """Publish new findings after a comparison, and hold the ranks for conditions in ``stop_on``."""
        new = self._comparison.findings[before:]
        if not new:
            return
        for finding in new:
            if finding.condition in self.stop_on:
                self.hold(f"{finding.condition}: {finding.message}")
        self._notify()

    def hold(self, why: str) -> None:
        """Hold all ranks at their next safe point, until ``resume``."""
        with self._lock:
            self._holds += 1
            self._held_by_hand = True
            for member in self.living:
                member.remote.tell("hold", number=self._holds, why=why)

    # Waiting between ranks

    def statuses(self, timeout: float = 1.0) -> dict[int, Any]:
        """Return the status of each rank, with the ranks that it waits for as ``missing``.

        A rank that does not reply has its RemoteError instead.
        """
        replies = self.try_all("status", timeout=timeout)
        standings = _standings(replies)
        for rank in standings:
            replies[rank]["missing"] = missing(rank, standings) if len(standings) == len(replies) else []
        return replies

    def _watch(self) -> None:
        """Detect deadlocks: ranks that wait for each other in a cycle, unchanged between two checks."""
        while not self._closing.wait(_SECONDS_BETWEEN_LOOKS) and self.living:
            replies = self.statuses()
            if any(
                not isinstance(status, dict) or status["state"] in ("paused", "held") for status in replies.values()
            ):
                self._before = {}
                continue
            standings = _standings(replies)
            circle = deadlock(standings)
            if circle and same_waits(self._before, standings) and standings != self._resolved:
                self._resolved = standings
                self._resolve(circle, standings)
            self._before = standings

    def _resolve(self, circle: Mapping[int, Sequence[int]], of_ranks: Mapping[int, RankState]) -> None:
        parts, of_messages = [], []
        for rank, others in circle.items():
            waits = of_ranks[rank]["waits"]
            assert waits is not None
            if not waits["group"]:
                of_messages.append(rank)
            line = f" ({waits['line']})" if waits["line"] else ""
            parts.append(f"rank {rank} waits in {waits['what']}{line} for {ranks_text(others)}")
        text = f"deadlock: {'; '.join(parts)}"
        if self.outputs is not None:
            self.outputs.line(f"hookscope: {text}")
        self.ask("give up", of_messages or list(circle), why=text)

    def _hold_or_release(self) -> None:
        self._hold_timer.cancel()
        if self._held_by_hand:
            return
        if any(member.paused for member in self.living):
            self._hold_timer = threading.Timer(_SECONDS_TO_THE_SAME_PAUSE, self._hold)
            self._hold_timer.daemon = True
            self._hold_timer.start()
        else:
            for member in self.living:
                member.remote.tell("release", number=self._holds)

    def _hold(self) -> None:
        with self._lock:
            paused = [member.rank for member in self.living if member.paused]
            if not paused:
                return
            self._holds += 1
            for member in self.living:
                if not member.paused:
                    member.remote.tell("hold", number=self._holds, why=f"rank {paused[0]} is paused")

    def _on_end(self, rank: int) -> None:
        member = self.ranks.get(rank)
        if member is not None:
            member.relay.close()
            with self._lock:
                if member.paused:
                    member.paused = False
                    self._hold_or_release()
        self._notify()

    def _notify(self) -> None:
        for callback in list(self._observers):
            callback()


def _standings(replies: Mapping[int, Any]) -> dict[int, RankState]:
    """Return the standings of the ranks that have reported."""
    reports = {rank: status for rank, status in replies.items() if isinstance(status, dict)}
    return {rank: RankState(waits=status["waits"], requests=status["requests"]) for rank, status in reports.items()}
