"""Statistics of many values in one pass: range, mean, deviation, norm, zeros, nonfinite elements, and a histogram.

``values`` has a line for each value: its address, how many elements, whether they are float64 (else float32), and the
numbers of its first block and of its first piece. A histogram needs the range, so memory is read twice: ``survey``
finds everything else block by block, ``merge`` puts blocks together, ``count`` fills histograms piece by piece.
``summarize`` does all of it for values of one block.

A row holds statistics of the finite elements: their number, least, largest, mean, squared deviations from it, squares,
zeros; then the numbers of NaN, Inf and -Inf. Sums of squares are infinite if they overflow.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np import arrayobj

from ..library.loops import (
    at,
    doubles,
    f64,
    floats,
    give_back,
    greater,
    helper,
    i64,
    kernel,
    lesser,
    read_array,
    take,
    u8,
    u32,
    written_array,
)

__all__ = ["BINS", "BLOCK", "PIECE", "changes", "count", "merge", "nonfinite", "summarize", "survey", "widen"]

BINS = 64
BLOCK = 1 << 15
"""Elements to one row of figures: they stay in a second-level cache of 1 MiB for a second look."""
PIECE = 1 << 17
"""The most elements to one histogram: half of its pairs fit into a table of 16-bit numbers."""

_PAIRS = 128
"""Number of elements that are binned at a time. With more, memory is not read ahead while the bins are counted."""
_WORTH_PAIRS = 2048
"""Minimum number of elements for which counting pairs is worth its table."""
_OF_TABLES = 4 * BINS * BINS + 2 * _PAIRS + 8 * BINS
"""Bytes of the tables that pairs are counted in."""
_SMALLEST, _LARGEST = 1e-140, 1e145
"""Magnitudes whose squares neither overflow nor vanish, nor do sums of them."""

_EXACT: frozenset[str] = frozenset()


_bits, _halves, _tables, _counts = at(types.uint32), at(types.uint16), at(types.uint16, 2), at(types.int64)


@intrinsic
def _like(_typing: Any, x: Any, address: Any, count: Any) -> Any:
    """Return the elements at an address, of the dtype of ``x``."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        view = context.make_array(signature.return_type)(context, builder)
        data, size = builder.inttoptr(values[1], view.data.type), x.dtype.bitwidth // 8
        arrayobj.populate_array(view, data, values[2:], [ir.Constant(ir.IntType(64), size)], size, None)
        return view._getvalue()

    return types.Array(x.dtype, 1, "C")(x, types.int64, types.int64), generate


@helper(once=True)
def _sums(x: Any) -> Any:
    """Return sum, sum of squares, zeros, least and largest; these two are valid only if all elements are numbers."""
    total = squares = 0.0
    zeros = 0
    low = high = x[0]
    for i in range(x.size):
        value = np.float64(x[i])
        total += value
        squares += value * value
        zeros += x[i] == 0
        low = lesser(x[i], low)
        high = greater(x[i], high)
    return total, squares, zeros, np.float64(low), np.float64(high)


@helper(once=True)
def _deviations(x: Any, mean: float) -> Any:
    total = squares = 0.0
    for i in range(x.size):
        away = np.float64(x[i]) - mean
        total += away
        squares += away * away
    return squares - total * total / x.size  # total is the rounding error of the mean


@helper(fastmath=_EXACT, once=True)
def _finite(x: Any, row: Any, memory: int) -> int:
    """Copy the finite elements to memory, and count the others in the row; how many were copied."""
    result = _like(x, memory, x.size)
    size = 0
    for value in x:
        if math.isfinite(value):
            result[size] = value
            size += 1
        elif value != value:
            row[7] += 1
        elif value > 0:
            row[8] += 1
        else:
            row[9] += 1
    return size


@helper(fastmath=_EXACT, once=True)
def _survey(x: Any, row: Any) -> None:
    row[:] = 0.0
    row[1], row[2] = math.inf, -math.inf
    if not x.size:
        return
    block, memory = x, 0
    total, squares, zeros, low, high = _sums(block)
    if not math.isfinite(squares):  # squares of float32 in float64 do not overflow: something is not finite
        memory = take(x.itemsize * x.size)
        block = _like(x, memory, _finite(x, row, memory))
        if not block.size:
            give_back(memory)
            return
        total, squares, zeros, low, high = _sums(block)
    mean = total / block.size
    deviations = squares - total * mean
    if deviations < squares / 1024:  # more than ten bits canceled out
        deviations = _deviations(block, mean)
    row[0], row[1], row[2], row[3], row[4], row[5], row[6] = (block.size, low, high, mean, deviations, squares, zeros)
    if memory != 0:
        give_back(memory)


@helper(fastmath=_EXACT)
def _bin(value: Any, low: float, bins_per_unit: float) -> Any:
    return np.int32(min((np.float64(value) - low) * bins_per_unit, BINS - 1.0))


@helper(fastmath=_EXACT, once=True)
def _count(x: Any, all_finite: bool, low: float, high: float, counts: Any) -> None:
    """Count the finite ones of up to ``PIECE`` elements into equal bins between two limits."""
    # Rounded up a little: an element on the limit of two bins counts above it.
    bins_per_unit = BINS / (high - low) * (1 + 2.0**-50)
    memory = take(_OF_TABLES + (0 if all_finite else x.itemsize * x.size))
    block = x
    if not all_finite:
        block = _like(x, memory + _OF_TABLES, _finite(x, doubles(memory, 10), memory + _OF_TABLES))
    paired = 0
    if block.size >= _WORTH_PAIRS:
        paired = block.size // (2 * _PAIRS) * (2 * _PAIRS)
        # Two elements at a time, in a table with a place for each pair of bins: half the additions to memory. Two
        # tables, so that an addition seldom waits for the one before it to the same place.
        tables, pair_bins = _tables(memory, 2, BINS * BINS), _halves(memory + 4 * BINS * BINS, _PAIRS)
        for index in range(2):
            for pair in range(BINS * BINS):
                tables[index, pair] = np.uint16(0)
        for begin in range(0, paired, 2 * _PAIRS):
            left = block[begin : begin + _PAIRS]
            right = block[begin + _PAIRS : begin + 2 * _PAIRS]
            for i in range(_PAIRS):
                first_bin, second_bin = _bin(left[i], low, bins_per_unit), _bin(right[i], low, bins_per_unit)
                pair_bins[i] = np.uint16(first_bin * BINS + second_bin)
            for i in range(0, _PAIRS, 2):
                tables[0, pair_bins[i]] += np.uint16(1)
                tables[1, pair_bins[i + 1]] += np.uint16(1)
        seconds = _counts(memory + 4 * BINS * BINS + 2 * _PAIRS, BINS)
        for index in range(BINS):
            seconds[index] = 0
        for index in range(BINS):
            counts[index] += _row_sum(tables, index * BINS, seconds)
        for index in range(BINS):
            counts[index] += seconds[index]
    for i in range(paired, block.size):
        counts[_bin(block[i], low, bins_per_unit)] += 1
    give_back(memory)


@helper
def _row_sum(tables: Any, start: int, seconds: Any) -> Any:
    total = np.int64(0)
    for i in range(BINS):
        both = np.int64(tables[0, start + i]) + np.int64(tables[1, start + i])
        total += both
        seconds[i] += both
    return total


@helper(fastmath=_EXACT)
def _has_bins(figures: Any) -> bool:
    low, high = figures[1], figures[2]
    return low < high and _SMALLEST < max(-low, high) < _LARGEST


@helper
def _all_finite(figures: Any) -> bool:
    return figures[7] + figures[8] + figures[9] == 0


@helper
def _value_of(values: Any, part: int, column: int) -> int:
    """Return which value a block or a piece is of."""
    position = 0
    while position + 1 < len(values) and values[position + 1, column] <= part:
        position += 1
    return position


@kernel(read_array(i64, 2), written_array(f64, 2), fastmath=_EXACT)
def survey(first: int, stop: int, values: Any, rows: Any) -> None:
    """Write each block's figures into its row."""
    for part in range(first, stop):
        position = _value_of(values, part, 3)
        address, size, wide, first_block, _ = values[position]
        start = (part - first_block) * BLOCK
        length = min(BLOCK, size - start)
        if wide:
            _survey(doubles(address + 8 * start, length), rows[part])
        else:
            _survey(floats(address + 4 * start, length), rows[part])


@kernel(read_array(i64, 1), read_array(f64, 2), written_array(f64, 2), fastmath=_EXACT)
def merge(first: int, stop: int, ends: Any, rows: Any, figures: Any) -> None:
    """Put the rows of each value together, those from one of ``ends`` to before the next.

    Squared deviations as in Chan, Golub, LeVeque, "Algorithms for computing the sample variance", The American
    Statistician 37 (1983), for any number of parts.
    """
    for part in range(first, stop):
        result = figures[part]
        result[:] = 0.0
        result[1], result[2] = math.inf, -math.inf
        total = 0.0
        for position in range(ends[part], ends[part + 1]):
            row = rows[position]
            result[1], result[2] = min(result[1], row[1]), max(result[2], row[2])
            total += row[0] * row[3]
            for column in (0, 4, 5, 6, 7, 8, 9):
                result[column] += row[column]
        result[3] = total / result[0]
        for position in range(ends[part], ends[part + 1]):
            away = rows[position, 3] - result[3]
            result[4] += rows[position, 0] * (away * away)


@kernel(read_array(i64, 2), read_array(f64, 2), written_array(i64, 2), fastmath=_EXACT)
def count(first: int, stop: int, values: Any, figures: Any, counts: Any) -> None:
    """Count each piece's elements into its row of bins, where the value has a range."""
    for part in range(first, stop):
        position = _value_of(values, part, 4)
        address, size, wide, _, first_piece = values[position]
        result = figures[position]
        counts[part, :] = 0
        if _has_bins(result):
            start = (part - first_piece) * PIECE
            length = min(PIECE, size - start)
            if wide:
                _count(doubles(address + 8 * start, length), _all_finite(result), result[1], result[2], counts[part])
            else:
                _count(floats(address + 4 * start, length), _all_finite(result), result[1], result[2], counts[part])


@kernel(read_array(i64, 2), written_array(f64, 2), written_array(i64, 2), fastmath=_EXACT)
def summarize(first: int, stop: int, values: Any, figures: Any, counts: Any) -> None:
    """Compute figures and histograms of values of one block each."""
    for part in range(first, stop):
        address, size, wide, _, _ = values[part]
        result = figures[part]
        counts[part, :] = 0
        if wide:
            x = doubles(address, size)
            _survey(x, result)
            if _has_bins(result):
                _count(x, _all_finite(result), result[1], result[2], counts[part])
        else:
            y = floats(address, size)
            _survey(y, result)
            if _has_bins(result):
                _count(y, _all_finite(result), result[1], result[2], counts[part])


@kernel(read_array(i64, 2), written_array(f64, 2))
def changes(first: int, stop: int, values: Any, rows: Any) -> None:
    """Compute, for each block of float32 elements, the squares of the change and of the elements before.

    ``values`` has a line for each value: its address and that of its previous elements, their number, and its first
    block.
    """
    for part in range(first, stop):
        position = _value_of(values, part, 3)
        now, before, size, first_block = values[position]
        start = (part - first_block) * BLOCK
        length = min(BLOCK, size - start)
        x, y = floats(now + 4 * start, length), floats(before + 4 * start, length)
        changed = squares = 0.0
        for i in range(length):
            old = np.float64(y[i])
            away = np.float64(x[i]) - old
            changed += away * away
            squares += old * old
        rows[part, 0], rows[part, 1] = changed, squares


@kernel(i64, i64, written_array(u8), fastmath=_EXACT)
def nonfinite(first: int, stop: int, address: int, size: int, result: Any) -> None:
    """Write whether each block of float32 elements holds a NaN or an infinity."""
    for part in range(first, stop):
        start = part * BLOCK
        bits = _bits(address + 4 * start, min(BLOCK, size - start))
        largest = np.uint32(0)
        for i in range(bits.size):
            largest = max(largest, bits[i] & np.uint32(0x7FFFFFFF))
        result[part] = largest >= np.uint32(0x7F800000)


@kernel(i64, i64, written_array(u32), fastmath=_EXACT)
def widen(first: int, stop: int, address: int, size: int, result: Any) -> None:
    """Convert the bits of float16 elements to float32, block by block; NumPy does it one by one."""
    for part in range(first, stop):
        start = part * BLOCK
        halves = _halves(address + 2 * start, min(BLOCK, size - start))
        target = result[start : start + halves.size]
        for i in range(halves.size):
            bits = np.uint32(halves[i])
            magnitude = np.uint32(bits & np.uint32(0x7FFF))
            # The exponent's bias differs by 112; as a product that holds for subnormals too.
            product = np.float32(np.uint32(magnitude << np.uint32(13)).view(np.float32) * np.float32(2.0**112))
            wide = product.view(np.uint32)
            if magnitude >= np.uint32(0x7C00):  # Inf or NaN
                wide |= np.uint32(0x7F800000)
            target[i] = wide | np.uint32(np.uint32(bits & np.uint32(0x8000)) << np.uint32(16))
