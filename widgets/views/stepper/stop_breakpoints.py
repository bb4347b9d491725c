"""Breakpoints in the gutter of the stepped function: listing, setting and removing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from hookscope.engine.base.file_labels import file_label
from hookscope.engine.debug.stop.breakpoints.breakpoint import Breakpoint
from hookscope.widgets import texts
from hookscope.widgets.messages import MessageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hookscope.engine.debug import PausePoint
    from hookscope.widgets.panel import DebuggerPanel


class LineBreakpoint(TypedDict):
    """A breakpoint at a visible line; `error` is the last error of its condition."""

    line: int
    text: str
    condition: str
    log: str
    hits: str
    error: str


def line_breakpoints(point: PausePoint, breakpoints: Iterable[Breakpoint]) -> list[LineBreakpoint]:
    """Return the breakpoints at the lines of the function that is shown."""
    lines = sorted(_lines(point))
    return [
        {
            "line": line,
            "text": str(breakpoint_),
            "condition": breakpoint_.expression or "",
            "log": breakpoint_.log or "",
            "hits": texts.counted(breakpoint_.hits, "stop"),
            "error": breakpoint_.error or "",
        }
        for breakpoint_ in breakpoints
        for line in lines
        if _stands(breakpoint_, point, line)
    ]


def stoppable_lines(point: PausePoint) -> list[int]:
    """Return the lines that accept a breakpoint: those with code, and the bprop's head for the bprop itself."""
    return sorted(_lines(point))


def _lines(point: PausePoint) -> frozenset[int]:
    head = {point.first_line} if _is_head(point, point.first_line) else set()
    return point.stoppable | head if point.stoppable else frozenset()


def _is_head(point: PausePoint, line: int) -> bool:
    return (point.filename, line) == point.bprop_begins


def _stands(breakpoint_: Breakpoint, point: PausePoint, line: int) -> bool:
    if _is_head(point, line) and breakpoint_.applies(point.path, "bprop"):
        return True
    if breakpoint_.is_anywhere:
        return breakpoint_.line == line and breakpoint_.may_stand_in(point.filename)
    return breakpoint_.stands_in(point.path) and breakpoint_.stands_at(line, point.filename, _cell_file(point))


def _cell_file(point: PausePoint) -> str:
    """Return the file of the function that the paused cell runs; "" if other code is shown."""
    if point.where:
        return ""
    return point.filename if point.moment == "construct" else point.bprop_begins[0]


def set_breakpoint_at(panel: DebuggerPanel, line: int, condition: str, log: str) -> None:
    """Set a breakpoint at a line of the function that is shown, optionally with a condition or as a logpoint."""
    point = _shown_point(panel)
    if line not in _lines(point):
        raise MessageError(f"no breakpoint can stand at line {line}: it has no code of {point.function or 'a bprop'}")
    is_head = _is_head(point, line)
    path = (point.path or ".") if is_head or _cell_file(point) else ""
    if is_head:
        moment = "bprop"
    elif point.filename == _cell_file(point):
        moment = str(line)
    else:
        label = file_label(point.filename)
        is_cell = label.startswith("Cell In[")
        moment = f"{label.removeprefix('Cell ') if is_cell else point.filename}:{line}"
    # Validated before anything is removed.
    requested = Breakpoint(path, moment, condition.strip() or None, log.strip() or None)
    _remove(panel, point, line)
    panel.session.add_breakpoint(requested)


def remove_breakpoint_at(panel: DebuggerPanel, line: int) -> None:
    """Remove every breakpoint at a line."""
    _remove(panel, _shown_point(panel), line)


def _remove(panel: DebuggerPanel, point: PausePoint, line: int) -> None:
    for candidate in list(panel.session.breakpoints):
        if _stands(candidate, point, line):
            panel.session.remove_breakpoint(candidate)


def _shown_point(panel: DebuggerPanel) -> PausePoint:
    point = panel.session.shown
    if point is None:
        raise MessageError("cannot set a breakpoint at a line: the run is not paused")
    return point
