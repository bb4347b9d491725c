"""Products of matrices on arrays against formulas in float64, gradients against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_references import ACTIVATIONS, DTYPES, close, normal

from hookscope.engine.cpu.arrays import matmul


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("activation", [None, *ACTIVATIONS])
def test_linear_follows_its_formula(activation: str | None, dtype: np.dtype[Any]) -> None:
    shapes = [(2, 3, 6), (4, 6), (4,)]
    x, weight, bias = (normal(*shape, seed=i).astype(dtype) for i, shape in enumerate(shapes))
    exact = np.einsum("abk,nk->abn", x.astype(np.float64), weight.astype(np.float64))
    formula = np.vectorize(ACTIVATIONS[activation] if activation else lambda t: t)
    close(matmul.linear(x, weight, bias, activation), formula(exact + bias.astype(np.float64)), dtype)
    close(matmul.linear(x, weight, None, activation), formula(exact), dtype)


def test_linear_refuses_an_unknown_activation() -> None:
    with pytest.raises(ValueError, match=r"activation must be None, .* got 'swish'"):
        matmul.linear(normal(2, 3), normal(4, 3), None, "swish")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_matmul_broadcasts_and_transposes(dtype: np.dtype[Any]) -> None:
    a, b = normal(2, 1, 3, 4).astype(dtype), normal(5, 4, 6, seed=1).astype(dtype)
    want = np.einsum("aoik,bkj->abij", a.astype(np.float64), b.astype(np.float64))
    close(matmul.matmul(a, b, False, False), want, dtype)
    close(matmul.matmul(a.swapaxes(-1, -2), b, True, False), want, dtype)
    close(matmul.matmul(a, b.swapaxes(-1, -2), False, True), want, dtype)
    vector = normal(4, seed=2).astype(dtype)
    close(matmul.matmul(vector, vector, False, False), (vector.astype(float) ** 2).sum(), dtype)


def test_matmul_of_integers_is_exact() -> None:
    a = np.array([[2**30 + 1, 1]], dtype=np.int64)
    assert matmul.matmul(a, a, False, True).tolist() == [[(2**30 + 1) ** 2 + 1]]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.bool_])
def test_matmul_of_small_integers_wraps_round_as_numpys(dtype: Any) -> None:
    # Of 16 bits the products are beyond what Float32 holds exactly.
    a, b = np.arange(29990, 30002).reshape(3, 4), np.arange(28001, 28021).reshape(4, 5)
    exact = a.astype(dtype).astype(np.int64) @ b.astype(dtype).astype(np.int64)
    result = matmul.matmul(a.astype(dtype), b.astype(dtype), False, False)
    assert result.dtype == dtype
    assert np.array_equal(result, exact.astype(dtype))


def test_matmul_refuses_to_transpose_a_vector() -> None:
    with pytest.raises(ValueError, match=r"transpose_b needs an operand of 2 or more axes, got shape \(3,\)"):
        matmul.matmul(normal(2, 3), normal(3), False, True)
