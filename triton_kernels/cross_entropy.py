"""Cross-entropy of rows of logits with the index of each row's class, without storing a softmax.

The forward kernel reads each row once and keeps its log-sum-exp; the gradient needs no more. A label that is
neither a class nor `ignore_index` gives NaN: a kernel cannot raise, and must not read outside the row.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels._launch import MAX_PROGRAMS, cdiv, next_power_of_2
from hookscope.triton_kernels._plans import Given, Kernel, Operand, Planner, is_float
from hookscope.triton_kernels._rows import warps_for
from hookscope.triton_kernels.softmax import running_sum

_MAX_BLOCK = 8192


@triton.jit
def cross_entropy_kernel(logits_ptr, labels_ptr, loss_ptr, lse_ptr, classes, ignore_index, BLOCK: tl.constexpr):
    """A program for each row."""
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * classes
    largest, total = running_sum(logits_ptr, classes, BLOCK)
    lse = largest + tl.log(total)
    label = tl.load(labels_ptr + row).to(tl.int64)
    valid = (label >= 0) & (label < classes)
    picked = tl.load(logits_ptr + tl.where(valid, label, 0)).to(tl.float32)
    loss = tl.where(valid, lse - picked, float("nan"))
    loss = tl.where(label == ignore_index, 0.0, loss)
    tl.store(loss_ptr + row, loss.to(loss_ptr.dtype.element_ty))
    tl.store(lse_ptr + row, lse)


@triton.jit
def cross_entropy_grad_kernel(
    g_ptr, logits_ptr, labels_ptr, lse_ptr, d_ptr, classes, pieces, ignore_index, BLOCK: tl.constexpr
):
    """A program for each piece of a row."""
    row = (tl.program_id(0) // pieces).to(tl.int64)
    column = (tl.program_id(0) % pieces) * BLOCK + tl.arange(0, BLOCK)
    mask = column < classes
    label = tl.load(labels_ptr + row).to(tl.int64)
    g = tl.load(g_ptr + row).to(tl.float32)
    g = tl.where((label >= 0) & (label < classes), g, float("nan"))
    logits = tl.load(logits_ptr + row * classes + column, mask=mask, other=0.0).to(tl.float32)
    softmax = tl.exp(logits - tl.load(lse_ptr + row))
    d = (softmax - tl.where(column == label, 1.0, 0.0)) * g
    d = tl.where(label == ignore_index, 0.0, d)
    tl.store(d_ptr + row * classes + column, d.to(d_ptr.dtype.element_ty), mask=mask)


def _cross_entropy(call: Planner, logits: Given, labels: Given, ignore_index: int) -> tuple[Operand, Operand] | None:
    if not is_float(logits) or not isinstance(labels, Operand) or not _suit(logits, labels):
        return None
    logits, labels = call.contiguous(logits), call.contiguous(labels)
    rows, classes = logits.shape
    loss, lse = call.empty((rows,), logits.dtype), call.empty((rows,), np.float32)
    block = _block(classes)
    arrays, scalars = (logits, labels, loss, lse), (classes, int(ignore_index))
    call.launch(cross_entropy_kernel, rows, arrays, scalars, {"BLOCK": block}, num_warps=warps_for(block))
    return loss, lse


def _cross_entropy_grad(
    call: Planner, g: Given, logits: Given, labels: Given, lse: Given, ignore_index: int
) -> Operand | None:
    if not is_float(logits) or not isinstance(labels, Operand) or not _suit(logits, labels):
        return None
    if not is_float(g) or not is_float(lse) or lse.dtype != np.float32:
        return None
    if not g.shape == lse.shape == labels.shape:
        return None
    g, logits, labels, lse = [call.contiguous(one) for one in (g, logits, labels, lse)]
    rows, classes = logits.shape
    d = call.empty(logits.shape, logits.dtype)
    block = _block(classes)
    pieces = cdiv(classes, block)
    arrays, scalars = (g, logits, labels, lse, d), (classes, pieces, int(ignore_index))
    call.launch(
        cross_entropy_grad_kernel, rows * pieces, arrays, scalars, {"BLOCK": block}, num_warps=warps_for(block)
    )
    return d


def _block(classes: int) -> int:
    return min(next_power_of_2(classes), _MAX_BLOCK)


def _suit(logits: Operand, labels: Operand) -> bool:
    return (
        logits.ndim == 2
        and labels.dtype.kind in "iu"
        and labels.shape == logits.shape[:1]
        and logits.shape[0] * cdiv(logits.shape[1], _MAX_BLOCK) <= MAX_PROGRAMS
    )


KERNELS = {
    "sparse_softmax_cross_entropy": Kernel(_cross_entropy),
    "sparse_softmax_cross_entropy_grad": Kernel(_cross_entropy_grad),
}
