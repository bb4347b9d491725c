"""Layer normalization on arrays, and its gradients."""

from __future__ import annotations

import math

from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.widening import narrow, widen

__all__ = ["layer_norm", "layer_norm_grad"]


def layer_norm(
    x: Array, gamma: Array, beta: Array, begin_norm_axis: int, epsilon: float
) -> tuple[Array, Array, Array]:
    """Normalize over the axes from `begin_norm_axis` on.

    Returns the result, the mean and the reciprocal of the standard deviation; these two have the shape of `x`
    with ones in place of the normalized axes.
    """
    xp = array_module(x)
    wide = widen(x)
    axes = _trailing_axes(x, begin_norm_axis)
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
    """Gradients for `x`, `gamma` and `beta`, from the mean and reciprocal deviation layer_norm returned."""
    wide_g = widen(g)
    axes = _trailing_axes(x, begin_norm_axis)
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


def _trailing_axes(x: Array, begin: int) -> tuple[int, ...]:
    if not -x.ndim <= begin < x.ndim:
        raise ValueError(
            f"begin_norm_axis must lie in [{-x.ndim}, {x.ndim}) for shape {x.shape}, got {begin}"
        )
    return tuple(range(begin % x.ndim, x.ndim))
