"""Axes moved, elements rolled, turned, reversed and repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from .arguments import along, axes_of, check_tensor, ints_of, one_axis
from .indexing import getitem_operator
from .shape import broadcast_to, concat, expand_dims, flip, reshape, slice_operator, swapaxes, transpose

__all__ = [
    "expand", "expand_as", "fliplr", "flipud", "moveaxis", "movedim", "ravel", "repeat_elements", "repeat_interleave",
    "reverse", "reverse_sequence", "roll", "rot90", "swapdims", "t", "view_as",
]  # fmt: skip


# Order
@declare(method=True, mint=True)
def t(input: Tensor) -> Any:
    """A matrix transposed; what has fewer axes stays.

    Raises:
        ValueError: more than two axes.
    """
    if check_tensor(input, "t").ndim > 2:
        raise ValueError(f"For 't', 'input' must have at most 2 axes, but got shape {input.shape}")
    return transpose(input) if input.ndim == 2 else input


swapdims = swapaxes


@declare(method=("moveaxis", "movedim"), numpy=renamed("moveaxis", x="a"))
def movedim(x: Tensor, source: Any, destination: Any) -> Tensor:
    """Axes ``source`` moved to the places ``destination``; the others keep their order.

    Raises:
        ValueError: different numbers of axes.
    """
    ndim = check_tensor(x, "movedim", "x").ndim
    wanted = [axes_of(ints_of(v, "movedim", n), ndim, "movedim") or (0,)
              for v, n in ((source, "source"), (destination, "destination"))]  # fmt: skip
    if len(wanted[0]) != len(wanted[1]):
        raise ValueError(f"For 'movedim', as many 'source' as 'destination' axes, but got {source} and {destination}")
    order = [i for i in range(ndim) if i not in wanted[0]]
    for to, origin in sorted(zip(wanted[1], wanted[0], strict=True)):
        order.insert(to, origin)
    return transpose(x, tuple(order)) if ndim else x


moveaxis = movedim


@declare(method=True, primitive=prim("Roll", "shifts", dims=None), mint=True)
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Any:
    """Elements moved on by ``shifts`` along ``dims``, those that fall off the end coming back at the start."""
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
        cut = (length - step) % length if length else 0
        if cut:
            tail = slice_operator(x, axis=at, start=cut, stop=length)
            x = concat([tail, slice_operator(x, axis=at, start=0, stop=cut)], at)
    return x


@declare(method=True, numpy=renamed(input="m", dims="axes", defaults={"k": 1, "dims": (0, 1)}))
def rot90(input: Tensor, k: int, dims: Sequence[int]) -> Any:
    """Rotated ``k`` quarter turns in the plane of the two axes ``dims``."""
    x = check_tensor(input, "rot90")
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
def fliplr(input: Tensor) -> Any:
    """The second axis reversed."""
    return flip(input, 1)


@declare(method=True, numpy=renamed(input="m"))
def flipud(input: Tensor) -> Any:
    """The first axis reversed."""
    return flip(input, 0)


@declare(method=True, primitive=prim("ReverseV2", "axis"))
def reverse(x: Tensor, axis: Any) -> Any:
    """The order reversed along the axes ``axis``."""
    return flip(x, axis)


@declare(method=True, primitive=prim("ReverseSequence", "seq_dim", batch_dim=0))
def reverse_sequence(x: Tensor, seq_lengths: Tensor, seq_dim: int, batch_dim: int = 0) -> Any:
    """In each entry of the batch, the first ``seq_lengths`` elements reversed."""
    at, batch = one_axis(seq_dim, x.ndim, "reverse_sequence"), one_axis(batch_dim, x.ndim, "reverse_sequence")
    xp = array_module(x._array)
    places = xp.arange(x.shape[at])
    lengths = seq_lengths._array.reshape(-1, 1)
    order = xp.where(places < lengths, lengths - 1 - places, places)
    rows = xp.arange(x.shape[batch]).reshape(-1, 1)
    moved = movedim(x, (batch, at), (0, 1))
    return movedim(getitem_operator(moved, index=(rows, order)), (0, 1), (batch, at))


# Shape
@declare(method=True, mint=True)
def ravel(input: Tensor) -> Tensor:
    """All elements in one axis."""
    return reshape(input, (-1,)) if check_tensor(input, "ravel").size else reshape(input, (0,))


@declare(method=("view_as", "reshape_as"))
def view_as(input: Tensor, other: Tensor) -> Any:
    """The elements in the shape of ``other``."""
    return reshape(input, check_tensor(other, "view_as", "other").shape)


@declare(method=True)
def expand_as(input: Tensor, other: Tensor) -> Any:
    """Repeated to the shape of ``other``."""
    return broadcast_to(input, check_tensor(other, "expand_as", "other").shape)


@declare(method=True)
def expand(input_x: Tensor, *size: Any) -> Any:
    """Repeated to the shape ``size``; -1 keeps an axis."""
    return broadcast_to(input_x, size[0] if len(size) == 1 and not isinstance(size[0], int) else size)


# Repeating
@declare(numpy=renamed("repeat", input="a"))
def repeat_interleave(input: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element along ``axis`` (of all, flattened, without it) ``repeats`` times, one number or one for each."""
    x = check_tensor(input, "repeat_interleave") if isinstance(input, Tensor) else Tensor(input)
    if axis is None:
        x, axis = ravel(x), 0
    at = one_axis(axis, x.ndim, "repeat_interleave")
    times = ints_of(repeats, "repeat_interleave", "repeats")
    if any(n < 0 for n in times):
        raise ValueError(f"For 'repeat_interleave', 'repeats' must not be negative, but got {repeats}")
    if len(times) == 1:
        spread = broadcast_to(expand_dims(x, at + 1), (*x.shape[: at + 1], times[0], *x.shape[at + 1 :]))
        return reshape(spread, (*x.shape[:at], x.shape[at] * times[0], *x.shape[at + 1 :]))
    if len(times) != x.shape[at]:
        raise ValueError(
            f"For 'repeat_interleave', 'repeats' must be one number or {x.shape[at]}, but got {len(times)}"
        )
    order = array_module(x._array).asarray(np.repeat(np.arange(x.shape[at]), times))
    return getitem_operator(x, index=along(x, at, order))


@declare(method="repeat_interleave")
def _repeat_interleave_of_tensor(
    input: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element along ``dim`` (of all, flattened, without it) ``repeats`` times."""
    return repeat_interleave(input, repeats, dim)


def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Any:
    """Each element along ``axis`` ``rep`` times.

    Raises:
        ValueError: ``rep`` is not positive.
    """
    if rep <= 0:
        raise ValueError(f"For 'repeat_elements', 'rep' must be positive, but got {rep}")
    return repeat_interleave(x, rep, axis)
