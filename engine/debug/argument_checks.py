"""Checks of the arguments of a session; error messages name the argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["checked_flag", "checked_pauser", "checked_text", "checked_texts", "positive"]

_LONGEST = 10_000  # short enough for Python's compiler and for patterns


def positive(argument: str, value: object) -> int:
    """Return a positive integer.

    Raises:
        ValueError: it is not a positive integer.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{argument} must be a positive integer, got {value!r}")
    return value


def checked_flag(argument: str, value: object) -> bool:
    """Return True or False.

    Raises:
        TypeError: it is neither True nor False.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{argument} must be True or False, got {type(value).__name__}")
    return value


def checked_text(argument: str, value: object, kind: str = "a str") -> str:
    """Return a text: a name, a pattern or an expression.

    Args:
        argument: the argument's name in errors.
        value: the text.
        kind: the allowed type, in words.

    Raises:
        TypeError: it is not a str.
        ValueError: it has more than 10,000 characters.
    """
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be {kind}, got {type(value).__name__}")
    if len(value) > _LONGEST:
        raise ValueError(f"{argument} must have at most {_LONGEST:,} characters, got {len(value):,}")
    return value


def checked_texts(argument: str, value: Any, other: type | None = None) -> Sequence[Any]:
    """Return several texts, or a single one, as a tuple.

    Args:
        argument: the argument's name in errors.
        value: the texts.
        other: a class whose instances are also allowed.

    Raises:
        TypeError: it is, or contains, anything else.
        ValueError: one has more than 10,000 characters.
    """
    kind = "a str" if other is None else f"a str or a {other.__name__}"
    is_single = isinstance(value, str) or (other is not None and isinstance(value, other))
    if not is_single and (isinstance(value, bytes) or not hasattr(value, "__iter__")):
        raise TypeError(f"{argument} must be {kind}, or a list of them, got {type(value).__name__}")
    texts = (value,) if is_single else tuple(value)
    for index, text in enumerate(texts):
        if other is None or not isinstance(text, other):
            checked_text(argument if is_single else f"{argument}[{index}]", text, kind)
    return texts


def checked_pauser(value: Any) -> Any:
    """Return a pauser, or None.

    Raises:
        TypeError: it lacks the methods of a pauser.
    """
    has_methods = all(callable(getattr(value, method, None)) for method in ("unavailable", "wait"))
    if value is not None and (isinstance(value, type) or not has_methods):
        kind = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise TypeError(f"pauser must be an object with the methods unavailable and wait, got {kind}")
    return value
