"""Powers, logarithms of sums, interpolation and further functions of one to three tensors."""

from __future__ import annotations

import math

import numpy as np

from ...base.argument_checks import check_real
from ...base.surfaces import declare, prim, renamed
from ...base.types import Number, Operand
from ...tensors.dtype import complex128, float64
from ...tensors.tensor import Tensor
from ..arguments import check_tensor
from ..shapes.broadcasting import (
    Binary,
    as_dtype,
    as_floats,
    cast_operator,
    fit,
    function_of_number,
    operand,
    operands,
    x1_x2,
)
from . import arithmetic, comparison, exponentials
from .comparison import logical_and, where

__all__ = [
    "addcdiv",
    "addcmul",
    "exp2",
    "float_power",
    "float_power_ext",
    "fmax",
    "fmin",
    "heaviside",
    "ldexp",
    "lerp",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logit",
    "xdivy",
]

exp2 = function_of_number("exp2", np.exp2, lambda F, g, out, x: g * out * math.log(2.0), scalar="exp2(x)").declare(
    "2 to the power x.", mint=("exp2", "special.exp2"), numpy=renamed(input="x")
)

log10 = function_of_number("log10", np.log10, lambda F, g, out, x: g / (x * math.log(10.0)), scalar="log10(x)").declare(
    "The logarithm to base 10; NaN below 0.", method=True, mint=True, numpy=renamed(input="x")
)

_cbrt = function_of_number("cbrt", np.cbrt, lambda F, g, out, x: g / (out * out * 3)).declare(
    "The cube root, negative below 0.", numpy=renamed(input="x")
)

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
