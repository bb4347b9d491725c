"""Operands and results of operators: arrays and constants, nested or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hookscope.engine.cpu.array_module import array_module
from hookscope.engine.tensors.backend import to_host
from hookscope.engine.tensors.tensor import Tensor

__all__ = ["array_of", "arrays_of", "as_tensors", "constants_of", "flat", "sample_of"]


def constants_of(value: Any) -> Iterator[float]:
    """Yield Python's floats in a value."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from constants_of(item)
    elif isinstance(value, dict):
        yield from constants_of(tuple(value.values()))


def flat(value: Any) -> Iterator[Any]:
    """Yield the operands of an operator, or its results, and those in a list or tuple among them."""
    if isinstance(value, tuple | list):
        for item in value:
            if isinstance(item, tuple | list):
                yield from item
            else:
                yield item
    else:
        yield value


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


def sample_of(array: Any, count: int) -> Any:
    """Return up to so many elements, evenly distributed over an array with axes, on the host in float32."""
    indices = np.unique(np.linspace(0, array.size - 1, min(count, array.size)).astype(np.int64))
    with np.errstate(all="ignore"):  # the user may have turned warnings into errors
        positions = map(array_module(array).asarray, np.unravel_index(indices, array.shape))
        return to_host(array[tuple(positions)]).astype(np.float32)
