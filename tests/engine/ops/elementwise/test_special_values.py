"""Numbers at the edges: NaN, infinities, ties, large integers, tensors without axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

import hookscope.engine as ms
import hookscope.engine.numpy as mnp
from hookscope.engine import Tensor, grad, mint, nn, ops

INF, NAN = math.inf, math.nan
FUNCTIONAL = mint.nn.functional


def tensor(*values: float, dtype: Any = np.float32) -> Tensor:
    return Tensor(np.array(values, dtype))


# Ties

TIED = Tensor(np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 1.0]], np.float32))
FIRST_MAX, FIRST_MIN = [[0, 1, 0], [1, 0, 0]], [[1, 0, 0], [0, 0, 1]]
SHARED_MAX = [[0, 0.5, 0.5], [0.5, 0.5, 0]]
ONE_PLACE: list[tuple[str, Callable[[Tensor], Tensor], Any]] = [
    ("ops.max", lambda x: ops.max(x, 1)[0], FIRST_MAX),
    ("ops.min", lambda x: ops.min(x, 1)[0], FIRST_MIN),
    ("mint.max", lambda x: mint.max(x, 1)[0], FIRST_MAX),
    ("mint.min", lambda x: mint.min(x, 1)[0], FIRST_MIN),
    ("x.max(dim)", lambda x: x.max(dim=1)[0], FIRST_MAX),
    ("ArgMaxWithValue", lambda x: ops.ArgMaxWithValue(1)(x)[1], FIRST_MAX),
    ("ArgMinWithValue", lambda x: ops.ArgMinWithValue(1)(x)[1], FIRST_MIN),
    ("x.argmax_with_value", lambda x: x.argmax_with_value(1)[0], FIRST_MAX),
    ("x.argmin_with_value", lambda x: x.argmin_with_value(1)[0], FIRST_MIN),
    ("aminmax", lambda x: ops.aminmax(x, axis=1)[1], FIRST_MAX),
    ("aminmax, min", lambda x: ops.aminmax(x, axis=1)[0], FIRST_MIN),
    ("ReduceMax", lambda x: ops.ReduceMax()(x, 1), SHARED_MAX),
    ("amax", lambda x: ops.amax(x, 1), SHARED_MAX),
    ("mint.amax", lambda x: mint.amax(x, 1), SHARED_MAX),
    ("x.max()", lambda x: x.max(), [[0, 0.5, 0.5], [0, 0, 0]]),
    ("x.max(axis=)", lambda x: x.max(axis=1), FIRST_MAX),
    ("maximum", lambda x: ops.maximum(x[0], ops.stop_gradient(x[0])), [[0.5, 0.5, 0.5], [0, 0, 0]]),
    ("mint.maximum", lambda x: mint.maximum(x[0], ops.stop_gradient(x[0])), [[0.5, 0.5, 0.5], [0, 0, 0]]),
    ("minimum", lambda x: ops.minimum(x[0], ops.stop_gradient(x[0])), [[0.5, 0.5, 0.5], [0, 0, 0]]),
]


@pytest.mark.parametrize(("name", "function", "expected"), ONE_PLACE, ids=[row[0] for row in ONE_PLACE])
def test_the_gradient_of_an_extreme_goes_to_its_place_or_to_all_that_tie(
    name: str, function: Callable[[Tensor], Tensor], expected: Any
) -> None:
    assert grad(lambda x: function(x).sum())(TIED).tolist() == expected


def test_the_methods_give_the_element_before_its_place_and_the_primitives_after_it() -> None:
    assert [x.tolist() for x in TIED.argmax_with_value(1)] == [[3.0, 2.0], [1, 0]]
    assert [x.tolist() for x in TIED.argmin_with_value(1)] == [[1.0, 1.0], [0, 2]]
    assert [x.tolist() for x in ops.ArgMaxWithValue(1)(TIED)] == [[1, 0], [3.0, 2.0]]
    assert [x.tolist() for x in ops.ArgMinWithValue(1)(TIED)] == [[0, 2], [1.0, 1.0]]


def test_fmax_and_fmin_of_two_that_are_equal_have_the_gradient_of_the_first() -> None:
    a, b = tensor(1, 2, NAN, NAN, 3), tensor(1, 3, 1, NAN, NAN)
    np.testing.assert_array_equal(ops.fmax(a, b).asnumpy(), np.fmax(a.asnumpy(), b.asnumpy()))
    np.testing.assert_array_equal(ops.fmin(a, b).asnumpy(), np.fmin(a.asnumpy(), b.asnumpy()))
    assert [g.tolist() for g in grad(ops.fmax, (0, 1))(a, b)] == [[1, 0, 0, 1, 1], [0, 1, 1, 0, 0]]
    assert [g.tolist() for g in grad(ops.fmin, (0, 1))(a, b)] == [[1, 1, 0, 1, 1], [0, 0, 1, 0, 0]]


# NaN and infinities


VALUES: list[tuple[str, Callable[[Tensor], Tensor], list[float]]] = [
    # of NaN, inf, -inf and 0
    ("relu6", ops.relu6, [NAN, 6, 0, 0]),
    ("nn.ReLU6", nn.ReLU6(), [NAN, 6, 0, 0]),
    ("mint relu6", FUNCTIONAL.relu6, [NAN, 6, 0, 0]),
    ("hardsigmoid", ops.hardsigmoid, [NAN, 1, 0, 0.5]),
    ("nn.HSigmoid", nn.HSigmoid(), [NAN, 1, 0, 0.5]),
    ("hardswish", ops.hardswish, [NAN, INF, 0, 0]),
    ("nn.HSwish", nn.HSwish(), [NAN, INF, 0, 0]),
    ("clamp", lambda x: ops.clamp(x, -1.0, 1.0), [-1, 1, -1, 0]),
    ("clamp by tensors", lambda x: ops.clamp(x, Tensor(-1.0), Tensor(1.0)), [-1, 1, -1, 0]),
    ("x.clip", lambda x: x.clip(-1.0, 1.0), [-1, 1, -1, 0]),
    ("mint.clamp by tensors", lambda x: mint.clamp(x, Tensor(-1.0), Tensor(1.0)), [-1, 1, -1, 0]),
    ("clamp by NaN", lambda x: ops.clamp(x, NAN, 1.0), [1, 1, 1, 1]),
    ("clamp by a tensor of NaN", lambda x: ops.clamp(x, Tensor(NAN), Tensor(1.0)), [1, 1, 1, 1]),
    ("numpy.clip", lambda x: mnp.clip(x, -1.0, 1.0), [NAN, 1, -1, 0]),
    ("numpy.clip by tensors", lambda x: mnp.clip(x, Tensor(-1.0), Tensor(1.0)), [NAN, 1, -1, 0]),
    ("numpy.clip from below", lambda x: mnp.clip(x, -1.0, None), [NAN, INF, -1, 0]),
    ("numpy.clip from above", lambda x: mnp.clip(x, None, 1.0), [NAN, 1, -INF, 0]),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("name", "function", "expected"), VALUES, ids=[row[0] for row in VALUES])
def test_of_nan_and_infinities(
    name: str, function: Callable[[Tensor], Tensor], expected: list[float], dtype: Any
) -> None:
    np.testing.assert_array_equal(function(tensor(NAN, INF, -INF, 0.0, dtype=dtype)).asnumpy(), expected)


def test_the_gradient_of_hardswish_is_0_at_minus_infinity_and_right_elsewhere() -> None:
    x = tensor(-INF, -5.0, -1.0, 0.0, 2.0, 4.0, INF)
    expected = [0, 0, (2 * -1 + 3) / 6, 0.5, (2 * 2 + 3) / 6, 1, 1]
    np.testing.assert_allclose(grad(lambda x: ops.hardswish(x).sum())(x).asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("values", "expected"),
    [((INF, 1), INF), ((-INF, 1), 1), ((-INF, -INF), -INF), ((INF, INF), INF), ((INF, -INF), INF), ((NAN, INF), NAN)],
)
def test_logsumexp_of_infinities(values: tuple[float, float], expected: float) -> None:
    for function in (ops.logsumexp, mint.logsumexp, Tensor.logsumexp):
        np.testing.assert_array_equal(function(tensor(*values), 0).asnumpy(), np.float32(expected))


@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_the_gradient_of_elu_at_0_is_that_from_below(alpha: float) -> None:
    x = tensor(0.0, -0.0, 1.0, -1.0)
    expected = [alpha, alpha, 1, alpha * math.exp(-1)]
    for function in (FUNCTIONAL.elu, lambda x, a: mint.nn.ELU(a)(x), lambda x, a: ops.elu(x, a)):
        np.testing.assert_allclose(grad(lambda x, f=function: f(x, alpha).sum())(x).asnumpy(), expected, rtol=1e-6)


# Powers, quotients and sums


def test_float_power_of_complex_numbers() -> None:
    base = np.array([1 + 2j, 3 - 1j], np.complex64)
    wide = base.astype(np.complex128)
    for exponent in (2, 2.5, 1j, np.array([2.0, 0.5], np.float32), np.array([2, 3]), base):
        argument = Tensor(exponent) if isinstance(exponent, np.ndarray) else exponent
        result = ops.float_power(Tensor(base), argument)
        assert result.dtype == ms.complex128
        np.testing.assert_allclose(result.asnumpy(), wide**exponent, rtol=1e-12)
    np.testing.assert_allclose(ops.float_power(2.0, Tensor(base)).asnumpy(), 2.0**wide, rtol=1e-12)
    np.testing.assert_allclose(ops.float_power(tensor(1, 2), 1j).asnumpy(), np.array([1.0, 2.0]) ** 1j, rtol=1e-12)
    assert ops.float_power(tensor(1, 2), 2).dtype == ms.float64


@pytest.mark.parametrize("divisor", [3, -3, 7, 2**40 + 1])
@pytest.mark.parametrize("beside", [int, Tensor])
def test_quotients_of_large_integers_are_exact(divisor: int, beside: Any) -> None:
    values = [2**53 + 1, -(2**53 + 1), 2**62 + 3, -(2**62) - 3, 7, -7, 2**63 - 1, 0]
    x, y = Tensor(np.array(values, np.int64)), beside(divisor)
    floors = [v // divisor for v in values]
    towards_0 = [abs(v) // abs(divisor) * (1 if (v < 0) == (divisor < 0) else -1) for v in values]
    for div in (ops.div, mint.div, Tensor.div):
        assert div(x, y, rounding_mode="floor").tolist() == floors
        assert div(x, y, rounding_mode="trunc").tolist() == towards_0
    assert ops.truncate_div(x, y).tolist() == towards_0
    assert (x // y).tolist() == floors
    assert (x % y).tolist() == [v % divisor for v in values]
    assert ops.fmod(x, y).tolist() == [v - q * divisor for v, q in zip(values, towards_0, strict=True)]


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8, np.bool_])
def test_the_method_cumsum_of_small_integers_is_int32(dtype: Any) -> None:
    values = np.array([[100, 100, 1], [100, 0, 1]]).astype(dtype)
    for axis in (0, 1, None):
        for result in (Tensor(values).cumsum(axis), mnp.cumsum(Tensor(values), axis)):
            assert result.dtype == ms.int32
            np.testing.assert_array_equal(result.asnumpy(), np.cumsum(values, axis, dtype=np.int32))


def test_the_method_cumsum_of_other_numbers_and_the_function_keep_the_dtype() -> None:
    for dtype in (np.int32, np.int64, np.float16, np.float32, np.uint16):
        assert Tensor(np.ones(3, dtype)).cumsum(0).asnumpy().dtype == dtype
    for dtype in (np.int8, np.int16, np.uint8):
        result = ops.cumsum(Tensor(np.array([100, 100, 1], dtype)), 0).asnumpy()
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, np.cumsum(np.array([100, 100, 1], dtype), dtype=dtype))
    assert Tensor(np.array([100, 100], np.int8)).cumsum(0, ms.int16).tolist() == [100, 200]
    with pytest.raises(TypeError, match="'x' must hold numbers"):
        ops.cumsum(Tensor([True]), 0)


def test_cumsum_along_an_axis_of_a_tensor_without_axes_is_refused() -> None:
    x = Tensor(3.0)
    for call in (lambda: ops.cumsum(x, 0), lambda: mint.cumsum(x, -1), lambda: x.cumsum(0), lambda: ops.CumSum()(x, 0)):
        with pytest.raises(ValueError, match=r"'x' must have at least 1 axis, but got shape \(\)"):
            call()
    assert x.cumsum().tolist() == mnp.cumsum(x).tolist() == [3.0]


@pytest.mark.parametrize("function", [ops.dense, FUNCTIONAL.linear])
def test_the_gradient_of_a_bias_has_its_shape(function: Any) -> None:
    x, w = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4)), Tensor(np.ones((2, 4), np.float32))
    for shape, expected in (((2,), [3, 3]), ((1,), [6]), ((), 6)):
        result = grad(lambda b: function(x, w, b).sum())(Tensor(np.ones(shape, np.float32)))
        assert result.tolist() == expected
    for shape in ((1, 2), (3, 2), (3, 1)):
        with pytest.raises(ValueError, match="'bias' must have 1 axis at most"):
            function(x, w, Tensor(np.ones(shape, np.float32)))


def test_a_weight_with_one_axis_gives_a_result_without_the_last() -> None:
    x, w, b = np.arange(12.0).reshape(3, 4), np.arange(4.0) - 1, np.float64(0.5)
    inputs = [Tensor(v.astype(np.float32)) for v in (x, w, b)]
    np.testing.assert_allclose(ops.dense(*inputs).asnumpy(), x @ w + b)
    of_x, of_w, of_b = grad(lambda *a: ops.square(ops.dense(*a)).sum(), (0, 1, 2))(*inputs)
    slope = 2 * (x @ w + b)
    np.testing.assert_allclose(of_x.asnumpy(), slope[:, None] * w)
    np.testing.assert_allclose(of_w.asnumpy(), slope @ x)
    np.testing.assert_allclose(of_b.asnumpy(), slope.sum())
    with pytest.raises(ValueError, match="'bias' must have no axes"):
        ops.dense(inputs[0], inputs[1], Tensor([1.0]))


@pytest.mark.parametrize("rate", [0.5, 49.0, 50.0, 75.0, 1000.0, 1e6])
def test_poissons_numbers_have_its_distribution(rate: float) -> None:
    count = 40000
    drawn = ops.random_poisson((count,), Tensor(np.float32(rate)), seed=3).asnumpy().astype(np.float64)
    assert (drawn == np.round(drawn)).all() and drawn.min() >= 0
    error = math.sqrt(rate / count)
    assert abs(drawn.mean() - rate) < 4 * error
    # The share of the draws up to each quantile; the deviation of such a share is at most 0.5 / sqrt(count).
    for level in (0.05, 0.25, 0.5, 0.75, 0.95):
        at = scipy.stats.poisson.ppf(level, rate)
        assert abs((drawn <= at).mean() - scipy.special.pdtr(at, rate)) < 2 / math.sqrt(count)


def test_an_infinite_limit_is_none_for_integers_and_nan_is_no_limit() -> None:
    x = tensor(1, -5, 7, dtype=np.int32)
    assert ops.clip_by_value(x, 0, INF).asnumpy().tolist() == [1, 0, 7]  # MindSpore: the smallest number
    assert ops.clip_by_value(x, -INF, 3).asnumpy().tolist() == [1, -5, 3]
    with pytest.raises(ValueError, match=r"'clip_by_value', a limit of Int32 must be a number, but got nan"):
        ops.clip_by_value(x, NAN, 3)
