"""Softmax and its logarithm on arrays against formulas in float64, gradients against central differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from kernel_references import DTYPES, assert_gradient, close, normal

from hookscope.engine.cpu.neural import softmax


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_and_log_softmax_follow_their_formula(axis: int, dtype: np.dtype[Any]) -> None:
    x = (5 * normal(3, 7, 5)).astype(dtype)[::2, 1:]
    powers = np.vectorize(math.exp)(x.astype(np.float64))
    want = powers / powers.sum(axis, keepdims=True)
    close(softmax.softmax(x, axis), want, dtype)
    if dtype.itemsize >= 4:  # logarithms of 1e-5 have no absolute tolerance to hold in 8 or 11 bits
        np.testing.assert_allclose(softmax.log_softmax(x, axis), np.log(want), rtol=1e-5, atol=1e-6)


def test_softmax_of_large_numbers_does_not_overflow() -> None:
    x = np.array([[1e4, 1e4 - 1, -1e4]], dtype=np.float32)
    np.testing.assert_allclose(softmax.softmax(x, 1)[0, :2], [0.731058579, 0.268941421], rtol=1e-6)


def test_a_nan_reaches_its_whole_row_and_no_other() -> None:
    x = normal(3, 4).astype(np.float32)
    x[1, 2] = np.nan
    for kernel in (softmax.softmax, softmax.log_softmax):
        assert np.isnan(kernel(x, 1)).all(axis=1).tolist() == [False, True, False]
        assert not np.isnan(kernel(x, 1)[[0, 2]]).any()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_softmax_of_nothing_is_nothing(shape: tuple[int, int]) -> None:
    x = np.zeros(shape, np.float32)
    assert softmax.softmax(x, 1).shape == softmax.log_softmax(x, 1).shape == shape


def test_softmax_gradients_agree_with_central_differences() -> None:
    x, g = normal(3, 4), normal(3, 4, seed=1)
    for axis in (0, 1):
        y, z = softmax.softmax(x, axis), softmax.log_softmax(x, axis)
        assert_gradient(softmax.softmax_grad(g, y, axis), lambda t, a=axis: softmax.softmax(t, a), x, g)
        assert_gradient(softmax.log_softmax_grad(g, z, axis), lambda t, a=axis: softmax.log_softmax(t, a), x, g)
