"""The element type that ``Cell.to_float`` asks for: while such a cell runs, operators cast floating tensors to it.

Operators look at ``scopes`` first, which is 0 as long as no such cell runs anywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .dtype import DType, bfloat16
from .tensor import Tensor

__all__ = ["cast_operands", "current", "scope"]

scopes = 0
_lock = threading.Lock()


class _Local(threading.local):
    dtype: DType | None = None


_local = _Local()


def current() -> DType | None:
    """The element type in force in this thread."""
    return _local.dtype


@contextmanager
def scope(dtype: DType | None) -> Iterator[None]:
    """Operators in this thread compute in ``dtype`` inside the block; None lets them be."""
    global scopes
    before = _local.dtype
    with _lock:
        scopes += 1
    _local.dtype = dtype
    try:
        yield
    finally:
        _local.dtype = before
        with _lock:
            scopes -= 1


def cast_operands(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands of an operator, the floating tensors among them in the element type in force."""
    dtype = _local.dtype
    if dtype is None:
        return operands
    from .operator import OPERATORS

    cast, wanted = OPERATORS["cast"], dtype.numpy
    found = []
    for x in operands:
        if isinstance(x, Tensor):
            if x._array.dtype != wanted and _floating(x._array.dtype):
                x = cast(x, dtype=wanted)
        elif isinstance(getattr(x, "dtype", None), np.dtype) and _floating(x.dtype):
            x = x.astype(wanted)  # a number that was made an array to go with a tensor
        found.append(x)
    return tuple(found)


def _floating(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or dtype == bfloat16.numpy
