"""Single step of the backward pass: from the gradients of a node's outputs to those of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..base.types import Array
from ..tape.tape import Node, Recording, Renaming, Sums, accumulate, run_hook

__all__ = ["node_backward", "run_leaf_hooks", "step_back"]


def run_leaf_hooks(recording: Recording, keys: Iterable[int], gradients: dict[int, Any]) -> None:
    """Run the hooks on the leaves that have a gradient; each may replace it."""
    for key in keys:
        if key in gradients:
            gradients[key] = recording.hooked[key](gradients[key])


def step_back(
    node: Node, gradients: dict[int, Any], functions: Any, tracked: set[int], hooked: dict[int, Callable[[Any], Any]]
) -> None:
    """Propagate the gradients of a node's outputs to its inputs."""
    pairs = node_backward(node, gradients, functions, tracked, hooked)
    if not isinstance(node[0], Renaming):
        for array, gradient in pairs:
            accumulate(gradients, id(array), gradient, functions)


def node_backward(
    node: Node, gradients: dict[int, Any], functions: Any, tracked: set[int], hooked: dict[int, Callable[[Any], Any]]
) -> Iterable[tuple[Array, Any]]:
    """Return the gradients that a node sends to its inputs, and remove those of its outputs from ``gradients``.

    Those of a ``Renaming`` are added directly to the gradients of the inputs.
    """
    operator, inputs, output, attrs = node
    if isinstance(operator, Renaming):
        return gradients.pass_on(operator, inputs, output, tracked, hooked) if isinstance(gradients, Sums) else ()
    if type(output) is tuple:
        gradient: Any = tuple([gradients.pop(id(array), None) for array in output])
        if hooked:
            gradient = tuple([run_hook(hooked, array, g) for array, g in zip(output, gradient, strict=True)])
        missing = all(g is None for g in gradient)
    else:
        gradient = gradients.pop(id(output), None)
        if hooked:
            gradient = run_hook(hooked, output, gradient)
        missing = gradient is None
    if missing and not operator.runs_without_gradient:
        return ()
    return operator.backward(functions, tracked, gradient, output, inputs, attrs)
