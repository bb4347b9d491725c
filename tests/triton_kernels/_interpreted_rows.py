"""Checks of the kernels that work on rows (softmax, layer and RMS norm, cross-entropy) in Triton's interpreter.

Run by test_interpreter.py in its own process. With pieces of 16 values, rows are read in several.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _comparison import DTYPES, close, normal, planned, run, suits, wide

from hookscope.engine.cpu.neural import cross_entropy as cpu_cross_entropy
from hookscope.engine.cpu.neural import layer_norm, softmax
from hookscope.triton_kernels import cross_entropy
from hookscope.triton_kernels import layer_norm as layer_norm_kernels
from hookscope.triton_kernels.launch import plans
from hookscope.triton_kernels.library import row_tiles


def in_dtypes(cases: list[tuple[Any, int]]) -> list[tuple[Any, int, Any]]:
    """Return all cases in float32, the first in half precision too."""
    return [(*case, DTYPES[0]) for case in cases] + [(*cases[0], dtype) for dtype in DTYPES[1:]]


@pytest.fixture(params=["whole rows", "pieces"])
def rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "pieces":
        for name in ("MAX_ROW", "MAX_PAIR_ROW", "PIECE"):
            monkeypatch.setattr(row_tiles, name, 16)
        monkeypatch.setattr(cross_entropy, "_LABELS", 2)
    monkeypatch.setattr(plans, "_plans", {})


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    ("shape", "axis", "dtype"),
    in_dtypes([((7, 37), 1), ((5, 3, 33), 1), ((40,), 0), ((3, 1), -1), ((3, 64), -1)]),
    ids=str,
)
def test_softmax_and_log_softmax(shape: tuple[int, ...], axis: int, dtype: Any) -> None:
    x, g = (3 * normal(*shape)).astype(dtype), normal(*shape, dtype=dtype, seed=1)
    shifted = wide(x) - wide(x).max(axis, keepdims=True)
    want = np.exp(shifted) / np.exp(shifted).sum(axis, keepdims=True)
    y = run("softmax", x, axis)
    close(y, want, dtype)
    close(run("softmax_grad", g, y, axis), softmax.softmax_grad(*wide(g, y), axis), dtype)
    y = run("log_softmax", x, axis)
    close(y, np.log(want), dtype)
    close(run("log_softmax_grad", g, y, axis), softmax.log_softmax_grad(*wide(g, y), axis), dtype)


@pytest.mark.usefixtures("rows")
def test_softmax_with_minus_infinity_and_nan() -> None:
    x = normal(4, 37)
    x[0, :20] = -np.inf
    x[1] = -np.inf
    x[2, 30] = np.nan
    with np.errstate(invalid="ignore"):
        for name in ("softmax", "log_softmax"):
            want = getattr(softmax, name)(x, 1)
            np.testing.assert_allclose(run(name, x, 1), want, rtol=1e-6, atol=1e-6)
            assert np.isnan(run(name, x, 1)).all(axis=1).tolist() == [False, True, True, False]


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    ("shape", "begin", "dtype"),
    in_dtypes([((7, 37), 1), ((3, 5, 9), -2), ((45, 16), -1), ((6,), 0), ((5, 1), 1)]),
    ids=str,
)
def test_layer_norm(shape: tuple[int, ...], begin: int, dtype: Any) -> None:
    x, g = (5 + 2 * normal(*shape)).astype(dtype), normal(*shape, dtype=dtype, seed=1)
    gamma, beta = normal(*shape[begin:], dtype=dtype, seed=2), normal(*shape[begin:], dtype=dtype, seed=3)
    axes = tuple(range(begin % len(shape), len(shape)))
    exact = wide(x)
    mean, variance = exact.mean(axes, keepdims=True), exact.var(axes, keepdims=True)
    want = (exact - mean) / np.sqrt(variance + 1e-5) * wide(gamma) + wide(beta)
    y, got_mean, got_rstd = run("layer_norm", x, gamma, beta, begin, 1e-5)
    close(y, want, dtype)
    close(got_mean, mean, np.float32)
    np.testing.assert_allclose(got_rstd, (variance + 1e-5) ** -0.5, rtol=1e-5)
    assert got_mean.shape == got_rstd.shape == mean.shape
    actual = run("layer_norm_grad", g, x, gamma, got_mean, got_rstd, begin)
    expected = layer_norm.layer_norm_grad(*wide(g, x, gamma, got_mean, got_rstd), begin)
    for result, reference in zip(actual, expected, strict=True):
        close(result, reference, dtype)


def exact_rms(g: Any, x: Any, gamma: Any, epsilon: float) -> tuple[Any, ...]:
    """Return the result, the reciprocal root and the gradients in float64 (Zhang and Sennrich 2019)."""
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    rstd = (np.mean(x * x, axes, keepdims=True) + epsilon) ** -0.5
    along = np.mean(g * gamma * x * rstd, axes, keepdims=True)
    dx = rstd * (g * gamma - x * rstd * along)
    return x * rstd * gamma, rstd, dx, (g * x * rstd).reshape(-1, *gamma.shape).sum(0)


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    ("shape", "axes", "dtype"), in_dtypes([((7, 37), 1), ((3, 5, 9), 2), ((45, 16), 1), ((6,), 1)]), ids=str
)
def test_rms_norm(shape: tuple[int, ...], axes: int, dtype: Any) -> None:
    x, g, gamma = normal(*shape, dtype=dtype), normal(*shape, dtype=dtype, seed=1), normal(*shape[-axes:], seed=2)
    want = exact_rms(*wide(g, x, gamma), 1e-3)
    y, rstd = run("rms_norm", x, gamma, 1e-3)
    close(y, want[0], dtype)
    close(rstd, want[1], np.float32)
    assert rstd.shape == want[1].shape
    dx, dgamma = run("rms_norm_grad", g, x, gamma, rstd, 1e-3)
    close(dx, want[2], dtype)
    close(dgamma, want[3], np.float32)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_of_20001(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_norm_kernels, "_SUM_COLUMNS", 4096)  # the interpreter takes long for many programs
    monkeypatch.setattr(layer_norm_kernels, "_SUM_ROWS", 2)
    x, g = normal(2, 20001, dtype=dtype), normal(2, 20001, dtype=dtype, seed=1)
    gamma, labels = normal(20001, seed=2), np.array([20000, 4096])
    for name in ("softmax", "log_softmax"):
        y = run(name, x, 1)
        close(y, getattr(softmax, name)(wide(x), 1), dtype)
        close(run(f"{name}_grad", g, y, 1), getattr(softmax, f"{name}_grad")(*wide(g, y), 1), dtype)
    y, mean, rstd = run("layer_norm", x, gamma, gamma, 1, 1e-5)
    want, *statistics = layer_norm.layer_norm(*wide(x, gamma, gamma), 1, 1e-5)
    for first, second, kind in ((y, want, dtype), (mean, statistics[0], np.float32), (rstd, statistics[1], np.float32)):
        close(first, second, kind)
    result = run("layer_norm_grad", g, x, gamma, mean, rstd, 1)
    for first, second in zip(result, layer_norm.layer_norm_grad(*wide(g, x, gamma, mean, rstd), 1), strict=True):
        close(first, second, first.dtype)
    rms = exact_rms(*wide(g, x, gamma), 1e-5)
    actual = run("rms_norm", x, gamma, 1e-5)
    for first, second in zip((*actual, *run("rms_norm_grad", g, x, gamma, actual[1], 1e-5)), rms, strict=True):
        close(first, second, first.dtype)
    loss, lse = run("sparse_softmax_cross_entropy", x, labels, -100)
    want_loss, want_lse = cpu_cross_entropy.sparse_softmax_cross_entropy(wide(x), labels, -100)
    close(loss, want_loss, dtype)
    d = run("sparse_softmax_cross_entropy_grad", g[:, 0], x, labels, lse, -100)
    want = cpu_cross_entropy.sparse_softmax_cross_entropy_grad(*wide(g[:, 0], x), labels, want_lse, -100)
    close(d, want, dtype)


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("wander", [0.0, 1e4])
def test_a_large_mean_drowns_no_variance_of_a_row(wander: float) -> None:
    x = (1e5 + normal(2, 100) + wander * np.arange(100)).astype(np.float32)
    _, mean, rstd = run("layer_norm", x, np.ones(100, np.float32), np.zeros(100, np.float32), 1, 1e-5)
    np.testing.assert_allclose(mean[:, 0], wide(x).mean(1), rtol=3e-7)
    # By rows in pieces as far as the first piece's mean allows; a mean rounded to float32 is off by 1/256 here.
    np.testing.assert_allclose(rstd[:, 0], (wide(x).var(1) + 1e-5) ** -0.5, rtol=2e-5)


@pytest.mark.usefixtures("rows")
def test_layer_norm_of_nan_and_infinity() -> None:
    x = normal(4, 37)
    x[1, 30], x[2, 0], x[3, 20] = np.nan, np.inf, -np.inf
    y, mean, rstd = run("layer_norm", x, np.ones(37, np.float32), np.zeros(37, np.float32), 1, 1e-5)
    np.testing.assert_array_equal(mean[1:, 0], np.array([np.nan, np.inf, -np.inf], np.float32))
    assert np.isnan(y).all(1).tolist() == np.isnan(rstd[:, 0]).tolist() == [False, True, True, True]
    dx, dgamma, dbeta = run("layer_norm_grad", normal(4, 37), x, np.ones(37, np.float32), mean, rstd, 1)
    assert np.isnan(dx).all(1).tolist() == [False, True, True, True]
    assert np.isnan(dgamma).all() and np.isfinite(dbeta).all()


@pytest.mark.usefixtures("rows")
def test_layer_norm_gradients_sum_over_several_shares_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"_GRAD_TILE": 64, "_MAX_SHARES": 12, "_SUM_ROWS": 4, "_SUM_COLUMNS": 16}.items():
        monkeypatch.setattr(layer_norm_kernels, name, value)
    x, g, gamma = normal(70, 20), normal(70, 20, seed=1), normal(20, seed=2)
    _, mean, rstd = layer_norm.layer_norm(x, gamma, gamma, 1, 1e-5)
    actual = run("layer_norm_grad", g, x, gamma, mean, rstd, 1)
    for result, want in zip(actual, layer_norm.layer_norm_grad(*wide(g, x, gamma, mean, rstd), 1), strict=True):
        np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-5)


def test_layer_norm_with_parameters_of_another_dtype() -> None:
    x, gamma, beta = normal(4, 8, dtype=np.float16), normal(8, seed=1), normal(8, seed=2)
    y, mean, rstd = run("layer_norm", x, gamma, beta, 1, 1e-5)
    close(y, layer_norm.layer_norm(*wide(x, gamma, beta), 1, 1e-5)[0], np.float16)
    dx, dgamma, dbeta = run("layer_norm_grad", x, x, gamma, mean, rstd, 1)
    assert [array.dtype.name for array in (dx, dgamma, dbeta)] == ["float16", "float32", "float32"]


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("label_dtype", [np.int32, np.int64])
def test_cross_entropy(dtype: Any, label_dtype: Any) -> None:
    logits = (3 * normal(6, 37)).astype(dtype)
    labels = np.array([0, 36, -100, 5, 17, 16], dtype=label_dtype)
    want_loss, want_lse = cpu_cross_entropy.sparse_softmax_cross_entropy(wide(logits), labels, -100)
    loss, lse = run("sparse_softmax_cross_entropy", logits, labels, -100)
    close(loss, want_loss, dtype)
    close(lse, want_lse, np.float32)
    g = normal(6, dtype=dtype, seed=1)
    want = cpu_cross_entropy.sparse_softmax_cross_entropy_grad(*wide(g, logits), labels, want_lse, -100)
    close(run("sparse_softmax_cross_entropy_grad", g, logits, labels, lse, -100), want, dtype)


@pytest.mark.usefixtures("rows")
def test_one_gradient_for_all_rows_is_not_repeated() -> None:
    logits, labels, g = normal(6, 37), np.array([0, 36, -100, 5, 17, 16]), np.broadcast_to(np.float32(0.2), (6,))
    _, lse = run("sparse_softmax_cross_entropy", logits, labels, -100)
    plan, _, _ = planned("sparse_softmax_cross_entropy_grad", g, logits, labels, lse, -100)
    assert plan is not None and len(plan.steps) == 1
    want = cpu_cross_entropy.sparse_softmax_cross_entropy_grad(*wide(g, logits), labels, wide(lse), -100)
    close(run("sparse_softmax_cross_entropy_grad", g, logits, labels, lse, -100), want, np.float32)


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
@pytest.mark.parametrize("count", [1, 7, 100])
def test_labels_are_counted(count: int, dtype: Any) -> None:
    labels = (np.arange(count) % 7).astype(dtype)
    for kind, other in zip(DTYPES, (3, -100, 3), strict=True):
        want = np.asarray((labels != other).sum(), np.float64)
        close(run("count_other_than", labels, other, kind), want.astype(kind), kind)
    assert np.isnan(run("count_other_than", np.full(count, 4, dtype), 4, np.dtype(np.float32)))


def test_a_label_out_of_range_gives_nan_and_reads_nothing_outside() -> None:
    logits, labels = normal(3, 5), np.array([1, 5, -1])
    loss, lse = run("sparse_softmax_cross_entropy", logits, labels, -100)
    assert np.isnan(loss).tolist() == [False, True, True]
    g = np.ones(3, np.float32)
    d = run("sparse_softmax_cross_entropy_grad", g, logits, labels, lse, -100)
    assert np.isnan(d).all(axis=1).tolist() == [False, True, True]


def test_non_contiguous_rows() -> None:
    x = normal(37, 12).T[::2]
    np.testing.assert_allclose(run("softmax", x, 1), softmax.softmax(x, 1), rtol=1e-6)
    gamma = normal(74)[::2]
    np.testing.assert_allclose(
        run("layer_norm", x, gamma, gamma, 1, 1e-5)[0], layer_norm.layer_norm(x, gamma, gamma, 1, 1e-5)[0], atol=1e-5
    )


def test_what_does_not_qualify() -> None:
    x, labels = normal(4, 5), np.array([0, 1, 2, 3])
    assert not suits("softmax", x, 2), "an axis out of range"
    assert not suits("softmax", x.astype(np.float64), 1), "float64"
    assert not suits("softmax_grad", x, x[:2], 1), "two shapes"
    assert not suits("layer_norm", x, x, x[0], 1, 1e-5), "parameters of another shape"
    assert not suits("sparse_softmax_cross_entropy", x, labels / 2, -100), "fractional labels"
    assert not suits("sparse_softmax_cross_entropy", x, labels[:3], -100), "too few labels"
    assert not suits("rms_norm", x, x[0, :4], 1e-5), "factors of another shape"
    assert not suits("rms_norm_grad", x, x, x[0], x[:, :1].astype(np.float16), 1e-5), "a root of half precision"
    assert not suits("count_other_than", x, 0, np.dtype(np.float32)), "labels that are not integers"
    assert not suits("count_other_than", labels[:0], 0, np.dtype(np.float32)), "no labels"
    assert not suits("softmax", x[:0], 1), "no rows"
