"""Checks of arguments that many functions share: type, sign, membership in a list of words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from numbers import Real
from types import NoneType, UnionType
from typing import Any, TypeVar

__all__ = [
    "MOST_LAYERS",
    "MOST_NUMBERS",
    "check_above_zero",
    "check_at_most",
    "check_bool",
    "check_callable",
    "check_int",
    "check_not_negative",
    "check_number",
    "check_one_of",
    "check_positive_int",
    "check_real",
    "check_size",
    "check_type",
]

MOST_NUMBERS = 1 << 28
"""Largest number of elements that an argument alone may request; more are rejected before any is created."""
MOST_LAYERS = 1 << 16
"""Largest number of layers that one argument may request, each with cells or parameters."""
Formatter = Callable[[Any], str]
Number = TypeVar("Number", int, float)


def _type_of(value: object) -> str:
    return type(value).__name__


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def check_type(
    value: object, kind: type | UnionType, owner: str, argument: str, expected: str = "", show: Formatter = _type_of
) -> Any:
    """Return the value, which must be an instance of ``kind``.

    Args:
        value: the argument.
        kind: its class, or several.
        owner: the function or class of the argument, for the error.
        argument: the argument's name, for the error.
        expected: the required type, in words; by default the name of ``kind`` with "a" or "an".
        show: the text of the value in the error: its type or, with ``repr``, itself.

    Raises:
        TypeError: it is of the wrong class.
    """
    if not isinstance(value, kind):
        kinds: tuple[Any, ...] = getattr(kind, "__args__", (kind,))
        names = ["None" if cls is NoneType else _with_article(cls.__name__) for cls in kinds]
        expected = expected or " or ".join(names)
        raise TypeError(f"For '{owner}', '{argument}' must be {expected}, but got {show(value)}")
    return value


def check_bool(value: object, owner: str, argument: str, show: Formatter = _type_of) -> bool:
    """Return the value, which must be a bool; else raise a TypeError."""
    if not isinstance(value, bool):
        raise TypeError(f"For '{owner}', '{argument}' must be a bool, but got {show(value)}")
    return value


def check_callable(
    value: object, owner: str, argument: str, expected: str = "a function", show: Formatter = _type_of
) -> Callable[..., Any]:
    """Return the value, which must be callable; else raise a TypeError with the text ``expected``."""
    if not callable(value):
        raise TypeError(f"For '{owner}', '{argument}' must be {expected}, but got {show(value)}")
    return value


def check_int(value: object, owner: str, argument: str, show: Formatter = _type_of) -> int:
    """Return the value, which must be an int and not a bool; else raise a TypeError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{owner}', '{argument}' must be an int, but got {show(value)}")
    return value


def check_number(
    value: object, owner: str, argument: str, show: Formatter = _type_of, within: tuple[float, float] | None = None
) -> Any:
    """Return the value, which must be a real number, not a bool (else TypeError), and ``within`` (else ValueError)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"For '{owner}', '{argument}' must be a number, but got {show(value)}")
    if within is not None and not within[0] <= float(value) <= within[1]:
        allowed = f"in [{within[0]}, {within[1]}]" if within[1] < math.inf else f"{within[0]} or above"
        raise ValueError(f"For '{owner}', '{argument}' must be {allowed}, but got {value}")
    return value


def check_real(value: object, owner: str, argument: str) -> Any:
    """Return the value, which must be a real number or a bool; else raise a TypeError."""
    return check_type(value, Real, owner, argument, "a number")


def check_above_zero(value: Number, owner: str, argument: str) -> Number:
    """Return the number, which must be above 0 (else ValueError); a TypeError if it is not a number."""
    check_real(value, owner, argument)
    if not value > 0:  # all comparisons with NaN are false
        raise ValueError(f"For '{owner}', '{argument}' must be above 0, but got {value}")
    return value


def check_not_negative(value: Number, owner: str, argument: str) -> Number:
    """Return the number, which must be 0 or above (else ValueError); a TypeError if it is not a number."""
    check_real(value, owner, argument)
    if not value >= 0:
        raise ValueError(f"For '{owner}', '{argument}' must not be negative, but got {value}")
    return value


def check_positive_int(value: object, owner: str, argument: str, show: Formatter = _type_of) -> int:
    """Return the value, which must be an int above 0 and not a bool; else raise a TypeError or a ValueError."""
    return check_above_zero(check_int(value, owner, argument, show), owner, argument)


def check_at_most(value: Number, maximum: int, owner: str, argument: str) -> Number:
    """Return the number, which must not be above ``maximum``; else raise a ValueError."""
    if value > maximum:
        raise ValueError(f"For '{owner}', '{argument}' must be at most {maximum}, but got {value}")
    return value


def check_size(lengths: Iterable[int | None], owner: str, argument: str) -> None:
    """Raise a ValueError for lengths whose product is above ``MOST_NUMBERS``.

    Args:
        lengths: the lengths that the argument gives; those that are not plain ints, such as None or an open length of
            a trace, are ignored.
        owner: the function or class of the argument, for the error.
        argument: the argument's name, for the error.

    Raises:
        ValueError: their product is larger.
    """
    concrete_lengths = [n for n in lengths if type(n) is int]
    if math.prod(concrete_lengths) > MOST_NUMBERS:
        size = concrete_lengths[0] if len(concrete_lengths) == 1 else tuple(concrete_lengths)
        raise ValueError(f"For '{owner}', '{argument}' must ask for at most {MOST_NUMBERS} elements, but got {size}")


def check_one_of(value: str, allowed: tuple[str, ...], owner: str, argument: str) -> str:
    """Return the value, which must be one of at least two words; else raise a ValueError that names them all."""
    if not isinstance(value, str) or value not in allowed:
        *first, last = [f"'{word}'" for word in allowed]
        raise ValueError(f"For '{owner}', '{argument}' must be {', '.join(first)} or {last}, but got {value!r}")
    return value
