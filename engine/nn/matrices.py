"""Layers of matrices: products, inverses, determinants, diagonals and triangles."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from .cell import Cell

__all__ = ["MatDet", "MatInverse", "MatMul", "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag", "Tril", "Triu"]


class Tril(Cell):
    """The lower triangle, 0 above diagonal ``k``."""

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        return _triangle(x, np.tri(x.shape[-2], x.shape[-1], k, dtype=bool))


class Triu(Cell):
    """The upper triangle, 0 below diagonal ``k``."""

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        return _triangle(x, ~np.tri(x.shape[-2], x.shape[-1], k - 1, dtype=bool))


def _triangle(x: Tensor, kept: Any) -> Tensor:
    return ops.where(Tensor(kept), x, Tensor._wrap(array_module(x._array).zeros((), x._array.dtype)))


class MatMul(Cell):
    """The product of two matrices, each transposed on demand."""

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False) -> None:
        super().__init__()
        self.transpose_x1, self.transpose_x2 = transpose_x1, transpose_x2

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        x1 = ops.swapaxes(x1, -1, -2) if self.transpose_x1 and x1.ndim > 1 else x1
        x2 = ops.swapaxes(x2, -1, -2) if self.transpose_x2 and x2.ndim > 1 else x2
        return ops.matmul(x1, x2)


class MatInverse(Cell):
    """The inverse of a matrix."""

    def construct(self, a: Tensor) -> Tensor:
        return ops.inverse(a)


class MatDet(Cell):
    """The determinant of a matrix."""

    def construct(self, a: Tensor) -> Tensor:
        return ops.det(a)


class MatrixDiag(Cell):
    """(..., n) as diagonals of matrices (..., n, n)."""

    def construct(self, input_x: Tensor) -> Tensor:
        n = input_x.shape[-1]
        return ops.expand_dims(input_x, -1) * Tensor(np.eye(n, dtype=input_x._array.dtype))


class MatrixDiagPart(Cell):
    """The diagonals (..., min(n, m)) of matrices (..., n, m)."""

    def construct(self, input_x: Tensor) -> Tensor:
        places = Tensor(np.arange(min(input_x.shape[-2:])))
        return ops.getitem(input_x, (Ellipsis, places, places))


class MatrixSetDiag(Cell):
    """Matrices (..., n, m) with other diagonals (..., min(n, m))."""

    def construct(self, input_x: Tensor, diagonal: Tensor) -> Tensor:
        n, m = input_x.shape[-2:]
        row = ops.expand_dims(diagonal, -1 if n <= m else -2)
        return ops.where(Tensor(np.eye(n, m, dtype=bool)), row, input_x)
