"""Products of matrices on arrays, also with a bias and an activation."""

from __future__ import annotations

import math
from contextlib import nullcontext
from functools import cache

import numpy as np

from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.arrays.copying import contiguous
from hookscope.engine.cpu.compiling import address, is_on, is_worth, kernels, ready
from hookscope.engine.cpu.neural.activation import gelu, relu, sigmoid, silu
from hookscope.engine.cpu.threads import share, single_threaded_blas, small_products
from hookscope.engine.cpu.widening import is_half, narrow, widen

__all__ = ["addresses", "column_sums", "has_fast_column_sums", "linear", "matmul", "weighted_sums"]


def linear(x: Array, weight: Array, bias: Array | None, activation: str | None) -> Array:
    """Return activation(x @ weight.T + bias) for `x` (..., K), `weight` (N, K) and `bias` (N,) or None."""
    if x.ndim > 2 and array_module(x) is not np:
        rows = linear(x.reshape(math.prod(x.shape[:-1]), x.shape[-1]), weight, bias, activation)
        return rows.reshape(*x.shape[:-1], weight.shape[0])
    if bias is None and activation is None and _adds_wide(x, weight):
        return array_module(x).matmul(x, weight.T)  # untyped cupy
    return narrow(_activate(_product(widen(x), widen(weight).T, None if bias is None else widen(bias)), activation), x)


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
        f"activation must be None, 'relu', 'gelu', 'gelu_tanh', 'silu', 'sigmoid' or 'tanh', got {activation!r}"
    )


def matmul(a: Array, b: Array, transpose_a: bool, transpose_b: bool) -> Array:
    """Return the matrix product by NumPy's rules; a transposed operand has its last two axes swapped first."""
    xp = array_module(a)
    a = _swap_last_axes(a, "a") if transpose_a else a
    b = _swap_last_axes(b, "b") if transpose_b else b
    if a.ndim > 2 and b.ndim == 2 and xp is not np:  # CuPy would repeat `b`
        rows = matmul(a.reshape(math.prod(a.shape[:-1]), a.shape[-1]), b, False, False)
        return rows.reshape(*a.shape[:-1], b.shape[1])
    dtype = xp.result_type(a, b)
    if dtype.kind in "biuc" or dtype.itemsize >= 4:
        return xp.asarray(_product(a, b))  # untyped cupy
    if _adds_wide(a, b):
        return xp.matmul(a, b)  # untyped cupy
    # NumPy adds half-precision products in half precision, and without BLAS.
    return xp.asarray(_product(widen(a), widen(b)), dtype=dtype)  # untyped cupy


def _adds_wide(a: Array, b: Array) -> bool:
    """Return whether a product of half precision is summed in float32, as by cuBLAS for two matrices."""
    return array_module(a) is not np and a.dtype == b.dtype and is_half(a) and a.ndim == b.ndim == 2


def _product(a: Array, b: Array, bias: Array | None = None) -> Array:
    """Return ``a @ b``, with a bias (N,) added to each row."""
    if a.dtype is _SINGLE and b.dtype is _SINGLE and type(a) is type(b) is np.ndarray and min(a.ndim, b.ndim) > 1:
        m, n = a.shape[-2], b.shape[-1]
        work = math.prod(a.shape[:-2]) * m * n * a.shape[-1]
        if work >= _LEAST_BY_VECTOR and is_on():
            if work >= _LEAST_SHARED and m > 1 and n > 1 and a.shape[-1] == b.shape[-2]:
                return _shared_product(a, b, bias)
            with single_threaded_blas("numpy"):
                return _with_bias(np.matmul(a, b), bias)
    elif max(a.size, b.size) >= _LEAST_VECTOR and type(a) is type(b) is np.ndarray and a.dtype is b.dtype is _SINGLE:
        with single_threaded_blas("numpy") if is_on() else nullcontext():
            return _with_bias(np.matmul(a, b), bias)
    return _with_bias(array_module(a).matmul(a, b), bias)


def _with_bias(y: Array, bias: Array | None) -> Array:
    if bias is not None:
        y += bias
    return y


_SINGLE = np.dtype(np.float32)
_LEAST_BY_VECTOR = 1 << 15
"""Multiplications from which OpenBLAS may use threads; results then depend on their number."""
_LEAST_VECTOR = 1 << 13
"""The same for a product with an array of one axis."""
_LEAST_SUMMED = 1 << 17
"""Elements from which a product sums columns faster than NumPy."""
_LEAST_SHARED = 1 << 21
"""Multiplications from which a product is divided among threads here; and the minimum per tile."""
_MOST_TILES = 16
_HIGH = 1024
"""Rows of the first matrix from which it pays to transpose the second one."""


def _shared_product(a: Array, b: Array, bias: Array | None) -> Array:
    if b.ndim == 2 and a.ndim > 2 and a.flags.c_contiguous:  # rows of all matrices together
        return _shared_product(a.reshape(-1, a.shape[-1]), b, bias).reshape(*a.shape[:-1], b.shape[-1])
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    a, lda, a_turned = _as_stored(a)
    b, ldb, b_turned = _as_stored(b)
    small = small_products()
    if small and b_turned and m >= _HIGH:
        b, ldb, b_turned = contiguous(b), n, 0
    if a.ndim == b.ndim == 2:
        c = np.empty((m, n), np.float32)
        starts = np.array([(address(a), address(b), address(c))])
    else:
        above = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        c = np.empty((*above, m, n), np.float32)
        starts = np.stack([addresses(x, above) for x in (a, b, c)], axis=1)
    rows, columns, across, down = _tiles(len(starts), m, n, k, small and not b_turned)
    bias = None if bias is None else ready(bias)
    with single_threaded_blas("scipy"):
        share(
            kernels("products").products,
            len(starts) * across * down,
            starts,
            lda,
            a_turned,
            ldb,
            b_turned,
            n,
            m,
            n,
            k,
            rows,
            columns,
            across * down,
            across,
            0 if bias is None else address(bias),
            small,
        )
    return c


@cache
def _tiles(products: int, m: int, n: int, k: int, direct: bool) -> tuple[int, int, int, int]:
    """Return the rows and columns of a tile of (m, k) @ (k, n), and the numbers of tiles across and down.

    Tiles are tall, so that a packed block of the second matrix is reused often, and consist of full cache lines.
    Without packing (``direct``) they are flat: the operands of a tile stay in the cache.
    """
    rows, columns = (min(m, 64), min(n, 256)) if direct else (m, n)
    tiles = -(-m // rows) * -(-n // columns)
    while products * tiles < _MOST_TILES and m * n * k >= 2 * tiles * _LEAST_SHARED:
        unit = 64 if max(rows, columns) > 64 else 16
        if columns > unit or rows <= unit:
            columns = -(-columns // (2 * unit)) * unit
        else:
            rows = -(-rows // (2 * unit)) * unit
        tiles *= 2
    return rows, columns, -(-n // columns), -(-m // rows)


def _as_stored(x: Array) -> tuple[Array, int, int]:
    """Return matrices in the form for BLAS, the stride of their rows (of the columns if transposed) in elements, and
    whether they are transposed."""
    down, along = x.strides[-2:]
    rows, columns = x.shape[-2:]
    if x.flags.aligned:
        if along == 4 and down >= 4 * columns and not down % 4:
            return x, down // 4, 0
        if down == 4 and along >= 4 * rows and not along % 4:
            return x, along // 4, 1
    x = np.array(x, order="C")
    return x, columns, 0


def addresses(x: Array, above: tuple[int, ...]) -> Array:
    """Return the addresses of all matrices in an array whose leading axes broadcast to ``above``."""
    starts = np.array([address(x)], np.int64)
    missing = len(above) - (x.ndim - 2)
    for axis, length in enumerate(above):
        step = 0 if axis < missing or x.shape[axis - missing] == 1 else x.strides[axis - missing]
        starts = (starts[:, None] + np.arange(length) * step).reshape(-1)
    return starts


def has_fast_column_sums(x: Array) -> bool:
    """Return whether ``column_sums`` applies to ``x``, in half the time of NumPy's sum."""
    return x.ndim == 2 and x.flags.c_contiguous and is_worth(x, _LEAST_SUMMED)


def column_sums(x: Array) -> Array:
    """Return the sums (N,) of the columns of `x` (M, N): a product with ones, so each has only its own NaNs."""
    return _product(np.ones(x.shape[0], np.float32), x)


def weighted_sums(x: Array, weights: Array, axis: int) -> Array:
    """Return sums of `x` along `axis` by each column of `weights` (length, sums), excluding elements of weight 0.

    So a NaN or an infinity affects only the sums that use it: a plain product would put 0 * NaN into every one.
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
        for mask, value in ((high, np.inf), (low, -np.inf), (neither, np.nan)):
            sums[mask] = value
    return sums.swapaxes(axis, -1)


def _swap_last_axes(operand: Array, name: str) -> Array:
    if operand.ndim < 2:
        raise ValueError(f"transpose_{name} needs an operand of 2 or more axes, got shape {operand.shape}")
    return operand.swapaxes(-1, -2)
