"""Text of foreign names in messages."""

from __future__ import annotations

__all__ = ["escape", "quoted"]

_MOST = 120


def escape(name: str) -> str:
    """Return a name with control and invisible characters escaped, truncated if it is long."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name[:_MOST])
    return text if len(name) <= _MOST else f"{text}… ({len(name):,} characters)"


def quoted(text: str) -> str:
    """Return a text as a Python literal, truncated if it is long."""
    return repr(text) if len(text) <= _MOST else f"{text[:_MOST]!r}… ({len(text):,} characters)"
