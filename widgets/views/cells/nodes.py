"""Cells of a network as columns.

A network may have ten thousand cells, and one click changes one of them. Constant data (paths, types, counts) is sent
separately from the state of the switches, which is a few bytes a cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from hookscope.engine.debug import Breakpoint
from hookscope.engine.debug.record.rows import HOOK_KINDS
from hookscope.engine.debug.stop.breakpoints.breakpoint import MOMENTS

if TYPE_CHECKING:
    from hookscope.engine.debug import CellNode, DebugSession
    from hookscope.widgets.views.cells.shared_parts import Shared

CELL_NUMBERS = ("depth", "type", "shape", "parameters")
"""Columns of float64; types and shapes are indices into lists of texts."""
CELL_STATES = ("training", "has_bprop", "breaks", "attached", *HOOK_KINDS)
"""Columns of uint8: `breaks` has a bit for each of MOMENTS, `attached` for each of HOOK_KINDS; the rest are counts."""

_MOST_COUNTED = 255


class Tree(TypedDict):
    """Constant data of a network apart from CELL_NUMBERS: a path per cell, and the distinct types and shapes.

    `shared` has an entry for each of the few rows with shared parts: the row and its texts (`shared.Shared`).
    """

    paths: list[str]
    types: list[str]
    shapes: list[str]
    shared: list[tuple[int, str, str, str]]


def cell_nodes(session: DebugSession) -> list[CellNode]:
    """Return the cells in the order of the tree, with every root at depth 0.

    A path alone is ambiguous: the first root's is empty, and a further root's is a name like that of a child of the
    first.
    """
    nodes = session.tree()
    further = {session.paths.path_of(root) for root in session.roots[1:]}
    if not further:
        return nodes
    return [
        node._replace(depth=node.path.count(".")) if node.path.partition(".")[0] in further else node for node in nodes
    ]


def cell_texts(nodes: Sequence[CellNode], shared: Mapping[str, Shared]) -> tuple[Tree, bytes]:
    """Return a network's constant data: texts and CELL_NUMBERS; ``shared`` has texts on shared parts by path."""
    types, type_of = _distinct(node.type for node in nodes)
    shapes, shape_of = _distinct(node.shape for node in nodes)
    numbers = np.array([[node.depth for node in nodes], type_of, shape_of, [node.parameters for node in nodes]], "<f8")
    texts: Tree = {
        "paths": [node.path for node in nodes],
        "types": types,
        "shapes": shapes,
        "shared": [(at, *shared[node.path]) for at, node in enumerate(nodes) if node.path in shared] if shared else [],
    }
    return texts, numbers.tobytes()


def _distinct(texts: Iterable[str]) -> tuple[list[str], list[int]]:
    """Return the distinct texts, and for each text its index there."""
    positions: dict[str, int] = {}
    indices = [positions.setdefault(text, len(positions)) for text in texts]
    return list(positions), indices


def cell_states(nodes: Sequence[CellNode], stops: Iterable[Breakpoint]) -> bytes:
    """Return the columns CELL_STATES."""
    states = np.zeros((len(CELL_STATES), len(nodes)), np.uint8)
    states[0] = [node.training for node in nodes]
    states[1] = [node.has_bprop for node in nodes]
    for stop in stops:
        if stop.line:  # line breakpoints appear in the stepper
            continue
        bit = 1 << MOMENTS.index(stop.moment)
        for index, node in enumerate(nodes):
            if stop.applies(node.path, stop.moment) and (node.has_bprop or stop.moment != "bprop"):
                states[2, index] |= bit
    for index, node in enumerate(nodes):
        if not any(node.hooks.values()):
            continue
        states[3, index] = sum(1 << k for k, kind in enumerate(HOOK_KINDS) if kind in node.attached)
        states[4:, index] = [min(_MOST_COUNTED, node.hooks.get(kind, 0)) for kind in HOOK_KINDS]
    return states.tobytes()


def hooks_text(node: CellNode) -> str:
    """Format a cell's hooks as `forward, 2 backward`."""
    counts = [(kind, node.hooks.get(kind, 0)) for kind in HOOK_KINDS]
    return ", ".join(kind if count == 1 else f"{count} {kind}" for kind, count in counts if count)
