"""Rules of operators that combine shapes: broadcasting, joining, reshape, einsum."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from ...inert_reads import array_of, is_tensor
from .conflict import Conflict, OperatorCall, axes_text, lengths_in, tuple_text
from .origins import shape_text
from .stack import arrays_in

__all__ = ["broadcast", "einsum", "element_count", "into_shape", "joined", "stacked"]


def broadcast(call: OperatorCall, _: re.Match[str]) -> Conflict | None:
    arrays = [value for value in call.inputs if hasattr(value, "shape")]
    for index, first in enumerate(arrays):
        for second in arrays[index + 1 :]:
            conflict = _pair_conflict(call, first, second)
            if conflict is not None:
                return conflict
    return None


def _pair_conflict(call: OperatorCall, first: Any, second: Any) -> Conflict | None:
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
    hint = _axes_of_reduction(call, first, second, labels[1]) or _axes_of_reduction(call, second, first, labels[0])
    hint = hint or _axis_to_remove(labels, first, second) or _axes_to_add(labels, first, second)
    return Conflict(text, [(first, "the first operand"), (second, "the second operand")], hint)


def _fits(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Return whether two shapes broadcast."""
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(shape), reversed(other), strict=False))


def _axes_of_reduction(call: OperatorCall, source: Any, reduced: Any, label: str) -> str:
    """Return how a mean or another reduction of one operand would broadcast with it if it had kept its axes."""
    reduction = call.operands.reduction_of(reduced, source)
    if reduction is None:
        return ""
    name, axes = reduction
    full = tuple(1 if axis in axes else length for axis, length in enumerate(source.shape))
    without = tuple(length for axis, length in enumerate(source.shape) if axis not in axes)
    if without != tuple(reduced.shape):
        return ""
    axes_of = f"axis {axes[0]}" if len(axes) == 1 else f"the axes {', '.join(map(str, axes))}"
    return f"{label} is a {name} along {axes_of}; with the shape {full}, its axes kept, it would broadcast"


def _axis_to_remove(labels: Sequence[str], first: Any, second: Any) -> str:
    """Return how the operand with more axes would broadcast without its last one of length 1; "" if it would not."""
    fewer, more, label = (second, first, labels[0]) if first.ndim > second.ndim else (first, second, labels[1])
    shape = tuple(more.shape[:-1])
    if fewer.ndim == more.ndim or more.shape[-1] != 1 or not _fits(shape, fewer.shape):
        return ""
    return f"Without its last axis, which has the length 1, {label} would broadcast"


def _axes_to_add(labels: Sequence[str], first: Any, second: Any) -> str:
    """Return how the operand with fewer axes would broadcast with axes of length 1 at its end; "" if it would not."""
    fewer, more, label = (first, second, labels[0]) if first.ndim < second.ndim else (second, first, labels[1])
    missing = more.ndim - fewer.ndim
    if not missing or fewer.ndim < 2:
        return ""
    shape = (*fewer.shape, *(1,) * missing)
    if _fits(shape, more.shape):
        return f"With axes of length 1 at its end, {shape}, {label} would broadcast"
    return ""


def into_shape(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
    source, target = lengths_in(match["source"]), lengths_in(match["target"])
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
    text = f"{label} {shape_text(array)} does not broadcast to {tuple_text(target)}"
    if call.operator == "setitem":
        text += ", the shape of the elements that are written"
    return Conflict(text, operands)


def joined(call: OperatorCall, _: re.Match[str]) -> Conflict | None:
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
                f"{axes_text(first.ndim)}, {labels[1]} {shape_text(other)} has {axes_text(other.ndim)}",
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


def stacked(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
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


def element_count(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
    array = call.array("input", "input_x")
    target = lengths_in(match["target"])
    numbers = [number for number in target if number is not None]
    if array is None or len(numbers) < len(target):
        return None
    label = call.label(array, "the input")
    text = f"reshape of {label} {shape_text(array)}, which has {array.size} elements, to {tuple_text(target)}"
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


def einsum(call: OperatorCall, match: re.Match[str]) -> Conflict | None:
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
