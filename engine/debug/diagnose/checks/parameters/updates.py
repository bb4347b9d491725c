"""Checks of parameters between gradient calls: their gradients, and the resulting changes.

A step of a parameter begins at the end of a gradient call that requested it, where its array is kept by reference. It
ends with the next such call, or with the session. In between, at the next call of a root cell, parameters with another
array are checked, so that an update is judged before the next forward pass shows its effect.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....record.statistics import Statistics, any_nonfinite, changes, statistics_of
from ...conditions import ParameterObservation
from ...conditions.optimizer import StepObservation
from ...conditions.parameters import BeginningObservation, GradientObservation, UpdateObservation, is_weight, usual_norm
from .initial_values import root_mean_square

if TYPE_CHECKING:
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

    from ....record.newest_values import NewestValues
    from ....watch.paths import CellPaths
    from ...examiner import Examiner
    from ...figures_by_step import History
    from ...finiteness import Finiteness
    from ..owners import Owner, Owners
    from .initial_values import InitialValues

__all__ = ["Updates", "update_ratio"]

_ABOUT_PARAMETERS = (
    BeginningObservation,
    GradientObservation,
    ParameterObservation,
    UpdateObservation,
    StepObservation,
)

# A generator may wait while its critic takes some steps.
_OTHERS_FIRST = 2

# A gradient this much smaller than the largest one is rounding, passes a branch that is still nearly closed, or belongs
# to weights that have converged.
_NOISE = 1e-4


@dataclass(eq=False)
class _Entry:
    """One parameter between two gradient calls."""

    owner: Owner
    before: Any
    gradient: Tensor | None
    finite: bool = True  # the gradient
    kind: str = "some"
    changed: bool = False
    written: bool = False
    norm: float = math.nan  # before the update, if there was one
    change: float = 0.0

    @property
    def parameter(self) -> Parameter:
        return self.owner.parameter

    @property
    def path(self) -> str:
        return self.owner.path

    @property
    def name(self) -> str:
        return self.owner.name


@dataclass(eq=False)
class _Call:
    """One gradient call whose updates are expected.

    Attributes:
        step: the number of the step.
        entries: the parameters that it requested.
        share: its largest gradient relative to the largest one that these parameters have had.
    """

    step: int
    entries: list[_Entry]
    share: float = 1.0


class Updates:
    """Tracker of updates, see the module's docstring.

    Args:
        cells: the paths and cells of the session.
        owners: the owners of the parameters.
        initial: checks parameters before their first update.
        history: receives the figures, for display.
        finiteness: receives a parameter that an update left with a NaN or an infinity.
        newest: the newest outputs, by which a cell is known to have run.
        examiner: checks the conditions on an observation.

    Attributes:
        summed_calls: returns of how many gradient calls an optimizer got the plain sum for a parameter, or 0.
        rewrote: returns whether a parameter was written again after an optimizer updated it.
    """

    summed_calls: Callable[[Parameter], int]
    rewrote: Callable[[Parameter], bool]

    def __init__(
        self,
        cells: CellPaths,
        owners: Owners,
        initial: InitialValues,
        history: History,
        finiteness: Finiteness,
        newest: NewestValues,
        examiner: Examiner,
    ) -> None:
        self._cells = cells
        self._owners = owners
        self._initial = initial
        self._history = history
        self._finiteness = finiteness
        self._newest = newest
        self._examiner = examiner
        self._calls: list[_Call] = []
        self._with_gradient: set[int] = set()  # parameters that had a gradient
        self._largest: dict[int, float] = {}  # by parameter: the root mean square of its largest finite gradient
        self._requested: set[int] = set()
        self._unrequested: Counter[int] = Counter()  # by parameter: steps in which others were changed

    # Notifications of the session

    def run_began(self) -> None:
        """Begin a run: check the parameters that were changed since."""
        self._initial.run_began()
        for call in self._calls:
            self._check_changes(call)

    def note_edit(self, parameter: Parameter, array: Any) -> None:
        """Note a manual edit of a parameter, which is not an update, so that no condition judges it."""
        for call in self._calls:
            self._check_changes(call)
            for entry in call.entries:
                if entry.parameter is parameter and not entry.written:
                    entry.before = array

    def differentiated(
        self, pairs: list[tuple[Parameter, Tensor | None]], requested: frozenset[int], step: int
    ) -> None:
        """Record a completed gradient call: the ids of its weights, and their gradients."""
        if not (self._follows() or self._finiteness.is_active):
            return
        self._requested |= requested
        self.settle(requested)
        entries = []
        for parameter, gradient in pairs:
            owner = self._owners.of(parameter)
            if owner is not None and parameter.requires_grad:
                entries.append(_Entry(owner, parameter._array, gradient))
        call = _Call(step, entries)
        if self._follows():
            self._check_gradients(call)
        else:
            for entry in entries:
                entry.finite = entry.gradient is None or not any_nonfinite(entry.gradient._array)
        self._calls.append(call)

    def _check_gradients(self, call: _Call) -> None:
        entries, step = call.entries, call.step
        measured = iter(
            statistics_of([entry.gradient for entry in entries if entry.gradient is not None], counted=False)
        )
        figures = [None if entry.gradient is None else next(measured) for entry in entries]
        newest = max(
            (root_mean_square(statistics) for statistics in figures if statistics is not None and statistics.finite),
            default=0.0,
        )
        largest = max(newest, self._largest_so_far(entries, figures))
        call.share = newest / largest if largest > 0 else 1.0
        for entry, statistics in zip(entries, figures, strict=True):
            entry.kind = _kind(statistics, largest)
            entry.finite = statistics is None or statistics.finite == statistics.count
            self._history.add_gradient(entry.name, step, 0.0 if statistics is None else statistics.norm)
        has_gradient = any(entry.kind == "some" for entry in entries)
        learning_cells = {entry.path for entry in entries if entry.kind == "some" and entry.parameter.ndim > 1}
        for entry in entries:
            may_cancel = entry.path in learning_cells or id(entry.parameter) in self._with_gradient
            observation = GradientObservation(entry.kind, has_gradient, may_cancel and entry.parameter.ndim < 2)
            self._examiner.observe(observation, entry.path, entry.name, step)
            if self._examiner.wants(ParameterObservation):
                own = ParameterObservation(entry.parameter, entry.gradient, step)
                self._examiner.observe(own, entry.path, entry.name, step)
            if entry.kind == "some":
                self._with_gradient.add(id(entry.parameter))
            self._initial.check_gradient(entry.owner, entry.before, entry.gradient, entry.kind == "some", step)
            entry.gradient = None  # it is not needed any more

    def _largest_so_far(self, entries: list[_Entry], figures: list[Statistics | None]) -> float:
        """Record the gradients of a call; return the root mean square of the largest one of its parameters so far."""
        for entry, statistics in zip(entries, figures, strict=True):
            # An overflow of a scaled loss is not a measure.
            if statistics is not None and 0 < statistics.finite == statistics.count:
                key = id(entry.parameter)
                self._largest[key] = max(root_mean_square(statistics), self._largest.get(key, 0.0))
        return max((self._largest.get(id(entry.parameter), 0.0) for entry in entries), default=0.0)

    def _follows(self) -> bool:
        """Return whether parameters are followed by their figures."""
        return self._examiner.wants(*_ABOUT_PARAMETERS)

    def settle(self, requested: frozenset[int] | None = None) -> None:
        """End the steps of these parameters; None means all."""
        open_calls = []
        for call in self._calls:
            if requested is not None and not any(id(entry.parameter) in requested for entry in call.entries):
                open_calls.append(call)
                continue
            self._check_changes(call)
            others = any(entry.changed for entry in call.entries)
            self._check_step(call)
            for entry in call.entries:
                # Weights at a limit are moved beyond it by the optimizer, and set back.
                if not entry.changed and (others or entry.written) and not self.rewrote(entry.parameter):
                    observation = UpdateObservation(tuple(entry.before.shape), entry.kind, 0.0, entry.norm, others)
                    self._examiner.observe(observation, entry.path, entry.name, call.step)
            if others:
                self._check_unrequested(call.step)
        self._calls = open_calls

    # Updates

    def _check_changes(self, call: _Call) -> None:
        written = [entry for entry in call.entries if not entry.written and entry.parameter._array is not entry.before]
        written = [entry for entry in written if entry.parameter._array.shape == entry.before.shape]
        arrays = [entry.parameter._array for entry in written]
        if not self._follows():
            for entry, array in zip(written, arrays, strict=True):
                entry.written = True
                if any_nonfinite(array):
                    was_finite = entry.finite and not any_nonfinite(entry.before)
                    self._finiteness.updated(entry.path, entry.name, array, call.step, was_finite)
            return
        pairs = [(array, entry.before) for entry, array in zip(written, arrays, strict=True)]
        for entry, array, (change, norm) in zip(written, arrays, changes(pairs), strict=True):
            entry.written, entry.changed, entry.norm, entry.change = True, change != 0, norm, change
            if entry.norm > 0 and math.isfinite(change):
                self._history.add_update(entry.name, call.step, change / entry.norm)
            if math.isnan(change):
                was_finite = entry.finite and not any_nonfinite(entry.before)
                self._finiteness.updated(entry.path, entry.name, array, call.step, was_finite)
            if entry.changed:  # else it depends on whether others change
                self._examiner.observe(
                    UpdateObservation(
                        tuple(array.shape), entry.kind, change, entry.norm, summed=self.summed_calls(entry.parameter)
                    ),
                    entry.path,
                    entry.name,
                    call.step,
                )

    def _check_step(self, call: _Call) -> None:
        written = [entry for entry in call.entries if entry.written and is_weight(entry.before.shape)]
        if written:
            norms = [max(entry.norm, usual_norm(entry.before.shape)) for entry in written]
            ratio = math.hypot(*(entry.change for entry in written)) / math.hypot(*norms)
            summed = max(self.summed_calls(entry.parameter) for entry in written)
            self._examiner.observe(StepObservation(ratio, call.share, summed), "", "the optimizer", call.step)

    def _check_unrequested(self, step: int) -> None:
        if not self._examiner.wants(UpdateObservation):
            return
        # Of several networks, one may have its turn later, or never: a teacher.
        parameters = [[id(parameter) for parameter in root.get_parameters()] for root in self._cells.roots]
        trained = {key for keys in parameters if not self._requested.isdisjoint(keys) for key in keys}
        for key, (path, name, cell, parameter) in self._owners.all().items():
            # Frozen parameters need no gradient, or are in prediction mode. A part of the network that is called alone
            # may be intended: a teacher, an average.
            is_trained = parameter.requires_grad and cell.training and key in trained
            if key in self._requested or not (is_trained and {path, ""} <= self._newest.shapes.keys()):
                continue
            self._unrequested[key] += 1
            if self._unrequested[key] > _OTHERS_FIRST:
                self._examiner.observe(UpdateObservation(tuple(parameter.shape), "not asked", 0.0), path, name, step)


def _kind(gradient: Statistics | None, largest: float) -> str:
    if gradient is None:
        return "none"
    if gradient.zeros == gradient.count:
        return "zeros"
    return "noise" if root_mean_square(gradient) < _NOISE * largest else "some"


def update_ratio(now: Any, before: Any) -> float | None:
    """Return the norm of a change divided by the earlier norm; None if that was zero or a value is not finite."""
    ((change, norm),) = changes([(now, before)])
    return change / norm if norm > 0 and math.isfinite(change) else None
