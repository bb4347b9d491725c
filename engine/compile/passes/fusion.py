"""Elementwise fusion: operators over one shape that feed each other, and sums of their results, become loops.

Each node begins as a group of its own. From the last node to the first, its group is joined with the groups that read
its output, then with those that read its inputs, if the groups can still be ordered: no other group may have to run
between the two. So elements are computed at their last use, from inputs that must be in memory anyway. A sum ends a
loop; its readers are in another loop. A value without readers outside its group is never stored.

On a GPU, maxima and minima end loops like sums; on a CPU, NumPy computes them faster than a Numba loop.

Views that only insert axes or broadcast are resolved: a loop reads their sources.

A loop returns what the operators return one by one, in their dtypes and without contraction, with these exceptions:

- For float32, exp, log, log1p, expm1, erfc, tanh and their compositions (sigmoid, silu, gelu) are computed in float32
  by our own functions, and other functions by the C library: within 6 units in the last place of the operators'
  kernels, and for the derivatives of silu and gelu within 8 units of |g| * (1 + |x|)
  (``tests/engine/compile/test_scalar_expressions.py``).
- Sums are accumulated in another order: runs of 4096 in float32, the runs in float64; within 2**-20 of the sum of
  absolute values (``test_fusion.py``).
- A gradient is computed by the operators of its rule, each of which rounds.
- Where a NumPy kernel returns NaN because a square overflows (gelu's derivative beyond 1e13), a loop returns a number.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from ...tensors.backend import runs_triton, to_host
from ...tensors.operator import Operator
from ..graph import (
    Binding,
    EagerCall,
    FusedLoop,
    Graph,
    Node,
    OperatorCall,
    Store,
    Value,
    has_effect,
    operands_of,
    values_in,
)
from ..loops.scalar_programs import DTYPES, FUNCTIONS, Program, UnsupportedScalar, is_half

__all__ = ["expands", "fused"]

_VIEWS = ("broadcast_to", "reshape", "identity", "stop_gradient", "sum_to")
_SUMS = ("sum", "mean", "sum_to")
_EXTREMES = {"amax": "max", "amin": "min"}
_MOST_INPUTS = 24
_MOST_STEPS, _FUNCTION = 500, 10
"""Maximum number of steps of a loop; functions such as exp count as several, since each use is compiled anew."""
_SMALL = 1 << 12
"""Maximum number of elements for which unrelated groups of one shape are joined: a saved call is worth more."""
_LARGE = 1 << 15
"""Minimum number of elements for which a single operator becomes a loop on a CPU: threads share it."""
_ELSEWHERE = frozenset(FUNCTIONS) - {"sqrt", "floor", "ceil", "trunc", "rint", "erf", "erfc"} | {"pow"}
_CALLS = {"float64": _ELSEWHERE, "float32": _ELSEWHERE - {"exp", "tanh", "log", "log1p", "expm1"}}
"""Functions by dtype that a CPU loop calls per element while NumPy has vectorized versions; larger arrays are left to
NumPy."""
_CONSTANT = 1 << 20
"""Maximum size of a constant array that is checked for being one repeated number."""


def expands(operator: Operator) -> bool:
    """Return whether an operator's gradient is traced as operators that may become part of loops."""
    return bool(operator.scalar) or operator.name in _VIEWS or operator.name in _SUMS


def fused(graph: Graph) -> Graph:
    """Join nodes to loops.

    Args:
        graph: the graph, which is changed.

    Returns:
        The graph.
    """
    return _Fusion(graph).graph_of_loops()


class _Fusion:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.by_triton = graph.is_on_gpu and runs_triton()
        self.ends = (*_SUMS, *(_EXTREMES if self.by_triton else ()))  # operators that end a loop
        graph.nodes = [node for node in graph.nodes if not _hands_back(node)]
        self.maker: dict[Value, int] = {}
        for index, node in enumerate(graph.nodes):
            for value in values_in(node.outputs):
                if not value.origin:
                    self.maker.setdefault(value, index)
        self._sources: dict[Value, tuple[Value, tuple[bool, ...]]] = {}
        self.numbers: dict[Value, Any] = {}  # constants that are one repeated number
        for value, array in graph.constants.items():
            if self._takes(value.dtype) and array.size:
                is_spread = not any(step for n, step in zip(array.shape, array.strides, strict=True) if n > 1)
                if is_spread or array.size <= _CONSTANT:
                    first_element = to_host(array[(0,) * array.ndim])
                    if is_spread or to_host(array).tobytes() == first_element.tobytes() * array.size:
                        self.numbers[value] = float(first_element) if is_half(value.dtype) else first_element.item()
        self.weights = [0] * len(graph.nodes)  # compilation cost of each node in a loop
        # The shape of the loop that each node may be part of.
        self.shapes = [self._shape(index) for index in range(len(graph.nodes))]
        self.group = list(range(len(graph.nodes)))
        self.members: list[list[int]] = [[index] for index in self.group]
        self.reads = [self._reads(index) for index in self.group]
        self.before = [0] * len(self.group)  # bit sets of the groups that must run before each group
        self.after = [0] * len(self.group)
        self._order()

    # Properties of nodes

    def _takes(self, dtype: np.dtype[Any]) -> bool:
        """Return whether loops compute with a dtype."""
        return dtype in DTYPES or (self.by_triton and is_half(dtype))

    def _shape(self, index: int) -> tuple[int, ...] | None:
        """Return the shape of the loop that a node may be part of; None if it may not."""
        node = self.graph.nodes[index]
        if not _is_simple(node) or has_effect(node):
            return None
        (output,) = node.outputs
        if type(output) is not Value or not self._takes(output.dtype):
            return None
        if node.operator.name in self.ends:
            axes = _summed(node)
            (x,) = node.inputs
            is_number = is_half(x.dtype) or x.dtype.kind in ("fi" if node.operator.name in ("sum", "sum_to") else "f")
            fits = axes and output.dtype == x.dtype and is_number
            return x.shape if fits and math.prod(x.shape) else None
        if not node.operator.scalar or not math.prod(output.shape):
            return None
        program = Program()
        try:
            self._add_steps(program, node, {}, {})
        except UnsupportedScalar:
            return None
        self.weights[index] = sum(_FUNCTION if step[0] in FUNCTIONS else 1 for step in program.steps)
        is_large = math.prod(output.shape) > _SMALL and not self.graph.is_on_gpu
        if is_large and any(step[0] in _CALLS.get(step[1].name, ()) for step in program.steps):
            return None
        return output.shape

    def source(self, value: Value) -> tuple[Value, tuple[bool, ...]]:
        """Return the value of which this one is a view, and the axes of the view along which it varies."""
        source = self._sources.get(value)
        if source is None:
            source = self._sources[value] = self._find_source(value)
        return source

    def _find_source(self, value: Value) -> tuple[Value, tuple[bool, ...]]:
        unchanged = value, tuple([n != 1 for n in value.shape])
        node = self.graph.nodes[self.maker[value]] if value in self.maker else None
        if node is None or not _is_simple(node) or node.operator.name not in _VIEWS or not math.prod(value.shape):
            return unchanged
        x = node.inputs[0]
        if type(x) is not Value or x.dtype != value.dtype:
            return unchanged
        name = node.operator.name
        if name in ("identity", "stop_gradient") or (name == "sum_to" and x.shape == value.shape):
            return self.source(x)
        if name == "broadcast_to":
            root, varies = self.source(x)
            return root, (False,) * (len(value.shape) - len(varies)) + varies
        if name == "reshape" and [n for n in x.shape if n != 1] == [n for n in value.shape if n != 1]:
            root, varies = self.source(x)
            remaining = iter([is_varying for n, is_varying in zip(x.shape, varies, strict=True) if n != 1])
            return root, tuple([n != 1 and next(remaining) for n in value.shape])
        return unchanged

    def _reads(self, index: int) -> set[Value]:
        """Return the external values that a node reads; for part of a loop, the sources of views."""
        values = values_in(operands_of(self.graph.nodes[index]))
        if self.shapes[index] is None:
            return set(values)
        return {root for root in [self.source(value)[0] for value in values] if root not in self.numbers}

    # Order of the groups

    def _order(self) -> None:
        last_effect = None
        for index, node in enumerate(self.graph.nodes):
            dependencies = {self.maker[value] for value in self.reads[index] if value in self.maker}
            if isinstance(node, EagerCall | Binding) or has_effect(node):
                if last_effect is not None:
                    dependencies.add(last_effect)
                last_effect = index
            dependencies.discard(index)
            for group in dependencies:
                self.before[index] |= self.before[group] | 1 << group
            for group in _bits(self.before[index]):
                self.after[group] |= 1 << index

    def _joins(self, a: int, b: int) -> bool:
        """Return whether two groups may be joined."""
        if a == b or self.before[a] & self.after[b] or self.before[b] & self.after[a]:
            return False
        if self.weights[a] + self.weights[b] > _MOST_STEPS:
            return False
        sums_a, sums_b = self._sums_of(a), self._sums_of(b)
        if sums_a & self.reads[b] or sums_b & self.reads[a]:
            return False
        reads = self.reads[a] | self.reads[b]
        return (
            len(
                [
                    value
                    for value in reads
                    if self.group[self.maker.get(value, -1)] not in (a, b) or value not in self.maker
                ]
            )
            <= _MOST_INPUTS
        )

    def _sums_of(self, group: int) -> set[Value]:
        nodes = [self.graph.nodes[index] for index in self.members[group]]
        return {node.outputs[0] for node in nodes if _is_simple(node) and node.operator.name in self.ends}

    def _join(self, a: int, b: int) -> None:
        """Merge group ``b`` into ``a``."""
        bits = 1 << a | 1 << b
        self.before[a] = (self.before[a] | self.before[b]) & ~bits
        self.after[a] = (self.after[a] | self.after[b]) & ~bits
        for group in _bits(self.after[a]):
            self.before[group] = (self.before[group] | self.before[a] | 1 << a) & ~(1 << b)
        for group in _bits(self.before[a]):
            self.after[group] = (self.after[group] | self.after[a] | 1 << a) & ~(1 << b)
        self.before[b] = self.after[b] = 0
        for index in self.members[b]:
            self.group[index] = a
        self.members[a] = sorted([*self.members[a], *self.members[b]])
        self.reads[a] |= self.reads[b]
        self.weights[a] += self.weights[b]
        self.members[b] = []

    def _join_all(self) -> None:
        readers: dict[Value, list[int]] = {}
        node_of_shape: dict[tuple[int, ...], int] = {}
        reads = [self._reads(index) for index in range(len(self.shapes))]
        for index in range(len(self.shapes) - 1, -1, -1):
            shape = self.shapes[index]
            if shape is None:
                continue
            (output,) = values_in(self.graph.nodes[index].outputs)
            for value in (output, *reads[index]):
                for reader in reversed(readers.get(value, ())):
                    self._try(reader, index)
            for value in reads[index]:
                readers.setdefault(value, []).append(index)
            if math.prod(shape) <= _SMALL:
                if shape in node_of_shape:
                    self._try(node_of_shape[shape], index)
                node_of_shape[shape] = index

    def _try(self, other: int, index: int) -> None:
        if self.shapes[other] == self.shapes[index]:
            a, b = self.group[other], self.group[index]
            if self._joins(a, b):
                self._join(a, b)

    # Loops

    def graph_of_loops(self) -> Graph:
        """Return the graph with its nodes joined."""
        self._join_all()
        nodes = self.graph.nodes
        used_values = self.graph.final_values()
        new_nodes: list[Node] = []
        for group in reversed([*self._groups_in_order()]):
            members = self.members[group]
            if self._is_loop(members):
                group_nodes: list[Node] = [self._loop(members, used_values)]
            else:
                group_nodes = [nodes[index] for index in reversed(members)]
            for node in group_nodes:
                # Views that all readers resolve are left out.
                if _is_simple(node) and node.operator.name in _VIEWS and node.outputs[0] not in used_values:
                    continue
                new_nodes.append(node)
                used_values.update(values_in(operands_of(node)))
        self.graph.nodes = new_nodes[::-1]
        return self.graph

    def _is_loop(self, indices: list[int]) -> bool:
        shape = self.shapes[indices[0]]
        if shape is None:
            return False
        return len(indices) > 1 or (math.prod(shape) >= _LARGE and not self.graph.is_on_gpu)

    def _groups_in_order(self) -> Iterator[int]:
        """Yield each group after those that it depends on, ties by its last node."""
        pending = [group for group, members in enumerate(self.members) if members]
        successors = {group: list(_bits(self.after[group])) for group in pending}
        counts = {group: self.before[group].bit_count() for group in pending}
        ready = [(self.members[group][-1], group) for group, count in counts.items() if not count]
        heapq.heapify(ready)
        while ready:
            _, group = heapq.heappop(ready)
            yield group
            for successor in successors[group]:
                counts[successor] -= 1
                if not counts[successor]:
                    heapq.heappush(ready, (self.members[successor][-1], successor))

    def _loop(self, indices: list[int], used: set[Value]) -> FusedLoop:
        program, step_of, inputs = Program(), dict[Value, int](), dict[tuple[Value, tuple[bool, ...]], int]()
        shape = self.shapes[indices[0]]
        assert shape is not None
        outputs, stores = [], []
        for index in indices:
            node = self.graph.nodes[index]
            assert isinstance(node, OperatorCall)
            (output,) = node.outputs
            step = self._add_steps(program, node, step_of, inputs)
            name = node.operator.name
            if name in self.ends:
                outputs.append(output)
                stores.append(Store(step, tuple(_summed(node)), name == "mean", _EXTREMES.get(name, "")))
            else:
                step_of[output] = step
                if output in used:
                    outputs.append(output)
                    stores.append(Store(step))
        steps, stores, order = _live_steps(program, stores)
        sources = list(inputs)
        last_node = self.graph.nodes[indices[-1]]
        return FusedLoop(
            shape,
            steps,
            tuple([sources[k][0] for k in order]),
            tuple([sources[k][1] for k in order]),
            tuple(outputs),
            tuple(stores),
            last_node.where,
        )

    def _add_steps(
        self,
        program: Program,
        node: OperatorCall,
        numbers: dict[Value, int],
        inputs: dict[tuple[Value, tuple[bool, ...]], int],
    ) -> int:
        """Add a node's steps and return the number of the last; for a sum, the steps of its summand."""
        (output,) = node.outputs
        sums = node.operator.name in self.ends
        axes = len(node.inputs[0].shape) if sums else len(output.shape)
        operands: list[Any] = []
        for x in node.inputs:
            if type(x) is not Value:
                if isinstance(x, np.generic) and self._takes(x.dtype):
                    operands.append(program.constant(x.item(), x.dtype))
                elif type(x) in (bool, int, float):
                    operands.append((x,))
                else:
                    raise UnsupportedScalar
                continue
            root, varies = self.source(x)
            if not self._takes(root.dtype):
                raise UnsupportedScalar
            if root in numbers:
                operands.append(numbers[root])
            elif root in self.numbers:
                operands.append(program.constant(self.numbers[root], root.dtype))
            else:
                varies = (False,) * (axes - len(varies)) + varies
                is_strided = root in self.graph.constants and not self.graph.constants[root].flags.c_contiguous
                if is_strided and not self.graph.is_on_gpu:
                    self.graph.constants[root] = self.graph.constants[root].copy()  # once instead of at each call
                slot = inputs.setdefault((root, varies), len(inputs))
                operands.append(program.add("input", root.dtype, slot))
        if sums:
            return int(operands[0])
        return program.apply(node.operator.scalar, operands, node.attrs, output.dtype)


def _is_simple(node: Node) -> TypeGuard[OperatorCall]:
    """Return whether a node is an operator of the table with one output."""
    return isinstance(node, OperatorCall) and isinstance(node.operator, Operator) and not node.packed


def _hands_back(node: Node) -> bool:
    """Return whether a node's output is one of its inputs."""
    return isinstance(node, OperatorCall) and not node.packed and any(node.outputs[0] is x for x in node.inputs)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest_bit = mask & -mask
        yield lowest_bit.bit_length() - 1
        mask ^= lowest_bit


def _summed(node: OperatorCall) -> list[int]:
    """Return the axes of a sum."""
    shape = node.inputs[0].shape
    if node.operator.name == "sum_to":
        target = node.attrs["shape"]
        added = len(shape) - len(target)
        return [axis for axis, n in enumerate(shape) if axis < added or (target[axis - added] == 1 and n != 1)]
    axis = node.attrs["axis"]
    return list(range(len(shape))) if axis is None else sorted(number % len(shape) for number in axis)


def _live_steps(program: Program, stores: Iterable[Store]) -> tuple[tuple[Any, ...], list[Store], list[int]]:
    """Return the steps that stores depend on, the stores by their new numbers, and the remaining inputs."""
    stores = list(stores)
    needed_steps = {store.step for store in stores}
    for index in range(len(program.steps) - 1, -1, -1):
        name, _, *operands = program.steps[index]
        if index in needed_steps and name not in ("input", "const"):
            needed_steps.update(operands)
    steps: list[Any] = []
    numbers: dict[int, int] = {}
    order: list[int] = []
    for index, (name, dtype, *operands) in enumerate(program.steps):
        if index not in needed_steps:
            continue
        numbers[index] = len(steps)
        if name == "input":
            order.append(operands[0])
            steps.append((name, dtype, len(order) - 1))
        elif name == "const":
            steps.append((name, dtype, *operands))
        else:
            steps.append((name, dtype, *[numbers[x] for x in operands]))
    return tuple(steps), [replace(s, step=numbers[s.step]) for s in stores], order
