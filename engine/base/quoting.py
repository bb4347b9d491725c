"""Names that others chose, as they stand in a message."""

from __future__ import annotations

__all__ = ["quoted", "shown"]

_MOST = 120


def shown(name: str) -> str:
    """A name without what a terminal would obey or hide, and cut where it is long."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name[:_MOST])
    return text if len(name) <= _MOST else f"{text}… ({len(name):,} characters)"


def quoted(text: str) -> str:
    """A text as it is written in Python, cut where it is long."""
    return repr(text) if len(text) <= _MOST else f"{text[:_MOST]!r}… ({len(text):,} characters)"
