"""Checks of constructor arguments, with MindSpore's exception classes."""

from __future__ import annotations

__all__ = ["check_bool", "check_positive_int"]


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
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{layer}', '{argument}' must be an int, but got {type(value).__name__}")
    if value <= 0:
        raise ValueError(f"For '{layer}', '{argument}' must be above 0, but got {value}")
    return value


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
