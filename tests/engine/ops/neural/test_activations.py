"""Activation functions at their bends, at NaN, of integers, and what they refuse; recorded from MindSpore 2.10."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, float32, grad, ops
from hookscope.engine.tensors import random

NAN = Tensor(np.array([np.nan, 1.0], np.float32))
X = Tensor(np.array([1.0, -2.0], np.float32))
BENDS = [
    ("hardtanh", [-1.0, 1.0, 0.25, 7.0], [0.5, 0.5, 1.0, 0.0]),
    ("hardsigmoid", [-3.0, 3.0, 0.25, 7.0], [0.0, 0.0, 1 / 6, 0.0]),
    ("hardswish", [-3.0, 3.0, 0.25, 7.0], [-0.5, 1.5, 0.25 / 3 + 0.5, 1.0]),
    ("hardshrink", [-0.5, 0.5, 0.25, 7.0], [0.0, 0.0, 0.0, 1.0]),
    ("relu6", [0.0, 6.0, 3.0, 7.0], [0.0, 1.0, 1.0, 0.0]),
    ("celu", [0.0, -0.0, 2.0, -1.0], [1.0, 1.0, 1.0, math.exp(-1)]),  # no bend: of both sides
]


@pytest.mark.parametrize(("name", "points", "slopes"), BENDS, ids=[row[0] for row in BENDS])
def test_the_gradient_at_a_bend_is_that_of_mindspore(name: str, points: list[float], slopes: list[float]) -> None:
    result = grad(lambda x: getattr(ops, name)(x).sum())(Tensor(points, float32))
    np.testing.assert_allclose(result.asnumpy(), slopes, rtol=1e-6)


@pytest.mark.parametrize("name", ["relu6", "hardsigmoid", "hardshrink", "elu", "celu", "leaky_relu", "logsigmoid"])
def test_nan_stays_nan(name: str) -> None:
    result = getattr(ops, name)(NAN).asnumpy()
    assert np.isnan(result).tolist() == [True, False]


def test_the_values_between_and_beyond_the_bends() -> None:
    x = np.linspace(-8, 8, 33, dtype=np.float32)
    wide = x.astype(np.float64)
    inner = np.clip((wide + 3) / 6, 0, 1)
    for result, want in (
        (ops.hardtanh(Tensor(x), -2.0, 3.0), np.clip(wide, -2, 3)),
        (ops.hardsigmoid(Tensor(x)), inner),
        (ops.hardswish(Tensor(x)), wide * inner),
        (ops.hardshrink(Tensor(x), 2.0), np.where(np.abs(wide) > 2, wide, 0)),
        (ops.softshrink(Tensor(x), 2.0), np.sign(wide) * np.maximum(np.abs(wide) - 2, 0)),
        (ops.relu6(Tensor(x)), np.clip(wide, 0, 6)),
    ):
        np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-6, atol=1e-7)


def test_the_slopes_of_rrelu_are_fractions_for_integers_too() -> None:
    np.testing.assert_array_equal(ops.rrelu(Tensor([-10, 4]), 0.5, 0.5).asnumpy(), [-5.0, 4.0])


@pytest.mark.parametrize(
    ("low", "high", "of_x", "of_low"), [(1.0, 2.0, [1.0, 0.0, 1.0, 0.0], 1.0), (1.5, 1.75, [0.0, 0.0, 0.0, 0.0], 2.0)]
)
def test_an_element_on_a_limit_keeps_its_gradient(low: float, high: float, of_x: list[float], of_low: float) -> None:
    x = Tensor([1.0, 0.5, 2.0, 2.5], float32)
    for limits in ((low, high), (Tensor(low, float32), Tensor(high, float32))):
        result = grad(lambda x, limits=limits: ops.clamp(x, *limits).sum())(x)
        np.testing.assert_array_equal(result.asnumpy(), of_x)
    bound = grad(lambda low: ops.clamp(x, low, high).sum())(Tensor(low, float32))
    assert float(bound) == of_low


FORMULAS: list[tuple[str, Callable[..., Any], Callable[..., Any], tuple[int, ...]]] = [
    ("GeLU", ops.GeLU(), lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), (3, 4)),
    ("Gelu", ops.Gelu(), lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), (2,)),
    ("swiglu", ops.swiglu, lambda x: x[..., :2] / (1 + np.exp(-x[..., :2])) * x[..., 2:], (2, 3, 4)),
    ("swiglu of rows", lambda x: ops.swiglu(x, 0), lambda x: x[:3] / (1 + np.exp(-x[:3])) * x[3:], (6, 2)),
]


@pytest.mark.parametrize(("function", "formula", "shape"), [row[1:] for row in FORMULAS], ids=[r[0] for r in FORMULAS])
def test_it_is_its_formula_and_its_gradient_the_slope(function: Any, formula: Any, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(6)
    for scale in (1.0, 20.0):
        x = rng.standard_normal(shape) * scale
        np.testing.assert_allclose(function(Tensor(x)).asnumpy(), formula(x), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(function(Tensor(x, float32)).asnumpy(), formula(x), rtol=1e-4, atol=1e-5)
    weights, way = rng.standard_normal(formula(x).shape), rng.standard_normal(shape)
    x = rng.standard_normal(shape)
    result = grad(lambda x: (function(x) * Tensor(weights)).sum())(Tensor(x)).asnumpy()
    ends = [(formula(x + step * way) * weights).sum() for step in (1e-6, -1e-6)]
    assert float((result * way).sum()) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


def test_what_is_halved_has_an_even_length() -> None:
    with pytest.raises(ValueError, match="'swiglu'"):
        ops.swiglu(Tensor(np.ones((2, 3))))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gumbel_samples_are_of_the_categories(dim: int) -> None:
    ms.set_seed(12)
    chances = np.array([0.1, 0.2, 0.7])
    logits = np.tile(np.log(chances), (20000, 1)) + 5.0
    x = Tensor(logits if dim else logits.T.copy())
    hard = ops.gumbel_softmax(x, 0.7, True, dim).asnumpy()
    hot = hard if dim else hard.T
    np.testing.assert_allclose(np.sort(hot, 1), np.tile([0.0, 0.0, 1.0], (20000, 1)), atol=1e-12)
    assert np.abs(hot.mean(0) - chances).max() < 5 * math.sqrt(0.25 / 20000)


def test_gumbel_noise_is_the_quantile_of_the_uniform_number_it_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = np.array([[0.1, 0.5, 0.9], [0.25, 0.75, 0.999]], np.float32)
    monkeypatch.setattr(random, "uniform_at", lambda stream, offset, shape: drawn)
    logits = np.array([[0.5, 1.0, -2.0], [0.0, -1.0, 1.5]])
    scores = (logits - np.log(-np.log(drawn.astype(np.float64)))) / 0.7  # the quantiles of exp(-exp(-x))
    want = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    np.testing.assert_allclose(ops.gumbel_softmax(Tensor(logits), 0.7).asnumpy(), want, rtol=1e-5)
    drawn = np.array([[0.0, 0.5, 1 - 2.0**-24]] * 2, np.float32)  # the ends of what the stream gives
    result = ops.gumbel_softmax(Tensor(np.zeros((2, 3)))).asnumpy()
    assert (np.diff(result) > 0).all() and np.isfinite(result).all()


def test_a_soft_gumbel_sample_is_a_softmax_of_noise_and_the_hard_one_has_its_gradient() -> None:
    ms.set_seed(12)
    x, weights = np.random.default_rng(0).standard_normal((500, 4)), np.random.default_rng(1).standard_normal((500, 4))
    soft = ops.gumbel_softmax(Tensor(x), 0.5).asnumpy()
    np.testing.assert_allclose(soft.sum(1), 1, rtol=1e-12)
    # Up to a number for each row the noise is tau * log(sample) - logits; Gumbel numbers have the variance pi^2 / 6.
    noise = 0.5 * np.log(soft) - x
    around = noise - noise.mean(1, keepdims=True)
    assert around.var() * 4 / 3 == pytest.approx(math.pi**2 / 6, rel=0.15)
    ms.set_seed(12)
    hard = ops.gumbel_softmax(Tensor(x), 0.5, hard=True).asnumpy()
    np.testing.assert_allclose(hard, soft == soft.max(1, keepdims=True), atol=1e-12)
    # d softmax(z / tau) / dz, of the same noise
    want = soft * (weights - (soft * weights).sum(1, keepdims=True)) / 0.5
    for variant in (False, True):
        ms.set_seed(12)
        result = grad(lambda x, hard=variant: (ops.gumbel_softmax(x, 0.5, hard) * Tensor(weights)).sum())(Tensor(x))
        np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-9, atol=1e-12)


REFUSED: list[tuple[str, Callable[[], Any], type[Exception], str]] = [
    ("softshrink", lambda: ops.softshrink(X, -1.0), ValueError, "'lambd' must not be negative, but got -1.0"),
    ("softplus", lambda: ops.softplus(X, 0), ValueError, "'beta' must not be 0"),
    ("hardtanh", lambda: ops.hardtanh(X, True, 3.0), TypeError, "'min_val' must be a number, but got bool"),
    ("gumbel", lambda: ops.gumbel_softmax(Tensor([1, 2])), TypeError, "'logits' must be floating, but got Int64"),
    ("rrelu lower", lambda: ops.rrelu(X, "a"), TypeError, "For 'rrelu', 'lower' must be a number, but got str"),  # type: ignore[arg-type]
    ("rrelu upper", lambda: ops.rrelu(X, 0.1, None), TypeError, "For 'rrelu', 'upper' must be a number, but got NoneT"),  # type: ignore[arg-type]
    ("leaky_relu", lambda: ops.leaky_relu(1.0), TypeError, "'input' must be a Tensor, but got float"),  # type: ignore[arg-type]
    ("iou", lambda: ops.iou(X, X), ValueError, r"'anchor_boxes' must have the shape \(N, 4\), but got \(2,\)"),
    ("select far off", lambda: X.select(5, 0), ValueError, r"must be in \[-1, 1\), but got 5"),
    ("select by a wrong name", lambda: X.select(dimension=0), TypeError, "unexpected keyword argument 'dimension'"),
]


@pytest.mark.parametrize(("make", "error", "text"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_an_activation_refuses(make: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def test_mints_bends_take_floating_tensors_and_numbers_only() -> None:
    x = Tensor([-1.0, 0.5, 30.0])
    array = x.asnumpy().astype(np.float64)
    soft = np.log1p(np.exp(array))
    functional = ms.mint.nn.functional
    np.testing.assert_allclose(functional.softplus(x).asnumpy(), soft, rtol=1e-6)
    np.testing.assert_allclose(functional.softplus(x, beta=-1).asnumpy()[:2], -np.log1p(np.exp(-array[:2])), rtol=1e-6)
    np.testing.assert_allclose(functional.mish(x).asnumpy(), array * np.tanh(soft), rtol=1e-6)
    np.testing.assert_allclose(functional.hardswish(x).asnumpy(), array * np.clip((array + 3) / 6, 0, 1), rtol=1e-6)
    # MindSpore 2.10 raises a TypeError for each of these, and a ValueError for a beta of 0.
    for call in (
        lambda: functional.softplus(Tensor([1])),
        lambda: functional.mish(Tensor([1])),
        lambda: functional.softplus([1.0]),
        lambda: functional.mish(1.0),
        lambda: functional.hardswish([1.0]),
        lambda: functional.softplus(x, beta="a"),
        lambda: functional.softplus(x, beta=True),
        lambda: functional.softplus(x, threshold=None),
    ):
        with pytest.raises(TypeError, match="For '(softplus|mish|hardswish)', '(input|beta|threshold)' must be"):
            call()
    with pytest.raises(ValueError, match="For 'softplus', 'beta' must not be 0"):
        functional.softplus(x, beta=0)
