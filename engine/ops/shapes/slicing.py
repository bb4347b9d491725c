"""Slices and blocks read from a tensor and written into one."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

from ...base.surfaces import declare, prim, renamed
from ...base.types import Ints, Shape
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import along, check_axes, check_operand, check_tensor, int_of, ints_of, one_axis
from .concatenation import slice_operator
from .pad import pad_by_axis
from .reshape import reshape, transpose
from .subscripts import getitem_operator, setitem_operator

__all__ = [
    "batch_to_space_nd",
    "narrow",
    "select_scatter",
    "sequence_mask",
    "slice",
    "slice_scatter",
    "space_to_batch_nd",
    "strided_slice",
    "tensor_slice",
]


# Parts
@declare(method=True, mint=renamed(axis="dim"))
def narrow(input: Tensor, axis: int, start: int | Tensor, length: int) -> Tensor:
    """Return ``input[..., start : start + length, ...]``: ``length`` consecutive entries along one axis.

    Args:
        input: a Tensor of at least one axis.
        axis: the axis to cut, in [-ndim, ndim).
        start: the first entry that is kept; a negative one counts from the end of the axis.
        length: the number of entries, not negative.

    Returns:
        A Tensor of the dtype and shape of ``input``, but ``length`` long along ``axis``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range, or the entries are not all in it.
    """
    x = check_axes(input, 1, "narrow")
    at = one_axis(axis, x.ndim, "narrow")
    offset, count = int_of(start, "narrow", "start"), int_of(length, "narrow", "length")
    begin = offset + (x.shape[at] if offset < 0 else 0)
    if not 0 <= begin <= begin + count <= x.shape[at]:
        raise ValueError(
            f"For 'narrow', 'start' and 'length' must lie in axis {axis} of {x.shape}, but got {start}, {length}"
        )
    return slice_operator(x, axis=at, start=begin, stop=begin + count)


@declare(primitive=prim("Slice"))
def slice(input_x: Tensor, begin: Shape, size: Shape) -> Tensor:
    """Return the block of ``input_x`` that starts at ``begin`` and has the shape ``size``.

    Args:
        input_x: a Tensor.
        begin: the first position along each axis, not negative: one int for each axis.
        size: the number of entries along each axis; -1 takes all from ``begin`` on.

    Returns:
        A Tensor of the shape ``size`` and the dtype of ``input_x``.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``begin`` or ``size`` are not ints.
        ValueError: not one entry for each axis, or the block is not inside ``input_x``.
    """
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
    begin: Shape,
    end: Shape,
    strides: Shape,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Tensor:
    """Return ``input_x[begin:end:strides]``, axis by axis, with TensorFlow's masks.

    Each mask is an int whose bit ``1 << i`` concerns entry ``i`` of the three. If several masks have the bit of one
    entry, the ellipsis has precedence, then the new axis, then the shrunk one.

    Args:
        input_x: a Tensor.
        begin: the start of each slice; negative ones count from the end. At most one entry for each axis.
        end: the end of each slice, not included; as long as ``begin``.
        strides: the step of each slice, not 0; a negative one goes backwards. As long as ``begin``.
        begin_mask: entries whose ``begin`` is ignored: from the first element on.
        end_mask: entries whose ``end`` is ignored: up to the last element.
        ellipsis_mask: the entry that is ``...``: all remaining axes.
        new_axis_mask: entries that insert an axis of length 1.
        shrink_axis_mask: entries that take the single element ``begin`` and drop the axis.

    Returns:
        A Tensor of the dtype of ``input_x``.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or the others are not ints.
        ValueError: the three have different lengths, or a stride is 0.
        IndexError: more entries than axes, or a shrunk one that is out of range.
    """
    x = check_operand(input_x, "strided_slice", "input_x")
    starts, stops, steps = (ints_of(v, "strided_slice", "begin, end and strides") for v in (begin, end, strides))
    if not len(starts) == len(stops) == len(steps) or 0 in steps:
        raise ValueError(
            "For 'strided_slice', 'begin', 'end' and 'strides' must have one length and no stride may be 0, "
            f"but got {starts}, {stops}, {steps}"
        )
    index: list[Any] = []
    for position, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << position
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
def select_scatter(input: Tensor, src: Tensor, axis: int, index: int) -> Tensor:
    """Return a copy of ``input`` whose entry ``index`` along ``axis`` is ``src``, as in PyTorch.

    Args:
        input: a Tensor of at least one axis.
        src: the values to write: of the shape of ``input`` without ``axis``, or one that broadcasts to it.
        axis: the axis, in [-ndim, ndim).
        index: the position along ``axis``; a negative one counts from the end.

    Returns:
        A Tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range, or ``src`` does not fit.
        IndexError: ``index`` is out of range.
    """
    x, src = check_tensor(input, "select_scatter"), check_tensor(src, "select_scatter", "src")
    return setitem_operator(x, src, index=along(x, one_axis(axis, x.ndim, "select_scatter"), index))


@declare(method=True)
def slice_scatter(
    input: Tensor, src: Tensor, axis: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Return a copy of ``input`` with ``src`` written to ``input[..., start:end:step, ...]``, as in PyTorch.

    Args:
        input: a Tensor of at least one axis.
        src: the values to write: of the shape of the slice, or one that broadcasts to it.
        axis: the axis of the slice, in [-ndim, ndim).
        start: the start of the slice; None is the beginning. A negative one counts from the end.
        end: its end, not included; None is the end of the axis.
        step: the step of the slice.

    Returns:
        A Tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range, ``step`` is 0, or ``src`` does not fit.
    """
    x, src = check_tensor(input, "slice_scatter"), check_tensor(src, "slice_scatter", "src")
    return setitem_operator(
        x, src, index=along(x, one_axis(axis, x.ndim, "slice_scatter"), builtins.slice(start, end, step))
    )


def sequence_mask(lengths: Tensor, maxlen: int | None = None) -> Tensor:
    """Return a row for each length, with as many leading True: ``arange(maxlen) < lengths[..., None]``.

    Args:
        lengths: an integer Tensor of any shape.
        maxlen: the length of the rows; None takes the largest of ``lengths``.

    Returns:
        A Bool Tensor of the shape ``(*lengths.shape, maxlen)``.

    Raises:
        TypeError: ``lengths`` is not a Tensor.
    """
    counts = check_tensor(lengths, "sequence_mask", "lengths")._array
    if maxlen is None and not counts.size:
        raise ValueError("For 'sequence_mask', 'lengths' must have elements where 'maxlen' is None")
    longest = int(counts.max()) if maxlen is None else int_of(maxlen, "sequence_mask", "maxlen")
    return constant(array_module(counts).arange(longest) < counts[..., None])


def _blocks(block: Ints, spatial: int, name: str, argument: str) -> tuple[int, ...]:
    sizes = ints_of(block, name, argument)
    if len(sizes) not in (1, spatial):
        raise ValueError(f"For '{name}', there must be one block for all axes or {spatial}, but got {sizes}")
    if min(sizes) < 1:
        raise ValueError(f"For '{name}', '{argument}' must be above 0, but got {sizes}")
    return sizes * spatial if len(sizes) == 1 else sizes


@declare(primitive=prim("SpaceToBatch", "block_size", "paddings"))
def space_to_batch_nd(input_x: Tensor, block_size: Ints, paddings: Sequence[Sequence[int]]) -> Tensor:
    """Return the tensor with blocks of the last axes moved into the batch, after padding with 0.

    The element at position p of a padded axis goes to position ``p // block`` of the batch entry for ``p % block``.

    Args:
        input_x: a Tensor (N, ..., *spatial) with as many last axes as ``paddings`` has entries.
        block_size: the length of a block: one int for all these axes, or one for each.
        paddings: for each of these axes the number of zeros before and after it: ``((before, after), ...)``.

    Returns:
        A Tensor (N * product of the blocks, ..., *(padded length / block)) of the dtype of ``input_x``.

    Raises:
        TypeError: ``block_size`` is neither an int nor a tuple of ints.
        ValueError: a block is not above 0 or does not divide its padded axis, or there is not one for each axis.
    """
    leading = check_tensor(input_x, "space_to_batch_nd", "input_x").ndim - len(paddings)
    sizes = _blocks(block_size, len(paddings), "space_to_batch_nd", "block_size")
    x = pad_by_axis(input_x, paddings)
    if any(n % b for n, b in zip(x.shape[leading:], sizes, strict=True)):
        raise ValueError(
            f"For 'space_to_batch_nd', the blocks {sizes} must divide the padded lengths {x.shape[leading:]}"
        )
    batch, middle, outer = (
        x.shape[0],
        x.shape[1:leading],
        [n // b for n, b in zip(x.shape[leading:], sizes, strict=True)],
    )
    parts = reshape(x, (batch, *middle, *(n for pair in zip(outer, sizes, strict=True) for n in pair)))
    order = [leading + 2 * i + 1 for i in range(len(sizes))] + list(range(leading))
    blocks = transpose(parts, (*order, *(leading + 2 * i for i in range(len(sizes)))))
    return reshape(blocks, (batch * math.prod(sizes), *middle, *outer))


@declare(primitive=prim("SpaceToBatchND", "block_shape", "paddings"))
def _space_to_batch_by_shape(input_x: Tensor, block_shape: Ints, paddings: Sequence[Sequence[int]]) -> Tensor:
    """Return ``space_to_batch_nd`` under the argument names of its class.

    Args:
        input_x: a Tensor (N, ..., *spatial) with as many last axes as ``paddings`` has entries.
        block_shape: the length of a block: one int for all these axes, or one for each.
        paddings: for each of these axes the number of zeros before and after it.

    Returns:
        A Tensor (N * product of the blocks, ..., *(padded length / block)).

    Raises:
        TypeError: ``block_shape`` is neither an int nor a tuple of ints.
        ValueError: a block is not above 0 or does not divide its padded axis, or there is not one for each axis.
    """
    return space_to_batch_nd(input_x, block_shape, paddings)


@declare(primitive=prim("BatchToSpaceND", "block_shape", "crops"))
def batch_to_space_nd(input_x: Tensor, block_shape: Ints, crops: Sequence[Sequence[int]]) -> Tensor:
    """Return the inverse of ``space_to_batch_nd``: blocks moved from the batch into the last axes, then cropped.

    Args:
        input_x: a Tensor (N, ..., *spatial) with as many last axes as ``crops`` has entries.
        block_shape: the length of a block: one int for all these axes, or one for each; their product divides N.
        crops: for each of these axes the number of elements removed before and after: ``((before, after), ...)``.

    Returns:
        A Tensor (N / product of the blocks, ..., *(length * block - before - after)) of the dtype of ``input_x``.

    Raises:
        TypeError: ``block_shape`` is neither an int nor a tuple of ints.
        ValueError: the product of the blocks does not divide N, there is not one for each axis, or more elements are
            removed than exist.
    """
    leading, count = check_tensor(input_x, "batch_to_space_nd", "input_x").ndim - len(crops), len(crops)
    sizes = _blocks(block_shape, count, "batch_to_space_nd", "block_shape")
    if input_x.shape[0] % math.prod(sizes):
        raise ValueError(f"For 'batch_to_space_nd', the blocks {sizes} must divide a batch of {input_x.shape[0]}")
    batch = input_x.shape[0] // math.prod(sizes)
    middle, outer = input_x.shape[1:leading], input_x.shape[leading:]
    parts = reshape(input_x, (*sizes, batch, *middle, *outer))
    pairs = [n for i in range(count) for n in (count + leading + i, i)]
    transposed = transpose(parts, (*range(count, count + leading), *pairs))
    full = reshape(transposed, (batch, *middle, *(n * b for n, b in zip(outer, sizes, strict=True))))
    for axis, (before, after) in enumerate(crops):
        length = full.shape[leading + axis]
        if min(before, after) < 0:
            raise ValueError(f"For 'batch_to_space_nd', 'crops' must not be negative, but got {(before, after)}")
        if before + after > length:
            raise ValueError(
                f"For 'batch_to_space_nd', 'crops' {(before, after)} cut off more than the length {length}"
            )
        full = slice_operator(full, axis=leading + axis, start=before, stop=length - after)
    return full


@declare(primitive=prim("BatchToSpace", "block_size", "crops"))
def _batch_to_space(input_x: Tensor, block_size: Ints, crops: Sequence[Sequence[int]]) -> Tensor:
    """Return ``batch_to_space_nd`` under the argument names of its class.

    Args:
        input_x: a Tensor (N, ..., *spatial) with as many last axes as ``crops`` has entries.
        block_size: the length of a block: one int for all these axes, or one for each.
        crops: for each of these axes the number of elements removed before and after.

    Returns:
        A Tensor (N / product of the blocks, ..., *(length * block - before - after)).

    Raises:
        TypeError: ``block_size`` is neither an int nor a tuple of ints.
        ValueError: the product of the blocks does not divide N, there is not one for each axis, or more elements are
            removed than exist.
    """
    return batch_to_space_nd(input_x, block_size, crops)
