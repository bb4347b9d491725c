"""Rows gathered from a table by index, and the gradient: rows summed by index.

For the gradient, the rows are ordered by a stable sort of their indices. Adjacent rows with equal indices are summed
chunk by chunk, and the chunks in order, so that results are independent of scheduling. For few rows, each one's rank in
the order is counted, in one launch instead of a sort's seven; for many rows the caller passes the order. Sums are in
float32. An index out of range wraps around, as in CuPy: nothing is read outside the table.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels.launch.launcher import MAX_PROGRAMS, cdiv, next_power_of_2
from hookscope.triton_kernels.launch.plans import Input, Kernel, Operand, Planner, is_float

_TILE = 2048
_CHUNK = 64
"""Maximum number of rows of one index that one program sums; more are split between programs."""
_AT_ONCE = 4
"""Number of rows that it reads at once."""
_WIDTH = 512
_RANKED = 64
"""Number of indices that one program ranks, and number of indices it compares with at once."""
MOST_RANKED = 1 << 14
"""Maximum number of rows for ranking: 2 ** 28 comparisons."""


@triton.jit
def _wrapped(numbers_ptr, i, count, rows):
    number = tl.load(numbers_ptr + i, mask=i < count, other=0).to(tl.int64) % rows
    number = tl.where(number < 0, number + rows, number)  # the remainder of a negative number is negative
    return number.to(tl.int32)


@triton.jit
def pick_kernel(
    table_ptr, index_ptr, out_ptr, count, rows, size, column_blocks, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    """out[i] = table[index[i]]."""
    program = tl.program_id(0)
    i = (program // column_blocks).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = (program % column_blocks) * BLOCK + tl.arange(0, BLOCK)
    row = _wrapped(index_ptr, i, count, rows).to(tl.int64)
    mask = (i < count)[:, None] & (column < size)[None, :]
    picked = tl.load(table_ptr + (row[:, None] * size + column[None, :]), mask=mask)
    tl.store(out_ptr + (i[:, None] * size + column[None, :]), picked, mask=mask)


@triton.jit
def zeros_and_order_kernel(
    numbers_ptr, wrapped_ptr, order_ptr, out_ptr, count, rows, size, ranking, RANKED: tl.constexpr, BLOCK: tl.constexpr
):
    """Store zeros in `out`; the first `ranking` programs store the wrapped indices and the order that sorts them."""
    program = tl.program_id(0)
    if program < ranking:
        i = program * RANKED + tl.arange(0, RANKED)
        number = _wrapped(numbers_ptr, i, count, rows)
        rank = tl.zeros((RANKED,), tl.int32)
        for first in range(0, count, RANKED):
            j = first + tl.arange(0, RANKED)
            other = _wrapped(numbers_ptr, j, count, rows)[None, :]
            is_equal = (other == number[:, None]) & (j[None, :] < i[:, None])
            before = ((other < number[:, None]) | is_equal) & (j < count)[None, :]
            rank += tl.sum(before.to(tl.int32), axis=1)
        tl.store(wrapped_ptr + i, number.to(tl.int64), mask=i < count)
        tl.store(order_ptr + rank, i.to(tl.int64), mask=i < count)
    else:
        index = (program - ranking).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        zeros = tl.zeros((BLOCK,), out_ptr.dtype.element_ty)
        tl.store(out_ptr + index, zeros, mask=index < size * rows.to(tl.int64))


@triton.jit
def _number_at(numbers_ptr, order_ptr, position, count):
    """Return the index at a position in the order; -1 if there is none."""
    inside = (position >= 0) & (position < count)
    return tl.load(numbers_ptr + tl.load(order_ptr + position, mask=inside, other=0), mask=inside, other=-1)


@triton.jit
def chunks_kernel(
    g_ptr,
    numbers_ptr,
    order_ptr,
    out_ptr,
    heads_ptr,
    parts_ptr,
    count,
    size,
    column_blocks,
    CHUNK: tl.constexpr,
    AT_ONCE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """For each position at which a run of equal indices begins in a chunk, sum the run up to the chunk's end.

    A run within one chunk is stored in `out`; a run continued from the previous chunk in the chunk's row of `parts`,
    and a run that continues in the next chunk in that of `heads`.
    """
    program = tl.program_id(0)
    position = program // column_blocks
    column = (program % column_blocks) * BLOCK + tl.arange(0, BLOCK)
    chunk = position // CHUNK
    end = tl.minimum(chunk * CHUNK + CHUNK, count)
    number = _number_at(numbers_ptr, order_ptr, position, count)
    began_before = _number_at(numbers_ptr, order_ptr, position - 1, count) == number
    if (position % CHUNK == 0) | (began_before == 0):
        following = position + tl.arange(0, CHUNK)
        length = tl.sum((_number_at(numbers_ptr, order_ptr, following, end) == number).to(tl.int32), axis=0)
        total = tl.zeros((AT_ONCE, BLOCK), tl.float32)
        for first in range(0, length, AT_ONCE):
            at = first + tl.arange(0, AT_ONCE)
            row = tl.load(order_ptr + position + at, mask=at < length, other=0)
            mask = (at < length)[:, None] & (column < size)[None, :]
            total += tl.load(g_ptr + (row[:, None] * size + column[None, :]), mask=mask, other=0.0).to(tl.float32)
        run_sum = tl.sum(total, axis=0)
        if began_before:
            tl.store(parts_ptr + chunk.to(tl.int64) * size + column, run_sum, mask=column < size)
        elif _number_at(numbers_ptr, order_ptr, position + length, count) == number:
            tl.store(heads_ptr + chunk.to(tl.int64) * size + column, run_sum, mask=column < size)
        else:
            tl.store(out_ptr + number * size + column, run_sum.to(out_ptr.dtype.element_ty), mask=column < size)


@triton.jit
def join_kernel(
    numbers_ptr,
    order_ptr,
    out_ptr,
    heads_ptr,
    parts_ptr,
    count,
    size,
    column_blocks,
    CHUNK: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Sum the runs that begin in each chunk and continue in the next: its head and the following parts."""
    program = tl.program_id(0)
    chunk = program // column_blocks
    column = (program % column_blocks) * BLOCK + tl.arange(0, BLOCK)
    begin = chunk * CHUNK
    number = _number_at(numbers_ptr, order_ptr, begin + CHUNK - 1, count)
    began_before = _number_at(numbers_ptr, order_ptr, begin - 1, count) == number
    goes_on = _number_at(numbers_ptr, order_ptr, begin + CHUNK, count) == number
    if (number >= 0) & goes_on & (began_before == 0):
        total = tl.load(heads_ptr + chunk.to(tl.int64) * size + column, mask=column < size, other=0.0)
        following = chunk + 1
        while _number_at(numbers_ptr, order_ptr, following * CHUNK, count) == number:
            total += tl.load(parts_ptr + following.to(tl.int64) * size + column, mask=column < size, other=0.0)
            following += 1
        tl.store(out_ptr + number * size + column, total.to(out_ptr.dtype.element_ty), mask=column < size)


def _warps(elements: int) -> int:
    return 1 if elements <= 256 else 4


def _rows_picked(call: Planner, table: Input, index: Input) -> Operand | None:
    if not is_float(table) or not table.ndim or not table.is_contiguous:
        return None
    if not isinstance(index, Operand) or index.dtype.kind != "i" or not index.ndim or not index.size:
        return None
    rows, size, count = table.shape[0], table.size // table.shape[0], index.size
    if rows >= 2**31:
        return None
    out = call.empty((*index.shape, *table.shape[1:]), table.dtype)
    block = min(next_power_of_2(size), 1024)
    tile_rows, blocks = min(next_power_of_2(count), max(1, _TILE // block)), cdiv(size, block)
    constants = {"ROWS": tile_rows, "BLOCK": block}
    arrays = (table, call.contiguous(index), out)
    call.launch(pick_kernel, cdiv(count, tile_rows) * blocks, arrays, (count, rows, size, blocks), constants)
    return out


def _rows_added(call: Planner, g: Input, numbers: Input, order: Input, rows: int) -> Operand | None:
    if not is_float(g) or g.ndim != 2 or not 0 < rows < 2**31:
        return None
    count, size = g.shape
    if not isinstance(numbers, Operand) or numbers.shape != (count,) or numbers.dtype.kind != "i":
        return None
    if order is None and count > MOST_RANKED:
        return None
    if order is not None and not (isinstance(order, Operand) and order.shape == (count,) and order.dtype == np.int64):
        return None
    out = call.empty((rows, size), g.dtype)
    block = min(next_power_of_2(size), _WIDTH)
    blocks, chunks = cdiv(size, block), cdiv(count, _CHUNK)
    if count * blocks > MAX_PROGRAMS:
        return None
    sums = [call.empty((chunks, size), np.float32) if chunks > 1 else None for _ in range(2)]
    numbers, ranking = call.contiguous(numbers), 0 if order else cdiv(count, _RANKED)
    sorted_order = (
        (numbers, call.contiguous(order)) if order else tuple([call.empty((count,), np.int64) for _ in range(2)])
    )
    call.launch(
        zeros_and_order_kernel,
        ranking + cdiv(out.size, 2 * _TILE),
        (numbers, *sorted_order, out),
        (count, rows, size, ranking),
        {"RANKED": _RANKED, "BLOCK": 2 * _TILE},
    )
    constants, scalars = {"CHUNK": _CHUNK, "BLOCK": block}, (count, size, blocks)
    call.launch(
        chunks_kernel,
        count * blocks,
        (call.contiguous(g), *sorted_order, out, *sums),
        scalars,
        {"CHUNK": _CHUNK, "AT_ONCE": _AT_ONCE, "BLOCK": block},
        num_warps=_warps(_AT_ONCE * block),
    )
    if chunks > 1:
        call.launch(
            join_kernel, chunks * blocks, (*sorted_order, out, *sums), scalars, constants, num_warps=_warps(block)
        )
    return out


KERNELS = {"rows_picked": Kernel(_rows_picked), "rows_added": Kernel(_rows_added)}
