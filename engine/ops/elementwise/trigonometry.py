"""Inverse trigonometric and hyperbolic functions, angles, sinc."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.surfaces import declare, everywhere, prim, renamed
from ...base.types import Array, Functions, Value
from ...cpu.array_module import array_module
from ...cpu.arrays import masking
from ...tensors.tensor import Tensor
from ..arguments import check_tensor
from ..shapes.broadcasting import Binary, fit, function_of_number, x1_x2
from . import arithmetic

__all__ = [
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "deg2rad",
    "hypot",
    "rad2deg",
    "sinc",
]

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


arccos, arccosh, arcsin, arcsinh = acos, acosh, asin, asinh

arctan, arctan2, arctanh = atan, atan2, atanh
