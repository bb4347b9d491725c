"""Special functions beside mpmath's, which have 30 digits here, and their gradients beside differences."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from function_cases import Array, Case, agrees, listed, same

import hookscope.engine as ms
from hookscope.engine import Tensor, ops

INF, NAN = math.inf, math.nan
POSITIVE = np.array([[0.3, 1.0, 2.5], [7.0, 21.5, 0.05]])
SIGNED = np.array([[-30.0, -2.5, -0.1], [0.2, 3.0, 45.0]])
ABOVE_ONE = np.array([[1.5], [3.0]])
ORDERS = np.array([[0.5], [4.0]])


def exact(function: Callable[..., Any], *arrays: Any) -> Array:
    """Return a function of mpmath's numbers for each element of what the arrays broadcast to."""
    with mp.workdps(30):
        return np.vectorize(lambda *numbers: float(function(*numbers)), otypes=[float])(*arrays)


def upper(a: float, x: float) -> Any:
    return mp.gammainc(a, x, mp.inf, regularized=True)


def many(p: int) -> Callable[[float], Any]:
    """Return the definition: an integral over matrices, a product of gamma functions."""

    def log_of_integral(x: float) -> Any:
        product = mp.fprod(mp.gamma(x - mp.mpf(k) / 2) for k in range(p))
        return mp.log(mp.pi ** (mp.mpf(p * (p - 1)) / 4) * product)

    return log_of_integral


def bessel(function: Callable[..., Any], order: int) -> Callable[[float], Any]:
    return lambda x: function(order, x)


CASES: dict[str, list[Case]] = {
    "polygamma": [
        *(
            (lambda n=n: ops.polygamma(n, Tensor(POSITIVE)), exact(lambda x, n=n: mp.polygamma(n, x), POSITIVE))
            for n in range(4)
        ),
        (
            lambda: ops.Polygamma()(Tensor(1), Tensor(np.float32([1.0, -0.5]))),
            np.float32([math.pi**2 / 6, math.pi**2 / 2 + 4]),
        ),
        (
            lambda: ops.polygamma(Tensor([2]), Tensor(np.array([1, 2]))),
            exact(lambda x: mp.polygamma(2, x), [1, 2]).astype(np.float32),
        ),
    ],
    "zeta": [
        (lambda: ops.zeta(Tensor(ABOVE_ONE), Tensor(POSITIVE)), exact(mp.zeta, ABOVE_ONE, POSITIVE)),
        (lambda: ops.zeta(2.0, Tensor(np.float32([1.0, 2.0]))), np.float32([math.pi**2 / 6, math.pi**2 / 6 - 1])),
        (lambda: ops.Zeta()(Tensor(np.array([2.0, 4.0, 1.0])), 1.0), np.array([math.pi**2 / 6, math.pi**4 / 90, INF])),
    ],
    "igammac": [
        (lambda: ops.igammac(Tensor(ORDERS), Tensor(POSITIVE[0])), exact(upper, ORDERS, POSITIVE[0])),
        (lambda: Tensor(POSITIVE).igammac(2.0), exact(upper, POSITIVE, 2.0)),
        (lambda: ops.Igammac()(1.0, Tensor(np.float32([0.0, 1.0, 50.0, INF]))), np.exp(np.float32([0, -1, -50, -INF]))),
        (lambda: ops.igammac(Tensor([-1.0]), Tensor([1.0])), np.float32([NAN])),
    ],
    "mvlgamma": [
        *(
            (lambda p=p: ops.mvlgamma(Tensor(POSITIVE[1, :2]), p), exact(many(p), POSITIVE[1, :2]))
            for p in (1, 2, 3, 6)
        ),
        (lambda: ops.Mvlgamma(2)(Tensor(np.float32([1.5]))), np.float32([math.log(math.pi / 2)])),
        (lambda: Tensor(np.array(3.0)).mvlgamma(p=1), np.float64(math.log(2))),
    ],
    "bessel_i0": [
        (lambda: ops.bessel_i0(Tensor(SIGNED)), exact(bessel(mp.besseli, 0), SIGNED)),
        (lambda: ops.BesselI0()(Tensor(np.float32([0.0, 1000.0, NAN]))), np.float32([1, INF, NAN])),
        (lambda: Tensor(SIGNED).i0(), exact(bessel(mp.besseli, 0), SIGNED)),
    ],
    "bessel_i1": [
        (lambda: ops.bessel_i1(Tensor(SIGNED)), exact(bessel(mp.besseli, 1), SIGNED)),
        (lambda: ops.BesselI1()(Tensor(np.float32([0.0, 1000.0, -1000.0]))), np.float32([0, INF, -INF])),
    ],
    "bessel_k0": [
        (lambda: ops.bessel_k0(Tensor(POSITIVE)), exact(bessel(mp.besselk, 0), POSITIVE)),
        (lambda: ops.BesselK0()(Tensor(np.float32([0.0, 1000.0, -1.0, INF]))), np.float32([INF, 0, NAN, 0])),
    ],
    "bessel_k1": [
        (lambda: ops.bessel_k1(Tensor(POSITIVE)), exact(bessel(mp.besselk, 1), POSITIVE)),
        (lambda: ops.BesselK1()(Tensor(np.float32([0.0, 1000.0, -1.0, INF]))), np.float32([INF, 0, NAN, 0])),
    ],
}


@pytest.mark.parametrize(("make", "want"), listed(CASES))
def test_a_special_function_is_mpmaths(make: Callable[[], Any], want: Any) -> None:
    same(make(), want)


@pytest.mark.parametrize("x", [40.0, 200.0, 650.0])
def test_what_is_very_small_keeps_its_digits(x: float) -> None:
    for result, want in (
        (ops.bessel_k0(Tensor(np.array(x))), mp.besselk(0, x)),
        (ops.bessel_k1(Tensor(np.array(x))), mp.besselk(1, x)),
        (ops.igammac(3.0, Tensor(np.array(x))), upper(3.0, x)),
    ):
        assert result.item() == pytest.approx(float(want), rel=1e-12, abs=0)


GRADIENTS: dict[str, tuple[Callable[..., Tensor], Array]] = {
    "polygamma": (lambda x: ops.polygamma(1, x), POSITIVE[0]),
    "igammac": (lambda x: ops.igammac(2.5, x), POSITIVE),
    "mvlgamma": (lambda x: ops.mvlgamma(x, 3), POSITIVE[1, :2]),
    "bessel_i0": (ops.bessel_i0, SIGNED[:, 1:2]),
    "bessel_i1": (ops.bessel_i1, SIGNED[:, 1:2]),
    "bessel_k0": (ops.bessel_k0, POSITIVE[0]),
    "bessel_k1": (ops.bessel_k1, POSITIVE[0]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_special_function_has_the_gradient_of_differences(name: str) -> None:
    function, x = GRADIENTS[name]
    agrees(function, x)


def test_the_incomplete_gamma_functions_have_gradients_by_both_inputs() -> None:
    a, x = Tensor([2.5, 0.7, 1.5]), Tensor([1.2, 0.3, 4.0])
    for function, sign in ((ops.igamma, 1), (ops.igammac, -1)):  # recorded from MindSpore 2.10
        by_a, by_x = (sign * ms.grad(function, index)(a, x).asnumpy() for index in (0, 1))
        np.testing.assert_allclose(by_a, [-0.21517015, -0.63762152, -0.07235873], rtol=1e-6)
        np.testing.assert_allclose(by_x, [0.2978394, 0.81899643, 0.04133391], rtol=2e-6)
    agrees(ops.igamma, POSITIVE, POSITIVE[:, :1] * 2)
    orders = np.array([1e-3, 0.5, 3.0, 3.0, 40.0, 900.0, 2.0])
    points = np.array([0.5, 1e-12, 2.0, 30.0, 30.0, 950.0, 0.0])
    result = ms.grad(ops.igamma)(Tensor(orders), Tensor(points)).asnumpy()
    with mp.workdps(30):
        want = [
            float(mp.diff(lambda a, x=x: mp.gammainc(a, 0, x, regularized=True), s)) if x else 0.0
            for s, x in zip(orders.tolist(), points.tolist(), strict=True)
        ]
    np.testing.assert_allclose(result, want, rtol=1e-8)
    with pytest.raises(NotImplementedError, match="gradients computed by differences have no gradients"):
        ms.grad(ms.grad(ops.igamma))(a, x)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ops.polygamma(-1, Tensor([1.0])), "For 'polygamma', 'n' must not be negative, but got -1"),
        (lambda: ops.mvlgamma(Tensor([3.0]), 0), "For 'mvlgamma', 'p' must be positive, but got 0"),
        (
            lambda: ops.mvlgamma(Tensor([3.0, 0.75]), 3),
            "For 'mvlgamma', 'input' must be above 1.0 where 'p' is 3, but got 0.75",
        ),
    ],
)
def test_a_special_function_refuses_what_it_is_not_defined_for(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        call()
