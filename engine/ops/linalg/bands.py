"""Bands: several neighboring diagonals of matrices, kept as rows of one length.

Diagonals of a band differ in length. As rows they are filled up at their ends: ``align`` says, for those above the main
one and then for those below, whether the elements stand to the left or to the right.
"""

from __future__ import annotations

from typing import Any

from ...base.argument_checks import check_one_of
from ...base.surfaces import declare, prim
from ...base.types import Array, Number
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant, fixed
from ..arguments import check_tensor, ints_of
from ..elementwise.comparison import where
from ..shapes.broadcasting import as_dtype
from ..shapes.subscripts import getitem_operator

__all__ = ["matrix_diag", "matrix_diag_part", "matrix_set_diag"]

_ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def _ends(k: int | Tensor, name: str) -> tuple[int, int]:
    """The lowest and the highest diagonal."""
    given = ints_of(k, name, "k")
    if len(given) not in (1, 2) or given[0] > given[-1]:
        raise ValueError(f"For '{name}', 'k' must be one diagonal, or the lowest and the highest, but got {given}")
    return given[0], given[-1]


def _one(value: int | Tensor, name: str, argument: str) -> int:
    given = ints_of(value, name, argument)
    if len(given) != 1:
        raise ValueError(f"For '{name}', '{argument}' must be one int, but got {given}")
    return given[0]


def _longest(rows: int, columns: int, low: int, high: int, name: str) -> int:
    """The length of the band's longest diagonal."""
    for k in (low, high):
        if k and not -rows < k < columns:
            raise ValueError(f"For '{name}', 'k' must be in ({-rows}, {columns}), but got {k}")
    return min(rows + min(high, 0), columns - max(low, 0))


def _shifts(xp: Any, diagonals: Array, rows: int, columns: int, longest: int, align: str, name: str) -> Array:
    """How far the elements of each diagonal stand from the left end of its row."""
    above, below = check_one_of(align, _ALIGNMENTS, name, "align").split("_")
    length = xp.minimum(rows + xp.minimum(diagonals, 0), columns - xp.maximum(diagonals, 0))
    right = xp.where(diagonals >= 0, above == "RIGHT", below == "RIGHT")
    return xp.where(right, longest - length, 0)


def _in_matrix(
    xp: Any, rows: int, columns: int, low: int, high: int, longest: int, align: str, name: str
) -> tuple[Array, tuple[Any, ...]]:
    """For each element of a matrix whether it is in the band, and the index of its place in the rows."""
    i, j = xp.arange(rows)[:, None], xp.arange(columns)
    apart = j - i
    inside = (apart >= low) & (apart <= high)
    shift = _shifts(xp, apart, rows, columns, longest, align, name)
    place = xp.where(inside, xp.minimum(i, j) + shift, 0)
    index = (fixed(place),) if low == high else (fixed(xp.where(inside, high - apart, 0)), fixed(place))
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
    """Matrices with the given diagonals, and ``padding_value`` elsewhere.

    Args:
        x: the diagonals: of one (..., length), of several (..., diagonals, longest length), the highest first.
        k: which diagonal, an int or an integer tensor; or a tensor of two, the lowest and the highest.
        num_rows: how many rows the matrices have; -1 is as few as fit.
        num_cols: how many columns, likewise.
        padding_value: a number, or a tensor of one.
        align: where in their rows the diagonals stand: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT", those
            above the main one and those below.

    Returns:
        A tensor (..., num_rows, num_cols) of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is no Tensor, or another argument no int.
        ValueError: the shapes do not fit, or another ``align``.
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
    """Matrices with the given diagonals, and ``padding_value`` elsewhere.

    Args:
        x: the diagonals: of one (..., length), of several (..., diagonals, longest length), the highest first.
        k: which diagonal, an int or an integer tensor; or a tensor of two, the lowest and the highest.
        num_rows: how many rows the matrices have; -1 is as few as fit, and with ``num_cols`` -1 as many as columns.
        num_cols: how many columns, likewise.
        padding_value: a number, or a tensor of one.
        align: where in their rows the diagonals stand: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT", those
            above the main one and those below.

    Returns:
        A tensor (..., num_rows, num_cols) of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is no Tensor, or another argument no int.
        ValueError: the shapes do not fit, or another ``align``.
    """
    name = "matrix_diag"
    low, high = _ends(k, name)
    count = high - low + 1
    if check_tensor(x, name, "x").ndim < 1 + (count > 1) or (count > 1 and x.shape[-2] != count):
        raise ValueError(f"For '{name}', 'x' must have a row for each of {count} diagonals, but got shape {x.shape}")
    longest = x.shape[-1]
    least = (longest - min(high, 0), longest + max(low, 0))
    rows, columns = _one(num_rows, name, "num_rows"), _one(num_cols, name, "num_cols")
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
    """Diagonals of matrices, filled up with ``padding_value`` to the length of the longest.

    Args:
        x: matrices (..., M, N).
        k: which diagonal, an int or an integer tensor; or a tensor of two, the lowest and the highest.
        padding_value: a number, or a tensor of one.
        align: where in their rows the diagonals stand: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT", those
            above the main one and those below.

    Returns:
        A tensor of the dtype of ``x``: of one diagonal (..., length), of several (..., diagonals, longest length), the
        highest first.

    Raises:
        TypeError: ``x`` is no Tensor, or ``k`` no int.
        ValueError: ``x`` has fewer than 2 axes, there is no such diagonal, or another ``align``.
    """
    name = "matrix_diag_part"
    rows, columns = _sides(x, name)
    low, high = _ends(k, name)
    longest = _longest(rows, columns, low, high, name)
    xp = array_module(x._array)
    diagonals = xp.arange(high, low - 1, -1)[:, None]
    place = xp.arange(longest) - _shifts(xp, diagonals, rows, columns, longest, align, name)
    i, j = place - xp.minimum(diagonals, 0), place + xp.maximum(diagonals, 0)
    inside = (place >= 0) & (i < rows) & (j < columns)
    if low == high:
        inside, i, j = inside[0], i[0], j[0]
    places = (fixed(xp.where(inside, i, 0)), fixed(xp.where(inside, j, 0)))
    picked = getitem_operator(x, index=(Ellipsis, *places))
    return as_dtype(where(constant(inside), picked, padding_value), x._array.dtype)


def _sides(x: Tensor, name: str) -> tuple[int, int]:
    if check_tensor(x, name, "x").ndim < 2:
        raise ValueError(f"For '{name}', 'x' must have at least 2 axes, but got shape {x.shape}")
    return x.shape[-2], x.shape[-1]


@declare(primitive=prim("MatrixSetDiagV3", align="RIGHT_LEFT"))
def _matrix_set_diag_v3(x: Tensor, diagonal: Tensor, k: int | Tensor, align: str) -> Tensor:
    """Matrices with other diagonals.

    Args:
        x: matrices (..., M, N).
        diagonal: the new diagonals: one (..., length), or several (..., diagonals, longest length), the highest first.
        k: which diagonal, an int or an integer tensor; or a tensor of two, the lowest and the highest.
        align: where in their rows the diagonals stand: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT", those
            above the main one and those below.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: an input is no Tensor, or ``k`` no int.
        ValueError: the shapes do not fit, there is no such diagonal, or another ``align``.
    """
    return matrix_set_diag(x, diagonal, k, align)


def matrix_set_diag(x: Tensor, diagonal: Tensor, k: int | Tensor = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Matrices with other diagonals.

    Args:
        x: matrices (..., M, N).
        diagonal: the new diagonals: one (..., length), or several (..., diagonals, longest length), the highest first.
        k: which diagonal, an int or an integer tensor; or a tensor of two, the lowest and the highest.
        align: where in their rows the diagonals stand: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT", those
            above the main one and those below.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: an input is no Tensor, or ``k`` no int.
        ValueError: the shapes do not fit, there is no such diagonal, or another ``align``.
    """
    name = "matrix_set_diag"
    rows, columns = _sides(x, name)
    low, high = _ends(k, name)
    longest = _longest(rows, columns, low, high, name)
    wanted = (*x.shape[:-2], *(() if low == high else (high - low + 1,)), longest)
    if check_tensor(diagonal, name, "diagonal").shape != wanted:
        raise ValueError(f"For '{name}', 'diagonal' must have the shape {wanted}, but got {diagonal.shape}")
    inside, index = _in_matrix(array_module(x._array), rows, columns, low, high, longest, align, name)
    picked = getitem_operator(as_dtype(diagonal, x._array.dtype), index=index)
    return where(constant(inside), picked, x)
