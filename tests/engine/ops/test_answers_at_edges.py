"""Arguments at the edges of what is allowed get the answers that were recorded from MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, grad, mint, nn, ops


@pytest.mark.parametrize("axis", [0, 1, 5, -7, (0, 1), (5, 6)])
def test_a_tensor_without_axes_has_nothing_to_squeeze_whatever_the_axis(axis: Any) -> None:
    x = Tensor(3.0)
    for result in (ops.squeeze(x, axis), mint.squeeze(x, axis), x.squeeze(axis), ops.Squeeze(axis)(x)):
        assert result.shape == () and result.item() == 3.0
    assert grad(lambda x: ops.squeeze(x, axis) * 2)(x).item() == 2.0


BYTES = np.array([0, 8, 255], np.uint8)
# MindSpore takes the integer as it is in one of its comparisons and wraps it around into UInt8 in the others.
COMPARED: dict[str, dict[int, list[int]]] = {
    "less": {-1: [0, 0, 0], 300: [1, 1, 1], -200: [0, 0, 0]},
    "not_equal": {-1: [1, 1, 0], 300: [1, 1, 1]},
    "less_equal": {-1: [1, 1, 1], 300: [1, 1, 0]},
    "greater": {-1: [0, 0, 0], 300: [0, 0, 1]},
    "greater_equal": {-1: [0, 0, 1], 300: [0, 0, 1]},
}


@pytest.mark.parametrize("name", COMPARED)
def test_less_takes_an_integer_as_it_is_beside_small_ones(name: str) -> None:
    x = Tensor(BYTES)
    primitive = getattr(
        ops,
        {"not_equal": "NotEqual", "less_equal": "LessEqual", "greater_equal": "GreaterEqual"}.get(
            name, name.capitalize()
        ),
    )()
    for number, expected in COMPARED[name].items():
        for function in (getattr(ops, name), primitive, getattr(Tensor, name)):
            result = function(x, number)
            assert result.dtype == ms.bool_ and result.asnumpy().tolist() == [bool(e) for e in expected], number


def test_python_s_signs_compare_as_the_functions_do() -> None:
    x = Tensor(BYTES)
    assert (x < -1).asnumpy().tolist() == [False] * 3 and (x == -1).asnumpy().tolist() == [False, False, True]
    assert (x < 300).asnumpy().all()
    assert (Tensor(np.array([-128], np.int8)) < 2**40).asnumpy().tolist() == [True]


def test_numpy_s_numbers_are_found_in_a_tensor() -> None:
    x = Tensor([1.0, 2.0])
    assert np.float32(1) in x and np.int64(2) in x and np.bool_(True) in x
    assert np.float64(3) not in x and np.float32(2) not in Tensor([1, 3])


@pytest.mark.parametrize(("alpha", "at_0"), [(0.2, 0.6), (1.5, 1.25), (0, 0.5), (1, 1.0), (-0.5, 0.25)])
def test_the_gradient_of_leaky_relu_at_0_is_the_mean_of_its_slopes(alpha: float, at_0: float) -> None:
    x = Tensor([0.0, 1.0, -1.0, np.inf, -np.inf])
    for function in (lambda x: ops.leaky_relu(x, alpha), nn.LeakyReLU(alpha)):
        np.testing.assert_allclose(grad(function)(x).asnumpy(), [at_0, 1, alpha, 1, alpha], rtol=1e-6)
    # mint's has a kernel of its own, whose slope at 0 is that below it.
    result = grad(lambda x: mint.nn.functional.leaky_relu(x, alpha))(x)
    np.testing.assert_allclose(result.asnumpy(), [alpha, 1, alpha, 1, alpha], rtol=1e-6)


def test_shapes_of_mint_go_by_the_name_size() -> None:
    for function, value in ((mint.zeros, 0.0), (mint.ones, 1.0)):
        for result in (function(size=(2, 3)), function(size=[2, 3]), function((2, 3)), function(2, 3)):
            np.testing.assert_array_equal(result.asnumpy(), np.full((2, 3), value, np.float32), strict=True)
        assert function(size=3).shape == function(3).shape == (3,)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'size'"):
        mint.zeros()  # type: ignore[call-arg]


def test_a_primitive_keeps_a_name_of_its_own() -> None:
    primitive = ops.ReLU()
    assert primitive.set_prim_instance_name("r") is primitive and primitive.instance_name == "r"
    with pytest.raises(TypeError, match="For 'ReLU', 'instance_name' must be .*str, but got int"):
        primitive.set_prim_instance_name(3)  # type: ignore[arg-type]


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "clamp of complex": (lambda: ops.clamp(Tensor([1j]), 0, 1), TypeError, "For 'clamp', .* must be real numbers"),
    "clamp to complex": (lambda: mint.clamp(Tensor([1.0]), 0, 1j), TypeError, "For 'clamp', .* must be real numbers"),  # type: ignore[arg-type]
    "rand_like": (lambda: mint.rand_like(Tensor([1])), TypeError, "For 'rand_like', 'dtype' must be a floating"),
    "randn_like": (
        lambda: mint.randn_like(Tensor([1.0]), dtype=ms.int32),
        TypeError,
        "For 'randn_like', 'dtype' must be a float",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_mindspore_refuses_is_refused(name: str) -> None:
    call, kind, text = REFUSED[name]
    with pytest.raises(kind, match=text):
        call()


def test_the_squared_error_of_integers_is_float32() -> None:
    x, y = Tensor(np.array([1, 2, 4], np.int32)), Tensor(np.array([2, 2, 3], np.uint8))
    for reduction, expected in (("mean", 2 / 3), ("sum", 2.0), ("none", [1.0, 0.0, 1.0])):
        result = ops.mse_loss(x, y, reduction)
        assert result.dtype == ms.float32
        np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-6)


def test_the_gradient_by_the_exponent_is_nan_where_the_base_is_negative() -> None:
    x, y = Tensor([-2.0, 2.0, 0.0, -2.0, 0.0]), Tensor([2.5, 2.5, 2.0, 2.0, 0.0])
    expected = [np.nan, 2**2.5 * np.log(2), 0.0, np.nan, 0.0]
    for power in (ops.pow, mint.pow, lambda x, y: x**y):
        np.testing.assert_allclose(grad(power, 1)(x, y).asnumpy(), expected, rtol=1e-6)
    for base, slope in ((-2.0, np.nan), (0.0, 0.0), (2.0, 2**2.5 * np.log(2))):
        np.testing.assert_allclose(grad(lambda y, b=base: b**y)(Tensor(2.5)).asnumpy(), slope, rtol=1e-6)


def test_the_gradients_of_zeta_and_the_incomplete_gamma_functions_by_both_inputs() -> None:
    x, q = Tensor([2.0, 3.0], ms.float64), Tensor([1.5, 2.0], ms.float64)
    by_exponent = [float(mpmath.diff(lambda s, b=b: mpmath.zeta(s, b), a)) for a, b in ((2, 1.5), (3, 2))]
    result = grad(ops.zeta, (0, 1))(x, q)
    np.testing.assert_allclose(result[0].asnumpy(), by_exponent, rtol=1e-9)
    np.testing.assert_allclose(result[1].asnumpy(), [-8.28796685e-01, -2.46969700e-01], rtol=1e-6)
    a, y = Tensor([2.0, 3.0, 0.5]), Tensor([1.0, 2.0, 0.25])
    slope = np.array(
        [
            float(mpmath.diff(lambda s, b=b: mpmath.gammainc(s, 0, b, regularized=True), c))
            for c, b in ((2, 1), (3, 2), (0.5, 0.25))
        ]
    )
    np.testing.assert_allclose(slope[:2], [-2.76195973e-01, -2.31848702e-01], rtol=1e-6)  # as MindSpore's
    for function, sign in ((ops.igamma, 1), (ops.igammac, -1)):
        by_order, by_x = grad(function, (0, 1))(a, y)
        np.testing.assert_allclose(by_order.asnumpy(), sign * slope, rtol=1e-6)
        np.testing.assert_allclose(by_x.asnumpy()[:2], [sign * 3.67878824e-01, sign * 2.70670474e-01], rtol=1e-5)
        np.testing.assert_allclose(
            grad(function)(Tensor(2.0), y).item(),
            sign
            * sum(
                float(mpmath.diff(lambda s, b=b: mpmath.gammainc(s, 0, b, regularized=True), 2)) for b in (1, 2, 0.25)
            ),
            rtol=1e-6,
        )


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_real_div_of_integers_leaves_the_fraction_out(dtype: Any) -> None:
    x, y = Tensor(np.array([7, -7, 3], dtype)), Tensor(np.array([2, 2, 2], dtype))
    for function in (ops.tensor_div, ops.RealDiv()):
        np.testing.assert_array_equal(function(x, y).asnumpy(), np.array([3, -3, 1], dtype), strict=True)
        np.testing.assert_array_equal(function(x, 2).asnumpy(), np.array([3, -3, 1], dtype), strict=True)
        np.testing.assert_array_equal(function(x, 2.0).asnumpy(), np.array([3.5, -3.5, 1.5], np.float32), strict=True)
    np.testing.assert_array_equal(ops.tensor_div(3, x).asnumpy(), np.array([0, 0, 1], dtype), strict=True)
    np.testing.assert_array_equal(ops.Div()(x, y).asnumpy(), np.array([3.5, -3.5, 1.5], np.float32), strict=True)
    assert grad(ops.tensor_div, (0, 1))(Tensor(3.0), Tensor(2.0))[1].item() == -0.75


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_the_covariance_of_half_precision_is_float32(dtype: Any) -> None:
    x = Tensor(np.random.default_rng(3).normal(100, 10, (2, 4000)).astype(np.float32)).astype(dtype)
    result = ops.cov(x)
    assert result.dtype == ms.float32
    np.testing.assert_allclose(result.asnumpy(), np.cov(x.astype(ms.float64).asnumpy()), rtol=1e-3, atol=1e-3)
