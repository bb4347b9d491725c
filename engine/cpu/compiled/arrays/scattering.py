"""Rows added into a table, in the order in which they come."""

from __future__ import annotations

from typing import Any

from ..library.loops import floats, helper, i64, kernel, read_array

__all__ = ["rows_added"]


@helper
def _add(x: Any, y: Any) -> None:
    for i in range(x.size):
        x[i] += y[i]


@kernel(i64, i64, i64, i64, i64, read_array(i64))
def rows_added(first: int, stop: int, table: int, rows: int, each: int, size: int, g: int, indices: Any) -> None:
    """Add row i of g to row ``indices[i]`` of a table of zeros (rows, size), in order; ``each`` rows to a part."""
    begin, end = first * each, min(stop * each, rows)
    floats(table + 4 * begin * size, (end - begin) * size)[:] = 0
    for i in range(indices.size):
        row_number = indices[i]
        if begin <= row_number < end:
            _add(floats(table + 4 * row_number * size, size), floats(g + 4 * i * size, size))
