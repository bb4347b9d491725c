"""Convolution over two axes and its gradients, as matrix products whose left operand is never materialized.

A row of the product is a position of the output, and its window is read tap by tap: there is no column matrix. The
input may have any strides; adjacent channels (channels-last) are loaded 16 bytes at a time, and outputs are
channels-last. The gradient of the input is the same product over the windows that contain a position: with a stride,
positions with equal remainders share their taps, so that no tap is multiplied with zeros. Groups with few channels are
computed directly, without tensor cores.

float16 and bfloat16 are multiplied on tensor cores and accumulated in float32; float32 is split into three TF32
products. The gradient of the weight is summed over all positions in parts, whose number depends on shapes, and the
parts are added in a fixed order.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import math
from typing import Any

import triton
import triton.language as tl

from hookscope.triton_kernels.launch.launcher import MAX_PROGRAMS, cdiv, interpreting, is_long, next_power_of_2
from hookscope.triton_kernels.launch.plans import Input, Kernel, Operand, Planner, is_float
from hookscope.triton_kernels.library import array_copy

Ints = tuple[int, ...]

_THIN = 8
"""Groups with fewer channels on one side are computed directly, since tensor cores would multiply mostly zeros."""
_SHORT = 16
"""With fewer channels, the channels of all taps form one depth."""
_READ_OFTEN = 64
"""From this number of row tiles on, copying kernels to channels-last once pays off."""
_ROWS_OF_A_PART = 2048
"""Minimum number of rows in a part of a gradient of the weight."""
_PROGRAMS = 256
"""Number of programs of such a gradient, if there are enough rows: the same on every device."""
_CHANNELS_LAST = (0, 2, 3, 1)


@triton.jit
def together(base, further, RUN_0: tl.constexpr, RUN_1: tl.constexpr):
    """Return the sum of two offsets, declared to the compiler as contiguous and aligned in runs along the axes.

    The hint is given for the sum, which must be formed here: a hint on an argument is lost when the function is
    inlined.
    """
    return tl.max_contiguous(tl.multiple_of(base + further, (RUN_0, RUN_1)), (RUN_0, RUN_1))


@triton.jit
def _place_of_row(row, count_y, count_x):
    """Return (sample, y, x) of a row of the product."""
    pixel = row // count_x
    sample = pixel // count_y
    return sample, pixel - sample * count_y, row - pixel * count_x


@triton.jit
def _first_tap(at, pad, stride, dilation, step, length):
    """Return the first tap along an axis that meets a window from this position; `length` if none does."""
    first = length
    for tap in range(0, step):
        reached = (at + pad - tap * dilation) % stride == 0
        first = tl.where(reached, tl.minimum(first, tap), first)
    return first


@triton.jit
def _rows_and_taps(
    tile,
    part,
    samples,
    out_y_length,
    out_x_length,
    kernel_y,
    kernel_x,
    stride_y,
    stride_x,
    pad_y,
    pad_x,
    dilation_y,
    dilation_x,
    step_y,
    step_x,
    TRANSPOSED: tl.constexpr,
    BLOCK_M: tl.constexpr,
):
    """Return the output positions of a tile of rows, and the begin of their windows in `a`.

    Returns (whether a row exists, sample, y, x in the output, y, x in `a` for the first tap, taps along y and x, the
    first ones). If transposed, the positions are those whose remainders by the strides are numbered by `part`.
    """
    row = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    if TRANSPOSED:
        rest_y = part // stride_x
        rest_x = part % stride_x
        count_y = tl.maximum(tl.cdiv(out_y_length - rest_y, stride_y), 0)
        count_x = tl.maximum(tl.cdiv(out_x_length - rest_x, stride_x), 0)
        first_y = _first_tap(rest_y, pad_y, stride_y, dilation_y, step_y, kernel_y)
        first_x = _first_tap(rest_x, pad_x, stride_x, dilation_x, step_x, kernel_x)
        taps_y = tl.cdiv(kernel_y - first_y, step_y)
        taps_x = tl.cdiv(kernel_x - first_x, step_x)
        exists = row < samples * count_y * count_x
        sample, y, x = _place_of_row(row, tl.maximum(count_y, 1), tl.maximum(count_x, 1))
        y = rest_y + y * stride_y
        x = rest_x + x * stride_x
        a_y = (y + pad_y - first_y * dilation_y) // stride_y
        a_x = (x + pad_x - first_x * dilation_x) // stride_x
    else:
        first_y = 0
        first_x = 0
        taps_y = kernel_y
        taps_x = kernel_x
        exists = row < samples * out_y_length * out_x_length
        sample, y, x = _place_of_row(row, out_y_length, out_x_length)
        a_y = y * stride_y - pad_y
        a_x = x * stride_x - pad_x
    return exists, sample, y, x, a_y, a_x, taps_y, taps_x, first_y, first_x


@triton.jit
def product_kernel(
    a_ptr,
    w_ptr,
    bias_ptr,
    out_ptr,
    samples,
    a_y_length,
    a_x_length,
    out_y_length,
    out_x_length,
    depth,
    columns,
    tiles_m,
    parts,
    kernel_y,
    kernel_x,
    stride_y,
    stride_x,
    pad_y,
    pad_x,
    dilation_y,
    dilation_x,
    step_y,
    step_x,
    move_y,
    move_x,
    a_sample,
    a_channel,
    a_row,
    a_column,
    w_group,
    w_column,
    w_depth,
    w_row,
    w_tap,
    out_sample,
    out_channel,
    out_row,
    out_column,
    TRANSPOSED: tl.constexpr,
    FLAT: tl.constexpr,
    EVEN_K: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    PRECISION: tl.constexpr,
    WIDEN: tl.constexpr,
    LONG: tl.constexpr,
    A_RUN: tl.constexpr,
    W_RUN_DEPTH: tl.constexpr,
    W_RUN_COLUMN: tl.constexpr,
    OUT_RUN: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Compute a tile of out[row, k] = sum over taps and channels c of a[place of row + tap, c] * w[tap, c, k].

    FLAT combines the channels of all taps into one depth. For the RUNs see `together`.
    """
    tiles_n = tl.cdiv(columns, BLOCK_N)
    program = tl.program_id(0)
    tile_n = program % tiles_n
    program = program // tiles_n
    tile_m = program % tiles_m
    program = program // tiles_m
    part = program % parts
    group = program // parts
    exists, sample, y, x, a_y, a_x, taps_y, taps_x, first_y, first_x = _rows_and_taps(
        tile_m,
        part,
        samples,
        out_y_length,
        out_x_length,
        kernel_y,
        kernel_x,
        stride_y,
        stride_x,
        pad_y,
        pad_x,
        dilation_y,
        dilation_x,
        step_y,
        step_x,
        TRANSPOSED,
        BLOCK_M,
    )
    column = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    lane = tl.arange(0, BLOCK_K)
    if LONG:
        sample = sample.to(tl.int64)
        group = group.to(tl.int64)
    # The common offset of all taps; positions before the array are negative and never read.
    a_base = sample * a_sample + a_y * a_row + a_x * a_column + group * depth * a_channel
    w_base = group * w_group + first_y * w_row + first_x * w_tap + column * w_column
    known = column < columns
    a_y = tl.where(exists, a_y, -(2**30))
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    blocks = tl.cdiv(taps_y * taps_x * depth, BLOCK_K) if FLAT else taps_y * taps_x * tl.cdiv(depth, BLOCK_K)
    for block in range(0, blocks):
        if FLAT:
            at = block * BLOCK_K + lane
            tap = at // depth
            channel = at - tap * depth
            inside = tap < taps_y * taps_x
        else:
            tap = block // tl.cdiv(depth, BLOCK_K)
            channel = (block % tl.cdiv(depth, BLOCK_K)) * BLOCK_K + lane
            inside = channel < depth
        tap_y = tap // taps_x
        tap_x = tap - tap_y * taps_x
        if FLAT:
            from_y = a_y[:, None] + (tap_y * move_y)[None, :]
            from_x = a_x[:, None] + (tap_x * move_x)[None, :]
        else:
            from_y = (a_y + tap_y * move_y)[:, None]
            from_x = (a_x + tap_x * move_x)[:, None]
        a_ahead = tap_y * move_y * a_row + tap_x * move_x * a_column + channel * a_channel
        w_ahead = tap_y * step_y * w_row + tap_x * step_x * w_tap + channel * w_depth
        a_mask = (from_y >= 0) & (from_y < a_y_length) & (from_x >= 0) & (from_x < a_x_length)
        w_mask = known[None, :]
        if not EVEN_K:
            a_mask = tl.max_constancy(a_mask & inside[None, :], (1, A_RUN))
            w_mask = tl.max_constancy(w_mask & inside[:, None], (W_RUN_DEPTH, W_RUN_COLUMN))
        a = tl.load(a_ptr + together(a_base[:, None], a_ahead[None, :], 1, A_RUN), mask=a_mask, other=0.0)
        w_at = together(w_base[None, :], w_ahead[:, None], W_RUN_DEPTH, W_RUN_COLUMN)
        w = tl.load(w_ptr + w_at, mask=w_mask, other=0.0)
        if WIDEN:
            a = a.to(tl.float32)
            w = w.to(tl.float32)
        total = tl.dot(a, w, total, input_precision=PRECISION)
    if HAS_BIAS:
        total += tl.load(bias_ptr + group * columns + column, mask=known, other=0.0).to(tl.float32)[None, :]
    out_at = (sample * out_sample + y * out_row + x * out_column)[:, None]
    out_at = together(out_at, ((group * columns + column) * out_channel)[None, :], 1, OUT_RUN)
    mask = tl.max_constancy(exists[:, None] & known[None, :], (1, OUT_RUN))
    tl.store(out_ptr + out_at, total.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def thin_kernel(
    a_ptr,
    w_ptr,
    bias_ptr,
    out_ptr,
    samples,
    a_y_length,
    a_x_length,
    out_y_length,
    out_x_length,
    depth,
    columns,
    channels,
    tiles_m,
    parts,
    kernel_y,
    kernel_x,
    stride_y,
    stride_x,
    pad_y,
    pad_x,
    dilation_y,
    dilation_x,
    step_y,
    step_x,
    move_y,
    move_x,
    a_sample,
    a_channel,
    a_row,
    a_column,
    w_group,
    w_column,
    w_depth,
    w_row,
    w_tap,
    out_sample,
    out_channel,
    out_row,
    out_column,
    TRANSPOSED: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    LONG: tl.constexpr,
    A_RUN: tl.constexpr,
    OUT_RUN: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Compute the product for groups of few channels: a column is a channel of the output in any group."""
    tiles_n = tl.cdiv(channels, BLOCK_N)
    program = tl.program_id(0)
    tile_n = program % tiles_n
    program = program // tiles_n
    tile_m = program % tiles_m
    part = program // tiles_m
    exists, sample, y, x, a_y, a_x, taps_y, taps_x, first_y, first_x = _rows_and_taps(
        tile_m,
        part,
        samples,
        out_y_length,
        out_x_length,
        kernel_y,
        kernel_x,
        stride_y,
        stride_x,
        pad_y,
        pad_x,
        dilation_y,
        dilation_x,
        step_y,
        step_x,
        TRANSPOSED,
        BLOCK_M,
    )
    column = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    group = column // columns
    if LONG:
        sample = sample.to(tl.int64)
    a_base = (sample * a_sample + a_y * a_row + a_x * a_column)[:, None] + (group * depth * a_channel)[None, :]
    w_base = group * w_group + (column - group * columns) * w_column + first_y * w_row + first_x * w_tap
    known = column < channels
    exists = tl.max_constancy(exists[:, None] & known[None, :], (1, OUT_RUN))
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for tap in range(0, taps_y * taps_x):
        tap_y = tap // taps_x
        tap_x = tap - tap_y * taps_x
        from_y = (a_y + tap_y * move_y)[:, None]
        from_x = (a_x + tap_x * move_x)[:, None]
        mask = (from_y >= 0) & (from_y < a_y_length) & (from_x >= 0) & (from_x < a_x_length)
        mask = tl.max_constancy(mask & exists, (1, A_RUN))
        a_at = a_base + (tap_y * move_y * a_row + tap_x * move_x * a_column)
        w_at = w_base + tap_y * step_y * w_row + tap_x * step_x * w_tap
        for channel in range(0, depth):
            a = tl.load(a_ptr + together(a_at, channel * a_channel, 1, A_RUN), mask=mask, other=0.0).to(tl.float32)
            w = tl.load(w_ptr + w_at + channel * w_depth, mask=known, other=0.0).to(tl.float32)
            total += a * w[None, :]
    if HAS_BIAS:
        total += tl.load(bias_ptr + column, mask=known, other=0.0).to(tl.float32)[None, :]
    out_at = (sample * out_sample + y * out_row + x * out_column)[:, None]
    out_at = together(out_at, (column * out_channel)[None, :], 1, OUT_RUN)
    tl.store(out_ptr + out_at, total.to(out_ptr.dtype.element_ty), mask=exists)


@triton.jit
def weight_kernel(
    g_ptr,
    x_ptr,
    out_ptr,
    rows,
    rows_of_part,
    parts,
    g_y_length,
    g_x_length,
    x_y_length,
    x_x_length,
    depth,
    columns,
    kernel_y,
    kernel_x,
    stride_y,
    stride_x,
    pad_y,
    pad_x,
    dilation_y,
    dilation_x,
    g_sample,
    g_channel,
    g_row,
    g_column,
    x_sample,
    x_channel,
    x_row,
    x_column,
    out_part,
    out_kernel,
    out_channel,
    out_tap,
    FLAT: tl.constexpr,
    PRECISION: tl.constexpr,
    WIDEN: tl.constexpr,
    LONG: tl.constexpr,
    G_RUN: tl.constexpr,
    X_RUN: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Compute a tile of out[part, k, tap, c] = the sum over the part's places of g[place, k] * x[place + tap, c].

    The rows of a part are a multiple of BLOCK_K, so that only the last part has missing rows. `columns` are the
    channels of `g` in a group, which are the tile's rows; `depth` are those of `x`. FLAT combines the channels of all
    taps as the tile's columns; otherwise a tile has one tap.
    """
    taps = kernel_y * kernel_x
    tiles_m = tl.cdiv(columns, BLOCK_M)
    tiles_n = tl.cdiv(taps * depth, BLOCK_N) if FLAT else taps * tl.cdiv(depth, BLOCK_N)
    program = tl.program_id(0)
    tile_n = program % tiles_n
    program = program // tiles_n
    tile_m = program % tiles_m
    program = program // tiles_m
    part = program % parts
    group = program // parts
    kernel = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    if FLAT:
        at = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
        tap = at // depth
        channel = at - tap * depth
        known = tap < taps
    else:
        tap = tile_n // tl.cdiv(depth, BLOCK_N)
        channel = tile_n % tl.cdiv(depth, BLOCK_N) * BLOCK_N + tl.arange(0, BLOCK_N)
        known = channel < depth
    tap_y = tap // kernel_x
    tap_x = tap - tap_y * kernel_x
    ahead_y = tap_y * dilation_y - pad_y
    ahead_x = tap_x * dilation_x - pad_x
    if LONG:
        group = group.to(tl.int64)
        part = part.to(tl.int64)
    g_base = (group * columns + kernel) * g_channel
    x_base = ahead_y * x_row + ahead_x * x_column + (group * depth + channel) * x_channel
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    first = part * rows_of_part
    for start in range(0, rows_of_part, BLOCK_K):
        row = first + start + tl.arange(0, BLOCK_K)
        sample, y, x = _place_of_row(row, g_y_length, g_x_length)
        exists = row < rows
        g_at = sample * g_sample + y * g_row + x * g_column
        from_y = y * stride_y
        from_x = x * stride_x
        x_at = sample * x_sample + from_y * x_row + from_x * x_column
        if FLAT:
            from_y = from_y[:, None] + ahead_y[None, :]
            from_x = from_x[:, None] + ahead_x[None, :]
        else:
            from_y = (from_y + ahead_y)[:, None]
            from_x = (from_x + ahead_x)[:, None]
        x_mask = exists[:, None] & (from_y >= 0) & (from_y < x_y_length) & (from_x >= 0) & (from_x < x_x_length)
        x_mask = tl.max_constancy(x_mask & known[None, :], (1, X_RUN))
        g_mask = tl.max_constancy((kernel < columns)[:, None] & exists[None, :], (G_RUN, 1))
        g = tl.load(g_ptr + together(g_base[:, None], g_at[None, :], G_RUN, 1), mask=g_mask, other=0.0)
        windows = tl.load(x_ptr + together(x_at[:, None], x_base[None, :], 1, X_RUN), mask=x_mask, other=0.0)
        if WIDEN:
            g = g.to(tl.float32)
            windows = windows.to(tl.float32)
        total = tl.dot(g, windows, total, input_precision=PRECISION)
    out_at = part * out_part + ((group * columns + kernel) * out_kernel)[:, None]
    out_at += (tap * out_tap + channel * out_channel)[None, :]
    tl.store(out_ptr + out_at, total.to(out_ptr.dtype.element_ty), mask=(kernel < columns)[:, None] & known[None, :])


@triton.jit
def thin_weight_kernel(
    g_ptr,
    x_ptr,
    out_ptr,
    rows,
    rows_of_part,
    parts,
    g_y_length,
    g_x_length,
    x_y_length,
    x_x_length,
    depth,
    columns,
    channels,
    kernel_y,
    kernel_x,
    stride_y,
    stride_x,
    pad_y,
    pad_x,
    dilation_y,
    dilation_x,
    g_sample,
    g_channel,
    g_row,
    g_column,
    x_sample,
    x_channel,
    x_row,
    x_column,
    out_part,
    out_kernel,
    out_channel,
    out_tap,
    LONG: tl.constexpr,
    G_RUN: tl.constexpr,
    X_RUN: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Compute the weight gradient for groups of few channels: one tap and channel per group, for a tile of kernels."""
    tiles_n = tl.cdiv(channels, BLOCK_N)
    program = tl.program_id(0)
    tile_n = program % tiles_n
    program = program // tiles_n
    within = program % depth
    program = program // depth
    tap = program % (kernel_y * kernel_x)
    part = program // (kernel_y * kernel_x)
    kernel = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    known = kernel < channels
    ahead_y = tap // kernel_x * dilation_y - pad_y
    ahead_x = tap % kernel_x * dilation_x - pad_x
    if LONG:
        part = part.to(tl.int64)
    g_base = kernel * g_channel
    x_base = ahead_y * x_row + ahead_x * x_column + (kernel // columns * depth + within) * x_channel
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    first = part * rows_of_part
    for start in range(0, rows_of_part, BLOCK_M):
        row = first + start + tl.arange(0, BLOCK_M)
        sample, y, x = _place_of_row(row, g_y_length, g_x_length)
        g_at = sample * g_sample + y * g_row + x * g_column
        from_y = y * stride_y
        from_x = x * stride_x
        x_at = sample * x_sample + from_y * x_row + from_x * x_column
        from_y += ahead_y
        from_x += ahead_x
        inside = (row < rows) & (from_y >= 0) & (from_y < x_y_length) & (from_x >= 0) & (from_x < x_x_length)
        g_mask = tl.max_constancy(inside[:, None] & known[None, :], (1, G_RUN))
        x_mask = tl.max_constancy(inside[:, None] & known[None, :], (1, X_RUN))
        g = tl.load(g_ptr + together(g_at[:, None], g_base[None, :], 1, G_RUN), mask=g_mask, other=0.0)
        windows = tl.load(x_ptr + together(x_at[:, None], x_base[None, :], 1, X_RUN), mask=x_mask, other=0.0)
        total += g.to(tl.float32) * windows.to(tl.float32)
    out_at = part * out_part + kernel * out_kernel + within * out_channel + tap * out_tap
    tl.store(out_ptr + out_at, tl.sum(total, axis=0).to(out_ptr.dtype.element_ty), mask=known)


@triton.jit
def add_parts_kernel(parts_ptr, out_ptr, size, parts, channels, taps, BLOCK: tl.constexpr):
    """Compute out[k, c, tap] = the sum of all parts[:, k, tap, c], one after another."""
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < size
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    at = index.to(tl.int64)
    for _ in range(0, parts):
        total += tl.load(parts_ptr + at, mask=inside, other=0.0)
        at += size
    tap = index // channels % taps
    out_at = (index // (channels * taps) * channels + index % channels) * taps + tap
    tl.store(out_ptr + out_at, total.to(out_ptr.dtype.element_ty), mask=inside)


def _run(x: Operand, channels: int, within: int) -> int:
    """Return the length of aligned contiguous channel runs of `x` (N, C, H, W), within 16 bytes, a group and a tile."""
    others = [stride for axis, stride in enumerate(x.strides) if axis != 1 and x.shape[axis] > 1]
    return math.gcd(16 // x.itemsize, channels, within, *others) if x.strides[1] == 1 and x.is_aligned else 1


def _reach(x: Operand) -> int:
    """Return the offset of an operand's last element from its first."""
    return sum((length - 1) * abs(stride) for length, stride in zip(x.shape, x.strides, strict=True))


def _suit(x: Input, other: Input, group: int) -> bool:
    """Return whether both are images or kernels of one dtype, with 32-bit indices."""
    if not is_float(x) or not is_float(other) or x.dtype != other.dtype or x.ndim != 4 or other.ndim != 4:
        return False
    return x.shape[1] % group == 0 and not is_long(max(_reach(x.part(0, 0, 1)), _reach(other.part(0, 0, 1))))


def _side(length: int, most: int, spare: int = 3) -> int:
    """Return the largest side of a tile, up to `most`, whose padding is at most one in `spare` above the minimum."""
    sides = [side for side in (128, 64, 32, 16) if side <= most]  # 16 is the minimum for tensor cores
    least = cdiv(length, 16) * 16
    return next(side for side in sides if cdiv(length, side) * side * spare <= least * (spare + 1))


def _kernels_together(call: Planner, weight: Operand, rows: int) -> Operand:
    """Return the kernels in channels-last order, copied only if many rows read them."""
    if weight.strides[1] == 1 or weight.shape[2] * weight.shape[3] == 1 or rows < _READ_OFTEN * 128:
        return weight
    copy = call.empty(weight.shape, weight.dtype, _CHANNELS_LAST)
    array_copy.copy(call, weight, copy)
    return copy


def _multiply(
    call: Planner,
    a: Operand,
    weight: Operand,
    bias: Operand | None,
    shape: Ints,
    stride: Ints,
    pads: Ints,
    dilation: Ints,
    group: int,
    transposed: bool,
) -> Operand | None:
    """Plan the convolution of `a` with kernels (K, C / group, KH, KW), or its transpose, as an array of `shape`."""
    samples, channels, *lengths = shape
    kernels, depth, *kernel = weight.shape
    taps = math.prod(kernel)
    columns = channels // group
    kernels_per_group = kernels // group
    if transposed:
        depth, columns = kernels_per_group, depth
    if a.shape[:2] != (samples, depth * group) or columns * group != channels or kernels % group:
        return None
    steps = [s // math.gcd(s, d) if transposed else 1 for s, d in zip(stride, dilation, strict=True)]
    moves = [-(d // math.gcd(s, d)) if transposed else d for s, d in zip(stride, dilation, strict=True)]
    parts = math.prod(stride) if transposed else 1
    rows = samples * (math.prod(map(cdiv, lengths, stride)) if transposed else math.prod(lengths))
    out = call.empty(shape, a.dtype, _CHANNELS_LAST)
    thin = group > 1 and min(depth, columns) < _THIN
    if not thin:
        weight = _kernels_together(call, weight, rows * parts)
    w_kernel, w_channel, *w_within = weight.strides
    w_sides = (w_channel, w_kernel) if transposed else (w_kernel, w_channel)
    window = [*kernel, *stride, pads[0], pads[2], *dilation, *steps, *moves]
    strides = [*a.strides, kernels_per_group * w_kernel, *w_sides, *w_within, *out.strides]
    constants: dict[str, Any] = {
        "TRANSPOSED": transposed,
        "HAS_BIAS": bias is not None,
        "LONG": is_long(max(_reach(a), out.size)),
    }
    if rows >= 2**30:
        return None
    if thin:
        block_n = min(64, max(16, next_power_of_2(channels)))
        block_m = 2048 // block_n
        tiles_m = cdiv(rows, block_m)
        programs = parts * tiles_m * cdiv(channels, block_n)
        run = block_n if depth == columns == 1 else 1
        constants |= {
            "A_RUN": _run(a, channels, run),
            "OUT_RUN": _run(out, channels, block_n),
            "BLOCK_M": block_m,
            "BLOCK_N": block_n,
        }
        numbers = [samples, *a.shape[2:], *lengths, depth, columns, channels, tiles_m, parts]
        if programs > MAX_PROGRAMS:
            return None
        call.launch(thin_kernel, programs, (a, weight, bias, out), [*numbers, *window, *strides], constants)
        return out
    flat = depth < _SHORT
    block_m, block_n, block_k, warps, stages = _tile(rows, columns, taps * depth if flat else depth, a.itemsize, flat)
    tiles_m = cdiv(rows, block_m)
    programs = group * parts * tiles_m * cdiv(columns, block_n)
    if programs > MAX_PROGRAMS:
        return None
    w_run = _run(weight, weight.shape[1], block_n if transposed else block_k)
    constants |= {
        "FLAT": flat,
        "EVEN_K": depth % block_k == 0 and not flat,
        **_precision(a),
        "A_RUN": _run(a, depth, block_k),
        "W_RUN_DEPTH": 1 if transposed else w_run,
        "W_RUN_COLUMN": w_run if transposed else 1,
        "OUT_RUN": _run(out, columns, block_n),
        "BLOCK_M": block_m,
        "BLOCK_N": block_n,
        "BLOCK_K": block_k,
    }
    numbers = [samples, *a.shape[2:], *lengths, depth, columns, tiles_m, parts]
    call.launch(
        product_kernel, programs, (a, weight, bias, out), [*numbers, *window, *strides], constants, warps, stages
    )
    return out


def _precision(x: Operand) -> dict[str, Any]:
    return {
        "PRECISION": "tf32x3" if x.itemsize == 4 else "tf32",
        # The interpreter multiplies bfloat16 as the integers that represent it.
        "WIDEN": x.dtype.name == "bfloat16" and interpreting(),
    }


def _tile(rows: int, columns: int, depth: int, itemsize: int, flat: bool) -> tuple[int, int, int, int, int]:
    """Return (rows, columns, depth, warps, stages) of a tile."""
    # Three TF32 products hold three times the operands in registers, so their tiles are smaller.
    most = 128 if itemsize == 2 else 64
    block_n = _side(columns, most)
    block_m = _side(rows, most)
    if cdiv(rows, block_m) * cdiv(columns, block_n) < _PROGRAMS:  # smaller tiles, to occupy more of a GPU
        block_m, block_n = min(block_m, 64), min(block_n, 64)
    block_k = _side(depth, 32 if itemsize == 4 or flat else 64, 10)
    return block_m, block_n, block_k, 8 if block_m * block_n >= 128 * 128 else 4, 3


def _conv(
    call: Planner, x: Input, weight: Input, stride: Ints, pads: Ints, dilation: Ints, group: int
) -> Operand | None:
    return _conv_bias(call, x, weight, None, stride, pads, dilation, group)


def _conv_bias(
    call: Planner, x: Input, weight: Input, bias: Input, stride: Ints, pads: Ints, dilation: Ints, group: int
) -> Operand | None:
    if not is_float(x) or not is_float(weight) or not _suit(x, weight, group):
        return None
    if bias is not None and (not is_float(bias) or bias.shape != weight.shape[:1]):
        return None
    lengths = [
        (n + before + after - d * (k - 1) - 1) // s + 1
        for n, k, s, d, before, after in zip(
            x.shape[2:], weight.shape[2:], stride, dilation, pads[::2], pads[1::2], strict=True
        )
    ]
    if min(lengths) < 1:
        return None
    shape = (x.shape[0], weight.shape[0], *lengths)
    row = None if bias is None else call.contiguous(bias)
    return _multiply(call, x, weight, row, shape, stride, pads, dilation, group, False)


def _input_grad(
    call: Planner, g: Input, weight: Input, shape: Ints, stride: Ints, pads: Ints, dilation: Ints, group: int
) -> Operand | None:
    if not is_float(g) or not is_float(weight) or not _suit(g, weight, group) or math.prod(shape) == 0:
        return None
    return _multiply(call, g, weight, None, shape, stride, pads, dilation, group, True)


def _weight_grad(
    call: Planner, g: Input, x: Input, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints, group: int
) -> Operand | None:
    if not is_float(g) or not is_float(x) or not _suit(g, x, group) or x.shape[1] % group or g.shape[0] != x.shape[0]:
        return None
    kernels, channels = g.shape[1], x.shape[1]
    depth, columns, taps = channels // group, kernels // group, math.prod(kernel)
    rows = g.size // kernels
    if rows >= 2**30 or is_long(kernels * taps * depth):
        return None
    thin = group > 1 and min(depth, columns) < _THIN
    flat = depth < _SHORT
    warps, stages = 4, 3
    if thin:
        block_n = min(64, max(16, next_power_of_2(kernels)))
        block_m = block_k = 2048 // block_n
        tiles = taps * depth * cdiv(kernels, block_n)
    else:
        most = 128 if g.itemsize == 2 else 64
        block_m = _side(columns, most)
        block_n = _side(taps * depth, 64) if flat else _side(depth, most)
        block_k = 32 if g.itemsize == 4 or flat else 64
        warps = 8 if block_m * block_n >= 128 * 128 else 4
        tiles = group * cdiv(columns, block_m) * (cdiv(taps * depth, block_n) if flat else taps * cdiv(depth, block_n))
    parts = max(1, min(_PROGRAMS // tiles, rows // _ROWS_OF_A_PART))
    rows_of_part = cdiv(cdiv(rows, parts), block_k) * block_k
    parts = cdiv(rows, rows_of_part)
    out = call.empty((kernels, depth, *kernel), g.dtype)
    if parts == 1:
        sums, sums_strides = out, (0, depth * taps, taps, 1)
    else:
        sums = call.empty((parts, kernels, taps, depth), "float32")
        sums_strides = (kernels * taps * depth, taps * depth, 1, depth)
    constants: dict[str, Any] = {"LONG": is_long(max(_reach(g), _reach(x), sums.size))}
    window = [*kernel, *stride, pads[0], pads[2], *dilation]
    numbers = [rows, rows_of_part, parts, *g.shape[2:], *x.shape[2:], depth, columns]
    strides = [*g.strides, *x.strides, *sums_strides]
    if thin:
        run = block_n if depth == columns == 1 else 1
        constants |= {
            "G_RUN": _run(g, kernels, block_n),
            "X_RUN": _run(x, channels, run),
            "BLOCK_M": block_m,
            "BLOCK_N": block_n,
        }
        call.launch(thin_weight_kernel, parts * tiles, (g, x, sums), [*numbers, kernels, *window, *strides], constants)
    else:
        constants |= {
            "FLAT": flat,
            **_precision(g),
            "G_RUN": _run(g, columns, block_m),
            "X_RUN": _run(x, depth, block_n),
            "BLOCK_M": block_m,
            "BLOCK_N": block_n,
            "BLOCK_K": block_k,
        }
        call.launch(weight_kernel, parts * tiles, (g, x, sums), [*numbers, *window, *strides], constants, warps, stages)
    if parts > 1:
        size = kernels * taps * depth
        call.launch(add_parts_kernel, cdiv(size, 256), (sums, out), (size, parts, depth, taps), {"BLOCK": 256})
    return out


KERNELS = {
    "conv2d": Kernel(_conv),
    "conv2d_bias": Kernel(_conv_bias),
    "conv2d_input_grad": Kernel(_input_grad),
    "conv2d_weight_grad": Kernel(_weight_grad),
}
