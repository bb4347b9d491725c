"""Softmax and log-softmax along any axis, and their gradients.

A row that fits into a program's registers is read once; a longer one twice, the first time for its maximum and its sum
of exponentials, which are updated from piece to piece. A NaN makes its complete row NaN, as in NumPy: the maximum
ignores it, but the sum does not.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

from functools import partial

import triton
import triton.language as tl

from hookscope.triton_kernels.launch.launcher import cdiv
from hookscope.triton_kernels.launch.plans import Input, Kernel, Operand, Planner, is_float
from hookscope.triton_kernels.library import row_tiles
from hookscope.triton_kernels.library.row_tiles import as_rows, like_rows, row_tile


@triton.jit
def softmax_kernel(x_ptr, y_ptr, rows, columns, LOG: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    mask = (row[:, None] < rows) & (column[None, :] < columns)
    at = row.to(tl.int64)[:, None] * columns + column[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=float("-inf")).to(tl.float32)
    x = x - tl.max(x, axis=1)[:, None]
    powers = tl.exp(x)
    total = tl.sum(powers, axis=1)[:, None]
    if LOG:
        y = x - tl.log(total)
    else:
        y = powers / total
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def long_softmax_kernel(x_ptr, y_ptr, columns, LOG: tl.constexpr, BLOCK: tl.constexpr):
    """Process one row per program."""
    x_ptr += tl.program_id(0).to(tl.int64) * columns
    y_ptr += tl.program_id(0).to(tl.int64) * columns
    largest, total = running_sum(x_ptr, columns, BLOCK)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        mask = column < columns
        x = tl.load(x_ptr + column, mask=mask, other=float("-inf")).to(tl.float32) - largest
        if LOG:
            y = x - tl.log(total)
        else:
            y = tl.exp(x) / total
        tl.store(y_ptr + column, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def running_sum(x_ptr, columns, BLOCK: tl.constexpr):
    """Return (m, s) of a row in one pass: its maximum, and the sum of exp(x - m).

    Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867.
    """
    largest = float("-inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + column, mask=column < columns, other=float("-inf")).to(tl.float32)
        new_largest = tl.maximum(largest, tl.max(x, axis=0))
        # If all values so far are -inf, their difference to the maximum would be NaN; with 0 the sum stays 0.
        shift = tl.where(new_largest == float("-inf"), 0.0, new_largest)
        total = total * tl.exp(largest - shift) + tl.sum(tl.exp(x - shift), axis=0)
        largest = new_largest
    return largest, total


@triton.jit
def softmax_grad_kernel(
    g_ptr, y_ptr, dx_ptr, rows, columns, LOG: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    """Process a tile of complete rows."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    mask = (row[:, None] < rows) & (column[None, :] < columns)
    at = row.to(tl.int64)[:, None] * columns + column[None, :]
    g = tl.load(g_ptr + at, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + at, mask=mask, other=0.0).to(tl.float32)
    if LOG:
        dx = g - tl.exp(y) * tl.sum(g, axis=1)[:, None]
    else:
        dx = (g - tl.sum(g * y, axis=1)[:, None]) * y
    tl.store(dx_ptr + at, dx.to(dx_ptr.dtype.element_ty), mask=mask)


@triton.jit
def long_softmax_grad_kernel(g_ptr, y_ptr, dx_ptr, columns, LOG: tl.constexpr, BLOCK: tl.constexpr):
    """Process one row per program, in pieces; the second read is mostly from the cache."""
    base = tl.program_id(0).to(tl.int64) * columns
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        g = tl.load(g_ptr + base + column, mask=column < columns, other=0.0).to(tl.float32)
        if LOG:
            total += g
        else:
            total += g * tl.load(y_ptr + base + column, mask=column < columns, other=0.0).to(tl.float32)
    inner = tl.sum(total, axis=0)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        mask = column < columns
        g = tl.load(g_ptr + base + column, mask=mask, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + base + column, mask=mask, other=0.0).to(tl.float32)
        if LOG:
            dx = g - tl.exp(y) * inner
        else:
            dx = (g - inner) * y
        tl.store(dx_ptr + base + column, dx.to(dx_ptr.dtype.element_ty), mask=mask)


def _forward(call: Planner, x: Input, axis: int, log: bool) -> Operand | None:
    if not is_float(x) or not -x.ndim <= axis < x.ndim:
        return None
    rows = as_rows(call, x, axis)
    out, y = like_rows(call, x, axis)
    count, columns = rows.shape
    tile_rows, block, warps = row_tile(columns, row_tiles.MAX_ROW)
    if block >= columns:
        constants = {"LOG": log, "ROWS": tile_rows, "BLOCK": block}
        call.launch(softmax_kernel, cdiv(count, tile_rows), (rows, y), (count, columns), constants, num_warps=warps)
    else:
        constants = {"LOG": log, "BLOCK": block}
        call.launch(long_softmax_kernel, count, (rows, y), (columns,), constants, num_warps=warps)
    return out


def _backward(call: Planner, g: Input, y: Input, axis: int, log: bool) -> Operand | None:
    if not is_float(g) or not is_float(y) or g.dtype != y.dtype:
        return None
    if g.shape != y.shape or not -y.ndim <= axis < y.ndim:
        return None
    g_rows, y_rows = as_rows(call, g, axis), as_rows(call, y, axis)
    out, dx = like_rows(call, y, axis)
    count, columns = y_rows.shape
    tile_rows, block, warps = row_tile(columns, row_tiles.MAX_PAIR_ROW)
    arrays = (g_rows, y_rows, dx)
    if block >= columns:
        constants = {"LOG": log, "ROWS": tile_rows, "BLOCK": block}
        call.launch(softmax_grad_kernel, cdiv(count, tile_rows), arrays, (count, columns), constants, num_warps=warps)
    else:
        constants = {"LOG": log, "BLOCK": block}
        call.launch(long_softmax_grad_kernel, count, arrays, (columns,), constants, num_warps=warps)
    return out


KERNELS = {
    "softmax": Kernel(partial(_forward, log=False)),
    "softmax_grad": Kernel(partial(_backward, log=False)),
    "log_softmax": Kernel(partial(_forward, log=True)),
    "log_softmax_grad": Kernel(partial(_backward, log=True)),
}
