"""Dump of a graph for ``Cell.get_func_graph_proto``: bytes that ``ModelProto`` of ``train/anf_ir_pb2`` reads.

It consists of the steps of a MINDIR file and is for inspection only, so nothing is refused: a node without a form in
the format is written under our own name.
"""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any

from ...compile.graph import Binding, EagerCall, FusedLoop, Graph, Node, OperatorCall, Value, operands_of, values_in
from ...tensors.dtype import DTYPES, dtype_of
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
    """Return the result of ``Cell.get_func_graph_proto``: the graph of the latest plan, or None without one.

    Args:
        cell: the cell.
    """
    compiled = cell.__dict__.get("_compiled")
    plans = [guarded.plan for entries in compiled.plans.values() for guarded in entries] if compiled is not None else []
    if not plans:
        return None
    graph: Graph = plans[-1].graph
    names = list(inspect.signature(cell.construct).parameters)
    if len(names) != len(graph.arguments):
        names = [f"x{index}" for index in range(len(graph.arguments))]
    return func_graph_proto(graph, names, type(cell).__name__)


def func_graph_proto(graph: Graph, input_names: list[str], name: str) -> bytes:
    """Return the bytes of a graph's dump.

    Args:
        graph: the graph of any run.
        input_names: names of the graph's arguments, in order.
        name: name of the graph.
    """
    writer = _Dump(graph, input_names, name)
    return _converted(writer.written(), writer.values, graph.result)


class _Dump(Writer):
    """Writer of a graph of any nodes."""

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
        """Write a node under our own name."""
        attrs: dict[str, Any] = {}
        if isinstance(node, EagerCall):
            kind = node.function.__qualname__
        elif isinstance(node, FusedLoop | Binding):
            kind = "loop" if isinstance(node, FusedLoop) else "bind"
        else:
            kind = node.operator.name if isinstance(node, OperatorCall) else f"{node.operator.name}_gradient"
            attrs = {key: value for key, value in node.attrs.items() if isinstance(value, bool | int | float | str)}
        result = self(kind, *dict.fromkeys(values_in(operands_of(node))), **attrs)
        outputs = [value for value in node.outputs if value is not None]
        for index, value in enumerate(outputs):
            self._called(value, result if len(outputs) == 1 else self("TupleGetItem", result, index))

    def _after(self, result: Name) -> Name:
        externals = {id(tensor): value for tensor, value in self._graph.externals}
        bindings = [
            self("Assign", externals[id(tensor)], value)
            for tensor, value in self._graph.effects
            if id(tensor) in externals
        ]
        return self("Depend", result, self("UpdateState", *bindings)) if bindings else result


def _converted(file: Any, values: dict[Name, Value], result: Any) -> bytes:
    """Convert the message of a file to that of a dump."""
    source = file.graph
    model = anf_ir()["Model"](ir_version=1)
    target = model.graph
    target.name = source.name
    names: dict[str, str] = {}
    for item in (*source.input, *source.parameter):
        names[item.name] = item.name.partition(":")[2]
        _describe(target.parameters.add(name=names[item.name]).type, values[Name(item.name)])
    primitives = {f"REF::{p.name}": p for p in file.primitives}
    counts: Counter[str] = Counter()
    for node in source.node:
        if node.op_type == "Constant":
            names[node.name] = f"cst{len(target.const_vals) + 1}"
            _set(target.const_vals.add(key=names[node.name]).value, node.attribute[0])
            continue
        primitive = primitives[node.op_type]
        kind = "MakeTuple" if primitive.op_type == "make_list" else primitive.op_type
        names[node.name] = str(len(target.node) + 1)
        step = target.node.add(name=names[node.name], op_type=kind, scope="Default")
        step.full_name = f"Default/{kind}-op{counts[kind]}"
        counts[kind] += 1
        for item in node.input:
            step.input.add(name=names[item], type=0)
        for attribute in primitive.attribute:
            _set(step.attribute.add(name=attribute.name).value, attribute)
        if Name(node.name) in values:
            _describe(step.output_type, values[Name(node.name)])
    _describe(target.outputs.add(name=names[source.output[0].name]).type, result)
    return bytes(model.SerializeToString())


def _describe(message: Any, value: Any, with_lengths: bool = True) -> None:
    """Write the type of a value or a structure; axis lengths are omitted inside structures."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, Value):
        message.data_type = _TENSOR
        message.tensor_type.elem_type = _TYPES[dtype_of(value.dtype).name]
        for length in value.shape if with_lengths else ():
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
    """Write a constant of the file."""
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
