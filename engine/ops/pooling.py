"""Pooling over one to three axes: largest, mean and power mean of windows of one size.

One axis is pooled as two, the first of length 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.backend import to_device
from ..core.dtype import int32, int64, to_dtype
from ..core.operator import Operator
from ..core.surfaces import declare, prim
from ..core.tensor import Tensor
from ..core.types import DTypeLike
from ..cpu import windows
from ..cpu.array_module import array_module
from .arguments import check_tensor
from .arithmetic import abs as absolute
from .arithmetic import mul, pow, sign
from .convolution import check_format, check_windows, ints_for, pads_for
from .elementwise import as_dtype
from .shape import expand_dims, squeeze

__all__ = ["avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "max_pool2d", "max_pool3d"]

Ints = tuple[int, ...]


def _entries(axes: int) -> tuple[Operator, Operator]:
    """Largest and mean over ``axes`` axes, with their gradients and the transposes of these."""
    largest, average = f"max_pool{axes}d", f"avg_pool{axes}d"

    def largest_rule(F: Any, needs: list[bool], g: Any, out: Any, x: Any, **how: Any) -> list[Any]:
        return [getattr(F, f"{largest}_grad")(g[0], out[1], shape=tuple(x.shape), **how)]

    def largest_back(F: Any, gg: Any, out: Any, g: Any, places: Any, shape: Any, **how: Any) -> Any:
        return getattr(F, f"{largest}_pick")(gg, places, **how)

    def picked_back(F: Any, g: Any, out: Any, x: Any, places: Any, **how: Any) -> Any:
        return getattr(F, f"{largest}_grad")(g, places, shape=tuple(x.shape), **how)

    def average_rule(F: Any, g: Any, out: Any, x: Any, **how: Any) -> Any:
        return getattr(F, f"{average}_grad")(g, shape=tuple(x.shape), **how)

    def average_back(F: Any, gg: Any, out: Any, g: Any, shape: Any, **how: Any) -> Any:
        return getattr(F, average)(gg, **how)

    Operator(f"{largest}_grad", windows.max_pool_grad, (largest_back, None))
    Operator(f"{largest}_pick", windows.max_pool_pick, (picked_back, None))
    Operator(f"{average}_grad", windows.avg_pool_grad, (average_back,))
    return (
        Operator(largest, windows.max_pool, joint_vjp=largest_rule),
        Operator(average, windows.avg_pool, (average_rule,)),
    )


_POOLS = {axes: _entries(axes) for axes in (2, 3)}


def batched(function: Callable[[Tensor], Any], x: Any, axes: int, name: str) -> Any:
    """``function`` of (N, C, ...), also where ``x`` is one sample (C, ...)."""
    if check_tensor(x, name).ndim == axes + 1:
        found = function(expand_dims(x, 0))
        return tuple(squeeze(y, 0) for y in found) if isinstance(found, tuple) else squeeze(found, 0)
    if x.ndim != axes + 2:
        letters = "(N, C, D, H, W)"[: 5 + 3 * axes] if axes == 3 else "(N, C, H, W)" if axes == 2 else "(N, C, L)"
        raise ValueError(f"For '{name}', the input must have {axes + 2} axes {letters}, but got shape {x.shape}")
    return function(x)


def _ceiled(lengths: Ints, kernel: Ints, stride: Ints, dilation: Ints, pads: Ints) -> Ints:
    """Pads with so much added at the ends that a last, partial window fits, if it begins inside input or padding."""
    found = list(pads)
    for place, (n, k, s, d) in enumerate(zip(lengths, kernel, stride, dilation, strict=True)):
        before, after = pads[2 * place], pads[2 * place + 1]
        span = d * (k - 1) + 1
        count = -(-(n + before + after - span) // s) + 1
        if (count - 1) * s >= n + before:
            count -= 1
        found[2 * place + 1] = max(after, (count - 1) * s + span - n - before)
    return tuple(found)


def largest_of_windows(
    axes: int,
    name: str,
    x: Any,
    kernel_size: Any,
    stride: Any,
    pad_mode: str,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    """The largest element of each window, and with ``return_indices`` where it is in the flattened sample."""

    def pooled(x: Tensor) -> Any:
        kernel = ints_for(kernel_size, axes, name, "kernel_size")
        strides = kernel if stride is None else ints_for(stride, axes, name, "stride")
        dilations = ints_for(dilation, axes, name, "dilation")
        lengths = tuple(x.shape[2:])
        pads = pads_for(pad_mode, padding, lengths, kernel, strides, dilations, name)
        if any(p > k // 2 for p, k in zip(pads[::2], kernel, strict=True)) and pad_mode.lower() == "pad":
            raise ValueError(f"For '{name}', 'padding' must be at most half of 'kernel_size', but got {padding!r}")
        if ceil_mode:
            pads = _ceiled(lengths, kernel, strides, dilations, pads)
        check_windows(x, kernel, strides, dilations, pads, name)
        best, places = _POOLS[axes][0](x, kernel=kernel, stride=strides, pads=pads, dilation=dilations)
        if not return_indices:
            return best
        flat = _flat_places(places._array, lengths, kernel, strides, pads, dilations)
        return best, Tensor._wrap(flat)

    return batched(pooled, x, axes, name)


def _flat_places(places: Any, lengths: Ints, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints) -> Any:
    """Places in windows as places in the flattened axes of one sample and channel."""
    xp = array_module(places)
    flat = 0
    rest = places.astype("int64")
    inside = []
    for k in reversed(kernel):
        inside.append(rest % k)
        rest = rest // k
    for axis, (within, n) in enumerate(zip(reversed(inside), lengths, strict=True)):
        shape = [1] * places.ndim
        shape[axis + 2] = -1
        starts = xp.arange(places.shape[axis + 2]).reshape(shape) * stride[axis] - pads[2 * axis]
        flat = flat * n + starts + within * dilation[axis]
    return flat


def mean_of_windows(
    axes: int,
    name: str,
    x: Any,
    kernel_size: Any,
    stride: Any,
    pad_mode: str,
    padding: Any,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window; padding counts if ``count_include_pad``, what ``ceil_mode`` adds never does."""

    def pooled(x: Tensor) -> Tensor:
        kernel = ints_for(kernel_size, axes, name, "kernel_size")
        strides = kernel if stride is None else ints_for(stride, axes, name, "stride")
        flat = (1,) * axes
        lengths = tuple(x.shape[2:])
        given = pads = pads_for(pad_mode, padding, lengths, kernel, strides, flat, name)
        if ceil_mode:
            pads = _ceiled(lengths, kernel, strides, flat, pads)
        check_windows(x, kernel, strides, flat, pads, name)
        found: Tensor = _POOLS[axes][1](x, kernel=kernel, stride=strides, pads=pads)
        size = math.prod(kernel)
        if divisor_override:
            return mul(found, size / divisor_override)
        if (count_include_pad and pads == given) or not any(pads):
            return found
        counts: Any = 1
        for axis, (n, k, s) in enumerate(zip(lengths, kernel, strides, strict=True)):
            before, after = given[2 * axis : 2 * axis + 2]
            starts = np.arange(found.shape[axis + 2]) * s
            low, high = (0, n + before + after) if count_include_pad else (before, before + n)
            covered = np.minimum(starts + k, high) - np.maximum(starts, low)
            counts = np.multiply.outer(counts, covered)
        factors = (size / np.maximum(counts, 1)).astype(found._array.dtype)
        return mul(found, Tensor._wrap(to_device(factors)))

    return batched(pooled, x, axes, name)


def as_image(function: Callable[[Tensor], Any], x: Any, name: str) -> Any:
    """``function`` of (N, C, 1, L), for what comes as (N, C, L)."""

    def pooled(x: Tensor) -> Any:
        found = function(expand_dims(x, 2))
        return tuple(squeeze(y, 2) for y in found) if isinstance(found, tuple) else squeeze(found, 2)

    return batched(pooled, x, 1, name)


def flat_pair(value: Any, name: str, argument: str, first: int = 1, least: int = 1) -> Any:
    """An int, or a tuple of one, for the second of two axes."""
    return None if value is None else (first, *ints_for(value, 1, name, argument, least))


def max_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
    *,
    pad_mode: str = "pad",
) -> Any:
    """The largest element of each window."""
    return largest_of_windows(
        2, "max_pool2d", x, kernel_size, stride, pad_mode, padding, dilation, ceil_mode, return_indices
    )


def max_pool3d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    pad_mode: str = "pad",
) -> Any:
    """The largest element of each window of (N, C, D, H, W)."""
    return largest_of_windows(
        3, "max_pool3d", x, kernel_size, stride, pad_mode, padding, dilation, ceil_mode, return_indices
    )


@declare(
    primitive=prim(
        "MaxPool3D", kernel_size=1, strides=1, pad_mode="VALID", pad_list=0, ceil_mode=None, data_format="NCDHW"
    )
)
def _max_pool3d(
    x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, pad_list: Any, ceil_mode: bool | None, data_format: str
) -> Tensor:
    """The largest element of each window of (N, C, D, H, W)."""
    check_format(data_format, "NCDHW", "MaxPool3D")
    return max_pool3d(x, kernel_size, strides, pad_list, ceil_mode=bool(ceil_mode), pad_mode=pad_mode.lower())


@declare(
    primitive=prim(
        "MaxPoolWithArgmaxV2", "kernel_size", strides=None, pads=0, dilation=(1, 1), ceil_mode=False, argmax_type=int64
    )
)
def _max_pool2d_with_places(
    x: Tensor, kernel_size: Any, strides: Any, pads: Any, dilation: Any, ceil_mode: bool, argmax_type: DTypeLike
) -> tuple[Tensor, Tensor]:
    """The largest element of each window of (N, C, H, W), and where it is in the flattened image."""
    values, places = max_pool2d(x, kernel_size, strides, pads, dilation, True, ceil_mode)
    return values, _places_as(places, argmax_type, "MaxPoolWithArgmaxV2")


@declare(
    primitive=prim(
        "MaxPool3DWithArgmax", "ksize", "strides", "pads",
        dilation=(1, 1, 1), ceil_mode=False, data_format="NCDHW", argmax_type=int64,
    )
)  # fmt: skip
def _max_pool3d_with_places(
    x: Tensor,
    ksize: Any,
    strides: Any,
    pads: Any,
    dilation: Any,
    ceil_mode: bool,
    data_format: str,
    argmax_type: DTypeLike,
) -> tuple[Tensor, Tensor]:
    """The largest element of each window of (N, C, D, H, W), and where it is in the flattened volume."""
    check_format(data_format, "NCDHW", "MaxPool3DWithArgmax")
    values, places = max_pool3d(x, ksize, strides, pads, dilation, ceil_mode, True)
    return values, _places_as(places, argmax_type, "MaxPool3DWithArgmax")


def _places_as(places: Tensor, wanted: DTypeLike, name: str) -> Tensor:
    dtype = to_dtype(wanted, "argmax_type")
    if dtype not in (int32, int64):
        raise TypeError(f"For '{name}', 'argmax_type' must be mindspore.int32 or mindspore.int64, but got {wanted!r}")
    return as_dtype(places, dtype.numpy)


def avg_pool1d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    *,
    pad_mode: str = "pad",
) -> Tensor:
    """The mean of each window of (N, C, L)."""
    name = "avg_pool1d"
    sides = (0, 0, padding, padding) if isinstance(padding, int) else (0, 0, *(tuple(padding) * 2)[:2])
    window, steps = flat_pair(kernel_size, name, "kernel_size"), flat_pair(stride, name, "stride")

    def pooled(x: Tensor) -> Tensor:
        return mean_of_windows(2, name, x, window, steps, pad_mode, sides, ceil_mode, count_include_pad)

    return as_image(pooled, input_x, name)


def avg_pool2d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
    *,
    pad_mode: str = "pad",
) -> Tensor:
    """The mean of each window."""
    return mean_of_windows(
        2, "avg_pool2d", input_x, kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
    *,
    pad_mode: str = "pad",
) -> Tensor:
    """The mean of each window of (N, C, D, H, W)."""
    return mean_of_windows(
        3, "avg_pool3d", input_x, kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override
    )


def _pool_class(name: str, function: Callable[..., Tensor]) -> None:
    """The class of a pooling over two axes."""

    @declare(primitive=prim(name, kernel_size=1, strides=1, pad_mode="valid", data_format="NCHW"))
    def pooled(x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, data_format: str) -> Tensor:
        check_format(data_format, "NCHW", name)
        return function(x, kernel_size, strides, pad_mode=pad_mode)

    pooled.__doc__ = function.__doc__


_pool_class("MaxPool", max_pool2d)
_pool_class("AvgPool", avg_pool2d)


@declare(
    primitive=prim(
        "AvgPool3D", kernel_size=1, strides=1, pad_mode="valid", pad=0,
        ceil_mode=False, count_include_pad=True, divisor_override=0, data_format="NCDHW",
    )
)  # fmt: skip
def _avg_pool3d(
    x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, pad: Any, *, data_format: str, **how: Any
) -> Tensor:
    """The mean of each window of (N, C, D, H, W)."""
    check_format(data_format, "NCDHW", "AvgPool3D")
    return avg_pool3d(x, kernel_size, strides, pad, pad_mode=pad_mode.lower(), **how)


def _powers(x: Tensor, norm_type: float, averaged: Tensor, size: int) -> Tensor:
    """(sum of x ** p) ** (1 / p), as PyTorch and MindSpore have it: with the sign of the sum."""
    total = mul(averaged, size)
    return mul(sign(total), pow(absolute(total), 1.0 / norm_type))


def lp_pool1d(x: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The ``norm_type``-norm of each window of (N, C, L)."""
    (size,) = ints_for(kernel_size, 1, "lp_pool1d", "kernel_size")
    raised = pow(x, float(norm_type))
    averaged = avg_pool1d(raised, size, size if stride is None else stride, 0, ceil_mode)
    return _powers(x, norm_type, averaged, size)


def lp_pool2d(x: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The ``norm_type``-norm of each window of (N, C, H, W)."""
    size = ints_for(kernel_size, 2, "lp_pool2d", "kernel_size")
    raised = pow(x, float(norm_type))
    averaged = avg_pool2d(raised, size, size if stride is None else stride, 0, ceil_mode)
    return _powers(x, norm_type, averaged, math.prod(size))
