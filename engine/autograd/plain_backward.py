"""The backward pass over a tape that nobody watches: what ``steps.step_back`` does, written out for speed."""

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
    """Take the gradients that arrived at outputs back to the leaves, node by node.

    Args:
        recording: the tape.
        gradients: by the id of the array that each belongs to; those of the leaves are left at the end.
        functions: what the rules compute with, on arrays or on tensors.
        last: whether the nodes are let go of on the way, and what only they hold with them.
    """
    tracked, hooked, array_type = recording.tracked, recording.hooked, np.ndarray
    pop, get = gradients.pop, gradients.get
    plain = not (functions.wraps or hooked or taps.operator_taps or recording.renamings)
    before = silence() if plain else None
    try:
        for node in _taken_off(recording.nodes) if last and plain else reversed(recording.nodes):
            operator, inputs, output, attrs = node
            slopes = operator.slopes
            if slopes is None or not plain:
                gradient = x = y = found = held = None  # else the last of these names would be kept until the next
                if plain and type(output) is not tuple and isinstance(operator, Operator):
                    key = id(output)
                    if key in gradients:
                        if recording.spared:  # an output that no rule reads goes before its own rule makes more
                            node, output = None, recording.spared.get(key, output)
                        pairs = operator.gradients
                        _add_up(gradients, pairs(functions, tracked, pop(key), output, inputs, attrs), functions)
                    continue
                if before is not None:  # code of the user's may run
                    restore(before)
                    before = None
                step_back(node, gradients, functions, tracked, hooked)
                if plain:
                    before = silence()
                continue
            # What ``step_back`` comes to for the basic operators, written out: most nodes of small work come here.
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
                found = gradient * y if first == TIMES_OTHER else gradient
                if x.shape != shape:
                    found = functions.sum_to(found, shape=x.shape)
                held = get(key)
                gradients[key] = found if held is None else sum_of(held, found, functions)
            key = id(y)
            if key in tracked:
                found = gradient
                if second:
                    found = gradient * x if second == TIMES_OTHER else -gradient
                if y.shape != shape:
                    found = functions.sum_to(found, shape=y.shape)
                held = get(key)
                gradients[key] = found if held is None else sum_of(held, found, functions)
    finally:
        if before is not None:
            restore(before)


def _add_up(gradients: dict[int, Any], pairs: list[tuple[Any, Any]], functions: Any) -> None:
    """Add to what came for each array before."""
    for array, found in pairs:
        held = gradients.get(id(array))
        gradients[id(array)] = found if held is None else sum_of(held, found, functions)


def _taken_off(nodes: list[Any]) -> Iterator[Any]:
    """The nodes from the last to the first; none is held here when the next one comes."""
    nodes.insert(0, None)
    return iter(nodes.pop, None)


def sum_of(held: Any, found: Any, functions: Any, sharing: int = 0) -> Any:
    """The sum of two gradients, in the place of the first where it is large and nobody else holds it.

    ``sharing``: so many others hold the first, and will hold the sum instead.
    """
    if not held.ndim:  # Python's operators make NumPy's scalars of arrays without axes
        return functions.add(held, found)
    if held.size > _IN_PLACE:
        if type(held) is np.ndarray:
            if sys.getrefcount(held) <= _HELD_HERE + sharing:
                flags = held.flags
                if flags.owndata and flags.writeable and held.dtype == found.dtype and held.shape == found.shape:
                    held += found
                    return held
        elif functions is ARRAY_FUNCTIONS:
            return functions.add(held, found)  # of a GPU: CuPy's own sum would lie in C order whatever these lie in
    return held + found


_IN_PLACE = 4096
"""Elements from which on a sum in place saves more than finding out whether it may be."""
_HELD_HERE = NEVER
"""How often a gradient is held that nobody else holds: by the walk's dictionary and variable, and in ``sum_of``."""


def _adds_in_place(bound: int, box: list[Any]) -> bool:
    global _HELD_HERE
    _HELD_HERE = bound
    found = np.ones(_IN_PLACE + 1, np.float32)
    gradients = {id(found): box.pop()}
    before = id(gradients[id(found)])
    _add_up(gradients, [(found, found)], ARRAY_FUNCTIONS)
    return id(gradients[id(found)]) == before


_HELD_HERE = calibrated(_adds_in_place, 2 if BORROWS else 4, _IN_PLACE + 1)
