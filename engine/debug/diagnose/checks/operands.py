"""Operands and results of operators: arrays and constants, nested or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hookscope.engine.tensors.tensor import Tensor

__all__ = ["array_of", "arrays_of", "as_tensors", "constants_of"]


def constants_of(value: Any) -> Iterator[float]:
    """Yield Python's floats in a value."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from constants_of(item)
    elif isinstance(value, dict):
        yield from constants_of(tuple(value.values()))


def array_of(value: Any) -> Any:
    """Return the array of a tensor, or any other value unchanged."""
    return getattr(value, "_array", value)


def as_tensors(value: Any) -> Any:
    """Return arrays as tensors, for display."""
    if isinstance(value, tuple | list):
        return type(value)(map(as_tensors, value))
    return Tensor._wrap(value) if hasattr(value, "dtype") and not isinstance(value, Tensor) else value


def arrays_of(value: Any) -> list[Any]:
    """Return the arrays among the arguments of a gradient rule: arrays, tensors, and other values."""
    values = value if isinstance(value, tuple | list) else (value,)
    return [array for array in map(array_of, values) if hasattr(array, "dtype") and hasattr(array, "size")]
