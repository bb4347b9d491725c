"""What `%bprop` needs: the arguments of a cell's last call and the gradients that arrived for it, from captures.

Captures hold tensors only. An argument that was something else is known by what `construct` expects.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.tensor import Tensor


class LastCall(NamedTuple):
    """One call of a cell: its tensors, by place and by name, and the gradient for each of its outputs.

    ``defaults`` are the names of the arguments that were no tensors, but have a default.
    """

    inputs: list[Tensor]
    keywords: dict[str, Tensor]
    gradients: list[Tensor]
    defaults: list[str]


def last_call(sessions: Iterable[DebugSession], cell: Cell) -> LastCall | None:
    """The newest call that went forward and backward, in the first session that has one.

    Raises:
        ValueError: an argument was no tensor and has no default.
    """
    for session in sessions:
        path = session.paths.path_of(cell)
        values = None if path is None else _newest(session, path)
        if values is not None:
            return _call(cell, values)
    return None


def _newest(session: DebugSession, path: str) -> dict[str, Tensor] | None:
    """The values of the newest call that a gradient arrived at, by slot."""
    calls: dict[tuple[int, int], dict[str, Tensor]] = {}
    for capture in session.captures:
        if capture.path == path and capture.origin == "tap":
            calls.setdefault((capture.step, capture.call), {})[capture.slot] = capture.value
    for values in reversed(calls.values()):
        kinds = {slot.partition("[")[0] for slot in values}
        if {"input", "grad_output"} <= kinds:
            return values
    return None


def _call(cell: Cell, values: dict[str, Tensor]) -> LastCall:
    call = LastCall([], {}, _gradients(values), [])
    for place, parameter in enumerate(inspect.signature(cell.construct).parameters.values()):
        name, by_place, by_name = parameter.name, f"input[{place}]", f"input[{parameter.name}]"
        if parameter.kind is parameter.VAR_POSITIONAL:
            while (slot := f"input[{len(call.inputs)}]") in values:
                call.inputs.append(values[slot])
        elif by_place in values and place == len(call.inputs):
            call.inputs.append(values[by_place])
        elif by_place in values or by_name in values:  # behind one that has its default
            call.keywords[name] = values[by_place if by_place in values else by_name]
        elif parameter.default is not parameter.empty:
            call.defaults.append(name)
        elif parameter.kind is not parameter.VAR_KEYWORD:
            raise ValueError(f"input {name!r} of its last call was not a tensor, and only tensors are captured")
    return call


def _gradients(values: dict[str, Tensor]) -> list[Tensor]:
    """One for each output; zeros where none arrived, as a bprop gets them."""
    from hookscope.engine import ops

    outputs = [value for slot, value in values.items() if slot.partition("[")[0] == "output"]
    arrived = [values.get(f"grad_output[{place}]") for place in range(len(outputs))]
    return [
        ops.zeros_like(output) if gradient is None else gradient
        for output, gradient in zip(outputs, arrived, strict=True)
    ]
