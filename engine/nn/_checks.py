"""Checks of constructor arguments, with MindSpore's exception classes."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

__all__ = ["check_bool", "check_int", "check_number", "check_positive_int"]


def check_int(value: object, layer: str, argument: str) -> int:
    """``value`` if it is an int.

    Args:
        value: what the user gave.
        layer: the class's name, for the error.
        argument: the argument's name, for the error.

    Raises:
        TypeError: it is no int (a bool is none).
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{layer}', '{argument}' must be an int, but got {type(value).__name__}")
    return value


def check_positive_int(value: object, layer: str, argument: str) -> int:
    """``value`` if it is an int above 0.

    Args:
        value: what the user gave.
        layer: the class's name, for the error.
        argument: the argument's name, for the error.

    Raises:
        TypeError: it is no int (a bool is none).
        ValueError: it is not above 0.
    """
    number = check_int(value, layer, argument)
    if number <= 0:
        raise ValueError(f"For '{layer}', '{argument}' must be above 0, but got {number}")
    return number


def check_bool(value: object, layer: str, argument: str) -> bool:
    """``value`` if it is a bool.

    Args:
        value: what the user gave.
        layer: the class's name, for the error.
        argument: the argument's name, for the error.

    Raises:
        TypeError: it is no bool.
    """
    if not isinstance(value, bool):
        raise TypeError(f"For '{layer}', '{argument}' must be a bool, but got {type(value).__name__}")
    return value


def check_number(value: Any, layer: str, argument: str, within: tuple[float, float] | None = None) -> Any:
    """``value`` if it is a number.

    Args:
        value: what the user gave.
        layer: the class's name, for the error.
        argument: the argument's name, for the error.
        within: the least and the largest number that is allowed.

    Raises:
        TypeError: it is no number (a bool is none).
        ValueError: it is not ``within``.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"For '{layer}', '{argument}' must be a number, but got {type(value).__name__}")
    if within is not None and not within[0] <= float(value) <= within[1]:
        allowed = f"in [{within[0]}, {within[1]}]" if within[1] < math.inf else f"{within[0]} or above"
        raise ValueError(f"For '{layer}', '{argument}' must be {allowed}, but got {value}")
    return value
