"""The known name that is spelled most like a wrong one: what an error suggests."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "nearest", "suggestion"]


def nearest(name: str, known: Iterable[str], alike: float = 0.0) -> str | None:
    """The known name that is spelled most alike, by ``alike`` (0 to 1) at least; None if there is none."""
    import difflib  # only errors need it

    found = difflib.get_close_matches(name, list(known), n=1, cutoff=alike)
    return found[0] if found else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """``; the nearest is '...'``, or nothing where nothing is known."""
    found = nearest(name, known)
    return "" if found is None else f"; the nearest is {found!r}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean '...'?``, or nothing where no known name is spelled much alike."""
    found = nearest(name, known, alike=0.6)
    return "" if found is None else f"; did you mean '{found}'?"
