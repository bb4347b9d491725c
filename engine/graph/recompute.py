"""A pass: what takes no longer to compute than to copy is computed again in the walk back, rather than kept till then.

Elementwise loops, normalizations by statistics that are known, copies in another order: where what such a step reads
is kept anyway, its own result need not be. Steps are chosen, the largest results first, until the most bytes that are
held at once are ``_ENOUGH`` of what they were.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate
from typing import Any

from ..tensors.operator import Operator
from ..tensors.views import ViewOperator
from .graph import Apply, Beside, Derive, Fused, Graph, Node, Value, draws_in, put_instead, values_in
from .plan import operands_of

__all__ = ["with_recomputation"]

_LEAST = 1 << 16
"""Bytes of a result from which on it is worth a further step."""
_ENOUGH = 0.7
_DEEPEST = 3
"""How many steps one after another are computed again for one result."""


def with_recomputation(graph: Graph) -> Graph:
    """The graph with steps repeated where that makes the most that is held at once less."""
    if not any(isinstance(node, Derive) for node in graph.nodes):
        return graph
    lives = _Lives(graph.nodes, graph)
    aim, tried = _ENOUGH * max(lives.held), set[Value]()
    while (chosen := _next(lives, aim, tried)) is not None:
        peak, value = chosen
        tried.add(value)
        at, steps = lives.next_use(value, peak), list[Node]()
        instead = lives.again(value, at, steps, _DEEPEST)
        if instead is None:
            continue
        later = graph.nodes[at:]
        for node in later:
            put_instead(node, {value: instead})
        found = _Lives([*graph.nodes[:at], *steps, *later], graph)
        if found.held[peak] < lives.held[peak] and max(found.held) <= max(lives.held):
            lives, graph.nodes = found, found.nodes
        else:
            for node in later:
                put_instead(node, {instead: value})
    return graph


def _next(lives: _Lives, aim: float, tried: set[Value]) -> tuple[int, Value] | None:
    """The node at which most is held, and the largest value across it that was not tried; of others, if it has none.

    That a loop may write over what it reads is not known here, so that what counts as most need not be.
    """
    for peak in sorted(range(len(lives.held)), key=lives.held.__getitem__, reverse=True):
        if lives.held[peak] <= aim:
            break
        across = [value for value in lives.across(peak) if value not in tried and _size(value) >= _LEAST]
        if across:
            return peak, max(across, key=_size)
    return None


class _Lives:
    """When each value is made and used, and how much is held at each node."""

    def __init__(self, nodes: list[Node], graph: Graph) -> None:
        self.nodes = nodes
        self._made: dict[Value, int] = {}
        self._uses: dict[Value, list[int]] = {}
        self._roots: dict[Value, Value] = {}
        for at, node in enumerate(nodes):
            for value in dict.fromkeys(values_in(operands_of(node))):
                self._uses.setdefault(value, []).append(at)
            for value in values_in(node.outputs):
                self._made.setdefault(value, at)
            if (root := self._viewed(node)) is not None:
                self._roots[node.outputs[0]] = self._roots.get(root, root)
        for value in graph.given_out():
            self._uses.setdefault(value, []).append(len(nodes))
        lasts = {value: self._last(value) for value in self._made}
        for value, root in self._roots.items():
            lasts[root] = max(lasts.get(root, -1), lasts[value])
        changes = [0] * (len(nodes) + 2)
        for value, at in self._made.items():
            if value not in self._roots:
                changes[at] += _size(value)
                changes[lasts[value] + 1] -= _size(value)
        self.held = list(accumulate(changes[: len(nodes)]))

    def _viewed(self, node: Node) -> Value | None:
        """The value that a node's result is another look at; a reshape of what is transposed is a copy."""
        if not isinstance(node, Apply) or not isinstance(node.operator, ViewOperator):
            return None
        (value, *_) = node.inputs
        before = self.nodes[self._made[value]] if value in self._made else None
        is_turned = isinstance(before, Apply) and before.operator.name == "transpose"
        return None if node.operator.name == "reshape" and is_turned else value

    def _last(self, value: Value) -> int:
        uses = self._uses.get(value)
        return uses[-1] if uses else self._made.get(value, -1)

    def across(self, at: int) -> list[Value]:
        """The values with memory that a node does not use, and that are made before and used by a node behind it."""
        return [
            value
            for value, made in self._made.items()
            if made < at < self._last(value) < len(self.nodes)
            and at not in self._uses[value]
            and value not in self._roots
        ]

    def next_use(self, value: Value, at: int) -> int:
        """The first node behind a place that uses a value."""
        uses = self._uses[value]
        return uses[bisect_right(uses, at)]

    def again(self, value: Value, at: int, steps: list[Node], deepest: int) -> Value | None:
        """A value like this one that further steps give before a node; None where they would need what is gone."""
        node = self.nodes[self._made[value]]
        renewed = None if not deepest else _renewed(node, value)
        if renewed is None:
            return None
        instead: dict[Value, Value] = {}
        for read in dict.fromkeys(values_in(operands_of(renewed))):
            if read not in self._made or self._last(read) >= at:
                continue
            found = self.again(read, at, steps, deepest - 1)
            if found is None:
                return None
            instead[read] = found
        put_instead(renewed, instead)
        steps.append(renewed)
        made, *_ = renewed.outputs
        return made


def _renewed(node: Node, value: Value) -> Any:
    """A step that makes a value like one of a node's, or None."""
    made = Value(value.shape, value.dtype)
    if isinstance(node, Fused):
        store = node.stores[node.outputs.index(value)]
        return replace(node, outputs=(made,), stores=(store,)) if store.axes is None else None
    if not isinstance(node, Apply) or not isinstance(node.operator, Operator) or draws_in(operands_of(node)):
        return None
    operator, others = node.operator, node.outputs[1:]
    again = operator.again or bool(operator.scalar) or isinstance(operator, ViewOperator)
    if not again or node.outputs[0] is not value:
        return None
    if again is True:
        return replace(node, outputs=(made, *[None] * len(others)))
    return Apply(Beside(again, False), (*node.inputs, *others), node.attrs, (made,), False, node.where)


def _size(value: Value) -> int:
    return math.prod(value.shape) * value.dtype.itemsize
