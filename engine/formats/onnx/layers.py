"""Converters of products, convolutions, pooling, normalization, attention, losses and recurrent layers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .draft import CONVERTERS, Draft, Edge, UnsupportedError, computable, converts
from .reductions import reduced
from .shapes import padded

__all__: list[str] = []

# Products


@converts("matmul")
def _matmul(d: Draft, a: Edge, b: Edge, transpose_a: bool, transpose_b: bool) -> Edge:
    a, b = (x.cast(computable(x.dtype)) for x in d.alike(a, b))
    output: Edge = d("MatMul", _turned(a) if transpose_a else a, _turned(b) if transpose_b else b)
    return output


def _turned(x: Edge) -> Edge:
    """Return a value with its last two axes swapped."""
    return x.transpose([*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


@converts("linear")
def _linear(d: Draft, x: Edge, weight: Edge, bias: Edge | None, activation: str | None) -> Edge:
    is_one_node = activation is None and (x.ndim == 2 or bias is None)
    dtype = computable(x.dtype, steps=1 if is_one_node else 2)
    x, weight, bias = x.cast(dtype), weight.cast(dtype), bias if bias is None else bias.cast(dtype)
    shape = (*x.shape[:-1], weight.shape[0])
    if x.ndim == 2:
        output: Edge = d("Gemm", x, weight, bias, transB=1, shape=shape)
    else:
        product = d("MatMul", x, _turned(weight), shape=shape)
        output = product if bias is None else product + bias
    if activation is None:
        return output
    if activation in ("gelu", "gelu_tanh"):
        form = "tanh" if activation == "gelu_tanh" else "none"
        activated: Edge = CONVERTERS["gelu"](d, output, approximate=form)
    else:
        activated = CONVERTERS[activation](d, output)
    return activated


@converts("einsum")
def _einsum(d: Draft, *operands: Edge, terms: tuple[str, ...], result: str) -> Edge:
    wide_operands = [x.wide() for x in d.alike(*operands)]
    output: Edge = d("Einsum", *wide_operands, equation=",".join(terms) + "->" + result)
    return output


@converts("det")
def _det(d: Draft, x: Edge) -> Edge:
    output: Edge = d("Det", x.wide())
    return output


@converts("weighted_sums")
def _weighted_sums(d: Draft, x: Edge, weights: Any, axis: int) -> Edge:
    weights = d.edge(weights)
    order = list(range(x.ndim))
    order[axis], order[-1] = order[-1], order[axis]
    moved = x.wide().transpose(order)
    sums = d("MatMul", moved, weights.cast(moved.dtype), shape=(*moved.shape[:-1], weights.shape[1]))
    output: Edge = sums.transpose(order)
    return output


# Convolution and pooling


def _ends(pads: Any) -> list[int]:
    """Reorder borders from before and after each axis in turn to ONNX's order: all before, then all after."""
    return [*map(int, pads[::2]), *map(int, pads[1::2])]


@converts("conv2d", "conv3d")
def _conv(d: Draft, x: Edge, weight: Edge, stride: Any, pads: Any, dilation: Any, group: int) -> Edge:
    dtype = computable(x.dtype)
    output: Edge = d(
        "Conv",
        x.cast(dtype),
        weight.cast(dtype),
        strides=list(stride),
        pads=_ends(pads),
        dilations=list(dilation),
        group=group,
        kernel_shape=list(weight.shape[2:]),
    )
    return output


@converts("conv2d_bias")
def _conv_bias(d: Draft, x: Edge, weight: Edge, bias: Edge, stride: Any, pads: Any, dilation: Any, group: int) -> Edge:
    dtype = computable(x.dtype)
    output: Edge = d(
        "Conv",
        x.cast(dtype),
        weight.cast(dtype),
        bias.cast(dtype),
        strides=list(stride),
        pads=_ends(pads),
        dilations=list(dilation),
        group=group,
        kernel_shape=list(weight.shape[2:]),
    )
    return output


@converts("conv2d_input_grad", "conv3d_input_grad")
def _transposed_conv(
    d: Draft, g: Edge, weight: Edge, shape: Any, stride: Any, pads: Any, dilation: Any, group: int
) -> Edge:
    """Write a transposed convolution; extra lengths in ``shape`` are padded at the ends."""
    dtype = computable(g.dtype)
    kernel = weight.shape[2:]
    reach = [s * (n - 1) + e * (k - 1) + 1 for s, n, e, k in zip(stride, g.shape[2:], dilation, kernel, strict=True)]
    borders = [b + a for b, a in zip(pads[::2], pads[1::2], strict=True)]
    extra = [n + p - r for n, p, r in zip(shape[2:], borders, reach, strict=True)]
    output: Edge = d(
        "ConvTranspose",
        g.cast(dtype),
        weight.cast(dtype),
        strides=list(stride),
        pads=_ends(pads),
        dilations=list(dilation),
        group=group,
        kernel_shape=list(kernel),
        output_padding=extra,
    )
    return output


def _bordered(d: Draft, x: Edge, kernel: Any, pads: Any, value: Any) -> tuple[Edge, list[int]]:
    """Pad the input if the borders are too wide for runtimes; return it and the remaining borders."""
    if all(2 * p <= k for p, k in zip(pads, np.repeat(kernel, 2), strict=True)):
        return x, _ends(pads)
    return padded(d, x, [(0, 0), (0, 0), *zip(pads[::2], pads[1::2], strict=True)], value), [0] * len(pads)


@converts("max_pool2d", "max_pool3d")
def _max_pool(d: Draft, x: Edge, kernel: Any, stride: Any, pads: Any, dilation: Any) -> tuple[Edge, None]:
    x = x.cast(np.float64 if x.dtype.kind in "iu" else computable(x.dtype))
    x, ends = _bordered(d, x, kernel, pads, -math.inf)
    output = d("MaxPool", x, kernel_shape=list(kernel), strides=list(stride), pads=ends, dilations=list(dilation))
    return output, None


@converts("avg_pool2d", "avg_pool3d")
def _avg_pool(d: Draft, x: Edge, kernel: Any, stride: Any, pads: Any) -> Edge:
    x, ends = _bordered(d, x.cast(computable(x.dtype)), kernel, pads, 0)
    output: Edge = d("AveragePool", x, kernel_shape=list(kernel), strides=list(stride), pads=ends, count_include_pad=1)
    return output


# Normalization


@converts("affine_of_channels")
def _affine(d: Draft, x: Edge, mean: Edge, scale: Edge, shift: Edge) -> Edge:
    # BatchNormalization rather than Mul and Add: runtimes fuse it with the preceding convolution.
    x = x.wide()
    variance = d.constant(np.ones(x.shape[1]), x.dtype)
    numbers = (scale.cast(x.dtype), shift.cast(x.dtype), mean.cast(x.dtype), variance)
    output: Edge = d("BatchNormalization", x, *numbers, shape=x.shape, epsilon=0.0)
    return output


@converts("batch_norm")
def _batch_norm(d: Draft, x: Edge, gamma: Edge, beta: Edge, epsilon: float) -> tuple[Edge, Edge, Edge]:
    x = x.wide()
    axes = (0, *range(2, x.ndim))
    per_channel = (1, x.shape[1], *[1] * (x.ndim - 2))
    mean = reduced(d, "ReduceMean", x, axes, True)
    centered = x - mean
    variance = reduced(d, "ReduceMean", centered * centered, axes, True)
    factor = gamma.cast(x.dtype).reshape(per_channel) / d.each("Sqrt", variance + epsilon)
    y = centered * factor + beta.cast(x.dtype).reshape(per_channel)
    return y, mean.reshape((x.shape[1],)), variance.reshape((x.shape[1],))


@converts("layer_norm")
def _layer_norm(
    d: Draft, x: Edge, gamma: Edge, beta: Edge, begin_norm_axis: int, epsilon: float
) -> tuple[Edge, Edge | None, Edge | None]:
    axis = begin_norm_axis % x.ndim
    x = x.wide()
    scale, shift = gamma.cast(x.dtype), beta.cast(x.dtype)
    if x.dtype == np.float32 and scale.shape == shift.shape == x.shape[axis:] and not any(d.wanted[1:]):
        output: Edge = d("LayerNormalization", x, scale, shift, shape=x.shape, axis=axis, epsilon=epsilon)
        return output, None, None
    axes = tuple(range(axis, x.ndim))
    mean = reduced(d, "ReduceMean", x, axes, True)
    centered = x - mean
    variance = reduced(d, "ReduceMean", centered * centered, axes, True)
    factor = 1 / d.each("Sqrt", variance + epsilon)
    return centered * factor * scale + shift, mean, factor


@converts("rms_norm")
def _rms_norm(d: Draft, x: Edge, gamma: Edge, epsilon: float) -> tuple[Edge, Edge]:
    x = x.wide()
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    factor = 1 / d.each("Sqrt", reduced(d, "ReduceMean", x * x, axes, True) + epsilon)
    return x * factor * gamma.cast(x.dtype), factor


@converts("softmax", "log_softmax")
def _softmax(d: Draft, x: Edge, axis: int) -> Edge:
    kind = "Softmax" if d.node.operator.name == "softmax" else "LogSoftmax"
    output: Edge = d(kind, x.cast(computable(x.dtype)), axis=axis, shape=x.shape)
    return output


# Attention


def _scores(d: Draft, q: Edge, k: Edge, mask: Edge | None, scale: float) -> Edge:
    q, k = q.wide(), k.wide()
    product: Edge = d("MatMul", q * float(scale), _turned(k))
    return product if mask is None else product + mask.cast(product.dtype)


@converts("attention")
def _attention(d: Draft, q: Edge, k: Edge, v: Edge, mask: Edge | None, scale: float) -> tuple[Edge, Edge | None]:
    scores = _scores(d, q, k, mask, scale)
    output = d("MatMul", d("Softmax", scores, axis=-1), v.cast(scores.dtype))
    sums = d("ReduceLogSumExp", scores, d.ints([-1]), keepdims=0) if d.wanted[1] else None
    return output, sums


@converts("attention_weights")
def _attention_weights(d: Draft, q: Edge, k: Edge, mask: Edge | None, scale: float) -> Edge:
    output: Edge = d("Softmax", _scores(d, q, k, mask, scale), axis=-1)
    return output


# Loss


@converts("sparse_softmax_cross_entropy")
def _cross_entropy(d: Draft, logits: Edge, labels: Edge, ignore_index: int) -> tuple[Edge, Edge]:
    logits, labels = logits.wide(), labels.cast(np.int64)
    ignored = labels.equals(ignore_index)
    indices = d.where(ignored, 0, labels).reshape((*labels.shape, 1))
    sums = reduced(d, "ReduceLogSumExp", logits, 1, False)
    label_logits = d("GatherElements", logits, indices, axis=1, shape=(*labels.shape, 1)).reshape(labels.shape)
    return d.where(ignored, 0, sums - label_logits), sums


# Recurrent layers

_ORDERS = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "tanh": (0,), "relu": (0,)}
"""ONNX's gates (i o f c; z r h) as indices into the engine's (i f g o; r z n)."""
_FORMS: dict[str, dict[str, Any]] = {
    "lstm": {},
    "gru": {"linear_before_reset": 1},
    "tanh": {"activations": ["Tanh"]},
    "relu": {"activations": ["Relu"]},
}
_KINDS = {"lstm": "LSTM", "gru": "GRU", "tanh": "RNN", "relu": "RNN"}


@converts("recurrent")
def _recurrent(
    d: Draft,
    x: Edge,
    h0: Edge,
    c0: Edge | None,
    w_ih: Edge,
    w_hh: Edge,
    b_ih: Edge | None,
    b_hh: Edge | None,
    keep: Edge | None,
    kind: str,
    reverse: bool,
) -> tuple[Edge | None, ...]:
    dtype = computable(x.dtype, steps=2)
    order, size = _ORDERS[kind], w_hh.shape[1]
    steps, count, _ = x.shape
    weights = [_gates(d, w.cast(dtype), order, size) for w in (w_ih, w_hh)]
    biases = [part for part in (b_ih, b_hh) if part is not None]
    if len(biases) == 1:
        raise UnsupportedError("a recurrent layer with one of its two biases has no form in ONNX: give both")
    gate_biases = [_gates(d, part.cast(dtype), order, size) for part in biases]
    bias = d("Concat", *gate_biases, axis=1) if gate_biases else None
    lengths = None
    if keep is not None:  # (T, N, 1): each sample is present from the first step on
        lengths = reduced(d, "ReduceSum", keep.cast(np.int32), (0, 2), False)
    state = [part.cast(dtype).reshape((1, count, size)) for part in (h0, c0) if part is not None]
    outputs = d(
        _KINDS[kind],
        x.cast(dtype),
        *weights,
        bias,
        lengths,
        *state,
        outputs=3 if kind == "lstm" else 2,
        hidden_size=size,
        direction="reverse" if reverse else "forward",
        **_FORMS[kind],
    )
    final_states = [part.reshape((count, size)) for part in outputs[1:]]
    return (outputs[0].reshape((steps, count, size)), *final_states)


def _gates(d: Draft, weight: Edge, order: tuple[int, ...], size: int) -> Edge:
    """Return the rows of the gates in ONNX's order, with a leading axis of directions."""
    if order == tuple(range(len(order))):
        return weight.reshape((1, *weight.shape))
    parts = d("Split", weight, d.ints([size] * len(order)), outputs=len(order), axis=0)
    joined = Edge(d, d("Concat", *[parts[i] for i in order], axis=0).name, weight.dtype, weight.shape)
    return joined.reshape((1, *weight.shape))
