"""Diagonals and triangles of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.surfaces import declare, prim, renamed
from ...base.types import Array, DTypeLike
from ...cpu.array_module import array_module
from ...tensors.dtype import int32, int64, numpy_dtype
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant_array, generate
from ...tensors.views import link
from ..arguments import check_axes, check_tensor, int_of, one_axis
from ..elementwise import arithmetic, comparison
from ..reduction import reduction
from ..reduction.reduction import reduce_sum
from ..shapes.rearranging import movedim, ravel
from ..shapes.reshape import expand_dims, reshape
from ..shapes.subscripts import getitem_operator, scatter_add_operator, setitem_operator

__all__ = [
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_scatter",
    "matrix_band_part",
    "trace",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "vander",
]


# Triangles and diagonals
def _band(x: Tensor, name: str, keep: Callable[[Array], Array]) -> Tensor:
    check_axes(x, 2, name)
    mask = generate(_triangle, shape=x.shape[-2:], keep=keep, xp=array_module(x._array))
    return comparison.where(mask, x, False if x._array.dtype.kind == "b" else 0)


def _triangle(shape: tuple[int, ...], keep: Callable[[Array], Array], xp: Any) -> Array:
    rows, columns = xp.arange(shape[0])[:, None], xp.arange(shape[1])
    return keep(columns - rows)


@declare(method=True, primitive=prim("Tril", diagonal=0), mint=True, numpy=renamed(input="m", diagonal="k"))
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return the lower triangle of each matrix: element (i, j) where j - i <= ``diagonal``, 0 elsewhere.

    Args:
        input: matrices (..., M, N) of any dtype.
        diagonal: the last diagonal that is kept: 0 is the main one, above 0 is to its right, below 0 to its left.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``input`` has fewer than 2 axes.
    """
    last = int_of(diagonal, "tril", "diagonal")
    return _band(input, "tril", lambda offset: offset <= last)


@declare(method=True, primitive=prim("Triu", diagonal=0), mint=True, numpy=renamed(input="m", diagonal="k"))
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return the upper triangle of each matrix: element (i, j) where j - i >= ``diagonal``, 0 elsewhere.

    Args:
        input: matrices (..., M, N) of any dtype.
        diagonal: the first diagonal that is kept: 0 is the main one, above 0 is to its right, below 0 to its left.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``input`` has fewer than 2 axes.
    """
    first = int_of(diagonal, "triu", "diagonal")
    return _band(input, "triu", lambda offset: offset >= first)


@declare(primitive=prim("MatrixBandPart"))
def matrix_band_part(x: Tensor, lower: int | Tensor, upper: int | Tensor) -> Tensor:
    """Return each matrix with ``lower`` diagonals below and ``upper`` above the main one, and 0 elsewhere.

    Args:
        x: matrices (..., M, N) of any dtype.
        lower: the number of diagonals kept below the main one, an int or an integer tensor of one element; negative
            keeps all.
        upper: likewise above the main one.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: ``x`` has fewer than 2 axes.
    """
    below, above = (int_of(n, "matrix_band_part", argument) for n, argument in ((lower, "lower"), (upper, "upper")))
    return _band(x, "matrix_band_part", lambda d: ((d >= -below) | (below < 0)) & ((d <= above) | (above < 0)))


def _indices(
    name: str, keep: Callable[[Array, int], Array], row: int, col: int, offset: int, dtype: DTypeLike
) -> Tensor:
    rows, columns, diagonal = (
        int_of(n, name, argument) for n, argument in ((row, "row"), (col, "col"), (offset, "offset"))
    )
    distances = np.arange(columns) - np.arange(rows)[:, None]
    return Tensor(np.stack(np.nonzero(keep(distances, diagonal))).astype(numpy_dtype(dtype)))


@declare(primitive=prim("TrilIndices", "row", "col", offset=0, dtype=int32))
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: DTypeLike = int64) -> Tensor:
    """Return the indices of the lower triangle of a (row, col) matrix.

    Args:
        row: the number of rows.
        col: the number of columns.
        offset: the last diagonal of the triangle, as in ``tril``.
        dtype: the dtype of the indices; Int64 by default, Int32 in the class ``TrilIndices``.

    Returns:
        A tensor (2, count): the rows of the elements, then their columns, in the order of the matrix.
    """
    return _indices("tril_indices", np.less_equal, row, col, offset, dtype)


@declare(primitive=prim("TriuIndices", "row", "col", offset=0, dtype=int32))
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: DTypeLike = int64) -> Tensor:
    """Return the indices of the upper triangle of a (row, col) matrix.

    Args:
        row: the number of rows.
        col: the number of columns.
        offset: the first diagonal of the triangle, as in ``triu``.
        dtype: the dtype of the indices; Int64 by default, Int32 in the class ``TriuIndices``.

    Returns:
        A tensor (2, count): the rows of the elements, then their columns, in the order of the matrix.
    """
    return _indices("triu_indices", np.greater_equal, row, col, offset, dtype)


def _diagonal_positions(x: Array, rows: int, columns: int, offset: int) -> tuple[Any, ...]:
    xp = array_module(x)
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    return (
        Ellipsis,
        constant_array(xp.arange(count) - min(offset, 0)),
        constant_array(xp.arange(count) + max(offset, 0)),
    )


@declare(method=renamed(dim1="axis1", dim2="axis2"), numpy=renamed(input="a", dim1="axis1", dim2="axis2"))
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return the diagonals of the planes (dim1, dim2), as a new last axis; as in NumPy.

    Args:
        input: a tensor of at least 2 axes.
        offset: which diagonal: elements (i, i + offset) of a plane.
        dim1: the axis of a plane's rows.
        dim2: the axis of its columns.

    Returns:
        A tensor of the dtype of ``input``: its axes without ``dim1`` and ``dim2``, then one along the diagonal, of
        length 0 if the plane does not have that diagonal.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: fewer than two axes, an axis out of range, or one axis twice.
    """
    planes = _planes_last(check_axes(input, 2, "diagonal"), dim1, dim2, "diagonal")
    index = _diagonal_positions(planes._array, planes.shape[-2], planes.shape[-1], int_of(offset, "diagonal", "offset"))
    result: Tensor = getitem_operator(planes, index=index)
    link(planes, result, getitem_operator, {"index": index})
    return result


def _planes_last(x: Tensor, dim1: int, dim2: int, name: str) -> Tensor:
    first, second = one_axis(dim1, x.ndim, name), one_axis(dim2, x.ndim, name)
    if first == second:
        raise ValueError(f"For '{name}', the two axes must differ, but got {dim1} and {dim2}")
    return movedim(x, (first, second), (x.ndim - 2, x.ndim - 1))


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return matrices in the axes (dim1, dim2) with the last axis of the input on their diagonals, and 0 elsewhere.

    Args:
        input: a tensor (..., N).
        offset: the diagonal: elements (i, i + offset) above 0, (i - offset, i) below.
        dim1: the axis of the result that has the rows.
        dim2: the axis of the result that has the columns.

    Returns:
        A tensor with one more axis than ``input`` and the same dtype; its matrices in the axes (dim1, dim2) have
        N + abs(offset) rows and columns.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: a 0-d tensor, or an axis out of range or twice.
    """
    x, distance = check_axes(input, 1, "diag_embed"), int_of(offset, "diag_embed", "offset")
    side = x.shape[-1] + abs(distance)
    index = _diagonal_positions(x._array, side, side, distance)
    full = scatter_add_operator(x, index=index, shape=(*x.shape[:-1], side, side))
    return movedim(full, (full.ndim - 2, full.ndim - 1), (dim1, dim2))


@declare(method=True, primitive=prim("Diag"))
def diag(input: Tensor) -> Tensor:
    """Return a tensor of twice the axes, with the elements where both halves of an index agree and 0 elsewhere.

    Args:
        input: a tensor of at least 1 axis.

    Returns:
        A tensor of shape ``input.shape + input.shape`` and of the dtype of ``input``; of a vector, the matrix with it
        on the diagonal.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: a 0-d tensor.
    """
    if check_tensor(input, "diag").ndim < 1:
        raise ValueError("For 'diag', 'input' must have at least 1 axis, but got a 0-d tensor")
    return reshape(diag_embed(ravel(input)), (*input.shape, *input.shape))


@declare(primitive=prim("DiagPart"))
def _diag_part(x: Tensor) -> Tensor:
    """Return the elements where both halves of an index agree; the inverse of ``diag``.

    Args:
        x: a tensor with an even number of axes, the second half as long as the first.

    Returns:
        A tensor of the first half of the axes and of the dtype of ``x``.

    Raises:
        ValueError: the halves of the shape differ, or there are none.
    """
    half = check_tensor(x, "DiagPart", "x").shape[: x.ndim // 2]
    if x.ndim < 2 or x.shape != half + half:
        raise ValueError(f"For 'DiagPart', both halves of the shape of 'x' must be equal, but got shape {x.shape}")
    return reshape(diagonal(reshape(x, (math.prod(half), -1))), half)


@declare(method=True, numpy=renamed(input="v", offset="k"))
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Return a matrix with all elements of the input, flattened, on a diagonal and 0 elsewhere; as in NumPy.

    Args:
        input: a tensor of any shape.
        offset: which diagonal: 0 the main one, above 0 to its right, below 0 to its left.

    Returns:
        A matrix of input.size + abs(offset) rows and columns, of the dtype of ``input``.
    """
    return diag_embed(ravel(input), offset)


@declare(method=True)
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return a copy of the tensor with ``src`` on the diagonals of its planes (dim1, dim2).

    Args:
        input: a tensor of at least 2 axes.
        src: the new elements, in the shape that ``diagonal`` has with these arguments.
        offset: which diagonal: elements (i, i + offset) of a plane.
        dim1: the axis of a plane's rows.
        dim2: the axis of its columns.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: ``src`` does not have the shape of the diagonals, or an axis is out of range or repeated.
    """
    name = "diagonal_scatter"
    planes = _planes_last(check_axes(input, 2, name), dim1, dim2, name)
    index = _diagonal_positions(planes._array, planes.shape[-2], planes.shape[-1], int_of(offset, name, "offset"))
    expected = (*planes.shape[:-2], len(index[1]))
    if check_tensor(src, "diagonal_scatter", "src").shape != expected:
        raise ValueError(f"For 'diagonal_scatter', 'src' must have the shape {expected}, but got {src.shape}")
    result = setitem_operator(planes, src, index=index)
    return movedim(result, (result.ndim - 2, result.ndim - 1), (dim1, dim2))


@declare(primitive=prim("Trace"), mint=True)
def trace(input: Tensor) -> Tensor:
    """Return the sum of a matrix's main diagonal.

    Args:
        input: a matrix.

    Returns:
        A 0-d tensor of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``input`` does not have 2 axes.
    """
    if check_tensor(input, "trace").ndim != 2:
        raise ValueError(f"For 'trace', 'input' must have 2 axes, but got shape {input.shape}")
    return reduce_sum(diagonal(input))


@declare(method="trace")
def _trace_of_tensor(
    input: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None
) -> Tensor:
    """Return the sums of the diagonals of the planes (axis1, axis2), as in NumPy.

    Args:
        input: a tensor of at least 2 axes.
        offset: which diagonal: elements (i, i + offset) of a plane.
        axis1: the axis of a plane's rows.
        axis2: the axis of its columns.
        dtype: the dtype of the sum; None is the tensor's own, Int64 of integers.

    Returns:
        A tensor of the other axes, of dtype ``dtype``.

    Raises:
        ValueError: fewer than two axes, an axis out of range, or one axis twice.
    """
    default = int64 if input._array.dtype.kind in "iu" else input.dtype
    return reduction.sum(diagonal(input, offset, axis1, axis2), -1, dtype=dtype or default)


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Return Vandermonde's matrix: the powers N - 1, ..., 1, 0 of each element, a row each.

    Args:
        x: a vector.
        N: the number of columns; None is as many as ``x`` has elements.

    Returns:
        A matrix (x.size, N) of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: ``x`` is not a vector, or ``N`` is negative.
    """
    if check_tensor(x, "vander", "x").ndim != 1 or (N is not None and int_of(N, "vander", "N") < 0):
        raise ValueError(f"For 'vander', 'x' must be a vector and 'N' not negative, but got {x.shape} and {N}")
    powers = np.arange((x.size if N is None else N) - 1, -1, -1)
    return arithmetic.pow(expand_dims(x, 1), Tensor(powers))
