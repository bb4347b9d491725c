"""Tap of the session, and the stages that each value passes.

The tap changes nothing unless the user edits a value. Captured values are separate tensors around the arrays that
pass. An exception leaves the tap only if the user aborts or interrupts the run, or if the user's own code raised it.

At each moment of a call, ``Stages.process`` makes a ``ValueEvent`` if a watch, a breakpoint or a step is about the
call. The event passes these stages in order: record (``record.recorder``), diagnose (``diagnose.examiner``), stop
(``stop.cell_stops``), edit (``stop.editor``). The recorder has each value examined as soon as it is recorded.

A NaN or an infinity may stop the run earlier, in the operator that made it: ``diagnose.provenance`` is another tap.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hookscope.engine.nn.learning_rate_schedule import LearningRateSchedule
from hookscope.engine.nn.optim.optimizer import Optimizer
from hookscope.engine.tape import taps
from hookscope.engine.tape.taps import CellCall, Gradients

from .value_event import ValueEvent, slots_at

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.tape import GradientComputation
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

    from ..diagnose.examiner import Examiner
    from ..diagnose.session_checks import Checks
    from ..events import Events
    from ..record.learning_rates import LearningRates
    from ..record.newest_values import NewestValues
    from ..record.recorder import Recorder
    from ..session import DebugSession
    from ..stop.editor import Editor
    from ..stop.stops import Stops
    from .eager_calls import EagerCalls
    from .visits import Visit, Visits
    from .watches import Watches

__all__ = ["Observer", "Stages"]


@dataclass(frozen=True, eq=False)
class Stages:
    """Stages that each value passes in this order, and the other parts of a session that are notified of a run.

    Attributes:
        watches: decide whether a value is captured.
        recorder: the stage "record", which makes captures.
        examiner: the stage "diagnose", which checks the conditions on captures.
        stops: the stage "stop", which stops at breakpoints, hits and the ends of steps.
        editor: the stage "edit", which applies the user's edits.
        checks: the conditions on parameters and losses, and the watchers.
        newest: the newest outputs and gradients.
        eager_calls: the compiled functions that run eagerly.
        learning_rates: reads the learning rates of updates.
        events: notified of changes.
    """

    watches: Watches
    recorder: Recorder
    examiner: Examiner
    stops: Stops
    editor: Editor
    checks: Checks
    newest: NewestValues
    eager_calls: EagerCalls
    learning_rates: LearningRates
    events: Events

    def process(
        self, visit: Visit, moment: str, direction: str, call: CellCall, gradients: Gradients | None = None
    ) -> Gradients | None:
        """Pass the values at a moment of a call through the stages; return replaced gradients, or None."""
        first = visit.first
        if first is not None and moment in first.edits:
            self.editor.repeat(visit, moment, direction, call)
        stops = self.stops
        is_captured = self.watches.wants(visit, direction)
        breakpoints = stops.breakpoints
        may_stop = visit.depth <= stops.stepping.next_stop.to_depth or (breakpoints.all and breakpoints.at_values)
        if not (is_captured or may_stop):
            return None
        context = visit.context if gradients is None else _in_walk(visit.context, call)
        event = ValueEvent(visit, moment, direction, slots_at(call, moment, gradients), context, call, gradients)
        if is_captured:
            if not (may_stop or self.examiner.conditions):
                self.recorder.note(event)
                return None
            self.recorder.record(event, self.examiner)
        # A repeated call is the same call: it does not stop again at a moment at which it stopped the first time.
        if not (event.hits or may_stop) or (first is not None and moment in first.stopped):
            return None
        stops.cells.stop(event)
        if not event.edits:
            return None
        if self.watches.wants(visit, direction):
            self.editor.edit(event)
        return event.gradients

    def run_began(self) -> None:
        """Begin a run: a gradient call for weights, or a call of a root."""
        self.stops.pauses.run_began()
        self.stops.stepping.run_began()
        self.stops.failures.release()
        self.checks.run_began()


class Observer(taps.Tap):
    """Tap that a session attaches to the engine; each attachment has its own.

    Calls refer to the tap while gradients may reach them, so it must not keep the session's data alive.

    Args:
        owner: the session, weakly.
        visits: the registry of calls.
        stages: the stages of the session; they are held weakly here, and by the session.
    """

    observes_bprop = True

    def __init__(self, owner: weakref.ref[DebugSession], visits: Visits, stages: Stages) -> None:
        self.owner = self._session = owner
        self.visits = visits
        # The stages live as long as the session, which outlives every notification of the engine.
        self._stages: Callable[[], Stages] = weakref.ref(stages)  # type: ignore[assignment]  # which may return None

    def watches(self, net: Cell) -> bool:
        """Return whether a network is a root of the session."""
        return self.owner() is not None and any(root is net for root in self.visits.paths.roots)

    def report_fault(self, method: str, error: Exception) -> bool:
        """Report a fault of the session in one of the tap's methods."""
        return self._stages().stops.pauses.faults.report_fault(f"watching ({method})", error)

    # Notifications of the engine

    def cell_enter(self, call: CellCall) -> None:
        """Count the call and capture its inputs."""
        stages, visits = self._stages(), self.visits
        pauses = stages.stops.pauses
        if pauses.aborting and visits.path(call) is not None:
            pauses.end_by_abort()
        visit = visits.enter(call, None if call.repeats is None else call.repeats.get(self), stages)
        if visit is not None:
            call.notes[self] = visit
            if (eager_call := taps.current_eager_call()) is not None:
                stages.eager_calls.add(*eager_call)
            stages.process(visit, "forward_pre", "forward", call)

    def cell_exit(self, call: CellCall) -> None:
        """Capture its outputs."""
        visit: Visit | None = call.notes.get(self)
        if isinstance(call.cell, Optimizer | LearningRateSchedule):
            self._note_rate(call)
        try:
            if visit is not None:
                stages = self._stages()
                if visit.aborted:  # the user's code caught the exception
                    stages.stops.pauses.end_by_abort()
                stages.newest.output(visit.path, call.output)
                stages.process(visit, "forward", "forward", call)
        finally:
            self.visits.leave(visit, call)

    def _note_rate(self, call: CellCall) -> None:
        rates = self._stages().learning_rates
        if not isinstance(call.cell, Optimizer):
            rates.schedule_returned(call.cell, call.output)
        elif self.visits.is_own(call.cell.parameters):
            rates.updated(call.cell)

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """Stop at the exception, if there is a reason, and end the call."""
        visit: Visit | None = call.notes.get(self)
        try:
            # A RecursionError leaves no room for more calls inside.
            if not (call.depth and isinstance(error, RecursionError)):
                self._stages().stops.exceptions.left_cell(call.cell, call.args, call.depth, visit, error)
        finally:
            self.visits.leave(visit, call)
        session = self._session()  # outside of its blocks, an exception that ends a run is explained here
        if call.depth == 0 and session is not None and not session.in_block and isinstance(error, Exception):
            session.explain(error)

    def forward_pre_hook_error(self, cell: Cell, args: tuple[Any, ...], depth: int, error: BaseException) -> None:
        """Stop at the exception, if there is a reason."""
        self._stages().stops.exceptions.left_cell(cell, args, depth, None, error)

    def gradient_call_error(self, weights: Sequence[Parameter], error: BaseException) -> None:
        """Stop at the exception, if there is a reason."""
        self._stages().stops.exceptions.left_gradient_call(weights, error)

    def backward_enter(self, call: CellCall, grad_output: Gradients) -> Gradients | None:
        """Capture the gradients that arrive."""
        visit: Visit | None = call.notes.get(self)
        if visit is None:
            return None
        self.visits.arrive(visit)
        return self._stages().process(visit, "backward_pre", "backward", call, grad_output)

    def backward_exit(self, call: CellCall, grad_input: Gradients) -> Gradients | None:
        """Capture the gradients that leave."""
        visit: Visit | None = call.notes.get(self)
        if visit is None:
            return None
        try:
            return self._stages().process(visit, "backward", "backward", call, grad_input)
        finally:
            self.visits.leave(visit)

    def differentiating(
        self, computation: GradientComputation, function: Callable[..., Any], weights: Sequence[Parameter]
    ) -> None:
        """Begin the run of a gradient call for weights."""
        stages = self._stages()
        if stages.stops.pauses.aborting and self.visits.is_own(weights):
            stages.stops.pauses.end_by_abort()
        self.visits.differentiate(computation, function, weights, stages)

    def parameter_gradients(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        """Pass on the gradients of the weights."""
        if self.visits.own_run:
            stages = self._stages()
            self.visits.note_gradients(pairs)
            stages.newest.add_gradients(pairs)
            stages.events.notify("changed")

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Pass on a completed gradient call with weights."""
        if self.visits.own_run:
            self._stages().checks.differentiated(values, pairs)

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run a custom bprop, under the stepper if the session stops there."""
        return self._stages().stops.bprops.run(cell, function, args)


def _in_walk(context: str, call: CellCall) -> str:
    if call.order == call.pass_number == 1:
        return context
    parts = [context] if context else []
    if call.order > 1:
        parts.append(f"order {call.order}")
    if call.pass_number > 1:
        parts.append(f"walk {call.pass_number}")
    return ", ".join(parts)
