"""Recomputation: a pass that recomputes cheap values for the backward pass instead of keeping them in memory.

Cheap steps are elementwise loops, normalizations by known statistics, and copies in another order. If the inputs of
such a step are kept anyway, its result need not be. Steps are chosen by size, the largest results first, until peak
memory is ``_ENOUGH`` of its original value.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate
from typing import Any

from ...tensors.operator import Operator
from ...tensors.views import ViewOperator
from ..graph import (
    ArrayFunction,
    FusedLoop,
    GradientCall,
    Graph,
    Node,
    OperatorCall,
    Value,
    draws_in,
    operands_of,
    put_instead,
    values_in,
)

__all__ = ["with_recomputation"]

_LEAST = 1 << 16
"""Minimum size of a result, in bytes, for which an additional step pays off."""
_ENOUGH = 0.7
_DEEPEST = 3
"""Maximum length of a chain of steps that are recomputed for one result."""


def with_recomputation(graph: Graph) -> Graph:
    """Return the graph with steps repeated where that lowers peak memory."""
    if not any(isinstance(node, GradientCall) for node in graph.nodes):
        return graph
    lives = _Lives(graph.nodes, graph)
    aim, tried = _ENOUGH * max(lives.bytes_held), set[Value]()
    while (chosen := _next(lives, aim, tried)) is not None:
        peak, value = chosen
        tried.add(value)
        position, steps = lives.next_use(value, peak), list[Node]()
        replacement = lives.recompute(value, position, steps, _DEEPEST)
        if replacement is None:
            continue
        later_nodes = graph.nodes[position:]
        for node in later_nodes:
            put_instead(node, {value: replacement})
        candidate = _Lives([*graph.nodes[:position], *steps, *later_nodes], graph)
        if candidate.bytes_held[peak] < lives.bytes_held[peak] and max(candidate.bytes_held) <= max(lives.bytes_held):
            lives, graph.nodes = candidate, candidate.nodes
        else:
            for node in later_nodes:
                put_instead(node, {replacement: value})
    return graph


def _next(lives: _Lives, aim: float, tried: set[Value]) -> tuple[int, Value] | None:
    """Return the node with the highest memory use, and the largest untried value kept across it; else a lower peak.

    In-place reuse by loops is unknown here, so the estimated peak need not be the actual one.
    """
    for peak in sorted(range(len(lives.bytes_held)), key=lives.bytes_held.__getitem__, reverse=True):
        if lives.bytes_held[peak] <= aim:
            break
        across = [value for value in lives.across(peak) if value not in tried and _size(value) >= _LEAST]
        if across:
            return peak, max(across, key=_size)
    return None


class _Lives:
    """Lifetimes of values, and the memory in use at each node."""

    def __init__(self, nodes: list[Node], graph: Graph) -> None:
        self.nodes = nodes
        self._made: dict[Value, int] = {}
        self._uses: dict[Value, list[int]] = {}
        self._roots: dict[Value, Value] = {}
        for position, node in enumerate(nodes):
            for value in dict.fromkeys(values_in(operands_of(node))):
                self._uses.setdefault(value, []).append(position)
            for value in values_in(node.outputs):
                self._made.setdefault(value, position)
            if (root := self._viewed(node)) is not None:
                self._roots[node.outputs[0]] = self._roots.get(root, root)
        for value in graph.final_values():
            self._uses.setdefault(value, []).append(len(nodes))
        lasts = {value: self._last(value) for value in self._made}
        for value, root in self._roots.items():
            lasts[root] = max(lasts.get(root, -1), lasts[value])
        changes = [0] * (len(nodes) + 2)
        for value, position in self._made.items():
            if value not in self._roots:
                changes[position] += _size(value)
                changes[lasts[value] + 1] -= _size(value)
        self.bytes_held = list(accumulate(changes[: len(nodes)]))

    def _viewed(self, node: Node) -> Value | None:
        """Return the value of which a node's result is a view; a reshape of a transposed value is a copy."""
        if not isinstance(node, OperatorCall) or not isinstance(node.operator, ViewOperator):
            return None
        (value, *_) = node.inputs
        source = self.nodes[self._made[value]] if value in self._made else None
        is_transposed = isinstance(source, OperatorCall) and source.operator.name == "transpose"
        return None if node.operator.name == "reshape" and is_transposed else value

    def _last(self, value: Value) -> int:
        uses = self._uses.get(value)
        return uses[-1] if uses else self._made.get(value, -1)

    def across(self, at: int) -> list[Value]:
        """Return the values with own memory that are made before and used after a node, but not by it."""
        return [
            value
            for value, position in self._made.items()
            if position < at < self._last(value) < len(self.nodes)
            and at not in self._uses[value]
            and value not in self._roots
        ]

    def next_use(self, value: Value, at: int) -> int:
        """Return the first node after a position that uses a value."""
        uses = self._uses[value]
        return uses[bisect_right(uses, at)]

    def recompute(self, value: Value, at: int, steps: list[Node], deepest: int) -> Value | None:
        """Recompute a value before a node by additional steps; return None if these would need a released value."""
        node = self.nodes[self._made[value]]
        renewed = None if not deepest else _renewed(node, value)
        if renewed is None:
            return None
        replacements: dict[Value, Value] = {}
        for operand in dict.fromkeys(values_in(operands_of(renewed))):
            if operand not in self._made or self._last(operand) >= at:
                continue
            recomputed = self.recompute(operand, at, steps, deepest - 1)
            if recomputed is None:
                return None
            replacements[operand] = recomputed
        put_instead(renewed, replacements)
        steps.append(renewed)
        output, *_ = renewed.outputs
        return output


def _renewed(node: Node, value: Value) -> Any:
    """Return a copy of a node that recomputes one of its values, or None."""
    output = Value(value.shape, value.dtype)
    if isinstance(node, FusedLoop):
        store = node.stores[node.outputs.index(value)]
        return replace(node, outputs=(output,), stores=(store,)) if store.axes is None else None
    if not isinstance(node, OperatorCall) or not isinstance(node.operator, Operator) or draws_in(operands_of(node)):
        return None
    operator, other_outputs = node.operator, node.outputs[1:]
    rule = operator.recompute or bool(operator.scalar) or isinstance(operator, ViewOperator)
    if not rule or node.outputs[0] is not value:
        return None
    if rule is True:
        return replace(node, outputs=(output, *[None] * len(other_outputs)))
    return OperatorCall(
        ArrayFunction(rule, False), (*node.inputs, *other_outputs), node.attrs, (output,), False, node.where
    )


def _size(value: Value) -> int:
    return math.prod(value.shape) * value.dtype.itemsize
