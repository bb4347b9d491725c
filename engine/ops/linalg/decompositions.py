"""Linear algebra on square and other matrices: inverses, determinants, decompositions, systems, powers, norms.

Gradients of the decompositions: Giles, "Collected Matrix Derivative Results for Forward and Reverse Mode Algorithmic
Differentiation" (2008), and for QR Walter and Lehmann, "Algorithmic Differentiation of Linear Algebra Functions"
(arXiv 1009.6112).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.argument_checks import check_int, check_one_of
from ...base.surfaces import declare, prim, renamed
from ...base.types import Array, DTypeLike, Functions, Value
from ...cpu.array_module import array_module
from ...tensors.backend import to_host
from ...tensors.dtype import numpy_dtype
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import checked, usual
from ..arguments import Axis, axes_of, check_axes, check_integers, check_tensor
from ..elementwise import arithmetic, comparison, exponentials
from ..elementwise.comparison import where
from ..elementwise.complex_numbers import conj
from ..reduction import reduction
from ..reduction.reduction import reduce_max, reduce_min, reduce_sum
from ..reduction.statistics import vector_norm
from ..shapes.broadcasting import array_dtype, as_dtype, as_floats, in_dtype, through_single, zeros_operator
from ..shapes.rearranging import movedim
from ..shapes.reshape import concat, expand_dims, reshape, swapaxes
from .diagonals import tril, triu
from .matmul import matmul
from .products import adjoint as conjugate_transpose

__all__ = [
    "cholesky", "cholesky_inverse", "cholesky_solve", "cond", "det", "eig", "eigvals", "geqrf", "inverse",
    "log_matrix_determinant", "logdet", "lstsq", "lu_solve", "lu_unpack", "matrix_determinant", "matrix_exp",
    "matrix_norm", "matrix_power", "matrix_solve", "norm", "orgqr", "ormqr", "pinv", "qr", "slogdet", "svd",
    "triangular_solve"
]  # fmt: skip


def _wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel for matrices that computes half precision in single, as LAPACK has single and double only."""

    def kernel(*matrices: Any, **attrs: Any) -> Any:
        dtype = matrices[0].dtype
        if dtype.itemsize > 2:
            return function(array_module(matrices[0]).linalg, *matrices, **attrs)
        result = function(array_module(matrices[0]).linalg, *(m.astype(np.float32) for m in matrices), **attrs)
        return tuple(x.astype(dtype) for x in result) if isinstance(result, tuple) else result.astype(dtype)

    return kernel


def _mm(F: Functions, *factors: Any) -> Any:
    """Return the product of matrices; a pair (x, "T") is x transposed."""
    product, is_transposed = _turned(factors[0])
    for factor in factors[1:]:
        x, flag = _turned(factor)
        product, is_transposed = F.matmul(product, x, transpose_a=is_transposed, transpose_b=flag), False
    return product


def _turned(factor: Any) -> tuple[Any, bool]:
    return (factor[0], True) if isinstance(factor, tuple) else (factor, False)


def swapped(F: Functions, x: Value) -> Any:
    return F.transpose(x, axes=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def _ones(x: Value, size: int, keep: Callable[[Any], Any]) -> Array:
    """Return a (size, size) matrix of ones where ``keep(column - row)``, on the device and in the dtype of x."""
    bare = x._array if isinstance(x, Tensor) else x
    xp = array_module(bare)
    return keep(xp.arange(size) - xp.arange(size)[:, None]).astype(bare.dtype)


def _diagonal_matrix(F: Functions, x: Value) -> Any:
    return F.reshape(x, shape=(*x.shape, 1)) * _ones(x, x.shape[-1], lambda apart: apart == 0)


_inverse = Operator(
    "inverse", _wide(lambda linalg, x: linalg.inv(x)), (lambda F, g, out, x: -_mm(F, (out, "T"), g, (out, "T")),)
)
_det = Operator(
    "det",
    _wide(lambda linalg, x: linalg.det(x)),
    (lambda F, g, out, x: F.reshape(g * out, shape=(*out.shape, 1, 1)) * swapped(F, F.inverse(x)),),
)


def _logdet_rule(F: Functions, needs: list[bool], g: tuple[Any, ...], out: tuple[Any, ...], x: Value) -> list[Any]:
    if g[0] is None:
        return [None]
    slope = swapped(F, F.inverse(x))
    return [F.reshape(g[0], shape=(*g[0].shape, 1, 1)) * (F.conj(slope) if array_dtype(slope).kind == "c" else slope)]


def _logdet_kernel(linalg: Any, x: Array) -> tuple[Array, Array]:
    sign, size = linalg.slogdet(x)
    return np.asarray(size) if isinstance(size, np.generic) else size, sign


_slogdet = Operator("slogdet", _wide(_logdet_kernel), joint_vjp=_logdet_rule, analytic=False)


def _cholesky_rule(F: Functions, g: Value, out: Value, x: Value) -> Any:
    half = _ones(x, x.shape[-1], lambda apart: (apart <= 0) * (1.0 - 0.5 * (apart == 0)))
    inverted = F.inverse(out)
    gradient = _mm(F, (inverted, "T"), _mm(F, (out, "T"), g) * half, inverted)
    return (gradient + swapped(F, gradient)) * 0.5


_cholesky = Operator("cholesky", _wide(lambda linalg, x: linalg.cholesky(x)), (_cholesky_rule,))
solve_operator = Operator(
    "solve",
    _wide(lambda linalg, x, b: linalg.solve(x, b)),
    (
        lambda F, g, out, x, b: -_mm(F, F.solve(swapped(F, x), g), (out, "T")),
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
    "shortest_solution", _wide(lambda linalg, x, b: linalg.pinv(x, _tolerance(x)) @ b), joint_vjp=_shortest_rule
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


def _or_zero(F: Functions, g: Value | None, out: Value) -> Any:
    return out * 0 if g is None else g


def _qr_rule(F: Functions, needs: list[bool], g: tuple[Any, Any], out: tuple[Any, Any], x: Value) -> list[Any]:
    q, r = out
    gq, gr = (_or_zero(F, *pair) for pair in zip(g, out, strict=True))
    return [_qr_gradient(F, q, r, gq, gr, x)]


def _qr_gradient(F: Functions, q: Value, r: Value, gq: Value, gr: Value, x: Value) -> Any:
    """Return the gradient (Walter and Lehmann) for a matrix with at least as many rows as columns."""
    m = _mm(F, r, (gr, "T")) - _mm(F, (gq, "T"), q)
    below = _ones(x, r.shape[-1], lambda apart: apart < 0)
    lower = m * below
    symmetric = lower + swapped(F, lower) + m * _ones(x, r.shape[-1], lambda apart: apart == 0)
    return _mm(F, gq + _mm(F, q, symmetric), (F.inverse(r), "T"))


_qr = Operator("qr", _wide(lambda linalg, x: tuple(linalg.qr(x))), joint_vjp=_qr_rule)


def _svd_kernel(linalg: Any, x: Array) -> tuple[Array, ...]:
    u, s, v = linalg.svd(x, full_matrices=False)
    return s, u, array_module(v).ascontiguousarray(v.swapaxes(-1, -2))


def _svd_rule(F: Functions, needs: list[bool], g: tuple[Any, ...], out: tuple[Any, ...], x: Value) -> list[Any]:
    s, u, v = out
    gs, gu, gv = (_or_zero(F, *pair) for pair in zip(g, out, strict=True))
    return [_svd_gradient(F, s, u, v, gs, gu, gv, x)]


def _svd_gradient(F: Functions, s: Value, u: Value, v: Value, gs: Value, gu: Value, gv: Value, x: Value) -> Any:
    k = s.shape[-1]
    row, column = F.reshape(s, shape=(*s.shape[:-1], 1, k)), F.reshape(s, shape=(*s.shape, 1))
    identity = _ones(x, k, lambda apart: apart == 0)
    factors = 1.0 / (row * row - column * column + identity) * (1.0 - identity)

    def turning(one: Value, arriving: Value) -> Any:
        m = _mm(F, (one, "T"), arriving)
        return factors * (m - swapped(F, m))

    core = turning(u, gu) * row + column * turning(v, gv) + _diagonal_matrix(F, gs)
    gradient = _mm(F, u, core, (v, "T"))
    if x.shape[-2] > k:
        remainder = gu / row
        gradient = gradient + _mm(F, remainder - _mm(F, u, _mm(F, (u, "T"), remainder)), (v, "T"))
    if x.shape[-1] > k:
        remainder = gv / row
        gradient = gradient + _mm(F, u, (remainder - _mm(F, v, _mm(F, (v, "T"), remainder)), "T"))
    return gradient


_svd = Operator("svd", _wide(_svd_kernel), joint_vjp=_svd_rule)


def _columns(F: Functions, x: Value, start: int, stop: int) -> Any:
    return F.slice_axis(x, axis=x.ndim - 1, start=start, stop=stop)


def _of_first_columns(F: Functions, name: str, q: Value, g: Value, k: int) -> tuple[Any, Any]:
    """Return the first k columns of a square orthogonal matrix, and their gradient with that of the other columns.

    The others are any basis of the complement. As they turn with the first columns, P' = -Q dQ.T P, they add
    -P gP.T Q to the gradient; a result that changes when they turn among themselves, which P.T gP shows, has none.
    """
    size = q.shape[-1]
    if k == size:
        return q, g
    leading, complement, g_complement = _columns(F, q, 0, k), _columns(F, q, k, size), _columns(F, g, k, size)
    rotation = _mm(F, (complement, "T"), g_complement)
    bare = rotation._array if isinstance(rotation, Tensor) else rotation
    asymmetry = abs(bare - bare.swapaxes(-1, -2))
    tolerance = 1e-6 if bare.dtype.itemsize > 4 else 1e-3
    if size - k > 1 and (asymmetry > tolerance * max(1.0, float(abs(bare).max()))).any():
        raise NotImplementedError(
            f"For '{name}', the result depends on the columns behind the first {k} of an orthogonal matrix, which are "
            f"any basis of what these leave, so it has no gradient; use the reduced form"
        )
    return leading, _columns(F, g, 0, k) - _mm(F, complement, (g_complement, "T"), leading)


def _full_qr_rule(F: Functions, needs: list[bool], g: tuple[Any, Any], out: tuple[Any, Any], x: Value) -> list[Any]:
    columns = x.shape[-1]
    gq, gr = (_or_zero(F, *pair) for pair in zip(g, out, strict=True))
    q, gq = _of_first_columns(F, "qr", out[0], gq, columns)
    r, gr = (F.slice_axis(matrix, axis=matrix.ndim - 2, start=0, stop=columns) for matrix in (out[1], gr))
    return [_qr_gradient(F, q, r, gq, gr, x)]


def _full_svd_rule(F: Functions, needs: list[bool], g: tuple[Any, ...], out: tuple[Any, ...], x: Value) -> list[Any]:
    k = out[1].shape[-1]
    gu, gs, gv = (_or_zero(F, *pair) for pair in zip(g, out, strict=True))
    u, gu = _of_first_columns(F, "svd", out[0], gu, k)
    v, gv = _of_first_columns(F, "svd", swapped(F, out[2]), swapped(F, gv), k)
    return [_svd_gradient(F, out[1], u, v, gs, gu, gv, x)]


_full_svd = Operator(
    "full_svd", _wide(lambda linalg, x: tuple(linalg.svd(x, full_matrices=True))), joint_vjp=_full_svd_rule
)
_full_qr = Operator("full_qr", _wide(lambda linalg, x: tuple(linalg.qr(x, mode="complete"))), joint_vjp=_full_qr_rule)


def _without_gradient(name: str, instead: str) -> Callable[..., Any]:
    """Return a rule that raises an error where otherwise a gradient would silently be 0."""

    def rule(F: Functions, needs: list[bool], g: Value, out: Value, x: Value) -> list[Any]:
        raise NotImplementedError(f"For '{name}', there is no gradient; {instead}")

    return rule


def _eig_kernel(x: Any) -> tuple[Array, Array]:
    kind = np.complex128 if x.dtype.itemsize in (8, 16) and x.dtype != np.complex64 else np.complex64
    xp = array_module(x)
    values, vectors = np.linalg.eig(x if xp is np else x.get())  # CuPy has only that of symmetric matrices
    return xp.asarray(values.astype(kind)), xp.asarray(vectors.astype(kind))


_eig = Operator("eig", _eig_kernel, joint_vjp=_without_gradient("eig", "singular values ('svd') have one"))


def _geqrf_kernel(x: Array) -> tuple[Array, Array]:
    xp = array_module(x)
    wide = to_host(x.astype(np.float32) if x.dtype.itemsize < 4 else x)
    parts = [np.linalg.qr(matrix, mode="raw") for matrix in wide.reshape(-1, *x.shape[-2:])]
    raw = np.stack([h.T for h, _ in parts]).reshape(x.shape).astype(x.dtype)
    factors = np.stack([t for _, t in parts]).reshape(*x.shape[:-2], -1).astype(x.dtype)
    return xp.asarray(raw), xp.asarray(factors)


_geqrf = Operator("geqrf", _geqrf_kernel, joint_vjp=_without_gradient("geqrf", "'qr' has one"))


def check_matrices(x: Tensor, name: str, square: bool = True, argument: str = "input") -> Tensor:
    if check_tensor(x, name, argument).ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise ValueError(f"For '{name}', '{argument}' must be {kind}, but got shape {x.shape}")
    return x


def _finite(x: Tensor, name: str, square: bool = True, argument: str = "input") -> Tensor:
    """Return the matrices if they can be decomposed: LAPACK may not return on NaN or infinity."""
    checked(_check_finite, check_matrices(x, name, square, argument)._array, name=name, argument=argument)
    return x


def _check_finite(x: Array, name: str, argument: str) -> None:
    if not _are_finite(x):
        raise ValueError(f"For '{name}', '{argument}' must hold neither NaN nor infinity")


def _are_finite(x: Array) -> bool:
    return bool(array_module(x).isfinite(x).all())


def _singular_values(x: Tensor) -> Tensor:
    """Return the singular values of each matrix, NaN for those that are not finite."""
    if usual(_are_finite, x._array):
        return _svd(x)[0]
    finite = array_module(x._array).isfinite(x._array).all(axis=(-2, -1))
    values = _svd(where(Tensor._wrap(finite[..., None, None]), x, 0.0))[0]
    return where(Tensor._wrap(finite[..., None]), values, math.nan)


@declare(method=True, mint=("inverse", "linalg.inv"))
def inverse(input: Tensor) -> Tensor:
    """Return the inverse of each matrix.

    Args:
        input: square matrices (..., n, n).

    Returns:
        Their inverses, a tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: a matrix is not square, or is singular.
    """
    return _inverse(check_matrices(input, "inverse"))


@declare(primitive=prim("MatrixInverse", adjoint=False))
def _matrix_inverse(x: Tensor, adjoint: bool) -> Tensor:
    """Return the inverse of each matrix, or that of its conjugate transpose.

    Args:
        x: square matrices (..., n, n).
        adjoint: whether the inverses are transposed and conjugated.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: a matrix is not square, or is singular.
    """
    return conjugate_transpose(inverse(x)) if adjoint else inverse(x)


@declare(method=("det", "matrix_determinant"), primitive=prim("MatrixDeterminant"))
def det(input: Tensor) -> Tensor:
    """Return the determinant of each matrix.

    Args:
        input: square matrices (..., n, n). The gradient, det(A) * inverse(A).T, needs an invertible one.

    Returns:
        A tensor (...) of the same dtype.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: a matrix is not square.
    """
    return _det(check_matrices(input, "det"))


matrix_determinant = det


@declare(method=("log_matrix_determinant", "slogdet"), primitive=prim("LogMatrixDeterminant"))
def slogdet(input: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sign of the determinant of each matrix, and the logarithm of its absolute value.

    Args:
        input: square matrices (..., n, n).

    Returns:
        Two tensors (...) of the same dtype: the signs (0 of a singular matrix), and the logarithms (-inf there).

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: a matrix is not square.
    """
    size, sign = _slogdet(check_matrices(input, "slogdet"))
    return sign, as_dtype(size, sign._array.dtype)


log_matrix_determinant = slogdet


@declare(method=True)
def logdet(input: Tensor) -> Tensor:
    """Return the logarithm of the determinant of each matrix.

    Args:
        input: square matrices (..., n, n).

    Returns:
        A tensor (...) of the same dtype: -inf where the determinant is 0, NaN where it is a negative real number.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: a matrix is not square.
    """
    if check_tensor(input, "logdet")._array.dtype.kind == "c":
        return exponentials.log(det(input))
    sign, size = slogdet(input)
    return where(comparison.lt(sign, 0), size + math.nan, size)  # the slope is that of the size, also if this is NaN


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
    inverted = _inverse(check_matrices(input_x, "cholesky_inverse", argument="input_x"))
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
    lhs = _finite(input, "lstsq", False)
    right = expand_dims(A, -1) if check_tensor(A, "lstsq", "A").ndim == 1 else A
    if right.ndim < 2 or lhs.shape[-2] != right.shape[-2]:
        raise ValueError(
            f"For 'lstsq', 'A' must have as many rows as 'input', but got shapes {A.shape} and {input.shape}"
        )
    if not usual(_have_full_rank, lhs._array):
        return _shortest(lhs, right)
    if lhs.shape[-2] >= lhs.shape[-1]:
        q, r = _qr(lhs)
        return solve_operator(r, matmul(q, right, True, False))
    q, r = _qr(swapaxes(lhs, -1, -2))
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
        TypeError: an input is not a Tensor, or another ``fast`` or ``l2_regularizer``.
        ValueError: the shapes do not fit.
        NotImplementedError: a gradient by ``x`` is requested where its rank is not full.
    """
    if fast is not True or l2_regularizer != 0:
        raise TypeError(
            f"For 'Lstsq', 'fast' must be True and 'l2_regularizer' 0.0, but got {fast!r} and {l2_regularizer!r}"
        )
    return lstsq(x, a)


@declare(mint=("qr", "linalg.qr"))
def qr(input: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Return the QR decomposition: Q with orthonormal columns and an upper triangular R, Q @ R = input (Householder's).

    Args:
        input: matrices (..., m, n). A gradient needs min(m, n) independent columns in front.
        mode: "reduced": Q (..., m, k) and R (..., k, n), k = min(m, n); "complete": Q (..., m, m) and R (..., m, n);
            "r" is "reduced". In the complete form of m > n, the columns of Q after the first n are any basis of their
            complement: a result that depends on the basis has no gradient.

    Returns:
        Q and R, of the same dtype.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: another ``mode``, fewer than two axes, or NaN or infinity among the numbers.
        NotImplementedError: a gradient is requested that depends on the basis, see ``mode``.
    """
    check_one_of(mode, ("reduced", "complete", "r"), "qr", "mode")
    x = _finite(input, "qr", False)
    rows, columns = x.shape[-2:]
    if mode == "complete" and rows > columns:
        return _full_qr(x)
    if rows >= columns:
        return _qr(x)
    # Q is that of the square part in front, so that the rule for square and tall matrices also serves here.
    q, r = _qr(x[..., :rows])
    return q, concat((r, matmul(q, x[..., rows:], True, False)), -1)


@declare(method="qr")
def _qr_of_tensor(input: Tensor, some: bool = True) -> tuple[Tensor, Tensor]:
    """Return the QR decomposition: Q with orthonormal columns and an upper triangular R, Q @ R = input.

    Args:
        input: matrices (..., m, n).
        some: whether Q has min(m, n) columns; otherwise it is square.

    Returns:
        Q and R, of the same dtype, see ``ops.qr``.

    Raises:
        ValueError: fewer than two axes, or NaN or infinity among the numbers.
    """
    return qr(input, "reduced" if some else "complete")


@declare(primitive=prim("Qr", full_matrices=False))
def _qr_class(x: Tensor, full_matrices: bool) -> tuple[Tensor, Tensor]:
    """Return the QR decomposition: Q with orthonormal columns and an upper triangular R, Q @ R = x.

    Args:
        x: matrices (..., m, n).
        full_matrices: whether Q is square; otherwise it has min(m, n) columns.

    Returns:
        Q and R, of the same dtype, see ``ops.qr``.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: fewer than two axes, or NaN or infinity among the numbers.
    """
    return qr(x, "complete" if full_matrices else "reduced")


@declare(method=True, primitive=prim("Svd", full_matrices=False, compute_uv=True))
def svd(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Return the singular value decomposition: s, U and V with U @ diag(s) @ V.T = input (V.H for complex numbers).

    Args:
        input: matrices (..., m, n). The gradients of U and V need singular values that differ.
        full_matrices: whether U (..., m, m) and V (..., n, n) are square; otherwise they have k = min(m, n) columns.
            The columns after the first k are arbitrary: a result that depends on them has no gradient.
        compute_uv: whether U and V are returned.

    Returns:
        s (..., k) in descending order, U and V; with ``compute_uv`` False only s.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: fewer than two axes, or NaN or infinity among the numbers.
        NotImplementedError: a gradient is requested that depends on the choice of columns, see ``full_matrices``.
    """
    x = _finite(input, "svd", False)
    if full_matrices and compute_uv and x.shape[-2] != x.shape[-1]:
        u, s, v = _full_svd(x)
        return s, u, conjugate_transpose(v)
    s, u, v = _svd(x)
    return (s, u, conj(v)) if compute_uv else s


def eig(A: Tensor) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues and eigenvectors of each matrix: A @ v = w * v.

    Args:
        A: square matrices (..., n, n).

    Returns:
        The eigenvalues w (..., n), and as columns eigenvectors v (..., n, n) of norm 1; Complex64, of 8-byte numbers
        Complex128.

    Raises:
        TypeError: ``A`` is not a Tensor.
        ValueError: a matrix is not square, or holds NaN or infinity.
        NotImplementedError: a gradient is requested.
    """
    return _eig(_finite(A, "eig", argument="A"))


@declare(method=True)
def eigvals(A: Tensor) -> Tensor:
    """Return the eigenvalues of each matrix.

    Args:
        A: square matrices (..., n, n).

    Returns:
        A tensor (..., n); Complex64, of 8-byte numbers Complex128.

    Raises:
        TypeError: ``A`` is not a Tensor.
        ValueError: a matrix is not square, or holds NaN or infinity.
        NotImplementedError: a gradient is requested.
    """
    return eig(A)[0]


@declare(primitive=prim("Eig", compute_v=False))
def _eig_class(A: Tensor, compute_v: bool) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues of each matrix, and its eigenvectors.

    Args:
        A: square matrices (..., n, n).
        compute_v: whether the eigenvectors are returned; otherwise 0.0 instead.

    Returns:
        The eigenvalues (..., n) and as columns the eigenvectors (..., n, n), see ``ops.eig``.

    Raises:
        TypeError: ``A`` is not a Tensor.
        ValueError: a matrix is not square.
        NotImplementedError: a gradient is requested.
    """
    return eig(A) if compute_v else (eigvals(A), Tensor(0.0))


@declare(method=True)
def pinv(
    x: Tensor, *, atol: float | Tensor | None = None, rtol: float | Tensor | None = None, hermitian: bool = False
) -> Tensor:
    """Return the pseudo-inverse (Moore and Penrose) of each matrix, by singular values: V @ diag(1 / s) @ U.T.

    Args:
        x: matrices (..., m, n) of floating numbers.
        atol: singular values not above max(atol, rtol * the largest) count as 0; 0 by default.
        rtol: see ``atol``; by default 0 if ``atol`` is given, else max(m, n) times the dtype's epsilon.
        hermitian: whether the matrices are symmetric. The result is the same with and without.

    Returns:
        A tensor (..., n, m) of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: fewer than two axes, or NaN or infinity among the numbers.
    """
    matrices = _finite(x, "pinv", False, "x")
    if matrices._array.dtype.kind not in "fc":
        raise TypeError(f"For 'pinv', 'x' must hold floats, but got {matrices.dtype}")
    s, u, v = _svd(matrices)
    if rtol is None:
        rtol = 0.0 if atol is not None else max(matrices.shape[-2:]) * float(np.finfo(matrices._array.dtype).eps)
    threshold = arithmetic.maximum(reduce_max(s, -1, True) * rtol, 0.0 if atol is None else atol)
    mask = comparison.gt(s, threshold)
    scale = where(mask, 1.0 / where(mask, s, 1.0), 0.0)
    return conj(matmul(v * expand_dims(scale, -2), u, False, True))  # _svd's v.T is V.H


@declare(method=True, primitive=prim("MatrixPower", "n"))
def matrix_power(input: Tensor, n: int) -> Tensor:
    """Return each matrix to the power ``n``, by repeated squaring.

    Args:
        input: square matrices (..., m, m).
        n: the power; 0 is the identity, a negative one a power of the inverse.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``n`` is not an int.
        ValueError: a matrix is not square, or is singular and ``n`` negative.
    """
    check_int(n, "matrix_power", "n")
    x = check_matrices(input, "matrix_power")
    power = inverse(x) if n < 0 else x
    exponent, result = abs(n), None
    while exponent:
        if exponent & 1:
            result = power if result is None else matmul(result, power)
        exponent >>= 1
        power = matmul(power, power) if exponent else power
    return zeros_operator(x) + Tensor(np.eye(x.shape[-1], dtype=x._array.dtype)) if result is None else result


@declare(primitive=prim("MatrixExp"))
def matrix_exp(input: Tensor) -> Tensor:
    """Return the exponential of each matrix, sum over k of A^k / k!: Taylor's series of a scaled matrix, then squared.

    Args:
        input: square matrices (..., n, n) of floating numbers.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: a matrix is not square.
    """
    x = check_matrices(input, "matrix_exp")
    size = float(abs(x._array).sum(axis=-1).max()) if x.size else 0.0
    times = max(0, math.ceil(math.log2(size)) + 2) if size > 0.25 and math.isfinite(size) else 0
    scaled = x / 2.0**times
    identity = Tensor(np.eye(x.shape[-1], dtype=x._array.dtype))
    result = scaled * 0 + identity
    for order in range(14, 0, -1):
        result = matmul(scaled, result) / float(order) + identity
    for _ in range(times):
        result = matmul(result, result)
    return result


@declare(method=True, mint="linalg.norm", numpy=renamed(A="x", dim="axis", keepdim="keepdims", without=("dtype",)))
@through_single
def norm(
    A: Tensor,
    ord: int | float | str | None = None,
    dim: Axis = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return the norm of vectors or matrices, or of all elements.

    Args:
        A: a tensor of any shape.
        ord: the norm. Of matrices "fro", "nuc", 1, -1, 2, -2, inf or -inf (see ``matrix_norm``); of vectors any p, for
            sum(abs(x)**p)**(1/p). None is the 2-norm of all elements over ``dim``.
        dim: one axis for vectors, two for matrices; all by default. With ``ord`` and without ``dim``, a tensor of two
            axes is a matrix.
        keepdim: whether the axes stay with length 1.
        dtype: the element type to compute in; that of ``A`` by default.

    Returns:
        A tensor without the axes ``dim``.

    Raises:
        TypeError: ``A`` is not a Tensor.
        ValueError: an ``ord`` that does not exist, or an axis out of range.
    """
    x = check_tensor(A, "norm", "A") if dtype is None else as_dtype(check_tensor(A, "norm", "A"), numpy_dtype(dtype))
    if ord is None:
        return vector_norm(x, 2, dim, keepdim)
    axes = axes_of(dim, x.ndim, "norm")
    if isinstance(ord, str) or (axes is not None and len(axes) == 2) or (axes is None and x.ndim == 2):
        return matrix_norm(x, ord, axes or (-2, -1), keepdim)
    return vector_norm(x, ord, dim, keepdim)


@declare(mint=renamed("linalg.matrix_norm", axis="dim", keepdims="keepdim"))
@through_single
def matrix_norm(
    A: Tensor,
    ord: int | float | str = "fro",
    axis: Axis = (-2, -1),
    keepdims: bool = False,
    *,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Return the norm of matrices.

    Args:
        A: a tensor with at least two axes; integers become Float32.
        ord: "fro" (the root of the sum of squares), "nuc" (the sum of the singular values), 2 or -2 (the largest or
            least singular value), 1 or -1 (the largest or least sum of absolute values of a column), inf or -inf (of a
            row).
        axis: the two axes of the matrices, rows first.
        keepdims: whether these stay with length 1.
        dtype: the element type to compute in; that of ``A`` by default.

    Returns:
        A tensor without the two axes.

    Raises:
        TypeError: ``A`` is not a Tensor.
        ValueError: another ``ord``, or not two axes.
    """
    x = as_floats(in_dtype(check_tensor(A, "matrix_norm", "A"), dtype))
    axes = axes_of(axis, x.ndim, "matrix_norm")
    if axes is None or len(axes) != 2:
        raise ValueError(f"For 'matrix_norm', 'axis' must be two axes, but got {axis}")
    if not isinstance(ord, str | int | float):
        raise TypeError(f"For 'matrix_norm', 'ord' must be a word or a number, but got {type(ord).__name__}")
    if ord == "fro":
        return vector_norm(x, 2, axes, keepdims)
    matrices = movedim(x, axes, (-2, -1))
    if ord in ("nuc", 2, -2):
        values = _singular_values(matrices)
        result = (reduce_sum if ord == "nuc" else reduce_max if ord == 2 else reduce_min)(values, -1)
    elif ord in (1, -1, math.inf, -math.inf):
        sums = reduce_sum(arithmetic.abs(matrices), -2 if abs(ord) == 1 else -1)
        # Of several columns or rows that tie the first gets the gradient, as in MindSpore.
        result = (reduction.max if ord > 0 else reduction.min)(sums, -1)[0]
    else:
        raise ValueError(f"For 'matrix_norm', 'ord' must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, but got {ord!r}")
    return reshape(result, tuple(1 if i in axes else n for i, n in enumerate(x.shape))) if keepdims else result


def cond(A: Tensor, p: int | float | str | None = None) -> Tensor:
    """Return the condition number of each matrix: its norm times that of its inverse.

    Args:
        A: matrices (..., m, n); square and invertible unless ``p`` is None, 2 or -2.
        p: the norm, as for ``matrix_norm``. None and 2 are the largest singular value over the least, -2 the reverse.

    Returns:
        A tensor (...).

    Raises:
        TypeError: ``A`` is not a Tensor.
        ValueError: another ``p``, or a matrix that has no inverse.
    """
    x = check_matrices(A, "cond", False, "A")
    if p in (None, 2, -2):
        values = _singular_values(x)
        largest, least = reduce_max(values, -1), reduce_min(values, -1)
        return least / largest if p == -2 else largest / least
    return matrix_norm(x, p) * matrix_norm(inverse(x), p)


# Householder reflections in LAPACK's format


@declare(method=True, primitive=prim("Geqrf"))
def geqrf(input: Tensor) -> tuple[Tensor, Tensor]:
    """Return the QR decomposition in the format of LAPACK's geqrf: Q as a product of reflections I - tau * v @ v.T.

    Args:
        input: matrices (..., m, n).

    Returns:
        Of shape (..., m, n) R in the upper triangle and below it the v (whose first element, 1, is left out); of shape
        (..., min(m, n)) the tau.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: fewer than two axes, or NaN or infinity among the numbers.
        NotImplementedError: a gradient is requested.
    """
    return _geqrf(_finite(input, "geqrf", False))


def _reflections(vectors: Tensor, factors: Tensor) -> Tensor:
    """Return the square matrix Q, the product of all reflections."""
    rows, count = vectors.shape[-2], check_axes(factors, 1, "orgqr", "input2").shape[-1]
    identity = Tensor(np.eye(rows, dtype=vectors._array.dtype))
    lower = where(Tensor(np.eye(rows, vectors.shape[-1], dtype=bool)), 1.0, tril(vectors))
    product = identity
    for k in range(count):
        column = lower[..., k : k + 1]
        square = matmul(column, conjugate_transpose(column))
        product = matmul(product, identity - expand_dims(factors[..., k : k + 1], -1) * square)
    return product


@declare(method=True, primitive=prim("Orgqr"))
def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """Return the first columns of Q, the product of the reflections that ``geqrf`` returns.

    Args:
        input: matrices (..., m, n), the vectors of the reflections below the diagonal.
        input2: their factors tau (..., k), k <= n.

    Returns:
        A tensor (..., m, n) with orthonormal columns.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: fewer than two axes.
    """
    return _reflections(check_matrices(input, "orgqr", False), check_tensor(input2, "orgqr", "input2"))[
        ..., : input.shape[-1]
    ]


@declare(method=renamed(tau="input2", other="input3"), primitive=prim("Ormqr", left=True, transpose=False))
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Return ``other`` times Q, the product of the reflections that ``geqrf`` returns.

    Args:
        input: matrices (..., m, n), the vectors of the reflections below the diagonal.
        tau: their factors (..., k), k <= n.
        other: matrices (..., m, p), or with ``left`` False (..., p, m).
        left: whether to return Q @ other; otherwise other @ Q.
        transpose: whether to take Q.T for Q, of complex numbers the conjugate transpose.

    Returns:
        A tensor of the shape of ``other``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: fewer than two axes, or shapes that do not fit.
    """
    q = _reflections(check_matrices(input, "ormqr", False), check_tensor(tau, "ormqr", "tau"))
    q = conjugate_transpose(q) if transpose else q
    return matmul(q, other) if left else matmul(other, q)


def _permutation(pivots: Array, size: int) -> Array:
    order = np.arange(size)
    for row, pivot in enumerate(pivots):
        order[[row, pivot]] = order[[pivot, row]]
    return order


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Return the matrices of a packed LU decomposition: P @ L @ U is the matrix.

    Args:
        LU_data: L below the diagonal and U on and above it (..., m, n).
        LU_pivots: the row that each row was exchanged with, counted from 1 (..., min(m, n)); integers.
        unpack_data: whether L and U are returned; otherwise None for each.
        unpack_pivots: whether P is returned; otherwise None.

    Returns:
        The permutation P (..., m, m), L (..., m, k) with ones on its diagonal, and U (..., k, n), k = min(m, n).

    Raises:
        TypeError: ``LU_data`` is not a Tensor.
        ValueError: fewer than two axes.
    """
    p, lower, upper = _unpacked(LU_data, LU_pivots, "lu_unpack")
    return p if unpack_pivots else None, *((lower, upper) if unpack_data else (None, None))


def _unpacked(LU_data: Tensor, LU_pivots: Tensor, name: str) -> tuple[Tensor, Tensor, Tensor]:
    """Return P, L and U."""
    x = check_matrices(LU_data, name, False, "LU_data")
    rows, columns = x.shape[-2:]
    k = min(rows, columns)
    identity = Tensor(np.eye(rows, k, dtype=bool))
    lower, upper = where(identity, 1.0, tril(x[..., :k], -1)), triu(x)[..., :k, :]
    pivots = check_integers(LU_pivots, name, "LU_pivots").asnumpy()
    if pivots.shape != (*x.shape[:-2], k):
        raise ValueError(f"For '{name}', 'LU_pivots' must have the shape {(*x.shape[:-2], k)}, but got {pivots.shape}")
    if ((pivots < 1) | (pivots > rows)).any():
        raise ValueError(f"For '{name}', 'LU_pivots' must be in [1, {rows}], but got {pivots.tolist()}")
    orders = [_permutation(p - 1, rows) for p in pivots.reshape(-1, pivots.shape[-1])]
    p = np.stack([np.eye(rows, dtype=x._array.dtype)[o].T for o in orders])
    return Tensor(p.reshape(*x.shape[:-2], rows, rows)), lower, upper


@declare(primitive=prim("LuUnpack", unpack_data=True, unpack_pivots=True))
def _lu_unpack_class(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool, unpack_pivots: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the matrices of a packed LU decomposition: P @ L @ U is the matrix.

    Args:
        LU_data: L below the diagonal and U on and above it (..., m, n).
        LU_pivots: the row that each row was exchanged with, counted from 1 (..., min(m, n)); integers.
        unpack_data: whether L and U are needed; they are returned in any case, as by MindSpore's class on a CPU.
        unpack_pivots: whether P is needed; it is returned in any case.

    Returns:
        The permutation P (..., m, m), L (..., m, k) with ones on its diagonal, and U (..., k, n), k = min(m, n).

    Raises:
        TypeError: ``LU_data`` is not a Tensor.
        ValueError: fewer than two axes.
    """
    return _unpacked(LU_data, LU_pivots, "LuUnpack")


@declare(method=True, primitive=prim("LuSolve"))
def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """Return the x with A @ x = b, from the packed LU decomposition of A.

    Args:
        b: right sides (..., n, k), or one for each matrix (..., n).
        LU_data: L below the diagonal and U on and above it (..., n, n).
        LU_pivots: the row that each row was exchanged with, counted from 1 (..., n); integers.

    Returns:
        A tensor of the shape of ``b``.

    Raises:
        TypeError: ``LU_data`` is not a Tensor.
        ValueError: U is singular, or shapes do not fit.
    """
    check_tensor(b, "lu_solve", "b")
    p, lower, upper = _unpacked(LU_data, LU_pivots, "lu_solve")
    right = expand_dims(b, -1) if b.ndim == LU_data.ndim - 1 else b
    result = solve_operator(upper, solve_operator(lower, matmul(p, right, True, False)))
    return reshape(result, b.shape) if b.ndim == LU_data.ndim - 1 else result
