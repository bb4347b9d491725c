"""Layer normalization on arrays against formulas in float64, gradients against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_references import DTYPES, assert_gradient, close, normal

from hookscope.engine.cpu.neural import layer_norm


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("begin", [1, -1, 2, 0, -3])
def test_layer_norm_follows_its_formula(begin: int, dtype: np.dtype[Any]) -> None:
    x = (4 + 2 * normal(3, 4, 5)).astype(dtype)
    tail = x.shape[begin:]
    gamma, beta = normal(*tail, seed=1).astype(dtype), normal(*tail, seed=2).astype(dtype)
    y, mean, rstd = layer_norm.layer_norm(x, gamma, beta, begin, 1e-5)
    exact = x.astype(np.float64)
    axes = tuple(range(begin % 3, 3))
    want_mean = exact.mean(axes, keepdims=True)
    want_rstd = (exact.var(axes, keepdims=True) + 1e-5) ** -0.5
    close(y, (exact - want_mean) * want_rstd * gamma.astype(float) + beta.astype(float), dtype)
    wide = np.dtype(np.float64 if dtype == np.float64 else np.float32)
    close(mean, want_mean, wide)
    close(rstd, want_rstd, wide)


def test_layer_norm_gradients_agree_with_central_differences() -> None:
    x, gamma, beta, g = normal(3, 4, 5), normal(4, 5, seed=1), normal(4, 5, seed=2), normal(3, 4, 5, seed=3)
    _, mean, rstd = layer_norm.layer_norm(x, gamma, beta, 1, 1e-5)
    dx, dgamma, dbeta = layer_norm.layer_norm_grad(g, x, gamma, mean, rstd, 1)
    assert_gradient(dx, lambda t: layer_norm.layer_norm(t, gamma, beta, 1, 1e-5)[0], x, g)
    assert_gradient(dgamma, lambda t: layer_norm.layer_norm(x, t, beta, 1, 1e-5)[0], gamma, g)
    assert_gradient(dbeta, lambda t: layer_norm.layer_norm(x, gamma, t, 1, 1e-5)[0], beta, g)


def test_layer_norm_names_an_axis_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"begin_norm_axis must lie in \[-2, 2\) for shape \(2, 3\), got 2"):
        layer_norm.layer_norm(normal(2, 3), normal(3), normal(3), 2, 1e-5)
    with pytest.raises(ValueError, match=r"begin_norm_axis must lie in \[-2, 2\) for shape \(2, 3\), got -3"):
        layer_norm.layer_norm(normal(2, 3), normal(3), normal(3), -3, 1e-5)
