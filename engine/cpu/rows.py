"""How kernels that work along rows share them out."""

from __future__ import annotations

from .array_module import Array
from .compiling import ready
from .copying import contiguous

__all__ = ["as_rows", "per_part"]

_PART = 1 << 13
"""Elements of a part, if a row has no more."""


def per_part(rows: int, count: int) -> tuple[int, int]:
    """How many rows of ``count`` elements a part has, and how many parts there are."""
    each = max(1, _PART // max(1, count))
    return each, -(-rows // each)


def as_rows(x: Array, axis: int) -> Array:
    """``x`` in one piece in which the numbers along ``axis`` lie side by side."""
    return ready(contiguous(x.swapaxes(axis, -1)))
