"""The session's tap: what passes in the network is captured, stopped at, and goes on as the user edited it.

It only looks, unless the user edits what passes. The values it keeps are tensors of their own around the arrays that
pass; an exception leaves it only if the user aborts or interrupts the run, or if it is one of the user's own code.

What passes at a moment of a call takes one way, in ``_passes``: is it wanted (``watches``), its tensors by slot
(``stop.editing``), captures with the conditions tried on them (``record.recorder``), a stop
(``stop.cell_stops``), and captures of what was edited there.
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
    """What the observer asks a session, and tells it.

    Attributes:
        stops: decide whether to stop.
        wants: whether captures are made of what passes in a call, forward or backward.
        on_values: captures values; returns the captures, if they are wanted, and the hits that ask for a pause.
        on_edit: captures what the user put in the place of captured values.
        on_output: told of the path and the output of each call.
        on_gradients: told of the gradients of parameters.
        on_differentiated: told of each gradient call with weights that has ended.
        on_unplanned: told of a call that would be made by a plan if nobody watched: the name and the level of what is
            compiled.
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
    """What a session attaches to the engine, another one each time.

    Calls know it for as long as gradients may come to them, so it must not keep alive what the session has.

    Args:
        owner: gives the session; None when it is gone.
        visits: knows the calls.
        ports: the session, by which they are kept.
    """

    observes_bprop = True

    def __init__(self, owner: Callable[[], object | None], visits: Visits, ports: Ports) -> None:
        self.owner = owner
        self.visits = visits
        # They live as long as the session, and that as long as the engine tells something.
        self._ports: Callable[[], Ports] = weakref.ref(ports)  # type: ignore[assignment]  # which may give None

    def watches(self, net: Cell) -> bool:
        """Whether this is a root of the session."""
        return self.owner() is not None and any(root is net for root in self.visits.paths.roots)

    def forgives(self, method: str, error: Exception) -> bool:
        """Report a fault of the session in what it does when it is told something."""
        return self._ports().stops.pauses.faults.forgives(f"watching ({method})", error)

    # What the engine tells

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
        """The call is over."""
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
        """The gradients of the weights have come."""
        if self.visits.own_run:
            self._ports().on_gradients(pairs)

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """A gradient call with weights has ended."""
        if self.visits.own_run:
            self._ports().on_differentiated(values, pairs)

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run a custom bprop, under the stepper if the session stops there."""
        return self._ports().stops.bprops.run(cell, function, args)


def _passes(
    ports: Ports, visit: Visit, moment: str, direction: str, call: CellCall, gradients: Gradients | None = None
) -> Gradients | None:
    """Capture what passes, stop, let the user edit; returns other gradients to go on with, or None."""
    stops, first = ports.stops, visit.first
    wanted = ports.wants(visit, direction)
    stepped_to = visit.depth <= stops.operators.next_stop.to_depth
    again = first is not None and moment in first.edits
    if not (wanted or stepped_to or again or stops.breakpoints.all):
        return None
    context = visit.context if gradients is None else _in_walk(visit.context, call)
    if first is not None and again:
        edit_again(first, visit, Passing(call, moment))
    slots = slots_at(call, moment, gradients)
    may_stop = stepped_to or bool(stops.breakpoints.all)
    made, hits = ports.on_values(visit, direction, slots, "tap", context, may_stop) if wanted else ([], [])
    if not (hits or may_stop):
        return None
    # A call that is made again is the same call: it stops again at no moment at which it did the first time.
    if first is not None and moment in first.stopped:
        return None
    passing = Passing(call, moment, gradients)
    if not stops.cells.stop(visit, passing, slots, hits, stepped_to, context):
        return None
    if ports.wants(visit, direction):
        ports.on_edit(visit, direction, passing.slots(), context, made)
    return passing.gradients


def _in_walk(context: str, call: CellCall) -> str:
    if call.order == call.walk == 1:
        return context
    parts = [context] if context else []
    if call.order > 1:
        parts.append(f"order {call.order}")
    if call.walk > 1:
        parts.append(f"walk {call.walk}")
    return ", ".join(parts)
