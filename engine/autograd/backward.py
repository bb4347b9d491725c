"""Backward pass over a tape, watched or not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..base.types import Array
from ..tape.tape import Recording, Sums, accumulate, state
from .plain_backward import walk
from .steps import run_leaf_hooks, step_back
from .watched_backward import watched_backward

__all__ = ["backward"]


def backward(
    recording: Recording, seeds: Iterable[tuple[Array, Any]], functions: Any, last: bool = False
) -> dict[int, Any]:
    """Run the backward pass over the nodes of a tape.

    Args:
        recording: the tape.
        seeds: pairs of an output array and the gradient that arrives at it.
        functions: the operators the rules compute with, on arrays or on tensors.
        last: whether this is the last backward pass over this tape, so that nodes may be released during it.

    Returns:
        the gradient of each leaf that was reached, by the id of its array.
    """
    recording.put_back()
    renamed = recording.renamings or any(
        region.inner_inputs or region.inner_outputs for _, region, _ in recording.marks
    )
    gradients: dict[int, Any] = Sums(recording, (), functions) if renamed else {}
    _add_seeds(gradients, seeds, functions)
    waiting = _leaves_with_hooks(recording)
    outer_callbacks, state.left = state.left, []
    try:
        if recording.marks:
            watched_backward(recording, gradients, functions, waiting, last)
        elif waiting:
            for index in range(len(recording.nodes), -1, -1):
                run_leaf_hooks(recording, waiting.get(index, ()), gradients)
                if index:
                    step_back(recording.nodes[index - 1], gradients, functions, recording.tracked, recording.hooked)
        else:
            walk(recording, gradients, functions, last)
        for callback in state.left:
            callback()
    finally:
        state.left = outer_callbacks
    return gradients


def _leaves_with_hooks(recording: Recording) -> dict[int, list[int]]:
    """Return the leaves with hooks on their gradients, by the number of nodes before the first node that uses them.

    When the backward pass reaches that position, the gradient is complete.
    """
    hooked = {id(array) for array in recording.leaves if id(array) in recording.hooked}
    positions: dict[int, list[int]] = {}
    if hooked and not any(region.inner_inputs for _, region, _ in recording.marks):  # else uses have other names
        for index, (operator, inputs, _, _) in enumerate(recording.nodes):
            for array in reversed(inputs) if getattr(operator, "hooks_from_last", False) else inputs:
                if id(array) in hooked:
                    hooked.discard(id(array))
                    positions.setdefault(index, []).append(id(array))
    if hooked:
        positions.setdefault(0, []).extend(hooked)
    return positions


def _add_seeds(gradients: dict[int, Any], seeds: Iterable[tuple[Array, Any]], functions: Any) -> None:
    """Add the initial gradients; a separate function, so that no variable holds them during the backward pass."""
    for array, gradient in seeds:
        accumulate(gradients, id(array), gradient, functions)
