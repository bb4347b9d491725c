"""Sigmoid, SiLU, and their gradients; that of tanh, which NumPy itself is quick at."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..library.loops import elementwise
from ..library.loops import sigmoid as gate_of

__all__ = ["sigmoid", "sigmoid_grad", "silu", "silu_grad", "tanh_grad"]

_ONE = np.float32(1)


@elementwise
def sigmoid(x: Any, _y: Any, _number: Any) -> Any:
    return gate_of(x)


@elementwise
def silu(x: Any, _y: Any, _number: Any) -> Any:
    return x * gate_of(x)


@elementwise
def sigmoid_grad(y: Any, g: Any, _number: Any) -> Any:
    return g * y * (_ONE - y)


@elementwise
def tanh_grad(y: Any, g: Any, _number: Any) -> Any:
    return g * (_ONE - y * y)


@elementwise
def silu_grad(x: Any, g: Any, _number: Any) -> Any:
    gate, rest = gate_of(x), gate_of(-x)
    return g * (gate + x * (gate * rest))
