"""Text about the non-finite elements of a value: the numbers of NaN, inf and -inf, and their rows."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["nonfinite_text"]


def nonfinite_text(array: Any) -> str:
    """Return text such as ``8 -inf (2 of 4 rows hold nothing else, the first [0, 1])``; "" if all is finite."""
    array = array.get() if hasattr(array, "get") else np.asarray(array)
    if array.dtype.kind in "biu":
        return ""
    # As in the statistics: complex elements by their magnitude; float32 represents every smaller type.
    numbers = np.abs(array) if array.dtype.kind == "c" else array
    numbers = numbers if numbers.dtype.kind == "f" else numbers.astype(np.float32)
    parts = [
        f"{np.count_nonzero(mask)} {name}{_location(mask)}"
        for name, mask in (("NaN", np.isnan(numbers)), ("inf", numbers == np.inf), ("-inf", numbers == -np.inf))
        if mask.any()
    ]
    return " and ".join(parts)


def _location(bad: np.ndarray[Any, Any]) -> str:
    if bad.ndim < 2:
        return "" if bad.size == 1 else " and nothing else" if bad.all() else f" (the first at [{bad.argmax()}])"
    rows = np.asarray(bad.all(axis=-1))
    full_rows = int(np.count_nonzero(rows))
    if not full_rows:
        return f" (the first at {_index(bad)})"
    example = f", the first {_index(rows)}" if full_rows < rows.size else ""
    return f" ({full_rows} of {rows.size} rows hold nothing else{example})"


def _index(bad: np.ndarray[Any, Any]) -> list[int]:
    return [int(index) for index in np.unravel_index(int(bad.argmax()), bad.shape)]
