"""Sigmoid, SiLU, and their gradients; that of tanh, which NumPy itself is quick at."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import loops
from .loops import elementwise

__all__ = ["sigmoid", "sigmoid_grad", "silu", "silu_grad", "tanh_grad"]

_ONE = np.float32(1)


@elementwise
def sigmoid(x: Any, _y: Any, _number: Any) -> Any:
    return loops.sigmoid(x)


@elementwise
def silu(x: Any, _y: Any, _number: Any) -> Any:
    return x * loops.sigmoid(x)


@elementwise
def sigmoid_grad(y: Any, g: Any, _number: Any) -> Any:
    return g * y * (_ONE - y)


@elementwise
def tanh_grad(y: Any, g: Any, _number: Any) -> Any:
    return g * (_ONE - y * y)


@elementwise
def silu_grad(x: Any, g: Any, _number: Any) -> Any:
    gate, rest = loops.sigmoid(x), loops.sigmoid(-x)
    return g * (gate + x * (gate * rest))
