"""Equality of tensors, logical reductions, and tests for scalars."""

from __future__ import annotations

import numpy as np

from ... import ops
from ...base.types import TensorLike
from ...ops.arguments import Axis
from ...tensors.tensor import Tensor
from .arrays import asarray

__all__ = ["array_equal", "array_equiv", "isscalar", "sometrue"]


def array_equal(a1: TensorLike, a2: TensorLike, equal_nan: bool = False) -> Tensor:
    """Return whether two have the same shape and equal elements.

    Args:
        a1: the first.
        a2: the other.
        equal_nan: whether NaN equals NaN.

    Returns:
        a Bool Tensor without axes.

    Raises:
        TypeError: an argument cannot be a Tensor.
    """
    x, y = asarray(a1), asarray(a2)
    if x.shape != y.shape:
        return Tensor(False)
    equal_elements = ops.equal(x, y)
    if equal_nan:
        equal_elements = ops.logical_or(equal_elements, ops.logical_and(ops.not_equal(x, x), ops.not_equal(y, y)))
    return ops.all(equal_elements)


def array_equiv(a1: TensorLike, a2: TensorLike) -> Tensor:
    """Return whether two broadcast to one shape and are equal there.

    Args:
        a1: the first.
        a2: the other.

    Returns:
        a Bool Tensor without axes.

    Raises:
        TypeError: an argument cannot be a Tensor.
    """
    x, y = asarray(a1), asarray(a2)
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return Tensor(False)
    return ops.all(ops.equal(x, y))


def isscalar(element: object) -> bool:
    """Return whether a value is a number or a text, rather than a tensor, array or list.

    Args:
        element: anything.

    Returns:
        a bool.
    """
    return bool(np.isscalar(element))


def sometrue(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return whether any element over axes is neither 0 nor NaN.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        keepdims: whether the axes stay, with length 1.

    Returns:
        a Bool Tensor.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return ops.any(asarray(a), axis, keepdims)
