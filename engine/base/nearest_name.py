"""The known name that is spelled most like a wrong one: what an error suggests."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "nearest", "suggestion"]


_ALIKE = 0.6  # of 1; what is less alike is another name


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The known name that is spelled much alike, or has this as its last part; None if there is none."""
    import difflib  # only errors need it

    if not isinstance(name, str):
        return None
    there = list(known)
    found = difflib.get_close_matches(name, there, n=1, cutoff=_ALIKE)
    return next(iter(found or [one for one in there if name and one.endswith(f".{name}")]), None)


def suggestion(name: object, known: Iterable[str]) -> str:
    """``; the nearest is '...'``, or nothing where no known name is like it."""
    found = nearest(name, known)
    return "" if found is None else f"; the nearest is {found!r}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean '...'?``, or nothing where no known name is like it."""
    found = nearest(name, known)
    return "" if found is None else f"; did you mean '{found}'?"
