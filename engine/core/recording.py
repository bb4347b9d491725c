"""The tape: what happened between the start and the end of a request for gradients, and the backward pass over it.

The one idea: arrays are immutable, so **an array object is a value**, and ``id(array)`` names it. A recording is a
flat list of nodes ``(operator, inputs, output, attrs)`` in execution order, holding arrays, never tensors; because the
nodes keep their arrays alive, no id is used twice. An in-place operation on a tensor rebinds the tensor to a new array
and is one more node. Nothing else is needed: no flag on tensors, no graph, no version counter.

Recordings nest. An operation is put on every open recording that follows one of its inputs. The backward pass over a
recording happens after it was closed; if another one is still open around it, the walk computes with tensors, whose
operations that outer recording follows, and so second and higher derivatives come about. With none open, the walk
computes with bare arrays: no wrapping, no recording.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from .silence import restore, silence
from .types import Array

__all__ = ["Differentiable", "Recording", "no_recording", "record", "recording_active", "state"]


class _State(threading.local):
    """Of each thread: the open recordings, outermost first (a tuple, replaced as a whole)."""

    recordings: tuple[Recording, ...] = ()


state = _State()


class Differentiable(Protocol):
    """What the first entry of a node can do."""

    runs_without_gradient: bool

    def backward(
        self,
        functions: Any,
        tracked: set[int],
        gradient: Any,
        output: Any,
        inputs: tuple[Any, ...],
        attrs: dict[str, Any],
    ) -> Iterable[tuple[Array, Any]]:
        """Pairs of an input array and a gradient that reaches it."""
        ...


class Repeating:
    """The first entry of a node that runs a function again, and so holds its arguments by itself."""

    def rename(self, names: dict[int, Array]) -> None:
        """Give values that it holds the names that they have on the tape from now on."""
        raise NotImplementedError


Node = tuple[Any, tuple[Any, ...], Any, dict[str, Any]]


class Region:
    """What one watched cell call recorded: the arrays that entered it and the arrays that left it.

    The others are of the backward pass, see ``_watched_backward``.
    """

    __slots__ = (
        "around", "arrived", "before", "call", "edited", "end", "entered", "inner_inputs", "inner_outputs", "inputs",
        "order", "outputs", "outside", "passed", "start", "walks",
    )  # fmt: skip

    def __init__(self, call: Any, inputs: list[Array], start: int) -> None:
        self.call = call
        self.inputs = inputs
        self.outputs: list[Array] = []
        self.arrived: dict[int, Any] = {}
        self.before: list[tuple[dict[int, Any], dict[int, Any]]] = []
        self.start = start  # its nodes are those from here ...
        self.end = start  # ... to there
        self.around: tuple[tuple[Recording, Region], ...] = ()  # the same call in the recordings outside this one
        self.outside: list[tuple[Recording, Region, int]] = []
        self.inner_inputs: dict[int, Array] = {}
        self.inner_outputs: dict[int, Array] = {}
        self.passed = 0
        self.entered = False
        self.edited = False
        self.order = 0
        self.walks = 0


class Recording:
    """One request for gradients: the nodes, the ids of the arrays that depend on its leaves, and hooks on values.

    ``marks`` are where watched cell calls began and ended: ``(number of nodes by then, region, ended)``.
    """

    __slots__ = ("__weakref__", "hooked", "leaves", "marks", "nodes", "tracked")

    def __init__(self, leaves: Iterable[Array]) -> None:
        self.leaves = list(leaves)
        self.nodes: list[Node] = []
        self.tracked = {id(array) for array in self.leaves}
        self.hooked: dict[int, Any] = {}
        self.marks: list[tuple[int, Region, bool]] = []

    def __enter__(self) -> Recording:
        state.recordings = (*state.recordings, self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        state.recordings = tuple(r for r in state.recordings if r is not self)

    def follow(self, operator: Differentiable, inputs: tuple[Any, ...], output: Any, attrs: dict[str, Any]) -> None:
        """Append a node and track what it made."""
        self.nodes.append((operator, inputs, output, attrs))
        if type(output) is tuple:
            self.tracked.update(map(id, output))
        else:
            self.tracked.add(id(output))

    def backward(self, seeds: Iterable[tuple[Array, Any]], functions: Any) -> dict[int, Any]:
        """Walk the nodes backwards.

        Args:
            seeds: pairs of an output array and the gradient that arrives at it.
            functions: the operators the rules compute with, on arrays or on tensors.

        Returns:
            the gradient of each leaf that was reached, by the id of its array.
        """
        gradients: dict[int, Any] = {}
        for array, gradient in seeds:
            accumulate(gradients, id(array), gradient, functions)
        if self.marks:
            from .watched_backward import watched_backward

            watched_backward(self, gradients, functions)
        else:
            self._walk(gradients, functions)
        for array in self.leaves:
            key = id(array)
            if key in self.hooked and key in gradients:
                gradients[key] = self.hooked[key](gradients[key])
        return gradients

    def _walk(self, gradients: dict[int, Any], functions: Any) -> None:
        from . import taps
        from .operator import Operator

        tracked, hooked = self.tracked, self.hooked
        plain = not (functions.wraps or hooked or taps.operator_taps)
        before = silence() if plain else None
        try:
            for node in reversed(self.nodes):
                operator, inputs, output, attrs = node
                if plain and isinstance(operator, Operator) and type(output) is not tuple:
                    # What follows the next two branches, written out: most nodes come here.
                    gradient = gradients.pop(id(output), None)
                    if gradient is None:
                        continue
                    for array, found in operator.gradients(functions, tracked, gradient, output, inputs, attrs):
                        key = id(array)
                        held = gradients.get(key)
                        if held is not None:
                            # Without axes, Python's operators make NumPy's scalars of arrays.
                            found = held + found if held.ndim else functions.add(held, found)
                        gradients[key] = found
                    continue
                if before is not None:  # code of the user's may run
                    restore(before)
                    before = None
                for array, found in node_backward(node, gradients, functions, tracked, hooked):
                    accumulate(gradients, id(array), found, functions)
                if plain:
                    before = silence()
        finally:
            if before is not None:
                restore(before)


def node_backward(
    node: Node,
    gradients: dict[int, Any],
    functions: Any,
    tracked: set[int],
    hooked: dict[int, Callable[[Any], Any]],
) -> Iterable[tuple[Array, Any]]:
    """The gradients that one node sends to its inputs, taking those of its outputs out of ``gradients``."""
    operator, inputs, output, attrs = node
    if type(output) is tuple:
        gradient: Any = tuple([gradients.pop(id(array), None) for array in output])
        if hooked:
            gradient = tuple([_hooked(hooked, array, g) for array, g in zip(output, gradient, strict=True)])
        missing = all(g is None for g in gradient)
    else:
        gradient = gradients.pop(id(output), None)
        if hooked:
            gradient = _hooked(hooked, output, gradient)
        missing = gradient is None
    if missing and not operator.runs_without_gradient:
        return ()
    return operator.backward(functions, tracked, gradient, output, inputs, attrs)


def _hooked(hooked: dict[int, Callable[[Any], Any]], array: Array, gradient: Any) -> Any:
    hook = hooked.get(id(array))
    return gradient if hook is None or gradient is None else hook(gradient)


def accumulate(gradients: dict[int, Any], key: int, gradient: Any, functions: Any) -> None:
    """Add a gradient to those that reached the same array before."""
    held = gradients.get(key)
    gradients[key] = gradient if held is None else functions.add(held, gradient)


def recording_active() -> bool:
    """Whether gradients have been asked for in this thread."""
    return bool(state.recordings)


def record(operator: Differentiable, inputs: tuple[Any, ...], output: Any, attrs: dict[str, Any]) -> None:
    """Put an operation on each open recording that follows one of its inputs."""
    for recording in state.recordings:
        tracked = recording.tracked
        for array in inputs:
            if id(array) in tracked:
                recording.follow(operator, inputs, output, attrs)
                break


@contextmanager
def no_recording() -> Iterator[None]:
    """Nothing is recorded in this thread inside the block."""
    saved = state.recordings
    state.recordings = ()
    try:
        yield
    finally:
        state.recordings = saved
