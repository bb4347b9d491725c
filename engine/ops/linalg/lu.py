"""The LU decomposition: its factors, and systems by them."""

from __future__ import annotations

import numpy as np

from ...base.surfaces import declare, prim
from ...base.types import Array
from ...tensors.tensor import Tensor
from ..arguments import check_integers, check_tensor
from ..elementwise.comparison import where
from ..shapes.reshape import expand_dims, reshape
from .diagonals import tril, triu
from .matmul import matmul
from .matrices import check_matrices
from .systems import solve_operator

__all__ = ["lu_solve", "lu_unpack"]


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
