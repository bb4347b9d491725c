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
    """Return `x` in the dtype of its computation: float64 unchanged, all else in float32.

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
    """Return `widen`, for functions that support complex numbers, which stay unchanged."""
    dtype = x.dtype
    return x if dtype is _SINGLE or dtype is _DOUBLE or dtype.kind == "c" else widen(x)


def is_half(x: Array) -> bool:
    """Return whether `x` holds float16 or bfloat16 (which NumPy does not know: its kind is "V")."""
    dtype = x.dtype
    return dtype is not _SINGLE and dtype.itemsize == 2 and dtype.kind in "fV"


def in_single(kernel: Callable[..., Array]) -> Callable[..., Array]:
    """Return a summing kernel with half precision summed in float32 and the result rounded once."""

    @functools.wraps(kernel)
    def widened(x: Array, *rest: Any, **attrs: Any) -> Array:
        if not is_half(x):
            return kernel(x, *rest, **attrs)
        inputs = [a.astype(np.float32) if hasattr(a, "dtype") and is_half(a) else a for a in (x, *rest)]
        return kernel(*inputs, **attrs).astype(x.dtype)

    return widened


def result_dtype(x: Array) -> Any:
    # Integers and booleans have no fractional result to keep, so they become float32.
    return np.dtype(np.float32) if x.dtype.kind in "biu" else x.dtype


def narrow(y: Array, like: Array) -> Array:
    """Return `y` as an array (NumPy turns 0-d results into scalars) in the dtype of a result for `like`."""
    return array_module(like).asarray(y, dtype=result_dtype(like))  # untyped cupy
