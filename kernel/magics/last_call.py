"""Input of `%bprop` from captures: the arguments of a cell's last call and the gradients that arrived for it.

Captures hold tensors only. Other arguments are identified by the signature of `construct`.
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
    """One call of a cell: its tensors, positional and by keyword, and the gradient of each output.

    ``defaults`` are the names of non-tensor arguments that have a default.
    """

    inputs: list[Tensor]
    keywords: dict[str, Tensor]
    gradients: list[Tensor]
    defaults: list[str]


def last_call(sessions: Iterable[DebugSession], cell: Cell) -> LastCall | None:
    """Return the newest call with a forward and a backward pass, from the first session that has one.

    Raises:
        ValueError: an argument was not a tensor and has no default.
    """
    for session in sessions:
        path = session.paths.path_of(cell)
        values = None if path is None else _newest(session, path)
        if values is not None:
            return _call(cell, values)
    return None


def _newest(session: DebugSession, path: str) -> dict[str, Tensor] | None:
    """Return the values of the newest call that received a gradient, by slot."""
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
    for index, parameter in enumerate(inspect.signature(cell.construct).parameters.values()):
        name, positional, keyword = parameter.name, f"input[{index}]", f"input[{parameter.name}]"
        if parameter.kind is parameter.VAR_POSITIONAL:
            while (slot := f"input[{len(call.inputs)}]") in values:
                call.inputs.append(values[slot])
        elif positional in values and index == len(call.inputs):
            call.inputs.append(values[positional])
        elif positional in values or keyword in values:  # follows an argument that has its default
            call.keywords[name] = values[positional if positional in values else keyword]
        elif parameter.default is not parameter.empty:
            call.defaults.append(name)
        elif parameter.kind is not parameter.VAR_KEYWORD:
            raise ValueError(f"input {name!r} of its last call was not a tensor, and only tensors are captured")
    return call


def _gradients(values: dict[str, Tensor]) -> list[Tensor]:
    """Return one gradient for each output; zeros where none arrived, as a bprop receives them."""
    from hookscope.engine import ops

    outputs = [value for slot, value in values.items() if slot.partition("[")[0] == "output"]
    gradients = [values.get(f"grad_output[{index}]") for index in range(len(outputs))]
    return [
        ops.zeros_like(output) if gradient is None else gradient
        for output, gradient in zip(outputs, gradients, strict=True)
    ]
