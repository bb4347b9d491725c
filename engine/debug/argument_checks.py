"""Arguments that a session is given, checked one by one: what is wrong is told by the argument's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["checked_flag", "checked_pauser", "checked_text", "checked_texts", "positive"]

_LONGEST = 10_000  # what Python's compiler, and patterns, take in no time


def positive(argument: str, given: object) -> int:
    """Return a positive integer.

    Raises:
        ValueError: it is none.
    """
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ValueError(f"{argument} must be a positive integer, got {given!r}")
    return given


def checked_flag(argument: str, given: object) -> bool:
    """Return True or False.

    Raises:
        TypeError: it is neither.
    """
    if not isinstance(given, bool):
        raise TypeError(f"{argument} must be True or False, got {type(given).__name__}")
    return given


def checked_text(argument: str, given: object, kind: str = "a str") -> str:
    """Return a text: a name, a pattern, an expression.

    Args:
        argument: what errors call it.
        given: the text.
        kind: what is allowed, in words.

    Raises:
        TypeError: it is none.
        ValueError: it is longer than anybody would write.
    """
    if not isinstance(given, str):
        raise TypeError(f"{argument} must be {kind}, got {type(given).__name__}")
    if len(given) > _LONGEST:
        raise ValueError(f"{argument} must have at most {_LONGEST:,} characters, got {len(given):,}")
    return given


def checked_texts(argument: str, given: Any, other: type | None = None) -> Sequence[Any]:
    """Return several texts, or the one that was given, as a tuple.

    Args:
        argument: what errors call it.
        given: the texts.
        other: a class whose objects may stand in the place of texts.

    Raises:
        TypeError: it is something else, or has something else in it.
        ValueError: one is longer than anybody would write.
    """
    kind = "a str" if other is None else f"a str or a {other.__name__}"
    alone = isinstance(given, str) or (other is not None and isinstance(given, other))
    if not alone and (isinstance(given, bytes) or not hasattr(given, "__iter__")):
        raise TypeError(f"{argument} must be {kind}, or a list of them, got {type(given).__name__}")
    found = (given,) if alone else tuple(given)
    for place, one in enumerate(found):
        if other is None or not isinstance(one, other):
            checked_text(argument if alone else f"{argument}[{place}]", one, kind)
    return found


def checked_pauser(given: Any) -> Any:
    """Return who answers at a pause, or None.

    Raises:
        TypeError: it could not answer.
    """
    able = all(callable(getattr(given, method, None)) for method in ("unavailable", "wait"))
    if given is not None and (isinstance(given, type) or not able):
        what = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
        raise TypeError(f"pauser must be an object with the methods unavailable and wait, got {what}")
    return given
