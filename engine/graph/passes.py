"""Passes over a graph: each takes one and gives an equivalent one with less to do."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..tape.tape import LARGE
from ..tensors.operator import COMPLEX, Operator
from .early_updates import with_early_updates
from .fusion import expands, fused
from .graph import (
    Apply,
    Beside,
    Bind,
    Derive,
    Graph,
    Node,
    Value,
    Whole,
    draws_in,
    is_check,
    put_instead,
    replace_values,
    values_in,
)
from .plan import operands_of
from .recompute import with_recomputation
from .sizes import Size

__all__ = ["expands_at", "optimized"]


def expands_at(level: str) -> Callable[[Operator], bool]:
    """Of which operators the vjp rules are traced operator by operator at a level: "O0" of none."""
    return expands if level == "O1" else lambda operator: False


def optimized(graph: Graph, level: str = "O0") -> Graph:
    """The graph after all passes of a level."""
    # The shapes of what a step reads may stand in other steps, also where it is left out itself.
    for node in graph.nodes:
        graph.seen.update(values_in(operands_of(node)))
    graph = without_unread(without_dead_code(graph))
    graph = without_repetitions(with_constants_folded(without_dead_code(graph)))
    if level == "O1" and not graph.lengths:
        graph = with_recomputation(with_early_updates(fused(graph, operands_of, stays)))
    return graph


def without_dead_code(graph: Graph) -> Graph:
    """Leave out what nobody uses: no result, no effect, no draw of random numbers, none of the engine's functions."""
    wanted = graph.given_out()
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if stays(node) or any(value in wanted for value in values_in(node.outputs)):
            kept.append(node)
            wanted.update(values_in(operands_of(node)))
    graph.nodes = kept[::-1]
    graph.externals = [(t, value) for t, value in graph.externals if value in wanted or value in graph.seen]
    return graph


def without_unread(graph: Graph) -> Graph:
    """Give rules of gradients, in the place of large arrays that they do not read, ones of that shape without memory.

    The tape lets such arrays go, too (``Operator.unread``).
    """

    xp = sys.modules["cupy"] if graph.is_on_gpu else np
    nodes: list[Node] = []

    def spread(value: Any) -> Any:
        if type(value) is not Value or math.prod(value.shape) < LARGE or value.dtype in COMPLEX:
            return value
        if value.sizes is not None:
            found = Value(value.shape, value.dtype, sizes=value.sizes)
            attrs = {"shape": value.sizes, "dtype": value.dtype}
            nodes.append(Apply(Beside(_without_memory, False), (), attrs, (found,), False))
            return found
        found = Value(value.shape, value.dtype, "constant")
        graph.constants[found] = xp.broadcast_to(xp.zeros((), value.dtype), value.shape)
        return found

    for node in graph.nodes:
        if isinstance(node, Derive):
            unread = node.operator.unread
            node.inputs = tuple([spread(x) if place in unread else x for place, x in enumerate(node.inputs)])
            if type(node.output) is tuple:
                node.output = tuple([spread(x) if -1 - place in unread else x for place, x in enumerate(node.output)])
            elif -1 in unread:
                node.output = spread(node.output)
        nodes.append(node)
    graph.nodes = nodes
    return graph


def _without_memory(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    return np.broadcast_to(np.zeros((), dtype), shape)


def with_constants_folded(graph: Graph) -> Graph:
    """Compute what depends on constants alone, here and once."""
    kept: list[Node] = []
    given_out = graph.given_out()
    for node in graph.nodes:
        values = list(values_in(operands_of(node)))
        depends_on_more = not values or any(value not in graph.constants for value in values) or has_sizes(node)
        if depends_on_more or stays(node) or not given_out.isdisjoint(values_in(node.outputs)):
            kept.append(node)
        elif isinstance(node, Apply):
            held = graph.constants.__getitem__
            inputs, attrs = (replace_values(x, (Value,), held) for x in (node.inputs, node.attrs))
            is_beside = isinstance(node.operator, Beside)
            made = node.operator.kernel(*inputs, **attrs) if is_beside else node.operator._compute(inputs, attrs)
            for value, array in zip(node.outputs, made if node.packed else (made,), strict=True):
                if value is not None and value not in graph.constants:
                    graph.constants[value] = np.asarray(array) if isinstance(array, np.generic) else array
        else:
            kept.append(node)
    graph.nodes = kept
    return without_dead_code(graph)


def has_sizes(node: Node) -> bool:
    """Whether a node computes with lengths that are left open."""
    found: list[Any] = []
    replace_values(operands_of(node), (Size,), found.append)
    return bool(found)


def without_repetitions(graph: Graph) -> Graph:
    """Compute what is computed several times from the same values once."""
    first: dict[Any, Node] = {}
    instead: dict[Value, Value] = {}
    kept: list[Node] = []
    given_out = graph.given_out()
    for node in graph.nodes:
        put_instead(node, instead)
        is_apart = stays(node) or not given_out.isdisjoint(values_in(node.outputs))
        key = None if is_apart else _meaning(node)
        found = None if key is None else first.setdefault(key, node)
        if found is None or found is node:
            kept.append(node)
        else:
            pairs = zip(node.outputs, found.outputs, strict=True)
            instead.update((mine, its) for mine, its in pairs if mine is not None)
    graph.nodes = kept
    return graph


def _meaning(node: Node) -> Any:
    """What two nodes that compute the same have in common; None of what cannot be told."""
    if isinstance(node, Apply):
        parts: Any = (node.inputs, node.attrs)
    elif isinstance(node, Derive):
        parts = (node.needs, node.gradient, node.output, node.inputs, node.attrs)
    else:
        return None
    what = node.operator.kernel if isinstance(node.operator, Beside) else node.operator
    try:
        key = type(node), id(what), _frozen(parts)
        hash(key)
    except TypeError:
        return None
    return key


def _frozen(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value), tuple([_frozen(part) for part in value])
    if isinstance(value, dict):
        return tuple([(key, _frozen(part)) for key, part in value.items()])
    if isinstance(value, slice):
        return _frozen((slice, value.start, value.stop, value.step))
    return (type(value), repr(value)) if isinstance(value, float | complex) else (type(value), value)


def stays(node: Node) -> bool:
    """Whether a node is of use without its results: it changes or checks something, or moves the random stream on."""
    if isinstance(node, Whole | Bind) or is_check(node):
        return True
    return bool(draws_in(operands_of(node)))
