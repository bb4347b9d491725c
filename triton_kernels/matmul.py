"""Matrix product, and the linear layer with its bias and activation in the same pass.

Operands are read through their strides, so transposed ones need no copy. float16 and bfloat16 multiply on
tensor cores and add in float32; float32 is split in three TF32 products, whose error is near that of float32
arithmetic.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

from dataclasses import replace

import triton
import triton.language as tl

from hookscope.triton_kernels import _math
from hookscope.triton_kernels._launch import cdiv, interpreting, next_power_of_2
from hookscope.triton_kernels._plans import Given, Kernel, Operand, Planner, is_float
from hookscope.triton_kernels._strides import broadcast_shape, merge_axes

# Rows of tiles that are worked on together, so that what they share of `b` stays in the second-level cache.
_GROUP = 8
# Batch axes the kernel can tell apart, after neighbours that lie alike in both operands are taken as one.
_MAX_BATCH_AXES = 2


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, bias_ptr, out_ptr, m, n, k, inner_batches,
    a_outer, a_inner, a_row, a_column, b_outer, b_inner, b_row, b_column,
    HAS_BIAS: tl.constexpr, ACTIVATION: tl.constexpr, PRECISION: tl.constexpr, WIDEN: tl.constexpr,
    WHOLE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):  # fmt: skip
    """One tile of one matrix of the batch; `out` is contiguous."""
    tiles_m = tl.cdiv(m, BLOCK_M)
    tiles_n = tl.cdiv(n, BLOCK_N)
    batch = tl.program_id(0) // (tiles_m * tiles_n)
    tile = tl.program_id(0) % (tiles_m * tiles_n)
    group = tile // (GROUP * tiles_n)
    group_rows = tl.minimum(tiles_m - group * GROUP, GROUP)
    row = (group * GROUP + tile % (GROUP * tiles_n) % group_rows) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = (tile % (GROUP * tiles_n) // group_rows) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)

    outer = (batch // inner_batches).to(tl.int64)
    inner = (batch % inner_batches).to(tl.int64)
    # Rows and columns past the edge read the first one, which spares the loop a mask; they are not stored.
    safe_row = tl.where(row < m, row, 0).to(tl.int64)
    safe_column = tl.where(column < n, column, 0).to(tl.int64)
    a_ptrs = a_ptr + outer * a_outer + inner * a_inner + safe_row[:, None] * a_row
    a_ptrs += depth.to(tl.int64)[None, :] * a_column
    b_ptrs = b_ptr + outer * b_outer + inner * b_inner + safe_column[None, :] * b_column
    b_ptrs += depth.to(tl.int64)[:, None] * b_row
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        if WHOLE:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            a = tl.load(a_ptrs, mask=depth[None, :] < k - start, other=0.0)
            b = tl.load(b_ptrs, mask=depth[:, None] < k - start, other=0.0)
        if WIDEN:
            a = a.to(tl.float32)
            b = b.to(tl.float32)
        total = tl.dot(a, b, total, input_precision=PRECISION)
        a_ptrs += BLOCK_K * a_column
        b_ptrs += BLOCK_K * b_row

    if HAS_BIAS:
        total += tl.load(bias_ptr + column, mask=column < n, other=0.0).to(tl.float32)[None, :]
    total = _math.activate(total, ACTIVATION)
    out_at = batch.to(tl.int64) * m * n + row.to(tl.int64)[:, None] * n + column[None, :]
    mask = (row[:, None] < m) & (column[None, :] < n)
    tl.store(out_ptr + out_at, total.to(out_ptr.dtype.element_ty), mask=mask)


def _tile(m: int, n: int, k: int, itemsize: int) -> tuple[int, int, int, int, int]:
    """(rows, columns, depth, warps, stages) of a tile; 16 is the least that tensor cores multiply."""
    # Three TF32 products keep three times the operands in registers, so their tiles are smaller.
    rows = min(128 if itemsize == 2 else 64, max(16, next_power_of_2(m)))
    columns = min(128 if itemsize == 2 else 64, max(16, next_power_of_2(n)))
    depth = min(64 if itemsize == 2 else 32, max(16, next_power_of_2(k)))
    return rows, columns, depth, 8 if rows * columns >= 128 * 128 else 4, 3


def _multiply(
    call: Planner,
    a: Operand,
    b: Operand,
    bias: Operand | None,
    activation: str | None,
    out: Operand,
    batches: tuple[int, int],
    batch_strides: tuple[int, int, int, int],
) -> None:
    """out = activation(a @ b + bias) for `a` (..., M, K) and `b` (..., K, N).

    `batch_strides` are the outer and inner ones of `a`, then those of `b`.
    """
    (m, k), n = a.shape[-2:], b.shape[-1]
    rows, columns, depth, warps, stages = _tile(m, n, k, a.itemsize)
    call.launch(
        matmul_kernel,
        batches[0] * batches[1] * cdiv(m, rows) * cdiv(n, columns),
        (a, b, bias, out),
        (m, n, k, batches[1], *batch_strides[:2], *a.strides[-2:], *batch_strides[2:], *b.strides[-2:]),
        {
            "HAS_BIAS": bias is not None,
            "ACTIVATION": activation,
            "PRECISION": "tf32x3" if a.itemsize == 4 else "tf32",
            # The interpreter multiplies bfloat16 as the integers it keeps it in.
            "WIDEN": a.dtype.name == "bfloat16" and interpreting(),
            "WHOLE": k % depth == 0,
            "BLOCK_M": rows,
            "BLOCK_N": columns,
            "BLOCK_K": depth,
            "GROUP": _GROUP,
        },
        num_warps=warps,
        num_stages=stages,
    )


def _linear(call: Planner, x: Given, weight: Given, bias: Given, activation: str | None) -> Operand | None:
    if not is_float(x) or not is_float(weight) or x.dtype != weight.dtype or activation not in _math.ACTIVATIONS:
        return None
    if x.ndim < 1 or weight.ndim != 2 or x.shape[-1] != weight.shape[1]:
        return None
    if bias is not None and (not is_float(bias) or bias.shape != weight.shape[:1]):
        return None
    out = call.empty((*x.shape[:-1], weight.shape[0]), x.dtype)
    rows = x if x.ndim == 2 else call.contiguous(x).reshaped(-1, x.shape[-1])
    row = None if bias is None else call.contiguous(bias)
    _multiply(call, rows, weight.transposed((1, 0)), row, activation, out, (1, 1), (0, 0, 0, 0))
    return out


def _matmul(call: Planner, a: Given, b: Given, transpose_a: bool, transpose_b: bool) -> Operand | None:
    if not is_float(a) or not is_float(b) or a.dtype != b.dtype or a.ndim == 0 or b.ndim == 0:
        return None
    if (transpose_a and a.ndim < 2) or (transpose_b and b.ndim < 2):
        return None
    left, right = _as_matrix(a, True, transpose_a), _as_matrix(b, False, transpose_b)
    batch = broadcast_shape([left.shape[:-2], right.shape[:-2]])
    if left.shape[-1] != right.shape[-2] or batch is None:
        return None  # the caller's own path tells the user
    views = [x.broadcast((*batch, *x.shape[-2:])).strides[:-2] for x in (left, right)]
    sizes, (a_strides, b_strides) = merge_axes(batch, views)
    if len(sizes) > _MAX_BATCH_AXES:
        return None
    rows = () if a.ndim == 1 else (left.shape[-2],)
    columns = () if b.ndim == 1 else (right.shape[-1],)
    out = call.empty((*batch, *rows, *columns), a.dtype)
    padding = [0] * (_MAX_BATCH_AXES - len(sizes))
    outer, inner = [*(1 for _ in padding), *sizes]
    strides = [*padding, *a_strides, *padding, *b_strides]
    _multiply(
        call, left, right, None, None, out, (outer, inner), (strides[0], strides[1], strides[2], strides[3])
    )
    return out


def _as_matrix(x: Operand, is_first: bool, transposed: bool) -> Operand:
    """The operand as a matrix, or a stack of them; a vector is a row if it comes first, else a column."""
    if x.ndim == 1 and is_first:
        return replace(x, shape=(1, x.size), strides=(0, *x.strides))
    if x.ndim == 1:
        return replace(x, shape=(x.size, 1), strides=(*x.strides, 0))
    return x.transposed([*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]) if transposed else x


KERNELS = {"linear": Kernel(_linear), "matmul": Kernel(_matmul)}
