"""Samples of the operators of layers: convolution and pooling over three axes, columns, attention, recurrence.

The references are loops over every element or step, in float64.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from operator_samples import Array, Row, Sample

__all__ = ["ROWS"]

_numbers = np.random.default_rng(21)


def normal(*shape: int) -> Array:
    return np.asarray(_numbers.standard_normal(shape))


def padded(x: Array, pads: Any, value: float = 0.0) -> Array:
    widths = [(0, 0), (0, 0), *zip(pads[::2], pads[1::2], strict=True)]
    return np.pad(x, widths, constant_values=value)


def window_places(x: Array, kernel: Any, stride: Any, dilation: Any) -> Any:
    """Yield for each output position of a padded input the positions of its window in order."""
    outputs = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], kernel, stride, dilation, strict=True)]
    for out in itertools.product(*map(range, outputs)):
        yield (
            out,
            [
                tuple(o * s + w * d for o, s, w, d in zip(out, stride, within, dilation, strict=True))
                for within in itertools.product(*map(range, kernel))
            ],
        )


def outputs_of(x: Array, kernel: Any, stride: Any, dilation: Any) -> tuple[int, ...]:
    return tuple(i + 1 for i in list(window_places(x, kernel, stride, dilation))[-1][0])


def conv(x: Array, weight: Array, stride: Any, pads: Any, dilation: Any, group: int) -> Array:
    wide, kernel = padded(x, pads), weight.shape[2:]
    out = np.zeros((x.shape[0], weight.shape[0], *outputs_of(wide, kernel, stride, dilation)))
    per_group = weight.shape[0] // group
    for index, window in window_places(wide, kernel, stride, dilation):
        for n, k in np.ndindex(out.shape[:2]):
            first = k // per_group * weight.shape[1]
            for c in range(weight.shape[1]):
                window_values = [wide[(n, first + c, *at)] for at in window]
                out[(n, k, *index)] += np.dot(window_values, weight[k, c].ravel())
    return out


def pooled(x: Array, kernel: Any, stride: Any, pads: Any, dilation: Any, fill: float, reduce: Any) -> Array:
    wide = padded(x, pads, fill)
    out = np.zeros((*x.shape[:2], *outputs_of(wide, kernel, stride, dilation)))
    for index, window in window_places(wide, kernel, stride, dilation):
        for n, c in np.ndindex(out.shape[:2]):
            out[(n, c, *index)] = reduce([wide[(n, c, *at)] for at in window])
    return out


def max_pool(x: Array, kernel: Any, stride: Any, pads: Any, dilation: Any) -> Array:
    return pooled(x, kernel, stride, pads, dilation, -np.inf, max)


def avg_pool(x: Array, kernel: Any, stride: Any, pads: Any) -> Array:
    return pooled(x, kernel, stride, pads, (1,) * len(kernel), 0.0, lambda values: sum(values) / len(values))


def picked(x: Array, indices: Array, kernel: Any, stride: Any, pads: Any, dilation: Any) -> Array:
    wide, out = padded(x, pads), np.zeros(indices.shape)
    for index, window in window_places(wide, kernel, stride, dilation):
        for n, c in np.ndindex(out.shape[:2]):
            out[(n, c, *index)] = wide[(n, c, *window[int(indices[(n, c, *index)])])]
    return out


def columns(x: Array, kernel: Any, stride: Any, pads: Any, dilation: Any) -> Array:
    wide = padded(x, pads)
    results = []
    for _, window in window_places(wide, kernel, stride, dilation):
        results.append([[wide[(n, c, *at)] for c in range(x.shape[1]) for at in window] for n in range(x.shape[0])])
    return np.array(results).transpose(1, 2, 0)


def transposed(function: Any, shape: tuple[int, ...], *arguments: Any, **how: Any) -> Any:
    """Return the transpose of a linear function, from its values on every unit vector."""

    def back(g: Array) -> Array:
        out = np.zeros(shape)
        for index in np.ndindex(shape):
            unit = np.zeros(shape)
            unit[index] = 1.0
            out[index] = (function(unit, *arguments, **how) * g).sum()
        return out

    return back


CONV = {"stride": (2, 1, 1), "pads": (1, 0, 0, 1, 1, 0), "dilation": (1, 1, 2), "group": 2}
POOL = {"kernel": (2, 1, 2), "stride": (1, 2, 1), "pads": (0, 1, 0, 0, 1, 0)}
DILATED = {**POOL, "dilation": (1, 1, 2)}
WINDOWS = {"kernel": (2, 2), "stride": (2, 1), "pads": (1, 0, 0, 1), "dilation": (1, 2)}


def _volume_rows() -> dict[str, Row]:
    x, weight = normal(1, 2, 3, 2, 4), normal(2, 1, 2, 1, 2)
    g = normal(*conv(x, weight, **CONV).shape)
    shape = (1, 2, 2, 2, 3)
    best = max_pool(np.zeros(shape), **DILATED).shape
    positions = _numbers.integers(0, 4, best).astype(np.int32)
    means = avg_pool(np.zeros(shape), **POOL).shape
    distinct = _numbers.permutation(math.prod(shape)).reshape(shape) * 0.37 - 1.0
    image = (1, 2, 3, 4)
    shape_of_columns = columns(np.zeros(image), **WINDOWS).shape
    return {
        "conv3d": Row(conv, [Sample((x, weight), CONV)]),
        "conv3d_input_grad": Row(
            lambda g, weight, shape, **how: transposed(lambda v: conv(v, weight, **how), shape)(g),
            [Sample((g, weight), {"shape": x.shape, **CONV})],
        ),
        "conv3d_weight_grad": Row(
            lambda g, x, kernel, **how: transposed(lambda w: conv(x, w, **how), weight.shape)(g),
            [Sample((g, x), {"kernel": (2, 1, 2), **CONV})],
        ),
        "max_pool3d": Row(max_pool, [Sample((distinct,), DILATED)]),
        "max_pool3d_grad": Row(
            lambda g, indices, shape, **how: transposed(picked, shape, indices, **how)(g),
            [Sample((normal(*best), positions), {"shape": shape, **DILATED})],
        ),
        "max_pool3d_pick": Row(picked, [Sample((normal(*shape), positions), DILATED)]),
        "avg_pool3d": Row(avg_pool, [Sample((normal(*shape),), POOL)]),
        "avg_pool3d_grad": Row(
            lambda g, shape, **how: transposed(avg_pool, shape, **how)(g),
            [Sample((normal(*means),), {"shape": shape, **POOL})],
        ),
        "im2col": Row(columns, [Sample((normal(*image),), WINDOWS)]),
        "col2im": Row(
            lambda x, size, **how: transposed(columns, image, **how)(x),
            [Sample((normal(*shape_of_columns),), {"size": (3, 4), **WINDOWS})],
        ),
    }


def attention(q: Array, k: Array, v: Array, mask: Any, scale: float) -> Array:
    scores = np.einsum("...ld,...sd->...ls", q, k) * scale + (0.0 if mask is None else mask)
    powers = np.exp(scores)
    return np.einsum("...ls,...se->...le", powers / powers.sum(-1, keepdims=True), v)


def attention_weights(q: Array, k: Array, mask: Any, scale: float) -> Array:
    return attention(q, k, np.eye(k.shape[-2]), mask, scale)


def attention_grad(g: Array, y: Array, sums: Array, q: Array, k: Array, v: Array, mask: Any, scale: float) -> Array:
    weights = attention_weights(q, k, mask, scale)
    of_weights = np.einsum("...le,...se->...ls", g, v)
    of_scores = weights * (of_weights - (of_weights * weights).sum(-1, keepdims=True))
    return np.einsum("...ls,...sd->...ld", of_scores, k) * scale


def _attention_grad_sample() -> Sample:
    q, k, v, scale = normal(2, 3, 2), normal(2, 4, 2), normal(2, 4, 3), 0.7
    powers = np.exp(np.einsum("...ld,...sd->...ls", q, k) * scale)
    return Sample(
        (normal(2, 3, 3), attention(q, k, v, None, scale), np.log(powers.sum(-1)), q, k, v, None), {"scale": scale}
    )


def recurrent(
    x: Array, h: Array, c: Any, w_ih: Array, w_hh: Array, b_ih: Any, b_hh: Any, keep: Any, kind: str, reverse: bool
) -> Array:
    """Return the textbook's step for each time, for each sample."""

    def sigmoid(v: Array) -> Array:
        return 1 / (1 + np.exp(-v))

    size = w_hh.shape[1]
    out = np.zeros((x.shape[0], x.shape[1], size))
    for n in range(x.shape[1]):
        state, cell = h[n], None if c is None else c[n]
        for t in range(x.shape[0])[:: -1 if reverse else 1]:
            if keep is not None and not keep[t, n, 0]:
                continue
            from_x = w_ih @ x[t, n] + (0.0 if b_ih is None else b_ih)
            from_h = w_hh @ state + (0.0 if b_hh is None else b_hh)
            if kind == "lstm":
                i, f, g, o = np.split(from_x + from_h, 4)
                cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
                state = sigmoid(o) * np.tanh(cell)
            elif kind == "gru":
                (xr, xz, xn), (hr, hz, hn) = np.split(from_x, 3), np.split(from_h, 3)
                r, z = sigmoid(xr + hr), sigmoid(xz + hz)
                state = (1 - z) * np.tanh(xn + r * hn) + z * state
            else:
                state = np.tanh(from_x + from_h) if kind == "tanh" else np.maximum(from_x + from_h, 0)
            out[t, n] = state
    return out


def _recurrent_samples() -> list[Sample]:
    results = []
    keep = np.array([[True, True], [True, True], [True, False]])[:, :, None]
    for kind, gates in (("tanh", 1), ("relu", 1), ("gru", 3), ("lstm", 4)):
        for reverse, lengths, biased in ((False, None, True), (True, keep, True), (False, keep, False)):
            cell = normal(2, 2) if kind == "lstm" else None
            biases = (normal(gates * 2), normal(gates * 2)) if biased else (None, None)
            weights = (normal(gates * 2, 3), normal(gates * 2, 2))
            operands = (normal(3, 2, 3), normal(2, 2), cell, *weights, *biases, lengths)
            results.append(Sample(operands, {"kind": kind, "reverse": reverse}))
    return results


def recurrent_grad(g: Array, gh: Any, gc: Any, *operands: Any, kind: str, reverse: bool) -> Array:
    """Return the gradient for x, by central differences of the outputs."""
    x, *others = operands[:8]
    result, step = np.zeros(x.shape), 1e-5
    for index in np.ndindex(x.shape):
        values = []
        for sign in (1, -1):
            moved = x.copy()
            moved[index] += sign * step
            values.append((recurrent(moved, *others, kind=kind, reverse=reverse) * g).sum())
        result[index] = (values[0] - values[1]) / (2 * step)
    return result


def _recurrent_grad_samples() -> list[Sample]:
    from hookscope.engine.cpu.neural.recurrent import forward

    results = []
    for sample in _recurrent_samples()[::3]:
        out = forward(*sample.operands, **sample.attrs)
        results.append(Sample((normal(*out[0].shape), None, None, *sample.operands, *out[3:]), sample.attrs))
    return results


def rms_norm_grad(g: Array, x: Array, gamma: Array, rstd: Array, epsilon: float) -> Array:
    """Return the gradients, row by row (Zhang and Sennrich 2019)."""
    out = np.zeros(x.shape)
    for row in np.ndindex(x.shape[:-1]):
        root = math.sqrt((x[row] ** 2).mean() + epsilon)
        scaled = g[row] * gamma
        out[row] = (scaled - x[row] / root * (scaled * x[row] / root).mean()) / root
    return out


def batch_norm_grad(g: Array, x: Array, gamma: Array, mean: Array, var: Array, epsilon: float) -> Array:
    """Return the gradients, channel by channel (Ioffe and Szegedy 2015)."""
    out = np.zeros(x.shape)
    for c in range(x.shape[1]):
        deviation = math.sqrt(var[c] + epsilon)
        xhat = (x[:, c] - mean[c]) / deviation
        scaled = g[:, c] * gamma[c]
        out[:, c] = (scaled - scaled.mean() - xhat * (scaled * xhat).mean()) / deviation
    return out


def affine_of_channels(x: Array, mean: Array, scale: Array, shift: Array) -> Array:
    out = np.zeros(x.shape)
    for c in range(x.shape[1]):
        out[:, c] = (x[:, c] - mean[c]) * scale[c] + shift[c]
    return out


def running_statistics(old_mean: Array, old_var: Array, mean: Array, var: Array, momentum: float, count: int) -> Array:
    return old_mean + momentum * (mean - old_mean)


def _batch_norm_grad_sample() -> Sample:
    x = normal(3, 2, 2, 2)
    statistics = x.mean((0, 2, 3)), x.var((0, 2, 3))
    return Sample((normal(3, 2, 2, 2), x, normal(2), *statistics), {"epsilon": 1e-3})


def adam(
    p: Array, m: Array, v: Array, g: Array, lr_t: float, beta1: float, beta2: float, eps: float, use_nesterov: bool
) -> Array:
    """Return the step, element by element (Kingma and Ba 2015)."""
    out = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        new_m, new_v = beta1 * m[i] + (1 - beta1) * g[i], beta2 * v[i] + (1 - beta2) * g[i] ** 2
        step = beta1 * new_m + (1 - beta1) * g[i] if use_nesterov else new_m
        out[i] = p[i] - lr_t * step / (math.sqrt(new_v) + eps)
    return out


def layer_norm_grad(g: Array, x: Array, gamma: Array, mean: Array, rstd: Array, begin_norm_axis: int) -> Array:
    """Return the gradients, sample by sample (Ba et al. 2016)."""
    out = np.zeros(x.shape)
    for index in np.ndindex(x.shape[:begin_norm_axis]):
        xhat, scaled = (x[index] - mean[index]) * rstd[index], g[index] * gamma
        out[index] = (scaled - scaled.mean() - xhat * (scaled * xhat).mean()) * rstd[index]
    return out


def cross_entropy_grad(g: Array, logits: Array, labels: Array, lse: Array, ignore_index: int) -> Array:
    out = np.zeros(logits.shape)
    for row, label in enumerate(labels):
        if label != ignore_index:
            out[row] = g[row] * (np.exp(logits[row] - lse[row]) - np.eye(logits.shape[1])[label])
    return out


def _update_rows() -> dict[str, Row]:
    how = {"lr_t": 0.1, "beta1": 0.8, "beta2": 0.9, "eps": 1e-3}
    moments = (normal(2, 3), normal(2, 3), normal(2, 3) ** 2, normal(2, 3))
    x, logits = normal(2, 3, 2), normal(4, 3)
    mean = x.mean((1, 2), keepdims=True)
    rstd = 1 / np.sqrt(x.var((1, 2), keepdims=True) + 1e-3)
    lse, labels = np.log(np.exp(logits).sum(1)), np.array([2, 0, -100, 1])
    return {
        "adam": Row(adam, [Sample(moments, {**how, "use_nesterov": flag}) for flag in (False, True)]),
        "layer_norm_grad": Row(
            layer_norm_grad, [Sample((normal(2, 3, 2), x, normal(3, 2), mean, rstd), {"begin_norm_axis": 1})]
        ),
        "count_other_than": Row(
            lambda labels, other_than, dtype: np.asarray(float(sum(label != other_than for label in labels))),
            [Sample((labels,), {"other_than": -100, "dtype": np.dtype(np.float64)})],
        ),
        "sparse_softmax_cross_entropy_grad": Row(
            cross_entropy_grad, [Sample((normal(4), logits, labels, lse), {"ignore_index": -100})]
        ),
    }


ROWS: dict[str, Row] = {
    **_volume_rows(),
    **_update_rows(),
    "batch_norm_grad": Row(batch_norm_grad, [_batch_norm_grad_sample()]),
    "running_statistics": Row(
        running_statistics, [Sample(tuple(normal(3) for _ in range(4)), {"momentum": 0.2, "count": 5})]
    ),
    "rms_norm_grad": Row(
        rms_norm_grad, [Sample((normal(2, 3), normal(2, 3), normal(3), normal(2, 1)), {"epsilon": 1e-3})]
    ),
    "affine_of_channels": Row(
        affine_of_channels, [Sample((x, normal(3), normal(3), normal(3))) for x in (normal(2, 3), normal(2, 3, 2, 2))]
    ),
    "recurrent_grad": Row(recurrent_grad, _recurrent_grad_samples()),
    "attention": Row(
        attention,
        [
            Sample((normal(2, 3, 2), normal(2, 4, 2), normal(2, 4, 3), None), {"scale": 0.7}),
            Sample((normal(2, 2, 3, 2), normal(2, 2, 3, 2), normal(2, 2, 3, 2), normal(3, 3)), {"scale": 0.5}),
        ],
    ),
    "attention_grad": Row(attention_grad, [_attention_grad_sample()]),
    "attention_weights": Row(
        attention_weights,
        [
            Sample((normal(2, 3, 2), normal(2, 4, 2), None), {"scale": 0.7}),
            Sample((normal(2, 2, 3, 2), normal(2, 2, 3, 2), normal(3, 3)), {"scale": 0.5}),
        ],
    ),
    "recurrent": Row(recurrent, _recurrent_samples()),
}
