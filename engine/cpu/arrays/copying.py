"""Contiguous copies of arrays in another memory order, where NumPy is slow: it copies element by element."""

from __future__ import annotations

import numpy as np

from ..array_module import Array, array_module
from ..compiling import address, is_worth, kernels
from ..threads import share

__all__ = ["contiguous"]

_PART = 1 << 15
"""Approximate number of elements per part."""


def contiguous(x: Array) -> Array:
    """Return ``x`` contiguous, as ``numpy.ascontiguousarray``; the same object if it is."""
    if x.flags.c_contiguous or not (is_worth(x) and x.flags.aligned):
        return array_module(x).ascontiguousarray(x) if x.ndim else x
    matrices = _as_matrices(x)
    if matrices is None:
        return np.ascontiguousarray(x)
    copy = np.empty(x.shape, np.float32)
    count, rows, columns, above, lead = matrices
    rows_per_part = max(16, _PART // columns // 16 * 16)
    parts = count * -(-rows // rows_per_part)
    share(kernels("copying").turned, parts, address(x), above, lead, address(copy), rows, columns, rows_per_part)
    return copy


def _as_matrices(x: Array) -> tuple[int, int, int, int, int] | None:
    """Return the numbers of matrices, rows and columns if ``x`` consists of column-major matrices, and the strides of
    matrices and columns in elements."""
    merged: list[tuple[int, int]] = []
    for length, step in zip(x.shape, x.strides, strict=True):
        if length == 1:
            continue
        if merged and merged[-1][1] == length * step:
            merged[-1] = (merged[-1][0] * length, step)
        else:
            merged.append((length, step))
    if len(merged) == 2:
        merged.insert(0, (1, 0))
    if len(merged) != 3 or merged[1][1] != 4:
        return None
    (count, above), (rows, _), (columns, lead) = merged
    return count, rows, columns, above // 4, lead // 4
