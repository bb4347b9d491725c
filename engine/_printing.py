"""How tensors print: ``str`` is NumPy's, ``repr`` is MindSpore's ``Tensor(shape=..., dtype=..., value=...)``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .backend import to_host

__all__ = ["tensor_repr", "tensor_str"]

_DIGITS = {"float16": 4, "bfloat16": 4, "float32": 8, "float64": 8}
_THRESHOLD, _EDGE = 1000, 3


def tensor_str(array: Any) -> str:
    """NumPy's text of the values."""
    return str(_printable(array))


def tensor_repr(array: Any, dtype_name: object) -> str:
    """MindSpore's text of the values with shape and dtype."""
    values = _printable(array)
    head = f"Tensor(shape={list(array.shape)}, dtype={dtype_name}, value="
    if values.ndim == 0:
        return f"{head} {values})"
    formatter: Any = None
    digits = _DIGITS.get(array.dtype.name)
    if digits is not None:
        width = digits + 7
        formatter = {"float_kind": lambda v: f"{v: .{digits}e}".rjust(width)}
    text = np.array2string(
        values,
        separator=", ",
        threshold=_THRESHOLD,
        edgeitems=_EDGE,
        formatter=formatter,
        max_line_width=10**9,
    )
    text = text.replace(", ..., ", " ... ")
    while "\n\n" in text:
        text = text.replace("\n\n", "\n")
    if values.size == 0:
        text = ""
    return f"{head} {text})" if values.ndim == 1 else f"{head}\n{text})"


def _printable(array: Any) -> np.ndarray[Any, Any]:
    host = np.asarray(to_host(array))
    return host.astype(np.float32) if host.dtype.name == "bfloat16" else host
