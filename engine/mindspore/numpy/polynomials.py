"""Polynomials as vectors of coefficients, the highest power first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ... import ops
from ...base.argument_checks import check_at_most, check_int, check_not_negative
from ...base.types import Number, TensorLike
from ...tensors.tensor import Tensor
from .arrays import as_singles, asarray, new_tensor, tensors_of, vector
from .products import convolve

__all__ = ["polyadd", "polyder", "polyint", "polymul", "polysub", "polyval"]

_MOST_TIMES = 1 << 12
"""The maximum number of integrations; the original coefficients are 0 long before."""


def polyadd(a1: TensorLike, a2: TensorLike) -> Tensor:
    """Return the sum of two polynomials.

    Args:
        a1: the coefficients of the first, the highest power first.
        a2: those of the other.

    Returns:
        the coefficients of the sum, as many as the longer of the two has.

    Raises:
        ValueError: an argument has more than one axis.
    """
    return _combined(ops.add, a1, a2, "polyadd")


def polysub(a1: TensorLike, a2: TensorLike) -> Tensor:
    """Return the difference of two polynomials.

    Args:
        a1: the coefficients of the first, the highest power first.
        a2: those of the other, which is subtracted.

    Returns:
        the coefficients of the difference, as many as the longer of the two has.

    Raises:
        ValueError: an argument has more than one axis.
    """
    return _combined(ops.sub, a1, a2, "polysub")


def _combined(operator: Callable[..., Tensor], a1: TensorLike, a2: TensorLike, name: str) -> Tensor:
    x, y = tensors_of(vector(a1, name, "a1"), vector(a2, name, "a2"))
    length = max(x.size, y.size)
    return operator(
        *(ops.cat([ops.zeros(length - coefficients.size, coefficients.dtype), coefficients]) for coefficients in (x, y))
    )


def polymul(a1: TensorLike, a2: TensorLike) -> Tensor:
    """Return the product of two polynomials.

    Args:
        a1: the coefficients of the first, the highest power first.
        a2: those of the other.

    Returns:
        the coefficients of the product.

    Raises:
        ValueError: an argument has more than one axis, or no coefficients.
    """
    return convolve(vector(a1, "polymul", "a1"), vector(a2, "polymul", "a2"))


def polyval(p: TensorLike, x: TensorLike) -> Tensor:
    """Return the values of a polynomial.

    Args:
        p: its coefficients, the highest power first.
        x: the points to evaluate, of any shape.

    Returns:
        a floating Tensor of the shape of ``x``; integers become Float32.

    Raises:
        ValueError: ``p`` has more than one axis.
    """
    factors, at = (as_singles(vectors) for vectors in tensors_of(vector(p, "polyval", "p"), x))
    result = ops.zeros_like(at)
    for i in range(factors.size):
        result = result * at + factors[i]
    return result


def polyder(p: TensorLike, m: int = 1) -> Tensor:
    """Return the derivative of a polynomial.

    Args:
        p: its coefficients, the highest power first.
        m: the number of differentiations.

    Returns:
        the coefficients of the derivative, ``m`` fewer; possibly an empty vector.

    Raises:
        TypeError: ``m`` is not an int.
        ValueError: ``p`` has more than one axis, or ``m`` is negative.
    """
    check_not_negative(check_int(m, "numpy.polyder", "m"), "numpy.polyder", "m")
    coefficients = vector(p, "polyder", "p")
    for _ in range(m):
        powers = new_tensor(np.arange(coefficients.size - 1, 0, -1), coefficients.dtype)
        coefficients = coefficients[: max(coefficients.size - 1, 0)] * powers
    return coefficients


def polyint(p: TensorLike, m: int = 1, k: Number | Sequence[Number] | None = None) -> Tensor:
    """Return the integral of a polynomial.

    Args:
        p: its coefficients, the highest power first.
        m: the number of integrations.
        k: the constants of integration, one for each in order, or one for all; None is 0.

    Returns:
        the coefficients of the integral, ``m`` more; integers become Float32.

    Raises:
        TypeError: ``m`` is not an int.
        ValueError: ``p`` has more than one axis, ``m`` is negative or above 4096, or ``k`` has the wrong length.
    """
    check_not_negative(check_int(m, "numpy.polyint", "m"), "numpy.polyint", "m")
    check_at_most(m, _MOST_TIMES, "numpy.polyint", "m")
    coefficients = as_singles(vector(p, "polyint", "p"))
    constants = vector(0 if k is None else asarray(k), "polyint", "k")
    if constants.size not in (1, m):
        raise ValueError(f"For 'numpy.polyint', 'k' must hold 1 or {m} constants, but got {constants.size}")
    for i in range(m):
        powers = new_tensor(np.arange(coefficients.size, 0, -1), coefficients.dtype)
        constant = constants[i if constants.size > 1 else 0].astype(coefficients.dtype)
        coefficients = ops.cat([coefficients / powers, ops.reshape(constant, (1,))])
    return coefficients
