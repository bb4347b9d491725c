"""A graph as ``Cell.get_func_graph_proto`` gives it: bytes that ``ModelProto`` of ``train/anf_ir_pb2`` reads.

It is made of the steps of a MINDIR file, to be looked at, so nothing is refused: what has no form there stands in it
under our own name.
"""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any

from ...tensors.dtype import DTYPES, dtype_of
from ..graph import Apply, Bind, Fused, Graph, Node, Value, Whole, values_in
from ..plan import operands_of
from .messages import anf_ir
from .writing import ATTRIBUTES, DATA_TYPES, Name, Writer

__all__ = ["func_graph_of", "func_graph_proto"]

_TYPES = {
    "Bool": 1,
    "Int8": 2,
    "Int16": 3,
    "Int32": 4,
    "Int64": 5,
    "UInt8": 6,
    "UInt16": 7,
    "UInt32": 8,
    "UInt64": 9,
    "Float16": 10,
    "Float32": 11,
    "Float64": 12,
    "Complex64": 43,
    "Complex128": 44,
    "BFloat16": 46,
}
_STRING, _TENSOR, _TUPLE, _LIST, _NONE = 13, 14, 31, 32, 34
_BY_DATA_TYPE = {DATA_TYPES[dtype.name]: _TYPES[dtype.name] for dtype in DTYPES if dtype.name in DATA_TYPES}


def func_graph_of(cell: Any) -> bytes | None:
    """What ``Cell.get_func_graph_proto`` gives: the graph of the plan that was made last, or None without one.

    Args:
        cell: the cell.
    """
    compiled = cell.__dict__.get("_compiled")
    plans = [guarded.plan for kept in compiled.plans.values() for guarded in kept] if compiled is not None else []
    if not plans:
        return None
    graph: Graph = plans[-1].graph
    names = list(inspect.signature(cell.construct).parameters)
    if len(names) != len(graph.arguments):
        names = [f"x{place}" for place in range(len(graph.arguments))]
    return func_graph_proto(graph, names, type(cell).__name__)


def func_graph_proto(graph: Graph, input_names: list[str], name: str) -> bytes:
    """The bytes.

    Args:
        graph: of any run.
        input_names: of the graph's arguments, in order.
        name: of the graph.
    """
    writer = _Dump(graph, input_names, name)
    return _converted(writer.written(), writer.values, graph.result)


class _Dump(Writer):
    """Writes a graph of any steps."""

    binds = True

    def name(self, value: Value) -> Name:
        if value not in self._names:
            self._own(self._missing[value])
        return self._names[value]

    def _step(self, node: Node) -> None:
        try:
            super()._step(node)
        except RuntimeError:
            self._own(node)

    def _own(self, node: Node) -> None:
        """A step under our own name."""
        attrs: dict[str, Any] = {}
        if isinstance(node, Whole):
            kind = node.function.__qualname__
        elif isinstance(node, Fused | Bind):
            kind = "loop" if isinstance(node, Fused) else "bind"
        else:
            kind = node.operator.name if isinstance(node, Apply) else f"{node.operator.name}_gradient"
            attrs = {key: value for key, value in node.attrs.items() if isinstance(value, bool | int | float | str)}
        found = self(kind, *dict.fromkeys(values_in(operands_of(node))), **attrs)
        outputs = [value for value in node.outputs if value is not None]
        for place, value in enumerate(outputs):
            self._called(value, found if len(outputs) == 1 else self("TupleGetItem", found, place))

    def _after(self, result: Name) -> Name:
        outside = {id(tensor): value for tensor, value in self._graph.externals}
        bound = [
            self("Assign", outside[id(tensor)], value) for tensor, value in self._graph.effects if id(tensor) in outside
        ]
        return self("Depend", result, self("UpdateState", *bound)) if bound else result


def _converted(file: Any, values: dict[Name, Value], result: Any) -> bytes:
    """The message of a file as that of a dump."""
    given = file.graph
    model = anf_ir()["Model"](ir_version=1)
    made = model.graph
    made.name = given.name
    names: dict[str, str] = {}
    for each in (*given.input, *given.parameter):
        names[each.name] = each.name.partition(":")[2]
        _describe(made.parameters.add(name=names[each.name]).type, values[Name(each.name)])
    primitives = {f"REF::{p.name}": p for p in file.primitives}
    counts: Counter[str] = Counter()
    for node in given.node:
        if node.op_type == "Constant":
            names[node.name] = f"cst{len(made.const_vals) + 1}"
            _set(made.const_vals.add(key=names[node.name]).value, node.attribute[0])
            continue
        primitive = primitives[node.op_type]
        kind = "MakeTuple" if primitive.op_type == "make_list" else primitive.op_type
        names[node.name] = str(len(made.node) + 1)
        step = made.node.add(name=names[node.name], op_type=kind, scope="Default")
        step.full_name = f"Default/{kind}-op{counts[kind]}"
        counts[kind] += 1
        for each in node.input:
            step.input.add(name=names[each], type=0)
        for attribute in primitive.attribute:
            _set(step.attribute.add(name=attribute.name).value, attribute)
        if Name(node.name) in values:
            _describe(step.output_type, values[Name(node.name)])
    _describe(made.outputs.add(name=names[given.output[0].name]).type, result)
    return bytes(model.SerializeToString())


def _describe(message: Any, value: Any, whole: bool = True) -> None:
    """The type of a value or a structure; lengths of axes are not told of what stands in a structure."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, Value):
        message.data_type = _TENSOR
        message.tensor_type.elem_type = _TYPES[dtype_of(value.dtype).name]
        for length in value.shape if whole else ():
            message.tensor_type.shape.dim.add(size=length)
    elif isinstance(value, tuple | list):
        message.data_type = _LIST if isinstance(value, list) else _TUPLE
        for part in value:
            _describe(message.sequence_type.elem_types.add(), part, False)
    elif isinstance(value, bool | int | float):
        kind = "Bool" if isinstance(value, bool) else "Int64" if isinstance(value, int) else "Float32"
        message.data_type = _TYPES[kind]
    else:
        message.data_type = _NONE if value is None else _STRING


def _set(message: Any, attribute: Any) -> None:
    """A constant of the file."""
    kind, kinds = attribute.type, ATTRIBUTES
    if kind == kinds["BOOL"]:
        message.dtype, message.bool_val = _TYPES["Bool"], bool(attribute.i)
    elif kind == kinds["INT64"]:
        message.dtype = _TYPES["Int64"]
        message.int_val = attribute.ints[0] if attribute.ints else attribute.i
    elif kind == kinds["FLOAT"]:
        message.dtype, message.float_val = _TYPES["Float32"], attribute.f
    elif kind == kinds["STRING"]:
        message.dtype, message.str_val = _STRING, attribute.s.decode()
    elif kind == kinds["TENSORS"]:
        message.dtype = _TENSOR
        message.tensor_val.dims.extend(attribute.tensors[0].dims)
        message.tensor_val.data_type = _BY_DATA_TYPE[attribute.tensors[0].data_type]
    elif kind == kinds["TUPLE"]:
        message.dtype = _TUPLE
        for part in attribute.values:
            _set(message.values.add(), part)
    else:
        message.dtype = _NONE
