"""Edits of the values at a cell where the run is paused, with the effect of a hook's return value at that moment.

The values that can be edited are ``inputs`` and ``keywords`` at the moment "forward_pre", ``output`` at "forward",
``grad_output`` at "backward_pre", and ``grad_input`` at "backward". An edit is checked at once like a hook's return
value; a failed check changes nothing.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hookscope.engine.autograd.marks import checked_gradients

from ...base.nearest_name import suggestion
from ..watch.value_event import slots_at

if TYPE_CHECKING:
    from hookscope.engine.tape.taps import CellCall

    from ..watch.value_event import ValueEvent

__all__ = ["Edit", "assign", "target", "with_place"]

_INDEXED = re.compile(r"(\w+)\s*\[\s*(\d+)\s*\]")


@dataclass(frozen=True)
class Edit:
    """One edit: the name, and the expression if the value was computed."""

    name: str
    expression: str | None
    value: object


def target(name: str) -> tuple[str, int | None]:
    """Return the name and the index of ``NAME`` or ``NAME[INDEX]``."""
    match = _INDEXED.fullmatch(name.strip())
    return (name.strip(), None) if match is None else (match[1], int(match[2]))


def assign(event: ValueEvent, name: str, value: object, expression: str | None = None) -> tuple[str, object]:
    """Replace the value ``name`` of an event, or one item of it.

    Returns:
        the name without the index, and its new value.

    Raises:
        NameError: this name cannot be replaced here.
        TypeError, ValueError, RuntimeError: a hook must not return this value.
    """
    base_name, index = target(name)
    moment, call, values = event.moment, event.call, event.values
    settable = [key for key in values if (moment, key) != ("forward", "inputs")]
    if call is None or base_name not in settable:
        nearest = suggestion(base_name, settable)
        raise NameError(f"{base_name!r} cannot be set at {moment}: there is {', '.join(settable)}{nearest}")
    _put(event, call, base_name, value if index is None else with_place(values[base_name], index, value, base_name))
    event.edits = [*event.edits, Edit(name, expression, value)]
    event.slots = slots_at(call, moment, event.gradients)
    return base_name, event.values[base_name]


def _put(event: ValueEvent, call: CellCall, name: str, value: Any) -> None:
    if value is None:
        raise ValueError(f"{name} cannot be None: a hook that returns None changes nothing")
    if name == "inputs":
        value = value if isinstance(value, tuple) else (value,)
        _check_call(call, value, call.kwargs)
        call.args = value
    elif name == "keywords":
        if not isinstance(value, dict):
            raise TypeError(f"keywords must be a dict, but got {type(value).__name__}")
        _check_call(call, call.args, value)
        call.kwargs = value
    elif name == "output":
        call.output = value
    else:
        reason = call.refusal_reason()
        if reason:
            raise RuntimeError(f"{name} cannot be set: {reason}")
        assert event.gradients is not None
        event.gradients = checked_gradients(value, event.gradients, f"an edit of {name}, as a hook there,")


def _check_call(call: CellCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    try:
        signature = inspect.signature(call.cell.construct)
    except (TypeError, ValueError):  # no signature available
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"construct of {type(call.cell).__name__} cannot be called with this: {error}") from None


def with_place(container: Any, index: int, value: object, name: str) -> object:
    """Return a copy of a tuple or a list, called ``name``, with a different value at one index.

    Raises:
        TypeError, IndexError: it has no such index.
    """
    if not isinstance(container, tuple | list):
        raise TypeError(f"{name} has no elements by index: it is a {type(container).__name__}")
    if index >= len(container):
        raise IndexError(f"{name} has {len(container)} elements, and none at index {index}")
    items = [value if position == index else item for position, item in enumerate(container)]
    return items if isinstance(container, list) else tuple(items)
