"""Padding at the ends of axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.surfaces import declare, prim, renamed
from ...base.types import Array, Functions, Shape, Value
from ...cpu.array_module import array_module
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant_array
from ..arguments import along, check_tensor, ints_of
from .concatenation import slice_operator
from .reshape import reshape

__all__ = ["pad"]


def _pad_axis_kernel(x: Array, axis: int, before: int, after: int) -> Array:
    length = x.shape[axis]
    result = array_module(x).zeros((*x.shape[:axis], before + length + after, *x.shape[axis + 1 :]), x.dtype)
    result[(slice(None),) * axis + (slice(before, before + length),)] = x
    return result


_pad_axis = Operator(
    "pad_axis",
    _pad_axis_kernel,
    (lambda F, g, out, x, axis, before, after: F.slice_axis(g, axis=axis, start=before, stop=before + x.shape[axis]),),
)


def _pad_kernel(x: Array, widths: tuple[tuple[int, int], ...], mode: str, value: float) -> Array:
    xp = array_module(x)
    return xp.pad(x, widths, mode=mode, **({"constant_values": value} if mode == "constant" else {}))


def _pad_rule(
    F: Functions, g: Value, out: Value, x: Value, widths: tuple[tuple[int, int], ...], mode: str, value: float
) -> Any:
    for axis, (before, after) in enumerate(widths):
        if mode == "constant":
            g = F.slice_axis(g, axis=axis, start=before, stop=before + x.shape[axis])
        elif before or after:  # an element gets the gradients of all its copies
            positions = np.pad(np.arange(x.shape[axis]), (before, after), mode=mode)  # type: ignore[call-overload]
            shape = (*g.shape[:axis], x.shape[axis], *g.shape[axis + 1 :])
            g = F.scatter_add(g, index=along(g, axis, _index_on_device(g, positions)), shape=shape)
    return g


def _index_on_device(x: Value, positions: Array) -> Array:
    """Return an index on the device of ``x``."""
    return constant_array(array_module(x._array if isinstance(x, Tensor) else x).asarray(positions))


_pad = Operator("pad", _pad_kernel, (_pad_rule,))

_PAD_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "edge": "edge", "circular": "wrap"}

"""NumPy's names of the modes, by ours."""


@declare(mint=renamed("nn.functional.pad", input_x="input", padding="pad"))
def pad(input_x: Tensor, padding: Shape, mode: str = "constant", value: float | None = None) -> Tensor:
    """Return the tensor with elements added at the ends of the last axes.

    Args:
        input_x: a tensor of any shape.
        padding: pairs (before, after) of numbers of elements, the last axis first; a negative number removes elements.
        mode: the elements added: "constant" (``value``), "reflect" (the mirror image without the edge, shorter than the
            axis), "replicate" or "edge" (the edge again), "circular" (the other end).
        value: the constant, 0 by default; None in the other modes.

    Returns:
        A tensor of the same dtype.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``padding`` does not hold ints.
        ValueError: ``padding`` is not pairs or does not fit the axes, an unknown ``mode``, or ``value`` with a mode
            that does not take one.
    """
    x = check_tensor(input_x, "pad", "input_x")
    amounts = ints_of(padding, "pad", "padding")
    if len(amounts) % 2 or len(amounts) > 2 * x.ndim:
        raise ValueError(f"For 'pad', 'padding' must be pairs for at most {x.ndim} axes, but got {amounts}")
    if not isinstance(mode, str) or mode not in _PAD_MODES:
        raise ValueError(f"For 'pad', 'mode' must be one of {list(_PAD_MODES)}, but got {mode!r}")
    if mode != "constant" and value is not None:
        raise ValueError(f"For 'pad', 'value' must be None with mode {mode!r}, but got {value!r}")
    pairs = list(zip(amounts[::2], amounts[1::2], strict=True))
    widths = ((0, 0),) * (x.ndim - len(pairs)) + tuple(reversed(pairs))
    for axis, (before, after) in enumerate(widths):
        length = x.shape[axis]
        if length + min(before, 0) + min(after, 0) < 0:
            raise ValueError(f"For 'pad', 'padding' must leave something of {length} elements, but got {amounts}")
        if before < 0 or after < 0:  # cut off
            x = slice_operator(x, axis=axis, start=max(0, -before), stop=length - max(0, -after))
        if mode == "reflect" and max(before, after) >= max(x.shape[axis], 1):
            raise ValueError(
                f"For 'pad', 'padding' must be less than the length {x.shape[axis]} of the axis with mode 'reflect', "
                f"but got {amounts}"
            )
    widths = tuple((max(before, 0), max(after, 0)) for before, after in widths)
    return _pad(x, widths=widths, mode=_PAD_MODES[mode], value=0 if value is None else value)


@declare(primitive=prim("Pad", "paddings"))
def pad_by_axis(x: Tensor, paddings: Sequence[Sequence[int]]) -> Tensor:
    """Return the tensor with zeros added at the ends of the axes.

    Args:
        x: a tensor of any shape.
        paddings: a pair (before, after) for each axis, the first axis first; a negative number removes elements.

    Returns:
        A tensor of the same dtype.

    Raises:
        ValueError: there are more pairs than axes.
    """
    return pad(x, [n for pair in reversed(list(paddings)) for n in pair])


@declare(method=True)
def _resize(input: Tensor, *new_shape: Any) -> Tensor:
    """Return the first elements, in row-major order, in a different shape, padded with 0.

    Args:
        input: a tensor of any shape.
        *new_shape: the new lengths, one by one or as one tuple.

    Returns:
        A tensor of ``new_shape`` and the same dtype.
    """
    lengths = new_shape[0] if len(new_shape) == 1 and not isinstance(new_shape[0], int) else new_shape
    count, flat = math.prod(lengths), reshape(input, (input.size,))
    if count > input.size:
        flat = pad(flat, (0, count - input.size))
    return reshape(flat[:count], lengths)
