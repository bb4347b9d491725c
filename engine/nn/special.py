"""Layers of special functions: the gamma and the beta function."""

from __future__ import annotations

from .. import ops
from ..core.tensor import Tensor
from .cell import Cell

__all__ = ["DiGamma", "IGamma", "LBeta", "LGamma"]


class LGamma(Cell):
    """The logarithm of the gamma function."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.lgamma(x)


class DiGamma(Cell):
    """The slope of ``LGamma``."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.digamma(x)


class LBeta(Cell):
    """The logarithm of the beta function."""

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        return ops.lgamma(x) + ops.lgamma(y) - ops.lgamma(x + y)


class IGamma(Cell):
    """The lower regularised incomplete gamma function."""

    def construct(self, a: Tensor, x: Tensor) -> Tensor:
        return ops.igamma(a, x)
