"""Axes moved; elements rolled, rotated, reversed and repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_int, check_type
from ...base.surfaces import alias, declare, prim, renamed
from ...base.types import Array, Ints, Shape, TensorLike
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import check_values, constant_array
from ..arguments import along, axes_of, check_axes, check_operand, check_tensor, ints_of, one_axis
from .concatenation import concat, slice_operator
from .conversion import tensor_of
from .copying import apart
from .reshape import broadcast_to, expand_dims, flip, reshape, swapaxes, transpose
from .subscripts import getitem_operator

__all__ = [
    "expand",
    "expand_as",
    "fliplr",
    "flipud",
    "moveaxis",
    "movedim",
    "ravel",
    "repeat_elements",
    "repeat_interleave",
    "reverse",
    "reverse_sequence",
    "roll",
    "rot90",
    "swapdims",
    "t",
    "view_as",
]


# Order
@declare(method=True, mint=True)
def t(input: Tensor) -> Tensor:
    """Return the transpose of a matrix.

    Args:
        input: a tensor of at most two axes.

    Returns:
        A tensor (m, n) of (n, m); ``input`` itself if it has fewer axes.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: more than two axes.
    """
    if check_tensor(input, "t").ndim > 2:
        raise ValueError(f"For 't', 'input' must have at most 2 axes, but got shape {input.shape}")
    return transpose(input, None) if input.ndim == 2 else input


swapdims = alias(swapaxes, renamed("swapdims", axis0="dim0", axis1="dim1"))


@declare(method=("moveaxis", "movedim"), numpy=renamed("moveaxis", x="a"))
def movedim(x: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Return the tensor with axes moved to other positions; the others keep their order.

    Args:
        x: a tensor of any shape.
        source: the axis or axes, in [-ndim, ndim).
        destination: the position of each in the result.

    Returns:
        A tensor of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: different numbers of axes, or one out of range or repeated.
    """
    ndim = check_tensor(x, "movedim", "x").ndim
    axes = [
        axes_of(ints_of(v, "movedim", n), ndim, "movedim") or (0,)
        for v, n in ((source, "source"), (destination, "destination"))
    ]
    if len(axes[0]) != len(axes[1]):
        raise ValueError(f"For 'movedim', as many 'source' as 'destination' axes, but got {source} and {destination}")
    order = [i for i in range(ndim) if i not in axes[0]]
    for to, origin in sorted(zip(axes[1], axes[0], strict=True)):
        order.insert(to, origin)
    return transpose(x, tuple(order)) if ndim else x


moveaxis = movedim


@declare(method=True, primitive=prim("Roll", "shifts", dims=None), mint=True)
def roll(input: Tensor, shifts: Ints, dims: Ints | None = None) -> Tensor:
    """Return the elements shifted along axes; those that leave at the end come back at the start.

    Args:
        input: a tensor of any shape.
        shifts: the shift, negative for the other direction; one number for each of ``dims``.
        dims: the axis or axes; by default the flattened tensor is rolled.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``shifts`` or ``dims`` do not hold ints.
        ValueError: ``shifts`` and ``dims`` differ in length, or an axis is out of range.
    """
    x = check_tensor(input, "roll")
    steps = ints_of(shifts, "roll", "shifts")
    if dims is None:
        return reshape(roll(reshape(x, (-1,)), steps, 0), x.shape) if x.size else x
    axes = ints_of(dims, "roll", "dims")
    if len(steps) != len(axes):
        raise ValueError(f"For 'roll', 'shifts' and 'dims' must have one length, but got {shifts} and {dims}")
    for step, axis in zip(steps, axes, strict=True):
        at = one_axis(axis, x.ndim, "roll")
        length = x.shape[at]
        boundary = (length - step) % length if length else 0
        if boundary:
            tail = slice_operator(x, axis=at, start=boundary, stop=length)
            x = concat([tail, slice_operator(x, axis=at, start=0, stop=boundary)], at)
    return x


@declare(method=True, numpy=renamed(input="m", dims="axes", defaults={"k": 1, "dims": (0, 1)}))
def rot90(input: Tensor, k: int, dims: Sequence[int]) -> Tensor:
    """Return the tensor rotated by quarter turns in the plane of two axes.

    Args:
        input: a tensor with at least two axes.
        k: the number of quarter turns, from the first axis of ``dims`` to the second; negative for the other direction.
        dims: the two axes.

    Returns:
        A tensor of the same dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``k`` is not an int.
        ValueError: ``dims`` is not two different axes in range.
    """
    x = check_tensor(input, "rot90")
    check_int(k, "rot90", "k")
    if len(check_type(dims, list | tuple, "rot90", "dims")) != 2:
        raise ValueError(f"For 'rot90', 'dims' must be two axes, but got {dims}")
    first, second = (one_axis(d, x.ndim, "rot90") for d in dims)
    if first == second:
        raise ValueError(f"For 'rot90', 'dims' must be two different axes, but got {dims}")
    turns = k % 4
    if turns == 2:
        return flip(x, (first, second))
    if turns == 1:
        return swapaxes(flip(x, second), first, second)
    return flip(swapaxes(x, first, second), second) if turns == 3 else flip(flip(x, first), first)


@declare(method=True, numpy=renamed(input="m"))
def fliplr(input: Tensor) -> Tensor:
    """Return the tensor with the second axis reversed.

    Args:
        input: a tensor with at least two axes.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: fewer than two axes.
    """
    return flip(input, 1)


@declare(method=True, numpy=renamed(input="m"))
def flipud(input: Tensor) -> Tensor:
    """Return the tensor with the first axis reversed.

    Args:
        input: a tensor with at least one axis.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return flip(input, 0)


@declare(method=True, primitive=prim("ReverseV2", "axis"))
def reverse(x: Tensor, axis: Ints) -> Tensor:
    """Return the tensor with the order of the elements reversed along axes.

    Args:
        x: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim).

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``axis`` does not hold ints.
        ValueError: an axis is out of range or repeated.
    """
    return flip(x, axis)


@declare(method=renamed(defaults={"seq_dim": 0}), primitive=prim("ReverseSequence", "seq_dim", batch_dim=0))
def reverse_sequence(x: Tensor, seq_lengths: Tensor, seq_dim: int, batch_dim: int = 0) -> Tensor:
    """Return the tensor with the first elements of the sequence in each batch entry reversed.

    Args:
        x: a tensor with at least two axes.
        seq_lengths: the number of reversed elements of each entry; integers (batch,) in [0, length of ``seq_dim``].
        seq_dim: the axis of the sequences.
        batch_dim: the axis of the batch.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: an input is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range, both are the same, or ``seq_lengths`` does not fit.
    """
    ndim = check_tensor(x, "reverse_sequence", "x").ndim
    at, batch = one_axis(seq_dim, ndim, "reverse_sequence"), one_axis(batch_dim, ndim, "reverse_sequence")
    if at == batch:
        raise ValueError(f"For 'reverse_sequence', 'seq_dim' and 'batch_dim' must differ, but both are {at}")
    xp = array_module(x._array)
    positions = constant_array(xp.arange(x.shape[at]))
    lengths = check_tensor(seq_lengths, "reverse_sequence", "seq_lengths")._array.reshape(-1, 1)
    if lengths.dtype.kind not in "iu" or len(lengths) != x.shape[batch]:
        raise ValueError(
            f"For 'reverse_sequence', 'seq_lengths' must be {x.shape[batch]} integers, but got "
            f"{seq_lengths.dtype} of shape {seq_lengths.shape}"
        )
    check_values(_check_lengths, lengths, most=x.shape[at])
    order = xp.where(positions < lengths, lengths - 1 - positions, positions)
    rows = constant_array(xp.arange(x.shape[batch]).reshape(-1, 1))
    entries = movedim(x, (batch, at), (0, 1))
    return movedim(getitem_operator(entries, index=(rows, order)), (0, 1), (batch, at))


def _check_lengths(lengths: Array, most: int) -> None:
    if lengths.size and not 0 <= int(lengths.min()) <= int(lengths.max()) <= most:
        raise ValueError(
            f"For 'reverse_sequence', 'seq_lengths' must be in [0, {most}], but got {lengths.min()}..{lengths.max()}"
        )


# Shape
@declare(method=True, mint=True, numpy=renamed(input="x"))
def ravel(input: Tensor) -> Tensor:
    """Return all elements, row by row, in one axis.

    Args:
        input: a tensor of any shape.

    Returns:
        A tensor (size,) of the same dtype.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return reshape(input, (-1,)) if check_tensor(input, "ravel").size else reshape(input, (0,))


@declare(method=("view_as", "reshape_as"))
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Return the elements in their order, in the shape of another tensor.

    Args:
        input: a tensor of any shape.
        other: a tensor with as many elements.

    Returns:
        A tensor of the shape of ``other`` and the dtype of ``input``.

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: the numbers of elements differ.
    """
    return reshape(input, check_tensor(other, "view_as", "other").shape)


@declare(method=renamed(other="x"))
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Return the tensor repeated to the shape of another tensor.

    Args:
        input: a tensor of any shape.
        other: a tensor to whose shape ``input`` broadcasts.

    Returns:
        A tensor of the shape of ``other`` and the dtype of ``input``.

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: the shapes do not fit.
    """
    return broadcast_to(input, check_tensor(other, "expand_as", "other").shape)


expand = alias(broadcast_to, renamed("expand", input="input_x", shape="size"))


@declare(method=True)
def _expand(input_x: Tensor, *size: Any) -> Tensor:
    """Return the tensor repeated along axes of length 1, and along new leading ones, to fill a shape.

    Args:
        input_x: a tensor of any shape.
        *size: the new lengths, one by one or as one tuple; -1 keeps that of an axis.

    Returns:
        A tensor of that shape and the same dtype.

    Raises:
        TypeError: ``size`` does not hold ints.
        ValueError: the shapes do not fit.
    """
    return expand(input_x, size[0] if len(size) == 1 and not isinstance(size[0], int) else size)


# Repeating
@declare(numpy=renamed("repeat", input="a"))
def repeat_interleave(input: TensorLike, repeats: Shape, axis: int | None = None) -> Tensor:
    """Return each element along an axis repeated, as NumPy's repeat.

    Args:
        input: a tensor of any shape, or a value convertible to one.
        repeats: how often: one number, or one for each element along the axis.
        axis: the axis; by default those of the flattened tensor are repeated.

    Returns:
        A tensor of the same dtype.

    Raises:
        TypeError: ``repeats`` does not hold ints.
        ValueError: a number is negative, there are too few or too many, or ``axis`` is out of range.
    """
    x = check_operand(tensor_of(input), "repeat_interleave")
    if axis is None:
        x, axis = ravel(x), 0
    at = one_axis(axis, x.ndim, "repeat_interleave")
    check_axes(x, 1, "repeat_interleave")
    times = ints_of(repeats, "repeat_interleave", "repeats")
    if any(n < 0 for n in times):
        raise ValueError(f"For 'repeat_interleave', 'repeats' must not be negative, but got {repeats}")
    if len(times) == 1:
        expanded = broadcast_to(expand_dims(x, at + 1), (*x.shape[: at + 1], times[0], *x.shape[at + 1 :]))
        return apart(reshape(expanded, (*x.shape[:at], x.shape[at] * times[0], *x.shape[at + 1 :])), x)
    if len(times) != x.shape[at]:
        raise ValueError(
            f"For 'repeat_interleave', 'repeats' must be one number or {x.shape[at]}, but got {len(times)}"
        )
    order = constant_array(array_module(x._array).asarray(np.repeat(np.arange(x.shape[at]), times)))
    return getitem_operator(x, index=along(x, at, order))


@declare(method="repeat_interleave")
def _repeat_interleave_of_tensor(
    input: Tensor, repeats: Shape, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Return each element along an axis repeated, as NumPy's repeat.

    Args:
        input: a tensor of any shape.
        repeats: how often: one number, or one for each element along the axis.
        dim: the axis; by default those of the flattened tensor are repeated.
        output_size: the length of the result along the axis, if it is known; it is only checked.

    Returns:
        A tensor of the same dtype.

    Raises:
        TypeError: ``repeats`` does not hold ints.
        ValueError: a number is negative, there are too few or too many, ``dim`` is out of range, or a
            ``output_size`` other than ``repeats`` gives.
    """
    result = repeat_interleave(input, repeats, dim)
    length = result.shape[0 if dim is None else dim]
    if output_size is not None and output_size != length:
        raise ValueError(
            f"For 'Tensor.repeat_interleave', 'output_size' must be {length}, by 'repeats', but got {output_size}"
        )
    return result


def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    """Return each element along an axis repeated.

    Args:
        x: a tensor with at least one axis.
        rep: how often, at least once.
        axis: the axis.

    Returns:
        A tensor of the same dtype, along ``axis`` ``rep`` times as long.

    Raises:
        TypeError: ``rep`` is not an int.
        ValueError: ``rep`` is not positive, or ``axis`` is out of range.
    """
    check_int(rep, "repeat_elements", "rep")
    if rep <= 0:
        raise ValueError(f"For 'repeat_elements', 'rep' must be positive, but got {rep}")
    return repeat_interleave(x, rep, axis)
