"""Arithmetic of ``mindspore.mint`` whose signatures differ from those in ``ops``.

The other functions are declared with those of ``ops`` (``mint=``).
"""

from __future__ import annotations

import builtins

from ... import ops
from ...base.argument_checks import check_type
from ...base.types import DTypeLike, Number, Operand
from ...ops.arguments import check_tensor
from ...ops.elementwise.arithmetic import scaled
from ...tensors.dtype import to_dtype
from ...tensors.tensor import Tensor

__all__ = ["add", "dot", "equal", "item", "log_softmax", "pow", "sub", "vdot"]


def pow(input: Operand, exponent: Operand) -> Tensor:
    """Return ``input`` to the power of ``exponent``; integers with a negative exponent give 0, except 1 and -1.

    Args:
        input: the base: a Tensor or a number.
        exponent: a Tensor or a number that broadcasts with it; one of the two is a Tensor.

    Returns:
        a Tensor of the broadcast shape.

    Raises:
        RuntimeError: a Tensor of integers to the power of a negative int.
        ValueError: the shapes do not broadcast.
    """
    integral = input._array.dtype.kind in "iu" if isinstance(input, Tensor) else isinstance(input, int)
    if integral and isinstance(exponent, int) and exponent < 0:
        raise RuntimeError(f"For 'mint.pow', integers have no power of {exponent}: they would be fractions")
    return ops.pow(input, exponent)


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and the same elements.

    Args:
        input: a Tensor.
        other: a Tensor.

    Returns:
        a Python bool.

    Raises:
        TypeError: one of them is not a Tensor.
    """
    for argument, x in (("input", input), ("other", other)):
        check_type(x, Tensor, "mint.equal", argument)
    return input.shape == other.shape and builtins.bool(ops.eq(input, other).all())


def dot(input: Tensor, other: Tensor) -> Tensor:
    """Return the scalar product of two vectors: the sum of input * other.

    Args:
        input: a vector.
        other: a vector of the same length.

    Returns:
        a Tensor without axes.

    Raises:
        ValueError: an input is not a vector, or the lengths differ.
    """
    if check_tensor(input, "mint.dot").ndim != 1 or check_tensor(other, "mint.dot", "other").ndim != 1:
        raise ValueError(f"For 'mint.dot', both must have one axis, but got shapes {input.shape} and {other.shape}")
    return ops.matmul(input, other)


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Return the scalar product of two vectors, the first conjugated: the sum of conj(input) * other.

    Args:
        input: a vector.
        other: a vector of the same length.

    Returns:
        a Tensor without axes.

    Raises:
        ValueError: an input is not a vector, or the lengths differ.
    """
    return dot(ops.conj(input) if check_tensor(input, "mint.vdot")._array.dtype.kind == "c" else input, other)


def item(input: Tensor) -> bool | int | float | complex:
    """Return the one element of a Tensor as a Python number.

    Args:
        input: a Tensor with one element, of any shape.

    Returns:
        a bool, int, float or complex.

    Raises:
        TypeError: ``input`` is not a Tensor.
        RuntimeError: it has more elements, or none.
    """
    check_type(input, Tensor, "mint.item", "input", "a Tensor")
    if input.size != 1:
        raise RuntimeError(f"For 'mint.item', 'input' must have one element, but got {input.size}")
    return input.item()


def add(input: Operand, other: Operand, *, alpha: Number = 1) -> Tensor:
    """Return input + alpha * other, element by element.

    Args:
        input: a Tensor or a number.
        other: a Tensor that broadcasts with ``input``, or a number.
        alpha: the factor of ``other``, a number.

    Returns:
        a Tensor of the broadcast shape.

    Raises:
        TypeError: an input is neither a Tensor nor a number.
    """
    return ops.add(input, scaled(other, alpha))


def sub(input: Operand, other: Operand, *, alpha: Number = 1) -> Tensor:
    """Return input - alpha * other, element by element.

    Args:
        input: a Tensor or a number.
        other: a Tensor that broadcasts with ``input``, or a number.
        alpha: the factor of ``other``, a number.

    Returns:
        a Tensor of the broadcast shape.

    Raises:
        TypeError: an input is neither a Tensor nor a number.
    """
    return ops.sub(input, scaled(other, alpha))


# Nonlinear


def log_softmax(input: Tensor, dim: int | None = None, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the logarithm of softmax along one axis, without overflow: x - log(sum of exp(x)).

    Args:
        input: a floating Tensor.
        dim: the axis, in [-ndim, ndim); None is axis 0 for an input with 0, 1 or 3 axes, else 1.
        dtype: the dtype to convert to first; None leaves that of ``input``.

    Returns:
        a Tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` does not hold floats.
        ValueError: ``dim`` is out of range.
    """
    return ops.log_softmax(in_dtype(input, dtype), axis_unless_given(input) if dim is None else dim)


def axis_unless_given(input: Tensor) -> int:
    """Return the axis of softmax and log_softmax if ``dim`` is None, as in MindSpore."""
    return 0 if check_tensor(input, "softmax").ndim in (0, 1, 3) else 1


def in_dtype(tensor: Tensor, dtype: DTypeLike | None) -> Tensor:
    return tensor if dtype is None else ops.cast(tensor, to_dtype(dtype))
