"""Passes over a graph: each takes one and gives an equivalent one with less to do."""

from __future__ import annotations

from collections.abc import Callable

from ..core.operator import Operator
from .fusion import expands, fused
from .graph import Apply, Beside, Draw, Graph, Node, Value, Whole, replace_values, values_in
from .plan import operands_of

__all__ = ["expands_at", "optimized"]


def expands_at(level: str) -> Callable[[Operator], bool]:
    """Of which operators the vjp rules are traced operator by operator at a level: "O0" of none."""
    return expands if level == "O1" else lambda operator: False


def optimized(graph: Graph, level: str = "O0") -> Graph:
    """The graph after all passes of a level."""
    graph = without_dead_code(graph)
    return fused(graph, operands_of, stays) if level == "O1" else graph


def without_dead_code(graph: Graph) -> Graph:
    """Leave out what nobody uses: no result, no effect, no draw of random numbers, none of the engine's functions."""
    wanted: set[Value] = {value for _, value in graph.effects} | set(values_in(graph.result))
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if stays(node) or any(value in wanted for value in values_in(node.outputs)):
            kept.append(node)
            wanted.update(values_in(operands_of(node)))
    graph.nodes = kept[::-1]
    graph.externals = [(t, value) for t, value in graph.externals if value in wanted or value in graph.seen]
    return graph


def stays(node: Node) -> bool:
    """Whether a node is of use without its results: it changes or checks something, or moves the random stream on."""
    if isinstance(node, Whole) or (isinstance(node, Apply) and isinstance(node.operator, Beside) and node.operator.is_check):
        return True
    found: list[Draw] = []
    replace_values(operands_of(node), (Draw,), found.append)
    return bool(found)
