"""Sorting as in CuPy, which uses Thrust.

Sorts are stable and refuse bfloat16. ``ndarray.sort``, which sorts in place, requires a C-contiguous array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .counts import launched
from .facts import BFLOAT16

if TYPE_CHECKING:
    from .arrays import ndarray

__all__ = ["argsort", "lexsort", "sort"]

# CUB's radix sort of 32 bits by 8 at a time: histogram, prefix sums, four passes. Rows are merged, in more steps.
PASSES = 6


def _refuse(array: ndarray) -> None:
    if array.dtype == BFLOAT16:
        raise TypeError(f"Sorting arrays with dtype '{array.dtype}' is not supported")


def sort(array: ndarray, axis: int) -> None:
    """Compute ``array.sort(axis)``."""
    if array.ndim == 0:
        raise np.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")
    if not array.flags.c_contiguous:
        raise NotImplementedError("Sorting non-contiguous array is not supported.")
    _refuse(array)
    launched("ndarray.sort", PASSES + _turned(array, axis))
    array._values.sort(axis, kind="stable")


def argsort(array: ndarray, axis: Any) -> ndarray:
    """Return ``array.argsort(axis)``: stable."""
    from .arrays import wrapped

    _refuse(array)
    launched("ndarray.argsort", 1 + PASSES + _turned(array, axis))  # 1: it sorts a copy
    values = array._values if array.ndim else array._values.reshape(1)
    result = np.argsort(values, axis=axis, kind="stable").astype(np.int64)
    return wrapped(np.ascontiguousarray(result))


def lexsort(keys: ndarray) -> ndarray:
    """Return ``cupy.lexsort(keys)``, of one array of keys of at most two dimensions."""
    from .arrays import wrapped

    _refuse(keys)
    if keys.ndim > 2:
        raise NotImplementedError("Keys with the rank of three or more is not supported in lexsort")
    launched("lexsort", PASSES * (len(keys) if keys.ndim == 2 else 1))
    return wrapped(np.lexsort(keys._values).astype(np.int64))


def _turned(array: ndarray, axis: Any) -> int:
    """Count the copies there and back for an axis that is not the last one."""
    return 0 if axis is None or array.ndim == 0 or axis % array.ndim == array.ndim - 1 else 2
