"""Check of the gradients that optimizers are called with, compared with those that were computed.

A few elements are compared, in the first calls of each optimizer and in some later ones.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine import nn
from hookscope.engine.nn.optim._existing import existing_optimizers
from hookscope.engine.tape import taps
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.tensor import Tensor

from ....record.array_table import ByArray
from ....record.statistics import statistics_of
from ...conditions.optimizer import StepObservation
from ...conditions.parameters import UpdateObservation
from ...conditions.updates import AccumulationObservation, ScaledDownObservation
from ..loss.loss_factors import LossFactors, constant_factor
from ..watcher import Watcher, WatcherParts
from .element_sample import ElementSample, Sample, norm

if TYPE_CHECKING:
    from hookscope.engine.tape.tape import GradientComputation
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.parameter import Parameter

__all__ = ["OptimizerInputsWatch", "code_of", "is_due"]

# Gradients are compared in this many first calls of an optimizer, and then in some of each period.
_FIRST, _AFTERWARDS, _PERIOD = 32, 12, 128

# Largest relative difference of sums of gradients.
_TOLERANCE = 1e-3
# Momentum by hand multiplies the former gradients by less than one minus this.
_MOMENTUM = 3e-4
# The gradients before must differ from the new ones in direction, by this part of their norm.
_ACROSS = 1e-2
# After this many calls with other gradients than a growing sum, there is no accumulation to find.
_MISMATCHES = 4

# A constant from here on is a loss scale.
_SCALE = 1.5
_SCALE_TWICE = 16.0
_CALLS_WITH_SCALE = 5
# The norm of clipped gradients is the same in each step, within this; that of others differs by more.
_SAME_NORM, _OTHER_NORM = 2e-3, 2e-2


def is_due(calls: int) -> bool:
    """Return whether the elements of an optimizer's gradients or weights are read in a call with this number."""
    return calls < _FIRST or calls % _PERIOD < _AFTERWARDS


def code_of(function: Callable[..., Any]) -> int:
    """Return the identity of a function's code, which is the same for one made anew in each step."""
    if isinstance(function, MethodType):
        function = function.__func__
    return id(function.__code__ if isinstance(function, FunctionType) else function)


class _Inputs:
    """The gradients computed for one optimizer's parameters since its last call, and what it was called with."""

    def __init__(self, optimizer: nn.Optimizer) -> None:
        self.sample = ElementSample(optimizer.parameters)
        self.chosen = frozenset(self.sample.ids)
        self.ids = frozenset(map(id, optimizer.parameters))
        self.calls = 0
        self.previous: Sample | None = None  # the gradients of the last call
        self.accumulated = self.mismatches = 0
        self.summed = 0  # the number of gradient calls whose plain sum it got, if there are several
        self.shares: list[tuple[float, float, float]] = []  # of the gradients, their norm, and the scale
        self.twice = 0
        self.clear()

    def clear(self) -> None:
        """Begin to wait for the next call."""
        self.total: Sample | None = None
        self.gradient_calls = 0
        self.is_known = True
        self.functions: set[int] = set()
        self.all_scales: set[tuple[float, ...]] = set()

    @property
    def scales(self) -> tuple[float, ...]:
        """The constants that may be the loss scale of the gradient calls; none if they differ."""
        return next(iter(self.all_scales)) if len(self.all_scales) == 1 else ()

    def add(self, gradients: dict[int, Any], function: int, scales: tuple[float, ...]) -> None:
        """Add the gradients of a call."""
        elements = self.sample.read([gradients.get(key) for key in self.sample.ids])
        if elements is None:
            self.is_known = False
            return
        self.total = elements if self.total is None else self.total + elements
        self.gradient_calls += 1
        self.functions.add(function)
        self.all_scales.add(scales)


class OptimizerInputsWatch(Watcher):
    """Check of the gradients that each optimizer is called with."""

    shows = (AccumulationObservation, ScaledDownObservation, StepObservation, UpdateObservation)
    serves_nonfinite = True
    observes_operators = True

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._factors = LossFactors()
        self._inputs: weakref.WeakKeyDictionary[nn.Optimizer, _Inputs] = weakref.WeakKeyDictionary()
        self._depth = 0  # of calls of optimizers, of which one may call another
        self._function = 0
        self._scales: tuple[float, ...] = ()  # what the newest gradients may have to be divided by
        self._divided: ByArray[float] = ByArray()  # gradients divided by it

    def run_began(self) -> None:
        """Begin a run: a gradient call for weights, or a call of a root."""
        self._factors.run_began()

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Note the constants that a loss is multiplied by, and the gradients that are divided by them."""
        if not isinstance(outputs, Tensor):
            return
        if taps.outer_recordings():
            if outputs._array.size == 1:
                self._factors.operator(name, inputs, outputs)
        elif self._scales and name in ("mul", "div") and outputs._array.size > 1 and len(inputs) == 2:
            constant = inputs[1] if isinstance(inputs[0], Tensor) and inputs[0]._array.size > 1 else inputs[0]
            factor = None if name == "div" and constant is inputs[0] else constant_factor(name, constant)
            if factor is None:
                return
            for scale in self._scales:
                if abs(factor * scale - 1) < _TOLERANCE:
                    self._divided.put(outputs._array, scale)

    def differentiating(
        self, computation: GradientComputation, function: Callable[..., Any], weights: Sequence[Parameter]
    ) -> None:
        """Note the function of a gradient call."""
        if not taps.outer_recordings():
            self._function = code_of(function)

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Add the gradients of a gradient call to those that its optimizers wait for."""
        if taps.outer_recordings() or not self._examiner.wants(*self.shows):
            return
        gradients = {id(parameter): None if gradient is None else gradient._array for parameter, gradient in pairs}
        scales = self._factors.of(values[0]._array) if len(values) == 1 else ()
        self._scales = tuple(scale for scale in scales if scale >= _SCALE)
        for optimizer in existing_optimizers():
            inputs = self._inputs.get(optimizer)
            if inputs is None:
                if gradients.keys().isdisjoint(map(id, optimizer.parameters)):
                    continue
                inputs = self._inputs[optimizer] = _Inputs(optimizer)
            if not inputs.chosen or not is_due(inputs.calls) or inputs.ids.isdisjoint(gradients):
                continue
            if inputs.chosen <= gradients.keys():
                inputs.add(gradients, self._function, scales)
            else:
                inputs.is_known = False

    def cell_enter(self, call: CellCall) -> None:
        """Compare the gradients that an optimizer is called with."""
        optimizer = call.cell
        if not isinstance(optimizer, nn.Optimizer):
            return
        self._depth += 1
        inputs = self._inputs.get(optimizer)
        if inputs is None:
            return
        due = is_due(inputs.calls)
        inputs.calls += 1
        if not due or self._depth > 1:
            inputs.previous = None
            inputs.clear()
            return
        tensors = tensors_in(call.args)
        received = None
        if len(tensors) == len(optimizer.parameters):
            received = inputs.sample.read([tensors[position]._array for position in inputs.sample.positions])
        total = inputs.total if inputs.is_known else None
        if received is None or total is None or not norm(total) > 0:
            inputs.accumulated, inputs.summed = 0, 0
        else:
            with np.errstate(all="ignore"):  # the user may have turned warnings into errors
                self._compare(optimizer, inputs, received, total, tensors)
        inputs.previous = received
        inputs.clear()

    def cell_exit(self, call: CellCall) -> None:
        """Note the end of an optimizer's call."""
        if isinstance(call.cell, nn.Optimizer):
            self._depth = max(0, self._depth - 1)

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """Note the end of an optimizer's call by an exception."""
        self.cell_exit(call)

    def summed_calls(self, parameter: Parameter) -> int:
        """Return of how many gradient calls an optimizer got the plain sum for a parameter; 0 if not of several."""
        key = id(parameter)
        return max((inputs.summed for inputs in list(self._inputs.values()) if key in inputs.ids), default=0)

    def newest_scales(self) -> tuple[float, ...]:
        """Return the constants that the newest number in this run was multiplied by last."""
        return self._factors.newest

    def _compare(
        self, optimizer: nn.Optimizer, inputs: _Inputs, received: Sample, total: Sample, tensors: list[Tensor]
    ) -> None:
        self._check_accumulation(optimizer, inputs, received, total)
        factor = float(received @ total) / float(total @ total)
        parallel = factor > 0 and norm(received - factor * total) <= _TOLERANCE * norm(received)
        inputs.summed = _summed(inputs, factor) if parallel else 0
        if not parallel or inputs.gradient_calls != 1 or not self._scales:
            inputs.shares.clear()
            inputs.twice = 0
            return
        self._check_scale(optimizer, inputs, factor, tensors)

    def _check_accumulation(self, optimizer: nn.Optimizer, inputs: _Inputs, received: Sample, total: Sample) -> None:
        if inputs.previous is None or inputs.mismatches >= _MISMATCHES:
            return
        added, before = received - inputs.previous, inputs.previous
        factor = float(added @ total) / float(total @ total)
        difference = norm(added - factor * total)
        across = norm(before - float(before @ total) / float(total @ total) * total)
        # Gradients of one direction tell nothing: any multiple of the sum before would do as well.
        differs = across > _ACROSS * norm(added)
        is_sum = differs and factor > 0 and difference <= min(_TOLERANCE * norm(added), _MOMENTUM * across)
        inputs.accumulated = inputs.accumulated + 1 if is_sum else 0
        if not is_sum:
            inputs.mismatches += 1
            return
        growth = norm(received) / norm(added)
        observation = AccumulationObservation(inputs.accumulated, inputs.gradient_calls, growth)
        self._examiner.observe(observation, "", type(optimizer).__name__, self._counts.steps)

    def _check_scale(self, optimizer: nn.Optimizer, inputs: _Inputs, factor: float, tensors: list[Tensor]) -> None:
        own_scale = float(optimizer.loss_scale)
        by_own = [scale for scale in self._scales if abs(own_scale / scale - 1) < _TOLERANCE]
        divisors = {self._divided.get(tensors[position]._array) for position in inputs.sample.positions}
        by_hand = [scale for scale in self._scales if divisors == {scale}]
        scale = next(iter((*by_hand, *by_own)), 1.0)
        was_divided, divided_by_own = bool(by_hand), bool(by_own)
        share = factor * scale / own_scale
        is_small = share < 0.2 and (was_divided or divided_by_own)
        name, step = type(optimizer).__name__, self._counts.steps
        if not is_small:
            inputs.shares.clear()
            inputs.twice = 0
            return
        twice = was_divided and divided_by_own and scale >= _SCALE_TWICE and abs(share * scale - 1) < _TOLERANCE
        inputs.twice = inputs.twice + 1 if twice else 0
        if inputs.twice >= _CALLS_WITH_SCALE:
            self._examiner.observe(ScaledDownObservation(scale, share, None), "", name, step)
            return
        if was_divided and divided_by_own:
            return
        squares = [figures.norm**2 for figures in statistics_of(tensors, counted=False)]
        clipped = float(np.sqrt(sum(squares))) * (scale if was_divided else 1.0)
        inputs.shares = [*inputs.shares[1 - _CALLS_WITH_SCALE :], (share, clipped, scale)]
        shares, norms, scales = zip(*inputs.shares, strict=True)
        if (
            len(shares) >= _CALLS_WITH_SCALE
            and max(norms) <= (1 + _SAME_NORM) * min(norms)
            and max(shares) > (1 + _OTHER_NORM) * min(shares)
            and min(scales) > 0
        ):
            self._examiner.observe(ScaledDownObservation(scale, float(np.median(shares)), clipped), "", name, step)


def _summed(inputs: _Inputs, factor: float) -> int:
    """Return the number of gradient calls whose plain sum an optimizer got, if it did.

    A loss that is divided by that number gives the mean.
    """
    count = inputs.gradient_calls
    if count < 2 or len(inputs.functions) > 1 or any(abs(scale * count - 1) < _TOLERANCE for scale in inputs.scales):
        return 0
    return count if any(abs(factor * scale - 1) < _TOLERANCE for scale in (1.0, *inputs.scales)) else 0
