"""Rules of operators: what does not fit in a failing call, computed from the shapes of its operands.

A rule is a pattern of the engine's message and a function. The function reads the operands from the frames, finds the
conflict in their shapes itself, and returns None if it does not see one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from hookscope.engine.nn.layers.normalization import LayerNorm
from hookscope.engine.tensors.operator import Operator

from ...inert_reads import array_of, is_tensor
from .operands import Operands, dtype_text
from .origins import shape_text
from .stack import arrays_in

__all__ = ["Conflict", "conflict_of"]

_OPERATOR = re.compile(r"For '([\w.]+)', (.*)", re.DOTALL)


@dataclass(frozen=True)
class Conflict:
    """Conflict between operands, or of one with what a function takes.

    Attributes:
        text: one sentence without a period.
        operands: the arrays that it is about, each with the name that it has if the user's line has none for it.
        hint: what would fit, one sentence; "" if nothing is certain.
    """

    text: str
    operands: Sequence[tuple[Any, str]]
    hint: str = ""


@dataclass(frozen=True)
class _Call:
    """A failing call of an operator or a layer.

    Attributes:
        operator: the name in its message.
        message: the message after the name.
        operands: the names of arrays.
        inputs: the arrays of the operator of the table that failed; empty if its function refused the arguments before.
        attrs: the attributes of that operator.
    """

    operator: str
    message: str
    operands: Operands
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]

    def array(self, *roles: str) -> Any:
        """Return the array of the argument with one of these names, in the innermost function that has it."""
        value = self.operands.stack.argument(*roles)
        if is_tensor(value):
            return array_of(value)
        return value if isinstance(value, np.ndarray) else None

    def as_passed(self, array: Any, axis: int) -> Any:
        """Return the array that the user passed, if a layer has only added axes of length 1 to it after an axis."""
        for candidate in self.operands.named_arrays():
            if candidate is not array and candidate.size == array.size and candidate.ndim < array.ndim:
                is_view = array.base is candidate or (array.base is not None and array.base is candidate.base)
                lengths = [[number for number in value.shape if number != 1] for value in (candidate, array)]
                same_axes = candidate.shape[: axis + 1] == array.shape[: axis + 1]
                if is_view and same_axes and lengths[0] == lengths[1] and not self.operands.known(array):
                    return candidate
        return array

    def setting(self, name: str) -> Any:
        """Return an argument that is not a tensor."""
        return self.operands.stack.argument(name)

    def label(self, array: Any, role: str) -> str:
        """Return the name of an array in the user's line."""
        return self.operands.label(array, role)


# Axes that must be equal


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
    "Conv2D": _EqualAxes(("x",), 1, ("weight",), 1, "groups"),
    "Conv3D": _EqualAxes(("x",), 1, ("weight",), 1, "groups"),
    "Conv1dTranspose": _EqualAxes(("x",), 1, ("weight",), 0),
    "Conv2dTranspose": _EqualAxes(("x",), 1, ("weight",), 0),
    "Conv3dTranspose": _EqualAxes(("x",), 1, ("weight",), 0),
    "BatchNorm": _EqualAxes(("input_x",), 1, ("running_mean",), 0),
    "BiasAdd": _EqualAxes(("input_x",), 1, ("bias",), 0),
}


def _equal_axes(call: _Call, _: re.Match[str]) -> Conflict | None:
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
    times = f" times {factor} groups" if isinstance(factor, int) and factor != 1 else ""
    text = (
        f"axis {axes[0]} of {labels[0]} has the length {length}, but axis {axes[1]} of {labels[1]} has "
        f"{second.shape[axes[1]]}{times}; {call.operator} needs the two to be equal"
    )
    others = [axis for axis, number in enumerate(shape) if number == needed and axis != axes[0]]
    hint = f"Axis {others[0]} of {labels[0]} has the length {needed}" if len(others) == 1 else ""
    return Conflict(text, [(first, row.first[0]), (second, row.second[0])], hint)


# Shapes and axes that a message requires


def _required_shape(call: _Call, match: re.Match[str]) -> Conflict | None:
    required, shape = _lengths(match["required"]), _lengths(match["shape"])
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
        text = f"{label} has {_axes(len(shape))} and must have {_axes(len(required))}, as in {_tuple(required)}"
    else:
        wrong = [axis for axis, pair in enumerate(zip(required, shape, strict=True)) if pair[0] not in (pair[1], None)]
        if not wrong:
            return None
        text = "; ".join(
            f"axis {axis} of {label} has the length {shape[axis]} and must have {required[axis]}" for axis in wrong
        )
        text += f", as in {_tuple(required)}"
    hint = ""
    if call.message.startswith("probabilities") and array.dtype.kind == "f" and other is None:
        logits = call.array("input")
        if logits is not None and tuple(array.shape) == (*logits.shape[:1], *logits.shape[2:]):
            operands.insert(0, (logits, "input"))
            hint = f"{dtype_text(array)} values count as probabilities; numbers of classes must have an integer dtype"
    elif None not in required and math.prod(required) == math.prod(shape) and len(shape) == len(required) + 1:  # type: ignore[arg-type]
        hint = f"Without its axis of length 1 it has the shape {_tuple(required)}"
    return Conflict(text, operands, hint)


def _array_of_shape(call: _Call, role: str | None, shape: Sequence[Any]) -> Any:
    """Return the array of a role, or an entry of it, that has the shape that a message names."""
    for level in reversed(call.operands.stack.inside):
        values = [level.arguments[role]] if role in level.arguments else []
        if role is None:
            values = list(level.arguments.values())
        for array in arrays_in(values):
            if tuple(array.shape) == tuple(shape):
                return array
    return None


def _number_of_axes(call: _Call, match: re.Match[str]) -> Conflict | None:
    needed = int(match["needed"])
    array = call.array("x", "input", "input_x")
    if array is None or array.ndim == needed:
        return None
    label = call.label(array, "the input")
    text = f"{label} has {_axes(array.ndim)}, and {call.operator} takes {needed}"
    hint = ""
    if array.ndim == needed - 1:
        hint = f"The axis of the batch is missing if {shape_text(array)} is a single sample"
    return Conflict(text, [(array, "the input")], hint)


def _one_shape(call: _Call, match: re.Match[str]) -> Conflict | None:
    shapes = [_lengths(match["first"]), _lengths(match["second"])]
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


# Broadcasting


def _broadcast(call: _Call, _: re.Match[str]) -> Conflict | None:
    arrays = [value for value in call.inputs if hasattr(value, "shape")]
    for index, first in enumerate(arrays):
        for second in arrays[index + 1 :]:
            conflict = _pair_conflict(call, first, second)
            if conflict is not None:
                return conflict
    return None


def _normalized_shape(call: _Call, _: re.Match[str]) -> Conflict | None:
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
        f"{_tuple(array.shape[-gamma.ndim :])}"
    )
    others = [axis for axis, number in enumerate(array.shape[:-1]) if (number,) == tuple(gamma.shape)]
    hint = f"Axis {others[0]} of {labels[0]} has the length {gamma.shape[0]}" if len(others) == 1 else ""
    return Conflict(text, [(array, "the input"), (gamma, "gamma")], hint)


def _pair_conflict(call: _Call, first: Any, second: Any) -> Conflict | None:
    lengths = zip_longest(reversed(first.shape), reversed(second.shape), fillvalue=1)
    wrong = [offset for offset, (a, b) in enumerate(lengths, 1) if a != b and 1 not in (a, b)]
    if not wrong:
        return None
    labels = call.label(first, "the first operand"), call.label(second, "the second operand")
    offset = wrong[0]
    axes = first.ndim - offset, second.ndim - offset
    text = (
        f"{call.operator} cannot broadcast {labels[0]} {shape_text(first)} and {labels[1]} {shape_text(second)}: "
        f"axis {axes[0]} of {labels[0]} has the length {first.shape[-offset]}, axis {axes[1]} of {labels[1]} "
        f"has {second.shape[-offset]}"
    )
    return Conflict(
        text, [(first, "the first operand"), (second, "the second operand")], _axes_to_add(labels, first, second)
    )


def _axes_to_add(labels: Sequence[str], first: Any, second: Any) -> str:
    """Return how the operand with fewer axes would broadcast with axes of length 1 at its end; "" if it would not."""
    fewer, more, label = (first, second, labels[0]) if first.ndim < second.ndim else (second, first, labels[1])
    missing = more.ndim - fewer.ndim
    if not missing or fewer.ndim < 2:
        return ""
    shape = (*fewer.shape, *(1,) * missing)
    if all(a == b or 1 in (a, b) for a, b in zip(shape, more.shape, strict=True)):
        return f"With axes of length 1 at its end, {shape}, {label} would broadcast"
    return ""


def _into_shape(call: _Call, match: re.Match[str]) -> Conflict | None:
    source, target = _lengths(match["source"]), _lengths(match["target"])
    arrays = [value for value in call.inputs if tuple(getattr(value, "shape", ())) == tuple(source)]
    if not arrays:
        return None
    array = arrays[-1]
    label = call.label(array, "the value")
    operands = [(array, "the value")]
    written = call.operands.stack.argument("target") if call.operator == "setitem" else call.array("self")
    if is_tensor(written):
        operands.insert(0, (array_of(written), "the tensor"))
    receiver = call.operands.stack.entry
    if call.operator == "broadcast_to" and receiver is not None and is_tensor(receiver.arguments.get("self")):
        operands.insert(0, (array_of(receiver.arguments["self"]), "the tensor"))
    text = f"{label} {shape_text(array)} does not broadcast to {_tuple(target)}"
    if call.operator == "setitem":
        text += ", the shape of the elements that are written"
    return Conflict(text, operands)


# Joining


def _joined(call: _Call, _: re.Match[str]) -> Conflict | None:
    axis = call.attrs.get("axis", 0)
    arrays = call.inputs
    if not isinstance(axis, int) or len(arrays) < 2:
        return None
    first = arrays[0]
    for position, other in enumerate(arrays[1:], 1):
        role = f"entry {position}"
        labels = call.label(first, "entry 0"), call.label(other, role)
        operands = [(first, "entry 0"), (other, role)]
        if first.ndim != other.ndim:
            return Conflict(
                f"concat along axis {axis} takes tensors of one number of axes: {labels[0]} {shape_text(first)} has "
                f"{_axes(first.ndim)}, {labels[1]} {shape_text(other)} has {_axes(other.ndim)}",
                operands,
            )
        for index, (a, b) in enumerate(zip(first.shape, other.shape, strict=True)):
            if a != b and index != axis % first.ndim:
                return Conflict(
                    f"concat along axis {axis} takes tensors that are equal in all other axes: axis {index} of "
                    f"{labels[0]} {shape_text(first)} has the length {a}, of {labels[1]} {shape_text(other)} {b}",
                    operands,
                )
    return None


def _stacked(call: _Call, match: re.Match[str]) -> Conflict | None:
    tensors = call.setting("tensors")
    arrays = arrays_in(tensors)
    index = int(match["index"])
    if index >= len(arrays) or arrays[0].shape == arrays[index].shape:
        return None
    first, other = arrays[0], arrays[index]
    labels = call.label(first, "entry 0"), call.label(other, f"entry {index}")
    return Conflict(
        f"stack takes tensors of one shape: {labels[0]} has {shape_text(first)}, {labels[1]} has {shape_text(other)}",
        [(first, "entry 0"), (other, f"entry {index}")],
    )


# Counts, axes and indices


def _count(call: _Call, match: re.Match[str]) -> Conflict | None:
    array = call.array("input", "input_x")
    target = _lengths(match["target"])
    numbers = [number for number in target if number is not None]
    if array is None or len(numbers) < len(target):
        return None
    label = call.label(array, "the input")
    text = f"reshape of {label} {shape_text(array)}, which has {array.size} elements, to {_tuple(target)}"
    fixed = math.prod(number for number in numbers if number != -1)
    if -1 in numbers:
        if fixed and array.size % fixed == 0:
            return None
        text += f", whose other axes have {fixed}: {array.size} is not a multiple of {fixed}"
    elif fixed == array.size:
        return None
    else:
        text += f", which has {fixed}"
    return Conflict(text, [(array, "the input")])


def _axis_range(call: _Call, match: re.Match[str]) -> Conflict | None:
    array = call.array("x", "input", "input_x", "self")
    axis = int(match["axis"])
    if array is None or -array.ndim <= axis < array.ndim:
        return None
    label = call.label(array, "the input")
    return Conflict(f"{label} has {_axes(array.ndim)}: there is no axis {axis}", [(array, "the input")])


def _permutation(call: _Call, match: re.Match[str]) -> Conflict | None:
    array = call.array("input", "input_x")
    dims = _lengths(match["dims"])
    if array is None or sorted(dims, key=str) == list(range(array.ndim)):
        return None
    label = call.label(array, "the input")
    return Conflict(
        f"transpose takes each of the {_axes(array.ndim)} of {label} {shape_text(array)} once, and got {_tuple(dims)}",
        [(array, "the input")],
    )


def _bounds(call: _Call, match: re.Match[str]) -> Conflict | None:
    index, axis, size = int(match["index"]), int(match["axis"]), int(match["size"])
    arrays = [value for value in call.inputs[:1] if getattr(value, "ndim", 0) > axis and value.shape[axis] == size]
    if not arrays:
        return None
    label = call.label(arrays[0], "the tensor")
    return Conflict(
        f"axis {axis} of {label} has the length {size}, so its last index is {size - 1}, and getitem got {index}",
        [(arrays[0], "the tensor")],
    )


def _index_range(call: _Call, match: re.Match[str]) -> Conflict | None:
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


def _einsum(call: _Call, match: re.Match[str]) -> Conflict | None:
    equation = call.setting("equation")
    arrays = arrays_in(call.setting("operands"))
    letter = match["letter"]
    if type(equation) is not str or "." in equation:
        return None
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    if len(terms) != len(arrays):
        return None
    uses = [
        (array, axis, array.shape[axis])
        for array, term in zip(arrays, terms, strict=True)
        for axis, name in enumerate(term)
        if name == letter and len(term) == array.ndim
    ]
    if len({length for _, _, length in uses}) < 2:
        return None
    roles = {id(array): f"operand {position}" for position, array in enumerate(arrays)}
    parts = [f"axis {axis} of {call.label(array, roles[id(array)])} ({length})" for array, axis, length in uses]
    operands = [(array, roles[id(array)]) for array in arrays]
    return Conflict(f"einsum '{equation}': the axis {letter} is {' and '.join(parts)}, which must be equal", operands)


def _window(call: _Call, match: re.Match[str]) -> Conflict | None:
    array = call.array("x", "input")
    kernel = _lengths(match["kernel"])
    if array is None or len(kernel) + 2 != array.ndim:
        return None
    label = call.label(array, "the input")
    dilation, pads = call.setting("dilation"), call.setting("pads")
    details = [f"dilation {dilation}"] if type(dilation) is tuple and set(dilation) != {1} else []
    details += [f"padding {pads}"] if type(pads) is tuple and any(pads) else []
    settings = f", with {' and '.join(details)}" if details else ""
    return Conflict(
        f"the window {_tuple(kernel)} of {call.operator} does not fit into the axes {_tuple(array.shape[2:])} of "
        f"{label}{settings}",
        [(array, "the input")],
    )


# Patterns


_CLASSES = re.compile(
    r".*(?:labels must lie in|must be in) (?P<range>\[0, (?P<length>\d+)\) or [\w-]+(?: ignore_index)?)", re.DOTALL
)
_SHAPE = r"\([\w\s,*-]*\)"
Rule = Callable[[_Call, re.Match[str]], Conflict | None]
_RULES: tuple[tuple[re.Pattern[str], Rule], ...] = (
    (re.compile(r"'input' and 'weight' must have (?P<needed>\d+) axes.*"), _number_of_axes),
    (
        re.compile(
            rf"(?:[\w ]*in )?(?:'(?P<role>\w+)'|all tensors) must have the shape (?P<required>{_SHAPE})"
            rf"(?: for '(?P<other>\w+)' of shape {_SHAPE})?, but got (?P<shape>{_SHAPE})"
        ),
        _required_shape,
    ),
    (
        re.compile(rf"'\w+' and '\w+' must have one shape, but got (?P<first>{_SHAPE}) and (?P<second>{_SHAPE})"),
        _one_shape,
    ),
    (re.compile(rf"all tensors must have the shape {_SHAPE}, but entry (?P<index>\d+)"), _stacked),
    (
        re.compile(
            rf".*could not broadcast input array from shape (?P<source>{_SHAPE}) into shape (?P<target>{_SHAPE})", re.S
        ),
        _into_shape,
    ),
    (
        re.compile(rf".*\[original->remapped\]: (?P<source>{_SHAPE})\s+and requested shape (?P<target>{_SHAPE})", re.S),
        _into_shape,
    ),
    (re.compile(r".*could not be broadcast together", re.S), _normalized_shape),
    (re.compile(r".*could not be broadcast together", re.S), _broadcast),
    (re.compile(r".*concatenation axis must match|.*must have same number of dimensions", re.S), _joined),
    (re.compile(rf"\d+ elements of shape {_SHAPE} do not fit into (?P<target>{_SHAPE})"), _count),
    (re.compile(r"'(?:axis|dim)' must be in \[-\d+, \d+\), but got (?P<axis>-?\d+)"), _axis_range),
    (re.compile(rf"'dims' must be a permutation of .*but got (?P<dims>{_SHAPE})"), _permutation),
    (
        re.compile(r".*index (?P<index>-?\d+) is out of bounds for axis (?P<axis>\d+) with size (?P<size>\d+)", re.S),
        _bounds,
    ),
    (re.compile(r"indices must be in (?P<range>\[-?\d+, (?P<length>\d+)\))"), _index_range),
    (_CLASSES, _index_range),
    (re.compile(r"'(?P<letter>\w)' has the lengths"), _einsum),
    (re.compile(rf"a window of (?P<kernel>{_SHAPE}) does not fit"), _window),
    (re.compile(r""), _equal_axes),
)
"""Patterns of a message after the operator's name, each with a rule; the first rule that finds a conflict counts."""


def conflict_of(message: str, operands: Operands) -> Conflict | None:
    """Return what does not fit in a failing call of the engine; None if no rule finds it."""
    match = _OPERATOR.match(message)
    if match is None:
        return None
    name, text = match.groups()
    inputs: tuple[Any, ...] = ()
    attrs: dict[str, Any] = {}
    for level in reversed(operands.stack.inside):
        if level.code is Operator._compute.__code__:
            inputs, attrs = level.variables["inputs"], level.variables["attrs"]  # type: ignore[assignment]
            break
    call = _Call(name, text, operands, inputs, attrs)
    for pattern, rule in _RULES:
        parts = pattern.match(text)
        conflict = None if parts is None else rule(call, parts)
        if conflict is not None:
            return conflict
    return None


def _lengths(text: str) -> list[int | None]:
    """Return the numbers of a shape in a message; None for a letter, which stands for any length."""
    parts = [part.strip() for part in text.strip("()").split(",")]
    return [int(part) if part.lstrip("-").isdigit() else None for part in parts if part]


def _tuple(lengths: Sequence[int | None]) -> str:
    parts = ["*" if number is None else str(number) for number in lengths]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _axes(number: int) -> str:
    """Return a number of axes in words."""
    return f"{number or 'no'} {'axis' if number == 1 else 'axes'}"
