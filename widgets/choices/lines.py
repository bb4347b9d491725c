"""Breakpoints at lines, whose numbers change when the cell that defines the function is edited: the text decides."""

from __future__ import annotations

import inspect
import linecache
from typing import TYPE_CHECKING

from hookscope.engine.debug import Breakpoint

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession


def line_text(session: DebugSession, stop: Breakpoint) -> str:
    """Return the text of the line at which a breakpoint was just set in the function that is shown; "" for others."""
    point = session.shown
    if not stop.line or stop.filename or point is None or not point.filename:
        return ""
    return linecache.getline(point.filename, stop.line).strip()


def moved(session: DebugSession, stop: Breakpoint, text: str) -> Breakpoint | None:
    """Return the breakpoint at the line with this text that is nearest to its own; None if there is no such line.

    Without a text or a source nothing is known about the line, and the breakpoint stays where it is.
    """
    if not text:
        return stop
    cells = [cell for path, cell in session.paths if stop.stands_in(path)]
    sources = [source for cell in cells for source in (_source(cell, "bprop"), _source(cell, "construct")) if source]
    if not sources:
        return stop
    numbers = [number for source in sources for number, line in source.items() if line == text]
    if not numbers:
        return None
    nearest = min(numbers, key=lambda number: abs(number - stop.line))
    return Breakpoint(stop.path, str(nearest), stop.expression, stop.log)


def _source(cell: object, method: str) -> dict[int, str]:
    """Return the lines of a cell's method by number; none if the source is unknown."""
    try:
        lines, first = inspect.getsourcelines(inspect.unwrap(getattr(type(cell), method)))
    except (AttributeError, OSError, TypeError, ValueError):  # no such method, no source, or wrapped in a cycle
        return {}
    return {number: line.strip() for number, line in enumerate(lines, first)}
