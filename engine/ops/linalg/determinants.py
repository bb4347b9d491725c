"""Determinants and their logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.surfaces import declare, prim
from ...base.types import Array, Functions, Value
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ..arguments import check_tensor
from ..elementwise import comparison, exponentials
from ..elementwise.comparison import where
from ..shapes.broadcasting import array_dtype, as_dtype
from .matrices import check_matrices, swapped, wide_kernel

__all__ = ["det", "log_matrix_determinant", "logdet", "matrix_determinant", "slogdet"]

_det = Operator(
    "det",
    wide_kernel(lambda linalg, x: linalg.det(x)),
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


_slogdet = Operator("slogdet", wide_kernel(_logdet_kernel), joint_vjp=_logdet_rule, analytic=False)


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
