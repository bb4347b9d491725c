"""Exponentials, logarithms, circular and hyperbolic functions, element by element."""

from __future__ import annotations

import math

import numpy as np

from ...base.surfaces import declare, everywhere, prim, renamed
from ...base.types import Operand
from ...cpu.neural import activation as activation_kernels
from ...tensors.tensor import Tensor
from ..shapes.broadcasting import as_dtype, function_of_number
from .arithmetic import mul
from .comparison import eq, gt, logical_and, logical_not, lt, where

__all__ = ["cos", "cosh", "erf", "erfc", "exp", "expm1", "log", "log1p", "log2", "sin", "sinh", "tan", "xlogy"]
exp = function_of_number("exp", np.exp, lambda F, g, out, x: g * out, scalar="exp(x)").declare(
    "e to the power x.", in_place=True, numpy=renamed(input="x"), **everywhere("Exp")
)
expm1 = function_of_number("expm1", np.expm1, lambda F, g, out, x: g * (out + 1), scalar="expm1(x)").declare(
    "exp(x) - 1, exact near 0.",
    method=True,
    primitive=prim("Expm1"),
    mint=("expm1", "special.expm1"),
    numpy=renamed(input="x"),
)
log = function_of_number("log", np.log, lambda F, g, out, x: g / x, scalar="log(x)").declare(
    "The natural logarithm; NaN below 0.", in_place=True, numpy=renamed(input="x"), **everywhere("Log")
)
log1p = function_of_number("log1p", np.log1p, lambda F, g, out, x: g / (x + 1), scalar="log1p(x)").declare(
    "log(1 + x), exact near 0; NaN below -1.",
    method=True,
    primitive=prim("Log1p"),
    mint=("log1p", "special.log1p"),
    numpy=renamed(input="x"),
)
log2 = function_of_number("log2", np.log2, lambda F, g, out, x: g / (x * float(np.log(2.0))), scalar="log2(x)").declare(
    "The logarithm to base 2; NaN below 0.", method=True, mint=True, numpy=renamed(input="x")
)
sin = function_of_number("sin", np.sin, lambda F, g, out, x: g * F.cos(x), scalar="sin(x)").declare(
    "The sine of an angle in radians.", numpy=renamed(input="x"), **everywhere("Sin")
)
cos = function_of_number("cos", np.cos, lambda F, g, out, x: -(g * F.sin(x)), scalar="cos(x)").declare(
    "The cosine of an angle in radians.", numpy=renamed(input="x"), **everywhere("Cos")
)
tan = function_of_number("tan", np.tan, lambda F, g, out, x: g * (out * out + 1), scalar="tan(x)").declare(
    "The tangent of an angle in radians.", numpy=renamed(input="x"), **everywhere("Tan")
)
sinh = function_of_number("sinh", np.sinh, lambda F, g, out, x: g * F.cosh(x), scalar="sinh(x)").declare(
    "The hyperbolic sine, (exp(x) - exp(-x)) / 2.", numpy=renamed(input="x"), **everywhere("Sinh")
)
cosh = function_of_number("cosh", np.cosh, lambda F, g, out, x: g * F.sinh(x), scalar="cosh(x)").declare(
    "The hyperbolic cosine, (exp(x) + exp(-x)) / 2.", numpy=renamed(input="x"), **everywhere("Cosh")
)
erf = function_of_number(
    "erf", activation_kernels.erf, lambda F, g, out, x: g * F.exp(-(x * x)) * float(2 / np.sqrt(np.pi)), scalar="erf(x)"
).declare("The error function, 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x.", **everywhere("Erf"))
erfc = function_of_number(
    "erfc",
    activation_kernels.erfc,
    lambda F, g, out, x: g * F.exp(-(x * x)) * float(-2 / np.sqrt(np.pi)),
    scalar="erfc(x)",
).declare(
    "The complementary error function, 1 - erf(x), also where that is much smaller than 1.",
    method=True,
    primitive=prim("Erfc"),
    mint=("erfc", "special.erfc"),
)


@declare(method=True, primitive=prim("Xlogy"), mint=True)
def xlogy(input: Operand, other: Operand) -> Tensor:
    """Return input * log(other), and 0 where ``input`` is 0, for any ``other`` but NaN.

    Args:
        input: the factor, a tensor of any shape or a number.
        other: the argument of the logarithm, a tensor that broadcasts with ``input`` or a number.

    Returns:
        A tensor of the shape that both broadcast to; of integers, Float32.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    other = without_bools(other, input)
    # Only where the logarithm is not finite: elsewhere 0 * log(other) has the gradient log(other).
    zero = logical_and(eq(input, 0), logical_not(logical_and(gt(other, 0), lt(other, math.inf))))
    zero = logical_and(zero, eq(other, other))  # NaN stays NaN
    return where(zero, 0.0, mul(input, log(where(zero, 1.0, other))))


def without_bools(y: Operand, x: Operand) -> Operand:
    """Return ``y``; if it is of bools and ``x`` of floats, in the dtype of ``x``, so that the result is not wider."""
    if isinstance(x, Tensor) and isinstance(y, Tensor) and x._array.dtype.kind in "fV" and y._array.dtype.kind == "b":
        return as_dtype(y, x._array.dtype)
    return y
