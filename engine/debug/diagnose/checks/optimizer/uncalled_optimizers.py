"""Check of optimizers that are never called, although gradients are computed for their parameters."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from hookscope.engine import nn
from hookscope.engine.nn.optim._existing import existing_optimizers
from hookscope.engine.tape import taps
from hookscope.engine.tensors.nested import tensors_in

from ....record.numbers import number_in
from ...conditions.updates import UncalledObservation
from ..watcher import Watcher, WatcherParts

if TYPE_CHECKING:
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

__all__ = ["UncalledOptimizersWatch"]

# So many gradient calls are no accumulation any more; fewer are judged at the end of the session.
_LONG = 200


class _Waiting:
    """An optimizer that was not called yet."""

    def __init__(self, optimizer: nn.Optimizer) -> None:
        self.optimizer = weakref.ref(optimizer)
        self.type_name, self.name = type(optimizer).__name__, optimizer.parameters[0].name
        self.ids = frozenset(id(parameter) for parameter in optimizer.parameters if parameter.requires_grad)
        self.arrays = {id(parameter): weakref.ref(parameter._array) for parameter in optimizer.parameters}
        self.gradient_calls = self.step = 0
        self.is_told = False
        # A second optimizer of a network may be meant for later, and one that was called may have ended its work.
        self.is_unused = number_in(optimizer.global_step._array) == 0

    def is_as_before(self) -> bool:
        """Return whether nothing was written to the parameters, and the optimizer made no step."""
        optimizer = self.optimizer()
        if optimizer is None:
            return True
        return number_in(optimizer.global_step._array) == 0 and all(
            self.arrays[id(parameter)]() is parameter._array
            for parameter in optimizer.parameters
            if id(parameter) in self.arrays
        )


class UncalledOptimizersWatch(Watcher):
    """Check of optimizers that wait in vain for gradients of their parameters.

    Gradients that an operator uses are accumulated, measured or applied by hand: these are meant.
    """

    shows = (UncalledObservation,)
    observes_operators = True

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._waiting: dict[int, _Waiting] = {}  # by id of the optimizer
        self._gradients: dict[int, weakref.ref[Any]] = {}  # of the newest gradient call, by id of the array
        self._newest: list[_Waiting] = []  # the optimizers that wait for these

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Note the use of a gradient."""
        gradients = self._gradients
        if not gradients:
            return
        for tensor in tensors_in(inputs):
            gradient = gradients.get(id(tensor._array))
            if gradient is not None and gradient() is tensor._array:
                for waiting in self._newest:
                    waiting.is_unused = False
                self._gradients = {}
                return

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Count a gradient call for the optimizers that hold all of its weights that they can train."""
        if taps.outer_recordings():
            return
        requested = {id(parameter) for parameter, _ in pairs}
        self._newest, self._gradients = [], {}
        for optimizer in existing_optimizers():
            waiting = self._waiting.get(id(optimizer))
            if waiting is None or waiting.optimizer() is not optimizer:
                if requested.isdisjoint(map(id, optimizer.parameters)):
                    continue
                waiting = self._waiting[id(optimizer)] = _Waiting(optimizer)
            if not waiting.is_unused or not waiting.ids or not waiting.ids <= requested:
                continue
            if not waiting.is_as_before():
                self._written(waiting.ids)
                continue
            waiting.gradient_calls += 1
            waiting.step = self._counts.steps
            self._newest.append(waiting)
            if waiting.gradient_calls >= _LONG:
                self._tell(waiting)
        if self._newest:
            self._gradients = {
                id(gradient._array): weakref.ref(gradient._array) for _, gradient in pairs if gradient is not None
            }

    def cell_enter(self, call: CellCall) -> None:
        """Note the call of an optimizer: others of its parameters may be meant for another time."""
        if isinstance(call.cell, nn.Optimizer):
            self._gradients = {}
            self._written({id(parameter) for parameter in call.cell.parameters})

    def end_session(self) -> None:
        """Judge the optimizers that were not called until the end of the session."""
        for waiting in self._waiting.values():
            if waiting.is_unused and waiting.gradient_calls < _LONG and waiting.is_as_before():
                self._tell(waiting)

    def _written(self, ids: set[int] | frozenset[int]) -> None:
        for waiting in self._waiting.values():
            if not waiting.ids.isdisjoint(ids):
                waiting.is_unused = False
                if waiting.is_told:
                    self._tell(waiting)  # it was an accumulation: the finding is withdrawn
                    waiting.is_told = False

    def _tell(self, waiting: _Waiting) -> None:
        waiting.is_told = True
        observation = UncalledObservation(waiting.gradient_calls, waiting.name, waiting.is_unused)
        self._examiner.observe(observation, "", waiting.type_name, waiting.step)
