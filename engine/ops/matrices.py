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

from ..core.backend import to_host
from ..core.dtype import float32, numpy_dtype
from ..core.operator import Operator
from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from . import arithmetic, comparison
from .arguments import axes_of, check_tensor
from .comparison import where
from .diagonals import tril, triu
from .elementwise import as_dtype
from .linalg import matmul
from .products import adjoint as conjugate_transpose
from .rearranging import movedim
from .reduction import reduce_max, reduce_min, reduce_sum
from .shape import expand_dims, reshape, swapaxes
from .statistics import vector_norm

__all__ = [
    "cholesky", "cholesky_inverse", "cholesky_solve", "cond", "det", "eig", "eigvals", "geqrf", "inverse",
    "log_matrix_determinant", "logdet", "lstsq", "lu_solve", "lu_unpack", "matrix_determinant", "matrix_exp",
    "matrix_norm", "matrix_power", "matrix_solve", "norm", "orgqr", "ormqr", "pinv", "qr", "slogdet", "svd",
    "triangular_solve",
]  # fmt: skip


def _wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel for matrices; LAPACK knows single and double precision, so half precision goes there and back."""

    def kernel(*matrices: Any, **attrs: Any) -> Any:
        dtype = matrices[0].dtype
        if dtype.itemsize > 2:
            return function(array_module(matrices[0]).linalg, *matrices, **attrs)
        found = function(array_module(matrices[0]).linalg, *(m.astype(np.float32) for m in matrices), **attrs)
        return tuple(x.astype(dtype) for x in found) if isinstance(found, tuple) else found.astype(dtype)

    return kernel


def _mm(F: Any, *factors: Any) -> Any:
    """The product of matrices; a pair (x, "T") is x transposed."""
    found, turned = _turned(factors[0])
    for factor in factors[1:]:
        x, flag = _turned(factor)
        found, turned = F.matmul(found, x, transpose_a=turned, transpose_b=flag), False
    return found


def _turned(factor: Any) -> tuple[Any, bool]:
    return (factor[0], True) if isinstance(factor, tuple) else (factor, False)


def _swapped(F: Any, x: Any) -> Any:
    return F.transpose(x, axes=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def _ones(x: Any, size: int, keep: Callable[[Any], Any]) -> Any:
    """A (size, size) matrix of ones where ``keep(column - row)``, on the device and in the dtype of x."""
    bare = x._array if isinstance(x, Tensor) else x
    xp = array_module(bare)
    return keep(xp.arange(size) - xp.arange(size)[:, None]).astype(bare.dtype)


def _diagonal_matrix(F: Any, x: Any) -> Any:
    return F.reshape(x, shape=(*x.shape, 1)) * _ones(x, x.shape[-1], lambda apart: apart == 0)


_inverse = Operator(
    "inverse", _wide(lambda linalg, x: linalg.inv(x)), (lambda F, g, out, x: -_mm(F, (out, "T"), g, (out, "T")),)
)
_det = Operator(
    "det",
    _wide(lambda linalg, x: linalg.det(x)),
    (lambda F, g, out, x: F.reshape(g * out, shape=(*out.shape, 1, 1)) * _swapped(F, F.inverse(x)),),
)


def _logdet_rule(F: Any, needs: Any, g: Any, out: Any, x: Any) -> list[Any]:
    if g[0] is None:
        return [None]
    return [F.reshape(g[0], shape=(*g[0].shape, 1, 1)) * _swapped(F, F.inverse(x))]


def _logdet_kernel(linalg: Any, x: Any) -> Any:
    sign, size = linalg.slogdet(x)
    return np.asarray(size) if isinstance(size, np.generic) else size, sign


_slogdet = Operator("slogdet", _wide(_logdet_kernel), joint_vjp=_logdet_rule)


def _cholesky_rule(F: Any, g: Any, out: Any, x: Any) -> Any:
    half = _ones(x, x.shape[-1], lambda apart: (apart <= 0) * (1.0 - 0.5 * (apart == 0)))
    back = F.inverse(out)
    found = _mm(F, (back, "T"), _mm(F, (out, "T"), g) * half, back)
    return (found + _swapped(F, found)) * 0.5


_cholesky = Operator("cholesky", _wide(lambda linalg, x: linalg.cholesky(x)), (_cholesky_rule,))
_solve = Operator(
    "solve",
    _wide(lambda linalg, x, b: linalg.solve(x, b)),
    (
        lambda F, g, out, x, b: -_mm(F, F.solve(_swapped(F, x), g), (out, "T")),
        lambda F, g, out, x, b: F.solve(_swapped(F, x), g),
    ),
)


def _or_zero(F: Any, g: Any, out: Any) -> Any:
    return out * 0 if g is None else g


def _qr_rule(F: Any, needs: Any, g: Any, out: Any, x: Any) -> list[Any]:
    q, r = out
    if q.shape[-1] != r.shape[-1]:
        raise NotImplementedError("For 'qr', a matrix with more columns than rows has no gradient")
    gq, gr = (_or_zero(F, *pair) for pair in zip(g, out, strict=True))
    m = _mm(F, r, (gr, "T")) - _mm(F, (gq, "T"), q)
    below = _ones(x, r.shape[-1], lambda apart: apart < 0)
    lower = m * below
    symmetric = lower + _swapped(F, lower) + m * _ones(x, r.shape[-1], lambda apart: apart == 0)
    return [_mm(F, gq + _mm(F, q, symmetric), (F.inverse(r), "T"))]


_qr = Operator("qr", _wide(lambda linalg, x: tuple(linalg.qr(x))), joint_vjp=_qr_rule)


def _svd_kernel(linalg: Any, x: Any) -> Any:
    u, s, v = linalg.svd(x, full_matrices=False)
    return s, u, array_module(v).ascontiguousarray(v.swapaxes(-1, -2))


def _svd_rule(F: Any, needs: Any, g: Any, out: Any, x: Any) -> list[Any]:
    s, u, v = out
    gs, gu, gv = (_or_zero(F, *pair) for pair in zip(g, out, strict=True))
    k = s.shape[-1]
    row, column = F.reshape(s, shape=(*s.shape[:-1], 1, k)), F.reshape(s, shape=(*s.shape, 1))
    own = _ones(x, k, lambda apart: apart == 0)
    spread = 1.0 / (row * row - column * column + own) * (1.0 - own)

    def turning(one: Any, arriving: Any) -> Any:
        m = _mm(F, (one, "T"), arriving)
        return spread * (m - _swapped(F, m))

    core = turning(u, gu) * row + column * turning(v, gv) + _diagonal_matrix(F, gs)
    found = _mm(F, u, core, (v, "T"))
    if x.shape[-2] > k:
        rest = gu / row
        found = found + _mm(F, rest - _mm(F, u, _mm(F, (u, "T"), rest)), (v, "T"))
    if x.shape[-1] > k:
        rest = gv / row
        found = found + _mm(F, u, (rest - _mm(F, v, _mm(F, (v, "T"), rest)), "T"))
    return [found]


_svd = Operator("svd", _wide(_svd_kernel), joint_vjp=_svd_rule)
_full_svd = Operator("full_svd", _wide(lambda linalg, x: tuple(linalg.svd(x, full_matrices=True))))
_full_qr = Operator("full_qr", _wide(lambda linalg, x: tuple(linalg.qr(x, mode="complete"))))


def _eig_kernel(x: Any) -> Any:
    kind = np.complex128 if x.dtype.itemsize in (8, 16) and x.dtype != np.complex64 else np.complex64
    xp = array_module(x)
    values, vectors = np.linalg.eig(x if xp is np else x.get())  # CuPy has only that of symmetric matrices
    return xp.asarray(values.astype(kind)), xp.asarray(vectors.astype(kind))


_eig = Operator("eig", _eig_kernel)


def _matrix(x: Tensor, name: str, square: bool = True, argument: str = "input") -> Tensor:
    if check_tensor(x, name, argument).ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise ValueError(f"For '{name}', '{argument}' must be {kind}, but got shape {x.shape}")
    return x


@declare(method=True, mint=("inverse", "linalg.inv"))
def inverse(input: Tensor) -> Tensor:
    """The inverse of each matrix."""
    return _inverse(_matrix(input, "inverse"))


@declare(primitive=prim("MatrixInverse", adjoint=False))
def _matrix_inverse(x: Tensor, adjoint: bool) -> Tensor:
    """The inverse of each matrix, or with ``adjoint`` of its conjugate transpose."""
    return conjugate_transpose(inverse(x)) if adjoint else inverse(x)


@declare(method=("det", "matrix_determinant"), primitive=prim("MatrixDeterminant"))
def det(input: Tensor) -> Any:
    """The determinant of each matrix."""
    return _det(_matrix(input, "det"))


matrix_determinant = det


@declare(method=("log_matrix_determinant", "slogdet"), primitive=prim("LogMatrixDeterminant"))
def slogdet(input: Tensor) -> tuple[Any, Any]:
    """The sign of the determinant, and the logarithm of its size."""
    size, sign = _slogdet(_matrix(input, "slogdet"))
    return sign, size


log_matrix_determinant = slogdet


@declare(method=True)
def logdet(input: Tensor) -> Any:
    """The logarithm of the determinant; NaN where it is negative."""
    sign, size = slogdet(input)
    return where(comparison.lt(sign, 0), math.nan, size)


@declare(method=True, primitive=prim("Cholesky", upper=False))
def cholesky(input_x: Tensor, upper: bool = False) -> Any:
    """The lower (or ``upper``) triangular matrix whose product with its transpose is the input."""
    lower = _cholesky(_matrix(input_x, "cholesky", argument="input_x"))
    return swapaxes(lower, -1, -2) if upper else lower


@declare(method=True, primitive=prim("CholeskyInverse", upper=False))
def cholesky_inverse(input_x: Tensor, upper: bool = False) -> Any:
    """The inverse of the matrix that ``input_x`` is the Cholesky factor of."""
    back = _inverse(_matrix(input_x, "cholesky_inverse", argument="input_x"))
    return matmul(back, back, False, True) if upper else matmul(back, back, True, False)


@declare(method=True, primitive=prim("CholeskySolve", upper=False))
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Any:
    """The x with A @ x = input, where ``input2`` is the Cholesky factor of A."""
    factor = _matrix(input2, "cholesky_solve", argument="input2")
    lower = swapaxes(factor, -1, -2) if upper else factor
    return _solve(swapaxes(lower, -1, -2), _solve(lower, _matrix(input, "cholesky_solve", False)))


@declare(primitive=prim("MatrixSolve", adjoint=False))
def matrix_solve(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Any:
    """The x with matrix @ x = rhs."""
    left = _matrix(matrix, "matrix_solve", argument="matrix")
    return _solve(conjugate_transpose(left) if adjoint else left, rhs)


@declare(method=True, mint=True)
def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The x with A @ x = b (or A.T @ x = b), of which only one triangle of A is read."""
    left = triu(_matrix(A, "triangular_solve", argument="A")) if upper else tril(A)
    if unitriangular:
        own = Tensor(np.eye(A.shape[-1], dtype=bool))
        left = where(own, 1.0, left)
    return _solve(swapaxes(left, -1, -2) if transpose else left, b)


@declare(primitive=prim("MatrixTriangularSolve", lower=True, adjoint=False))
def _matrix_triangular_solve(matrix: Tensor, rhs: Tensor, lower: bool, adjoint: bool) -> Tensor:
    """The x with matrix @ x = rhs (or its adjoint @ x = rhs), of which only one triangle of ``matrix`` is read."""
    left = conjugate_transpose(matrix) if adjoint else matrix
    return triangular_solve(rhs, left, lower if adjoint else not lower)


@declare(method=True)
def lstsq(input: Tensor, A: Tensor) -> Any:
    """The x that makes input @ x nearest to A, the shortest of several; ``input`` has full rank."""
    left = _matrix(input, "lstsq", False)
    right = expand_dims(A, -1) if A.ndim == 1 else A
    if left.shape[-2] >= left.shape[-1]:
        q, r = _qr(left)
        return _solve(r, matmul(q, right, True, False))
    q, r = _qr(swapaxes(left, -1, -2))
    return matmul(q, _solve(swapaxes(r, -1, -2), right))


declare(primitive=prim("Lstsq", fast=True, l2_regularizer=0.0))(lambda x, a, fast, l2_regularizer: lstsq(x, a))


@declare(mint=("qr", "linalg.qr"))
def qr(input: Tensor, mode: str = "reduced") -> tuple[Any, Any]:
    """An orthogonal and an upper triangular matrix whose product is the input.

    Raises:
        ValueError: another ``mode`` than "reduced", "complete" and "r".
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"For 'qr', 'mode' must be 'reduced', 'complete' or 'r', but got {mode!r}")
    x = _matrix(input, "qr", False)
    # Of other shapes the reduced form is the complete one, and it has a gradient.
    return _full_qr(x) if mode == "complete" and x.shape[-2] > x.shape[-1] else _qr(x)


@declare(method="qr")
def _qr_of_tensor(input: Tensor, some: bool = True) -> tuple[Tensor, Tensor]:
    """An orthogonal matrix, square unless ``some``, and an upper triangular one whose product is the input."""
    return qr(input, "reduced" if some else "complete")


@declare(primitive=prim("Qr", full_matrices=False))
def _qr_class(x: Tensor, full_matrices: bool) -> tuple[Tensor, Tensor]:
    """``qr`` in its reduced form, or with ``full_matrices`` the complete one."""
    return qr(x, "complete" if full_matrices else "reduced")


@declare(method=True, primitive=prim("Svd", full_matrices=False, compute_uv=True))
def svd(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """The singular values, and the matrices U and V with U @ diag(s) @ V.T = input."""
    x = _matrix(input, "svd", False)
    if full_matrices and compute_uv and x.shape[-2] != x.shape[-1]:
        u, s, v = _full_svd(x)
        return s, u, swapaxes(v, -1, -2)
    found = _svd(x)
    return found if compute_uv else found[0]


def eig(A: Tensor) -> tuple[Any, Any]:
    """The eigenvalues and, as columns, the eigenvectors; complex. No gradient."""
    return _eig(_matrix(A, "eig", argument="A"))


@declare(method=True)
def eigvals(A: Tensor) -> Any:
    """The eigenvalues; complex. No gradient."""
    return eig(A)[0]


@declare(primitive=prim("Eig", compute_v=False))
def _eig_class(A: Tensor, compute_v: bool) -> tuple[Tensor, Tensor]:
    """The eigenvalues, and with ``compute_v`` the eigenvectors, without it a 0 in their place."""
    return eig(A) if compute_v else (eigvals(A), Tensor(0.0))


@declare(method=True)
def pinv(x: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """The pseudo-inverse: singular values not above max(atol, rtol * the largest) count as 0."""
    given = _matrix(x, "pinv", False, "x")
    s, u, v = _svd(given)
    if rtol is None:
        rtol = 0.0 if atol is not None else max(given.shape[-2:]) * float(np.finfo(given._array.dtype).eps)
    cut = arithmetic.maximum(reduce_max(s, -1, True) * rtol, 0.0 if atol is None else atol)
    kept = comparison.gt(s, cut)
    scale = where(kept, 1.0 / where(kept, s, 1.0), 0.0)
    return matmul(v * expand_dims(scale, -2), u, False, True)


@declare(method=True, primitive=prim("MatrixPower", "n"))
def matrix_power(input: Tensor, n: int) -> Any:
    """The product of ``n`` times the matrix; of its inverse for negative n.

    Raises:
        TypeError: ``n`` is no int.
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"For 'matrix_power', 'n' must be an int, but got {type(n).__name__}")
    x = _matrix(input, "matrix_power")
    power = inverse(x) if n < 0 else x
    left, found = abs(n), None
    while left:
        if left & 1:
            found = power if found is None else matmul(found, power)
        left >>= 1
        power = matmul(power, power) if left else power
    return x * 0 + Tensor(np.eye(x.shape[-1], dtype=x._array.dtype)) if found is None else found


@declare(primitive=prim("MatrixExp"))
def matrix_exp(input: Tensor) -> Any:
    """The exponential of each matrix: Taylor's series of a scaled matrix, squared again."""
    x = _matrix(input, "matrix_exp")
    size = float(abs(x._array).sum(axis=-1).max()) if x.size else 0.0
    times = max(0, math.ceil(math.log2(size)) + 2) if size > 0.25 and math.isfinite(size) else 0
    scaled = x / 2.0**times
    own = Tensor(np.eye(x.shape[-1], dtype=x._array.dtype))
    found = scaled * 0 + own
    for order in range(14, 0, -1):
        found = matmul(scaled, found) / float(order) + own
    for _ in range(times):
        found = matmul(found, found)
    return found


@declare(method=True, mint="linalg.norm", numpy=renamed(A="x", dim="axis", keepdim="keepdims", without=("dtype",)))
def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of all elements; over one axis that of vectors, over two that of matrices, by ``ord``.

    Raises:
        ValueError: an ``ord`` that does not exist.
    """
    x = check_tensor(A, "norm", "A") if dtype is None else as_dtype(check_tensor(A, "norm", "A"), numpy_dtype(dtype))
    if ord is None:
        return vector_norm(x, 2, dim, keepdim)
    axes = axes_of(dim, x.ndim, "norm")
    if isinstance(ord, str) or (axes is not None and len(axes) == 2) or (axes is None and x.ndim == 2):
        return matrix_norm(x, ord, axes or (-2, -1), keepdim)
    return vector_norm(x, ord, dim, keepdim)


@declare(mint=renamed("linalg.matrix_norm", axis="dim", keepdims="keepdim"))
def matrix_norm(A: Tensor, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False, *, dtype: Any = None) -> Any:
    """The norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf or -inf.

    Raises:
        ValueError: another ``ord``, or not two axes.
    """
    x = (
        check_tensor(A, "matrix_norm", "A")
        if dtype is None
        else as_dtype(check_tensor(A, "matrix_norm", "A"), numpy_dtype(dtype))
    )
    x = as_dtype(x, float32.numpy) if x._array.dtype.kind in "biu" else x
    axes = axes_of(axis, x.ndim, "matrix_norm")
    if axes is None or len(axes) != 2:
        raise ValueError(f"For 'matrix_norm', 'axis' must be two axes, but got {axis}")
    if ord == "fro":
        return vector_norm(x, 2, axes, keepdims)
    moved = movedim(x, axes, (-2, -1))
    if ord in ("nuc", 2, -2):
        values = _svd(moved)[0]
        found = (reduce_sum if ord == "nuc" else reduce_max if ord == 2 else reduce_min)(values, -1)
    elif ord in (1, -1, math.inf, -math.inf):
        sums = reduce_sum(arithmetic.abs(moved), -2 if abs(ord) == 1 else -1)
        found = (reduce_max if ord > 0 else reduce_min)(sums, -1)
    else:
        raise ValueError(f"For 'matrix_norm', 'ord' must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, but got {ord!r}")
    return reshape(found, tuple(1 if i in axes else n for i, n in enumerate(x.shape))) if keepdims else found


def cond(A: Tensor, p: Any = None) -> Any:
    """The condition number: the norm times that of the inverse; by singular values for p None, 2 and -2."""
    x = _matrix(A, "cond", False, "A")
    if p in (None, 2, -2):
        values = _svd(x)[0]
        largest, least = reduce_max(values, -1), reduce_min(values, -1)
        return least / largest if p == -2 else largest / least
    return matrix_norm(x, p) * matrix_norm(inverse(x), p)


# Householder reflections, as LAPACK keeps them


@declare(method=True, primitive=prim("Geqrf"))
def geqrf(input: Tensor) -> tuple[Any, Any]:
    """The QR decomposition as LAPACK keeps it: R above the reflections' vectors, and their factors."""
    x = _matrix(input, "geqrf", False)._array
    xp = array_module(x)
    parts = [np.linalg.qr(one, mode="raw") for one in to_host(x).reshape(-1, *x.shape[-2:])]
    packed = np.stack([h.T for h, _ in parts]).reshape(x.shape).astype(x.dtype)
    factors = np.stack([t for _, t in parts]).reshape(*x.shape[:-2], -1).astype(x.dtype)
    return Tensor._wrap(xp.asarray(packed)), Tensor._wrap(xp.asarray(factors))


def _reflections(vectors: Tensor, factors: Tensor) -> Tensor:
    """The square matrix Q, the product of all reflections."""
    rows, count = vectors.shape[-2], factors.shape[-1]
    own = Tensor(np.eye(rows, dtype=vectors._array.dtype))
    lower = where(Tensor(np.eye(rows, vectors.shape[-1], dtype=bool)), 1.0, tril(vectors))
    found = own
    for k in range(count):
        column = lower[..., k : k + 1]
        found = matmul(found, own - expand_dims(factors[..., k : k + 1], -1) * matmul(column, column, False, True))
    return found


@declare(method=True, primitive=prim("Orgqr"))
def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """The first columns of the product of Householder reflections."""
    return _reflections(_matrix(input, "orgqr", False), input2)[..., : input.shape[-1]]


@declare(method=True, primitive=prim("Ormqr", left=True, transpose=False))
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Any:
    """``other`` times the product of Householder reflections (or its transpose), from the ``left`` or the right."""
    q = _reflections(_matrix(input, "ormqr", False), tau)
    return matmul(q, other, transpose, False) if left else matmul(other, q, False, transpose)


def _permutation(pivots: Any, size: int) -> Any:
    order = np.arange(size)
    for place, other in enumerate(pivots):
        order[[place, other]] = order[[other, place]]
    return order


@declare(primitive=prim("LuUnpack", unpack_data=True, unpack_pivots=True))
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """The matrices P, L and U of a packed decomposition, with P @ L @ U the matrix."""
    x = _matrix(LU_data, "lu_unpack", False, "LU_data")
    rows, columns = x.shape[-2:]
    k = min(rows, columns)
    own = Tensor(np.eye(rows, k, dtype=bool))
    lower, upper = where(own, 1.0, tril(x[..., :k], -1)), triu(x)[..., :k, :]
    orders = [_permutation(p - 1, rows) for p in LU_pivots.asnumpy().reshape(-1, LU_pivots.shape[-1])]
    p = np.stack([np.eye(rows, dtype=x._array.dtype)[o].T for o in orders])
    return Tensor(p.reshape(*x.shape[:-2], rows, rows)), lower, upper


@declare(method=True, primitive=prim("LuSolve"))
def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Any:
    """The x with A @ x = b, from the packed LU decomposition of A."""
    p, lower, upper = lu_unpack(LU_data, LU_pivots)
    right = expand_dims(b, -1) if b.ndim == LU_data.ndim - 1 else b
    found = _solve(upper, _solve(lower, matmul(p, right, True, False)))
    return reshape(found, b.shape) if b.ndim == LU_data.ndim - 1 else found
