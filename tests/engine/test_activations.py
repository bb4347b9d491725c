"""Activation functions at their bends, at NaN, of integers, and what they refuse; recorded from MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Tensor, float32, grad, ops

NAN = Tensor(np.array([np.nan, 1.0], np.float32))
X = Tensor(np.array([1.0, -2.0], np.float32))
BENDS = [
    ("hardtanh", [-1.0, 1.0, 0.25, 7.0], [0.5, 0.5, 1.0, 0.0]),
    ("hardsigmoid", [-3.0, 3.0, 0.25, 7.0], [0.0, 0.0, 1 / 6, 0.0]),
    ("hardswish", [-3.0, 3.0, 0.25, 7.0], [-0.5, 1.5, 0.25 / 3 + 0.5, 1.0]),
    ("hardshrink", [-0.5, 0.5, 0.25, 7.0], [0.0, 0.0, 0.0, 1.0]),
    ("relu6", [0.0, 6.0, 3.0, 7.0], [0.0, 1.0, 1.0, 0.0]),
]


@pytest.mark.parametrize(("name", "places", "slopes"), BENDS, ids=[row[0] for row in BENDS])
def test_the_gradient_at_a_bend_is_that_of_mindspore(name: str, places: list[float], slopes: list[float]) -> None:
    found = grad(lambda x: getattr(ops, name)(x).sum())(Tensor(places, float32))
    np.testing.assert_allclose(found.asnumpy(), slopes, rtol=1e-6)


@pytest.mark.parametrize("name", ["relu6", "hardsigmoid", "hardshrink", "elu", "celu", "leaky_relu", "logsigmoid"])
def test_nan_stays_nan(name: str) -> None:
    found = getattr(ops, name)(NAN).asnumpy()
    assert np.isnan(found).tolist() == [True, False]


def test_the_values_between_and_beyond_the_bends() -> None:
    x = np.linspace(-8, 8, 33, dtype=np.float32)
    wide = x.astype(np.float64)
    inner = np.clip((wide + 3) / 6, 0, 1)
    for found, want in (
        (ops.hardtanh(Tensor(x), -2.0, 3.0), np.clip(wide, -2, 3)),
        (ops.hardsigmoid(Tensor(x)), inner),
        (ops.hardswish(Tensor(x)), wide * inner),
        (ops.hardshrink(Tensor(x), 2.0), np.where(np.abs(wide) > 2, wide, 0)),
        (ops.softshrink(Tensor(x), 2.0), np.sign(wide) * np.maximum(np.abs(wide) - 2, 0)),
        (ops.relu6(Tensor(x)), np.clip(wide, 0, 6)),
    ):
        np.testing.assert_allclose(found.asnumpy(), want, rtol=1e-6, atol=1e-7)


def test_the_slopes_of_rrelu_are_fractions_for_integers_too() -> None:
    np.testing.assert_array_equal(ops.rrelu(Tensor([-10, 4]), 0.5, 0.5).asnumpy(), [-5.0, 4.0])


@pytest.mark.parametrize(
    ("low", "high", "of_x", "of_low"),
    [(1.0, 2.0, [1.0, 0.0, 1.0, 0.0], 1.0), (1.5, 1.75, [0.0, 0.0, 0.0, 0.0], 2.0)],
)
def test_an_element_on_a_limit_keeps_its_gradient(low: float, high: float, of_x: list[float], of_low: float) -> None:
    x = Tensor([1.0, 0.5, 2.0, 2.5], float32)
    for limits in ((low, high), (Tensor(low, float32), Tensor(high, float32))):
        found = grad(lambda x, limits=limits: ops.clamp(x, *limits).sum())(x)
        np.testing.assert_array_equal(found.asnumpy(), of_x)
    bound = grad(lambda low: ops.clamp(x, low, high).sum())(Tensor(low, float32))
    assert float(bound) == of_low


REFUSED: list[tuple[str, Callable[[], Any], type[Exception], str]] = [
    ("softshrink", lambda: ops.softshrink(X, -1.0), ValueError, "'lambd' must not be negative, but got -1.0"),
    ("softplus", lambda: ops.softplus(X, 0), ValueError, "'beta' must not be 0"),
    ("hardtanh", lambda: ops.hardtanh(X, True, 3.0), TypeError, "'min_val' must be a number, but got bool"),
    ("gumbel", lambda: ops.gumbel_softmax(Tensor([1, 2])), TypeError, "'logits' must be floating, but got Int64"),
    ("leaky_relu", lambda: ops.leaky_relu(1.0), TypeError, "'input' must be a Tensor, but got float"),  # type: ignore[arg-type]
    ("iou", lambda: ops.iou(X, X), ValueError, r"'anchor_boxes' must have the shape \(N, 4\), but got \(2,\)"),
    ("select far off", lambda: X.select(5, 0), ValueError, r"must be in \[-1, 1\), but got 5"),
    ("select by a wrong name", lambda: X.select(dimension=0), TypeError, "unexpected keyword argument 'dimension'"),
]


@pytest.mark.parametrize(("made", "error", "text"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_an_activation_refuses(made: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        made()
