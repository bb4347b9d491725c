"""Padding layers: by a value, by mirroring, by repeating the edge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import ops
from ...base.argument_checks import check_number, check_one_of, check_type
from ...base.types import Ints
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from .._documentation import explained_by
from ..cell import Cell

__all__ = [
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Pad",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad2d",
]


def padded(x: Tensor, widths: tuple[tuple[int, int], ...], mode: str, value: float = 0) -> Tensor:
    """Return ``x`` with (before, after) elements added to each axis; a negative number removes elements.

    Mirrored and repeated elements are indexed, so that their gradients are summed at their origin.

    Args:
        x: the tensor.
        widths: a pair of ints for each axis.
        mode: "constant", or as in ``numpy.pad`` "reflect", "symmetric" or "edge".
        value: the value added with "constant".
    """
    cut = tuple(slice(max(0, -a), n - max(0, -b)) for (a, b), n in zip(widths, x.shape, strict=True))
    if any(min(pair) < 0 for pair in widths):
        x = ops.getitem(x, cut)
    widths = tuple((max(0, a), max(0, b)) for a, b in widths)
    if mode == "constant":
        return ops.pad(x, [n for pair in reversed(widths) for n in pair], "constant", value)
    xp = array_module(x._array)
    for axis, pair in enumerate(widths):
        if any(pair):
            indices = xp.asarray(np.pad(np.arange(x.shape[axis]), pair, mode=mode))  # type: ignore[call-overload]
            x = ops.getitem(x, (slice(None),) * axis + (constant(indices),))
    return x


class Pad(Cell):
    """Elements added to each axis.

    Takes ``x`` with as many axes as there are pairs, or the call raises ValueError; returns a Tensor of the same dtype.

    Args:
        paddings: a tuple of pairs (before, after) of ints from 0 on, one for each of at most 4 axes.
        mode: the added elements: "CONSTANT" zeros, "REFLECT" the mirror image without the element at the edge,
            "SYMMETRIC" the mirror image with it.

    Raises:
        TypeError: ``paddings`` is not a tuple.
        ValueError: an unknown ``mode``, entries that are not pairs, negative numbers, or more than 4 pairs.
    """

    def __init__(self, paddings: tuple[Sequence[int], ...], mode: str = "CONSTANT") -> None:
        super().__init__()
        check_type(paddings, tuple, "Pad", "paddings")
        if not all(len(pair) == 2 for pair in paddings) or len(paddings) > 4:
            raise ValueError(f"For 'Pad', 'paddings' must be pairs for at most 4 axes, but got {paddings}")
        if any(n < 0 for pair in paddings for n in pair):
            raise ValueError(f"For 'Pad', 'paddings' must not be negative, but got {paddings}")
        check_one_of(mode, ("CONSTANT", "REFLECT", "SYMMETRIC"), "Pad", "mode")
        self.paddings, self.mode = paddings, mode

    def construct(self, x: Tensor) -> Tensor:
        if len(self.paddings) != x.ndim:
            raise ValueError(f"For 'Pad', 'paddings' must have a pair for each axis of {x.shape}: {self.paddings}")
        return padded(x, tuple((int(a), int(b)) for a, b in self.paddings), self.mode.lower())


class _Sides(Cell):
    """Padding of the last axes.

    Args:
        padding: the number of added elements: an int for all sides, or (before, after) of the last axis, then of the
            previous one, and so on. Negative numbers remove elements if a value is added.
        value: the value to add.

    Raises:
        TypeError: an argument of the wrong type; the text names it.
        ValueError: the wrong number of ints, or negative ones if elements of the input are added.
    """

    _axes = 1
    _mode = "constant"
    value: float = 0

    def __init__(self, padding: Ints) -> None:
        super().__init__()
        name = type(self).__name__
        numbers = (
            (padding,) * (2 * self._axes) if isinstance(padding, int) and not isinstance(padding, bool) else padding
        )
        if not isinstance(numbers, tuple | list) or not all(isinstance(n, int) for n in numbers):
            raise TypeError(f"For '{name}', 'padding' must be an int or a tuple of ints, but got {padding!r}")
        if len(numbers) % 2 or not numbers or len(numbers) > 2 * self._axes:
            raise ValueError(f"For '{name}', 'padding' must have {2 * self._axes} ints, but got {padding!r}")
        if self._mode != "constant" and len(numbers) != 2 * self._axes:
            raise ValueError(f"For '{name}', 'padding' must be {2 * self._axes} ints, but got {padding!r}")
        if self._mode == "reflect" and min(numbers) < 0:
            raise ValueError(f"For '{name}', 'padding' must be {2 * self._axes} ints not below 0, but got {padding!r}")
        self.padding = tuple(numbers)

    def construct(self, x: Tensor) -> Tensor:
        pairs = [*zip(self.padding[::2], self.padding[1::2], strict=True)][::-1]
        check_type(x, Tensor, type(self).__name__, "x")
        if x.ndim < len(pairs) or (self._mode != "constant" and x.ndim not in (self._axes + 1, self._axes + 2)):
            raise ValueError(f"For '{type(self).__name__}', the input has too few or too many axes: {x.shape}")
        if self._mode == "reflect" and any(max(p) >= n for p, n in zip(pairs, x.shape[-len(pairs) :], strict=True)):
            raise ValueError(
                f"For '{type(self).__name__}', 'padding' must be below the lengths of {x.shape}, but got {self.padding}"
            )
        return padded(x, ((0, 0),) * (x.ndim - len(pairs)) + tuple(pairs), self._mode, self.value)


@explained_by(_Sides)
class ConstantPad1d(_Sides):
    """``value`` added before and after the last axis of a Tensor of any dtype."""

    def __init__(self, padding: Ints, value: float) -> None:
        super().__init__(padding)
        self.value = check_number(value, type(self).__name__, "value")


@explained_by(_Sides)
class ConstantPad2d(ConstantPad1d):
    """``value`` added around the last two axes of a Tensor of any dtype."""

    _axes = 2


@explained_by(_Sides)
class ConstantPad3d(ConstantPad1d):
    """``value`` added around the last three axes of a Tensor of any dtype."""

    _axes = 3


@explained_by(_Sides)
class ZeroPad2d(_Sides):
    """Zeros added around the last two axes of a Tensor of any dtype."""

    _axes = 2


@explained_by(_Sides)
class ReflectionPad1d(_Sides):
    """The last axis mirrored at its ends, without the elements there; of (N, C, L) or (C, L)."""

    _mode = "reflect"


@explained_by(_Sides)
class ReflectionPad2d(ReflectionPad1d):
    """The last two axes mirrored at their ends, without the elements there; of (N, C, H, W) or (C, H, W)."""

    _axes = 2


@explained_by(_Sides)
class ReflectionPad3d(ReflectionPad1d):
    """The last three axes mirrored at their ends, without the elements there; of (N, C, D, H, W) or (C, D, H, W)."""

    _axes = 3


@explained_by(_Sides)
class ReplicationPad1d(_Sides):
    """The first and last elements of the last axis repeated; of (N, C, L) or (C, L)."""

    _mode = "edge"


@explained_by(_Sides)
class ReplicationPad2d(ReplicationPad1d):
    """The elements at the ends of the last two axes repeated; of (N, C, H, W) or (C, H, W)."""

    _axes = 2


@explained_by(_Sides)
class ReplicationPad3d(ReplicationPad1d):
    """The elements at the ends of the last three axes repeated; of (N, C, D, H, W) or (C, D, H, W)."""

    _axes = 3
