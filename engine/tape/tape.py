"""The tape: operations recorded between the start and the end of a gradient computation.

Arrays are immutable, so **an array object is a value**, and ``id(array)`` identifies it. A recording is a flat list of
nodes ``(operator, inputs, output, attrs)`` in execution order. Nodes hold arrays, never tensors; because they keep
their arrays alive, no id is used twice. An in-place operation on a tensor rebinds the tensor to a new array and appends
a node. There are no flags on tensors, no graph and no version counter.

Recordings nest. An operation is appended to every open recording that follows one of its inputs. The backward pass over
a recording runs after it was closed. If an outer recording is still open, the backward pass computes with tensors, and
the outer recording follows these operations; this gives second and higher derivatives. Otherwise it computes with bare
arrays, without wrapping and recording.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..base.types import Array

__all__ = [
    "LARGE",
    "ArrayPlaceholder",
    "CompositeNode",
    "Differentiable",
    "GradientComputation",
    "RecomputeNode",
    "Recording",
    "Region",
    "Renaming",
    "active_observers",
    "map_values",
    "no_recording",
    "record",
    "recording_active",
    "report_side_effect",
    "resolve_placeholders",
    "state",
]

active_observers: list[object] = []
"""State that operators check beside their arrays: open recordings, taps that watch operators, scopes of precision,
of all threads. While it is empty, an operator checks nothing else."""


class _State(threading.local):
    """State of each thread: the open recordings, outermost first (a tuple, replaced as a whole)."""

    recordings: tuple[Recording, ...] = ()
    deferred_callbacks: list[Callable[[], None]] | None = None
    """Callbacks that hooks defer to the end of the current backward pass."""
    gradients_disabled = False
    """Whether user code has disabled gradients."""
    tracer: Any = None
    """Recorder of operators of the function that is being traced (``engine.compile``)."""


state = _State()


def report_side_effect(description: str) -> None:
    """Report an effect to the current trace, if there is one, that a plan would not reproduce.

    Args:
        description: the call and the missing effect, such as "print_() is called, and a plan would not print".
    """
    if state.tracer is not None:
        state.tracer.leak(description)


class Differentiable:
    """Interface of the first entry of a node."""

    runs_without_gradient = False
    """Whether it is also called if no gradient arrives."""
    placeholders: tuple[int, ...] = ()
    """Indices of inputs, and -1, -2, ... for outputs, of which the gradient needs only shape and dtype."""
    slopes: tuple[int, int] | None = None
    """Factors of the gradient for each of two operands, if the backward pass multiplies by them itself."""

    def backward(
        self,
        functions: Any,
        tracked: set[int],
        gradient: Any,
        output: Any,
        inputs: tuple[Any, ...],
        attrs: dict[str, Any],
    ) -> Iterable[tuple[Array, Any]]:
        """Return pairs of an input array and its gradient."""
        raise NotImplementedError


class RecomputeNode:
    """First entry of a node that runs a function again; it holds those arguments that the node does not."""

    def rename(self, names: dict[int, Array]) -> None:
        """Replace values that it holds by their new names on the tape."""
        raise NotImplementedError


class CompositeNode(Differentiable):
    """First entry of a node that combines several steps."""

    def steps(self, output: tuple[Array, ...]) -> list[Node]:
        """Return nodes that can replace it.

        Args:
            output: the output of its node.
        """
        raise NotImplementedError


Node = tuple[Any, tuple[Any, ...], Any, dict[str, Any]]


class Renaming(Differentiable):
    """First entry of a node that gives values further names, so that hooks can observe their gradients.

    Its inputs and outputs are tuples of the same length; corresponding entries are the same values.
    """

    def run_hooks(self, gradients: tuple[Any, ...], wraps: bool) -> tuple[Any, ...]:
        """Return the outputs' gradients after the hooks; arrays, or tensors if ``wraps``, None where none arrived."""
        raise NotImplementedError


class Region:
    """Record of a watched cell call: the arrays that entered it and the arrays that left it.

    The other attributes belong to the backward pass, see ``autograd.regions``.
    """

    __slots__ = (
        "call",
        "end",
        "inner_inputs",
        "inner_outputs",
        "inputs",
        "is_entered",
        "is_replaced",
        "open_outer_regions",
        "order",
        "outer_regions",
        "outputs",
        "pass_count",
        "start",
        "sums",
        "sums_before",
    )

    def __init__(self, call: Any, inputs: list[Array], start: int) -> None:
        self.call = call
        self.inputs = inputs
        self.outputs: list[Array] = []
        self.sums: dict[int, Any] = {}
        self.sums_before: list[tuple[dict[int, Any], dict[int, Any]]] = []
        self.start = start  # index of its first node
        self.end = start  # index after its last node
        self.outer_regions: tuple[
            tuple[Recording, Region], ...
        ] = ()  # the same call in the recordings outside this one
        self.open_outer_regions: list[tuple[Recording, Region, int]] = []
        self.inner_inputs: dict[int, Array] = {}
        self.inner_outputs: dict[int, Array] = {}
        self.is_entered = False
        self.is_replaced = False
        self.order = 0
        self.pass_count = 0

    def passes_a_value_through(self) -> bool:
        """Return whether the cell returned one of its own inputs."""
        return any(array is value for array in self.outputs for value in self.inputs)


class ArrayPlaceholder(weakref.ref[Any]):
    """Placeholder in a node for an array that no gradient rule reads: its shape and dtype, and a weak reference to it.

    When the array is freed, the placeholder identifies the value. If ``offloaded`` is set, rules do read the value, and
    the array can be restored (``offloading``).
    """

    __slots__ = ("dtype", "key", "ndim", "offloaded", "recording", "shape", "size")

    def __new__(cls, array: Array, recording: weakref.ref[Recording]) -> ArrayPlaceholder:
        return super().__new__(cls, array, _forget_placeholder)

    def __init__(self, array: Array, recording: weakref.ref[Recording]) -> None:
        super().__init__(array, _forget_placeholder)  # type: ignore[call-arg]
        self.shape, self.dtype, self.ndim, self.size = array.shape, array.dtype, array.ndim, array.size
        self.key = id(array)
        self.recording = recording
        self.offloaded: Any = None

    def array(self) -> Array | None:
        """Return the array, or the one restored from it; None if neither lives."""
        array: Array | None = self()
        return array if array is not None or self.offloaded is None else self.offloaded.restored_array()


def _forget_placeholder(placeholder: Any) -> None:
    """Remove the id of a freed array, since another array may get it."""
    recording = placeholder.recording()
    if recording is not None:
        recording.tracked.discard(placeholder.key)
        recording.placeholders.pop(placeholder.key, None)
        if placeholder.key in recording.hooks:  # a hook of a tensor that holds another array by now
            recording.hooks[id(placeholder)] = recording.hooks.pop(placeholder.key)


def map_values(function: Callable[[Any], Any], inputs: tuple[Any, ...], output: Any) -> tuple[tuple[Any, ...], Any]:
    """Return a node's inputs and output with a function applied to each value."""
    return tuple(map(function, inputs)), tuple(map(function, output)) if type(output) is tuple else function(output)


def resolve_placeholders(inputs: tuple[Any, ...], output: Any) -> tuple[tuple[Any, ...], Any]:
    """Return a node's inputs and output with placeholders replaced by their arrays; None for a freed array."""
    return map_values(lambda value: value.array() if type(value) is ArrayPlaceholder else value, inputs, output)


LARGE = 1 << 14
"""Elements from which the tape releases an array that no rule reads."""


class GradientComputation:
    """Entry of ``active_observers`` while a thread computes gradients, from before it reads the leaves' arrays."""

    __slots__ = ("thread",)

    def __init__(self) -> None:
        self.thread = threading.get_ident()


class Recording(GradientComputation):
    """Recording for one gradient computation: nodes, ids of the arrays that depend on its leaves, and hooks on values.

    ``marks`` are the starts and ends of watched cell calls: ``(number of nodes by then, region, ended)``. ``renamings``
    are the first entries of nodes that give further names.

    Args:
        leaves: the values whose gradients are requested.
        other_arguments: further arguments of the differentiated function. They and values computed from them are not
            followed, but hooks of a cell that gets one with a followed value get the gradients of both. Held weakly.
        uses_placeholders: whether large arrays that no rule reads are released: if there is only one backward pass, and
            on arrays.
    """

    __slots__ = (
        "__weakref__",
        "has_placeholders",
        "hooks",
        "leaves",
        "marks",
        "nodes",
        "offloaded",
        "other_arguments",
        "placeholders",
        "renamings",
        "tracked",
        "uses_placeholders",
    )
    offloaded: Any
    """Storage of offloaded values, see ``offloading``; set when there are any."""

    def __init__(
        self, leaves: Iterable[Array], other_arguments: Iterable[Array] = (), uses_placeholders: bool = False
    ) -> None:
        self.thread = threading.get_ident()
        self.leaves = list(leaves)
        self.nodes: list[Node] = []
        self.tracked = {id(array) for array in self.leaves}
        self.hooks: dict[int, Any] = {}
        self.marks: list[tuple[int, Region, bool]] = []
        self.renamings: list[Renaming] = []
        self.other_arguments = {id(array): weakref.ref(array) for array in other_arguments}
        self.uses_placeholders = uses_placeholders
        self.placeholders: dict[int, ArrayPlaceholder] = {}  # by the id of a living array
        self.has_placeholders = False

    def __enter__(self) -> Recording:
        active_observers.append(self)
        state.recordings = (*state.recordings, self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        state.recordings = tuple(r for r in state.recordings if r is not self)
        active_observers.remove(self)

    def add_node(self, operator: Differentiable, inputs: tuple[Any, ...], output: Any, attrs: dict[str, Any]) -> None:
        """Append a node and track its output."""
        if self.uses_placeholders and operator.placeholders:
            inputs, output = self._with_placeholders(operator.placeholders, inputs, output)
        self.nodes.append((operator, inputs, output, attrs))
        if type(output) is tuple:
            self.tracked.update(map(id, output))
        else:
            self.tracked.add(id(output))

    def _with_placeholders(
        self, indices: tuple[int, ...], inputs: tuple[Any, ...], output: Any
    ) -> tuple[tuple[Any, ...], Any]:
        """Return a node's inputs and output, with placeholders for large arrays that no rule reads."""
        for index in indices:
            if index >= 0:
                if index < len(inputs):
                    placeholder = self.placeholders.get(id(inputs[index]))
                    if placeholder is not None:
                        inputs = (*inputs[:index], placeholder, *inputs[index + 1 :])
                continue
            array = output[-1 - index] if type(output) is tuple else output
            if type(array) is not np.ndarray or array.size < LARGE:
                continue
            self.tracked.add(id(array))
            self.has_placeholders = True
            placeholder = self.placeholders[id(array)] = ArrayPlaceholder(array, weakref.ref(self))
            output = (*output[: -1 - index], placeholder, *output[-index:]) if type(output) is tuple else placeholder
        return inputs, output

    def restore_arrays(self) -> None:
        """Prepare for the backward pass: restore arrays in the nodes that are still held elsewhere."""
        if not self.has_placeholders:
            return
        if self.hooks:
            self._expand_composite_nodes()

        def restored(value: Any) -> Any:
            array = value.array() if type(value) is ArrayPlaceholder else None
            return value if array is None else array

        for index, (operator, inputs, output, attrs) in enumerate(self.nodes):
            self.nodes[index] = (operator, *map_values(restored, inputs, output), attrs)
        if hasattr(self, "offloaded"):
            self.nodes = self.offloaded.restored_nodes(self.nodes)

    def _expand_composite_nodes(self) -> None:
        """Replace each node that combines several steps by these steps, before a backward pass with hooks on values.

        Then each gradient is complete at the same point as in an eager backward pass, and hooks run in the same order.
        """
        nodes: list[Node] = []
        starts = [0]
        for node in self.nodes:
            if isinstance(node[0], CompositeNode):
                for step in node[0].steps(node[2]):
                    if any(id(x) in self.tracked for x in step[1]):
                        nodes.append(step)
                        self.tracked.update(map(id, step[2]) if type(step[2]) is tuple else (id(step[2]),))
            else:
                nodes.append(node)
            starts.append(len(nodes))
        self.nodes[:] = nodes
        for _, region, ended in self.marks:
            if ended:
                region.start, region.end = starts[region.start], starts[region.end]
        self.marks = [(starts[number], region, ended) for number, region, ended in self.marks]

    def track_other_arguments(self, inputs: tuple[Any, ...], output: Any) -> None:
        """Add the results of an operation on values not followed to the other arguments, if an input is one of them."""
        for array in inputs:
            if self.is_other_argument(array):
                for result in output if type(output) is tuple else (output,):
                    self.other_arguments[id(result)] = weakref.ref(result)
                return

    def is_other_argument(self, array: Any) -> bool:
        """Return whether it is one of the other arguments, or was computed from them alone."""
        reference = self.other_arguments.get(id(array))
        return reference is not None and reference() is array  # else another array has the id by now


def recording_active() -> bool:
    """Return whether a gradient computation is active in this thread."""
    return bool(state.recordings)


def record(operator: Differentiable, inputs: tuple[Any, ...], output: Any, attrs: dict[str, Any]) -> None:
    """Append an operation to each open recording that follows one of its inputs."""
    for recording in state.recordings:
        tracked = recording.tracked
        for array in inputs:
            if id(array) in tracked:
                recording.add_node(operator, inputs, output, attrs)
                break
        else:
            if recording.other_arguments:
                recording.track_other_arguments(inputs, output)


@contextmanager
def no_recording() -> Iterator[None]:
    """Disable recording in this thread inside the block."""
    saved = state.recordings
    state.recordings = ()
    try:
        yield
    finally:
        state.recordings = saved


@contextmanager
def no_gradients() -> Iterator[None]:
    """Disable recording in this thread and make ``grad`` raise inside the block (``_no_grad``), as in MindSpore."""
    previous = state.gradients_disabled
    state.gradients_disabled = True
    try:
        with no_recording():
            yield
    finally:
        state.gradients_disabled = previous
