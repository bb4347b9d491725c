"""Layers of special functions: the gamma and the beta function."""

from __future__ import annotations

from ... import ops
from ...tensors.tensor import Tensor
from ..cell import Cell

__all__ = ["DiGamma", "IGamma", "LBeta", "LGamma"]


class LGamma(Cell):
    """The logarithm of the absolute value of the gamma function, element by element.

    Takes ``x``, a floating Tensor, and returns one of the same shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.lgamma(x)


class DiGamma(Cell):
    """The derivative of ``LGamma``, element by element.

    Takes ``x``, a floating Tensor, and returns one of the same shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.digamma(x)


class LBeta(Cell):
    """The logarithm of the beta function: lgamma(x) + lgamma(y) - lgamma(x + y).

    Takes ``x`` and ``y``, floating Tensors above 0 that broadcast, and returns one of their common shape.
    """

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        return ops.lgamma(x) + ops.lgamma(y) - ops.lgamma(x + y)


class IGamma(Cell):
    """The lower regularized incomplete gamma function: the integral of t**(a-1) * exp(-t) / gamma(a) over [0, x].

    Takes ``a`` and ``x``, floating Tensors above 0 that broadcast, and returns one of their common shape.
    """

    def construct(self, a: Tensor, x: Tensor) -> Tensor:
        return ops.igamma(a, x)
