"""A NaN or an infinity reaches the outputs that use it and no others; in the backward pass likewise the inputs.

An output uses an input if a finite change of the input changes the output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Tensor, grad, nn, ops, vjp

MAP, VECTOR, VOLUME = (1, 2, 5, 7), (1, 2, 7), (1, 1, 3, 5, 4)


def resized(size: Any, mode: str, **settings: Any) -> Callable[[Tensor], Tensor]:
    return lambda x: ops.interpolate(x, size, mode=mode, **settings)


CASES: list[tuple[str, tuple[int, ...], Callable[[Tensor], Tensor]]] = [
    ("adaptive_avg_pool1d", VECTOR, lambda x: ops.adaptive_avg_pool1d(x, 3)),
    ("adaptive_avg_pool2d", MAP, lambda x: ops.adaptive_avg_pool2d(x, (2, 3))),
    ("adaptive_avg_pool2d, even", (1, 2, 4, 6), lambda x: ops.adaptive_avg_pool2d(x, (2, 3))),
    ("adaptive_avg_pool2d, more", MAP, lambda x: ops.adaptive_avg_pool2d(x, (8, 9))),
    ("adaptive_avg_pool3d", VOLUME, lambda x: ops.adaptive_avg_pool3d(x, (2, 3, 3))),
    ("nn.AdaptiveAvgPool2d", MAP, lambda x: nn.AdaptiveAvgPool2d((3, 2))(x)),
    ("adaptive_max_pool2d", MAP, lambda x: ops.adaptive_max_pool2d(x, (2, 3))),
    ("avg_pool2d", MAP, lambda x: ops.avg_pool2d(x, 3, 2)),
    ("nearest", MAP, resized((3, 11), "nearest")),
    ("nearest-exact", MAP, resized((3, 11), "nearest-exact")),
    ("area", MAP, resized((3, 4), "area")),
    ("linear", VECTOR, resized(10, "linear")),
    ("bilinear", MAP, resized((3, 11), "bilinear")),
    ("bilinear, corners", MAP, resized((9, 13), "bilinear", align_corners=True)),
    ("bicubic", MAP, resized((7, 5), "bicubic")),
    ("bicubic, corners", MAP, resized((7, 5), "bicubic", align_corners=True)),
    ("trilinear", VOLUME, resized((2, 7, 5), "trilinear")),
]
IDS = [row[0] for row in CASES]


def jacobian(function: Callable[[Tensor], Tensor], shape: tuple[int, ...]) -> Any:
    """Return the change of each output for one more at each input, (inputs, outputs), of functions linear near 0."""
    x = np.zeros(shape, np.float64)
    rows = []
    for index in range(x.size):
        subject = x.copy()
        subject.reshape(-1)[index] = 1.0
        rows.append(function(Tensor(subject)).asnumpy().reshape(-1))
    return np.array(rows)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("name", "shape", "function"), CASES, ids=IDS)
def test_what_is_not_finite_reaches_the_outputs_that_use_it(
    name: str, shape: Any, function: Callable[[Tensor], Tensor], value: float, dtype: Any
) -> None:
    if name == "adaptive_max_pool2d" and value == -np.inf:
        value = np.nan  # the largest of a window is another one then
    weights = jacobian(function, shape)
    clean = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    for index in (0, clean.size // 2, clean.size - 1):
        x = clean.copy()
        x.reshape(-1)[index] = value
        result, before = (function(Tensor(a)).asnumpy().reshape(-1) for a in (x, clean))
        used = weights[index] != 0
        np.testing.assert_array_equal(result[~used], before[~used])
        expected = np.sign(weights[index][used]) * value
        np.testing.assert_array_equal(result[used], expected)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize(
    ("name", "shape", "function"),
    [row for row in CASES if "max" not in row[0]],
    ids=[name for name in IDS if "max" not in name],
)
def test_what_is_not_finite_in_a_gradient_reaches_the_inputs_that_were_used(
    name: str, shape: Any, function: Callable[[Tensor], Tensor], value: float
) -> None:
    weights = jacobian(function, shape)
    x = Tensor(np.random.default_rng(1).standard_normal(shape).astype(np.float32))
    out, back = vjp(function, x)
    for index in (0, out.size // 2, out.size - 1):
        arriving = np.random.default_rng(2).standard_normal(out.shape).astype(np.float32)
        (before,) = back(Tensor(arriving))
        arriving.reshape(-1)[index] = value
        (result,) = back(Tensor(arriving))
        used = weights[:, index] != 0
        result, before = (t.asnumpy().reshape(-1) for t in (result, before))
        np.testing.assert_array_equal(result[~used], before[~used])
        np.testing.assert_array_equal(result[used], np.sign(weights[:, index][used]) * value)


def test_infinities_of_both_signs_in_one_window_are_nan() -> None:
    x = np.zeros((1, 1, 5), np.float32)
    x[0, 0, 0], x[0, 0, 1] = np.inf, -np.inf
    np.testing.assert_array_equal(ops.adaptive_avg_pool1d(Tensor(x), 2).asnumpy(), [[[np.nan, 0]]])


def test_means_and_resized_maps_have_derivatives_of_higher_order() -> None:
    x = Tensor(np.random.default_rng(0).standard_normal(VECTOR))
    for function in (lambda x: ops.adaptive_avg_pool1d(x, 3), lambda x: ops.interpolate(x, 10, mode="linear")):
        weights = jacobian(function, VECTOR)
        slope = grad(lambda x, f=function: (f(x) ** 3).sum())
        direction = np.random.default_rng(1).standard_normal(VECTOR)
        result = grad(lambda x, s=slope, d=direction: (s(x) * Tensor(d)).sum())(x).asnumpy().reshape(-1)
        out = weights.T @ x.asnumpy().reshape(-1)
        np.testing.assert_allclose(result, weights @ (6 * out * (weights.T @ direction.reshape(-1))), rtol=1e-10)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_infinite_gradient_of_an_extreme_reaches_its_place_only(value: float) -> None:
    x = Tensor(np.array([[1.0, 3.0, 2.0], [5.0, 4.0, 4.0]], np.float32))
    arriving = Tensor(np.array([value, 1.0], np.float32))
    for function in (lambda x: ops.amax(x, 1), lambda x: ops.max(x, 1)[0], lambda x: ops.ReduceMax()(x, 1)):
        _, back = vjp(function, x)
        np.testing.assert_array_equal(back(arriving)[0].asnumpy(), [[0, value, 0], [1, 0, 0]])
