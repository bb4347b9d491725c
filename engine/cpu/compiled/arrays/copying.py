"""Copies of matrices by columns, in tiles that fit lines of the cache on both sides."""

from __future__ import annotations

from typing import Any

from ..library.loops import floats, give_back, helper, i64, kernel, take

__all__ = ["turned"]

_SIDE = 16


@helper
def _tile(x: int, lead: int, y: int, columns: int, height: int, width: int, tile: Any) -> None:
    for j in range(width):
        line = floats(x + 4 * j * lead, height)
        for i in range(height):
            tile[j * _SIDE + i] = line[i]
    for i in range(height):
        line = floats(y + 4 * i * columns, width)
        for j in range(width):
            line[j] = tile[j * _SIDE + i]


@helper
def _whole_tile(x: int, lead: int, y: int, columns: int, tile: Any) -> None:
    for j in range(_SIDE):
        line = floats(x + 4 * j * lead, _SIDE)
        for i in range(_SIDE):
            tile[j * _SIDE + i] = line[i]
    for i in range(_SIDE):
        line = floats(y + 4 * i * columns, _SIDE)
        for j in range(_SIDE):
            line[j] = tile[j * _SIDE + i]


@kernel(i64, i64, i64, i64, i64, i64, i64)
def turned(first: int, stop: int, x: int, above: int, lead: int, y: int, rows: int, columns: int, each: int) -> None:
    """Write y (matrices, rows, columns) from matrices that lie in memory as (columns, rows).

    ``above`` is the distance of matrices there, ``lead`` that of their columns; ``each`` rows of one matrix to a part.
    """
    memory = take(4 * _SIDE * _SIDE)
    tile = floats(memory, _SIDE * _SIDE)
    across = -(-rows // each)
    for part in range(first, stop):
        matrix, begin = part // across, part % across * each
        source, target = x + 4 * matrix * above, y + 4 * matrix * rows * columns
        for i in range(begin, min(begin + each, rows), _SIDE):
            height = min(_SIDE, min(begin + each, rows) - i)
            for j in range(0, columns, _SIDE):
                width = min(_SIDE, columns - j)
                old, new = source + 4 * (j * lead + i), target + 4 * (i * columns + j)
                if height == _SIDE and width == _SIDE:
                    _whole_tile(old, lead, new, columns, tile)
                else:
                    _tile(old, lead, new, columns, height, width, tile)
    give_back(memory)
