"""Making loops of elementwise operators: those over one shape that feed each other, and the sums of what they give.

Each node begins as a group of its own. From the last node to the first, a node's group is joined with those that read
what it makes, then with those that read what it reads, wherever that leaves an order in which all groups can run: no
group may lie between the two. So elements are computed where they are used last, of what must be in memory for others
anyway. A sum is the end of a loop; who reads it is in another one. What nobody outside a group
uses is never stored.

On a GPU maxima and minima end loops as sums do; NumPy finds them faster than a loop of Numba's would.

Views that only insert axes or broadcast are looked through: a loop reads what they were made of.

What a loop gives is what the operators give one by one, in their dtypes and without contraction, but for this:

- Of float32, exp, log, log1p, expm1, erfc, tanh and what is made of them (sigmoid, silu, gelu) are computed in float32
  by functions of our own, and other functions by the C library: within 6 units in the last place of the operators'
  kernels, of the derivatives of silu and gelu within 8 of |g| * (1 + |x|)
  (``tests/engine/graph/test_scalar_expressions.py``).
- Sums add in another order: runs of 4096 in float32, those in float64; within 2**-20 of the sum of absolute values
  (``test_fusion.py``).
- A gradient is computed by the operators that its rule is made of, each of which rounds.
- Where a kernel of NumPy's gives NaN because a square overflows (gelu's derivative beyond 1e13), there is a number.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from ..tensors.backend import runs_triton, to_host
from ..tensors.operator import Operator
from .graph import Apply, Bind, Fused, Graph, Node, Store, Value, Whole, values_in
from .scalars import DTYPES, FUNCTIONS, Program, Unfit, is_half

__all__ = ["expands", "fused"]

_VIEWS = ("broadcast_to", "reshape", "identity", "stop_gradient", "sum_to")
_SUMS = ("sum", "mean", "sum_to")
_EXTREMES = {"amax": "max", "amin": "min"}
_MOST_INPUTS = 24
_MOST_STEPS, _FUNCTION = 500, 10
"""The most steps of a loop, of which an exponential and its like count as several: they are compiled each time anew."""
_SMALL = 1 << 12
"""Elements up to which groups of one shape are joined though they share nothing: a call saved is worth more."""
_LARGE = 1 << 15
"""Elements from which on a single operator is a loop too, on a CPU: threads share it."""
_ELSEWHERE = frozenset(FUNCTIONS) - {"sqrt", "floor", "ceil", "trunc", "rint", "erf", "erfc"} | {"pow"}
_CALLS = {"float64": _ELSEWHERE, "float32": _ELSEWHERE - {"exp", "tanh", "log", "log1p", "expm1"}}
"""Functions by dtype that a loop on a CPU calls one by one, where NumPy has vectors of several: larger arrays are left
to it."""
_CONSTANT = 1 << 20
"""Elements up to which a constant array is looked at for being one number everywhere."""


def expands(operator: Operator) -> bool:
    """Whether an operator's gradient is traced as operators that may become part of loops."""
    return bool(operator.scalar) or operator.name in _VIEWS or operator.name in _SUMS


def fused(graph: Graph, operands_of: Any, draws: Any) -> Graph:
    """Join nodes to loops.

    Args:
        graph: is changed.
        operands_of: what a node reads.
        draws: whether a node takes random numbers.

    Returns:
        The graph.
    """
    return _Fusion(graph, operands_of, draws).graph_of_loops()


class _Fusion:
    def __init__(self, graph: Graph, operands_of: Any, draws: Any) -> None:
        self.graph, self.operands_of, self.draws = graph, operands_of, draws
        self.by_triton = graph.is_on_gpu and runs_triton()
        self.ends = (*_SUMS, *(_EXTREMES if self.by_triton else ()))  # what a loop ends with
        graph.nodes = [node for node in graph.nodes if not _hands_back(node)]
        self.maker: dict[Value, int] = {}
        for place, node in enumerate(graph.nodes):
            for value in values_in(node.outputs):
                if not value.of:
                    self.maker.setdefault(value, place)
        self._seen: dict[Value, tuple[Value, tuple[bool, ...]]] = {}
        self.numbers: dict[Value, Any] = {}  # constants that are one number
        for value, array in graph.constants.items():
            if self._takes(value.dtype) and array.size:
                is_spread = not any(step for n, step in zip(array.shape, array.strides, strict=True) if n > 1)
                if is_spread or array.size <= _CONSTANT:
                    first = to_host(array[(0,) * array.ndim])
                    if is_spread or to_host(array).tobytes() == first.tobytes() * array.size:
                        self.numbers[value] = float(first) if is_half(value.dtype) else first.item()
        self.weights = [0] * len(graph.nodes)  # what a loop of it costs the compiler
        self.shapes = [self._shape(place) for place in range(len(graph.nodes))]  # of the loop that each may be part of
        self.group = list(range(len(graph.nodes)))
        self.members: list[list[int]] = [[place] for place in self.group]
        self.reads = [self._reads(place) for place in self.group]
        self.before = [0] * len(self.group)  # the groups that must have run, as bits
        self.after = [0] * len(self.group)
        self._order()

    # What a node is

    def _takes(self, dtype: np.dtype[Any]) -> bool:
        """Whether loops compute with a dtype."""
        return dtype in DTYPES or (self.by_triton and is_half(dtype))

    def _shape(self, place: int) -> tuple[int, ...] | None:
        """The shape of the loop that a node may be part of; None of one that may not."""
        node = self.graph.nodes[place]
        if not _is_simple(node) or self.draws(node):
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
            self._put(program, node, {}, {})
        except Unfit:
            return None
        self.weights[place] = sum(_FUNCTION if step[0] in FUNCTIONS else 1 for step in program.steps)
        is_large = math.prod(output.shape) > _SMALL and not self.graph.is_on_gpu
        if is_large and any(step[0] in _CALLS.get(step[1].name, ()) for step in program.steps):
            return None
        return output.shape

    def source(self, value: Value) -> tuple[Value, tuple[bool, ...]]:
        """What a value was made of by views alone, and in which of the value's axes that varies."""
        found = self._seen.get(value)
        if found is None:
            found = self._seen[value] = self._looked_through(value)
        return found

    def _looked_through(self, value: Value) -> tuple[Value, tuple[bool, ...]]:
        own = value, tuple([n != 1 for n in value.shape])
        node = self.graph.nodes[self.maker[value]] if value in self.maker else None
        if node is None or not _is_simple(node) or node.operator.name not in _VIEWS or not math.prod(value.shape):
            return own
        x = node.inputs[0]
        if type(x) is not Value or x.dtype != value.dtype:
            return own
        name = node.operator.name
        if name in ("identity", "stop_gradient") or (name == "sum_to" and x.shape == value.shape):
            return self.source(x)
        if name == "broadcast_to":
            root, varies = self.source(x)
            return root, (False,) * (len(value.shape) - len(varies)) + varies
        if name == "reshape" and [n for n in x.shape if n != 1] == [n for n in value.shape if n != 1]:
            root, varies = self.source(x)
            left = iter([yes for n, yes in zip(x.shape, varies, strict=True) if n != 1])
            return root, tuple([n != 1 and next(left) for n in value.shape])
        return own

    def _reads(self, place: int) -> set[Value]:
        """The values from elsewhere that a node reads: of part of a loop those behind views."""
        values = values_in(self.operands_of(self.graph.nodes[place]))
        if self.shapes[place] is None:
            return set(values)
        return {root for root in [self.source(value)[0] for value in values] if root not in self.numbers}

    # In which order groups can run

    def _order(self) -> None:
        last = None
        for place, node in enumerate(self.graph.nodes):
            needed = {self.maker[value] for value in self.reads[place] if value in self.maker}
            if isinstance(node, Whole | Bind) or self.draws(node):
                if last is not None:
                    needed.add(last)
                last = place
            needed.discard(place)
            for other in needed:
                self.before[place] |= self.before[other] | 1 << other
            for other in _bits(self.before[place]):
                self.after[other] |= 1 << place

    def _joins(self, a: int, b: int) -> bool:
        """Whether two groups may be one."""
        if a == b or self.before[a] & self.after[b] or self.before[b] & self.after[a]:
            return False
        if self.weights[a] + self.weights[b] > _MOST_STEPS:
            return False
        made_a, made_b = self._sums_of(a), self._sums_of(b)
        if made_a & self.reads[b] or made_b & self.reads[a]:
            return False
        outside = self.reads[a] | self.reads[b]
        return (
            len(
                [
                    value
                    for value in outside
                    if self.group[self.maker.get(value, -1)] not in (a, b) or value not in self.maker
                ]
            )
            <= _MOST_INPUTS
        )

    def _sums_of(self, group: int) -> set[Value]:
        nodes = [self.graph.nodes[place] for place in self.members[group]]
        return {node.outputs[0] for node in nodes if _is_simple(node) and node.operator.name in self.ends}

    def _join(self, a: int, b: int) -> None:
        """Make ``b`` part of ``a``."""
        both = 1 << a | 1 << b
        self.before[a] = (self.before[a] | self.before[b]) & ~both
        self.after[a] = (self.after[a] | self.after[b]) & ~both
        for other in _bits(self.after[a]):
            self.before[other] = (self.before[other] | self.before[a] | 1 << a) & ~(1 << b)
        for other in _bits(self.before[a]):
            self.after[other] = (self.after[other] | self.after[a] | 1 << a) & ~(1 << b)
        self.before[b] = self.after[b] = 0
        for place in self.members[b]:
            self.group[place] = a
        self.members[a] = sorted([*self.members[a], *self.members[b]])
        self.reads[a] |= self.reads[b]
        self.weights[a] += self.weights[b]
        self.members[b] = []

    def _join_all(self) -> None:
        readers: dict[Value, list[int]] = {}
        of_shape: dict[tuple[int, ...], int] = {}
        own = [self._reads(place) for place in range(len(self.shapes))]
        for place in range(len(self.shapes) - 1, -1, -1):
            shape = self.shapes[place]
            if shape is None:
                continue
            (output,) = values_in(self.graph.nodes[place].outputs)
            for value in (output, *own[place]):
                for other in reversed(readers.get(value, ())):
                    self._try(other, place)
            for value in own[place]:
                readers.setdefault(value, []).append(place)
            if math.prod(shape) <= _SMALL:
                if shape in of_shape:
                    self._try(of_shape[shape], place)
                of_shape[shape] = place

    def _try(self, other: int, place: int) -> None:
        if self.shapes[other] == self.shapes[place]:
            a, b = self.group[other], self.group[place]
            if self._joins(a, b):
                self._join(a, b)

    # The loops

    def graph_of_loops(self) -> Graph:
        """The graph with its nodes joined."""
        self._join_all()
        nodes = self.graph.nodes
        used = self.graph.given_out()
        made: list[Node] = []
        for group in reversed([*self._groups_in_order()]):
            places = self.members[group]
            if self._is_loop(places):
                found: list[Node] = [self._loop(places, used)]
            else:
                found = [nodes[place] for place in reversed(places)]
            for node in found:
                # Views that all readers look through are left out.
                if _is_simple(node) and node.operator.name in _VIEWS and node.outputs[0] not in used:
                    continue
                made.append(node)
                used.update(values_in(self.operands_of(node)))
        self.graph.nodes = made[::-1]
        return self.graph

    def _is_loop(self, places: list[int]) -> bool:
        shape = self.shapes[places[0]]
        if shape is None:
            return False
        return len(places) > 1 or (math.prod(shape) >= _LARGE and not self.graph.is_on_gpu)

    def _groups_in_order(self) -> Iterator[int]:
        """Each after those that it needs, otherwise by its last node."""
        waiting = [group for group, places in enumerate(self.members) if places]
        after = {group: list(_bits(self.after[group])) for group in waiting}
        counts = {group: self.before[group].bit_count() for group in waiting}
        ready = [(self.members[group][-1], group) for group, count in counts.items() if not count]
        heapq.heapify(ready)
        while ready:
            _, group = heapq.heappop(ready)
            yield group
            for other in after[group]:
                counts[other] -= 1
                if not counts[other]:
                    heapq.heappush(ready, (self.members[other][-1], other))

    def _loop(self, places: list[int], used: set[Value]) -> Fused:
        program, known, inputs = Program(), dict[Value, int](), dict[tuple[Value, tuple[bool, ...]], int]()
        shape = self.shapes[places[0]]
        assert shape is not None
        outputs, stores = [], []
        for place in places:
            node = self.graph.nodes[place]
            assert isinstance(node, Apply)
            (output,) = node.outputs
            step = self._put(program, node, known, inputs)
            name = node.operator.name
            if name in self.ends:
                outputs.append(output)
                stores.append(Store(step, tuple(_summed(node)), name == "mean", _EXTREMES.get(name, "")))
            else:
                known[output] = step
                if output in used:
                    outputs.append(output)
                    stores.append(Store(step))
        steps, stores, order = _living(program, stores)
        given = list(inputs)
        last = self.graph.nodes[places[-1]]
        return Fused(
            shape,
            steps,
            tuple([given[k][0] for k in order]),
            tuple([given[k][1] for k in order]),
            tuple(outputs),
            tuple(stores),
            last.where,
        )

    def _put(
        self, program: Program, node: Apply, known: dict[Value, int], inputs: dict[tuple[Value, tuple[bool, ...]], int]
    ) -> int:
        """Add a node's steps; of a sum, those of what is summed."""
        (output,) = node.outputs
        sums = node.operator.name in self.ends
        axes = len(node.inputs[0].shape) if sums else len(output.shape)
        found: list[Any] = []
        for x in node.inputs:
            if type(x) is not Value:
                if isinstance(x, np.generic) and self._takes(x.dtype):
                    found.append(program.constant(x.item(), x.dtype))
                elif type(x) in (bool, int, float):
                    found.append((x,))
                else:
                    raise Unfit
                continue
            root, varies = self.source(x)
            if not self._takes(root.dtype):
                raise Unfit
            if root in known:
                found.append(known[root])
            elif root in self.numbers:
                found.append(program.constant(self.numbers[root], root.dtype))
            else:
                varies = (False,) * (axes - len(varies)) + varies
                is_strided = root in self.graph.constants and not self.graph.constants[root].flags.c_contiguous
                if is_strided and not self.graph.is_on_gpu:
                    self.graph.constants[root] = self.graph.constants[root].copy()  # once, not at each call
                place = inputs.setdefault((root, varies), len(inputs))
                found.append(program.put("input", root.dtype, place))
        if sums:
            return int(found[0])
        return program.apply(node.operator.scalar, found, node.attrs, output.dtype)


def _is_simple(node: Node) -> TypeGuard[Apply]:
    """Whether it is an operator of the table that gives one array."""
    return isinstance(node, Apply) and isinstance(node.operator, Operator) and not node.packed


def _hands_back(node: Node) -> bool:
    """Whether a node's output is one of its inputs."""
    return isinstance(node, Apply) and not node.packed and any(node.outputs[0] is x for x in node.inputs)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _summed(node: Apply) -> list[int]:
    """The axes that a sum is over."""
    shape = node.inputs[0].shape
    if node.operator.name == "sum_to":
        wanted = node.attrs["shape"]
        added = len(shape) - len(wanted)
        return [axis for axis, n in enumerate(shape) if axis < added or (wanted[axis - added] == 1 and n != 1)]
    axis = node.attrs["axis"]
    return list(range(len(shape))) if axis is None else sorted(one % len(shape) for one in axis)


def _living(program: Program, stores: Iterable[Store]) -> tuple[tuple[Any, ...], list[Store], list[int]]:
    """The steps that something stored needs, the stores by their new numbers, and which inputs are left."""
    stores = list(stores)
    needed = {store.step for store in stores}
    for place in range(len(program.steps) - 1, -1, -1):
        name, _, *operands = program.steps[place]
        if place in needed and name not in ("input", "const"):
            needed.update(operands)
    steps: list[Any] = []
    numbers: dict[int, int] = {}
    order: list[int] = []
    for place, (name, dtype, *operands) in enumerate(program.steps):
        if place not in needed:
            continue
        numbers[place] = len(steps)
        if name == "input":
            order.append(operands[0])
            steps.append((name, dtype, len(order) - 1))
        elif name == "const":
            steps.append((name, dtype, *operands))
        else:
            steps.append((name, dtype, *[numbers[x] for x in operands]))
    return tuple(steps), [replace(s, step=numbers[s.step]) for s in stores], order
