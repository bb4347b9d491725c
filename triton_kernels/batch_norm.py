"""Batch normalization in training with its gradients, normalization for prediction, and running statistics.

Any dense array is (outer, channels, inner) in memory: NCHW is (N, C, HW), channels-last is (NHW, C, 1). A program
processes a channel (or with `inner` 1, LAST, a strip of channels) and a share of the tiles of its elements. Forward and
backward take two launches each: sums of each share, then the elements, for which each program adds all shares in a
fixed order. Shares depend on the shape alone, so that sums are reproducible bit for bit.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels.launch.launcher import cdiv, next_power_of_2
from hookscope.triton_kernels.launch.plans import Input, Kernel, Operand, Planner, is_float
from hookscope.triton_kernels.launch.strides import memory_order
from hookscope.triton_kernels.library import array_copy

# Elements of a tile and its warps: 16 elements per thread.
_TILE = 4096
_WARPS = 8
# The longest side of a tile along `inner`, and of a strip of channels.
_MAX_INNER = 1024
_MAX_STRIP = 32
# Approximate number of programs: several for each of a GPU's multiprocessors, which number 108 (A100) to 132 (H100).
_PROGRAMS = 1024
# Maximum number of shares whose sums a program of the second launch adds.
_MAX_SHARES = 128


@triton.jit
def _offsets(tile, strip, outer, channels, inner, inner_tiles, LAST: tl.constexpr, T0: tl.constexpr, T1: tl.constexpr):
    """Return the offsets of a tile's elements, the mask of existing ones, and their number per channel."""
    if LAST:
        row = tile * T0 + tl.arange(0, T0)
        channel = strip * T1 + tl.arange(0, T1)
        at = row.to(tl.int64)[:, None] * channels + channel[None, :]
        mask = (row < outer)[:, None] & (channel < channels)[None, :]
        count = tl.minimum(outer - tile * T0, T0)
    else:
        row = (tile // inner_tiles) * T0 + tl.arange(0, T0)
        first = (tile % inner_tiles) * T1
        column = first + tl.arange(0, T1)
        at = (row.to(tl.int64) * channels + strip)[:, None] * inner + column[None, :]
        mask = (row < outer)[:, None] & (column < inner)[None, :]
        count = tl.minimum(outer - (tile // inner_tiles) * T0, T0) * tl.minimum(inner - first, T1)
    return at, mask, count.to(tl.float32)


@triton.jit
def _channels(strip, channels, LAST: tl.constexpr, T1: tl.constexpr):
    """Return the strip's channels, and the mask of existing ones: scalars, or vectors of T1."""
    if LAST:
        channel = strip * T1 + tl.arange(0, T1)
    else:
        channel = strip
    return channel, channel < channels


@triton.jit
def _sum(tile, LAST: tl.constexpr):
    """Return the sum of each channel's elements."""
    total = tl.sum(tile, axis=0)
    if not LAST:
        total = tl.sum(total, axis=0)
    return total


@triton.jit
def _shares(parts_ptr, which, channel, inside, channels, shares, LAST: tl.constexpr, SHARES: tl.constexpr):
    """Load parts[which, :, channel], the shares along axis 0."""
    share = tl.arange(0, SHARES)
    if LAST:
        at = ((which * shares + share) * channels)[:, None] + channel[None, :]
        mask = (share < shares)[:, None] & inside[None, :]
    else:
        at = (which * shares + share) * channels + channel
        mask = share < shares
    return tl.load(parts_ptr + at, mask=mask, other=0.0)


@triton.jit
def statistics_kernel(
    x_ptr,
    parts_ptr,
    outer,
    channels,
    inner,
    inner_tiles,
    tiles,
    share_tiles,
    strips,
    shares,
    LAST: tl.constexpr,
    T0: tl.constexpr,
    T1: tl.constexpr,
    STAGES: tl.constexpr,
):
    """Store in parts[:, share], per channel: element count, mean in two parts, sum of squares about it.

    The first part of the mean is that of the share's first tile, and the distance from it is squared. The variance
    between tiles bounds its distance from the share's mean: the sum of these squares is at most as many times that
    about the mean itself as the share has tiles. So even a large mean does not cancel the digits of the variance, and
    each element is read once.
    """
    strip = tl.program_id(0) % strips
    share = tl.program_id(0) // strips
    channel, inside = _channels(strip, channels, LAST, T1)
    first = share * share_tiles
    at, mask, count = _offsets(first, strip, outer, channels, inner, inner_tiles, LAST, T0, T1)
    shift = _sum(tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32), LAST) / count
    shift = tl.where(shift - shift == 0.0, shift, 0.0)  # an infinite or NaN shift would turn an infinite mean into NaN
    sums = tl.zeros((T0, T1), dtype=tl.float32)
    squares = tl.zeros((T0, T1), dtype=tl.float32)
    total = 0.0
    for tile in tl.range(first, tl.minimum(first + share_tiles, tiles), num_stages=STAGES):
        at, mask, count = _offsets(tile, strip, outer, channels, inner, inner_tiles, LAST, T0, T1)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        apart = tl.where(mask, x - shift, 0.0)
        sums += apart
        squares += apart * apart
        total += count
    further = _sum(sums, LAST) / total
    square = _sum(squares, LAST) - further * further * total
    square = tl.where(square < 0.0, 0.0, square)
    parts_ptr += share * channels + channel
    tl.store(parts_ptr, tl.zeros_like(square) + total, mask=inside)
    tl.store(parts_ptr + shares * channels, shift, mask=inside)
    tl.store(parts_ptr + 2 * shares * channels, further, mask=inside)
    tl.store(parts_ptr + 3 * shares * channels, square, mask=inside)


@triton.jit
def normalize_kernel(
    x_ptr,
    gamma_ptr,
    beta_ptr,
    parts_ptr,
    y_ptr,
    mean_ptr,
    var_ptr,
    outer,
    channels,
    inner,
    inner_tiles,
    tiles,
    share_tiles,
    strips,
    shares,
    epsilon,
    LAST: tl.constexpr,
    T0: tl.constexpr,
    T1: tl.constexpr,
    STAGES: tl.constexpr,
    SHARES: tl.constexpr,
):
    """Normalize a share of the elements by the statistics of all shares (Chan, Golub and LeVeque 1979)."""
    strip = tl.program_id(0) % strips
    share = tl.program_id(0) // strips
    channel, inside = _channels(strip, channels, LAST, T1)
    counts = _shares(parts_ptr, 0, channel, inside, channels, shares, LAST, SHARES)
    base = tl.load(parts_ptr + shares * channels + channel, mask=inside, other=0.0)
    # Relative to the first share's mean, to keep the digits that a difference of two large means would lose.
    shifts = _shares(parts_ptr, 1, channel, inside, channels, shares, LAST, SHARES)
    further = _shares(parts_ptr, 2, channel, inside, channels, shares, LAST, SHARES)
    if LAST:
        means = tl.where(counts > 0.0, shifts - base[None, :] + further, 0.0)
    else:
        means = tl.where(counts > 0.0, shifts - base + further, 0.0)
    total = tl.maximum(tl.sum(counts, axis=0), 1.0)  # 0 for a channel that does not exist
    middle = tl.sum(counts * means, axis=0) / total
    if LAST:
        apart = means - middle[None, :]
    else:
        apart = means - middle
    squares = _shares(parts_ptr, 3, channel, inside, channels, shares, LAST, SHARES) + counts * apart * apart
    mean, var = base + middle, tl.sum(squares, axis=0) / total
    if share == 0:
        tl.store(mean_ptr + channel, mean, mask=inside)
        tl.store(var_ptr + channel, var, mask=inside)
    scale = tl.load(gamma_ptr + channel, mask=inside, other=0.0).to(tl.float32) / tl.sqrt_rn(var + epsilon)
    shift = tl.load(beta_ptr + channel, mask=inside, other=0.0).to(tl.float32)
    _affine_tiles(
        x_ptr,
        y_ptr,
        mean,
        scale,
        shift,
        share,
        strip,
        outer,
        channels,
        inner,
        inner_tiles,
        tiles,
        share_tiles,
        LAST,
        T0,
        T1,
        STAGES,
    )


@triton.jit
def _affine_tiles(
    x_ptr,
    y_ptr,
    mean,
    scale,
    shift,
    share,
    strip,
    outer,
    channels,
    inner,
    inner_tiles,
    tiles,
    share_tiles,
    LAST: tl.constexpr,
    T0: tl.constexpr,
    T1: tl.constexpr,
    STAGES: tl.constexpr,
):
    """Compute y = (x - mean) * scale + shift in the tiles of a share, the last first, which may still be cached."""
    first = share * share_tiles
    last = tl.minimum(first + share_tiles, tiles)
    for done in tl.range(first, last, num_stages=STAGES):
        at, mask, _ = _offsets(first + last - 1 - done, strip, outer, channels, inner, inner_tiles, LAST, T0, T1)
        y = (tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32) - mean) * scale + shift
        tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def affine_kernel(
    x_ptr,
    mean_ptr,
    scale_ptr,
    shift_ptr,
    y_ptr,
    outer,
    channels,
    inner,
    inner_tiles,
    tiles,
    share_tiles,
    strips,
    LAST: tl.constexpr,
    T0: tl.constexpr,
    T1: tl.constexpr,
    STAGES: tl.constexpr,
):
    """Compute y = (x - mean) * scale + shift with given numbers for each channel."""
    strip = tl.program_id(0) % strips
    share = tl.program_id(0) // strips
    channel, inside = _channels(strip, channels, LAST, T1)
    mean = tl.load(mean_ptr + channel, mask=inside, other=0.0).to(tl.float32)
    scale = tl.load(scale_ptr + channel, mask=inside, other=0.0).to(tl.float32)
    shift = tl.load(shift_ptr + channel, mask=inside, other=0.0).to(tl.float32)
    _affine_tiles(
        x_ptr,
        y_ptr,
        mean,
        scale,
        shift,
        share,
        strip,
        outer,
        channels,
        inner,
        inner_tiles,
        tiles,
        share_tiles,
        LAST,
        T0,
        T1,
        STAGES,
    )


@triton.jit
def gradient_sums_kernel(
    g_ptr,
    x_ptr,
    mean_ptr,
    parts_ptr,
    outer,
    channels,
    inner,
    inner_tiles,
    tiles,
    share_tiles,
    strips,
    shares,
    LAST: tl.constexpr,
    T0: tl.constexpr,
    T1: tl.constexpr,
    STAGES: tl.constexpr,
):
    """Store in parts[:, share], per channel, the sums of g and of g * (x - mean)."""
    strip = tl.program_id(0) % strips
    share = tl.program_id(0) // strips
    channel, inside = _channels(strip, channels, LAST, T1)
    mean = tl.load(mean_ptr + channel, mask=inside, other=0.0)
    first = share * share_tiles
    of_all = tl.zeros((T0, T1), dtype=tl.float32)
    along = tl.zeros((T0, T1), dtype=tl.float32)
    for tile in tl.range(first, tl.minimum(first + share_tiles, tiles), num_stages=STAGES):
        at, mask, _ = _offsets(tile, strip, outer, channels, inner, inner_tiles, LAST, T0, T1)
        g = tl.load(g_ptr + at, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        of_all += g
        along += g * (x - mean)
    parts_ptr += share * channels + channel
    tl.store(parts_ptr, _sum(of_all, LAST), mask=inside)
    tl.store(parts_ptr + shares * channels, _sum(along, LAST), mask=inside)


@triton.jit
def gradient_kernel(
    g_ptr,
    x_ptr,
    gamma_ptr,
    mean_ptr,
    var_ptr,
    parts_ptr,
    dx_ptr,
    dgamma_ptr,
    dbeta_ptr,
    outer,
    channels,
    inner,
    inner_tiles,
    tiles,
    share_tiles,
    strips,
    shares,
    epsilon,
    count,
    LAST: tl.constexpr,
    T0: tl.constexpr,
    T1: tl.constexpr,
    STAGES: tl.constexpr,
    SHARES: tl.constexpr,
):
    """Compute dx = gamma * rstd * (g - mean(g) - normal * mean(g * normal)) in a share (Ioffe and Szegedy 2015)."""
    strip = tl.program_id(0) % strips
    share = tl.program_id(0) // strips
    channel, inside = _channels(strip, channels, LAST, T1)
    of_all = tl.sum(_shares(parts_ptr, 0, channel, inside, channels, shares, LAST, SHARES), axis=0)
    along = tl.sum(_shares(parts_ptr, 1, channel, inside, channels, shares, LAST, SHARES), axis=0)
    mean = tl.load(mean_ptr + channel, mask=inside, other=0.0)
    rstd = 1.0 / tl.sqrt_rn(tl.load(var_ptr + channel, mask=inside, other=1.0) + epsilon)
    along *= rstd
    if share == 0:
        tl.store(dgamma_ptr + channel, along.to(dgamma_ptr.dtype.element_ty), mask=inside)
        tl.store(dbeta_ptr + channel, of_all.to(dbeta_ptr.dtype.element_ty), mask=inside)
    scale = tl.load(gamma_ptr + channel, mask=inside, other=0.0).to(tl.float32) * rstd
    slope = along * rstd / count
    of_all = of_all / count
    first = share * share_tiles
    last = tl.minimum(first + share_tiles, tiles)
    for done in tl.range(first, last, num_stages=STAGES):  # the last first, which may still be cached
        at, mask, _ = _offsets(first + last - 1 - done, strip, outer, channels, inner, inner_tiles, LAST, T0, T1)
        g = tl.load(g_ptr + at, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        dx = (g - (x - mean) * slope - of_all) * scale
        tl.store(dx_ptr + at, dx.to(dx_ptr.dtype.element_ty), mask=mask)


@triton.jit
def running_kernel(
    old_mean_ptr,
    old_var_ptr,
    mean_ptr,
    var_ptr,
    new_mean_ptr,
    new_var_ptr,
    channels,
    old_weight,
    weight,
    factor,
    BLOCK: tl.constexpr,
):
    """Compute new = old * old_weight + batch * weight, with `factor` instead of `weight` for the variance."""
    channel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = channel < channels
    old = tl.load(old_mean_ptr + channel, mask=mask).to(tl.float32)
    new = old * old_weight + tl.load(mean_ptr + channel, mask=mask).to(tl.float32) * weight
    tl.store(new_mean_ptr + channel, new.to(new_mean_ptr.dtype.element_ty), mask=mask)
    old = tl.load(old_var_ptr + channel, mask=mask).to(tl.float32)
    new = old * old_weight + tl.load(var_ptr + channel, mask=mask).to(tl.float32) * factor
    tl.store(new_var_ptr + channel, new.to(new_var_ptr.dtype.element_ty), mask=mask)


@dataclass(frozen=True, slots=True)
class _Tiling:
    """The division of an array into tiles and shares.

    Attributes:
        order: its axes in memory order, outermost first.
        scalars: the scalars of every kernel: outer, channels, inner, and those of tiles.
        constants: the compile-time constants.
        programs: the number of programs of a launch.
        shares: the number of shares of each channel.
    """

    order: list[int]
    scalars: tuple[int, ...]
    constants: dict[str, int | bool]
    programs: int
    shares: int


def _tiling(x: Operand, most_shares: int) -> _Tiling:
    order = memory_order(x.shape, x.strides)
    channels = x.shape[1]
    # A single channel is one contiguous run, wherever its axis is.
    outer = 1 if channels == 1 else math.prod([x.shape[axis] for axis in order[: order.index(1)]])
    inner = x.size // (outer * channels)
    last = inner == 1 and channels > 1
    if last:
        t1 = _side(channels, _MAX_STRIP)
        t0 = min(next_power_of_2(outer), _TILE // t1)
        strips, inner_tiles, tiles = cdiv(channels, t1), 1, cdiv(outer, t0)
    else:
        t1 = _side(inner, _MAX_INNER if outer > 1 else _TILE)
        t0 = min(next_power_of_2(outer), _TILE // t1)
        strips, inner_tiles = channels, cdiv(inner, t1)
        tiles = inner_tiles * cdiv(outer, t0)
    share_tiles = cdiv(tiles, max(1, min(most_shares, cdiv(_PROGRAMS, strips))))
    shares = cdiv(tiles, share_tiles)
    scalars = (outer, channels, inner, inner_tiles, tiles, share_tiles, strips)
    # Tiles in flight: 2 for half precision, 1 for float32; none if they are read element by element.
    stages = 1 if (channels if last else inner) % 16 else 3 if x.itemsize == 2 else 2
    constants = {"LAST": last, "T0": t0, "T1": t1, "STAGES": stages}
    return _Tiling(order, scalars, constants, strips * shares, shares)


def _side(length: int, longest: int) -> int:
    """Return the longest side of a tile of which at most a quarter is outside; 16 if there is none."""
    side = min(next_power_of_2(length), longest)
    while side > 16 and 4 * length < 3 * cdiv(length, side) * side:
        side //= 2
    return side


def _dense(call: Planner, x: Operand, order: list[int]) -> Operand:
    """Return the operand, copied if it is not dense in this memory order."""
    if x.transposed(order).is_contiguous:
        return x
    copy = call.empty(x.shape, x.dtype, order)
    array_copy.copy(call, x, copy)
    return copy


def _per_channel(x: Operand, *numbers: Input) -> bool:
    return all(is_float(vector) and vector.shape == x.shape[1:2] for vector in numbers)


def _batch_norm(
    call: Planner, x: Input, gamma: Input, beta: Input, epsilon: float
) -> tuple[Operand, Operand, Operand] | None:
    if not is_float(x) or x.ndim < 2 or not is_float(gamma) or not is_float(beta) or not _per_channel(x, gamma, beta):
        return None
    tiling = _tiling(x, _MAX_SHARES)
    x, gamma, beta = _dense(call, x, tiling.order), call.contiguous(gamma), call.contiguous(beta)
    y = call.empty(x.shape, x.dtype, tiling.order)
    mean, var = call.empty(gamma.shape, np.float32), call.empty(gamma.shape, np.float32)
    parts = call.empty((4, tiling.shares, gamma.size), np.float32)
    scalars: tuple[int | float, ...] = (*tiling.scalars, tiling.shares)
    call.launch(statistics_kernel, tiling.programs, (x, parts), scalars, tiling.constants, num_warps=_WARPS)
    scalars = (*scalars, float(epsilon))
    constants = {**tiling.constants, "SHARES": next_power_of_2(tiling.shares)}
    arrays = (x, gamma, beta, parts, y, mean, var)
    call.launch(normalize_kernel, tiling.programs, arrays, scalars, constants, num_warps=_WARPS)
    return y, mean, var


def _batch_norm_grad(
    call: Planner, g: Input, x: Input, gamma: Input, mean: Input, var: Input, epsilon: float
) -> tuple[Operand, Operand, Operand] | None:
    if not is_float(x) or x.ndim < 2 or not is_float(g) or g.shape != x.shape or not is_float(gamma):
        return None
    if not is_float(mean) or not is_float(var) or not _per_channel(x, gamma, mean, var):
        return None
    if not mean.dtype == var.dtype == np.float32:
        return None
    tiling = _tiling(x, _MAX_SHARES)
    g, x = _dense(call, g, tiling.order), _dense(call, x, tiling.order)
    gamma, mean, var = call.contiguous(gamma), call.contiguous(mean), call.contiguous(var)
    dx = call.empty(x.shape, x.dtype, tiling.order)
    dgamma, dbeta = call.empty(gamma.shape, gamma.dtype), call.empty(gamma.shape, gamma.dtype)
    parts = call.empty((2, tiling.shares, gamma.size), np.float32)
    arrays: tuple[Operand, ...] = (g, x, mean, parts)
    scalars: tuple[int | float, ...] = (*tiling.scalars, tiling.shares)
    call.launch(gradient_sums_kernel, tiling.programs, arrays, scalars, tiling.constants, num_warps=_WARPS)
    scalars = (*scalars, float(epsilon), float(x.size // gamma.size))
    constants = {**tiling.constants, "SHARES": next_power_of_2(tiling.shares)}
    arrays = (g, x, gamma, mean, var, parts, dx, dgamma, dbeta)
    call.launch(gradient_kernel, tiling.programs, arrays, scalars, constants, num_warps=_WARPS)
    return dx, dgamma, dbeta


def _affine(call: Planner, x: Input, mean: Input, scale: Input, shift: Input) -> Operand | None:
    if not is_float(x) or x.ndim < 2 or not is_float(mean) or not is_float(scale) or not is_float(shift):
        return None
    if not _per_channel(x, mean, scale, shift):
        return None
    tiling = _tiling(x, _PROGRAMS)
    y = call.empty(x.shape, x.dtype, tiling.order)
    numbers = [call.contiguous(vector) for vector in (mean, scale, shift)]
    arrays = (_dense(call, x, tiling.order), *numbers, y)
    call.launch(affine_kernel, tiling.programs, arrays, tiling.scalars, tiling.constants, num_warps=_WARPS)
    return y


def _running(
    call: Planner, old_mean: Input, old_var: Input, mean: Input, var: Input, momentum: float, count: int
) -> tuple[Operand, Operand] | None:
    if not is_float(old_mean) or not is_float(old_var) or not is_float(mean) or not is_float(var):
        return None
    if not old_mean.shape == old_var.shape == mean.shape == var.shape or mean.ndim != 1:
        return None
    old_mean, old_var, mean, var = [call.contiguous(vector) for vector in (old_mean, old_var, mean, var)]
    new_mean, new_var = call.empty(mean.shape, old_mean.dtype), call.empty(mean.shape, old_var.dtype)
    block = min(next_power_of_2(mean.size), 1024)
    unbiased = momentum * (count / max(count - 1, 1))
    scalars = (mean.size, 1.0 - momentum, float(momentum), unbiased)
    arrays = (old_mean, old_var, mean, var, new_mean, new_var)
    call.launch(running_kernel, cdiv(mean.size, block), arrays, scalars, {"BLOCK": block})
    return new_mean, new_var


KERNELS = {
    "batch_norm": Kernel(_batch_norm),
    "batch_norm_grad": Kernel(_batch_norm_grad),
    "affine_of_channels": Kernel(_affine),
    "running_statistics": Kernel(_running),
}
