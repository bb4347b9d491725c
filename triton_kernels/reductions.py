"""Sums, means, products, extremes and their indices, any and all, over any axes of an operand with any strides.

An operand is read as a matrix in its memory order: kept axes along `m`, reduced axes along `n`. A program loops over
its part of some rows tile by tile, in float32 (integers in int64), lane by lane, and reduces the lanes at the end as a
tree. If rows are few and long, several programs share each row in parts that depend on shapes alone; a second launch of
the same kernel reduces the parts, so results are independent of scheduling. NaN propagates through extremes, too.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TypeGuard

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels.launch.launcher import cdiv, is_long, next_power_of_2
from hookscope.triton_kernels.launch.plans import Input, Kernel, Operand, Planner, UnsuitedError, is_float
from hookscope.triton_kernels.launch.strides import memory_order, merge_axes
from hookscope.triton_kernels.library.array_copy import MAX_AXES, place_of
from hookscope.triton_kernels.library.generated_kernels import max_of, min_of

_TILE = 4096
"""Elements of a tile: 32 for each of 128 threads, which are 4 or 8 loads of 16 bytes at once."""
_COLUMN_BYTES = 256
"""A tile's width in memory if the innermost axis is kept."""
_PROGRAMS, _LEAST_TILES = 528, 8
"""Rows that give fewer programs are split between several programs, each of which reduces at least this many tiles."""


@triton.jit
def _product_of(a, b):
    return a * b


@triton.jit
def _start_of(dtype: tl.constexpr, OPERATION: tl.constexpr):
    """Return the neutral element of an operation."""
    if OPERATION == "prod" or OPERATION == "all":
        start = tl.full((), 1, dtype)
    elif OPERATION == "max":
        start = tl.full((), float("-inf") if dtype == tl.float32 else -(2**63), dtype)
    elif OPERATION == "min":
        start = tl.full((), float("inf") if dtype == tl.float32 else 2**63 - 1, dtype)
    elif OPERATION == "argmax" or OPERATION == "argmin":
        start = tl.full((), -(2**63), dtype)
    else:
        start = tl.full((), 0, dtype)
    return start


@triton.jit
def _joined(a, b, OPERATION: tl.constexpr):
    if OPERATION == "sum" or OPERATION == "mean":
        c = a + b
    elif OPERATION == "prod":
        c = a * b
    elif OPERATION == "min" or OPERATION == "all":
        c = min_of(a, b)
    else:
        c = max_of(a, b)
    return c


@triton.jit
def _index_key(x, n, OPERATION: tl.constexpr):
    """Return an int64 key: larger for larger `x` (smaller, for argmin), among equals for smaller indices; NaN wins.

    The bits of a nonnegative float32 are ordered like an integer's; those of a negative one are inverted except for the
    sign.
    """
    bits = tl.where(x == 0, 0.0, x).to(tl.int32, bitcast=True)  # -0 is 0
    order = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    if OPERATION == "argmin":
        order = ~order
    order = tl.where(x == x, order, 0x7FFFFFFF)
    return (order.to(tl.int64) << 32) | (0xFFFFFFFF - n.to(tl.int64))


@triton.jit
def _value_of(key, OPERATION: tl.constexpr):
    """Return the float32 from which `_index_key` was computed."""
    order = (key >> 32).to(tl.int32)
    bits = order
    if OPERATION == "argmin":
        bits = ~order
    bits = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return tl.where(order == 0x7FFFFFFF, float("nan"), bits.to(tl.float32, bitcast=True))


@triton.jit
def reduce_kernel(
    x_ptr,
    out_ptr,
    index_ptr,
    rows,
    length,
    step,
    parts,
    count,
    kept_1,
    kept_2,
    kept_3,
    kept_4,
    m_0,
    m_1,
    m_2,
    m_3,
    m_4,
    added_1,
    added_2,
    added_3,
    added_4,
    n_0,
    n_1,
    n_2,
    n_3,
    n_4,
    OPERATION: tl.constexpr,
    FIRST: tl.constexpr,
    LAST: tl.constexpr,
    M_AXES: tl.constexpr,
    N_AXES: tl.constexpr,
    LONG: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Compute out[part, m] = the reduction of x[m, n] over the part's n; the second launch reduces the parts."""
    program = tl.program_id(0)
    part = program % parts
    m = (program // parts) * BLOCK_M + tl.arange(0, BLOCK_M)
    begin = part * step
    lane = tl.arange(0, BLOCK_N)
    if LONG:
        m, lane = m.to(tl.int64), lane.to(tl.int64)
        begin = part.to(tl.int64) * step
    end = tl.minimum(begin + step, length)
    row = place_of(m, kept_1, kept_2, kept_3, kept_4, m_0, m_1, m_2, m_3, m_4, M_AXES)
    dtype: tl.constexpr = tl.float32 if x_ptr.dtype.element_ty.is_floating() else tl.int64
    keys: tl.constexpr = OPERATION == "argmax" or OPERATION == "argmin"
    truth: tl.constexpr = OPERATION == "any" or OPERATION == "all"
    of_total: tl.constexpr = tl.int64 if keys else tl.int32 if truth else dtype
    start = _start_of(of_total, OPERATION)
    total = tl.zeros((BLOCK_M, BLOCK_N), of_total) + start
    for first in range(begin, end, BLOCK_N):
        n = first + lane
        inside = (m < rows)[:, None] & (n < end)[None, :]
        column = place_of(n, added_1, added_2, added_3, added_4, n_0, n_1, n_2, n_3, n_4, N_AXES)
        x = tl.load(x_ptr + (row[:, None] + column[None, :]), mask=inside, other=0)
        if keys and FIRST:
            x = _index_key(x.to(tl.float32), n[None, :], OPERATION)
        elif truth:
            x = (x.to(dtype) != 0).to(tl.int32)
        total = _joined(total, tl.where(inside, x.to(of_total), start), OPERATION)
    if OPERATION == "sum" or OPERATION == "mean":
        result = tl.sum(total, axis=1)
    elif OPERATION == "prod":
        result = tl.reduce(total, 1, _product_of)
    elif OPERATION == "min" or OPERATION == "all":
        result = tl.reduce(total, 1, min_of)
    else:
        result = tl.reduce(total, 1, max_of)
    at = part.to(tl.int64) * rows + m
    if OPERATION == "mean" and LAST:
        result = result / count
    if keys and LAST:
        tl.store(index_ptr + at, 0xFFFFFFFF - (result & 0xFFFFFFFF), mask=m < rows)
        if out_ptr is not None:
            tl.store(out_ptr + at, _value_of(result, OPERATION).to(out_ptr.dtype.element_ty), mask=m < rows)
    else:
        tl.store(out_ptr + at, result.to(out_ptr.dtype.element_ty), mask=m < rows)


def _axes_of(x: Operand, axes: Sequence[int]) -> tuple[int, int, list[int]]:
    """Return the number of elements along some axes, the number of merged axes, and the kernel's scalars for them."""
    sizes, (strides,) = merge_axes([x.shape[axis] for axis in axes], [tuple([x.strides[axis] for axis in axes])])
    if len(sizes) > MAX_AXES:
        raise UnsuitedError(f"a reduction takes at most {MAX_AXES} separate axes, got {len(sizes)}")
    missing = [0] * (MAX_AXES - len(sizes))
    return math.prod(sizes), len(sizes), [*sizes[1:], *missing, *strides, *missing]


def _launch(
    call: Planner,
    x: Operand,
    axes: Sequence[int],
    operation: str,
    out: Operand | None,
    indices: Operand | None = None,
    count: int = 0,
) -> None:
    """Plan the reduction of `x` into `out`, whose memory order is that of the kept axes.

    `count` is 0 in the first launch; in the second, which reduces parts, it is the number of elements of each sum.

    Raises:
        UnsuitedError: too many kept or reduced axes remain after merging.
    """
    order = memory_order(x.shape, x.strides)
    rows, kept_axes, m_scalars = _axes_of(x, [axis for axis in order if axis not in axes])
    length, added_axes, n_scalars = _axes_of(x, [axis for axis in order if axis in axes])
    innermost = next((axis for axis in reversed(order) if x.shape[axis] != 1 and x.strides[axis]), -1)
    if innermost in axes:
        width = min(next_power_of_2(length), _TILE)
        tile_rows = min(next_power_of_2(rows), _TILE // width)
    else:
        tile_rows = min(next_power_of_2(rows), _COLUMN_BYTES // x.itemsize)
        width = min(next_power_of_2(length), max(1, _TILE // tile_rows))
    programs, tiles, parts = cdiv(rows, tile_rows), cdiv(length, width), 1
    if not count and programs < _PROGRAMS and tiles > _LEAST_TILES:
        parts = min(cdiv(tiles, _LEAST_TILES), cdiv(_PROGRAMS, programs))
    step = cdiv(tiles, parts) * width
    parts = cdiv(length, step)
    farthest = sum([(size - 1) * abs(stride) for size, stride in zip(x.shape, x.strides, strict=True)])
    constants = {
        "OPERATION": operation,
        "FIRST": count == 0,
        "LAST": parts == 1,
        "M_AXES": kept_axes,
        "N_AXES": added_axes,
        "LONG": is_long(max(farthest, x.size) + 2 * _TILE),
        "BLOCK_M": tile_rows,
        "BLOCK_N": width,
    }
    scalars = (rows, length, step, parts, count or length, *m_scalars, *n_scalars)
    if parts == 1:
        call.launch(reduce_kernel, programs, (x, out, indices), scalars, constants)
        return
    accumulator = np.int32 if operation in ("any", "all") else np.float32 if is_float(x) else np.int64
    partial_sums = call.empty((parts, rows), np.int64 if operation.startswith("arg") else accumulator)
    call.launch(reduce_kernel, programs * parts, (x, partial_sums, None), scalars, constants)
    _launch(call, partial_sums, (0,), operation, out, indices, length)


_INTEGERS = {"sum": "i", "prod": "i", "max": "i", "min": "i", "any": "ib", "all": "ib"}
"""Additional kinds of dtypes, besides floating ones, for each reduction."""


def _suits(x: Input, operation: str) -> TypeGuard[Operand]:
    return is_float(x) or (isinstance(x, Operand) and x.size > 0 and x.dtype.kind in _INTEGERS.get(operation, ()))


def _order_without(x: Operand, axes: Sequence[int], keepdims: bool) -> list[int]:
    """Return the result's axes in memory order, outermost first."""
    order = memory_order(x.shape, x.strides)
    if keepdims:
        return order
    kept_axes = [axis for axis in range(x.ndim) if axis not in axes]
    return [kept_axes.index(axis) for axis in order if axis in kept_axes]


def _shape_without(x: Operand, axes: Sequence[int], keepdims: bool) -> list[int]:
    return [1 if axis in axes else n for axis, n in enumerate(x.shape) if keepdims or axis not in axes]


def _reduce(
    call: Planner, x: Input, axis: tuple[int, ...] | int | None, keepdims: bool, operation: str
) -> Operand | None:
    if not _suits(x, operation):
        return None
    axes = range(x.ndim) if axis is None else [index % x.ndim for index in ((axis,) if isinstance(axis, int) else axis)]
    dtype = np.bool_ if operation in ("any", "all") else x.dtype
    out = call.empty(_shape_without(x, axes, keepdims), dtype, _order_without(x, axes, keepdims))
    _launch(call, x, axes, operation, out)
    return out


def _extreme_index(call: Planner, x: Input, axis: int | None, keepdims: bool, operation: str) -> Operand | None:
    """Plan the index of the extreme along one axis, or along all in C order."""
    if not is_float(x) or (axis is None and not x.is_contiguous) or x.size > 2**32:
        return None
    axes = range(x.ndim) if axis is None else (axis % x.ndim,)
    indices = call.empty(_shape_without(x, axes, keepdims), np.int64, _order_without(x, axes, keepdims))
    _launch(call, x, axes, operation, None, indices)
    return indices


def _along(call: Planner, x: Input, axis: int, keepdims: bool, operation: str) -> tuple[Operand, Operand] | None:
    """Plan the extreme along one axis, and its index."""
    if not is_float(x) or x.size > 2**32:
        return None
    axes = (axis % x.ndim,)
    shape, order = _shape_without(x, axes, keepdims), _order_without(x, axes, keepdims)
    out, indices = call.empty(shape, x.dtype, order), call.empty(shape, np.int64, order)
    _launch(call, x, axes, operation, out, indices)
    return out, indices


def _sum_to(call: Planner, x: Input, shape: tuple[int, ...]) -> Operand | None:
    """Plan the sum over the axes that `shape` lacks or has with length 1: the gradient of a broadcast."""
    if not is_float(x):
        return None
    missing = x.ndim - len(shape)
    axes = [axis for axis in range(x.ndim) if axis < missing or (shape[axis - missing] == 1 and x.shape[axis] != 1)]
    if not axes:
        return None
    order = [axis - missing for axis in memory_order(x.shape, x.strides) if axis >= missing]
    out = call.empty(shape, x.dtype, order)
    _launch(call, x, axes, "sum", out)
    return out


KERNELS = {
    **{name: Kernel(partial(_reduce, operation=name)) for name in ("sum", "mean", "prod", "any", "all")},
    **{name: Kernel(partial(_extreme_index, operation=name)) for name in ("argmax", "argmin")},
    **{f"a{name}": Kernel(partial(_reduce, operation=name)) for name in ("max", "min")},
    **{f"{name}_along": Kernel(partial(_along, operation=f"arg{name}")) for name in ("max", "min")},
    "sum_to": Kernel(_sum_to),
}
