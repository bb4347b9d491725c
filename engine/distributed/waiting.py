"""Waits of the ranks of a run, as plain data, and detection of deadlocks.

A rank reports the wait of its main thread (``waits``), and its number of requested exchanges by group
(``requests``). From the reports of all ranks an observer can derive which ranks wait for which, and find cycles.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TypedDict

from .worker import Pending, pending_of
from .world import world

__all__ = ["RankState", "Waits", "deadlock", "missing", "rank_state", "same_waits"]


class Waits(TypedDict):
    """A rank's current wait.

    ``what`` and ``line`` are for people: the collective or the message, and the user's calling line. The
    exchange has the ``number`` in the ``group`` of the ranks ``ranks``; in a group without a name it is a message
    from the rank in ``ranks``.
    """

    what: str
    line: str
    group: str
    number: int
    ranks: list[int]


class RankState(TypedDict):
    """A rank's state: its wait, None while it computes; by group the number of exchanges it has requested."""

    waits: Waits | None
    requests: dict[str, int]


def rank_state() -> RankState:
    """Return this rank's current state; any thread may call this."""
    pending = pending_of(threading.main_thread().ident)
    return {"waits": None if pending is None else _wait_of(pending), "requests": dict(world().requests)}


def _wait_of(pending: Pending) -> Waits:
    return {
        "what": pending.what,
        "line": pending.line,
        "group": pending.group,
        "number": pending.number,
        "ranks": [*pending.ranks],
    }


def missing(rank: int, of_ranks: Mapping[int, RankState]) -> list[int]:
    """Return the ranks that a rank waits for: those that have not requested the same exchange, or the message's sender.

    Args:
        rank: its number.
        of_ranks: the states of the ranks, by their numbers; a rank that is missing here has ended.
    """
    waits = of_ranks[rank]["waits"]
    if waits is None:
        return []
    if not waits["group"]:
        return list(waits["ranks"])
    return [
        awaited
        for awaited in waits["ranks"]
        if awaited != rank
        and (awaited not in of_ranks or of_ranks[awaited]["requests"].get(waits["group"], 0) < waits["number"])
    ]


def deadlock(of_ranks: Mapping[int, RankState]) -> dict[int, list[int]]:
    """Return ranks that wait for each other in a cycle, each with the ranks in it that it waits for; {} if none.

    It is a deadlock only if it persists: two successive reports must be the same (``same_waits``), since the ranks'
    states are not read at one moment.

    Args:
        of_ranks: the states of the ranks, by their numbers.
    """
    # Ranks that compute, or wait only for ranks that will proceed, are removed; the rest cannot proceed.
    stuck = {rank: set(missing(rank, of_ranks)) for rank in of_ranks}
    stuck = {rank: awaited for rank, awaited in stuck.items() if awaited}
    while free := [rank for rank, awaited in stuck.items() if not awaited & stuck.keys()]:
        for rank in free:
            del stuck[rank]
    # A rank that waits for the cycle without being part of it is removed.
    while outside := [rank for rank in stuck if not any(rank in awaited for awaited in stuck.values())]:
        for rank in outside:
            del stuck[rank]
    return {rank: sorted(awaited & stuck.keys()) for rank, awaited in sorted(stuck.items())}


def same_waits(before: Mapping[int, RankState], now: Mapping[int, RankState]) -> bool:
    """Return whether no rank has proceeded in between, or begun another wait.

    Args:
        before: the previous states of the ranks, by their numbers.
        now: their current states.
    """
    return before.keys() == now.keys() and all(before[rank] == now[rank] for rank in now)
