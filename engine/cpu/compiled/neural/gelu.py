"""GELU (Hendrycks and Gimpel 2016) by the error function and in its tanh form, and their gradients.

Both are x times a probability, which is taken from its smaller tail, so that it is right where x is far below 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..library.loops import choose, elementwise, erfcx, exp, helper, sigmoid

__all__ = ["gelu", "gelu_grad", "gelu_tanh", "gelu_tanh_grad"]

_F = np.float32
_HALF, _ONE, _THREE = _F(0.5), _F(1), _F(3)
_SQRT_HALF, _DENSITY = _F(math.sqrt(0.5)), _F(1 / math.sqrt(2 * math.pi))
_SLOPE, _CUBIC = _F(2 * math.sqrt(2 / math.pi)), _F(0.044715)
_FAR, _FARTHEST, _FAR_SQUARE = _F(14.4), _F(10), _F(900)


@helper
def _bell(x: Any) -> Any:
    """Return exp(-x * x / 2), 0 where that is no longer a float32."""
    near = choose(abs(x) > _FAR, _FAR, x)
    return choose(abs(x) > _FAR, _F(0), exp(-_HALF * near * near))


@helper
def _below(x: Any, bell: Any) -> Any:
    """Return the probability that a normal number is below x: half of erfc on the side where it is small."""
    z = abs(x) * _SQRT_HALF
    tail = _HALF * erfcx(choose(z > _FARTHEST, _FARTHEST, z)) * bell
    return choose(x < _F(0), tail, _ONE - tail)


@elementwise
def gelu(x: Any, _y: Any, _number: Any) -> Any:
    return x * _below(x, _bell(x))


@elementwise
def gelu_grad(x: Any, g: Any, _number: Any) -> Any:
    bell = _bell(x)
    return g * (_below(x, bell) + x * (_DENSITY * bell))


@elementwise
def gelu_tanh(x: Any, _y: Any, _number: Any) -> Any:
    return x * sigmoid(_SLOPE * x * (_ONE + _CUBIC * x * x))  # sigmoid(2 u) = (1 + tanh(u)) / 2


@elementwise
def gelu_tanh_grad(x: Any, g: Any, _number: Any) -> Any:
    square = choose(x * x > _FAR_SQUARE, _FAR_SQUARE, x * x)
    twice = _SLOPE * x * (_ONE + _CUBIC * square)
    gate, rest = sigmoid(twice), sigmoid(-twice)
    return g * (gate + x * (gate * rest) * (_SLOPE * (_ONE + _THREE * _CUBIC * square)))
