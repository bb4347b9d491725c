"""Selection of elements by a mask: from two operands, or from one and 0, as in half of all backward passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from hookscope.engine.cpu.array_module import Array, array_module, first_array

__all__ = ["where", "zero_outside"]


def where(mask: Array, x: Any, y: Any) -> Array:
    """Return `x` where `mask` holds and `y` elsewhere; a number takes the dtype of the other operand.

    CuPy's function has no bfloat16 and would return float32, so such elements are selected by their bits.
    """
    xp, like = array_module(mask), first_array(x, y)
    if xp is np or like.dtype.kind != "V":
        selected: Array = xp.where(mask, x, y)
        return selected
    bits = [
        (
            operand.astype(like.dtype, copy=False) if hasattr(operand, "get") else np.asarray(operand, like.dtype)[()]
        ).view(np.uint16)
        for operand in (x, y)
    ]
    chosen: Array = xp.where(mask, *bits).view(like.dtype)
    return chosen


def zero_outside(values: Array, mask: Array) -> Array:
    """Return `values` where `mask` holds and 0 elsewhere, even where they are infinite or NaN, unlike a product.

    For NumPy arrays by their bits: `numpy.where` takes 4 ns per element for a mask without a pattern, this 0.3 ns
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
