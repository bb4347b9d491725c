"""Reader of ONNX files: a ``FuncGraph`` that computes each node by operators of the table.

It reads the files of ``writing.py``, and other files with the same nodes. Files are parsed by the onnx package and
checked by its checker before they are used; external data is never read.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.quoting import escape
from ...nn.func_graph import FuncGraph
from ...ops.indexing.sorting import topk
from ...tensors.backend import to_device, to_host
from ...tensors.operator import TENSOR_FUNCTIONS as F
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from .versions import OPSET, onnx_package

__all__ = ["read"]

Attributes = dict[str, Any]
_Reader = Callable[..., Any]
_READERS: dict[str, _Reader] = {}
"""Reader of a node by ONNX's operator name. It is called with the node's attributes and inputs. Inputs are tensors;
constants are arrays, and None is an omitted optional input."""


@dataclass
class _Step:
    compute: _Reader
    attributes: Attributes
    inputs: list[str]
    outputs: list[str]
    last: list[str]  # values that no later step reads
    what: str  # for messages


def read(path: str) -> FuncGraph:
    """Read a file.

    Args:
        path: an ONNX file.

    Returns:
        the graph; initializers are its parameters.

    Raises:
        RuntimeError: the file is broken, has external data or an unsupported opset, or contains an unsupported node.
        ImportError: ``onnx`` is not installed.
    """
    onnx = onnx_package("load")
    label = escape(path)
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception as error:  # any error of the parser
        raise RuntimeError(f"For 'load', the file '{label}' is not an ONNX file: {escape(str(error))}") from None
    graph = model.graph
    if not all(isinstance(name, str) for name in _names(model)):  # the parser returns other names as bytes
        raise RuntimeError(f"For 'load', the file '{label}' is broken: a name is not UTF-8")
    tensors = [*graph.initializer, *[a.t for node in graph.node for a in node.attribute if a.HasField("t")]]
    if any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in tensors):
        raise RuntimeError(
            f"For 'load', the file '{label}' keeps numbers in other files, which are not read: save it in one"
        )
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # the checker and shape inference have their own exception classes
        raise RuntimeError(f"For 'load', the file '{label}' is broken: {escape(str(error))}") from None
    versions = {entry.domain: entry.version for entry in model.opset_import}
    if versions != {"": OPSET}:
        listed = ", ".join(f"{escape(domain) or 'ai.onnx'} {version}" for domain, version in versions.items())
        raise RuntimeError(
            f"For 'load', the file '{label}' must be of opset {OPSET} and of no other domain, but has {listed}: "
            "onnx.version_converter may convert it"
        )
    if graph.sparse_initializer:
        raise RuntimeError(f"For 'load', the file '{label}' holds sparse tensors, which are not read")
    arrays = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    parameters = {name: _parameter(name, array) for name, array in arrays.items()}
    constants: dict[str, Any] = {}
    steps = []
    for node in graph.node:
        if node.op_type == "Constant":
            constants[node.output[0]] = _constant(onnx, node, label)
        else:
            steps.append(_step(onnx, node, label))
    inputs = [entry.name for entry in graph.input if entry.name not in parameters]
    outputs = [entry.name for entry in graph.output]
    _note_last(steps, {*inputs, *parameters, *constants, *outputs})

    def run(held: Mapping[str, Tensor], tensors: tuple[Tensor, ...]) -> Any:
        values: dict[str, Any] = {**constants, **held, **dict(zip(inputs, tensors, strict=True))}
        for step in steps:
            result = step.compute(step.attributes, *[values[name] if name else None for name in step.inputs])
            for name, value in zip(step.outputs, result if isinstance(result, tuple) else (result,), strict=False):
                values[name] = value
            for name in step.last:
                del values[name]
        results = tuple([_tensor(values[name]) for name in outputs])
        return results if len(results) > 1 else results[0]

    return FuncGraph(escape(graph.name), inputs, parameters, run)


def _names(model: Any) -> Iterator[Any]:
    graph = model.graph
    yield graph.name
    yield from [entry.domain for entry in model.opset_import]
    for entry in (*graph.input, *graph.output, *graph.initializer):
        yield entry.name
    for node in graph.node:
        yield node.op_type
        yield from (*node.input, *node.output, *[entry.name for entry in node.attribute])


def _parameter(name: str, array: Any) -> Parameter:
    return Parameter(Tensor._wrap(to_device(np.array(array))), name, requires_grad=array.dtype.kind in "fV")


def _constant(onnx: Any, node: Any, label: str) -> Any:
    attribute = node.attribute[0]
    value = onnx.helper.get_attribute_value(attribute)
    if attribute.name == "value":
        return np.array(onnx.numpy_helper.to_array(value))
    if attribute.name in ("value_int", "value_ints"):
        return np.asarray(value, np.int64)
    if attribute.name in ("value_float", "value_floats"):
        return np.asarray(value, np.float32)
    raise RuntimeError(f"For 'load', the file '{label}' holds a constant of texts or a sparse one, which is not read")


def _step(onnx: Any, node: Any, label: str) -> _Step:
    kind = escape(node.op_type)
    if node.op_type not in _READERS:
        raise RuntimeError(
            f"For 'load', the file '{label}' holds the operator '{kind}', which is not read here: "
            "onnxruntime runs such files"
        )
    attributes: Attributes = {}
    for attribute in node.attribute:
        value = onnx.helper.get_attribute_value(attribute)
        if isinstance(value, list):
            value = [_text(part) if isinstance(part, bytes) else part for part in value]
        attributes[attribute.name] = _text(value) if isinstance(value, bytes) else value
    return _Step(_READERS[node.op_type], attributes, list(node.input), list(node.output), [], kind)


def _text(value: bytes) -> str:
    return value.decode(errors="replace")


def _note_last(steps: list[_Step], results: set[str]) -> None:
    unread = {name for step in steps for name in step.outputs}.difference(results)
    for step in reversed(steps):
        step.last = [name for name in {*step.inputs, *step.outputs} if name in unread]
        unread.difference_update(step.last)


# Helpers of the readers


def _reads(*kinds: str) -> Callable[[_Reader], _Reader]:
    def enter(reader: _Reader) -> _Reader:
        for kind in kinds:
            _READERS[kind] = reader
        return reader

    return enter


def _tensor(x: Any) -> Tensor:
    return x if isinstance(x, Tensor) else constant(to_device(np.array(x)))


def _static(x: Any) -> Any:
    """Return an input that defines shapes or indices, as a list of ints or an int."""
    return (to_host(x._array) if isinstance(x, Tensor) else x).tolist()


def _refuse_unless(holds: bool, what: str) -> None:
    if not holds:
        raise RuntimeError(f"the ONNX operator {what} is not computed here")


def _dtype(code: int) -> np.dtype[Any]:
    return np.dtype(onnx_package("load").helper.tensor_dtype_to_np_dtype(code))


# Element by element

_UNARY = {
    "Abs": "abs",
    "Acos": "acos",
    "Acosh": "acosh",
    "Asin": "asin",
    "Asinh": "asinh",
    "Atan": "atan",
    "Atanh": "atanh",
    "BitwiseNot": "bitwise_not",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "Identity": "identity",
    "IsInf": "isinf",
    "IsNaN": "isnan",
    "Log": "log",
    "Neg": "neg",
    "Not": "logical_not",
    "Reciprocal": "reciprocal",
    "Relu": "relu",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sin": "sin",
    "Sinh": "sinh",
    "Sqrt": "sqrt",
    "Tan": "tan",
    "Tanh": "tanh",
}
_BINARY = {
    "Add": "add",
    "And": "logical_and",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Equal": "eq",
    "Greater": "gt",
    "GreaterOrEqual": "ge",
    "Less": "lt",
    "LessOrEqual": "le",
    "Mul": "mul",
    "Or": "logical_or",
    "Pow": "pow",
    "Sub": "sub",
    "Xor": "logical_xor",
}


def _direct(name: str) -> _Reader:
    def compute(attributes: Attributes, *inputs: Any) -> Any:
        return getattr(F, name)(*map(_tensor, inputs))

    return compute


for _kind, _name in {**_UNARY, **_BINARY}.items():
    _reads(_kind)(_direct(_name))


def _of_several(name: str) -> _Reader:
    def compute(attributes: Attributes, *inputs: Any) -> Any:
        result = _tensor(inputs[0])
        for operand in inputs[1:]:
            result = getattr(F, name)(result, _tensor(operand))
        return result

    return compute


_reads("Max")(_of_several("maximum"))
_reads("Min")(_of_several("minimum"))


@_reads("Div")
def _div(attributes: Attributes, x: Any, y: Any) -> Any:
    x, y = _tensor(x), _tensor(y)
    if x._array.dtype.kind not in "iu":
        return F.div(x, y)
    return F.floor_divide(F.sub(x, F.fmod(x, y)), y)  # rounds towards 0


@_reads("Mod")
def _mod(attributes: Attributes, x: Any, y: Any) -> Any:
    return (F.fmod if attributes.get("fmod") else F.remainder)(_tensor(x), _tensor(y))


@_reads("Cast")
def _cast(attributes: Attributes, x: Any) -> Any:
    return F.cast(_tensor(x), dtype=_dtype(attributes["to"]))


@_reads("Where")
def _where(attributes: Attributes, condition: Any, x: Any, y: Any) -> Any:
    return F.where(_tensor(condition), _tensor(x), _tensor(y))


@_reads("Gelu")
def _gelu(attributes: Attributes, x: Any) -> Any:
    return F.gelu(_tensor(x), approximate=attributes.get("approximate", "none"))


# Reductions and orders


def _axes(axes: Any, attributes: Attributes, x: Tensor) -> tuple[int, ...]:
    if axes is None or not np.size(axes if not isinstance(axes, Tensor) else axes._array):
        return () if attributes.get("noop_with_empty_axes") else tuple(range(x.ndim))
    return tuple([axis % x.ndim for axis in _static(axes)])


def _reduction(name: str) -> _Reader:
    def compute(attributes: Attributes, x: Any, axes: Any = None) -> Any:
        x = _tensor(x)
        reduced_axes = _axes(axes, attributes, x)
        return (
            getattr(F, name)(x, axis=reduced_axes, keepdims=bool(attributes.get("keepdims", 1)))
            if reduced_axes
            else F.identity(x)
        )

    return compute


for _kind, _name in (("Sum", "sum"), ("Prod", "prod"), ("Max", "amax"), ("Min", "amin"), ("Mean", "mean")):
    _reads(f"Reduce{_kind}")(_reduction(_name))


@_reads("ReduceLogSumExp")
def _log_sum_exp(attributes: Attributes, x: Any, axes: Any = None) -> Any:
    x = _tensor(x)
    reduced_axes = _axes(axes, attributes, x)
    maxima = F.stop_gradient(F.amax(x, axis=reduced_axes, keepdims=True))
    maxima = F.where(F.isfinite(maxima), maxima, F.zeros_like(maxima))
    sums = F.log(F.sum(F.exp(x - maxima), axis=reduced_axes, keepdims=True)) + maxima
    lengths = [n for axis, n in enumerate(sums.shape) if axis not in reduced_axes]
    return sums if attributes.get("keepdims", 1) else F.reshape(sums, shape=tuple(lengths))


def _extreme_position(name: str) -> _Reader:
    def compute(attributes: Attributes, x: Any) -> Any:
        _refuse_unless(not attributes.get("select_last_index"), "ArgMax or ArgMin with select_last_index")
        settings = {"axis": attributes.get("axis", 0), "keepdims": bool(attributes.get("keepdims", 1))}
        return F.cast(getattr(F, name)(_tensor(x), **settings), dtype=np.dtype(np.int64))

    return compute


_reads("ArgMax")(_extreme_position("argmax"))
_reads("ArgMin")(_extreme_position("argmin"))


@_reads("TopK")
def _top(attributes: Attributes, x: Any, k: Any) -> Any:
    (count,) = _static(k)
    values, positions = topk(_tensor(x), count, attributes.get("axis", -1), bool(attributes.get("largest", 1)))
    return values, F.cast(positions, dtype=np.dtype(np.int64))


@_reads("CumSum")
def _cumsum(attributes: Attributes, x: Any, axis: Any) -> Any:
    _refuse_unless(not attributes.get("exclusive") and not attributes.get("reverse"), "CumSum, exclusive or reverse,")
    return F.cumsum(_tensor(x), axis=int(np.reshape(_static(axis), ())))


# Shapes and parts


@_reads("Reshape")
def _reshape(attributes: Attributes, x: Any, shape: Any) -> Any:
    x, lengths = _tensor(x), _static(shape)
    if not attributes.get("allowzero"):
        lengths = [x.shape[i] if n == 0 else n for i, n in enumerate(lengths)]
    return F.reshape(x, shape=tuple(lengths))


@_reads("Expand")
def _expand(attributes: Attributes, x: Any, shape: Any) -> Any:
    x = _tensor(x)
    return F.broadcast_to(x, shape=np.broadcast_shapes(x.shape, tuple(_static(shape))))


@_reads("Transpose")
def _transpose(attributes: Attributes, x: Any) -> Any:
    x = _tensor(x)
    return F.transpose(x, axes=tuple(attributes.get("perm", range(x.ndim)[::-1])))


@_reads("Concat")
def _concat(attributes: Attributes, *parts: Any) -> Any:
    return F.concat(*map(_tensor, parts), axis=attributes["axis"])


@_reads("Split")
def _split(attributes: Attributes, x: Any, lengths: Any = None) -> Any:
    _refuse_unless(lengths is not None, "Split without lengths")
    x = _tensor(x)
    ends = np.cumsum([0, *_static(lengths)]).tolist()
    axis = attributes.get("axis", 0) % x.ndim
    return tuple([F.slice_axis(x, axis=axis, start=a, stop=b) for a, b in itertools.pairwise(ends)])


@_reads("Slice")
def _slice(attributes: Attributes, x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    x, begins, stops = _tensor(x), _static(starts), _static(ends)
    slice_axes = range(len(begins)) if axes is None else _static(axes)
    strides = [1] * len(begins) if steps is None else _static(steps)
    index = [slice(None)] * x.ndim
    for axis, start, end, step in zip(slice_axes, begins, stops, strides, strict=True):
        # With a negative step, a stop before the first element becomes None, since -1 would be the last element.
        index[axis] = slice(start, None if step < 0 and end < -x.shape[axis] else end, step)
    return F.getitem(x, index=tuple(index))


@_reads("Pad")
def _pad(attributes: Attributes, x: Any, widths: Any, value: Any = None, axes: Any = None) -> Any:
    is_constant = attributes.get("mode", "constant") == "constant"
    _refuse_unless(is_constant and axes is None, "Pad of an unsupported mode or of axes")
    x, amounts = _tensor(x), _static(widths)
    pairs = tuple(zip(amounts[: x.ndim], amounts[x.ndim :], strict=True))
    _refuse_unless(min(amounts, default=0) >= 0, "Pad that takes away")
    return F.pad(x, widths=pairs, mode="constant", value=0 if value is None else _static(value))


@_reads("Range")
def _range(attributes: Attributes, start: Any, limit: Any, step: Any) -> Any:
    dtype = (start._array if isinstance(start, Tensor) else start).dtype
    return np.arange(_static(start), _static(limit), _static(step), dtype=dtype)


def _index(x: Any) -> Any:
    return _tensor(x)._array


@_reads("Gather")
def _gather(attributes: Attributes, x: Any, indices: Any) -> Any:
    x = _tensor(x)
    axis = attributes.get("axis", 0) % x.ndim
    return F.getitem(x, index=(*[slice(None)] * axis, _index(indices)))


@_reads("GatherND")
def _gather_nd(attributes: Attributes, x: Any, indices: Any) -> Any:
    _refuse_unless(not attributes.get("batch_dims"), "GatherND with batch_dims")
    rows = _tensor(indices)
    return F.getitem(_tensor(x), index=tuple([F.getitem(rows, index=(..., i))._array for i in range(rows.shape[-1])]))


def _at(shape: tuple[int, ...], indices: Any, axis: int) -> tuple[Any, ...]:
    """Return the index of the elements that ``indices`` selects along an axis."""
    grid = [
        np.arange(n).reshape([-1 if i == dimension else 1 for i in range(len(shape))])
        for dimension, n in enumerate(shape)
    ]
    return tuple(
        [_index(indices if dimension == axis % len(shape) else positions) for dimension, positions in enumerate(grid)]
    )


@_reads("GatherElements")
def _gather_elements(attributes: Attributes, x: Any, indices: Any) -> Any:
    return F.getitem(_tensor(x), index=_at(_tensor(indices).shape, indices, attributes.get("axis", 0)))


@_reads("ScatterElements")
def _scatter_elements(attributes: Attributes, x: Any, indices: Any, updates: Any) -> Any:
    x, updates = _tensor(x), _tensor(updates)
    index, reduction = _at(updates.shape, indices, attributes.get("axis", 0)), attributes.get("reduction", "none")
    if reduction == "none":
        return F.setitem(x, updates, index=index)
    if reduction == "add":
        return x + F.scatter_add(updates, index=index, shape=x.shape)
    return F.scatter_reduce(x, updates, index=index, how=reduction)


# Layers


@_reads("MatMul")
def _matmul(attributes: Attributes, a: Any, b: Any) -> Any:
    return F.matmul(_tensor(a), _tensor(b), transpose_a=False, transpose_b=False)


@_reads("Det")
def _det(attributes: Attributes, x: Any) -> Any:
    return F.det(_tensor(x))


@_reads("Gemm")
def _gemm(attributes: Attributes, a: Any, b: Any, c: Any = None) -> Any:
    a, b, c = _tensor(a), _tensor(b), c if c is None else _tensor(c)
    transpose_a, transpose_b = bool(attributes.get("transA")), bool(attributes.get("transB"))
    alpha, beta = attributes.get("alpha", 1.0), attributes.get("beta", 1.0)
    if transpose_b and not transpose_a and alpha == beta == 1 and (c is None or c.ndim == 1):
        return F.linear(a, b, c, activation=None)
    product = F.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    product = product if alpha == 1 else product * alpha
    return product if c is None else product + (c if beta == 1 else c * beta)


@_reads("Einsum")
def _einsum(attributes: Attributes, *operands: Any) -> Any:
    terms, _, result = attributes["equation"].replace(" ", "").partition("->")
    _refuse_unless("->" in attributes["equation"], "Einsum without '->'")
    return F.einsum(*map(_tensor, operands), terms=tuple(terms.split(",")), result=result)


def _window(attributes: Attributes, kernel: Any) -> dict[str, tuple[int, ...]]:
    """Return strides, borders (before and after each axis in turn) and dilations."""
    count = len(kernel)
    _refuse_unless(count in (2, 3), f"of windows of {count} axes")
    _refuse_unless(
        attributes.get("auto_pad", "NOTSET") == "NOTSET" and not attributes.get("ceil_mode"),
        "of windows with auto_pad or ceil_mode",
    )
    ends = attributes.get("pads", [0] * 2 * count)
    pads = [end for pair in zip(ends[:count], ends[count:], strict=True) for end in pair]
    return {
        "stride": tuple(attributes.get("strides", [1] * count)),
        "pads": tuple(pads),
        "dilation": tuple(attributes.get("dilations", [1] * count)),
    }


def _shifted(output: Any, bias: Any) -> Any:
    if bias is None:
        return output
    return output + F.reshape(_tensor(bias), shape=(1, -1, *[1] * (output.ndim - 2)))


@_reads("Conv")
def _conv(attributes: Attributes, x: Any, weight: Any, bias: Any = None) -> Any:
    weight = _tensor(weight)
    kernel = weight.shape[2:]
    window = _window(attributes, kernel)
    result = getattr(F, f"conv{len(kernel)}d")(_tensor(x), weight, **window, group=attributes.get("group", 1))
    return _shifted(result, bias)


@_reads("ConvTranspose")
def _transposed_conv(attributes: Attributes, x: Any, weight: Any, bias: Any = None) -> Any:
    _refuse_unless("output_shape" not in attributes, "ConvTranspose with output_shape")
    x, weight = _tensor(x), _tensor(weight)
    kernel, group = weight.shape[2:], attributes.get("group", 1)
    window = _window(attributes, kernel)
    extra = attributes.get("output_padding", [0] * len(kernel))
    lengths = [
        s * (n - 1) + m + e * (k - 1) + 1 - before - after
        for s, n, m, e, k, before, after in zip(
            window["stride"],
            x.shape[2:],
            extra,
            window["dilation"],
            kernel,
            window["pads"][::2],
            window["pads"][1::2],
            strict=True,
        )
    ]
    shape = (x.shape[0], weight.shape[1] * group, *lengths)
    result = getattr(F, f"conv{len(kernel)}d_input_grad")(x, weight, shape=shape, **window, group=group)
    return _shifted(result, bias)


@_reads("MaxPool")
def _max_pool(attributes: Attributes, x: Any) -> Any:
    kernel = tuple(attributes["kernel_shape"])
    return getattr(F, f"max_pool{len(kernel)}d")(_tensor(x), kernel=kernel, **_window(attributes, kernel))[0]


@_reads("AveragePool")
def _avg_pool(attributes: Attributes, x: Any) -> Any:
    kernel = tuple(attributes["kernel_shape"])
    window = _window(attributes, kernel)
    counts_borders = attributes.get("count_include_pad") or not any(window["pads"])
    _refuse_unless(
        bool(counts_borders) and set(window.pop("dilation")) == {1}, "AveragePool that counts no borders, or dilated,"
    )
    return getattr(F, f"avg_pool{len(kernel)}d")(_tensor(x), kernel=kernel, **window)


@_reads("Col2Im")
def _col2im(attributes: Attributes, x: Any, size: Any, kernel: Any) -> Any:
    lengths = tuple(_static(kernel))
    return F.col2im(_tensor(x), size=tuple(_static(size)), kernel=lengths, **_window(attributes, lengths))


@_reads("BatchNormalization")
def _batch_norm(attributes: Attributes, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
    _refuse_unless(not attributes.get("training_mode"), "BatchNormalization in training mode")
    factor = _tensor(scale) * F.rsqrt(_tensor(variance) + attributes.get("epsilon", 1e-5))
    return F.affine_of_channels(_tensor(x), _tensor(mean), factor, _tensor(shift))


@_reads("LayerNormalization")
def _layer_norm(attributes: Attributes, x: Any, scale: Any, shift: Any = None) -> Any:
    x, scale = _tensor(x), _tensor(scale)
    shift = F.zeros_like(scale) if shift is None else _tensor(shift)
    axis = attributes.get("axis", -1)
    return F.layer_norm(x, scale, shift, begin_norm_axis=axis, epsilon=attributes.get("epsilon", 1e-5))[0]


@_reads("Softmax")
def _softmax(attributes: Attributes, x: Any) -> Any:
    return F.softmax(_tensor(x), axis=attributes.get("axis", -1))


@_reads("LogSoftmax")
def _log_softmax(attributes: Attributes, x: Any) -> Any:
    return F.log_softmax(_tensor(x), axis=attributes.get("axis", -1))


# Recurrent layers

_ORDERS = {"lstm": (0, 2, 3, 1), "gru": (1, 0, 2), "tanh": (0,), "relu": (0,)}
"""The engine's gates (i f g o; r z n) as indices into ONNX's (i o f c; z r h)."""


@_reads("LSTM")
def _lstm(attributes: Attributes, *inputs: Any) -> Any:
    _refuse_unless(len(inputs) < 8 or inputs[7] is None, "LSTM with peepholes")
    return _recurrent(attributes, "lstm", *inputs[:7])


@_reads("GRU")
def _gru(attributes: Attributes, *inputs: Any) -> Any:
    _refuse_unless(attributes.get("linear_before_reset") == 1, "GRU without linear_before_reset")
    return _recurrent(attributes, "gru", *inputs)


@_reads("RNN")
def _rnn(attributes: Attributes, *inputs: Any) -> Any:
    activations = attributes.get("activations", ["Tanh"])
    _refuse_unless(activations in (["Tanh"], ["Relu"]), "RNN with activations but Tanh or Relu")
    settings = {key: value for key, value in attributes.items() if key != "activations"}
    return _recurrent(settings, activations[0].lower(), *inputs)


def _recurrent(
    attributes: Attributes,
    kind: str,
    x: Any,
    w: Any,
    r: Any,
    bias: Any = None,
    lengths: Any = None,
    h0: Any = None,
    c0: Any = None,
) -> Any:
    direction = attributes.get("direction", "forward")
    _refuse_unless(direction in ("forward", "reverse"), "of recurrent layers in both directions at once")
    unsupported = {"activations", "activation_alpha", "activation_beta", "clip", "layout"}.intersection(attributes)
    _refuse_unless(not unsupported, f"of recurrent layers with {', '.join(sorted(unsupported))}")
    x = _tensor(x)
    steps, count, _ = x.shape
    size, order = attributes["hidden_size"], _ORDERS[kind]
    w_ih, w_hh = (_gates(part, order, size) for part in (w, r))
    b_ih = b_hh = None
    if bias is not None:
        flat = F.reshape(_tensor(bias), shape=(2, len(order) * size))
        b_ih, b_hh = (_gates(F.slice_axis(flat, axis=0, start=i, stop=i + 1), order, size) for i in range(2))
    keep = None
    if lengths is not None:
        is_valid = F.lt(_tensor(np.arange(steps)[:, None]), _tensor(lengths))
        keep = F.reshape(is_valid, shape=(steps, count, 1))
    states = [None if h is None else F.reshape(_tensor(h), shape=(count, size)) for h in (h0, c0)]
    zeros = _tensor(np.zeros((count, size), x._array.dtype))
    h0, c0 = (zeros if h is None else h for h in states)
    outputs = F.recurrent(
        x, h0, c0 if kind == "lstm" else None, w_ih, w_hh, b_ih, b_hh, keep, kind=kind, reverse=direction == "reverse"
    )
    final_states = [
        F.reshape(part, shape=(1, count, size)) for part in (outputs[1:3] if kind == "lstm" else outputs[1:2])
    ]
    return (F.reshape(outputs[0], shape=(steps, 1, count, size)), *final_states)


def _gates(weight: Any, order: tuple[int, ...], size: int) -> Tensor:
    """Return the gates in the engine's order, without the axis of directions."""
    weight = _tensor(weight)
    flat = F.reshape(weight, shape=weight.shape[1:])
    parts = [F.slice_axis(flat, axis=0, start=i * size, stop=(i + 1) * size) for i in order]
    gates: Tensor = F.concat(*parts, axis=0) if len(parts) > 1 else flat
    return gates
