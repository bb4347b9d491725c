"""Bands: several neighboring diagonals of matrices, kept as rows of one length.

Diagonals of a band differ in length. As rows they are padded at their ends: ``align`` states, for those above the
main one and then for those below, whether the elements are aligned to the left or to the right.
"""

from __future__ import annotations

from typing import Any

from ...base.argument_checks import check_one_of
from ...base.surfaces import declare, prim
from ...base.types import Array, Number
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant, constant_array
from ..arguments import check_tensor, ints_of
from ..elementwise.comparison import where
from ..shapes.broadcasting import as_dtype
from ..shapes.subscripts import getitem_operator

__all__ = ["matrix_diag", "matrix_diag_part", "matrix_set_diag"]

_ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def _ends(k: int | Tensor, name: str) -> tuple[int, int]:
    """Return the lowest and the highest diagonal."""
    diagonals = ints_of(k, name, "k")
    if len(diagonals) not in (1, 2) or diagonals[0] > diagonals[-1]:
        raise ValueError(f"For '{name}', 'k' must be one diagonal, or the lowest and the highest, but got {diagonals}")
    return diagonals[0], diagonals[-1]


def _int_of(value: int | Tensor, name: str, argument: str) -> int:
    values = ints_of(value, name, argument)
    if len(values) != 1:
        raise ValueError(f"For '{name}', '{argument}' must be one int, but got {values}")
    return values[0]


def _longest(rows: int, columns: int, low: int, high: int, name: str) -> int:
    """Return the length of the band's longest diagonal."""
    for k in (low, high):
        if k and not -rows < k < columns:
            raise ValueError(f"For '{name}', 'k' must be in ({-rows}, {columns}), but got {k}")
    return min(rows + min(high, 0), columns - max(low, 0))


def _shifts(xp: Any, diagonals: Array, rows: int, columns: int, longest: int, align: str, name: str) -> Array:
    """Return the shift of the elements of each diagonal from the left end of its row."""
    above, below = check_one_of(align, _ALIGNMENTS, name, "align").split("_")
    length = xp.minimum(rows + xp.minimum(diagonals, 0), columns - xp.maximum(diagonals, 0))
    right = xp.where(diagonals >= 0, above == "RIGHT", below == "RIGHT")
    return xp.where(right, longest - length, 0)


def _in_matrix(
    xp: Any, rows: int, columns: int, low: int, high: int, longest: int, align: str, name: str
) -> tuple[Array, tuple[Any, ...]]:
    """Return whether each element of a matrix is in the band, and the index of its position in the rows."""
    i, j = xp.arange(rows)[:, None], xp.arange(columns)
    diagonal = j - i
    inside = (diagonal >= low) & (diagonal <= high)
    shift = _shifts(xp, diagonal, rows, columns, longest, align, name)
    position = xp.where(inside, xp.minimum(i, j) + shift, 0)
    index = (
        (constant_array(position),)
        if low == high
        else (constant_array(xp.where(inside, high - diagonal, 0)), constant_array(position))
    )
    return inside, (Ellipsis, *index)


@declare(primitive=prim("MatrixDiagV3", align="RIGHT_LEFT"))
def _matrix_diag_v3(
    x: Tensor,
    k: int | Tensor,
    num_rows: int | Tensor,
    num_cols: int | Tensor,
    padding_value: Number | Tensor,
    align: str,
) -> Tensor:
    """Return matrices with the given diagonals, and ``padding_value`` elsewhere.

    Args:
        x: the diagonals: of one (..., length), of several (..., diagonals, longest length), the highest first.
        k: which diagonal, an int or an integer tensor; or a tensor of two, the lowest and the highest.
        num_rows: the number of rows of the matrices; -1 is as few as fit.
        num_cols: the number of columns, likewise.
        padding_value: a number, or a tensor of one.
        align: the alignment of the diagonals in their rows: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT",
            those above the main one and those below.

    Returns:
        A tensor (..., num_rows, num_cols) of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or another argument is not an int.
        ValueError: the shapes do not fit, or an unknown ``align``.
    """
    return matrix_diag(x, k, num_rows, num_cols, padding_value, align)


def matrix_diag(
    x: Tensor,
    k: int | Tensor = 0,
    num_rows: int | Tensor = -1,
    num_cols: int | Tensor = -1,
    padding_value: Number | Tensor = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Return matrices with the given diagonals, and ``padding_value`` elsewhere.

    Args:
        x: the diagonals: of one (..., length), of several (..., diagonals, longest length), the highest first.
        k: which diagonal, an int or an integer tensor; or a tensor of two, the lowest and the highest.
        num_rows: the number of rows of the matrices; -1 is as few as fit, and with ``num_cols`` -1 as many as columns.
        num_cols: the number of columns, likewise.
        padding_value: a number, or a tensor of one.
        align: the alignment of the diagonals in their rows: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT",
            those above the main one and those below.

    Returns:
        A tensor (..., num_rows, num_cols) of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or another argument is not an int.
        ValueError: the shapes do not fit, or an unknown ``align``.
    """
    name = "matrix_diag"
    low, high = _ends(k, name)
    count = high - low + 1
    if check_tensor(x, name, "x").ndim < 1 + (count > 1) or (count > 1 and x.shape[-2] != count):
        raise ValueError(f"For '{name}', 'x' must have a row for each of {count} diagonals, but got shape {x.shape}")
    longest = x.shape[-1]
    least = (longest - min(high, 0), longest + max(low, 0))
    rows, columns = _int_of(num_rows, name, "num_rows"), _int_of(num_cols, name, "num_cols")
    if rows == columns == -1:
        rows = columns = max(least)
    rows, columns = least[0] if rows == -1 else rows, least[1] if columns == -1 else columns
    if rows < least[0] or columns < least[1] or (rows > least[0] and columns > least[1]):
        raise ValueError(
            f"For '{name}', diagonals {low} to {high} of length {longest} do not fit {rows} rows and {columns} columns"
        )
    _longest(rows, columns, low, high, name)
    inside, index = _in_matrix(array_module(x._array), rows, columns, low, high, longest, align, name)
    return as_dtype(where(constant(inside), getitem_operator(x, index=index), padding_value), x._array.dtype)


@declare(primitive=prim("MatrixDiagPartV3", align="RIGHT_LEFT"))
def matrix_diag_part(x: Tensor, k: int | Tensor, padding_value: Number | Tensor, align: str = "RIGHT_LEFT") -> Tensor:
    """Return diagonals of matrices, padded with ``padding_value`` to the length of the longest.

    Args:
        x: matrices (..., M, N).
        k: which diagonal, an int or an integer tensor; or a tensor of two, the lowest and the highest.
        padding_value: a number, or a tensor of one.
        align: the alignment of the diagonals in their rows: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT",
            those above the main one and those below.

    Returns:
        A tensor of the dtype of ``x``: of one diagonal (..., length), of several (..., diagonals, longest length), the
        highest first.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``k`` is not an int.
        ValueError: ``x`` has fewer than 2 axes, the diagonal does not exist, or an unknown ``align``.
    """
    name = "matrix_diag_part"
    rows, columns = _sides(x, name)
    low, high = _ends(k, name)
    longest = _longest(rows, columns, low, high, name)
    xp = array_module(x._array)
    diagonals = xp.arange(high, low - 1, -1)[:, None]
    position = xp.arange(longest) - _shifts(xp, diagonals, rows, columns, longest, align, name)
    i, j = position - xp.minimum(diagonals, 0), position + xp.maximum(diagonals, 0)
    inside = (position >= 0) & (i < rows) & (j < columns)
    if low == high:
        inside, i, j = inside[0], i[0], j[0]
    indices = (constant_array(xp.where(inside, i, 0)), constant_array(xp.where(inside, j, 0)))
    values = getitem_operator(x, index=(Ellipsis, *indices))
    return as_dtype(where(constant(inside), values, padding_value), x._array.dtype)


def _sides(x: Tensor, name: str) -> tuple[int, int]:
    if check_tensor(x, name, "x").ndim < 2:
        raise ValueError(f"For '{name}', 'x' must have at least 2 axes, but got shape {x.shape}")
    return x.shape[-2], x.shape[-1]


@declare(primitive=prim("MatrixSetDiagV3", align="RIGHT_LEFT"))
def _matrix_set_diag_v3(x: Tensor, diagonal: Tensor, k: int | Tensor, align: str) -> Tensor:
    """Return matrices with their diagonals replaced.

    Args:
        x: matrices (..., M, N).
        diagonal: the new diagonals: one (..., length), or several (..., diagonals, longest length), the highest first.
        k: which diagonal, an int or an integer tensor; or a tensor of two, the lowest and the highest.
        align: the alignment of the diagonals in their rows: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT",
            those above the main one and those below.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: an input is not a Tensor, or ``k`` is not an int.
        ValueError: the shapes do not fit, the diagonal does not exist, or an unknown ``align``.
    """
    return matrix_set_diag(x, diagonal, k, align)


def matrix_set_diag(x: Tensor, diagonal: Tensor, k: int | Tensor = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Return matrices with their diagonals replaced.

    Args:
        x: matrices (..., M, N).
        diagonal: the new diagonals: one (..., length), or several (..., diagonals, longest length), the highest first.
        k: which diagonal, an int or an integer tensor; or a tensor of two, the lowest and the highest.
        align: the alignment of the diagonals in their rows: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT",
            those above the main one and those below.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: an input is not a Tensor, or ``k`` is not an int.
        ValueError: the shapes do not fit, the diagonal does not exist, or an unknown ``align``.
    """
    name = "matrix_set_diag"
    rows, columns = _sides(x, name)
    low, high = _ends(k, name)
    longest = _longest(rows, columns, low, high, name)
    expected = (*x.shape[:-2], *(() if low == high else (high - low + 1,)), longest)
    if check_tensor(diagonal, name, "diagonal").shape != expected:
        raise ValueError(f"For '{name}', 'diagonal' must have the shape {expected}, but got {diagonal.shape}")
    inside, index = _in_matrix(array_module(x._array), rows, columns, low, high, longest, align, name)
    values = getitem_operator(as_dtype(diagonal, x._array.dtype), index=index)
    return where(constant(inside), values, x)
