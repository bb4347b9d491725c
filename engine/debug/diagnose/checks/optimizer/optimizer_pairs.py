"""Check of optimizers that hold the same parameters and are called in turn: adversaries that train one network."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine import nn
from hookscope.engine.nn.optim._existing import existing_optimizers
from hookscope.engine.tape import taps
from hookscope.engine.tensors.nested import tensors_in

from ...conditions.optimizer import HoldingObservation
from ...conditions.parameters import is_weight
from ...conditions.updates import OpposedObservation
from ..watcher import Watcher, WatcherParts
from .element_sample import ElementSample, Sample, cosine, norm
from .optimizer_inputs import code_of, is_due

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.tape import GradientComputation
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

__all__ = ["OptimizerPairsWatch"]

# The newest cosines that are kept, and the number of turns after which two optimizers of one set are judged.
_COSINES, _TURNS = 20, 10
# More pairs of optimizers belong to a search, not to a training.
_MOST_PAIRS = 20


class _Pair:
    """Two optimizers, of which the first holds all parameters of the second, and maybe more."""

    def __init__(self, outer: nn.Optimizer, inner: nn.Optimizer) -> None:
        self.outer, self.inner = weakref.ref(outer), weakref.ref(inner)
        self.sample = ElementSample(inner.parameters)
        held = {id(parameter): position for position, parameter in enumerate(outer.parameters)}
        self.positions = [held[key] for key in self.sample.ids]
        self.more = held.keys() - set(map(id, inner.parameters))
        self.latest: Sample | None = None  # what the first one got
        self.cosines: deque[float] = deque(maxlen=_COSINES)
        self.turns = 0
        self.last = 0  # the id of the one that was called last
        self.functions: dict[int, int] = {}  # by id of the optimizer: that of its newest gradient call
        self.is_told = False


class OptimizerPairsWatch(Watcher):
    """Check of pairs of optimizers with common parameters.

    It is a fault if the first one holds a network that the second one trains, and another network that judges it in
    both, and the gradients of both are opposed. So is a second optimizer for the parameters of the first, beside a
    network whose parameters no optimizer has.
    """

    shows = (OpposedObservation, HoldingObservation)

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._known: weakref.WeakSet[nn.Optimizer] = weakref.WeakSet()
        self._pairs: list[_Pair] = []
        self._calls: weakref.WeakKeyDictionary[nn.Optimizer, int] = weakref.WeakKeyDictionary()
        self._depth = 0
        self._running: set[int] = set()  # ids of the cells that run under a gradient call
        self._ran: set[int] = set()  # of those of the newest one
        self._ever_requested: set[int] = set()
        self._function = 0

    def differentiating(
        self, computation: GradientComputation, function: Callable[..., Any], weights: Sequence[Parameter]
    ) -> None:
        """Note the function of a gradient call."""
        if not taps.outer_recordings():
            self._function = code_of(function)
            self._running = set()

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Note the cells of a gradient call, and its parameters."""
        if not taps.outer_recordings():
            self._ran, self._running = self._running, set()
            self._ever_requested.update(id(parameter) for parameter, _ in pairs)

    def cell_enter(self, call: CellCall) -> None:
        """Compare the gradients that an optimizer is called with, with those of another one."""
        optimizer = call.cell
        if not isinstance(optimizer, nn.Optimizer):
            if self._pairs and taps.outer_recordings():
                self._running.add(id(optimizer))
            return
        self._depth += 1
        if self._depth > 1:
            return
        if optimizer not in self._known:
            self._join(optimizer)
        if not self._pairs:
            return
        calls = self._calls.get(optimizer, 0)
        self._calls[optimizer] = calls + 1
        if is_due(calls):
            tensors = tensors_in(call.args)
            for pair in self._pairs:
                if not pair.is_told and len(tensors) == len(optimizer.parameters):
                    self._take(pair, optimizer, tensors)

    def cell_exit(self, call: CellCall) -> None:
        """Note the end of an optimizer's call."""
        if isinstance(call.cell, nn.Optimizer):
            self._depth = max(0, self._depth - 1)

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """Note the end of an optimizer's call by an exception."""
        self.cell_exit(call)

    def _join(self, optimizer: nn.Optimizer) -> None:
        """Make the pairs of an optimizer with those that were called before."""
        ids = set(map(id, optimizer.parameters))
        self._pairs = [pair for pair in self._pairs if pair.outer() is not None and pair.inner() is not None]
        for other in tuple(self._known):
            others = set(map(id, other.parameters))
            if len(self._pairs) < _MOST_PAIRS and (ids <= others or others < ids):
                self._pairs.append(_Pair(other, optimizer) if ids <= others else _Pair(optimizer, other))
        self._known.add(optimizer)

    def _take(self, pair: _Pair, optimizer: nn.Optimizer, tensors: list[Tensor]) -> None:
        if optimizer is not pair.outer() and optimizer is not pair.inner():
            return
        pair.functions[id(optimizer)] = self._function
        if not pair.more:
            if pair.last != id(optimizer):
                pair.turns, pair.last = pair.turns + 1, id(optimizer)
            if pair.turns >= _TURNS:
                self._check_same(pair, optimizer)
        elif optimizer is pair.outer():
            pair.latest = pair.sample.read([tensors[position]._array for position in pair.positions])
        elif pair.latest is not None:
            received = pair.sample.read([tensors[position]._array for position in pair.sample.positions])
            latest, pair.latest = pair.latest, None
            if received is not None and norm(received) > 0 and norm(latest) > 0:
                with np.errstate(all="ignore"):  # the user may have turned warnings into errors
                    pair.cosines.append(cosine(received, latest))
                self._check_opposed(pair)

    def _check_opposed(self, pair: _Pair) -> None:
        outer, inner = pair.outer(), pair.inner()
        if outer is None or inner is None or self._parameters_that_ran().keys().isdisjoint(pair.more):
            return
        if len(set(pair.functions.values())) < 2:
            return  # two gradients of one loss
        cell = self._cell_of(set(map(id, inner.parameters)))
        if cell is None:
            return
        names = _name(outer), _name(inner)
        observation = OpposedObservation(names, cell, tuple(pair.cosines))
        self._examiner.observe(observation, "", names[0], self._counts.steps)

    def _check_same(self, pair: _Pair, optimizer: nn.Optimizer) -> None:
        """Check two optimizers of one set: whether they leave out a network that ran with it."""
        pair.is_told = True  # or found to be meant
        if len(set(pair.functions.values())) < 2:
            return
        held = {id(parameter) for other in existing_optimizers() for parameter in other.parameters}
        missing = {
            key: parameter
            for key, parameter in self._parameters_that_ran().items()
            if key not in held and key not in self._ever_requested and parameter.requires_grad and parameter.as_made
        }
        name = self._cell_of(set(missing))
        if name is None or not any(is_weight(parameter.shape) for parameter in missing.values()):
            return
        observation = HoldingObservation(
            [parameter.name for parameter in optimizer.parameters],
            [parameter.name for parameter in missing.values()],
            name,
        )
        self._examiner.observe(observation, "", type(optimizer).__name__, self._counts.steps)

    def _parameters_that_ran(self) -> dict[int, Parameter]:
        """Return the parameters of the cells that ran in the newest gradient call, by their ids."""
        cells = [cell for _, cell in self._paths if id(cell) in self._ran]
        parameters = [parameter for cell in cells for parameter in cell._params.values() if parameter is not None]
        return {id(parameter): parameter for parameter in parameters}

    def _cell_of(self, ids: set[int]) -> str | None:
        """Return the name of the outermost cell whose trainable parameters are these; None if there is none."""
        for path, cell in sorted(self._paths, key=lambda item: (item[0].count("."), len(item[0]))):
            if _trainable(cell) == ids:
                return path or type(cell).__name__
        return None


def _trainable(cell: Cell) -> set[int]:
    return {id(parameter) for parameter in cell.get_parameters() if parameter.requires_grad}


def _name(optimizer: nn.Optimizer) -> str:
    count = len(optimizer.parameters)
    more = f" and {count - 1} more" if count > 1 else ""
    return f"{type(optimizer).__name__} (of {optimizer.parameters[0].name}{more})"
