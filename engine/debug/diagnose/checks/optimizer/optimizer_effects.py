"""Check of what an optimizer's update does to its weights, and of writes after it that take it back."""

from __future__ import annotations

import math
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine import nn
from hookscope.engine.nn.optim.optimizer import Optimizer
from hookscope.engine.tape import taps
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.parameter import Parameter

from ....record.numbers import number_in
from ...conditions.parameters import UpdateObservation
from ...conditions.updates import DecayObservation, UndoneObservation
from ..watcher import Watcher, WatcherParts
from .element_sample import ElementSample, Sample, cosine, norm

if TYPE_CHECKING:
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.tensor import Tensor

__all__ = ["OptimizerEffectsWatch"]

# The smallest cosine between a write and the update that it takes back.
_TAKES_BACK = 0.95

# Weights are measured in this many first calls of an optimizer, and then in one of each period, until the end: weights
# that shrink more slowly than that have forgotten little.
_FIRST, _PERIOD, _END = 32, 4, 1000
# A weight collapses if its norm falls to this part of the first.
_COLLAPSED = 0.1
# The loss falls if the mean of the newest losses is below this times that of the first.
_LOSSES, _FALLS = 5, 0.8


class _Undone:
    """Writes after the updates of one optimizer."""

    def __init__(self, optimizer: nn.Optimizer) -> None:
        self.sample = ElementSample(optimizer.parameters)
        self.parameters = [optimizer.parameters[position] for position in self.sample.positions]
        self.before: list[Any] = []
        self.after: list[Any] = []  # arrays of the newest update, until the next run
        self.updates = 0
        self.share = self.rest = 1.0


class _Decay:
    """The decay of the weights of one optimizer."""

    def __init__(self, optimizer: nn.Optimizer) -> None:
        decays = [float(value) if isinstance(value, int | float) else 0.0 for value in optimizer._decays]
        decayed = [
            (position, parameter)
            for position, (parameter, value) in enumerate(zip(optimizer.parameters, decays, strict=True))
            if value > 0 and parameter.ndim > 1
        ]
        self.sample = ElementSample([parameter for _, parameter in decayed], weights_only=True)
        self.positions = [decayed[position][0] for position in self.sample.positions]
        self.parameters = [optimizer.parameters[position] for position in self.positions]
        self.values = [decays[position] for position in self.positions]
        self.calls = self.times = 0
        self.first_norms: list[float] = []
        # The norms of both parts of the updates, added up.
        self.of_decay, self.of_gradient = np.zeros(len(self.parameters)), np.zeros(len(self.parameters))
        self.before: list[Sample] | None = None
        self.gradients: list[Sample] | None = None
        self.first_losses: list[float] = []
        self.losses: deque[float] = deque(maxlen=_LOSSES)

    @property
    def is_due(self) -> bool:
        return self.calls < _FIRST or (self.calls % _PERIOD == 0 and self.calls < _END)

    @property
    def learns(self) -> bool:
        """True if the loss falls, or is not known."""
        if not self.losses or not np.isfinite([*self.losses, *self.first_losses]).all():
            return True
        first = float(np.mean(self.first_losses))
        return first <= 0 or float(np.mean(self.losses)) < _FALLS * first


class OptimizerEffectsWatch(Watcher):
    """Check of the updates of each optimizer."""

    shows = (UndoneObservation, DecayObservation, UpdateObservation)

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._undone: weakref.WeakKeyDictionary[nn.Optimizer, _Undone] = weakref.WeakKeyDictionary()
        self._decays: weakref.WeakKeyDictionary[nn.Optimizer, _Decay] = weakref.WeakKeyDictionary()
        self._written: dict[int, weakref.ref[Any]] = {}  # by id of the parameter: its array after its newest update
        self._open: list[tuple[str, _Undone]] = []  # updates that no run followed yet
        self._depth = 0

    def run_began(self) -> None:
        """Begin a run: compare the weights with those after the updates before it."""
        if self._open:
            self._judge_writes()

    def end_session(self) -> None:
        """Release the arrays of the last updates."""
        self._judge_writes()

    def rewrote(self, parameter: Parameter) -> bool:
        """Return whether a parameter was written again after its newest update by an optimizer."""
        written = self._written.get(id(parameter))
        return written is not None and written() is not parameter._array

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Note the loss of a gradient call."""
        if taps.outer_recordings() or len(values) != 1 or values[0]._array.size != 1:
            return
        for decay in list(self._decays.values()):
            if decay.parameters and decay.is_due and any(p is decay.parameters[0] for p, _ in pairs):
                loss = number_in(values[0]._array)
                decay.losses.append(loss)
                if len(decay.first_losses) < _LOSSES:
                    decay.first_losses.append(loss)

    def cell_enter(self, call: CellCall) -> None:
        """Note the weights before an update."""
        optimizer = call.cell
        if not isinstance(optimizer, nn.Optimizer):
            return
        self._depth += 1
        if self._depth > 1:
            return
        undone = self._undone.get(optimizer)
        if undone is None:
            undone = self._undone[optimizer] = _Undone(optimizer)
        if any(other is undone for _, other in self._open):
            self._judge_writes()  # no run came between two updates
        undone.before = [parameter._array for parameter in undone.parameters]
        if not optimizer.exec_weight_decay:
            return
        decay = self._decays.get(optimizer)
        if decay is None:
            decay = self._decays[optimizer] = _Decay(optimizer)
        tensors = tensors_in(call.args)
        decay.before = None
        if decay.parameters and decay.is_due and len(tensors) == len(optimizer.parameters):
            decay.before = decay.sample.parts([parameter._array for parameter in decay.parameters])
            decay.gradients = decay.sample.parts([tensors[position]._array for position in decay.positions])
        decay.calls += 1

    def cell_exit(self, call: CellCall) -> None:
        """Note the weights after an update."""
        optimizer = call.cell
        if not isinstance(optimizer, nn.Optimizer):
            return
        self._depth = max(0, self._depth - 1)
        if self._depth:
            return
        self._written.update((id(parameter), weakref.ref(parameter._array)) for parameter in optimizer.parameters)
        name = type(optimizer).__name__
        undone = self._undone.get(optimizer)
        if undone is not None and undone.parameters:
            undone.after = [parameter._array for parameter in undone.parameters]
            self._open.append((name, undone))
        decay = self._decays.get(optimizer)
        if decay is not None and decay.before is not None and decay.gradients is not None:
            after = decay.sample.parts([parameter._array for parameter in decay.parameters])
            with np.errstate(all="ignore"):  # the user may have turned warnings into errors
                if after is not None:
                    self._check_decay(optimizer, decay, decay.before, decay.gradients, after)
            decay.before = decay.gradients = None

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """Note the end of an optimizer's call by an exception."""
        if isinstance(call.cell, nn.Optimizer):
            self._depth = max(0, self._depth - 1)

    # Writes after updates

    def _judge_writes(self) -> None:
        opened, self._open = self._open, []
        for name, undone in opened:
            now = [parameter._array for parameter in undone.parameters]
            before, after = undone.before, undone.after
            undone.before, undone.after = [], []
            if all(array is written for array, written in zip(now, after, strict=True)):
                undone.updates = 0
                continue
            elements = [undone.sample.read(arrays) for arrays in (before, after, now)]
            with np.errstate(all="ignore"):  # the user may have turned warnings into errors
                self._judge(name, undone, *elements)

    def _judge(
        self, name: str, undone: _Undone, before: Sample | None, after: Sample | None, now: Sample | None
    ) -> None:
        if before is None or after is None or now is None:
            undone.updates = 0
            return
        update, write = after - before, now - after
        share = -cosine(write, update) * norm(write) / norm(update) if norm(update) > 0 else 0.0
        # What a limit or a mask takes back is all of the update of some weights and nothing of the others.
        if not (cosine(write, -update) >= _TAKES_BACK and 0 < share < 1):
            undone.updates = 0
            return
        rest = cosine(now - before, update)
        is_first = not undone.updates
        undone.share, undone.rest = (share, rest) if is_first else (min(share, undone.share), min(rest, undone.rest))
        undone.updates += 1
        observation = UndoneObservation(undone.updates, undone.share, undone.rest)
        self._examiner.observe(observation, "", name, self._counts.steps)
        if undone.share < 1 / 3 or undone.rest < 0.9:
            undone.updates = 0

    # Weight decay

    def _check_decay(
        self, optimizer: nn.Optimizer, decay: _Decay, before: list[Sample], gradients: list[Sample], after: list[Sample]
    ) -> None:
        if type(optimizer)._prepared is Optimizer._prepared:  # the decay is added to the gradient
            rate, own = 1.0, [gradient / float(optimizer.loss_scale) for gradient in gradients]
        else:
            rate = _rate(optimizer)
            own = [now - (1 - rate * value) * was for was, now, value in zip(before, after, decay.values, strict=True)]
        decay.of_decay += [rate * value * norm(was) for value, was in zip(decay.values, before, strict=True)]
        decay.of_gradient += [norm(part) for part in own]
        norms = [norm(now) for now in after]
        decay.first_norms = decay.first_norms or [norm(was) for was in before]
        ratios = decay.of_decay / decay.of_gradient
        collapsed = [
            index
            for index, (first, now) in enumerate(zip(decay.first_norms, norms, strict=True))
            if now < _COLLAPSED * first and 1 <= ratios[index] < np.inf
        ]
        decay.times = decay.times + 1 if collapsed else 0
        observation = DecayObservation(
            decay.times,
            max(decay.values),
            decay.calls,
            [float(ratios[index]) for index in collapsed],
            len(norms),
            math.hypot(*(decay.first_norms[index] for index in collapsed)),
            math.hypot(*(norms[index] for index in collapsed)),
            decay.learns,
        )
        self._examiner.observe(observation, "", type(optimizer).__name__, self._counts.steps)


def _rate(optimizer: nn.Optimizer) -> float:
    """Return the learning rate of an optimizer that decays weights apart from the gradient; NaN if it varies."""
    rate = optimizer.learning_rate
    is_one = isinstance(rate, Parameter) and rate._array.size == 1 and not optimizer.is_group_lr
    return number_in(rate._array) if is_one else math.nan
