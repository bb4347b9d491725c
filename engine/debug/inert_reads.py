"""Reads of the user's values that run no code of their classes: neither ``__class__`` nor ``__getattr__``.

A dictionary with attribute access raises KeyError for a name that it lacks; a lazy proxy fetches what it stands for.
"""

from __future__ import annotations

from typing import Any

from hookscope.engine.tensors.tensor import Tensor

__all__ = ["array_of", "content_of", "is_a", "is_tensor"]


def is_a(value: object, *kinds: type) -> bool:
    """Return whether a value is of one of these classes."""
    return issubclass(type(value), kinds)


def is_tensor(value: object) -> bool:
    """Return whether a value is a tensor."""
    return issubclass(type(value), Tensor)


def array_of(tensor: Any) -> Any:
    """Return the array of a tensor."""
    return Tensor._array.__get__(tensor)


def content_of(value: object) -> Any:
    """Return the array of a tensor, and any other value as it is."""
    return array_of(value) if is_tensor(value) else value
