"""Numbers read from arrays of any shape and dtype; reading must not raise."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ends_of", "number_in"]


def number_in(array: Any) -> float:
    """Return the element of an array of one element; for a complex one, its magnitude.

    NumPy 2.4 and newer reject ``float(array)`` if the array has an axis.
    """
    number = array.item()
    return abs(number) if isinstance(number, complex) else float(number)


def ends_of(array: Any) -> tuple[float, float] | None:
    """Return the smallest and the largest element; None for an empty array or elements without an order."""
    if not array.size or array.dtype.kind == "c":
        return None
    with np.errstate(all="ignore"):  # the user may have turned warnings into errors
        return float(array.min()), float(array.max())
