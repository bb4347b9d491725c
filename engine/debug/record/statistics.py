"""What the numbers of one value look like: ``statistics(value)``; of many in one pass: ``statistics_of(values)``.

Figures are float64 and come from the finite elements; complex elements count by their magnitude, booleans as 0 and 1.
The work is done by the kernels of ``engine.cpu.compiled.statistics``, for float32 and float64. Other element types are
converted piece by piece into the smaller of the two that holds them exactly, so that the copy stays in the cache. The
result is the same whatever the number of threads. With ``HOOKSCOPE_NUMBA=0`` NumPy does the work. What lies on a GPU is
measured there where Triton runs (``triton_kernels.statistics``), and of all values of one call one small array is read;
else it is copied to the host, as values of few elements are.
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

# Magnitudes whose squares neither overflow nor vanish, nor do sums of them.
_SMALLEST, _LARGEST = 1e-140, 1e145

_HELD_BY_FLOAT32 = frozenset(["float32", "float16", "bfloat16", "int8", "uint8", "int16", "uint16", "bool"])
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)

# Elements of a block of the kernels; so many ``any_nonfinite`` has NumPy look at.
_SMALL = 1 << 15
# Elements whose histogram costs less than to leave it out.
_FEW = 1 << 12

_STEPS = np.arange(BINS + 1) / BINS
_NOT_COUNTED = np.zeros(0, np.int64)

_Array = npt.NDArray[Any]
_Measured = tuple[list[float], npt.NDArray[np.int64]]
"""A row of figures as ``compiled.statistics`` has them, and the histogram."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """Figures of one value; those about finite elements are NaN if there is none.

    ``std`` divides by the number of elements, ``norm`` is the Euclidean norm. ``histogram`` counts the elements in 64
    equal bins between ``minimum`` and ``maximum``; one on the limit of two bins, or less than 2**-44 of the range
    below it, counts above it. It is empty where nobody asked for it (``figures``).
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
        with np.errstate(all="ignore"):  # a user may have made errors of what is lost at the ends of the range
            edges = (left + _STEPS * (right - left)) * scale
        if low < high:
            edges[0], edges[-1] = low, high
        return edges


def statistics(value: object) -> Statistics:
    """The figures of a tensor, an array or a number.

    Raises:
        TypeError: the elements are no numbers.
    """
    return _figures_of(_readable(value), counted=True)


def figures(value: object) -> Statistics:
    """The same without the histogram, which takes longer than all else where there are many elements."""
    array = _readable(value)
    return _figures_of(array, counted=array.size <= _FEW)


def _figures_of(array: _Array, counted: bool) -> Statistics:
    kind = _working_type(array.dtype)
    if type(array) is not np.ndarray:
        return _statistics(array, *kind, _measured_on_gpu([array], counted)[0])
    alone = is_on() and _is_direct(array)
    return _statistics(array, *kind, _measured_alone(array, counted) if alone else _measured(array, kind[1], 1.0))


def statistics_of(values: Iterable[object], counted: bool = True) -> list[Statistics]:
    """The figures of several values, in one pass over those that the kernels read where they are.

    Args:
        values: tensors, arrays or numbers.
        counted: whether there are to be histograms.

    Raises:
        TypeError: the elements of one are no numbers.
    """
    given = [_readable(value, 0) for value in values]
    types = [_working_type(array.dtype) for array in given]
    there = [array for array in given if type(array) is not np.ndarray]
    direct = [array for array in given if type(array) is np.ndarray and _is_direct(array)] if is_on() else []
    from_gpu = iter(_measured_on_gpu(there, counted) if there else ())
    measured = iter(_measured_where_they_are(direct, counted) if direct else ())

    def found(array: _Array, target: np.dtype[Any]) -> _Measured:
        if type(array) is not np.ndarray:
            return next(from_gpu)
        return next(measured) if direct and _is_direct(array) else _measured(array, target, 1.0)

    return [_statistics(array, *kind, found(array, kind[1])) for array, kind in zip(given, types, strict=True)]


def changes(pairs: Sequence[tuple[Any, Any]]) -> list[tuple[float, float]]:
    """Of pairs of arrays, what a parameter is and what it was: the norm of the difference, and the norm before.

    The first is NaN where an element of either is not finite.
    """
    if pairs and all(type(x) is not np.ndarray and x.dtype.kind == "f" for pair in pairs for x in pair):
        both = statistics_of([*[now - before for now, before in pairs], *[before for _, before in pairs]], False)
        return [_of_difference(*two) for two in zip(both[: len(pairs)], both[len(pairs) :], strict=True)]
    plain = [is_on() and all(map(_is_dense_single, pair)) and pair[0].strides == pair[1].strides for pair in pairs]
    found = iter(_changes_where_they_are([pair for pair, one in zip(pairs, plain, strict=True) if one]))
    return [next(found) if one else _change(*pair) for one, pair in zip(plain, pairs, strict=True)]


def _is_dense_single(x: Any) -> bool:
    """Not so of NumPy's scalars, whose elements are in no lasting place."""
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
    """Whether the kernels read it where it is: float32 or float64, dense in some order of its axes."""
    dtype, flags = array.dtype, array.flags
    if not ((dtype is _SINGLE or dtype is _DOUBLE) and flags.aligned):
        return False
    return bool(flags.forc or _in_memory_order(array).flags.forc)


def _measured_alone(array: _Array, counted: bool) -> _Measured:
    """Of one array that the kernels read where it is, with less to prepare than several take."""
    inner, size = _kernels(), array.size
    values = np.array([(address(array), size, array.dtype is _DOUBLE, 0, 0)], np.int64)
    figures = np.empty((1, 10))
    if counted and size <= inner.BLOCK:
        counts = np.empty((1, BINS), np.int64)
        share(inner.whole, 1, values, figures, counts)
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
    """Of arrays that the kernels read where they are."""
    inner = _kernels()
    values, blocks, pieces = _table(arrays)
    figures = np.empty((len(arrays), 10))
    if counted and all(array.size <= inner.BLOCK for array in arrays):
        counts = np.empty((len(arrays), BINS), np.int64)
        share(inner.whole, len(arrays), values, figures, counts)
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
    """Of arrays that the kernels of a GPU read where they are; one array is copied to the host."""
    from hookscope.triton_kernels import statistics as on_gpu

    made, ends = on_gpu.measured(arrays, counted)
    rows = made.get()
    return [_put_together(rows[first:stop]) for first, stop in itertools.pairwise(ends)]


def _put_together(rows: npt.NDArray[np.float64]) -> _Measured:
    """The figures of a value of those of its pieces, as ``compiled.statistics.merge`` does it, and its histogram."""
    sizes, lows, highs, means, deviations = rows[:, :5].T
    count = sizes.sum()
    with np.errstate(all="ignore"):  # without finite elements the mean has no meaning
        mean = (sizes * means).sum() / count
        spread = deviations.sum() + (sizes * (means - mean) ** 2).sum()
    figures = [count, lows.min(), highs.max(), mean, spread, *rows[:, 5:10].sum(axis=0)]
    histogram = rows[:, 10:].sum(axis=0).astype(np.int64) if rows.shape[1] > 10 else _NOT_COUNTED
    return [float(figure) for figure in figures], histogram


def _table(arrays: Sequence[_Array]) -> tuple[_Array, list[int], list[int]]:
    """What the kernels are told of the values, and where the blocks and the pieces of each begin and end."""
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
    """Of the elements times a factor, converted piece by piece."""
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
    """The same without compiled kernels."""
    histogram = np.zeros(BINS, np.int64)
    with np.errstate(all="ignore"):  # squares may overflow, before they are scaled
        numbers = array.astype(np.float64)
        x = numbers[np.isfinite(numbers)]
        low, high, mean = (float(x.min()), float(x.max()), float(x.mean())) if x.size else (math.inf, -math.inf, 0.0)
        deviations, squares = ((x - mean) ** 2).sum(), (x * x).sum()
        if low < high and _fits(low, high):
            # Rounded up a little: an element on the limit of two bins counts above it.
            places = np.minimum((x - low) * (BINS / (high - low) * (1 + 2.0**-50)), BINS - 1)
            histogram += np.bincount(places.astype(np.int64), minlength=BINS)
    bad = (np.isnan(numbers).sum(), np.isposinf(numbers).sum(), np.isneginf(numbers).sum())
    return [x.size, low, high, mean, float(deviations), float(squares), np.sum(x == 0), *bad], histogram


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


def _converted(piece: _Array, target: np.dtype[Any], factor: float) -> _Array:
    """The elements times a factor, as the kernels want them: flat, side by side, in the target type."""
    with np.errstate(all="ignore"):
        if piece.dtype == np.float16 and is_on():
            halves = ready(piece)
            found = np.empty(piece.size, np.float32)
            inner = _kernels()
            share(inner.widen, -(-piece.size // inner.BLOCK), address(halves), piece.size, found.view(np.uint32))
        else:
            # Of complex elements in the widest precision: the magnitude of a finite complex64 may exceed float32.
            found = np.abs(piece.astype(np.complex128)) if piece.dtype.kind == "c" else piece
            found = ready(found.astype(target, copy=False)).reshape(-1)
        return found if factor == 1.0 else found * factor


def _split(array: _Array, most: int) -> Iterator[_Array]:
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


@functools.cache
def load_kernels() -> None:
    """Load the compiled kernels, which the first figures wait for otherwise."""
    if is_on():
        _kernels()


@functools.cache
def _kernels() -> ModuleType:
    return kernels("statistics")


def any_nonfinite(array: Any) -> bool:
    """Whether a NumPy or CuPy array holds a NaN or an infinity.

    Raises:
        TypeError: the elements are no numbers.
    """
    if array.dtype.kind in "biu":
        return False
    if array.size <= _SMALL or type(array) is not np.ndarray:
        return not bool(np.isfinite(array).all())
    if is_worth(array, _SMALL) and _is_direct(array):
        inner = _kernels()
        found = np.empty(-(-array.size // inner.BLOCK), np.uint8)
        share(inner.nonfinite, found.size, address(array), array.size, found)
        return bool(found.any())
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


def _readable(value: object, few: int = _FEW) -> _Array:
    """The array of a value where it can be measured: on a GPU if Triton's kernels take it, and it is not small."""
    array: Any = getattr(value, "_array", value)
    if type(array).__module__.partition(".")[0] == "cupy" and getattr(array, "size", 0) > few and runs_triton():
        from hookscope.triton_kernels import statistics as on_gpu

        if on_gpu.takes(array):
            found: _Array = array
            return found
    return _on_host(array)


def _on_host(value: object) -> _Array:
    array = getattr(value, "_array", value)
    if type(array).__module__.partition(".")[0] == "cupy":
        array = array.get()  # type: ignore[attr-defined]  # cupy has no type stubs
    return np.asarray(array)
