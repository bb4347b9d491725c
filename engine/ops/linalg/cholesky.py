"""Cholesky's decomposition, and inverses and systems by it.

Its gradient: Giles, "Collected Matrix Derivative Results for Forward and Reverse Mode Algorithmic
Differentiation" (2008).
"""

from __future__ import annotations

from typing import Any

from ...base.surfaces import declare, prim
from ...base.types import Functions, Value
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ..shapes.reshape import swapaxes
from .diagonals import tril, triu
from .inverse import inverse_operator
from .matmul import matmul
from .matrices import check_matrices, ones_of, product_of, swapped, wide_kernel
from .systems import solve_operator

__all__ = ["cholesky", "cholesky_inverse", "cholesky_solve"]


def _cholesky_rule(F: Functions, g: Value, out: Value, x: Value) -> Any:
    half = ones_of(x, x.shape[-1], lambda offset: (offset <= 0) * (1.0 - 0.5 * (offset == 0)))
    inverted = F.inverse(out)
    gradient = product_of(F, (inverted, "T"), product_of(F, (out, "T"), g) * half, inverted)
    return (gradient + swapped(F, gradient)) * 0.5


_cholesky = Operator("cholesky", wide_kernel(lambda linalg, x: linalg.cholesky(x)), (_cholesky_rule,))


@declare(method=True, primitive=prim("Cholesky", upper=False))
def cholesky(input_x: Tensor, upper: bool = False) -> Tensor:
    """Return Cholesky's decomposition: the triangular L with L @ L.T = A.

    Args:
        input_x: symmetric positive definite matrices A (..., n, n), of which the lower triangle is read.
        upper: whether to return L.T.

    Returns:
        A tensor of the same shape and dtype, 0 in the other triangle.

    Raises:
        TypeError: ``input_x`` is not a Tensor.
        ValueError: a matrix is not square, or not positive definite.
    """
    lower = _cholesky(check_matrices(input_x, "cholesky", argument="input_x"))
    return swapaxes(lower, -1, -2) if upper else lower


@declare(method=True, primitive=prim("CholeskyInverse", upper=False))
def cholesky_inverse(input_x: Tensor, upper: bool = False) -> Tensor:
    """Return the inverse of A = L @ L.T, from L.

    Args:
        input_x: Cholesky factors L (..., n, n), as ``cholesky`` returns them.
        upper: whether they are L.T.

    Returns:
        The inverses, a tensor of the same shape and dtype.

    Raises:
        TypeError: ``input_x`` is not a Tensor.
        ValueError: a matrix is not square, or is singular.
    """
    inverted = inverse_operator(check_matrices(input_x, "cholesky_inverse", argument="input_x"))
    return matmul(inverted, inverted, False, True) if upper else matmul(inverted, inverted, True, False)


@declare(method=True, primitive=prim("CholeskySolve", upper=False))
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """Return the x with A @ x = input for A = L @ L.T, from L.

    Args:
        input: right sides (..., n, k).
        input2: Cholesky factors L (..., n, n), as ``cholesky`` returns them; one triangle is read.
        upper: whether they are L.T, in the upper triangle.

    Returns:
        A tensor (..., n, k).

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: ``input2`` is not square or singular, or the shapes do not fit.
    """
    factor = check_matrices(input2, "cholesky_solve", argument="input2")
    lower = swapaxes(triu(factor), -1, -2) if upper else tril(factor)
    return solve_operator(
        swapaxes(lower, -1, -2), solve_operator(lower, check_matrices(input, "cholesky_solve", False))
    )
