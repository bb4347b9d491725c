"""The QR decomposition, and Householder reflections in LAPACK's format.

Its gradient: Walter and Lehmann, "Algorithmic Differentiation of Linear Algebra Functions" (arXiv 1009.6112).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.argument_checks import check_one_of
from ...base.surfaces import declare, prim, renamed
from ...base.types import Array, Functions, Value
from ...cpu.array_module import array_module
from ...tensors.backend import to_host
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ..arguments import check_axes, check_tensor
from ..elementwise.comparison import where
from ..shapes.concatenation import concat
from ..shapes.reshape import expand_dims
from .diagonals import tril
from .matmul import matmul
from .matrices import (
    check_matrices,
    finite_matrices,
    gradient_of_first_columns,
    no_gradient,
    ones_of,
    or_zero,
    product_of,
    swapped,
    wide_kernel,
)
from .products import adjoint as conjugate_transpose

__all__ = ["geqrf", "orgqr", "ormqr", "qr"]


def _qr_rule(F: Functions, needs: list[bool], g: tuple[Any, Any], out: tuple[Any, Any], x: Value) -> list[Any]:
    q, r = out
    gq, gr = (or_zero(F, *pair) for pair in zip(g, out, strict=True))
    return [_qr_gradient(F, q, r, gq, gr, x)]


def _qr_gradient(F: Functions, q: Value, r: Value, gq: Value, gr: Value, x: Value) -> Any:
    """Return the gradient (Walter and Lehmann) for a matrix with at least as many rows as columns."""
    m = product_of(F, r, (gr, "T")) - product_of(F, (gq, "T"), q)
    below = ones_of(x, r.shape[-1], lambda offset: offset < 0)
    lower = m * below
    symmetric = lower + swapped(F, lower) + m * ones_of(x, r.shape[-1], lambda offset: offset == 0)
    return product_of(F, gq + product_of(F, q, symmetric), (F.inverse(r), "T"))


qr_operator = Operator("qr", wide_kernel(lambda linalg, x: tuple(linalg.qr(x))), joint_vjp=_qr_rule)


def _full_qr_rule(F: Functions, needs: list[bool], g: tuple[Any, Any], out: tuple[Any, Any], x: Value) -> list[Any]:
    columns = x.shape[-1]
    gq, gr = (or_zero(F, *pair) for pair in zip(g, out, strict=True))
    q, gq = gradient_of_first_columns(F, "qr", out[0], gq, columns)
    r, gr = (F.slice_axis(matrix, axis=matrix.ndim - 2, start=0, stop=columns) for matrix in (out[1], gr))
    return [_qr_gradient(F, q, r, gq, gr, x)]


_full_qr = Operator(
    "full_qr", wide_kernel(lambda linalg, x: tuple(linalg.qr(x, mode="complete"))), joint_vjp=_full_qr_rule
)


def _geqrf_kernel(x: Array) -> tuple[Array, Array]:
    xp = array_module(x)
    wide = to_host(x.astype(np.float32) if x.dtype.itemsize < 4 else x)
    parts = [np.linalg.qr(matrix, mode="raw") for matrix in wide.reshape(-1, *x.shape[-2:])]
    raw = np.stack([h.T for h, _ in parts]).reshape(x.shape).astype(x.dtype)
    factors = np.stack([t for _, t in parts]).reshape(*x.shape[:-2], -1).astype(x.dtype)
    return xp.asarray(raw), xp.asarray(factors)


_geqrf = Operator("geqrf", _geqrf_kernel, joint_vjp=no_gradient("geqrf", "'qr' has one"))


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
        ValueError: an unknown ``mode``, fewer than two axes, or NaN or infinity among the numbers.
        NotImplementedError: a gradient is requested that depends on the basis, see ``mode``.
    """
    check_one_of(mode, ("reduced", "complete", "r"), "qr", "mode")
    x = finite_matrices(input, "qr", False)
    rows, columns = x.shape[-2:]
    if mode == "complete" and rows > columns:
        return _full_qr(x)
    if rows >= columns:
        return qr_operator(x)
    # Q is that of the square part in front, so that the rule for square and tall matrices also serves here.
    q, r = qr_operator(x[..., :rows])
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
    return _geqrf(finite_matrices(input, "geqrf", False))


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
