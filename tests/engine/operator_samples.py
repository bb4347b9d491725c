"""For each operator: what it computes, in plain Python or NumPy, and the inputs it is tried on.

Here are arithmetic, shape, reductions and layers; the other modules ``operator_samples_*`` hold the rest. An operator
of the table without a row fails test_operators.py.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import window_references as windows

from hookscope.engine.tensors.operator import OPERATORS

__all__ = ["ROWS", "Row", "Sample"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Sample:
    """Operands in order (float64 arrays have gradients, everything else has none) and attributes."""

    operands: tuple[Any, ...]
    attrs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """An operator's definition: ``reference`` takes a sample's operands and attributes and returns its first output."""

    reference: Callable[..., Any]
    samples: list[Sample]
    complex: bool = False
    """True if inputs or outputs are complex; other tests then take central differences."""
    symmetric: bool = False
    """True if the operand is a symmetric matrix, so that the gradient is symmetric, too."""
    refused: bool = False
    """True if a request for a gradient is an error (test_decompositions.py)."""


_numbers = np.random.default_rng(20)


def normal(*shape: int) -> Array:
    return np.asarray(_numbers.standard_normal(shape))


def positive(*shape: int) -> Array:
    return np.asarray(_numbers.uniform(0.3, 2.0, shape))


def between_integers(*shape: int) -> Array:
    """Return numbers of both signs at which neither a sign nor a rounding changes."""
    return np.asarray(_numbers.integers(-3, 3, shape) + _numbers.uniform(0.15, 0.45, shape))


def distinct(*shape: int) -> Array:
    """Return numbers far enough apart that the largest stays the largest."""
    return _numbers.permutation(math.prod(shape)).reshape(shape) * 0.37 - 1.0


SHAPES = ((), (5,), (2, 3), (0,), (2, 0, 3))
PAIRS = (((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 1)), ((), (2, 2)), ((1,), (0,)), ((2, 3), ()))


def unary(function: Callable[[float], float], draw: Callable[..., Array] = normal, **attrs: Any) -> Row:
    """Return a function of one number, tried on all SHAPES."""
    reference = np.vectorize(function, otypes=[np.float64])
    return Row(lambda x, **_: reference(x), [Sample((draw(*shape),), attrs) for shape in SHAPES])


def binary(function: Callable[[float, float], float], draw: Callable[..., Array] = normal) -> Row:
    """Return a function of two numbers, tried on all PAIRS of shapes and with a Python number on either side."""
    samples = [Sample((draw(*a), draw(*b))) for a, b in PAIRS]
    samples += [Sample((draw(2, 2), 1.7)), Sample((1.7, draw(2, 2)))]
    return Row(np.vectorize(function, otypes=[np.float64]), samples)


def slope(function: Callable[[float, float], float], draw: Callable[..., Array] = normal, **attrs: Any) -> Row:
    """Return a gradient operator: ``function(g, y)`` on two tensors of one shape."""
    reference = np.vectorize(function, otypes=[np.float64])
    return Row(lambda g, y, **_: reference(g, y), [Sample((normal(*s), draw(*s)), attrs) for s in SHAPES])


def along(function: Callable[..., Any], *sets: dict[str, Any], draw: Callable[..., Array] = normal) -> Row:
    """Return a function of one (2, 3, 2) tensor and attributes."""
    return Row(function, [Sample((draw(2, 3, 2),), attrs) for attrs in sets])


def sigmoid(v: float) -> float:
    return 1 / (1 + math.exp(-v))


def gelu(v: float) -> float:
    return v * 0.5 * (1 + math.erf(v / math.sqrt(2)))


def gelu_tanh(v: float) -> float:
    return v * 0.5 * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))


def derivative(function: Callable[[float], float]) -> Callable[[float, float], float]:
    """Return g times the slope of ``function``, by Richardson's extrapolation of two central differences."""

    def difference(x: float, step: float) -> float:
        return (function(x + step) - function(x - step)) / (2 * step)

    return lambda g, x: g * (4 * difference(x, 1e-4) - difference(x, 2e-4)) / 3


def softmax(x: Array, axis: int) -> Array:
    powers = np.exp(x)
    return powers / powers.sum(axis, keepdims=True)


def log_softmax(x: Array, axis: int) -> Array:
    return np.log(softmax(x, axis))


def sum_to(x: Array, shape: tuple[int, ...]) -> Array:
    out = np.zeros(shape)
    for index, value in np.ndenumerate(x):
        kept = index[x.ndim - len(shape) :]
        out[tuple(0 if n == 1 else i for i, n in zip(kept, shape, strict=True))] += value
    return out


def written(x: Array, value: Any, index: Any) -> Array:
    out = x.copy()
    out[index] = value
    return out


def scattered(g: Array, index: Any, shape: tuple[int, ...]) -> Array:
    indices = np.arange(math.prod(shape)).reshape(shape)[index]
    out = np.zeros(math.prod(shape))
    for position, value in zip(indices.ravel(), g.ravel(), strict=True):
        out[position] += value
    return out.reshape(shape)


def picked(x: Array, indices: Array, kernel: Any, stride: Any, pads: Any, dilation: Any) -> Array:
    padded = np.pad(x, ((0, 0), (0, 0), pads[:2], pads[2:]))
    out = np.zeros(indices.shape)
    for n, c, i, j in np.ndindex(indices.shape):
        a, b = divmod(int(indices[n, c, i, j]), kernel[1])
        out[n, c, i, j] = padded[n, c, i * stride[0] + a * dilation[0], j * stride[1] + b * dilation[1]]
    return out


def transposed(
    function: Callable[..., Array], shape: tuple[int, ...], *arguments: Any, **how: Any
) -> Callable[..., Any]:
    """Return the transpose of a linear function, from its values on every unit vector."""

    def back(g: Array) -> Array:
        out = np.zeros(shape)
        for index in np.ndindex(shape):
            unit = np.zeros(shape)
            unit[index] = 1.0
            out[index] = (function(unit, *arguments, **how) * g).sum()
        return out

    return back


def rms_norm(x: Array, gamma: Array, epsilon: float) -> Array:
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    return np.asarray(x / np.sqrt(np.mean(x * x, axes, keepdims=True) + epsilon) * gamma)


def layer_norm(x: Array, gamma: Array, beta: Array, begin_norm_axis: int, epsilon: float) -> Array:
    axes = tuple(range(begin_norm_axis, x.ndim))
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(var + epsilon) * gamma + beta


def batch_norm(x: Array, gamma: Array, beta: Array, epsilon: float) -> Array:
    out = np.empty_like(x)
    for c in range(x.shape[1]):
        channel = x[:, c]
        out[:, c] = (channel - channel.mean()) / math.sqrt(channel.var() + epsilon) * gamma[c] + beta[c]
    return out


def linear(x: Array, weight: Array, bias: Array | None, activation: str | None) -> Array:
    y = np.einsum("...k,nk->...n", x, weight) + (0.0 if bias is None else bias)
    functions: dict[str | None, Callable[[float], float]] = {
        None: float,
        "relu": lambda v: max(v, 0.0),
        "gelu": gelu,
        "gelu_tanh": gelu_tanh,
        "silu": lambda v: v * sigmoid(v),
        "sigmoid": sigmoid,
        "tanh": math.tanh,
    }
    return np.vectorize(functions[activation], otypes=[np.float64])(y)


def cross_entropy(logits: Array, labels: Array, ignore_index: int) -> Array:
    losses = [
        0.0 if label == ignore_index else math.log(sum(math.exp(v) for v in row)) - row[label]
        for row, label in zip(logits, labels, strict=True)
    ]
    return np.array(losses)


def kept_by_mask(g: Array, mask: Array, p: float) -> Array:
    return np.array([v / (1 - p) if m else 0.0 for v, m in zip(g.ravel(), mask.ravel(), strict=True)]).reshape(g.shape)


# Conv and pooling: (stride, pads, dilation, group) that differ by axis, so that no two can be mistaken.
PLAIN = {"stride": (1, 1), "pads": (0, 0, 0, 0), "dilation": (1, 1), "group": 1}
UNEVEN = {"stride": (2, 1), "pads": (1, 0, 2, 1), "dilation": (1, 2), "group": 2}
POOL = {"kernel": (2, 3), "stride": (2, 1), "pads": (1, 0, 0, 1)}
DILATED = {**POOL, "dilation": (2, 1)}


def conv_shapes(how: dict[str, Any]) -> tuple[Array, Array, Array]:
    """Return an input, a kernel, and a gradient of the output's shape."""
    x, weight = normal(2, 2, 4, 5), normal(2, 2 // how["group"], 2, 2)
    return x, weight, normal(*windows.conv2d(x, weight, **how).shape)


def _conv_rows() -> dict[str, Row]:
    forward, biased, inputs, weights = [], [], [], []
    for how in (PLAIN, UNEVEN):
        x, weight, g = conv_shapes(how)
        forward.append(Sample((x, weight), how))
        biased.append(Sample((x, weight, normal(2)), how))
        inputs.append(Sample((g, weight), {"shape": x.shape, **how}))
        weights.append(Sample((g, x), {"kernel": (2, 2), **how}))

    def input_grad(g: Array, weight: Array, shape: Any, **how: Any) -> Array:
        return transposed(lambda x: windows.conv2d(x, weight, **how), shape)(g)

    def weight_grad(g: Array, x: Array, kernel: Any, **how: Any) -> Array:
        shape = (g.shape[1], x.shape[1] // how["group"], *kernel)
        return transposed(lambda w: windows.conv2d(x, w, **how), shape)(g)

    return {
        "conv2d": Row(windows.conv2d, forward),
        "conv2d_bias": Row(lambda x, weight, b, **how: windows.conv2d(x, weight, **how) + b[:, None, None], biased),
        "conv2d_input_grad": Row(input_grad, inputs),
        "conv2d_weight_grad": Row(weight_grad, weights),
    }


def _pool_rows() -> dict[str, Row]:
    shape = (1, 2, 4, 4)
    pooled = windows.max_pool2d(np.zeros(shape), **DILATED).shape
    indices = _numbers.integers(0, 6, pooled).astype(np.int32)
    averaged = windows.avg_pool2d(np.zeros(shape), **POOL).shape

    def max_grad(g: Array, indices: Array, shape: Any, **how: Any) -> Array:
        return transposed(picked, shape, indices, **how)(g)

    def avg_grad(g: Array, shape: Any, **how: Any) -> Array:
        return transposed(windows.avg_pool2d, shape, **how)(g)

    return {
        "max_pool2d": Row(windows.max_pool2d, [Sample((distinct(*shape),), DILATED)]),
        "max_pool2d_grad": Row(max_grad, [Sample((normal(*pooled), indices), {"shape": shape, **DILATED})]),
        "max_pool2d_pick": Row(picked, [Sample((normal(*shape), indices), DILATED)]),
        "avg_pool2d": Row(windows.avg_pool2d, [Sample((normal(*shape),), POOL)]),
        "avg_pool2d_grad": Row(avg_grad, [Sample((normal(*averaged),), {"shape": shape, **POOL})]),
    }


def _matmul_rows() -> dict[str, Row]:
    def product(a: Array, b: Array, transpose_a: bool, transpose_b: bool) -> Array:
        return np.matmul(a.swapaxes(-1, -2) if transpose_a else a, b.swapaxes(-1, -2) if transpose_b else b)

    shapes = [
        ((2, 3), (3, 4), False, False),
        ((3, 2), (3, 4), True, False),
        ((2, 3), (4, 3), False, True),
        ((3, 2), (4, 3), True, True),
        ((3,), (3,), False, False),
        ((2, 3), (3,), False, False),
        ((3,), (3, 2), False, False),
        ((2, 1, 2, 3), (3, 3, 2), False, False),
        ((2, 2, 3), (3,), False, False),
        ((3,), (2, 3, 2), False, False),
        ((0, 3), (3, 2), False, False),
        ((2, 0), (0, 2), False, False),
    ]
    samples = [Sample((normal(*a), normal(*b)), {"transpose_a": ta, "transpose_b": tb}) for a, b, ta, tb in shapes]
    names = (None, "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh")
    layers = [Sample((normal(2, 3), normal(4, 3), normal(4)), {"activation": name}) for name in names]
    layers += [Sample((normal(2, 2, 3), normal(4, 3), None), {"activation": None})]
    layers += [Sample((normal(3), normal(4, 3), normal(4)), {"activation": None})]
    layers += [Sample((normal(0, 3), normal(4, 3), normal(4)), {"activation": None})]
    weights = normal(3, 4) * (np.arange(12).reshape(3, 4) % 3 > 0)
    sums = [
        Sample((normal(*shape),), {"weights": weights, "axis": axis})
        for shape, axis in (((2, 3), 1), ((2, 3, 5), 1), ((3,), 0), ((0, 3), 1))
    ]

    def summed(x: Array, weights: Array, axis: int) -> Array:
        return np.moveaxis(np.tensordot(x, weights, ((axis,), (0,))), -1, axis)

    return {"matmul": Row(product, samples), "linear": Row(linear, layers), "weighted_sums": Row(summed, sums)}


AXES: tuple[dict[str, Any], ...] = tuple(
    {"axis": axis, "keepdims": keep} for axis in (None, (1,), (0, 2)) for keep in (False, True)
)
ONE_AXIS: tuple[dict[str, Any], ...] = tuple(
    {"axis": axis, "keepdims": keep} for axis in (0, 1) for keep in (False, True)
)
LABELS = np.array([2, 0, -100, 1])
MASK = np.array([[True, False, True], [False, True, True]])
INDEXES: tuple[Any, ...] = (
    1,
    slice(None, None, 2),
    (Ellipsis, 0),
    (None, 1),
    np.array([0, 0, 1]),
    (0, np.array([2, 2])),
)


def dropout_kept(x: Array, p: float, seed: int, offset: int) -> Array:
    """Return a mask by the documented rule: element i stays if word i % 4 of counter i // 4 is at least p."""
    from hookscope.engine.cpu.arrays.philox import philox4x32

    counters = [(offset + i // 4, 0, 0, 0) for i in range(x.size)]
    words = [philox4x32([np.array([part], np.uint64) for part in counter], (seed, 0)) for counter in counters]
    drawn = np.array([int(four[i % 4][0].astype(np.uint32).view(np.int32)) for i, four in enumerate(words)])
    return (np.where(drawn < 0, -1 - drawn, drawn) / 2**31 >= p).reshape(x.shape)


def dropped(x: Array, p: float, seed: int, offset: int) -> Array:
    return kept_by_mask(x, dropout_kept(x, p, seed, offset), p)


def channels_dropped(x: Array, keep_prob: float, seed: int, offset: int) -> Array:
    ones = dropped(np.ones(x.shape[:2]), 1 - keep_prob, seed, offset)
    return x * ones[:, :, None, None]


def written_through(root: Array, new: Array, steps: Any) -> Array:
    """Return the array after a write through views; the elements' numbers tell which ones the steps lead to."""
    indices = np.arange(root.size).reshape(root.shape)
    for step, attrs in steps:
        indices = step.kernel(indices, **attrs)
    changed = root.ravel().copy()
    changed[indices.ravel()] = new.ravel()
    return changed.reshape(root.shape)


ALONE = {"group": "mccl_world_group"}


def of_one_process(**settings: Any) -> Row:
    """Return a collective, which gives one process its own values."""
    return Row(lambda x, **_: x, [Sample((normal(3, 2),), {**settings, **ALONE})])


ROWS: dict[str, Row] = {
    # Collectives; tests/engine/distributed has those of several ranks.
    "all_reduce": Row(
        lambda x, **_: x,
        [Sample((normal(3, 2) + 3,), {"op": op, **ALONE}) for op in ("sum", "prod", "max", "min", "avg")],
    ),
    "all_gather": of_one_process(),
    "reduce_scatter": Row(
        lambda x, **_: x,
        [Sample((normal(3, 2) + 3,), {"op": op, **ALONE}) for op in ("sum", "prod", "max", "min", "avg")],
    ),
    "broadcast": of_one_process(root=0),
    "reduce": Row(
        lambda x, **_: x,
        [Sample((normal(3, 2) + 3,), {"root": 0, "op": op, **ALONE}) for op in ("sum", "prod", "max", "min", "avg")],
    ),
    "gather_from_ranks": of_one_process(root=0),
    "scatter_to_ranks": of_one_process(root=0),
    "all_to_all": of_one_process(split_axis=0, concat_axis=1),
    "all_to_all_v": Row(lambda x, **_: x, [Sample((normal(4),), {"sent": (4,), "received": (4,), **ALONE})]),
    # Functions of one number.
    "neg": unary(operator.neg),
    "abs": unary(abs, between_integers),
    "sign": unary(lambda v: math.copysign(1.0, v), between_integers),
    "square": unary(lambda v: v * v),
    "exp": unary(math.exp),
    "expm1": unary(math.expm1),
    "log": unary(math.log, positive),
    "log1p": unary(math.log1p, positive),
    "log2": unary(math.log2, positive),
    "sqrt": unary(math.sqrt, positive),
    "rsqrt": unary(lambda v: v**-0.5, positive),
    "reciprocal": unary(lambda v: 1 / v, positive),
    "sin": unary(math.sin),
    "cos": unary(math.cos),
    "tan": unary(math.tan, lambda *shape: np.asarray(positive(*shape) * 0.6)),
    "sinh": unary(math.sinh),
    "cosh": unary(math.cosh),
    "erf": unary(math.erf),
    "erfc": unary(math.erfc),
    "floor": unary(math.floor, between_integers),
    "ceil": unary(math.ceil, between_integers),
    "round": unary(round, between_integers),
    "trunc": unary(math.trunc, between_integers),
    "relu": unary(lambda v: max(v, 0.0), between_integers),
    "sigmoid": unary(sigmoid),
    "tanh": unary(math.tanh),
    "silu": unary(lambda v: v * sigmoid(v)),
    "identity": unary(float),
    "deepcopy": unary(float),
    "contiguous": unary(float),
    "move_to": Row(lambda x, to: x, [Sample((normal(2, 3),), {"to": "CPU"})]),
    "relu_grad": slope(lambda g, y: g if y > 0 else 0.0, between_integers),
    "sigmoid_grad": slope(lambda g, y: g * y * (1 - y)),
    "tanh_grad": slope(lambda g, y: g * (1 - y * y)),
    "silu_grad": slope(derivative(lambda v: v * sigmoid(v))),
    "gelu": Row(
        lambda x, approximate: np.vectorize(gelu_tanh if approximate == "tanh" else gelu, otypes=[np.float64])(x),
        [Sample((normal(*shape),), {"approximate": form}) for shape in SHAPES for form in ("none", "tanh")],
    ),
    "gelu_grad": Row(
        lambda g, x, approximate: np.vectorize(
            derivative(gelu_tanh if approximate == "tanh" else gelu), otypes=[np.float64]
        )(g, x),
        [
            Sample((normal(*shape), normal(*shape)), {"approximate": form})
            for shape in SHAPES
            for form in ("none", "tanh")
        ],
    ),
    # Functions of two numbers.
    "add": binary(operator.add),
    "sub": binary(operator.sub),
    "mul": binary(operator.mul),
    "div": binary(operator.truediv, positive),
    "remainder": binary(lambda x, y: x - math.floor(x / y) * y, positive),
    "fmod": binary(math.fmod, positive),
    "pow": binary(math.pow, positive),
    "maximum": binary(max),
    "minimum": binary(min),
    "where": Row(
        np.where,
        [
            Sample((MASK, normal(2, 3), normal(2, 3))),
            Sample((MASK, normal(3), normal(2, 1))),
            Sample((np.array(True), normal(), normal(2))),
            Sample((np.zeros((0, 3), bool), normal(3), normal())),
        ],
    ),
    # Shape.
    "sum_to": Row(
        sum_to, [Sample((normal(2, 3, 4),), {"shape": s}) for s in ((3, 4), (2, 1, 4), (), (1, 1), (2, 3, 4))]
    ),
    "broadcast_to": Row(
        lambda x, shape: x + np.zeros(shape),
        [Sample((normal(3, 1),), {"shape": (2, 3, 4)}), Sample((normal(),), {"shape": (2, 2)})],
    ),
    "cast": Row(lambda x, dtype: x, [Sample((normal(2, 3),), {"dtype": np.dtype(np.float64)})]),
    "reshape": along(lambda x, shape: np.array(x.ravel()).reshape(shape), {"shape": (3, 4)}, {"shape": (12,)}),
    "transpose": along(lambda x, axes: np.einsum(x, [0, 1, 2], list(axes)), {"axes": (2, 0, 1)}, {"axes": (0, 1, 2)}),
    "flip": along(lambda x, axes: x[:, ::-1, ::-1] if axes == (1, 2) else x[::-1], {"axes": (1, 2)}, {"axes": (0,)}),
    "slice_axis": along(lambda x, axis, start, stop: x[:, start:stop], {"axis": 1, "start": 1, "stop": 3}),
    "parts": along(lambda x, axis, sizes: x[:, : sizes[0]], {"axis": 1, "sizes": (2, 1)}, {"axis": 1, "sizes": (3,)}),
    "pad_axis": along(
        lambda x, axis, before, after: np.concatenate([np.zeros((2, before, 2)), x, np.zeros((2, after, 2))], 1),
        {"axis": 1, "before": 1, "after": 2},
    ),
    "pad": along(
        lambda x, widths, mode, value: np.pad(x, widths, mode, constant_values=value),
        {"widths": ((0, 0), (1, 0), (0, 2)), "mode": "constant", "value": 1.5},
    ),
    "concat": Row(
        lambda *parts, axis: np.concatenate(parts, axis),
        [Sample((normal(2, 1), normal(2, 3), normal(2, 0)), {"axis": 1}), Sample((normal(2),), {"axis": 0})],
    ),
    "getitem": Row(
        lambda x, index: x[index], [Sample((normal(2, 3),), {"index": index}) for index in (*INDEXES, MASK)]
    ),
    "scatter_add": Row(
        scattered, [Sample((normal(2, 3)[index],), {"index": index, "shape": (2, 3)}) for index in (*INDEXES, MASK)]
    ),
    "setitem": Row(
        written,
        [
            Sample((normal(2, 3), normal(3)), {"index": 1}),
            Sample((normal(2, 3), normal(2, 1)), {"index": (slice(None), slice(1, None))}),
            Sample((normal(2, 3), 4.0), {"index": (0, 0)}),
            Sample((normal(2, 3), normal()), {"index": MASK}),
        ],
    ),
    # Reductions.
    "sum": along(lambda x, axis, keepdims: np.add.reduce(x, axis, keepdims=keepdims), *AXES),
    "mean": along(lambda x, axis, keepdims: np.average(x, axis, keepdims=keepdims), *AXES),
    "max_along": along(
        lambda x, axis, keepdims: np.maximum.reduce(x, axis, keepdims=keepdims), *ONE_AXIS, draw=distinct
    ),
    "min_along": along(
        lambda x, axis, keepdims: np.minimum.reduce(x, axis, keepdims=keepdims), *ONE_AXIS, draw=distinct
    ),
    "amax": along(lambda x, axis, keepdims: np.maximum.reduce(x, axis, keepdims=keepdims), *AXES, draw=distinct),
    "amin": along(lambda x, axis, keepdims: -np.maximum.reduce(-x, axis, keepdims=keepdims), *AXES, draw=distinct),
    "prod": along(
        lambda x, axis, keepdims: np.exp(np.add.reduce(np.log(x), axis, keepdims=keepdims)), *AXES, draw=positive
    ),
    "cumsum": along(
        lambda x, axis: np.stack([x.take(range(i + 1), axis).sum(axis) for i in range(x.shape[axis])], axis),
        {"axis": 0},
        {"axis": 1},
    ),
    "softmax": along(softmax, {"axis": 1}, {"axis": 2}),
    "log_softmax": along(log_softmax, {"axis": 1}, {"axis": 2}),
    "softmax_grad": Row(
        lambda g, y, axis: y * (g - (g * y).sum(axis, keepdims=True)),
        [Sample((normal(2, 3), normal(2, 3)), {"axis": axis}) for axis in (0, 1)],
    ),
    "log_softmax_grad": Row(
        lambda g, y, axis: g - np.exp(y) * g.sum(axis, keepdims=True),
        [Sample((normal(2, 3), normal(2, 3)), {"axis": axis}) for axis in (0, 1)],
    ),
    # Layers.
    **_matmul_rows(),
    **_conv_rows(),
    **_pool_rows(),
    "layer_norm": Row(
        layer_norm,
        [
            Sample((normal(2, 3), normal(3), normal(3)), {"begin_norm_axis": 1, "epsilon": 1e-3}),
            Sample((normal(2, 2, 3), normal(2, 3), normal(2, 3)), {"begin_norm_axis": 1, "epsilon": 1e-3}),
            Sample((normal(4), normal(4), normal(4)), {"begin_norm_axis": 0, "epsilon": 1e-3}),
        ],
    ),
    "rms_norm": Row(
        rms_norm,
        [
            Sample((normal(2, 3), normal(3)), {"epsilon": 1e-3}),
            Sample((normal(2, 2, 3), normal(2, 3)), {"epsilon": 1e-3}),
        ],
    ),
    "batch_norm": Row(
        batch_norm,
        [
            Sample((normal(4, 2), normal(2), normal(2)), {"epsilon": 1e-3}),
            Sample((normal(2, 2, 2, 2), normal(2), normal(2)), {"epsilon": 1e-3}),
        ],
    ),
    "sparse_softmax_cross_entropy": Row(cross_entropy, [Sample((normal(4, 3), LABELS), {"ignore_index": -100})]),
    "dropout": Row(dropped, [Sample((normal(3, 4),), {"p": 0.4, "seed": 7, "offset": 3})]),
    "rows_picked": Row(lambda table, rows: table[rows], [Sample((normal(4, 3), np.array([[2, 0], [-1, 2]])))]),
    "rows_added": Row(
        lambda g, numbers, order, rows: np.array([g[numbers == row].sum(axis=0) for row in range(rows)]),
        [
            Sample((normal(4, 3), np.array([2, 0, 2, 3]), order), {"rows": 5})
            for order in (None, np.array([1, 0, 2, 3]))
        ],
    ),
    "dropout_kept": Row(dropout_kept, [Sample((normal(3, 5),), {"p": 0.4, "seed": 7, "offset": 3})]),
    "dropout2d": Row(channels_dropped, [Sample((normal(2, 4, 1, 2),), {"keep_prob": 0.6, "seed": 7, "offset": 3})]),
    # Views.
    "stop_gradient": Row(lambda x: x, [Sample((normal(2, 3),))]),
    "alias": Row(lambda x: x, [Sample((normal(2, 3),))]),
    "write_through": Row(
        written_through,
        [
            Sample((normal(2, 3), normal(3)), {"steps": ((OPERATORS["getitem"], {"index": 1}),)}),
            Sample(
                (normal(2, 3), normal(2)),
                {
                    "steps": (
                        (OPERATORS["transpose"], {"axes": (1, 0)}),
                        (OPERATORS["getitem"], {"index": slice(1, None)}),
                        (OPERATORS["getitem"], {"index": (slice(None), 0)}),
                    )
                },
            ),
            Sample(
                (normal(2, 3), normal(4)),
                {
                    "steps": (
                        (OPERATORS["slice_axis"], {"axis": 1, "start": 1, "stop": 3}),
                        (OPERATORS["reshape"], {"shape": (4,)}),
                    )
                },
            ),
        ],
    ),
}
