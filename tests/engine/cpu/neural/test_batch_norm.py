"""Batch normalization on arrays against its definition in float64, compiled and by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_references import assert_gradient, normal
from layouts import assert_same_bits, samples_last

from hookscope.engine.cpu import compiling
from hookscope.engine.cpu.neural import batch_norm

SHAPES = [(8, 3, 29, 31), (5, 1, 8193), (4097, 7), (9, 2001, 1, 1), (37, 2, 3, 5, 17), (3, 5, 2), (1, 1, 16384)]


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile, even if the environment leaves all to NumPy."""
    monkeypatch.setattr(compiling, "is_on", lambda: True)


def exact(x: Any, gamma: Any, beta: Any) -> tuple[Any, Any, Any]:
    x, axes, per_channel = x.astype(np.float64), (0, *range(2, x.ndim)), (1, -1) + (1,) * (x.ndim - 2)
    mean, var = x.mean(axes), x.var(axes)
    apart = (x - mean.reshape(per_channel)) / np.sqrt(var + 1e-5).reshape(per_channel)
    return apart * gamma.reshape(per_channel) + beta.reshape(per_channel), mean, var


def operands(shape: tuple[int, ...]) -> tuple[Any, Any, Any]:
    x = (3 * normal(*shape) + 5).astype(np.float32)
    return x, normal(shape[1], seed=1).astype(np.float32), normal(shape[1], seed=2).astype(np.float32)


@pytest.fixture(params=[True, False], ids=["compiled", "by NumPy"])
def way(request: pytest.FixtureRequest, compiled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "is_on", lambda: request.param)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("shape", SHAPES)
def test_it_follows_its_definition(shape: tuple[int, ...]) -> None:
    x, gamma, beta = operands(shape)
    for result, expected in zip(batch_norm.batch_norm(x, gamma, beta, 1e-5), exact(x, gamma, beta), strict=True):
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, expected, rtol=2e-5, atol=5e-6)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("shape", SHAPES)
def test_its_gradients_follow_their_definition(shape: tuple[int, ...]) -> None:
    x, gamma, beta = operands(shape)
    g = normal(*shape, seed=3).astype(np.float32)
    _, mean, var = batch_norm.batch_norm(x, gamma, beta, 1e-5)
    result = batch_norm.batch_norm_grad(g, x, gamma, mean, var, 1e-5)
    wide, wide_g, axes = x.astype(np.float64), g.astype(np.float64), (0, *range(2, x.ndim))
    per_channel = (1, -1) + (1,) * (x.ndim - 2)
    mean, rstd = wide.mean(axes, keepdims=True), 1 / np.sqrt(wide.var(axes, keepdims=True) + 1e-5)
    normed = (wide - mean) * rstd
    inner = wide_g - wide_g.mean(axes, keepdims=True) - normed * (wide_g * normed).mean(axes, keepdims=True)
    np.testing.assert_allclose(result[0], inner * rstd * gamma.reshape(per_channel), rtol=1e-4, atol=1e-5)
    size = np.sqrt(x.size // x.shape[1])
    np.testing.assert_allclose(result[1], (wide_g * normed).sum(axes), rtol=1e-5, atol=2e-6 * size)
    np.testing.assert_allclose(result[2], wide_g.sum(axes), rtol=1e-5, atol=2e-6 * size)


def test_the_reference_of_the_gradients_agrees_with_central_differences() -> None:
    x, gamma, beta, g = normal(3, 2, 2), normal(2, seed=1), normal(2, seed=2), normal(3, 2, 2, seed=3)
    _, mean, var = batch_norm.batch_norm(x, gamma, beta, 1e-5)
    result = batch_norm.batch_norm_grad(g, x, gamma, mean, var, 1e-5)
    assert_gradient(result[0], lambda t: batch_norm.batch_norm(t, gamma, beta, 1e-5)[0], x, g)
    assert_gradient(result[1], lambda t: batch_norm.batch_norm(x, t, beta, 1e-5)[0], gamma, g)
    assert_gradient(result[2], lambda t: batch_norm.batch_norm(x, gamma, t, 1e-5)[0], beta, g)


@pytest.mark.parametrize("middle", [1e4, -1e5, 1e6])
def test_the_variance_stays_right_far_from_0(middle: float) -> None:
    x = np.float32(middle) + (np.arange(40_000, dtype=np.float32).reshape(10, 2, 2000) % 7)
    _, mean, var = batch_norm.batch_norm(x, np.ones(2, np.float32), np.zeros(2, np.float32), 1e-5)
    _, expected, spread = exact(x, np.ones(2), np.zeros(2))
    np.testing.assert_allclose(mean, expected, rtol=2e-7)
    np.testing.assert_allclose(var, spread, rtol=1e-6)


@pytest.mark.usefixtures("way")
def test_a_channel_of_equal_numbers_has_no_variance() -> None:
    x = np.full((4, 2, 5000), 0.1, np.float32)
    y, mean, var = batch_norm.batch_norm(x, np.ones(2, np.float32), np.full(2, 3, np.float32), 1e-5)
    np.testing.assert_allclose(mean, 0.1, rtol=1e-6)
    assert (var < 1e-12).all() and (var >= 0).all()
    np.testing.assert_allclose(y, 3, rtol=1e-4)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_in_its_channel(number: float) -> None:
    x, gamma, beta = operands((8, 3, 29, 31))
    x[2, 1, 3, 4] = number
    with np.errstate(invalid="ignore"):
        y, mean, var = batch_norm.batch_norm(x, gamma, beta, 1e-5)
        dx, of_gamma, of_beta = batch_norm.batch_norm_grad(np.ones_like(x), x, gamma, mean, var, 1e-5)
    for full in (y, dx):
        assert np.isnan(full[:, 1]).all()
        assert np.isfinite(full[:, [0, 2]]).all()
    np.testing.assert_array_equal(mean[1], np.float32(number))
    assert np.isnan(var).tolist() == np.isnan(of_gamma).tolist() == [False, True, False]
    assert np.isfinite(of_beta).all()


@pytest.mark.parametrize("shape", [(8, 3, 29, 31), (4097, 7)])
def test_bits_hang_on_neither_threads_nor_memory_order(shape: tuple[int, ...]) -> None:
    x, gamma, beta = operands(shape)
    _, mean, var = assert_same_bits(lambda x: batch_norm.batch_norm(x, gamma, beta, 1e-5), x)
    g = normal(*shape, seed=3).astype(np.float32)
    assert_same_bits(lambda g, x: batch_norm.batch_norm_grad(g, x, gamma, mean, var, 1e-5), g, x)


@pytest.mark.usefixtures("way")
def test_results_have_the_samples_last_in_memory_and_nothing_given_is_changed() -> None:
    x, gamma, beta = operands((8, 3, 29, 31))
    last = samples_last(x)
    last.setflags(write=False)
    y, mean, var = batch_norm.batch_norm(last, gamma, beta, 1e-5)
    assert y.strides == last.strides
    assert batch_norm.batch_norm_grad(last, last, gamma, mean, var, 1e-5)[0].strides == last.strides
    np.testing.assert_array_equal(last, x)


@pytest.mark.parametrize("shape", [(0, 3, 4), (4, 0, 3), (4, 3, 0)])
def test_of_nothing_there_is_nothing(shape: tuple[int, ...]) -> None:
    x, gamma, beta = np.zeros(shape, np.float32), np.ones(shape[1], np.float32), np.ones(shape[1], np.float32)
    y, mean, var = batch_norm.batch_norm(x, gamma, beta, 1e-5)
    assert y.shape == shape and mean.shape == var.shape == (shape[1],)
    assert batch_norm.batch_norm_grad(x, x, gamma, mean, var, 1e-5)[0].shape == shape


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("shape", [*SHAPES, (3, 7000, 1), (2, 3, 4099)])
def test_a_factor_and_a_shift_for_each_channel(shape: tuple[int, ...]) -> None:
    x, gamma, beta = operands(shape)
    per_channel = (1, -1) + (1,) * (x.ndim - 2)
    expected = (x.astype(np.float64) - beta.reshape(per_channel)) * gamma.reshape(per_channel) + 3
    result = batch_norm.affine(x, beta, gamma, np.full(shape[1], 3, np.float32))
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected, rtol=2e-6, atol=4e-6)
    result = batch_norm.affine(samples_last(x), beta, gamma, beta)
    assert np.moveaxis(result, 0, -1).flags.c_contiguous


def test_the_bits_of_a_factor_and_a_shift_hang_on_neither_threads_nor_memory_order() -> None:
    x, gamma, beta = operands((8, 3, 29, 31))
    x[2, 1, 3, :3] = [np.nan, np.inf, -np.inf]
    assert_same_bits(lambda x: batch_norm.affine(x, beta, gamma, beta), x)
