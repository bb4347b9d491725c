"""Checks of the arguments of ``log``: names, numbers of any library, and steps."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any, Final, SupportsIndex

from hookscope.engine.tensors.tensor import Tensor

from .numbers import number_in

__all__ = ["MISSING", "checked_numbers", "checked_step"]


class _Missing:
    """The type of ``MISSING``."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""The default of an argument for which None is an error."""

_MAX_NAME = 200  # characters
_MAX_STEP = 2**53  # a larger integer is not exact as a number of the page
_MAX_DEPTH = 8  # of mappings in mappings


def checked_numbers(name: Any, value: Any) -> dict[str, float]:
    """Return numbers by name, from a name and a number or from a mapping.

    Raises:
        TypeError: a name is not a str, or a value is not a number.
        ValueError: an empty or long name, a number that is too large, or mappings nested too deeply.
    """
    if isinstance(name, Mapping):
        if value is not MISSING:
            raise TypeError("log: value must be left out after a mapping; a step is passed as step=...")
        numbers: dict[str, float] = {}
        _add_all(numbers, name, "", 0)
        return numbers
    if value is MISSING:
        if isinstance(name, str):
            raise TypeError(f"log: the value of {name[:_MAX_NAME]!r} is missing: log(name, value)")
        raise TypeError(f"log: name must be a str or a mapping of names to numbers, got {type(name).__name__}")
    return {_checked_name(name): _number(name, value)}


def _add_all(numbers: dict[str, float], mapping: Mapping[Any, Any], prefix: str, depth: int) -> None:
    if depth == _MAX_DEPTH:
        raise ValueError(f"log: {prefix!r} is nested too deeply: at most {_MAX_DEPTH} mappings in each other")
    for key, value in mapping.items():
        name = prefix + _checked_name(key)
        if isinstance(value, Mapping):
            _add_all(numbers, value, f"{name}.", depth + 1)
        else:
            numbers[_checked_name(name)] = _number(name, value)


def _checked_name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"log: name must be a str, got {type(name).__name__}")
    if not 0 < len(name) <= _MAX_NAME:
        raise ValueError(f"log: name must have 1 to {_MAX_NAME} characters, got {len(name)}")
    return name


def _number(name: str, value: Any) -> float:
    number = number_or_none(value)
    if number is None:
        size = getattr(value, "size", None)
        what = f"{type(value).__name__} of {size} elements" if isinstance(size, int) else type(value).__name__
        raise TypeError(f"log: the value of {name!r} must be a number, or an array of one element, got {what}")
    return number


def number_or_none(value: Any) -> float | None:
    """Return the number that a value is or contains; None if it is not a real number.

    Raises:
        ValueError: an int that is too large for a float.
    """
    if isinstance(value, Tensor):
        value = value._array
        return number_in(value) if value.size == 1 and value.dtype.kind in "biufV" else None
    if isinstance(value, str | bytes | bytearray | complex) or value is None:
        return None
    try:
        # An array of another library gives its element by item(), whatever number of axes it has.
        item = value if isinstance(value, int | float) else getattr(value, "item", lambda: value)()
        return None if isinstance(item, str | bytes | complex) else float(item)
    except OverflowError:
        raise ValueError(f"log: an int of {value.bit_length()} bits is too large for a float") from None
    except (TypeError, ValueError, RuntimeError):
        return None


def checked_step(step: SupportsIndex | None) -> int | None:
    """Return a step as an int, or None.

    Raises:
        TypeError: it is not an integer.
        ValueError: its magnitude exceeds 2**53.
    """
    if step is None:
        return None
    if isinstance(step, bool) or not hasattr(type(step), "__index__"):
        raise TypeError(f"log: step must be an int or None, got {type(step).__name__}")
    try:
        number = index(step)
    except TypeError:  # an array with axes, or of floats
        raise TypeError(f"log: step must be an int or None, got {type(step).__name__}") from None
    if abs(number) > _MAX_STEP:
        raise ValueError("log: step must be between -2**53 and 2**53")
    return number
