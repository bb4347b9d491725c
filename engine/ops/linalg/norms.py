"""Norms of matrices and vectors, and condition numbers."""

from __future__ import annotations

import math

from ...base.surfaces import declare, renamed
from ...base.types import DTypeLike
from ...tensors.dtype import numpy_dtype
from ...tensors.tensor import Tensor
from ..arguments import Axis, axes_of, check_tensor
from ..elementwise import arithmetic
from ..reduction import reduction
from ..reduction.norms import vector_norm
from ..reduction.reduction import reduce_max, reduce_min, reduce_sum
from ..shapes.broadcasting import as_dtype, as_floats, in_dtype, through_single
from ..shapes.rearranging import movedim
from ..shapes.reshape import reshape
from .inverse import inverse
from .matrices import check_matrices
from .svd import singular_values

__all__ = ["cond", "matrix_norm", "norm"]


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
        ValueError: an unsupported ``ord``, or not two axes.
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
        values = singular_values(matrices)
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
        ValueError: an unsupported ``p``, or a matrix that has no inverse.
    """
    x = check_matrices(A, "cond", False, "A")
    if p in (None, 2, -2):
        values = singular_values(x)
        largest, least = reduce_max(values, -1), reduce_min(values, -1)
        return least / largest if p == -2 else largest / least
    return matrix_norm(x, p) * matrix_norm(inverse(x), p)
