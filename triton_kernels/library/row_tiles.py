"""Rows of a matrix as units of work: tiles of rows, and any axis of an array as rows."""

from __future__ import annotations

from hookscope.triton_kernels.launch.launcher import next_power_of_2
from hookscope.triton_kernels.launch.plans import Operand, Planner

# The longest row that a program holds in registers, of one array and of two: 32 and 16 values per thread.
MAX_ROW = 16384
MAX_PAIR_ROW = 8192
# A longer row is read in pieces of this many values.
PIECE = 4096
# Values in the tile of one program for shorter rows.
_ROW_TILE = 1024


def row_tile(columns: int, longest: int) -> tuple[int, int, int]:
    """Return (rows, columns, warps) of the tile with which a program processes rows of a matrix.

    A program processes several short rows; for a row above `longest`, the tile is a piece of it.
    """
    block = next_power_of_2(columns) if columns <= longest else PIECE
    rows = max(1, _ROW_TILE // block)
    return rows, block, warps_for(rows * block)


def warps_for(elements: int) -> int:
    """Return the warps for a tile of this many values: 8 to 32 values per thread."""
    return 4 if elements < 2048 else 8 if elements < 8192 else 16


def rows_first(x: Operand, axis: int) -> list[int]:
    """Return the axes with this one last."""
    axis %= x.ndim
    return [*[other for other in range(x.ndim) if other != axis], axis]


def as_rows(call: Planner, x: Operand, axis: int) -> Operand:
    """Return the operand as a matrix in C order whose rows run along `axis`, copied if necessary."""
    return call.contiguous(x.transposed(rows_first(x, axis))).reshaped(-1, x.shape[axis])


def like_rows(call: Planner, x: Operand, axis: int) -> tuple[Operand, Operand]:
    """Return a new array of the shape and dtype of `x` in the layout of `as_rows`, and its view as that matrix."""
    order = rows_first(x, axis)
    array = call.empty(x.shape, x.dtype, order)
    return array, array.transposed(order).reshaped(-1, x.shape[axis])
