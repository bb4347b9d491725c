"""Recompute: a cell whose activations are not kept. Its ``construct`` runs again when the gradient comes by.

The first run records nothing but which followed values it used. They become the inputs of one node. When the gradient
arrives, the cell runs again in a recording of its own, with the random numbers, the element type and the parameters of
the first run, and that recording is walked back at once. What it sends on goes to the recording around it one by one,
in the order of an ordinary walk, so that every sum has the same bits as without recompute.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.steps import step_back
from ..autograd.watched_backward import watched_backward
from ..base.file_labels import warn_user
from ..base.types import Array
from ..tape import taps
from ..tape.tape import Differentiable, Recording, Repeating, Sums, accumulate, record, state
from ..tensors import precision, random
from ..tensors.nested import replaced, tensors_in
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor
from ..tensors.views import Written, detached_copies, outputs_of_node, places_in, put_in, put_together

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
def _inside() -> Iterator[None]:
    _local.depth += 1
    try:
        yield
    finally:
        _local.depth -= 1


def is_recomputing() -> bool:
    """Return whether this runs inside a cell that is computed again as a whole."""
    return _local.depth > 0


class RecomputeOptions:
    """What ``Cell.recompute`` was asked for.

    Args:
        use_reentrant: whether ``context_fn`` is refused.
        context_fn: makes two contexts, one for the first run and one for the second; None for none.
        is_parents: whether a cell above was asked, so that it counts where this one is called by itself.

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
    """Call ``block`` and keep nothing of it for the gradient but its inputs; see ``Cell.recompute``.

    Args:
        block: a cell; a function too with ``use_reentrant=False``.
        *args: its positional inputs.
        use_reentrant: whether ``block`` must be a cell, without ``context_fn``.
        output_recompute: with True as ``use_reentrant=False``.
        early_stop: accepted; ``block`` always runs to its end.
        context_fn: called without arguments; returns two contexts, one around the first run and one around the second.
            None for none.
        **kwargs: its keyword inputs.

    Returns:
        What ``block`` returns.

    Raises:
        TypeError: ``block`` is no cell with ``use_reentrant``.
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
    """Run ``function``; where a gradient may be wanted, as one node that runs it again.

    Args:
        function: what to run.
        cell: the cell whose parameters and buffers are put back for the second run; None for none.
        options: which contexts are around the two runs.
        args: the positional inputs.
        kwargs: the keyword inputs.

    Returns:
        What ``function`` returned.
    """
    forward_context, second_context = options.contexts()
    if not state.recordings:
        with forward_context:
            return function(*args, **kwargs)
    node = _Recompute(function, cell, second_context, args, kwargs)
    given = [*tensors_in((args, kwargs)), *node.held]
    written = Written([t for t in given if not _is_moved_along(t)])
    outer = state.recordings
    used = _Used(outer)
    state.recordings = (used,)
    try:
        with forward_context, _inside(), taps.logged() as node.calls:
            output = function(*args, **kwargs)
    finally:
        state.recordings = outer
        used.nodes = []  # which refer back to it
    returned = tensors_in(output)
    if not returned and not isinstance(output, tuple | list | dict | str | int | float | None):
        warn_user(
            f"For 'recompute', what the block returned is a {type(output).__name__}, in which no tensor is looked for: "
            "it has no gradient. Return tensors, in tuples, lists or dictionaries if there are several"
        )
    # What is given back as it came has the name that it had, so that its gradients are added in their order.
    node.given_back = [id(t._array) in used.tracked for t in returned]
    arrays = [
        t._array if given_back else t._array.view() for t, given_back in zip(returned, node.given_back, strict=True)
    ]
    # What it wrote to comes as an output of the node, by which its new values have their gradients.
    changed = written.undo()
    node.note_written([t for t, _ in changed], tensors_in((args, kwargs)))
    tensors, roots = outputs_of_node(returned, arrays, given)
    news = [array.view() for _, array in changed]
    made = [t._array for t, given_back in zip(tensors, node.given_back, strict=True) if not given_back]
    if made or news:
        node.leave_to_the_tape(used.arrays)
        record(node, tuple(used.arrays), (*made, *news), {})
    put_together(roots)
    for (tensor, _), new in zip(changed, news, strict=True):
        tensor._rebind(new)
    return replaced(output, tensors)


def _is_moved_along(tensor: Tensor) -> bool:
    """Return whether it is a Parameter that is not trained: statistics that move along are not differentiated."""
    return isinstance(tensor, Parameter) and not tensor.requires_grad


class _Discarded:
    """Takes what is appended and keeps nothing."""

    def __len__(self) -> int:
        return 0

    def append(self, entry: Any) -> None:
        """Keep nothing."""


class _Followed:
    """The ids that the recordings around follow; to be told of more changes nothing."""

    def __init__(self, recordings: Iterable[Recording]) -> None:
        self.sets = [recording.tracked for recording in recordings]

    def __contains__(self, key: int) -> bool:
        return any(key in tracked for tracked in self.sets)

    def update(self, keys: Iterable[int]) -> None:
        """Change nothing."""


class _HooksAround(dict[int, Any]):
    """A hook that the first run puts on a value from outside belongs to the recordings outside."""

    def __init__(self, recordings: Iterable[Recording]) -> None:
        super().__init__()
        self.recordings = recordings

    def __setitem__(self, key: int, hook: Any) -> None:
        for recording in self.recordings:
            if key in recording.tracked:
                recording.hooked[key] = hook


class _Used(Recording):
    """A recording that keeps no nodes, only which values of the recordings around it were used."""

    __slots__ = ("arrays", "seen")

    def __init__(self, recordings: Iterable[Recording]) -> None:
        super().__init__(())
        self.arrays: list[Array] = []
        self.seen: set[int] = set()
        self.tracked = _Followed(recordings)  # type: ignore[assignment]  # only looked into and added to
        self.nodes = _Nodes(self)  # type: ignore[assignment]
        self.marks = _Discarded()  # type: ignore[assignment]
        self.hooked = _HooksAround(recordings)

    def use(self, inputs: tuple[Any, ...]) -> None:
        """Note the followed ones among the inputs of an operation."""
        for array in inputs:
            if id(array) in self.tracked and id(array) not in self.seen:
                self.seen.add(id(array))
                self.arrays.append(array)

    def follow(self, operator: Any, inputs: tuple[Any, ...], output: Any, attrs: dict[str, Any]) -> None:
        """Note the inputs, keep nothing."""
        self.use(inputs)


class _Nodes(_Discarded):
    def __init__(self, used: _Used) -> None:
        self.used = used

    def append(self, entry: Any) -> None:
        """Note the inputs of a node, keep nothing."""
        self.used.use(entry[1])


class _Recompute(Differentiable, Repeating):
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
        self.places: list[int | None] = []
        self.written: list[int | Tensor] = []
        self.given_back: list[bool] = []
        self.runs = 0
        # Values, not tensors: the function may rebind the tensors it gets, and the cell its parameters.
        self.args, self.kwargs = replaced((args, kwargs), detached_copies(tensors_in((args, kwargs))))
        self.held: list[Tensor] = [] if cell is None else _state_of(cell)
        self.shared = places_in(tensors_in((args, kwargs)), self.held)
        self.values = [t._array for t in self.held]
        self.dtype, self.listed = precision.current(), precision.listed()
        self.random = random.position()

    def note_written(self, written: list[Tensor], given: list[Tensor]) -> None:
        """Keep where the second run has what the first one wrote to: as an argument, or as the tensor itself."""
        places = {id(tensor): place for place, tensor in enumerate(given)}
        self.written = [places.get(id(tensor), tensor) for tensor in written]

    def leave_to_the_tape(self, inputs: list[Array]) -> None:
        """Hold of the arguments none that are inputs of the node: the tape may keep those elsewhere."""
        places = {id(array): place for place, array in enumerate(inputs)}
        tensors = tensors_in((self.args, self.kwargs))  # one that is given twice is there twice
        self.places = [places.get(id(tensor._array)) for tensor in tensors]
        for tensor, place in zip(tensors, self.places, strict=True):
            if place is not None:
                tensor._array = _NOTHING

    def rename(self, names: dict[int, Array]) -> None:
        """Give the arguments the names that they have on the tape from now on."""
        for tensor in {id(tensor): tensor for tensor in tensors_in([self.args, self.kwargs])}.values():
            tensor._array = names.get(id(tensor._array), tensor._array)

    def backward(
        self, functions: Any, tracked: set[int], gradient: Any, output: Any, inputs: tuple[Any, ...], attrs: Any
    ) -> list[tuple[Array, Any]]:
        """Run again, recording, and walk back."""
        leaves = [array for array in inputs if id(array) in tracked]
        inner = Recording(leaves, spares=not (functions.wraps or taps.operator_taps))
        self.runs += 1
        label = "recomputed" if self.runs == 1 else f"recomputed {self.runs}"
        with (
            inner,
            self._as_it_was(),
            precision.scope(self.dtype, self.listed),
            self.context,
            taps.repeating(self.calls, label),
            _inside(),
        ):
            args, kwargs = self._arguments(inputs)
            given = tensors_in((args, kwargs))
            # Their arrays now: parameters are put back at the end of the block, with their views.
            again = [tensor._array for tensor in tensors_in(self.function(*args, **kwargs))]
            again = [array for array, given_back in zip(again, self.given_back, strict=True) if not given_back]
            again += [(given[one] if isinstance(one, int) else one)._array for one in self.written]
            del args, kwargs, given
        inner.put_back()
        gradients = Sums(inner, leaves, functions)
        for array, g in zip(again, gradient, strict=True):
            if g is not None and id(array) in inner.tracked:
                accumulate(gradients, id(array), g, functions)
        if inner.marks:
            watched_backward(inner, gradients, functions)
        else:
            while inner.nodes:  # what only a node holds goes with it
                step_back(inner.nodes.pop(), gradients, functions, inner.tracked, inner.hooked)
        # Not their sums: what came is handed on, in the order in which it came.
        of_leaves = [(part, array) for array in leaves for part in gradients.parts_of(id(array))]
        return [(array, part[1]) for part, array in sorted(of_leaves, key=lambda one: one[0][3])]

    def _arguments(self, inputs: tuple[Any, ...]) -> Any:
        """The arguments in tensors of their own, which the function may rebind."""
        held = tensors_in((self.args, self.kwargs))
        taken = [(t, inputs[p]) for t, p in zip(held, self.places, strict=True) if p is not None]
        for tensor, array in taken:
            tensor._array = array
        copies = put_in(detached_copies(held), self.shared)
        for tensor, _ in taken:
            tensor._array = _NOTHING
        return replaced((self.args, self.kwargs), copies)

    @contextlib.contextmanager
    def _as_it_was(self) -> Iterator[None]:
        """Parameters, buffers and random numbers as at the first run; afterwards as they were before."""
        now, place = [t._array for t in self.held], random.position()
        _rebind(self.held, self.values)
        random.go_to(self.random)
        try:
            yield
        finally:
            random.go_to(place)
            _rebind(self.held, now)


_NOTHING: Array = np.empty(0, np.float32)


def _state_of(cell: CellBase) -> list[Tensor]:
    """Return the parameters and buffers of a cell, and the tensors among its attributes."""
    found: dict[int, Tensor] = {id(one): one for one in cell.get_parameters()}
    for _, one in cell.cells_and_names():
        for held in (*one._buffers.values(), *vars(one).values()):
            if isinstance(held, Tensor):
                found[id(held)] = held
    return list(found.values())


def _rebind(tensors: list[Tensor], arrays: list[Array]) -> None:
    for tensor, array in zip(tensors, arrays, strict=True):
        tensor._rebind(array)
