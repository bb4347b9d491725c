"""The cell tree: its rows, and the message that moves a cell's breakpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hookscope.engine.debug import Breakpoint
from hookscope.engine.debug.captures.capture import cell_name
from hookscope.engine.debug.pausing.breakpoint import MOMENTS
from hookscope.widgets.views import KINDS, Json, cell_nodes

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession


def cell_rows(session: DebugSession) -> list[Json]:
    """List the cells in the order of the tree, each with the state of its switches."""
    stops = list(session.breakpoints)
    return [
        {
            "path": node.path,
            "label": cell_name(node.path),
            "name": node.name,
            "type": node.type,
            "depth": node.depth,
            "parameters": int(node.parameters),
            "shape": node.shape,
            "training": bool(node.training),
            "has_bprop": bool(node.has_bprop),
            "breaks": [moment for moment in _moments(node.has_bprop) if _stops_there(stops, node.path, moment)],
            "hooks": {kind: int(node.hooks.get(kind, 0)) for kind in KINDS},
            "attached": [kind for kind in KINDS if kind in node.attached],
        }
        for node in cell_nodes(session)
    ]


def _moments(has_bprop: bool) -> tuple[str, ...]:
    return MOMENTS if has_bprop else MOMENTS[:-1]


def _stops_there(stops: list[Breakpoint], path: str, moment: str) -> bool:
    return bool(stops) and any(stop.applies(path, moment) for stop in stops)


def set_breakpoint(session: DebugSession, path: str, moment: str) -> None:
    """Have the cell's one breakpoint at this moment, or with "" none; one that is there already stays as it is."""
    for stop in list(session.breakpoints):
        if stop.operator or stop.moment == moment or not stop.applies(path, stop.moment):
            continue
        session.remove_breakpoint(stop)
        # A pattern stands for several cells: the others keep theirs.
        for node in session.tree():
            if node.path == path or not stop.applies(node.path, stop.moment):
                continue
            if node.has_bprop or stop.moment != "bprop":
                session.add_breakpoint(Breakpoint(node.path, stop.moment, stop.expression))
    if moment and not _stops_there(session.breakpoints, path, moment):
        session.add_breakpoint(Breakpoint(path, moment))


# Messages from the page: the fields of each with their types, and what it does to the session.
ACTIONS: dict[str, tuple[dict[str, type], Callable[..., None]]] = {
    "breakpoint": ({"path": str, "moment": str}, set_breakpoint),
}
