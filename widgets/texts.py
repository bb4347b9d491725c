"""Short texts for panels: values, shapes, errors and names, of any object of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession

_MAX_VALUE = 2000  # maximum characters of a value's text in a table row and its tooltip


def shape_text(shape: Sequence[int]) -> str:
    """Format a shape as in the session's own table: `2x3`."""
    return "x".join(map(str, shape)) or "()"


def same_text(numbers: Any) -> str:
    """Format the common value of all elements of a numeric array; "" if they differ."""
    if not numbers.size:
        return ""
    first = float(numbers.flat[0])
    if np.isnan(first):
        return "NaN" if np.isnan(numbers).all() else ""
    if not (numbers == first).all():
        return ""
    return f"{first + 0.0:.6g}".replace("-inf", "\N{MINUS SIGN}inf")  # -0.0 is written as 0


def one_line(text: str, limit: int = 300) -> str:
    """Return the first line of `text`, cut to `limit` characters."""
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= limit else line[: limit - 1] + "…"


def error_line(error: BaseException) -> str:
    """Format an exception as the one line that a panel shows."""
    try:
        text = one_line(str(error))
    except Exception as secondary:  # the text of an exception of a user's class
        text = f"<its text raised {type(secondary).__name__}>"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def array_in(value: object) -> Any:
    """Return the array of a tensor, None for any other value, also one whose attributes raise."""
    try:
        array = getattr(value, "_array", None)
        return array if hasattr(array, "shape") else None
    except Exception:  # a class of the user's
        return None


def value_text(value: object, limit: int = _MAX_VALUE) -> str:
    """Format any value of the user's code; a tensor as shape, dtype and its first numbers."""
    array = array_in(value)
    if array is not None:
        return _tensor_text(value, array)
    try:
        text = repr(value)
    except Exception as error:  # a user's __repr__ may raise anything; the table must still be shown
        return f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _tensor_text(value: object, array: Any, count: int = 6) -> str:
    head = array.reshape(-1)[:count]
    head = head.get() if hasattr(head, "get") else np.asarray(head)
    numbers = ", ".join(f"{x:.5g}" if isinstance(x, (float, complex)) else str(x) for x in head.tolist())
    more = ", …" if array.size > count else ""
    return f"{type(value).__name__} {shape_text(array.shape)} {dtype_text(value)} [{numbers}{more}]"


def dtype_text(value: Any) -> str:
    """Format a dtype in lower case, as NumPy does (`float32`)."""
    return str(getattr(value, "dtype", value)).lower()


def root_name(session: DebugSession) -> str:
    """Return a name for the network of a session."""
    names = [one_line(type(root).__name__, 60) for root in session.roots]
    return ", ".join(names) if names else "no network yet"


def counted(number: int, what: str) -> str:
    """Format a count: "1 step", "1,200 steps"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
