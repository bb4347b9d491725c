"""Tensors joined along an axis and split again: concat, stack, split, chunk."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from ...base.argument_checks import check_int, check_positive_int, check_type
from ...base.surfaces import declare, prim, renamed
from ...base.types import Array, Functions, Shape, Value
from ...cpu.array_module import array_module
from ...tensors.dtype import promote
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.views import ViewOperator
from ..arguments import axes_of, check_axes, check_tensor, ints_of, one_axis
from .broadcasting import cast_operator
from .reshape import expand_dims

__all__ = ["cat", "chunk", "concat", "split", "stack"]

slice_operator = ViewOperator(
    "slice_axis",
    lambda x, axis, start, stop: x[(slice(None),) * axis + (slice(start, stop),)],
    (lambda F, g, out, x, axis, start, stop: F.pad_axis(g, axis=axis, before=start, after=x.shape[axis] - stop),),
    keeps_dtype=True,
)


def _parts_kernel(x: Array, axis: int, sizes: tuple[int, ...]) -> tuple[Array, ...]:
    ends = list(accumulate(sizes))
    return tuple([x[(slice(None),) * axis + (slice(end - size, end),)] for size, end in zip(sizes, ends, strict=True)])


def _parts_rule(
    F: Functions, needs: list[bool], g: tuple[Value | None, ...], out: Any, x: Value, axis: int, sizes: tuple[int, ...]
) -> list[Any]:
    gradients = [F.zeros_like(part) if gradient is None else gradient for gradient, part in zip(g, out, strict=True)]
    # 0 is added as if each gradient were padded with zeros to the length of `x` and all were summed: -0 becomes 0.
    return [F.add(F.concat(*gradients, axis=axis), 0.0)]


parts_operator = Operator("parts", _parts_kernel, joint_vjp=_parts_rule, keeps_dtype=True).declare(
    "Parts of a tensor along an axis, of these sizes, which add up to its length."
)


def _concat_rule(F: Functions, needs: list[bool], g: Value, out: Value, *parts: Value, axis: int) -> list[Any]:
    gradients, start = [], 0
    for part, is_needed in zip(parts, needs, strict=True):
        stop = start + part.shape[axis]
        gradients.append(F.slice_axis(g, axis=axis, start=start, stop=stop) if is_needed else None)
        start = stop
    return gradients


_concat = Operator(
    "concat", lambda *parts, axis: array_module(parts[0]).concatenate(parts, axis=axis), joint_vjp=_concat_rule
)


@declare(
    primitive=(prim("Concat", axis=0), prim("ParallelConcat")), mint=(renamed(axis="dim"), renamed("cat", axis="dim"))
)
def concat(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Return the concatenation of tensors along an axis that they have.

    Args:
        tensors: a list or tuple of tensors, whose shapes differ along ``axis`` at most; different dtypes are promoted
            to one that holds all values.
        axis: the axis, in [-ndim, ndim).

    Returns:
        A tensor, along ``axis`` as long as all of them together.

    Raises:
        TypeError: ``tensors`` is not a list or tuple of tensors.
        ValueError: it is empty, shapes differ elsewhere than along ``axis``, or ``axis`` is out of range.
    """
    parts = _sequence(tensors, "concat")
    at = axes_of(axis, parts[0].ndim, "concat")
    first = parts[0]
    for part in parts:
        if part._array.dtype != first._array.dtype:
            common = first._array.dtype
            for tensor in parts:
                common = promote(common, tensor._array.dtype)
            parts = [p if p._array.dtype == common else cast_operator(p, dtype=common) for p in parts]
            break
    return _concat(*parts, axis=(at or (0,))[0])


cat = concat


@declare(primitive=(prim("Stack", axis=0), prim("Pack", axis=0)))
def stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Return tensors of one shape joined along a new axis.

    Args:
        tensors: a list or tuple of tensors of one shape and one dtype.
        axis: the position of the new axis in the result, in [-ndim - 1, ndim].

    Returns:
        A tensor with one more axis, as long as there are tensors.

    Raises:
        TypeError: ``tensors`` is not a list or tuple of tensors, or their dtypes differ.
        ValueError: it is empty, shapes differ, or ``axis`` is out of range.
    """
    parts = _sequence(tensors, "stack")
    for index, part in enumerate(parts):
        if part.dtype != parts[0].dtype:
            raise TypeError(
                f"For 'stack', all tensors must be {parts[0].dtype}, but entry {index} is {part.dtype}; cast them first"
            )
    return _stack(parts, axis)


@declare(mint=renamed("stack", axis="dim"), numpy=renamed("stack", tensors="arrays"))
def _stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Return tensors of one shape joined along a new axis, in the dtype that they promote to.

    Args:
        tensors: a list or tuple of tensors of one shape.
        axis: the position of the new axis in the result, in [-ndim - 1, ndim].

    Returns:
        A tensor with one more axis, as long as there are tensors.

    Raises:
        TypeError: ``tensors`` is not a list or tuple of tensors.
        ValueError: it is empty, shapes differ, or ``axis`` is out of range.
    """
    parts = _sequence(tensors, "stack")
    for index, part in enumerate(parts):
        if part.shape != parts[0].shape:
            raise ValueError(
                f"For 'stack', all tensors must have the shape {parts[0].shape}, but entry {index} has {part.shape}"
            )
    return concat([expand_dims(part, axis) for part in parts], axis)


def _sequence(tensors: Sequence[Tensor], name: str) -> list[Tensor]:
    check_type(tensors, list | tuple, name, "tensors", "a list or tuple of Tensors")
    if not tensors:
        raise ValueError(f"For '{name}', 'tensors' must not be empty")
    return [check_tensor(t, name, f"tensors[{i}]") for i, t in enumerate(tensors)]


@declare(method=True, mint=renamed(axis="dim"))
def split(tensor: Tensor, split_size_or_sections: Shape, axis: int = 0) -> tuple[Tensor, ...]:
    """Return parts of a tensor along an axis.

    Args:
        tensor: a tensor with at least one axis.
        split_size_or_sections: an int, the length of each part (the last may be shorter), or the length of each.
        axis: the axis, in [-ndim, ndim).

    Returns:
        A tuple of tensors of the same dtype; of an axis without elements one such part.

    Raises:
        TypeError: ``tensor`` is not a Tensor, or the lengths are not ints.
        ValueError: a length is negative (a single one not positive), the lengths do not add up to that of the axis, or
            ``axis`` is out of range.
    """
    x = check_axes(tensor, 1, "split", "tensor")
    at = one_axis(axis, x.ndim, "split")
    length = x.shape[at]
    if isinstance(split_size_or_sections, int):
        if split_size_or_sections <= 0:
            raise ValueError(f"For 'split', the size of a part must be positive, but got {split_size_or_sections}")
        sizes = [split_size_or_sections] * (length // split_size_or_sections)
        sizes += [length % split_size_or_sections] if length % split_size_or_sections or not length else []
    else:
        sizes = list(ints_of(split_size_or_sections, "split", "split_size_or_sections"))
        if min(sizes, default=0) < 0:
            raise ValueError(f"For 'split', the sizes of the parts must not be negative, but got {sizes}")
        if sum(sizes) != length:
            raise ValueError(f"For 'split', the sizes {sizes} must add up to {length}, the length of axis {axis}")
    parts, start = [], 0
    for size in sizes:
        parts.append(slice_operator(x, axis=at, start=start, stop=start + size))
        start += size
    return tuple(parts)


@declare(primitive=prim("SplitV", "size_splits", "split_dim", "num_split"))
def _split_by_sizes(x: Tensor, size_splits: Shape, split_dim: int, num_split: int) -> tuple[Tensor, ...]:
    """Return parts of given lengths along an axis.

    Args:
        x: a tensor with at least one axis.
        size_splits: the length of each part; one may be -1 and is inferred from the others.
        split_dim: the axis, in [-ndim, ndim).
        num_split: the number of parts; must be the number of lengths.

    Returns:
        A tuple of ``num_split`` tensors of the same dtype.

    Raises:
        ValueError: the lengths do not add up to that of the axis, ``num_split`` is not their number, or ``split_dim``
            is out of range.
    """
    sizes = list(ints_of(size_splits, "SplitV", "size_splits"))
    at = one_axis(split_dim, check_tensor(x, "SplitV", "x").ndim, "SplitV")
    if num_split != len(sizes):
        raise ValueError(f"For 'SplitV', 'num_split' must be {len(sizes)}, the number of sizes, but got {num_split}")
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = x.shape[at] - sum(sizes) - 1
    return split(x, sizes, at)


@declare(method=True, mint=renamed(axis="dim"))
def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """Return at most ``chunks`` parts along an axis, all of one length but the last, which may be shorter.

    Args:
        input: a tensor with at least one axis.
        chunks: the number of parts; there are fewer if the axis is too short.
        axis: the axis, in [-ndim, ndim).

    Returns:
        A tuple of tensors of the same dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``chunks`` or ``axis`` is not an int.
        ValueError: ``chunks`` is not above 0, or ``axis`` is out of range.
    """
    check_positive_int(chunks, "chunk", "chunks", repr)
    x = check_tensor(input, "chunk")
    at = one_axis(axis, x.ndim, "chunk")
    if not x.ndim:
        raise ValueError("For 'chunk', 'input' must have at least one axis, but got shape ()")
    return split(x, max(1, -(-x.shape[at] // chunks)), at)


@declare(primitive=prim("Split", axis=0, output_num=1))
def _split_evenly(input_x: Tensor, axis: int, output_num: int) -> tuple[Tensor, ...]:
    """Return parts of one length along an axis.

    Args:
        input_x: a tensor with at least one axis.
        axis: the axis, in [-ndim, ndim).
        output_num: the number of parts, which divides the length of the axis.

    Returns:
        A tuple of ``output_num`` tensors of the same dtype.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``axis`` or ``output_num`` is not an int.
        ValueError: ``output_num`` does not divide the axis, or ``axis`` is out of range.
    """
    x = check_tensor(input_x, "Split", "input_x")
    at = one_axis(axis, x.ndim, "Split")
    check_int(output_num, "Split", "output_num")
    if not x.ndim or output_num < 1 or x.shape[at] % output_num:
        raise ValueError(
            f"For 'Split', 'output_num' must be positive and divide axis {axis} of shape {x.shape}, "
            f"but got {output_num}"
        )
    return split(x, [x.shape[at] // output_num] * output_num, at)
