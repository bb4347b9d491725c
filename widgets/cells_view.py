"""The cell tree: its cells as columns, and the messages that turn a cell's hooks, train mode and breakpoint.

A network may have ten thousand cells, and one click changes one of them. What stays (paths, types, counts) travels
apart from the state of the switches, which is a few bytes a cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hookscope.engine.debug import Breakpoint
from hookscope.engine.debug.pausing.breakpoint import MOMENTS
from hookscope.engine.debug.rows import HOOK_KINDS
from hookscope.widgets.columns import Json
from hookscope.widgets.messages import Actions, one_of

if TYPE_CHECKING:
    from hookscope.engine.debug import CellNode, DebugSession
    from hookscope.widgets.panel import DebuggerPanel

CELL_NUMBERS = ("depth", "type", "shape", "parameters")
"""Columns of float64; types and shapes are places in the lists of texts."""
CELL_STATES = ("training", "has_bprop", "breaks", "attached", *HOOK_KINDS)
"""Columns of uint8: `breaks` has a bit for each of MOMENTS, `attached` for each of HOOK_KINDS; the rest are counts."""

_MOST_COUNTED = 255


def cell_nodes(session: DebugSession) -> list[CellNode]:
    """List the cells in the order of the tree, with every root at depth 0.

    A path alone does not tell: the first root's is empty, a further root's is a name, as a child of the first has.
    """
    nodes = session.tree()
    further = {session.paths.path_of(root) for root in session.roots[1:]}
    if not further:
        return nodes
    return [
        node._replace(depth=node.path.count(".")) if node.path.partition(".")[0] in further else node for node in nodes
    ]


def cell_texts(nodes: Sequence[CellNode]) -> tuple[Json, bytes]:
    """What stays as long as the network does: the paths and the distinct types and shapes, and CELL_NUMBERS."""
    types, type_of = _distinct(node.type for node in nodes)
    shapes, shape_of = _distinct(node.shape for node in nodes)
    numbers = np.array([[node.depth for node in nodes], type_of, shape_of, [node.parameters for node in nodes]], "<f8")
    return {"paths": [node.path for node in nodes], "types": types, "shapes": shapes}, numbers.tobytes()


def _distinct(texts: Iterable[str]) -> tuple[list[str], list[int]]:
    """The texts without repetition, and for each of them its place there."""
    places: dict[str, int] = {}
    at = [places.setdefault(text, len(places)) for text in texts]
    return list(places), at


def cell_states(nodes: Sequence[CellNode], stops: Iterable[Breakpoint]) -> bytes:
    """The columns CELL_STATES."""
    states = np.zeros((len(CELL_STATES), len(nodes)), np.uint8)
    states[0] = [node.training for node in nodes]
    states[1] = [node.has_bprop for node in nodes]
    for stop in stops:
        bit = 1 << MOMENTS.index(stop.moment)
        for at, node in enumerate(nodes):
            if stop.applies(node.path, stop.moment) and (node.has_bprop or stop.moment != "bprop"):
                states[2, at] |= bit
    for at, node in enumerate(nodes):
        if not any(node.hooks.values()):
            continue
        states[3, at] = sum(1 << k for k, kind in enumerate(HOOK_KINDS) if kind in node.attached)
        states[4:, at] = [min(_MOST_COUNTED, node.hooks.get(kind, 0)) for kind in HOOK_KINDS]
    return states.tobytes()


def publish(panel: DebuggerPanel, budget: float) -> None:
    """Show the cells as they are now."""
    nodes = cell_nodes(panel.session)
    with panel.hold_sync():
        panel.tree, panel.tree_numbers = cell_texts(nodes)
        panel.tree_states = cell_states(nodes, panel.session.breakpoints)


def set_hook(panel: DebuggerPanel, path: str, kind: str, on: bool) -> None:
    """Attach the session's hook of this kind, or take it off."""
    one_of("hook kind", kind, HOOK_KINDS)
    (panel.session.attach_hook if on else panel.session.detach_hook)(path, kind)


def set_train(panel: DebuggerPanel, path: str, on: bool) -> None:
    """Set a cell, and those inside it, to training or to prediction."""
    panel.session.set_train(path, on)


def set_breakpoint(panel: DebuggerPanel, path: str, moment: str) -> None:
    """Have the cell's one breakpoint at this moment, or with "" none; one that is there already stays as it is."""
    session = panel.session
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
    if moment and not any(stop.applies(path, moment) for stop in session.breakpoints):
        session.add_breakpoint(Breakpoint(path, moment))


ACTIONS: Actions = {
    "hook": ({"path": str, "kind": str, "on": bool}, set_hook),
    "train": ({"path": str, "on": bool}, set_train),
    "breakpoint": ({"path": str, "moment": str}, set_breakpoint),
}
