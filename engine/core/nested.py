"""The tensors within what functions take and return: through tuples, lists and dictionaries, in order."""

from __future__ import annotations

from typing import Any

from .tensor import Tensor

__all__ = ["replaced", "tensors_in"]


def tensors_in(value: object) -> list[Tensor]:
    """The tensors in a value."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    return [t for part in value for t in tensors_in(part)] if isinstance(value, tuple | list) else []


def replaced(value: Any, tensors: list[Tensor]) -> Any:
    """The value with its tensors replaced in order, taken off the front of ``tensors``."""
    if isinstance(value, Tensor):
        return tensors.pop(0)
    if isinstance(value, dict):
        return type(value)((key, replaced(part, tensors)) for key, part in value.items())
    if isinstance(value, tuple | list):
        parts = [replaced(part, tensors) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value
