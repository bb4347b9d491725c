"""Linear algebra classes without a function: logarithms, least squares as TensorFlow's, tridiagonal matrices."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool
from ...base.surfaces import declare, prim
from ...base.types import Array, Functions, Value
from ...cpu.array_module import array_module
from ...cpu.widening import widen
from ...tensors.backend import to_host
from ...tensors.dtype import float64
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import check_same_dtype, check_tensor, ints_of
from ..linalg.matmul import matmul
from ..linalg.matrices import check_matrices, no_gradient, swapped
from ..linalg.norms import matrix_norm
from ..linalg.products import adjoint as conjugate_transpose
from ..linalg.systems import lstsq, solve_operator
from ..shapes.broadcasting import as_dtype, zeros_operator
from ..shapes.concatenation import concat
from ..shapes.reshape import swapaxes

__all__: list[str] = []


def _logarithms(x: Array) -> Array:
    logm = import_module("scipy.linalg").logm
    host = to_host(x)
    result = np.full(host.shape, np.nan, np.complex128)
    for index in np.ndindex(host.shape[:-2]):
        matrix = host[index].astype(np.complex128)
        if np.isfinite(matrix).all() and (np.linalg.eigvals(matrix) != 0).all():  # a singular matrix has none
            result[index] = logm(matrix)
    return array_module(x).asarray(result.astype(host.dtype))


def _logarithm_rule(F: Functions, g: Value, out: Value, x: Value) -> Any:
    """Return the corner of the logarithm of [[A, G], [0, A]], which is the derivative at A by G (Mathias 1996)."""
    n = x.shape[-1]
    conjugate = F.conj(swapped(F, x))
    upper, lower = F.concat(conjugate, g, axis=x.ndim - 1), F.concat(F.zeros_like(x), conjugate, axis=x.ndim - 1)
    logarithm = F.matrix_logarithm(F.concat(upper, lower, axis=x.ndim - 2))
    return F.slice_axis(F.slice_axis(logarithm, axis=x.ndim - 2, start=0, stop=n), axis=x.ndim - 1, start=n, stop=2 * n)


_matrix_logarithm_operator = Operator("matrix_logarithm", _logarithms, (_logarithm_rule,), analytic=False)


def _eigh(x: Array) -> tuple[Array, Array]:
    # bfloat16 is not NumPy's own: NumPy widens it by itself, CuPy does not.
    values, vectors = array_module(x).linalg.eigh(widen(x) if x.dtype.kind == "V" else x)
    return values.astype(x.dtype), vectors.astype(x.dtype, copy=False)


_eigh_operator = Operator(
    "self_adjoint_eig", _eigh, joint_vjp=no_gradient("SelfAdjointEig", "singular values ('svd') have one")
)


@declare(primitive=prim("MatrixLogarithm"))
def _matrix_logarithm(x: Tensor) -> Tensor:
    """Return the logarithm of each matrix, whose exponential is the matrix: the one with imaginary parts in (-pi, pi].

    Args:
        x: square matrices (..., n, n) of complex numbers.

    Returns:
        A tensor of the same shape and dtype; NaN where a matrix is singular.

    Raises:
        TypeError: ``x`` is not a Tensor of complex numbers.
        ValueError: a matrix is not square.
    """
    if check_matrices(x, "MatrixLogarithm", argument="x")._array.dtype.kind != "c":
        raise TypeError(f"For 'MatrixLogarithm', 'x' must be complex numbers, but got {x.dtype}")
    return _matrix_logarithm_operator(x)


@declare(primitive=prim("MatrixSolveLs", fast=True))
def _matrix_solve_ls(matrix: Tensor, rhs: Tensor, l2_regularizer: Tensor, *, fast: bool) -> Tensor:
    """Return the x for which the norm of matrix @ x - rhs is least.

    Args:
        matrix: matrices (..., m, n), in single or double precision, real or complex.
        rhs: right sides (..., m, k), of the same dtype.
        l2_regularizer: with ``fast``, the weight of the square of the norm of x: a tensor without axes of
            Float64.
        fast: whether to solve the normal equations, for which the rank of a matrix must be full unless
            ``l2_regularizer`` is above 0; otherwise as ``lstsq``, without ``l2_regularizer``.

    Returns:
        A tensor (..., n, k) of the dtype of ``matrix``.

    Raises:
        TypeError: an input is not a Tensor, the dtypes differ, or ``fast`` is not a bool.
        ValueError: the shapes do not fit, or with ``fast`` the equations are singular.
    """
    name = "MatrixSolveLs"
    check_bool(fast, name, "fast")
    check_same_dtype(
        name, matrix=check_matrices(matrix, name, False, "matrix"), rhs=check_matrices(rhs, name, False, "rhs")
    )
    if matrix._array.dtype.kind not in "fc" or matrix._array.dtype.itemsize == 2:
        raise TypeError(f"For '{name}', 'matrix' must be in single or double precision, but got {matrix.dtype}")
    if matrix.shape[:-1] != rhs.shape[:-1]:
        raise ValueError(
            f"For '{name}', 'matrix' and 'rhs' must have the same shape but for the last axis, "
            f"but got {matrix.shape} and {rhs.shape}"
        )
    if check_tensor(l2_regularizer, name, "l2_regularizer").dtype != float64:
        raise TypeError(f"For '{name}', 'l2_regularizer' must be Float64, but got {l2_regularizer.dtype}")
    if l2_regularizer.ndim:
        raise ValueError(f"For '{name}', 'l2_regularizer' must have no axes, but got shape {l2_regularizer.shape}")
    if not fast:
        return lstsq(matrix, rhs)
    # The condition number of the equations is the square of the matrix's: in double precision that does not matter.
    dtype = matrix._array.dtype
    wide = np.dtype(np.complex128 if dtype.kind == "c" else np.float64)
    a, b = as_dtype(matrix, wide), as_dtype(rhs, wide)
    adjoint = conjugate_transpose(a)
    tall = matrix.shape[-2] >= matrix.shape[-1]
    square = matmul(adjoint, a) if tall else matmul(a, adjoint)
    identity = array_module(square._array).eye(square.shape[-1], dtype=wide)
    square = square + as_dtype(l2_regularizer, wide) * Tensor._wrap(identity)
    result = solve_operator(square, matmul(adjoint, b)) if tall else matmul(adjoint, solve_operator(square, b))
    return as_dtype(result, dtype)


@declare(primitive=prim("TridiagonalMatMul"))
def _tridiagonal_mat_mul(superdiag: Tensor, maindiag: Tensor, subdiag: Tensor, rhs: Tensor) -> Tensor:
    """Return the product of a matrix with three diagonals, 0 elsewhere, and another matrix.

    Args:
        superdiag: the diagonal above the main one (..., 1, m), by rows; its last element is ignored.
        maindiag: the main diagonal (..., 1, m).
        subdiag: the diagonal below (..., 1, m), by rows; its first element is ignored.
        rhs: the other matrix (..., m, n).

    Returns:
        A tensor of the shape and dtype of ``rhs``.

    Raises:
        TypeError: an input is not a Tensor of floating or complex numbers, or the dtypes differ.
        ValueError: the shapes do not fit.
    """
    name = "TridiagonalMatMul"
    inputs = {"superdiag": superdiag, "maindiag": maindiag, "subdiag": subdiag, "rhs": rhs}
    check_same_dtype(name, **{key: check_tensor(tensor, name, key) for key, tensor in inputs.items()})
    if rhs._array.dtype.kind not in "fcV":
        raise TypeError(f"For '{name}', 'rhs' must be floating or complex numbers, but got {rhs.dtype}")
    expected = (*rhs.shape[:-2], 1, rhs.shape[-2]) if rhs.ndim >= 2 else None
    for key in ("superdiag", "maindiag", "subdiag"):
        if inputs[key].shape != expected:
            raise ValueError(
                f"For '{name}', '{key}' must have the shape (..., 1, m) for 'rhs' (..., m, n), "
                f"but got {inputs[key].shape} and {rhs.shape}"
            )
    zero = zeros_operator(rhs[..., :1, :])
    above, main, below = (swapaxes(tensor, -1, -2) for tensor in (superdiag, maindiag, subdiag))
    return (
        main * rhs
        + above * concat([rhs[..., 1:, :], zero], rhs.ndim - 2)
        + below * concat([zero, rhs[..., :-1, :]], rhs.ndim - 2)
    )


@declare(primitive=prim("SelfAdjointEig", compute_v=True))
def _self_adjoint_eig(x: Tensor, *, compute_v: bool) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues, the least first, and the eigenvectors of symmetric or Hermitian matrices.

    Args:
        x: matrices (..., n, n), in single or double precision, real or complex; elements above the diagonal are
            ignored.
        compute_v: whether the eigenvectors are computed.

    Returns:
        The eigenvalues (..., n), and the eigenvectors of length 1 as columns (..., n, n), whose signs are arbitrary; a
        tensor without elements instead of these if ``compute_v`` is False. All have the dtype of ``x``. There is
        no gradient.

    Raises:
        TypeError: ``x`` is not a Tensor of such numbers, or ``compute_v`` is not a bool.
        ValueError: a matrix is not square.
    """
    check_bool(compute_v, "SelfAdjointEig", "compute_v")
    dtype = check_matrices(x, "SelfAdjointEig", argument="x")._array.dtype
    if dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        raise TypeError(f"For 'SelfAdjointEig', 'x' must be in single or double precision, but got {x.dtype}")
    values, vectors = _eigh_operator(x)
    return values, vectors if compute_v else constant(array_module(x._array).zeros(0, dtype))


@declare(primitive=prim("TridiagonalSolve", partial_pivoting=True))
def _tridiagonal_solve(diagonals: Tensor, rhs: Tensor, *, partial_pivoting: bool) -> Tensor:
    """Return the solution of equations whose matrix has three diagonals, and 0 elsewhere.

    Args:
        diagonals: the diagonal above the main one, the main one and that below (..., 3, n), by rows: the last element
            of the first and the first of the last are ignored. Single or double precision, real or complex.
        rhs: the right sides (..., n, k), of the same dtype.
        partial_pivoting: whether rows may be exchanged; they are wherever needed.

    Returns:
        A tensor of the shape and dtype of ``rhs``.

    Raises:
        TypeError: an argument is not a Tensor of such numbers, the dtypes differ, or ``partial_pivoting`` is not a
            bool.
        ValueError: the shapes do not fit, or a matrix is singular.
    """
    name = "TridiagonalSolve"
    check_bool(partial_pivoting, name, "partial_pivoting")
    check_same_dtype(name, diagonals=check_tensor(diagonals, name, "diagonals"), rhs=check_tensor(rhs, name, "rhs"))
    if rhs._array.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        raise TypeError(f"For '{name}', 'rhs' must be in single or double precision, but got {rhs.dtype}")
    if rhs.ndim < 2 or diagonals.shape != (*rhs.shape[:-2], 3, rhs.shape[-2]):
        raise ValueError(
            f"For '{name}', 'diagonals' must have the shape (..., 3, n) for 'rhs' (..., n, k), but got "
            f"{diagonals.shape} and {rhs.shape}"
        )
    n = rhs.shape[-2]
    xp = array_module(rhs._array)
    above, main, below = (swapaxes(diagonals[..., i : i + 1, :], -1, -2) for i in range(3))
    matrix = (
        above * constant(xp.eye(n, k=1, dtype=rhs._array.dtype))
        + main * constant(xp.eye(n, dtype=rhs._array.dtype))
        + below * constant(xp.eye(n, k=-1, dtype=rhs._array.dtype))
    )
    try:
        result: Tensor = solve_operator(matrix, rhs)
    except ValueError:
        raise ValueError(f"For '{name}', 'diagonals' must be of a matrix that is not singular") from None
    return result


@declare(primitive=prim("NuclearNorm", dim=None, keepdim=False))
def _nuclear_norm(x: Tensor, *, dim: Sequence[int] | None, keepdim: bool) -> Tensor:
    """Return the sum of the singular values of matrices.

    Args:
        x: a tensor with at least two axes of floating numbers.
        dim: the two axes of the matrices, rows first; None for a tensor of two axes.
        keepdim: whether these stay with length 1.

    Returns:
        A tensor without the two axes, of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, ``keepdim`` is not a bool, or ``dim`` does not hold ints.
        ValueError: ``dim`` is not two axes, or is None and ``x`` has more.
    """
    check_bool(keepdim, "NuclearNorm", "keepdim")
    if check_tensor(x, "NuclearNorm", "x").ndim != 2 and dim is None:
        raise ValueError(f"For 'NuclearNorm', 'x' must have 2 axes without 'dim', but got shape {x.shape}")
    axes = (0, 1) if dim is None else ints_of(dim, "NuclearNorm", "dim")
    return matrix_norm(x, "nuc", axes, keepdim)
