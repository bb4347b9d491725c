"""Checks of optimizers: their parameters, and their learning rates."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from hookscope.engine import nn
from hookscope.engine.nn.optim._existing import existing_optimizers
from hookscope.engine.tape import taps
from hookscope.engine.tensors.nested import tensors_in

from ....record.numbers import number_in
from ...conditions.optimizer import HoldingObservation, RateObservation
from ..watcher import Watcher, WatcherParts

if TYPE_CHECKING:
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

__all__ = ["OptimizerWatch"]


class _RunningCall(NamedTuple):
    """A running call of an optimizer; ``rates`` has the outputs of its schedules, by their ids."""

    optimizer: nn.Optimizer
    name: str
    step: int
    rates: dict[int, Any]


class OptimizerWatch(Watcher):
    """Check of each optimizer that is called after a gradient call in which the network ran.

    Attributes:
        wrong: the last optimizer with parameters other than the network's.
    """

    shows = (RateObservation, HoldingObservation)

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._running: set[int] = set()  # ids of the cells that run under a gradient call
        # Of the newest gradient call: the cells that ran, the requested weights, and their gradients.
        self._recorded_cells: set[int] = set()
        self._requested: list[Parameter] = []
        self._with_gradient: dict[int, weakref.ref[Any]] = {}  # by id of the parameter
        self._ever_requested: set[int] = set()  # ids of parameters
        self._is_mode_set = True  # of one of these cells
        self._called: _RunningCall | None = None  # the call whose rates the user's schedule has not computed yet
        self.wrong: weakref.ref[nn.Optimizer] | None = None  # the last one with parameters other than the network's

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Record a completed gradient call with weights."""
        if taps.outer_recordings():
            return
        self._recorded_cells, self._running = self._running, set()
        self._requested = [parameter for parameter, _ in pairs]
        self._ever_requested.update(id(parameter) for parameter, _ in pairs)
        self._with_gradient = {
            id(parameter): weakref.ref(gradient._array) for parameter, gradient in pairs if gradient is not None
        }

    def cell_enter(self, call: CellCall) -> None:
        """Check a cell that is an optimizer, and record other cells."""
        optimizer = call.cell
        if not isinstance(optimizer, nn.Optimizer):
            if taps.outer_recordings():
                self._running.add(id(optimizer))
            return
        own_parameters = self._own()
        if not own_parameters or not (self._recorded_cells and self._requested):
            return
        name, step, observe = type(optimizer).__name__, self._counts.steps, self._examiner.observe
        observation = self._ownership(optimizer, own_parameters, call.args)
        if observation.foreign:
            self.wrong = weakref.ref(optimizer)
        observe(observation, "", name, step)
        if any(id(parameter) in own_parameters for parameter in optimizer.parameters):
            if _is_by_user(optimizer):
                self._called = _RunningCall(optimizer, name, step, {})
                return
            with taps.mute():
                rates = optimizer.get_lr()
            rates = rates if isinstance(rates, tuple) else (rates,) * len(optimizer.parameters)
            self._check_rates(optimizer, rates, name, step)

    def cell_exit(self, call: CellCall) -> None:
        """Record the rate of a schedule, or check the rates of an optimizer that takes them from schedules."""
        called = self._called
        if called is None:
            return
        if call.cell is called.optimizer:
            self._called = None
            rates = [called.rates.get(id(source)) for source in _sources(called.optimizer)]
            if rates and all(rate is not None for rate in rates):
                self._check_rates(called.optimizer, rates, called.name, called.step)
        elif any(call.cell is source for source in _sources(called.optimizer)):
            called.rates[id(call.cell)] = call.output

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """End the call of an optimizer that raised, without rates."""
        if self._called is not None and call.cell is self._called.optimizer:
            self._called = None

    def _check_rates(self, optimizer: nn.Optimizer, rates: Iterable[Any], name: str, step: int) -> None:
        by_rate: dict[float, list[str]] = {}
        for parameter, rate in zip(optimizer.parameters, rates, strict=False):
            by_rate.setdefault(_number(rate), []).append(parameter.name)
        if not by_rate:  # a get_lr of the user's own that returns none
            return
        worst = 0.0 if 0.0 in by_rate else next(iter(by_rate))
        self._examiner.observe(RateObservation(worst, by_rate[worst]), "", name, step)

    @property
    def requested(self) -> set[int]:
        """The ids of the parameters that the newest gradient call requested."""
        return {id(parameter) for parameter in self._requested}

    def _own(self) -> dict[int, Parameter]:
        """Return the trainable parameters of the network that ran in training mode in the newest gradient call.

        A new cell is in prediction mode: that is meant only if a mode was set.
        """
        cells = [cell for _, cell in self._paths if id(cell) in self._recorded_cells]
        self._is_mode_set = any("training" in cell._flags for cell in cells)
        cells = [cell for cell in cells if cell.training or not self._is_mode_set]
        parameters = [
            parameter
            for cell in cells
            for parameter in cell._params.values()
            if parameter is not None and parameter.requires_grad
        ]
        return {id(parameter): parameter for parameter in parameters}

    def _ownership(
        self, optimizer: nn.Optimizer, own: dict[int, Parameter], arguments: tuple[Any, ...]
    ) -> HoldingObservation:
        parameters = {id(parameter): parameter for parameter in optimizer.parameters}
        left_out = {key: parameter for key, parameter in own.items() if key not in parameters}
        if left_out:
            # Those that another optimizer holds wait for its turn, as a critic's do while its generator is updated.
            held = {id(parameter) for other in existing_optimizers() for parameter in other.parameters}
            left_out = {key: parameter for key, parameter in left_out.items() if key not in held}
        missing = [parameter.name for parameter in left_out.values()]
        requested = self.requested
        if parameters.keys() <= requested:
            # The loss does not depend on them: they belong to another network, or to another part of this one.
            useless = [parameter.name for key, parameter in parameters.items() if key not in self._with_gradient]
            updated = parameters.keys() & own.keys() & self._with_gradient.keys()
            ran = any(key in own for key in parameters if key not in self._with_gradient)
            may_be_other = not (updated and ran)
            if not self._is_mode_set:  # nothing tells a network that is trained from one that only runs beside it
                may_be_other = not ran and (not updated or bool(set(useless) & set(missing)))
            if useless and missing and may_be_other:
                return HoldingObservation(useless, missing, ran=ran)
        elif not parameters.keys() & requested and self._gets_own(arguments, optimizer, own):
            return HoldingObservation([parameter.name for parameter in parameters.values()], missing)
        return HoldingObservation((), ())

    def _gets_own(self, arguments: tuple[Any, ...], optimizer: nn.Optimizer, own: dict[int, Parameter]) -> bool:
        """Return whether its gradients are those of this network: the same arrays, or as many of the same shapes."""
        arrays = [tensor._array for tensor in tensors_in(arguments)]
        if any(reference() is array for array in arrays for reference in self._with_gradient.values()):
            return True
        if any(id(parameter) in self._ever_requested for parameter in optimizer.parameters):
            return False  # it waited for its turn: networks may be alike
        names = [parameter.name for parameter in self._requested]
        return [parameter.name for parameter in optimizer.parameters] == names and [
            array.shape for array in arrays
        ] == [parameter._array.shape for parameter in self._requested]


def _sources(optimizer: nn.Optimizer) -> list[Any]:
    """Return, for each parameter, the schedule or Parameter of its learning rate."""
    return list(optimizer._rates) if optimizer.is_group_lr else [optimizer.learning_rate] * len(optimizer.parameters)


def _is_by_user(optimizer: nn.Optimizer) -> bool:
    """Return whether the user's code computes learning rates, which a call by the debugger might change."""
    package = __name__.partition(".")[0]
    if type(optimizer).get_lr.__module__.partition(".")[0] != package:
        return True
    schedules = [] if isinstance(optimizer, nn.LARS) else _sources(optimizer)
    return any(type(schedule).__module__.partition(".")[0] != package for schedule in schedules)


def _number(rate: Any) -> float:
    """Return a learning rate as a float; a ``get_lr`` of the user's own may return any type, NaN means not a number."""
    array = getattr(rate, "_array", rate)
    if isinstance(array, int | float):
        return float(array)
    return number_in(array.reshape(-1)[0]) if getattr(array, "size", 0) else math.nan
