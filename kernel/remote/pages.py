"""Pages of a session's captures and parameters, in an order common to all ranks, so that rows can be joined.

A page consists of the rows after a *position*, which identifies a row by its content, not by a count, so that
a row missing on one rank does not shift that rank's pages.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.engine.debug.record.capture import Capture
    from hookscope.engine.debug.record.evicted import EvictedCapture

__all__ = ["Position", "captures_after", "matches", "parameters_after"]

Position = list[Any]
"""Numbers and texts, of the same types in each place, so that any two can be compared."""

_DIRECTIONS = ("forward", "backward")


def matches(name: str, text: str) -> bool:
    """Return whether a name contains all words of a text."""
    return all(word in name.lower() for word in text.lower().split())


def captures_after(
    session: DebugSession, step: int, after: Position | None, text: str, count: int
) -> tuple[list[tuple[Position, Capture | EvictedCapture]], int, tuple[int, int]]:
    """Return the captures of a step after a position, their total number, and the first and the last step."""
    rows = session.captures.rows()
    steps = (rows[0].step, rows[-1].step) if rows else (0, 0)
    first = bisect_left(rows, step, key=lambda row: row.step)
    last = bisect_right(rows, step, key=lambda row: row.step)
    cells = {path: number for number, (path, _) in enumerate(session.paths)}
    occurrences: Counter[str] = Counter()
    entries = []
    for row in rows[first:last]:
        key = row.key
        occurrences[key] += 1
        if matches(key, text):
            entries.append((_position(row, key, cells.get(row.path, len(cells)), occurrences[key]), row))
    return _after(entries, after, count), len(entries), steps


def _position(row: Capture | EvictedCapture, key: str, cell: int, number: int) -> Position:
    backward = row.direction == _DIRECTIONS[1]
    # Inputs come before outputs, and in the backward pass the last cell before the first.
    side = int(not row.slot.startswith("input")) if not backward else int(row.slot.startswith("grad_input"))
    return [int(backward), -cell if backward else cell, row.path, row.call, side, key, number]


def parameters_after(
    session: DebugSession, after: Position | None, text: str, count: int
) -> tuple[list[tuple[Position, Any]], int]:
    """Return the parameters after a position, and their total number."""
    rows = enumerate(session.parameters())
    entries = [([number, row.name], row) for number, row in rows if matches(row.name, text)]
    return _after(entries, after, count), len(entries)


def _after(entries: Iterable[tuple[Position, Any]], after: Position | None, count: int) -> list[tuple[Position, Any]]:
    ordered = sorted(entries, key=itemgetter(0))
    first = 0 if after is None else bisect_right(ordered, after, key=itemgetter(0))
    return ordered[first : first + count]
