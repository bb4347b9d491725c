"""Batch normalization on arrays, and its gradients.

Internally the channels come first and the samples last, as in the results of convolutions; other inputs are copied to
this order, so that sums have a fixed order for each shape.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..array_module import Array, array_module
from ..arrays.copying import contiguous
from ..arrays.elements import in_order_of, new_like
from ..arrays.rows import per_part
from ..compiling import address, is_worth, kernels, ready
from ..threads import share
from ..widening import narrow, widen

__all__ = ["affine", "batch_norm", "batch_norm_grad", "by_statistics"]

_BLOCK = 1 << 18
"""Bytes of channels that are normalized at once: all passes over them except the first read from the cache."""
_PART = 1 << 13
"""Minimum of elements per part of a compiled kernel; parts are whole channels."""


def batch_norm(x: Array, gamma: Array, beta: Array, epsilon: float) -> tuple[Array, Array, Array]:
    """Normalize over all axes but 1; return the mean and the biased variance of each channel too."""
    flat = _channels_first(x.astype(np.float32, copy=False) if x.dtype.itemsize < 4 else x)
    xp = array_module(x)
    y = xp.empty_like(flat)
    if is_worth(x):
        flat = ready(flat)
        statistics = np.empty((2, len(flat)), np.float32)
        share(
            kernels("batch_norm").batch_norm,
            _number(flat),
            address(flat),
            address(y),
            *flat.shape,
            _parts_size(flat),
            epsilon,
            _single(gamma),
            _single(beta),
            statistics,
        )
        return _as_before(y, x), statistics[0], statistics[1]
    count = max(1, flat.shape[1])
    mean, var = xp.empty((2, flat.shape[0], 1), flat.dtype)
    for part in _parts(flat):
        mean[part] = flat[part].sum(axis=1, keepdims=True) / count
        deviations = xp.subtract(flat[part], mean[part], out=y[part])
        var[part] = _dot(deviations, deviations) / count
        deviations *= gamma[part, None] / xp.sqrt(var[part] + flat.dtype.type(epsilon))
        deviations += beta[part, None]
    return _as_before(y, x).astype(x.dtype, copy=False), mean.reshape(-1), var.reshape(-1)


def batch_norm_grad(
    g: Array, x: Array, gamma: Array, mean: Array, var: Array, epsilon: float
) -> tuple[Array, Array, Array]:
    """Return the gradients (Ioffe and Szegedy 2015): dx = gamma * rstd * (g - mean(g) - xhat * mean(g * xhat))."""
    xp = array_module(x)
    flat, gradient = (_channels_first(a.astype(np.float32, copy=False) if a.dtype.itemsize < 4 else a) for a in (x, g))
    dx = xp.empty_like(flat)
    if is_worth(x) and is_worth(gradient):
        flat, gradient = ready(flat), ready(gradient)
        sums = np.empty((2, len(flat)), np.float32)
        share(
            kernels("batch_norm").batch_norm_grad,
            _number(flat),
            address(gradient),
            address(flat),
            address(dx),
            *flat.shape,
            _parts_size(flat),
            epsilon,
            _single(gamma),
            _single(mean),
            _single(var),
            sums,
        )
        of_gamma, of_beta = sums[0], sums[1]
    else:
        count = max(1, flat.shape[1])
        of_gamma, of_beta = xp.empty((2, flat.shape[0], 1), flat.dtype)
        rstd = 1 / xp.sqrt(var[:, None].astype(flat.dtype) + flat.dtype.type(epsilon))
        for part in _parts(flat):
            deviations = xp.subtract(flat[part], mean[part, None], out=dx[part])
            of_beta[part] = gradient[part].sum(axis=1, keepdims=True)
            of_gamma[part] = _dot(gradient[part], deviations) * rstd[part]
            deviations *= of_gamma[part] * rstd[part] / -count
            deviations += gradient[part]
            deviations -= of_beta[part] / count
            deviations *= gamma[part, None] * rstd[part]
    return (
        _as_before(dx, x).astype(x.dtype, copy=False),
        of_gamma.reshape(-1).astype(gamma.dtype, copy=False),
        of_beta.reshape(-1).astype(gamma.dtype, copy=False),
    )


_LEAST_RUN = 8
"""Elements per channel and sample from which the compiled form is faster."""


def affine(x: Array, mean: Array, scale: Array, shift: Array) -> Array:
    """Return (x - mean) * scale + shift of x (N, C, ...); the others have one number for each channel (C,)."""
    numbers = (mean, scale, shift)
    run = x.size // max(1, x.shape[0] * x.shape[1])
    if is_worth(x) and run >= _LEAST_RUN and all(array.dtype == np.float32 for array in numbers):
        y = new_like(x)
        if not np.moveaxis(y, 0, -1).flags.c_contiguous:
            y = np.empty(x.shape, np.float32)
        x, count = in_order_of(y, x), run if y.flags.c_contiguous else run * x.shape[0]
        rows_per_part, parts = per_part(x.size // count, count)
        share(
            kernels("batch_norm").affine,
            parts,
            address(x),
            address(y),
            x.size // count,
            count,
            rows_per_part,
            *map(_single, numbers),
        )
        return y
    per_channel = (1, -1) + (1,) * (x.ndim - 2)
    middle, factor, added = (widen(array).reshape(per_channel) for array in numbers)
    return narrow((widen(x) - middle) * factor + added, x)


def by_statistics(x: Array, gamma: Array, beta: Array, mean: Array, var: Array, epsilon: float) -> Array:
    """Return ``batch_norm`` of x (N, C, ...) with given mean and biased variance of each channel (C,)."""
    return affine(x, mean, gamma / array_module(x).sqrt(var + var.dtype.type(epsilon)), beta)


def _parts_size(flat: Array) -> int:
    """Return the number of channels per part of a compiled kernel."""
    return max(1, _PART // flat.shape[1])


def _number(flat: Array) -> int:
    return -(-len(flat) // _parts_size(flat))


def _single(x: Array) -> Array:
    return ready(x.astype(np.float32, copy=False))


def _channels_first(x: Array) -> Array:
    """Return (N, C, ...) as (C, numbers of that channel)."""
    turned = array_module(x).moveaxis(x, 0, -1)
    return contiguous(turned).reshape(x.shape[1], x.size // max(1, x.shape[1]))


def _as_before(flat: Array, x: Array) -> Array:
    return array_module(x).moveaxis(flat.reshape(*x.shape[1:], x.shape[0]), -1, 0)


def _parts(flat: Array) -> Iterator[slice]:
    step = max(1, _BLOCK // max(1, flat.shape[1] * flat.itemsize)) if array_module(flat) is np else flat.shape[0]
    return (slice(start, start + step) for start in range(0, flat.shape[0], max(1, step)))


def _dot(a: Array, b: Array) -> Array:
    """Return the sum of the products of each pair of rows."""
    return (a[:, None, :] @ b[:, :, None])[:, :, 0]
