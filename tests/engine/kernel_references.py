"""Comparisons of the tests of CPU kernels: with formulas in float64, and gradients with central differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# Half a unit in the last place of 1.0, times a small allowance for what the kernels add up in float32.
TOLERANCE = {"float64": 1e-12, "float32": 3e-6, "float16": 2e-3, "bfloat16": 1e-2}
DTYPES = [np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.float16), BFLOAT16]


def normal(*shape: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng(seed).standard_normal(shape)


def close(actual: Any, want: Any, dtype: np.dtype[Any]) -> None:
    assert actual.dtype == dtype
    tolerance = TOLERANCE[dtype.name]
    np.testing.assert_allclose(np.asarray(actual, np.float64), np.asarray(want), rtol=tolerance, atol=tolerance)


def central_difference(f: Callable[[Any], Any], x: Any, g: Any, step: float = 1e-6) -> Any:
    """Return d sum(g * f(x)) / dx, one element at a time."""
    gradient = np.empty_like(x)
    for index in np.ndindex(x.shape):
        ahead, behind = x.copy(), x.copy()
        ahead[index] += step
        behind[index] -= step
        gradient[index] = (g * (f(ahead) - f(behind))).sum() / (2 * step)
    return gradient


def assert_gradient(gradient: Any, f: Callable[[Any], Any], x: Any, g: Any) -> None:
    np.testing.assert_allclose(gradient, central_difference(f, x, g), rtol=2e-7, atol=2e-8)


def gelu_of(t: float, form: str) -> float:
    if form == "none":
        return 0.5 * t * (1 + math.erf(t / math.sqrt(2)))
    return 0.5 * t * (1 + math.tanh(math.sqrt(2 / math.pi) * (t + 0.044715 * t**3)))


ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "relu": lambda t: max(t, 0.0),
    "sigmoid": lambda t: 1 / (1 + math.exp(-t)),
    "silu": lambda t: t / (1 + math.exp(-t)),
    "gelu": lambda t: gelu_of(t, "none"),
    "gelu_tanh": lambda t: gelu_of(t, "tanh"),
    "tanh": math.tanh,
}
