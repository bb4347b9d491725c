"""Rules of shapes that a layer or an operator requires: axes that must be equal, a number of axes, a window."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hookscope.engine.nn.layers.normalization import LayerNorm

from ...inert_reads import array_of, is_tensor
from .conflict import Conflict, OperatorCall, axes_text, lengths_in, tuple_text
from .operands import dtype_text
from .origins import shape_text
from .stack import arrays_in

__all__ = ["equal_axes", "grid_shape", "normalized_shape", "number_of_axes", "one_shape", "required_shape", "window"]


@dataclass(frozen=True)
class _EqualAxes:
    """Two axes of two operands that must have one length.

    Attributes:
        first, second: names of the arguments.
        first_axis, second_axis: the axes.
        factor: an argument that the second length is multiplied by; "" for none.
        switches: arguments that choose other axes; if one is set, the row says nothing.
    """

    first: tuple[str, ...]
    first_axis: int
    second: tuple[str, ...]
    second_axis: int
    factor: str = ""
    switches: tuple[str, ...] = ()


_EQUAL_AXES = {
    "Dense": _EqualAxes(("input",), -1, ("weight",), -1),
    "matmul": _EqualAxes(("input",), -1, ("other",), -2, switches=("transpose_a", "transpose_b")),
    "bmm": _EqualAxes(("input_x",), -1, ("mat2",), -2),
    "Conv2D": _EqualAxes(("x",), 1, ("weight",), 1, "groups"),
    "Conv3D": _EqualAxes(("x",), 1, ("weight",), 1, "groups"),
    "Conv1dTranspose": _EqualAxes(("x",), 1, ("weight",), 0),
    "Conv2dTranspose": _EqualAxes(("x",), 1, ("weight",), 0),
    "Conv3dTranspose": _EqualAxes(("x",), 1, ("weight",), 0),
    "BatchNorm": _EqualAxes(("input_x",), 1, ("running_mean",), 0),
    "BiasAdd": _EqualAxes(("input_x",), 1, ("bias",), 0),
}


def equal_axes(call: OperatorCall, _: re.Match[str]) -> Conflict | None:
    row = _EQUAL_AXES.get(call.operator)
    if row is None or any(call.setting(name) for name in row.switches):
        return None
    first, second = call.array(*row.first), call.array(*row.second)
    if first is None or second is None:
        return None
    axes = row.first_axis % first.ndim if first.ndim else 0, row.second_axis % second.ndim if second.ndim > 1 else 0
    if axes[0] >= first.ndim or axes[1] >= second.ndim:
        return None
    factor = call.setting(row.factor) if row.factor else 1
    length, needed = first.shape[axes[0]], second.shape[axes[1]] * (factor if isinstance(factor, int) else 1)
    if length == needed:
        return None
    first = call.as_passed(first, axes[0])
    labels = call.label(first, row.first[0]), call.label(second, row.second[0])
    shape = tuple(first.shape)
    operands = [(first, row.first[0]), (second, row.second[0])]
    times = f" times {factor} groups" if isinstance(factor, int) and factor != 1 else ""
    text = (
        f"axis {axes[0]} of {labels[0]} has the length {length}, but axis {axes[1]} of {labels[1]} has "
        f"{second.shape[axes[1]]}{times}; {call.operator} needs the two to be equal"
    )
    others = [axis for axis, number in enumerate(shape) if number == needed and axis != axes[0]]
    if row.second_axis == -2 and second.ndim > 1:  # a product of matrices, whose other axes are those of a batch
        others = [axis for axis in others if axis == first.ndim - 2]
        if second.shape[-1] == length:
            return Conflict(text, operands, f"With its last two axes swapped, {labels[1]} would fit")
    hint = f"Axis {others[0]} of {labels[0]} has the length {needed}" if len(others) == 1 else ""
    return Conflict(text, operands, hint)


def required_shape(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
    required, shape = lengths_in(match["required"]), lengths_in(match["shape"])
    role = match.groupdict().get("role")
    array = _array_of_shape(call, role, shape)
    if array is None:
        return None
    label = call.label(array, role or "an operand")
    operands = [(array, role or "operand")]
    other = match.groupdict().get("other")
    if other:
        other_array = call.array(other, other + "s")
        if other_array is not None:
            operands.insert(0, (other_array, other))
    if len(required) != len(shape):
        counts = axes_text(len(shape)), axes_text(len(required))
        text = f"{label} has {counts[0]} and must have {counts[1]}, as in {tuple_text(required)}"
    else:
        wrong = [axis for axis, pair in enumerate(zip(required, shape, strict=True)) if pair[0] not in (pair[1], None)]
        if not wrong:
            return None
        text = "; ".join(
            f"axis {axis} of {label} has the length {shape[axis]} and must have {required[axis]}" for axis in wrong
        )
        text += f", as in {tuple_text(required)}"
    hint = ""
    if call.message.startswith("probabilities") and array.dtype.kind == "f" and other is None:
        logits = call.array("input")
        if logits is not None and tuple(array.shape) == (*logits.shape[:1], *logits.shape[2:]):
            operands.insert(0, (logits, "input"))
            hint = f"{dtype_text(array)} values count as probabilities; numbers of classes must have an integer dtype"
    elif None not in required and math.prod(required) == math.prod(shape) and len(shape) == len(required) + 1:  # type: ignore[arg-type]
        hint = f"Without its axis of length 1 it has the shape {tuple_text(required)}"
    return Conflict(text, operands, hint)


def _array_of_shape(call: OperatorCall, role: str | None, shape: Sequence[Any]) -> Any:
    """Return the array of a role, or an entry of it, that has the shape that a message names."""
    for level in reversed(call.operands.stack.inside):
        values = [level.arguments[role]] if role in level.arguments else []
        if role is None:
            values = list(level.arguments.values())
        for array in arrays_in(values):
            if tuple(array.shape) == tuple(shape):
                return array
    return None


def number_of_axes(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
    needed = int(match["needed"])
    array = call.array("x", "input", "input_x")
    if array is None or array.ndim == needed:
        return None
    label = call.label(array, "the input")
    text = f"{label} has {axes_text(array.ndim)}, and {call.operator} takes {needed}"
    hint = ""
    weight, groups = call.array("weight"), call.setting("groups")
    if array.ndim == needed - 1 and weight is not None:
        channels = weight.shape[1] * (groups if type(groups) is int else 1)
        if array.shape[0] == channels:
            hint = f"The axis of the batch is missing if {shape_text(array)} is a single sample"
        elif channels == 1:
            hint = f"The axis of the single channel is missing if {shape_text(array)} is a batch"
    return Conflict(text, [(array, "the input")], hint)


def grid_shape(call: OperatorCall, _: re.Match[str]) -> Conflict | None:
    """A grid of points whose last axis does not hold the coordinates of a point in the image."""
    image, grid = call.array("input"), call.array("grid")
    if image is None or grid is None:
        return None
    labels, count = (call.label(image, "the input"), call.label(grid, "the grid")), image.ndim - 2
    operands = [(grid, "the grid"), (image, "the input")]
    if image.ndim != grid.ndim:
        text = f"{labels[1]} has {axes_text(grid.ndim)}, and {labels[0]} has {axes_text(image.ndim)}"
        return Conflict(f"{text}; {call.operator} needs as many", operands)
    last = grid.ndim - 1
    if grid.shape[last] == count:
        return None
    text = f"axis {last} of {labels[1]} has the length {grid.shape[last]} and must have {count}, a point's coordinates"
    others = [axis for axis, number in enumerate(grid.shape[1:], 1) if number == count]
    hint = f"Axis {others[0]} of {labels[1]} has the length {count}" if len(others) == 1 else ""
    return Conflict(text, operands, hint)


def one_shape(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
    shapes = [lengths_in(match["first"]), lengths_in(match["second"])]
    arrays = [_array_of_shape(call, None, shape) for shape in shapes]
    if None in [None if array is None else 1 for array in arrays]:
        return None
    labels = [call.label(array, role) for array, role in zip(arrays, ("input", "target"), strict=True)]
    texts = shape_text(arrays[0]), shape_text(arrays[1])
    text = f"{labels[0]} has the shape {texts[0]} and {labels[1]} {texts[1]}, and the two must be equal"
    hint = _same_elements(labels, [tuple(array.shape) for array in arrays])
    return Conflict(text, [(arrays[0], "input"), (arrays[1], "target")], hint)


def _same_elements(labels: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> str:
    if math.prod(shapes[0]) != math.prod(shapes[1]):
        return ""
    return f"Both have {math.prod(shapes[0])} elements: one of them needs a reshape to the shape of the other"


def normalized_shape(call: OperatorCall, _: re.Match[str]) -> Conflict | None:
    """A layer normalization whose scale does not have the last axes of its input: its product with them fails."""
    cells = call.operands.stack.cells
    if not cells or type(cells[-1].cell) is not LayerNorm:
        return None
    x = next((level.arguments["x"] for level in call.operands.stack.inside if "x" in level.arguments), None)
    gamma = array_of(cells[-1].cell.gamma)
    if not is_tensor(x) or array_of(x).shape[-gamma.ndim :] == gamma.shape:
        return None
    array = array_of(x)
    labels = call.label(array, "the input"), call.label(gamma, "gamma")
    ends = f"the last axis of {labels[0]} is" if gamma.ndim == 1 else f"the last {gamma.ndim} axes of {labels[0]} are"
    text = (
        f"the normalized shape is {shape_text(gamma)}, that of {labels[1]}, and {ends} "
        f"{tuple_text(array.shape[-gamma.ndim :])}"
    )
    others = [axis for axis, number in enumerate(array.shape[:-1]) if (number,) == tuple(gamma.shape)]
    hint = f"Axis {others[0]} of {labels[0]} has the length {gamma.shape[0]}" if len(others) == 1 else ""
    return Conflict(text, [(array, "the input"), (gamma, "gamma")], hint)


def window(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
    array = call.array("x", "input")
    kernel = lengths_in(match["kernel"])
    if array is None or len(kernel) + 2 != array.ndim:
        return None
    passed = call.as_passed(array, 1)
    added = array.ndim - passed.ndim  # axes of length 1 that a layer for fewer axes has put after the channels
    label, role = call.label(passed, "the input"), "the input"
    dilation, pads = call.setting("dilation"), call.setting("pads")
    details = []
    if type(dilation) is tuple and set(dilation[added:]) not in ({1}, set()):
        details.append(f"dilation {dilation[added:]}")
    if type(pads) is tuple and any(pads[2 * added :]):
        details.append(f"padding {pads[2 * added :]}")
    settings = f", with {' and '.join(details)}" if details else ""
    cells = call.operands.stack.cells
    receiver = type(cells[-1].cell).__name__ if added and cells else call.operator
    empty = [axis for axis, length in enumerate(passed.shape) if not length]
    text = (
        f"the window {tuple_text(kernel[added:])} of {receiver} does not fit into the axes "
        f"{tuple_text(passed.shape[2:])} of {label}{settings}"
    )
    hint = f"{label} is empty: its axis {empty[0]} has the length 0" if empty else ""
    return Conflict(text, [(passed, role)], hint)
