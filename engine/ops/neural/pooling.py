"""Pooling over one to three axes: largest, mean and power mean of windows of one size.

One axis is pooled as two, the first of length 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.argument_checks import check_one_of, check_real, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array, DTypeLike, Functions, Ints, Value
from ...cpu.array_module import array_module
from ...cpu.neural import windows
from ...tensors.backend import to_device
from ...tensors.dtype import int32, int64, numpy_dtype
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import check_tensor, ints_of
from ..elementwise.arithmetic import mul, pow
from ..elementwise.comparison import where
from ..shapes.broadcasting import as_dtype, through_single
from ..shapes.reshape import expand_dims, squeeze
from .convolution import check_format, check_windows, ints_for, pads_for

__all__ = ["avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "max_pool2d", "max_pool3d"]

Lengths = tuple[int, ...]


def _entries(axes: int) -> tuple[Operator, Operator]:
    """Return the largest and the mean over ``axes`` axes, and add their gradients and the transposes to the table."""
    largest, average = f"max_pool{axes}d", f"avg_pool{axes}d"

    def largest_rule(
        F: Functions, needs: list[bool], g: tuple[Any, ...], out: tuple[Any, ...], x: Value, **window: Any
    ) -> list[Any]:
        return [getattr(F, f"{largest}_grad")(g[0], out[1], shape=tuple(x.shape), **window)]

    def largest_back(
        F: Functions, gg: Value, out: Value, g: Value, positions: Value, shape: tuple[int, ...], **window: Any
    ) -> Any:
        return getattr(F, f"{largest}_pick")(gg, positions, **window)

    def picked_back(F: Functions, g: Value, out: Value, x: Value, positions: Value, **window: Any) -> Any:
        return getattr(F, f"{largest}_grad")(g, positions, shape=tuple(x.shape), **window)

    def average_rule(F: Functions, g: Value, out: Value, x: Value, **window: Any) -> Any:
        return getattr(F, f"{average}_grad")(g, shape=tuple(x.shape), **window)

    def average_back(F: Functions, gg: Value, out: Value, g: Value, shape: tuple[int, ...], **window: Any) -> Any:
        return getattr(F, average)(gg, **window)

    Operator(f"{largest}_grad", windows.max_pool_grad, (largest_back, None))
    Operator(f"{largest}_pick", windows.max_pool_pick, (picked_back, None))
    Operator(f"{average}_grad", windows.avg_pool_grad, (average_back,))
    return (
        Operator(largest, windows.max_pool, joint_vjp=largest_rule, placeholders=(0, -1)),
        Operator(average, windows.avg_pool, (average_rule,), placeholders=(0, -1)),
    )


_POOLS = {axes: _entries(axes) for axes in (2, 3)}


def batched(function: Callable[[Tensor], Any], x: Tensor, axes: int, name: str, argument: str = "input") -> Any:
    """Return ``function`` of (N, C, ...), also if ``x`` is one sample (C, ...)."""
    if check_tensor(x, name, argument).ndim == axes + 1:
        result = function(expand_dims(x, 0))
        return tuple(squeeze(y, 0) for y in result) if isinstance(result, tuple) else squeeze(result, 0)
    if x.ndim != axes + 2:
        letters = "(N, C, D, H, W)"[: 5 + 3 * axes] if axes == 3 else "(N, C, H, W)" if axes == 2 else "(N, C, L)"
        raise ValueError(f"For '{name}', the input must have {axes + 2} axes {letters}, but got shape {x.shape}")
    return function(x)


def _ceiled(lengths: Lengths, kernel: Lengths, stride: Lengths, dilation: Lengths, pads: Lengths) -> Lengths:
    """Return pads enlarged at the ends so that a last, partial window fits, if it begins inside input or padding."""
    result = list(pads)
    for axis, (n, k, s, d) in enumerate(zip(lengths, kernel, stride, dilation, strict=True)):
        before, after = pads[2 * axis], pads[2 * axis + 1]
        span = d * (k - 1) + 1
        count = -(-(n + before + after - span) // s) + 1
        if (count - 1) * s >= n + before:
            count -= 1
        result[2 * axis + 1] = max(after, (count - 1) * s + span - n - before)
    return tuple(result)


def largest_of_windows(
    axes: int,
    name: str,
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None,
    pad_mode: str,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    """Return the largest element of each window.

    Args:
        axes: how many axes are pooled, 2 or 3.
        name: of the function, for errors.
        x: a tensor (N, C, ...), or one sample (C, ...).
        kernel_size: the size of a window.
        stride: the distance between windows; ``kernel_size`` if None.
        pad_mode: "same", "valid" or "pad".
        padding: the number of elements added at the ends, with mode "pad".
        dilation: the distance between elements of a window.
        ceil_mode: whether a last, partial window counts.
        return_indices: whether to return also the position of each in its flattened sample and channel.

    Returns:
        A tensor, or with ``return_indices`` two, the second in Int64.
    """

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
        best, positions = _POOLS[axes][0](x, kernel=kernel, stride=strides, pads=pads, dilation=dilations)
        if not return_indices:
            return best
        flat = _flat_positions(positions._array, lengths, kernel, strides, pads, dilations)
        return best, Tensor._wrap(flat)

    return batched(pooled, x, axes, name, "x")


def _flat_positions(
    positions: Array, lengths: Lengths, kernel: Lengths, stride: Lengths, pads: Lengths, dilation: Lengths
) -> Any:
    """Return positions in windows as positions in the flattened axes of one sample and channel."""
    xp = array_module(positions)
    flat = 0
    remaining = positions.astype("int64")
    inside = []
    for k in reversed(kernel):
        inside.append(remaining % k)
        remaining = remaining // k
    for axis, (within, n) in enumerate(zip(reversed(inside), lengths, strict=True)):
        shape = [1] * positions.ndim
        shape[axis + 2] = -1
        starts = xp.arange(positions.shape[axis + 2]).reshape(shape) * stride[axis] - pads[2 * axis]
        flat = flat * n + starts + within * dilation[axis]
    return flat


def mean_of_windows(
    axes: int,
    name: str,
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None,
    pad_mode: str,
    padding: Ints,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the mean of each window.

    Args:
        axes: how many axes are pooled, 2 or 3.
        name: of the function, for errors.
        x: a tensor (N, C, ...), or one sample (C, ...).
        kernel_size: the size of a window.
        stride: the distance between windows; ``kernel_size`` if None.
        pad_mode: "same", "valid" or "pad".
        padding: the number of zeros added at the ends, with mode "pad".
        ceil_mode: whether a last, partial window counts; the elements added for it are never counted.
        count_include_pad: whether padding counts in the mean.
        divisor_override: the divisor of sums; by default, and if 0, the number of elements that count.

    Raises:
        ValueError: ``divisor_override`` is negative or not an int.
    """
    if divisor_override is not None and (
        isinstance(divisor_override, bool) or not isinstance(divisor_override, int) or divisor_override < 0
    ):
        raise ValueError(f"For '{name}', 'divisor_override' must be an int not below 0, but got {divisor_override!r}")

    def pooled(x: Tensor) -> Tensor:
        kernel = ints_for(kernel_size, axes, name, "kernel_size")
        strides = kernel if stride is None else ints_for(stride, axes, name, "stride")
        flat = (1,) * axes
        lengths = tuple(x.shape[2:])
        sample_pads = pads = pads_for(pad_mode, padding, lengths, kernel, strides, flat, name)
        if ceil_mode:
            pads = _ceiled(lengths, kernel, strides, flat, pads)
        check_windows(x, kernel, strides, flat, pads, name)
        means: Tensor = _POOLS[axes][1](x, kernel=kernel, stride=strides, pads=pads)
        size = math.prod(kernel)
        if divisor_override:
            return mul(means, size / divisor_override)
        if (count_include_pad and pads == sample_pads) or not any(pads):
            return means
        counts: Any = 1
        for axis, (n, k, s) in enumerate(zip(lengths, kernel, strides, strict=True)):
            before, after = sample_pads[2 * axis : 2 * axis + 2]
            starts = np.arange(means.shape[axis + 2]) * s
            low, high = (0, n + before + after) if count_include_pad else (before, before + n)
            widths = np.minimum(starts + k, high) - np.maximum(starts, low)
            counts = np.multiply.outer(counts, widths)
        factors = (size / np.maximum(counts, 1)).astype(means._array.dtype)
        return mul(means, constant(to_device(factors)))

    return batched(pooled, x, axes, name, "input_x")


def as_image(function: Callable[[Tensor], Any], x: Tensor, name: str, argument: str = "input") -> Any:
    """Return ``function`` of (N, C, 1, L) for an input (N, C, L)."""

    def pooled(x: Tensor) -> Any:
        result = function(expand_dims(x, 2))
        return tuple(squeeze(y, 2) for y in result) if isinstance(result, tuple) else squeeze(result, 2)

    return batched(pooled, x, 1, name, argument)


def flat_pair(value: Ints | None, name: str, argument: str, first: int = 1, least: int = 1) -> Any:
    """Return an int, or a tuple of one, as a pair for two axes, of which the first gets ``first``."""
    return None if value is None else (first, *ints_for(value, 1, name, argument, least))


def max_pool2d(
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
    *,
    pad_mode: str = "pad",
) -> Any:
    """Return the largest element of each window.

    Args:
        x: a tensor (N, C, H, W), or one sample (C, H, W).
        kernel_size: the size of a window, an int or two.
        stride: the distance between windows, likewise; ``kernel_size`` by default.
        padding: the number of elements, never the largest, added at each end of H and W, at most half a window; an
            int, two, or (top, bottom, left, right). Only with ``pad_mode`` "pad".
        dilation: the distance between elements of a window, an int or two.
        return_indices: whether to return also the position of each largest element.
        ceil_mode: whether a last, partial window counts, if it begins inside input or padding.
        pad_mode: "pad"; "valid" (no padding); "same" (ceil(length / stride) windows).

    Returns:
        A tensor (N, C, H', W'), H' = floor((H + padding - dilation * (kernel_size - 1) - 1) / stride) + 1 with both
        ends' padding. With ``return_indices`` also an Int64 tensor of that shape: the position in the flattened H x W.

    Raises:
        TypeError: ``x`` is not a Tensor, or a setting is not an int or tuple of ints.
        ValueError: a setting out of range, an unknown ``pad_mode``, the wrong number of axes, or no window fits.
    """
    return largest_of_windows(
        2, "max_pool2d", x, kernel_size, stride, pad_mode, padding, dilation, ceil_mode, return_indices
    )


def max_pool3d(
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    pad_mode: str = "pad",
) -> Any:
    """Return the largest element of each window of three axes.

    Args:
        x: a tensor (N, C, D, H, W), or one sample (C, D, H, W).
        kernel_size: the size of a window, an int or three.
        stride: the distance between windows, likewise; ``kernel_size`` by default.
        padding: the number of elements, never the largest, added at each end of the axes, at most half a window; an
            int, three, or six (both ends of each axis). Only with ``pad_mode`` "pad".
        dilation: the distance between elements of a window, an int or three.
        ceil_mode: whether a last, partial window counts, if it begins inside input or padding.
        return_indices: whether to return also the position of each largest element.
        pad_mode: "pad"; "valid" (no padding); "same" (ceil(length / stride) windows).

    Returns:
        A tensor (N, C, D', H', W'); with ``return_indices`` also an Int64 tensor of that shape: the position in the
        flattened D x H x W.

    Raises:
        TypeError: ``x`` is not a Tensor, or a setting is not an int or tuple of ints.
        ValueError: a setting out of range, an unknown ``pad_mode``, the wrong number of axes, or no window fits.
    """
    return largest_of_windows(
        3, "max_pool3d", x, kernel_size, stride, pad_mode, padding, dilation, ceil_mode, return_indices
    )


@declare(
    primitive=prim(
        "MaxPool3D", kernel_size=1, strides=1, pad_mode="VALID", pad_list=0, ceil_mode=None, data_format="NCDHW"
    )
)
def _max_pool3d(
    x: Tensor, kernel_size: Ints, strides: Ints, pad_mode: str, pad_list: Ints, ceil_mode: bool | None, data_format: str
) -> Tensor:
    """Return the largest element of each window of three axes.

    Args:
        x: a tensor (N, C, D, H, W).
        kernel_size: the size of a window, an int or three.
        strides: the distance between windows, likewise.
        pad_mode: "SAME", "VALID" or "PAD", in capitals or not, see ``max_pool3d``.
        pad_list: the number of elements added at each end with "PAD", an int, three or six; else 0.
        ceil_mode: whether a last, partial window counts, with "PAD"; else None.
        data_format: must be "NCDHW".

    Returns:
        A tensor (N, C, D', H', W').

    Raises:
        TypeError: ``x`` is not a Tensor, or a setting is not an int or tuple of ints.
        ValueError: a setting out of range or with a ``pad_mode`` that does not take it, an unsupported ``data_format``,
            or no window fits.
    """
    check_format(data_format, "NCDHW", "MaxPool3D")
    if ceil_mode is not None and pad_mode.lower() != "pad":
        raise ValueError(f"For 'MaxPool3D', 'ceil_mode' must be None with pad_mode {pad_mode!r}, but got {ceil_mode}")
    return max_pool3d(x, kernel_size, strides, pad_list, ceil_mode=bool(ceil_mode), pad_mode=pad_mode.lower())


def _with_positions_as(dtype: DTypeLike | None, name: str, best: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Return the positions in the dtype ``dtype`` of a class, Int64 by default."""
    if dtype is not None and dtype not in (int32, int64):
        raise TypeError(f"For '{name}', 'argmax_type' must be int32 or int64, but got {dtype}")
    return best, positions if dtype is None else as_dtype(positions, numpy_dtype(dtype))


@declare(
    primitive=prim(
        "MaxPoolWithArgmaxV2", "kernel_size", strides=None, pads=0, dilation=(1, 1), ceil_mode=False, argmax_type=None
    )
)
def _max_pool2d_with_positions(
    x: Tensor,
    kernel_size: Ints,
    strides: Ints | None,
    pads: Ints,
    dilation: Ints,
    ceil_mode: bool,
    argmax_type: DTypeLike | None,
) -> tuple[Tensor, Tensor]:
    """Return the largest element of each window, and its position.

    Args:
        x: a tensor (N, C, H, W).
        kernel_size: the size of a window, an int or two.
        strides: the distance between windows, likewise; ``kernel_size`` by default.
        pads: the number of elements, never the largest, added at each end, at most half a window.
        dilation: the distance between elements of a window, an int or two.
        ceil_mode: whether a last, partial window counts.
        argmax_type: the dtype of the positions, int32 or int64, which is the default.

    Returns:
        Two tensors (N, C, H', W'): the elements, and their positions in the flattened H x W.

    Raises:
        TypeError: ``x`` is not a Tensor, or an unsupported ``argmax_type``.
        ValueError: a setting out of range, or no window fits.
    """
    result = max_pool2d(x, kernel_size, strides, pads, dilation, True, ceil_mode)
    return _with_positions_as(argmax_type, "MaxPoolWithArgmaxV2", *result)


@declare(
    primitive=prim(
        "MaxPool3DWithArgmax",
        "ksize",
        "strides",
        "pads",
        dilation=(1, 1, 1),
        ceil_mode=False,
        data_format="NCDHW",
        argmax_type=None,
    )
)
def _max_pool3d_with_positions(
    x: Tensor,
    ksize: Ints,
    strides: Ints,
    pads: Ints,
    dilation: Ints,
    ceil_mode: bool,
    data_format: str,
    argmax_type: DTypeLike | None,
) -> tuple[Tensor, Tensor]:
    """Return the largest element of each window of three axes, and its position.

    Args:
        x: a tensor (N, C, D, H, W).
        ksize: the size of a window, an int or three.
        strides: the distance between windows, likewise.
        pads: the number of elements, never the largest, added at each end, at most half a window.
        dilation: the distance between elements of a window, an int or three.
        ceil_mode: whether a last, partial window counts.
        data_format: must be "NCDHW".
        argmax_type: the dtype of the positions, int32 or int64, which is the default.

    Returns:
        Two tensors (N, C, D', H', W'): the elements, and their positions in the flattened D x H x W.

    Raises:
        TypeError: ``x`` is not a Tensor, or an unsupported ``argmax_type``.
        ValueError: a setting out of range, an unsupported ``data_format``, or no window fits.
    """
    check_format(data_format, "NCDHW", "MaxPool3DWithArgmax")
    return _with_positions_as(
        argmax_type, "MaxPool3DWithArgmax", *max_pool3d(x, ksize, strides, pads, dilation, ceil_mode, True)
    )


def avg_pool1d(
    input_x: Tensor,
    kernel_size: Ints = 1,
    stride: Ints = 1,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    *,
    pad_mode: str = "pad",
) -> Tensor:
    """Return the mean of each window of one axis.

    Args:
        input_x: a tensor (N, C, L), or one sample (C, L).
        kernel_size: the size of a window.
        stride: the distance between windows.
        padding: the number of zeros added at both ends, or (before, after). Only with ``pad_mode`` "pad".
        ceil_mode: whether a last, partial window counts, if it begins inside input or padding.
        count_include_pad: whether padding counts in the mean.
        pad_mode: "pad"; "valid" (no padding); "same" (ceil(L / stride) windows).

    Returns:
        A tensor (N, C, L'), L' = floor((L + padding - kernel_size) / stride) + 1 with both ends' padding.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or a setting is not an int.
        ValueError: a setting out of range, an unknown ``pad_mode``, the wrong number of axes, or no window fits.
    """
    name = "avg_pool1d"
    sides = (0, 0, *(ints_of(padding, name, "padding") * 2)[:2])
    window, steps = flat_pair(kernel_size, name, "kernel_size"), flat_pair(stride, name, "stride")

    def pooled(x: Tensor) -> Tensor:
        return mean_of_windows(2, name, x, window, steps, pad_mode, sides, ceil_mode, count_include_pad)

    return as_image(pooled, input_x, name, "input_x")


def avg_pool2d(
    input_x: Tensor,
    kernel_size: Ints = 1,
    stride: Ints = 1,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
    *,
    pad_mode: str = "pad",
) -> Tensor:
    """Return the mean of each window.

    Args:
        input_x: a tensor (N, C, H, W), or one sample (C, H, W).
        kernel_size: the size of a window, an int or two.
        stride: the distance between windows, likewise.
        padding: the number of zeros added at the ends of H and W: an int, two, or (top, bottom, left, right). Only with
            ``pad_mode`` "pad".
        ceil_mode: whether a last, partial window counts, if it begins inside input or padding.
        count_include_pad: whether padding counts in the mean.
        divisor_override: the divisor of sums; with 0 the number of elements that count.
        pad_mode: "pad"; "valid" (no padding); "same" (ceil(length / stride) windows).

    Returns:
        A tensor (N, C, H', W'), H' = floor((H + padding - kernel_size) / stride) + 1 with both ends' padding.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or a setting is not an int or tuple of ints.
        ValueError: a setting out of range, an unknown ``pad_mode``, the wrong number of axes, or no window fits.
    """
    return mean_of_windows(
        2, "avg_pool2d", input_x, kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    input_x: Tensor,
    kernel_size: Ints = 1,
    stride: Ints = 1,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
    *,
    pad_mode: str = "pad",
) -> Tensor:
    """Return the mean of each window of three axes.

    Args:
        input_x: a tensor (N, C, D, H, W), or one sample (C, D, H, W).
        kernel_size: the size of a window, an int or three.
        stride: the distance between windows, likewise.
        padding: the number of zeros added at the ends of the axes: an int, three, or six (both ends of each axis). Only
            with ``pad_mode`` "pad".
        ceil_mode: whether a last, partial window counts, if it begins inside input or padding.
        count_include_pad: whether padding counts in the mean.
        divisor_override: the divisor of sums; with 0 the number of elements that count.
        pad_mode: "pad"; "valid" (no padding); "same" (ceil(length / stride) windows).

    Returns:
        A tensor (N, C, D', H', W').

    Raises:
        TypeError: ``input_x`` is not a Tensor, or a setting is not an int or tuple of ints.
        ValueError: a setting out of range, an unknown ``pad_mode``, the wrong number of axes, or no window fits.
    """
    return mean_of_windows(
        3, "avg_pool3d", input_x, kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override
    )


def _pool_class(name: str, function: Callable[..., Tensor], what: str, mode: str, **window: Any) -> None:
    """Declare the class of a pooling over two axes."""

    @declare(primitive=prim(name, kernel_size=1, strides=1, pad_mode=mode, data_format="NCHW"))
    def pooled(x: Tensor, kernel_size: Ints, strides: Ints, pad_mode: str, data_format: str) -> Tensor:
        check_format(data_format, "NCHW", name)
        return function(x, kernel_size, strides, pad_mode=pad_mode, **window)

    pooled.__doc__ = f"""The {what} of each window.

    Args:
        x: a tensor (N, C, H, W).
        kernel_size: the size of a window, an int or two.
        strides: how far windows are apart, likewise.
        pad_mode: "valid" (no padding) or "same" (ceil(length / stride) windows), in capitals or not.
        data_format: must be "NCHW".

    Returns:
        A tensor (N, C, H', W').

    Raises:
        TypeError: ``x`` is not a Tensor, or a setting is not an int or tuple of ints.
        ValueError: a setting out of range, an unsupported ``data_format``, or no window fits.
    """


_pool_class("MaxPool", max_pool2d, "largest element", "valid")
# As in MindSpore, whose nn.AvgPool2d is this class.
_pool_class("AvgPool", avg_pool2d, "mean, without padding,", "VALID", count_include_pad=False)


@declare(
    primitive=prim(
        "AvgPool3D",
        kernel_size=1,
        strides=1,
        pad_mode="valid",
        pad=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=0,
        data_format="NCDHW",
    )
)
def _avg_pool3d(
    x: Tensor, kernel_size: Ints, strides: Ints, pad_mode: str, pad: Ints, *, data_format: str, **window: Any
) -> Tensor:
    """Return the mean of each window of three axes.

    Args:
        x: a tensor (N, C, D, H, W).
        kernel_size: the size of a window, an int or three.
        strides: the distance between windows, likewise.
        pad_mode: "same", "valid" or "pad", in capitals or not, see ``avg_pool3d``.
        pad: the number of zeros added at the ends with "pad", an int, three or six; else 0.
        data_format: must be "NCDHW".
        **how: ``ceil_mode``, ``count_include_pad`` and ``divisor_override``, see ``avg_pool3d``.

    Returns:
        A tensor (N, C, D', H', W').

    Raises:
        TypeError: ``x`` is not a Tensor, or a setting is not an int or tuple of ints.
        ValueError: a setting out of range or with a ``pad_mode`` that does not take it, an unsupported ``data_format``,
            or no window fits.
    """
    check_format(data_format, "NCDHW", "AvgPool3D")
    return avg_pool3d(x, kernel_size, strides, pad, pad_mode=pad_mode.lower(), **window)


def _raised(x: Tensor, norm_type: float, name: str) -> Tensor:
    if check_real(norm_type, name, "norm_type") == 0:
        raise ValueError(f"For '{name}', 'norm_type' must not be 0")
    return pow(x, float(norm_type))


def _root(averaged: Tensor, norm_type: float, size: int) -> Tensor:
    """Return (sum of x ** p) ** (1 / p). The gradient is 0 where the sum is 0, not infinity times 0."""
    total = mul(averaged, size)
    zero = total == 0
    return where(zero, 0.0 if norm_type > 0 else math.inf, pow(where(zero, 1.0, total), 1.0 / norm_type))


@through_single
def lp_pool1d(
    x: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: bool = False
) -> Tensor:
    """Return the p-norm of each window of one axis: sum(x ** p) ** (1 / p).

    Args:
        x: a tensor (N, C, L), or one sample (C, L).
        norm_type: p, not 0. With an odd p a negative sum gives NaN.
        kernel_size: the size of a window.
        stride: the distance between windows; ``kernel_size`` by default.
        ceil_mode: whether a last, partial window counts; its sum is scaled to that of a full one.

    Returns:
        A tensor (N, C, L'); where a sum is 0, its gradient is 0.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``kernel_size`` or ``stride`` is not an int.
        ValueError: ``norm_type`` is 0, the wrong number of axes, or no window fits.
    """
    (size,) = ints_for(kernel_size, 1, "lp_pool1d", "kernel_size")
    powers = _raised(check_tensor(x, "lp_pool1d", "x"), norm_type, "lp_pool1d")
    means = avg_pool1d(powers, size, size if stride is None else stride, 0, ceil_mode)
    return _root(means, norm_type, size)


@through_single
def lp_pool2d(
    x: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: bool = False
) -> Tensor:
    """Return the p-norm of each window: sum(x ** p) ** (1 / p).

    Args:
        x: a tensor (N, C, H, W), or one sample (C, H, W).
        norm_type: p, not 0. With an odd p a negative sum gives NaN.
        kernel_size: the size of a window, an int or two.
        stride: the distance between windows, likewise; ``kernel_size`` by default.
        ceil_mode: whether a last, partial window counts; its sum is scaled to that of a full one.

    Returns:
        A tensor (N, C, H', W'); where a sum is 0, its gradient is 0.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``kernel_size`` or ``stride`` is not an int or tuple of ints.
        ValueError: ``norm_type`` is 0, the wrong number of axes, or no window fits.
    """
    size = ints_for(kernel_size, 2, "lp_pool2d", "kernel_size")
    powers = _raised(check_tensor(x, "lp_pool2d", "x"), norm_type, "lp_pool2d")
    means = avg_pool2d(powers, size, size if stride is None else stride, 0, ceil_mode)
    return _root(means, norm_type, math.prod(size))


@declare(primitive=prim("MaxPoolWithArgmax", kernel_size=1, strides=1, pad_mode="valid", data_format="NCHW"))
def _max_pool2d_positions_of_sample(
    x: Tensor, kernel_size: Ints, strides: Ints, pad_mode: str, data_format: str
) -> tuple[Tensor, Tensor]:
    """Return the largest element of each window, and its position in its sample.

    Args:
        x: a tensor (N, C, H, W).
        kernel_size: the size of a window, an int or two.
        strides: the distance between windows, likewise.
        pad_mode: "valid" (no padding) or "same" (ceil(length / stride) windows), in capitals or not.
        data_format: must be "NCHW".

    Returns:
        Two tensors (N, C, H', W'): the elements, and their positions in the flattened C x H x W (Int32).

    Raises:
        TypeError: ``x`` is not a Tensor, or a setting is not an int or tuple of ints.
        ValueError: a setting out of range, an unknown ``pad_mode`` or ``data_format``, or no window fits.
    """
    name = "MaxPoolWithArgmax"
    check_format(data_format, "NCHW", name)
    mode = check_one_of(check_type(pad_mode, str, name, "pad_mode").lower(), ("valid", "same"), name, "pad_mode")
    if check_tensor(x, name, "x").ndim != 4:
        raise ValueError(f"For '{name}', 'x' must have 4 axes (N, C, H, W), but got shape {x.shape}")
    best, positions = max_pool2d(x, kernel_size, strides, return_indices=True, pad_mode=mode)
    xp = array_module(x._array)
    channel_starts = xp.arange(x.shape[1]).reshape(-1, 1, 1) * math.prod(x.shape[2:])
    return best, Tensor._wrap((positions._array + channel_starts).astype(np.int32))
