"""Pieces that the engine cuts a tensor into: how many a call makes, by its arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType
from typing import Any

from hookscope.engine import ops
from hookscope.engine.tensors.tensor import Tensor

from ...inert_reads import array_of, is_tensor
from .operands import Operands

__all__ = ["pieces_text"]


def _of_split(length: int, size: int) -> int:
    return -(-length // size)


def _of_chunk(length: int, number: int) -> int:
    return -(-length // -(-length // number))


_CUTS: dict[str, tuple[str, Callable[[int, int], int], str]] = {
    "split": ("split_size_or_sections", _of_split, "pieces of {}"),
    "chunk": ("chunks", _of_chunk, "at most {} pieces"),
}
"""By function: its argument that is not the tensor or the axis, the number of pieces, and the argument in words."""


def pieces_text(node: ast.expr, operands: Operands) -> str:
    """Return into how many pieces an expression cuts a tensor; "" if it is no such expression or not certain.

    A tensor that is unpacked without a call is cut along its first axis.
    """
    source = operands.source
    if source is None:
        return ""
    value = operands.value_of(node)
    if is_tensor(value):
        array = array_of(value)
        label = source.text(node)
        return f"axis 0 of {label} has the length {array.shape[0]}, which makes as many pieces" if array.ndim else ""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ""
    name = node.func.attr
    receiver, function = operands.value_of(node.func.value), operands.value_of(node.func)
    is_method = is_tensor(receiver) and type(receiver) is Tensor
    is_function = type(function) is FunctionType and function is getattr(ops, name, None)
    if name not in _CUTS or not (is_method or is_function):
        return ""
    argument, count_of, phrase = _CUTS[name]
    nodes = ([node.func.value] if is_method else []) + list(node.args)
    by_name = dict(zip(("tensor", argument, "axis"), nodes, strict=False))
    by_name |= {"tensor" if item.arg == "input" else str(item.arg): item.value for item in node.keywords}
    values: dict[str, Any] = {key: operands.value_of(item) for key, item in by_name.items()}
    tensor, number, axis = values.get("tensor"), values.get(argument), values.get("axis", 0)
    if not is_tensor(tensor) or type(number) is not int or type(axis) is not int or number < 1:
        return ""
    shape = tuple(array_of(tensor).shape)
    if not -len(shape) <= axis < len(shape) or not shape[axis]:
        return ""
    count, label = count_of(shape[axis], number), source.text(by_name["tensor"])
    return (
        f"axis {axis % len(shape)} of {label} has the length {shape[axis]}, and {name} cuts it into "
        f"{phrase.format(number)}, which are {count}"
    )
