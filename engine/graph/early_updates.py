"""A pass: an optimizer's step in parts, each as soon as its gradients are there, which are then let go of.

All gradients of a step at once are as large as the network. Parameters take the same new values; if a later step of the
plan raises, some of them are changed already, which is why only O1 does it.
"""

from __future__ import annotations

import math
from typing import Any

from ..nn.optim.optimizer import Optimizer, Step
from .graph import Bind, Graph, Node, Whole, is_check, values_in
from .plan import operands_of

__all__ = ["with_early_updates"]

_LEAST = 1 << 20
"""Bytes of all gradients from which on it is worth further calls."""
_PARTS = 8
"""Each part has about this share of the bytes."""


def with_early_updates(graph: Graph) -> Graph:
    """The graph with the step of its optimizer in parts, where it has one step and nothing stands in the way."""
    wholes = [node for node in graph.nodes if isinstance(node, Whole)]
    found = _Parts(graph, wholes[0]) if len(wholes) == 1 else None
    return graph if found is None or not found.is_possible else found.graph()


class _Parts:
    """One step, and where its parts can go."""

    def __init__(self, graph: Graph, whole: Whole) -> None:
        self._graph, self._whole = graph, whole
        self.is_possible = False
        optimizer = getattr(whole.function, "__self__", None)
        if not isinstance(optimizer, Optimizer) or getattr(whole.function, "__func__", None) is not Optimizer._step:
            return
        if whole.before:  # parameters that were written to in the same call
            return
        if list(optimizer.cells()) and any(isinstance(node, Bind) for node in graph.nodes):
            return  # a schedule of learning rates may read what is bound before the step
        (gradients,) = whole.arguments
        self._gradients: tuple[Any, ...] = tuple(gradients) if isinstance(gradients, tuple | list) else (gradients,)
        if len(self._gradients) != len(optimizer.parameters):
            return
        self._bytes = [math.prod(value.shape) * value.dtype.itemsize for value in self._gradients]
        self._step = Step(optimizer)
        self._end = graph.nodes.index(whole)
        self._last_check = max((at for at, node in enumerate(graph.nodes) if is_check(node)), default=-1)
        self._values = {id(tensor): value for tensor, value in graph.externals}
        self._made = {value: at for at, node in enumerate(graph.nodes) for value in values_in(node.outputs)}
        # Who reads a tensor behind the step as it was before is given its array before it is changed.
        before = enumerate(graph.nodes[: self._end])
        self._read: dict[Any, int] = {value: at for at, node in before for value in values_in(operands_of(node))}
        self._own = [[p, *self._step.states(place)] for place, p in enumerate(optimizer.parameters)]
        among = {id(t) for own in self._own for t in own}
        self._others = [t for t in whole.changed if id(t) not in among]
        kept = graph.given_out()
        is_kept = any(value in kept for value in (*self._gradients, *self._values.values()))
        self.is_possible = sum(self._bytes) >= _LEAST and not is_kept

    def _earliest(self, place: int) -> int:
        """The node after which a parameter can be changed: nobody reads it, or what it was, any more."""
        gradient = self._gradients[place]
        read = [self._last_read(t) for t in self._own[place]]
        return max(self._made.get(gradient, -1), self._last_check, *read)

    def _last_read(self, tensor: Any) -> int:
        """The last node before the step that reads a tensor from outside; -1 where none does."""
        return self._read.get(self._values.get(id(tensor)), -1)

    def graph(self) -> Graph:
        graph, whole = self._graph, self._whole
        outputs = {id(t): value for t, value in zip(whole.changed, whole.outputs, strict=True)}
        parts: dict[int, list[Node]] = {}
        waiting: list[int] = []
        share = sum(self._bytes) / _PARTS
        order = sorted(range(len(self._gradients)), key=self._earliest)
        for number, place in enumerate(order):
            waiting.append(place)
            at = self._earliest(place)
            if sum(self._bytes[one] for one in waiting) < share and number + 1 < len(order):
                continue
            changed = [t for one in waiting for t in self._own[one] if id(t) in outputs]
            arguments = (tuple(waiting), tuple([self._gradients[one] for one in waiting]))
            made = tuple([outputs[id(t)] for t in changed])
            parts.setdefault(at, []).append(Whole(self._step.update, arguments, tuple(changed), made, (), whole.where))
            waiting = []
        first = min(parts)
        if any(self._last_read(t) > first for t in self._others):
            return graph
        parts[first].insert(0, Whole(self._step.begin, (), (), (), (), whole.where))
        others = tuple([outputs[id(t)] for t in self._others])
        end = Whole(self._step.end, (), tuple(self._others), others, (), whole.where)
        nodes: list[Node] = parts.pop(-1, [])
        for at, node in enumerate(graph.nodes):
            nodes += [end] if node is whole else [node]
            nodes += parts.get(at, [])
        graph.nodes = nodes
        return graph
