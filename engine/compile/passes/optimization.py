"""Passes over a graph: each returns an equivalent graph with less work."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ...tape.tape import LARGE
from ...tensors.operator import COMPLEX, Operator
from ..graph import (
    ArrayFunction,
    GradientCall,
    Graph,
    Node,
    OperatorCall,
    Value,
    has_effect,
    operands_of,
    put_instead,
    replace_values,
    values_in,
)
from ..sizes import Size
from .early_updates import with_early_updates
from .fusion import expands, fused
from .recompute import with_recomputation

__all__ = ["expands_at", "optimized"]


def expands_at(level: str) -> Callable[[Operator], bool]:
    """Return the predicate of operators whose vjp rules are traced as operators: at ``level`` "O0" none are."""
    return expands if level == "O1" else lambda operator: False


def optimized(graph: Graph, level: str = "O0") -> Graph:
    """Return the graph after all passes of a level."""
    # Other nodes may use the shapes of a node's inputs, even if the node itself is removed.
    for node in graph.nodes:
        graph.shape_reads.update(values_in(operands_of(node)))
    graph = with_placeholders(without_dead_code(graph))
    graph = without_repetitions(with_constants_folded(without_dead_code(graph)))
    if level == "O1" and not graph.lengths:
        graph = with_recomputation(with_early_updates(fused(graph)))
    return graph


def without_dead_code(graph: Graph) -> Graph:
    """Remove nodes whose results are unused, unless ``has_effect`` keeps them: effects, checks, random draws."""
    used_values = graph.final_values()
    nodes: list[Node] = []
    for node in reversed(graph.nodes):
        if has_effect(node) or any(value in used_values for value in values_in(node.outputs)):
            nodes.append(node)
            used_values.update(values_in(operands_of(node)))
    graph.nodes = nodes[::-1]
    graph.externals = [(t, value) for t, value in graph.externals if value in used_values or value in graph.shape_reads]
    return graph


def with_placeholders(graph: Graph) -> Graph:
    """Replace large arrays that gradient rules do not read by arrays of the same shape without memory.

    The tape keeps placeholders of such arrays, too (``Operator.placeholders``).
    """

    xp = sys.modules["cupy"] if graph.is_on_gpu else np
    nodes: list[Node] = []

    def spread(value: Any) -> Any:
        if type(value) is not Value or math.prod(value.shape) < LARGE or value.dtype in COMPLEX:
            return value
        if value.sizes is not None:
            placeholder = Value(value.shape, value.dtype, sizes=value.sizes)
            attrs = {"shape": value.sizes, "dtype": value.dtype}
            nodes.append(OperatorCall(ArrayFunction(_without_memory, False), (), attrs, (placeholder,), False))
            return placeholder
        placeholder = Value(value.shape, value.dtype, "constant")
        graph.constants[placeholder] = xp.broadcast_to(xp.zeros((), value.dtype), value.shape)
        return placeholder

    for node in graph.nodes:
        if isinstance(node, GradientCall):
            indices = node.operator.placeholders
            node.inputs = tuple([spread(x) if index in indices else x for index, x in enumerate(node.inputs)])
            if type(node.output) is tuple:
                node.output = tuple([spread(x) if -1 - index in indices else x for index, x in enumerate(node.output)])
            elif -1 in indices:
                node.output = spread(node.output)
        nodes.append(node)
    graph.nodes = nodes
    return graph


def _without_memory(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    return np.broadcast_to(np.zeros((), dtype), shape)


def with_constants_folded(graph: Graph) -> Graph:
    """Compute nodes that depend on constants alone once, in this pass."""
    nodes: list[Node] = []
    final_values = graph.final_values()
    for node in graph.nodes:
        values = list(values_in(operands_of(node)))
        depends_on_more = not values or any(value not in graph.constants for value in values) or has_sizes(node)
        if depends_on_more or has_effect(node) or not final_values.isdisjoint(values_in(node.outputs)):
            nodes.append(node)
        elif isinstance(node, OperatorCall):
            constant_of = graph.constants.__getitem__
            inputs, attrs = (replace_values(x, (Value,), constant_of) for x in (node.inputs, node.attrs))
            is_beside = isinstance(node.operator, ArrayFunction)
            result = node.operator.kernel(*inputs, **attrs) if is_beside else node.operator._compute(inputs, attrs)
            for value, array in zip(node.outputs, result if node.packed else (result,), strict=True):
                if value is not None and value not in graph.constants:
                    graph.constants[value] = np.asarray(array) if isinstance(array, np.generic) else array
        else:
            nodes.append(node)
    graph.nodes = nodes
    return without_dead_code(graph)


def has_sizes(node: Node) -> bool:
    """Return whether a node computes with symbolic dimensions."""
    sizes: list[Any] = []
    replace_values(operands_of(node), (Size,), sizes.append)
    return bool(sizes)


def without_repetitions(graph: Graph) -> Graph:
    """Merge nodes that compute the same result from the same values."""
    first_nodes: dict[Any, Node] = {}
    replacements: dict[Value, Value] = {}
    nodes: list[Node] = []
    final_values = graph.final_values()
    for node in graph.nodes:
        put_instead(node, replacements)
        is_apart = has_effect(node) or not final_values.isdisjoint(values_in(node.outputs))
        key = None if is_apart else _meaning(node)
        previous = None if key is None else first_nodes.setdefault(key, node)
        if previous is None or previous is node:
            nodes.append(node)
        else:
            pairs = zip(node.outputs, previous.outputs, strict=True)
            replacements.update((output, replacement) for output, replacement in pairs if output is not None)
    graph.nodes = nodes
    return graph


def _meaning(node: Node) -> Any:
    """Return a key that nodes share if they compute the same; None if unknown."""
    if isinstance(node, OperatorCall):
        parts: Any = (node.inputs, node.attrs)
    elif isinstance(node, GradientCall):
        parts = (node.needs, node.gradient, node.output, node.inputs, node.attrs)
    else:
        return None
    operation = node.operator.kernel if isinstance(node.operator, ArrayFunction) else node.operator
    try:
        key = type(node), id(operation), _frozen(parts)
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
