"""Backward pass over a tape: one loop over its nodes, from the last to the first.

Everything else is data: the actions between two nodes are a list of events (hooks on leaves, the ends of watched
cell calls, see ``regions``), and how a node's gradients are added is a function (``sums``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ..base.float_warnings import restore, silence
from ..base.types import Array
from ..tape import taps
from ..tape.tape import Node, Recording, Renaming, state
from ..tensors.operator import FLOAT32, TIMES_OTHER, Operator
from .regions import Regions
from .sums import Sums, accumulate, add_in_place, add_pairs, keys_of_sums, run_hook, sum_of

__all__ = ["backward", "run_backward", "step_back"]

Event = tuple[int, Callable[[], None]]
"""An action between two nodes: the number of nodes that remain then, and the call."""
Add = Callable[..., None]
"""A function that adds pairs of an array and its gradient; a second argument: whether the sums have them already."""


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
    recording.restore_arrays()
    marks = recording.marks
    is_renamed = recording.renamings or any(region.inner_inputs or region.inner_outputs for _, region, _ in marks)
    gradients: dict[int, Any] = Sums(recording, (), functions) if is_renamed else {}
    _add_seeds(gradients, seeds, functions)
    add, release = None, last and not (functions.wraps or recording.hooks or is_renamed)
    events = _leaf_hooks(recording, gradients) if recording.hooks else []
    if marks:
        regions = Regions(recording, gradients, functions)
        add, release = regions.add, release and not any(region.passes_a_value_through() for _, region, _ in marks)
        events = sorted([*events, *regions.events()], key=lambda event: event[0])
        if release:
            marks.clear()  # the last event of a call releases its arguments and output
    elif taps.operator_taps:
        release = False
    outer_callbacks, state.deferred_callbacks = state.deferred_callbacks, []
    try:
        run_backward(recording, gradients, functions, events, add, release)
        for callback in state.deferred_callbacks:
            callback()
    except BaseException as error:  # not `finally`, which with it would take more instructions
        state.deferred_callbacks = outer_callbacks
        taps.fail_gradient_call((), error)
        raise
    state.deferred_callbacks = outer_callbacks
    return gradients


def run_backward(
    recording: Recording,
    gradients: dict[int, Any],
    functions: Any,
    events: list[Event],
    add: Add | None = None,
    release: bool = False,
) -> None:
    """Propagate the gradients of the outputs back to the leaves, node by node.

    Args:
        recording: the tape.
        gradients: by the id of the array that each belongs to; those of the leaves remain at the end.
        functions: the functions that the rules compute with, on arrays or on tensors.
        events: the actions on the way, the last first; each is removed after it has run.
        add: how a node's gradients are added.
        release: whether nodes, and the values that only they hold, are released during the pass.
    """
    is_bare = not (functions.wraps or recording.hooks or isinstance(gradients, Sums))
    is_plain = add is None and is_bare and not taps.operator_taps
    if add is None:
        add = partial(add_in_place if is_plain else add_pairs, gradients, functions)
    nodes = recording.nodes
    order, remaining = iter(nodes.pop, None) if release else reversed(nodes), len(nodes)
    while remaining or events:
        position, event = events.pop() if events else (0, None)
        _run_nodes(islice(order, remaining - position), gradients, functions, recording, add, is_bare, is_plain)
        remaining = position
        if event is not None:
            event()
            event = None  # releases the region of a watched call


def _run_nodes(
    nodes: Iterable[Node],
    gradients: dict[int, Any],
    functions: Any,
    recording: Recording,
    add: Add,
    is_bare: bool,
    is_plain: bool,
) -> None:
    """Propagate the gradients of some nodes' outputs to their inputs.

    Args:
        nodes: the nodes, the last first.
        gradients, functions, recording, add: see ``run_backward``.
        is_bare: whether gradients are arrays that no hook sees, and have one name each.
        is_plain: whether ``add`` adds in place, to these sums alone.
    """
    gradient = x = y = part = previous = float_state = None
    tracked, hooks, placeholders = recording.tracked, recording.hooks, recording.placeholders
    pop, get, array_type = gradients.pop, gradients.get, np.ndarray
    is_direct = is_bare and not taps.operator_taps
    try:
        if is_direct:
            float_state = silence()
        for operator, inputs, output, attrs in nodes:
            slopes = operator.slopes
            if slopes is not None and is_plain:
                # A basic operator, written out: most nodes of small computations take this path.
                gradient = pop(id(output), None)
                if type(gradient) is not array_type or gradient.dtype is not FLOAT32 or not (shape := gradient.shape):
                    if gradient is not None:
                        add(operator.gradients(functions, tracked, gradient, output, inputs, attrs))
                    continue
                first, second = slopes
                x, y = inputs
                key = id(x)
                if key in tracked:
                    part = gradient * y if first == TIMES_OTHER else gradient
                    if x.shape != shape:
                        part = functions.sum_to(part, shape=x.shape)
                    previous = get(key)
                    gradients[key] = part if previous is None else sum_of(previous, part, functions)
                key = id(y)
                if key in tracked:
                    part = gradient
                    if second:
                        part = gradient * x if second == TIMES_OTHER else -gradient
                    if y.shape != shape:
                        part = functions.sum_to(part, shape=y.shape)
                    previous = get(key)
                    gradients[key] = part if previous is None else sum_of(previous, part, functions)
                continue
            gradient = x = y = part = previous = None  # releases the values of the previous node
            if is_direct and type(output) is not tuple and isinstance(operator, Operator):
                key = id(output)
                if key in gradients:
                    output = placeholders.get(key, output)  # releases an array that no rule reads
                    add(operator.gradients(functions, tracked, pop(key), output, inputs, attrs))
                continue
            if float_state is not None:  # user code may run
                restore(float_state)
                float_state = None
            pairs = node_backward((operator, inputs, output, attrs), gradients, functions, tracked, hooks)
            is_direct = is_bare and not taps.operator_taps
            float_state = silence()
            add(pairs, isinstance(operator, Renaming))
            del pairs  # releases the gradients
            if not is_direct:
                restore(float_state)
                float_state = None
    finally:
        if float_state is not None:  # user code may run
            restore(float_state)


def step_back(
    node: Node, gradients: dict[int, Any], functions: Any, tracked: set[int], hooks: dict[int, Callable[[Any], Any]]
) -> None:
    """Propagate the gradients of a node's outputs to its inputs."""
    pairs = node_backward(node, gradients, functions, tracked, hooks)
    add_pairs(gradients, functions, pairs, isinstance(node[0], Renaming))


def node_backward(
    node: Node, gradients: dict[int, Any], functions: Any, tracked: set[int], hooks: dict[int, Callable[[Any], Any]]
) -> Iterable[tuple[Array, Any]]:
    """Return the gradients that a node sends to its inputs, and remove those of its outputs from ``gradients``.

    Those of a ``Renaming`` are added directly to the gradients of the inputs.
    """
    operator, inputs, output, attrs = node
    if isinstance(operator, Renaming):
        return gradients.pass_on(operator, inputs, output, tracked, hooks) if isinstance(gradients, Sums) else ()
    if type(output) is tuple:
        gradient: Any = tuple([gradients.pop(id(array), None) for array in output])
        if hooks:
            gradient = tuple([run_hook(hooks, array, g) for array, g in zip(output, gradient, strict=True)])
        missing = all(g is None for g in gradient)
    else:
        gradient = gradients.pop(id(output), None)
        if hooks:
            gradient = run_hook(hooks, output, gradient)
        missing = gradient is None
    if missing and not operator.runs_without_gradient:
        return ()
    return operator.backward(functions, tracked, gradient, output, inputs, attrs)


def _leaf_hooks(recording: Recording, gradients: dict[int, Any]) -> list[Event]:
    """Return the calls of the hooks on leaves, as events: each when the gradient is complete.

    That is before the first node that uses the leaf, of those that the outputs depend on.
    """
    nodes, marks = recording.nodes, recording.marks
    remaining = {id(array) for array in recording.leaves if id(array) in recording.hooks}
    positions: dict[int, list[int]] = {}
    if remaining and not any(region.inner_inputs for _, region, _ in marks):  # else uses have other names
        first_uses = _first_uses(recording, remaining, gradients)
        for index in set(first_uses.values()):
            operator, inputs, _, _ = nodes[index]
            keys = map(id, reversed(inputs) if getattr(operator, "hooks_from_last", False) else inputs)
            positions[index] = [key for key in dict.fromkeys(keys) if first_uses.get(key) == index]
        remaining -= first_uses.keys()
    if remaining:
        positions.setdefault(0, []).extend(remaining)
    return [(index, partial(_run_leaf_hooks, recording, positions[index], gradients)) for index in sorted(positions)]


def _first_uses(recording: Recording, leaves: set[int], gradients: dict[int, Any]) -> dict[int, int]:
    """Return the index of the first node that passes a gradient to each of these leaves.

    Nodes without a path to a value that has a gradient, such as those of an unused result, do not count.
    """
    inner_outputs = {
        id(inner): name for _, region, _ in recording.marks for name, inner in region.inner_outputs.items()
    }
    reached = keys_of_sums(gradients)
    uses: dict[int, int] = {}
    for index in range(len(recording.nodes) - 1, -1, -1):
        operator, inputs, output, _ = recording.nodes[index]
        outputs = list(map(id, output if type(output) is tuple else (output,)))
        is_reached = any(key in reached or inner_outputs.get(key) in reached for key in outputs)
        if is_reached or operator.runs_without_gradient:
            keys = set(map(id, inputs))
            reached |= keys
            uses.update(dict.fromkeys(keys & leaves, index))
    return uses


def _run_leaf_hooks(recording: Recording, keys: Iterable[int], gradients: dict[int, Any]) -> None:
    """Run the hooks on the leaves that have a gradient; each may replace it."""
    for key in keys:
        if key in gradients:
            gradients[key] = recording.hooks[key](gradients[key])


def _add_seeds(gradients: dict[int, Any], seeds: Iterable[tuple[Array, Any]], functions: Any) -> None:
    """Add the initial gradients; a separate function, so that no variable holds them during the backward pass."""
    for array, gradient in seeds:
        accumulate(gradients, id(array), gradient, functions)
