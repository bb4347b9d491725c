"""Compiled kernels that work along rows against float64: softmax and its logarithm, layer norm, cross-entropy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kernel_references import normal
from layouts import assert_same_bits
from scipy import special

from hookscope.engine.cpu import compiling
from hookscope.engine.cpu.neural import cross_entropy, layer_norm, softmax

# Rows of one number, few, odd lengths, several runs; also as many axes.
SHAPES = [(20_000, 1), (1639, 10), (130, 127), (3, 5, 1100), (2, 8193), (1, 30_011), (4, 4, 33, 35)]


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile, even if the environment leaves all to NumPy."""
    monkeypatch.setattr(compiling, "is_on", lambda: True)


@pytest.fixture(params=[True, False], ids=["compiled", "by NumPy"])
def way(request: pytest.FixtureRequest, compiled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "is_on", lambda: request.param)


def single(*shape: int, seed: int = 0, size: float = 1.0) -> Any:
    return (size * normal(*shape, seed=seed)).astype(np.float32)


def wide(*arrays: Any) -> list[Any]:
    return [x.astype(np.float64) for x in arrays]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("shape", SHAPES)
def test_softmax_and_its_logarithm_follow_their_definition(shape: tuple[int, ...], axis: int) -> None:
    x, g = single(*shape, size=5), single(*shape, seed=1)
    exact, g64 = wide(x, g)
    y, z = softmax.softmax(x, axis), softmax.log_softmax(x, axis)
    np.testing.assert_allclose(y, special.softmax(exact, axis), rtol=5e-6)
    np.testing.assert_allclose(z, special.log_softmax(exact, axis), rtol=2e-6, atol=2e-6)
    y64, z64 = wide(y, z)
    back = y64 * (g64 - (g64 * y64).sum(axis, keepdims=True))
    np.testing.assert_allclose(softmax.softmax_grad(g, y, axis), back, rtol=2e-5, atol=2e-6)
    back = g64 - np.exp(z64) * g64.sum(axis, keepdims=True)
    np.testing.assert_allclose(softmax.log_softmax_grad(g, z, axis), back, rtol=2e-5, atol=2e-5)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("length", [7, 64, 5000])
def test_softmax_of_what_is_not_finite_stays_in_its_row(length: int) -> None:
    x = single(20_000 // length + 6, length)
    x[0] += 1e4
    x[1] -= 1e4
    x[2, 3] = np.nan
    x[3, length - 1] = np.inf
    x[4, :] = -np.inf
    x[5, 1:] = -np.inf
    for kernel in (softmax.softmax, softmax.log_softmax):
        with np.errstate(all="ignore"):
            y = kernel(x, -1)
        assert np.isnan(y).all(axis=1)[:6].tolist() == [False, False, True, True, True, False]
        assert not np.isnan(np.delete(y, (2, 3, 4), axis=0)).any()
    assert y[5].tolist() == [0.0] + [-np.inf] * (length - 1)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(softmax.softmax(x, -1)[:2].sum(axis=1), 1, rtol=1e-5)


@pytest.mark.usefixtures("way")
def test_gradients_pass_what_is_not_finite_on_in_its_row() -> None:
    y, g = softmax.softmax(single(2000, 10), -1), single(2000, 10)
    g[7, 3], g[11, 2] = np.nan, np.inf
    with np.errstate(all="ignore"):
        for back in (softmax.softmax_grad(g, y, -1), softmax.log_softmax_grad(g, np.log(y), -1)):
            assert np.isnan(back).any(axis=1).nonzero()[0].tolist() in ([7, 11], [7])
            assert not np.isfinite(back[7]).any() and not np.isfinite(back[11]).any()


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_the_bits_of_softmax_hang_on_neither_threads_nor_memory_order(axis: int) -> None:
    x, g = single(7, 5, 31, 19), single(7, 5, 31, 19, seed=1)
    for kernel, back in ((softmax.softmax, softmax.softmax_grad), (softmax.log_softmax, softmax.log_softmax_grad)):
        y = assert_same_bits(lambda x, kernel=kernel: kernel(x, axis), x)
        assert_same_bits(lambda g, y, back=back: back(g, y, axis), g, y)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("shape", [*SHAPES[1:], (70_000, 2)])
def test_layer_norm_and_its_gradients_follow_their_definition(shape: tuple[int, ...]) -> None:
    begin = -1 if len(shape) < 4 else 2
    x, g = single(*shape, size=3) + np.float32(2), single(*shape, seed=1)
    if shape[-1] == 2:  # not too close to each other
        x[:, 1] += np.float32(20)
    tail = shape[begin:]
    gamma, beta = single(*tail, seed=2), single(*tail, seed=3)
    x64, g64, gamma64, beta64 = wide(x, g, gamma, beta)
    axes, rest = tuple(range(begin % len(shape), len(shape))), tuple(range(begin % len(shape)))
    mean, rstd = x64.mean(axes, keepdims=True), 1 / np.sqrt(x64.var(axes, keepdims=True) + 1e-5)
    normed, scaled = (x64 - mean) * rstd, g64 * gamma64
    result = layer_norm.layer_norm(x, gamma, beta, begin, 1e-5)
    np.testing.assert_allclose(result[0], normed * gamma64 + beta64, rtol=2e-5, atol=5e-6)
    for statistic, expected in zip(result[1:], (mean, rstd), strict=True):
        assert statistic.shape == expected.shape and statistic.dtype == np.float32
        np.testing.assert_allclose(statistic, expected, rtol=2e-6, atol=1e-6)
    dx, dgamma, dbeta = layer_norm.layer_norm_grad(g, x, gamma, *result[1:], begin)
    expected = scaled - scaled.mean(axes, keepdims=True) - normed * (scaled * normed).mean(axes, keepdims=True)
    np.testing.assert_allclose(dx, expected * rstd, rtol=1e-4, atol=5e-6)
    size = np.sqrt(x.size / gamma.size)
    np.testing.assert_allclose(dgamma, (g64 * normed).sum(rest), rtol=1e-4, atol=3e-6 * size)
    np.testing.assert_allclose(dbeta, g64.sum(rest), rtol=1e-4, atol=3e-6 * size)


@pytest.mark.usefixtures("way")
def test_layer_norm_of_what_is_not_finite_stays_in_its_row() -> None:
    x, gamma, beta = single(400, 60), single(60, seed=1), single(60, seed=2)
    x[7, 59], x[11, 0] = np.nan, np.inf
    with np.errstate(all="ignore"):
        y, mean, rstd = layer_norm.layer_norm(x, gamma, beta, 1, 1e-5)
        dx, dgamma, dbeta = layer_norm.layer_norm_grad(np.ones_like(x), x, gamma, mean, rstd, 1)
    for full in (y, dx):
        assert np.isnan(full).all(axis=1).nonzero()[0].tolist() == [7, 11]
        assert np.isfinite(np.delete(full, (7, 11), axis=0)).all()
    assert np.isnan(dgamma).all() and np.isfinite(dbeta).all()


def test_parameters_of_another_shape_or_dtype_are_left_to_numpy() -> None:
    x = single(400, 60)
    for gamma in (np.float32(2), single(400, 1, seed=1), normal(60, seed=1)):
        y, _, _ = layer_norm.layer_norm(x, np.asarray(gamma), np.asarray(gamma), 1, 1e-5)
        x64 = x.astype(np.float64)
        normed = (x64 - x64.mean(1, keepdims=True)) / np.sqrt(x64.var(1, keepdims=True) + 1e-5)
        np.testing.assert_allclose(y, normed * gamma + gamma, rtol=2e-5, atol=5e-6)


def test_the_bits_of_layer_norm_hang_on_neither_threads_nor_memory_order() -> None:
    x, g, gamma = single(7, 5, 31, 19), single(7, 5, 31, 19, seed=1), single(31, 19, seed=2)
    _, mean, rstd = assert_same_bits(lambda x: layer_norm.layer_norm(x, gamma, gamma, 2, 1e-5), x)
    assert_same_bits(lambda g, x: layer_norm.layer_norm_grad(g, x, gamma, mean, rstd, 2), g, x)


Kernel = Callable[..., Any]
forward: Kernel = cross_entropy.sparse_softmax_cross_entropy
backward: Kernel = cross_entropy.sparse_softmax_cross_entropy_grad


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("shape", [(5000, 1), (700, 10), (41, 127), (5, 9001)])
def test_cross_entropy_and_its_gradient_follow_their_definition(shape: tuple[int, int], dtype: type) -> None:
    x, g = single(*shape, size=4), single(shape[0], seed=1)
    labels = np.random.default_rng(3).integers(0, min(shape[1], 200), shape[0]).astype(dtype)
    labels[2] = 201
    x64, g64 = wide(x, g)
    rows, mask = np.arange(shape[0]), labels != 201
    picked = np.where(mask, labels, 0)
    full = special.logsumexp(x64, axis=1)
    loss, lse = forward(x, labels, 201)
    assert loss.dtype == lse.dtype == np.float32
    np.testing.assert_allclose(lse, full, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(loss, mask * (full - x64[rows, picked]), rtol=1e-6, atol=5e-6)
    expected = special.softmax(x64, axis=1)
    expected[rows, picked] -= 1
    np.testing.assert_allclose(backward(g, x, labels, lse, 201), expected * (g64 * mask)[:, None], rtol=2e-5, atol=2e-6)


@pytest.mark.usefixtures("way")
def test_cross_entropy_of_what_is_not_finite_stays_in_its_row() -> None:
    x, labels = single(900, 10), np.full(900, 4)
    x[7, 3], x[11, 2], x[13] = np.nan, np.inf, np.nan
    x[17, 5] = -np.inf
    labels[13] = -100
    with np.errstate(all="ignore"):
        loss, lse = forward(x, labels, -100)
        back = backward(np.ones(900, np.float32), x, labels, lse, -100)
    assert np.isfinite(np.delete(loss, (7, 11))).all() and loss[13] == 0 and np.isnan(loss[7])
    assert not np.isfinite(loss[11])
    assert (back[13] == 0).all() and np.isnan(back[7]).all() and np.isnan(back[11]).any()
    assert np.isfinite(np.delete(back, (7, 11), axis=0)).all() and back[17, 5] == 0


def test_a_label_out_of_range_is_an_error_also_where_much_is_computed() -> None:
    labels = np.zeros(900, np.int64)
    for wrong in (10, -1):
        labels[800] = wrong
        with pytest.raises(ValueError, match=rf"labels must lie in \[0, 10\) .*, got {wrong} in row 800"):
            forward(single(900, 10), labels, -100)


def test_the_bits_of_cross_entropy_hang_on_neither_threads_nor_memory_order() -> None:
    x, labels = single(1700, 10), np.random.default_rng(3).integers(0, 10, 1700)
    _, lse = assert_same_bits(lambda x: forward(x, labels, -100), x)
    g = single(1700, seed=1)
    assert_same_bits(lambda x: backward(g, x, labels, lse, -100), x)
