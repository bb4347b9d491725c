"""Recompute: a cell whose activations are not kept. Its ``construct`` runs again when the gradient comes by.

The first run records nothing but which followed values it used. They become the inputs of one node. When the gradient
arrives, the cell runs again in a recording of its own, with the random numbers, the element type and the parameters of
the first run, and that recording is walked back at once. What it sends on goes to the recording around it one by one,
in the order of an ordinary walk, so that every sum has the same bits as without recompute.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import precision, random, taps
from ..core.nested import replaced, tensors_in
from ..core.recording import Differentiable, Recording, Repeating, Sums, accumulate, record, state, step_back
from ..core.tensor import Tensor
from ..core.types import Array
from ..core.watched_backward import watched_backward

if TYPE_CHECKING:
    from .members import CellBase

__all__ = ["RecomputeOptions", "recompute", "run_to_recompute"]

Contexts = Callable[[], tuple[Any, Any]]


def _no_contexts() -> tuple[Any, Any]:
    return contextlib.nullcontext(), contextlib.nullcontext()


class RecomputeOptions:
    """What ``Cell.recompute`` was asked for.

    Args:
        use_reentrant: whether ``context_fn`` is refused.
        context_fn: makes two contexts, one for the first run and one for the second; None for none.

    Raises:
        ValueError: ``context_fn`` with ``use_reentrant``.
    """

    def __init__(self, use_reentrant: bool, context_fn: Contexts | None) -> None:
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
    outer = state.recordings
    used = _Used(outer)
    state.recordings = (used,)
    try:
        with forward_context, taps.logged() as node.calls:
            output = function(*args, **kwargs)
    finally:
        state.recordings = outer
        used.nodes = []  # which refer back to it
    returned = tensors_in(output)
    used.use(tuple([t._array for t in returned]))  # what is given back as it came was in no operation
    tensors = [Tensor._wrap(t._array.view()) for t in returned]
    node.leave_to_the_tape(used.arrays)
    record(node, tuple(used.arrays), tuple([t._array for t in tensors]), {})
    return replaced(output, tensors)


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
        self.runs = 0
        # Values, not tensors: the function may rebind the tensors it gets, and the cell its parameters.
        self.args = replaced(args, [Tensor._wrap(t._array) for t in tensors_in(args)])
        self.kwargs = replaced(kwargs, [Tensor._wrap(t._array) for t in tensors_in(kwargs)])
        self.held: list[Tensor] = [*cell.get_parameters(), *_buffers(cell)] if cell is not None else []
        self.values = [t._array for t in self.held]
        self.dtype, self.listed = precision.current(), precision.listed()
        self.random = random.position()

    def leave_to_the_tape(self, inputs: list[Array]) -> None:
        """Hold of the arguments none that are inputs of the node: the tape may keep those elsewhere."""
        places = {id(array): place for place, array in enumerate(inputs)}
        for tensor in tensors_in((self.args, self.kwargs)):
            self.places.append(places.get(id(tensor._array)))
            if self.places[-1] is not None:
                tensor._rebind(_NOTHING)

    def rename(self, names: dict[int, Array]) -> None:
        """Give the arguments the names that they have on the tape from now on."""
        for tensor in tensors_in([self.args, self.kwargs]):
            tensor._rebind(names.get(id(tensor._array), tensor._array))

    def backward(
        self, functions: Any, tracked: set[int], gradient: Any, output: Any, inputs: tuple[Any, ...], attrs: Any
    ) -> list[tuple[Array, Any]]:
        """Run again, recording, and walk back."""
        leaves = [array for array in inputs if id(array) in tracked]
        inner = Recording(leaves, spares=not (functions.wraps or taps.operator_taps))
        self.runs += 1
        label = "recomputed" if self.runs == 1 else f"recomputed {self.runs}"
        with (
            inner, self._as_it_was(), precision.scope(self.dtype, self.listed), self.context,
            taps.repeating(self.calls, label),
        ):  # fmt: skip
            args, kwargs = self._arguments(inputs)
            again = tensors_in(self.function(*args, **kwargs))
            del args, kwargs
        inner.put_back()
        gradients = Sums(inner, leaves, functions)
        for tensor, g in zip(again, gradient, strict=True):
            if g is not None and id(tensor._array) in inner.tracked:
                accumulate(gradients, id(tensor._array), g, functions)
        if inner.marks:
            watched_backward(inner, gradients, functions)
        else:
            while inner.nodes:  # what only a node holds goes with it
                step_back(inner.nodes.pop(), gradients, functions, inner.tracked, inner.hooked)
        # Not their sums: what came is handed on, in the order in which it came.
        return [(array, g) for array in leaves for _, g, _ in gradients.parts_of(id(array))]

    def _arguments(self, inputs: tuple[Any, ...]) -> Any:
        """The arguments in tensors of their own, which the function may rebind."""
        held = tensors_in((self.args, self.kwargs))
        arrays = [t._array if p is None else inputs[p] for t, p in zip(held, self.places, strict=True)]
        return replaced((self.args, self.kwargs), [Tensor._wrap(array) for array in arrays])

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


def _buffers(cell: CellBase) -> list[Tensor]:
    return [b for _, one in cell.cells_and_names() for b in one._buffers.values() if b is not None]


def _rebind(tensors: list[Tensor], arrays: list[Array]) -> None:
    for tensor, array in zip(tensors, arrays, strict=True):
        tensor._rebind(array)
