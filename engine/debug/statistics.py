"""What the numbers of one value look like: ``statistics(value)``, in one function over NumPy.

Figures are float64 and come from the finite elements; complex elements count by their magnitude, booleans as
0 and 1. The work is done block by block, so that the float64 copies stay in the cache, in two passes: the
first finds the range, the second needs it (to bin, and to scale, so that neither a sum nor a square
overflows).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["BINS", "Statistics", "statistics"]

BINS = 64

# Elements in a block: with its float64 copy and the temporaries, within a 1 MiB second-level cache.
_BLOCK = 1 << 15

_STEPS = np.arange(BINS + 1) / BINS


@dataclass(frozen=True, eq=False)
class Statistics:
    """Figures of one value; those about finite elements are NaN if there is none.

    ``std`` divides by the number of elements, ``norm`` is the Euclidean norm, ``histogram`` has 64 equal bins
    between ``minimum`` and ``maximum`` and ``edges`` their 65 limits.
    """

    count: int
    shape: tuple[int, ...]
    dtype: str
    minimum: float
    maximum: float
    mean: float
    std: float
    norm: float
    zeros: int
    nan: int
    positive_inf: int
    negative_inf: int
    histogram: npt.NDArray[np.int64]
    edges: npt.NDArray[np.float64]

    @property
    def finite(self) -> int:
        """How many elements are finite."""
        return self.count - self.nan - self.positive_inf - self.negative_inf


def statistics(value: object) -> Statistics:
    """The figures of a tensor, an array or a number.

    Raises:
        TypeError: the elements are no numbers.
    """
    array = _on_host(value)
    if array.dtype.kind not in "biufc" and array.dtype.name != "bfloat16":
        raise TypeError(f"value must hold numbers to have statistics, got elements of dtype {array.dtype}")
    flat = array.reshape(-1)
    nan = positive_inf = negative_inf = zeros = 0
    low, high = math.inf, -math.inf
    for block in _blocks(flat):
        zeros += block.size - int(np.count_nonzero(block))
        least, largest = float(block.min()), float(block.max())
        if not (math.isfinite(least) and math.isfinite(largest)):
            nan += int(np.isnan(block).sum())
            positive_inf += int(np.isposinf(block).sum())
            negative_inf += int(np.isneginf(block).sum())
            finite = block[np.isfinite(block)]
            if not finite.size:
                continue
            least, largest = float(finite.min()), float(finite.max())
        low, high = min(low, least), max(high, largest)
    count = flat.size - nan - positive_inf - negative_inf
    if not count:
        mean = std = norm = low = high = math.nan
        histogram = np.zeros(BINS, np.int64)
        edges = np.full(BINS + 1, math.nan)
    else:
        mean, std, norm, histogram, edges = _second_pass(flat, low, high, all_finite=count == flat.size)
    return Statistics(
        flat.size, array.shape, array.dtype.name, low, high, mean, std, norm,
        zeros, nan, positive_inf, negative_inf, histogram, edges,
    )  # fmt: skip


def _second_pass(
    flat: npt.NDArray[Any], low: float, high: float, all_finite: bool
) -> tuple[float, float, float, npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    # Divided by a power of two near the largest magnitude, values lie in [-1, 1] and keep every bit.
    scale = 2.0 ** min(max(math.frexp(max(-low, high))[1], -1000), 1000)
    left, right = low / scale, high / scale
    if left == right:  # one value only: a bin's neighbourhood around it, as numpy.histogram does
        left, right = left - 0.5 / scale, right + 0.5 / scale
        if left == right:
            left, right = left - 0.5, right + 0.5
    bins_per_unit = BINS / (right - left)
    histogram = np.zeros(BINS, np.int64)
    squares = 0.0
    # Mean and squared deviations merged block by block: Chan, Golub, LeVeque, "Algorithms for computing the
    # sample variance", The American Statistician 37 (1983).
    count, mean, deviations = 0, 0.0, 0.0
    for block in _blocks(flat):
        finite = block if all_finite else block[np.isfinite(block)]
        if not finite.size:
            continue
        finite /= scale
        squares += float(np.square(finite).sum())  # not np.dot: BLAS would wake its threads for each block
        block_mean = float(finite.sum()) / finite.size
        total = count + finite.size
        bins = ((finite - left) * bins_per_unit).astype(np.int64)
        histogram += np.bincount(np.minimum(bins, BINS - 1), minlength=BINS)  # the last bin has its right edge
        finite -= block_mean
        away = block_mean - mean
        deviations += float(np.square(finite).sum()) + away * away * count * finite.size / total
        mean += away * finite.size / total
        count = total
    edges = (left + _STEPS * (right - left)) * scale
    if low < high:
        edges[0], edges[-1] = low, high
    mean = min(max(mean * scale, low), high)
    std = math.sqrt(deviations / count) * scale if low < high else 0.0
    return mean, std, math.sqrt(squares) * scale, histogram, edges


def _on_host(value: object) -> npt.NDArray[Any]:
    array = getattr(value, "_array", value)
    if type(array).__module__.partition(".")[0] == "cupy":
        array = array.get()  # type: ignore[attr-defined]  # cupy has no type stubs
    return np.asarray(array)


def _blocks(flat: npt.NDArray[Any]) -> Iterator[npt.NDArray[np.float64]]:
    """The elements as float64, a block at a time, in arrays that the caller may change."""
    for begin in range(0, flat.size, _BLOCK):
        block = flat[begin : begin + _BLOCK]
        if block.dtype.kind == "c":
            # In the widest precision: the magnitude of a finite complex64 may exceed the largest float32.
            block = np.abs(block.astype(np.complex128))
        yield block.astype(np.float64)
