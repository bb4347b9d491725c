"""Reader of MINDIR files: graphs as functions that compute them here.

Files are untrusted: the message is validated entirely before anything of it runs. The functions that a step may call
are listed here; a file cannot name others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ... import ops
from ...base.quoting import escape
from ...nn.func_graph import FuncGraph
from ...tensors.dtype import DTYPES
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from .steps import TYPE_CODES
from .writing import ATTRIBUTES, DATA_TYPES

__all__ = ["graph_of_message"]

_BY_NAME = {dtype.name: dtype for dtype in DTYPES}
_BY_DATA_TYPE = {**{code: _BY_NAME[name] for name, code in DATA_TYPES.items()}, 17: _BY_NAME["Float64"]}
_BY_CODE = {code: _BY_NAME[name] for name, code in TYPE_CODES.items()}
_MOST_AXES = 64
_FUNCTION = 2  # a Primitive whose settings are inputs after the tensors

_CLASSES = frozenset(
    (
        "Abs",
        "ACos",
        "Acosh",
        "AdaptiveAvgPool2D",
        "AdaptiveMaxPool2D",
        "Add",
        "Addcdiv",
        "Addcmul",
        "Argmax",
        "ArgMaxWithValue",
        "Argmin",
        "ArgMinWithValue",
        "Asin",
        "Asinh",
        "Atan",
        "Atan2",
        "Atanh",
        "AvgPool",
        "AvgPool3D",
        "BatchMatMul",
        "BatchNorm",
        "BiasAdd",
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
        "BroadcastTo",
        "Ceil",
        "CeLU",
        "Concat",
        "Conv2D",
        "Conv3D",
        "Cos",
        "Cosh",
        "CumProd",
        "CumSum",
        "Div",
        "DivNoNan",
        "Elu",
        "Equal",
        "Erf",
        "Erfc",
        "Erfinv",
        "Exp",
        "ExpandDims",
        "Expm1",
        "Flatten",
        "Floor",
        "FloorDiv",
        "FloorMod",
        "Gather",
        "GatherD",
        "GatherNd",
        "GeLU",
        "Greater",
        "GreaterEqual",
        "HSigmoid",
        "HSwish",
        "Identity",
        "IsFinite",
        "IsInf",
        "IsNan",
        "LayerNorm",
        "Less",
        "LessEqual",
        "Lgamma",
        "LinSpace",
        "Log",
        "Log1p",
        "LogicalAnd",
        "LogicalNot",
        "LogicalOr",
        "LogicalXor",
        "LogSoftmax",
        "LpNorm",
        "MaskedFill",
        "MatMul",
        "Maximum",
        "MaxPool",
        "MaxPool3D",
        "MaxPool3DWithArgmax",
        "Minimum",
        "Mish",
        "Mul",
        "Neg",
        "NotEqual",
        "OneHot",
        "PadV3",
        "Pow",
        "PReLU",
        "RealDiv",
        "Reciprocal",
        "ReduceAll",
        "ReduceAny",
        "ReduceMax",
        "ReduceMean",
        "ReduceMin",
        "ReduceProd",
        "ReduceSum",
        "ReLU",
        "ReLU6",
        "Reshape",
        "ReverseV2",
        "Round",
        "Rsqrt",
        "Select",
        "SeLU",
        "Sigmoid",
        "Sign",
        "Sin",
        "Sinh",
        "Slice",
        "Softmax",
        "Softplus",
        "Softsign",
        "Sort",
        "Split",
        "Sqrt",
        "Square",
        "SquaredDifference",
        "Squeeze",
        "Stack",
        "StopGradient",
        "StridedSlice",
        "Sub",
        "Tan",
        "Tanh",
        "Tile",
        "TopK",
        "Transpose",
        "Tril",
        "Triu",
        "Trunc",
        "TruncateMod",
        "Unstack",
        "Xlogy",
        "ZerosLike",
    )
)
"""Primitives for which our class is constructed with the file's settings."""


def _dtype(code: Any) -> Any:
    if code is None:
        return None
    if code not in _BY_CODE:
        raise ValueError(f"{code} is not an element type")
    return _BY_CODE[code]


def _mean(x: Tensor, axis: Any, keepdims: bool, dtype: Any) -> Tensor:
    result = ops.mean(x, axis, keepdims)
    return result if dtype is None else result.astype(_dtype(dtype))


def _std(x: Tensor, axis: Any, unbiased: bool, keepdims: bool) -> tuple[Tensor, Tensor]:
    axes = tuple(axis) or None
    return ops.std(x, axes, int(unbiased), keepdims), ops.mean(x, axes, keepdims)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "AddExt": lambda x, y, alpha: x + y * alpha,
    "Cast": lambda x, code: x.astype(_dtype(code)),
    "ClampScalar": lambda x, low, high: ops.clamp(x, low, high),
    "ClampTensor": lambda x, low, high: ops.clamp(x, low, high),
    "Dense": lambda x, weight, bias: ops.dense(x, weight, bias),
    "Depend": lambda x, after: x,
    "DivMod": lambda x, y, rounding: ops.div(x, y, rounding_mode=(None, "trunc", "floor")[rounding or 0]),
    "Divs": lambda x, y: x / y,
    "EqScalar": lambda x, y: x == y,
    "FlattenExt": lambda x, first, last: ops.flatten(x, start_dim=first, end_dim=last),
    "LayerNormExt": lambda x, shape, weight, bias, epsilon: (ops.layer_norm(x, shape, weight, bias, epsilon),),
    "LessScalar": lambda x, y: x < y,
    "Load": lambda x, after: x,
    "MakeTuple": lambda *parts: parts,
    "MatMulExt": lambda x, y: ops.matmul(x, y),
    "Max": lambda x: x.max(),
    "MeanExt": _mean,
    "Min": lambda x: x.min(),
    "Muls": lambda x, y: x * y,
    "ReduceStd": _std,
    "RemainderTensorScalar": lambda x, y: x % y,
    "SiLU": lambda x: ops.silu(x),
    "SubExt": lambda x, y, alpha: x - y * alpha,
    "SumExt": lambda x, axis, keepdims, dtype: ops.sum(x, axis, keepdims, dtype=_dtype(dtype)),
    "TupleGetItem": lambda parts, index: parts[index],
    "UpdateState": lambda *after: None,
    "make_list": lambda *parts: list(parts),
}
"""Primitives without such a class, called with all inputs from the file."""

_FORMATS = {0: "NCHW", 1: "NHWC", 2: "NCDHW"}
_PAD_MODES = {0: "PAD", 1: "SAME", 2: "VALID"}
_CODED: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("Argmax", "output_type"): _dtype,
    ("Argmin", "output_type"): _dtype,
    ("AvgPool", "data_format"): _FORMATS.__getitem__,
    ("AvgPool", "pad_mode"): _PAD_MODES.__getitem__,
    ("BatchNorm", "data_format"): _FORMATS.__getitem__,
    ("BiasAdd", "data_format"): _FORMATS.__getitem__,
}
"""Settings that the file encodes as numbers."""


def graph_of_message(model: Any, path: str) -> FuncGraph:
    """Return the executable graph.

    Args:
        model: the message of the file.
        path: the path, for errors.

    Raises:
        RuntimeError: the file is inconsistent, or has an unsupported step.
    """
    return _Reader(model, path).read()


Step = tuple[Callable[..., Any], tuple[str, ...], str, tuple[str, ...]]
"""The function to call, the names of its operands, of its result, and of values not needed afterwards."""


class _Reader:
    """Validator and converter of one message."""

    def __init__(self, model: Any, path: str) -> None:
        self._model = model
        self._path = path
        self._constants: dict[str, Any] = {}
        self._known: set[str] = set()
        self._primitives: dict[str, Any] = {}

    def read(self) -> FuncGraph:
        model, graph = self._model, self._model.graph
        if not model.HasField("graph") or not graph.output:
            raise self._error("it has no graph, or is damaged")
        if model.functions or graph.map_parameter:
            kind = "a graph in a graph (a branch or a loop)" if model.functions else "a parameter that is a table"
            raise self._error(f"it has {kind}, which is not covered")
        if not model.little_endian:
            raise self._error("its numbers are big-endian, which is not covered")
        self._primitives = {self._text(p.name): p for p in model.primitives}
        parameters: dict[str, Parameter] = {}
        keys: dict[str, str] = {}
        arrays = []
        for tensor in graph.parameter:
            name = self._new(tensor.name)
            key = self._text(tensor.ref_key) or name
            if key in keys.values():
                raise self._error(f"it has the parameter '{escape(key)}' twice")
            keys[name] = key
            arrays.append((key, self._array(tensor, key)))
        inputs = [self._new(item.name) for item in graph.input]
        steps = [step for node in graph.node if (step := self._step(node)) is not None]
        results = [self._seen(item.name) for item in graph.output]
        for key, array in arrays:
            parameters[key] = Parameter(Tensor(array), name=key)
        run = _Run(keys, inputs, self._constants, _freeing(steps, results), results)
        return FuncGraph(self._text(graph.name), [name.rpartition(":")[2] for name in inputs], parameters, run)

    def _error(self, what: str) -> RuntimeError:
        return RuntimeError(f"For 'load', the file '{escape(self._path)}' cannot be read: {what}")

    # Names

    def _text(self, name: Any) -> str:
        if isinstance(name, str):
            try:
                name.encode()
                return name
            except UnicodeEncodeError:
                pass
        raise self._error("a name in it is not UTF-8 text")

    def _new(self, name: Any) -> str:
        text = self._text(name)
        if not text or text in self._known:
            raise self._error(f"the name '{escape(text)}' is empty or duplicate")
        self._known.add(text)
        return text

    def _seen(self, name: Any) -> str:
        text = self._text(name)
        if text not in self._known:
            raise self._error(f"'{escape(text)}' is used before it is computed")
        return text

    # Steps

    def _step(self, node: Any) -> Step | None:
        inputs = tuple([self._seen(name) for name in node.input])
        kind = self._text(node.op_type)
        if len(node.output) != 1:
            raise self._error(f"a step '{escape(kind)}' has {len(node.output)} results, not 1")
        if kind == "Constant":
            if len(node.attribute) != 1:
                raise self._error(f"a constant has {len(node.attribute)} values, not 1")
            name = self._new(node.output[0])
            self._constants[name] = self._constant(node.attribute[0], 0)
            return None
        primitive = self._primitives.get(kind.removeprefix("REF::"))
        if primitive is None or not kind.startswith("REF::"):
            raise self._error(f"it has the step '{escape(kind)}', which is not covered")
        call, count = self._call(primitive, inputs)
        return call, inputs[:count], self._new(node.output[0]), ()

    def _call(self, primitive: Any, inputs: tuple[str, ...]) -> tuple[Callable[..., Any], int]:
        """Return the function that a step calls, and the number of inputs that are passed to it."""
        name = self._text(primitive.op_type)
        if name in _FUNCTIONS:
            return _with_step_name(_FUNCTIONS[name], name), len(inputs)
        primitive_class = getattr(ops, name) if name in _CLASSES else None
        if primitive_class is None:
            raise self._error(f"it has the step '{escape(name)}', which is not covered")
        names = [key for key, _ in primitive_class._parameters]
        count = len(inputs)
        if primitive.prim_type == _FUNCTION:
            if len(inputs) < len(names):
                raise self._error(f"a step '{name}' has {len(inputs)} inputs, which are too few")
            count -= len(names)
            settings = {
                key: self._setting(name, key, input_name) for key, input_name in zip(names, inputs[count:], strict=True)
            }
        else:
            settings = self._attributes(primitive, names)
        try:
            for key in names:
                if (name, key) in _CODED and key in settings and isinstance(settings[key], int):
                    settings[key] = _CODED[name, key](settings[key])
            call = primitive_class(**settings)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise self._error(f"a step '{name}' has settings that it cannot have: {error}") from None
        value = self._constants.get(inputs[2]) if name == "PadV3" and count == 3 else None
        if isinstance(value, Tensor) and value.size == 1:  # read now, so that a trace of the graph reads no numbers
            number = value.item()
            return _with_step_name(lambda x, widths, _: call(x, widths, number), name), count
        return _with_step_name(call, name), count

    def _setting(self, name: str, key: str, input_name: str) -> Any:
        if input_name not in self._constants:
            raise self._error(f"the '{key}' of a step '{name}' is not a constant, which is not covered")
        return self._constants[input_name]

    def _attributes(self, primitive: Any, names: list[str]) -> dict[str, Any]:
        """Return the attributes that are settings of our class; windows lose the axes of samples and channels."""
        attributes = {self._text(attribute.name): attribute for attribute in primitive.attribute}
        if "format" in attributes:
            attributes["data_format"] = attributes.pop("format")
        settings = {key: self._constant(attributes[key], 0) for key in names if key in attributes}
        for key in ("kernel_size", "stride", "strides", "dilation"):
            value = settings.get(key)
            if isinstance(value, tuple) and len(value) > 3:
                settings[key] = value[2:]
        if isinstance(settings.get("argmax_type"), str):
            settings["argmax_type"] = _BY_NAME.get(settings["argmax_type"].capitalize())
        return settings

    # Values

    def _constant(self, attribute: Any, depth: int) -> Any:
        kind, kinds = attribute.type, ATTRIBUTES
        if kind in (kinds["INT64"], kinds["INT32"], kinds["BOOL"]):
            number = attribute.ints[0] if attribute.ints else attribute.i
            return bool(number) if kind == kinds["BOOL"] else number
        if kind == kinds["FLOAT"]:
            return attribute.floats[0] if attribute.floats else attribute.f
        if kind == kinds["DOUBLE"]:
            return attribute.doubles[0] if attribute.doubles else attribute.d
        if kind == kinds["STRING"]:
            try:
                return (attribute.strings[0] if attribute.strings else attribute.s).decode()
            except UnicodeDecodeError:
                raise self._error("a text in it is not UTF-8") from None
        if kind in (kinds["NONE"], kinds["UMONAD"], kinds["IOMONAD"]):
            return None
        if kind == kinds["TENSORS"] and len(attribute.tensors) == 1:
            return Tensor(self._array(attribute.tensors[0], "a constant"))
        if kind in (kinds["TUPLE"], kinds["LIST"]) and depth < 8:
            parts = [self._constant(part, depth + 1) for part in attribute.values]
            return tuple(parts) if kind == kinds["TUPLE"] else parts
        raise self._error(f"it has a constant of the kind {kind}, which is not covered")

    def _array(self, tensor: Any, name: str) -> Any:
        dtype = _BY_DATA_TYPE.get(tensor.data_type)
        if dtype is None or tensor.compression_type:
            raise self._error(f"'{escape(name)}' has the unknown type {tensor.data_type} or is compressed")
        if tensor.HasField("external_data"):
            raise self._error(f"'{escape(name)}' is in another file, which is not covered")
        dims, content = tuple(tensor.dims), tensor.raw_data
        # Python's integers do not overflow, so a hostile product of dims cannot pass for a small one.
        expected_size = -1 if any(n < 0 for n in dims) else math.prod(dims) * dtype.itemsize
        if len(dims) > _MOST_AXES or len(content) != expected_size:
            raise self._error(f"'{escape(name)}' has {len(content)} bytes, which is not {dims[:_MOST_AXES]} of {dtype}")
        try:
            array = np.frombuffer(content, dtype.numpy.newbyteorder("<")).reshape(dims)
        except ValueError as error:  # empty axes longer than an array allows
            raise self._error(f"'{escape(name)}' has a shape that no array can have: {error}") from None
        return array.astype(dtype.numpy)


def _with_step_name(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Wrap a function so that its errors name the step of the file."""

    def step(*inputs: Any) -> Any:
        try:
            return call(*inputs)
        except (TypeError, ValueError, IndexError, AttributeError) as error:
            raise RuntimeError(f"the step '{name}' of a MINDIR file cannot be computed: {error}") from error

    return step


def _freeing(steps: list[Step], results: list[str]) -> list[Step]:
    """Return the steps, each with the names that no later step needs."""
    needed, freed = set(results), []
    for call, inputs, output, _ in reversed(steps):
        unneeded = tuple({*inputs, output} - needed)
        needed.update(unneeded)
        freed.append((call, inputs, output, unneeded))
    return freed[::-1]


class _Run:
    """Executor of the steps.

    Args:
        keys: the parameters' names by their names in the graph.
        inputs: the names of the inputs.
        constants: values by name.
        steps: the steps, in order.
        results: the names of the results.
    """

    def __init__(
        self, keys: dict[str, str], inputs: list[str], constants: dict[str, Any], steps: list[Step], results: list[str]
    ) -> None:
        self._keys = keys
        self._inputs = inputs
        self._constants = constants
        self._steps = steps
        self._results = results

    def __call__(self, parameters: Mapping[str, Tensor], inputs: tuple[Tensor, ...]) -> Any:
        values = {**self._constants, **{name: parameters[key] for name, key in self._keys.items()}}
        values.update(zip(self._inputs, inputs, strict=True))
        for call, operands, output, unneeded in self._steps:
            values[output] = call(*[values[name] for name in operands])
            for name in unneeded:
                values.pop(name, None)
        results = tuple([values[name] for name in self._results])
        return results[0] if len(results) == 1 else results
