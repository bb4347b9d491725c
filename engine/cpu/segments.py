"""Combining by indices on a GPU, in one order: what goes to one place is put side by side and combined in pairs.

CuPy's ``ufunc.at`` is atomic, so sums of floats differ from run to run, and has neither bfloat16 nor complex numbers.
"""

from __future__ import annotations

import math
from typing import Any

from .array_module import Array, array_module

__all__ = ["combined", "combined_at"]

_LARGEST_TABLE = 1 << 22
"""Elements of all groups by all values, up to which they are laid out side by side, in four launches."""


def combined_at(ufunc: Any, g: Array, index: Any, shape: tuple[int, ...], start: Any) -> Array:
    """What an array of ``start`` becomes where ``g`` is combined with it at an index, as by NumPy's ``ufunc.at``.

    Args:
        ufunc: CuPy's: add, multiply, maximum or minimum.
        g: an array of the device that broadcasts to what the index picks.
        index: as NumPy has it, with arrays of the device or the host.
        shape: of the result.
        start: what changes no value.

    Returns:
        An array of the dtype of ``g``.
    """
    xp = array_module(g)
    parts = index if isinstance(index, tuple) else (index,)
    axes = len(shape)  # so many of the first are counted by the number of a row; the others are its columns
    if all(getattr(part, "ndim", 0) and part.dtype.kind in "iu" for part in parts):
        axes = len(parts)
    count, width = math.prod(shape[:axes]), math.prod(shape[axes:])
    rows = xp.arange(count).reshape(shape[:axes])[index]
    values = xp.broadcast_to(g, (*rows.shape, *shape[axes:])).reshape(rows.size, width)
    return combined(ufunc, values, rows.reshape(-1), count, start).reshape(shape)


def combined(ufunc: Any, values: Array, rows: Array, count: int, start: Any) -> Array:
    """For each of ``count`` rows the values that go there, combined.

    Args:
        ufunc: CuPy's, of two operands; the order of operands does not matter to it but for rounding.
        values: (N, D).
        rows: (N,), integers from 0 to below ``count``.
        count: of rows.
        start: what changes no value; of rows to which nothing goes.

    Returns:
        (count, D), of the dtype of the values.
    """
    xp = array_module(values)
    n, width = values.shape
    start = values.dtype.type(start)
    if not n or not count:
        return xp.full((count, width), start, values.dtype)
    if ufunc is xp.add and n * count * width <= _LARGEST_TABLE:
        here = rows == xp.arange(count)[:, None]
        return xp.where(here[:, :, None], values, start).sum(1, dtype=values.dtype)
    order = xp.argsort(rows, kind="stable")
    rows, values = rows[order], values[order]
    # After the step by d, each has combined the 2 d values up to itself that go to its row.
    for step in (1 << k for k in range((n - 1).bit_length())):
        same = (rows[step:] == rows[:-step])[:, None]
        before = xp.where(same, values[:-step], start)
        ufunc(values[step:], before, values[step:])
    last = xp.ones(n, bool)
    last[:-1] = rows[:-1] != rows[1:]
    found = xp.full((count + 1, width), start, values.dtype)
    found[xp.where(last, rows, count)] = values  # of all but the last of a row nobody reads where they go
    return found[:count]
