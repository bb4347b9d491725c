"""Learning rates of the optimizers, read after each update without evaluating anything.

A schedule is a cell, which may have side effects. It is not called again: its output is noted when the optimizer calls
it. A constant rate is a parameter, whose element is read again only if the parameter was bound to another array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from hookscope.engine.nn.cell import Cell
from hookscope.engine.nn.optim.optimizer import Optimizer
from hookscope.engine.tensors.tensor import Tensor

from .numbers import number_in

if TYPE_CHECKING:
    from .counts import Counts
    from .scalars import Scalars

__all__ = ["LearningRates", "common_path"]

# Different rates of one optimizer that are followed, as of groups of parameters.
_MAX_GROUPS = 12


def common_path(names: Sequence[str]) -> str:
    """Return the path of the innermost cell that contains parameters of these names; "" if there is none."""
    path: list[str] = []
    for parts in zip(*(name.split(".")[:-1] for name in names), strict=False):
        if len(set(parts)) > 1:
            break
        path.append(parts[0])
    return ".".join(path)


@dataclass(eq=False)
class _Rate:
    """One rate of an optimizer.

    Attributes:
        source: the parameter that holds it, or the schedule that computes it.
        weights, subject: the ids of its weights, and their common path.
        array, number: of a constant, the array that was read last and its number.
    """

    source: Any
    weights: frozenset[int]
    subject: str
    array: Any = None
    number: float | None = None


class LearningRates:
    """Reader of the learning rates.

    Args:
        scalars: receives them.
        counts: has the step.
    """

    def __init__(self, scalars: Scalars, counts: Counts) -> None:
        self._scalars = scalars
        self._counts = counts
        self._outputs: dict[int, Any] = {}  # of the schedules of the running update, by the schedule's id
        self._rates: WeakKeyDictionary[Optimizer, tuple[Any, list[_Rate]]] = WeakKeyDictionary()

    def schedule_returned(self, schedule: Cell, output: Any) -> None:
        """Note the output of a schedule."""
        self._outputs[id(schedule)] = output

    def updated(self, optimizer: Optimizer) -> None:
        """Record the rates of an update that has just been made."""
        outputs, self._outputs = self._outputs, {}
        step = self._counts.steps
        for rate in self._rates_of(optimizer):
            number = _number(rate, outputs)
            if number is not None:
                self._scalars.add_rate(rate.weights, rate.subject, step, number)

    def _rates_of(self, optimizer: Optimizer) -> list[_Rate]:
        source = optimizer._rates if optimizer.is_group_lr else optimizer.learning_rate
        known = self._rates.get(optimizer)
        if known is None or known[0] is not source:
            known = self._rates[optimizer] = (source, _distinct_rates(optimizer))
        return known[1]


def _distinct_rates(optimizer: Optimizer) -> list[_Rate]:
    """Return the different rates of an optimizer, each with the weights that it applies to."""
    if getattr(optimizer, "relative_step", False):
        return []  # such an AdaFactor derives its rates from the weights
    parameters = optimizer.parameters
    sources = optimizer._rates if optimizer.is_group_lr else [optimizer.learning_rate] * len(parameters)
    by_source: dict[int, tuple[Any, list[Any]]] = {}
    for parameter, source in zip(parameters, sources, strict=True):
        by_source.setdefault(id(source), (source, []))[1].append(parameter)
    return [
        _Rate(source, frozenset(map(id, weights)), common_path([weight.name for weight in weights]))
        for source, weights in list(by_source.values())[:_MAX_GROUPS]
    ]


def _number(rate: _Rate, outputs: dict[int, Any]) -> float | None:
    """Return the number of a rate; None if it is not known."""
    if isinstance(rate.source, Cell):
        output = outputs.get(id(rate.source))
        if isinstance(output, Tensor):
            return number_in(output._array) if output._array.size == 1 else None
        return float(output) if isinstance(output, int | float) else None
    array = rate.source._array
    if array is not rate.array:
        rate.array, rate.number = array, number_in(array) if array.size == 1 else None
    return rate.number
