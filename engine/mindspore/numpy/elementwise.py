"""Elementwise functions that ``ops`` lacks or defines differently."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ...base.types import AnyDType, Operand, TensorLike
from ...tensors.dtype import bool_, float32, uint8, uint16, uint32, uint64
from ...tensors.tensor import Tensor
from .arrays import as_singles, as_type, asarray, floating, tensors_of

__all__ = ["clip", "copysign", "divmod", "fix", "float_power", "sign"]


def clip(x: TensorLike, xmin: Operand | None, xmax: Operand | None, dtype: AnyDType | None = None) -> Tensor:
    """Clip elements to a range: min(max(x, xmin), xmax). NaN stays NaN.

    Args:
        x: the elements.
        xmin: the lower bound: a number, a Tensor that broadcasts, or None.
        xmax: the upper bound in the same forms; not both are None.
        dtype: the dtype of the result; None leaves it.

    Returns:
        a Tensor.

    Raises:
        ValueError: both bounds are None, or the shapes do not broadcast.
    """
    if xmin is None and xmax is None:
        raise ValueError("For 'clip', at least one of 'xmin' and 'xmax' must be given")
    result = asarray(x)
    if xmin is not None:
        result = ops.maximum(result, _within(xmin, result))
    if xmax is not None:
        result = ops.minimum(result, _within(xmax, result))
    return as_type(result, dtype)


def _within(bound: Any, x: Tensor) -> Any:
    """Clamp a Python int to the range of integer ``x``; return others unchanged."""
    kind = x._array.dtype
    if type(bound) is not int or kind.kind not in "iu":
        return bound
    limits = np.iinfo(kind)
    return min(max(bound, int(limits.min)), int(limits.max))


def copysign(x1: TensorLike, x2: TensorLike, dtype: AnyDType | None = None) -> Tensor:
    """Return the magnitude of ``x1`` with the sign of ``x2``.

    Args:
        x1: the magnitudes.
        x2: the signs; broadcasts with ``x1``.
        dtype: the dtype of the result; None is that of ``x1``, and Float32 if that has no negative numbers.

    Returns:
        a Tensor of the broadcast shape.

    Raises:
        TypeError: an argument cannot be a Tensor.
        ValueError: the shapes do not broadcast.
    """
    size = asarray(x1)
    kind = float32 if size.dtype in (bool_, uint8, uint16, uint32, uint64) else size.dtype
    return as_type(ops.copysign(size, asarray(x2)).astype(kind), dtype)


def fix(x: TensorLike) -> Tensor:
    """Return the integer part of each element, rounded towards 0.

    Args:
        x: numbers.

    Returns:
        a floating Tensor of the shape of ``x``; integers and bools become Float32.

    Raises:
        TypeError: ``x`` cannot be a Tensor.
    """
    return ops.trunc(floating(x))


def float_power(x1: TensorLike, x2: TensorLike, dtype: AnyDType | None = None) -> Tensor:
    """Return ``x1`` to the power ``x2``, in Float32 at least, so that negative powers of integers are fractions.

    Args:
        x1: the bases.
        x2: the exponents; broadcast with ``x1``.
        dtype: the dtype of the result; None leaves it.

    Returns:
        a Tensor of the broadcast shape, Float32, or Float64 or complex if one of them is.

    Raises:
        TypeError: an argument cannot be a Tensor.
        ValueError: the shapes do not broadcast.
    """
    return as_type(ops.pow(*(as_singles(number) for number in tensors_of(x1, x2))), dtype)


def divmod(x1: TensorLike, x2: TensorLike, dtype: AnyDType | None = None) -> tuple[Tensor, Tensor]:
    """Return the quotient, rounded down, and the remainder, which has the sign of ``x2``.

    Args:
        x1: the dividends.
        x2: the divisors; broadcast with ``x1``.
        dtype: the dtype of both results; None leaves it.

    Returns:
        a pair of Tensors of the broadcast shape.

    Raises:
        TypeError: an argument cannot be a Tensor.
        ValueError: the shapes do not broadcast.
    """
    x, y = tensors_of(x1, x2)
    return as_type(ops.floor_divide(x, y), dtype), as_type(ops.remainder(x, y), dtype)


def sign(x: TensorLike, dtype: AnyDType | None = None) -> Tensor:
    """Return -1, 0 or 1 for negative, zero and positive elements. NaN stays NaN, which ``ops.sign`` makes 0.

    Args:
        x: the elements; integers and bools become Float32.
        dtype: the dtype of the result; None leaves it.

    Returns:
        a Tensor of the shape of ``x``.

    Raises:
        TypeError: ``x`` cannot be a Tensor.
    """
    numbers = floating(x)
    return as_type(ops.where(ops.isnan(numbers), ops.stop_gradient(numbers), ops.sign(numbers)), dtype)
