"""What many functions check of an argument before they use it: its type, its sign, that it is one of some words."""

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
"""The most numbers that an argument alone may ask for; more are refused before the first is made."""
MOST_LAYERS = 1 << 16
"""The most layers that one argument may ask for, each with cells or parameters of its own."""
Shown = Callable[[Any], str]
Number = TypeVar("Number", int, float)


def _type_of(value: object) -> str:
    return type(value).__name__


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def check_type(
    value: object, kind: type | UnionType, who: str, argument: str, what: str = "", show: Shown = _type_of
) -> Any:
    """The value, which must be an instance of ``kind``.

    Args:
        value: the argument.
        kind: its class, or several.
        who: the function or class that it is an argument of, for the error.
        argument: its name, for the error.
        what: what it must be, in words; without it the name of ``kind`` with "a" or "an".
        show: what the error shows of the value: its type or, with ``repr``, itself.

    Raises:
        TypeError: it is of another class.
    """
    if not isinstance(value, kind):
        kinds: tuple[Any, ...] = getattr(kind, "__args__", (kind,))
        names = ["None" if one is NoneType else _with_article(one.__name__) for one in kinds]
        what = what or " or ".join(names)
        raise TypeError(f"For '{who}', '{argument}' must be {what}, but got {show(value)}")
    return value


def check_bool(value: object, who: str, argument: str, show: Shown = _type_of) -> bool:
    """The value, which must be a bool; else a TypeError."""
    if not isinstance(value, bool):
        raise TypeError(f"For '{who}', '{argument}' must be a bool, but got {show(value)}")
    return value


def check_callable(
    value: object, who: str, argument: str, what: str = "a function", show: Shown = _type_of
) -> Callable[..., Any]:
    """The value, which must be callable; else a TypeError that says ``what`` it must be."""
    if not callable(value):
        raise TypeError(f"For '{who}', '{argument}' must be {what}, but got {show(value)}")
    return value


def check_int(value: object, who: str, argument: str, show: Shown = _type_of) -> int:
    """The value, which must be an int and no bool; else a TypeError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{who}', '{argument}' must be an int, but got {show(value)}")
    return value


def check_number(
    value: object, who: str, argument: str, show: Shown = _type_of, within: tuple[float, float] | None = None
) -> Any:
    """The value, which must be a real number and no bool, else a TypeError; a ValueError if it is not ``within``."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"For '{who}', '{argument}' must be a number, but got {show(value)}")
    if within is not None and not within[0] <= float(value) <= within[1]:
        allowed = f"in [{within[0]}, {within[1]}]" if within[1] < math.inf else f"{within[0]} or above"
        raise ValueError(f"For '{who}', '{argument}' must be {allowed}, but got {value}")
    return value


def check_real(value: object, who: str, argument: str) -> Any:
    """The value, which must be a real number, as a bool is; else a TypeError."""
    return check_type(value, Real, who, argument, "a number")


def check_above_zero(value: Number, who: str, argument: str) -> Number:
    """The number, which must be above 0; else a ValueError, and a TypeError of what is none."""
    check_real(value, who, argument)
    if not value > 0:  # of NaN no comparison is true
        raise ValueError(f"For '{who}', '{argument}' must be above 0, but got {value}")
    return value


def check_not_negative(value: Number, who: str, argument: str) -> Number:
    """The number, which must be 0 or above; else a ValueError, and a TypeError of what is none."""
    check_real(value, who, argument)
    if not value >= 0:
        raise ValueError(f"For '{who}', '{argument}' must not be negative, but got {value}")
    return value


def check_positive_int(value: object, who: str, argument: str, show: Shown = _type_of) -> int:
    """The value, which must be an int above 0 and no bool; else a TypeError or a ValueError."""
    return check_above_zero(check_int(value, who, argument, show), who, argument)


def check_at_most(value: Number, most: int, who: str, argument: str) -> Number:
    """The number, which must not be above ``most``; else a ValueError."""
    if value > most:
        raise ValueError(f"For '{who}', '{argument}' must be at most {most}, but got {value}")
    return value


def check_size(lengths: Iterable[int | None], who: str, argument: str) -> None:
    """Refuse lengths that ask for more than ``MOST_NUMBERS`` with a ValueError.

    Args:
        lengths: those that the argument gives; one that is not an int by itself, as None or what a trace leaves open,
            is not looked at.
        who: the function or class that it is an argument of, for the error.
        argument: its name, for the error.

    Raises:
        ValueError: their product is larger.
    """
    given = [n for n in lengths if type(n) is int]
    if math.prod(given) > MOST_NUMBERS:
        shown = given[0] if len(given) == 1 else tuple(given)
        raise ValueError(f"For '{who}', '{argument}' must ask for at most {MOST_NUMBERS} elements, but got {shown}")


def check_one_of(value: str, allowed: tuple[str, ...], who: str, argument: str) -> str:
    """The value, which must be one of two words or more; else a ValueError that names them all."""
    if not isinstance(value, str) or value not in allowed:
        *first, last = [f"'{word}'" for word in allowed]
        raise ValueError(f"For '{who}', '{argument}' must be {', '.join(first)} or {last}, but got {value!r}")
    return value
