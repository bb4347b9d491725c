"""Padding besides ``pad``: mirror images, zeros after the last axis, pairs in another order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.argument_checks import check_int, check_one_of
from ...base.surfaces import declare, prim
from ...base.types import Shape
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ..arguments import along, check_tensor, ints_of
from .pad import pad

__all__ = ["mirror_pad", "padding"]


@declare(primitive=prim("Padding", pad_dim_size=8))
def padding(x: Tensor, pad_dim_size: int = 8) -> Tensor:
    """Return the tensor with its last axis, of length 1, padded with 0.

    Args:
        x: a tensor whose last axis has length 1.
        pad_dim_size: the length of the last axis of the result, at least 1.

    Returns:
        A tensor (..., ``pad_dim_size``) of the same dtype: the element, then zeros.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``pad_dim_size`` is not an int.
        ValueError: the last axis is longer, or the size is not positive.
    """
    check_int(pad_dim_size, "padding", "pad_dim_size")
    if check_tensor(x, "padding", "x").shape[-1:] != (1,) or pad_dim_size < 1:
        raise ValueError(
            f"For 'padding', the last axis of 'x' must have length 1 and 'pad_dim_size' must be positive, "
            f"but got shape {x.shape} and {pad_dim_size}"
        )
    return pad(x, (0, pad_dim_size - 1))


@declare(primitive=prim("MirrorPad", mode="REFLECT"))
def mirror_pad(input_x: Tensor, paddings: Tensor | Sequence[Sequence[int]], mode: str) -> Tensor:
    """Return the tensor padded with its mirror image.

    Args:
        input_x: a tensor of any shape.
        paddings: a pair (before, after) of numbers of elements for each axis, the first axis first.
        mode: "REFLECT" (the edge is not repeated, so at most the length of the axis less 1) or "SYMMETRIC" (it is, so
            at most the length).

    Returns:
        A tensor of the same dtype; an element's gradient is the sum of those of its copies.

    Raises:
        TypeError: ``input_x`` is not a Tensor.
        ValueError: an unknown ``mode``, not one pair for each axis, or a number out of range.
    """
    check_one_of(mode, ("REFLECT", "SYMMETRIC"), "mirror_pad", "mode")
    x = check_tensor(input_x, "mirror_pad", "input_x")
    xp = array_module(x._array)
    widths = paddings.tolist() if isinstance(paddings, Tensor) else paddings
    if len(widths) != x.ndim:
        raise ValueError(f"For 'mirror_pad', 'paddings' must be {x.ndim} pairs, but got {len(widths)}")
    for axis, (before, after) in enumerate(widths):
        limit = x.shape[axis] - (mode == "REFLECT")
        if not (0 <= before <= limit and 0 <= after <= limit) and (before, after) != (0, 0):
            raise ValueError(
                f"For 'mirror_pad', 'paddings' of axis {axis} must be in [0, {limit}] with mode {mode!r}, "
                f"but got {(before, after)}"
            )
        positions = np.pad(np.arange(x.shape[axis]), (before, after), mode=mode.lower())  # type: ignore[call-overload]
        x = x[along(x, axis, Tensor._wrap(xp.asarray(positions)))]
    return x


@declare(primitive=prim("PadV3", mode="constant", paddings_contiguous=True))
def _pad_by_pairs(
    x: Tensor, paddings: Shape, value: Tensor | float | None = None, *, mode: str, paddings_contiguous: bool
) -> Tensor:
    """Return the tensor with elements added at the ends of the last axes, see ``pad``.

    Args:
        x: a tensor of any shape.
        paddings: numbers of elements as (before, after) pairs, the last axis first.
        value: the constant with mode "constant", 0 by default; None in the other modes.
        mode: "constant", "reflect", "edge" or "circular".
        paddings_contiguous: whether ``paddings`` is pairs; otherwise it is the numbers before each axis and then those
            after each.

    Returns:
        A tensor of the same dtype.

    Raises:
        ValueError: ``paddings`` does not fit the axes, an unknown ``mode``, or ``value`` with a mode that does not take
            one.
    """
    widths = list(ints_of(paddings, "PadV3", "paddings"))
    if not paddings_contiguous:
        half = len(widths) // 2
        widths = [n for pair in zip(widths[:half], widths[half:], strict=True) for n in pair]
    return pad(x, widths, mode, None if value is None else float(value))
