"""Edits of the values at a cell where the run is paused, with the effect of a hook's return value at that moment.

At "forward_pre" there are ``inputs`` and ``keywords``, at "forward" ``output``, at "backward_pre" ``grad_output`` and
at "backward" ``grad_input``. An edit is checked at once like a hook's return value; a failed check changes nothing.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any

from hookscope.engine.autograd.marks import checked_gradients
from hookscope.engine.tape.taps import CellCall, Gradients
from hookscope.engine.tensors.tensor import Tensor

from ...base.nearest_name import suggestion
from ..record.capture import pick_slot

__all__ = ["Edit", "Passing", "slots_at", "target", "with_place"]

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


def slots_at(call: CellCall, moment: str, gradients: Gradients | None) -> list[tuple[str, Tensor]]:
    """Return the tensors that pass at a moment of a call, by slot."""
    if moment == "forward":
        if isinstance(call.output, Tensor):
            return [("output", call.output)]
        return list(pick_slot("output", call.output, Tensor))
    if moment == "forward_pre":
        if not call.kwargs and all(isinstance(value, Tensor) for value in call.args):  # the fast path for most calls
            return [(f"input[{index}]", value) for index, value in enumerate(call.args)]
        return [*pick_slot("input", call.args, Tensor), *pick_slot("input", call.kwargs, Tensor)]
    name = _GRADIENTS[moment]
    return [(f"{name}[{index}]", gradient) for index, gradient in enumerate(gradients or ()) if gradient is not None]


_GRADIENTS = {"backward_pre": "grad_output", "backward": "grad_input"}


class Passing:
    """The replaceable values at one moment of one call.

    Attributes:
        values: the values by name.
        moment: the moment.
        gradients: the gradients to continue with, at the backward moments.
        edits: the edits at this moment, in order.
    """

    def __init__(self, call: CellCall, moment: str, gradients: Gradients | None = None) -> None:
        self._call = call
        self.moment = moment
        self.gradients = gradients
        self.edits: list[Edit] = []

    @property
    def values(self) -> dict[str, object]:
        """The values that pass, by the names that expressions use."""
        call = self._call
        if self.moment == "forward_pre":
            return {"inputs": call.args, "keywords": call.kwargs}
        if self.moment == "forward":
            return {"inputs": call.args, "output": call.output}
        return {_GRADIENTS[self.moment]: self.gradients}

    def slots(self) -> list[tuple[str, Tensor]]:
        """Return the tensors that pass, by slot."""
        return slots_at(self._call, self.moment, self.gradients)

    def assign(self, name: str, value: object, expression: str | None = None) -> tuple[str, object]:
        """Replace the value ``name``, or one item of it.

        Returns:
            the name without the index, and its new value.

        Raises:
            NameError: this name cannot be replaced here.
            TypeError, ValueError, RuntimeError: a hook must not return this value.
        """
        base_name, index = target(name)
        settable = [key for key in self.values if (self.moment, key) != ("forward", "inputs")]
        if base_name not in settable:
            nearest = suggestion(base_name, settable)
            raise NameError(f"{base_name!r} cannot be set at {self.moment}: there is {', '.join(settable)}{nearest}")
        self._put(base_name, value if index is None else with_place(self.values[base_name], index, value, base_name))
        self.edits.append(Edit(name, expression, value))
        return base_name, self.values[base_name]

    def _put(self, name: str, value: Any) -> None:
        call = self._call
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
            assert self.gradients is not None
            self.gradients = checked_gradients(value, self.gradients, f"an edit of {name}, as a hook there,")


def _check_call(call: CellCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    try:
        signature = inspect.signature(call.cell.construct)
    except (TypeError, ValueError):  # no signature available
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"construct of {type(call.cell).__name__} cannot be called with this: {error}") from None


def with_place(held: Any, place: int, value: object, name: str) -> object:
    """Return a copy of a tuple or a list, called ``name``, with another value at one index.

    Raises:
        TypeError, IndexError: it has no such index.
    """
    if not isinstance(held, tuple | list):
        raise TypeError(f"{name} has no places: it is a {type(held).__name__}")
    if place >= len(held):
        raise IndexError(f"{name} has {len(held)} places, and {place} is none of them")
    items = [value if index == place else item for index, item in enumerate(held)]
    return items if isinstance(held, list) else tuple(items)
