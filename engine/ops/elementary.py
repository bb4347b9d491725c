"""More functions of one and two numbers than ``arithmetic`` has: inverse trigonometry, bits, odd powers, NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtype import bfloat16, float32, float64
from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from . import arithmetic, comparison, exponentials
from .arguments import check_tensor
from .comparison import where
from .elementwise import Binary, as_dtype, cast_operator, fit, function_of_number, operands, unary

__all__ = [
    "acos", "acosh", "addcdiv", "addcmul", "approximate_equal", "arccos", "arccosh", "arcsin", "arcsinh", "arctan",
    "arctan2", "arctanh", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_left_shift",
    "bitwise_right_shift", "clip_by_value", "copysign", "deg2rad", "eps",
    "erfc", "exp2", "float_power", "float_power_ext", "floor_div", "floor_mod", "floordiv", "floormod", "fmax", "fmin",
    "frac", "gcd", "heaviside", "hypot", "inv", "is_complex", "is_floating_point", "is_nonzero",
    "isclose", "isneginf", "isposinf", "isreal", "lcm", "ldexp", "lerp", "log10", "logaddexp", "logaddexp2", "logit",
    "nan_to_num", "nextafter", "population_count", "positive", "rad2deg", "sgn", "signbit", "sinc", "tensor_add",
    "tensor_div", "tensor_exp", "tensor_expm1", "tensor_floordiv", "tensor_ge", "tensor_gt", "tensor_le", "tensor_lt",
    "tensor_mod", "tensor_mul", "tensor_pow", "tensor_sub", "truncate_div", "truncate_mod", "xdivy",
]  # fmt: skip

acos = function_of_number(
    "acos",
    np.arccos,
    lambda F, g, out, x: -(g * F.rsqrt(1 - x * x)),
    "The arc cosine.",
    method=("acos", "arccos"),
    primitive=prim("ACos"),
    mint=("acos", "arccos"),
)
asin = function_of_number(
    "asin",
    np.arcsin,
    lambda F, g, out, x: g * F.rsqrt(1 - x * x),
    "The arc sine.",
    method=("arcsin", "asin"),
    primitive=prim("Asin"),
    mint=("arcsin", "asin"),
)
atan = function_of_number(
    "atan",
    np.arctan,
    lambda F, g, out, x: g / (x * x + 1),
    "The arc tangent.",
    method=("arctan", "atan"),
    primitive=prim("Atan"),
    mint=("arctan", "atan"),
)
acosh = function_of_number(
    "acosh",
    np.arccosh,
    lambda F, g, out, x: g * F.rsqrt(x * x - 1),
    "The inverse hyperbolic cosine.",
    method=("acosh", "arccosh"),
    primitive=prim("Acosh"),
    mint=("acosh", "arccosh"),
)
asinh = function_of_number(
    "asinh",
    np.arcsinh,
    lambda F, g, out, x: g * F.rsqrt(x * x + 1),
    "The inverse hyperbolic sine.",
    method=("arcsinh", "asinh"),
    primitive=prim("Asinh"),
    mint=("arcsinh", "asinh"),
)
atanh = function_of_number(
    "atanh",
    np.arctanh,
    lambda F, g, out, x: g / (1 - x * x),
    "The inverse hyperbolic tangent.",
    method=("arctanh", "atanh"),
    primitive=prim("Atanh"),
    mint=("arctanh", "atanh"),
)
exp2 = function_of_number(
    "exp2", np.exp2, lambda F, g, out, x: g * out * math.log(2.0), "2 to the power x.", mint=("exp2", "special.exp2")
)
log10 = function_of_number(
    "log10",
    np.log10,
    lambda F, g, out, x: g / (x * math.log(10.0)),
    "The logarithm to base 10.",
    method=True,
    mint=True,
)


def _sinc_slope(F: Any, g: Any, out: Any, x: Any) -> Any:
    zero = x == 0
    safe = F.where(zero, 1.0 + x * 0, x)
    return g * F.where(zero, x * (-(math.pi**2) / 3), (F.cos(safe * math.pi) - out) / safe)


def _sinc(x: Any) -> Any:
    xp = array_module(x)
    turn = xp.where(x == 0, 1, x) * x.dtype.type(math.pi)
    return xp.where(x == 0, 1, xp.sin(turn) / turn).astype(x.dtype)


sinc = function_of_number(
    "sinc",
    _sinc,
    _sinc_slope,
    "sin(pi x) / (pi x), and 1 at 0.",
    method=True,
    primitive=prim("Sinc"),
    mint=("sinc", "special.sinc"),
    numpy=renamed(input="x"),
)


def _signbit(x: Any) -> Any:
    return x < 0 if x.dtype.kind in "iub" else array_module(x).signbit(x)


signbit = unary("signbit", _signbit, None, "Whether the sign is minus.", method=True, numpy=renamed(input="x"))


def _population(x: Any) -> Any:
    xp = array_module(x)
    bits = x.astype(f"u{x.itemsize}")
    count = xp.zeros(x.shape, np.uint8)
    for place in range(8 * x.itemsize):
        count += ((bits >> bits.dtype.type(place)) & bits.dtype.type(1)).astype(np.uint8)
    return count


population_count = unary(
    "population_count", _population, None, "How many bits are 1.", primitive=prim("PopulationCount")
)

atan2 = Binary(
    "atan2",
    np.arctan2,
    (
        lambda F, g, out, x, y: fit(F, g * y / (x * x + y * y), x),
        lambda F, g, out, x, y: fit(F, -(g * x / (x * x + y * y)), y),
    ),
    integers_to_float=True,
    doc="The angle of the point (y, x), in (-pi, pi].",
    method=("arctan2", "atan2"),
    primitive=prim("Atan2"),
    mint=("arctan2", "atan2"),
)
hypot = Binary(
    "hypot",
    np.hypot,
    (lambda F, g, out, x, y: fit(F, g * x / out, x), lambda F, g, out, x, y: fit(F, g * y / out, y)),
    integers_to_float=True,
    doc="sqrt(x * x + y * y), without overflow.",
    method=True,
    primitive=prim("Hypot"),
    numpy=renamed(input="x1", other="x2"),
)
logaddexp = Binary(
    "logaddexp",
    np.logaddexp,
    (lambda F, g, out, x, y: fit(F, g * F.exp(x - out), x), lambda F, g, out, x, y: fit(F, g * F.exp(y - out), y)),
    integers_to_float=True,
    doc="log(exp(x) + exp(y)), without overflow.",
    method=True,
    mint=True,
)
logaddexp2 = Binary(
    "logaddexp2",
    np.logaddexp2,
    (lambda F, g, out, x, y: fit(F, g * F.exp2(x - out), x), lambda F, g, out, x, y: fit(F, g * F.exp2(y - out), y)),
    integers_to_float=True,
    doc="log2(2**x + 2**y), without overflow.",
    method=True,
    mint=True,
)
gcd = Binary("gcd", np.gcd, doc="The greatest common divisor.", method=True, primitive=prim("Gcd"), mint=True)
lcm = Binary(
    "lcm",
    np.lcm,
    doc="The least common multiple.",
    method=True,
    primitive=prim("Lcm"),
    numpy=renamed(input="x1", other="x2"),
)
nextafter = Binary(
    "nextafter",
    np.nextafter,
    integers_to_float=True,
    doc="The floating-point number after x on the way to y.",
    method=True,
    primitive=prim("NextAfter"),
)
_left = Binary("bitwise_left_shift", np.left_shift)
_right = Binary("bitwise_right_shift", np.right_shift)


@declare(method=True, primitive=prim("LeftShift"))
def bitwise_left_shift(input: Any, other: Any) -> Any:
    """input * 2**other, on the bits."""
    return _left(input, other)


@declare(method=True, primitive=prim("RightShift"))
def bitwise_right_shift(input: Any, other: Any) -> Any:
    """floor(input / 2**other), on the bits."""
    return _right(input, other)


@declare(method=True, primitive=prim("Erfc"), mint=("erfc", "special.erfc"))
def erfc(input: Any) -> Any:
    """1 - erf(x)."""
    return 1.0 - exponentials.erf(input)


@declare(method=True, numpy=True)
def deg2rad(x: Tensor) -> Any:
    """Degrees as radians."""
    return arithmetic.mul(check_tensor(x, "deg2rad", "x"), math.pi / 180.0)


@declare(method=True, numpy=True)
def rad2deg(x: Tensor) -> Any:
    """Radians as degrees."""
    return arithmetic.mul(check_tensor(x, "rad2deg", "x"), 180.0 / math.pi)


@declare(method=True, mint=True)
def frac(x: Tensor) -> Any:
    """What is behind the point, with the sign of x."""
    return arithmetic.sub(x, arithmetic.trunc(x))


@declare(method=True)
def sgn(input: Tensor) -> Any:
    """The sign; of a complex number, the number of length 1 in its direction."""
    if check_tensor(input, "sgn")._array.dtype.kind != "c":
        return arithmetic.sign(input)
    length = arithmetic.abs(input)
    return where(
        comparison.eq(length, 0), input * 0, arithmetic.div(input, where(comparison.eq(length, 0), 1.0, length))
    )


@declare(method=True, numpy=renamed(input="a"))
def positive(input: Tensor) -> Any:
    """The tensor itself.

    Raises:
        TypeError: a bool tensor.
    """
    if check_tensor(input, "positive")._array.dtype.kind == "b":
        raise TypeError("For 'positive', 'input' must be numbers, but got a bool tensor")
    return input


@declare(method=True, primitive=prim("Logit", eps=-1.0))
def logit(input: Tensor, eps: float | None = None) -> Any:
    """log(x / (1 - x)); with ``eps`` x is first limited to [eps, 1 - eps]."""
    x = check_tensor(input, "logit")
    if eps is not None and eps >= 0:
        x = arithmetic.clamp(x, float(eps), 1.0 - float(eps))
    return exponentials.log(x / (1.0 - x))


@declare(method=True, primitive=prim("NanToNum", nan=None, posinf=None, neginf=None), mint=True)
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """NaN as ``nan`` (0), infinities as ``posinf`` and ``neginf`` (the dtype's greatest and least numbers)."""
    x = check_tensor(input, "nan_to_num")
    if x._array.dtype.kind in "biu":
        return x
    limits = np.finfo(x._array.dtype)
    kept = where(comparison.isnan(x), 0.0 if nan is None else nan, x)
    kept = where(comparison.eq(x, math.inf), float(limits.max) if posinf is None else posinf, kept)
    return where(comparison.eq(x, -math.inf), float(limits.min) if neginf is None else neginf, kept)


@declare(method=True, mint=True, numpy=renamed(input="x"))
def isneginf(input: Tensor) -> Any:
    """Whether an element is minus infinity."""
    return comparison.eq(check_tensor(input, "isneginf"), -math.inf)


@declare(method=True, numpy=renamed(input="x"))
def isposinf(input: Tensor) -> Any:
    """Whether an element is plus infinity."""
    return comparison.eq(check_tensor(input, "isposinf"), math.inf)


@declare(method=True)
def isreal(input: Tensor) -> Any:
    """Whether the imaginary part is 0."""
    x = check_tensor(input, "isreal")._array
    return Tensor._wrap(array_module(x).asarray(array_module(x).isreal(x)))


@declare(method=True, primitive=prim("IsClose", rtol=1e-05, atol=1e-08, equal_nan=False), mint=True)
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether abs(input - other) <= atol + rtol * abs(other)."""
    x, y = check_tensor(input, "isclose"), check_tensor(other, "isclose", "other")
    xp = array_module(x._array)
    return Tensor._wrap(xp.asarray(xp.isclose(x._array, y._array, rtol=rtol, atol=atol, equal_nan=equal_nan)))


@declare(method=True)
def _allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether abs(input - other) <= atol + rtol * abs(other) everywhere."""
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all())


@declare(method=True, primitive=prim("ApproximateEqual", tolerance=1e-05))
def approximate_equal(x: Tensor, y: Tensor, tolerance: float = 1e-5) -> Any:
    """Whether abs(x - y) < tolerance."""
    return comparison.lt(arithmetic.abs(arithmetic.sub(x, y)), tolerance)


@declare(method=True)
def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex numbers."""
    return bool(check_tensor(input, "is_complex")._array.dtype.kind == "c")


@declare(method=True)
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are real floating-point numbers."""
    return check_tensor(input, "is_floating_point").dtype.is_floating_point


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not 0.

    Raises:
        ValueError: not exactly one element.
    """
    if check_tensor(input, "is_nonzero").size != 1:
        raise ValueError(f"For 'is_nonzero', 'input' must have one element, but its shape is {input.shape}")
    return bool(input.item() != 0)


@declare(primitive=prim("Eps"))
def eps(x: Tensor) -> Any:
    """The spacing of the dtype at 1, in the shape of x."""
    dtype = check_tensor(x, "eps", "x")._array.dtype
    step = 2.0**-7 if x.dtype is bfloat16 else float(np.finfo(dtype).eps)
    return Tensor._wrap(array_module(x._array).full(x.shape, step, dtype))


@declare(method=True)
def copysign(x: Any, other: Any) -> Any:
    """The absolute value of x with the sign of ``other``."""
    size = arithmetic.abs(x if isinstance(x, Tensor) else Tensor(x))
    size = as_dtype(size, float32.numpy) if size._array.dtype.kind in "biu" else size
    sign = signbit(other if isinstance(other, Tensor) else Tensor(other))
    return where(sign, -size, size)


@declare(method=True, primitive=prim("Fmax"))
def fmax(input: Any, other: Any) -> Any:
    """The larger of the two; a NaN loses."""
    x, y = operands("fmax", input, other)
    return where(comparison.isnan(y), x, where(comparison.isnan(x), y, arithmetic.maximum(x, y)))


@declare(method=True, primitive=prim("Fmin"))
def fmin(input: Any, other: Any) -> Any:
    """The smaller of the two; a NaN loses."""
    x, y = operands("fmin", input, other)
    return where(comparison.isnan(y), x, where(comparison.isnan(x), y, arithmetic.minimum(x, y)))


@declare(method=True, primitive=prim("Heaviside"), numpy=renamed(input="x1", values="x2"))
def heaviside(input: Tensor, values: Tensor) -> Any:
    """0 below 0, ``values`` at 0, 1 above."""
    x = check_tensor(input, "heaviside")
    return where(comparison.eq(x, 0), values, cast_operator(comparison.gt(x, 0), dtype=x._array.dtype))


@declare(method=True)
def ldexp(x: Tensor, other: Tensor) -> Any:
    """x * 2**other."""
    return arithmetic.mul(check_tensor(x, "ldexp", "x"), arithmetic.pow(2.0, check_tensor(other, "ldexp", "other")))


@declare(method=True, primitive=(prim("Lerp"), prim("LerpScalar")), mint=True)
def lerp(input: Tensor, end: Tensor, weight: Any) -> Any:
    """input + weight * (end - input).

    Raises:
        TypeError: the dtypes of ``input`` and ``end`` differ.
    """
    x, y = check_tensor(input, "lerp"), check_tensor(end, "lerp", "end")
    if x.dtype is not y.dtype:
        raise TypeError(f"For 'lerp', 'input' and 'end' must have one dtype, but got {x.dtype} and {y.dtype}")
    return x + arithmetic.mul(y - x, weight)


@declare(method=True, primitive=prim("Addcmul"))
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Any:
    """input + value * tensor1 * tensor2."""
    return arithmetic.add(check_tensor(input, "addcmul"), arithmetic.mul(arithmetic.mul(tensor1, tensor2), value))


@declare(method=True, primitive=prim("Addcdiv"), mint=True)
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Any:
    """input + value * tensor1 / tensor2."""
    return arithmetic.add(check_tensor(input, "addcdiv"), arithmetic.mul(arithmetic.div(tensor1, tensor2), value))


@declare(method=True, primitive=prim("Xdivy"))
def xdivy(x: Any, y: Any) -> Any:
    """x / y, and 0 where x is 0."""
    zero = comparison.eq(x, 0)
    return where(zero, 0.0, arithmetic.div(x, where(zero, 1.0, y)))


@declare(primitive=prim("DivNoNan"))
def _div_no_nan(x: Any, y: Any) -> Tensor:
    """x / y, and 0 where y is 0."""
    zero = comparison.eq(y, 0)
    return where(zero, 0.0, arithmetic.div(x, where(zero, 1.0, y)))


@declare(primitive=prim("MulNoNan"))
def _mul_no_nan(x: Any, y: Any) -> Tensor:
    """x * y, and 0 where y is 0, whatever x is."""
    zero = comparison.eq(y, 0)
    return where(zero, 0.0, arithmetic.mul(where(zero, 0.0, x), y))


@declare(primitive=prim("SquaredDifference"))
def _squared_difference(x: Any, y: Any) -> Tensor:
    """(x - y) squared."""
    return arithmetic.square(arithmetic.sub(x, y))


@declare(method=True, mint=True, numpy=renamed(input="x1", exponent="x2"))
def float_power(input: Tensor | float, exponent: Tensor | float) -> Any:
    """The power computed in Float64."""
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise TypeError("For 'float_power', one of 'input' and 'exponent' must be a Tensor, but got two numbers")
    x, y = (as_dtype(v, float64.numpy) if isinstance(v, Tensor) else float(v) for v in (input, exponent))
    return arithmetic.pow(x, y)


float_power_ext = float_power


@declare(primitive=prim("TruncateDiv"))
def truncate_div(x: Any, y: Any) -> Any:
    """x / y rounded towards 0, in their own dtype."""
    first, second = operands("truncate_div", x, y)
    whole = first if isinstance(first, Tensor) else second
    return cast_operator(arithmetic.trunc(arithmetic.div(first, second)), dtype=whole._array.dtype)


@declare(primitive=prim("TruncateMod"))
def truncate_mod(x: Any, y: Any) -> Any:
    """The remainder of a division that rounds towards 0."""
    return arithmetic.fmod(x, y)


@declare(method=True, primitive=prim("Inv"))
def inv(x: Tensor) -> Any:
    """1 / x, in the dtype of x."""
    found = arithmetic.reciprocal(check_tensor(x, "inv", "x"))
    return cast_operator(found, dtype=x._array.dtype) if x._array.dtype.kind in "iu" else found


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Elements limited to [clip_value_min, clip_value_max]; also of each tensor in a tuple or list."""
    if isinstance(x, list | tuple):
        return type(x)([arithmetic.clamp(one, clip_value_min, clip_value_max) for one in x])
    return arithmetic.clamp(check_tensor(x, "clip_by_value", "x"), clip_value_min, clip_value_max)


arccos, arccosh, arcsin, arcsinh = acos, acosh, asin, asinh
arctan, arctan2, arctanh = atan, atan2, atanh
floor_div = floordiv = tensor_floordiv = arithmetic.floor_divide
floor_mod = floormod = tensor_mod = arithmetic.remainder
tensor_add, tensor_sub, tensor_mul, tensor_div, tensor_pow = (
    arithmetic.add,
    arithmetic.sub,
    arithmetic.mul,
    arithmetic.div,
    arithmetic.pow,
)
tensor_exp, tensor_expm1 = exponentials.exp, exponentials.expm1
tensor_gt, tensor_ge, tensor_lt, tensor_le = comparison.gt, comparison.ge, comparison.lt, comparison.le
