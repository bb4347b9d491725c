"""The element type that ``Cell.to_float`` asks for: while such a cell runs, operators cast floating tensors to it.

Mixed precision by a white list asks it of the listed operator classes alone, whose results become float32 again.

Operators look at ``scopes`` first, which is empty as long as no such cell runs anywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..tape.tape import attention
from .dtype import DType, bfloat16, float32
from .tensor import Tensor

__all__ = ["Listed", "by_class", "cast_floats", "cast_operands", "current", "listed", "scope"]

scopes: list[object] = []


class Listed(NamedTuple):
    """Operators that compute in an element type of their own.

    Attributes:
        classes: operator classes that compute in ``dtype``, and whose results become float32 again.
        dtype: float16 or bfloat16.
        lower: names in the operator table: these compute in ``dtype``, and so are their results.
        full: likewise of those that compute in float32.
    """

    classes: frozenset[type]
    dtype: DType
    lower: frozenset[str] = frozenset()
    full: frozenset[str] = frozenset()


class _Local(threading.local):
    dtype: DType | None = None
    listed: Listed | None = None


_local = _Local()


def current() -> DType | None:
    """The element type in force in this thread."""
    return _local.dtype


def listed() -> Listed | None:
    """The operator classes in force in this thread."""
    return _local.listed


@contextmanager
def scope(dtype: DType | None, listed: Listed | None = None) -> Iterator[None]:
    """Operators in this thread compute in ``dtype`` inside the block, None lets them be; listed classes in theirs."""
    before, mine = (_local.dtype, _local.listed), object()
    scopes.append(mine)
    attention.append(mine)
    _local.dtype, _local.listed = dtype, listed
    try:
        yield
    finally:
        _local.dtype, _local.listed = before
        attention.remove(mine)
        scopes.remove(mine)


def by_class(one: type, function: Callable[..., Any], inputs: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """A call of an operator class: as the list says, where it is listed."""
    listed = _local.listed
    if listed is None or one not in listed.classes:
        return function(*inputs, **settings)
    with scope(None):
        return cast_floats(function(*cast_floats(inputs, listed.dtype), **settings), float32)


def cast_floats(value: Any, dtype: DType) -> Any:
    """A value, the floating tensors in its tuples and lists in another element type; the rest as it is."""
    if isinstance(value, Tensor):
        from .operator import OPERATORS

        lacks = _floating(value._array.dtype) and value.dtype != dtype
        return OPERATORS["cast"](value, dtype=dtype.numpy) if lacks else value
    if isinstance(value, tuple | list):
        return type(value)(cast_floats(one, dtype) for one in value)
    return value


def cast_operands(operands: tuple[Any, ...], name: str = "") -> tuple[Any, ...]:
    """The operands of an operator, the floating tensors among them in the element type in force.

    Args:
        operands: the operands.
        name: that of the operator, where its own element type counts, too.
    """
    dtype, listed = _local.dtype, _local.listed
    if dtype is None and listed is not None:
        dtype = listed.dtype if name in listed.lower else float32 if name in listed.full else None
    if dtype is None:
        return operands
    from .operator import OPERATORS

    cast, wanted = OPERATORS["cast"], dtype.numpy
    found = []
    for x in operands:
        if isinstance(x, Tensor):
            if x._array.dtype != wanted and _floating(x._array.dtype):
                x = cast(x, dtype=wanted)
        elif isinstance(getattr(x, "dtype", None), np.dtype) and _floating(x.dtype):
            x = x.astype(wanted)  # a number that was made an array to go with a tensor
        found.append(x)
    return tuple(found)


def _floating(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or bool(dtype.kind == "V" and dtype == bfloat16.numpy)
