"""Softmax and log-softmax along any axis, and their gradients.

A row that fits a program's registers is read once; a longer one twice, the first time for its largest value
and its sum of exponentials, kept up to date from piece to piece. A NaN makes its whole row NaN, as in NumPy:
the maximum leaves it out, but the sum does not.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

from hookscope.triton_kernels import _launch
from hookscope.triton_kernels._launch import (
    Array,
    Kernel,
    are_floats,
    array_module,
    as_rows,
    cdiv,
    from_rows,
    is_float,
    launch,
    row_tile,
)


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
    """A program for each row."""
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
    """(m, s) of a row in one pass: its largest value, and the sum of exp(x - m).

    Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867.
    """
    largest = float("-inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + column, mask=column < columns, other=float("-inf")).to(tl.float32)
        new_largest = tl.maximum(largest, tl.max(x, axis=0))
        # Where all so far is -inf, a difference with the largest would be NaN; with 0 the sum stays 0.
        shift = tl.where(new_largest == float("-inf"), 0.0, new_largest)
        total = total * tl.exp(largest - shift) + tl.sum(tl.exp(x - shift), axis=0)
        largest = new_largest
    return largest, total


@triton.jit
def softmax_grad_kernel(
    g_ptr, y_ptr, dx_ptr, rows, columns, LOG: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    """A tile of rows, in as many pieces as it takes; what is read a second time is mostly in the cache."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    base = row.to(tl.int64)[:, None] * columns
    total = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        mask = (row[:, None] < rows) & (column < columns)
        g = tl.load(g_ptr + base + column, mask=mask, other=0.0).to(tl.float32)
        if LOG:
            total += g
        else:
            total += g * tl.load(y_ptr + base + column, mask=mask, other=0.0).to(tl.float32)
    inner = tl.sum(total, axis=1)[:, None]
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        mask = (row[:, None] < rows) & (column < columns)
        g = tl.load(g_ptr + base + column, mask=mask, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + base + column, mask=mask, other=0.0).to(tl.float32)
        if LOG:
            dx = g - tl.exp(y) * inner
        else:
            dx = (g - inner) * y
        tl.store(dx_ptr + base + column, dx.to(dx_ptr.dtype.element_ty), mask=mask)


def _forward(x: Array, axis: int, log: bool) -> Array:
    rows = as_rows(x, axis)
    y: Array = array_module(x).empty_like(rows)
    count, columns = rows.shape
    tile_rows, block, warps = row_tile(columns, _launch.MAX_ROW)
    if block >= columns:
        launch(
            softmax_kernel,
            cdiv(count, tile_rows),
            (rows, y),
            (count, columns),
            {"LOG": log, "ROWS": tile_rows, "BLOCK": block},
            num_warps=warps,
        )
    else:
        launch(long_softmax_kernel, count, (rows, y), (columns,), {"LOG": log, "BLOCK": block}, num_warps=warps)
    return from_rows(y, x, axis)


def _backward(g: Array, y: Array, axis: int, log: bool) -> Array:
    g_rows, y_rows = as_rows(g, axis), as_rows(y, axis)
    dx: Array = array_module(y).empty_like(y_rows)
    count, columns = y_rows.shape
    tile_rows, block, warps = row_tile(columns, _launch.MAX_PAIR_ROW)
    launch(
        softmax_grad_kernel,
        cdiv(count, tile_rows),
        (g_rows, y_rows, dx),
        (count, columns),
        {"LOG": log, "ROWS": tile_rows, "BLOCK": block},
        num_warps=warps,
    )
    return from_rows(dx, y, axis)


def softmax(x: Array, axis: int) -> Array:
    return _forward(x, axis, log=False)


def softmax_grad(g: Array, y: Array, axis: int) -> Array:
    return _backward(g, y, axis, log=False)


def log_softmax(x: Array, axis: int) -> Array:
    return _forward(x, axis, log=True)


def log_softmax_grad(g: Array, y: Array, axis: int) -> Array:
    return _backward(g, y, axis, log=True)


def _forward_qualifies(x: Any, axis: int) -> bool:
    return is_float(x) and -x.ndim <= axis < x.ndim


def _backward_qualifies(g: Any, y: Any, axis: int) -> bool:
    return are_floats(g, y) and g.shape == y.shape and -y.ndim <= axis < y.ndim


KERNELS = {
    "softmax": Kernel(softmax, _forward_qualifies),
    "softmax_grad": Kernel(softmax_grad, _backward_qualifies),
    "log_softmax": Kernel(log_softmax, _forward_qualifies),
    "log_softmax_grad": Kernel(log_softmax_grad, _backward_qualifies),
}
