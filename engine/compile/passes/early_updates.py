"""Early optimizer updates: a pass that splits an optimizer's step into parts, each run once its gradients exist.

The gradients can then be released; all gradients of a step together are as large as the network. Parameters get the
same new values. If a later step of the plan raises, some parameters have already changed; so the pass is limited to O1.
"""

from __future__ import annotations

import math
from typing import Any

from ...nn.optim.optimizer import Optimizer, Step
from ..graph import Binding, EagerCall, Graph, Node, is_check, operands_of, values_in

__all__ = ["with_early_updates"]

_LEAST = 1 << 20
"""Minimum size of all gradients, in bytes, for which the additional calls pay off."""
_PARTS = 8
"""Number of parts, of roughly equal bytes."""


def with_early_updates(graph: Graph) -> Graph:
    """Return the graph with its single optimizer step split into parts, if possible."""
    wholes = [node for node in graph.nodes if isinstance(node, EagerCall)]
    parts = _Parts(graph, wholes[0]) if len(wholes) == 1 else None
    return graph if parts is None or not parts.is_possible else parts.graph()


class _Parts:
    """One optimizer step, and the positions of its parts."""

    def __init__(self, graph: Graph, eager_call: EagerCall) -> None:
        self._graph, self._eager_call = graph, eager_call
        self.is_possible = False
        optimizer = getattr(eager_call.function, "__self__", None)
        if (
            not isinstance(optimizer, Optimizer)
            or getattr(eager_call.function, "__func__", None) is not Optimizer._step
        ):
            return
        if eager_call.before:  # parameters that were modified in the same call
            return
        if list(optimizer.cells()) and any(isinstance(node, Binding) for node in graph.nodes):
            return  # a learning rate schedule may read a tensor that is bound before the step
        (gradients,) = eager_call.arguments
        self._gradients: tuple[Any, ...] = tuple(gradients) if isinstance(gradients, tuple | list) else (gradients,)
        if len(self._gradients) != len(optimizer.parameters):
            return
        self._bytes = [math.prod(value.shape) * value.dtype.itemsize for value in self._gradients]
        self._step = Step(optimizer)
        self._end = graph.nodes.index(eager_call)
        self._last_check = max((index for index, node in enumerate(graph.nodes) if is_check(node)), default=-1)
        self._values = {id(tensor): value for tensor, value in graph.externals}
        self._makers = {value: index for index, node in enumerate(graph.nodes) for value in values_in(node.outputs)}
        # A node behind the step that reads a tensor's old value gets its array before the change.
        preceding = enumerate(graph.nodes[: self._end])
        self._read: dict[Any, int] = {
            value: index for index, node in preceding for value in values_in(operands_of(node))
        }
        self._owned = [[p, *self._step.states(number)] for number, p in enumerate(optimizer.parameters)]
        own_ids = {id(t) for tensors in self._owned for t in tensors}
        self._other_tensors = [t for t in eager_call.changed if id(t) not in own_ids]
        outputs = graph.final_values()
        is_kept = any(value in outputs for value in (*self._gradients, *self._values.values()))
        self.is_possible = sum(self._bytes) >= _LEAST and not is_kept

    def _earliest(self, index: int) -> int:
        """Return the last node before which a parameter must stay unchanged, because its old value is read."""
        gradient = self._gradients[index]
        last_reads = [self._last_read(t) for t in self._owned[index]]
        return max(self._makers.get(gradient, -1), self._last_check, *last_reads)

    def _last_read(self, tensor: Any) -> int:
        """Return the last node before the step that reads an external tensor; -1 if there is none."""
        return self._read.get(self._values.get(id(tensor)), -1)

    def graph(self) -> Graph:
        graph, step_node = self._graph, self._eager_call
        outputs = {id(t): value for t, value in zip(step_node.changed, step_node.outputs, strict=True)}
        parts: dict[int, list[Node]] = {}
        pending: list[int] = []
        part_size = sum(self._bytes) / _PARTS
        order = sorted(range(len(self._gradients)), key=self._earliest)
        for number, index in enumerate(order):
            pending.append(index)
            position = self._earliest(index)
            if sum(self._bytes[member] for member in pending) < part_size and number + 1 < len(order):
                continue
            changed = [t for member in pending for t in self._owned[member] if id(t) in outputs]
            arguments = (tuple(pending), tuple([self._gradients[member] for member in pending]))
            values = tuple([outputs[id(t)] for t in changed])
            parts.setdefault(position, []).append(
                EagerCall(self._step.update, arguments, tuple(changed), values, (), step_node.where)
            )
            pending = []
        first_position = min(parts)
        if any(self._last_read(t) > first_position for t in self._other_tensors):
            return graph
        parts[first_position].insert(0, EagerCall(self._step.begin, (), (), (), (), step_node.where))
        other_values = tuple([outputs[id(t)] for t in self._other_tensors])
        end = EagerCall(self._step.end, (), tuple(self._other_tensors), other_values, (), step_node.where)
        nodes: list[Node] = parts.pop(-1, [])
        for position, node in enumerate(graph.nodes):
            nodes += [end] if node is step_node else [node]
            nodes += parts.get(position, [])
        graph.nodes = nodes
        return graph
