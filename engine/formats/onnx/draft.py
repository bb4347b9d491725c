"""ONNX graph under construction: its nodes, the names of its values, and the table of converters.

A converter writes one operator of the table. It is called with the draft, the operator's inputs as ``Edge``s (numbers
and None are unchanged) and its attributes, and returns an edge for each output, or None for an unused one. Shapes and
dtypes are those of the trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...compile.graph import OperatorCall, Value
from .versions import onnx_package

__all__ = ["CONVERTERS", "Draft", "Edge", "UnsupportedError", "computable", "converts"]

Converter = Callable[..., Any]
CONVERTERS: dict[str, Converter] = {}
"""Converters by the operator's name in the table."""

BFLOAT16 = "bfloat16"
_INT32, _INT64, _FLOAT32 = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.float32)
_WIDER: dict[str, np.dtype[Any]] = {"b1": _INT32, "i1": _INT32, "i2": _INT32, "u1": _INT32, "u2": _INT32, "u4": _INT64}


class UnsupportedError(Exception):
    """Error for an operator, or a use of it, without a form in ONNX; the text names it and a remedy."""


def converts(*names: str) -> Callable[[Converter], Converter]:
    """Register a converter in the table.

    Args:
        *names: names of the operators that it writes.

    Returns:
        a decorator that returns the converter.
    """

    def enter(converter: Converter) -> Converter:
        for name in names:
            CONVERTERS[name] = converter
        return converter

    return enter


def computable(dtype: np.dtype[Any], steps: int = 1) -> np.dtype[Any]:
    """Return the dtype for arithmetic, since runtimes have few kernels for narrow types.

    Sums and products of narrow integers are equal modulo their width. Half precision is kept if one node computes
    everything; several steps use single precision and round once, as in the engine.

    Args:
        dtype: dtype of the operands.
        steps: number of nodes, or 2 for several.

    Returns:
        ``dtype`` itself, or a wider one.
    """
    if dtype.name == BFLOAT16 or (dtype == np.float16 and steps > 1):
        return _FLOAT32
    return _WIDER.get(dtype.str[1:], dtype)


class Edge:
    """A value of the ONNX graph; Python's operators on it add nodes.

    Args:
        draft: the graph that contains it.
        name: its name in the graph.
        dtype: its element type.
        shape: the length of each axis; None if unknown, between two nodes.
    """

    __slots__ = ("_shape", "draft", "dtype", "name")

    def __init__(self, draft: Draft, name: str, dtype: np.dtype[Any], shape: tuple[int, ...] | None) -> None:
        self.draft = draft
        self.name = name
        self.dtype = dtype
        self._shape = shape

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        assert self._shape is not None, f"the shape of '{self.name}' is not known while the graph is written"
        return self._shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def cast(self, dtype: Any) -> Edge:
        """Return the same numbers with another element type."""
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self
        return self.draft("Cast", self, dtype=dtype, shape=self._shape, to=self.draft.code(dtype))

    def wide(self) -> Edge:
        """Return the value in the element type in which several steps are computed."""
        return self.cast(computable(self.dtype, steps=2))

    def reshape(self, shape: Sequence[int]) -> Edge:
        """Return the same elements in a different shape."""
        zero = {"allowzero": 1} if 0 in shape else {}
        return self.draft("Reshape", self, self.draft.ints(shape), shape=tuple(shape), **zero)

    def transpose(self, axes: Sequence[int]) -> Edge:
        """Return the value with its axes in another order."""
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
        """Return the elementwise equality of two values."""
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
    """The ONNX graph under construction.

    Attributes:
        nodes: ONNX's messages, in order.
        node: the node of the trace that is being written.
        wanted: for each of its outputs, whether it is used.
        arrays: arrays of the constant values.
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
        """Return ONNX's number for an element type."""
        if dtype.kind == "c":
            raise UnsupportedError("complex numbers have no kernels in ONNX runtimes: export the part without them")
        number: int = self.onnx.helper.np_dtype_to_tensor_dtype(dtype)
        return number

    def unique(self, name: str) -> str:
        """Return an unused name: this one, or this one with a number."""
        candidate, count = name, 0
        while candidate in self._names:
            count += 1
            candidate = f"{name}_{count}"
        self._names.add(candidate)
        return candidate

    def _numbered(self, kind: str) -> str:
        self._counts[kind] += 1
        return self.unique(f"{kind}_{self._counts[kind]}")

    def enter(self, value: Value, name: str) -> str:
        """Register a value of the trace that no node produces; return its name in the file."""
        file_name = self.unique(name)
        self._edges[value] = Edge(self, file_name, value.dtype, value.shape)
        return file_name

    def enter_constant(self, value: Value, array: Any) -> None:
        """Register a constant value of the trace."""
        self.arrays[value] = array
        self.bind(value, self.constant(array))

    def bind(self, value: Value, edge: Edge) -> None:
        """Bind a value of the trace to an edge."""
        self._edges[value] = Edge(self, edge.cast(value.dtype).name, value.dtype, value.shape)

    def edge(self, value: Any) -> Any:
        """Return the edge of a value of the trace; a number or None is returned unchanged, an array as a constant."""
        if type(value) is Value:
            return self._edges[value]
        return self.constant(value) if isinstance(value, np.ndarray) else value

    # Nodes

    def constant(self, array: Any, dtype: Any = None) -> Edge:
        """Return a constant; equal constants are shared."""
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
        """Return a constant list of axes, lengths or indices."""
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
            *inputs: edges; None omits an optional input.
            dtype: dtype of the first output, by default that of the first input. The caller corrects other outputs.
            shape: shape of the first output, if known.
            outputs: the number of outputs.
            **attributes: ONNX's attributes.

        Returns:
            an edge, or a tuple of them.
        """
        names = [self._numbered(kind.lower()) for _ in range(outputs)]
        input_names = ["" if x is None else x.name for x in inputs]
        self.nodes.append(self.onnx.helper.make_node(kind, input_names, names, name=names[0], **attributes))
        dtype = np.dtype(dtype) if dtype is not None else next(x.dtype for x in inputs if x is not None)
        edges = [Edge(self, names[0], dtype, shape), *[Edge(self, name, dtype, None) for name in names[1:]]]
        return tuple(edges) if outputs > 1 else edges[0]

    def common(self, *operands: Any) -> np.dtype[Any]:
        """Return the element type in which NumPy computes these operands."""
        kinds = [x.dtype if isinstance(x, Edge) else x for x in operands]
        edges = [kind for kind in kinds if isinstance(kind, np.dtype)]
        if any(dtype.name == BFLOAT16 for dtype in edges):
            return edges[0] if len(set(edges)) == 1 else _FLOAT32
        return np.result_type(*kinds)

    def alike(self, *operands: Any) -> list[Edge]:
        """Return operands in one element type; numbers become constants."""
        dtype = self.common(*operands)
        return [x.cast(dtype) if isinstance(x, Edge) else self.constant(x, dtype) for x in operands]

    def each(self, kind: str, *operands: Any, dtype: Any = None, **attributes: Any) -> Edge:
        """Add an elementwise node that broadcasts operands of one element type."""
        edges = self.alike(*operands)
        shapes = [x._shape for x in edges if x._shape is not None]
        shape = np.broadcast_shapes(*shapes) if len(shapes) == len(edges) else None
        result: Edge = self(kind, *edges, dtype=dtype, shape=shape, **attributes)
        return result

    def compare(self, kind: str, *operands: Any) -> Edge:
        """Add a comparison."""
        edges = self.alike(*operands)
        if kind != "Equal" or edges[0].dtype.kind != "b":
            edges = [x.cast(computable(x.dtype)) for x in edges]
        return self.each(kind, *edges, dtype=np.bool_)

    def where(self, condition: Edge, x: Any, y: Any) -> Edge:
        """Return ``x`` where the condition holds, else ``y``."""
        edges = self.alike(x, y)
        dtype = edges[0].dtype
        inner_dtype = np.dtype(np.uint8) if dtype.kind == "b" else computable(dtype)
        if dtype == np.uint8:
            inner_dtype = dtype
        edges = [edge.cast(inner_dtype) for edge in edges]
        shapes = [edge._shape for edge in (condition, *edges) if edge._shape is not None]
        shape = np.broadcast_shapes(*shapes) if len(shapes) == 3 else None
        result: Edge = self("Where", condition, *edges, dtype=inner_dtype, shape=shape)
        return result.cast(dtype)

    # Nodes of the trace

    def write(self, node: OperatorCall, wanted: tuple[bool, ...]) -> None:
        """Add the ONNX nodes of one node of the trace."""
        name = node.operator.name
        if name not in CONVERTERS:
            raise UnsupportedError("it has no form in ONNX: compute it outside the network, or by other operators")
        self.node, self.wanted = node, wanted
        result = CONVERTERS[name](self, *map(self.edge, node.inputs), **node.attrs)
        edges = result if isinstance(result, tuple) else (result,)
        for value, edge, is_wanted in zip(node.outputs, edges, wanted, strict=False):
            if is_wanted and edge is not None:
                self.bind(value, edge)
        if any(is_wanted and (i >= len(edges) or edges[i] is None) for i, is_wanted in enumerate(wanted)):
            raise UnsupportedError("its outputs beside the first ones have no form in ONNX: do not use them")
