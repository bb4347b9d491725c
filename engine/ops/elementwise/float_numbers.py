"""Signs, fractions, special values, spacing and closeness of floating-point numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.argument_checks import check_real
from ...base.surfaces import declare, prim, renamed
from ...base.types import Array, TensorLike
from ...cpu.array_module import array_module
from ...tensors.dtype import bfloat16
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import compute, constant
from ..arguments import bool_of, check_broadcast, check_tensor
from ..shapes.broadcasting import Binary, as_floats, fit, unary
from ..shapes.conversion import tensor_of
from ..shapes.copying import identity
from . import arithmetic, comparison
from .comparison import where

__all__ = [
    "approximate_equal",
    "copysign",
    "eps",
    "frac",
    "is_complex",
    "is_floating_point",
    "is_nonzero",
    "isclose",
    "isneginf",
    "isposinf",
    "isreal",
    "nan_to_num",
    "nextafter",
    "positive",
    "sgn",
    "signbit",
]


def _signbit(x: Array) -> Array:
    return x < 0 if x.dtype.kind in "iub" else array_module(x).signbit(x)


signbit = unary("signbit", _signbit, None).declare(
    "Return whether the sign is minus, that of -0.0 too: a Bool.", method=True, numpy=renamed(input="x")
)

nextafter = Binary(
    "nextafter", np.nextafter, (lambda F, g, out, x, y: fit(F, g, x), None), integers_to_float=True
).declare(
    "The floating-point number after x on the way to y, as in C; its gradient by x is 1, that by y 0.",
    method=True,
    primitive=prim("NextAfter"),
)


@declare(method=True, mint=True)
def frac(x: Tensor) -> Tensor:
    """Return the fractional part x - trunc(x), with the sign of x.

    Args:
        x: a tensor of any shape.

    Returns:
        A tensor of the shape and dtype of ``x``.
    """
    return arithmetic.sub(x, arithmetic.trunc(x))


@declare(method=True)
def sgn(input: Tensor) -> Tensor:
    """Return the sign, -1, 0 or 1; of a complex number z, z / abs(z), and 0 at 0.

    Args:
        input: a tensor of any shape.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    if check_tensor(input, "sgn")._array.dtype.kind != "c":
        return arithmetic.sign(input)
    length = arithmetic.abs(input)
    return where(
        comparison.eq(length, 0), input * 0, arithmetic.div(input, where(comparison.eq(length, 0), 1.0, length))
    )


@declare(method=True, numpy=renamed(input="a"))
def positive(input: Tensor) -> Tensor:
    """Return the tensor itself, ``+input``.

    Args:
        input: a tensor of any dtype.

    Returns:
        ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return identity(check_tensor(input, "positive"))


@declare(method=True, primitive=prim("NanToNum", nan=None, posinf=None, neginf=None), mint=True)
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Return the tensor with NaN and infinities replaced by finite numbers, as in NumPy.

    Args:
        input: a tensor of any shape; one of integers or bools is returned as it is.
        nan: the replacement of NaN; None is 0.
        posinf: the replacement of plus infinity; None is the greatest number of the dtype.
        neginf: the replacement of minus infinity; None is the least number of the dtype.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    x = check_tensor(input, "nan_to_num")
    if x._array.dtype.kind in "biu":
        return x
    # The finfo of NumPy does not know BFloat16, which has 8 exponent and 7 fraction bits.
    largest = float(np.finfo(x._array.dtype).max) if x.dtype is not bfloat16 else float.fromhex("0x1.fep127")
    result = where(comparison.isnan(x), 0.0 if nan is None else nan, x)
    result = where(comparison.eq(x, math.inf), largest if posinf is None else posinf, result)
    return where(comparison.eq(x, -math.inf), -largest if neginf is None else neginf, result)


@declare(method=True, mint=True, numpy=renamed(input="x"))
def isneginf(input: Tensor) -> Tensor:
    """Return whether an element is minus infinity.

    Args:
        input: a tensor of any shape.

    Returns:
        A Bool tensor of the same shape.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return comparison.eq(check_tensor(input, "isneginf"), -math.inf)


@declare(method=True, numpy=renamed(input="x"))
def isposinf(input: Tensor) -> Tensor:
    """Return whether an element is plus infinity.

    Args:
        input: a tensor of any shape.

    Returns:
        A Bool tensor of the same shape.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return comparison.eq(check_tensor(input, "isposinf"), math.inf)


@declare(method=True)
def isreal(input: Tensor) -> Tensor:
    """Return whether the imaginary part is 0, as it is for every real number.

    Args:
        input: a tensor of any shape.

    Returns:
        A Bool tensor of the same shape.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    x = check_tensor(input, "isreal")._array
    return Tensor._wrap(compute(_is_real, x))


def _is_real(x: Array) -> Array:
    mask: Array = array_module(x).asarray(array_module(x).isreal(x))
    return mask


@declare(
    method=True,
    primitive=prim("IsClose", rtol=1e-05, atol=1e-08, equal_nan=False),
    mint=True,
    numpy=renamed(input="a", other="b"),
)
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Return whether abs(input - other) <= atol + rtol * abs(other), as in NumPy; equal infinities are close.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with ``input``; the relative tolerance applies to it.
        rtol: the relative tolerance.
        atol: the absolute tolerance.
        equal_nan: whether two NaNs are close.

    Returns:
        A Bool tensor of the shape that both broadcast to.

    Raises:
        TypeError: ``input`` or ``other`` is not a Tensor.
    """
    x, y = check_tensor(input, "isclose"), check_tensor(other, "isclose", "other")
    check_broadcast("isclose", input=x.shape, other=y.shape)
    for argument, tolerance in (("rtol", rtol), ("atol", atol)):
        check_real(tolerance, "isclose", argument)
    nan_is_close = bool_of(equal_nan, "isclose", "equal_nan")
    return Tensor._wrap(compute(_are_close, x._array, y._array, rtol=rtol, atol=atol, equal_nan=nan_is_close))


def _are_close(x: Array, y: Array, **tolerances: Any) -> Array:
    xp = array_module(x)
    mask: Array = xp.asarray(xp.isclose(x, y, **tolerances))
    return mask


@declare(method=True)
def _allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Return whether abs(input - other) <= atol + rtol * abs(other) everywhere, as in NumPy.

    Args:
        input: the first tensor.
        other: a tensor that broadcasts with ``input``; the relative tolerance applies to it.
        rtol: the relative tolerance.
        atol: the absolute tolerance.
        equal_nan: whether two NaNs are close.

    Returns:
        A bool.

    Raises:
        TypeError: ``other`` is not a Tensor.
    """
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all())


@declare(method=renamed(y="other"), primitive=prim("ApproximateEqual", tolerance=1e-05))
def approximate_equal(x: Tensor, y: Tensor, tolerance: float = 1e-5) -> Tensor:
    """Return whether abs(x - y) < tolerance.

    Args:
        x: a tensor.
        y: a tensor that broadcasts with ``x``.
        tolerance: the least difference of unequal elements.

    Returns:
        A Bool tensor of the shape that both broadcast to.
    """
    return comparison.lt(arithmetic.abs(arithmetic.sub(x, y)), tolerance)


@declare(method=True)
def is_complex(input: Tensor) -> bool:
    """Return whether the elements are complex numbers.

    Args:
        input: a tensor of any shape.

    Returns:
        A bool: whether the dtype is Complex64 or Complex128.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return bool(check_tensor(input, "is_complex")._array.dtype.kind == "c")


@declare(method=True)
def is_floating_point(input: Tensor) -> bool:
    """Return whether the elements are real floating-point numbers.

    Args:
        input: a tensor of any shape.

    Returns:
        A bool: whether the dtype is floating, BFloat16 included.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return check_tensor(input, "is_floating_point").dtype.is_floating_point


def is_nonzero(input: Tensor) -> bool:
    """Return whether the only element is not 0.

    Args:
        input: a tensor of one element.

    Returns:
        A bool.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``input`` does not have exactly one element.
    """
    if check_tensor(input, "is_nonzero").size != 1:
        raise ValueError(f"For 'is_nonzero', 'input' must have one element, but its shape is {input.shape}")
    return bool(input.item() != 0)


@declare(primitive=prim("Eps"))
def eps(x: Tensor) -> Tensor:
    """Return the spacing of the dtype at 1: the least number for which 1 + eps differs from 1.

    Args:
        x: a floating tensor; its values are ignored.

    Returns:
        A tensor of the shape and dtype of ``x``, filled with the spacing.

    Raises:
        TypeError: ``x`` is not a Tensor of floating-point numbers.
    """
    dtype = check_tensor(x, "eps", "x")._array.dtype
    if not x.dtype.is_floating_point:
        raise TypeError(f"For 'eps', 'x' must hold floating-point numbers, but got {x.dtype}")
    step = 2.0**-7 if x.dtype is bfloat16 else float(np.finfo(dtype).eps)
    return constant(array_module(x._array).full(x.shape, step, dtype))


@declare(method=True)
def copysign(x: TensorLike, other: TensorLike) -> Tensor:
    """Return the absolute value of x with the sign of ``other``, including the sign of -0.0 and of NaN.

    Args:
        x: a tensor, a number or an array.
        other: the values that determine the signs, of a shape that broadcasts with that of ``x``.

    Returns:
        A tensor of the shape that both broadcast to, in the dtype of ``x``; bools and integers become Float32.
    """
    magnitude = as_floats(arithmetic.abs(tensor_of(x)))
    sign = signbit(tensor_of(other))
    return where(sign, -magnitude, magnitude)
