"""Normalization over features (layer norm) and over a batch (batch norm)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_int, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array, Ints, Value
from ...cpu.array_module import array_module
from ...cpu.neural import batch_norm as batch_norm_kernels
from ...cpu.neural import layer_norm as layer_norm_kernels
from ...cpu.widening import widen
from ...tensors.dtype import float32
from ...tensors.operator import ARRAY_FUNCTIONS, Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import compute, constant, generate
from ..arguments import check_axes, check_operand, check_tensor, int_of, ints_of, one_axis
from ..elementwise.arithmetic import add, div, mul, pow, rsqrt, square, sub
from ..linalg.matmul import matmul
from ..reduction.reduction import mean
from ..reduction.reduction import mean as reduced_mean
from ..shapes.broadcasting import array_dtype, as_dtype, fit, through_single, zeros_operator
from ..shapes.conversion import cast
from ..shapes.reshape import reshape
from .convolution import check_format

__all__ = ["batch_norm", "group_norm", "layer_norm", "lrn", "rms_norm"]


def _layer_norm_rule(
    F: Any,
    needs: list[bool],
    g: tuple[Any, ...],
    out: tuple[Any, ...],
    x: Value,
    gamma: Value,
    beta: Value,
    begin_norm_axis: int,
    epsilon: float,
) -> list[Any]:
    upstream = g[0]
    if not F.wraps:
        return F.layer_norm_grad(upstream, x, gamma, out[1], out[2], begin_norm_axis=begin_norm_axis)
    # For higher orders, everything that depends on x is recomputed, so that it is recorded.
    axes = tuple(range(begin_norm_axis, x.ndim))
    centered = x - F.mean(x, axis=axes, keepdims=True)
    rstd = F.rsqrt(F.mean(centered * centered, axis=axes, keepdims=True) + epsilon)
    # Ba et al. 2016: dx = rstd * (gy - mean(gy) - xhat * mean(gy * xhat)), gy = g * gamma.
    xhat, gy, batch_axes = centered * rstd, upstream * gamma, tuple(range(begin_norm_axis))
    dx = rstd * (gy - F.mean(gy, axis=axes, keepdims=True) - xhat * F.mean(gy * xhat, axis=axes, keepdims=True))
    if not batch_axes:
        return [dx, upstream * xhat, upstream]
    return [
        dx,
        F.sum(upstream * xhat, axis=batch_axes, keepdims=False),
        F.sum(upstream, axis=batch_axes, keepdims=False),
    ]


_layer_norm = Operator(
    "layer_norm", layer_norm_kernels.layer_norm, joint_vjp=_layer_norm_rule, placeholders=(-1,), recompute=True
)
_layer_norm_grad = Operator("layer_norm_grad", layer_norm_kernels.layer_norm_grad)


@declare(mint="nn.functional.layer_norm")
def layer_norm(
    input: Tensor, normalized_shape: Ints, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Return (x - mean) / sqrt(var + eps) * weight + bias over the last axes, var biased (Ba et al. 2016).

    Args:
        input: x, a tensor of any shape.
        normalized_shape: the lengths of the last axes, over which ``input`` is normalized.
        weight: a factor for each element of these axes, 1 by default.
        bias: an offset for each, 0 by default.
        eps: a small number against division by 0.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``normalized_shape`` is not the end of the input's shape, or not the shape of ``weight`` and
            ``bias``.
    """
    x = check_tensor(input, "layer_norm")
    last = ints_of(normalized_shape, "layer_norm", "normalized_shape")
    if not last or x.shape[-len(last) :] != last:
        raise ValueError(f"For 'layer_norm', 'normalized_shape' {last} must be the end of the input's shape {x.shape}")
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and check_tensor(parameter, "layer_norm", name).shape != last:
            raise ValueError(f"For 'layer_norm', '{name}' must have the shape {last}, but got {parameter.shape}")
    xp = array_module(x._array)
    dtype = x._array.dtype
    gamma = weight if weight is not None else generate(xp.ones, shape=last, dtype=dtype)
    beta = bias if bias is not None else generate(xp.zeros, shape=last, dtype=dtype)
    return _layer_norm(x, gamma, beta, begin_norm_axis=x.ndim - len(last), epsilon=eps)[0]


@declare(primitive=prim("LayerNorm", begin_norm_axis=1, begin_params_axis=1, epsilon=1e-7))
def _layer_norm_and_statistics(
    x: Tensor, gamma: Tensor, beta: Tensor, begin_norm_axis: int, begin_params_axis: int, epsilon: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return ``x`` normalized over the axes from ``begin_norm_axis`` on, and the statistics.

    The first is (x - mean) / sqrt(var + epsilon) * gamma + beta.

    Args:
        x: a tensor of any shape.
        gamma: a factor for each element of the axes from ``begin_params_axis`` on.
        beta: an offset for each, likewise.
        begin_norm_axis: the first axis over which ``x`` is normalized, in [-ndim, ndim).
        begin_params_axis: the first axis of ``x`` that ``gamma`` and ``beta`` have, in [-ndim, ndim).
        epsilon: a small number against division by 0.

    Returns:
        The result, of the shape of ``x``; the mean and the biased variance, with the normalized axes as 1, in Float32
        also of half precision.

    Raises:
        TypeError: ``begin_norm_axis`` or ``begin_params_axis`` is not an int.
        ValueError: an axis is out of range, or ``gamma`` or ``beta`` has the wrong shape.
    """
    expected = x.shape[one_axis(begin_params_axis, x.ndim, "LayerNorm") :]
    for name, parameter in (("gamma", gamma), ("beta", beta)):
        if parameter.shape != expected:
            raise ValueError(f"For 'LayerNorm', '{name}' must have the shape {expected}, but got {parameter.shape}")
    axes = tuple(range(one_axis(begin_norm_axis, x.ndim, "LayerNorm"), x.ndim))
    wide = _in_single(x)
    average = mean(wide, axes, True)
    variance = mean(square(wide - average), axes, True)
    normalized = tuple(x.shape[axes[0] :])
    if gamma.shape == normalized:
        return layer_norm(x, normalized, gamma, beta, epsilon), average, variance
    return add(mul(layer_norm(wide, normalized, None, None, epsilon), gamma), beta).astype(x.dtype), average, variance


def _batch_norm_rule(
    F: Any,
    needs: list[bool],
    g: tuple[Any, ...],
    out: tuple[Any, ...],
    x: Value,
    gamma: Value,
    beta: Value,
    epsilon: float,
) -> list[Any]:
    if not F.wraps and g[1] is None and g[2] is None:
        return F.batch_norm_grad(g[0], x, gamma, out[1], out[2], epsilon=epsilon)
    # For higher orders, everything that depends on x is recomputed, so that it is recorded.
    axes = (0, *range(2, x.ndim))
    per_channel = (1, x.shape[1]) + (1,) * (x.ndim - 2)
    centered = x - F.mean(x, axis=axes, keepdims=True)
    rstd = F.rsqrt(F.mean(centered * centered, axis=axes, keepdims=True) + epsilon)
    xhat = centered * rstd
    share = x.shape[1] / max(1, math.prod(x.shape))
    of_gamma = of_beta = None
    dx: Any = 0.0
    if g[0] is not None:
        of_gamma = F.sum(g[0] * xhat, axis=axes, keepdims=True)
        of_beta = F.sum(g[0], axis=axes, keepdims=True)
        dx = (g[0] - (xhat * (of_gamma * share) + of_beta * share)) * (F.reshape(gamma, shape=per_channel) * rstd)
    if g[1] is not None:
        dx = F.broadcast_to(F.reshape(g[1], shape=per_channel) * share, shape=tuple(x.shape)) + dx
    if g[2] is not None:
        dx = centered * (F.reshape(g[2], shape=per_channel) * (2 * share)) + dx
    shape = (x.shape[1],)
    return [dx, *(None if y is None else F.reshape(y, shape=shape) for y in (of_gamma, of_beta))]


_batch_norm = Operator(
    "batch_norm",
    batch_norm_kernels.batch_norm,
    joint_vjp=_batch_norm_rule,
    placeholders=(-1,),
    recompute=batch_norm_kernels.by_statistics,
)


def _affine_rule(
    F: Any, needs: list[bool], g: Value, out: Value, x: Value, mean: Value, scale: Value, shift: Value
) -> list[Any]:
    axes, per_channel = (0, *range(2, x.ndim)), (1, x.shape[1]) + (1,) * (x.ndim - 2)
    factor = F.reshape(scale, shape=per_channel)
    of_shift = F.sum(g, axis=axes, keepdims=False) if any(needs[1:]) else None
    of_scale = F.sum(g * (x - F.reshape(mean, shape=per_channel)), axis=axes, keepdims=False) if needs[2] else None
    return [g * factor if needs[0] else None, -(of_shift * scale) if needs[1] else None, of_scale, of_shift]


_affine = Operator("affine_of_channels", batch_norm_kernels.affine, joint_vjp=_affine_rule)
_batch_norm_grad = Operator("batch_norm_grad", batch_norm_kernels.batch_norm_grad)


def batch_norm_with_statistics(
    input: Tensor, weight: Tensor, bias: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the input normalized by its own statistics, with the mean and the biased variance of each channel.

    Args:
        input: a tensor (N, C, ...).
        weight: a factor for each channel (C,).
        bias: an offset for each channel (C,).
        eps: a small number against division by 0.

    Returns:
        A tensor like ``input``, and the two statistics (C,), at least in Float32.
    """
    return _batch_norm(input, weight, bias, epsilon=eps)


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
    """Return (x - mean) / sqrt(var + eps) * weight + bias for each channel, axis 1 (Ioffe and Szegedy 2015).

    Args:
        input_x: x, a tensor (N, C, ...).
        running_mean: the running means (C,). In training it is changed to (1 - momentum) * itself + momentum * the
            batch's.
        running_var: the running variances (C,), changed likewise, with the unbiased variance of the batch.
        weight: a factor for each channel (C,).
        bias: an offset for each channel (C,).
        training: whether to normalize by the mean and the biased variance of the batch; otherwise by the running ones.
        momentum: the weight of the batch in the running statistics.
        eps: a small number against division by 0.

    Returns:
        A tensor of the shape and dtype of ``input_x``.

    Raises:
        TypeError: ``input_x`` is not a Tensor.
        ValueError: the input has no axis 1, or a statistic, ``weight`` or ``bias`` is not one number for each channel.
    """
    x = check_operand(input_x, "batch_norm", "input_x")
    channels = x.shape[1] if x.ndim > 1 else None
    for name, parameter in (
        ("running_mean", running_mean),
        ("running_var", running_var),
        ("weight", weight),
        ("bias", bias),
    ):
        if channels is None or check_tensor(parameter, "BatchNorm", name).shape != (channels,):
            raise ValueError(
                f"For 'BatchNorm', '{name}' must have one number for each channel (axis 1) of the input of shape "
                f"{x.shape}, but got shape {parameter.shape}"
            )
    if training:
        y, mean, var = batch_norm_with_statistics(x, weight, bias, eps)
        arrays = [parameter._array for parameter in (running_mean, running_var, mean, var)]
        updated = compute(_moved_statistics, *arrays, momentum=momentum, count=x.size // x.shape[1])
        for running, new in zip((running_mean, running_var), updated, strict=True):
            running._rebind(new)
        return y
    return as_dtype(_affine(x, running_mean, weight * rsqrt(running_var + eps), bias), x._array.dtype)


def _in_single(x: Tensor) -> Tensor:
    """Return half precision as Float32, so that a result is rounded once, and other dtypes as they are."""
    return x.astype(float32) if x._array.dtype.itemsize == 2 else x


@declare(primitive=prim("BatchNorm", is_training=False, epsilon=1e-5, momentum=0.1, data_format="NCHW"))
def _batch_norm_and_statistics(
    x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, is_training: bool, **settings: Any
) -> tuple[Tensor, ...]:
    """Return ``batch_norm`` and the statistics.

    Args:
        x: a tensor (N, C, ...).
        scale: a factor for each channel (C,).
        bias: an offset for each channel (C,).
        mean: the running means (C,), changed in training.
        variance: the running variances (C,), changed in training.
        is_training: whether to normalize by the batch's statistics; otherwise by the running ones.
        **settings: ``epsilon``, against division by 0; ``momentum``, the weight of the batch in the running statistics;
            ``data_format``, which must be "NCHW".

    Returns:
        The result, then mean and variance twice: the batch's (biased) in training, else the running ones.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: an unsupported ``data_format``, or a parameter that is not one number for each channel.
    """
    check_format(settings["data_format"], "NCHW", "BatchNorm")
    if is_training:
        outputs = batch_norm_with_statistics(x, scale, bias, settings["epsilon"])
        batch_norm(x, mean, variance, scale, bias, True, settings["momentum"], settings["epsilon"])
        return *outputs, *outputs[1:]
    y = batch_norm(x, mean, variance, scale, bias, False, settings["momentum"], settings["epsilon"])
    return y, mean, variance, mean, variance


@np.errstate(all="ignore")
def update_running(running: Tensor, batch: Tensor, momentum: float, count: int | None = None) -> None:
    """Set running = (1 - momentum) * running + momentum * batch, without recording it.

    Args:
        running: the tensor that is changed.
        batch: a tensor of its shape.
        momentum: the weight of ``batch``.
        count: the number of elements n that ``batch`` is the variance of, if it is one; it is multiplied by n / (n -
            1).
    """
    running._rebind(compute(_mixed, running._array, batch._array, momentum=momentum, count=count))


def _mixed(old: Array, new: Array, momentum: float, count: int | None) -> Array:
    factor = 1.0 if count is None else count / max(count - 1, 1)
    return (old * (1.0 - momentum) + new * (momentum * factor)).astype(old.dtype, copy=False)


_running_statistics = Operator(
    "running_statistics",
    lambda old_mean, old_var, mean, var, momentum, count: (
        _mixed(old_mean, mean, momentum, None),
        _mixed(old_var, var, momentum, count),
    ),
).declare(
    "Running means and variances of channels (C,), moved toward those of a batch with ``count`` elements in each."
)


def _moved_statistics(*arrays: Array, momentum: float, count: int) -> tuple[Array, Array]:
    """Return both running statistics updated by one call, which is one kernel on a GPU."""
    updated: tuple[Array, Array] = _running_statistics.on_arrays(*arrays, momentum=momentum, count=count)
    return updated


def group_normalized(x: Tensor, groups: int, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """Return each sample normalized over groups of channels.

    Args:
        x: a tensor (N, C, ...).
        groups: the number of groups, which divides C.
        weight: a factor for each channel (C,).
        bias: an offset for each channel (C,).
        eps: a small number against division by 0.

    Returns:
        A tensor like ``x``.
    """
    x = check_operand(x, "group_norm", "x")
    n, c = x.shape[:2]
    length = x.size // max(1, n * groups)
    rows = layer_norm(reshape(_in_single(x), (n * groups, length)), (length,), None, None, eps)
    per_channel = (1, c) + (1,) * (x.ndim - 2)
    shift = reshape(bias, per_channel)  # used first, so that its hook comes last: MindSpore's order
    return as_dtype(add(mul(reshape(rows, x.shape), reshape(weight, per_channel)), shift), x._array.dtype)


@declare(mint="nn.functional.group_norm")
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Return (x - mean) / sqrt(var + eps) * weight + bias for each sample's groups of channels (Wu and He 2018).

    Args:
        input: x, a tensor (N, C, ...).
        num_groups: the number of groups of C / num_groups neighboring channels.
        weight: a factor for each channel (C,), 1 by default.
        bias: an offset for each channel (C,), 0 by default.
        eps: a small number against division by 0.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``num_groups`` is not positive or does not divide C, or ``weight`` or ``bias`` have the wrong shape.
    """
    x, groups = check_axes(input, 2, "group_norm"), int_of(num_groups, "group_norm", "num_groups")
    if groups < 1 or x.shape[1] % groups:
        raise ValueError(f"For 'group_norm', 'num_groups' {num_groups} must divide the channels of shape {x.shape}")
    xp, dtype, c = array_module(x._array), x._array.dtype, x.shape[1]
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and check_tensor(parameter, "group_norm", name).shape != (c,):
            raise ValueError(f"For 'group_norm', '{name}' must have the shape {(c,)}, but got {parameter.shape}")
    gamma = constant(xp.ones(c, dtype)) if weight is None else weight
    beta = constant(xp.zeros(c, dtype)) if bias is None else bias
    return group_normalized(x, groups, gamma, beta, eps)


def instance_normalized(
    x: Tensor, weight: Tensor, bias: Tensor, eps: float, running: tuple[Tensor, Tensor] | None, momentum: float
) -> Tensor:
    """Return each channel of each sample normalized.

    Args:
        x: a tensor (N, C, ...).
        weight: a factor for each channel (C,).
        bias: an offset for each channel (C,).
        eps: a small number against division by 0.
        running: running mean and variance (C,), which are updated with the means of the samples' statistics; or None.
        momentum: the weight of the new statistics in the running ones.

    Returns:
        A tensor like ``x``.
    """
    if running is not None:
        array = widen(x._array)
        axes = tuple(range(2, x.ndim))
        count = math.prod(x.shape[2:])
        update_running(running[0], Tensor._wrap(array.mean(axis=axes).mean(axis=0)), momentum)
        variance = array.var(axis=axes).mean(axis=0)
        update_running(running[1], Tensor._wrap(variance), momentum, count)
    return group_normalized(x, x.shape[1], weight, bias, eps)


def _in_dtype(F: Any, x: Value, dtype: np.dtype[Any]) -> Value:
    result: Value = x if array_dtype(x) == dtype else F.cast(x, dtype=dtype)
    return result


def _mean_square(F: Any, x: Value, gamma: Value, epsilon: float) -> tuple[Value, Value]:
    """Return ``x`` in the dtype computed in, as squares of half precision overflow, and the mean square + epsilon."""
    dtype = array_dtype(x)
    wide = _in_dtype(F, x, float32.numpy if dtype.itemsize == 2 and dtype.kind in "fV" else dtype)
    return wide, F.mean(F.square(wide), axis=tuple(range(x.ndim - gamma.ndim, x.ndim)), keepdims=True) + epsilon


def _rms_normed(x: Array, gamma: Array, epsilon: float) -> tuple[Array, Array]:
    """Return the result and the reciprocal of the root."""
    wide, square_of_root = _mean_square(ARRAY_FUNCTIONS, x, gamma, epsilon)
    rstd = ARRAY_FUNCTIONS.rsqrt(square_of_root)
    return ARRAY_FUNCTIONS.cast(wide * rstd * gamma, dtype=x.dtype), rstd


def _rms_gradients(F: Any, g: Value | None, g_rstd: Value | None, x: Value, gamma: Value, epsilon: float) -> list[Any]:
    """Return the gradients of x and gamma from those of the two outputs, of which each may be None."""
    wide, square_of_root = _mean_square(F, x, gamma, epsilon)
    rstd = F.rsqrt(square_of_root)
    of_x, of_gamma, of_rstd = 0.0, None, g_rstd
    if g is not None:
        g = _in_dtype(F, g, np.result_type(array_dtype(wide), array_dtype(gamma)))
        of_normalized = _in_dtype(F, g * gamma, array_dtype(wide))
        of_gamma, of_x = fit(F, g * (wide * rstd), gamma), of_normalized * rstd
        of_root = fit(F, of_normalized * wide, rstd)
        of_rstd = of_root if g_rstd is None else g_rstd + of_root
    of_mean = of_rstd * (rstd / square_of_root) * -0.5
    count = max(1, math.prod(gamma.shape))
    return [F.broadcast_to(of_mean * (1.0 / count), shape=tuple(x.shape)) * (wide * 2) + of_x, of_gamma]


def _rms_norm_gradients(g: Array, x: Array, gamma: Array, rstd: Array, epsilon: float) -> tuple[Array, Array]:
    of_x, of_gamma = _rms_gradients(ARRAY_FUNCTIONS, g, None, x, gamma, epsilon)
    return ARRAY_FUNCTIONS.cast(of_x, dtype=x.dtype), ARRAY_FUNCTIONS.cast(of_gamma, dtype=gamma.dtype)


def _rms_norm_rule(
    F: Any, needs: list[bool], g: tuple[Any, ...], out: tuple[Any, ...], x: Value, gamma: Value, epsilon: float
) -> list[Any]:
    if not F.wraps and g[1] is None:
        return F.rms_norm_grad(g[0], x, gamma, out[1], epsilon=epsilon)
    return _rms_gradients(F, g[0], g[1], x, gamma, epsilon)


_rms_norm = Operator("rms_norm", _rms_normed, joint_vjp=_rms_norm_rule, placeholders=(-1,), recompute=True)
_rms_norm_grad = Operator("rms_norm_grad", _rms_norm_gradients).declare("Gradients of ``rms_norm`` for x and gamma.")


@declare(primitive=prim("RmsNorm", epsilon=1e-06))
def rms_norm(x: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple[Tensor, Tensor]:
    """Return x / sqrt(mean(x * x) + epsilon) * gamma over the last axes (Zhang and Sennrich 2019).

    Args:
        x: a tensor of any shape.
        gamma: factors, whose shape is the end of that of ``x``; its axes are those normalized over.
        epsilon: a small number against division by 0.

    Returns:
        The result, like ``x``; and 1 / sqrt(mean(x * x) + epsilon), with these axes as 1, Float32 of half precision.

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: the shape of ``gamma`` is not the end of that of ``x``, or has no axis.
    """
    begin = check_tensor(x, "rms_norm", "x").ndim - check_tensor(gamma, "rms_norm", "gamma").ndim
    if gamma.ndim == 0 or begin < 0 or x.shape[begin:] != gamma.shape:
        raise ValueError(f"For 'rms_norm', the shape {gamma.shape} of 'gamma' must be the end of {x.shape}")
    return _rms_norm(x, gamma, epsilon=epsilon)


@declare(primitive=prim("LRN", depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region="ACROSS_CHANNELS"))
@through_single
def lrn(
    x: Tensor,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    norm_region: str = "ACROSS_CHANNELS",
) -> Tensor:
    """Return x / (bias + alpha * s) ** beta, s the sum of squares of the neighboring channels (Krizhevsky et al. 2012).

    Args:
        x: a tensor (N, C, H, W).
        depth_radius: the number of neighboring channels on each side; the channel itself also counts.
        bias: see the formula.
        alpha: see the formula.
        beta: the exponent.
        norm_region: must be "ACROSS_CHANNELS".

    Returns:
        A tensor like ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``depth_radius`` is not an int.
        ValueError: an unsupported ``norm_region``, a negative radius, or an input without 4 axes.
    """
    check_int(depth_radius, "lrn", "depth_radius")
    if depth_radius < 0 or norm_region != "ACROSS_CHANNELS":
        raise ValueError(
            f"For 'lrn', 'depth_radius' must not be negative and 'norm_region' must be 'ACROSS_CHANNELS', "
            f"but got {depth_radius} and {norm_region!r}"
        )
    if check_tensor(x, "lrn", "x").ndim != 4:
        raise ValueError(f"For 'lrn', 'x' must have 4 axes, but got shape {x.shape}")
    c = x.shape[1]
    xp = array_module(x._array)
    neighborhood = xp.abs(xp.arange(c)[:, None] - xp.arange(c)[None, :]) <= depth_radius
    squares = reshape(square(x), (x.shape[0], c, -1))
    sums = reshape(matmul(constant(neighborhood.astype(x._array.dtype)), squares), x.shape)
    return div(x, pow(add(mul(sums, alpha), bias), beta))


@declare(primitive=prim("InstanceNormV2", is_training=True, momentum=0.1, epsilon=1e-5))
def _instance_norm(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    is_training: bool,
    momentum: float,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return each channel of each sample normalized, then scaled and shifted.

    Args:
        x: a tensor (N, C, H, W) or (N, C1, H, W, C0), of Float16 or Float32.
        gamma: the scales, Float32 of the same shape but with length 1 along H and W.
        beta: the offsets, likewise.
        mean: the running means, likewise: used unless ``is_training``, which moves them toward the means of ``x``.
        variance: the variances, likewise.
        is_training: whether the statistics are those of ``x``.
        momentum: how far ``mean`` and ``variance`` move, 0 to 1.
        epsilon: a number added to variances, above 0.

    Returns:
        The tensor, the means of ``x`` and 1 over the roots of its variances; these two are 0 unless ``is_training``.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the wrong shape, or a setting out of range.
    """
    name = "InstanceNormV2"
    check_bool(is_training, name, "is_training")
    for argument, number in (("momentum", momentum), ("epsilon", epsilon)):
        if not 0 <= check_type(number, float, name, argument) <= 1:
            raise ValueError(f"For '{name}', '{argument}' must be in [0, 1], but got {number}")
    if check_tensor(x, name, "x").ndim not in (4, 5):
        raise ValueError(f"For '{name}', 'x' must have 4 or 5 axes, but got shape {x.shape}")
    expected = (*x.shape[:2], 1, 1, *x.shape[4:])
    for argument, parameter in (("gamma", gamma), ("beta", beta), ("mean", mean), ("variance", variance)):
        if check_tensor(parameter, name, argument).shape != expected:
            raise ValueError(f"For '{name}', '{argument}' must have the shape {expected}, but got {parameter.shape}")
    wide = cast(x, float32)
    current_mean, current_variance = mean, variance
    if is_training:
        current_mean = reduced_mean(wide, (2, 3), True)
        current_variance = reduced_mean(square(sub(wide, current_mean)), (2, 3), True)
    scale = rsqrt(add(current_variance, epsilon))
    result = cast(add(mul(mul(sub(wide, current_mean), scale), gamma), beta), x.dtype)
    if not is_training:
        return result, zeros_operator(mean), zeros_operator(variance)
    count = math.prod(x.shape[2:4])
    update_running(mean, current_mean, momentum)
    update_running(variance, current_variance, momentum, count)
    return result, current_mean, scale
