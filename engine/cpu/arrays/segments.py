"""Reduction by indices on a GPU, in a fixed order: values of one position are sorted together and combined in pairs.

CuPy's ``ufunc.at`` is atomic, so sums of floats differ from run to run, and has neither bfloat16 nor complex numbers.
"""

from __future__ import annotations

import math
from typing import Any

from ..array_module import Array, array_module

__all__ = ["combined", "combined_at"]

_LARGEST_TABLE = 1 << 22
"""Product of the numbers of groups and values up to which they are laid out as a matrix, in four launches."""


def combined_at(ufunc: Any, g: Array, index: Any, shape: tuple[int, ...], start: Any) -> Array:
    """Return an array of ``start`` combined with ``g`` at an index, as NumPy's ``ufunc.at``.

    Args:
        ufunc: CuPy's: add, multiply, maximum or minimum.
        g: an array on the device that broadcasts to the shape of the index.
        index: as in NumPy, with arrays on the device or the host.
        shape: the shape of the result.
        start: the neutral element.

    Returns:
        An array of the dtype of ``g``.
    """
    xp = array_module(g)
    parts = index if isinstance(index, tuple) else (index,)
    axes = len(shape)  # the leading axes are joined to a row number; the others are its columns
    if all(getattr(part, "ndim", 0) and part.dtype.kind in "iu" for part in parts):
        axes = len(parts)
    count, width = math.prod(shape[:axes]), math.prod(shape[axes:])
    rows = xp.arange(count).reshape(shape[:axes])[index]
    values = xp.broadcast_to(g, (*rows.shape, *shape[axes:])).reshape(rows.size, width)
    return combined(ufunc, values, rows.reshape(-1), count, start).reshape(shape)


def combined(ufunc: Any, values: Array, rows: Array, count: int, start: Any) -> Array:
    """Return for each of ``count`` rows its values, combined.

    Args:
        ufunc: CuPy's, of two operands; commutative except for rounding.
        values: (N, D).
        rows: (N,), integers from 0 to below ``count``.
        count: the number of rows.
        start: the neutral element; the result of rows without values.

    Returns:
        (count, D), of the dtype of the values.
    """
    xp = array_module(values)
    n, width = values.shape
    start = values.dtype.type(start)
    if not n or not count:
        return xp.full((count, width), start, values.dtype)
    if ufunc is xp.add and n * count * width <= _LARGEST_TABLE:
        is_in_group = rows == xp.arange(count)[:, None]
        return xp.where(is_in_group[:, :, None], values, start).sum(1, dtype=values.dtype)
    order = xp.argsort(rows, kind="stable")
    rows, values = rows[order], values[order]
    # After the step by d, each element has the combination of the 2 d values of its row up to itself.
    for step in (1 << k for k in range((n - 1).bit_length())):
        same = (rows[step:] == rows[:-step])[:, None]
        previous = xp.where(same, values[:-step], start)
        ufunc(values[step:], previous, values[step:])
    last = xp.ones(n, bool)
    last[:-1] = rows[:-1] != rows[1:]
    results = xp.full((count + 1, width), start, values.dtype)
    results[xp.where(last, rows, count)] = values  # all but the last of a row go to an unused row
    return results[:count]
