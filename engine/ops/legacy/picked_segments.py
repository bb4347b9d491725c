"""Primitive classes that sum or average segments of entries that are selected by index: ``SparseSegmentSum``."""

from __future__ import annotations

import numpy as np

from ...base.surfaces import declare, prim
from ...cpu.array_module import array_module
from ...tensors.backend import to_host
from ...tensors.tensor import Tensor
from ..arguments import check_integers, check_same_dtype, check_tensor, ints_of
from ..elementwise import arithmetic
from ..indexing.segments import unsorted_segment_sum
from ..shapes.broadcasting import as_dtype, as_single
from ..shapes.subscripts import getitem_operator

__all__: list[str] = []

# The divisor of each segment's sum: a power of the number of its entries.
_POWERS = {"Sum": 0.0, "SqrtN": 0.5, "Mean": 1.0}
_RESULTS = {"Sum": "The sum", "SqrtN": "The sum, divided by the square root of how many they are,", "Mean": "The mean"}


def _segments(how: str, name: str, x: Tensor, indices: Tensor, segment_ids: Tensor, count: int | None) -> Tensor:
    kinds = "iufV" if how == "Sum" else "fV"
    if check_tensor(x, name, "x")._array.dtype.kind not in kinds:
        numbers = "numbers" if how == "Sum" else "floating numbers"
        raise TypeError(f"For '{name}', 'x' must be {numbers}, but got {x.dtype}")
    numbering, ids = check_integers(indices, name, "indices"), check_integers(segment_ids, name, "segment_ids")
    check_same_dtype(name, indices=numbering, segment_ids=ids)
    if x.ndim < 1 or numbering.ndim != 1 or numbering.shape != ids.shape:
        raise ValueError(
            f"For '{name}', 'x' must have at least 1 axis, 'indices' and 'segment_ids' one and one length, but got "
            f"shapes {x.shape}, {numbering.shape} and {ids.shape}"
        )
    rows, groups = to_host(numbering._array), to_host(ids._array)
    if rows.size and (rows.min() < 0 or rows.max() >= x.shape[0]):
        raise ValueError(f"For '{name}', 'indices' must be in [0, {x.shape[0]}), but got {rows.tolist()}")
    if (groups[1:] < groups[:-1]).any() or (groups < 0).any():
        raise ValueError(f"For '{name}', 'segment_ids' must neither fall nor be negative, but got {groups.tolist()}")
    last = int(groups[-1]) if groups.size else -1
    if count is None and how != "Mean" and len(np.unique(groups)) != last + 1:
        raise ValueError(f"For '{name}', 'segment_ids' must begin at 0 and leave none out, but got {groups.tolist()}")
    if count is not None and count <= last:
        raise ValueError(
            f"For '{name}', 'num_segments' must be above the last of 'segment_ids', {last}, but got {count}"
        )
    total = last + 1 if count is None else count
    entries = getitem_operator(x, index=(numbering._array,))
    if how == "Sum":
        return unsorted_segment_sum(entries, ids, total)
    sums = unsorted_segment_sum(as_single(entries), ids, total)
    sizes = np.maximum(np.bincount(groups, minlength=total), 1).reshape((-1,) + (1,) * (x.ndim - 1)) ** _POWERS[how]
    dividend = Tensor._wrap(array_module(x._array).asarray(sizes.astype(sums._array.dtype)))
    return as_dtype(arithmetic.div(sums, dividend), x._array.dtype)


def _declare(how: str) -> None:
    name, counted = f"SparseSegment{how}", f"SparseSegment{how}WithNumSegments"

    def function(x: Tensor, indices: Tensor, segment_ids: Tensor) -> Tensor:
        return _segments(how, name, x, indices, segment_ids, None)

    def with_number(x: Tensor, indices: Tensor, segment_ids: Tensor, num_segments: Tensor) -> Tensor:
        total = check_integers(num_segments, counted, "num_segments")
        if total.size != 1:
            raise ValueError(f"For '{counted}', 'num_segments' must have one element, but got shape {total.shape}")
        return _segments(how, counted, x, indices, segment_ids, ints_of(total.reshape(1), counted, "num_segments")[0])

    for target, more, rows, text in (
        (function, "", "last id + 1", "" if how == "Mean" else " and leave none out"),
        (
            with_number,
            "\n        num_segments: how many segments there are, a tensor of one integer.",
            "num_segments",
            "",
        ),
    ):
        target.__doc__ = f"""{_RESULTS[how]} of the entries of each segment, where entries are picked by their numbers.

    Args:
        x: a tensor with at least one axis, of {"" if how == "Sum" else "floating "}numbers.
        indices: the numbers of the entries of the first axis, a vector of integers.
        segment_ids: the segment of each of them, integers of the same dtype that do not fall{text}.{more}

    Returns:
        A tensor ({rows}, ...) of the dtype of ``x``; 0 where a segment has no entry.

    Raises:
        TypeError: an argument is not a Tensor of such numbers, or the integers differ in dtype.
        ValueError: the shapes do not fit, an index is out of range, or there is no such row of segments.
    """
    declare(primitive=prim(name))(function)
    declare(primitive=prim(counted))(with_number)


for _how in _POWERS:
    _declare(_how)
