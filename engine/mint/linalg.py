"""``mindspore.mint.linalg``."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from ..ops import inverse as inv
from ..ops import qr
from ..tensor import Tensor

__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]


def vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of all elements, or along axes."""
    x = x if dtype is None else x.astype(dtype)
    if ord == math.inf:
        return ops.amax(ops.abs(x), dim, keepdim)
    if ord == -math.inf:
        return ops.amin(ops.abs(x), dim, keepdim)
    if ord == 0:
        return ops.sum(ops.not_equal(x, 0).astype(x.dtype), dim, keepdim)
    if ord == 1:
        return ops.sum(ops.abs(x), dim, keepdim)
    if ord == 2:
        return ops.sqrt(ops.sum(ops.square(ops.abs(x) if x._array.dtype.kind == "c" else x), dim, keepdim))
    return ops.pow(ops.sum(ops.pow(ops.abs(x), ord), dim, keepdim), 1 / ord)


def matrix_norm(A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:  # noqa: N803
    """The norm of matrices."""
    return ops.matrix_norm(A, ord, dim, keepdim, dtype=dtype)


def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:  # noqa: N803
    """A vector norm or, with two axes or a matrix and an order, a matrix norm."""
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if isinstance(dim, int) or (dim is None and A.ndim == 1) or (isinstance(dim, tuple) and len(dim) == 1):
        return vector_norm(A, ord, dim, keepdim, dtype=dtype)
    return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
