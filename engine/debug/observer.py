"""The session's tap: what passes in the network is captured, stopped at, and goes on as the user edited it.

It only looks, unless the user edits what passes. The values it keeps are tensors of their own around the arrays that
pass; an exception leaves it only if the user aborts or interrupts the run.

What passes at a moment of a call takes one way, in ``_passes``: is it wanted (``watches``), its tensors by slot
(``pausing.editing``), captures with the conditions tried on them (``captures.capturing``), a stop
(``pausing.cell_stops``), and captures of what was edited there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hookscope.engine import taps
from hookscope.engine.taps import CellCall, Gradients
from hookscope.engine.tensor import Tensor

from .pausing.bprop_stops import BpropStops
from .pausing.cell_stops import CellStops, edit_again
from .pausing.editing import Passing, slots_at
from .pausing.operator_stops import OperatorStops

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.parameter import Parameter

    from .captures.capture import Capture
    from .captures.capturing import Slots
    from .conditions import Hit
    from .pausing.breakpoints import Breakpoints
    from .pausing.pauses import Pauses
    from .visits import Visit, Visits

__all__ = ["Observer", "Ports"]


@dataclass(frozen=True)
class Ports:
    """What the observer asks a session, and tells it.

    Attributes:
        wants: whether captures are made of what passes in a call, forward or backward.
        on_values: captures values; returns the captures, and the hits that ask for a pause.
        on_edit: captures what the user put in the place of captured values.
        on_output: told of the path and the output of each call.
        on_gradients: told of the gradients of parameters.
        on_differentiated: told of each gradient call with weights that has ended.
    """

    wants: Callable[[Visit, str], bool]
    on_values: Callable[[Visit, str, Slots, str, str], tuple[list[Capture], list[Hit]]]
    on_edit: Callable[[Visit, str, Slots, str, list[Capture]], None]
    on_output: Callable[[str, Any], None]
    on_gradients: Callable[[list[tuple[Parameter, Tensor]]], None]
    on_differentiated: Callable[[list[Tensor], list[tuple[Parameter, Tensor | None]]], None]


class Observer(taps.Tap):
    """What a session attaches to the engine, anew each time.

    Args:
        owner: gives the session; None when it is gone.
        visits: knows the calls.
        ports: the session.
        breakpoints: where to stop.
        pauses: whom to ask then.
    """

    observes_bprop = True

    def __init__(
        self,
        owner: Callable[[], object | None],
        visits: Visits,
        ports: Ports,
        breakpoints: Breakpoints,
        pauses: Pauses,
    ) -> None:
        self.owner = owner
        self.visits = visits
        self._ports = ports
        self._breakpoints = breakpoints
        self._pauses = pauses
        self._operators = OperatorStops(owner, visits, breakpoints, pauses)
        self._next_stop = self._operators.next_stop
        self._cells = CellStops(breakpoints, pauses, self._operators)
        self._bprops = BpropStops(visits, breakpoints, pauses, self._operators)

    @property
    def taps(self) -> tuple[taps.Tap, ...]:
        """All that may be attached on the session's behalf."""
        return self, self._operators

    @property
    def attached(self) -> bool:
        """Whether the engine tells it something now."""
        return taps.attached(self)

    def attach(self) -> None:
        """Watch from now on."""
        taps.attach(self)
        self._operators.watch(True)

    def detach(self) -> None:
        """Watch no more."""
        taps.detach(self)
        self._operators.watch(False)

    def breakpoints_changed(self) -> None:
        """There may be other operators to stop at."""
        self._operators.listen()

    def watches(self, net: Cell) -> bool:
        """Whether this is a root of the session."""
        return self.owner() is not None and any(root is net for root in self.visits.paths.roots)

    # What the engine tells

    def cell_enter(self, call: CellCall) -> None:
        """Count the call and capture its inputs."""
        if self._pauses.aborting and self.visits.path(call) is not None:
            self._pauses.end_by_abort()
        visit = self.visits.enter(call, None if call.repeats is None else call.repeats.get(self))
        if visit is not None:
            call.notes[self] = visit
            self._passes(visit, "forward_pre", "forward", call)

    def cell_exit(self, call: CellCall) -> None:
        """Capture its outputs."""
        visit: Visit | None = call.notes.get(self)
        try:
            if visit is not None:
                self._ports.on_output(visit.path, call.output)
                self._passes(visit, "forward", "forward", call)
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
        return self._passes(visit, "backward_pre", "backward", call, grad_output)

    def backward_exit(self, call: CellCall, grad_input: Gradients) -> Gradients | None:
        """Capture the gradients that leave."""
        visit: Visit | None = call.notes.get(self)
        if visit is None:
            return None
        try:
            return self._passes(visit, "backward", "backward", call, grad_input)
        finally:
            self.visits.leave(visit)

    def parameter_gradients(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        """The gradients of the weights have come."""
        if self.visits.own_run:
            self._ports.on_gradients(pairs)

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """A gradient call with weights has ended."""
        if self.visits.own_run:
            self._ports.on_differentiated(values, pairs)

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run a custom bprop, under the stepper if the session stops there."""
        return self._bprops.run(cell, function, args)

    # The way of what passes

    def _passes(
        self, visit: Visit, moment: str, direction: str, call: CellCall, gradients: Gradients | None = None
    ) -> Gradients | None:
        """Capture what passes, stop, let the user edit; returns other gradients to go on with, or None."""
        ports, first, breakpoints = self._ports, visit.first, self._breakpoints
        wanted = ports.wants(visit, direction)
        stepped_to = visit.depth <= self._next_stop.to_depth
        again = first is not None and moment in first.edits
        if not (wanted or stepped_to or again or breakpoints.all):
            return None
        context = visit.context if gradients is None else _in_walk(visit.context, call)
        if first is not None and again:
            edit_again(first, visit, Passing(call, moment))
        slots = slots_at(call, moment, gradients)
        made, hits = ports.on_values(visit, direction, slots, "tap", context) if wanted else ([], [])
        if not (hits or stepped_to or breakpoints.all):
            return None
        # A call that is made again is the same call: it stops again at no moment at which it did the first time.
        if first is not None and moment in first.stopped:
            return None
        passing = Passing(call, moment, gradients)
        if not self._cells.stop(visit, passing, slots, hits, stepped_to, context):
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
