"""Which names and texts a checkpoint holds."""

from __future__ import annotations

from ..core.parameter import LONGEST_NAME

__all__ = ["is_name", "is_text"]


def is_text(value: str) -> bool:
    """Whether Unicode has a code for each character: half of one, as in a file name that is no UTF-8, has none.

    Args:
        value: the text.
    """
    return not any("\ud800" <= c <= "\udfff" for c in value)


def is_name(value: str) -> bool:
    """Whether a text can name a parameter in a file: it says something, and is not longer than a parameter's.

    Args:
        value: the text.
    """
    return bool(value.strip()) and len(value) <= LONGEST_NAME and is_text(value)
