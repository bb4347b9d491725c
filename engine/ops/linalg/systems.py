"""Systems of linear equations and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.surfaces import declare, prim
from ...base.types import Array, Functions, Value
from ...tensors.backend import to_host
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import holds
from ..arguments import check_tensor
from ..elementwise.comparison import where
from ..shapes.reshape import expand_dims, swapaxes
from .diagonals import tril, triu
from .matmul import matmul
from .matrices import check_matrices, finite_matrices, product_of, swapped, wide_kernel
from .products import adjoint as conjugate_transpose
from .qr import qr_operator

__all__ = ["lstsq", "matrix_solve", "triangular_solve"]

solve_operator = Operator(
    "solve",
    wide_kernel(lambda linalg, x, b: linalg.solve(x, b)),
    (
        lambda F, g, out, x, b: -product_of(F, F.solve(swapped(F, x), g), (out, "T")),
        lambda F, g, out, x, b: F.solve(swapped(F, x), g),
    ),
)


def _shortest_rule(F: Functions, needs: list[bool], g: Value, out: Value, x: Value, b: Value) -> list[Any]:
    if needs[0]:
        raise NotImplementedError(
            "For 'lstsq', the rank of 'input' is not full, where the solution jumps, so that it has no gradient by "
            "'input'; leave out the columns or rows that depend on others"
        )
    return [None, F.shortest_solution(swapped(F, x), g)]


_shortest = Operator(
    "shortest_solution", wide_kernel(lambda linalg, x, b: linalg.pinv(x, _tolerance(x)) @ b), joint_vjp=_shortest_rule
)


def _tolerance(x: Array) -> float:
    """Return the part of the largest singular value up to which values count as 0, as in NumPy and PyTorch."""
    return float(max(x.shape[-2:]) * np.finfo(x.dtype).eps)


def _have_full_rank(x: Array) -> bool:
    """Return whether all matrices have full rank; those with NaN or infinity are left to the decomposition."""
    host = to_host(x)
    wide = host.astype(np.float32) if host.dtype.itemsize < 4 else host
    if not wide.size or not np.isfinite(wide).all():
        return True
    values = np.linalg.svd(wide, compute_uv=False)
    return bool((values[..., -1] > values[..., 0] * _tolerance(wide)).all())


@declare(primitive=prim("MatrixSolve", adjoint=False))
def matrix_solve(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    """Return the x with matrix @ x = rhs.

    Args:
        matrix: square matrices (..., n, n).
        rhs: right sides (..., n, k).
        adjoint: whether to solve with the conjugate transpose of ``matrix``.

    Returns:
        A tensor (..., n, k).

    Raises:
        TypeError: ``matrix`` is not a Tensor.
        ValueError: a matrix is not square or is singular, or the shapes do not fit.
    """
    lhs = check_matrices(matrix, "matrix_solve", argument="matrix")
    return solve_operator(conjugate_transpose(lhs) if adjoint else lhs, rhs)


@declare(method=True, mint=True)
def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Tensor:
    """Return the x with A @ x = b for a triangular A.

    Args:
        b: right sides (..., n, k).
        A: square matrices (..., n, n), of which one triangle is read.
        upper: whether that is the upper one.
        transpose: whether to solve A.T @ x = b, with the triangle given by ``upper``.
        unitriangular: whether the diagonal counts as 1 and is not read.

    Returns:
        A tensor (..., n, k).

    Raises:
        TypeError: ``A`` is not a Tensor.
        ValueError: a matrix is not square or is singular, or the shapes do not fit.
    """
    square = check_matrices(A, "triangular_solve", argument="A")
    lhs = triu(square) if upper else tril(square)
    if unitriangular:
        identity = Tensor(np.eye(A.shape[-1], dtype=bool))
        lhs = where(identity, 1.0, lhs)
    return solve_operator(swapaxes(lhs, -1, -2) if transpose else lhs, b)


@declare(primitive=prim("MatrixTriangularSolve", lower=True, adjoint=False))
def _matrix_triangular_solve(matrix: Tensor, rhs: Tensor, lower: bool, adjoint: bool) -> Tensor:
    """Return the x with matrix @ x = rhs for a triangular matrix.

    Args:
        matrix: square matrices (..., n, n), of which one triangle is read.
        rhs: right sides (..., n, k).
        lower: whether that is the lower one.
        adjoint: whether to solve with the conjugate transpose of that triangle.

    Returns:
        A tensor (..., n, k).

    Raises:
        ValueError: a matrix is not square or is singular, or the shapes do not fit.
    """
    lhs = conjugate_transpose(matrix) if adjoint else matrix
    return triangular_solve(rhs, lhs, lower if adjoint else not lower)


@declare(method=True)
def lstsq(input: Tensor, A: Tensor) -> Tensor:
    """Return the x for which the norm of input @ x - A is least, the shortest of several; by QR.

    Args:
        input: matrices (..., m, n). If the rank of one is not full, the solution is by singular values, of which those
            up to max(m, n) times the dtype's epsilon times the largest count as 0.
        A: right sides (..., m, k), or one (m,), which counts as (m, 1).

    Returns:
        A tensor (..., n, k).

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: the shapes do not fit, or ``input`` holds NaN or infinity.
        NotImplementedError: a gradient by ``input`` is requested where its rank is not full.
    """
    lhs = finite_matrices(input, "lstsq", False)
    right = expand_dims(A, -1) if check_tensor(A, "lstsq", "A").ndim == 1 else A
    if right.ndim < 2 or lhs.shape[-2] != right.shape[-2]:
        raise ValueError(
            f"For 'lstsq', 'A' must have as many rows as 'input', but got shapes {A.shape} and {input.shape}"
        )
    if not holds(_have_full_rank, lhs._array):
        return _shortest(lhs, right)
    if lhs.shape[-2] >= lhs.shape[-1]:
        q, r = qr_operator(lhs)
        return solve_operator(r, matmul(q, right, True, False))
    q, r = qr_operator(swapaxes(lhs, -1, -2))
    return matmul(q, solve_operator(swapaxes(r, -1, -2), right))


@declare(primitive=prim("Lstsq", fast=True, l2_regularizer=0.0))
def _lstsq_class(x: Tensor, a: Tensor, fast: bool, l2_regularizer: float) -> Tensor:
    """Return the x for which the norm of x_given @ x - a is least, the shortest of several; by QR.

    Args:
        x: the matrices x_given (..., m, n), see ``ops.lstsq``.
        a: right sides (..., m, k), or one (m,), which counts as (m, 1).
        fast: must be True, as in MindSpore.
        l2_regularizer: must be 0.0, as in MindSpore.

    Returns:
        A tensor (..., n, k).

    Raises:
        TypeError: an input is not a Tensor, or an unsupported ``fast`` or ``l2_regularizer``.
        ValueError: the shapes do not fit.
        NotImplementedError: a gradient by ``x`` is requested where its rank is not full.
    """
    if fast is not True or l2_regularizer != 0:
        raise TypeError(
            f"For 'Lstsq', 'fast' must be True and 'l2_regularizer' 0.0, but got {fast!r} and {l2_regularizer!r}"
        )
    return lstsq(x, a)
