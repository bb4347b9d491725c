"""Copies in one piece of arrays that lie in another order, where NumPy is slow: it takes element after element."""

from __future__ import annotations

import numpy as np

from .array_module import Array, array_module
from .compiling import address, is_worth, kernels
from .threads import share

__all__ = ["contiguous"]

_PART = 1 << 15
"""About how many elements a part has."""


def contiguous(x: Array) -> Array:
    """``x`` in one piece, as ``numpy.ascontiguousarray``; the same object if it is so."""
    if x.flags.c_contiguous or not (is_worth(x) and x.flags.aligned):
        return array_module(x).ascontiguousarray(x) if x.ndim else x
    matrices = _as_matrices(x)
    if matrices is None:
        return np.ascontiguousarray(x)
    made = np.empty(x.shape, np.float32)
    count, rows, columns, above, lead = matrices
    each = max(16, _PART // columns // 16 * 16)
    parts = count * -(-rows // each)
    share(kernels("copying").turned, parts, address(x), above, lead, address(made), rows, columns, each)
    return made


def _as_matrices(x: Array) -> tuple[int, int, int, int, int] | None:
    """How many matrices, rows and columns there are if ``x`` is matrices that lie by columns, and the distances of
    matrices and columns in elements."""
    found: list[tuple[int, int]] = []
    for length, step in zip(x.shape, x.strides, strict=True):
        if length == 1:
            continue
        if found and found[-1][1] == length * step:
            found[-1] = (found[-1][0] * length, step)
        else:
            found.append((length, step))
    if len(found) == 2:
        found.insert(0, (1, 0))
    if len(found) != 3 or found[1][1] != 4:
        return None
    (count, above), (rows, _), (columns, lead) = found
    return count, rows, columns, above // 4, lead // 4
