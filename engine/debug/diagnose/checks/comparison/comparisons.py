"""Comparisons: pairs of values that a loss is made of, from loss functions or from differences that are written out.

A difference counts as a comparison if nothing but its square or magnitude, factors, and sums or means over it lead to a
single number. So the differences inside of a network, a kernel or a normalization are none.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hookscope.engine.tape import taps
from hookscope.engine.tape.tape import GradientComputation, Recording
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.parameter import Parameter
from hookscope.engine.tensors.tensor import Tensor

from ....record.array_table import ByArray
from ..data_checks import BATCH_NORMS
from ..watcher import Watcher, WatcherParts
from .lineage import Lineage, Origin

if TYPE_CHECKING:
    from hookscope.engine.tape.taps import CellCall

__all__ = ["REGRESSIONS", "Comparison", "ComparisonUser", "ComparisonWatch", "GradientCall", "count_in_a_row"]

REGRESSIONS = ("huber_loss", "l1_loss", "mse_loss", "smooth_l1_loss")

# Gradient calls for the same weights in which comparisons are followed; after these, every so many.
_FIRST_CALLS, _EVERY = 60, 8
# Sets of weights that are known.
_MOST_REQUESTS = 1_000

_DIFFERENCE, _MAGNITUDE = range(2)
_MAGNITUDES = ("square", "abs", "pow")
_BEGINNINGS = ("sub", "mul")
_SUMS = ("mean", "sum")
_FACTORS = ("mul", "div")
_RESHAPES = ("reshape", "cast")
_FORMS = (*_RESHAPES, "neg", "getitem", "where")
_DROPOUT = "dropout"
_MAKERS = ("softmax", "log_softmax", "sigmoid", "relu", "exp", "square", "log", "tanh")


@dataclass(eq=False)
class Comparison:
    """A pair of values that a loss is made of.

    Attributes:
        name: the loss function, or "the loss" if it is written out.
        kind: "difference", "product" of two values that a sum follows, "likelihood" of a distribution and logarithms of
            probabilities; or "function".
        first, second: the arrays; of a loss function or a likelihood, the prediction and the target.
        origins: what they come from.
        makers: the operators that made them, if these are activations.
        path: the path of the cell that it is in.
        number: how many comparisons of this gradient call came before it.
    """

    name: str
    kind: str
    first: Any
    second: Any
    origins: tuple[Origin, Origin]
    makers: tuple[str | None, str | None]
    path: str
    number: int = 0

    @property
    def is_regression(self) -> bool:
        """True if training is to make the two values equal."""
        return self.kind == "difference" or self.name in REGRESSIONS

    @property
    def sides(self) -> tuple[tuple[int, int], ...]:
        """The positions of prediction and target; in a difference both are possible."""
        if self.kind in ("function", "likelihood"):
            return ((0, 1),)
        return ((0, 1), (1, 0)) if self.kind == "difference" else ()

    @property
    def arrays(self) -> tuple[Any, Any]:
        """Both arrays."""
        return self.first, self.second


@dataclass(eq=False)
class GradientCall:
    """A gradient call for weights.

    Attributes:
        number: of the call among those for the same weights, from 1 on.
        key: a number for the weights.
        made: bits of the weights that held the values that they were made with, when all of these were first requested
            together.
        step: the step.
    """

    number: int
    key: int
    made: int
    step: int


class ComparisonUser:
    """Base class of the checks of comparisons; each method does nothing here.

    Args:
        parts: the parts of the session.
        lineage: the origins of the arrays in the gradient call.
    """

    shows: tuple[type[Any], ...] = ()

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        self._parts = parts
        self._examiner = parts.examiner
        self._lineage = lineage

    def operator(
        self,
        name: str,
        inputs: tuple[Any, ...],
        outputs: Any,
        attrs: dict[str, Any],
        tracked: set[int],
        call: GradientCall,
    ) -> None:
        """Observe an operator of a gradient call, after it was followed."""

    def compared(self, comparison: Comparison, call: GradientCall) -> None:
        """Observe a comparison."""

    def differentiated(self, call: GradientCall) -> None:
        """Observe the end of a gradient call."""

    def forget(self) -> None:
        """Forget a gradient call, also one that an error ended."""


@dataclass(eq=False)
class _Chain:
    """A value that nothing but factors and sums separates from a comparison."""

    comparison: Comparison
    state: int


@dataclass(eq=False)
class _Requests:
    """The gradient calls for the same weights: the first weight, and which of them were new in the first call."""

    first: weakref.ref[Parameter]
    made: int
    count: int = 0


class ComparisonWatch(Watcher):
    """Tracker of the comparisons in gradient calls, for its users."""

    observes_losses = True
    observes_operators = True
    users: tuple[Callable[[WatcherParts, Lineage], ComparisonUser], ...] = ()

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._lineage = Lineage()
        self._users = [user(parts, self._lineage) for user in self.users]
        self._operator_users = [user for user in self._users if type(user).operator is not ComparisonUser.operator]
        self._requests: dict[int, _Requests] = {}
        self._call: GradientCall | None = None
        self._recording: Recording | None = None
        self._thread = 0
        self._modes: list[tuple[str, str]] = []  # of the outermost call that runs outside of gradient calls
        self._chains: ByArray[_Chain] = ByArray()
        self._has_chains = False
        self._makers: ByArray[str] = ByArray()
        self._of_functions: set[tuple[int, int]] = set()  # ids of arrays that a loss function compares
        self._number = 0

    def differentiating(
        self, computation: GradientComputation, function: Callable[..., Any], weights: Sequence[Parameter]
    ) -> None:
        """Begin an outermost gradient call."""
        if taps.outer_recordings() or not self._attachment.visits.is_own(weights):
            return
        self._end()
        key = hash(tuple(map(id, weights)))
        requests = self._requests.get(key)
        if requests is None or requests.first() is not weights[0]:  # else another parameter has the id by now
            if len(self._requests) >= _MOST_REQUESTS:
                self._requests.clear()
            made = sum(1 << index for index, parameter in enumerate(weights) if parameter.as_made)
            requests = self._requests[key] = _Requests(weakref.ref(weights[0]), made)
        requests.count += 1
        if requests.count > _FIRST_CALLS and requests.count % _EVERY:
            return
        self._lineage.begin(weights)
        self._thread = threading.get_ident()
        self._call = GradientCall(requests.count, key, requests.made, self._counts.steps)

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """End an outermost gradient call."""
        call = self._call
        if call is None or taps.outer_recordings():
            return
        for user in self._users:
            user.differentiated(call)
        self._end()

    def end_session(self) -> None:
        """End the session."""
        self._end()

    def _end(self) -> None:
        if self._call is not None:
            self._call = self._recording = None
            self._lineage.end()
            for user in self._users:
                user.forget()
            self._chains, self._makers = ByArray(), ByArray()
            self._has_chains = False
            self._of_functions.clear()
            self._number = 0

    def _tracked(self) -> set[int] | None:
        """Return the ids of the arrays that the gradient reaches; None outside a gradient call that is followed."""
        if self._call is None or threading.get_ident() != self._thread:
            return None
        recordings = taps.outer_recordings()
        if not recordings:
            return None
        if self._recording is not recordings[0]:
            self._recording = recordings[0]
            self._lineage.enter(self._recording.leaves)
        return self._recording.tracked

    def cell_exit(self, call: CellCall) -> None:
        """Note the output of a BatchNorm in training mode, and that of a network outside of gradient calls."""
        cell = call.cell
        if isinstance(cell, BATCH_NORMS) and cell.training and not call.context:
            location = self._attachment.place_of(call.index)
            if location is not None and getattr(cell, "use_batch_statistics", None) is None:
                self._note_mode(tensors_in(call.output), location[0], type(cell).__name__)
        if self._modes and not call.depth:
            if not taps.outer_recordings():
                for tensor in tensors_in(call.output):
                    self._lineage.put_outside(tensor._array, cell, tuple(self._modes))
            self._modes.clear()

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """End a call that raised."""
        if not call.depth:
            self._modes.clear()

    def _note_mode(self, outputs: list[Tensor], path: str, name: str) -> None:
        """Note the outputs of a cell in training mode."""
        if self._tracked() is not None:
            for output in outputs:
                self._lineage.add_mode(output._array, path, name)
        elif not taps.outer_recordings() and (path, name) not in self._modes:
            self._modes.append((path, name))

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Follow an operator of a gradient call."""
        tracked = self._tracked()
        call = self._call
        if tracked is None or call is None:
            if name.startswith(_DROPOUT) and self._attachment.visits.running() is not None:
                self._note_mode([], self._attachment.here, "Dropout")
            return
        self._lineage.follow(name, inputs, outputs, attrs, tracked)
        for user in self._operator_users:
            user.operator(name, inputs, outputs, attrs, tracked, call)
        if name.startswith(_DROPOUT):
            self._note_mode(tensors_in(outputs), self._attachment.here, "Dropout")
        if not isinstance(outputs, Tensor):
            return
        array = outputs._array
        if name in _MAKERS:
            self._makers.put(array, name)
        elif name in _RESHAPES and isinstance(inputs[0], Tensor):
            maker = self._makers.get(inputs[0]._array)
            if maker is not None:
                self._makers.put(array, maker)
        if (self._has_chains or name in _BEGINNINGS) and id(array) in tracked:
            self._link(name, inputs, array, tracked, call)

    def loss(self, name: str, prediction: Tensor, target: Tensor, attrs: dict[str, Any]) -> None:
        """Record the comparison of a loss function."""
        tracked = self._tracked()
        if tracked is None or self._call is None:
            return
        self._of_functions.add((id(prediction._array), id(target._array)))
        self._confirm(self._comparison(name, "function", prediction, target, tracked), self._call)

    def _link(self, name: str, inputs: tuple[Any, ...], array: Any, tracked: set[int], call: GradientCall) -> None:
        """Begin or continue the chain from a difference or a product to a single number."""
        tensors = [value for value in inputs if isinstance(value, Tensor)]
        chains = [(tensor, chain) for tensor in tensors if (chain := self._chains.get(tensor._array)) is not None]
        if len(tensors) == 2 and name in _BEGINNINGS:
            began = self._begun(name, tensors, chains, tracked)
            if began is not None:
                self._has_chains = True
                self._chains.put(array, began)
                return
        if not chains:
            return
        tensor, chain = chains[0]
        if name == "mul" and len(chains) == 2 and _is_square(chain, chains[1][1]):
            state: int | None = _MAGNITUDE
        else:
            state = _continued(name, tensor, tensors, chain, self._lineage, tracked)
        if state is None:
            return
        if state == _MAGNITUDE and name in _SUMS and array.size == 1:
            self._confirm(chain.comparison, call)
            return
        self._chains.put(array, chain if state == chain.state else _Chain(chain.comparison, state))

    def _begun(
        self, name: str, tensors: list[Tensor], chains: list[tuple[Tensor, _Chain]], tracked: set[int]
    ) -> _Chain | None:
        first, second = tensors
        if first._array is second._array or (id(first._array), id(second._array)) in self._of_functions:
            return None
        if name == "sub":
            if any(isinstance(tensor, Parameter) for tensor in tensors):
                return None
            return _Chain(self._comparison("the loss", "difference", first, second, tracked), _DIFFERENCE)
        # mul: a distribution and logarithms of probabilities, or the products of a cosine.
        for weight, other in ((first, second), (second, first)):
            if self._makers.get(weight._array) not in ("softmax", "sigmoid"):
                continue
            if self._makers.get(other._array) in ("log_softmax", "log"):
                return _Chain(self._comparison("the loss", "likelihood", other, weight, tracked), _MAGNITUDE)
            chain = next((chain for tensor, chain in chains if tensor is other), None)
            if chain is not None and chain.state == _DIFFERENCE and self._is_of_logarithms(chain.comparison):
                # The divergence: sum of p * (log p - log q).
                predicted = Tensor._wrap(chain.comparison.second)
                return _Chain(self._comparison("the loss", "likelihood", predicted, weight, tracked), _MAGNITUDE)
        shape = first._array.shape
        if chains or len(shape) != 2 or second._array.shape != shape or min(shape) < 2:
            return None
        comparison = self._comparison("the loss", "product", first, second, tracked)
        return _Chain(comparison, _MAGNITUDE) if all(origin.parameters for origin in comparison.origins) else None

    def _is_of_logarithms(self, comparison: Comparison) -> bool:
        return all(maker in ("log_softmax", "log") for maker in comparison.makers)

    def _comparison(self, name: str, kind: str, first: Tensor, second: Tensor, tracked: set[int]) -> Comparison:
        arrays = first._array, second._array
        return Comparison(
            name,
            kind,
            *arrays,
            (self._lineage.of(first, tracked), self._lineage.of(second, tracked)),
            (self._makers.get(arrays[0]), self._makers.get(arrays[1])),
            self._attachment.here,
        )

    def _confirm(self, comparison: Comparison, call: GradientCall) -> None:
        comparison.number = self._number
        self._number += 1
        for user in self._users:
            user.compared(comparison, call)


def _is_square(first: _Chain, second: _Chain) -> bool:
    """Return whether two values are multiples of one difference."""
    pairs = first.comparison.arrays, second.comparison.arrays
    same = all(x is y for x, y in zip(*pairs, strict=True))
    return same and first.state == second.state == _DIFFERENCE


def _continued(
    name: str, tensor: Tensor, tensors: list[Tensor], chain: _Chain, lineage: Lineage, tracked: set[int]
) -> int | None:
    """Return the state of the chain after an operator; None if it ends."""
    state = chain.state
    if name in _FORMS:
        return state if tensor is tensors[0] or name == "where" else None
    if name in _FACTORS:
        if name == "div" and tensor is not tensors[0]:
            return None
        others = [other for other in tensors if other is not tensor]
        is_constant = not any(lineage.of(other, tracked).weights for other in others)
        return state if is_constant or (chain.comparison.kind == "product" and name == "div") else None
    if name in _MAGNITUDES and state == _DIFFERENCE:
        return _MAGNITUDE
    if name == "sqrt" or name in _SUMS:
        return state if state == _MAGNITUDE else None
    return None


def count_in_a_row(counts: dict[Any, int], key: Any, holds: bool) -> int:
    """Count an observation; return in how many of them in a row it has held for this key."""
    counts[key] = counts.get(key, 0) + 1 if holds else 0
    return counts[key]
