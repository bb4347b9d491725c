"""Cross-entropy of rows of logits with class indices, without storing a softmax, and the count of valid labels.

The forward kernel reads each row once and stores its log-sum-exp; the gradient kernel reads the logits once more and
writes: three passes. If the forward kernel wrote the gradient, it would still have to be multiplied by the incoming
one: four passes. A label that is neither a class nor `ignore_index` gives NaN, since a kernel cannot raise and must not
read outside the row.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels.launch.launcher import MAX_PROGRAMS, cdiv, next_power_of_2
from hookscope.triton_kernels.launch.plans import Input, Kernel, Operand, Planner, is_float
from hookscope.triton_kernels.library import row_tiles
from hookscope.triton_kernels.library.row_tiles import row_tile
from hookscope.triton_kernels.softmax import running_sum

# Labels that one program counts at once, and the maximum number of programs.
_LABELS = 1024
_MAX_SHARES = 256


@triton.jit
def _loss(lse, picked, label, classes, ignore_index):
    loss = tl.where((label >= 0) & (label < classes), lse - picked, float("nan"))
    return tl.where(label == ignore_index, 0.0, loss)


@triton.jit
def cross_entropy_kernel(
    logits_ptr, labels_ptr, loss_ptr, lse_ptr, rows, classes, ignore_index, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    """Process a tile of complete rows."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    mask = (row[:, None] < rows) & (column[None, :] < classes)
    at = row.to(tl.int64)[:, None] * classes + column[None, :]
    x = tl.load(logits_ptr + at, mask=mask, other=float("-inf")).to(tl.float32)
    label = tl.load(labels_ptr + row, mask=row < rows, other=0).to(tl.int64)
    largest = tl.max(x, axis=1)
    lse = largest + tl.log(tl.sum(tl.exp(x - largest[:, None]), axis=1))
    picked = tl.sum(tl.where(column[None, :] == label[:, None], x, 0.0), axis=1)
    loss = _loss(lse, picked, label, classes, ignore_index)
    tl.store(loss_ptr + row, loss.to(loss_ptr.dtype.element_ty), mask=row < rows)
    tl.store(lse_ptr + row, lse, mask=row < rows)


@triton.jit
def long_cross_entropy_kernel(logits_ptr, labels_ptr, loss_ptr, lse_ptr, classes, ignore_index, BLOCK: tl.constexpr):
    """Process one row per program, in pieces."""
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * classes
    largest, total = running_sum(logits_ptr, classes, BLOCK)
    lse = largest + tl.log(total)
    label = tl.load(labels_ptr + row).to(tl.int64)
    valid = (label >= 0) & (label < classes)
    picked = tl.load(logits_ptr + tl.where(valid, label, 0)).to(tl.float32)
    tl.store(loss_ptr + row, _loss(lse, picked, label, classes, ignore_index).to(loss_ptr.dtype.element_ty))
    tl.store(lse_ptr + row, lse)


@triton.jit
def cross_entropy_grad_kernel(
    g_ptr,
    logits_ptr,
    labels_ptr,
    lse_ptr,
    d_ptr,
    rows,
    classes,
    pieces,
    g_stride,
    ignore_index,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Process a tile of rows, or a piece of one row."""
    row = (tl.program_id(0) // pieces) * ROWS + tl.arange(0, ROWS)
    column = (tl.program_id(0) % pieces) * BLOCK + tl.arange(0, BLOCK)
    mask = (row[:, None] < rows) & (column[None, :] < classes)
    at = row.to(tl.int64)[:, None] * classes + column[None, :]
    label = tl.load(labels_ptr + row, mask=row < rows, other=0).to(tl.int64)
    g = tl.load(g_ptr + row.to(tl.int64) * g_stride, mask=row < rows, other=0.0).to(tl.float32)
    lse = tl.load(lse_ptr + row, mask=row < rows, other=0.0)
    g = tl.where((label >= 0) & (label < classes), g, float("nan"))
    softmax = tl.exp(tl.load(logits_ptr + at, mask=mask, other=0.0).to(tl.float32) - lse[:, None])
    d = (softmax - tl.where(column[None, :] == label[:, None], 1.0, 0.0)) * g[:, None]
    d = tl.where(label[:, None] == ignore_index, 0.0, d)
    tl.store(d_ptr + at, d.to(d_ptr.dtype.element_ty), mask=mask)


@triton.jit
def count_kernel(labels_ptr, out_ptr, rows, share_rows, other_than, LAST: tl.constexpr, BLOCK: tl.constexpr):
    """Store in out[share] the number of labels of a share that are not `other_than`; for LAST, of all, NaN for none."""
    first = tl.program_id(0) * share_rows
    last = tl.minimum(first + share_rows, rows)
    count = tl.zeros((BLOCK,), dtype=tl.int32)
    for start in range(first, last, BLOCK):
        row = start + tl.arange(0, BLOCK)
        label = tl.load(labels_ptr + row, mask=row < last, other=0).to(tl.int64)
        count += (tl.where(row < last, label, other_than) != other_than).to(tl.int32)
    _store_count(out_ptr, tl.sum(count, axis=0), LAST)


@triton.jit
def add_counts_kernel(counts_ptr, out_ptr, shares, BLOCK: tl.constexpr):
    share = tl.arange(0, BLOCK)
    _store_count(out_ptr, tl.sum(tl.load(counts_ptr + share, mask=share < shares, other=0), axis=0), True)


@triton.jit
def _store_count(out_ptr, count, LAST: tl.constexpr):
    if LAST:
        divisor = tl.where(count == 0, float("nan"), count.to(tl.float32))
        tl.store(out_ptr, divisor.to(out_ptr.dtype.element_ty))
    else:
        tl.store(out_ptr + tl.program_id(0), count)


def _cross_entropy(call: Planner, logits: Input, labels: Input, ignore_index: int) -> tuple[Operand, Operand] | None:
    if not is_float(logits) or not _are_labels(labels) or not _suit(logits, labels):
        return None
    logits, labels = call.contiguous(logits), call.contiguous(labels)
    rows, classes = logits.shape
    loss, lse = call.empty((rows,), logits.dtype), call.empty((rows,), np.float32)
    arrays = (logits, labels, loss, lse)
    tile_rows, block, warps = row_tile(classes, row_tiles.MAX_ROW)
    if block >= classes:
        scalars, constants = (rows, classes, int(ignore_index)), {"ROWS": tile_rows, "BLOCK": block}
        call.launch(cross_entropy_kernel, cdiv(rows, tile_rows), arrays, scalars, constants, num_warps=warps)
    else:
        call.launch(
            long_cross_entropy_kernel, rows, arrays, (classes, int(ignore_index)), {"BLOCK": block}, num_warps=warps
        )
    return loss, lse


def _cross_entropy_grad(
    call: Planner, g: Input, logits: Input, labels: Input, lse: Input, ignore_index: int
) -> Operand | None:
    if not is_float(logits) or not _are_labels(labels) or not _suit(logits, labels):
        return None
    if not is_float(g) or not is_float(lse) or lse.dtype != np.float32 or not g.shape == lse.shape == labels.shape:
        return None
    logits, labels, lse = [call.contiguous(operand) for operand in (logits, labels, lse)]
    rows, classes = logits.shape
    d = call.empty(logits.shape, logits.dtype)
    tile_rows, block, warps = row_tile(classes, row_tiles.PIECE)
    pieces = cdiv(classes, block)
    # The gradient of a mean is one number for all rows, read with a stride of 0.
    arrays, scalars = (g, logits, labels, lse, d), (rows, classes, pieces, g.strides[0], int(ignore_index))
    constants = {"ROWS": tile_rows, "BLOCK": block}
    programs = cdiv(rows, tile_rows) * pieces
    call.launch(cross_entropy_grad_kernel, programs, arrays, scalars, constants, num_warps=warps)
    return d


def _count(call: Planner, labels: Input, other_than: int, dtype: np.dtype[Any]) -> Operand | None:
    if not _are_labels(labels) or np.dtype(dtype).name not in ("float16", "bfloat16", "float32"):
        return None
    labels, out = call.contiguous(labels), call.empty((), dtype)
    rows = labels.size
    block = min(next_power_of_2(rows), _LABELS)
    share_rows = cdiv(rows, min(_MAX_SHARES, cdiv(rows, 16 * block)))
    shares = cdiv(rows, share_rows)
    counts = out if shares == 1 else call.empty((shares,), np.int32)
    constants = {"LAST": shares == 1, "BLOCK": block}
    call.launch(count_kernel, shares, (labels, counts), (rows, share_rows, int(other_than)), constants)
    if shares > 1:
        call.launch(add_counts_kernel, 1, (counts, out), (shares,), {"BLOCK": next_power_of_2(shares)})
    return out


def _are_labels(labels: Input) -> TypeGuard[Operand]:
    return isinstance(labels, Operand) and labels.dtype.kind in "iu" and labels.size > 0


def _suit(logits: Operand, labels: Operand) -> bool:
    fits = logits.ndim == 2 and labels.shape == logits.shape[:1]
    return fits and logits.shape[0] * cdiv(logits.shape[1], row_tiles.PIECE) <= MAX_PROGRAMS


KERNELS = {
    "sparse_softmax_cross_entropy": Kernel(_cross_entropy),
    "sparse_softmax_cross_entropy_grad": Kernel(_cross_entropy_grad),
    "count_other_than": Kernel(_count),
}
