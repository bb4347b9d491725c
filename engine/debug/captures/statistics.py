"""What the numbers of one value look like: ``statistics(value)``.

Figures are float64 and come from the finite elements; complex elements count by their magnitude, booleans as 0 and 1.
The work is done by the kernels of ``statistics_kernels``, which are compiled for float32 and float64. Other element
types are converted piece by piece into the smaller of the two that holds them exactly, so that the copy stays in the
cache. Large arrays are shared out to a few threads; the result is the same whatever their number.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from hookscope.engine.cpu.interrupts import uninterrupted

__all__ = ["BINS", "Statistics", "any_nonfinite", "load_kernels", "statistics"]

BINS = 64

# Elements that are converted, and worked on by one thread, at a time; a multiple of the kernels' block.
_PIECE = 1 << 17

# Magnitudes whose squares neither overflow nor vanish, nor do sums of them.
_SMALLEST, _LARGEST = 1e-140, 1e145

# More threads than these wait for the same memory.
_MOST_THREADS = 8

_HELD_BY_FLOAT32 = frozenset(["float32", "float16", "bfloat16", "int8", "uint8", "int16", "uint16", "bool"])

# Elements that ``any_nonfinite`` looks at in one go.
_SMALL = 1 << 15

_STEPS = np.arange(BINS + 1) / BINS

_Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Statistics:
    """Figures of one value; those about finite elements are NaN if there is none.

    ``std`` divides by the number of elements, ``norm`` is the Euclidean norm. ``histogram`` counts the elements in 64
    equal bins between ``minimum`` and ``maximum``; one on the limit of two bins, or less than 2**-44 of the range
    below it, counts above it.
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
    histogram: npt.NDArray[np.int64] = field(repr=False)

    @property
    def finite(self) -> int:
        """How many elements are finite."""
        return self.count - self.nan - self.positive_inf - self.negative_inf

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """The 65 limits of the histogram's bins; of one repeated value, a neighborhood around it."""
        low, high = self.minimum, self.maximum
        if math.isnan(low):
            return np.full(BINS + 1, math.nan)
        scale = _scale(low, high)
        left, right = low / scale, high / scale
        if low == high:
            half = 0.5 / scale if left - 0.5 / scale < left + 0.5 / scale else 0.5
            left, right = left - half, right + half
        edges = (left + _STEPS * (right - left)) * scale
        if low < high:
            edges[0], edges[-1] = low, high
        return edges


def statistics(value: object, threads: int | None = None) -> Statistics:
    """The figures of a tensor, an array or a number.

    Args:
        threads: how many may work on a large array; default: as many as the process may use cores, at most 8.

    Raises:
        TypeError: the elements are no numbers.
    """
    given = _on_host(value)
    array = _in_memory_order(given)
    name, target = _working_type(array.dtype)
    figures, histogram = _measured(array, target, 1.0, threads)
    count, low, high, mean, deviations, squares, *others = figures
    scale = 1.0
    if not count:
        low = high = mean = std = norm = math.nan
    else:
        if not _fits(low, high):
            scale = _scale(low, high)
            scaled, histogram = _measured(array, target, 1.0 / scale, threads)
            mean, deviations, squares = scaled[3:6]
        mean = min(max(mean * scale, low), high)
        norm = math.sqrt(squares) * scale
        if low < high:
            std = math.sqrt(deviations / count) * scale
        else:
            std = 0.0
            histogram[BINS // 2] = count
    zeros, nan, positive_inf, negative_inf = map(int, others)
    return Statistics(
        given.size, given.shape, name, low, high, mean, std, norm, zeros, nan, positive_inf, negative_inf, histogram
    )


def _measured(
    array: _Array, target: np.dtype[Any], factor: float, threads: int | None
) -> tuple[list[float], npt.NDArray[np.int64]]:
    """Of the elements times a factor: a row of figures as ``statistics_kernels.survey`` has them, and the histogram."""
    kernels = _kernels()
    if array.size <= kernels.BLOCK:  # the same without what sharing out costs
        x = _ready(array, target, factor)
        row, histogram = np.empty((1, 10)), np.zeros(BINS, np.int64)
        kernels.survey(x, row)
        figures = row[0].tolist()
        if _has_bins(figures):
            kernels.fill_bins(x, figures[0] == array.size, figures[1], figures[2], histogram)
        return figures, histogram
    pieces = list(_split(_sealed(array) if array.flags.forc else array))
    ends = list(itertools.accumulate((-(-piece.size // kernels.BLOCK) for piece in pieces), initial=0))
    rows, histograms = np.empty((ends[-1], 10)), np.zeros((len(pieces), BINS), np.int64)

    def survey(number: int) -> None:
        kernels.survey(_ready(pieces[number], target, factor), rows[ends[number] : ends[number + 1]])

    def fill_bins(number: int) -> None:
        x = _ready(pieces[number], target, factor)
        kernels.fill_bins(x, figures[0] == array.size, figures[1], figures[2], histograms[number])

    _share_out(survey, len(pieces), threads)
    figures = _merged(rows)
    if _has_bins(figures):
        _share_out(fill_bins, len(pieces), threads)
    return figures, histograms.sum(axis=0)


def _merged(rows: _Array) -> list[float]:
    """The figures of all blocks, as of one.

    Squared deviations as in Chan, Golub, LeVeque, "Algorithms for computing the sample variance", The American
    Statistician 37 (1983), for any number of parts.
    """
    count, low, high, means, deviations = rows[:, :5].T
    with np.errstate(all="ignore"):  # without finite elements; where squares overflow, before they are scaled
        figures = rows.sum(axis=0)
        figures[1], figures[2] = low.min(), high.max()
        figures[3] = mean = (count * means).sum() / figures[0]
        figures[4] = (deviations + count * (means - mean) ** 2).sum()
    found: list[float] = figures.tolist()
    return found


def _has_bins(figures: list[float]) -> bool:
    return figures[1] < figures[2] and _fits(figures[1], figures[2])


def _fits(low: float, high: float) -> bool:
    """Whether squares, and their sums, neither overflow nor vanish."""
    return _SMALLEST < max(-low, high) < _LARGEST or low == high == 0.0


def _scale(low: float, high: float) -> float:
    """A power of two near the largest magnitude: divided by it, values lie in [-1, 1] and keep every bit."""
    return 2.0 ** min(max(math.frexp(max(-low, high))[1], -1000), 1000)


@functools.cache
def _working_type(dtype: np.dtype[Any]) -> tuple[str, np.dtype[Any]]:
    """The name of an element type, and in which one its elements are worked on."""
    if dtype.kind not in "biufc" and dtype.name != "bfloat16":
        raise TypeError(f"value must hold numbers to have statistics, got elements of dtype {dtype}")
    exact = dtype.name in _HELD_BY_FLOAT32
    return dtype.name, np.dtype(np.float32 if exact else np.float64)


def _ready(piece: _Array, target: np.dtype[Any], factor: float) -> _Array:
    """The elements times a factor, as the kernels want them: flat, side by side, in the target type."""
    if piece.dtype != target or factor != 1.0 or not (piece.flags.forc and piece.flags.aligned):
        with np.errstate(all="ignore"):
            piece = _converted(piece, target) if factor == 1.0 else _converted(piece, target) * factor
    return _sealed(piece) if piece.ndim != 1 or piece.flags.writeable else piece


def _converted(piece: _Array, target: np.dtype[Any]) -> _Array:
    if piece.dtype == np.float16:
        found = np.empty(piece.size, np.float32)
        _kernels().widen(_sealed(piece.view(np.uint16)), found.view(np.uint32))
        return found
    if piece.dtype.kind == "c":
        # In the widest precision: the magnitude of a finite complex64 may exceed the largest float32.
        piece = np.abs(piece.astype(np.complex128))
    return piece.astype(target)


def _sealed(array: _Array) -> _Array:
    """A flat view that may not be written to: so the kernels need be compiled for no other."""
    flat = array.reshape(-1, order="A")
    flat.flags.writeable = False
    return flat


def _split(array: _Array, most: int = _PIECE) -> Iterator[_Array]:
    """Views of the parts of an array, none with more elements than ``most``; which ones depends on the shape alone."""
    if array.size <= most:
        yield array
        return
    rows = most // (array.size // len(array))
    if not rows:
        for part in array:
            yield from _split(part, most)
    else:
        for begin in range(0, len(array), rows):
            yield array[begin : begin + rows]


def _share_out(work: Callable[[int], None], count: int, threads: int | None) -> None:
    """Call ``work`` for each number below ``count``, on this thread and on helpers."""
    numbers = iter(range(count))  # to take the next one is a single step of the interpreter

    def take() -> None:
        for number in numbers:
            work(number)

    helpers = min(threads or _usable_cores(), count, _MOST_THREADS) - 1
    waiting = [_pool().submit(take) for _ in range(helpers)]
    take()
    for helper in waiting:
        if not helper.cancel():  # it has begun
            helper.result()


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def _pool() -> ThreadPoolExecutor:
    # It starts a thread when none is free. They do not outlive a fork, and the new process makes its own.
    os.register_at_fork(after_in_child=_pool.cache_clear)
    return ThreadPoolExecutor(_MOST_THREADS - 1, "hookscope-statistics")


@functools.cache
def load_kernels() -> None:
    """Load the compiled kernels, which the first figures wait for otherwise."""
    for target in (np.float32, np.float64):
        statistics(np.zeros(2, target))


@functools.cache
def _kernels() -> ModuleType:
    with uninterrupted():  # Numba, half imported, could not be imported again in this process
        from . import statistics_kernels

    return statistics_kernels


def any_nonfinite(array: Any) -> bool:
    """Whether a NumPy or CuPy array holds a NaN or an infinity.

    Raises:
        TypeError: the elements are no numbers.
    """
    if array.dtype.kind in "biu":
        return False
    if array.size <= _SMALL or type(array) is not np.ndarray:
        return not bool(np.isfinite(array).all())
    array = _in_memory_order(array)
    flat = array.reshape(-1, order="A") if array.flags.forc else array
    return any(_has_nonfinite(piece) for piece in _split(flat, _SMALL))


def _has_nonfinite(piece: _Array) -> bool:
    if piece.itemsize > 2:
        return not np.isfinite(piece).all()
    # NumPy looks at 16-bit floats one by one, but at integers many at a time. The patterns from that of Inf up are not
    # finite, for either sign.
    infinite = int(np.array(np.inf, piece.dtype).view(np.uint16))
    positive, negative = piece.view(np.int16).max(), piece.view(np.uint16).max()
    return bool(positive >= infinite or negative >= infinite + 0x8000)


def _in_memory_order(array: _Array) -> _Array:
    """A view with the axes in the order of the memory: then what is dense in any order of axes needs no copy."""
    if array.flags.forc:
        return array
    return array.transpose(sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis])))


def _on_host(value: object) -> _Array:
    array = getattr(value, "_array", value)
    if type(array).__module__.partition(".")[0] == "cupy":
        array = array.get()  # type: ignore[attr-defined]  # cupy has no type stubs
    return np.asarray(array)
