"""Editing what passes at a cell while the run stands there, as a hook of that moment would by what it returns.

At "forward_pre" there are ``inputs`` and ``keywords``, at "forward" ``output``, at "backward_pre" ``grad_output`` and
at "backward" ``grad_input``. The checks are those of the hook's return, and made at the edit: where one fails, nothing
has changed.
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
    """One edit that was made: what was set, and the expression if it was computed."""

    name: str
    expression: str | None
    value: object


def target(name: str) -> tuple[str, int | None]:
    """The name and the place of ``NAME`` or ``NAME[PLACE]``."""
    found = _INDEXED.fullmatch(name.strip())
    return (name.strip(), None) if found is None else (found[1], int(found[2]))


def slots_at(call: CellCall, moment: str, gradients: Gradients | None) -> list[tuple[str, Tensor]]:
    """The tensors that pass at a moment of a call, by slot."""
    if moment == "forward":
        if isinstance(call.output, Tensor):
            return [("output", call.output)]
        return list(pick_slot("output", call.output, Tensor))
    if moment == "forward_pre":
        if not call.kwargs and all(isinstance(value, Tensor) for value in call.args):  # the shorter way, for most calls
            return [(f"input[{i}]", value) for i, value in enumerate(call.args)]
        return [*pick_slot("input", call.args, Tensor), *pick_slot("input", call.kwargs, Tensor)]
    name = _GRADIENTS[moment]
    return [(f"{name}[{i}]", g) for i, g in enumerate(gradients or ()) if g is not None]


_GRADIENTS = {"backward_pre": "grad_output", "backward": "grad_input"}


class Passing:
    """What passes at one moment of one call, and can be replaced.

    Attributes:
        values: what there is by name.
        moment: which moment.
        gradients: the gradients to go on with, at the backward moments.
        edits: what was done here, in order.
    """

    def __init__(self, call: CellCall, moment: str, gradients: Gradients | None = None) -> None:
        self._call = call
        self.moment = moment
        self.gradients = gradients
        self.edits: list[Edit] = []

    @property
    def values(self) -> dict[str, object]:
        """What passes, by the names that expressions use."""
        call = self._call
        if self.moment == "forward_pre":
            return {"inputs": call.args, "keywords": call.kwargs}
        if self.moment == "forward":
            return {"inputs": call.args, "output": call.output}
        return {_GRADIENTS[self.moment]: self.gradients}

    def slots(self) -> list[tuple[str, Tensor]]:
        """The tensors that pass, by slot."""
        return slots_at(self._call, self.moment, self.gradients)

    def assign(self, name: str, value: object, expression: str | None = None) -> tuple[str, object]:
        """Put ``value`` in the place of what passes under ``name``, or of one place of it.

        Returns:
            the name without the place, and all that now passes under it.

        Raises:
            NameError: nothing of this name can be replaced here.
            TypeError, ValueError, RuntimeError: a hook must not return this.
        """
        plain, place = target(name)
        settable = [known for known in self.values if (self.moment, known) != ("forward", "inputs")]
        if plain not in settable:
            nearest = suggestion(plain, settable)
            raise NameError(f"{plain!r} cannot be set at {self.moment}: there is {', '.join(settable)}{nearest}")
        self._put(plain, value if place is None else with_place(self.values[plain], place, value, plain))
        self.edits.append(Edit(name, expression, value))
        return plain, self.values[plain]

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
            reason = call.why_not()
            if reason:
                raise RuntimeError(f"{name} cannot be set: {reason}")
            assert self.gradients is not None
            self.gradients = checked_gradients(value, self.gradients, f"an edit of {name}, as a hook there,")


def _check_call(call: CellCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    try:
        signature = inspect.signature(call.cell.construct)
    except (TypeError, ValueError):  # no signature to be had
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"construct of {type(call.cell).__name__} cannot be called with this: {error}") from None


def with_place(held: Any, place: int, value: object, name: str) -> object:
    """A copy of a tuple or a list, called ``name``, with another value in one place.

    Raises:
        TypeError, IndexError: it has no such place.
    """
    if not isinstance(held, tuple | list):
        raise TypeError(f"{name} has no places: it is a {type(held).__name__}")
    if place >= len(held):
        raise IndexError(f"{name} has {len(held)} places, and {place} is none of them")
    parts = [value if i == place else part for i, part in enumerate(held)]
    return parts if isinstance(held, list) else tuple(parts)
