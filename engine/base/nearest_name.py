"""Suggestion for a misspelled name: the most similar known name."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "nearest", "nearest_option", "suggestion"]


_ALIKE = 0.6  # of 1; less similar names are not suggested


def nearest(name: object, names: Iterable[str]) -> str | None:
    """Return the known name with a similar spelling, or with this as its last part; None if there is none."""
    import difflib  # only errors need it

    if not isinstance(name, str):
        return None
    candidates = list(names)
    matches = difflib.get_close_matches(name, candidates, n=1, cutoff=_ALIKE)
    return next(
        iter(matches or [candidate for candidate in candidates if name and candidate.endswith(f".{name}")]), None
    )


def nearest_option(name: str, options: Iterable[str]) -> str | None:
    """Return the long option that begins with this or has a similar spelling; None if there is none.

    The dashes are not compared: with them, ``--fo`` would be similar to ``-o``.
    """
    word = name.lstrip("-")
    long_options = {option[2:]: option for option in options if option.startswith("--")}
    match = next((known for known in long_options if word and known.startswith(word)), None)
    return long_options.get(match or nearest(word, long_options) or "")


def suggestion(name: object, names: Iterable[str]) -> str:
    """Return ``; the nearest is '...'``, or "" without a similar known name."""
    match = nearest(name, names)
    return "" if match is None else f"; the nearest is {match!r}"


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return ``; did you mean '...'?``, or "" without a similar known name."""
    match = nearest(name, names)
    return "" if match is None else f"; did you mean '{match}'?"
