"""Statistics and histograms of many arrays at once: two launches for each dtype, and one small array to read back.

`survey_kernel` computes everything but the histogram, for pieces of at most 32,768 elements; `count_kernel` computes an
array's range from its pieces, and fills 64 bins for each. Sums are accumulated in float64, in a fixed order; the reader
of the rows combines the pieces of an array. `engine/cpu/compiled/arrays/statistics.py` has the same on the CPU.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels.launch.launcher import cdiv
from hookscope.triton_kernels.launch.plans import Input, Kernel, Operand, Planner, plan_for
from hookscope.triton_kernels.launch.tables import addresses, chunks, table

BINS, FIGURES = 64, 10
"""Columns of a row: first the statistics, as in `compiled.arrays.statistics`, then the histogram if requested."""
PIECE = 1 << 15
_BLOCK = 512
"""Elements per iteration: 4 for each of 128 threads, whose sums in float64 stay in registers."""
_ROWS = 128
"""Pieces whose ranges are read at a time."""

# Magnitudes whose squares, and their sums, neither vanish nor overflow in float64, in which the range is.
_SMALLEST, _LARGEST = tl.constexpr(1e-140), tl.constexpr(1e145)
_UPWARDS = tl.constexpr(1.0 + 2.0**-50)

_TYPES = {
    "float16": tl.float16,
    "bfloat16": tl.bfloat16,
    "float32": tl.float32,
    "float64": tl.float64,
    "bool": tl.int8,
    "int8": tl.int8,
    "uint8": tl.uint8,
    "int16": tl.int16,
    "uint16": tl.uint16,
    "int32": tl.int32,
    "uint32": tl.uint32,
    "int64": tl.int64,
    "uint64": tl.uint64,
}


@triton.jit
def _elements(x_ptr, index, size, start, BLOCK: tl.constexpr):
    """Load an iteration's elements in float64; those past the end are 0."""
    if start + BLOCK <= size:
        x = tl.load(x_ptr + index)
    else:
        x = tl.load(x_ptr + index, mask=index < size, other=0)
    return x.to(tl.float64)


@triton.jit
def survey_kernel(
    table_ptr,
    chunks_ptr,
    rows_ptr,
    X: tl.constexpr,
    FLOATS: tl.constexpr,
    WIDTH: tl.constexpr,
    PIECE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Compute a piece's finite count, minimum, maximum, mean, squared deviations, squares, zeros, NaN, Inf, -Inf.

    Deviations are taken from the piece's first element until the mean is known, so that few digits cancel.
    """
    row_ptr = table_ptr + tl.load(chunks_ptr + 2 * tl.program_id(0)).to(tl.int64) * 4
    piece = tl.load(chunks_ptr + 2 * tl.program_id(0) + 1).to(tl.int64)
    size = tl.load(row_ptr)
    x_ptr = tl.multiple_of(tl.load(row_ptr + 2).to(tl.pointer_type(X)), 16)
    begin = piece * PIECE
    shift = tl.load(x_ptr + begin).to(tl.float64)
    shift = tl.where(tl.abs(shift) < float("inf"), shift, 0.0)
    total = tl.zeros((BLOCK,), tl.float64)
    spread = tl.zeros((BLOCK,), tl.float64)
    squares = tl.zeros((BLOCK,), tl.float64)
    low = tl.full((BLOCK,), float("inf"), tl.float64)
    high = tl.full((BLOCK,), float("-inf"), tl.float64)
    finite = tl.zeros((BLOCK,), tl.int32)
    zeros = tl.zeros((BLOCK,), tl.int32)
    nans = tl.zeros((BLOCK,), tl.int32)
    above = tl.zeros((BLOCK,), tl.int32)
    below = tl.zeros((BLOCK,), tl.int32)
    for turn in range(0, tl.cdiv(tl.minimum(size - begin, PIECE), BLOCK)):
        start = begin + turn * BLOCK
        index = start + tl.arange(0, BLOCK)
        inside = index < size
        x = _elements(x_ptr, index, size, start, BLOCK)
        counts = inside
        if FLOATS:
            counts = inside & (tl.abs(x) < float("inf"))
            nans += (inside & (x != x)).to(tl.int32)
            above += (inside & (x == float("inf"))).to(tl.int32)
            below += (inside & (x == float("-inf"))).to(tl.int32)
        away = tl.where(counts, x - shift, 0.0)
        total += away
        spread += away * away
        squares += tl.where(counts, x * x, 0.0)
        low = tl.minimum(low, tl.where(counts, x, float("inf")))
        high = tl.maximum(high, tl.where(counts, x, float("-inf")))
        finite += counts.to(tl.int32)
        zeros += (counts & (x == 0.0)).to(tl.int32)
    count = tl.sum(finite, axis=0).to(tl.float64)
    moved = tl.sum(total, axis=0)
    share = tl.where(count > 0.0, moved / count, 0.0)
    to_ptr = rows_ptr + (tl.load(row_ptr + 1) + piece) * WIDTH
    tl.store(to_ptr, count)
    tl.store(to_ptr + 1, tl.min(low, axis=0))
    tl.store(to_ptr + 2, tl.max(high, axis=0))
    tl.store(to_ptr + 3, tl.where(count > 0.0, shift + share, 0.0))
    tl.store(to_ptr + 4, tl.maximum(tl.sum(spread, axis=0) - moved * share, 0.0))
    tl.store(to_ptr + 5, tl.sum(squares, axis=0))
    tl.store(to_ptr + 6, tl.sum(zeros, axis=0).to(tl.float64))
    tl.store(to_ptr + 7, tl.sum(nans, axis=0).to(tl.float64))
    tl.store(to_ptr + 8, tl.sum(above, axis=0).to(tl.float64))
    tl.store(to_ptr + 9, tl.sum(below, axis=0).to(tl.float64))


@triton.jit
def count_kernel(
    table_ptr,
    chunks_ptr,
    rows_ptr,
    X: tl.constexpr,
    WIDTH: tl.constexpr,
    PIECE: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Count a piece's finite elements in 64 equal bins over its array's range, if the range is usable."""
    row_ptr = table_ptr + tl.load(chunks_ptr + 2 * tl.program_id(0)).to(tl.int64) * 4
    piece = tl.load(chunks_ptr + 2 * tl.program_id(0) + 1).to(tl.int64)
    size = tl.load(row_ptr)
    first = tl.load(row_ptr + 1)
    x_ptr = tl.multiple_of(tl.load(row_ptr + 2).to(tl.pointer_type(X)), 16)
    pieces = tl.load(row_ptr + 3)
    lows = tl.full((ROWS,), float("inf"), tl.float64)
    highs = tl.full((ROWS,), float("-inf"), tl.float64)
    for at in range(0, pieces, ROWS):
        row = at + tl.arange(0, ROWS)
        from_ptr = rows_ptr + (first + row) * WIDTH
        lows = tl.minimum(lows, tl.load(from_ptr + 1, mask=row < pieces, other=float("inf")))
        highs = tl.maximum(highs, tl.load(from_ptr + 2, mask=row < pieces, other=float("-inf")))
    low = tl.min(lows, axis=0)
    high = tl.max(highs, axis=0)
    counted = tl.zeros((64,), tl.int32)
    size_of = tl.maximum(-low, high)
    if (low < high) & (size_of > _SMALLEST) & (size_of < _LARGEST):
        # Rounded up slightly, so that an element on a bin's limit counts in the bin above.
        per_unit = 64.0 / (high - low) * _UPWARDS
        begin = piece * PIECE
        for turn in range(0, tl.cdiv(tl.minimum(size - begin, PIECE), BLOCK)):
            start = begin + turn * BLOCK
            index = start + tl.arange(0, BLOCK)
            x = _elements(x_ptr, index, size, start, BLOCK)
            counts = (index < size) & (tl.abs(x) < float("inf"))
            bins = tl.minimum(tl.where(counts, x - low, 0.0) * per_unit, 63.0).to(tl.int32)
            counted += tl.histogram(bins, 64, mask=counts)
    tl.store(rows_ptr + (first + piece) * WIDTH + 10 + tl.arange(0, 64), counted.to(tl.float64))


def _launched(call: Planner, kernel: Any, inputs: Sequence[Input], dtype: str, **more: Any) -> Operand:
    rows, parts, out = [x for x in inputs if isinstance(x, Operand)]
    constants = {"X": _TYPES[dtype], "WIDTH": out.shape[1], "PIECE": PIECE, "BLOCK": _BLOCK, **more}
    call.launch(kernel, parts.shape[0], (rows, parts, out), (), constants)
    return out


def _survey(call: Planner, rows: Input, parts: Input, out: Input, dtype: str) -> Operand:
    return _launched(call, survey_kernel, (rows, parts, out), dtype, FLOATS=_TYPES[dtype].is_floating())


def _count(call: Planner, rows: Input, parts: Input, out: Input, dtype: str) -> Operand:
    return _launched(call, count_kernel, (rows, parts, out), dtype, ROWS=_ROWS)


def takes(x: Any) -> bool:
    """Return whether the kernels can read an array without a copy."""
    is_dense = bool(x.flags.c_contiguous or x.flags.f_contiguous)
    return x.dtype.name in _TYPES and is_dense and x.size > 0 and addresses([x])[0] % 16 == 0


def measured(arrays: Sequence[Any], counted: bool) -> tuple[Any, list[int]]:
    """Return the rows of all pieces of the arrays, and the limits of each array's rows.

    Args:
        arrays: arrays for which `takes` is true.
        counted: whether to compute histograms.
    """
    like = arrays[0]
    ends = list(itertools.accumulate([cdiv(x.size, PIECE) for x in arrays], initial=0))
    xp = np if isinstance(like, np.ndarray) else sys.modules["cupy"]
    out = xp.empty((ends[-1], FIGURES + BINS * counted), np.float64)
    by_dtype: dict[str, list[int]] = {}
    for index, x in enumerate(arrays):
        by_dtype.setdefault(x.dtype.name, []).append(index)
    for name, indices in by_dtype.items():
        members = [arrays[index] for index in indices]
        host = [
            [x.size, ends[index], at, ends[index + 1] - ends[index]]
            for index, x, at in zip(indices, members, addresses(members), strict=True)
        ]
        arguments = (table(host, like), chunks(tuple([x.size for x in members]), PIECE, like), out)
        for kernel in ("survey_rows", "count_rows") if counted else ("survey_rows",):
            plan = plan_for(kernel, KERNELS[kernel], arguments, {"dtype": name})
            assert plan is not None
            plan(*arguments, dtype=name)
    return out, ends


# Not operators of the engine's table, since `measured` calls them.
KERNELS = {"survey_rows": Kernel(_survey), "count_rows": Kernel(_count)}
