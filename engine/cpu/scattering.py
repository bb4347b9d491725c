"""Adding up by indices: the gradient of picking."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .array_module import Array, array_module
from .compiling import address, is_worth, kernels, ready
from .threads import share
from .widening import narrow, widen

__all__ = ["numbered_rows_added", "rows_added", "rows_picked"]

_MOST_PARTS = 16
"""Each looks at all indices."""


def rows_added(g: Array, index: Any, shape: tuple[int, ...]) -> Array | None:
    """Zeros of a shape, with g added where ``index`` says, one after another as ``numpy.add.at`` does.

    Returns:
        The sums; None unless this is about rows, numbered by one array, of large float32 arrays on the CPU.
    """
    place = index[0] if type(index) is tuple and len(index) == 1 else index
    if not (is_worth(g) and type(place) is np.ndarray and place.dtype.kind == "i" and len(shape) > 1):
        return None
    rows, size = shape[0], math.prod(shape[1:])
    if g.shape != (*place.shape, *shape[1:]) or place.min() < -rows or place.max() >= rows:
        return None
    places = ready(np.where(place < 0, place + rows, place).astype(np.int64).reshape(-1))
    g, table = ready(g), np.empty(shape, np.float32)
    each = -(-rows // _MOST_PARTS)
    share(kernels("scattering").rows_added, -(-rows // each), address(table), rows, each, size, address(g), places)
    return table


def rows_picked(table: Array, rows: Array) -> Array:
    """Return the rows of a table with these numbers."""
    picked: Array = table[rows]
    return picked


def numbered_rows_added(g: Array, numbers: Array, order: Array | None, rows: int) -> Array:
    """For each of so many rows the sum of the rows of g (N, D) that have its number.

    ``order`` sorts the numbers; without it they are from ``-rows`` on. A GPU adds in it, the host one after another.
    """
    wide = widen(g)
    table = array_module(g).zeros((rows, g.shape[1]), wide.dtype)
    array_module(g).add.at(table, numbers, wide)
    return narrow(table, g)
