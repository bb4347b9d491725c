"""Objects that ranks send each other, as bytes: JSON, and the numbers of tensors. Nothing of them is executed.

A value is written with its kind before it, so that tuples come back as tuples and tensors as tensors.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..ops.collectives import on_host
from ..tensors import dtype as dtypes
from ..tensors.tensor import Tensor

__all__ = ["from_bytes", "to_bytes"]

_LENGTH = 8  # bytes of the number that says how long the JSON is


def to_bytes(value: Any, who: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Serialize a value to bytes.

    Args:
        value: None, bool, int, float, str, Tensor, or lists, tuples and dicts with str keys of such.
        who: what the user called, for the error.

    Raises:
        TypeError: it holds something else.
    """
    arrays: list[np.ndarray[Any, Any]] = []
    text = json.dumps(_described(value, arrays, who), separators=(",", ":")).encode()
    parts = [len(text).to_bytes(_LENGTH, "little"), text, *(array.tobytes() for array in arrays)]
    return np.frombuffer(b"".join(parts), np.uint8)


def from_bytes(data: np.ndarray[Any, np.dtype[np.uint8]]) -> Any:
    """Return the value serialized by ``to_bytes`` in ``data``."""
    content = data.tobytes()
    end = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    value, _ = _read(json.loads(content[_LENGTH:end]), content, end)
    return value


def _dtype(name: str) -> np.dtype[Any]:
    known = (getattr(dtypes, one) for one in dtypes.__all__)
    return next(one.numpy for one in known if isinstance(one, dtypes.DType) and one.numpy.name == name)


def _described(value: Any, arrays: list[np.ndarray[Any, Any]], who: str) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return ["value", value]
    if isinstance(value, Tensor):
        array = on_host(value._array)
        arrays.append(array)
        return ["tensor", array.dtype.name, list(array.shape)]
    if isinstance(value, list | tuple):
        return ["tuple" if isinstance(value, tuple) else "list", [_described(one, arrays, who) for one in value]]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return ["dict", {key: _described(one, arrays, who) for key, one in value.items()}]
    raise TypeError(
        f"For '{who}', an object may hold None, bool, int, float, str, Tensor, lists, tuples and dicts with str keys, "
        f"but got {type(value).__name__}; nothing is pickled"
    )


def _read(described: Any, content: bytes, at: int) -> tuple[Any, int]:
    kind, *rest = described
    if kind == "value":
        return rest[0], at
    if kind == "tensor":
        dtype, count = _dtype(rest[0]), int(np.prod(rest[1], dtype=np.int64))
        array = np.frombuffer(content, dtype, count, at).reshape(rest[1]).copy()
        return Tensor._wrap(array), at + array.nbytes
    found = []
    for one in rest[0].values() if kind == "dict" else rest[0]:
        value, at = _read(one, content, at)
        found.append(value)
    if kind == "dict":
        return dict(zip(rest[0], found, strict=True)), at
    return tuple(found) if kind == "tuple" else found, at
