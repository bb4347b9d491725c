"""What is followed over the steps of a training: each parameter's gradient and updates, and the loss.

A step of a parameter begins at the end of a gradient call that asked for it, where its array is kept by reference, and
ends with the next one, or when the session does. In between, at the next call of a root cell, those that have another
array by then are looked at, so that an update is judged before the next forward pass shows what came of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine import taps
from hookscope.engine.tensor import Tensor

from ..captures.statistics import Statistics, any_nonfinite, statistics
from ..conditions.network import LossSeen
from ..conditions.optimizer import StepSeen
from ..conditions.parameters import BeginningSeen, GradientSeen, UpdateSeen, is_weight, usual_norm
from .figures_by_step import History

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.parameter import Parameter

    from ..paths import CellPaths
    from .watcher import Looks

__all__ = ["Training", "update_ratio"]

_ABOUT_PARAMETERS = (BeginningSeen, GradientSeen, UpdateSeen, StepSeen)

# At least as many as there are in a mean of losses.
_FIRST_LOSSES = 100

# A generator may wait while its critic makes some steps.
_OTHERS_FIRST = 2

# A gradient so much smaller than the largest one is rounding, or comes through a branch that is nearly closed yet.
_NOISE = 1e-4
_ROUNDING = 1e-5


@dataclass(eq=False)
class _Followed:
    """One parameter between two gradient calls."""

    parameter: Parameter
    path: str
    name: str
    before: Any
    gradient: Tensor | None
    finite: bool
    kind: str = "some"
    changed: bool = False
    written: bool = False
    norm: float = math.nan  # before the update, where there was one
    change: float = 0.0


@dataclass(eq=False)
class _Call:
    """One gradient call whose updates are awaited."""

    step: int
    followed: list[_Followed]


class Training:
    """See the module's first lines.

    Args:
        cells: the paths and cells of the session.
        ran: whether the cell of this path has run.
        wanted: whether a condition about one of these classes is looked for.
        finiteness: whether it is looked for what is not finite.
        look: tries conditions.
        broken: told of a parameter that an update left with a NaN or an infinity: the cell's path, its own, the array,
            the step, and whether it and its gradient were finite before.
    """

    def __init__(
        self,
        cells: CellPaths,
        ran: Callable[[str], bool],
        wanted: Callable[..., bool],
        finiteness: Callable[[], bool],
        look: Looks,
        broken: Callable[[str, str, Any, int, bool], None],
    ) -> None:
        self.history = History()
        self._cells = cells
        self._ran = ran
        self._wanted = wanted
        self._finiteness = finiteness
        self._look = look
        self._broken = broken
        self._calls: list[_Call] = []
        self._came: set[int] = set()  # parameters that had a gradient
        self._begun: set[int] = set()  # parameters whose first values and gradient were looked at
        self._scaled_roots = 0
        self._owners: dict[int, tuple[str, str, Cell, Parameter]] = {}
        self._losses: dict[frozenset[int], list[float]] = {}
        self._newest_loss: frozenset[int] | None = None
        self._asked: set[int] = set()
        self._not_asked: Counter[int] = Counter()  # by parameter: steps in which others were changed

    # What the session tells

    def step_began(self) -> None:
        """A root cell is called: look at the parameters that were changed since."""
        if self._wanted(BeginningSeen):
            begun = self._scaled_roots if self._begun else 0
            self._look_at_scales(self._cells.roots[begun:])
            self._scaled_roots = len(self._cells.roots)
        for call in self._calls:
            self._look_at_changes(call)

    def edited(self, parameter: Parameter, array: Any) -> None:
        """A person is about to put another array into a parameter: no update, so that no condition judges it."""
        for call in self._calls:
            self._look_at_changes(call)
            for one in call.followed:
                if one.parameter is parameter and not one.written:
                    one.before = array

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]], step: int) -> None:
        """A gradient call with weights has ended."""
        if taps.recordings_outside():
            return  # a part of a larger one
        asked = frozenset(id(parameter) for parameter, _ in pairs)
        self._loss(values, asked, step)
        if not (self._follows() or self._finiteness()):
            return
        self._asked |= asked
        self.settle(asked)
        followed = []
        for parameter, gradient in pairs:
            owner = self._owner(parameter)
            if owner is not None and parameter.requires_grad:
                finite = gradient is None or not any_nonfinite(gradient._array)
                followed.append(_Followed(parameter, owner[0], owner[1], parameter._array, gradient, finite))
        if self._follows():
            self._look_at_gradients(followed, step)
        self._calls.append(_Call(step, followed))

    def _look_at_gradients(self, followed: list[_Followed], step: int) -> None:
        figures = [None if one.gradient is None else statistics(one.gradient) for one in followed]
        largest = max((_scale(found) for found in figures if found is not None and found.finite), default=0.0)
        for one, found in zip(followed, figures, strict=True):
            one.kind = _kind(found, largest)
            self.history.add_gradient(one.name, step, 0.0 if found is None else found.norm)
        some = any(one.kind == "some" for one in followed)
        for one in followed:
            before = one.parameter.ndim < 2 and id(one.parameter) in self._came
            self._look(GradientSeen(one.kind, some, before), one.path, one.name, step)
            if one.kind == "some":
                self._came.add(id(one.parameter))
            if id(one.parameter) not in self._begun:
                self._begun.add(id(one.parameter))
                self._look_at_symmetry(one, step)
            one.gradient = None  # it need not live on

    def _follows(self) -> bool:
        """Whether parameters are followed by their figures."""
        return self._wanted(*_ABOUT_PARAMETERS)

    def named(self, pairs: list[tuple[Parameter, Tensor | None]]) -> Iterator[tuple[str, str, Tensor]]:
        """The gradients that came for parameters of the session, with the cell's path and the parameter's."""
        for parameter, gradient in pairs:
            owner = None if gradient is None else self._owner(parameter)
            if owner is not None and gradient is not None:
                yield owner[0], owner[1], gradient

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
        for one in call.followed:
            now = one.parameter._array
            if one.written or now is one.before or now.shape != one.before.shape:
                continue
            if not self._follows():
                one.written = True
                if any_nonfinite(now):
                    self._broken(one.path, one.name, now, call.step, one.finite and not any_nonfinite(one.before))
                continue
            change, before = _difference(now, one.before), statistics(one.before)
            one.written, one.changed, one.norm, one.change = True, change != 0, before.norm, change
            if one.norm > 0 and math.isfinite(change):
                self.history.add_update(one.name, call.step, change / one.norm)
            if math.isnan(change):
                self._broken(one.path, one.name, now, call.step, one.finite and before.finite == before.count)
            if one.changed:  # else it matters what becomes of the others
                self._look(UpdateSeen(tuple(now.shape), one.kind, change, one.norm), one.path, one.name, call.step)

    def _look_at_step(self, call: _Call) -> None:
        written = [one for one in call.followed if one.written and is_weight(one.before.shape)]
        if written:
            norms = [max(one.norm, usual_norm(one.before.shape)) for one in written]
            ratio = math.hypot(*(one.change for one in written)) / math.hypot(*norms)
            self._look(StepSeen(ratio), "", "the optimizer", call.step)

    def _look_at_those_not_asked_for(self, step: int) -> None:
        if not self._wanted(UpdateSeen):
            return
        # Of several networks one may have its turn later, or never: a teacher.
        parameters = [[id(parameter) for parameter in root.get_parameters()] for root in self._cells.roots]
        trained = {key for keys in parameters if not self._asked.isdisjoint(keys) for key in keys}
        for key, (path, name, cell, parameter) in self._all_owners().items():
            # Frozen ones do not want a gradient, or are in prediction mode; what is called by itself, beside the
            # network that it is a part of, may be meant so: a teacher, an average.
            wants = parameter.requires_grad and cell.training and key in trained
            if key in self._asked or not (wants and self._ran(path) and self._ran("")):
                continue
            self._not_asked[key] += 1
            if self._not_asked[key] > _OTHERS_FIRST:
                self._look(UpdateSeen(tuple(parameter.shape), "not asked", 0.0), path, name, step)

    # Beginnings

    def _look_at_scales(self, roots: list[Cell]) -> None:
        if not roots:
            return
        inside = {id(parameter) for root in roots for parameter in root.get_parameters()}
        for key, (path, name, cell, parameter) in self._all_owners().items():
            if key not in inside:
                continue
            # What another one wrote has a scale of its own law; so have embeddings, which nothing sums over.
            known = type(cell).__module__.startswith("hookscope.") and "Embedding" not in type(cell).__name__
            if parameter.requires_grad and known:
                figures = statistics(parameter)
                if figures.count and figures.finite == figures.count:
                    self._look(BeginningSeen(figures.shape, _scale(figures)), path, name, 1)

    def _look_at_symmetry(self, one: _Followed, step: int) -> None:
        if not self._wanted(BeginningSeen) or one.before.ndim < 2 or len(one.before) < 2:
            return
        symmetric = ""
        if _alike(one.before):
            if one.gradient is None or one.kind != "some" or _alike(one.gradient._array):
                symmetric = "every unit begins with the same weights and gets the same gradient"
            elif one.before.any():  # zeros are often meant: the last layer of a branch begins so
                symmetric = "every unit begins with the same weights"
        self._look(BeginningSeen(tuple(one.before.shape), symmetric=symmetric), one.path, one.name, step)

    # The loss

    def _loss(self, values: list[Tensor], asked: frozenset[int], step: int) -> None:
        if not values or values[0]._array.size != 1:
            return
        loss = float(abs(values[0]._array)) if values[0]._array.dtype.kind == "c" else float(values[0]._array)
        self.history.losses.append((step, loss))
        if not self._wanted(LossSeen):
            return
        alternating = asked in self._losses and self._newest_loss != asked
        if alternating:
            self._losses = {key: [] for key in self._losses}  # several aims that work against each other
        losses = self._losses.setdefault(asked, [])
        self._newest_loss = asked
        losses.append(loss)
        del losses[_FIRST_LOSSES:-_FIRST_LOSSES]  # the first are compared with the newest
        self._look(LossSeen(losses), "", "loss", step)

    # Names

    def _owner(self, parameter: Parameter) -> tuple[str, str, Cell, Parameter] | None:
        found = self._owners.get(id(parameter))
        if found is None or found[3] is not parameter:
            found = self._all_owners().get(id(parameter))
        return found

    def _all_owners(self) -> dict[int, tuple[str, str, Cell, Parameter]]:
        for path, cell in self._cells:
            for name, parameter in cell._params.items():
                if parameter is not None:
                    owner = (path, f"{path}.{name}" if path else name, cell, parameter)
                    self._owners.setdefault(id(parameter), owner)
        return self._owners


def _kind(gradient: Statistics | None, largest: float) -> str:
    if gradient is None:
        return "none"
    if gradient.zeros == gradient.count:
        return "zeros"
    return "noise" if _scale(gradient) < _NOISE * largest else "some"


def _scale(figures: Statistics) -> float:
    """The root mean square."""
    return figures.norm / math.sqrt(figures.finite) if figures.finite else math.nan


def update_ratio(now: Any, before: Any) -> float | None:
    """The norm of a change by that of what was before; None where that was zero or something is not finite."""
    change, norm = _difference(now, before), statistics(before).norm
    return change / norm if norm > 0 and math.isfinite(change) else None


def _difference(now: Any, before: Any) -> float:
    """The norm of the difference; NaN where one of them is not finite."""
    with np.errstate(all="ignore"):
        figures = statistics(now - before if now.dtype.kind not in "biu" else now.astype(np.float64) - before)
    return figures.norm if figures.finite == figures.count else math.nan


def _alike(array: Any) -> bool:
    """Whether all rows are the same, but for rounding."""
    difference = abs(array - array[:1]).max(initial=0)
    return bool(difference <= _ROUNDING * abs(array).max(initial=0))
