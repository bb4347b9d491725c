"""Padding layers: by a value, by mirroring, by repeating the edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from .cell import Cell

__all__ = [
    "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "Pad", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d",
    "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad2d",
]  # fmt: skip


def padded(x: Tensor, widths: tuple[tuple[int, int], ...], mode: str, value: float = 0) -> Tensor:
    """``x`` with (before, after) elements added to each axis; a negative number takes elements away.

    Mirrored and repeated elements are taken by their places, so their gradients add up where they come from.
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
            places = xp.asarray(np.pad(np.arange(x.shape[axis]), pair, mode=mode))  # type: ignore[call-overload]
            x = ops.getitem(x, (slice(None),) * axis + (Tensor._wrap(places),))
    return x


class Pad(Cell):
    """Elements added to each axis: ``paddings`` is ((before, after), ...), one pair an axis.

    Args:
        mode: "CONSTANT" (zeros), "REFLECT" (without the edge) or "SYMMETRIC" (with it).

    Raises:
        TypeError: ``paddings`` is no tuple.
        ValueError: another mode, or pairs that are none.
    """

    def __init__(self, paddings: Any, mode: str = "CONSTANT") -> None:
        super().__init__()
        if not isinstance(paddings, tuple):
            raise TypeError(f"For 'Pad', 'paddings' must be a tuple, but got {type(paddings).__name__}")
        if not all(len(pair) == 2 for pair in paddings) or len(paddings) > 4:
            raise ValueError(f"For 'Pad', 'paddings' must be pairs for at most 4 axes, but got {paddings}")
        if mode not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
            raise ValueError(f"For 'Pad', 'mode' must be 'CONSTANT', 'REFLECT' or 'SYMMETRIC', but got {mode!r}")
        self.paddings, self.mode = paddings, mode

    def construct(self, x: Tensor) -> Tensor:
        if len(self.paddings) != x.ndim:
            raise ValueError(f"For 'Pad', 'paddings' must have a pair for each axis of {x.shape}: {self.paddings}")
        return padded(x, tuple((int(a), int(b)) for a, b in self.paddings), self.mode.lower())


class _Sides(Cell):
    """Padding of the last ``_axes`` axes: an int, or (before, after) pairs, last axis first."""

    _axes = 1
    _mode = "constant"
    value: float = 0

    def __init__(self, padding: Any) -> None:
        super().__init__()
        name = type(self).__name__
        given = (padding,) * (2 * self._axes) if isinstance(padding, int) and not isinstance(padding, bool) else padding
        if not isinstance(given, tuple | list) or not all(isinstance(n, int) for n in given):
            raise TypeError(f"For '{name}', 'padding' must be an int or a tuple of ints, but got {padding!r}")
        if len(given) % 2 or not given or len(given) > 2 * self._axes:
            raise ValueError(f"For '{name}', 'padding' must have {2 * self._axes} ints, but got {padding!r}")
        if self._mode != "constant" and (min(given) < 0 or len(given) != 2 * self._axes):
            raise ValueError(f"For '{name}', 'padding' must be {2 * self._axes} ints not below 0, but got {padding!r}")
        self.padding = tuple(given)

    def construct(self, x: Tensor) -> Tensor:
        pairs = [*zip(self.padding[::2], self.padding[1::2], strict=True)][::-1]
        if x.ndim < len(pairs) or (self._mode != "constant" and x.ndim not in (self._axes + 1, self._axes + 2)):
            raise ValueError(f"For '{type(self).__name__}', the input has too few or too many axes: {x.shape}")
        if self._mode == "reflect" and any(max(p) >= n for p, n in zip(pairs, x.shape[-len(pairs) :], strict=True)):
            raise ValueError(
                f"For '{type(self).__name__}', 'padding' must be below the lengths of {x.shape}, but got {self.padding}"
            )
        return padded(x, ((0, 0),) * (x.ndim - len(pairs)) + tuple(pairs), self._mode, self.value)


class ConstantPad1d(_Sides):
    """``value`` added before and after the last axis."""

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"For '{type(self).__name__}', 'value' must be a number, but got {type(value).__name__}")
        self.value = value


class ConstantPad2d(ConstantPad1d):
    """``value`` added around the last two axes."""

    _axes = 2


class ConstantPad3d(ConstantPad1d):
    """``value`` added around the last three axes."""

    _axes = 3


class ZeroPad2d(_Sides):
    """Zeros added around the last two axes."""

    _axes = 2


class ReflectionPad1d(_Sides):
    """The last axis mirrored at its ends, without the elements there."""

    _mode = "reflect"


class ReflectionPad2d(ReflectionPad1d):
    """The last two axes mirrored at their ends."""

    _axes = 2


class ReflectionPad3d(ReflectionPad1d):
    """The last three axes mirrored at their ends."""

    _axes = 3


class ReplicationPad1d(_Sides):
    """The first and last elements of the last axis repeated."""

    _mode = "edge"


class ReplicationPad2d(ReplicationPad1d):
    """The elements at the ends of the last two axes repeated."""

    _axes = 2


class ReplicationPad3d(ReplicationPad1d):
    """The elements at the ends of the last three axes repeated."""

    _axes = 3
