"""Where a value is not finite, in words: how many NaN, inf and -inf, and in which rows."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["nonfinite_text"]


def nonfinite_text(array: Any) -> str:
    """Write ``8 -inf (2 of 4 rows hold nothing else, the first [0, 1])``; "" where all is finite."""
    array = array.get() if hasattr(array, "get") else np.asarray(array)
    if array.dtype.kind in "biu":
        return ""
    # As the figures count: complex elements by their magnitude, and float32 holds every smaller type.
    numbers = np.abs(array) if array.dtype.kind == "c" else array
    numbers = numbers if numbers.dtype.kind == "f" else numbers.astype(np.float32)
    told = [
        f"{np.count_nonzero(bad)} {name}{_places(bad)}"
        for name, bad in (("NaN", np.isnan(numbers)), ("inf", numbers == np.inf), ("-inf", numbers == -np.inf))
        if bad.any()
    ]
    return " and ".join(told)


def _places(bad: np.ndarray[Any, Any]) -> str:
    if bad.ndim < 2:
        return "" if bad.size == 1 else " and nothing else" if bad.all() else f" (the first at [{bad.argmax()}])"
    rows = np.asarray(bad.all(axis=-1))
    whole = int(np.count_nonzero(rows))
    if not whole:
        return f" (the first at {_index(bad)})"
    which = f", the first {_index(rows)}" if whole < rows.size else ""
    return f" ({whole} of {rows.size} rows hold nothing else{which})"


def _index(bad: np.ndarray[Any, Any]) -> list[int]:
    return [int(place) for place in np.unravel_index(int(bad.argmax()), bad.shape)]
