"""Rules of operators: what does not fit in a failing call, computed from the shapes of its operands.

A rule is a pattern of the engine's message and a function. The function reads the operands from the frames, finds the
conflict in their shapes itself, and returns None if it does not see one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hookscope.engine.tensors.operator import Operator

from .combined_shapes import broadcast, einsum, element_count, into_shape, joined, stacked
from .conflict import Conflict, OperatorCall
from .indices import axis_range, element_kind, index_bounds, index_range, largest_setting, permutation
from .operands import Operands
from .required_shapes import equal_axes, grid_shape, normalized_shape, number_of_axes, one_shape, required_shape, window

__all__ = ["conflict_of"]

_OPERATOR = re.compile(r"For '([\w.]+)', (.*)", re.DOTALL)
_CLASSES = re.compile(
    r".*(?:labels must lie in|must be in) (?P<range>\[0, (?P<length>\d+)\) or [\w-]+(?: ignore_index)?)", re.DOTALL
)
_SHAPE = r"\([\w\s,*-]*\)"
Rule = Callable[[OperatorCall, re.Match[str]], Conflict | None]
_RULES: tuple[tuple[re.Pattern[str], Rule], ...] = (
    (re.compile(r"'input' and 'weight' must have (?P<needed>\d+) axes.*"), number_of_axes),
    (
        re.compile(
            rf"(?:[\w ]*in )?(?:'(?P<role>\w+)'|all tensors) must have the shape (?P<required>{_SHAPE})"
            rf"(?: for '(?P<other>\w+)' of shape {_SHAPE})?, but got (?P<shape>{_SHAPE})"
        ),
        required_shape,
    ),
    (
        re.compile(rf"'\w+' and '\w+' must have one shape, but got (?P<first>{_SHAPE}) and (?P<second>{_SHAPE})"),
        one_shape,
    ),
    (re.compile(rf"all tensors must have the shape {_SHAPE}, but entry (?P<index>\d+)"), stacked),
    (
        re.compile(
            rf".*could not broadcast input array from shape (?P<source>{_SHAPE}) into shape (?P<target>{_SHAPE})", re.S
        ),
        into_shape,
    ),
    (
        re.compile(rf".*\[original->remapped\]: (?P<source>{_SHAPE})\s+and requested shape (?P<target>{_SHAPE})", re.S),
        into_shape,
    ),
    (re.compile(r".*could not be broadcast together", re.S), normalized_shape),
    (re.compile(r".*could not be broadcast together", re.S), broadcast),
    (re.compile(r".*concatenation axis must match|.*must have same number of dimensions", re.S), joined),
    (re.compile(rf"\d+ elements of shape {_SHAPE} do not fit into (?P<target>{_SHAPE})"), element_count),
    (re.compile(r"'grid' of shape .* does not fit 'input'"), grid_shape),
    (re.compile(r"'(?P<name>\w+)' must be in \[\d+, (?P<most>\d+)\], but got (?P<value>\d+)"), largest_setting),
    (re.compile(r"'(?:axis|dim)' must be in \[-\d+, \d+\), but got (?P<axis>-?\d+)"), axis_range),
    (re.compile(rf"'dims' must be a permutation of .*but got (?P<dims>{_SHAPE})"), permutation),
    (
        re.compile(r".*index (?P<index>-?\d+) is out of bounds for axis (?P<axis>\d+) with size (?P<size>\d+)", re.S),
        index_bounds,
    ),
    (re.compile(r"indices must be in (?P<range>\[-?\d+, (?P<length>\d+)\))"), index_range),
    (_CLASSES, index_range),
    (
        re.compile(
            r"(?:[\w ]* in )?'(?P<role>\w+)' must (?:be|hold) (?P<kind>integers|bools).*, but got (?P<dtype>\w+)$"
        ),
        element_kind,
    ),
    (re.compile(r"'(?P<letter>\w)' has the lengths"), einsum),
    (re.compile(rf"a window of (?P<kernel>{_SHAPE}) does not fit"), window),
    (re.compile(r""), equal_axes),
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
    call = OperatorCall(name, text, operands, inputs, attrs)
    for pattern, rule in _RULES:
        parts = pattern.match(text)
        conflict = None if parts is None else rule(call, parts)
        if conflict is not None:
            return conflict
    return None
