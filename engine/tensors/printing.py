"""Text of tensors: ``str`` is NumPy's, ``repr`` is MindSpore's ``Tensor(shape=..., dtype=..., value=...)``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.types import Array
from .backend import to_host

__all__ = ["part_repr", "tensor_repr", "tensor_str"]

_DIGITS = {"float16": 4, "float32": 8, "float64": 8}
_THRESHOLD, _EDGE = 1000, 3
_PART = 24  # elements of a vector of a sparse tensor that are all shown
_LINE = {"f": 12, "b": 12}  # elements of a vector in a line; 24 of the other kinds


def tensor_str(array: Array) -> str:
    """Return NumPy's text of the values; bfloat16, which is not NumPy's own, with six decimals as in MindSpore."""
    values = np.asarray(to_host(array))
    if values.dtype.name != "bfloat16":
        return str(values)
    wide = values.astype(np.float32)
    return np.array2string(wide, formatter={"float_kind": "{:f}".format}) if wide.ndim else f"{wide:f}"


def tensor_repr(array: Array, dtype_name: object) -> str:
    """Return MindSpore's text of the values with shape and dtype."""
    values = np.asarray(to_host(array))
    digits = _DIGITS.get(values.dtype.name)
    line = _LINE.get(values.dtype.kind, 24)
    if values.dtype.name == "bfloat16":
        values = values.astype(np.float32)
        line = 24
    head = f"Tensor(shape={list(values.shape)}, dtype={dtype_name}, value="
    if values.ndim == 0:
        return f"{head} {_short(values[()])})"
    if values.size == 0:
        return f"{head} )" if values.ndim == 1 else f"{head}\n)"
    if digits is not None:
        width = digits + 7
        text = _text(values, lambda v: f"{v: .{digits}e}".rjust(width))
    elif values.dtype.kind == "f":
        text = _text(values, _short)
        widest = max(map(len, re.findall(r"[^\s,\[\]]+", text.replace("...", ""))))
        text = _text(values, lambda v: _short(v).rjust(widest))
    else:
        text = _text(values, _short if values.dtype.kind == "c" else None)
    return f"{head} {_lines(text, values.size, line)})" if values.ndim == 1 else f"{head}\n{text})"


def part_repr(array: Array, dtype_name: object) -> str:
    """Return the text of a tensor inside a sparse tensor: no commas, and only both ends of a long vector."""
    if array.ndim == 1 and array.size > _PART:
        first, last = (part_repr(part, dtype_name) for part in (array[:_EDGE], array[-_EDGE:]))
        text = f"{first[:-2]} ... {last.partition('[')[2].partition('[')[2]}"
        return text.replace(f"shape=[{_EDGE}]", f"shape=[{array.size}]", 1)
    head, _, value = tensor_repr(array, dtype_name).partition("value=")
    return f"{head}value={value.removeprefix(' ').replace(',', '')}"


def _lines(text: str, size: int, count: int) -> str:
    """Return a vector's text, broken after every ``count`` elements, also after the last one if it fills a line."""
    if not count <= size <= _THRESHOLD:
        return text
    items = text[1:-1].split(", ")
    broken = "".join(
        item + (", " if i < len(items) else "") + ("\n " if i % count == 0 else "") for i, item in enumerate(items, 1)
    )
    return f"[{broken}]"


def _short(value: Any) -> str:
    """Return the text of a number as C++ streams print it: at most six digits."""
    if value.dtype.kind == "c":
        return f"{value.real:g}{value.imag:+g}j"
    return f"{value:g}" if value.dtype.kind == "f" else str(value)


def _text(values: np.ndarray[Any, Any], show: Callable[[Any], str] | None) -> str:
    """Return NumPy's text, without the empty lines and the comma after an ellipsis."""
    text = np.array2string(
        values,
        separator=", ",
        threshold=_THRESHOLD if values.ndim == 1 else 0,  # an axis of a matrix is cut at six, a vector at 1000
        edgeitems=_EDGE,
        formatter=None if show is None else {"float_kind": show, "complex_kind": show},
        max_line_width=10**9,
    )
    text = text.replace("...,", "...").replace(", ...", " ...")
    while "\n\n" in text:
        text = text.replace("\n\n", "\n")
    return text
