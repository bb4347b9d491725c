"""What the ranks of a run wait for, as plain data, and whether some of them can never go on.

A rank tells what its main thread waits for (``waits``), and how many exchanges of each group it has asked for
(``asked``). Whoever has that of all ranks can say who waits for whom, and whether they wait for each other in a circle.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TypedDict

from .worker import Pending, pending_of
from .world import world

__all__ = ["Standing", "Waits", "deadlock", "missing", "same_waits", "standing"]


class Waits(TypedDict):
    """What a rank waits for.

    ``what`` and ``line`` are for people: the collective or the message, and where the user's code asked for it. The
    exchange has the ``number`` in the ``group`` of the numbers ``ranks``; in a group without a name it is a message
    from the one in ``ranks``.
    """

    what: str
    line: str
    group: str
    number: int
    ranks: list[int]


class Standing(TypedDict):
    """How a rank stands: what it waits for, None while it computes; by group how many exchanges it has asked for."""

    waits: Waits | None
    asked: dict[str, int]


def standing() -> Standing:
    """How this rank stands now; any thread may ask."""
    pending = pending_of(threading.main_thread().ident)
    return {"waits": None if pending is None else _told(pending), "asked": dict(world().asked)}


def _told(pending: Pending) -> Waits:
    return {
        "what": pending.what,
        "line": pending.line,
        "group": pending.group,
        "number": pending.number,
        "ranks": [*pending.ranks],
    }


def missing(rank: int, of_ranks: Mapping[int, Standing]) -> list[int]:
    """Return the ranks that a rank waits for: those that have not asked for the same exchange, or whose message it is.

    Args:
        rank: its number.
        of_ranks: how the ranks stand, by their numbers; one that is missing here has ended.
    """
    waits = of_ranks[rank]["waits"]
    if waits is None:
        return []
    if not waits["group"]:
        return list(waits["ranks"])
    return [
        other
        for other in waits["ranks"]
        if other != rank
        and (other not in of_ranks or of_ranks[other]["asked"].get(waits["group"], 0) < waits["number"])
    ]


def deadlock(of_ranks: Mapping[int, Standing]) -> dict[int, list[int]]:
    """Return the ranks that wait for each other in a circle, each with those in it for which it waits; empty without one.

    It is one only if it lasts: what is told at two times must be the same (``same_waits``), since ranks are not asked
    at one moment.

    Args:
        of_ranks: how the ranks stand, by their numbers.
    """
    # Whoever computes, or waits for one that is let go by and by, may go on; what is left cannot.
    stuck = {rank: set(missing(rank, of_ranks)) for rank in of_ranks}
    stuck = {rank: others for rank, others in stuck.items() if others}
    while free := [rank for rank, others in stuck.items() if not others & stuck.keys()]:
        for rank in free:
            del stuck[rank]
    # A rank that waits for the circle without being part of it is left out.
    while outside := [rank for rank in stuck if not any(rank in others for others in stuck.values())]:
        for rank in outside:
            del stuck[rank]
    return {rank: sorted(others & stuck.keys()) for rank, others in sorted(stuck.items())}


def same_waits(before: Mapping[int, Standing], now: Mapping[int, Standing]) -> bool:
    """Return whether no rank has gone on in between, or begun to wait for something else.

    Args:
        before: how the ranks stood, by their numbers.
        now: how they stand.
    """
    return before.keys() == now.keys() and all(before[rank] == now[rank] for rank in now)
