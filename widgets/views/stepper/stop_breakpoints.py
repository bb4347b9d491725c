"""Breakpoints in the gutter of the function that is stepped: those that there are, and setting and removing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from hookscope.engine.debug.stop.breakpoint import Breakpoint
from hookscope.widgets import texts
from hookscope.widgets.messages import MessageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hookscope.engine.debug import PausePoint
    from hookscope.widgets.panel import DebuggerPanel


class LineBreakpoint(TypedDict):
    """A breakpoint at a line that is shown; `error` is what its condition raised last."""

    line: int
    text: str
    condition: str
    hits: str
    error: str


def line_breakpoints(point: PausePoint, breakpoints: Iterable[Breakpoint]) -> list[LineBreakpoint]:
    """Those that stand at the lines of the function that is shown."""
    lines = sorted(_lines(point))
    return [
        {
            "line": line,
            "text": str(one),
            "condition": one.expression or "",
            "hits": texts.counted(one.hits, "stop"),
            "error": one.error or "",
        }
        for one in breakpoints
        for line in lines
        if _stands(one, point, line)
    ]


def stoppable_lines(point: PausePoint) -> list[int]:
    """The lines at which a breakpoint can stand: those with code, and the head of the bprop for the bprop itself."""
    return sorted(_lines(point))


def _lines(point: PausePoint) -> frozenset[int]:
    head = {point.first_line} if _is_head(point, point.first_line) else set()
    return point.stoppable | head if point.stoppable else frozenset()


def _is_head(point: PausePoint, line: int) -> bool:
    return (point.filename, line) == point.bprop_begins


def _stands(one: Breakpoint, point: PausePoint, line: int) -> bool:
    if _is_head(point, line) and one.applies(point.path, "bprop"):
        return True
    return one.stands_in(point.path) and one.stands_at(line, point.filename, point.bprop_begins[0])


def set_breakpoint_at(panel: DebuggerPanel, line: int, condition: str) -> None:
    """Stop at a line of the function that is shown, or only where a condition holds there."""
    point = _shown(panel)
    if line not in _lines(point):
        raise MessageError(f"no breakpoint can stand at line {line}: it has no code of {point.function or 'a bprop'}")
    file, _ = point.bprop_begins
    if _is_head(point, line):
        moment = "bprop"
    else:
        moment = str(line) if point.filename == file else f"{point.filename}:{line}"
    wanted = Breakpoint(point.path or ".", moment, condition.strip() or None)  # refused before anything is removed
    _remove(panel, point, line)
    panel.session.add_breakpoint(wanted)


def remove_breakpoint_at(panel: DebuggerPanel, line: int) -> None:
    """Stop there no more, whatever it was that stood there."""
    _remove(panel, _shown(panel), line)


def _remove(panel: DebuggerPanel, point: PausePoint, line: int) -> None:
    for one in list(panel.session.breakpoints):
        if _stands(one, point, line):
            panel.session.remove_breakpoint(one)


def _shown(panel: DebuggerPanel) -> PausePoint:
    point = panel.session.shown
    if point is None:
        raise MessageError("cannot set a breakpoint at a line: the run is not paused")
    return point
