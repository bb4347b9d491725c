"""Half precision is computed in Float32 and rounded once, at the end; results keep the dtype of the input."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from hookscope.engine.cpu.array_module import Array, array_module

__all__ = ["in_single", "is_half", "narrow", "widen", "widen_any"]

# Nearly all arrays have one of these very objects.
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def widen(x: Array) -> Array:
    """`x` in the dtype it is computed in: float64 as it is, all else in float32.

    Raises:
        TypeError: complex numbers, whose imaginary parts would be lost.
    """
    dtype = x.dtype
    if dtype is _SINGLE or dtype is _DOUBLE:
        return x
    if dtype.kind == "c":
        raise TypeError("the numbers must be real")
    return x.astype(np.float64 if dtype == _DOUBLE else np.float32, copy=False)


def widen_any(x: Array) -> Array:
    """`widen` for functions that mean something for complex numbers too: these as they are."""
    dtype = x.dtype
    return x if dtype is _SINGLE or dtype is _DOUBLE or dtype.kind == "c" else widen(x)


def is_half(x: Array) -> bool:
    """Return whether `x` holds float16 or bfloat16 (which NumPy does not know: its kind is "V")."""
    dtype = x.dtype
    return dtype is not _SINGLE and dtype.itemsize == 2 and dtype.kind in "fV"


def in_single(kernel: Callable[..., Array]) -> Callable[..., Array]:
    """Return a kernel that adds up: what is given in half precision is added in float32 and the result rounded once."""

    @functools.wraps(kernel)
    def widened(x: Array, *rest: Any, **attrs: Any) -> Array:
        if not is_half(x):
            return kernel(x, *rest, **attrs)
        given = [a.astype(np.float32) if hasattr(a, "dtype") and is_half(a) else a for a in (x, *rest)]
        return kernel(*given, **attrs).astype(x.dtype)

    return widened


def result_dtype(x: Array) -> Any:
    # Integers and booleans have no fractional result to keep, so they become float32.
    return np.dtype(np.float32) if x.dtype.kind in "biu" else x.dtype


def narrow(y: Array, like: Array) -> Array:
    """`y` as an array (NumPy makes scalars of 0-d results) in the dtype a result for `like` has."""
    return array_module(like).asarray(y, dtype=result_dtype(like))  # untyped cupy
