"""Check whether an objective moves: whether the data or the targets come from networks that learn meanwhile.

The loss of a policy, or of values that are compared with other values, need not fall. An objective moves if the
gradient call uses weights that it does not ask for and that change meanwhile, or a copy of its own weights, as a target
network is; and if the network runs on new data outside the gradient calls in most steps, as a policy does that acts. An
evaluation on held-out data, or a second look at the batch, is not such a run.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine import nn
from hookscope.engine.tape import taps
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.parameter import Parameter
from hookscope.engine.tensors.tensor import Tensor

from ....record.array_table import ByArray
from ...conditions.network import LossObservation
from ..watcher import Watcher, WatcherParts

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.tape import GradientComputation
    from hookscope.engine.tape.taps import CellCall

__all__ = ["ObjectiveWatch"]

# Steps from which on runs outside the gradient calls are judged, and the part of them that must have one on new data.
_STEPS, _MOST = 10, 0.6
# Inputs that are remembered, runs of a step, and elements of an input that tell it from others.
_MAX_INPUTS, _MAX_RUNS, _ELEMENTS = 2000, 64, 32

_Input = tuple[Any, ...]


class _Objective:
    """Observations of the objective of one set of weights."""

    def __init__(self) -> None:
        self.moves = False
        self.steps = self.steps_with_new_data = 0
        self.others: dict[int, tuple[Callable[[], Parameter | None], Callable[[], Any]]] = {}


class ObjectiveWatch(Watcher):
    """Check whether the objective of each set of weights moves."""

    shows = (LossObservation,)
    observes_operators = True

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._objectives: dict[frozenset[int], _Objective] = {}
        self._requested: frozenset[int] = frozenset()
        self._used: dict[int, Parameter] = {}  # weights of two or more axes in this gradient call
        self._inside: set[_Input] = set()  # what cells got in this gradient call
        self._inside_before: set[_Input] = set()
        self._outside: list[tuple[weakref.ref[Cell], _Input]] = []  # since the last gradient call
        self._known: set[_Input] = set()
        self._made: ByArray[bool] = ByArray()
        self._running: _Input | None = None  # what the outermost call outside a gradient call got
        self._gradient_calls = self._calls_before = 0
        self._weights: weakref.WeakKeyDictionary[Cell, list[Parameter]] = weakref.WeakKeyDictionary()

    def moves(self, requested: frozenset[int]) -> bool:
        """Return whether the objective of these weights, by their ids, moves."""
        objective = self._objectives.get(requested)
        return objective is not None and (
            objective.moves or (objective.steps >= _STEPS and objective.steps_with_new_data >= _MOST * objective.steps)
        )

    def differentiating(
        self, computation: GradientComputation, function: Callable[..., Any], weights: Sequence[Parameter]
    ) -> None:
        """Begin an outermost gradient call."""
        if not taps.outer_recordings():
            self._gradient_calls += 1
            self._requested = frozenset(map(id, weights))
            self._used.clear()
            self._inside_before, self._inside = self._inside, set()

    def cell_enter(self, call: CellCall) -> None:
        """Record what a call gets: any in a gradient call, and outermost ones outside."""
        if isinstance(call.cell, nn.Optimizer):
            return
        if taps.outer_recordings():
            if len(self._inside) < _MAX_RUNS:
                self._inside.add(_input(call))
        elif not call.depth:
            self._calls_before = self._gradient_calls
            arguments = tensors_in((call.args, tuple(call.kwargs.values())))
            is_first = not any(self._made.get(tensor._array) for tensor in arguments)  # else another part got the data
            self._running = _input(call) if is_first and self._weights_of(call.cell) else None

    def cell_exit(self, call: CellCall) -> None:
        """Record an outermost call outside the gradient calls that made none itself, as the step of a training does."""
        if call.depth or taps.outer_recordings() or isinstance(call.cell, nn.Optimizer):
            return
        running, self._running = self._running, None
        if self._calls_before != self._gradient_calls:
            return
        if running is not None and len(self._outside) < _MAX_RUNS:
            self._outside.append((weakref.ref(call.cell), running))
        for tensor in tensors_in(call.output):
            self._made.put(tensor._array, True)

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Record the weights that a gradient call uses, and what is made of the network's outputs outside one."""
        if taps.outer_recordings():
            for value in inputs:
                if isinstance(value, Parameter) and value.ndim > 1:
                    self._used[id(value)] = value
        elif isinstance(outputs, Tensor) and any(
            isinstance(value, Tensor) and self._made.get(value._array) for value in inputs
        ):
            self._made.put(outputs._array, True)

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Judge the objective of a completed gradient call."""
        if taps.outer_recordings():
            return
        requested = frozenset(id(parameter) for parameter, _ in pairs)
        if requested != self._requested:
            return
        objective = self._objectives.setdefault(requested, _Objective())
        own = [parameter for parameter, _ in pairs if parameter.ndim > 1]
        others = [parameter for key, parameter in self._used.items() if key not in requested]
        outside, self._outside = self._outside, []
        if not objective.moves:
            objective.moves = self._change(objective, others) or _are_copies(others, own)
        objective.steps += 1
        is_new = False
        for reference, got in outside:
            cell = reference()
            if cell is None:
                continue
            weights = self._weights_of(cell)
            if any(id(weight) in requested for weight in weights):
                is_new |= got not in self._known and got not in self._inside and got not in self._inside_before
            elif _are_copies(weights, own):
                objective.moves = True
            if len(self._known) < _MAX_INPUTS:
                self._known.add(got)
        objective.steps_with_new_data += is_new

    def _change(self, objective: _Objective, others: Sequence[Parameter]) -> bool:
        """Return whether weights that the call does not ask for have changed since an earlier call."""
        for parameter in others:
            known = objective.others.get(id(parameter))
            if known is not None and known[0]() is parameter and known[1]() is not parameter._array:
                return True
            objective.others[id(parameter)] = weakref.ref(parameter), weakref.ref(parameter._array)
        return False

    def _weights_of(self, cell: Cell) -> list[Parameter]:
        weights = self._weights.get(cell)
        if weights is None:
            weights = self._weights[cell] = [parameter for parameter in cell.get_parameters() if parameter.ndim > 1]
        return weights


def _are_copies(weights: Sequence[Parameter], own: Sequence[Parameter]) -> bool:
    """Return whether weights have the shapes of others, two at least."""
    return len(weights) > 1 and Counter(weight.shape for weight in weights) == Counter(weight.shape for weight in own)


def _input(call: CellCall) -> _Input:
    """Return what tells the arguments of a call from others, without reading all of them."""
    return tuple(
        (tensor.shape, tensor._array.flat[:_ELEMENTS].tobytes())
        if isinstance(tensor._array, np.ndarray)
        else (tensor.shape, id(tensor._array))
        for tensor in tensors_in((call.args, tuple(call.kwargs.values())))[:4]
    )
