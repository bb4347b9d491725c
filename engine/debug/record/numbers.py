"""Numbers read off arrays, whatever their shape and dtype: what is looked at must not raise."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ends_of", "number_in"]


def number_in(array: Any) -> float:
    """Return the one number of an array of one element; of a complex one, its magnitude.

    NumPy 2.4 and newer refuse ``float(array)`` where the array has an axis.
    """
    number = array.item()
    return abs(number) if isinstance(number, complex) else float(number)


def ends_of(array: Any) -> tuple[float, float] | None:
    """Return the smallest and the largest element; None where there are none, or where they have no order."""
    if not array.size or array.dtype.kind == "c":
        return None
    with np.errstate(all="ignore"):  # of which a user may have made errors
        return float(array.min()), float(array.max())
