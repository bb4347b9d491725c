"""Serialization of objects between ranks: JSON and the raw values of tensors. Nothing is executed.

Each value is written with its kind, so that tuples and tensors are restored as such.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ...ops.collectives import on_host
from ...tensors import dtype as dtypes
from ...tensors.tensor import Tensor

__all__ = ["from_bytes", "to_bytes"]

_LENGTH = 8  # bytes of the number that holds the length of the JSON


def to_bytes(value: Any, caller: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Serialize a value to bytes.

    Args:
        value: None, bool, int, float, str, Tensor, or lists, tuples and dicts with str keys of such.
        caller: the called function, for the error.

    Raises:
        TypeError: it holds something else.
    """
    arrays: list[np.ndarray[Any, Any]] = []
    text = json.dumps(_describe(value, arrays, caller), separators=(",", ":")).encode()
    parts = [len(text).to_bytes(_LENGTH, "little"), text, *(array.tobytes() for array in arrays)]
    return np.frombuffer(b"".join(parts), np.uint8)


def from_bytes(data: np.ndarray[Any, np.dtype[np.uint8]]) -> Any:
    """Return the value serialized by ``to_bytes`` in ``data``."""
    content = data.tobytes()
    end = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    value, _ = _read(json.loads(content[_LENGTH:end]), content, end)
    return value


def _dtype(name: str) -> np.dtype[Any]:
    values = (getattr(dtypes, x) for x in dtypes.__all__)
    return next(x.numpy for x in values if isinstance(x, dtypes.DType) and x.numpy.name == name)


def _describe(value: Any, arrays: list[np.ndarray[Any, Any]], caller: str) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return ["value", value]
    if isinstance(value, Tensor):
        array = on_host(value._array)
        arrays.append(array)
        return ["tensor", array.dtype.name, list(array.shape)]
    if isinstance(value, list | tuple):
        return ["tuple" if isinstance(value, tuple) else "list", [_describe(item, arrays, caller) for item in value]]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return ["dict", {key: _describe(item, arrays, caller) for key, item in value.items()}]
    raise TypeError(
        f"For '{caller}', an object may hold None, bool, int, float, str, Tensor, lists, tuples and "
        "dicts with str keys, "
        f"but got {type(value).__name__}; nothing is pickled"
    )


def _read(description: Any, content: bytes, at: int) -> tuple[Any, int]:
    kind, *fields = description
    if kind == "value":
        return fields[0], at
    if kind == "tensor":
        dtype, count = _dtype(fields[0]), int(np.prod(fields[1], dtype=np.int64))
        array = np.frombuffer(content, dtype, count, at).reshape(fields[1]).copy()
        return Tensor._wrap(array), at + array.nbytes
    items = []
    for item in fields[0].values() if kind == "dict" else fields[0]:
        value, at = _read(item, content, at)
        items.append(value)
    if kind == "dict":
        return dict(zip(fields[0], items, strict=True)), at
    return tuple(items) if kind == "tuple" else items, at
