"""Checks of a session: its conditions, the watchers that observe runs for them, and the findings.

Values are checked when they are captured (``examiner``). Parameters and the loss are checked at the end of a gradient
call (``updates``, ``loss_course``). Data, losses, modes, bprops and optimizers are checked by watchers with taps of
their own; and while NaN or Inf are checked for, another tap follows each operator (``provenance``). Taps are attached
only while a condition needs them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from hookscope.engine.tape import taps
from hookscope.engine.tensors.tensor import Tensor

from ...base.nearest_name import suggestion
from ..record.capture import cell_name
from ..record.counts import Counts
from .checks.comparison.comparison_checks import ComparisonsWatch
from .checks.data_checks import InputWatch, SamplesWatch
from .checks.loss.loss_checks import LossWatch
from .checks.loss.loss_course import LossCourse
from .checks.loss.loss_terms import LossTermsWatch
from .checks.loss.objective import ObjectiveWatch
from .checks.network.bprop_checks import BpropWatch
from .checks.network.copied_weights import CopiedWeightWatch
from .checks.network.growing_statistics import GrowingStatisticWatch
from .checks.network.held_cells import UnregisteredWatch
from .checks.network.network_checks import ModeWatch, StructureWatch
from .checks.optimizer.optimizer_checks import OptimizerWatch
from .checks.optimizer.optimizer_effects import OptimizerEffectsWatch
from .checks.optimizer.optimizer_inputs import OptimizerInputsWatch
from .checks.optimizer.optimizer_pairs import OptimizerPairsWatch
from .checks.optimizer.uncalled_optimizers import UncalledOptimizersWatch
from .checks.owners import Owners
from .checks.parameters.gradient_checks import GradientWatch
from .checks.parameters.initial_values import InitialValues
from .checks.parameters.updates import Updates
from .checks.parameters.use_checks import UseWatch
from .checks.watcher import Watcher, WatcherParts
from .condition_pauses import ConditionPauses
from .conditions import CONDITIONS, Condition
from .coverage import Coverage
from .examiner import Examiner
from .figures_by_step import History
from .findings import HitStore
from .finiteness import Finiteness
from .overflows import Overflows
from .provenance import Provenance
from .roles import Roles
from .selection import ConditionSelection

if TYPE_CHECKING:
    from hookscope.engine.nn import Optimizer
    from hookscope.engine.tensors.parameter import Parameter

    from ..events import Events
    from ..record.newest_values import NewestValues
    from ..record.ring import CaptureRing
    from ..session import DebugSession
    from ..stop.stepping.session_stepping import SessionStepping
    from ..watch.attachment import Attachment
    from ..watch.paths import CellPaths

__all__ = ["Checks"]

_W = TypeVar("_W", bound=Watcher)

WATCHERS: tuple[type[Watcher], ...] = (
    InputWatch,
    SamplesWatch,
    LossWatch,
    LossTermsWatch,
    ObjectiveWatch,
    ComparisonsWatch,
    GradientWatch,
    UseWatch,
    OptimizerWatch,
    OptimizerInputsWatch,
    OptimizerPairsWatch,
    OptimizerEffectsWatch,
    UncalledOptimizersWatch,
    ModeWatch,
    StructureWatch,
    UnregisteredWatch,
    CopiedWeightWatch,
    GrowingStatisticWatch,
    BpropWatch,
)
"""Classes of the watchers, which observe a run by taps of their own."""


class Checks:
    """Conditions of a session and their findings.

    Args:
        owner: the session, weakly.
        paths: the cells of the session.
        any_path: whether a path may belong to a cell that is not known yet.
        counts: the counters of steps and captures.
        captures: the ring buffer.
        attachment: the attachment of the session.
        newest: the newest outputs, by which a cell is known to have run.
        stepping: pauses.
        events: reports faults.

    Attributes:
        hit_store: the hits and findings.
        examiner: checks the conditions on captured values.
        roles: knows which cells a run trains.
        history: figures by step.
        provenance: knows the producers of NaN and infinities.
    """

    def __init__(
        self,
        owner: weakref.ref[DebugSession],
        paths: CellPaths,
        any_path: bool,
        counts: Counts,
        captures: CaptureRing,
        attachment: Attachment,
        newest: NewestValues,
        stepping: SessionStepping,
        events: Events,
    ) -> None:
        self._paths = paths
        self._any_path = any_path
        self._counts = counts
        self._captures = captures
        self._since = Counts()
        self._attached = False
        self._selection = ConditionSelection()
        self.history = History()
        self.hit_store = HitStore(captures)
        self._pauses = ConditionPauses(self._selection, self.hit_store, stepping, events)

        self._faults = events.faults
        self.provenance = Provenance(attachment, counts, self._pauses, events.faults)
        self._overflows = Overflows(self._selection, self.hit_store)
        self._finiteness = Finiteness(
            self._selection, self.hit_store, self._pauses, self.provenance, self._overflows, events
        )
        self.roles = Roles(paths)
        self.examiner = Examiner(self._selection, self.hit_store, self._pauses, self._finiteness, self.roles, events)
        self._owners = Owners(paths)
        self._loss_course = LossCourse(self.history, self.examiner, self._owners)
        initial = InitialValues(paths, self._owners, self.examiner)
        self.updates = Updates(paths, self._owners, initial, self.history, self._finiteness, newest, self.examiner)
        parts = WatcherParts(self.examiner, paths, attachment, counts, events)
        self._watchers = [watcher(parts) for watcher in WATCHERS]
        self.taps = (self.provenance, *self._watchers)
        self.updates.summed_calls = self._watcher(OptimizerInputsWatch).summed_calls
        self._overflows.loss_scales = self._watcher(OptimizerInputsWatch).newest_scales
        self.updates.rewrote = self._watcher(OptimizerEffectsWatch).rewrote
        self._at_steps: tuple[Callable[[], None], ...] = (
            self._finiteness.report_hidden,
            self._overflows.run_began,
            self._pauses.run_began,
            self.roles.run_began,
            self.examiner.run_began,
            self.updates.run_began,
            *(watcher.run_began for watcher in self._watchers if type(watcher).run_began is not Watcher.run_began),
        )
        for tap in self.taps:
            tap.owner = owner

    # Selection of conditions

    @property
    def conditions(self) -> dict[str, Condition]:
        """The checked conditions, by name."""
        return self._selection.conditions

    @property
    def pausing(self) -> set[str]:
        """The names of the conditions that the run pauses at."""
        return self._selection.pausing

    def add(self, condition: Condition, pause: bool = False) -> None:
        """Add a condition, replacing any of this name."""
        self._selection.add(condition, pause)
        self._changed()

    def remove(self, name: str) -> None:
        """Remove a condition.

        Raises:
            ValueError: there is no such condition.
        """
        if name not in self.conditions:
            raise ValueError(f"no condition {name!r} in this session{suggestion(name, self.conditions)}")
        self._selection.remove(name)
        self._changed()

    def _changed(self) -> None:
        self._since = replace(self._counts)
        if self._selection.values:
            self._captures.on_eviction = self.hit_store.forget
        if self._attached:
            self._attach_taps()

    def coverage(self) -> Coverage:
        """Return what was judged since the selection of conditions last changed, and what was not."""
        since, counts = self._since, self._counts
        judged = self._selection.judged()
        return Coverage(
            counts.steps - since.steps,
            counts.captures - since.captures,
            tuple(self.conditions),
            tuple(name for name in self.conditions if name not in judged),
            tuple(self.examiner.unchecked.values()),
            counts.trainings > since.trainings,
        )

    # Findings

    def clear(self) -> None:
        """Clear the findings so far."""
        self.hit_store.clear()
        self.provenance.take_new()

    def mute(self, name: str, path: str, reason: str = "") -> None:
        """Suppress findings and pauses of a condition in the cell at this path.

        Raises:
            ValueError: an unknown condition or cell.
        """
        conditions = {**CONDITIONS, **self.conditions}
        if name not in conditions:
            raise ValueError(f"mute: no condition {name!r}{suggestion(name, conditions)}")
        paths = [path for path, _ in self._paths]
        # Findings may be of operators outside the session's cells.
        reported_paths = [finding.path for finding in self.hit_store.findings()]
        if path not in paths and path not in reported_paths and not self._any_path:
            raise ValueError(f"mute: no cell {path!r} in this session{suggestion(path, paths)}")
        self.hit_store.mute(name, path, reason)

    def unmute(self, name: str, path: str) -> None:
        """Report a muted condition and pause at it again.

        Raises:
            ValueError: it is not muted.
        """
        if not self.hit_store.is_muted(name, path):
            muted = ", ".join(f"{mute.condition} in {cell_name(mute.path)}" for mute in self.hit_store.mutes)
            raise ValueError(f"unmute: {name} in {cell_name(path)} is not muted; muted: {muted or 'nothing'}")
        self.hit_store.unmute(name, path)

    def wrong_optimizer(self) -> tuple[Optimizer | None, set[int]]:
        """Return the optimizer with parameters other than the network's, and the ids of the requested parameters."""
        watch = self._watcher(OptimizerWatch)
        return None if watch.wrong is None else watch.wrong(), watch.requested

    def _objective_moves(self, requested: frozenset[int]) -> bool:
        """Return whether the loss of these weights, by their ids, need not fall."""
        return any(
            watcher.moves(requested) if isinstance(watcher, ObjectiveWatch) else watcher.weighs_by_advantages(requested)
            for watcher in self._watchers
            if isinstance(watcher, ObjectiveWatch | LossTermsWatch)
        )

    def _watcher(self, kind: type[_W]) -> _W:
        """Return the watcher of a class."""
        return next(watcher for watcher in self._watchers if isinstance(watcher, kind))

    # Taps

    def attach(self) -> None:
        """Attach the taps with the session."""
        self._attached = True
        self._attach_taps()

    def _attach_taps(self) -> None:
        """Attach exactly the taps that are needed."""
        (taps.attach if self._finiteness.is_active else taps.detach)(self.provenance)
        for watcher in self._watchers:
            serves = watcher.serves_nonfinite and self._finiteness.is_active
            is_used = serves or self._selection.includes(*watcher.shows)
            (taps.attach if is_used else taps.detach)(watcher)

    def detach(self) -> None:
        """Detach the taps with the session, after judging observations that wait for more steps."""
        self._attached = False
        for tap in self.taps:
            taps.detach(tap)
        for end in (
            self._finiteness.report_hidden,
            self._overflows.end_session,
            self.updates.settle,
            *(watcher.end_session for watcher in self._watchers),
            self.examiner.end_session,
        ):
            with self._faults.at(f"{_name(end)} at the end of the session"):
                end()

    # Notifications of the session

    def run_began(self) -> None:
        """Begin a run: a gradient call for weights, or a call of a root."""
        for begin in self._at_steps:
            try:
                begin()
            except Exception as error:
                if not self._faults.report_fault(f"{_name(begin)} at the beginning of a step", error):
                    raise

    def note_edit(self, parameter: Parameter, array: Any) -> None:
        """Note a manual edit of a parameter."""
        with self._faults.at("the conditions on updates"):
            self.updates.note_edit(parameter, array)

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Check a completed gradient call with weights."""
        step, faults = self._counts.steps, self._faults
        if self._finiteness.is_active:
            with faults.at("the search for a NaN in the loss and in gradients"):
                for value in values:
                    self._finiteness.check(value._array, "", "loss", "the loss", step, backward=True)
                for path, name, gradient in self._owners.gradients(pairs):
                    what = f"the gradient of {name}"
                    self._finiteness.check(gradient._array, path, name, what, step, backward=True)
        if taps.outer_recordings():
            return  # it is a part of a larger one
        requested = frozenset(id(parameter) for parameter, _ in pairs)
        with faults.at("the overflows of gradients"):
            self._overflows.differentiated(pairs)
        with faults.at("the course of the loss"):
            self._loss_course.differentiated(values, requested, self._objective_moves(requested), step)
        with faults.at("the conditions on gradients and updates"):
            self.updates.differentiated(pairs, requested, step)


def _name(method: Callable[[], None]) -> str:
    return f"{type(getattr(method, '__self__', None)).__name__}.{method.__name__}"
