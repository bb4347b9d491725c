"""Activations on arrays against formulas in float64, gradients against central differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kernel_references import ACTIVATIONS, DTYPES, assert_gradient, close, normal

from hookscope.engine.cpu.neural import activation, softmax

KERNELS: dict[str, Callable[[Any], Any]] = {
    "relu": activation.relu,
    "sigmoid": activation.sigmoid,
    "silu": activation.silu,
    "gelu": lambda x: activation.gelu(x, "none"),
    "gelu_tanh": lambda x: activation.gelu(x, "tanh"),
    "tanh": np.tanh,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_erf_is_within_four_units_in_the_last_place(dtype: type) -> None:
    spread = np.concatenate([np.linspace(-7, 7, 20001), np.linspace(-1e-3, 1e-3, 101), [1e-30, 1e30, 1, -1]])
    x = spread.astype(dtype)
    exact = np.array([math.erf(float(t)) for t in x])
    assert (np.abs(activation.erf(x) - exact) <= 4 * np.spacing(np.abs(exact).astype(dtype))).all()


def test_erf_of_infinities_nan_and_negative_zero() -> None:
    result = activation.erf(np.array([np.inf, -np.inf, np.nan, -0.0], dtype=np.float32))
    assert result[0] == 1
    assert result[1] == -1
    assert np.isnan(result[2])
    assert np.signbit(result[3])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", [name for name in KERNELS if name != "tanh"])
def test_activation_follows_its_formula(name: str, dtype: np.dtype[Any]) -> None:
    x = (3 * normal(7, 5)).astype(dtype)
    close(KERNELS[name](x), np.vectorize(ACTIVATIONS[name])(x.astype(np.float64)), dtype)


def test_sigmoid_keeps_its_relative_precision_and_does_not_overflow() -> None:
    x = np.array([-80.0, -20.0, 80.0, -1e4, 1e4], dtype=np.float32)
    result = activation.sigmoid(x)
    np.testing.assert_allclose(result[:3], [math.exp(-80), 1 / (1 + math.exp(20)), 1.0], rtol=1e-6)
    assert result[3] == 0
    assert result[4] == 1


def test_activations_pass_nan_on() -> None:
    x = np.array([np.nan, 1.0], dtype=np.float32)
    for kernel in KERNELS.values():
        assert np.isnan(kernel(x)).tolist() == [True, False]


def test_activation_gradients_agree_with_central_differences() -> None:
    x, g = 2 * normal(4, 5), normal(4, 5, seed=1)
    assert_gradient(activation.relu_grad(g, activation.relu(x)), activation.relu, x, g)
    assert_gradient(activation.sigmoid_grad(g, activation.sigmoid(x)), activation.sigmoid, x, g)
    assert_gradient(activation.tanh_grad(g, np.tanh(x)), np.tanh, x, g)
    assert_gradient(activation.silu_grad(g, x), activation.silu, x, g)
    for form in ("none", "tanh"):
        assert_gradient(activation.gelu_grad(g, x, form), lambda t, form=form: activation.gelu(t, form), x, g)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_gradients_keep_the_dtype(dtype: np.dtype[Any]) -> None:
    x, g = normal(3, 4).astype(dtype), normal(3, 4, seed=1).astype(dtype)
    for name in ("relu_grad", "sigmoid_grad", "tanh_grad", "silu_grad"):
        assert getattr(activation, name)(g, x).dtype == dtype
    assert activation.gelu_grad(g, x, "none").dtype == dtype
    assert softmax.softmax_grad(g, x, 0).dtype == dtype
    assert softmax.log_softmax_grad(g, x, 1).dtype == dtype


def test_a_0d_array_stays_an_array() -> None:
    x = np.array(1.5, dtype=np.float32)
    for kernel in (activation.erf, *(KERNELS[name] for name in KERNELS if name != "tanh")):
        assert isinstance(kernel(x), np.ndarray)
        assert kernel(x).shape == ()


def test_gelu_refuses_an_unknown_form() -> None:
    with pytest.raises(ValueError, match="approximate must be 'none' or 'tanh', got 'fast'"):
        activation.gelu(normal(2), "fast")
