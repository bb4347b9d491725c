"""Sums by indices: the gradient of indexing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..array_module import Array, array_module
from ..compiling import address, is_worth, kernels, ready
from ..threads import share
from ..widening import narrow, widen

__all__ = ["numbered_rows_added", "rows_added", "rows_picked"]

_MOST_PARTS = 16
"""Maximum of parts; each reads all indices."""


def rows_added(g: Array, index: Any, shape: tuple[int, ...]) -> Array | None:
    """Return zeros of a shape with g added at ``index``, in the order of ``numpy.add.at``.

    Returns:
        The sums; None unless it concerns rows, indexed by one array, of large float32 arrays on the CPU.
    """
    row_index = index[0] if type(index) is tuple and len(index) == 1 else index
    if not (is_worth(g) and type(row_index) is np.ndarray and row_index.dtype.kind == "i" and len(shape) > 1):
        return None
    rows, size = shape[0], math.prod(shape[1:])
    if g.shape != (*row_index.shape, *shape[1:]) or row_index.min() < -rows or row_index.max() >= rows:
        return None
    row_numbers = ready(np.where(row_index < 0, row_index + rows, row_index).astype(np.int64).reshape(-1))
    g, table = ready(g), np.empty(shape, np.float32)
    part_rows = -(-rows // _MOST_PARTS)
    share(
        kernels("scattering").rows_added,
        -(-rows // part_rows),
        address(table),
        rows,
        part_rows,
        size,
        address(g),
        row_numbers,
    )
    return table


def rows_picked(table: Array, rows: Array) -> Array:
    """Return the rows of a table with these indices."""
    picked: Array = table[rows]
    return picked


def numbered_rows_added(g: Array, numbers: Array, order: Array | None, rows: int) -> Array:
    """Return for each of ``rows`` rows the sum of the rows of g (N, D) that have its number.

    ``order`` sorts the numbers; without it they are from ``-rows`` on. A GPU adds in that order, the host sequentially.
    """
    wide = widen(g)
    table = array_module(g).zeros((rows, g.shape[1]), wide.dtype)
    array_module(g).add.at(table, numbers, wide)
    return narrow(table, g)
