"""Rules that write operators of the table as MindSpore Primitives.

A rule is called with the writer and the operator's operands, with Values in place of arrays. It writes steps with
``w(primitive, *inputs, **attributes)`` and returns the name of their result; for an operator that returns a tuple, a
name for each item, or None if no Primitive computes it. Inputs are in the order of MindSpore 2.10, whose Primitives
take settings after the tensors; those without a functional form (``CLASSES``) have them as attributes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compile.graph import Value
from ...tensors.dtype import dtype_of

if TYPE_CHECKING:
    from .writing import Name, Writer

__all__ = ["CLASSES", "RULES", "TYPE_CODES"]

Rule = Callable[..., Any]
Ints = tuple[int, ...]

RULES: dict[str, Rule] = {}
"""Rules by the operator's name."""

CLASSES = frozenset(
    (
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
        "Conv2D",
        "Conv3D",
        "Depend",
        "IsNan",
        "Lgamma",
        "MakeTuple",
        "MaxPool",
        "PadV3",
        "TupleGetItem",
        "make_list",
    )
)
"""Primitives that a file contains as classes with attributes, not as functions."""

TYPE_CODES = {
    "Bool": 30,
    "Int8": 32,
    "Int16": 33,
    "Int32": 34,
    "Int64": 35,
    "UInt8": 37,
    "UInt16": 38,
    "UInt32": 39,
    "UInt64": 40,
    "Float16": 42,
    "Float32": 43,
    "Float64": 44,
    "BFloat16": 45,
    "Complex64": 51,
    "Complex128": 52,
}
"""Codes of dtypes as inputs of Primitives."""


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def added(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return added


def _code(dtype: np.dtype[Any]) -> int:
    return TYPE_CODES[dtype_of(dtype).name]


def _as(w: Writer, x: Any, dtype: np.dtype[Any]) -> Any:
    """Return an operand in an element type: a number becomes a tensor without axes."""
    if not isinstance(x, Value):
        return np.asarray(x, dtype)
    return x if x.dtype == dtype else w("Cast", x, _code(dtype))


# Elementwise


def _unary_rule(primitive: str) -> Rule:
    return lambda w, x: w(primitive, x)


def _binary_rule(primitive: str) -> Rule:
    def rule(w: Writer, x: Any, y: Any) -> Name:
        dtype = w.output.dtype
        if dtype == np.bool_:
            dtype = np.result_type(*[v.dtype if isinstance(v, Value) else v for v in (x, y)])
        return w(primitive, _as(w, x, dtype), _as(w, y, dtype))

    return rule


_UNARY = {
    "abs": "Abs",
    "acos": "ACos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "ceil": "Ceil",
    "cos": "Cos",
    "cosh": "Cosh",
    "erf": "Erf",
    "erfc": "Erfc",
    "exp": "Exp",
    "expm1": "Expm1",
    "floor": "Floor",
    "isfinite": "IsFinite",
    "isinf": "IsInf",
    "isnan": "IsNan",
    "lgamma": "Lgamma",
    "log": "Log",
    "log1p": "Log1p",
    "logical_not": "LogicalNot",
    "neg": "Neg",
    "reciprocal": "Reciprocal",
    "relu": "ReLU",
    "rsqrt": "Rsqrt",
    "sigmoid": "Sigmoid",
    "sign": "Sign",
    "silu": "SiLU",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "square": "Square",
    "tan": "Tan",
    "tanh": "Tanh",
    "trunc": "Trunc",
}
_BINARY = {
    "add": "Add",
    "atan2": "Atan2",
    "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor",
    "div": "Div",
    "eq": "Equal",
    "floor_divide": "FloorDiv",
    "ge": "GreaterEqual",
    "gt": "Greater",
    "le": "LessEqual",
    "logical_and": "LogicalAnd",
    "logical_or": "LogicalOr",
    "logical_xor": "LogicalXor",
    "lt": "Less",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "mul": "Mul",
    "ne": "NotEqual",
    "pow": "Pow",
    "remainder": "FloorMod",
    "sub": "Sub",
}
RULES.update({name: _unary_rule(primitive) for name, primitive in _UNARY.items()})
RULES.update({name: _binary_rule(primitive) for name, primitive in _BINARY.items()})


@_rule("contiguous", "deepcopy", "identity", "stop_gradient")
def _same(w: Writer, x: Value) -> Name:
    return w.name(x)


@_rule("round")
def _round(w: Writer, x: Value) -> Name:
    return w("Round", x, 0)


@_rule("cast")
def _cast(w: Writer, x: Value, dtype: np.dtype[Any]) -> Name:
    return w("Cast", x, _code(np.dtype(dtype)))


@_rule("gelu")
def _gelu(w: Writer, x: Any, approximate: str) -> Name:
    if approximate == "tanh":
        return w("GeLU", x)
    dtype = w.output.dtype
    part = w("Erf", w("Mul", x, np.asarray(math.sqrt(0.5), dtype)))
    return w("Mul", w("Mul", x, np.asarray(0.5, dtype)), w("Add", part, np.asarray(1, dtype)))


@_rule("where")
def _where(w: Writer, condition: Value, x: Any, y: Any) -> Name:
    shape, dtype = w.output.shape, w.output.dtype
    parts = []
    for part in (_as(w, condition, np.dtype(np.bool_)), _as(w, x, dtype), _as(w, y, dtype)):
        part_shape = getattr(part, "shape", shape)
        parts.append(part if part_shape == shape else w("BroadcastTo", part, shape))
    return w("Select", *parts)


@_rule("zeros_like")
def _zeros_like(w: Writer, x: Value) -> Name:
    return w.constant(np.zeros(x.shape, x.dtype))


# Reductions along axes


def _along(primitive: str, *behind: Any) -> Rule:
    def rule(w: Writer, x: Value, axis: Any, keepdims: bool) -> Name:
        axes = axis if isinstance(axis, tuple) else () if axis is None else (axis,)
        return w(primitive, x, axes if axes or axis is None else tuple(range(len(x.shape))), keepdims, *behind)

    return rule


RULES.update(
    all=_along("ReduceAll"),
    any=_along("ReduceAny"),
    amax=_along("ReduceMax"),
    amin=_along("ReduceMin"),
    mean=_along("ReduceMean"),
    prod=_along("ReduceProd"),
    sum=_along("ReduceSum", False),
)


def _place_of(primitive: str) -> Rule:
    def rule(w: Writer, x: Value, axis: int | None, keepdims: bool) -> Name:
        flat = w("Reshape", x, (math.prod(x.shape),)) if axis is None else x
        positions = w(primitive, flat, 0 if axis is None else axis, TYPE_CODES["Int64"])
        return w("Reshape", positions, w.output.shape) if keepdims else positions

    return rule


RULES.update(argmax=_place_of("Argmax"), argmin=_place_of("Argmin"))


def _value_and_place(primitive: str) -> Rule:
    def rule(w: Writer, x: Value, axis: int, keepdims: bool) -> tuple[Name, Name]:
        pair = w(primitive, x, axis, keepdims)
        positions = w("Cast", w("TupleGetItem", pair, 0), TYPE_CODES["Int64"])
        return w("TupleGetItem", pair, 1), positions

    return rule


RULES.update(max_along=_value_and_place("ArgMaxWithValue"), min_along=_value_and_place("ArgMinWithValue"))


@_rule("cumsum")
def _cumsum(w: Writer, x: Value, axis: int) -> Name:
    return w("CumSum", x, axis, False, False)


@_rule("cumprod")
def _cumprod(w: Writer, x: Value, axis: int) -> Name:
    return w("CumProd", x, axis, False, False)


@_rule("softmax")
def _softmax(w: Writer, x: Any, axis: int) -> Name:
    return w("Softmax", x, (axis,))


@_rule("log_softmax")
def _log_softmax(w: Writer, x: Value, axis: int) -> Name:
    return w("LogSoftmax", x, axis)


# Shapes


@_rule("reshape")
def _reshape(w: Writer, x: Value, shape: Any) -> Name:
    target = w.output.shape
    if len(target) == 2 and len(x.shape) > 2 and target[0] == x.shape[0] and target[0]:
        return w("Flatten", x)  # Flatten also accepts other batch sizes
    return w("Reshape", x, target)


@_rule("broadcast_to")
def _broadcast_to(w: Writer, x: Value, shape: Any) -> Name:
    return w("BroadcastTo", x, w.output.shape)


@_rule("transpose")
def _transpose(w: Writer, x: Value, axes: Any) -> Name:
    return w("Transpose", x, tuple(axes) if axes is not None else tuple(range(len(x.shape)))[::-1])


@_rule("concat")
def _concat(w: Writer, *parts: Value, axis: int) -> Name:
    return w("Concat", w("MakeTuple", *[_as(w, part, w.output.dtype) for part in parts]), axis)


@_rule("flip")
def _flip(w: Writer, x: Value, axes: Any) -> Name:
    return w("ReverseV2", x, tuple(axes))


def _sliced(w: Writer, x: Any, begin: Any, end: Any, step: Any) -> Name:
    return w("StridedSlice", x, begin, end, step, 0, 0, 0, 0, 0)


@_rule("slice_axis")
def _slice_axis(w: Writer, x: Value, axis: int, start: int, stop: int) -> Name:
    begin, end = [0] * len(x.shape), list(x.shape)
    begin[axis], end[axis] = start, stop
    return _sliced(w, x, tuple(begin), tuple(end), (1,) * len(x.shape))


@_rule("parts")
def _parts(w: Writer, x: Value, axis: int, sizes: tuple[int, ...]) -> tuple[Name, ...]:
    ends = list(accumulate(sizes))
    return tuple([_slice_axis(w, x, axis, end - size, end) for size, end in zip(sizes, ends, strict=True)])


@_rule("getitem")
def _getitem(w: Writer, x: Value, index: Any) -> Name:
    parts = list(index) if isinstance(index, tuple) else [index]
    consumed = sum(part is not None and part is not Ellipsis for part in parts)
    ellipsis_at = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    parts[ellipsis_at : ellipsis_at + 1] = [slice(None)] * (len(x.shape) - consumed)
    arrays = [part for part in parts if not isinstance(part, slice | int) and part is not None]
    if len(arrays) == 1 and all(part is arrays[0] or part == slice(None) for part in parts):
        return _gathered(w, x, arrays[0], parts.index(arrays[0]))
    if arrays:
        raise w.refused("an index of several tensors, or of tensors and slices,")
    spans = [
        (part % length, part % length + 1, 1) if isinstance(part, int) else part.indices(length)
        for part, length in zip([part for part in parts if part is not None], x.shape, strict=True)
    ]
    # Reversed axes replace negative steps: MindSpore's kernel returns wrong elements for some of those.
    reversed_axes = tuple([axis for axis, (_, _, step) in enumerate(spans) if step < 0])
    source: Any = w("ReverseV2", x, reversed_axes) if reversed_axes else x
    for axis in reversed_axes:
        begin, end, step = spans[axis]
        first, count = x.shape[axis] - 1 - begin, len(range(begin, end, step))
        spans[axis] = first, first + (count - 1) * -step + 1 if count else first, -step
    if not spans:
        return w("Reshape", x, w.output.shape)
    is_full = all(span == (0, length, 1) for span, length in zip(spans, x.shape, strict=True))
    result: Any = source if is_full else _sliced(w, source, *zip(*spans, strict=True))
    if any(part is None or isinstance(part, int) for part in parts):
        return w("Reshape", result, w.output.shape)
    return w.name(result) if isinstance(result, Value) else result


def _gathered(w: Writer, x: Value, indices: Any, axis: int) -> Name:
    if not isinstance(indices, Value):
        indices = np.asarray(indices)
        if indices.dtype.kind not in "iu":
            raise w.refused("an index of bools")
        return w("Gather", x, indices % x.shape[axis], axis, 0)
    if indices.dtype.kind not in "iu":
        raise w.refused("an index of bools")
    # Gather returns zeros for negative indices.
    length = np.asarray(x.shape[axis], indices.dtype)
    return w("Gather", x, w("FloorMod", indices, length), axis, 0)


def _padded(w: Writer, x: Any, widths: Any, mode: str, value: float) -> Name:
    flat = tuple(int(n) for before, after in reversed(list(widths)) for n in (before, after))
    fill = (np.asarray(value, w.output.dtype),) if mode == "constant" else ()
    return w("PadV3", x, flat, *fill, mode=mode, paddings_contiguous=True)


@_rule("pad")
def _pad(w: Writer, x: Value, widths: Any, mode: str, value: float) -> Name:
    names = {"constant": "constant", "reflect": "reflect", "edge": "edge", "replicate": "edge"}
    if mode not in names:
        raise w.refused(f"the mode {mode!r}")
    if mode == "constant":
        return _padded(w, x, widths, mode, value)
    # These modes require sample and channel axes before the padded ones.
    widths = list(widths)
    while len(widths) > 1 and tuple(widths[0]) == (0, 0):
        del widths[0]
    split = len(x.shape) - len(widths)
    flat = w("Reshape", x, (1, math.prod(x.shape[:split]), *x.shape[split:]))
    return w("Reshape", _padded(w, flat, widths, names[mode], value), w.output.shape)


@_rule("pad_axis")
def _pad_axis(w: Writer, x: Value, axis: int, before: int, after: int) -> Name:
    widths = [(0, 0)] * len(x.shape)
    widths[axis] = (before, after)
    return _padded(w, x, widths, "constant", 0)


# Products


@_rule("matmul")
def _matmul(w: Writer, a: Value, b: Value, transpose_a: bool, transpose_b: bool) -> Name:
    x, y = _as(w, a, w.output.dtype), _as(w, b, w.output.dtype)
    if len(a.shape) == len(b.shape) == 2:
        return w("MatMul", x, y, transpose_a, transpose_b)
    if a.shape[:-2] == b.shape[:-2] and len(a.shape) > 2:
        return w("BatchMatMul", x, y, transpose_a, transpose_b)
    return w(
        "MatMulExt",
        _turned(w, x, len(a.shape)) if transpose_a else x,
        _turned(w, y, len(b.shape)) if transpose_b else y,
    )


def _turned(w: Writer, x: Any, rank: int) -> Name:
    return w("Transpose", x, (*range(rank - 2), rank - 1, rank - 2))


_ACTIVATIONS = {"relu": "ReLU", "gelu_tanh": "GeLU", "silu": "SiLU", "sigmoid": "Sigmoid", "tanh": "Tanh"}


@_rule("linear")
def _linear(w: Writer, x: Value, weight: Value, bias: Value | None, activation: str | None) -> Name:
    shape = w.output.shape
    flat: Any = x if len(shape) == 2 else w("Reshape", x, (math.prod(x.shape[:-1]), x.shape[-1]))
    result = w("MatMul", flat, weight, False, True)
    if bias is not None:
        result = w("BiasAdd", result, bias, 0)
    if len(shape) != 2:
        result = w("Reshape", result, shape)
    if activation == "gelu":
        return _gelu(w, result, "none")
    return result if activation is None else w(_ACTIVATIONS[activation], result)


@_rule("attention")
def _attention(w: Writer, q: Value, k: Value, v: Value, mask: Value | None, scale: float) -> tuple[Name, None]:
    dtype = w.output.dtype
    keys = w("Transpose", k, (*range(len(k.shape) - 2), len(k.shape) - 1, len(k.shape) - 2))
    scores = w("MatMulExt", w("Mul", q, np.asarray(scale, dtype)), keys)
    if mask is not None:
        scores = w("Add", scores, _as(w, mask, dtype))
    return w("MatMulExt", w("Softmax", scores, (-1,)), v), None


def _convolved(w: Writer, x: Value, weight: Value, stride: Ints, pads: Ints, dilation: Ints, group: int) -> Name:
    settings: dict[str, Any] = {"stride": (1, 1, *stride), "dilation": (1, 1, *dilation), "format": "NCHW"}
    if len(stride) == 3:
        settings = {"strides": settings["stride"], "dilations": settings["dilation"], "offset_x": 0, "format": "NCDHW"}
        settings |= {"stride": tuple(stride), "dilation": tuple(dilation)}
    return w(
        f"Conv{len(stride)}D",
        x,
        weight,
        out_channel=weight.shape[0],
        kernel_size=tuple(weight.shape[2:]),
        mode=1,
        pad_mode="pad",
        pad=tuple(pads),
        pad_list=tuple(pads),
        group=group,
        groups=group,
        **settings,
    )


RULES["conv2d"] = RULES["conv3d"] = _convolved


@_rule("conv2d_bias")
def _convolved_with_bias(w: Writer, x: Value, weight: Value, bias: Value, **how: Any) -> Name:
    return w("BiasAdd", _convolved(w, x, weight, **how), bias, 0)


# Windows


def _around(w: Writer, x: Value, pads: Ints, value: float) -> Any:
    if not any(pads):
        return x
    return _padded(w, x, [(0, 0), (0, 0), *zip(pads[::2], pads[1::2], strict=True)], "constant", value)


@_rule("max_pool2d")
def _max_pool2d(w: Writer, x: Value, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints) -> tuple[Name, None]:
    if set(dilation) != {1}:
        raise w.refused("a dilation")
    padded = _around(w, x, pads, -math.inf)
    settings = {"kernel_size": (1, 1, *kernel), "strides": (1, 1, *stride), "pad_mode": "VALID", "format": "NCHW"}
    return w("MaxPool", padded, **settings), None


@_rule("avg_pool2d")
def _avg_pool2d(w: Writer, x: Value, kernel: Ints, stride: Ints, pads: Ints) -> Name:
    return w("AvgPool", _around(w, x, pads, 0), tuple(kernel), tuple(stride), 2, 0)


# Normalization


@_rule("layer_norm")
def _layer_norm(
    w: Writer, x: Value, gamma: Value, beta: Value, begin_norm_axis: int, epsilon: float
) -> tuple[Name, None, None]:
    outputs = w("LayerNorm", x, gamma, beta, begin_norm_axis, len(x.shape) - len(gamma.shape), float(epsilon))
    return w("TupleGetItem", outputs, 0), None, None


@_rule("rms_norm")
def _rms_norm(w: Writer, x: Value, gamma: Value, epsilon: float) -> tuple[Name, Name]:
    # MindSpore supports RmsNorm only on Ascend.
    dtype = np.dtype(np.float32) if x.dtype.itemsize == 2 else x.dtype
    wide = _as(w, x, dtype)
    axes = tuple(range(len(x.shape) - len(gamma.shape), len(x.shape)))
    rstd = w("Rsqrt", w("Add", w("ReduceMean", w("Square", wide), axes, True), np.asarray(epsilon, dtype)))
    y = w("Mul", w("Mul", wide, rstd), _as(w, gamma, dtype))
    return y if x.dtype == dtype else w("Cast", y, _code(x.dtype)), rstd


@_rule("affine_of_channels")
def _affine_of_channels(w: Writer, x: Value, mean: Value, scale: Value, shift: Value) -> Name:
    """Write (x - mean) * scale + shift: a BatchNorm if the scale is gamma / sqrt(variance + epsilon)."""
    factors = _variance_of(w, scale)
    if factors is not None:
        gamma, variance, epsilon = factors
        outputs = w("BatchNorm", x, gamma, shift, mean, variance, False, epsilon, 0.1, 0)
        return w("TupleGetItem", outputs, 0)
    channel_shape = (1, mean.shape[0], *[1] * (len(x.shape) - 2))
    m, s, b = (w("Reshape", part, channel_shape) for part in (mean, scale, shift))
    return w("Add", w("Mul", w("Sub", x, m), s), b)


def _variance_of(w: Writer, scale: Value) -> tuple[Value, Value, float] | None:
    product = w.maker(scale, "mul")
    root = w.maker(product.inputs[1], "rsqrt") if product else None
    total = w.maker(root.inputs[0], "add") if root else None
    if product is None or total is None:
        return None
    gamma, (variance, epsilon) = product.inputs[0], total.inputs
    if not isinstance(gamma, Value) or not isinstance(variance, Value) or not isinstance(epsilon, float):
        return None
    return gamma, variance, epsilon
