"""Descriptions of calls in a fixed number of bytes: a digest of what must agree, and words for errors."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

__all__ = ["NOTE", "Array", "bytes_of", "described", "note", "same_call", "words"]

Array = np.ndarray[Any, np.dtype[Any]]

NOTE = 256
_DIGEST = 16


def note(kind: str, what: str, line: str) -> Array:
    """Return the bytes of a call.

    Args:
        kind: the name of the collective.
        what: the properties that must agree on all ranks, in words.
        line: the user's calling line, which may differ.
    """
    digest = hashlib.blake2b(f"{kind}\0{what}".encode(), digest_size=_DIGEST).digest()
    text = f"{kind}{f' of {what}' if what else ''}{f' ({line})' if line else ''}".encode()
    return np.frombuffer((digest + text[: NOTE - _DIGEST]).ljust(NOTE, b"\0"), np.uint8)


def same_call(a: Array, b: Array) -> bool:
    """Return whether two notes, ``a`` and ``b``, describe matching calls."""
    return a[:_DIGEST].tobytes() == b[:_DIGEST].tobytes()


def words(told: Array) -> str:
    """Return the words of a note that another rank ``told``."""
    return told[_DIGEST:].tobytes().rstrip(b"\0").decode(errors="replace")


def described(x: Array) -> str:
    """Return dtype and shape of ``x``, in words."""
    return f"{x.dtype.name} {list(x.shape)}"


def bytes_of(x: Array) -> Array:
    """Return the bytes of ``x``, an array in C order, as a view of its memory."""
    return x.reshape(-1).view(np.uint8)
