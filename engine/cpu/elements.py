"""Compiled functions of single elements, over arrays of any dense memory order."""

from __future__ import annotations

import numpy as np

from .array_module import Array
from .compiling import address, kernels
from .threads import share

__all__ = ["in_order_of", "mapped", "new_like"]

_BLOCK = 8192  # of ``compiled.loops``, which imports Numba


def mapped(file: str, name: str, x: Array, y: Array | None = None, number: float = 0.0) -> Array:
    """What a kernel of ``loops.elementwise`` gives.

    Args:
        file: in ``compiled``.
        name: of the kernel in it.
        x: float32, of any shape and memory order.
        y: the kernel's second array, float32 of the same shape; without it the kernel gets ``x`` twice.
        number: the kernel's number.

    Returns:
        A new array of that shape, in the memory order of ``x``. An element's bits depend on its arguments alone.
    """
    made = new_like(x)
    x = in_order_of(made, x)
    y = x if y is None else in_order_of(made, y)
    kernel, count = getattr(kernels(file), name), x.size
    share(kernel, -(-count // _BLOCK), address(made), address(x), address(y), number, count)
    return made


def new_like(x: Array) -> Array:
    """Return a new array of the shape of ``x``, in one piece and in its memory order."""
    return np.empty_like(x, subok=False)


def in_order_of(made: Array, x: Array) -> Array:
    """``x`` in one piece, aligned, and in the memory order of ``made``, which is so; the same object if it is."""
    flags, factor = x.flags, made.itemsize // x.itemsize
    if flags.aligned and (
        (flags.c_contiguous and made.flags.c_contiguous) or made.strides == tuple([factor * step for step in x.strides])
    ):
        return x
    copy = np.empty_like(made, dtype=x.dtype)
    copy[...] = x
    return copy
