"""Tap of the session: captures the values of a network, stops the run, and applies the user's edits.

The tap changes nothing unless the user edits a value. Captured values are separate tensors around the arrays that
pass. An exception leaves the tap only if the user aborts or interrupts the run, or if the user's own code raised it.

``_passes`` handles each moment of a call in a fixed order: check whether values are wanted (``watches``), collect the
tensors by slot (``stop.editing``), capture them and check conditions (``record.recorder``), stop
(``stop.cell_stops``), and capture edited values.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hookscope.engine.tape import taps
from hookscope.engine.tape.taps import CellCall, Gradients
from hookscope.engine.tensors.tensor import Tensor

from ..stop.cell_stops import edit_again
from ..stop.editing import Passing, slots_at

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.parameter import Parameter

    from ..diagnose.conditions import Hit
    from ..record.capture import Capture
    from ..record.recorder import Slots
    from ..stop.stops import Stops
    from .visits import Visit, Visits

__all__ = ["Observer", "Ports"]


@dataclass(frozen=True, eq=False)
class Ports:
    """Functions of the session that the observer calls.

    Attributes:
        stops: decide whether to stop.
        wants: return whether the values of a call are captured, forward or backward.
        on_values: capture values; return the captures, if requested, and the hits that request a pause.
        on_edit: capture values by which the user replaced captured ones.
        on_output: receive the path and the output of each call.
        on_gradients: receive the gradients of parameters.
        on_differentiated: receive each completed gradient call with weights.
        on_unplanned: receive each call that would run by a plan without an observer: the name and the JIT level of the
            compiled function.
    """

    stops: Stops
    wants: Callable[[Visit, str], bool]
    on_values: Callable[[Visit, str, Slots, str, str, bool], tuple[list[Capture], list[Hit]]]
    on_edit: Callable[[Visit, str, Slots, str, list[Capture]], None]
    on_output: Callable[[str, Any], None]
    on_gradients: Callable[[list[tuple[Parameter, Tensor]]], None]
    on_differentiated: Callable[[list[Tensor], list[tuple[Parameter, Tensor | None]]], None]
    on_unplanned: Callable[[str, str], None]


class Observer(taps.Tap):
    """Tap that a session attaches to the engine; each attachment has its own.

    Calls refer to the tap while gradients may reach them, so it must not keep the session's data alive.

    Args:
        owner: returns the session, or None when it is gone.
        visits: the registry of calls.
        ports: functions of the session; they are held weakly here, and by the session.
    """

    observes_bprop = True

    def __init__(self, owner: Callable[[], object | None], visits: Visits, ports: Ports) -> None:
        self.owner = owner
        self.visits = visits
        # The ports live as long as the session, which outlives every notification of the engine.
        self._ports: Callable[[], Ports] = weakref.ref(ports)  # type: ignore[assignment]  # which may return None

    def watches(self, net: Cell) -> bool:
        """Return whether a network is a root of the session."""
        return self.owner() is not None and any(root is net for root in self.visits.paths.roots)

    def forgives(self, method: str, error: Exception) -> bool:
        """Report a fault of the session in one of the tap's methods."""
        return self._ports().stops.pauses.faults.forgives(f"watching ({method})", error)

    # Notifications of the engine

    def cell_enter(self, call: CellCall) -> None:
        """Count the call and capture its inputs."""
        ports, visits = self._ports(), self.visits
        pauses = ports.stops.pauses
        if pauses.aborting and visits.path(call) is not None:
            pauses.end_by_abort()
        visit = visits.enter(call, None if call.repeats is None else call.repeats.get(self))
        if visit is not None:
            call.notes[self] = visit
            if (unplanned := taps.unplanned_call()) is not None:
                ports.on_unplanned(*unplanned)
            _passes(ports, visit, "forward_pre", "forward", call)

    def cell_exit(self, call: CellCall) -> None:
        """Capture its outputs."""
        visit: Visit | None = call.notes.get(self)
        try:
            if visit is not None:
                ports = self._ports()
                ports.on_output(visit.path, call.output)
                _passes(ports, visit, "forward", "forward", call)
        finally:
            self.visits.leave(visit, call)

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """End the call after an exception."""
        self.visits.leave(call.notes.get(self), call)

    def backward_enter(self, call: CellCall, grad_output: Gradients) -> Gradients | None:
        """Capture the gradients that arrive."""
        visit: Visit | None = call.notes.get(self)
        if visit is None:
            return None
        self.visits.arrive(visit)
        return _passes(self._ports(), visit, "backward_pre", "backward", call, grad_output)

    def backward_exit(self, call: CellCall, grad_input: Gradients) -> Gradients | None:
        """Capture the gradients that leave."""
        visit: Visit | None = call.notes.get(self)
        if visit is None:
            return None
        try:
            return _passes(self._ports(), visit, "backward", "backward", call, grad_input)
        finally:
            self.visits.leave(visit)

    def parameter_gradients(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        """Pass on the gradients of the weights."""
        if self.visits.own_run:
            self._ports().on_gradients(pairs)

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Pass on a completed gradient call with weights."""
        if self.visits.own_run:
            self._ports().on_differentiated(values, pairs)

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run a custom bprop, under the stepper if the session stops there."""
        return self._ports().stops.bprops.run(cell, function, args)


def _passes(
    ports: Ports, visit: Visit, moment: str, direction: str, call: CellCall, gradients: Gradients | None = None
) -> Gradients | None:
    """Capture the values, stop, and apply the user's edits; return replaced gradients, or None."""
    stops, first = ports.stops, visit.first
    is_captured = ports.wants(visit, direction)
    is_step_target = visit.depth <= stops.operators.next_stop.to_depth
    has_edits = first is not None and moment in first.edits
    if not (is_captured or is_step_target or has_edits or stops.breakpoints.all):
        return None
    context = visit.context if gradients is None else _in_walk(visit.context, call)
    if first is not None and has_edits:
        edit_again(first, visit, Passing(call, moment))
    slots = slots_at(call, moment, gradients)
    may_stop = is_step_target or bool(stops.breakpoints.all)
    captures, hits = ports.on_values(visit, direction, slots, "tap", context, may_stop) if is_captured else ([], [])
    if not (hits or may_stop):
        return None
    # A repeated call is the same call: it does not stop again at a moment at which it stopped the first time.
    if first is not None and moment in first.stopped:
        return None
    passing = Passing(call, moment, gradients)
    if not stops.cells.stop(visit, passing, slots, hits, is_step_target, context):
        return None
    if ports.wants(visit, direction):
        ports.on_edit(visit, direction, passing.slots(), context, captures)
    return passing.gradients


def _in_walk(context: str, call: CellCall) -> str:
    if call.order == call.pass_number == 1:
        return context
    parts = [context] if context else []
    if call.order > 1:
        parts.append(f"order {call.order}")
    if call.pass_number > 1:
        parts.append(f"walk {call.pass_number}")
    return ", ".join(parts)
