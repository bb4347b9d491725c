"""Diagonals and triangles of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtype import int32, int64, numpy_dtype
from ..core.surfaces import declare, prim
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from . import arithmetic, comparison, reduction
from .arguments import check_tensor, one_axis
from .indexing import getitem_operator, scatter_add_operator, setitem_operator
from .rearranging import movedim, ravel
from .reduction import reduce_sum
from .shape import expand_dims, reshape

__all__ = [
    "diag", "diag_embed", "diagflat", "diagonal", "diagonal_scatter", "matrix_band_part", "trace", "tril",
    "tril_indices", "triu", "triu_indices", "vander",
]  # fmt: skip


# Triangles and diagonals
def _band(x: Tensor, name: str, keep: Any) -> Tensor:
    if check_tensor(x, name).ndim < 2:
        raise ValueError(f"For '{name}', 'input' must have at least 2 axes, but got shape {x.shape}")
    xp = array_module(x._array)
    rows, columns = xp.arange(x.shape[-2])[:, None], xp.arange(x.shape[-1])
    return comparison.where(Tensor._wrap(keep(columns - rows)), x, False if x._array.dtype.kind == "b" else 0)


@declare(method=True, primitive=prim("Tril", diagonal=0), mint=True)
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle; 0 above the ``diagonal``-th diagonal."""
    return _band(input, "tril", lambda apart: apart <= diagonal)


@declare(method=True, primitive=prim("Triu", diagonal=0), mint=True)
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle; 0 below the ``diagonal``-th diagonal."""
    return _band(input, "triu", lambda apart: apart >= diagonal)


@declare(primitive=prim("MatrixBandPart"))
def matrix_band_part(x: Tensor, lower: Any, upper: Any) -> Any:
    """The matrix with ``lower`` diagonals below and ``upper`` above the main one kept; negative keeps all."""
    below, above = int(lower), int(upper)
    return _band(x, "matrix_band_part", lambda d: ((d >= -below) | (below < 0)) & ((d <= above) | (above < 0)))


def _indices(keep: Any, row: int, col: int, dtype: Any) -> Any:
    return Tensor(np.stack(np.nonzero(keep(np.arange(col) - np.arange(row)[:, None]))).astype(numpy_dtype(dtype)))


@declare(primitive=prim("TrilIndices", "row", "col", offset=0, dtype=int32))
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = int64) -> Any:
    """Where the lower triangle of a (row, col) matrix is: two rows of indices."""
    return _indices(lambda apart: apart <= offset, row, col, dtype)


@declare(primitive=prim("TriuIndices", "row", "col", offset=0, dtype=int32))
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = int64) -> Any:
    """Where the upper triangle of a (row, col) matrix is: two rows of indices."""
    return _indices(lambda apart: apart >= offset, row, col, dtype)


def _diagonal_places(x: Any, rows: int, columns: int, offset: int) -> tuple[Any, ...]:
    xp = array_module(x)
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    return (Ellipsis, xp.arange(count) - min(offset, 0), xp.arange(count) + max(offset, 0))


@declare(method=True)
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonals of the planes (dim1, dim2), as a new last axis.

    Raises:
        ValueError: fewer than two axes, or one axis twice.
    """
    if check_tensor(input, "diagonal").ndim < 2:
        raise ValueError(f"For 'diagonal', 'input' must have at least 2 axes, but got shape {input.shape}")
    moved = _planes_last(input, dim1, dim2, "diagonal")
    return getitem_operator(moved, index=_diagonal_places(moved._array, moved.shape[-2], moved.shape[-1], offset))


def _planes_last(x: Tensor, dim1: int, dim2: int, name: str) -> Tensor:
    first, second = one_axis(dim1, x.ndim, name), one_axis(dim2, x.ndim, name)
    if first == second:
        raise ValueError(f"For '{name}', the two axes must differ, but got {dim1} and {dim2}")
    return movedim(x, (first, second), (x.ndim - 2, x.ndim - 1))


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices in the axes (dim1, dim2) with the last axis of the input on their diagonals."""
    x = check_tensor(input, "diag_embed")
    if x.ndim < 1:
        raise ValueError("For 'diag_embed', 'input' must have at least 1 axis, but got a 0-d tensor")
    side = x.shape[-1] + abs(offset)
    index = _diagonal_places(x._array, side, side, offset)
    full = scatter_add_operator(x, index=index, shape=(*x.shape[:-1], side, side))
    return movedim(full, (full.ndim - 2, full.ndim - 1), (dim1, dim2))


@declare(method=True, primitive=prim("Diag"))
def diag(input: Tensor) -> Any:
    """Twice the axes, with the elements where both halves of an index agree and 0 elsewhere.

    Raises:
        ValueError: a 0-d tensor.
    """
    if check_tensor(input, "diag").ndim < 1:
        raise ValueError("For 'diag', 'input' must have at least 1 axis, but got a 0-d tensor")
    return reshape(diag_embed(ravel(input)), (*input.shape, *input.shape))


@declare(primitive=prim("DiagPart"))
def _diag_part(x: Tensor) -> Tensor:
    """The elements where both halves of an index agree; the inverse of ``diag``."""
    half = x.shape[: x.ndim // 2]
    return reshape(diagonal(reshape(x, (math.prod(half), -1))), half)


def diag_ext(input: Tensor, diagonal: int = 0) -> Any:
    """A matrix with the vector on its ``diagonal``; of a matrix, its diagonal. ``mint.diag``."""
    x = check_tensor(input, "diag")
    if x.ndim == 2:
        return getitem_operator(x, index=_diagonal_places(x._array, x.shape[0], x.shape[1], diagonal))
    if x.ndim != 1:
        raise ValueError(f"For 'diag', 'input' must have 1 or 2 axes, but got shape {x.shape}")
    return diag_embed(x, diagonal)


@declare(method=True)
def diagflat(input: Tensor, offset: int = 0) -> Any:
    """A matrix with all elements on its diagonal."""
    return diag_embed(ravel(input), offset)


@declare(method=True)
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The tensor with ``src`` on its diagonals.

    Raises:
        ValueError: ``src`` has not the shape of the diagonals.
    """
    moved = _planes_last(check_tensor(input, "diagonal_scatter"), dim1, dim2, "diagonal_scatter")
    index = _diagonal_places(moved._array, moved.shape[-2], moved.shape[-1], offset)
    wanted = (*moved.shape[:-2], len(index[1]))
    if src.shape != wanted:
        raise ValueError(f"For 'diagonal_scatter', 'src' must have the shape {wanted}, but got {src.shape}")
    written = setitem_operator(moved, src, index=index)
    return movedim(written, (written.ndim - 2, written.ndim - 1), (dim1, dim2))


@declare(primitive=prim("Trace"), mint=True)
def trace(input: Tensor) -> Any:
    """The sum of a matrix's diagonal."""
    if check_tensor(input, "trace").ndim != 2:
        raise ValueError(f"For 'trace', 'input' must have 2 axes, but got shape {input.shape}")
    return reduce_sum(diagonal(input))


@declare(method="trace")
def _trace_of_tensor(input: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sums of the diagonals, in the tensor's own dtype without ``dtype``."""
    return reduction.sum(diagonal(input, offset, axis1, axis2), -1, dtype=dtype or input.dtype)


def vander(x: Tensor, N: int | None = None) -> Any:
    """The powers N - 1 .. 0 of each element, a row each.

    Raises:
        ValueError: x is no vector, or N is negative.
    """
    if check_tensor(x, "vander", "x").ndim != 1 or (N or 0) < 0:
        raise ValueError(f"For 'vander', 'x' must be a vector and 'N' not negative, but got {x.shape} and {N}")
    powers = np.arange((x.size if N is None else N) - 1, -1, -1)
    return arithmetic.pow(expand_dims(x, 1), Tensor(powers))
