"""Division of rows into parts for kernels that work along rows."""

from __future__ import annotations

from ..array_module import Array
from ..compiling import ready
from .copying import contiguous

__all__ = ["as_rows", "per_part"]

_PART = 1 << 13
"""Elements per part, unless a row has more."""


def per_part(rows: int, count: int) -> tuple[int, int]:
    """Return the number of rows of ``count`` elements per part, and the number of parts."""
    part_rows = max(1, _PART // max(1, count))
    return part_rows, -(-rows // part_rows)


def as_rows(x: Array, axis: int) -> Array:
    """Return ``x`` contiguous with ``axis`` as the last axis."""
    return ready(contiguous(x.swapaxes(axis, -1)))
