"""Element type of ``Cell.to_float``: while such a cell runs, operators cast floating tensors to it.

Mixed precision by a white list applies it only to the listed operator classes, whose results become float32 again.

Operators check ``scopes`` first, which is empty as long as no such cell runs anywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..tape.tape import active_observers
from .dtype import DType, bfloat16, float32
from .tensor import Tensor

__all__ = ["OperatorDtypes", "by_class", "cast_floats", "cast_operands", "current", "operator_dtypes", "scope"]

scopes: list[object] = []


class OperatorDtypes(NamedTuple):
    """Operators that compute in specific element types.

    Attributes:
        classes: operator classes that compute in ``dtype``, and whose results become float32 again.
        dtype: float16 or bfloat16.
        lower: names in the operator table: these compute in ``dtype`` and return it.
        full: likewise for float32.
    """

    classes: frozenset[type]
    dtype: DType
    lower: frozenset[str] = frozenset()
    full: frozenset[str] = frozenset()


class _Local(threading.local):
    dtype: DType | None = None
    operator_dtypes: OperatorDtypes | None = None


_local = _Local()


def current() -> DType | None:
    """Return the element type in force in this thread."""
    return _local.dtype


def operator_dtypes() -> OperatorDtypes | None:
    """Return the operator classes in force in this thread."""
    return _local.operator_dtypes


@contextmanager
def scope(dtype: DType | None, operator_dtypes: OperatorDtypes | None = None) -> Iterator[None]:
    """Make operators in this thread compute in ``dtype`` inside the block, None for no cast; listed ones in theirs."""
    previous, token = (_local.dtype, _local.operator_dtypes), object()
    scopes.append(token)
    active_observers.append(token)
    _local.dtype, _local.operator_dtypes = dtype, operator_dtypes
    try:
        yield
    finally:
        _local.dtype, _local.operator_dtypes = previous
        active_observers.remove(token)
        scopes.remove(token)


def by_class(kind: type, function: Callable[..., Any], inputs: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """Call an operator class, in the list's element type if it is listed."""
    dtypes = _local.operator_dtypes
    if dtypes is None or kind not in dtypes.classes:
        return function(*inputs, **settings)
    with scope(None):
        return cast_floats(function(*cast_floats(inputs, dtypes.dtype), **settings), float32)


def cast_floats(value: Any, dtype: DType) -> Any:
    """Return a value with the floating tensors in its tuples and lists cast; other values are unchanged."""
    if isinstance(value, Tensor):
        from .operator import OPERATORS

        needs_cast = _floating(value._array.dtype) and value.dtype != dtype
        return OPERATORS["cast"](value, dtype=dtype.numpy) if needs_cast else value
    if isinstance(value, tuple | list):
        return type(value)(cast_floats(item, dtype) for item in value)
    return value


def cast_operands(operands: tuple[Any, ...], name: str = "") -> tuple[Any, ...]:
    """Return the operands of an operator, the floating tensors among them cast to the element type in force.

    Args:
        operands: the operands.
        name: the operator's name, if its own element type applies too.
    """
    dtype, dtypes = _local.dtype, _local.operator_dtypes
    if dtype is None and dtypes is not None:
        dtype = dtypes.dtype if name in dtypes.lower else float32 if name in dtypes.full else None
    if dtype is None:
        return operands
    from .operator import OPERATORS

    cast, numpy_type = OPERATORS["cast"], dtype.numpy
    results = []
    for x in operands:
        if isinstance(x, Tensor):
            if x._array.dtype != numpy_type and _floating(x._array.dtype):
                x = cast(x, dtype=numpy_type)
        elif isinstance(getattr(x, "dtype", None), np.dtype) and _floating(x.dtype):
            x = x.astype(numpy_type)  # a number that was converted to an array for a tensor
        results.append(x)
    return tuple(results)


def _floating(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or bool(dtype.kind == "V" and dtype == bfloat16.numpy)
