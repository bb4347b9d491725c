"""Normalisation over features (layer norm) and over a batch (batch norm)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..cpu import fused
from ..cpu.array_module import array_module
from ..operator import Operator
from ..tensor import Tensor
from .reduction import mean_kernel
from .shape import _check, reshape

__all__ = ["batch_norm", "layer_norm"]


def _layer_norm_rule(
    F: Any,
    needs: list[bool],
    g: Any,
    out: Any,
    x: Any,
    gamma: Any,
    beta: Any,
    begin_norm_axis: int,
    epsilon: float,
) -> Any:
    arrived = g[0]
    if not F.wraps:
        return F.layer_norm_grad(arrived, x, gamma, out[1], out[2], begin_norm_axis=begin_norm_axis)
    # For higher orders everything that depends on x is computed again where the recording sees it.
    axes = tuple(range(begin_norm_axis, x.ndim))
    apart = x - F.mean(x, axis=axes, keepdims=True)
    rstd = F.rsqrt(F.mean(apart * apart, axis=axes, keepdims=True) + epsilon)
    # Ba et al. 2016: dx = rstd * (gy - mean(gy) - xhat * mean(gy * xhat)), gy = g * gamma.
    xhat, gy, others = apart * rstd, arrived * gamma, tuple(range(begin_norm_axis))
    dx = rstd * (gy - F.mean(gy, axis=axes, keepdims=True) - xhat * F.mean(gy * xhat, axis=axes, keepdims=True))
    if not others:
        return [dx, arrived * xhat, arrived]
    return [dx, F.sum(arrived * xhat, axis=others, keepdims=False), F.sum(arrived, axis=others, keepdims=False)]


_layer_norm = Operator("layer_norm", fused.layer_norm, joint_vjp=_layer_norm_rule)
_layer_norm_grad = Operator("layer_norm_grad", fused.layer_norm_grad)


def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last axes, whose lengths are ``normalized_shape``.

    Raises:
        ValueError: ``normalized_shape`` is not the end of the input's shape.
    """
    x = _check(input, "layer_norm")
    last = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not last or x.shape[-len(last) :] != last:
        raise ValueError(f"For 'layer_norm', 'normalized_shape' {last} must be the end of the input's shape {x.shape}")
    xp = array_module(x._array)
    dtype = x._array.dtype
    gamma = weight if weight is not None else Tensor._wrap(xp.ones(last, dtype))
    beta = bias if bias is not None else Tensor._wrap(xp.zeros(last, dtype))
    return _layer_norm(x, gamma, beta, begin_norm_axis=x.ndim - len(last), epsilon=eps)[0]  # type: ignore[no-any-return]


def _batch_norm_kernel(x: Any, gamma: Any, beta: Any, epsilon: float) -> tuple[Any, Any, Any]:
    """Normalise over all axes but 1; also the mean and the biased variance of each channel."""
    axes = (0, *range(2, x.ndim))
    per_channel = (1, -1) + (1,) * (x.ndim - 2)
    wide = x.astype(np.float32, copy=False) if x.dtype.itemsize < 4 else x
    mean = mean_kernel(wide, axes, True)
    apart = wide - mean
    var = mean_kernel(apart * apart, axes, True)
    scale = gamma.reshape(per_channel) / array_module(x).sqrt(var + wide.dtype.type(epsilon))
    y = apart * scale + beta.reshape(per_channel)
    return y.astype(x.dtype, copy=False), mean.reshape(-1), var.reshape(-1)


def _batch_norm_rule(
    F: Any, needs: list[bool], g: Any, out: Any, x: Any, gamma: Any, beta: Any, epsilon: float
) -> list[Any]:
    axes = (0, *range(2, x.ndim))
    per_channel = (1, x.shape[1]) + (1,) * (x.ndim - 2)
    mean, var = (
        (F.mean(x, axis=axes, keepdims=True), None)
        if F.wraps
        else (F.reshape(out[1], shape=per_channel), F.reshape(out[2], shape=per_channel))
    )
    apart = x - mean
    if var is None:
        var = F.mean(apart * apart, axis=axes, keepdims=True)
    # Ioffe and Szegedy 2015: dx = gamma * rstd * (g - mean(g) - xhat * mean(g * xhat)).
    rstd = F.rsqrt(var + epsilon)
    xhat = apart * rstd
    of_gamma = F.sum(g[0] * xhat, axis=axes, keepdims=True)
    of_beta = F.sum(g[0], axis=axes, keepdims=True)
    share = x.shape[1] / max(1, math.prod(x.shape))
    dx = (g[0] - (xhat * (of_gamma * share) + of_beta * share)) * (F.reshape(gamma, shape=per_channel) * rstd)
    return [dx, F.reshape(of_gamma, shape=(x.shape[1],)), F.reshape(of_beta, shape=(x.shape[1],))]


_batch_norm = Operator("batch_norm", _batch_norm_kernel, joint_vjp=_batch_norm_rule)


def batch_norm_with_statistics(
    input: Tensor, weight: Tensor, bias: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The input normalised by its own statistics, with the mean and the biased variance of each channel."""
    return _batch_norm(input, weight, bias, epsilon=eps)  # type: ignore[no-any-return]


def batch_norm(
    input_x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor,
    bias: Tensor,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each channel (axis 1): by the batch's statistics in training, else by the running ones.

    In training the running statistics become (1 - momentum) * running + momentum * batch, with the unbiased variance.

    Raises:
        ValueError: the input has no axis 1, or a statistic is not one number for each channel.
    """
    x = _check(input_x, "batch_norm", "input_x")
    channels = x.shape[1] if x.ndim > 1 else None
    for name, one in (
        ("running_mean", running_mean),
        ("running_var", running_var),
        ("weight", weight),
        ("bias", bias),
    ):
        if channels is None or one.shape != (channels,):
            raise ValueError(
                f"For 'BatchNorm', '{name}' must have one number for each channel (axis 1) of the input of shape "
                f"{x.shape}, but got shape {one.shape}"
            )
    if training:
        y, mean, var = batch_norm_with_statistics(x, weight, bias, eps)
        update_running(running_mean, mean, momentum)
        count = x.size // x.shape[1]
        update_running(running_var, var, momentum, count / max(count - 1, 1))
        return y
    per_channel = (1, -1) + (1,) * (x.ndim - 2)
    from .arithmetic import rsqrt

    scale = reshape(weight * rsqrt(running_var + eps), per_channel)
    return (x - reshape(running_mean, per_channel)) * scale + reshape(bias, per_channel)


@np.errstate(all="ignore")
def update_running(running: Tensor, batch: Tensor, momentum: float, factor: float = 1.0) -> None:
    """running = (1 - momentum) * running + momentum * factor * batch, outside every recording."""
    old, new = running._array, batch._array
    running._rebind((old * (1.0 - momentum) + new * (momentum * factor)).astype(old.dtype, copy=False))
