"""Layer normalization on arrays, and its gradients."""

from __future__ import annotations

import math

import numpy as np

from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.arrays.rows import per_part
from hookscope.engine.cpu.compiling import address, is_worth, kernels, ready
from hookscope.engine.cpu.threads import share
from hookscope.engine.cpu.widening import narrow, widen

__all__ = ["layer_norm", "layer_norm_grad"]


def layer_norm(x: Array, gamma: Array, beta: Array, begin_norm_axis: int, epsilon: float) -> tuple[Array, Array, Array]:
    """Normalize over the axes from `begin_norm_axis` on.

    Returns the result, the mean and the reciprocal of the standard deviation; these two have the shape of `x`
    with length 1 on the normalized axes.
    """
    axes = _trailing_axes(x, begin_norm_axis)
    if is_worth(x) and _is_single(x.shape[axes[0] :], gamma, beta):
        return _compiled(x, gamma, beta, axes, epsilon)
    xp = array_module(x)
    wide = widen(x)
    count = math.prod(x.shape[axis] for axis in axes)
    mean = wide.sum(axis=axes, keepdims=True) / max(count, 1)
    y = wide - mean
    variance = (y * y).sum(axis=axes, keepdims=True) / max(count, 1)
    rstd = 1.0 / xp.sqrt(variance + epsilon)
    y *= rstd
    y = y * widen(gamma) + widen(beta)
    return narrow(y, x), mean, rstd


def layer_norm_grad(
    g: Array, x: Array, gamma: Array, mean: Array, rstd: Array, begin_norm_axis: int
) -> tuple[Array, Array, Array]:
    """Return gradients for `x`, `gamma` and `beta`, from the mean and reciprocal deviation of ``layer_norm``."""
    axes = _trailing_axes(x, begin_norm_axis)
    if is_worth(x) and is_worth(g) and _is_single(x.shape[axes[0] :], gamma):
        return _compiled_grad(g, x, gamma, mean, rstd)
    wide_g = widen(g)
    count = max(math.prod(x.shape[axis] for axis in axes), 1)
    normal = (widen(x) - mean) * rstd
    product = wide_g * normal
    batch_axes = tuple(range(x.ndim - gamma.ndim))
    dgamma = product.sum(axis=batch_axes)
    dbeta = wide_g.sum(axis=batch_axes)
    scaled = wide_g * widen(gamma)
    mean_scaled = scaled.sum(axis=axes, keepdims=True) / count
    mean_product = (scaled * normal).sum(axis=axes, keepdims=True) / count
    dx = (scaled - mean_scaled - normal * mean_product) * rstd
    return narrow(dx, x), narrow(dgamma, gamma), narrow(dbeta, gamma)


def _is_single(shape: tuple[int, ...], *parameters: Array) -> bool:
    return all(parameter.shape == shape and parameter.dtype == np.float32 for parameter in parameters)


def _compiled(x: Array, gamma: Array, beta: Array, axes: tuple[int, ...], epsilon: float) -> tuple[Array, Array, Array]:
    x = ready(x)
    y, rows, count = np.empty_like(x), x.size // gamma.size, gamma.size
    statistics = np.empty((2, *x.shape[: axes[0]], *[1] * len(axes)), np.float32)
    part_rows, parts = per_part(rows, count)
    share(
        kernels("layer_norm").layer_norm,
        parts,
        address(x),
        address(y),
        rows,
        count,
        part_rows,
        epsilon,
        ready(gamma).reshape(-1),
        ready(beta).reshape(-1),
        statistics.reshape(2, rows),
    )
    return y, statistics[0], statistics[1]


_MOST_PARTS = 64
"""Maximum of parts. Each has separate gradients for gamma and beta, which are summed."""


def _compiled_grad(g: Array, x: Array, gamma: Array, mean: Array, rstd: Array) -> tuple[Array, Array, Array]:
    g, x = ready(g), ready(x)
    dx, rows, count = np.empty_like(x), x.size // gamma.size, gamma.size
    part_rows = max(per_part(rows, count)[0], -(-rows // _MOST_PARTS))
    sums = np.empty((-(-rows // part_rows), 2, count), np.float32)
    share(
        kernels("layer_norm").layer_norm_grad,
        len(sums),
        address(g),
        address(x),
        address(dx),
        rows,
        count,
        part_rows,
        ready(gamma).reshape(-1),
        ready(mean).reshape(-1),
        ready(rstd).reshape(-1),
        sums,
    )
    dgamma, dbeta = sums.sum(axis=0)
    return dx, dgamma.reshape(gamma.shape), dbeta.reshape(gamma.shape)


def _trailing_axes(x: Array, begin: int) -> tuple[int, ...]:
    if not -x.ndim <= begin < x.ndim:
        raise ValueError(f"begin_norm_axis must lie in [{-x.ndim}, {x.ndim}) for shape {x.shape}, got {begin}")
    return tuple(range(begin % x.ndim, x.ndim))
