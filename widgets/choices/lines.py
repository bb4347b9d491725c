"""Breakpoints at lines, whose numbers change when the cell that defines the function is edited: the text decides.

A line of a notebook's cell has the number of the cell's run too, which changes with each run of that cell.
"""

from __future__ import annotations

import inspect
import linecache
import sys
from types import FunctionType
from typing import TYPE_CHECKING, NamedTuple

from hookscope.engine.base.file_labels import file_label
from hookscope.engine.debug import Breakpoint

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, PausePoint

_NOTEBOOK_CELL = "In["


class ChosenLine(NamedTuple):
    """The text of a line that has a breakpoint, and the function that it is in: ``train``, ``Net.construct``."""

    text: str
    function: str


def chosen_line(session: DebugSession, stop: Breakpoint) -> ChosenLine | None:
    """Return the line at which a breakpoint was just set in the function that is shown; None for other breakpoints."""
    point = session.shown
    if not stop.line or point is None or not point.filename or not stop.may_stand_in(point.filename):
        return None
    text = linecache.getline(point.filename, stop.line).strip()
    return ChosenLine(text, _function_of(point)) if text else None


def _function_of(point: PausePoint) -> str:
    return point.frames[point.frame].qualified_name if point.frame >= 0 else point.where or point.function


def moved(session: DebugSession, stop: Breakpoint, line: ChosenLine | None) -> Breakpoint | None:
    """Return the breakpoint at the line with this text that is nearest to its own; None if there is no such line.

    Without a text or a source nothing is known about the line, and the breakpoint stays where it is.
    """
    if line is None:
        return stop
    file = ""
    if stop.filename:
        function = _defined_now(line.function) if stop.filename.startswith(_NOTEBOOK_CELL) else None
        label = "" if function is None else file_label(inspect.getfile(function)).removeprefix("Cell ")
        if function is None or not label.startswith(_NOTEBOOK_CELL):
            return stop
        sources, file = [_source(function)], f"{label}:"
    else:
        cells = [cell for path, cell in session.paths if stop.stands_in(path)]
        sources = [_source(getattr(type(cell), name, None)) for cell in cells for name in ("bprop", "construct")]
    sources = [source for source in sources if source]
    if not sources:
        return stop
    numbers = [number for source in sources for number, text in source.items() if text == line.text]
    if not numbers:
        return None
    nearest = min(numbers, key=lambda number: abs(number - stop.line))
    return Breakpoint(stop.path, f"{file}{nearest}", stop.expression, stop.log)


def _defined_now(name: str) -> FunctionType | None:
    """Return the function that the notebook has under a name; None if it has none."""
    value: object = sys.modules["__main__"]
    for part in name.split("."):
        value = inspect.getattr_static(value, part, None)
    value = getattr(value, "__func__", value)  # of a static or a class method
    value = inspect.unwrap(value) if isinstance(value, FunctionType) else None
    return value if isinstance(value, FunctionType) else None


def _source(function: object) -> dict[int, str]:
    """Return the lines of a function by number; none if the source is unknown."""
    try:
        lines, first = inspect.getsourcelines(inspect.unwrap(function))  # type: ignore[arg-type]
    except (OSError, TypeError, ValueError):  # no function, no source, or wrapped in a cycle
        return {}
    return {number: line.strip() for number, line in enumerate(lines, first)}
