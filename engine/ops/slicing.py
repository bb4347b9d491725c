"""Slices and blocks taken out of a tensor and put into one."""

from __future__ import annotations

import builtins
import math
from typing import Any

from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from .arguments import along, check_tensor, ints_of, one_axis
from .indexing import getitem_operator, setitem_operator
from .shape import pad_by_axis, reshape, slice_operator, transpose

__all__ = [
    "batch_to_space_nd", "narrow", "select_scatter", "sequence_mask", "slice", "slice_scatter", "space_to_batch_nd",
    "strided_slice", "tensor_slice",
]  # fmt: skip


# Parts
@declare(method=True, mint=renamed(axis="dim"))
def narrow(input: Tensor, axis: int, start: int, length: int) -> Any:
    """``length`` entries along ``axis`` from ``start`` on.

    Raises:
        ValueError: they are not there.
    """
    x = check_tensor(input, "narrow")
    at = one_axis(axis, x.ndim, "narrow")
    begin = int(start) + (x.shape[at] if int(start) < 0 else 0)
    if not 0 <= begin <= begin + length <= x.shape[at]:
        raise ValueError(
            f"For 'narrow', 'start' and 'length' must lie in axis {axis} of {x.shape}, but got {start}, {length}"
        )
    return slice_operator(x, axis=at, start=begin, stop=begin + int(length))


@declare(primitive=prim("Slice"))
def slice(input_x: Tensor, begin: Any, size: Any) -> Any:
    """The part from ``begin`` on of shape ``size``; -1 takes all that is left of an axis."""
    x = check_tensor(input_x, "slice", "input_x")
    starts, lengths = ints_of(begin, "slice", "begin"), ints_of(size, "slice", "size")
    if len(starts) != x.ndim or len(lengths) != x.ndim:
        raise ValueError(f"For 'slice', 'begin' and 'size' must have {x.ndim} entries, but got {starts} and {lengths}")
    stops = [n if k == -1 else b + k for b, k, n in zip(starts, lengths, x.shape, strict=True)]
    if any(not 0 <= b <= e <= n for b, e, n in zip(starts, stops, x.shape, strict=True)):
        raise ValueError(f"For 'slice', {starts} and {lengths} do not lie in the shape {x.shape}")
    return getitem_operator(x, index=tuple([builtins.slice(b, e) for b, e in zip(starts, stops, strict=True)]))


tensor_slice = slice


@declare(primitive=prim("StridedSlice", begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0))
def strided_slice(
    input_x: Tensor,
    begin: Any,
    end: Any,
    strides: Any,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Tensor:
    """``input_x[begin:end:strides]`` axis by axis; a bit of a mask changes what the entry of its place means.

    Raises:
        ValueError: the three have different lengths, or a stride is 0.
    """
    x = check_tensor(input_x, "strided_slice", "input_x")
    starts, stops, steps = (ints_of(v, "strided_slice", "begin, end and strides") for v in (begin, end, strides))
    if not len(starts) == len(stops) == len(steps) or 0 in steps:
        raise ValueError(
            "For 'strided_slice', 'begin', 'end' and 'strides' must have one length and no stride may be 0, "
            f"but got {starts}, {stops}, {steps}"
        )
    index: list[Any] = []
    for place, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << place
        if ellipsis_mask & bit:
            index.append(Ellipsis)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(start)
        else:
            index.append(builtins.slice(None if begin_mask & bit else start, None if end_mask & bit else stop, step))
    return getitem_operator(x, index=tuple(index))


@declare(method=True)
def select_scatter(input: Tensor, src: Tensor, axis: int, index: int) -> Any:
    """The tensor with ``src`` as its entry ``index`` along ``axis``."""
    x = check_tensor(input, "select_scatter")
    return setitem_operator(x, src, index=along(x, one_axis(axis, x.ndim, "select_scatter"), index))


@declare(method=True)
def slice_scatter(
    input: Tensor, src: Tensor, axis: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    """The tensor with ``src`` written over the slice start:end:step of ``axis``."""
    x = check_tensor(input, "slice_scatter")
    return setitem_operator(
        x, src, index=along(x, one_axis(axis, x.ndim, "slice_scatter"), builtins.slice(start, end, step))
    )


def sequence_mask(lengths: Tensor, maxlen: int | None = None) -> Any:
    """For each length a row of ``maxlen`` bools, the first so many of them True."""
    counts = check_tensor(lengths, "sequence_mask", "lengths")._array
    longest = int(counts.max()) if maxlen is None else maxlen
    return Tensor._wrap(array_module(counts).arange(longest) < counts[..., None])


def _blocks(block: Any, spatial: int, name: str) -> tuple[int, ...]:
    sizes = ints_of(block, name, "block_size")
    return sizes * spatial if len(sizes) == 1 else sizes


@declare(primitive=prim("SpaceToBatch", "block_size", "paddings"))
def space_to_batch_nd(input_x: Tensor, block_size: Any, paddings: Any) -> Any:
    """Blocks of the last axes as entries of the batch, after padding with 0."""
    first = input_x.ndim - len(paddings)
    sizes = _blocks(block_size, len(paddings), "space_to_batch_nd")
    x = pad_by_axis(input_x, paddings)
    batch, kept, outer = x.shape[0], x.shape[1:first], [n // b for n, b in zip(x.shape[first:], sizes, strict=True)]
    split = reshape(x, (batch, *kept, *(n for pair in zip(outer, sizes, strict=True) for n in pair)))
    order = [first + 2 * i + 1 for i in range(len(sizes))] + list(range(first))
    moved = transpose(split, (*order, *(first + 2 * i for i in range(len(sizes)))))
    return reshape(moved, (batch * math.prod(sizes), *kept, *outer))


declare(primitive=prim("SpaceToBatchND", "block_shape", "paddings"))(
    lambda x, block_shape, paddings: space_to_batch_nd(x, block_shape, paddings)
)


@declare(primitive=prim("BatchToSpaceND", "block_shape", "crops"))
def batch_to_space_nd(input_x: Tensor, block_shape: Any, crops: Any) -> Any:
    """The inverse of ``space_to_batch_nd``: blocks back in their places, ``crops`` cut off."""
    first, count = input_x.ndim - len(crops), len(crops)
    sizes = _blocks(block_shape, count, "batch_to_space_nd")
    batch = input_x.shape[0] // math.prod(sizes)
    kept, outer = input_x.shape[1:first], input_x.shape[first:]
    split = reshape(input_x, (*sizes, batch, *kept, *outer))
    pairs = [n for i in range(count) for n in (count + first + i, i)]
    joined = transpose(split, (*range(count, count + first), *pairs))
    full = reshape(joined, (batch, *kept, *(n * b for n, b in zip(outer, sizes, strict=True))))
    for place, (before, after) in enumerate(crops):
        full = slice_operator(full, axis=first + place, start=before, stop=full.shape[first + place] - after)
    return full


declare(primitive=prim("BatchToSpace", "block_size", "crops"))(
    lambda x, block_size, crops: batch_to_space_nd(x, block_size, crops)
)
