"""Layers of matrices: products, inverses, determinants, diagonals and triangles."""

from __future__ import annotations

import numpy as np

from ... import ops
from ...base.argument_checks import check_bool, check_type
from ...ops.arguments import check_axes
from ...tensors.tensor import Tensor
from ..cell import Cell

__all__ = ["MatDet", "MatInverse", "MatMul", "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag", "Tril", "Triu"]


class Tril(Cell):
    """The lower triangles of matrices; 0 above diagonal ``k``."""

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        """Return the elements on and below diagonal ``k``.

        Args:
            x: matrices (..., n, m).
            k: the last diagonal to keep: 0 the main one, 1 the one above it, -1 the one below it.

        Returns:
            A Tensor of the shape and dtype of ``x``.

        Raises:
            ValueError: ``x`` has fewer than 2 axes.
        """
        _lengths(x, "Tril")
        return ops.tril(x, k)


class Triu(Cell):
    """The upper triangles of matrices; 0 below diagonal ``k``."""

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        """Return the elements on and above diagonal ``k``.

        Args:
            x: matrices (..., n, m).
            k: the first diagonal to keep: 0 the main one, 1 the one above it, -1 the one below it.

        Returns:
            A Tensor of the shape and dtype of ``x``.

        Raises:
            ValueError: ``x`` has fewer than 2 axes.
        """
        _lengths(x, "Triu")
        return ops.triu(x, k)


def _lengths(x: Tensor, layer: str) -> tuple[int, int]:
    if check_type(x, Tensor, layer, "x").ndim < 2:
        raise ValueError(f"For '{layer}', 'x' must have 2 axes or more, but got shape {x.shape}")
    return x.shape[-2], x.shape[-1]


class MatMul(Cell):
    """The product ``x1`` @ ``x2`` of matrices, optionally transposed, as ``numpy.matmul``.

    Takes ``x1`` (..., n, k) and ``x2`` (..., k, m) and returns (..., n, m); the axes before are broadcast.

    Args:
        transpose_x1: whether the last two axes of ``x1`` are swapped first; without effect on a vector.
        transpose_x2: whether the last two axes of ``x2`` are swapped first; without effect on a vector.
    """

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False) -> None:
        super().__init__()
        self.transpose_x1 = check_bool(transpose_x1, "MatMul", "transpose_x1")
        self.transpose_x2 = check_bool(transpose_x2, "MatMul", "transpose_x2")

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        x1 = ops.swapaxes(x1, -1, -2) if self.transpose_x1 and x1.ndim > 1 else x1
        x2 = ops.swapaxes(x2, -1, -2) if self.transpose_x2 and x2.ndim > 1 else x2
        return ops.matmul(x1, x2)


class MatInverse(Cell):
    """The inverses of square matrices.

    Takes ``a`` (..., n, n), floating, and returns a Tensor of the same shape and dtype; see ``ops.inverse``.
    """

    def construct(self, a: Tensor) -> Tensor:
        return ops.inverse(a)


class MatDet(Cell):
    """The determinants of square matrices.

    Takes ``a`` (..., n, n), floating, and returns (...); see ``ops.det``.
    """

    def construct(self, a: Tensor) -> Tensor:
        return ops.det(a)


class MatrixDiag(Cell):
    """Matrices with given diagonals, 0 elsewhere.

    Takes ``input_x`` (..., n) and returns (..., n, n) of the same dtype.
    """

    def construct(self, input_x: Tensor) -> Tensor:
        n = check_axes(input_x, 1, "MatrixDiag", "input_x").shape[-1]
        return ops.expand_dims(input_x, -1) * Tensor(np.eye(n, dtype=input_x._array.dtype))


class MatrixDiagPart(Cell):
    """The main diagonals of matrices.

    Takes ``input_x`` (..., n, m) and returns (..., min(n, m)) of the same dtype.
    """

    def construct(self, input_x: Tensor) -> Tensor:
        positions = Tensor(np.arange(min(input_x.shape[-2:])))
        return ops.getitem(input_x, (Ellipsis, positions, positions))


class MatrixSetDiag(Cell):
    """Matrices with replaced main diagonals."""

    def construct(self, input_x: Tensor, diagonal: Tensor) -> Tensor:
        """Return ``input_x`` with ``diagonal`` on its main diagonals.

        Args:
            input_x: matrices (..., n, m).
            diagonal: the new elements (..., min(n, m)).

        Returns:
            A Tensor of the shape of ``input_x``.

        Raises:
            ValueError: ``diagonal`` has the wrong shape.
        """
        n, m = _lengths(input_x, "MatrixSetDiag")
        expected = (*input_x.shape[:-2], min(n, m))
        if check_type(diagonal, Tensor, "MatrixSetDiag", "diagonal").shape != expected:
            raise ValueError(
                f"For 'MatrixSetDiag', 'diagonal' must have the shape {expected}, but got {diagonal.shape}"
            )
        row = ops.expand_dims(diagonal, -1 if n <= m else -2)
        return ops.where(Tensor(np.eye(n, m, dtype=bool)), row, input_x)
