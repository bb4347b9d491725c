"""Recompute (checkpointing): a cell without saved activations, whose ``construct`` runs again in the backward pass.

The first run records nothing except the followed values that it used. They become the inputs of one node. In the
backward pass the cell runs again in a separate recording, with the random numbers, the element type and the
parameters of the first run, and the backward pass over that recording follows at once. Its gradients are added to
the recording around it one by one, in the order of an ordinary backward pass, so that every sum has the same bits
as without recompute.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.backward import run_backward
from ..autograd.regions import Regions
from ..autograd.sums import Sums, accumulate
from ..base.file_labels import warn_user
from ..base.types import Array
from ..tape import taps
from ..tape.tape import Differentiable, RecomputeNode, Recording, record, state
from ..tensors import precision, random
from ..tensors.nested import replaced, tensors_in
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor
from ..tensors.views import WrittenTensors, detached_copies, link_to_roots, outputs_of_node, record_roots, root_links

if TYPE_CHECKING:
    from .members import CellBase

__all__ = ["RecomputeOptions", "is_recomputing", "recompute", "run_to_recompute"]

Contexts = Callable[[], tuple[Any, Any]]


def _no_contexts() -> tuple[Any, Any]:
    return contextlib.nullcontext(), contextlib.nullcontext()


class _Local(threading.local):
    depth = 0


_local = _Local()


@contextlib.contextmanager
def _recomputing() -> Iterator[None]:
    _local.depth += 1
    try:
        yield
    finally:
        _local.depth -= 1


def is_recomputing() -> bool:
    """Return whether this runs inside a cell that is being recomputed as a whole."""
    return _local.depth > 0


class RecomputeOptions:
    """Options of ``Cell.recompute``.

    Args:
        use_reentrant: whether ``context_fn`` is an error.
        context_fn: returns two contexts, one for the first run and one for the second; None for none.
        is_parents: whether they were set by a cell above, and so apply only if this cell is called separately.

    Raises:
        ValueError: ``context_fn`` with ``use_reentrant``.
    """

    def __init__(self, use_reentrant: bool, context_fn: Contexts | None, is_parents: bool = False) -> None:
        self.is_parents = is_parents
        if use_reentrant and context_fn is not None:
            raise ValueError("For 'recompute', 'context_fn' needs use_reentrant=False")
        self.contexts = context_fn or _no_contexts


def recompute(
    block: Callable[..., Any],
    *args: Any,
    use_reentrant: bool = True,
    output_recompute: bool = False,
    early_stop: bool = True,
    context_fn: Contexts | None = None,
    **kwargs: Any,
) -> Tensor:
    """Call ``block`` and save only its inputs for the gradient; see ``Cell.recompute``.

    Args:
        block: a cell; a function too with ``use_reentrant=False``.
        *args: its positional inputs.
        use_reentrant: whether ``block`` must be a cell, without ``context_fn``.
        output_recompute: True has the effect of ``use_reentrant=False``.
        early_stop: accepted; ``block`` always runs to its end.
        context_fn: called without arguments; returns two contexts, one around the first run and one around the second.
            None for none.
        **kwargs: its keyword inputs.

    Returns:
        The result of ``block``.

    Raises:
        TypeError: ``block`` is not a cell with ``use_reentrant``.
        ValueError: ``context_fn`` with ``use_reentrant``.
    """
    from .cell import Cell

    reentrant = use_reentrant and not output_recompute
    if reentrant and not isinstance(block, Cell):
        raise TypeError(
            f"For 'recompute', 'block' must be a Cell unless use_reentrant=False, but got {type(block).__name__}"
        )
    options = RecomputeOptions(reentrant, context_fn)
    kwargs.pop("save_rng_state", None)
    owner = block if isinstance(block, Cell) else getattr(block, "__self__", None)
    return run_to_recompute(block, owner if isinstance(owner, Cell) else None, options, args, kwargs)


def run_to_recompute(
    function: Callable[..., Any],
    cell: CellBase | None,
    options: RecomputeOptions,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Tensor:
    """Run ``function``; if a gradient may be needed, as one node that runs it again.

    Args:
        function: the function to run.
        cell: the cell whose parameters and buffers are restored for the second run; None for none.
        options: the contexts around the two runs.
        args: the positional inputs.
        kwargs: the keyword inputs.

    Returns:
        The result of ``function``.
    """
    forward_context, second_context = options.contexts()
    if not state.recordings:
        with forward_context:
            return function(*args, **kwargs)
    node = _Recompute(function, cell, second_context, args, kwargs)
    operands = [*tensors_in((args, kwargs)), *node.state_tensors]
    written = WrittenTensors([t for t in operands if not _is_untrained_parameter(t)])
    outer = state.recordings
    input_recording = _InputRecording(outer)
    state.recordings = (input_recording,)
    try:
        with forward_context, _recomputing(), taps.log_calls() as node.calls:
            output = function(*args, **kwargs)
    finally:
        state.recordings = outer
        input_recording.nodes = []  # its nodes refer to it
    returned = tensors_in(output)
    if not returned and not isinstance(output, tuple | list | dict | str | int | float | None):
        warn_user(
            f"For 'recompute', the block returned a {type(output).__name__}, which is not searched for tensors: "
            "it has no gradient. Return tensors, in tuples, lists or dictionaries if there are several"
        )
    # A returned input keeps its name, so that its gradients are added in the same order.
    node.is_returned_input = [id(t._array) in input_recording.tracked for t in returned]
    arrays = [
        t._array if is_input else t._array.view() for t, is_input in zip(returned, node.is_returned_input, strict=True)
    ]
    # A tensor that it wrote to becomes an output of the node, through which its new values have gradients.
    writes = written.undo()
    node.store_written([t for t, _ in writes], tensors_in((args, kwargs)))
    tensors, roots = outputs_of_node(returned, arrays, operands)
    new_arrays = [array.view() for _, array in writes]
    outputs = [t._array for t, is_input in zip(tensors, node.is_returned_input, strict=True) if not is_input]
    if outputs or new_arrays:
        node.release_inputs(input_recording.arrays)
        record(node, tuple(input_recording.arrays), (*outputs, *new_arrays), {})
    record_roots(roots)
    for (tensor, _), new in zip(writes, new_arrays, strict=True):
        tensor._rebind(new)
    return replaced(output, tensors)


def _is_untrained_parameter(tensor: Tensor) -> bool:
    """Return whether it is a Parameter that is not trained: running statistics are not differentiated."""
    return isinstance(tensor, Parameter) and not tensor.requires_grad


class _DiscardingList:
    """A list that discards appended entries."""

    def __len__(self) -> int:
        return 0

    def append(self, entry: Any) -> None:
        """Discard the entry."""


class _OuterTracked:
    """The ids that the recordings around follow; updates are ignored."""

    def __init__(self, recordings: Iterable[Recording]) -> None:
        self.sets = [recording.tracked for recording in recordings]

    def __contains__(self, key: int) -> bool:
        return any(key in tracked for tracked in self.sets)

    def update(self, keys: Iterable[int]) -> None:
        """Ignore the ids."""


class _OuterHooks(dict[int, Any]):
    """Hooks that the first run registers on outer values; they are passed to the outer recordings."""

    def __init__(self, recordings: Iterable[Recording]) -> None:
        super().__init__()
        self.recordings = recordings

    def __setitem__(self, key: int, hook: Any) -> None:
        for recording in self.recordings:
            if key in recording.tracked:
                recording.hooks[key] = hook


class _InputRecording(Recording):
    """A recording that keeps only the used values of the recordings around it, not the nodes."""

    __slots__ = ("array_ids", "arrays")

    def __init__(self, recordings: Iterable[Recording]) -> None:
        super().__init__(())
        self.arrays: list[Array] = []
        self.array_ids: set[int] = set()
        self.tracked = _OuterTracked(recordings)  # type: ignore[assignment]  # only searched and extended
        self.nodes = _Nodes(self)  # type: ignore[assignment]
        self.marks = _DiscardingList()  # type: ignore[assignment]
        self.hooks = _OuterHooks(recordings)

    def use(self, inputs: tuple[Any, ...]) -> None:
        """Add the followed ones among the inputs of an operation."""
        for array in inputs:
            if id(array) in self.tracked and id(array) not in self.array_ids:
                self.array_ids.add(id(array))
                self.arrays.append(array)

    def add_node(self, operator: Any, inputs: tuple[Any, ...], output: Any, attrs: dict[str, Any]) -> None:
        """Add the inputs, discard the node."""
        self.use(inputs)


class _Nodes(_DiscardingList):
    def __init__(self, input_recording: _InputRecording) -> None:
        self.input_recording = input_recording

    def append(self, entry: Any) -> None:
        """Add the inputs of a node, discard the node."""
        self.input_recording.use(entry[1])


class _Recompute(Differentiable, RecomputeNode):
    """The node of one call."""

    name = "recompute"

    def __init__(
        self,
        function: Callable[..., Any],
        cell: CellBase | None,
        context: contextlib.AbstractContextManager[Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.function = function
        self.context = context
        self.calls = taps.CallLog(0)
        self.input_indices: list[int | None] = []
        self.written: list[int | Tensor] = []
        self.is_returned_input: list[bool] = []
        self.runs = 0
        # Copies: the function may rebind its arguments, and the cell its parameters.
        self.args, self.kwargs = replaced((args, kwargs), detached_copies(tensors_in((args, kwargs))))
        self.state_tensors: list[Tensor] = [] if cell is None else _state_of(cell)
        self.links = root_links(tensors_in((args, kwargs)), self.state_tensors)
        self.values = [t._array for t in self.state_tensors]
        self.dtype, self.operator_dtypes = precision.current(), precision.operator_dtypes()
        self.random = random.position()

    def store_written(self, written: list[Tensor], arguments: list[Tensor]) -> None:
        """Store each tensor that the first run wrote to, as the index of an argument or the tensor itself."""
        indices = {id(tensor): index for index, tensor in enumerate(arguments)}
        self.written = [indices.get(id(tensor), tensor) for tensor in written]

    def release_inputs(self, inputs: list[Array]) -> None:
        """Release the arguments that are inputs of the node: the tape may offload them."""
        indices = {id(array): index for index, array in enumerate(inputs)}
        tensors = tensors_in((self.args, self.kwargs))  # a repeated argument is there twice
        self.input_indices = [indices.get(id(tensor._array)) for tensor in tensors]
        for tensor, index in zip(tensors, self.input_indices, strict=True):
            if index is not None:
                tensor._array = _RELEASED

    def rename(self, names: dict[int, Array]) -> None:
        """Replace the arguments' arrays by their new names on the tape."""
        for tensor in {id(tensor): tensor for tensor in tensors_in([self.args, self.kwargs])}.values():
            tensor._array = names.get(id(tensor._array), tensor._array)

    def backward(
        self, functions: Any, tracked: set[int], gradient: Any, output: Any, inputs: tuple[Any, ...], attrs: Any
    ) -> list[tuple[Array, Any]]:
        """Run the function again in a recording, and run its backward pass."""
        leaves = [array for array in inputs if id(array) in tracked]
        inner = Recording(leaves, uses_placeholders=not (functions.wraps or taps.operator_taps))
        self.runs += 1
        label = "recomputed" if self.runs == 1 else f"recomputed {self.runs}"
        with (
            inner,
            self._first_state(),
            precision.scope(self.dtype, self.operator_dtypes),
            self.context,
            taps.repetition_of(self.calls, label),
            _recomputing(),
        ):
            args, kwargs = self._arguments(inputs)
            operands = tensors_in((args, kwargs))
            # Take the arrays now: parameters and their views are restored at the end of the block.
            outputs = [tensor._array for tensor in tensors_in(self.function(*args, **kwargs))]
            outputs = [array for array, is_input in zip(outputs, self.is_returned_input, strict=True) if not is_input]
            outputs += [(operands[entry] if isinstance(entry, int) else entry)._array for entry in self.written]
            del args, kwargs, operands
        inner.restore_arrays()
        gradients = Sums(inner, leaves, functions)
        for array, g in zip(outputs, gradient, strict=True):
            if g is not None and id(array) in inner.tracked:
                accumulate(gradients, id(array), g, functions)
        if inner.marks:
            regions = Regions(inner, gradients, functions)
            run_backward(inner, gradients, functions, regions.events(), regions.add)
        else:
            run_backward(inner, gradients, functions, [], release=True)
        # Not their sums: the parts are passed on in order of arrival.
        of_leaves = [(part, array) for array in leaves for part in gradients.parts_of(id(array))]
        return [(array, part[1]) for part, array in sorted(of_leaves, key=lambda pair: pair[0][3])]

    def _arguments(self, inputs: tuple[Any, ...]) -> Any:
        """Return the arguments in new tensors, which the function may rebind."""
        tensors = tensors_in((self.args, self.kwargs))
        restored = [(t, inputs[p]) for t, p in zip(tensors, self.input_indices, strict=True) if p is not None]
        for tensor, array in restored:
            tensor._array = array
        copies = link_to_roots(detached_copies(tensors), self.links)
        for tensor, _ in restored:
            tensor._array = _RELEASED
        return replaced((self.args, self.kwargs), copies)

    @contextlib.contextmanager
    def _first_state(self) -> Iterator[None]:
        """Restore parameters, buffers and random numbers of the first run inside the block."""
        current, position = [t._array for t in self.state_tensors], random.position()
        _rebind(self.state_tensors, self.values)
        random.go_to(self.random)
        try:
            yield
        finally:
            random.go_to(position)
            _rebind(self.state_tensors, current)


_RELEASED: Array = np.empty(0, np.float32)


def _state_of(cell: CellBase) -> list[Tensor]:
    """Return the parameters and buffers of a cell, and the tensors among its attributes."""
    tensors: dict[int, Tensor] = {id(child): child for child in cell.get_parameters()}
    for _, child in cell.cells_and_names():
        for value in (*child._buffers.values(), *vars(child).values()):
            if isinstance(value, Tensor):
                tensors[id(value)] = value
    return list(tensors.values())


def _rebind(tensors: list[Tensor], arrays: list[Array]) -> None:
    for tensor, array in zip(tensors, arrays, strict=True):
        tensor._rebind(array)
