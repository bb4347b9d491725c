"""Convolution and pooling as loops over every element, in float64: what the tests hold the engine's against."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["avg_pool2d", "conv2d", "max_pool2d"]

Array = np.ndarray[Any, Any]


def _output(length: int, window: int, stride: int, dilation: int) -> int:
    return (length - dilation * (window - 1) - 1) // stride + 1


def conv2d(x: Array, weight: Array, stride: Any, pads: Any, dilation: Any, group: int) -> Array:
    """Return out[n, k, i, j] = sum over c, a, b of x[n, c, i * stride + a * dilation, ...] * weight[k, c, a, b]."""
    top, bottom, left, right = pads
    padded = np.pad(np.asarray(x, np.float64), ((0, 0), (0, 0), (top, bottom), (left, right)))
    count, _, height, width = padded.shape
    kernels, per_group, kh, kw = weight.shape
    oh, ow = _output(height, kh, stride[0], dilation[0]), _output(width, kw, stride[1], dilation[1])
    out = np.zeros((count, kernels, oh, ow))
    for n, k, i, j in np.ndindex(out.shape):
        first = k // (kernels // group) * per_group
        for c, a, b in np.ndindex(per_group, kh, kw):
            row, column = i * stride[0] + a * dilation[0], j * stride[1] + b * dilation[1]
            out[n, k, i, j] += padded[n, first + c, row, column] * float(weight[k, c, a, b])
    return out


def _pooled(x: Array, kernel: Any, stride: Any, pads: Any, dilation: Any, fill: float, reduce: Any) -> Array:
    top, bottom, left, right = pads
    widths = ((0, 0), (0, 0), (top, bottom), (left, right))
    padded = np.pad(np.asarray(x, np.float64), widths, constant_values=fill)
    oh = _output(padded.shape[2], kernel[0], stride[0], dilation[0])
    ow = _output(padded.shape[3], kernel[1], stride[1], dilation[1])
    out = np.zeros((*x.shape[:2], oh, ow))
    for n, c, i, j in np.ndindex(out.shape):
        rows = [i * stride[0] + a * dilation[0] for a in range(kernel[0])]
        columns = [j * stride[1] + b * dilation[1] for b in range(kernel[1])]
        out[n, c, i, j] = reduce([padded[n, c, row, column] for row in rows for column in columns])
    return out


def max_pool2d(x: Array, kernel: Any, stride: Any, pads: Any, dilation: Any = (1, 1)) -> Array:
    """Return the largest element of each window; padding never wins."""
    return _pooled(x, kernel, stride, pads, dilation, -np.inf, max)


def avg_pool2d(x: Array, kernel: Any, stride: Any, pads: Any) -> Array:
    """Return the mean of each window, padding counted in."""
    return _pooled(x, kernel, stride, pads, (1, 1), 0.0, lambda values: sum(values) / len(values))
