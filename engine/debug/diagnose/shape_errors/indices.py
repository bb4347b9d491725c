"""Rules of axes and indices that a tensor does not have, and of values whose dtype an operator does not take."""

from __future__ import annotations

import re

import numpy as np

from .conflict import Conflict, OperatorCall, axes_text, lengths_in, tuple_text
from .operands import dtype_text
from .origins import shape_text

__all__ = ["axis_range", "element_kind", "index_bounds", "index_range", "largest_setting", "permutation"]


def axis_range(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
    array = call.array("x", "input", "input_x", "self")
    axis = int(match["axis"])
    if array is None or -array.ndim <= axis < array.ndim:
        return None
    label = call.label(array, "the input")
    return Conflict(f"{label} has {axes_text(array.ndim)}: there is no axis {axis}", [(array, "the input")])


def permutation(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
    array = call.array("input", "input_x")
    dims = lengths_in(match["dims"])
    if array is None or sorted(dims, key=str) == list(range(array.ndim)):
        return None
    label = call.label(array, "the input")
    return Conflict(
        f"transpose takes each of the {axes_text(array.ndim)} of {label} {shape_text(array)} once, and got "
        f"{tuple_text(dims)}",
        [(array, "the input")],
    )


def index_bounds(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
    index, axis, size = int(match["index"]), int(match["axis"]), int(match["size"])
    arrays = [value for value in call.inputs[:1] if getattr(value, "ndim", 0) > axis and value.shape[axis] == size]
    if not arrays:
        return None
    label = call.label(arrays[0], "the tensor")
    return Conflict(
        f"axis {axis} of {label} has the length {size}, so its last index is {size - 1}, and getitem got {index}",
        [(arrays[0], "the tensor")],
    )


def index_range(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
    index = call.array("input_indices", "index", "target", "labels", "indices")
    table = call.array("input_params", "input", "logits")
    if index is None and call.inputs:
        table, index = call.inputs[0], call.inputs[-1]
    if index is None or not isinstance(index, np.ndarray) or index.dtype.kind not in "iu" or not index.size:
        return None
    length = int(match["length"])
    low, high = int(index.min()), int(index.max())
    if high < length and low >= -length:
        return None
    label = call.label(index, "the index")
    operands = [(index, "the index")]
    length_text = ""
    if table is not None:
        operands.append((table, "the table"))
        axes = [axis for axis, number in enumerate(table.shape) if number == length]
        if len(axes) == 1:
            length_text = f"axis {axes[0]} of {call.label(table, 'the table')} has the length {length}, and "
    allowed = match["range"].replace("equal ", "")
    text = f"{label} holds numbers from {low} to {high}; {length_text}{call.operator} takes {allowed}"
    hint = "If they are counted from 1, subtract 1" if low == 1 and high == length else ""
    return Conflict(text, operands, hint)


_CURES = {"integers": "int32", "bools": "bool_"}


def element_kind(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
    """An operand whose elements are of another kind than the operator takes."""
    array = call.array(match["role"])
    if array is None or dtype_text(array) != match["dtype"]:
        return None
    label, kind = call.label(array, f"the {match['role']}"), match["kind"]
    text = f"{label} holds {match['dtype']}, and {match['role']} of {call.operator} must hold {kind}"
    hint = f"{label}.astype(mindspore.{_CURES[kind]}) holds {kind}" if label.isidentifier() else ""
    return Conflict(text, [(array, f"the {match['role']}")], hint)


def largest_setting(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
    """A number, such as that of the largest values, which is more than an axis has."""
    array, value, most = call.array("input", "input_x", "x"), int(match["value"]), int(match["most"])
    name = match["name"]
    if array is None or call.setting(name) != value or value <= most:
        return None
    axes = [axis for axis, length in enumerate(array.shape) if length == most]
    if len(axes) != 1:
        return None
    label = call.label(array, "the input")
    passed = call.operands.expression_of(name)
    text = f"axis {axes[0]} of {label} has the length {most}, and {name} of {call.operator} is {value}"
    return Conflict(text + (f" ({passed})" if passed else ""), [(array, "the input")])
