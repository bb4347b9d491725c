"""Activations on arrays and their gradients."""

from __future__ import annotations

import math

from hookscope.engine.cpu.array_module import Array, array_module, special_module
from hookscope.engine.cpu.arrays.elements import mapped
from hookscope.engine.cpu.arrays.masking import zero_outside
from hookscope.engine.cpu.compiling import is_worth
from hookscope.engine.cpu.widening import narrow, widen, widen_any

__all__ = [
    "erf",
    "erfc",
    "gelu",
    "gelu_grad",
    "relu",
    "relu_grad",
    "sigmoid",
    "sigmoid_grad",
    "silu",
    "silu_grad",
    "tanh_grad",
]

_SQRT_HALF = math.sqrt(0.5)
_INV_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)

# Hendrycks and Gimpel, "Gaussian Error Linear Units", arXiv:1606.08415: the tanh form's two constants.
_GELU_SLOPE = math.sqrt(2.0 / math.pi)
_GELU_CUBIC = 0.044715


def erf(x: Array) -> Array:
    """Return the error function."""
    return narrow(special_module(x).erf(widen(x)), x)


def erfc(x: Array) -> Array:
    """Return 1 minus the error function."""
    return narrow(special_module(x).erfc(widen(x)), x)


def sigmoid(x: Array) -> Array:
    if is_worth(x):
        return mapped("gates", "sigmoid", x)
    return narrow(_sigmoid(widen_any(x)), x)


def _sigmoid(x: Array) -> Array:
    # exp of a negative number only, so that nothing overflows; both branches keep full relative precision.
    xp = array_module(x)
    if x.dtype.kind == "c":
        return 0.5 + 0.5 * xp.tanh(0.5 * x)  # untyped cupy
    decay = xp.exp(-xp.abs(x))
    result: Array = xp.where(x < 0, decay, 1.0) / (1.0 + decay)
    return result


def sigmoid_grad(g: Array, y: Array) -> Array:
    """Return the gradient of sigmoid from its output `y`."""
    if is_worth(y) and is_worth(g):
        return mapped("gates", "sigmoid_grad", y, g)
    wide = widen_any(y)
    return narrow(widen_any(g) * wide * (1.0 - wide), y)


def tanh_grad(g: Array, y: Array) -> Array:
    """Return the gradient of tanh from its output `y`."""
    if is_worth(y) and is_worth(g):
        return mapped("gates", "tanh_grad", y, g)
    wide = widen_any(y)
    return narrow(widen_any(g) * (1.0 - wide * wide), y)


def relu(x: Array) -> Array:
    if x.dtype.kind == "c":
        raise TypeError("the numbers must be real")
    if is_worth(x):
        return mapped("rectifiers", "relu", x)
    return array_module(x).asarray(array_module(x).maximum(x, x.dtype.type(0)))


def relu_grad(g: Array, y: Array) -> Array:
    """Return the gradient of relu from its output `y` (or its input: the sign is the same)."""
    if is_worth(y) and is_worth(g):
        return mapped("rectifiers", "relu_grad", y, g)
    return narrow(zero_outside(g, y > 0), y)


def silu(x: Array) -> Array:
    if is_worth(x):
        return mapped("gates", "silu", x)
    wide = widen_any(x)
    return narrow(wide * _sigmoid(wide), x)


def silu_grad(g: Array, x: Array) -> Array:
    if is_worth(x) and is_worth(g):
        return mapped("gates", "silu_grad", x, g)
    wide = widen_any(x)
    gate = _sigmoid(wide)
    return narrow(widen_any(g) * gate * (1.0 + wide * (1.0 - gate)), x)


def gelu(x: Array, approximate: str) -> Array:
    """Return the Gaussian error linear unit; `approximate` is "none" (by erf) or "tanh"."""
    if is_worth(x):
        return mapped("gelu", "gelu_tanh" if _is_tanh_form(approximate) else "gelu", x)
    xp = array_module(x)
    wide = widen(x)
    if _is_tanh_form(approximate):
        gate = 0.5 * (1.0 + xp.tanh(_GELU_SLOPE * wide * (1.0 + _GELU_CUBIC * wide * wide)))
    else:
        gate = 0.5 * (1.0 + erf(wide * _SQRT_HALF))
    return narrow(wide * gate, x)


def gelu_grad(g: Array, x: Array, approximate: str) -> Array:
    if is_worth(x) and is_worth(g):
        return mapped("gelu", "gelu_tanh_grad" if _is_tanh_form(approximate) else "gelu_grad", x, g)
    xp = array_module(x)
    wide = widen(x)
    square = wide * wide
    if _is_tanh_form(approximate):
        bend = xp.tanh(_GELU_SLOPE * wide * (1.0 + _GELU_CUBIC * square))
        inner_slope = _GELU_SLOPE * (1.0 + 3.0 * _GELU_CUBIC * square)
        slope = 0.5 * (1.0 + bend) + 0.5 * wide * (1.0 - bend * bend) * inner_slope
    else:
        slope = 0.5 * (1.0 + erf(wide * _SQRT_HALF)) + wide * _INV_SQRT_2PI * xp.exp(-0.5 * square)
    return narrow(widen(g) * slope, x)


def _is_tanh_form(approximate: str) -> bool:
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate must be 'none' or 'tanh', got {approximate!r}")
    return approximate == "tanh"
