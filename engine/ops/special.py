"""Special functions, computed in double precision from series and integrals; the sources are beside them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..cpu import fused
from ..cpu.array_module import array_module
from ..operator import Operator
from ..surfaces import declare, prim
from ..tensor import Tensor
from . import arithmetic as a
from .arithmetic import Binary, _function, fit
from .elementary import _tensor

__all__ = [
    "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e",
    "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "digamma", "erfinv", "i0", "igamma", "igammac", "lgamma",
    "mvlgamma", "polygamma", "zeta",
]  # fmt: skip

# Bernoulli's numbers B2, B4, ... over which the asymptotic series run (DLMF 24.2, https://dlmf.nist.gov/24.2)
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)


def _double(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that computes in double precision and returns the dtype that came."""

    def kernel(*arrays: Any, **attrs: Any) -> Any:
        first = next(x for x in arrays if hasattr(x, "dtype"))
        xp = array_module(first)
        return xp.asarray(function(*(xp.asarray(x, np.float64) for x in arrays), **attrs)).astype(first.dtype)

    return kernel


def _lgamma(x: Any) -> Any:
    """Stirling's series (DLMF 5.11.1) above 10, the recurrence below, the reflection (5.5.3) below 1/2."""
    xp = array_module(x)
    mirrored = x < 0.5
    y = xp.where(mirrored, 1 - x, x)
    shift, factor = y, xp.ones_like(y)
    for _ in range(10):
        small = shift < 10
        factor = xp.where(small, factor * shift, factor)
        shift = xp.where(small, shift + 1, shift)
    series = sum(b / ((2 * k + 2) * (2 * k + 1) * shift ** (2 * k + 1)) for k, b in enumerate(_BERNOULLI))
    size = (shift - 0.5) * xp.log(shift) - shift + 0.5 * math.log(2 * math.pi) + series - xp.log(factor)
    size = xp.where(xp.isinf(y), math.inf, size)
    finite = xp.where(xp.isinf(x), 0.0, x)
    sine = xp.abs(xp.sin(math.pi * (finite - xp.floor(finite))))
    return xp.where(mirrored, xp.where(sine == 0, math.inf, math.log(math.pi) - xp.log(sine) - size), size)


def _digamma(x: Any) -> Any:
    """The asymptotic series (DLMF 5.11.2) above 10, recurrence and reflection (5.5.2, 5.5.4) below."""
    xp = array_module(x)
    mirrored = x < 0.5
    shift = xp.where(mirrored, 1 - x, x)
    lost = xp.zeros_like(shift)
    for _ in range(10):
        small = shift < 10
        lost = xp.where(small, lost + 1 / shift, lost)
        shift = xp.where(small, shift + 1, shift)
    series = sum(b / ((2 * k + 2) * shift ** (2 * k + 2)) for k, b in enumerate(_BERNOULLI))
    found = xp.log(shift) - 0.5 / shift - series - lost
    whole = (x <= 0) & (x == xp.floor(x))
    found = xp.where(mirrored, found - math.pi / xp.tan(math.pi * xp.where(whole, 0.25, x)), found)
    return xp.where(whole, math.nan, found)


def _zeta(s: Any, q: Any) -> Any:
    """Euler and Maclaurin's formula for Hurwitz's zeta function (DLMF 25.11.5)."""
    xp = array_module(s * q)
    terms = 12
    total = sum((q + k) ** -s for k in range(terms))
    far = q + terms
    total = total + far ** (1 - s) / (s - 1) + 0.5 * far**-s
    rising, power, factorial = s, far ** (-s - 1), 2.0
    for k, b in enumerate(_BERNOULLI):
        total = total + b / factorial * rising * power
        rising = rising * (s + 2 * k + 1) * (s + 2 * k + 2)
        power = power / far**2
        factorial *= (2 * k + 3) * (2 * k + 4)
    total = xp.where(s == 1, math.inf, total)
    return xp.where((s < 1) | (q <= 0), math.nan, total)


def _polygamma(x: Any, n: int) -> Any:
    """By Hurwitz's zeta function (DLMF 25.11.12); below 0 by the recurrence (5.15.5)."""
    if n == 0:
        return _digamma(x)
    xp = array_module(x)
    factor = (-1) ** (n + 1) * math.factorial(n)
    lost, shift = xp.zeros_like(x), x
    for _ in range(min(100, max(0, 1 - math.floor(float(xp.min(x, initial=1.0)))) if xp.isfinite(x).all() else 0)):
        low = shift <= 0
        lost = xp.where(low, lost + factor / shift ** (n + 1), lost)
        shift = xp.where(low, shift + 1, shift)
    return lost + factor * _zeta(np.float64(n + 1), shift)


def _erfinv(x: Any) -> Any:
    """Winitzki's approximation, then Halley's steps on erf."""
    xp = array_module(x)
    inside = xp.clip(x, -1 + 1e-16, 1 - 1e-16)
    log = xp.log1p(-inside * inside)
    first = 2 / (math.pi * 0.147) + log / 2
    y = xp.sign(inside) * xp.sqrt(xp.sqrt(first * first - log / 0.147) - first)
    for _ in range(4):
        error = (fused.erf(y) - inside) * (math.sqrt(math.pi) / 2) * xp.exp(y * y)
        y = y - error / (1 + y * error)
    y = xp.where(xp.abs(x) == 1, x * math.inf, y)
    return xp.where(xp.abs(x) > 1, math.nan, y)


def _igamma(s: Any, x: Any) -> Any:
    """The series (DLMF 8.7.1) below s + 1, the continued fraction (8.9.2) by Lentz's method above."""
    xp = array_module(s * x)
    s, x = xp.broadcast_arrays(xp.asarray(s), xp.asarray(x))
    low = x < s + 1
    front = xp.exp(s * xp.log(xp.where(x > 0, x, 1.0)) - x - _lgamma(s))
    at = xp.where(low, x, 1.0)
    term = 1 / s
    total = term
    for k in range(1, 400):
        term = term * at / (s + k)
        total = total + term
        if float(xp.max(xp.abs(term), initial=0.0)) < 1e-17:
            break
    far = xp.where(low, s + 2, x)
    b = far + 1 - s
    c, d = xp.full_like(b, 1e300), 1 / b
    fraction = d
    for k in range(1, 400):
        step = -k * (k - s)
        b = b + 2
        d = 1 / (step * d + b)
        c = b + step / c
        fraction = fraction * c * d
        if float(xp.max(xp.abs(c * d - 1), initial=0.0)) < 1e-16:
            break
    found = xp.where(low, front * total, 1 - front * fraction)
    found = xp.where(x == 0, 0.0, xp.where(xp.isinf(x), 1.0, found))
    return xp.where((x < 0) | (s <= 0), math.nan, found)


def _igamma_slope(F: Any, g: Any, out: Any, s: Any, x: Any) -> Any:
    normal = math.lgamma(s) if isinstance(s, int | float) else F.lgamma(s)
    return fit(F, g * F.exp(F.log(x) * (s - 1) - x - normal), x)


def _igamma_order(F: Any, g: Any, out: Any, s: Any, x: Any) -> Any:
    raise NotImplementedError("For 'igamma' and 'igammac', the first input has no gradient; only the second has")


lgamma = _function(
    "lgamma",
    _double(_lgamma),
    lambda F, g, out, x: g * F.digamma(x),
    "log of abs(gamma(x)).",
    method=True,
    primitive=prim("Lgamma"),
)
digamma = _function(
    "digamma",
    _double(_digamma),
    lambda F, g, out, x: g * F.polygamma(x, n=1),
    "The slope of lgamma.",
    method=True,
    primitive=prim("Digamma"),
)
erfinv = _function(
    "erfinv",
    _double(_erfinv),
    lambda F, g, out, x: g * F.exp(out * out) * (math.sqrt(math.pi) / 2),
    "The inverse of erf.",
    method=True,
    in_place=True,
    primitive=prim("Erfinv"),
    mint=True,
)
_polygamma_operator = Operator("polygamma", _double(_polygamma), (lambda F, g, out, x, n: g * F.polygamma(x, n=n + 1),))
_zeta_operator = Binary("zeta", _double(_zeta))
_igamma_operator = Binary("igamma", _double(_igamma), (_igamma_order, _igamma_slope))


@declare(primitive=prim("Polygamma"))
def polygamma(n: Any, input: Tensor) -> Any:
    """The n-th derivative of digamma.

    Raises:
        ValueError: ``n`` is negative.
    """
    order = int(n)
    if order < 0:
        raise ValueError(f"For 'polygamma', 'n' must not be negative, but got {order}")
    x = _tensor(input, "polygamma")
    return _polygamma_operator(a._as(x, np.dtype(np.float32)) if x._array.dtype.kind in "biu" else x, n=order)


@declare(primitive=prim("Zeta"))
def zeta(input: Any, other: Any) -> Any:
    """Hurwitz's zeta function: the sum of (other + k) ** -input over k = 0, 1, ..."""
    return _zeta_operator(input, other)


@declare(method=True, primitive=prim("Igamma"))
def igamma(input: Any, other: Any) -> Tensor:
    """The regularised lower incomplete gamma function P(input, other)."""
    return _igamma_operator(input, other)


@declare(method=True, primitive=prim("Igammac"))
def igammac(input: Any, other: Any) -> Any:
    """The regularised upper incomplete gamma function 1 - P(input, other)."""
    return 1.0 - igamma(input, other)


@declare(method=True, primitive=prim("Mvlgamma", "p"))
def mvlgamma(input: Tensor, p: int) -> Any:
    """The logarithm of the gamma function of p dimensions.

    Raises:
        ValueError: ``p`` is less than 1.
    """
    if p < 1:
        raise ValueError(f"For 'mvlgamma', 'p' must be positive, but got {p}")
    total: Any = p * (p - 1) / 4 * math.log(math.pi)
    for k in range(p):
        total = lgamma(input - k / 2) + total
    return total


# Bessel functions: the integrals of DLMF 10.9 and 10.32 by the trapezoidal rule and by Gauss and Legendre's, and the
# asymptotic series of 10.17 and 10.40 where the argument is large.

_TURN = (np.arange(64) + 0.5) * (math.pi / 64)
_LARGE = 25.0


def _terms(order: int, x: Any, count: int = 18) -> list[Any]:
    """a_k(order) / x**k (DLMF 10.17.1), until they grow again at the smallest x."""
    terms, value = [], 1.0
    for k in range(count):
        terms.append(value / x**k)
        value *= (4 * order**2 - (2 * k + 1) ** 2) / ((k + 1) * 8)
    return terms


def _ie(order: int) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        xp = array_module(x)
        size = xp.abs(x)
        near = xp.minimum(size, _LARGE)[..., None]
        angle = xp.asarray(_TURN)
        integral = (xp.exp(near * (xp.cos(angle) - 1)) * xp.cos(order * angle)).mean(-1)
        large = xp.maximum(size, _LARGE)
        series = sum((-1) ** k * t for k, t in enumerate(_terms(order, large))) / xp.sqrt(2 * math.pi * large)
        return xp.where(size > _LARGE, series, integral) * (xp.sign(x) if order else 1.0)

    return _double(kernel)


def _ke(order: int) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        xp = array_module(x)
        safe = xp.where(x > 0, x, 1.0)[..., None]
        reach = xp.arccosh(1 + 40 / safe)
        t = reach * xp.asarray((np.arange(160) + 0.5) / 160)
        found = (xp.exp(-safe * (xp.cosh(t) - 1)) * xp.cosh(order * t)).sum(-1) * reach[..., 0] / 160
        return xp.where(x > 0, found, xp.where(x == 0, math.inf, math.nan))

    return _double(kernel)


def _waves(order: int, x: Any) -> tuple[Any, Any, Any]:
    """For large x: the amplitude, and the sums P and Q of DLMF 10.17.3."""
    xp = array_module(x)
    terms = _terms(order, x)
    even = sum((-1) ** (k // 2) * t for k, t in enumerate(terms) if k % 2 == 0)
    odd = sum((-1) ** (k // 2) * t for k, t in enumerate(terms) if k % 2)
    return xp.sqrt(2 / (math.pi * x)), even, odd


def _j(order: int) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        xp = array_module(x)
        size = xp.abs(x)
        near, angle = xp.minimum(size, _LARGE)[..., None], xp.asarray(_TURN)
        integral = xp.cos(near * xp.sin(angle) - order * angle).mean(-1)
        large = xp.maximum(size, _LARGE)
        amplitude, even, odd = _waves(order, large)
        phase = large - order * math.pi / 2 - math.pi / 4
        series = amplitude * (even * xp.cos(phase) - odd * xp.sin(phase))
        found = xp.where(size > _LARGE, series, integral)
        return found * xp.where(x < 0, -1.0, 1.0) if order else found

    return _double(kernel)


def _y(order: int) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        xp = array_module(x)
        nodes, weights = (xp.asarray(v) for v in np.polynomial.legendre.leggauss(96))
        near = xp.clip(xp.where(x > 0, x, 1.0), 1e-300, _LARGE)[..., None]
        angle = (nodes + 1) * (math.pi / 2)
        first = (xp.sin(near * xp.sin(angle) - order * angle) * weights).sum(-1) / 2
        reach = xp.arcsinh(40 / near)
        t = (nodes + 1) / 2 * reach
        grown = xp.exp(order * t) + (-1) ** order * xp.exp(-order * t)
        second = (grown * xp.exp(-near * xp.sinh(t)) * weights).sum(-1) * reach[..., 0] / 2 / math.pi
        large = xp.maximum(x, _LARGE)
        amplitude, even, odd = _waves(order, large)
        phase = large - order * math.pi / 2 - math.pi / 4
        series = amplitude * (even * xp.sin(phase) + odd * xp.cos(phase))
        found = xp.where(x > _LARGE, series, first - second)
        return xp.where(x > 0, found, xp.where(x == 0, -math.inf, math.nan))

    return _double(kernel)


def _over(F: Any, y: Any, x: Any, limit: float) -> Any:
    """y / x, and its limit at 0."""
    zero = x == 0
    return F.where(zero, limit + x * 0, y / F.where(zero, x * 0 + 1, x))


bessel_i0e = _function(
    "bessel_i0e",
    _ie(0),
    lambda F, g, out, x: g * (F.bessel_i1e(x) - F.sign(x) * out),
    "exp(-abs(x)) I0(x).",
    primitive=prim("BesselI0e"),
)
bessel_i1e = _function(
    "bessel_i1e",
    _ie(1),
    lambda F, g, out, x: g * (F.bessel_i0e(x) - _over(F, out, x, 0.5) - F.sign(x) * out),
    "exp(-abs(x)) I1(x).",
    primitive=prim("BesselI1e"),
)
bessel_j0 = _function(
    "bessel_j0", _j(0), lambda F, g, out, x: -(g * F.bessel_j1(x)), "J0(x).", primitive=prim("BesselJ0")
)
bessel_j1 = _function(
    "bessel_j1",
    _j(1),
    lambda F, g, out, x: g * (F.bessel_j0(x) - _over(F, out, x, 0.5)),
    "J1(x).",
    primitive=prim("BesselJ1"),
)
bessel_k0e = _function(
    "bessel_k0e", _ke(0), lambda F, g, out, x: g * (out - F.bessel_k1e(x)), "exp(x) K0(x).", primitive=prim("BesselK0e")
)
bessel_k1e = _function(
    "bessel_k1e",
    _ke(1),
    lambda F, g, out, x: g * (out * (1 - 1 / x) - F.bessel_k0e(x)),
    "exp(x) K1(x).",
    primitive=prim("BesselK1e"),
)
bessel_y0 = _function(
    "bessel_y0", _y(0), lambda F, g, out, x: -(g * F.bessel_y1(x)), "Y0(x).", primitive=prim("BesselY0")
)
bessel_y1 = _function(
    "bessel_y1", _y(1), lambda F, g, out, x: g * (F.bessel_y0(x) - out / x), "Y1(x).", primitive=prim("BesselY1")
)


@declare(method="i0", primitive=prim("BesselI0"))
def bessel_i0(x: Tensor) -> Any:
    """The modified Bessel function I0."""
    return bessel_i0e(x) * a.exp(a.abs(x))


@declare(primitive=prim("BesselI1"))
def bessel_i1(x: Tensor) -> Any:
    """The modified Bessel function I1."""
    return bessel_i1e(x) * a.exp(a.abs(x))


@declare(primitive=prim("BesselK0"))
def bessel_k0(x: Tensor) -> Any:
    """The modified Bessel function K0."""
    return bessel_k0e(x) * a.exp(-x)


@declare(primitive=prim("BesselK1"))
def bessel_k1(x: Tensor) -> Any:
    """The modified Bessel function K1."""
    return bessel_k1e(x) * a.exp(-x)


i0 = bessel_i0
