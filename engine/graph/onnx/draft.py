"""The ONNX graph while it is made: its nodes, the names of its values, and the table of converters.

A converter is what one operator of the table becomes. It is called with the draft, the operator's inputs as ``Edge``s
(numbers and None stay as they are) and its attributes, and gives an edge for each output, or None for one that nobody
reads. Shapes and dtypes are those of the trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph import Apply, Value
from .versions import onnx_package

__all__ = ["CONVERTERS", "Draft", "Edge", "UnsupportedError", "computable", "converts"]

Converter = Callable[..., Any]
CONVERTERS: dict[str, Converter] = {}
"""What writes an operator of the table, by its name there."""

BFLOAT16 = "bfloat16"
_INT32, _INT64, _FLOAT32 = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.float32)
_WIDER: dict[str, np.dtype[Any]] = {"b1": _INT32, "i1": _INT32, "i2": _INT32, "u1": _INT32, "u2": _INT32, "u4": _INT64}


class UnsupportedError(Exception):
    """An operator, or a use of it, that has no form in ONNX; the text says which and what to do."""


def converts(*names: str) -> Callable[[Converter], Converter]:
    """Enter a converter in the table.

    Args:
        *names: of operators that it writes.

    Returns:
        a decorator that gives the converter back.
    """

    def enter(converter: Converter) -> Converter:
        for name in names:
            CONVERTERS[name] = converter
        return converter

    return enter


def computable(dtype: np.dtype[Any], steps: int = 1) -> np.dtype[Any]:
    """The element type that arithmetic is done in: runtimes have few kernels for the narrow ones.

    Sums and products of narrow integers are the same modulo their width. Half precision stays where one node does all;
    through several steps it is single precision, rounded once, as in the engine.

    Args:
        dtype: of the operands.
        steps: how many nodes do it, or 2 for several.

    Returns:
        ``dtype`` itself, or a wider one.
    """
    if dtype.name == BFLOAT16 or (dtype == np.float16 and steps > 1):
        return _FLOAT32
    return _WIDER.get(dtype.str[1:], dtype)


class Edge:
    """A value of the ONNX graph; Python's operators on it add nodes.

    Args:
        draft: the graph that it is in.
        name: its name there.
        dtype: its element type.
        shape: the length of each axis; None where it is not known, between two nodes.
    """

    __slots__ = ("_shape", "draft", "dtype", "name")

    def __init__(self, draft: Draft, name: str, dtype: np.dtype[Any], shape: tuple[int, ...] | None) -> None:
        self.draft = draft
        self.name = name
        self.dtype = dtype
        self._shape = shape

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        assert self._shape is not None, f"the shape of '{self.name}' is not known while the graph is written"
        return self._shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def cast(self, dtype: Any) -> Edge:
        """The same numbers with another element type."""
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self
        return self.draft("Cast", self, dtype=dtype, shape=self._shape, to=self.draft.code(dtype))

    def wide(self) -> Edge:
        """In the element type that several steps are computed in."""
        return self.cast(computable(self.dtype, steps=2))

    def reshape(self, shape: Sequence[int]) -> Edge:
        """The same elements in another shape."""
        zero = {"allowzero": 1} if 0 in shape else {}
        return self.draft("Reshape", self, self.draft.ints(shape), shape=tuple(shape), **zero)

    def transpose(self, axes: Sequence[int]) -> Edge:
        """The axes in another order."""
        if list(axes) == sorted(axes):
            return self
        return self.draft("Transpose", self, shape=tuple([self.shape[a] for a in axes]), perm=list(axes))

    def __add__(self, other: Any) -> Edge:
        return self.draft.each("Add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Edge:
        return self.draft.each("Sub", self, other)

    def __rsub__(self, other: Any) -> Edge:
        return self.draft.each("Sub", other, self)

    def __mul__(self, other: Any) -> Edge:
        return self.draft.each("Mul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Edge:
        return self.draft.each("Div", self, other)

    def __rtruediv__(self, other: Any) -> Edge:
        return self.draft.each("Div", other, self)

    def __neg__(self) -> Edge:
        return self.draft.each("Neg", self)

    def __lt__(self, other: Any) -> Edge:
        return self.draft.compare("Less", self, other)

    def __le__(self, other: Any) -> Edge:
        return self.draft.compare("LessOrEqual", self, other)

    def __gt__(self, other: Any) -> Edge:
        return self.draft.compare("Greater", self, other)

    def __ge__(self, other: Any) -> Edge:
        return self.draft.compare("GreaterOrEqual", self, other)

    def equals(self, other: Any) -> Edge:
        """Where the two are equal."""
        return self.draft.compare("Equal", self, other)

    def __and__(self, other: Edge) -> Edge:
        return self.draft.each("And", self, other)

    def __or__(self, other: Edge) -> Edge:
        return self.draft.each("Or", self, other)

    def __xor__(self, other: Edge) -> Edge:
        return self.draft.each("Xor", self, other)

    def __invert__(self) -> Edge:
        return self.draft.each("Not", self)


class Draft:
    """The nodes so far and the names that are taken.

    Attributes:
        nodes: ONNX's messages, in order.
        node: the step of the trace that is being written.
        wanted: for each of its outputs whether anybody reads it.
        arrays: of the values that are constants what they are.
    """

    def __init__(self) -> None:
        self.onnx = onnx_package("export")
        self.nodes: list[Any] = []
        self.node: Any = None
        self.wanted: tuple[bool, ...] = ()
        self.arrays: dict[Value, Any] = {}
        self._edges: dict[Value, Edge] = {}
        self._names: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._constants: dict[Any, Edge] = {}

    # Names and values

    def code(self, dtype: np.dtype[Any]) -> int:
        """ONNX's number for an element type."""
        if dtype.kind == "c":
            raise UnsupportedError("complex numbers have no kernels in ONNX runtimes: export the part without them")
        found: int = self.onnx.helper.np_dtype_to_tensor_dtype(dtype)
        return found

    def unique(self, name: str) -> str:
        """A name that no value has: this one, or with a number."""
        found, count = name, 0
        while found in self._names:
            count += 1
            found = f"{name}_{count}"
        self._names.add(found)
        return found

    def _numbered(self, kind: str) -> str:
        self._counts[kind] += 1
        return self.unique(f"{kind}_{self._counts[kind]}")

    def enter(self, value: Value, name: str) -> str:
        """A value of the trace that no node makes; gives the name that it has in the file."""
        found = self.unique(name)
        self._edges[value] = Edge(self, found, value.dtype, value.shape)
        return found

    def enter_constant(self, value: Value, array: Any) -> None:
        """A value of the trace that is always the same."""
        self.arrays[value] = array
        self.bind(value, self.constant(array))

    def bind(self, value: Value, edge: Edge) -> None:
        """What a value of the trace is in the file."""
        self._edges[value] = Edge(self, edge.cast(value.dtype).name, value.dtype, value.shape)

    def edge(self, value: Any) -> Any:
        """The edge of a value of the trace; a number or None as it is, an array as a constant."""
        if type(value) is Value:
            return self._edges[value]
        return self.constant(value) if isinstance(value, np.ndarray) else value

    # Nodes

    def constant(self, array: Any, dtype: Any = None) -> Edge:
        """A constant; equal ones are one."""
        array = np.asarray(array, dtype)
        key = array.dtype, array.shape, array.tobytes()
        if key not in self._constants:
            name = self._numbered("constant")
            self.code(array.dtype)
            tensor = self.onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
            self.nodes.append(self.onnx.helper.make_node("Constant", [], [name], value=tensor))
            self._constants[key] = Edge(self, name, array.dtype, array.shape)
        return self._constants[key]

    def ints(self, numbers: Sequence[int]) -> Edge:
        """A constant list of axes, lengths or places."""
        return self.constant(np.asarray(numbers, np.int64).reshape(-1))

    def __call__(
        self,
        kind: str,
        *inputs: Edge | None,
        dtype: Any = None,
        shape: tuple[int, ...] | None = None,
        outputs: int = 1,
        **attributes: Any,
    ) -> Any:
        """Add a node.

        Args:
            kind: ONNX's name of the operator.
            *inputs: edges; None leaves an optional one out.
            dtype: of the first output; without it that of the first input. The caller casts others right.
            shape: of the first output, where it is known.
            outputs: how many there are.
            **attributes: ONNX's attributes.

        Returns:
            an edge, or a tuple of them.
        """
        names = [self._numbered(kind.lower()) for _ in range(outputs)]
        given = ["" if x is None else x.name for x in inputs]
        self.nodes.append(self.onnx.helper.make_node(kind, given, names, name=names[0], **attributes))
        dtype = np.dtype(dtype) if dtype is not None else next(x.dtype for x in inputs if x is not None)
        edges = [Edge(self, names[0], dtype, shape), *[Edge(self, name, dtype, None) for name in names[1:]]]
        return tuple(edges) if outputs > 1 else edges[0]

    def common(self, *operands: Any) -> np.dtype[Any]:
        """The element type that NumPy computes operands in."""
        kinds = [x.dtype if isinstance(x, Edge) else x for x in operands]
        edges = [kind for kind in kinds if isinstance(kind, np.dtype)]
        if any(dtype.name == BFLOAT16 for dtype in edges):
            return edges[0] if len(set(edges)) == 1 else _FLOAT32
        return np.result_type(*kinds)

    def alike(self, *operands: Any) -> list[Edge]:
        """Operands in one element type; numbers become constants."""
        dtype = self.common(*operands)
        return [x.cast(dtype) if isinstance(x, Edge) else self.constant(x, dtype) for x in operands]

    def each(self, kind: str, *operands: Any, dtype: Any = None, **attributes: Any) -> Edge:
        """Add a node that works element by element on operands of one element type, and broadcasts."""
        edges = self.alike(*operands)
        known = [x._shape for x in edges if x._shape is not None]
        shape = np.broadcast_shapes(*known) if len(known) == len(edges) else None
        found: Edge = self(kind, *edges, dtype=dtype, shape=shape, **attributes)
        return found

    def compare(self, kind: str, *operands: Any) -> Edge:
        """Add a comparison."""
        edges = self.alike(*operands)
        if kind != "Equal" or edges[0].dtype.kind != "b":
            edges = [x.cast(computable(x.dtype)) for x in edges]
        return self.each(kind, *edges, dtype=np.bool_)

    def where(self, condition: Edge, x: Any, y: Any) -> Edge:
        """``x`` where the condition holds, else ``y``."""
        edges = self.alike(x, y)
        dtype = edges[0].dtype
        inner = np.dtype(np.uint8) if dtype.kind == "b" else computable(dtype)
        if dtype == np.uint8:
            inner = dtype
        edges = [one.cast(inner) for one in edges]
        known = [one._shape for one in (condition, *edges) if one._shape is not None]
        shape = np.broadcast_shapes(*known) if len(known) == 3 else None
        found: Edge = self("Where", condition, *edges, dtype=inner, shape=shape)
        return found.cast(dtype)

    # Steps of the trace

    def write(self, node: Apply, wanted: tuple[bool, ...]) -> None:
        """Add the nodes of one step."""
        name = node.operator.name
        if name not in CONVERTERS:
            raise UnsupportedError("it has no form in ONNX: compute it outside the network, or by other operators")
        self.node, self.wanted = node, wanted
        found = CONVERTERS[name](self, *map(self.edge, node.inputs), **node.attrs)
        edges = found if isinstance(found, tuple) else (found,)
        for value, edge, is_wanted in zip(node.outputs, edges, wanted, strict=False):
            if is_wanted and edge is not None:
                self.bind(value, edge)
        if any(is_wanted and (i >= len(edges) or edges[i] is None) for i, is_wanted in enumerate(wanted)):
            raise UnsupportedError("its outputs beside the first ones have no form in ONNX: do not use them")
