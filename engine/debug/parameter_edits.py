"""Manual edits of a parameter's values: each change is previewed, and the last one can be undone.

An edit computes the new array next to the old one, so that a preview changes nothing and applying it is one assignment.
Random numbers that an initializer draws advance the random state only when the edit is applied.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from hookscope.engine.tensors import random
from hookscope.engine.tensors.initializer import initializer

from ..base.nearest_name import suggestion
from .record.statistics import Statistics, statistics

if TYPE_CHECKING:
    from hookscope.engine.tensors.parameter import Parameter

    from .diagnose.session_checks import Checks
    from .events import Events
    from .record.newest_values import NewestValues
    from .stop.display import PauseDisplay
    from .watch.attachment import Attachment

__all__ = ["ACTIONS", "INITIALIZERS", "ParameterEdit", "ParameterEdits", "SessionParameters"]

# Initializers of the engine that need no argument.
INITIALIZERS = (
    "HeNormal",
    "HeUniform",
    "XavierNormal",
    "XavierUniform",
    "Normal",
    "TruncatedNormal",
    "Uniform",
    "VarianceScaling",
    "Orthogonal",
    "Identity",
    "Dirac",
    "Zero",
    "One",
)


@dataclass(frozen=True, eq=False)
class ParameterEdit:
    """One change of one parameter, ready to apply.

    Attributes:
        name: the parameter's name.
        what: the change in words, such as "scale 1.weight by 0.5".
        text: its effect: how many elements change, and which statistics.
        changed: how many elements it changes.
    """

    name: str
    what: str
    text: str
    changed: int
    parameter: Parameter
    before: Any
    after: Any
    drawn: tuple[tuple[int, int], tuple[int, int]] | None


class Parameters(Protocol):
    """Parameters that can be edited: ``SessionParameters``, or a test's."""

    def find(self, name: str) -> Parameter:
        """Return the parameter of this name; raise a ValueError if there is none."""
        ...

    def busy(self) -> str | None:
        """Return the reason why edits are not possible now, in one clause, or None."""
        ...

    def put(self, parameter: Parameter, array: Any) -> None:
        """Assign an array to a parameter."""
        ...


class SessionParameters:
    """Parameters of a session.

    Args:
        attachment: the attachment of the session.
        display: knows whether the run is paused.
        newest: notified of edits, which are not updates.
        checks: notified of edits, too.
        events: notified of edits.
    """

    def __init__(
        self, attachment: Attachment, display: PauseDisplay, newest: NewestValues, checks: Checks, events: Events
    ) -> None:
        self._attachment = attachment
        self._display = display
        self._newest = newest
        self._checks = checks
        self._events = events

    def find(self, name: str) -> Parameter:
        """Return the parameter of this name, which begins with the path of its cell.

        Raises:
            ValueError: there is no such parameter; the message names the nearest.
        """
        parameters_by_name = {
            f"{path}.{own_name}" if path else own_name: parameter
            for path, cell in self._attachment.visits.paths
            for own_name, parameter in cell._params.items()
            if parameter is not None
        }
        if name not in parameters_by_name:
            raise ValueError(f"no parameter {name!r} in this session{suggestion(name, parameters_by_name)}")
        return parameters_by_name[name]

    def busy(self) -> str | None:
        """Return the reason why edits are not possible now, in one clause, or None."""
        if self._display.paused is None and self._attachment.in_a_run:
            return "a run is under way and not paused"
        return None

    def put(self, parameter: Parameter, array: Any) -> None:
        """Assign an array to a parameter."""
        self._checks.note_edit(parameter, array)
        self._newest.set_parameter(parameter, array)
        parameter._rebind(array)
        self._events.notify("changed")


class ParameterEdits:
    """Editor of the parameters of a session.

    Args:
        parameters: finds and changes parameters.

    Attributes:
        last: the edit that ``undo`` reverts.
    """

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self.last: ParameterEdit | None = None

    def preview(self, name: str, action: str, **options: str | float) -> ParameterEdit:
        """Compute a change without applying it.

        Args:
            name: the parameter's name.
            action: "set" (``index`` such as "[0, :]", ``number``), "scale" (``factor``), "zero", "clip" (``low``,
                ``high``, one of which may be left out), or "initialize" (``initializer``, one of INITIALIZERS).
            options: arguments of the action; numbers may be text.

        Raises:
            ValueError: an unknown name or action, or an argument that is invalid for this parameter.
            IndexError: the index does not fit the shape.
        """
        parameter = self._parameters.find(name)
        if action not in ACTIONS:
            raise ValueError(f"action {action!r} is not known; it is one of {', '.join(ACTIONS)}")
        allowed = ACTIONS[action].arguments
        for argument in options:
            if argument not in allowed:
                raise ValueError(f"{action} takes {' and '.join(allowed) or 'no argument'}, got {argument}")
        before = parameter._array
        start = random.position()
        try:
            with np.errstate(all="ignore"):
                after, phrase = ACTIONS[action].compute(before, options)
                changed = int(((before != after) & ((before == before) | (after == after))).sum())
        finally:
            end = random.position()
            random.go_to(start)
        description = phrase.replace("{}", name, 1)
        text = _effect(name, changed, statistics(before), statistics(after))
        return ParameterEdit(
            name, description, text, changed, parameter, before, after, None if end == start else (start, end)
        )

    def apply(self, edit: ParameterEdit) -> None:
        """Apply a previewed edit.

        A gradient call in progress differentiates by the value that it began with.

        Raises:
            RuntimeError: a run is in progress and not paused, or the parameter or the random state changed since the
                preview.
        """
        self._check_idle(edit.name)
        if edit.parameter._array is not edit.before:
            raise RuntimeError(f"{edit.name} was changed since the preview: look at it again")
        if edit.drawn is not None:
            if random.position() != edit.drawn[0]:
                raise RuntimeError("random numbers were drawn since the preview: look at it again")
            random.go_to(edit.drawn[1])
        self.last = edit
        self._parameters.put(edit.parameter, edit.after)

    def undo(self) -> ParameterEdit:
        """Undo the last edit; return it.

        Raises:
            RuntimeError: there is no edit, the parameter was changed since, or a run is in progress and not paused.
        """
        edit = self.last
        if edit is None:
            raise RuntimeError("there is no edit to undo")
        self._check_idle(edit.name)
        self.last = None
        if edit.parameter._array is not edit.after:
            raise RuntimeError(f"{edit.name} was changed since by something else: the edit cannot be undone")
        self._parameters.put(edit.parameter, edit.before)
        return edit

    def _check_idle(self, name: str) -> None:
        reason = self._parameters.busy()
        if reason is not None:
            raise RuntimeError(f"{name} cannot be changed now: {reason}")


_Options = dict[str, str | float]


class _Action(NamedTuple):
    """Arguments of an action, and the function that returns the new array and the change in words, {} for the name."""

    arguments: tuple[str, ...]
    compute: Callable[[Any, _Options], tuple[Any, str]]


def _set(array: Any, options: _Options) -> tuple[Any, str]:
    text = str(options.get("index", "")).strip()
    index, number = _index(text), _number(options, "number", array)
    after = array.copy()
    try:
        after[index] = number
    except IndexError as error:
        shape = "x".join(map(str, array.shape)) or "()"
        raise IndexError(f"index {text!r} does not fit the shape {shape}: {error}") from None
    return after, f"set {{}}[{text.removeprefix('[').removesuffix(']').strip()}] to {number:g}"


def _scale(array: Any, options: _Options) -> tuple[Any, str]:
    factor = _number(options, "factor", array)
    after = array.copy()
    after *= array.dtype.type(factor)
    return after, f"scale {{}} by {factor:g}"


def _zero(array: Any, options: _Options) -> tuple[Any, str]:
    after = array.copy()
    after[...] = 0
    return after, "set {} to zero"


def _clip(array: Any, options: _Options) -> tuple[Any, str]:
    if array.dtype.kind in "bc":
        raise ValueError(f"clip needs numbers with an order, the parameter is {array.dtype.name}")
    low, high = (
        None if str(options.get(name, "")).strip() == "" else _number(options, name, array) for name in ("low", "high")
    )
    if low is None and high is None:
        raise ValueError("clip needs low, high or both")
    if low is not None and high is not None and low > high:
        raise ValueError(f"low must not be above high, got {low:g} and {high:g}")
    after = array.copy()
    if low is not None:
        np.maximum(after, array.dtype.type(low), out=after)
    if high is not None:
        np.minimum(after, array.dtype.type(high), out=after)
    limits = f"{'-inf' if low is None else f'{low:g}'} to {'inf' if high is None else f'{high:g}'}"
    return after, f"clip {{}} to {limits}"


def _initialize(array: Any, options: _Options) -> tuple[Any, str]:
    name = str(options.get("initializer", "")).strip()
    if name not in INITIALIZERS:
        raise ValueError(f"initializer {name!r} is not known{suggestion(name, INITIALIZERS)}")
    initialized = initializer(name, array.shape)._array
    return initialized.astype(array.dtype), f"initialize {{}} with {name}"


ACTIONS: dict[str, _Action] = {
    "set": _Action(("index", "number"), _set),
    "scale": _Action(("factor",), _scale),
    "zero": _Action((), _zero),
    "initialize": _Action(("initializer",), _initialize),
    "clip": _Action(("low", "high"), _clip),
}


def _number(options: _Options, name: str, array: Any) -> float:
    """Return an argument as a number that the array's dtype can represent."""
    value = options.get(name, "")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {value!r}") from None
    if array.dtype.kind in "biu":
        limits = (0, 1) if array.dtype.kind == "b" else (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max)
        if not (math.isfinite(number) and number.is_integer() and limits[0] <= number <= limits[1]):
            raise ValueError(f"{name} must be a number that {array.dtype.name} holds, got {value!r}")
        return int(number)
    return number


def _index(text: str) -> Any:
    """Return the index that a text such as ``[0, 1:3]`` or ``..., -1`` denotes: integers, slices and ``...``."""
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        node = ast.parse(f"x[{inner}]", mode="eval").body
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
            raise ValueError(text)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return tuple(map(_index_part, parts))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise ValueError(f"index must be integers, slices and ..., such as [0, :], got {text[:80]!r}") from None


def _index_part(node: ast.expr) -> Any:
    if isinstance(node, ast.Slice):
        return slice(*(None if part is None else _integer(part) for part in (node.lower, node.upper, node.step)))
    if isinstance(node, ast.Constant) and node.value is ...:
        return ...
    return _integer(node)


def _integer(node: ast.expr) -> int:
    value = ast.literal_eval(node)
    if type(value) is not int:
        raise ValueError(value)
    return value


def _effect(name: str, changed: int, before: Statistics, after: Statistics) -> str:
    """Return the effect of an edit, in one line."""
    if not changed:
        return f"changes none of the {before.count} elements of {name}"
    pairs = (
        ("min", before.minimum, after.minimum),
        ("max", before.maximum, after.maximum),
        ("mean", before.mean, after.mean),
        ("std", before.std, after.std),
        ("NaN", before.nan, after.nan),
        ("infinite", before.positive_inf + before.negative_inf, after.positive_inf + after.negative_inf),
    )
    figures = [f"{figure} {_short(old)} -> {_short(new)}" for figure, old, new in pairs if _short(old) != _short(new)]
    changes = ": " + ", ".join(figures) if figures else ""
    return f"changes {changed} of {before.count} elements of {name}{changes}"


def _short(number: float) -> str:
    return f"{number:.4g}"
