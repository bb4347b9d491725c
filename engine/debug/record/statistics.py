"""Statistics of the elements of values: ``statistics`` for one value, ``statistics_of`` for many in one pass.

Figures are float64 and are computed from the finite elements. A complex element enters with its magnitude, a boolean as
0 or 1. The kernels of ``engine.cpu.compiled.arrays.statistics`` compute them for float32 and float64. Other dtypes are
converted piece by piece into the smaller of the two that represents them exactly, so that the copy stays in the cache.
The result does not depend on the number of threads. With ``HOOKSCOPE_NUMBA=0``, NumPy computes them. Arrays on a GPU
are measured there if Triton runs (``triton_kernels.statistics``), and all values of one call are read as one small
array; otherwise, and if they have few elements, they are copied to the host.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from hookscope.engine.cpu.compiling import address, is_on, is_worth, kernels, ready
from hookscope.engine.cpu.threads import share
from hookscope.engine.tensors.backend import runs_triton

__all__ = ["BINS", "Statistics", "any_nonfinite", "changes", "figures", "load_kernels", "statistics", "statistics_of"]

BINS = 64

# Elements that are converted at a time; a multiple of the kernels' pieces.
_CONVERTED = 1 << 19

# Range of magnitudes whose squares, and sums of squares, neither overflow nor vanish.
_SMALLEST, _LARGEST = 1e-140, 1e145

_HELD_BY_FLOAT32 = frozenset(["float32", "float16", "bfloat16", "int8", "uint8", "int16", "uint16", "bool"])
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)

# Elements of a block of the kernels; ``any_nonfinite`` uses NumPy up to this number.
_SMALL = 1 << 15
# Up to this number of elements, the histogram costs less than a separate pass without it.
_FEW = 1 << 12

_STEPS = np.arange(BINS + 1) / BINS
_NOT_COUNTED = np.zeros(0, np.int64)

_Array = npt.NDArray[Any]
_Measured = tuple[list[float], npt.NDArray[np.int64]]
"""A row of figures in the layout of ``compiled.arrays.statistics``, and the histogram."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """Statistics of one value; figures of the finite elements are NaN if there are none.

    ``std`` divides by the number of elements, ``norm`` is the Euclidean norm. ``histogram`` counts the elements in 64
    equal bins between ``minimum`` and ``maximum``; an element on the limit of two bins, or less than 2**-44 of the
    range below it, counts in the upper one. It is empty if it was not requested (``figures``).
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
        """The number of finite elements."""
        return self.count - self.nan - self.positive_inf - self.negative_inf

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """The 65 limits of the histogram's bins; for a constant value, a neighborhood of it."""
        low, high = self.minimum, self.maximum
        if math.isnan(low):
            return np.full(BINS + 1, math.nan)
        scale = _scale(low, high)
        left, right = low / scale, high / scale
        if low == high:
            half = 0.5 / scale if left - 0.5 / scale < left + 0.5 / scale else 0.5
            left, right = left - half, right + half
        with np.errstate(all="ignore"):  # the user may have turned warnings into errors, at the ends of the range
            edges = (left + _STEPS * (right - left)) * scale
        if low < high:
            edges[0], edges[-1] = low, high
        return edges


def statistics(value: object) -> Statistics:
    """Return the statistics of a tensor, an array or a number.

    Raises:
        TypeError: the elements are not numbers.
    """
    return _figures_of(_readable(value), counted=True)


def figures(value: object) -> Statistics:
    """Return the statistics without the histogram, which dominates the cost for many elements."""
    array = _readable(value)
    return _figures_of(array, counted=array.size <= _FEW)


def _figures_of(array: _Array, counted: bool) -> Statistics:
    kind = _working_type(array.dtype)
    if type(array) is not np.ndarray:
        return _statistics(array, *kind, _measured_on_gpu([array], counted)[0])
    is_direct = is_on() and _is_direct(array)
    return _statistics(array, *kind, _measured_alone(array, counted) if is_direct else _measured(array, kind[1], 1.0))


def statistics_of(values: Iterable[object], counted: bool = True) -> list[Statistics]:
    """Return the statistics of several values, in one pass over those that the kernels read in place.

    Args:
        values: tensors, arrays or numbers.
        counted: whether to compute histograms.

    Raises:
        TypeError: the elements of one are not numbers.
    """
    arrays = [_readable(value, 0) for value in values]
    types = [_working_type(array.dtype) for array in arrays]
    on_device = [array for array in arrays if type(array) is not np.ndarray]
    direct = [array for array in arrays if type(array) is np.ndarray and _is_direct(array)] if is_on() else []
    from_gpu = iter(_measured_on_gpu(on_device, counted) if on_device else ())
    measured = iter(_measured_where_they_are(direct, counted) if direct else ())

    def measure(array: _Array, target: np.dtype[Any]) -> _Measured:
        if type(array) is not np.ndarray:
            return next(from_gpu)
        return next(measured) if direct and _is_direct(array) else _measured(array, target, 1.0)

    return [_statistics(array, *kind, measure(array, kind[1])) for array, kind in zip(arrays, types, strict=True)]


def changes(pairs: Sequence[tuple[Any, Any]]) -> list[tuple[float, float]]:
    """Return the norms of changes: for each present and earlier array, the norm of the difference and the earlier norm.

    The norm of the difference is NaN if an element of either array is not finite.
    """
    if pairs and all(type(x) is not np.ndarray and x.dtype.kind == "f" for pair in pairs for x in pair):
        measured = statistics_of(
            [*[current - earlier for current, earlier in pairs], *[earlier for _, earlier in pairs]], False
        )
        return [
            _of_difference(*pair_statistics)
            for pair_statistics in zip(measured[: len(pairs)], measured[len(pairs) :], strict=True)
        ]
    is_plain = [is_on() and all(map(_is_dense_single, pair)) and pair[0].strides == pair[1].strides for pair in pairs]
    in_place = iter(_changes_where_they_are([pair for pair, direct in zip(pairs, is_plain, strict=True) if direct]))
    return [next(in_place) if direct else _change(*pair) for direct, pair in zip(is_plain, pairs, strict=True)]


def _is_dense_single(x: Any) -> bool:
    """Return whether an array is a dense float32 array; NumPy's scalars, which have no lasting memory, are not."""
    return isinstance(x, np.ndarray) and x.dtype is _SINGLE and x.flags.forc and x.flags.aligned


def _changes_where_they_are(pairs: Sequence[tuple[_Array, _Array]]) -> list[tuple[float, float]]:
    if not pairs:
        return []
    inner = _kernels()
    blocks = list(itertools.accumulate([-(-x.size // inner.BLOCK) for x, _ in pairs], initial=0))
    lines = [(address(x), address(y), x.size, block) for (x, y), block in zip(pairs, blocks, strict=False)]
    rows = np.empty((blocks[-1], 2))
    share(inner.changes, blocks[-1], np.array(lines, np.int64), rows)
    sums = [rows[first:stop].sum(axis=0).tolist() for first, stop in itertools.pairwise(blocks)]
    return [
        (math.sqrt(changed), math.sqrt(squares)) if math.isfinite(changed) else _change(*pair)
        for (changed, squares), pair in zip(sums, pairs, strict=True)
    ]


def _change(now: Any, before: Any) -> tuple[float, float]:
    if not now.size:
        return 0.0, 0.0
    with np.errstate(all="ignore"):
        difference = now - before if now.dtype.kind not in "biu" else now.astype(np.float64) - before
    return _of_difference(*statistics_of((difference, before), counted=False))


def _of_difference(changed: Statistics, was: Statistics) -> tuple[float, float]:
    if not was.count:
        return 0.0, 0.0
    return changed.norm if changed.finite == changed.count else math.nan, was.norm


def _statistics(array: _Array, name: str, target: np.dtype[Any], measured: _Measured) -> Statistics:
    figures, histogram = measured
    count, low, high, mean, deviations, squares, *others = figures
    scale = 1.0
    if not count:
        low = high = mean = std = norm = math.nan
    else:
        if not _fits(low, high):
            scale = _scale(low, high)
            scaled, histogram = _measured(_on_host(array), target, 1.0 / scale)
            mean, deviations, squares = scaled[3:6]
        mean = min(max(mean * scale, low), high)
        norm = math.sqrt(squares) * scale
        if low < high:
            std = math.sqrt(deviations / count) * scale
        else:
            std = 0.0
            histogram[BINS // 2 : BINS // 2 + 1] = count
    zeros, nan, positive_inf, negative_inf = map(int, others)
    return Statistics(
        array.size, array.shape, name, low, high, mean, std, norm, zeros, nan, positive_inf, negative_inf, histogram
    )


def _is_direct(array: _Array) -> bool:
    """Return whether the kernels read an array in place: float32 or float64, dense in some order of its axes."""
    dtype, flags = array.dtype, array.flags
    if not ((dtype is _SINGLE or dtype is _DOUBLE) and flags.aligned):
        return False
    return bool(flags.forc or _in_memory_order(array).flags.forc)


def _measured_alone(array: _Array, counted: bool) -> _Measured:
    """Measure one array that the kernels read in place, with less preparation than for several."""
    inner, size = _kernels(), array.size
    values = np.array([(address(array), size, array.dtype is _DOUBLE, 0, 0)], np.int64)
    figures = np.empty((1, 10))
    if counted and size <= inner.BLOCK:
        counts = np.empty((1, BINS), np.int64)
        share(inner.summarize, 1, values, figures, counts)
        return figures[0].tolist(), counts[0]
    blocks = -(-size // inner.BLOCK)
    rows = np.empty((blocks, 10))
    share(inner.survey, blocks, values, rows)
    share(inner.merge, 1, np.array([0, blocks]), rows, figures)
    if not counted:
        return figures[0].tolist(), _NOT_COUNTED
    counts = np.empty((-(-size // inner.PIECE), BINS), np.int64)
    share(inner.count, len(counts), values, figures, counts)
    return figures[0].tolist(), counts.sum(axis=0)


def _measured_where_they_are(arrays: Sequence[_Array], counted: bool) -> list[_Measured]:
    """Measure arrays that the kernels read in place."""
    inner = _kernels()
    values, blocks, pieces = _table(arrays)
    figures = np.empty((len(arrays), 10))
    if counted and all(array.size <= inner.BLOCK for array in arrays):
        counts = np.empty((len(arrays), BINS), np.int64)
        share(inner.summarize, len(arrays), values, figures, counts)
        return list(zip(figures.tolist(), counts, strict=True))
    rows = np.empty((blocks[-1], 10))
    share(inner.survey, blocks[-1], values, rows)
    share(inner.merge, len(arrays), np.array(blocks), rows, figures)
    if not counted:
        return [(row, _NOT_COUNTED) for row in figures.tolist()]
    counts = np.empty((pieces[-1], BINS), np.int64)
    share(inner.count, pieces[-1], values, figures, counts)
    histograms = [counts[first:stop].sum(axis=0) for first, stop in itertools.pairwise(pieces)]
    return list(zip(figures.tolist(), histograms, strict=True))


def _measured_on_gpu(arrays: Sequence[_Array], counted: bool) -> list[_Measured]:
    """Measure arrays that the kernels of a GPU read in place; one array is copied to the host."""
    from hookscope.triton_kernels import statistics as on_gpu

    results, ends = on_gpu.measured(arrays, counted)
    rows = results.get()
    return [_put_together(rows[first:stop]) for first, stop in itertools.pairwise(ends)]


def _put_together(rows: npt.NDArray[np.float64]) -> _Measured:
    """Merge the figures of a value's pieces, as ``compiled.arrays.statistics.merge`` does, and add their histograms."""
    sizes, lows, highs, means, deviations = rows[:, :5].T
    count = sizes.sum()
    with np.errstate(all="ignore"):  # without finite elements the mean is undefined
        mean = (sizes * means).sum() / count
        spread = deviations.sum() + (sizes * (means - mean) ** 2).sum()
    figures = [count, lows.min(), highs.max(), mean, spread, *rows[:, 5:10].sum(axis=0)]
    histogram = rows[:, 10:].sum(axis=0).astype(np.int64) if rows.shape[1] > 10 else _NOT_COUNTED
    return [float(figure) for figure in figures], histogram


def _table(arrays: Sequence[_Array]) -> tuple[_Array, list[int], list[int]]:
    """Return the table of values for the kernels, and the offsets of the blocks and the pieces of each."""
    inner = _kernels()
    sizes = [array.size for array in arrays]
    blocks = list(itertools.accumulate([-(-size // inner.BLOCK) for size in sizes], initial=0))
    pieces = list(itertools.accumulate([-(-size // inner.PIECE) for size in sizes], initial=0))
    lines = [
        (address(array), array.size, array.dtype is _DOUBLE, block, piece)
        for array, block, piece in zip(arrays, blocks, pieces, strict=False)
    ]
    return np.array(lines, np.int64), blocks, pieces


def _measured(array: _Array, target: np.dtype[Any], factor: float) -> _Measured:
    """Measure the elements times a factor, converted piece by piece."""
    array = _in_memory_order(array)
    array = array.reshape(-1, order="A") if array.flags.forc else array
    if not is_on():
        return _measured_by_numpy(_converted(array, target, factor))
    inner = _kernels()
    rows, histogram = [np.empty((0, 10))], np.zeros(BINS, np.int64)
    for piece in _split(array, _CONVERTED):
        values, blocks, _ = _table([x := _converted(piece, target, factor)])
        rows.append(np.empty((blocks[-1], 10)))
        share(inner.survey, blocks[-1], values, rows[-1])
        del x  # its memory serves the next piece
    every = np.concatenate(rows)
    figures = np.empty((1, 10))
    share(inner.merge, 1, np.array([0, len(every)]), every, figures)
    if figures[0, 1] < figures[0, 2] and _fits(*figures[0, 1:3].tolist()):
        for piece in _split(array, _CONVERTED):
            values, _, pieces = _table([x := _converted(piece, target, factor)])
            counts = np.empty((pieces[-1], BINS), np.int64)
            share(inner.count, pieces[-1], values, figures, counts)
            histogram += counts.sum(axis=0)
            del x
    return figures[0].tolist(), histogram


def _measured_by_numpy(array: _Array) -> _Measured:
    """Measure an array without compiled kernels."""
    histogram = np.zeros(BINS, np.int64)
    with np.errstate(all="ignore"):  # squares may overflow before scaling
        numbers = array.astype(np.float64)
        x = numbers[np.isfinite(numbers)]
        low, high, mean = (float(x.min()), float(x.max()), float(x.mean())) if x.size else (math.inf, -math.inf, 0.0)
        deviations, squares = ((x - mean) ** 2).sum(), (x * x).sum()
        if low < high and _fits(low, high):
            # Rounded up a little: an element on the limit of two bins counts in the upper one.
            bins = np.minimum((x - low) * (BINS / (high - low) * (1 + 2.0**-50)), BINS - 1)
            histogram += np.bincount(bins.astype(np.int64), minlength=BINS)
    nonfinite = (np.isnan(numbers).sum(), np.isposinf(numbers).sum(), np.isneginf(numbers).sum())
    return [x.size, low, high, mean, float(deviations), float(squares), np.sum(x == 0), *nonfinite], histogram


def _fits(low: float, high: float) -> bool:
    """Return whether squares, and their sums, neither overflow nor vanish."""
    return _SMALLEST < max(-low, high) < _LARGEST or low == high == 0.0


def _scale(low: float, high: float) -> float:
    """Return a power of two near the largest magnitude: divided by it, values are in [-1, 1] and keep every bit."""
    return 2.0 ** min(max(math.frexp(max(-low, high))[1], -1000), 1000)


@functools.cache
def _working_type(dtype: np.dtype[Any]) -> tuple[str, np.dtype[Any]]:
    """Return the name of a dtype, and the dtype in which its elements are measured."""
    if dtype.kind not in "biufc" and dtype.name != "bfloat16":
        raise TypeError(f"value must hold numbers to have statistics, got elements of dtype {dtype}")
    exact = dtype.name in _HELD_BY_FLOAT32
    return dtype.name, np.dtype(np.float32 if exact else np.float64)


def _converted(piece: _Array, target: np.dtype[Any], factor: float) -> _Array:
    """Return the elements times a factor as a flat contiguous array of the target dtype, for the kernels."""
    with np.errstate(all="ignore"):
        if piece.dtype == np.float16 and is_on():
            halves = ready(piece)
            converted = np.empty(piece.size, np.float32)
            inner = _kernels()
            share(inner.widen, -(-piece.size // inner.BLOCK), address(halves), piece.size, converted.view(np.uint32))
        else:
            # Complex elements in the widest precision: the magnitude of a finite complex64 may exceed float32.
            converted = np.abs(piece.astype(np.complex128)) if piece.dtype.kind == "c" else piece
            converted = ready(converted.astype(target, copy=False)).reshape(-1)
        return converted if factor == 1.0 else converted * factor


def _split(array: _Array, most: int) -> Iterator[_Array]:
    """Yield views of the parts of an array, each of at most ``most`` elements; the split depends on the shape alone."""
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


@functools.cache
def load_kernels() -> None:
    """Load the compiled kernels, so that the first statistics do not include the loading time."""
    if is_on():
        _kernels()


@functools.cache
def _kernels() -> ModuleType:
    return kernels("statistics")


def any_nonfinite(array: Any) -> bool:
    """Return whether a NumPy or CuPy array contains a NaN or an infinity.

    Raises:
        TypeError: the elements are not numbers.
    """
    if array.dtype.kind in "biu":
        return False
    if array.size <= _SMALL or type(array) is not np.ndarray:
        return not bool(np.isfinite(array).all())
    if is_worth(array, _SMALL) and _is_direct(array):
        inner = _kernels()
        flags = np.empty(-(-array.size // inner.BLOCK), np.uint8)
        share(inner.nonfinite, flags.size, address(array), array.size, flags)
        return bool(flags.any())
    array = _in_memory_order(array)
    flat = array.reshape(-1, order="A") if array.flags.forc else array
    return any(_has_nonfinite(piece) for piece in _split(flat, _SMALL))


def _has_nonfinite(piece: _Array) -> bool:
    if piece.itemsize > 2:
        return not np.isfinite(piece).all()
    # NumPy tests 16-bit floats one by one, but integers many at a time. Bit patterns from that of Inf up are not
    # finite, for either sign.
    infinite = int(np.array(np.inf, piece.dtype).view(np.uint16))
    positive, negative = piece.view(np.int16).max(), piece.view(np.uint16).max()
    return bool(positive >= infinite or negative >= infinite + 0x8000)


def _in_memory_order(array: _Array) -> _Array:
    """Return a view with the axes in memory order, so that an array that is dense in any axis order needs no copy."""
    if array.flags.forc:
        return array
    return array.transpose(sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis])))


def _readable(value: object, few: int = _FEW) -> _Array:
    """Return the array of a value: on the GPU if Triton's kernels accept it and it is not small, else on the host."""
    array: Any = getattr(value, "_array", value)
    if type(array).__module__.partition(".")[0] == "cupy" and getattr(array, "size", 0) > few and runs_triton():
        from hookscope.triton_kernels import statistics as on_gpu

        if on_gpu.takes(array):
            on_device: _Array = array
            return on_device
    return _on_host(array)


def _on_host(value: object) -> _Array:
    array = getattr(value, "_array", value)
    if type(array).__module__.partition(".")[0] == "cupy":
        array = array.get()  # type: ignore[attr-defined]  # cupy has no type stubs
    return np.asarray(array)
