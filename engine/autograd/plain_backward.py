"""Backward pass over a tape without observers: ``steps.step_back`` written out for speed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base.float_warnings import restore, silence
from ..base.reference_counts import BORROWS, NEVER, calibrated
from ..tape import taps
from ..tape.tape import Recording
from ..tensors.operator import ARRAY_FUNCTIONS, FLOAT32, TIMES_OTHER, Operator
from .steps import step_back

__all__ = ["sum_of", "walk"]


def walk(recording: Recording, gradients: dict[int, Any], functions: Any, last: bool) -> None:
    """Propagate the gradients of the outputs back to the leaves, node by node.

    Args:
        recording: the tape.
        gradients: by the id of the array that each belongs to; those of the leaves remain at the end.
        functions: the functions that the rules compute with, on arrays or on tensors.
        last: whether nodes, and the values that only they hold, are released during the pass.
    """
    tracked, hooked, array_type = recording.tracked, recording.hooked, np.ndarray
    pop, get = gradients.pop, gradients.get
    plain = not (functions.wraps or hooked or taps.operator_taps or recording.renamings)
    float_state = silence() if plain else None
    try:
        for node in _taken_off(recording.nodes) if last and plain else reversed(recording.nodes):
            operator, inputs, output, attrs = node
            slopes = operator.slopes
            if slopes is None or not plain:
                gradient = x = y = gradient_part = previous = None  # releases the values of the previous node
                if plain and type(output) is not tuple and isinstance(operator, Operator):
                    key = id(output)
                    if key in gradients:
                        if recording.spared:  # release an output that no rule reads first
                            node, output = None, recording.spared.get(key, output)
                        pairs = operator.gradients
                        _add_up(gradients, pairs(functions, tracked, pop(key), output, inputs, attrs), functions)
                    continue
                if float_state is not None:  # user code may run
                    restore(float_state)
                    float_state = None
                step_back(node, gradients, functions, tracked, hooked)
                if plain:
                    float_state = silence()
                continue
            # ``step_back`` for the basic operators, written out: most nodes of small computations take this path.
            gradient = pop(id(output), None)
            if gradient is None:
                continue
            shape = gradient.shape
            if type(gradient) is not array_type or gradient.dtype is not FLOAT32 or not shape:
                _add_up(gradients, operator.gradients(functions, tracked, gradient, output, inputs, attrs), functions)
                continue
            first, second = slopes
            x, y = inputs
            key = id(x)
            if key in tracked:
                gradient_part = gradient * y if first == TIMES_OTHER else gradient
                if x.shape != shape:
                    gradient_part = functions.sum_to(gradient_part, shape=x.shape)
                previous = get(key)
                gradients[key] = gradient_part if previous is None else sum_of(previous, gradient_part, functions)
            key = id(y)
            if key in tracked:
                gradient_part = gradient
                if second:
                    gradient_part = gradient * x if second == TIMES_OTHER else -gradient
                if y.shape != shape:
                    gradient_part = functions.sum_to(gradient_part, shape=y.shape)
                previous = get(key)
                gradients[key] = gradient_part if previous is None else sum_of(previous, gradient_part, functions)
    finally:
        if float_state is not None:
            restore(float_state)


def _add_up(gradients: dict[int, Any], pairs: list[tuple[Any, Any]], functions: Any) -> None:
    """Add each gradient to the sum for its array."""
    for array, gradient in pairs:
        previous = gradients.get(id(array))
        gradients[id(array)] = gradient if previous is None else sum_of(previous, gradient, functions)


def _taken_off(nodes: list[Any]) -> Iterator[Any]:
    """Return the nodes from the last to the first; a node is released before the next one is taken."""
    nodes.insert(0, None)
    return iter(nodes.pop, None)


def sum_of(held: Any, found: Any, functions: Any, sharing: int = 0) -> Any:
    """Return the sum of two gradients, computed in the first if it is large and nothing else holds it.

    ``sharing``: the number of other references to the first, which will be replaced by the sum.
    """
    if not held.ndim:  # Python's operators turn arrays without axes into NumPy scalars
        return functions.add(held, found)
    if held.size > _IN_PLACE:
        if type(held) is np.ndarray:
            if sys.getrefcount(held) <= _HELD_HERE + sharing:
                flags = held.flags
                if flags.owndata and flags.writeable and held.dtype == found.dtype and held.shape == found.shape:
                    held += found
                    return held
        elif functions is ARRAY_FUNCTIONS:
            return functions.add(held, found)  # on a GPU: CuPy's own sum is always in C order
    return held + found


_IN_PLACE = 4096
"""Elements from which a sum in place saves more time than the check whether it is allowed."""
_HELD_HERE = NEVER
"""References to a gradient held by the backward pass alone: by its dictionary and variable, and in ``sum_of``."""


def _adds_in_place(bound: int, box: list[Any]) -> bool:
    global _HELD_HERE
    _HELD_HERE = bound
    array = np.ones(_IN_PLACE + 1, np.float32)
    gradients = {id(array): box.pop()}
    identity = id(gradients[id(array)])
    _add_up(gradients, [(array, array)], ARRAY_FUNCTIONS)
    return id(gradients[id(array)]) == identity


_HELD_HERE = calibrated(_adds_in_place, 2 if BORROWS else 4, _IN_PLACE + 1)
