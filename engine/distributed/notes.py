"""Descriptions of calls in a fixed number of bytes: a digest of what must agree, and words for errors."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

__all__ = ["NOTE", "Array", "bytes_of", "describe", "note", "same_call", "text_of"]

Array = np.ndarray[Any, np.dtype[Any]]

NOTE = 256
_DIGEST = 16


def note(kind: str, properties: str, line: str) -> Array:
    """Return the bytes of a call.

    Args:
        kind: the name of the collective.
        properties: the properties that must agree on all ranks, in words.
        line: the user's calling line, which may differ.
    """
    digest = hashlib.blake2b(f"{kind}\0{properties}".encode(), digest_size=_DIGEST).digest()
    text = f"{kind}{f' of {properties}' if properties else ''}{f' ({line})' if line else ''}".encode()
    return np.frombuffer((digest + text[: NOTE - _DIGEST]).ljust(NOTE, b"\0"), np.uint8)


def same_call(a: Array, b: Array) -> bool:
    """Return whether two notes, ``a`` and ``b``, describe matching calls."""
    return a[:_DIGEST].tobytes() == b[:_DIGEST].tobytes()


def text_of(note_bytes: Array) -> str:
    """Return the text of another rank's note.

    Args:
        note_bytes: the note, as ``note`` returns it.
    """
    return note_bytes[_DIGEST:].tobytes().rstrip(b"\0").decode(errors="replace")


def describe(x: Array) -> str:
    """Return dtype and shape of ``x``, in words."""
    return f"{x.dtype.name} {list(x.shape)}"


def bytes_of(x: Array) -> Array:
    """Return the bytes of ``x``, an array in C order, as a view of its memory."""
    return x.reshape(-1).view(np.uint8)
