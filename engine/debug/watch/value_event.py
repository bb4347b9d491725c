"""Event of a value: the tensors that pass at one moment of a cell's call, or that a hook of the session received.

The session's tap makes the event, and it passes the stages of ``observer``: record, diagnose, stop, edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hookscope.engine.tensors.tensor import Tensor

from ..record.capture import pick_slot

if TYPE_CHECKING:
    from hookscope.engine.tape.taps import CellCall, Gradients

    from ..diagnose.conditions import Hit
    from ..record.capture import Capture
    from ..stop.editing import Edit
    from .visits import Visit

__all__ = ["ValueEvent", "slots_at"]

_GRADIENTS = {"backward_pre": "grad_output", "backward": "grad_input"}


@dataclass(eq=False)
class ValueEvent:
    """Values at one moment of a call.

    Attributes:
        visit: the call, with its path, step and number.
        moment: "forward_pre", "forward", "backward_pre" or "backward".
        direction: "forward" or "backward".
        slots: the tensors that pass, by slot.
        context, origin: as in ``Capture``.
        call: the engine's call, whose values a pause can replace; None for a hook.
        gradients: the gradients to continue with, at the backward moments.
        captures: the captures of the values; empty if they are only noted.
        hits: the hits that request a pause.
        edits: the edits at this moment, in order.
    """

    visit: Visit
    moment: str
    direction: str
    slots: list[tuple[str, Tensor]]
    context: str
    call: CellCall | None = None
    gradients: Gradients | None = None
    origin: str = "tap"
    captures: Sequence[Capture] = field(default=(), init=False)
    hits: Sequence[Hit] = field(default=(), init=False)
    edits: Sequence[Edit] = field(default=(), init=False)

    @property
    def values(self) -> dict[str, object]:
        """The values that pass, by the names that expressions use."""
        call = self.call
        if call is None:
            return {}
        if self.moment == "forward_pre":
            return {"inputs": call.args, "keywords": call.kwargs}
        if self.moment == "forward":
            return {"inputs": call.args, "output": call.output}
        return {_GRADIENTS[self.moment]: self.gradients}


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
