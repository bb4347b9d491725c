"""Elementwise arithmetic: sums, products, powers, rounding, the larger and the smaller of two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.surfaces import alias, declare, everywhere, prim, renamed
from ...base.types import Array, Functions, Number, Operand, TensorLike, Value
from ...cpu.array_module import array_module, first_array
from ...tensors.dtype import bool_
from ...tensors.operator import COMPLEX, NEGATED, PASSED, TIMES_OTHER
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant_array, holds
from ..arguments import int_of
from ..shapes.broadcasting import Binary, array_dtype, cast_operator, fit, function_of_number, operands, unary, x1_x2
from ..shapes.conversion import tensor_of
from ..shapes.copying import stop_gradient
from .comparison import eq, ge, logical_or, where

__all__ = [
    "abs",
    "absolute",
    "add",
    "ceil",
    "clamp",
    "clip",
    "div",
    "divide",
    "floor",
    "floor_divide",
    "fmod",
    "maximum",
    "minimum",
    "mul",
    "multiply",
    "neg",
    "negative",
    "pow",
    "pows",
    "reciprocal",
    "remainder",
    "round",
    "rsqrt",
    "sign",
    "sqrt",
    "square",
    "sub",
    "subtract",
    "true_divide",
    "trunc",
]


def _halves(F: Functions, g: Value, operand: Value, other: Value, loses: Value) -> Any:
    """Return a gradient of max or min: whole where this input wins, half where both tie, whole where either is NaN."""
    return fit(F, F.where(loses, F.zeros_like(g), F.where(operand == other, g * 0.5, g)), operand)


add = Binary("add", np.add, scalar="x + y", slopes=(PASSED, PASSED), takes_lists=True).declare(
    "x + y.", numpy=x1_x2(), primitive=(prim("Add"), prim("TensorAdd"))
)
sub = Binary("sub", np.subtract, scalar="x - y", slopes=(PASSED, NEGATED), takes_lists=True).declare(
    "x - y.", numpy=x1_x2("subtract"), primitive=prim("Sub")
)
mul = Binary("mul", np.multiply, scalar="x * y", slopes=(TIMES_OTHER, TIMES_OTHER)).declare(
    "x * y.",
    method=("mul", renamed("multiply", other="value")),
    in_place=True,
    primitive=prim("Mul"),
    mint=True,
    numpy=x1_x2("multiply"),
)
mul.scalars_as_numbers = True


class Division(Binary):
    """``div``, the quotient of which may be rounded."""

    scalars_as_numbers = True

    def documented(self, sentence: str) -> str:
        """Return the docstring for two operands, with the entry for ``rounding_mode``."""
        returns = "\n\nReturns:"
        entry = """
    rounding_mode: None for the quotient itself, "floor" for the greatest integer not above it, "trunc" for its
        integer part; the two keep an integer dtype. Anything else is a ValueError."""
        return super().documented(sentence).replace(returns, entry + returns)

    def __call__(self, input: Operand, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        if rounding_mode is None:
            return Binary.__call__(self, input, other)
        if rounding_mode == "floor":
            return floor_divide(input, other)
        if rounding_mode != "trunc":
            raise ValueError(f"For 'div', 'rounding_mode' must be None, 'floor' or 'trunc', but got {rounding_mode!r}")
        x, y = operands("div", input, other)
        dtype = (x if isinstance(x, Tensor) else y)._array.dtype
        if dtype.kind in "iu":  # a quotient in Float32 would not hold every integer
            return floor_divide(sub(x, fmod(x, y)), y)
        quotient = Binary.__call__(self, *stop_gradient((x, y)))  # the slope is 0, also by 0
        return cast_operator(trunc(quotient), dtype=dtype)


div = Division(
    "div",
    np.true_divide,
    (lambda F, g, out, x, y: fit(F, g / y, x), lambda F, g, out, x, y: fit(F, -(g * out / y), y)),
    scalar="x / y",
    integers_to_float=True,
).declare(
    "x / y.",
    method=("div", "divide", "true_divide"),
    in_place=True,
    numpy=[x1_x2(name, without=("rounding_mode",)) for name in ("divide", "true_divide")],
    primitive=prim("Div"),
    mint=("div", "divide"),
)


def _floor_divide(x: Any, y: Any) -> Any:
    """Return floor(x / y), but NaN of an infinite x, as in NumPy."""
    xp = array_module(first_array(x, y))
    quotient = xp.floor_divide(x, y)
    if quotient.dtype.kind == "f" and (xp is not np or xp.isinf(x).any()):  # without waiting for a GPU
        return xp.where(xp.isinf(x), x / y, quotient).astype(quotient.dtype)
    return quotient


floor_divide = Binary("floor_divide", _floor_divide, takes_lists=True).declare(
    "floor(x / y), the greatest integer not above the quotient; its gradient is 0.",
    in_place=True,
    numpy=x1_x2(),
    **everywhere("FloorDiv"),
)
remainder = Binary(
    "remainder",
    np.remainder,
    (lambda F, g, out, x, y: fit(F, g, x), lambda F, g, out, x, y: fit(F, -(g * F.floor_divide(x, y)), y)),
).declare(
    "x - floor(x / y) * y, with the sign of y.",
    in_place=True,
    numpy=[x1_x2(name) for name in ("remainder", "mod")],
    method=renamed(other="divisor"),
    primitive=prim("FloorMod"),
    mint=True,
)
fmod = Binary(
    "fmod", np.fmod, (lambda F, g, out, x, y: fit(F, g, x), lambda F, g, out, x, y: fit(F, -(g * F.trunc(x / y)), y))
).declare("x - trunc(x / y) * y, the remainder with the sign of x.", numpy=x1_x2(), **everywhere("Mod"))


def _pow_base(F: Functions, g: Value, out: Value, x: Value, y: Value) -> Any:
    return fit(F, g * (y * x ** (y - 1)), x)


def _pow_exponent(F: Functions, g: Value, out: Value, x: Any, y: Value) -> Any:
    if isinstance(x, int | float | np.generic):
        base = float(x)
        return fit(F, g * out * math.log(base) if base > 0 else g * (0.0 if base == 0 else math.nan), y)
    positive = x > 0
    elsewhere = F.where(x == 0, F.zeros_like(out), math.nan)
    return fit(F, g * F.where(positive, out * F.log(F.where(positive, x, 1.0)), elsewhere), y)


def _are_not_negative(powers: Array) -> bool:
    return not (powers < 0).any()


class Power(Binary):
    """``pow``, the second argument of which is named ``exponent``."""

    second = "exponent"

    def documented(self, sentence: str) -> str:
        """Return the docstring for two operands, with that name."""
        return super().documented(sentence).replace("    other: y", "    exponent: y")

    def __call__(self, input: Operand, exponent: Operand) -> Tensor:
        x, y = operands(self.name, input, exponent, second=self.second)
        if isinstance(exponent, int) and not isinstance(exponent, bool):
            y = exponent  # not wrapped around into an unsigned type
        powers = (y._array if isinstance(y, Tensor) else constant_array(np.asarray(y))) if _are_integers(x) else None
        if powers is None or powers.dtype.kind != "i" or holds(_are_not_negative, powers):
            return Binary.__call__(self, x, y)
        # 1 / x**|y| without its fraction: nonzero only where |x| is 1.
        power = Binary.__call__(self, x, abs(y) if isinstance(y, Tensor) else -y)
        return where(logical_or(ge(y, 0), eq(abs(x if isinstance(x, Tensor) else Tensor(x)), 1)), power, 0)


def _are_integers(x: Any) -> bool:
    return x._array.dtype.kind in "iu" if isinstance(x, Tensor) else isinstance(x, int) and not isinstance(x, bool)


pow = Power("pow", np.power, (_pow_base, _pow_exponent), scalar="x ** y").declare(
    "x to the power y, of integers without the fraction; the gradient by y is 0 where x is 0, NaN where x < 0.",
    method=True,
    primitive=prim("Pow"),
    numpy=renamed("power", input="x1", exponent="x2"),
)
pows = pow
maximum = Binary(
    "maximum",
    np.maximum,
    (lambda F, g, out, x, y: _halves(F, g, x, y, x < y), lambda F, g, out, x, y: _halves(F, g, y, x, y < x)),
    scalar="max(x, y)",
).declare(
    "The larger of x and y, NaN where either is NaN; where they tie, each gets half of the gradient.",
    numpy=x1_x2(),
    **everywhere("Maximum"),
)
minimum = Binary(
    "minimum",
    np.minimum,
    (lambda F, g, out, x, y: _halves(F, g, x, y, x > y), lambda F, g, out, x, y: _halves(F, g, y, x, y > x)),
    scalar="min(x, y)",
).declare(
    "The smaller of x and y, NaN where either is NaN; where they tie, each gets half of the gradient.",
    numpy=x1_x2(),
    **everywhere("Minimum"),
)
multiply, divide = mul, div
true_divide = alias(div, renamed("true_divide", without=("rounding_mode",), input="dividend", other="divisor"))


def _sign_rule(F: Functions, g: Value, out: Value, x: Value) -> Any:
    if array_dtype(x) not in COMPLEX:
        return F.zeros_like(g)
    # The part of g tangential to the unit circle turns the sign, by 1 / |x|; the radial part has no effect.
    length = F.abs(x)
    elsewhere = F.cast(F.ne(length, 0.0), dtype=array_dtype(length))
    return (g - out * F.real(F.conj(out) * g)) * elsewhere / (length + (1.0 - elsewhere))


neg = unary("neg", np.negative, lambda F, g, out, x: -g, scalar="-x").declare(
    "-x.", numpy=renamed("negative", input="a"), **everywhere("Neg", "neg", "negative")
)
abs = unary("abs", np.abs, lambda F, g, out, x: g * F.sign(x), scalar="abs(x)").declare(
    "|x|, of a complex number its real length; the gradient at 0 and at NaN is 0.",
    method=("abs", "absolute"),
    primitive=(prim("Abs"), prim("ComplexAbs")),
    mint=True,
    numpy=[renamed(name, input="x") for name in ("abs", "absolute", "fabs")],
)


def _sign(x: Array) -> Array:
    return array_module(x).sign(x) if x.dtype in COMPLEX else (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)


sign = unary("sign", _sign, _sign_rule, scalar="where(x > 0, 1, where(x < 0, -1, 0))", analytic=False).declare(
    "-1, 0 or 1 as x is negative, 0 or NaN, or positive; of a complex number x / |x|, and 0 of 0.",
    in_place=True,
    **everywhere("Sign"),
)
square = unary("square", np.square, lambda F, g, out, x: g * (x * 2), scalar="x * x").declare(
    "x * x.", numpy=renamed(input="x"), **everywhere("Square")
)
sqrt = function_of_number("sqrt", np.sqrt, lambda F, g, out, x: g / (out * 2), scalar="sqrt(x)").declare(
    "The square root of x, NaN of negative real numbers.", numpy=renamed(input="x"), **everywhere("Sqrt")
)
rsqrt = function_of_number(
    "rsqrt",
    lambda x: x.dtype.type(1) / array_module(x).sqrt(x),
    lambda F, g, out, x: g * (out / x) * -0.5,
    scalar="1 / sqrt(x)",
).declare("1 / sqrt(x).", **everywhere("Rsqrt"))
reciprocal = function_of_number(
    "reciprocal", lambda x: x.dtype.type(1) / x, lambda F, g, out, x: -(g * out * out), scalar="1 / x"
).declare("1 / x.", numpy=renamed(input="x"), **everywhere("Reciprocal"))
floor = unary("floor", np.floor, lambda F, g, out, x: F.zeros_like(g), scalar="floor(x)").declare(
    "The greatest integer not above x; its gradient is 0.",
    in_place=True,
    numpy=renamed(input="x"),
    **everywhere("Floor"),
)
ceil = unary("ceil", np.ceil, lambda F, g, out, x: F.zeros_like(g), scalar="ceil(x)").declare(
    "The smallest integer not below x; its gradient is 0.", numpy=renamed(input="x"), **everywhere("Ceil")
)
_rint = unary(
    "round",
    lambda x: array_module(x).rint(x) if x.dtype.kind in "fVc" else x,
    lambda F, g, out, x: F.zeros_like(g),
    scalar="rint(x)",
).declare("The nearest integer, halves to the even one; its gradient is 0.", numpy=renamed("rint", input="x"))
trunc = unary("trunc", np.trunc, lambda F, g, out, x: F.zeros_like(g), scalar="trunc(x)").declare(
    "The integer part of x, rounded towards 0; its gradient is 0.",
    method=True,
    primitive=prim("Trunc"),
    mint=("trunc", "fix"),
    numpy=renamed(input="x"),
)
absolute, negative = abs, neg


@declare(method=True, primitive=prim("Rint"), mint=("round", "special.round"))
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Return the nearest number with ``decimals`` decimal places, halves to the even one; its gradient is 0.

    Args:
        input: a tensor of any shape.
        decimals: the number of decimal places; a negative one rounds to tens, hundreds and so on.

    Returns:
        A tensor of the shape of ``input`` and its dtype; with ``decimals``, integers become Float32.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    decimal_places = int_of(decimals, "round", "decimals")
    if not decimal_places:
        return _rint(input)
    scale = 10.0**decimal_places
    return div(_rint(mul(input, scale)), scale)


@declare(primitive=prim("Round"))
def _round(input: Tensor, decimals: int = 0) -> Tensor:
    """Return the nearest number with ``decimals`` decimal places, halves to the even one; its gradient is 0.

    Args:
        input: a tensor of any shape.
        decimals: the number of decimal places; a negative one rounds to tens, hundreds and so on.

    Returns:
        A tensor of the shape of ``input`` and its dtype; with ``decimals``, integers become Float32.
    """
    return round(input, decimals=decimals)


def scaled(other: Operand, alpha: Number) -> Operand:
    """Return alpha * other; a number stays a number, so that it takes the dtype of the other operand."""
    if isinstance(alpha, int) and alpha == 1:
        return other
    numbers = int | float | complex
    return other * alpha if isinstance(other, numbers) and isinstance(alpha, numbers) else mul(other, alpha)


def _listed(other: Operand) -> Operand:
    """Return a list or tuple as a tensor, which methods accept, but functions do not."""
    return tensor_of(other) if isinstance(other, list | tuple) else other


@declare(method="add", in_place="add_")
def _add_scaled(input: Tensor, other: Operand, *, alpha: Number = 1) -> Tensor:
    """Return input + alpha * other, element by element.

    Args:
        input: a tensor.
        other: a tensor that broadcasts with ``input``, or a number.
        alpha: the factor of ``other``, a number.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        TypeError: ``other`` is neither a tensor nor a number.
    """
    return add.of_method(input, scaled(_listed(other), alpha))


@declare(method=("sub", "subtract"), in_place="sub_")
def subtract(input: Operand, other: Operand, *, alpha: Number = 1) -> Tensor:
    """Return input - alpha * other, element by element.

    Args:
        input: a tensor or a number.
        other: a tensor that broadcasts with ``input``, or a number; one of the two must be a tensor.
        alpha: the factor of ``other``, a number.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    return sub.of_method(input, scaled(_listed(other), alpha))


def check_ordered(name: str, **values: object) -> None:
    """Refuse complex numbers, which have no order, with a TypeError, and bools with a ValueError."""
    *quoted, last = (f"'{key}'" for key in values)
    names = f"{', '.join(quoted)} and {last}"
    if any(isinstance(x, complex) or (isinstance(x, Tensor) and x._array.dtype.kind == "c") for x in values.values()):
        raise TypeError(f"For '{name}', {names} must be real numbers, but got complex ones")
    if any(isinstance(x, bool) or (isinstance(x, Tensor) and x.dtype is bool_) for x in values.values()):
        raise ValueError(f"For '{name}', {names} must be numbers, but got bools")


@declare(method=("clamp", "clip"), in_place=True, mint=True)
def clamp(input: TensorLike, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """Return min(max(input, ``min``), ``max``), element by element; NaN becomes a limit, the lower if there is one.

    An element that equals a limit keeps its gradient; one out of range passes the gradient to the limit.

    Args:
        input: a tensor.
        min: the lower limit, a number or a tensor that broadcasts with ``input``; None for no limit.
        max: the upper limit, likewise; where it is below ``min``, elements become ``max``.

    Returns:
        A tensor of the shape that the arguments broadcast to, in the dtype that they combine to.

    Raises:
        TypeError: one of the three is complex, which has no order.
        ValueError: neither limit is given, or one of the three is a bool or of dtype Bool.
    """
    check_ordered("clamp", input=input, min=min, max=max)
    if not isinstance(input, Tensor | int | float | np.ndarray | np.generic):
        raise TypeError(f"For 'clamp', 'input' must be a Tensor or a number, but got {type(input).__name__}")
    if min is None and max is None:
        raise ValueError("For 'clamp', at least one of 'min' and 'max' must be given")
    result: Any = input
    if min is not None:
        result = where(result >= min, result, min)
    if max is not None:
        result = where(result <= max, result, max)
    return result


clip = clamp


@declare(primitive=prim("AddV2"))
def _add_of_one_shape(x: Tensor, y: Tensor) -> Tensor:
    """Return the sum of two tensors of the same shape, element by element.

    Args:
        x: the first tensor.
        y: the second tensor.

    Returns:
        A tensor of that shape and of the dtype that both are promoted to.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: the shapes differ.
    """
    for argument, value in (("x", x), ("y", y)):
        if not isinstance(value, Tensor):
            raise TypeError(f"For 'AddV2', '{argument}' must be a Tensor, but got {type(value).__name__}")
    if x.shape != y.shape:
        raise ValueError(f"For 'AddV2', 'x' and 'y' must have one shape, but got {x.shape} and {y.shape}")
    result: Tensor = add(x, y)
    return result
