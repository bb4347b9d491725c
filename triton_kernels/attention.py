"""Attention and its gradients without storing the scores of all queries with all keys.

A program processes a block of queries and loops over the keys. Its state for the softmax of a row is the largest score
and the running sum (Dao et al., "FlashAttention", arXiv:2205.14135; Dao, "FlashAttention-2", arXiv:2307.08691: the
source of the formulas). The gradients recompute the scores from the log-sum-exp of each row: one kernel for `dq`, over
the keys, one for `dk` and `dv`, over the queries, each sum in a fixed order.

Shared heads are axes of length 1 of `k` and `v`, and likewise for masks shared by rows or heads; neither is copied. If
a mask excludes complete blocks, as a causal or padding mask does, these are detected first and skipped, so a NaN in an
excluded key or value does not propagate as it does on the CPU.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels.launch.launcher import cdiv, interpreting, next_power_of_2
from hookscope.triton_kernels.launch.plans import Input, Kernel, Operand, Planner, UnsuitedError, are_floats, is_float
from hookscope.triton_kernels.launch.strides import broadcast_shape, memory_order, merge_axes

_LONGEST_HEAD = 256
_ROWS = 64
"""Queries that share one range of keys."""
_KEYS = 128
"""Ranges of keys begin at multiples of this."""
_LEAST_RANGED = 1024
"""From this number of keys on, computing the ranges of a mask is worth a launch."""


@triton.jit
def _start(head, size_1, size_2, stride_0, stride_1, stride_2):
    """Return the offset of a head in an operand, by its strides along the three axes of heads."""
    outer = head // size_2
    at = (head % size_2).to(tl.int64) * stride_2
    return at + (outer % size_1).to(tl.int64) * stride_1 + (outer // size_1).to(tl.int64) * stride_0


@triton.jit
def _rows(ptrs, exists, WIDTH: tl.constexpr, PADDED: tl.constexpr, EVEN: tl.constexpr, WIDEN: tl.constexpr):
    """Load rows of a matrix padded to a power of 2, with 0 for missing elements."""
    if EVEN and WIDTH == PADDED:
        x = tl.load(ptrs)
    elif WIDTH == PADDED:
        x = tl.load(ptrs, mask=exists[:, None], other=0.0)
    else:
        x = tl.load(ptrs, mask=exists[:, None] & (tl.arange(0, PADDED) < WIDTH)[None, :], other=0.0)
    if WIDEN:
        x = x.to(tl.float32)
    return x


@triton.jit
def _narrow(x, like, WIDEN: tl.constexpr):
    """Convert `x` to the dtype in which tensor cores multiply it with `like`."""
    return x if WIDEN else x.to(like.dtype)


@triton.jit
def _plus_mask(
    scores, mask_ptr, row, column, has_row, has_column, mask_row, mask_column, MASK: tl.constexpr, EVEN: tl.constexpr
):
    """Return scores, times log2(e), plus those of the mask; "keys" is a mask that is equal for all rows."""
    if MASK == "keys":
        added = tl.load(mask_ptr + column * mask_column, mask=has_column, other=0.0)
        scores += added.to(tl.float32) * 1.4426950408889634
    elif MASK == "all":
        ptrs = mask_ptr + row * mask_row + column * mask_column
        if EVEN:
            added = tl.load(ptrs)
        else:
            added = tl.load(ptrs, mask=has_row & has_column, other=0.0)
        scores += added.to(tl.float32) * 1.4426950408889634
    return scores


@triton.jit
def _range(ranges_ptr, start, length, BLOCK_Q: tl.constexpr, ROWS: tl.constexpr):
    """Return the range (first, end) of keys that any of the rows attends to."""
    span: tl.constexpr = (BLOCK_Q + ROWS - 1) // ROWS
    block = start // ROWS + tl.arange(0, span)
    exists = block * ROWS < length
    first = tl.load(ranges_ptr + block * 2, mask=exists, other=2147483647)
    end = tl.load(ranges_ptr + block * 2 + 1, mask=exists, other=0)
    return tl.min(first, axis=0), tl.max(end, axis=0)


@triton.jit
def ranges_kernel(
    mask_ptr,
    ranges_ptr,
    length,
    keys,
    size_1,
    size_2,
    mask_0,
    mask_1,
    mask_2,
    mask_row,
    mask_column,
    ROWS: tl.constexpr,
    KEYS: tl.constexpr,
):
    """Store (first, end) of the keys that the rows of a block attend to, in complete blocks of keys.

    If a row attends to none, all keys are included, since its NaN goes into every gradient.
    """
    blocks = tl.cdiv(length, ROWS)
    start = tl.program_id(0) % blocks * ROWS
    mask_ptr += _start(tl.program_id(0) // blocks, size_1, size_2, mask_0, mask_1, mask_2)
    mask_ptr += start.to(tl.int64) * mask_row
    row, key = tl.arange(0, ROWS), tl.arange(0, KEYS)
    looks = tl.zeros((ROWS,), dtype=tl.int32)
    first, end = keys, 0
    for at in range(0, keys, KEYS):
        inside = (start + row < length)[:, None] & (at + key < keys)[None, :]
        ptrs = mask_ptr + row[:, None] * mask_row + key[None, :] * mask_column
        added = tl.load(ptrs, mask=inside, other=float("-inf"))
        here = tl.max((added.to(tl.float32) != float("-inf")).to(tl.int32), axis=1)
        looks = tl.maximum(looks, here)
        if tl.max(here, axis=0) != 0:
            first = tl.minimum(first, at)
            end = tl.minimum(at + KEYS, keys)
        mask_ptr += KEYS * mask_column
    if tl.min(tl.where(start + row < length, looks, 1), axis=0) == 0:
        first = 0
        end = keys
    ranges_ptr += tl.program_id(0) * 2
    tl.store(ranges_ptr, first)
    tl.store(ranges_ptr + 1, end)


@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    mask_ptr,
    ranges_ptr,
    y_ptr,
    sums_ptr,
    length,
    keys,
    size_1,
    size_2,
    scale,
    q_0,
    q_1,
    q_2,
    q_row,
    k_0,
    k_1,
    k_2,
    k_row,
    v_0,
    v_1,
    v_2,
    v_row,
    mask_0,
    mask_1,
    mask_2,
    mask_row,
    mask_column,
    ranges_0,
    ranges_1,
    ranges_2,
    y_0,
    y_1,
    y_2,
    y_row,
    MASK: tl.constexpr,
    RANGED: tl.constexpr,
    WIDTH: tl.constexpr,
    V_WIDTH: tl.constexpr,
    PADDED: tl.constexpr,
    V_PADDED: tl.constexpr,
    EVEN_Q: tl.constexpr,
    EVEN_K: tl.constexpr,
    PRECISION: tl.constexpr,
    WIDEN: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Compute a block of queries of a head, with exponentials in base 2: exp(x) = 2^(x log2(e))."""
    blocks = tl.cdiv(length, BLOCK_Q)
    head = tl.program_id(0) // blocks
    # The last queries of a causal network attend to the most keys, so they begin first.
    start = (blocks - 1 - tl.program_id(0) % blocks) * BLOCK_Q
    row, key = tl.arange(0, BLOCK_Q), tl.arange(0, BLOCK_K)
    column, v_column = tl.arange(0, PADDED), tl.arange(0, V_PADDED)
    has_row = start + row < length
    q_ptr += _start(head, size_1, size_2, q_0, q_1, q_2) + start.to(tl.int64) * q_row
    q = _rows(q_ptr + row[:, None] * q_row + column[None, :], has_row, WIDTH, PADDED, EVEN_Q, WIDEN)
    k_ptr += _start(head, size_1, size_2, k_0, k_1, k_2)
    v_ptr += _start(head, size_1, size_2, v_0, v_1, v_2)
    if MASK != "none":
        mask_ptr += _start(head, size_1, size_2, mask_0, mask_1, mask_2) + start.to(tl.int64) * mask_row
    first, end = 0, keys
    if RANGED:
        ranges_ptr += _start(head, size_1, size_2, ranges_0, ranges_1, ranges_2)
        first, end = _range(ranges_ptr, start, length, BLOCK_Q, ROWS)
        k_ptr += first.to(tl.int64) * k_row
        v_ptr += first.to(tl.int64) * v_row
        mask_ptr += first.to(tl.int64) * mask_column
    in_k = key[:, None] * k_row + column[None, :]
    in_v = key[:, None] * v_row + v_column[None, :]

    largest = tl.full((BLOCK_Q,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_Q,), dtype=tl.float32)
    y = tl.zeros((BLOCK_Q, V_PADDED), dtype=tl.float32)
    for at in range(first, end, BLOCK_K):
        has_key = at + key < keys
        k = _rows(k_ptr + in_k, has_key, WIDTH, PADDED, EVEN_K, WIDEN)
        scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * (scale * 1.4426950408889634)
        scores = _plus_mask(
            scores,
            mask_ptr,
            row[:, None],
            key[None, :],
            has_row[:, None],
            has_key[None, :],
            mask_row,
            mask_column,
            MASK,
            EVEN_Q and EVEN_K,
        )
        if not EVEN_K:
            scores = tl.where(has_key[None, :], scores, float("-inf"))
        new_largest = tl.maximum(largest, tl.max(scores, axis=1))
        # If all scores so far are -inf, their difference to the maximum would be NaN; with 0 the sum stays 0.
        shift = tl.where(new_largest == float("-inf"), 0.0, new_largest)
        powers = tl.exp2(scores - shift[:, None])
        shrink = tl.exp2(largest - shift)
        total = total * shrink + tl.sum(powers, axis=1)
        v = _rows(v_ptr + in_v, has_key, V_WIDTH, V_PADDED, EVEN_K, WIDEN)
        y = tl.dot(_narrow(powers, v, WIDEN), v, y * shrink[:, None], input_precision=PRECISION)
        largest = new_largest
        k_ptr += BLOCK_K * k_row
        v_ptr += BLOCK_K * v_row
        if MASK != "none":
            mask_ptr += BLOCK_K * mask_column
    # A row that attends to no key is NaN, as on the CPU: 0 / 0, and its log-sum-exp is NaN instead of -inf.
    y = y / total[:, None]
    sums = tl.where(total == 0.0, float("nan"), (largest + tl.log2(total)) * 0.6931471805599453)
    tl.store(sums_ptr + head.to(tl.int64) * length + start + row, sums, mask=has_row)
    y_ptr += _start(head, size_1, size_2, y_0, y_1, y_2) + start.to(tl.int64) * y_row
    exists = has_row[:, None] & (v_column < V_WIDTH)[None, :]
    tl.store(y_ptr + row[:, None] * y_row + v_column[None, :], y.to(y_ptr.dtype.element_ty), mask=exists)


@triton.jit
def attention_dq_kernel(
    g_ptr,
    y_ptr,
    sums_ptr,
    q_ptr,
    k_ptr,
    v_ptr,
    mask_ptr,
    ranges_ptr,
    delta_ptr,
    dq_ptr,
    length,
    keys,
    size_1,
    size_2,
    scale,
    g_0,
    g_1,
    g_2,
    g_row,
    y_0,
    y_1,
    y_2,
    y_row,
    q_0,
    q_1,
    q_2,
    q_row,
    k_0,
    k_1,
    k_2,
    k_row,
    v_0,
    v_1,
    v_2,
    v_row,
    mask_0,
    mask_1,
    mask_2,
    mask_row,
    mask_column,
    ranges_0,
    ranges_1,
    ranges_2,
    dq_0,
    dq_1,
    dq_2,
    dq_row,
    MASK: tl.constexpr,
    RANGED: tl.constexpr,
    WIDTH: tl.constexpr,
    V_WIDTH: tl.constexpr,
    PADDED: tl.constexpr,
    V_PADDED: tl.constexpr,
    EVEN_Q: tl.constexpr,
    EVEN_K: tl.constexpr,
    PRECISION: tl.constexpr,
    WIDEN: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Compute the gradient of a block of queries, and the sum of g * y of each row for the other kernel."""
    blocks = tl.cdiv(length, BLOCK_Q)
    head = tl.program_id(0) // blocks
    start = (blocks - 1 - tl.program_id(0) % blocks) * BLOCK_Q
    row, key = tl.arange(0, BLOCK_Q), tl.arange(0, BLOCK_K)
    column, v_column = tl.arange(0, PADDED), tl.arange(0, V_PADDED)
    has_row = start + row < length
    g_ptr += _start(head, size_1, size_2, g_0, g_1, g_2) + start.to(tl.int64) * g_row
    g = _rows(g_ptr + row[:, None] * g_row + v_column[None, :], has_row, V_WIDTH, V_PADDED, EVEN_Q, WIDEN)
    y_ptr += _start(head, size_1, size_2, y_0, y_1, y_2) + start.to(tl.int64) * y_row
    y = _rows(y_ptr + row[:, None] * y_row + v_column[None, :], has_row, V_WIDTH, V_PADDED, EVEN_Q, WIDEN)
    delta = tl.sum(g.to(tl.float32) * y.to(tl.float32), axis=1)
    row_at = head.to(tl.int64) * length + start + row
    tl.store(delta_ptr + row_at, delta, mask=has_row)
    sums = tl.load(sums_ptr + row_at, mask=has_row, other=0.0) * 1.4426950408889634
    q_ptr += _start(head, size_1, size_2, q_0, q_1, q_2) + start.to(tl.int64) * q_row
    q = _rows(q_ptr + row[:, None] * q_row + column[None, :], has_row, WIDTH, PADDED, EVEN_Q, WIDEN)
    k_ptr += _start(head, size_1, size_2, k_0, k_1, k_2)
    v_ptr += _start(head, size_1, size_2, v_0, v_1, v_2)
    if MASK != "none":
        mask_ptr += _start(head, size_1, size_2, mask_0, mask_1, mask_2) + start.to(tl.int64) * mask_row
    first, end = 0, keys
    if RANGED:
        ranges_ptr += _start(head, size_1, size_2, ranges_0, ranges_1, ranges_2)
        first, end = _range(ranges_ptr, start, length, BLOCK_Q, ROWS)
        k_ptr += first.to(tl.int64) * k_row
        v_ptr += first.to(tl.int64) * v_row
        mask_ptr += first.to(tl.int64) * mask_column
    in_k = key[:, None] * k_row + column[None, :]
    in_v = key[:, None] * v_row + v_column[None, :]

    dq = tl.zeros((BLOCK_Q, PADDED), dtype=tl.float32)
    for at in range(first, end, BLOCK_K):
        has_key = at + key < keys
        k = _rows(k_ptr + in_k, has_key, WIDTH, PADDED, EVEN_K, WIDEN)
        scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * (scale * 1.4426950408889634)
        scores = _plus_mask(
            scores,
            mask_ptr,
            row[:, None],
            key[None, :],
            has_row[:, None],
            has_key[None, :],
            mask_row,
            mask_column,
            MASK,
            EVEN_Q and EVEN_K,
        )
        weights = tl.exp2(scores - sums[:, None])
        v = _rows(v_ptr + in_v, has_key, V_WIDTH, V_PADDED, EVEN_K, WIDEN)
        slopes = weights * (tl.dot(g, tl.trans(v), input_precision=PRECISION) - delta[:, None])
        if not EVEN_K:
            slopes = tl.where(has_key[None, :], slopes, 0.0)
        dq = tl.dot(_narrow(slopes, k, WIDEN), k, dq, input_precision=PRECISION)
        k_ptr += BLOCK_K * k_row
        v_ptr += BLOCK_K * v_row
        if MASK != "none":
            mask_ptr += BLOCK_K * mask_column
    dq_ptr += _start(head, size_1, size_2, dq_0, dq_1, dq_2) + start.to(tl.int64) * dq_row
    exists = has_row[:, None] & (column < WIDTH)[None, :]
    tl.store(dq_ptr + row[:, None] * dq_row + column[None, :], (dq * scale).to(dq_ptr.dtype.element_ty), mask=exists)


@triton.jit
def attention_dkv_kernel(
    g_ptr,
    sums_ptr,
    delta_ptr,
    q_ptr,
    k_ptr,
    v_ptr,
    mask_ptr,
    ranges_ptr,
    dk_ptr,
    dv_ptr,
    length,
    keys,
    size_1,
    size_2,
    scale,
    g_0,
    g_1,
    g_2,
    g_row,
    q_0,
    q_1,
    q_2,
    q_row,
    k_0,
    k_1,
    k_row,
    v_0,
    v_1,
    v_row,
    mask_0,
    mask_1,
    mask_2,
    mask_row,
    mask_column,
    ranges_0,
    ranges_1,
    ranges_2,
    dk_0,
    dk_1,
    dk_row,
    dv_0,
    dv_1,
    dv_row,
    MASK: tl.constexpr,
    RANGED: tl.constexpr,
    WIDTH: tl.constexpr,
    V_WIDTH: tl.constexpr,
    PADDED: tl.constexpr,
    V_PADDED: tl.constexpr,
    EVEN_Q: tl.constexpr,
    EVEN_K: tl.constexpr,
    PRECISION: tl.constexpr,
    WIDEN: tl.constexpr,
    ROWS: tl.constexpr,
    SPAN: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Compute the gradients of a block of keys and values, from the queries of the `size_2` heads that share them."""
    blocks = tl.cdiv(keys, BLOCK_K)
    shared = tl.program_id(0) // blocks
    start = tl.program_id(0) % blocks * BLOCK_K
    row, key = tl.arange(0, BLOCK_Q), tl.arange(0, BLOCK_K)
    column, v_column = tl.arange(0, PADDED), tl.arange(0, V_PADDED)
    has_key = start + key < keys
    k_ptr += _start(shared, size_1, 1, k_0, k_1, 0) + start.to(tl.int64) * k_row
    k = _rows(k_ptr + key[:, None] * k_row + column[None, :], has_key, WIDTH, PADDED, EVEN_K, WIDEN)
    v_ptr += _start(shared, size_1, 1, v_0, v_1, 0) + start.to(tl.int64) * v_row
    v = _rows(v_ptr + key[:, None] * v_row + v_column[None, :], has_key, V_WIDTH, V_PADDED, EVEN_K, WIDEN)

    in_q = row[:, None] * q_row + column[None, :]
    in_g = row[:, None] * g_row + v_column[None, :]
    dk = tl.zeros((BLOCK_K, PADDED), dtype=tl.float32)
    dv = tl.zeros((BLOCK_K, V_PADDED), dtype=tl.float32)
    for sharer in range(0, size_2):
        head = shared * size_2 + sharer
        g_start = g_ptr + _start(head, size_1, size_2, g_0, g_1, g_2)
        q_start = q_ptr + _start(head, size_1, size_2, q_0, q_1, q_2)
        mask_start = mask_ptr
        if MASK != "none":
            mask_start += _start(head, size_1, size_2, mask_0, mask_1, mask_2) + start.to(tl.int64) * mask_column
        first, end = 0, length
        if RANGED:
            # The blocks of rows whose range contains a key of this block, as (first, end).
            block = tl.arange(0, SPAN)
            range_ptrs = ranges_ptr + _start(head, size_1, size_2, ranges_0, ranges_1, ranges_2) + block * 2
            exists = block * ROWS < length
            looks = tl.load(range_ptrs, mask=exists, other=2147483647) < start + BLOCK_K
            looks = looks & (tl.load(range_ptrs + 1, mask=exists, other=0) > start)
            first = tl.min(tl.where(looks, block, SPAN), axis=0) * ROWS
            end = tl.minimum(tl.max(tl.where(looks, block + 1, 0), axis=0) * ROWS, length)
            g_start += first.to(tl.int64) * g_row
            q_start += first.to(tl.int64) * q_row
            mask_start += first.to(tl.int64) * mask_row
        row_start = head.to(tl.int64) * length
        for at in range(first, end, BLOCK_Q):
            has_row = at + row < length
            q = _rows(q_start + in_q, has_row, WIDTH, PADDED, EVEN_Q, WIDEN)
            sums = tl.load(sums_ptr + row_start + at + row, mask=has_row, other=0.0) * 1.4426950408889634
            scores = tl.dot(k, tl.trans(q), input_precision=PRECISION) * (scale * 1.4426950408889634)
            scores = _plus_mask(
                scores,
                mask_start,
                row[None, :],
                key[:, None],
                has_row[None, :],
                has_key[:, None],
                mask_row,
                mask_column,
                MASK,
                EVEN_Q and EVEN_K,
            )
            weights = tl.exp2(scores - sums[None, :])
            if not EVEN_Q:
                weights = tl.where(has_row[None, :], weights, 0.0)
            g = _rows(g_start + in_g, has_row, V_WIDTH, V_PADDED, EVEN_Q, WIDEN)
            dv = tl.dot(_narrow(weights, g, WIDEN), g, dv, input_precision=PRECISION)
            delta = tl.load(delta_ptr + row_start + at + row, mask=has_row, other=0.0)
            slopes = weights * (tl.dot(v, tl.trans(g), input_precision=PRECISION) - delta[None, :])
            dk = tl.dot(_narrow(slopes, q, WIDEN), q, dk, input_precision=PRECISION)
            q_start += BLOCK_Q * q_row
            g_start += BLOCK_Q * g_row
            if MASK != "none":
                mask_start += BLOCK_Q * mask_row
    dk_ptr += _start(shared, size_1, 1, dk_0, dk_1, 0) + start.to(tl.int64) * dk_row
    exists = has_key[:, None] & (column < WIDTH)[None, :]
    tl.store(dk_ptr + key[:, None] * dk_row + column[None, :], (dk * scale).to(dk_ptr.dtype.element_ty), mask=exists)
    dv_ptr += _start(shared, size_1, 1, dv_0, dv_1, 0) + start.to(tl.int64) * dv_row
    exists = has_key[:, None] & (v_column < V_WIDTH)[None, :]
    tl.store(dv_ptr + key[:, None] * dv_row + v_column[None, :], dv.to(dv_ptr.dtype.element_ty), mask=exists)


@triton.jit
def attention_weights_kernel(
    q_ptr,
    k_ptr,
    mask_ptr,
    weights_ptr,
    length,
    keys,
    size_1,
    size_2,
    scale,
    q_0,
    q_1,
    q_2,
    q_row,
    k_0,
    k_1,
    k_2,
    k_row,
    mask_0,
    mask_1,
    mask_2,
    mask_row,
    mask_column,
    MASK: tl.constexpr,
    WIDTH: tl.constexpr,
    PADDED: tl.constexpr,
    EVEN_Q: tl.constexpr,
    EVEN_K: tl.constexpr,
    PRECISION: tl.constexpr,
    WIDEN: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Compute softmax(q @ k.T * scale + mask) in full: the scores are computed twice and never stored."""
    blocks = tl.cdiv(length, BLOCK_Q)
    head = tl.program_id(0) // blocks
    start = tl.program_id(0) % blocks * BLOCK_Q
    row, key, column = tl.arange(0, BLOCK_Q), tl.arange(0, BLOCK_K), tl.arange(0, PADDED)
    has_row = start + row < length
    q_ptr += _start(head, size_1, size_2, q_0, q_1, q_2) + start.to(tl.int64) * q_row
    q = _rows(q_ptr + row[:, None] * q_row + column[None, :], has_row, WIDTH, PADDED, EVEN_Q, WIDEN)
    k_ptr += _start(head, size_1, size_2, k_0, k_1, k_2)
    if MASK != "none":
        mask_ptr += _start(head, size_1, size_2, mask_0, mask_1, mask_2) + start.to(tl.int64) * mask_row
    weights_ptr += (head.to(tl.int64) * length + start) * keys
    largest = tl.full((BLOCK_Q,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_Q,), dtype=tl.float32)
    for again in tl.static_range(2):
        k_ptrs = k_ptr + key[:, None] * k_row + column[None, :]
        mask_start = mask_ptr
        for at in range(0, keys, BLOCK_K):
            has_key = at + key < keys
            k = _rows(k_ptrs, has_key, WIDTH, PADDED, EVEN_K, WIDEN)
            scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * (scale * 1.4426950408889634)
            scores = _plus_mask(
                scores,
                mask_start,
                row[:, None],
                key[None, :],
                has_row[:, None],
                has_key[None, :],
                mask_row,
                mask_column,
                MASK,
                EVEN_Q and EVEN_K,
            )
            if not EVEN_K:
                scores = tl.where(has_key[None, :], scores, float("-inf"))
            if again:
                weights = tl.exp2(scores - largest[:, None]) / total[:, None]
                out_ptrs = weights_ptr + row.to(tl.int64)[:, None] * keys + (at + key)[None, :]
                inside = has_row[:, None] & has_key[None, :]
                tl.store(out_ptrs, weights.to(weights_ptr.dtype.element_ty), mask=inside)
            else:
                new_largest = tl.maximum(largest, tl.max(scores, axis=1))
                shift = tl.where(new_largest == float("-inf"), 0.0, new_largest)
                total = total * tl.exp2(largest - shift) + tl.sum(tl.exp2(scores - shift[:, None]), axis=1)
                largest = new_largest
            k_ptrs += BLOCK_K * k_row
            if MASK != "none":
                mask_start += BLOCK_K * mask_column


class _Tile(NamedTuple):
    queries: int
    keys: int
    warps: int
    stages: int


_FORWARD = {
    (2, 64): _Tile(128, 64, 8, 3),
    (2, 128): _Tile(128, 64, 8, 3),
    (2, 256): _Tile(64, 32, 8, 2),
    (4, 64): _Tile(64, 32, 4, 2),
    (4, 128): _Tile(32, 32, 8, 1),
    (4, 256): _Tile(16, 16, 8, 1),
}
"""By bytes per element and the longest rows; tests/triton_kernels/quality describes the limits."""
_DQ = {
    (2, 64): _Tile(128, 64, 8, 2),
    (2, 128): _Tile(64, 64, 8, 2),
    (2, 256): _Tile(32, 32, 8, 1),
    (4, 64): _Tile(32, 32, 8, 1),
    (4, 128): _Tile(16, 32, 8, 1),
}
"""For longer rows in float32 the gradients do not fit into registers, so CuPy computes them."""
_DKV = {
    (2, 64): _Tile(64, 128, 8, 2),
    (2, 128): _Tile(64, 64, 8, 2),
    (2, 256): _Tile(32, 32, 8, 1),
    (4, 64): _Tile(32, 32, 4, 1),
    (4, 128): _Tile(32, 16, 8, 1),
}


class _Heads(NamedTuple):
    """Three axes of heads; along the last, `k` and `v` have length 1."""

    lead: tuple[int, ...]
    split: int

    def sizes(self, *views: Operand) -> tuple[tuple[int, int, int], list[tuple[int, int, int]]]:
        """Return their lengths, and the strides of each operand along them.

        Raises:
            UnsuitedError: too many axes remain after merging.
        """
        wide = [x.broadcast((*self.lead, *x.shape[-2:])).strides[:-2] for x in views]
        outer, strides = merge_axes(self.lead[: self.split], [x[: self.split] for x in wide])
        inner, shared = merge_axes(self.lead[self.split :], [x[self.split :] for x in wide])
        if len(outer) > 2 or len(inner) > 1:
            raise UnsuitedError(f"heads along {self.lead} do not lie as three axes")
        if len(outer) == 1:
            outer, strides = [1, *outer], [[0, *x] for x in strides]
        return (outer[0], outer[1], inner[0]), [(x[0], x[1], y[0]) for x, y in zip(strides, shared, strict=True)]


def _operands(*inputs: Input) -> list[Operand]:
    """Return the inputs as operands for the kernels.

    Raises:
        UnsuitedError: an input is not a nonempty array of the common dtype with at least two axes.
    """
    arrays = [x for x in inputs if is_float(x) and x.ndim > 1]
    if len(arrays) < len(inputs) or not are_floats(*arrays):
        raise UnsuitedError("no matrices of one dtype")
    return arrays


def _heads(q: Operand, k: Operand, v: Operand) -> _Heads:
    """Return the correspondence between the heads of queries, keys and values.

    Raises:
        UnsuitedError: the shapes do not match, or rows are too long for the kernels.
    """
    lead = broadcast_shape([q.shape[:-2], k.shape[:-2]])
    fits = lead is not None and k.shape[:-1] == v.shape[:-1] and q.shape[-1] == k.shape[-1]
    if lead is None or not fits or max(q.shape[-1], v.shape[-1]) > _LONGEST_HEAD:
        raise UnsuitedError("no queries, keys and values of heads")
    key_lengths = ((1,) * len(lead) + k.shape[:-2])[-len(lead) :] if lead else ()
    split = next((axis for axis, size in enumerate(lead) if size != key_lengths[axis]), len(lead))
    if any(size > 1 for size in key_lengths[split:]):
        raise UnsuitedError("heads that are shared, and others within them that are not")
    return _Heads(lead, split)


def _as_mask(mask: Input, heads: _Heads, length: int, keys: int) -> Operand | None:
    """Return the mask broadcast to all scores without a copy; None for none.

    Raises:
        UnsuitedError: the mask does not fit these scores.
    """
    if mask is None:
        return None
    shape = (*heads.lead, length, keys)
    if not is_float(mask) or broadcast_shape([mask.shape, shape]) != shape:
        raise UnsuitedError("a mask must be of floats and broadcast to the scores")
    return mask.broadcast(shape)


def _by_rows(call: Planner, x: Operand) -> Operand:
    """Return the operand with contiguous rows, copied if necessary."""
    return x if x.strides[-1] == 1 or x.shape[-1] == 1 else call.contiguous(x)


def _like(call: Planner, x: Operand, shape: tuple[int, ...]) -> Operand:
    """Request a new array in the memory order of `x`, so that views of one array result in views of one array."""
    if x.ndim != len(shape):
        return call.empty(shape, x.dtype)
    return call.empty(shape, x.dtype, [*memory_order(x.shape[:-1], x.strides[:-1]), x.ndim - 1])


def _constants(q: Operand, k: Operand, v: Operand, mask: Operand | None, tile: _Tile) -> dict[str, Any]:
    rows = min(tile.queries, max(16, next_power_of_2(q.shape[-2])))
    columns = min(tile.keys, max(16, next_power_of_2(k.shape[-2])))
    return {
        "MASK": "none" if mask is None else "keys" if mask.strides[-2] == 0 else "all",
        "RANGED": mask is not None and k.shape[-2] >= _LEAST_RANGED,
        "WIDTH": q.shape[-1],
        "V_WIDTH": v.shape[-1],
        "PADDED": max(16, next_power_of_2(q.shape[-1])),
        "V_PADDED": max(16, next_power_of_2(v.shape[-1])),
        "EVEN_Q": q.shape[-2] % rows == 0,
        "EVEN_K": k.shape[-2] % columns == 0,
        "PRECISION": "tf32x3" if q.itemsize == 4 else "tf32",
        # The interpreter multiplies bfloat16 as the integers that represent it.
        "WIDEN": q.dtype.name == "bfloat16" and interpreting(),
        "ROWS": _ROWS,
        "BLOCK_Q": rows,
        "BLOCK_K": columns,
    }


def _tile(table: Mapping[tuple[int, int], _Tile], q: Operand, v: Operand, mask: Operand | None) -> _Tile:
    width = max(q.shape[-1], v.shape[-1])
    lengths = [longest for size, longest in table if size == q.itemsize and longest >= width]
    if not lengths:
        raise UnsuitedError(f"rows of {width} elements are too long")
    tile = table[q.itemsize, min(lengths)]
    if mask is None:
        return tile
    # A tile of the mask takes as many registers as one of scores.
    if table is _DKV:
        return tile._replace(queries=max(16, tile.queries // 2), stages=min(2, tile.stages))
    if mask.strides[-2] == 0:
        return tile
    return tile._replace(keys=max(16, tile.keys // 2), stages=min(2, tile.stages))


def _ranges(call: Planner, mask: Operand | None, mask_input: Input, lead: tuple[int, ...]) -> Operand | None:
    """Plan `ranges_kernel` and return its (..., blocks of rows, 2) for all heads; None if it is not worthwhile."""
    if mask is None or mask.shape[-1] < _LEAST_RANGED or not isinstance(mask_input, Operand):
        return None
    length, keys = mask.shape[-2:]
    mask_lead = ((1,) * len(mask.shape) + mask_input.shape)[-len(mask.shape) :][:-2]
    masks = mask_input.broadcast((*mask_lead, length, keys))
    sizes, (strides,) = merge_axes(mask_lead, [masks.strides[:-2]])
    if len(sizes) > 3:
        raise UnsuitedError(f"masks along {mask_lead} do not lie as three axes")
    missing = [0] * (3 - len(sizes))
    blocks = cdiv(length, _ROWS)
    ranges = call.empty((*mask_lead, blocks, 2), np.int32)
    scalars = (length, keys, *([1] * len(missing) + sizes)[1:], *missing, *strides, *masks.strides[-2:])
    programs, constants = math.prod(mask_lead) * blocks, {"ROWS": _ROWS, "KEYS": _KEYS}
    call.launch(ranges_kernel, programs, (masks, ranges), scalars, constants, num_warps=4)
    return ranges.broadcast((*lead, blocks, 2))


def _attention(
    call: Planner, q: Input, k: Input, v: Input, mask: Input, scale: float
) -> tuple[Operand, Operand] | None:
    q, k, v = _operands(q, k, v)
    heads = _heads(q, k, v)
    length, keys = q.shape[-2], k.shape[-2]
    added = _as_mask(mask, heads, length, keys)
    q, k, v = _by_rows(call, q), _by_rows(call, k), _by_rows(call, v)
    y = _like(call, q, (*heads.lead, length, v.shape[-1]))
    sums = call.empty((*heads.lead, length), np.float32)
    ranges = _ranges(call, added, mask, heads.lead)
    tile = _tile(_FORWARD, q, v, added)
    constants = _constants(q, k, v, added, tile)
    # Missing operands are replaced by placeholders that the kernels never read.
    sizes, (of_q, of_k, of_v, of_mask, of_ranges, of_y) = heads.sizes(q, k, v, added or q, ranges or q, y)
    scalars = [length, keys, *sizes[1:], float(scale), *of_q, q.strides[-2], *of_k, k.strides[-2], *of_v, v.strides[-2]]
    scalars += [*of_mask, *(added or q).strides[-2:], *of_ranges, *of_y, y.strides[-2]]
    programs = math.prod(sizes) * cdiv(length, constants["BLOCK_Q"])
    arrays = (q, k, v, added, ranges, y, sums)
    call.launch(attention_kernel, programs, arrays, scalars, constants, num_warps=tile.warps, num_stages=tile.stages)
    return y, sums


def _attention_grad(
    call: Planner, g: Input, y: Input, sums: Input, q: Input, k: Input, v: Input, mask: Input, scale: float
) -> tuple[Operand, Operand, Operand] | None:
    g, y, q, k, v = _operands(g, y, q, k, v)
    heads = _heads(q, k, v)
    length, keys = q.shape[-2], k.shape[-2]
    if q.shape[:-2] != heads.lead or not is_float(sums) or sums.dtype != np.float32:
        return None
    if sums.shape != (*heads.lead, length) or g.shape != y.shape or y.shape != (*heads.lead, length, v.shape[-1]):
        return None
    added = _as_mask(mask, heads, length, keys)
    g, y, q, k, v = [_by_rows(call, x) for x in (g, y, q, k, v)]
    sums = call.contiguous(sums)
    dq, dk, dv = (_like(call, x, x.shape) for x in (q, k, v))
    delta = call.empty(sums.shape, np.float32)
    ranges = _ranges(call, added, mask, heads.lead)
    sizes, strides = heads.sizes(g, y, q, k, v, added or q, ranges or q, dq, dk, dv)
    of_g, of_y, of_q, of_k, of_v, of_mask, of_ranges, of_dq, of_dk, of_dv = strides
    lengths = (length, keys, *sizes[1:], float(scale))
    masks = (*of_mask, *(added or q).strides[-2:], *of_ranges)
    tile = _tile(_DQ, q, v, added)
    constants = _constants(q, k, v, added, tile)
    scalars = [*lengths, *of_g, g.strides[-2], *of_y, y.strides[-2], *of_q, q.strides[-2], *of_k, k.strides[-2]]
    scalars += [*of_v, v.strides[-2], *masks, *of_dq, dq.strides[-2]]
    programs = math.prod(sizes) * cdiv(length, constants["BLOCK_Q"])
    arrays = (g, y, sums, q, k, v, added, ranges, delta, dq)
    call.launch(attention_dq_kernel, programs, arrays, scalars, constants, num_warps=tile.warps, num_stages=tile.stages)
    tile = _tile(_DKV, q, v, added)
    constants = {**_constants(q, k, v, added, tile), "SPAN": next_power_of_2(cdiv(length, _ROWS))}
    scalars = [*lengths, *of_g, g.strides[-2], *of_q, q.strides[-2], *of_k[:2], k.strides[-2], *of_v[:2], v.strides[-2]]
    scalars += [*masks, *of_dk[:2], dk.strides[-2], *of_dv[:2], dv.strides[-2]]
    programs = sizes[0] * sizes[1] * cdiv(keys, constants["BLOCK_K"])
    arrays = (g, sums, delta, q, k, v, added, ranges, dk, dv)
    call.launch(
        attention_dkv_kernel, programs, arrays, scalars, constants, num_warps=tile.warps, num_stages=tile.stages
    )
    return dq, dk, dv


def _attention_weights(call: Planner, q: Input, k: Input, mask: Input, scale: float) -> Operand | None:
    q, k = _operands(q, k)
    heads = _heads(q, k, k)
    length, keys = q.shape[-2], k.shape[-2]
    added = _as_mask(mask, heads, length, keys)
    q, k = _by_rows(call, q), _by_rows(call, k)
    weights = call.empty((*heads.lead, length, keys), q.dtype)
    tile = _tile(_DQ, q, k, added)
    constants = _constants(q, k, k, added, tile)
    for name in ("RANGED", "V_WIDTH", "V_PADDED", "ROWS"):
        del constants[name]
    sizes, (of_q, of_k, of_mask) = heads.sizes(q, k, added or q)
    scalars = [length, keys, *sizes[1:], float(scale), *of_q, q.strides[-2], *of_k, k.strides[-2]]
    scalars += [*of_mask, *(added or q).strides[-2:]]
    programs = math.prod(sizes) * cdiv(length, constants["BLOCK_Q"])
    arrays = (q, k, added, weights)
    call.launch(
        attention_weights_kernel, programs, arrays, scalars, constants, num_warps=tile.warps, num_stages=tile.stages
    )
    return weights


KERNELS = {
    "attention": Kernel(_attention),
    "attention_grad": Kernel(_attention_grad),
    "attention_weights": Kernel(_attention_weights),
}
