"""Sums, means, products and extremes of segments, which index tensors number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.surfaces import declare, prim
from ...base.types import Array
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant, holds
from ..arguments import check_axes, check_same_dtype, check_tensor, int_of
from ..elementwise import arithmetic, comparison
from ..shapes.broadcasting import as_dtype, as_single
from ..shapes.subscripts import getitem_operator
from .gathering import _integers, check_in_range
from .scattering import put

__all__ = [
    "sparse_segment_mean",
    "unsorted_segment_max",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sum",
]

# Segments
_SEGMENTS = """The {what} {of} of each segment.

    Args:
        x: a tensor.
        segment_ids: the segment of each entry, integers whose shape is the beginning of that of ``x``; entries with a
            negative one are left out.
        num_segments: how many segments there are, a positive int.

    Returns:
        A tensor (num_segments, ...) of the dtype of ``x``; {empty} where a segment has no entry.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``segment_ids`` or ``num_segments`` are not integers.
        ValueError: ``num_segments`` is not positive, or the shapes do not fit.
        RuntimeError: a segment is not below ``num_segments``.
    """


def _limits(dtype: Any) -> Any:
    if dtype.kind == "V":
        import ml_dtypes  # NumPy does not know bfloat16

        return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]  # ml_dtypes has no types here
    return np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)


def _are_positions(ids: Array) -> bool:
    return bool((ids >= 0).all())


def _segments(name: str, how: str, start: Any) -> Callable[..., Tensor]:
    def reduced(x: Tensor, segment_ids: Tensor, num_segments: int | Tensor) -> Tensor:
        ids, count = _integers(segment_ids, name, "segment_ids"), int_of(num_segments, name, "num_segments")
        if count <= 0:
            raise ValueError(f"For '{name}', 'num_segments' must be positive, but got {count}")
        lengths = check_tensor(x, name, "x").shape[ids.ndim :]
        dtype = x._array.dtype
        if callable(start) and dtype.kind in "bc":
            raise TypeError(f"For '{name}', 'x' must hold numbers that have an order, but got {x.dtype}")
        empty = start(_limits(dtype)) if callable(start) else start
        ground = constant(array_module(x._array).full((count, *lengths), empty, dtype))
        if check_tensor(x, name, "x").shape[: ids.ndim] != ids.shape:
            raise ValueError(
                f"For '{name}', the shape {ids.shape} of 'segment_ids' must be the beginning of that of 'x', {x.shape}"
            )
        if holds(_are_positions, ids._array):
            check_in_range(ids._array, count, name)
            return put(ground, x, (ids._array,), how)
        mask = ids._array >= 0
        check_in_range(ids._array[mask], count, name)
        return put(ground, getitem_operator(x, index=mask), (ids._array[mask],), how)

    reduced.__name__ = reduced.__qualname__ = name
    reduced.__doc__ = _SEGMENTS.format(
        what={"max": "largest", "min": "smallest"}.get(how, {"mul": "product", "add": "sum"}.get(how)),
        of="of the elements" if how in ("mul", "add") else "element",
        empty={"max": "the dtype's least number", "min": "the dtype's greatest number", "mul": "1", "add": "0"}[how],
    )
    return reduced


unsorted_segment_max = declare(method=True, primitive=prim("UnsortedSegmentMax"))(
    _segments("unsorted_segment_max", "max", lambda limits: limits.min)
)

unsorted_segment_min = declare(method=True, primitive=prim("UnsortedSegmentMin"))(
    _segments("unsorted_segment_min", "min", lambda limits: limits.max)
)

unsorted_segment_prod = declare(method=True, primitive=prim("UnsortedSegmentProd"))(
    _segments("unsorted_segment_prod", "mul", 1)
)


@declare(primitive=prim("UnsortedSegmentSum"))
def unsorted_segment_sum(input_x: Tensor, segment_ids: Tensor, num_segments: int | Tensor) -> Tensor:
    """Return the sum of the elements of each segment.

    Args:
        input_x: a tensor.
        segment_ids: the segment of each entry, integers whose shape is the beginning of that of ``input_x``; entries
            with a negative one are left out.
        num_segments: the number of segments, a positive int.

    Returns:
        A tensor (num_segments, ...) of the dtype of ``input_x``; 0 where a segment has no entry.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``segment_ids`` or ``num_segments`` are not integers.
        ValueError: ``num_segments`` is not positive, or the shapes do not fit.
        RuntimeError: a segment is not below ``num_segments``.
    """
    return _segments("unsorted_segment_sum", "add", 0)(input_x, segment_ids, num_segments)


def _sorted_segments(how: str, function: Callable[..., Tensor], what: str, empty: int = 0) -> None:
    """Declare the class of consecutive segments, whose number is the last id + 1; a missing one gets ``empty``."""

    @declare(primitive=prim(f"Segment{how}"))
    def reduced(input_x: Tensor, segment_ids: Tensor) -> Tensor:
        name = f"Segment{how}"
        ids = check_axes(_integers(segment_ids, name, "segment_ids"), 1, name, "segment_ids")._array
        if (ids[1:] < ids[:-1]).any():
            raise ValueError(f"For 'Segment{how}', 'segment_ids' must not decrease, but got {ids.tolist()}")
        count = int(ids.max()) + 1
        result = function(input_x, segment_ids, count)
        xp = array_module(ids)
        present = xp.isin(xp.arange(count), ids).reshape((-1,) + (1,) * (result.ndim - 1))
        return result if present.all() else comparison.where(Tensor._wrap(present), result, empty)

    reduced.__doc__ = f"""The {what} of each segment, where segments lie one behind the other.

    Args:
        input_x: a tensor with at least one axis.
        segment_ids: the segment of each entry of the first axis, integers that do not decrease.

    Returns:
        A tensor (last id + 1, ...) of the dtype of ``input_x``; {empty} where a segment has no entry.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``segment_ids`` holds no integers.
        ValueError: the shapes do not fit, or ``segment_ids`` decrease.
    """


_sorted_segments("Max", unsorted_segment_max, "largest element")

_sorted_segments("Min", unsorted_segment_min, "smallest element")

_sorted_segments("Prod", unsorted_segment_prod, "product", empty=1)

_sorted_segments("Sum", unsorted_segment_sum, "sum")


@declare(primitive=prim("SegmentMean"))
def _segment_mean(input_x: Tensor, segment_ids: Tensor) -> Tensor:
    """Return the mean of the elements of each segment; segments are consecutive.

    Args:
        input_x: a tensor with at least one axis.
        segment_ids: the segment of each entry of the first axis, integers that do not decrease, 0 or above.

    Returns:
        A tensor (last id + 1, ...) of the dtype of ``input_x``, means of integers rounded toward 0; 0 where a segment
        has no entry.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``segment_ids`` does not hold integers.
        ValueError: the shapes do not fit, or ``segment_ids`` decrease or are negative.
    """
    return _means(input_x, segment_ids, "SegmentMean", "input_x")


def _means(x: Tensor, segment_ids: Tensor, name: str, argument: str) -> Tensor:
    ids = _integers(segment_ids, name, "segment_ids")._array
    if check_tensor(x, name, argument).ndim < 1 or ids.shape != x.shape[:1]:
        raise ValueError(f"For '{name}', 'segment_ids' must have the shape {x.shape[:1]}, but got {ids.shape}")
    if (ids[1:] < ids[:-1]).any() or (ids < 0).any():
        raise ValueError(f"For '{name}', 'segment_ids' must neither decrease nor be negative, but got {ids.tolist()}")
    count = int(ids[-1]) + 1 if ids.size else 0
    xp, dtype = array_module(ids), x._array.dtype
    if not count:
        return getitem_operator(x, index=slice(0, 0))
    lengths = xp.maximum(xp.bincount(ids, minlength=count), 1).reshape((-1,) + (1,) * (x.ndim - 1))
    sums = unsorted_segment_sum(as_single(x), segment_ids, count)
    return as_dtype(
        arithmetic.div(
            sums, Tensor._wrap(lengths.astype(sums._array.dtype)), rounding_mode="trunc" if dtype.kind in "iu" else None
        ),
        dtype,
    )


def sparse_segment_mean(x: Tensor, indices: Tensor, segment_ids: Tensor) -> Tensor:
    """Return the mean of the entries of each segment, with entries selected by index.

    Args:
        x: a tensor of floating numbers with at least one axis.
        indices: the indices of the entries along the first axis, a vector of integers in [0, x.shape[0]).
        segment_ids: the segment of each of them, integers that do not decrease, 0 or above.

    Returns:
        A tensor (last id + 1, ...) of the dtype of ``x``; 0 where a segment has no entry.

    Raises:
        TypeError: ``x`` is not a Tensor of floating numbers, or the others do not hold integers or differ in dtype.
        ValueError: the shapes do not fit, or ``segment_ids`` decrease or are negative.
        RuntimeError: an index is out of range.
    """
    name = "sparse_segment_mean"
    if check_tensor(x, name, "x")._array.dtype.kind not in "fV" or x.ndim < 1:
        kind = ValueError if x.ndim < 1 else TypeError
        raise kind(f"For '{name}', 'x' must be floating numbers with at least 1 axis, but got {x.dtype}{list(x.shape)}")
    positions = _integers(indices, name, "indices")._array
    check_same_dtype(name, indices=indices, segment_ids=check_tensor(segment_ids, name, "segment_ids"))
    if positions.ndim != 1:
        raise ValueError(f"For '{name}', 'indices' must be a vector, but got shape {indices.shape}")
    if (positions < 0).any():
        raise RuntimeError(f"For '{name}', 'indices' must not be negative, but got {positions.tolist()}")
    check_in_range(positions, x.shape[0], name)
    return _means(getitem_operator(x, index=positions), segment_ids, name, "x")
