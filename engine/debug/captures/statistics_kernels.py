"""The compiled loops behind ``statistics``: Numba kernels over contiguous float32 or float64 elements.

A histogram needs the range, so memory is read twice: ``survey`` finds everything but the histogram, at the speed of
memory, then ``fill_bins`` counts. There is no second implementation in NumPy: small arrays take a few microseconds
here too, and figures do not change when a kernel becomes ready.

The figures of a block are written to a row of their own and the rows are merged in order, so the result does not
depend on how many threads worked on them. The kernels release the GIL; Numba's own parallel loops are not used,
because two Python threads that enter its default threading layer at once abort the process.

Importing this imports Numba. It keeps machine code in the user's cache folder, as trusted as compiled Python files, and
not beside this file, where an uninstallation would leave it; where there is no such folder, each process compiles anew.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import intrinsic

__all__ = ["BLOCK", "fill_bins", "survey", "widen"]

# Elements to one row of figures; a block stays in a second-level cache of 1 MiB for a second look.
BLOCK = 1 << 15

# Pairs of elements that are binned at a time. With more, memory is not read ahead while the bins are counted: 512 took
# 1.6 times as long on 10^8 elements.
_PAIRS = 128

# Elements from which on pairs are worth the table that they are counted in.
_WORTH_PAIRS = 2048

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Array = npt.NDArray[Any]
_numba: Any = numba.config


def _cache_folder() -> str | None:
    """Where machine code is kept: $NUMBA_CACHE_DIR, or the user's cache folder; None where neither can be written."""
    try:
        user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = Path(_numba.CACHE_DIR or user / "hookscope" / "numba")
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: a user without a home
        return None
    return str(folder) if os.access(folder, os.W_OK) else None


def _kernel(*fastmath: str) -> Callable[[_Function], _Function]:
    def compiled(function: _Function) -> _Function:
        folder, before = _cache_folder(), _numba.CACHE_DIR
        # Numba asks for the folder once, here, and has no argument for it.
        _numba.CACHE_DIR = folder or before
        try:
            kernel = numba.njit(cache=folder is not None, nogil=True, fastmath=set(fastmath) or False)(function)
        finally:
            _numba.CACHE_DIR = before
        return cast(_Function, kernel)

    return compiled


def _selection(operator: str) -> Any:
    """``a if a < b else b``, told to LLVM to be for numbers only: without that it does not use vector instructions."""

    def pick(_typing: Any, a: Any, _b: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            first = builder.fcmp_ordered(operator, values[0], values[1], flags=("nnan", "nsz"))
            return builder.select(first, values[0], values[1], flags=("nnan", "nsz"))

        return a(a, a), generate

    return intrinsic(pick)


_lesser, _greater = _selection("<"), _selection(">")


@_kernel("reassoc", "contract", "nsz")
def _sums(x: _Array) -> tuple[float, float, int, float, float]:
    """Sum, sum of squares, zeros, least and largest; the last two have no meaning unless all elements are numbers."""
    total = squares = 0.0
    zeros = 0
    low = high = x[0]
    for i in range(x.size):
        value = np.float64(x[i])
        total += value
        squares += value * value
        zeros += x[i] == 0
        low = _lesser(x[i], low)
        high = _greater(x[i], high)
    return total, squares, zeros, np.float64(low), np.float64(high)


@_kernel("reassoc", "contract", "nsz")
def _deviations(x: _Array, mean: float) -> float:
    total = squares = 0.0
    for i in range(x.size):
        away = np.float64(x[i]) - mean
        total += away
        squares += away * away
    return squares - total * total / x.size  # total is what the mean's rounding leaves


@_kernel()
def _finite(x: _Array, row: _Array) -> _Array:
    """The finite elements, copied; the others are counted in the row."""
    found = np.empty_like(x)
    count = 0
    for value in x:
        if math.isfinite(value):
            found[count] = value
            count += 1
        elif value != value:
            row[7] += 1
        elif value > 0:
            row[8] += 1
        else:
            row[9] += 1
    return found[:count]


@_kernel()
def widen(halves: _Array, found: _Array) -> None:
    """The bits of float16 elements as those of float32 ones; NumPy does it one by one."""
    for i in range(halves.size):
        bits = np.uint32(halves[i])
        magnitude = np.uint32(bits & np.uint32(0x7FFF))
        # The exponent's bias differs by 112; as a product that holds for subnormals too.
        product = np.float32(np.uint32(magnitude << np.uint32(13)).view(np.float32) * np.float32(2.0**112))
        wide = product.view(np.uint32)
        if magnitude >= np.uint32(0x7C00):  # Inf or NaN
            wide |= np.uint32(0x7F800000)
        found[i] = wide | np.uint32(np.uint32(bits & np.uint32(0x8000)) << np.uint32(16))


@_kernel()
def survey(x: _Array, rows: _Array) -> None:
    """Write each block's figures into its row.

    A row holds of the finite elements: how many, least, largest, mean, squared deviations from it, squares, zeros;
    then how many elements are NaN, Inf and -Inf. Sums of squares are infinite where they overflow.
    """
    for number in range(len(rows)):
        row = rows[number]
        row[:] = 0.0
        row[1], row[2] = math.inf, -math.inf
        block = x[number * BLOCK : (number + 1) * BLOCK]
        for attempt in range(2):
            total, squares, zeros, low, high = _sums(block)
            if attempt or math.isfinite(squares):
                break
            block = _finite(block, row)  # squares of float32 in float64 do not overflow: something is not finite
            if not block.size:
                break
        if not block.size:
            continue
        mean = total / block.size
        deviations = squares - total * mean
        if deviations < squares / 1024:  # more than ten bits canceled out
            deviations = _deviations(block, mean)
        row[0], row[1], row[2], row[3], row[4], row[5], row[6] = (
            block.size, low, high, mean, deviations, squares, zeros,
        )  # fmt: skip


@_kernel()
def fill_bins(x: _Array, all_finite: bool, low: float, high: float, counts: _Array) -> None:
    """Count the finite elements into equal bins between two limits."""
    bins = counts.size
    last = bins - 1.0
    # Rounded up a little: an element on the limit of two bins counts above it.
    bins_per_unit = bins / (high - low) * (1 + 2.0**-50)
    # Two elements at a time, in a table with a place for each pair of bins: half the additions to memory. Two tables,
    # so that an addition seldom waits for the one before it to the same place.
    pairs = x.size >= _WORTH_PAIRS
    tables = np.zeros((2, bins * bins if pairs else 0), np.uint32)
    places = np.empty(_PAIRS, np.uint16)
    seconds = np.zeros(bins, np.int64)
    unfit = np.zeros(10)
    step = x.size if all_finite else BLOCK
    for start in range(0, x.size, step):
        block = x[start : start + step]
        if not all_finite:
            block = _finite(block, unfit)
        done = block.size // (2 * _PAIRS) * (2 * _PAIRS) if pairs else 0
        for begin in range(0, done, 2 * _PAIRS):
            ones = block[begin : begin + _PAIRS]
            others = block[begin + _PAIRS : begin + 2 * _PAIRS]
            for i in range(_PAIRS):
                one = np.int32(min((np.float64(ones[i]) - low) * bins_per_unit, last))
                other = np.int32(min((np.float64(others[i]) - low) * bins_per_unit, last))
                places[i] = np.uint16(one * bins + other)
            for i in range(0, _PAIRS, 2):
                tables[0, places[i]] += np.uint32(1)
                tables[1, places[i + 1]] += np.uint32(1)
        for i in range(done, block.size):
            counts[np.int64(min((np.float64(block[i]) - low) * bins_per_unit, last))] += 1
    for first in range(bins if pairs else 0):
        row = first * bins
        total = np.int64(0)
        for second in range(bins):
            both = np.int64(tables[0, row + second]) + np.int64(tables[1, row + second])
            total += both
            seconds[second] += both
        counts[first] += total
    counts += seconds
