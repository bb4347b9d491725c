"""Products of matrices on arrays, also with a bias and an activation."""

from __future__ import annotations

import numpy as np

from hookscope.engine.cpu.activation import gelu, relu, sigmoid, silu
from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.widening import narrow, widen

__all__ = ["linear", "matmul", "weighted_sums"]


def linear(x: Array, weight: Array, bias: Array | None, activation: str | None) -> Array:
    """activation(x @ weight.T + bias) for `x` (..., K), `weight` (N, K) and `bias` (N,) or None."""
    xp = array_module(x)
    y = xp.matmul(widen(x), widen(weight).T)
    if bias is not None:
        y += widen(bias)
    return narrow(_activate(y, activation), x)


def _activate(y: Array, activation: str | None) -> Array:
    match activation:
        case None:
            return y
        case "relu":
            return relu(y)
        case "gelu":
            return gelu(y, "none")
        case "gelu_tanh":
            return gelu(y, "tanh")
        case "silu":
            return silu(y)
        case "sigmoid":
            return sigmoid(y)
        case "tanh":
            return array_module(y).tanh(y)  # untyped cupy
    raise ValueError(
        "activation must be None, 'relu', 'gelu', 'gelu_tanh', 'silu', 'sigmoid' or 'tanh', "
        f"got {activation!r}"
    )


def matmul(a: Array, b: Array, transpose_a: bool, transpose_b: bool) -> Array:
    """Matrix product with NumPy's rules; a transposed operand has its last two axes swapped first."""
    xp = array_module(a)
    a = _swap_last_axes(a, "a") if transpose_a else a
    b = _swap_last_axes(b, "b") if transpose_b else b
    dtype = xp.result_type(a, b)
    if dtype.kind in "biuc" or dtype.itemsize >= 4:
        return xp.asarray(xp.matmul(a, b))  # untyped cupy
    # NumPy adds half-precision products in half precision, and without BLAS.
    return xp.asarray(xp.matmul(widen(a), widen(b)), dtype=dtype)  # untyped cupy


def weighted_sums(x: Array, weights: Array, axis: int) -> Array:
    """Sums of `x` along `axis` with each column of `weights` (length, sums); what has the weight 0 does not count.

    So a NaN or an infinity is in the sums that use it: the product alone would put 0 * NaN into every one.
    """
    xp = array_module(x)
    moved, weights = x.swapaxes(axis, -1), weights.astype(x.dtype, copy=False)
    sums = matmul(moved, weights, False, False)
    if not xp.isfinite(sums).all():
        finite = xp.isfinite(moved)
        sums = matmul(xp.where(finite, moved, xp.zeros((), x.dtype)), weights, False, False)
        above, below = (weights > 0).astype(np.float32), (weights < 0).astype(np.float32)
        up, down, nan = (part.astype(np.float32) for part in (moved == np.inf, moved == -np.inf, moved != moved))
        high = xp.matmul(up, above) + xp.matmul(down, below) > 0
        low = xp.matmul(up, below) + xp.matmul(down, above) > 0
        neither = (high & low) | (xp.matmul(nan, above + below) > 0)
        for where, value in ((high, np.inf), (low, -np.inf), (neither, np.nan)):
            sums[where] = value
    return sums.swapaxes(axis, -1)


def _swap_last_axes(operand: Array, name: str) -> Array:
    if operand.ndim < 2:
        raise ValueError(f"transpose_{name} needs an operand of 2 or more axes, got shape {operand.shape}")
    return operand.swapaxes(-1, -2)
