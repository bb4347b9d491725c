"""Further functions of one and two numbers: inverse trigonometry, bits, integer division, NaN."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_real
from ...base.surfaces import alias, declare, everywhere, prim, renamed
from ...base.types import Array, Functions, Number, Operand, TensorLike, Value
from ...cpu.array_module import array_module
from ...cpu.arrays import masking
from ...tensors.dtype import bfloat16, complex128, float64
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import computed, constant
from ..arguments import bool_of, check_broadcast, check_tensor
from ..shapes.broadcasting import (
    Binary,
    as_dtype,
    as_floats,
    cast_operator,
    fit,
    function_of_number,
    operand,
    operands,
    unary,
    x1_x2,
)
from ..shapes.reshape import identity, tensor_of
from . import arithmetic, comparison, exponentials
from .comparison import logical_and, where

__all__ = [
    "acos", "acosh", "addcdiv", "addcmul", "approximate_equal", "arccos", "arccosh", "arcsin", "arcsinh", "arctan",
    "arctan2", "arctanh", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_left_shift", "bitwise_right_shift",
    "clip_by_value", "copysign", "deg2rad", "eps", "exp2", "float_power", "float_power_ext", "floor_div", "floor_mod",
    "floordiv", "floormod", "fmax", "fmin", "frac", "gcd", "heaviside", "hypot", "inv", "is_complex",
    "is_floating_point", "is_nonzero", "isclose", "isneginf", "isposinf", "isreal", "lcm", "ldexp", "lerp", "log10",
    "logaddexp", "logaddexp2", "logit", "nan_to_num", "nextafter", "population_count", "positive", "rad2deg", "sgn",
    "signbit", "sinc", "tensor_add", "tensor_div", "tensor_exp", "tensor_expm1", "tensor_floordiv", "tensor_ge",
    "tensor_gt", "tensor_le", "tensor_lt", "tensor_mod", "tensor_mul", "tensor_pow", "tensor_sub", "truncate_div",
    "truncate_mod", "xdivy"
]  # fmt: skip

acos = function_of_number("acos", np.arccos, lambda F, g, out, x: -(g * F.rsqrt(1 - x * x)), scalar="acos(x)").declare(
    "The arc cosine, in [0, pi]; NaN outside [-1, 1].", numpy=renamed("arccos"), **everywhere("ACos", "acos", "arccos")
)
asin = function_of_number("asin", np.arcsin, lambda F, g, out, x: g * F.rsqrt(1 - x * x), scalar="asin(x)").declare(
    "The arc sine, in [-pi / 2, pi / 2]; NaN outside [-1, 1].",
    numpy=renamed("arcsin", input="x"),
    **everywhere("Asin", "arcsin", "asin"),
)
atan = function_of_number("atan", np.arctan, lambda F, g, out, x: g / (x * x + 1), scalar="atan(x)").declare(
    "The arc tangent, in (-pi / 2, pi / 2).", numpy=renamed("arctan", input="x"), **everywhere("Atan", "arctan", "atan")
)
acosh = function_of_number(  # the slope is NaN below 1
    "acosh", np.arccosh, lambda F, g, out, x: g * F.rsqrt(x + 1) * F.rsqrt(x - 1), scalar="acosh(x)"
).declare(
    "The inverse hyperbolic cosine, 0 or above; NaN below 1.",
    numpy=renamed("arccosh", input="x"),
    **everywhere("Acosh", "acosh", "arccosh"),
)
asinh = function_of_number("asinh", np.arcsinh, lambda F, g, out, x: g * F.rsqrt(x * x + 1), scalar="asinh(x)").declare(
    "The inverse hyperbolic sine.", numpy=renamed("arcsinh", input="x"), **everywhere("Asinh", "arcsinh", "asinh")
)
atanh = function_of_number("atanh", np.arctanh, lambda F, g, out, x: g / (1 - x * x), scalar="atanh(x)").declare(
    "The inverse hyperbolic tangent; NaN outside [-1, 1].",
    numpy=renamed("arctanh", input="x"),
    **everywhere("Atanh", "arctanh", "atanh"),
)
exp2 = function_of_number("exp2", np.exp2, lambda F, g, out, x: g * out * math.log(2.0), scalar="exp2(x)").declare(
    "2 to the power x.", mint=("exp2", "special.exp2"), numpy=renamed(input="x")
)
log10 = function_of_number("log10", np.log10, lambda F, g, out, x: g / (x * math.log(10.0)), scalar="log10(x)").declare(
    "The logarithm to base 10; NaN below 0.", method=True, mint=True, numpy=renamed(input="x")
)
_cbrt = function_of_number("cbrt", np.cbrt, lambda F, g, out, x: g / (out * out * 3)).declare(
    "The cube root, negative below 0.", numpy=renamed(input="x")
)


def _sinc_slope(F: Functions, g: Value, out: Value, x: Any) -> Value:
    zero = x == 0
    safe = F.where(zero, 1.0 + x * 0, x)
    return g * F.where(zero, x * (-(math.pi**2) / 3), (F.cos(safe * math.pi) - out) / safe)


def _sinc(x: Array) -> Array:
    xp = array_module(x)
    turn = masking.where(x == 0, 1, x) * x.dtype.type(math.pi)
    return masking.where(x == 0, 1, xp.sin(turn) / turn).astype(x.dtype, copy=False)


sinc = function_of_number("sinc", _sinc, _sinc_slope).declare(
    "sin(pi x) / (pi x), and 1 at 0.",
    method=True,
    primitive=prim("Sinc"),
    mint=("sinc", "special.sinc"),
    numpy=renamed(input="x"),
)


def _signbit(x: Array) -> Array:
    return x < 0 if x.dtype.kind in "iub" else array_module(x).signbit(x)


signbit = unary("signbit", _signbit, None).declare(
    "Whether the sign is minus, that of -0.0 too: a Bool.", method=True, numpy=renamed(input="x")
)


def _population(x: Array) -> Array:
    xp = array_module(x)
    bits = x.astype(f"u{x.itemsize}")
    count = xp.zeros(x.shape, np.uint8)
    for shift in range(8 * x.itemsize):
        count += ((bits >> bits.dtype.type(shift)) & bits.dtype.type(1)).astype(np.uint8)
    return count


population_count = unary("population_count", _population, None).declare(
    "How many bits of an integer are 1, in two's complement: a UInt8.", primitive=prim("PopulationCount")
)

atan2 = Binary(
    "atan2",
    np.arctan2,
    (
        lambda F, g, out, x, y: fit(F, g * y / (x * x + y * y), x),
        lambda F, g, out, x, y: fit(F, -(g * x / (x * x + y * y)), y),
    ),
    scalar="atan2(x, y)",
    integers_to_float=True,
).declare(
    "The angle of the point with abscissa y and ordinate x, atan(x / y) in its quadrant, in [-pi, pi].",
    numpy=x1_x2("arctan2"),
    **everywhere("Atan2", "arctan2", "atan2"),
)
hypot = Binary(
    "hypot",
    np.hypot,
    (lambda F, g, out, x, y: fit(F, g * x / out, x), lambda F, g, out, x, y: fit(F, g * y / out, y)),
    scalar="hypot(x, y)",
    integers_to_float=True,
).declare("sqrt(x * x + y * y), without overflow.", method=True, primitive=prim("Hypot"), numpy=x1_x2())
logaddexp = Binary(
    "logaddexp",
    np.logaddexp,
    (lambda F, g, out, x, y: fit(F, g * F.exp(x - out), x), lambda F, g, out, x, y: fit(F, g * F.exp(y - out), y)),
    integers_to_float=True,
).declare("log(exp(x) + exp(y)), without overflow.", method=True, mint=True, numpy=x1_x2())
logaddexp2 = Binary(
    "logaddexp2",
    np.logaddexp2,
    (lambda F, g, out, x, y: fit(F, g * F.exp2(x - out), x), lambda F, g, out, x, y: fit(F, g * F.exp2(y - out), y)),
    integers_to_float=True,
).declare("log2(2**x + 2**y), without overflow.", method=True, mint=True, numpy=x1_x2())
gcd = Binary("gcd", np.gcd).declare(
    "The greatest common divisor of integers, 0 or above.", numpy=x1_x2(), **everywhere("Gcd")
)
lcm = Binary("lcm", np.lcm).declare(
    "The least common multiple of integers, 0 or above.", method=True, primitive=prim("Lcm"), numpy=x1_x2()
)
nextafter = Binary(
    "nextafter", np.nextafter, (lambda F, g, out, x, y: fit(F, g, x), None), integers_to_float=True
).declare(
    "The floating-point number after x on the way to y, as in C; its gradient by x is 1, that by y 0.",
    method=True,
    primitive=prim("NextAfter"),
)
_left = Binary("bitwise_left_shift", np.left_shift)
_right = Binary("bitwise_right_shift", np.right_shift)


@declare(method=True, primitive=prim("LeftShift"))
def bitwise_left_shift(input: Operand, other: Operand) -> Tensor:
    """Return the bits shifted to the left: input * 2**other, where that fits the dtype.

    Args:
        input: an integer tensor or an int.
        other: the number of bits, an integer tensor that broadcasts with ``input`` or an int.

    Returns:
        A tensor of the shape that both broadcast to, in the wider integer dtype.

    Raises:
        TypeError: an input is not of integers.
    """
    return _left(input, other)


@declare(method=True, primitive=prim("RightShift"))
def bitwise_right_shift(input: Operand, other: Operand) -> Tensor:
    """Return the bits shifted to the right: floor(input / 2**other).

    Args:
        input: an integer tensor or an int.
        other: the number of bits, an integer tensor that broadcasts with ``input`` or an int.

    Returns:
        A tensor of the shape that both broadcast to, in the wider integer dtype.

    Raises:
        TypeError: an input is not of integers.
    """
    return _right(input, other)


@declare(method=True, numpy=("deg2rad", "radians"))
def deg2rad(x: Tensor) -> Tensor:
    """Return degrees as radians: x * pi / 180.

    Args:
        x: a tensor of any shape.

    Returns:
        A tensor of the same shape; integers become Float32.

    Raises:
        TypeError: ``x`` is not a Tensor.
    """
    return arithmetic.mul(check_tensor(x, "deg2rad", "x"), math.pi / 180.0)


@declare(method=True, numpy=True)
def rad2deg(x: Tensor) -> Tensor:
    """Return radians as degrees: x * 180 / pi.

    Args:
        x: a tensor of any shape.

    Returns:
        A tensor of the same shape; integers become Float32.

    Raises:
        TypeError: ``x`` is not a Tensor.
    """
    return arithmetic.mul(check_tensor(x, "rad2deg", "x"), 180.0 / math.pi)


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


@declare(method=True, primitive=prim("Logit", eps=-1.0))
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """Return log(x / (1 - x)), the inverse of the sigmoid.

    Args:
        input: x, a tensor of any shape; the result is NaN outside [0, 1].
        eps: x is first limited to [eps, 1 - eps]; it is not if this is None or negative.

    Returns:
        A tensor of the shape and dtype of ``input``; integers become Float32.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    x = check_tensor(input, "logit")
    if eps is not None and check_real(eps, "logit", "eps") >= 0:
        clamped = arithmetic.clamp(x, float(eps), 1.0 - float(eps))
        x = where(comparison.isnan(x), math.nan, clamped)  # clamp turns NaN into a limit, as in MindSpore
    if eps is None or eps < 0:
        x = as_floats(x)
        outside = where(logical_and(x >= 0, x <= 1), 0.0, math.nan)
        x = x + as_dtype(outside, x._array.dtype)  # the gradient is NaN outside too
    return arithmetic.sub(exponentials.log(x), exponentials.log(1.0 - x))


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
    return Tensor._wrap(computed(_is_real, x))


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
    return Tensor._wrap(computed(_are_close, x._array, y._array, rtol=rtol, atol=atol, equal_nan=nan_is_close))


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


@declare(method=True, primitive=prim("Fmax"))
def fmax(input: Operand, other: Operand) -> Tensor:
    """Return the larger of the two, which gets the gradient (``input`` where they tie); where one is NaN, the other.

    Args:
        input: a tensor of any shape or a number.
        other: a tensor that broadcasts with ``input`` or a number.

    Returns:
        A tensor of the shape that both broadcast to, in the dtype that both promote to.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    x, y = operands("fmax", input, other)
    is_first = comparison.logical_or(comparison.ne(y, y), comparison.ge(x, y))
    return where(is_first, x, y)


@declare(method=True, primitive=prim("Fmin"))
def fmin(input: Operand, other: Operand) -> Tensor:
    """Return the smaller of the two, which gets the gradient (``input`` where they tie); where one is NaN, the other.

    Args:
        input: a tensor of any shape or a number.
        other: a tensor that broadcasts with ``input`` or a number.

    Returns:
        A tensor of the shape that both broadcast to, in the dtype that both promote to.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    x, y = operands("fmin", input, other)
    is_first = comparison.logical_or(comparison.ne(y, y), comparison.le(x, y))
    return where(is_first, x, y)


@declare(method=True, primitive=prim("Heaviside"), numpy=renamed(input="x1", values="x2"))
def heaviside(input: Tensor, values: Tensor | Number) -> Tensor:
    """Return the Heaviside step function: 0 where ``input`` is below 0, ``values`` where it is 0, 1 above.

    Args:
        input: a tensor of any shape.
        values: the result at 0, a tensor that broadcasts with ``input`` or a number.

    Returns:
        A tensor of the shape that both broadcast to. Only ``values`` gets a gradient.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    x = check_tensor(input, "heaviside")
    return where(comparison.eq(x, 0), values, cast_operator(comparison.gt(x, 0), dtype=x._array.dtype))


@declare(method=True)
def ldexp(x: Tensor, other: Operand) -> Tensor:
    """Return x * 2**other.

    Args:
        x: a tensor of any shape.
        other: the exponents, a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to; of integers, Float32.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``other`` neither a tensor nor a number.
    """
    if isinstance(other, int | float) and not isinstance(other, bool):
        return arithmetic.mul(check_tensor(x, "ldexp", "x"), 2.0**other)
    return arithmetic.mul(check_tensor(x, "ldexp", "x"), arithmetic.pow(2.0, check_tensor(other, "ldexp", "other")))


@declare(method=True, primitive=(prim("Lerp"), prim("LerpScalar")), mint=True)
def lerp(input: Tensor, end: Tensor, weight: Operand) -> Tensor:
    """Return the linear interpolation input + weight * (end - input).

    Args:
        input: the start, a floating tensor.
        end: the end, a tensor of the same dtype that broadcasts with ``input``.
        weight: the position between them, a number or a tensor that broadcasts: 0 is the start, 1 the end.

    Returns:
        A tensor of the shape that all broadcast to, of the dtype of ``input``.

    Raises:
        TypeError: ``input`` or ``end`` is not a Tensor, or their dtypes differ.
    """
    x, y = check_tensor(input, "lerp"), check_tensor(end, "lerp", "end")
    if x.dtype is not y.dtype:
        raise TypeError(f"For 'lerp', 'input' and 'end' must have one dtype, but got {x.dtype} and {y.dtype}")
    return x + arithmetic.mul(y - x, weight)


@declare(method=True, primitive=prim("Addcmul"))
def addcmul(input: Tensor, tensor1: Operand, tensor2: Operand, value: Operand = 1) -> Tensor:
    """Return input + value * tensor1 * tensor2.

    Args:
        input: the summand.
        tensor1: the first factor, which broadcasts with ``input``.
        tensor2: the second factor, which broadcasts with ``input``.
        value: another factor of the product, a number or a tensor.

    Returns:
        A tensor of the shape that all broadcast to.

    Raises:
        TypeError: ``input`` is not a Tensor, or another argument is neither a tensor nor a number.
    """
    return arithmetic.add(check_tensor(input, "addcmul"), arithmetic.mul(arithmetic.mul(tensor1, tensor2), value))


@declare(method=True, primitive=prim("Addcdiv"), mint=True)
def addcdiv(input: Tensor, tensor1: Operand, tensor2: Operand, value: Operand = 1) -> Tensor:
    """Return input + value * tensor1 / tensor2.

    Args:
        input: the summand.
        tensor1: the dividend, which broadcasts with ``input``.
        tensor2: the divisor, which broadcasts with ``input``.
        value: a factor of the quotient, a number or a tensor.

    Returns:
        A tensor of the shape that all broadcast to; of integers, Float32.

    Raises:
        TypeError: ``input`` is not a Tensor, or another argument is neither a tensor nor a number.
    """
    return arithmetic.add(check_tensor(input, "addcdiv"), arithmetic.mul(arithmetic.div(tensor1, tensor2), value))


@declare(method=True, primitive=prim("Xdivy"))
def xdivy(x: Operand, y: Operand) -> Tensor:
    """Return x / y, and 0 where x is 0, for any y.

    Args:
        x: the dividend, a tensor or a number.
        y: the divisor, a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to; of integers, Float32.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    zero, y = comparison.eq(x, 0), exponentials.without_bools(y, x)
    return where(zero, 0.0, arithmetic.div(x, where(zero, 1.0, y)))


@declare(primitive=prim("DivNoNan"))
def _div_no_nan(x: Operand, y: Operand) -> Tensor:
    """Return x / y, and 0 where y is 0, for any x.

    Args:
        x: the dividend, a tensor or a number.
        y: the divisor, a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to; of integers, Float32.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    zero = comparison.eq(y, 0)
    return where(zero, 0.0, arithmetic.div(x, where(zero, 1.0, y)))


@declare(primitive=prim("MulNoNan"))
def _mul_no_nan(x: Operand, y: Operand) -> Tensor:
    """Return x * y, and 0 where y is 0, even where x is infinite or NaN.

    Args:
        x: a tensor or a number.
        y: a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    zero = comparison.eq(y, 0)
    return where(zero, 0.0, arithmetic.mul(where(zero, 0.0, x), y))


@declare(primitive=prim("SquaredDifference"))
def _squared_difference(x: Operand, y: Operand) -> Tensor:
    """Return the square of x - y.

    Args:
        x: a tensor or a number.
        y: a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    return arithmetic.square(arithmetic.sub(x, y))


@declare(method=renamed(exponent="other"), mint=True)
def float_power(input: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """Return the power input**exponent, computed in Float64, or in Complex128 if one of the two is complex.

    Args:
        input: the base, a tensor or a number.
        exponent: a tensor that broadcasts with ``input`` or a number.

    Returns:
        A Float64 or Complex128 tensor of the shape that both broadcast to.

    Raises:
        TypeError: both are numbers, or an input is neither a tensor nor a number.
    """
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise TypeError("For 'float_power', one of 'input' and 'exponent' must be a Tensor, but got two numbers")
    values = operand("float_power", "input", input), operand("float_power", "exponent", exponent)
    kinds = [v._array.dtype.kind if isinstance(v, Tensor) else "c" if isinstance(v, complex) else "f" for v in values]
    dtype, number = (complex128.numpy, complex) if "c" in kinds else (float64.numpy, float)
    x, y = (as_dtype(v, dtype) if isinstance(v, Tensor) else number(v) for v in values)
    return arithmetic.pow(x, y)


float_power_ext = float_power


@declare(primitive=prim("TruncateDiv"))
def truncate_div(x: Operand, y: Operand) -> Tensor:
    """Return x / y rounded towards 0.

    Args:
        x: the dividend, a tensor or a number.
        y: the divisor, a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to, in the dtype that both promote to, integers included.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    return arithmetic.div(*operands("truncate_div", x, y), rounding_mode="trunc")


@declare(primitive=prim("RealDiv"))
def tensor_div(x: Operand, y: Operand) -> Tensor:
    """Return x / y, of integers without the fraction.

    Args:
        x: the dividend, a tensor or a number.
        y: the divisor, a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to, in the dtype that both promote to, integers included.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    dividend, divisor = operands("tensor_div", operand("tensor_div", "x", x), operand("tensor_div", "y", y))
    integers = (dividend if isinstance(dividend, Tensor) else divisor)._array.dtype.kind in "iu"
    return arithmetic.div(dividend, divisor, rounding_mode="trunc" if integers else None)


@declare(primitive=prim("TruncateMod"))
def truncate_mod(x: Operand, y: Operand) -> Tensor:
    """Return the remainder x - y * trunc(x / y), which has the sign of x.

    Args:
        x: the dividend, a tensor or a number.
        y: the divisor, a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to, in the dtype that both promote to.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    return arithmetic.fmod(x, y)


@declare(method=True, primitive=prim("Inv"))
def inv(x: Tensor) -> Tensor:
    """Return 1 / x, in the dtype of x.

    Args:
        x: a tensor of any shape; for integers the quotient is rounded towards 0.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor.
    """
    result = arithmetic.reciprocal(check_tensor(x, "inv", "x"))
    return cast_operator(result, dtype=x._array.dtype) if x._array.dtype.kind in "iu" else result


def clip_by_value(
    x: Tensor | Sequence[Tensor], clip_value_min: Operand | None = None, clip_value_max: Operand | None = None
) -> Any:
    """Return elements limited to [clip_value_min, clip_value_max]; NaN becomes a limit, the lower if there is one.

    An element that equals a limit shares the gradient with it half and half; one out of range passes it to the limit.

    Args:
        x: a tensor, or a tuple or list of tensors, each of which is limited.
        clip_value_min: the least value, a number or a tensor that broadcasts, in the dtype of ``x``; None for no limit.
        clip_value_max: the greatest value, likewise; it has precedence where it is below the least.

    Returns:
        A tensor of the shape and dtype of ``x``, or a tuple of them.

    Raises:
        TypeError: ``x`` is neither a tensor nor a tuple or list, or one of the three is complex.
        ValueError: neither limit is given, or one of the three is a bool or of dtype Bool.
    """
    if clip_value_min is None and clip_value_max is None:
        raise ValueError("For 'clip_by_value', at least one of 'clip_value_min' and 'clip_value_max' must be given")
    if isinstance(x, list | tuple):
        return tuple([clip_by_value(tensor, clip_value_min, clip_value_max) for tensor in x])
    result = check_tensor(x, "clip_by_value", "x")
    arithmetic.check_ordered("clip_by_value", x=x, clip_value_min=clip_value_min, clip_value_max=clip_value_max)
    for limit, combine in ((clip_value_min, arithmetic.maximum), (clip_value_max, arithmetic.minimum)):
        if limit is not None:
            bound = _in_dtype_of(result, limit)
            result = where(comparison.isnan(result), bound, combine(result, bound))
    return result


def _in_dtype_of(x: Tensor, limit: Operand) -> Operand:
    if isinstance(limit, Tensor):
        return as_dtype(limit, x._array.dtype)
    if x._array.dtype.kind not in "iu" or isinstance(limit, complex):
        return limit
    if limit != limit:
        raise ValueError(f"For 'clip_by_value', a limit of {x.dtype} must be a number, but got nan")
    range_ = np.iinfo(x._array.dtype)
    return int(min(max(limit, range_.min), range_.max))


arccos, arccosh, arcsin, arcsinh = acos, acosh, asin, asinh
arctan, arctan2, arctanh = atan, atan2, atanh
floordiv = tensor_floordiv = arithmetic.floor_divide
floor_div = alias(arithmetic.floor_divide, renamed("floor_div", input="x", other="y"))
floor_mod = alias(arithmetic.remainder, renamed("floor_mod", input="x", other="y"))
floormod = alias(arithmetic.remainder, renamed("floormod", input="x", other="y"))
tensor_mod = alias(arithmetic.remainder, renamed("tensor_mod", input="x", other="y"))
tensor_add, tensor_sub, tensor_mul, tensor_pow = arithmetic.add, arithmetic.sub, arithmetic.mul, arithmetic.pow
tensor_exp, tensor_expm1 = exponentials.exp, exponentials.expm1
tensor_gt, tensor_ge, tensor_lt, tensor_le = comparison.gt, comparison.ge, comparison.lt, comparison.le
