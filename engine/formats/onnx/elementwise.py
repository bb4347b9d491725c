"""Converters of elementwise operators.

Most are one ONNX node, in a table. The others are formulas; single precision is computed in double where the formula
would lose digits that the operator keeps.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .draft import Draft, Edge, UnsupportedError, computable, converts

__all__: list[str] = []

_NODES = {
    "abs": "Abs",
    "acos": "Acos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "cos": "Cos",
    "cosh": "Cosh",
    "erf": "Erf",
    "exp": "Exp",
    "log": "Log",
    "neg": "Neg",
    "reciprocal": "Reciprocal",
    "sigmoid": "Sigmoid",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
    "add": "Add",
    "div": "Div",
    "maximum": "Max",
    "minimum": "Min",
    "mul": "Mul",
    "pow": "Pow",
    "sub": "Sub",
}
"""Arithmetic operators with a single node."""
_COMPARISONS = {"eq": "Equal", "ge": "GreaterOrEqual", "gt": "Greater", "le": "LessOrEqual", "lt": "Less"}
_LOGIC = {"logical_and": "And", "logical_not": "Not", "logical_or": "Or", "logical_xor": "Xor"}
_BITS = {
    "bitwise_and": ("And", "BitwiseAnd"),
    "bitwise_or": ("Or", "BitwiseOr"),
    "bitwise_xor": ("Xor", "BitwiseXor"),
    "bitwise_not": ("Not", "BitwiseNot"),
}


def _arithmetic(kind: str, d: Draft, *operands: Any) -> Edge:
    return d.each(kind, *[x.cast(computable(x.dtype)) for x in d.alike(*operands)])


def _bitwise(kinds: tuple[str, str], d: Draft, *operands: Any) -> Edge:
    edges = d.alike(*operands)
    return d.each(kinds[edges[0].dtype.kind != "b"], *edges)


for _name, _kind in _NODES.items():
    converts(_name)(functools.partial(_arithmetic, _kind))
for _name, _kind in _COMPARISONS.items():
    converts(_name)(functools.partial(lambda kind, d, *operands: d.compare(kind, *operands), _kind))
for _name, _kind in _LOGIC.items():
    converts(_name)(
        functools.partial(lambda kind, d, *operands: d.each(kind, *[_truth(d, x) for x in operands]), _kind)
    )
for _name, _kinds in _BITS.items():
    converts(_name)(functools.partial(_bitwise, _kinds))


def _truth(d: Draft, x: Any) -> Edge:
    return x.cast(np.bool_) if isinstance(x, Edge) else d.constant(bool(x))


def _accurate(*edges: Edge) -> list[Edge]:
    return [x.cast(np.float64) for x in edges]


def _floats(d: Draft, *operands: Any) -> list[Edge]:
    """Return operands in one floating type in which several steps can be computed."""
    return [x.wide() for x in d.alike(*operands)]


@converts("ne")
def _ne(d: Draft, x: Any, y: Any) -> Edge:
    return ~d.compare("Equal", x, y)


@converts("identity", "contiguous", "deepcopy", "move_to", "stop_gradient", "conj", "real")
def _identity(d: Draft, x: Edge, **attrs: Any) -> Edge:
    return d("Identity", x, shape=x.shape)


@converts("cast")
def _cast(d: Draft, x: Edge, dtype: np.dtype[Any]) -> Edge:
    return x.cast(dtype) if x.dtype != dtype else _identity(d, x)


@converts("where")
def _where(d: Draft, condition: Edge, x: Any, y: Any) -> Edge:
    return d.where(_truth(d, condition), x, y)


@converts("zeros_like")
def _zeros(d: Draft, x: Edge) -> Edge:
    return d("Expand", d.constant(0, x.dtype), d.ints(x.shape), shape=x.shape)


# Rounding and signs


def _of_fractions(kind: str, d: Draft, x: Edge) -> Edge:
    return d.each(kind, x.cast(computable(x.dtype))) if x.dtype.kind in "fV" else _identity(d, x)


for _name, _kind in (("ceil", "Ceil"), ("floor", "Floor"), ("round", "Round")):
    converts(_name)(functools.partial(_of_fractions, _kind))


@converts("trunc")
def _trunc(d: Draft, x: Edge) -> Edge:
    if x.dtype.kind in "biu":
        return _identity(d, x)
    x = x.wide()
    return d.where(x < 0, d.each("Ceil", x), d.each("Floor", x))


@converts("sign")
def _sign(d: Draft, x: Edge) -> Edge:
    x = x.wide()
    return (x > 0).cast(x.dtype) - (x < 0).cast(x.dtype)  # NaN gives 0


@converts("signbit")
def _signbit(d: Draft, x: Edge) -> Edge:
    if x.dtype.kind in "biu":
        return x < 0
    x = x.wide()
    return (x < 0) | (1 / x < 0)


@converts("isnan")
def _isnan(d: Draft, x: Edge) -> Edge:
    return d.each("IsNaN", x.wide(), dtype=np.bool_) if x.dtype.kind in "fV" else _never(d, x)


@converts("isinf")
def _isinf(d: Draft, x: Edge) -> Edge:
    return d.each("IsInf", x.wide(), dtype=np.bool_) if x.dtype.kind in "fV" else _never(d, x)


@converts("isfinite")
def _isfinite(d: Draft, x: Edge) -> Edge:
    return ~(_isnan(d, x) | _isinf(d, x))


def _never(d: Draft, x: Edge) -> Edge:
    return d("Expand", d.constant(False), d.ints(x.shape), shape=x.shape)


# Powers and logarithms


@converts("square")
def _square(d: Draft, x: Edge) -> Edge:
    return _arithmetic("Mul", d, x, x)


@converts("rsqrt")
def _rsqrt(d: Draft, x: Edge) -> Edge:
    return 1 / d.each("Sqrt", x.wide())


@converts("cbrt")
def _cbrt(d: Draft, x: Edge) -> Edge:
    (x,) = _accurate(x)
    return _sign(d, x) * d.each("Pow", d.each("Abs", x), 1 / 3)


@converts("exp2")
def _exp2(d: Draft, x: Edge) -> Edge:
    return d.each("Pow", 2.0, x.wide())


@converts("expm1")
def _expm1(d: Draft, x: Edge) -> Edge:
    (x,) = _accurate(x)
    series = x * (1 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24))))
    return d.where(d.each("Abs", x) < 1e-3, series, d.each("Exp", x) - 1.0)


@converts("log1p")
def _log1p(d: Draft, x: Edge) -> Edge:
    (x,) = _accurate(x)
    series = x * (1 - x * (1 / 2 - x * (1 / 3 - x * (1 / 4))))
    return d.where(d.each("Abs", x) < 1e-3, series, d.each("Log", x + 1.0))


@converts("log2")
def _log2(d: Draft, x: Edge) -> Edge:
    return d.each("Log", *_accurate(x)) * (1 / math.log(2))


@converts("log10")
def _log10(d: Draft, x: Edge) -> Edge:
    return d.each("Log", *_accurate(x)) * (1 / math.log(10))


@converts("logaddexp")
def _logaddexp(d: Draft, x: Any, y: Any) -> Edge:
    x, y = _accurate(*d.alike(x, y))
    difference = d.where(x.equals(y), 0.0, x - y)  # also for equal infinities
    return d.each("Max", x, y) + _log1p(d, d.each("Exp", -d.each("Abs", difference)))


@converts("logaddexp2")
def _logaddexp2(d: Draft, x: Any, y: Any) -> Edge:
    x, y = _accurate(*d.alike(x, y))
    return _logaddexp(d, x * math.log(2), y * math.log(2)) * (1 / math.log(2))


@converts("hypot")
def _hypot(d: Draft, x: Any, y: Any) -> Edge:
    x, y = _accurate(*d.alike(x, y))
    length = d.each("Sqrt", x * x + y * y)
    return d.where(_isinf(d, x) | _isinf(d, y), math.inf, length)  # also with NaN


@converts("sinc")
def _sinc(d: Draft, x: Edge) -> Edge:
    x = x.wide()
    angle = d.where(x.equals(0), 1, x) * math.pi
    return d.where(x.equals(0), 1, d.each("Sin", angle) / angle)


@converts("atan2")
def _atan2(d: Draft, y: Any, x: Any) -> Edge:
    y, x = _floats(d, y, x)
    abs_y, abs_x = d.each("Abs", y), d.each("Abs", x)
    unbounded = _isinf(d, abs_y) & _isinf(d, abs_x)
    are_zero = abs_y.equals(0) & abs_x.equals(0)
    ratio = d.where(are_zero, 0, d.where(unbounded, 1, abs_y / abs_x))
    angle = d.each("Atan", ratio)
    angle = d.where(_signbit(d, x), math.pi - angle, angle)
    return d.where(_signbit(d, y), -angle, angle)


# Integer quotients


def _of_whole_numbers(d: Draft, x: Any, y: Any, compute: Callable[[Edge, Edge], Edge]) -> Edge:
    """Return a quotient or a remainder of integers; 0 for a divisor of 0, on which runtimes abort."""
    dividend, divisor = _floats(d, x, y)
    if not isinstance(y, Edge) and y:
        return compute(dividend, divisor)
    is_zero = divisor.equals(0)
    return d.where(is_zero, 0, compute(dividend, d.where(is_zero, 1, divisor)))


@converts("fmod")
def _fmod(d: Draft, x: Any, y: Any) -> Edge:
    if _is_whole(d, x, y):
        return _of_whole_numbers(d, x, y, lambda x, y: d.each("Mod", x, y, fmod=1))
    return d.each("Mod", *_floats(d, x, y), fmod=1)


@converts("remainder")
def _remainder(d: Draft, x: Any, y: Any) -> Edge:
    if _is_whole(d, x, y):
        return _of_whole_numbers(d, x, y, lambda x, y: d.each("Mod", x, y))
    x, y = _floats(d, x, y)
    remainder = d.each("Mod", x, y, fmod=1)
    return d.where(_is_below(remainder, y), remainder + y, remainder)


def _is_whole(d: Draft, x: Any, y: Any) -> bool:
    return d.common(x, y).kind in "iu"


def _is_below(left: Edge, y: Edge) -> Edge:
    """Return whether a remainder has another sign than the divisor, elementwise."""
    return ~left.equals(0) & ((left < 0) ^ (y < 0))


@converts("floor_divide")
def _floor_divide(d: Draft, x: Any, y: Any) -> Edge:
    if _is_whole(d, x, y):
        return _of_whole_numbers(d, x, y, lambda x, y: (x - d.each("Mod", x, y)) / y)
    x, y = _floats(d, x, y)
    remainder = d.each("Mod", x, y, fmod=1)
    quotient = d.each("Round", (x - remainder) / y - _is_below(remainder, y).cast(x.dtype))
    return d.where(y.equals(0) | _isinf(d, x), x / y, quotient)


@converts("bitwise_left_shift")
def _left_shift(d: Draft, x: Any, y: Any) -> Edge:
    return _shifted(d, x, y, "Mul")


@converts("bitwise_right_shift")
def _right_shift(d: Draft, x: Any, y: Any) -> Edge:
    return _shifted(d, x, y, "Div")


def _shifted(d: Draft, x: Any, y: Any, kind: str) -> Edge:
    """Shift by a product with a power of two, or a quotient, since ONNX shifts unsigned numbers only."""
    x, y = (operand.cast(computable(operand.dtype)) for operand in d.alike(x, y))
    if x.dtype.kind == "u":
        raise UnsupportedError("UInt64 has no shift in ONNX runtimes that is tested here: cast it to Int64")
    factor = d.each("Pow", d.constant(2, x.dtype), y)
    return x * factor if kind == "Mul" else (x - d.each("Mod", x, factor)) / factor


# Activations


@converts("relu")
def _relu(d: Draft, x: Edge) -> Edge:
    return d.each("Relu", x.cast(computable(x.dtype)))


@converts("gelu")
def _gelu(d: Draft, x: Edge, approximate: str) -> Edge:
    x = x.cast(computable(x.dtype))
    if x.dtype != np.float64:
        return d.each("Gelu", x, approximate=approximate)
    # In double precision, runtimes compute the node's formula with single precision constants.
    if approximate == "tanh":
        return x * (d.each("Tanh", x * math.sqrt(2 / math.pi) * (x * x * 0.044715 + 1.0)) + 1.0) * 0.5
    return x * (d.each("Erf", x * math.sqrt(0.5)) + 1.0) * 0.5


@converts("silu")
def _silu(d: Draft, x: Edge) -> Edge:
    x = x.wide()
    return x * d.each("Sigmoid", x)
