"""Special functions: the kernels of SciPy with gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ...base.surfaces import declare, everywhere, prim
from ...base.types import Array, Functions, Number, Operand, Value
from ...cpu.array_module import array_module, first_array, special_module
from ...cpu.arrays.masking import where
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import check_values
from ..arguments import check_same_dtype, check_tensor, int_of
from ..shapes import broadcasting
from ..shapes.broadcasting import Binary, as_dtype, as_single, fit, function_of_number
from . import arithmetic, exponentials

__all__ = [
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "bessel_j0",
    "bessel_j1",
    "bessel_k0",
    "bessel_k0e",
    "bessel_k1",
    "bessel_k1e",
    "bessel_y0",
    "bessel_y1",
    "digamma",
    "erfinv",
    "i0",
    "igamma",
    "igammac",
    "lgamma",
    "mvlgamma",
    "polygamma",
    "zeta",
]


def _special(name: str) -> Callable[..., Any]:
    """Return a function of ``scipy.special``, or of CuPy for a GPU, computed in Float64 and cast to the input dtype."""

    def kernel(*arrays: Array | Number, **attrs: Any) -> Array:
        array = first_array(*arrays)
        xp = array_module(array)
        function = getattr(special_module(array), name)
        return xp.asarray(function(*attrs.values(), *(xp.asarray(x, np.float64) for x in arrays))).astype(array.dtype)

    return kernel


def _igamma_slope(F: Functions, g: Value, out: Value, s: Value | float, x: Value) -> Any:
    normal = math.lgamma(s) if isinstance(s, int | float | np.generic) else F.lgamma(s)
    return fit(F, g * F.exp(F.log(x) * (s - 1) - x - normal), x)


def _differences(function: Callable[[Array], Array], at: Array, width: Array) -> Array:
    """Return the derivative of a smooth function, by differences of the sixth order.

    Args:
        function: the function, of numbers in Float64.
        at: the points.
        width: the distance over which the function changes, above 0.

    Returns:
        The derivatives, to about 11 digits of the function value.
    """
    h = 0.01 * width
    pairs = (weight * (function(at + k * h) - function(at - k * h)) for k, weight in ((1, 45), (2, -9), (3, 1)))
    derivative: Array = sum(pairs) / (60 * h)
    return derivative


def _igamma_order_kernel(s: Array, x: Array | float) -> Array:
    array = first_array(s, x)
    xp, special = array_module(array), special_module(array)
    order, point = xp.broadcast_arrays(xp.asarray(s, np.float64), xp.asarray(x, np.float64))
    is_positive = point > 0
    point = xp.where(is_positive, point, 1.0)
    # x**a changes with the logarithm, the rest of the function with the root of the order.
    width = xp.minimum(xp.minimum(order, xp.sqrt(order)), 1 / (1 + abs(xp.log(point))))
    lower = _differences(lambda a: special.gammainc(a, point), order, width)
    upper = _differences(lambda a: special.gammaincc(a, point), order, width)
    # The smaller one of the two integrals has the more exact digits.
    return xp.where(is_positive, xp.where(point < order, lower, -upper), 0 * special.gammainc(order, point)).astype(
        array.dtype
    )


def _no_second(*_: Any, **__: Any) -> NoReturn:
    raise NotImplementedError(
        "For 'igamma', 'igammac', 'zeta' and 'Betainc', gradients computed by differences have no gradients"
    )


_igamma_order_operator = Operator("igamma_order", _igamma_order_kernel, (_no_second, _no_second))


def _zeta_order_kernel(x: Array, y: Array | float) -> Array:
    array = first_array(x, y)
    xp, special = array_module(array), special_module(array)
    order, base = xp.broadcast_arrays(xp.asarray(x, np.float64), xp.asarray(y, np.float64))
    # The differences stay clear of the pole at 1.
    derivative = _differences(lambda s: special.zeta(s, base), order, xp.minimum(order - 1, 1.0))
    return derivative.astype(array.dtype)


_zeta_order_operator = Operator("zeta_order", _zeta_order_kernel, (_no_second, _no_second))


def _igamma_order(F: Functions, g: Value, out: Value, s: Value, x: Value | float) -> Any:
    return fit(F, g * F.igamma_order(s, x), s)


def _gammaln(x: Array) -> Array:
    """Return SciPy's ``gammaln``, which has the wrong sign at -inf, with the correct sign."""
    return _special("gammaln")(where(x == -math.inf, x.dtype.type(math.inf), x))


lgamma = function_of_number("lgamma", _gammaln, lambda F, g, out, x: g * F.digamma(x)).declare(
    "log of abs(gamma(x)).", method=True, primitive=prim("Lgamma")
)
digamma = function_of_number("digamma", _special("psi"), lambda F, g, out, x: g * F.polygamma(x, n=1)).declare(
    "The slope of lgamma.", method=True, primitive=prim("Digamma")
)
erfinv = function_of_number(
    "erfinv", _special("erfinv"), lambda F, g, out, x: g * F.exp(out * out) * (math.sqrt(math.pi) / 2)
).declare("The inverse of erf.", in_place=True, **everywhere("Erfinv"))
_polygamma_operator = Operator(
    "polygamma", _special("polygamma"), (lambda F, g, out, x, n: g * F.polygamma(x, n=n + 1),)
)
_zeta_operator = Binary(
    "zeta",
    _special("zeta"),
    (
        lambda F, g, out, x, q: fit(F, g * F.zeta_order(x, q), x),
        lambda F, g, out, x, q: fit(F, -g * x * F.zeta(x + 1.0, q), q),
    ),
)
_igamma_operator = Binary("igamma", _special("gammainc"), (_igamma_order, _igamma_slope))
_igammac_operator = Binary(
    "igammac",
    _special("gammaincc"),
    (lambda F, g, out, s, x: -_igamma_order(F, g, out, s, x), lambda F, g, out, s, x: -_igamma_slope(F, g, out, s, x)),
)


@declare(primitive=prim("Polygamma"))
def polygamma(n: int | Tensor, input: Tensor) -> Tensor:
    """Return the derivative of order ``n`` of ``digamma``, that is of order ``n + 1`` of ``lgamma``, as in SciPy.

    Args:
        n: the order, at least 0: an int or a tensor of one element; 0 is ``digamma`` itself.
        input: a tensor; integers become Float32.

    Returns:
        A tensor of the shape of ``input`` and its floating dtype.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``n`` is negative.
    """
    order = int(n)
    if order < 0:
        raise ValueError(f"For 'polygamma', 'n' must not be negative, but got {order}")
    return _polygamma_operator(broadcasting.as_floats(check_tensor(input, "polygamma")), n=order)


@declare(primitive=prim("Zeta"))
def zeta(input: Operand, other: Operand) -> Tensor:
    """Return Hurwitz's zeta function: the sum of (other + k) ** -input over k = 0, 1, ....

    The gradient for ``input`` is computed by differences.

    Args:
        input: the exponent: a tensor or a number, above 1.
        other: the first base: a tensor or a number that broadcasts with ``input``. One of the two is a tensor.

    Returns:
        A tensor of the shape that the two broadcast to.

    Raises:
        TypeError: neither is a Tensor, or one is not convertible to a tensor.
        ValueError: the shapes do not broadcast.
    """
    return _zeta_operator(input, other)


@declare(method=True, primitive=prim("Igamma"))
def igamma(input: Operand, other: Operand) -> Tensor:
    """Return the regularized lower incomplete gamma function P(a, x).

    P(a, x) = (integral from 0 to x of t^(a-1) e^-t dt) / gamma(a); SciPy's ``gammainc``.

    Args:
        input: a, positive: a tensor or a number. Its gradient is computed by differences.
        other: x, not negative: a tensor or a number that broadcasts with ``input``. One of the two is a tensor.

    Returns:
        A tensor of the shape that the two broadcast to.

    Raises:
        TypeError: neither is a Tensor, or one is not convertible to a tensor.
        ValueError: the shapes do not broadcast.
        NotImplementedError: a gradient of the gradient for ``input`` is requested.
    """
    return _igamma_operator(input, other)


@declare(method=True, primitive=prim("Igammac"))
def igammac(input: Operand, other: Operand) -> Tensor:
    """Return the regularized upper incomplete gamma function Q(a, x) = 1 - P(a, x), exact also where that is small.

    Args:
        input: a, positive: a tensor or a number. Its gradient is computed by differences.
        other: x, not negative: a tensor or a number that broadcasts with ``input``. One of the two is a tensor.

    Returns:
        A tensor of the shape that the two broadcast to; SciPy's ``gammaincc``.

    Raises:
        TypeError: neither is a Tensor, or one is not convertible to a tensor.
        ValueError: the shapes do not broadcast.
        NotImplementedError: a gradient of the gradient for ``input`` is requested.
    """
    return _igammac_operator(input, other)


@declare(method=True, primitive=prim("Mvlgamma", "p"))
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """Return the logarithm of the multivariate gamma function of dimension ``p``.

    It is p(p-1)/4 log(pi) + the sum of lgamma(input - k/2) over k = 0 ... p-1.

    Args:
        input: a tensor, above (p - 1) / 2.
        p: the number of dimensions, at least 1.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``p`` is less than 1, or an element is not above (p - 1) / 2.
    """
    if int_of(p, "mvlgamma", "p") < 1:
        raise ValueError(f"For 'mvlgamma', 'p' must be positive, but got {p}")
    least = (p - 1) / 2
    check_values(_check_above, check_tensor(input, "mvlgamma")._array, least=least, p=p)
    total: Any = p * (p - 1) / 4 * math.log(math.pi)
    for k in range(p):
        total = lgamma(input - k / 2) + total
    return total


def _check_above(x: Array, least: float, p: int) -> None:
    if (x <= least).any():
        raise ValueError(f"For 'mvlgamma', 'input' must be above {least} where 'p' is {p}, but got {x.min()}")


def _over(F: Functions, y: Value, x: Any, limit: float) -> Any:
    """Return y / x, and its limit at 0."""
    zero = x == 0
    return F.where(zero, limit + x * 0, y / F.where(zero, x * 0 + 1, x))


bessel_i0e = function_of_number(
    "bessel_i0e", _special("i0e"), lambda F, g, out, x: g * (F.bessel_i1e(x) - F.sign(x) * out)
).declare("exp(-abs(x)) I0(x).", primitive=prim("BesselI0e"))
bessel_i1e = function_of_number(
    "bessel_i1e", _special("i1e"), lambda F, g, out, x: g * (F.bessel_i0e(x) - _over(F, out, x, 0.5) - F.sign(x) * out)
).declare("exp(-abs(x)) I1(x).", primitive=prim("BesselI1e"))
bessel_j0 = function_of_number("bessel_j0", _special("j0"), lambda F, g, out, x: -(g * F.bessel_j1(x))).declare(
    "J0(x).", primitive=prim("BesselJ0")
)
bessel_j1 = function_of_number(
    "bessel_j1", _special("j1"), lambda F, g, out, x: g * (F.bessel_j0(x) - _over(F, out, x, 0.5))
).declare("J1(x).", primitive=prim("BesselJ1"))
bessel_k0e = function_of_number(
    "bessel_k0e", _special("k0e"), lambda F, g, out, x: g * (out - F.bessel_k1e(x))
).declare("exp(x) K0(x).", primitive=prim("BesselK0e"))
bessel_k1e = function_of_number(
    "bessel_k1e", _special("k1e"), lambda F, g, out, x: g * (out * (1 - 1 / x) - F.bessel_k0e(x))
).declare("exp(x) K1(x).", primitive=prim("BesselK1e"))
bessel_y0 = function_of_number("bessel_y0", _special("y0"), lambda F, g, out, x: -(g * F.bessel_y1(x))).declare(
    "Y0(x).", primitive=prim("BesselY0")
)
bessel_y1 = function_of_number(
    "bessel_y1", _special("y1"), lambda F, g, out, x: g * (F.bessel_y0(x) - out / x)
).declare("Y1(x).", primitive=prim("BesselY1"))


def _of_scaled(name: str, scaled: Callable[[Tensor], Tensor], x: Tensor, power: Callable[[Tensor], Tensor]) -> Tensor:
    """Return exp(power(x)) * scaled(x); half precision in Float32, as the factor overflows before the product does."""
    widened = as_single(check_tensor(x, name, "x"))
    return as_dtype(scaled(widened) * exponentials.exp(power(widened)), x._array.dtype)


@declare(method="i0", primitive=prim("BesselI0"))
def bessel_i0(x: Tensor) -> Tensor:
    """Return the modified Bessel function of the first kind of order 0, I0(x), as exp(abs(x)) * bessel_i0e(x).

    Args:
        x: a floating tensor.

    Returns:
        A tensor of the shape and dtype of ``x``.
    """
    return _of_scaled("bessel_i0", bessel_i0e, x, arithmetic.abs)


@declare(primitive=prim("BesselI1"))
def bessel_i1(x: Tensor) -> Tensor:
    """Return the modified Bessel function of the first kind of order 1, I1(x), as exp(abs(x)) * bessel_i1e(x).

    Args:
        x: a floating tensor.

    Returns:
        A tensor of the shape and dtype of ``x``.
    """
    return _of_scaled("bessel_i1", bessel_i1e, x, arithmetic.abs)


@declare(primitive=prim("BesselK0"))
def bessel_k0(x: Tensor) -> Tensor:
    """Return the modified Bessel function of the second kind of order 0, K0(x), as exp(-x) * bessel_k0e(x).

    Args:
        x: a floating tensor; the result is NaN below 0, infinity at 0.

    Returns:
        A tensor of the shape and dtype of ``x``.
    """
    return _of_scaled("bessel_k0", bessel_k0e, x, arithmetic.neg)


@declare(primitive=prim("BesselK1"))
def bessel_k1(x: Tensor) -> Tensor:
    """Return the modified Bessel function of the second kind of order 1, K1(x), as exp(-x) * bessel_k1e(x).

    Args:
        x: a floating tensor; the result is NaN below 0, infinity at 0.

    Returns:
        A tensor of the shape and dtype of ``x``.
    """
    return _of_scaled("bessel_k1", bessel_k1e, x, arithmetic.neg)


i0 = bessel_i0


def _betainc_kernel(a: Array, b: Array, x: Array) -> Array:
    xp = array_module(x)
    is_defined = (a > 0) & (b > 0) & xp.isfinite(a) & xp.isfinite(b)
    return where(is_defined, _special("betainc")(a, b, x), x.dtype.type(math.nan))


def _is_one(x: Any) -> Any:
    return x == 1.0


def _betainc_slope(F: Functions, g: Value, out: Value, a: Value, b: Value, x: Value) -> Any:
    # Where an exponent is 0, 1 replaces its base: 0 * log(0) would be NaN.
    lower_base, upper_base = F.where(_is_one(a), 1.0, x), F.where(_is_one(b), 1.0, 1.0 - x)
    scale = F.lgamma(a + b) - F.lgamma(a) - F.lgamma(b)
    return g * F.exp((a - 1.0) * F.log(lower_base) + (b - 1.0) * F.log(upper_base) + scale)


def _betainc_order_kernel(a: Array, b: Array, x: Array, position: int) -> Array:
    xp = array_module(x)
    arguments = [xp.asarray(value, np.float64) for value in (a, b, x)]
    order, is_inside = arguments[position], (arguments[2] > 0) & (arguments[2] < 1)
    arguments[2] = xp.where(is_inside, arguments[2], 0.5)
    # x**a and (1 - x)**b change with the logarithm, the rest of the function with the root of the order.
    width = xp.minimum(xp.minimum(order, xp.sqrt(order)), 1 / (1 - xp.log(arguments[2]) - xp.log1p(-arguments[2])))

    def at(moved: Array) -> Array:
        return _betainc_kernel(*(moved if i == position else value for i, value in enumerate(arguments)))

    return xp.where(is_inside, _differences(at, order, width), 0 * at(order)).astype(x.dtype)


_betainc_order_operator = Operator("betainc_order", _betainc_order_kernel, (_no_second,) * 3)
_betainc_operator = Operator(
    "betainc",
    _betainc_kernel,
    (
        lambda F, g, out, a, b, x: g * F.betainc_order(a, b, x, position=0),
        lambda F, g, out, a, b, x: g * F.betainc_order(a, b, x, position=1),
        _betainc_slope,
    ),
)


@declare(primitive=prim("Betainc"))
def _betainc(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """Return the regularized incomplete beta function, (integral from 0 to x of t^(a-1) (1-t)^(b-1) dt) / beta(a, b).

    Args:
        a: a tensor of Float32 or Float64, positive. Its gradient is computed by differences, as that of ``b``.
        b: a tensor of the same shape and dtype, positive.
        x: a tensor of the same shape and dtype, in [0, 1].

    Returns:
        A tensor of the same shape and dtype; NaN where it is not defined. SciPy's ``betainc``.

    Raises:
        TypeError: an input is not a Tensor of one of these dtypes, or the dtypes differ.
        ValueError: the shapes differ.
        NotImplementedError: a gradient of the gradient for ``a`` or ``b`` is requested.
    """
    tensors = {key: check_tensor(tensor, "Betainc", key) for key, tensor in (("a", a), ("b", b), ("x", x))}
    check_same_dtype("Betainc", **tensors)
    if a._array.dtype not in (np.float32, np.float64):
        raise TypeError(f"For 'Betainc', 'a' must be Float32 or Float64, but got {a.dtype}")
    if not a.shape == b.shape == x.shape:
        raise ValueError(
            f"For 'Betainc', 'a', 'b' and 'x' must have one shape, but got {a.shape}, {b.shape} and {x.shape}"
        )
    return _betainc_operator(a, b, x)
