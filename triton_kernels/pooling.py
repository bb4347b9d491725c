"""Pooling over two and three axes: maximum and mean of windows, and their gradients.

A thread computes one element of the result by a loop over the taps of its window; for a gradient, over the windows that
contain the element, so that each element is written once, with sums in a fixed order, which is the CPU's. Arrays may
have any strides; a result has the input's layout, channels-last or C order. Means are accumulated in float32.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels.launch.launcher import cdiv, is_long
from hookscope.triton_kernels.launch.plans import Input, Kernel, Operand, Planner, is_float

Ints = tuple[int, ...]

_BLOCK = 1024
_MOST_SMALL = 256
"""Maximum positions in a window whose index fits into a byte."""


@triton.jit
def _element(
    count, channels, z_length, y_length, x_length, LAST: tl.constexpr, LONG: tl.constexpr, BLOCK: tl.constexpr
):
    """Return (index, whether it exists, sample, channel, z, y, x) of a program's elements, in memory order."""
    start = tl.program_id(0)
    if LONG:
        start = start.to(tl.int64)
    index = start * BLOCK + tl.arange(0, BLOCK)
    rest = index
    channel = rest
    if LAST:
        channel = rest % channels
        rest = rest // channels
    x = rest % x_length
    rest = rest // x_length
    y = rest % y_length
    rest = rest // y_length
    z = rest % z_length
    rest = rest // z_length
    if not LAST:
        channel = rest % channels
        rest = rest // channels
    return index, index < count, rest, channel, z, y, x


@triton.jit
def _together(base, further, RUN: tl.constexpr):
    """Return the sum of two offsets, declared to the compiler as contiguous and aligned in runs."""
    return tl.max_contiguous(tl.multiple_of(base + further, (RUN,)), (RUN,))


@triton.jit
def window_kernel(
    x_ptr,
    y_ptr,
    positions_ptr,
    count,
    channels,
    factor,
    x_z_length,
    x_y_length,
    x_x_length,
    y_z_length,
    y_y_length,
    y_x_length,
    kernel_z,
    kernel_y,
    kernel_x,
    stride_z,
    stride_y,
    stride_x,
    pad_z,
    pad_y,
    pad_x,
    dilation_z,
    dilation_y,
    dilation_x,
    x_sample,
    x_channel,
    x_z,
    x_y,
    x_x,
    positions_sample,
    positions_channel,
    positions_z,
    positions_y,
    positions_x,
    WHAT: tl.constexpr,
    LAST: tl.constexpr,
    LONG: tl.constexpr,
    RUN: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Compute y[window] = WHAT of x in the window: "largest" with its position, "mean", or the "picked" element."""
    index, exists, sample, channel, z, y, x = _element(
        count, channels, y_z_length, y_y_length, y_x_length, LAST, LONG, BLOCK
    )
    from_z = z * stride_z - pad_z
    from_y = y * stride_y - pad_y
    from_x = x * stride_x - pad_x
    base = sample * x_sample + channel * x_channel + from_z * x_z + from_y * x_y + from_x * x_x
    if WHAT == "picked":
        at = (
            sample * positions_sample
            + channel * positions_channel
            + z * positions_z
            + y * positions_y
            + x * positions_x
        )
        tap = tl.load(positions_ptr + at, mask=exists, other=0).to(tl.int32)
        at_z = tap // (kernel_y * kernel_x) * dilation_z
        at_y = tap // kernel_x % kernel_y * dilation_y
        at_x = tap % kernel_x * dilation_x
        inside = exists & (from_z + at_z >= 0) & (from_z + at_z < x_z_length)
        inside = inside & (from_y + at_y >= 0) & (from_y + at_y < x_y_length)
        inside = inside & (from_x + at_x >= 0) & (from_x + at_x < x_x_length)
        value = tl.load(x_ptr + base + at_z * x_z + at_y * x_y + at_x * x_x, mask=inside, other=0.0)
        tl.store(y_ptr + index, value, mask=exists)
    else:
        nothing = float("-inf") if WHAT == "largest" else 0.0
        result = tl.full((BLOCK,), nothing, tl.float32)
        best_tap = tl.zeros((BLOCK,), dtype=tl.int32)
        for tap in range(0, kernel_z * kernel_y * kernel_x):
            at_z = tap // (kernel_y * kernel_x) * dilation_z
            at_y = tap // kernel_x % kernel_y * dilation_y
            at_x = tap % kernel_x * dilation_x
            inside = exists & (from_z + at_z >= 0) & (from_z + at_z < x_z_length)
            inside = inside & (from_y + at_y >= 0) & (from_y + at_y < x_y_length)
            inside = inside & (from_x + at_x >= 0) & (from_x + at_x < x_x_length)
            inside = tl.max_constancy(inside & exists, (RUN,))
            at = _together(base, at_z * x_z + at_y * x_y + at_x * x_x, RUN)
            value = tl.load(x_ptr + at, mask=inside, other=nothing).to(tl.float32)
            if WHAT == "largest":
                better = ((value > result) | (value != value)) & (result == result)  # the first NaN wins and stays
                result = tl.where(better, value, result)
                best_tap = tl.where(better, tap, best_tap)
            else:
                tl.static_assert(WHAT == "mean", "no such pooling")
                result += value
        if WHAT == "largest":
            tl.store(positions_ptr + index, best_tap.to(positions_ptr.dtype.element_ty), mask=exists)
        else:
            result = result * factor
        tl.store(y_ptr + index, result.to(y_ptr.dtype.element_ty), mask=exists)


@triton.jit
def spread_kernel(
    g_ptr,
    positions_ptr,
    dx_ptr,
    count,
    channels,
    factor,
    x_z_length,
    x_y_length,
    x_x_length,
    g_z_length,
    g_y_length,
    g_x_length,
    kernel_z,
    kernel_y,
    kernel_x,
    stride_z,
    stride_y,
    stride_x,
    pad_z,
    pad_y,
    pad_x,
    dilation_z,
    dilation_y,
    dilation_x,
    g_sample,
    g_channel,
    g_z,
    g_y,
    g_x,
    positions_sample,
    positions_channel,
    positions_z,
    positions_y,
    positions_x,
    PICKED: tl.constexpr,
    LAST: tl.constexpr,
    LONG: tl.constexpr,
    G_RUN: tl.constexpr,
    POSITIONS_RUN: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Compute dx[element] = the sum of g * factor over the windows that contain it; if PICKED, whose maximum it is."""
    index, exists, sample, channel, z, y, x = _element(
        count, channels, x_z_length, x_y_length, x_x_length, LAST, LONG, BLOCK
    )
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    g_base = sample * g_sample + channel * g_channel
    positions_base = sample * positions_sample + channel * positions_channel
    for tap in range(0, kernel_z * kernel_y * kernel_x):
        # A window contains the element at this tap if it begins at this distance before it, which strides must allow.
        to_z = z + pad_z - tap // (kernel_y * kernel_x) * dilation_z
        to_y = y + pad_y - tap // kernel_x % kernel_y * dilation_y
        to_x = x + pad_x - tap % kernel_x * dilation_x
        reached = (to_z >= 0) & (to_y >= 0) & (to_x >= 0)
        reached = reached & (to_z % stride_z == 0) & (to_y % stride_y == 0) & (to_x % stride_x == 0)
        to_z = to_z // stride_z
        to_y = to_y // stride_y
        to_x = to_x // stride_x
        reached = reached & (to_z < g_z_length) & (to_y < g_y_length) & (to_x < g_x_length)
        g_mask = tl.max_constancy(reached & exists, (G_RUN,))
        at = _together(g_base, to_z * g_z + to_y * g_y + to_x * g_x, G_RUN)
        g = tl.load(g_ptr + at, mask=g_mask, other=0.0).to(tl.float32)
        if PICKED:
            at = _together(positions_base, to_z * positions_z + to_y * positions_y + to_x * positions_x, POSITIONS_RUN)
            positions_mask = tl.max_constancy(reached & exists, (POSITIONS_RUN,))
            chosen = tl.load(positions_ptr + at, mask=positions_mask, other=0).to(tl.int32) == tap
            total += tl.where(chosen, g, 0.0)
        else:
            total += g * factor
    tl.store(dx_ptr + index, total.to(dx_ptr.dtype.element_ty), mask=exists)


def _three(values: Ints, missing: int) -> Ints:
    """Return the values of three axes, the first of which may be missing."""
    return (*(missing,) * (3 - len(values)), *values)


def _window(kernel: Ints, stride: Ints, pads: Ints, dilation: Ints) -> Ints:
    return (*_three(kernel, 1), *_three(stride, 1), *_three(pads[::2], 0), *_three(dilation, 1))


def _strides(x: Operand) -> Ints:
    return (*x.strides[:2], *_three(x.strides[2:], 0))


def _is_last(x: Operand) -> bool:
    """Return whether the channels are contiguous; for single pixels, both layouts are."""
    return x.strides[1] == 1 or math.prod(x.shape[2:]) == 1


def _made(call: Planner, shape: Ints, dtype: Any, last: bool) -> Operand:
    return call.empty(shape, dtype, (0, *range(2, len(shape)), 1) if last else None)


def _run(x: Operand, last: bool) -> int:
    """Return the length of aligned contiguous runs of elements of one pixel, within 16 bytes."""
    others = [stride for axis, stride in enumerate(x.strides) if axis != 1 and x.shape[axis] > 1]
    return math.gcd(16 // x.itemsize, x.shape[1], *others) if last and x.strides[1] == 1 and x.is_aligned else 1


def _is_long(*arrays: Operand | None) -> bool:
    """Return whether an index of one of them needs 64 bits."""
    return any(
        is_long(_BLOCK + sum((length - 1) * abs(stride) for length, stride in zip(x.shape, x.strides, strict=True)))
        for x in arrays
        if x is not None
    )


def _are_positions(positions: Input, like: Ints) -> bool:
    return isinstance(positions, Operand) and positions.dtype.name in ("uint8", "int32") and positions.shape == like


def _windows(
    call: Planner, what: str, x: Operand, y: Operand, positions: Operand | None, last: bool, factor: float, window: Ints
) -> None:
    strides = (0,) * 5 if positions is None else _strides(positions)
    lengths = (*_three(x.shape[2:], 1), *_three(y.shape[2:], 1))
    constants = {"WHAT": what, "LAST": last, "LONG": _is_long(x, y, positions), "RUN": _run(x, last), "BLOCK": _BLOCK}
    scalars = (y.size, x.shape[1], factor, *lengths, *window, *_strides(x), *strides)
    call.launch(window_kernel, cdiv(y.size, _BLOCK), (x, y, positions), scalars, constants)


def _spread(
    call: Planner, g: Operand, positions: Operand | None, dx: Operand, last: bool, factor: float, window: Ints
) -> None:
    strides = (0,) * 5 if positions is None else _strides(positions)
    lengths = (*_three(dx.shape[2:], 1), *_three(g.shape[2:], 1))
    constants = {
        "PICKED": positions is not None,
        "LAST": last,
        "LONG": _is_long(g, dx, positions),
        "G_RUN": _run(g, last),
        "POSITIONS_RUN": 1 if positions is None else _run(positions, last),
        "BLOCK": _BLOCK,
    }
    scalars = (dx.size, g.shape[1], factor, *lengths, *window, *_strides(g), *strides)
    call.launch(spread_kernel, cdiv(dx.size, _BLOCK), (g, positions, dx), scalars, constants)


def _output_shape(x: Operand, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints) -> Ints:
    lengths = [
        (n + before + after - d * (k - 1) - 1) // s + 1
        for n, k, s, d, before, after in zip(x.shape[2:], kernel, stride, dilation, pads[::2], pads[1::2], strict=True)
    ]
    return (*x.shape[:2], *lengths)


def _max_pool(
    axes: int, call: Planner, x: Input, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints
) -> tuple[Operand, Operand] | None:
    if not is_float(x) or x.ndim != axes + 2:
        return None
    shape = _output_shape(x, kernel, stride, pads, dilation)
    if min(shape) < 1:
        return None
    last = _is_last(x)
    y = _made(call, shape, x.dtype, last)
    positions = _made(call, shape, np.uint8 if math.prod(kernel) <= _MOST_SMALL else np.int32, last)
    _windows(call, "largest", x, y, positions, last, 1.0, _window(kernel, stride, pads, dilation))
    return y, positions


def _max_pool_grad(
    axes: int,
    call: Planner,
    g: Input,
    positions: Input,
    shape: Ints,
    kernel: Ints,
    stride: Ints,
    pads: Ints,
    dilation: Ints,
) -> Operand | None:
    if (
        not is_float(g)
        or g.ndim != axes + 2
        or not isinstance(positions, Operand)
        or not _are_positions(positions, g.shape)
    ):
        return None
    if math.prod(shape) == 0:
        return None
    last = _is_last(positions)
    dx = _made(call, shape, g.dtype, last)
    _spread(call, g, positions, dx, last, 1.0, _window(kernel, stride, pads, dilation))
    return dx


def _max_pool_pick(
    axes: int, call: Planner, x: Input, positions: Input, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints
) -> Operand | None:
    if not is_float(x) or x.ndim != axes + 2 or not isinstance(positions, Operand) or positions.size == 0:
        return None
    if not _are_positions(positions, (*x.shape[:2], *positions.shape[2:])) or positions.ndim != x.ndim:
        return None
    last = _is_last(positions)
    y = _made(call, positions.shape, x.dtype, last)
    _windows(call, "picked", x, y, positions, last, 1.0, _window(kernel, stride, pads, dilation))
    return y


def _avg_pool(axes: int, call: Planner, x: Input, kernel: Ints, stride: Ints, pads: Ints) -> Operand | None:
    if not is_float(x) or x.ndim != axes + 2:
        return None
    dilation = (1,) * axes
    shape = _output_shape(x, kernel, stride, pads, dilation)
    if min(shape) < 1:
        return None
    last = _is_last(x)
    y = _made(call, shape, x.dtype, last)
    _windows(call, "mean", x, y, None, last, 1 / math.prod(kernel), _window(kernel, stride, pads, dilation))
    return y


def _avg_pool_grad(
    axes: int, call: Planner, g: Input, shape: Ints, kernel: Ints, stride: Ints, pads: Ints
) -> Operand | None:
    if not is_float(g) or g.ndim != axes + 2 or math.prod(shape) == 0:
        return None
    last = _is_last(g)
    dx = _made(call, shape, g.dtype, last)
    _spread(call, g, None, dx, last, 1 / math.prod(kernel), _window(kernel, stride, pads, (1,) * axes))
    return dx


_PLANS: dict[str, Callable[..., Any]] = {
    "max_pool{}d": _max_pool,
    "max_pool{}d_grad": _max_pool_grad,
    "max_pool{}d_pick": _max_pool_pick,
    "avg_pool{}d": _avg_pool,
    "avg_pool{}d_grad": _avg_pool_grad,
}

KERNELS = {name.format(axes): Kernel(partial(plan, axes)) for name, plan in _PLANS.items() for axes in (2, 3)}
