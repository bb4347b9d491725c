"""Compiled elementwise functions, over arrays of any dense memory order."""

from __future__ import annotations

import numpy as np

from ..array_module import Array
from ..compiling import address, kernels
from ..threads import share

__all__ = ["in_order_of", "mapped", "new_like"]

_BLOCK = 8192  # of ``compiled.library.loops``, which imports Numba


def mapped(file: str, name: str, x: Array, y: Array | None = None, number: float = 0.0) -> Array:
    """Return the result of a kernel of ``loops.elementwise``.

    Args:
        file: the file in ``compiled``.
        name: the name of the kernel in it.
        x: float32, of any shape and memory order.
        y: the kernel's second array, float32 of the same shape; by default the kernel gets ``x`` twice.
        number: the kernel's number.

    Returns:
        A new array of that shape, in the memory order of ``x``. An element's bits depend on its arguments only.
    """
    result = new_like(x)
    x = in_order_of(result, x)
    y = x if y is None else in_order_of(result, y)
    kernel, count = getattr(kernels(file), name), x.size
    share(kernel, -(-count // _BLOCK), address(result), address(x), address(y), number, count)
    return result


def new_like(x: Array) -> Array:
    """Return a new dense array of the shape and memory order of ``x``."""
    return np.empty_like(x, subok=False)


def in_order_of(like: Array, x: Array) -> Array:
    """Return ``x`` dense, aligned, and in the memory order of ``like``, which is both; the same object if it is."""
    flags, factor = x.flags, like.itemsize // x.itemsize
    if flags.aligned and (
        (flags.c_contiguous and like.flags.c_contiguous) or like.strides == tuple([factor * step for step in x.strides])
    ):
        return x
    copy = np.empty_like(like, dtype=x.dtype)
    copy[...] = x
    return copy
