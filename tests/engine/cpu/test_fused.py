"""The fused CPU kernels against formulas in float64, and their gradients against central differences."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hookscope.engine.cpu import fused, philox

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# Half a unit in the last place of 1.0, times a small allowance for what the kernels add up in float32.
TOLERANCE = {"float64": 1e-12, "float32": 3e-6, "float16": 2e-3, "bfloat16": 1e-2}
DTYPES = [np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.float16), BFLOAT16]


@pytest.fixture(autouse=True)
def warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def normal(*shape: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng(seed).standard_normal(shape)


def close(got: Any, want: Any, dtype: np.dtype[Any]) -> None:
    assert got.dtype == dtype
    tolerance = TOLERANCE[dtype.name]
    np.testing.assert_allclose(np.asarray(got, np.float64), np.asarray(want), rtol=tolerance, atol=tolerance)


def central_difference(f: Callable[[Any], Any], x: Any, g: Any, step: float = 1e-6) -> Any:
    """d sum(g * f(x)) / dx, one element at a time."""
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


ACTIVATIONS: dict[str, tuple[Callable[[Any], Any], Callable[[float], float]]] = {
    "relu": (fused.relu, lambda t: max(t, 0.0)),
    "sigmoid": (fused.sigmoid, lambda t: 1 / (1 + math.exp(-t))),
    "silu": (fused.silu, lambda t: t / (1 + math.exp(-t))),
    "gelu": (lambda x: fused.gelu(x, "none"), lambda t: gelu_of(t, "none")),
    "gelu_tanh": (lambda x: fused.gelu(x, "tanh"), lambda t: gelu_of(t, "tanh")),
    "tanh": (np.tanh, math.tanh),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_erf_is_within_four_units_in_the_last_place(dtype: type) -> None:
    spread = np.concatenate([np.linspace(-7, 7, 20001), np.linspace(-1e-3, 1e-3, 101), [1e-30, 1e30, 1, -1]])
    x = spread.astype(dtype)
    exact = np.array([math.erf(float(t)) for t in x])
    assert (np.abs(fused.erf(x) - exact) <= 4 * np.spacing(np.abs(exact).astype(dtype))).all()


def test_erf_of_infinities_nan_and_negative_zero() -> None:
    got = fused.erf(np.array([np.inf, -np.inf, np.nan, -0.0], dtype=np.float32))
    assert got[0] == 1
    assert got[1] == -1
    assert np.isnan(got[2])
    assert np.signbit(got[3])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", [name for name in ACTIVATIONS if name != "tanh"])
def test_activation_follows_its_formula(name: str, dtype: np.dtype[Any]) -> None:
    x = (3 * normal(7, 5)).astype(dtype)
    kernel, formula = ACTIVATIONS[name]
    close(kernel(x), np.vectorize(formula)(x.astype(np.float64)), dtype)


def test_sigmoid_keeps_its_relative_precision_and_does_not_overflow() -> None:
    x = np.array([-80.0, -20.0, 80.0, -1e4, 1e4], dtype=np.float32)
    got = fused.sigmoid(x)
    np.testing.assert_allclose(got[:3], [math.exp(-80), 1 / (1 + math.exp(20)), 1.0], rtol=1e-6)
    assert got[3] == 0
    assert got[4] == 1


def test_activations_pass_nan_on() -> None:
    x = np.array([np.nan, 1.0], dtype=np.float32)
    for kernel, _ in ACTIVATIONS.values():
        assert np.isnan(kernel(x)).tolist() == [True, False]


def test_activation_gradients_agree_with_central_differences() -> None:
    x, g = 2 * normal(4, 5), normal(4, 5, seed=1)
    assert_gradient(fused.relu_grad(g, fused.relu(x)), fused.relu, x, g)
    assert_gradient(fused.sigmoid_grad(g, fused.sigmoid(x)), fused.sigmoid, x, g)
    assert_gradient(fused.tanh_grad(g, np.tanh(x)), np.tanh, x, g)
    assert_gradient(fused.silu_grad(g, x), fused.silu, x, g)
    for form in ("none", "tanh"):
        assert_gradient(fused.gelu_grad(g, x, form), lambda t, form=form: fused.gelu(t, form), x, g)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_gradients_keep_the_dtype(dtype: np.dtype[Any]) -> None:
    x, g = normal(3, 4).astype(dtype), normal(3, 4, seed=1).astype(dtype)
    for name in ("relu_grad", "sigmoid_grad", "tanh_grad", "silu_grad"):
        assert getattr(fused, name)(g, x).dtype == dtype
    assert fused.gelu_grad(g, x, "none").dtype == dtype
    assert fused.softmax_grad(g, x, 0).dtype == dtype
    assert fused.log_softmax_grad(g, x, 1).dtype == dtype


def test_a_0d_array_stays_an_array() -> None:
    x = np.array(1.5, dtype=np.float32)
    for kernel in (fused.erf, fused.relu, fused.sigmoid, fused.silu, lambda t: fused.gelu(t, "tanh")):
        assert isinstance(kernel(x), np.ndarray)
        assert kernel(x).shape == ()


def test_gelu_refuses_an_unknown_form() -> None:
    with pytest.raises(ValueError, match="approximate must be 'none' or 'tanh', got 'fast'"):
        fused.gelu(normal(2), "fast")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_and_log_softmax_follow_their_formula(axis: int, dtype: np.dtype[Any]) -> None:
    x = (5 * normal(3, 7, 5)).astype(dtype)[::2, 1:]
    powers = np.vectorize(math.exp)(x.astype(np.float64))
    want = powers / powers.sum(axis, keepdims=True)
    close(fused.softmax(x, axis), want, dtype)
    if dtype.itemsize >= 4:  # logarithms of 1e-5 have no absolute tolerance to hold in 8 or 11 bits
        np.testing.assert_allclose(fused.log_softmax(x, axis), np.log(want), rtol=1e-5, atol=1e-6)


def test_softmax_of_large_numbers_does_not_overflow() -> None:
    x = np.array([[1e4, 1e4 - 1, -1e4]], dtype=np.float32)
    np.testing.assert_allclose(fused.softmax(x, 1)[0, :2], [0.731058579, 0.268941421], rtol=1e-6)


def test_a_nan_reaches_its_whole_row_and_no_other() -> None:
    x = normal(3, 4).astype(np.float32)
    x[1, 2] = np.nan
    for kernel in (fused.softmax, fused.log_softmax):
        assert np.isnan(kernel(x, 1)).all(axis=1).tolist() == [False, True, False]
        assert not np.isnan(kernel(x, 1)[[0, 2]]).any()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_softmax_of_nothing_is_nothing(shape: tuple[int, int]) -> None:
    x = np.zeros(shape, np.float32)
    assert fused.softmax(x, 1).shape == fused.log_softmax(x, 1).shape == shape


def test_softmax_gradients_agree_with_central_differences() -> None:
    x, g = normal(3, 4), normal(3, 4, seed=1)
    for axis in (0, 1):
        y, z = fused.softmax(x, axis), fused.log_softmax(x, axis)
        assert_gradient(fused.softmax_grad(g, y, axis), lambda t, a=axis: fused.softmax(t, a), x, g)
        assert_gradient(fused.log_softmax_grad(g, z, axis), lambda t, a=axis: fused.log_softmax(t, a), x, g)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("begin", [1, -1, 2])
def test_layer_norm_follows_its_formula(begin: int, dtype: np.dtype[Any]) -> None:
    x = (4 + 2 * normal(3, 4, 5)).astype(dtype)
    tail = x.shape[begin:]
    gamma, beta = normal(*tail, seed=1).astype(dtype), normal(*tail, seed=2).astype(dtype)
    y, mean, rstd = fused.layer_norm(x, gamma, beta, begin, 1e-5)
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
    _, mean, rstd = fused.layer_norm(x, gamma, beta, 1, 1e-5)
    dx, dgamma, dbeta = fused.layer_norm_grad(g, x, gamma, mean, rstd, 1)
    assert_gradient(dx, lambda t: fused.layer_norm(t, gamma, beta, 1, 1e-5)[0], x, g)
    assert_gradient(dgamma, lambda t: fused.layer_norm(x, t, beta, 1, 1e-5)[0], gamma, g)
    assert_gradient(dbeta, lambda t: fused.layer_norm(x, gamma, t, 1, 1e-5)[0], beta, g)


def test_layer_norm_names_an_axis_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"begin_norm_axis must lie in \[-2, 2\) for shape \(2, 3\), got 2"):
        fused.layer_norm(normal(2, 3), normal(3), normal(3), 2, 1e-5)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("activation", [None, *ACTIVATIONS])
def test_linear_follows_its_formula(activation: str | None, dtype: np.dtype[Any]) -> None:
    shapes = [(2, 3, 6), (4, 6), (4,)]
    x, weight, bias = (normal(*shape, seed=i).astype(dtype) for i, shape in enumerate(shapes))
    exact = np.einsum("abk,nk->abn", x.astype(np.float64), weight.astype(np.float64))
    formula = np.vectorize(ACTIVATIONS[activation][1] if activation else lambda t: t)
    close(fused.linear(x, weight, bias, activation), formula(exact + bias.astype(np.float64)), dtype)
    close(fused.linear(x, weight, None, activation), formula(exact), dtype)


def test_linear_refuses_an_unknown_activation() -> None:
    with pytest.raises(ValueError, match=r"activation must be None, .* got 'swish'"):
        fused.linear(normal(2, 3), normal(4, 3), None, "swish")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_matmul_broadcasts_and_transposes(dtype: np.dtype[Any]) -> None:
    a, b = normal(2, 1, 3, 4).astype(dtype), normal(5, 4, 6, seed=1).astype(dtype)
    want = np.einsum("aoik,bkj->abij", a.astype(np.float64), b.astype(np.float64))
    close(fused.matmul(a, b, False, False), want, dtype)
    close(fused.matmul(a.swapaxes(-1, -2), b, True, False), want, dtype)
    close(fused.matmul(a, b.swapaxes(-1, -2), False, True), want, dtype)
    vector = normal(4, seed=2).astype(dtype)
    close(fused.matmul(vector, vector, False, False), (vector.astype(float) ** 2).sum(), dtype)


def test_matmul_of_integers_is_exact() -> None:
    a = np.array([[2**30 + 1, 1]], dtype=np.int64)
    assert fused.matmul(a, a, False, True).tolist() == [[(2**30 + 1) ** 2 + 1]]


def test_matmul_refuses_to_transpose_a_vector() -> None:
    with pytest.raises(ValueError, match=r"transpose_b needs an operand of 2 or more axes, got shape \(3,\)"):
        fused.matmul(normal(2, 3), normal(3), False, True)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dropout_keeps_what_its_counters_say(dtype: np.dtype[Any]) -> None:
    x = normal(40, 30).astype(dtype).T
    y, mask = fused.dropout(x, 0.3, 5, 1000)
    kept = philox.philox_uniform(5, np.arange(1000, 2200)).reshape(30, 40) >= np.float32(0.3)
    assert mask.dtype == np.bool_
    assert np.array_equal(mask, kept)
    close(y, np.where(kept, x.astype(np.float64) / 0.7, 0.0), dtype)
    close(fused.dropout_grad(x, mask, 0.3), y.astype(np.float64), dtype)


def test_dropout_at_its_two_ends() -> None:
    x = np.array([1.0, np.inf, np.nan], dtype=np.float32)
    assert fused.dropout(x, 1.0, 1, 0)[0].tolist() == [0, 0, 0]
    np.testing.assert_array_equal(fused.dropout(x, 0.0, 1, 0)[0], x)


def test_dropout_names_a_probability_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"p must lie in \[0, 1\], got 1.5"):
        fused.dropout(normal(2), 1.5, 0, 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_cross_entropy_follows_its_formula(dtype: np.dtype[Any]) -> None:
    logits, labels = (3 * normal(5, 7)).astype(dtype), np.array([0, 6, -100, 3, 3])
    loss, lse = fused.sparse_softmax_cross_entropy(logits, labels, -100)
    want = [math.log(sum(math.exp(float(t)) for t in row)) for row in logits]
    close(lse, want, np.dtype(np.float64 if dtype == np.float64 else np.float32))
    picked = [
        0.0 if label == -100 else w - float(row[label])
        for w, row, label in zip(want, logits, labels, strict=True)
    ]
    close(loss, picked, dtype)


def test_cross_entropy_gradient_agrees_with_central_differences() -> None:
    logits, labels, g = normal(4, 5), np.array([0, 4, 2, 7]), normal(4, seed=1)
    _, lse = fused.sparse_softmax_cross_entropy(logits, labels, 7)
    gradient = fused.sparse_softmax_cross_entropy_grad(g, logits, labels, lse, 7)
    assert_gradient(gradient, lambda t: fused.sparse_softmax_cross_entropy(t, labels, 7)[0], logits, g)
    assert (gradient[3] == 0).all()


def test_cross_entropy_of_no_rows_is_empty() -> None:
    loss, lse = fused.sparse_softmax_cross_entropy(np.zeros((0, 3), np.float32), np.zeros(0, np.int64), -100)
    assert loss.shape == lse.shape == (0,)


def test_cross_entropy_names_a_label_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"labels must lie in \[0, 3\) or equal .*, got 3 in row 1"):
        fused.sparse_softmax_cross_entropy(normal(2, 3), np.array([0, 3]), -100)


@pytest.mark.parametrize("nesterov", [False, True])
def test_adam_follows_the_published_update(nesterov: bool) -> None:
    beta1, beta2, eps = 0.9, 0.999, 1e-8
    p, m, v = normal(6), np.zeros(6), np.zeros(6)
    want = [[t, 0.0, 0.0] for t in p.tolist()]
    for step in range(1, 4):
        grad = normal(6, seed=step)
        lr_t = 0.01 * math.sqrt(1 - beta2**step) / (1 - beta1**step)
        p, m, v = fused.adam(p, m, v, grad, lr_t, beta1, beta2, eps, nesterov)
        for row, g in zip(want, grad.tolist(), strict=True):
            row[1] = beta1 * row[1] + (1 - beta1) * g
            row[2] = beta2 * row[2] + (1 - beta2) * g * g
            numerator = beta1 * row[1] + (1 - beta1) * g if nesterov else row[1]
            row[0] -= lr_t * numerator / (math.sqrt(row[2]) + eps)
    np.testing.assert_allclose(np.stack([p, m, v], 1), want, rtol=1e-13)


def test_adam_keeps_dtypes_and_changes_no_argument() -> None:
    param = normal(5).astype(np.float16)
    moments = np.zeros((2, 5), np.float32)
    before = param.copy(), moments.copy()
    results = fused.adam(param, moments[0], moments[1], param, 0.1, 0.9, 0.999, 1e-8, False)
    assert [result.dtype.name for result in results] == ["float16", "float32", "float32"]
    assert np.array_equal(param, before[0])
    assert np.array_equal(moments, before[1])
