"""Random numbers."""

from __future__ import annotations

from ... import ops
from ...base.types import AnyDType, Ints
from ...ops.arguments import ints_of
from ...tensors.dtype import float32, int32
from ...tensors.tensor import Tensor
from .arrays import element_type

__all__ = ["rand", "randint", "randn"]


def rand(*shape: int, dtype: AnyDType = float32) -> Tensor:
    """Draw random numbers, uniform over [0, 1).

    Args:
        *shape: the length of each axis.
        dtype: the element type, a floating one.

    Returns:
        a Tensor of that shape.
    """
    return ops.rand(*shape, dtype=element_type(dtype))


def randn(*shape: int, dtype: AnyDType = float32) -> Tensor:
    """Draw random numbers from the standard normal distribution.

    Args:
        *shape: the length of each axis.
        dtype: the element type, a floating one.

    Returns:
        a Tensor of that shape.
    """
    return ops.randn(*shape, dtype=element_type(dtype))


def randint(minval: int, maxval: int | None = None, shape: Ints | None = None, dtype: AnyDType = int32) -> Tensor:
    """Draw random ints, uniform from ``minval`` below ``maxval``.

    Args:
        minval: the lowest; a single argument is ``maxval``, and the lowest is 0.
        maxval: the exclusive upper bound.
        shape: an int, or one for each axis; None is ``(1,)``.
        dtype: the element type.

    Returns:
        a Tensor of that shape.
    """
    low, high = (0, minval) if maxval is None else (minval, maxval)
    size = (1,) if shape is None else ints_of(shape, "numpy.randint", "shape")
    return ops.randint(low, high, size, dtype=element_type(dtype))
