"""Suggestion for a misspelled name: the most similar known name."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "nearest", "suggestion"]


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


def suggestion(name: object, names: Iterable[str]) -> str:
    """Return ``; the nearest is '...'``, or "" without a similar known name."""
    match = nearest(name, names)
    return "" if match is None else f"; the nearest is {match!r}"


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return ``; did you mean '...'?``, or "" without a similar known name."""
    match = nearest(name, names)
    return "" if match is None else f"; did you mean '{match}'?"
