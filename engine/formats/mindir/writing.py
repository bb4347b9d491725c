"""Writer of a graph as the message of a MINDIR file."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.file_labels import line_label
from ...base.quoting import escape
from ...compile.graph import (
    ArrayFunction,
    Draw,
    FusedLoop,
    GradientCall,
    Graph,
    Node,
    OperatorCall,
    Value,
    operands_of,
    values_in,
)
from ...tensors.backend import to_host
from ...tensors.dtype import dtype_of
from .messages import mind_ir
from .steps import CLASSES, RULES

__all__ = ["ATTRIBUTES", "DATA_TYPES", "Name", "message_of"]

DATA_TYPES = {
    "Float32": 1,
    "UInt8": 2,
    "Int8": 3,
    "UInt16": 4,
    "Int16": 5,
    "Int32": 6,
    "Int64": 7,
    "Bool": 9,
    "Float16": 10,
    "Float64": 11,
    "UInt32": 12,
    "UInt64": 13,
    "Complex64": 14,
    "Complex128": 15,
    "BFloat16": 16,
}
"""Codes of dtypes in a tensor of the file."""

ATTRIBUTES = {
    "FLOAT": 1,
    "INT32": 6,
    "INT64": 7,
    "STRING": 8,
    "BOOL": 9,
    "DOUBLE": 11,
    "TENSORS": 19,
    "TUPLE": 20,
    "LIST": 21,
    "UMONAD": 23,
    "IOMONAD": 24,
    "NONE": 25,
    "SCALAR": 39,
}
"""Kinds of attributes."""
_PRIMITIVE, _FUNCTION = 1, 2
_FEW = 64  # maximum number of elements of an array that is shared between its uses
_MOST_BYTES = 2**31 - 2**16  # protobuf's limit, less a reserve for the steps


class Name(str):
    """Name in the file: a result of a step, an input or a constant."""

    __slots__ = ()


def message_of(graph: Graph, input_names: list[str], name: str) -> Any:
    """Return the message of a graph.

    Args:
        graph: the graph of a run without gradients.
        input_names: names of the graph's arguments, in order.
        name: name of the graph.

    Raises:
        RuntimeError: a node has no form in the format; the text names it and the line.
        ValueError: more than 2 GiB of parameters, or half a character in a name.
    """
    return Writer(graph, input_names, name).written()


class Writer:
    """Writer of one graph, which rules call.

    Attributes:
        output: output Value of the operator whose rule is running, the first of several.
        values: the Values by their names in the file.
    """

    output: Value
    binds = False
    """True if it accepts graphs that rebind external tensors."""

    def __init__(self, graph: Graph, input_names: list[str], name: str) -> None:
        self._graph = graph
        self._title = name
        self._input_names = input_names
        self._model = mind_ir()["Model"](
            ir_version="1.1", producer_name="MindSpore", model_version="2.10.0", little_endian=True, mind_ir_version=3
        )
        self._steps: list[Any] = []
        self._names: dict[Value, Name] = {}
        self._missing: dict[Value, Node] = {}
        self._makers: dict[Value, OperatorCall] = {}
        self._constants: dict[Any, Name] = {}
        self._primitives: dict[bytes, str] = {}
        self._node: Any = None
        self._used_names: set[Name] = set()
        self.values: dict[Name, Value] = {}

    def written(self) -> Any:
        """Return the message, see ``message_of``."""
        graph, message = self._graph, self._model.graph
        for tensor, _ in () if self.binds else graph.effects:
            raise RuntimeError(
                f"For 'export', the network must leave its tensors as they are, but it binds "
                f"'{escape(getattr(tensor, 'name', None) or 'a tensor')}' anew: call set_train(False) before"
            )
        message.name = self._title
        self._parameters()
        for value, input_name in zip(graph.arguments, self._input_names, strict=True):
            if value in self._names:
                raise RuntimeError(
                    f"For 'export', '{escape(input_name)}' must be a tensor of its own, but is given twice"
                )
            self._called(value, self._within(input_name))
            _describe(message.input.add(name=self._names[value]).tensor.add(), value)
        for value, array in graph.constants.items():
            self._called(value, self.constant(to_host(array)))
        for node in graph.nodes:
            self._step(node)
        self._result(graph.result, self._after(self._collected(graph.result)))
        return self._model

    def _after(self, result: Name) -> Name:
        """Return the result after the bindings of the run; a file has none."""
        return result

    def _called(self, value: Value, name: Name) -> None:
        self._names[value] = name
        self.values[name] = value

    def _parameters(self) -> None:
        graph, size = self._graph, 0
        used = {
            *values_in((graph.result, [value for _, value in graph.effects], [operands_of(n) for n in graph.nodes]))
        }
        for tensor, value in graph.externals:
            if value not in used:
                continue  # it is only guarded
            tensor_name = getattr(tensor, "name", None) or f"tensor_{len(self._names)}"
            name = self._within(tensor_name)
            self._called(value, name)
            array = to_host(tensor._array)
            size += array.nbytes
            if size > _MOST_BYTES:
                raise ValueError("For 'export', a MINDIR file must have less than 2 GiB of parameters")
            message = self._model.graph.parameter.add(ref_key=name.partition(":")[2])
            _fill(message, array, name)

    def _within(self, stem: str) -> Name:
        """Return an unused name in the graph."""
        try:
            stem.encode()
        except UnicodeEncodeError:
            raise ValueError(
                f"For 'export', the name '{escape(stem)}' has half a character, which no file can hold"
            ) from None
        name, number = Name(f"{self._title}:{stem}"), 1
        while name in self._used_names:
            name, number = Name(f"{self._title}:{stem}_{number}"), number + 1
        self._used_names.add(name)
        return name

    # Interface for rules

    def __call__(self, primitive: str, *inputs: Any, **attributes: Any) -> Name:
        """Write a step.

        Args:
            primitive: its name in MindSpore.
            *inputs: Values, names of other steps' results, and constants.
            **attributes: attributes of the Primitive itself.

        Returns:
            the name of its result.
        """
        name = self._within(f"{primitive}_{len(self._steps)}")
        step = mind_ir()["Node"](name=name, output=[name], input=[self._operand(x) for x in inputs])
        step.op_type = f"REF::{self._primitive(primitive, attributes)}"
        self._steps.append(step)
        return name

    def name(self, value: Value) -> Name:
        """Return the name of a Value."""
        name = self._names.get(value)
        if name is None:
            node = self._missing[value]
            raise self._refused(node, f"all that '{_name_of(node)}' gives")
        return name

    def constant(self, value: Any) -> Name:
        """Return the name of a constant: an array, a number, a text, None, a tuple of ints."""
        key: tuple[Any, ...]
        is_small = not isinstance(value, np.ndarray) or value.size <= _FEW
        if isinstance(value, np.ndarray):
            key = (value.dtype, value.shape, value.tobytes() if is_small else len(self._constants))
        else:
            key = (type(value), repr(value))
        if key not in self._constants:
            name = self._constants[key] = self._within(f"constant_{len(self._constants)}")
            step = mind_ir()["Node"](name=name, output=[name], op_type="Constant")
            _set(step.attribute.add(name="value"), value)
            self._steps.append(step)
        return self._constants[key]

    def maker(self, value: Any, operator: str) -> OperatorCall | None:
        """Return the node that produces a value, if it is this operator's; else None."""
        node = self._makers.get(value) if isinstance(value, Value) else None
        return node if node is not None and node.operator.name == operator else None

    def refused(self, what: str) -> RuntimeError:
        """Return the error that the operator whose rule is running has no form with this."""
        return self._refused(self._node, f"{what} of '{_name_of(self._node)}'")

    # Parts of the message

    def _refused(self, node: Node, what: str) -> RuntimeError:
        location = f" ({line_label(node.where)})" if node.where else ""
        return RuntimeError(f"For 'export', {what} has no form in a MINDIR file{location}")

    def _step(self, node: Node) -> None:
        if isinstance(node, GradientCall):
            raise self._refused(node, f"the gradient of '{node.operator.name}'")
        if not isinstance(node, OperatorCall):
            raise self._refused(node, "a loop" if isinstance(node, FusedLoop) else "an optimizer's step")
        if isinstance(node.operator, ArrayFunction) and node.operator.is_check:
            return  # MindSpore's Primitives check numbers themselves
        rule = RULES.get(node.operator.name)
        if rule is None:
            draws = any(isinstance(value, Draw) for value in node.attrs.values())
            hint = ", which draws random numbers (set_train(False) before leaves it out)," if draws else ""
            raise self._refused(node, f"the operator '{node.operator.name}'{hint}")
        self._node, self.output = node, node.outputs[0]
        result = rule(self, *node.inputs, **node.attrs)
        for value, name in zip(node.outputs, result if node.packed else (result,), strict=True):
            if value is None:
                continue
            self._makers[value] = node
            if name is None:
                self._missing[value] = node
            else:
                self._called(value, name)

    def _operand(self, x: Any) -> Name:
        if isinstance(x, Name):
            return x
        return self.name(x) if isinstance(x, Value) else self.constant(x)

    def _primitive(self, primitive: str, attributes: dict[str, Any]) -> str:
        """Return the name under which the file describes a Primitive."""
        message = mind_ir()["Primitive"](op_type=primitive, instance_name="")
        message.prim_type = _PRIMITIVE if primitive in CLASSES else _FUNCTION
        for key, value in attributes.items():
            _set(message.attribute.add(name=key), value)
        key = message.SerializeToString(deterministic=True)
        if key not in self._primitives:
            message.name = self._primitives[key] = f"{primitive}:{len(self._primitives)}"
            self._model.primitives.append(message)
        return self._primitives[key]

    def _result(self, result: Any, name: Name) -> None:
        output = self._model.graph.output.add(name=name)
        if isinstance(result, Value):
            _describe(output.tensor.add(), result)
        else:
            output.denotation = "Tuple"
            _describe_all(output.attr_info, result)
        self._model.graph.node.extend(self._used(name))

    def _collected(self, result: Any) -> Name:
        if isinstance(result, dict):
            result = tuple(result.values())  # as MindSpore does
        if isinstance(result, tuple | list):
            parts = [self._collected(part) for part in result]
            return self("make_list" if isinstance(result, list) else "MakeTuple", *parts)
        return self._operand(result)

    def _used(self, name: Name) -> list[Any]:
        """Return the steps that the result depends on."""
        needed, steps = {str(name)}, []
        for step in reversed(self._steps):
            if step.output[0] in needed:
                steps.append(step)
                needed.update(step.input)
        return steps[::-1]


def _name_of(node: Any) -> str:
    return str(node.operator.name)


def _describe(message: Any, value: Value) -> None:
    message.dims.extend(value.shape)
    message.data_type = DATA_TYPES[dtype_of(value.dtype).name]


def _describe_all(message: Any, result: Any) -> None:
    """Write the kinds and shapes of a structured result."""
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, tuple | list):
        message.type = ATTRIBUTES["LIST" if isinstance(result, list) else "TUPLE"]
        for part in result:
            _describe_all(message.values.add(), part)
        message.seq_info.is_dyn_len = False
    elif isinstance(result, Value):
        message.type = ATTRIBUTES["TENSORS"]
        _describe(message.tensors.add(), result)
    elif result is None or isinstance(result, str):
        message.type = ATTRIBUTES["NONE" if result is None else "STRING"]
    else:
        message.type = ATTRIBUTES["SCALAR"]
        kind = "Bool" if isinstance(result, bool) else "Int64" if isinstance(result, int) else "Float32"
        message.tensors.add(dims=[0], data_type=DATA_TYPES[kind])


def _fill(message: Any, array: Any, name: str) -> None:
    message.name = name
    message.dims.extend(array.shape)
    message.data_type = DATA_TYPES[dtype_of(array.dtype).name]
    message.raw_data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _set(attribute: Any, value: Any) -> None:
    """Write a constant into an attribute."""
    kind = ATTRIBUTES
    match value:
        case None:
            attribute.type = kind["NONE"]
        case bool():
            attribute.type, attribute.i = kind["BOOL"], int(value)
        case int():
            attribute.type, attribute.i = kind["INT64"], value
        case float():
            attribute.type, attribute.f = kind["FLOAT"], value
        case str():
            attribute.type, attribute.s = kind["STRING"], value.encode()
        case tuple():
            attribute.type = kind["TUPLE"]
            for part in value:
                attribute.values.add(type=kind["INT64"], ints=[part])
        case np.ndarray():
            attribute.type = kind["TENSORS"]
            _fill(attribute.tensors.add(), value, "value0")
        case _:
            raise TypeError(f"a constant of type {type(value).__name__}")
