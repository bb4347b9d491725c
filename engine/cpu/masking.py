"""Choosing elements by a mask: one or the other, or one or 0, which half of all backward passes do."""

from __future__ import annotations

from typing import Any

import numpy as np

from hookscope.engine.cpu.array_module import Array, array_module, first_array

__all__ = ["kept", "where"]


def where(mask: Array, x: Any, y: Any) -> Array:
    """`x` where `mask` holds and `y` elsewhere; a number takes the dtype of the array beside it.

    CuPy's has no bfloat16 and would give float32, so such elements are chosen by their bits.
    """
    xp, like = array_module(mask), first_array(x, y)
    if xp is np or like.dtype.kind != "V":
        found: Array = xp.where(mask, x, y)
        return found
    bits = [
        (one.astype(like.dtype, copy=False) if hasattr(one, "get") else np.asarray(one, like.dtype)[()]).view(np.uint16)
        for one in (x, y)
    ]
    chosen: Array = xp.where(mask, *bits).view(like.dtype)
    return chosen


def kept(values: Array, mask: Array) -> Array:
    """`values` where `mask` holds and 0 elsewhere, also where they are infinite or NaN, unlike a product.

    Of NumPy arrays by their bits: `numpy.where` takes 4 ns an element where the mask has no pattern, this 0.3 ns
    (float32, one core).
    """
    xp = array_module(values)
    if xp is not np or values.dtype.itemsize > 8:
        return where(mask, values, values.dtype.type(0))
    integer = np.dtype(f"i{values.dtype.itemsize}")
    bits = np.array(mask, integer)
    np.negative(bits, out=bits)
    bits &= values.view(integer)
    return bits.view(values.dtype)
