"""Pages of a session's captures and parameters in an order that ranks share, so that their rows can stand side by side.

A page is what follows a *place*. A place says where a row belongs by what it is, not by how many stand before it: what
one rank lacks moves nothing on its pages.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.engine.debug.record.capture import Capture
    from hookscope.engine.debug.record.evicted import GivenUp

__all__ = ["Place", "captures_after", "matches", "parameters_after"]

Place = list[Any]
"""Numbers and texts, of the same kinds in each place, so that any two can be compared."""

_DIRECTIONS = ("forward", "backward")


def matches(name: str, text: str) -> bool:
    """Whether a name has all words of a text."""
    return all(word in name.lower() for word in text.lower().split())


def captures_after(
    session: DebugSession, step: int, after: Place | None, text: str, count: int
) -> tuple[list[tuple[Place, Capture | GivenUp]], int, tuple[int, int]]:
    """The captures of a step that follow a place, how many there are in all, and the first and the last step."""
    rows = session.captures.rows()
    steps = (rows[0].step, rows[-1].step) if rows else (0, 0)
    first = bisect_left(rows, step, key=lambda row: row.step)
    last = bisect_right(rows, step, key=lambda row: row.step)
    cells = {path: number for number, (path, _) in enumerate(session.paths)}
    seen: Counter[str] = Counter()
    placed = []
    for row in rows[first:last]:
        key = row.key
        seen[key] += 1
        if matches(key, text):
            placed.append((_place(row, key, cells.get(row.path, len(cells)), seen[key]), row))
    return _after(placed, after, count), len(placed), steps


def _place(row: Capture | GivenUp, key: str, cell: int, number: int) -> Place:
    back = row.direction == _DIRECTIONS[1]
    # What goes in stands before what comes out, and on the way back the last cell before the first.
    side = int(not row.slot.startswith("input")) if not back else int(row.slot.startswith("grad_input"))
    return [int(back), -cell if back else cell, row.path, row.call, side, key, number]


def parameters_after(
    session: DebugSession, after: Place | None, text: str, count: int
) -> tuple[list[tuple[Place, Any]], int]:
    """The parameters that follow a place, and how many there are in all."""
    rows = enumerate(session.parameters())
    placed = [([number, row.name], row) for number, row in rows if matches(row.name, text)]
    return _after(placed, after, count), len(placed)


def _after(placed: Iterable[tuple[Place, Any]], after: Place | None, count: int) -> list[tuple[Place, Any]]:
    ordered = sorted(placed, key=lambda one: one[0])
    first = 0 if after is None else bisect_right(ordered, after, key=lambda one: one[0])
    return ordered[first : first + count]
