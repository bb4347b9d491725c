"""Checks of batch normalization in Triton's interpreter, in every order of memory.

Run by test_interpreter.py in its own process. Tiles are set to 64 elements, shares to 4, so that there are several.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _comparison import DTYPES, close, normal, run, suits, wide

from hookscope.triton_kernels import batch_norm
from hookscope.triton_kernels.launch import plans

SHAPES = [(5, 3, 4, 7), (2, 3, 33), (30, 6), (5, 1, 3, 3), (1, 2, 80), (4, 3, 2, 2, 3), (1, 9), (2, 1)]
ORDERS = ["channels last", "samples last", "every other"]
CASES = [
    *[(shape, "as it is", DTYPES[0]) for shape in SHAPES],
    *[(shape, order, DTYPES[0]) for shape in (SHAPES[0], SHAPES[5]) for order in ORDERS],
    *[(SHAPES[0], order, dtype) for order in ("as it is", "channels last") for dtype in DTYPES[1:]],
]
EPSILON = 1e-5


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"_TILE": 64, "_MAX_INNER": 32, "_MAX_STRIP": 4, "_PROGRAMS": 8, "_MAX_SHARES": 4}.items():
        monkeypatch.setattr(batch_norm, name, value)
    monkeypatch.setattr(plans, "_plans", {})


def ordered(x: Any, order: str) -> Any:
    """Return the same numbers in another memory order."""
    if order == "channels last":
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    if order == "samples last":
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0)
    if order == "every other":
        return np.repeat(x, 2, axis=-1)[..., ::2]
    return x


def exact(x: Any, gamma: Any, beta: Any) -> tuple[Any, ...]:
    """Return the result, the means and the variances in float64."""
    x, gamma, beta = wide(x, gamma, beta)
    axes, shape = (0, *range(2, x.ndim)), (1, -1, *[1] * (x.ndim - 2))
    mean, var = x.mean(axes), x.var(axes)
    y = (x - mean.reshape(shape)) / np.sqrt(var + EPSILON).reshape(shape) * gamma.reshape(shape) + beta.reshape(shape)
    return y, mean, var


def exact_grad(g: Any, x: Any, gamma: Any) -> tuple[Any, ...]:
    g, x, gamma = wide(g, x, gamma)
    axes, shape = (0, *range(2, x.ndim)), (1, -1, *[1] * (x.ndim - 2))
    rstd = 1 / np.sqrt(x.var(axes, keepdims=True) + EPSILON)
    normal = (x - x.mean(axes, keepdims=True)) * rstd
    along = (g * normal).mean(axes, keepdims=True)
    dx = gamma.reshape(shape) * rstd * (g - g.mean(axes, keepdims=True) - normal * along)
    return dx, (g * normal).sum(axes), g.sum(axes)


@pytest.mark.parametrize(("shape", "order", "dtype"), CASES, ids=str)
def test_training(shape: tuple[int, ...], order: str, dtype: Any) -> None:
    x = ordered((3 + 2 * normal(*shape)).astype(dtype), order)
    gamma, beta = normal(shape[1], dtype=dtype, seed=1), normal(shape[1], dtype=dtype, seed=2)
    result = run("batch_norm", x, gamma, beta, EPSILON)
    for item, want, kind in zip(result, exact(x, gamma, beta), (dtype, np.float32, np.float32), strict=True):
        close(item, want, kind)
    g = ordered(normal(*shape, dtype=dtype, seed=3), order)
    back = run("batch_norm_grad", g, x, gamma, result[1], result[2], EPSILON)
    for item, want in zip(back, exact_grad(g, x, gamma), strict=True):
        close(item, want, dtype)
    if order != "every other":
        for item in (result[0], back[0]):
            axes = [axis for axis, size in enumerate(shape) if size > 1]
            assert [item.strides[a] for a in axes] == [x.strides[a] for a in axes], "it has the input's memory order"


def test_gradients_that_come_in_another_order() -> None:
    x, g, gamma = ordered(normal(3, 5, 4, 7), "channels last"), normal(3, 5, 4, 7, seed=1), normal(5, seed=2)
    _, mean, var = run("batch_norm", x, gamma, gamma, EPSILON)
    for item, want in zip(
        run("batch_norm_grad", g, x, gamma, mean, var, EPSILON), exact_grad(g, x, gamma), strict=True
    ):
        close(item, want, np.float32)


@pytest.mark.parametrize("order", ["as it is", "channels last"])
@pytest.mark.parametrize("mean", [-1e5])
def test_a_large_mean_drowns_no_variance(mean: float, order: str) -> None:
    x = ordered((mean + normal(20, 3, 5, 5)).astype(np.float32), order)
    _, got_mean, got_var = run("batch_norm", x, np.ones(3, np.float32), np.zeros(3, np.float32), EPSILON)
    np.testing.assert_allclose(got_mean, wide(x).mean((0, 2, 3)), rtol=2e-7)
    np.testing.assert_allclose(got_var, wide(x).var((0, 2, 3)), rtol=1e-5)


@pytest.mark.parametrize("order", ["as it is", "channels last"])
def test_means_that_wander_from_tile_to_tile(order: str) -> None:
    x = ordered((normal(20, 3, 5, 5) + 1e4 * np.arange(20)[:, None, None, None]).astype(np.float32), order)
    _, got_mean, got_var = run("batch_norm", x, np.ones(3, np.float32), np.zeros(3, np.float32), EPSILON)
    np.testing.assert_allclose(got_mean, wide(x).mean((0, 2, 3)), rtol=1e-6)
    np.testing.assert_allclose(got_var, wide(x).var((0, 2, 3)), rtol=1e-5)


@pytest.mark.parametrize("order", ["as it is", "channels last"])
def test_nan_and_infinity_stay_in_their_channel(order: str) -> None:
    x = normal(4, 4, 3, 5)
    x[3, 1, 2, 2], x[0, 2, 0, 0], x[2, 3, 1, 1] = np.nan, np.inf, -np.inf
    x = ordered(x, order)
    ones, zeros = np.ones(4, np.float32), np.zeros(4, np.float32)
    y, mean, var = run("batch_norm", x, ones, zeros, EPSILON)
    assert np.isnan(y).all((0, 2, 3)).tolist() == [False, True, True, True]
    assert np.isfinite(y[:, 0]).all()
    np.testing.assert_array_equal(mean[1:], np.array([np.nan, np.inf, -np.inf], np.float32))
    assert np.isnan(var[1:]).all()
    dx, dgamma, dbeta = run("batch_norm_grad", normal(4, 4, 3, 5), x, ones, mean, var, EPSILON)
    assert np.isnan(dx).all((0, 2, 3)).tolist() == np.isnan(dgamma).tolist() == [False, True, True, True]
    assert np.isfinite(dbeta).all()


def test_the_same_bits_each_time() -> None:
    x, gamma = normal(3, 2, 9, 5), normal(2, seed=1)
    first, second = (run("batch_norm", x.copy(), gamma, gamma, EPSILON) for _ in range(2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(("shape", "order", "dtype"), CASES[::2], ids=str)
def test_prediction(shape: tuple[int, ...], order: str, dtype: Any) -> None:
    x = ordered(normal(*shape, dtype=dtype), order)
    mean, scale, shift = (normal(shape[1], seed=seed) for seed in (1, 2, 3))
    of_channels = [item.reshape(1, -1, *[1] * (len(shape) - 2)) for item in wide(mean, scale, shift)]
    want = (wide(x) - of_channels[0]) * of_channels[1] + of_channels[2]
    close(run("affine_of_channels", x, mean, scale, shift), want, dtype)


def test_running_statistics() -> None:
    olds, news = (normal(1030), normal(1030, seed=1)), (normal(1030, seed=2), normal(1030, seed=3))
    mean, var = run("running_statistics", *olds, *news, 0.1, 50)
    close(mean, 0.9 * wide(olds[0]) + 0.1 * wide(news[0]), np.float32)
    close(var, 0.9 * wide(olds[1]) + 0.1 * 50 / 49 * wide(news[1]), np.float32)
    half = run("running_statistics", *[item.astype(np.float16) for item in olds], *news, 0.1, 1)
    assert half[0].dtype == half[1].dtype == np.float16


def test_what_does_not_qualify() -> None:
    x, subject = normal(4, 5), normal(5)
    assert not suits("batch_norm", x, x[0, :4], subject, EPSILON), "too few factors"
    assert not suits("batch_norm", subject, subject, subject, EPSILON), "no channels"
    assert not suits("batch_norm", x.astype(np.float64), subject, subject, EPSILON), "float64"
    assert not suits("batch_norm", x[:0], subject, subject, EPSILON), "nothing in it"
    assert not suits("batch_norm_grad", x[:2], x, subject, subject, subject, EPSILON), "two shapes"
    assert not suits("batch_norm_grad", x, x, subject, subject.astype(np.float16), subject, EPSILON), (
        "statistics of half precision"
    )
    assert not suits("affine_of_channels", x, subject, subject, x), "not a number for each channel"
    assert not suits("running_statistics", subject, subject, subject, subject[:3], 0.1, 5), "two shapes"
