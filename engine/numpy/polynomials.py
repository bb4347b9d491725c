"""Polynomials as vectors of their coefficients, that of the highest power first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .. import ops
from ..base.argument_checks import check_at_most, check_int, check_not_negative
from ..base.types import Number, TensorLike
from ..tensors.tensor import Tensor
from .arrays import as_singles, asarray, made, together, vector
from .products import convolve

__all__ = ["polyadd", "polyder", "polyint", "polymul", "polysub", "polyval"]

_MOST_TIMES = 1 << 12
"""How many times a polynomial is integrated at most; what it began with is 0 long before."""


def polyadd(a1: TensorLike, a2: TensorLike) -> Tensor:
    """Return the sum of two polynomials.

    Args:
        a1: the coefficients of the first, the highest power first.
        a2: those of the other.

    Returns:
        the coefficients of the sum, as many as the longer of the two has.

    Raises:
        ValueError: one has more than one axis.
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
        ValueError: one has more than one axis.
    """
    return _combined(ops.sub, a1, a2, "polysub")


def _combined(operator: Callable[..., Tensor], a1: TensorLike, a2: TensorLike, name: str) -> Tensor:
    x, y = together(vector(a1, name, "a1"), vector(a2, name, "a2"))
    length = max(x.size, y.size)
    return operator(*(ops.cat([ops.zeros(length - one.size, one.dtype), one]) for one in (x, y)))


def polymul(a1: TensorLike, a2: TensorLike) -> Tensor:
    """Return the product of two polynomials.

    Args:
        a1: the coefficients of the first, the highest power first.
        a2: those of the other.

    Returns:
        the coefficients of the product.

    Raises:
        ValueError: one has more than one axis, or no coefficient.
    """
    return convolve(vector(a1, "polymul", "a1"), vector(a2, "polymul", "a2"))


def polyval(p: TensorLike, x: TensorLike) -> Tensor:
    """Return the values of a polynomial.

    Args:
        p: its coefficients, that of the highest power first.
        x: where it is taken: numbers of any shape.

    Returns:
        a floating Tensor of the shape of ``x``; integers become Float32.

    Raises:
        ValueError: ``p`` has more than one axis.
    """
    factors, at = (as_singles(one) for one in together(vector(p, "polyval", "p"), x))
    found = ops.zeros_like(at)
    for i in range(factors.size):
        found = found * at + factors[i]
    return found


def polyder(p: TensorLike, m: int = 1) -> Tensor:
    """Return the derivative of a polynomial.

    Args:
        p: its coefficients, that of the highest power first.
        m: how many times it is derived.

    Returns:
        the coefficients of the derivative, ``m`` fewer; a vector without elements where none is left.

    Raises:
        TypeError: ``m`` is not an int.
        ValueError: ``p`` has more than one axis, or ``m`` is negative.
    """
    check_not_negative(check_int(m, "numpy.polyder", "m"), "numpy.polyder", "m")
    found = vector(p, "polyder", "p")
    for _ in range(m):
        powers = made(np.arange(found.size - 1, 0, -1), found.dtype)
        found = found[: max(found.size - 1, 0)] * powers
    return found


def polyint(p: TensorLike, m: int = 1, k: Number | Sequence[Number] | None = None) -> Tensor:
    """Return the integral of a polynomial.

    Args:
        p: its coefficients, that of the highest power first.
        m: how many times it is integrated.
        k: the constants of integration, one for each time in order, or one for all; None is 0.

    Returns:
        the coefficients of the integral, ``m`` more; integers become Float32.

    Raises:
        TypeError: ``m`` is not an int.
        ValueError: ``p`` has more than one axis, ``m`` is negative or above 4096, or ``k`` has another length.
    """
    check_not_negative(check_int(m, "numpy.polyint", "m"), "numpy.polyint", "m")
    check_at_most(m, _MOST_TIMES, "numpy.polyint", "m")
    found = as_singles(vector(p, "polyint", "p"))
    constants = vector(0 if k is None else asarray(k), "polyint", "k")
    if constants.size not in (1, m):
        raise ValueError(f"For 'numpy.polyint', 'k' must hold 1 or {m} constants, but got {constants.size}")
    for i in range(m):
        powers = made(np.arange(found.size, 0, -1), found.dtype)
        constant = constants[i if constants.size > 1 else 0].astype(found.dtype)
        found = ops.cat([found / powers, ops.reshape(constant, (1,))])
    return found
