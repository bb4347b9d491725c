"""What is seen of parameters from one gradient call to the next: what came as their gradient, and what it changed.

A step of a parameter begins at the end of a gradient call that asked for it, where its array is kept by reference, and
ends with the next one, or when the session does. In between, at the next call of a root cell, those that have another
array by then are looked at, so that an update is judged before the next forward pass shows what came of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...record.statistics import Statistics, any_nonfinite, changes, statistics_of
from ..conditions.optimizer import StepSeen
from ..conditions.parameters import BeginningSeen, GradientSeen, UpdateSeen, is_weight, usual_norm
from .initial_values import root_mean_square

if TYPE_CHECKING:
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

    from ...watch.paths import CellPaths
    from ..figures_by_step import History
    from ..finiteness import Finiteness
    from .initial_values import InitialValues
    from .owners import Owner, Owners
    from .watcher import Looks

__all__ = ["Updates", "update_ratio"]

_ABOUT_PARAMETERS = (BeginningSeen, GradientSeen, UpdateSeen, StepSeen)

# A generator may wait while its critic makes some steps.
_OTHERS_FIRST = 2

# A gradient this much smaller than the largest one is rounding, comes through a branch that is nearly closed yet, or
# is that of weights that have arrived.
_NOISE = 1e-4


@dataclass(eq=False)
class _Followed:
    """One parameter between two gradient calls."""

    owner: Owner
    before: Any
    gradient: Tensor | None
    finite: bool = True  # the gradient
    kind: str = "some"
    changed: bool = False
    written: bool = False
    norm: float = math.nan  # before the update, where there was one
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
    """One gradient call whose updates are awaited.

    Attributes:
        step: the number of the step.
        followed: the parameters that it asked for.
        share: its largest gradient as a part of the largest one that these parameters have had.
    """

    step: int
    followed: list[_Followed]
    share: float = 1.0


class Updates:
    """See the module's first lines.

    Args:
        cells: the paths and cells of the session.
        owners: whose parameters are.
        initial: looks at parameters before their first update.
        history: where figures are kept for whoever draws them.
        finiteness: told of a parameter that an update left with a NaN or an infinity.
        ran: whether the cell of this path has run.
        wanted: whether a condition about one of these classes is looked for.
        look: tries conditions.
    """

    def __init__(
        self,
        cells: CellPaths,
        owners: Owners,
        initial: InitialValues,
        history: History,
        finiteness: Finiteness,
        ran: Callable[[str], bool],
        wanted: Callable[..., bool],
        look: Looks,
    ) -> None:
        self._cells = cells
        self._owners = owners
        self._initial = initial
        self._history = history
        self._finiteness = finiteness
        self._ran = ran
        self._wanted = wanted
        self._look = look
        self._calls: list[_Call] = []
        self._came: set[int] = set()  # parameters that had a gradient
        self._largest: dict[int, float] = {}  # by parameter: the root mean square of its largest finite gradient
        self._asked: set[int] = set()
        self._not_asked: Counter[int] = Counter()  # by parameter: steps in which others were changed

    # What the session tells

    def step_began(self) -> None:
        """A root cell is called: look at the parameters that were changed since."""
        self._initial.step_began()
        for call in self._calls:
            self._look_at_changes(call)

    def edited(self, parameter: Parameter, array: Any) -> None:
        """A person is about to put another array into a parameter: no update, so that no condition judges it."""
        for call in self._calls:
            self._look_at_changes(call)
            for one in call.followed:
                if one.parameter is parameter and not one.written:
                    one.before = array

    def differentiated(self, pairs: list[tuple[Parameter, Tensor | None]], asked: frozenset[int], step: int) -> None:
        """A gradient call has ended: which weights' it was, by their ids, and what came."""
        if not (self._follows() or self._finiteness.wanted):
            return
        self._asked |= asked
        self.settle(asked)
        followed = []
        for parameter, gradient in pairs:
            owner = self._owners.of(parameter)
            if owner is not None and parameter.requires_grad:
                followed.append(_Followed(owner, parameter._array, gradient))
        call = _Call(step, followed)
        if self._follows():
            self._look_at_gradients(call)
        else:
            for one in followed:
                one.finite = one.gradient is None or not any_nonfinite(one.gradient._array)
        self._calls.append(call)

    def _look_at_gradients(self, call: _Call) -> None:
        followed, step = call.followed, call.step
        came = iter(statistics_of([one.gradient for one in followed if one.gradient is not None], counted=False))
        figures = [None if one.gradient is None else next(came) for one in followed]
        newest = max((root_mean_square(found) for found in figures if found is not None and found.finite), default=0.0)
        largest = max(newest, self._largest_so_far(followed, figures))
        call.share = newest / largest if largest > 0 else 1.0
        for one, found in zip(followed, figures, strict=True):
            one.kind = _kind(found, largest)
            one.finite = found is None or found.finite == found.count
            self._history.add_gradient(one.name, step, 0.0 if found is None else found.norm)
        some = any(one.kind == "some" for one in followed)
        for one in followed:
            before = one.parameter.ndim < 2 and id(one.parameter) in self._came
            self._look(GradientSeen(one.kind, some, before), one.path, one.name, step)
            if one.kind == "some":
                self._came.add(id(one.parameter))
            self._initial.gradient_came(one.owner, one.before, one.gradient, one.kind == "some", step)
            one.gradient = None  # it need not live on

    def _largest_so_far(self, followed: list[_Followed], figures: list[Statistics | None]) -> float:
        """Note the gradients of a call; the root mean square of the largest one that its parameters have had."""
        for one, found in zip(followed, figures, strict=True):
            if found is not None and 0 < found.finite == found.count:  # an overflow of a scaled loss is no measure
                key = id(one.parameter)
                self._largest[key] = max(root_mean_square(found), self._largest.get(key, 0.0))
        return max((self._largest.get(id(one.parameter), 0.0) for one in followed), default=0.0)

    def _follows(self) -> bool:
        """Whether parameters are followed by their figures."""
        return self._wanted(*_ABOUT_PARAMETERS)

    def settle(self, asked: frozenset[int] | None = None) -> None:
        """The steps of these parameters have ended; None: of all."""
        open_calls = []
        for call in self._calls:
            if asked is not None and not any(id(one.parameter) in asked for one in call.followed):
                open_calls.append(call)
                continue
            self._look_at_changes(call)
            others = any(one.changed for one in call.followed)
            self._look_at_step(call)
            for one in call.followed:
                if not one.changed and (others or one.written):
                    seen = UpdateSeen(tuple(one.before.shape), one.kind, 0.0, one.norm, others)
                    self._look(seen, one.path, one.name, call.step)
            if others:
                self._look_at_those_not_asked_for(call.step)
        self._calls = open_calls

    # Updates

    def _look_at_changes(self, call: _Call) -> None:
        written = [one for one in call.followed if not one.written and one.parameter._array is not one.before]
        written = [one for one in written if one.parameter._array.shape == one.before.shape]
        arrays = [one.parameter._array for one in written]
        if not self._follows():
            for one, now in zip(written, arrays, strict=True):
                one.written = True
                if any_nonfinite(now):
                    was_finite = one.finite and not any_nonfinite(one.before)
                    self._finiteness.updated(one.path, one.name, now, call.step, was_finite)
            return
        pairs = [(now, one.before) for one, now in zip(written, arrays, strict=True)]
        for one, now, (change, norm) in zip(written, arrays, changes(pairs), strict=True):
            one.written, one.changed, one.norm, one.change = True, change != 0, norm, change
            if one.norm > 0 and math.isfinite(change):
                self._history.add_update(one.name, call.step, change / one.norm)
            if math.isnan(change):
                was_finite = one.finite and not any_nonfinite(one.before)
                self._finiteness.updated(one.path, one.name, now, call.step, was_finite)
            if one.changed:  # else it matters what becomes of the others
                self._look(UpdateSeen(tuple(now.shape), one.kind, change, one.norm), one.path, one.name, call.step)

    def _look_at_step(self, call: _Call) -> None:
        written = [one for one in call.followed if one.written and is_weight(one.before.shape)]
        if written:
            norms = [max(one.norm, usual_norm(one.before.shape)) for one in written]
            ratio = math.hypot(*(one.change for one in written)) / math.hypot(*norms)
            self._look(StepSeen(ratio, call.share), "", "the optimizer", call.step)

    def _look_at_those_not_asked_for(self, step: int) -> None:
        if not self._wanted(UpdateSeen):
            return
        # Of several networks one may have its turn later, or never: a teacher.
        parameters = [[id(parameter) for parameter in root.get_parameters()] for root in self._cells.roots]
        trained = {key for keys in parameters if not self._asked.isdisjoint(keys) for key in keys}
        for key, (path, name, cell, parameter) in self._owners.all().items():
            # Frozen ones do not want a gradient, or are in prediction mode; what is called by itself, beside the
            # network that it is a part of, may be meant so: a teacher, an average.
            wants = parameter.requires_grad and cell.training and key in trained
            if key in self._asked or not (wants and self._ran(path) and self._ran("")):
                continue
            self._not_asked[key] += 1
            if self._not_asked[key] > _OTHERS_FIRST:
                self._look(UpdateSeen(tuple(parameter.shape), "not asked", 0.0), path, name, step)


def _kind(gradient: Statistics | None, largest: float) -> str:
    if gradient is None:
        return "none"
    if gradient.zeros == gradient.count:
        return "zeros"
    return "noise" if root_mean_square(gradient) < _NOISE * largest else "some"


def update_ratio(now: Any, before: Any) -> float | None:
    """The norm of a change by that of what was before; None where that was zero or something is not finite."""
    ((change, norm),) = changes([(now, before)])
    return change / norm if norm > 0 and math.isfinite(change) else None
