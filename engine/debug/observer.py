"""The session's tap: turns what passes in the network into captures, condition hits and pauses.

After a command at a cell, "into" stops at the next moment of any cell (or the first line of a custom bprop), "cell" too
but for that line, "over" at the next one that is not inside the cell, "out" at the next one of the cells around it, and
"operator" at the next operator.

It only looks, unless the user edits what passes. The values it keeps are tensors of their own around the arrays that
pass; an exception leaves it only if the user aborts or interrupts the run.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

import hookscope.engine as engine
from hookscope.engine import taps
from hookscope.engine.nn.calling import call_observed
from hookscope.engine.progress import safe_point
from hookscope.engine.recording import Recording
from hookscope.engine.taps import CellCall, Gradients
from hookscope.engine.tensor import Tensor

from .captures.capture import Capture, cell_name, pick_slot
from .conditions import Hit
from .own_runs import OwnRuns
from .paths import is_leaf
from .pausing.editing import Edit, Passing, slots_at
from .pausing.expression import value_of
from .pausing.operator_stops import OperatorStops
from .pausing.pause import OperatorRecord, PausePoint
from .pausing.points import argument_names, point_at_cell, point_at_stop
from .stepping.bprop import BpropRun
from .stepping.stepper import Stop
from .stepping.user_code import frame_to_show
from .taken_roots import has_parameters, is_loss, may_be_taken, networks_in

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.parameter import Parameter

    from .session import DebugSession

__all__ = ["Observer", "Visit"]


@dataclass(eq=False, slots=True, weakref_slot=True)
class Visit:
    """One call of a known cell: where it is, in which step, which call of it in that step.

    A call that is made again (in a recomputed cell) has the step and the number of the first time; ``context`` says
    how it came about.
    """

    cell: Cell
    path: str
    step: int
    call: int
    depth: int = 0
    context: str = ""
    edits: dict[str, tuple[PausePoint, list[Edit]]] = field(default_factory=dict)  # by moment
    stopped: set[str] = field(default_factory=set)  # at which moments
    first: Visit | None = None


# What is on the stack while something runs that a session may watch.
_RUNS = (call_observed.__code__, Recording.backward.__code__)

# To which depth of calls the next moment of a cell is a stop, after a command at a cell.
_ANY_DEPTH = 1 << 30


class _PerThread(threading.local):
    root: CellCall | None = None
    began_step: Callable[[], Cell | None] = staticmethod(lambda: None)  # the root whose call did
    stop_to_depth = -1
    stop_in_bprop = False
    stop_at_operator = False
    bprop_depth = 0

    def __init__(self) -> None:
        self.running: list[Visit] = []


class Observer(taps.Tap):
    """What a session attaches to the engine."""

    observes_bprop = True

    def __init__(self, session: DebugSession) -> None:
        self._of = self.owner = weakref.ref(session)
        self._thread = _PerThread()
        self._counts: dict[int, int] = {}  # calls in this step, by the cell's id
        # By the running number of the call, which holds them: until no gradient can come to it any more. Those that
        # are gone are taken out at each step: a dictionary of weak values does it at once, and takes longer.
        self._visits: dict[int, weakref.ref[Visit]] = {}
        self._going_back: dict[int, Visit] = {}  # the last visit that a gradient arrived at, by the cell's id
        self._watched: dict[int, frozenset[str]] = {}  # directions, by the cell's id
        self._looked_for_new_cells_in = -1
        self._shown_errors: list[BaseException] = []
        self._operators = OperatorStops(self.at_operator)
        self._operators.owner = self.owner
        self._runs = OwnRuns(session.roots)

    @property
    def _session(self) -> DebugSession:
        session = self._of()
        assert session is not None  # it lives as long as the engine tells something
        return session

    @property
    def own_run(self) -> bool:
        """Whether what this thread runs now belongs to the session's network, or to nobody's."""
        return bool(self._thread.running) or not self._runs.elsewhere

    @property
    def taps(self) -> tuple[taps.Tap, ...]:
        """All that may be attached on the session's behalf."""
        return self, self._operators

    def watches(self, net: Cell) -> bool:
        """Whether this is a root of the session."""
        session = self._of()
        return session is not None and any(root is net for root in session.roots)

    # What the engine tells

    def cell_enter(self, call: CellCall) -> None:
        """Count the call and keep its inputs."""
        if self._session.aborting and self._path(call) is not None:
            self._session.end_by_abort()
        visit = self._visit(call)
        if visit is None:
            if not call.depth:
                self._runs.other_called(call.cell)
            return
        self._thread.running.append(visit)
        self._moment(visit, "forward_pre", "forward", call)

    def cell_exit(self, call: CellCall) -> None:
        """Keep its outputs."""
        visit: Visit | None = call.notes.get(self)
        if visit is None:
            self._leave(call)
            return
        output = call.output
        self._session.shapes[visit.path] = (
            (output._array.shape,)
            if isinstance(output, Tensor)
            else tuple([t.shape for _, t in pick_slot("", output, Tensor)])
        )
        try:
            self._moment(visit, "forward", "forward", call)
        finally:
            self._leave(call)

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """The call is over."""
        self._leave(call)

    def backward_enter(self, call: CellCall, grad_output: Gradients) -> Gradients | None:
        """Keep the gradients that arrive."""
        visit: Visit | None = call.notes.get(self)
        if visit is None:
            return None
        self._going_back[id(call.cell)] = visit
        self._thread.running.append(visit)
        return self._moment(visit, "backward_pre", "backward", call, grad_output)

    def backward_exit(self, call: CellCall, grad_input: Gradients) -> Gradients | None:
        """Keep the gradients that leave."""
        visit: Visit | None = call.notes.get(self)
        if visit is None:
            return None
        try:
            return self._moment(visit, "backward", "backward", call, grad_input)
        finally:
            self._end(visit)

    def parameter_gradients(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        """Keep the newest gradient of each parameter, and what the parameter was when it came."""
        if not self.own_run:
            return
        for parameter, gradient in pairs:
            self._session.gradients[id(parameter)] = Tensor._wrap(gradient._array)
            self._session.before_update[id(parameter)] = parameter._array
        self._session.notify("changed")

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """A gradient call with weights has ended."""
        if self.own_run:
            self._session.checks.differentiated(values, pairs)

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run a custom bprop, under the stepper if the session stops there."""
        path = self._session.paths.path_of(cell)
        if path is None:
            return function(*args)
        with taps.in_context(f"in the bprop of {cell_name(path)}"):
            return self._run_bprop(cell, path, function, args)

    def _run_bprop(self, cell: Cell, path: str, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        session = self._session
        if not session.can_stop():
            return function(*args)
        with taps.muted():
            arguments = argument_names(function, args)
            values = [value for _, value in pick_slot("dout", args[-1:], Tensor)]
            visit = self._going_back.get(id(cell)) or Visit(cell, path, session.step, 0)
            names = {**self.names(visit), "value": values[0] if values else None}
            stands = self._breakpoint(path, "bprop", values, lambda: {**names, **arguments})
        if stands is None and not session.step_bprop and not self._thread.stop_in_bprop:
            return function(*args)
        self._forget_steps()
        reason = "the bprop begins" if stands is None else f"breakpoint {stands}"
        self._thread.bprop_depth += 1
        run = BpropRun(path, reason, names, self._pause_in_bprop, self._shown_errors, self._name_of)
        try:
            result = run.run(function, args)
        finally:
            self._thread.bprop_depth -= 1
            if not self._thread.bprop_depth:
                self._shown_errors.clear()
        if run.to_operator:  # none came before its end: the next one is outside
            self._obey("operator", visit)
        return result

    def _name_of(self, cell: Cell) -> str:
        return self._session.paths.path_of(cell) or type(cell).__name__

    def _pause_in_bprop(self, point: PausePoint) -> str:
        command = self._session.pause_at(point)
        if command != "cell":
            return command
        self._thread.stop_to_depth = _ANY_DEPTH
        return "continue"

    # Steps and calls

    def _visit(self, call: CellCall) -> Visit | None:
        path = self._path(call)
        if path is None:
            return None
        session = self._session
        thread = self._thread
        first: Visit | None = None if call.repeats is None else call.repeats.get(self)
        if first is not None:
            visit = Visit(call.cell, path, first.step, first.call, first.depth, call.context, first=first)
        else:
            root = thread.root
            is_root = (root is None or call.depth <= root.depth) and any(call.cell is cell for cell in session.roots)
            goes_on = is_root and self._goes_on(call.cell)
            if is_root or not call.depth:
                self._runs.own_called()
            if is_root:
                thread.root = call
                if not (call.continues or goes_on):
                    thread.began_step = weakref.ref(call.cell)
                    self._begin_step()
            number = self._counts.get(id(call.cell), 0)
            self._counts[id(call.cell)] = number + 1
            visit = Visit(call.cell, path, session.step, number, call.depth, context=call.context)
        call.notes[self] = visit
        self._visits[call.index] = weakref.ref(visit)
        return visit

    def _goes_on(self, cell: Cell) -> bool:
        """Whether a root belongs to the step that another one began: as its loss, or in the same gradient call."""
        roots, began = self._session.roots, self._thread.began_step()
        if len(roots) == 1 or began is None or began is cell:
            return False
        return self._runs.in_same_recording() or (has_parameters(began) and is_loss(cell))

    def _begin_step(self) -> None:
        self._session.begin_step()
        for index, known in tuple(self._visits.items()):
            if known() is None:
                self._visits.pop(index, None)
        self._counts.clear()
        self._thread.running.clear()
        self._session.checks.step_began()
        safe_point()

    def _watches(self, visit: Visit, direction: str) -> bool:
        return self._session.takes_step(visit.step) and direction in self._directions(visit.cell, visit.path)

    def _directions(self, cell: Cell, path: str) -> frozenset[str]:
        directions = self._watched.get(id(cell))
        if directions is None:
            leaf = is_leaf(cell)
            directions = self._watched[id(cell)] = frozenset(
                direction
                for direction in ("forward", "backward")
                if any(watch.covers(path, leaf, direction) for watch in self._session.watch)
            )
        return directions

    def watch_changed(self) -> None:
        """Other cells are watched from now on, also by calls that are under way."""
        self._watched.clear()

    def stops_changed(self) -> None:
        """Listen to operators exactly while there is a reason to."""
        wanted = self._thread.stop_at_operator or any(stop.operator for stop in self._session.breakpoints)
        if wanted and taps.attached(self):
            taps.attach(self._operators)
        else:
            taps.detach(self._operators)

    def _path(self, call: CellCall) -> str | None:
        session = self._session
        path = session.paths.path_of(call.cell)
        if path is None and call.depth == 0 and session.takes_roots:
            self._take_roots(call.cell)
            return session.paths.path_of(call.cell)
        if path is None and self._looked_for_new_cells_in != session.step:
            # Only once a step: a cell in a plain list is below no root, however often one looks.
            self._looked_for_new_cells_in = session.step
            session.paths.refresh()
            self._watched.clear()  # a cell that got others inside is no leaf any more
            path = session.paths.path_of(call.cell)
        return path

    def _take_roots(self, cell: Cell) -> None:
        paths = self._session.paths
        for network in networks_in(cell):
            if paths.path_of(network) is not None:
                continue
            if may_be_taken(network, paths.roots):
                paths.add_root(network)
            elif has_parameters(network):
                name = type(network).__name__
                self._session.say(f"watches no more networks: this {name} is one too many", once="networks")

    def _leave(self, call: CellCall) -> None:
        if self._thread.root is call:
            self._thread.root = None
        visit: Visit | None = call.notes.get(self)
        if visit is not None:
            self._end(visit)

    def _end(self, visit: Visit) -> None:
        running = self._thread.running
        if running and running[-1] is visit:
            running.pop()
        elif visit in running:  # what was inside it ended by an error
            del running[len(running) - 1 - running[::-1].index(visit) :]

    def running(self) -> Visit | None:
        """The innermost cell that this thread is in, forward or on the way back."""
        running = self._thread.running
        return running[-1] if running else None

    def inside(self) -> bool:
        """Whether this thread is inside a call of a cell or a walk back.

        Its stack tells: what was noted of a call may outlive one that an error or an interrupt ended.
        """
        frame: FrameType | None = sys._getframe()
        while frame is not None and frame.f_code not in _RUNS:
            frame = frame.f_back
        return frame is not None

    def visit_of(self, index: int) -> Visit | None:
        """The visit of the call with this running number."""
        known = self._visits.get(index)
        return None if known is None else known()

    def visit_of_bprop(self, cell: Cell) -> Visit | None:
        """The visit whose gradient a cell's ``bprop`` computes."""
        return self._going_back.get(id(cell))

    def visit_of_hook(self, cell: Cell, path: str, kind: str) -> Visit:
        """The visit that a hook of ``kind`` belongs to; it runs just before or after the tap hears of it."""
        if kind.startswith("backward") and id(cell) in self._going_back:
            return self._going_back[id(cell)]
        step, number = self._session.step, self._counts.get(id(cell), 0)
        if kind == "forward_pre":
            begins = self._thread.root is None and any(cell is root for root in self._session.roots)
            return Visit(cell, path, step + 1, 0) if begins else Visit(cell, path, step, number)
        return Visit(cell, path, step, max(number - 1, 0))

    # Captures and pauses

    def keep(
        self,
        visit: Visit,
        direction: str,
        values: list[tuple[str, Tensor]],
        origin: str = "tap",
        context: str | None = None,
        made: list[Capture] | None = None,
    ) -> list[Hit]:
        """Make captures of the values, and list them in ``made``; returns the hits that ask for a pause."""
        session = self._session
        pausing: list[Hit] = []
        if context is None:
            context = visit.context
        step, path, call, kind = visit.step, visit.path, visit.call, type(visit.cell).__name__
        look = session.checks.value if session.checks.conditions else None
        for slot, value in values:
            own = Tensor._wrap(value._array)
            capture = Capture(session.next_index(), step, path, kind, call, direction, slot, own, origin, context)
            session.captures.append(capture)
            if made is not None:
                made.append(capture)
            if look is not None:
                pausing += look(capture, lambda: self.names(visit))
        if values:
            session.notify("captured")
            if session.paused is None:
                safe_point()
        return pausing

    def _moment(
        self, visit: Visit, moment: str, direction: str, call: CellCall, gradients: Gradients | None = None
    ) -> Gradients | None:
        """Keep, stop, let the user edit; returns other gradients to go on with, or None."""
        session = self._session
        watches = self._watches(visit, direction)
        stepped_to = visit.depth <= self._thread.stop_to_depth
        replay = visit.first is not None and moment in visit.first.edits
        if not (watches or stepped_to or replay or session.breakpoints):
            return None
        context = visit.context if gradients is None else _in_walk(visit.context, call)
        if replay:
            self._edit_again(visit, moment, Passing(call, moment))
        slots = slots_at(call, moment, gradients)
        made: list[Capture] = []
        hits = self.keep(visit, direction, slots, context=context, made=made) if watches else []
        # A call that is made again is the same call: it stops again at no moment at which it did the first time.
        again = visit.first is not None and moment in visit.first.stopped
        if (hits or stepped_to or session.breakpoints) and not again:
            passing = Passing(call, moment, gradients)
            return self._stop(visit, moment, direction, slots, hits, stepped_to, passing, context, made)
        return None

    def _stop(
        self,
        visit: Visit,
        moment: str,
        direction: str,
        slots: list[tuple[str, Tensor]],
        hits: list[Hit],
        stepped_to: bool,
        passing: Passing,
        context: str,
        made: list[Capture],
    ) -> Gradients | None:
        values = [value for _, value in slots]
        names = {**self.names(visit), "value": values[0] if values else None}
        stands = self._breakpoint(visit.path, moment, values, lambda: names)
        reasons = [hit.message for hit in hits] + ([] if stands is None else [f"breakpoint {stands}"])
        if not reasons and stepped_to:
            reasons.append("stepped")
        if not reasons:
            return None
        if context:
            reasons.append(context)
        if stands is not None:
            names["passes"] = stands.passes
        kind = "condition" if hits else "breakpoint" if stands is not None else "pause"
        self._forget_steps()
        point = point_at_cell(visit.cell, kind, "; ".join(reasons), visit.path, moment, names, passing.values)
        point.passing = passing
        visit.stopped.add(moment)
        self._obey(self._session.pause_or_abort(point), visit)
        if not passing.edits:
            return None
        visit.edits[moment] = (point, passing.edits)
        if self._watches(visit, direction):
            self._keep_edits(visit, direction, passing.slots(), context, made)
        return passing.gradients

    def _keep_edits(
        self, visit: Visit, direction: str, slots: list[tuple[str, Tensor]], context: str, made: list[Capture]
    ) -> None:
        """What goes on takes the places of the captures that were made before the edit; what was not edited stays."""
        session = self._session
        before = {capture.slot: capture for capture in made}
        new: list[tuple[str, Tensor]] = []
        for slot, value in slots:
            capture = before.pop(slot, None)
            if capture is None:
                new.append((slot, value))
            elif capture.array is not value._array:
                own = Tensor._wrap(value._array)
                edited = replace(capture, value=own, origin="edit", _hits=None, _statistics=None)
                session.captures.replace(capture, edited)
                session.checks.value(edited, lambda: self.names(visit))
        for capture in before.values():
            session.captures.replace(capture, None)
        self.keep(visit, direction, new, "edit", context)
        session.notify("captured")

    def _edit_again(self, visit: Visit, moment: str, passing: Passing) -> None:
        # A hook would run in the second run too.
        assert visit.first is not None
        point, edits = visit.first.edits[moment]
        for edit in edits:
            value = edit.value
            if edit.expression is not None:
                found = [tensor for _, tensor in passing.slots()]
                names = {**point.names, **self.names(visit), "value": found[0] if found else None}
                with taps.recorded(taps.recordings_outside()):
                    value = value_of(edit.expression, {**names, **point.locals, "cell": visit.cell, **passing.values})
            passing.assign(edit.name, value, edit.expression)

    def _obey(self, command: str, visit: Visit | None) -> None:
        thread = self._thread
        depth = -1 if visit is None else visit.depth
        to_depth = {"into": _ANY_DEPTH, "cell": _ANY_DEPTH, "over": depth, "out": depth - 1}
        thread.stop_to_depth = to_depth.get(command, -1)
        thread.stop_in_bprop = command == "into"
        thread.stop_at_operator = command == "operator"
        self.stops_changed()

    def _forget_steps(self) -> None:
        self._obey("continue", None)

    def at_operator(self, name: str, direction: str, values: list[Tensor], shown: dict[str, Any]) -> None:
        """An operator ran: stop if it is time to."""
        session = self._session
        if session.paused is not None or not self.own_run or not session.can_stop():
            return
        visit = self.running() or Visit(session.roots[0], "", session.step, 0) if session.roots else None
        names = {**(self.names(visit) if visit else {}), **shown, "value": values[0] if values else None}
        stands = self._breakpoint(f"ops.{name}", direction, values, lambda: names, operator=True)
        if stands is None and not self._thread.stop_at_operator:
            return
        self._forget_steps()
        reason = f"operator {name} ran {direction}" if stands is None else f"breakpoint {stands}"
        kind = "pause" if stands is None else "breakpoint"
        path = "" if visit is None else visit.path
        frame = frame_to_show(sys._getframe(1))
        point = point_at_stop(Stop(frame, frame.f_lineno), kind, reason, path, "operator", names)
        point.operator = OperatorRecord(
            name, tuple(shown.get("inputs", ())), shown.get("output"), point.function, point.filename, point.line, path
        )
        self._obey(session.pause_or_abort(point), visit)

    def names(self, visit: Visit) -> dict[str, object]:
        """The debugger's names for expressions, apart from the value."""
        return {"step": visit.step, "call": visit.call, "cell": visit.cell, "np": np, "ms": engine}

    def _breakpoint(
        self,
        path: str,
        moment: str,
        values: list[Tensor],
        scope: Callable[[], dict[str, object]],
        operator: bool = False,
    ) -> Any:
        stands = None
        for candidate in tuple(self._session.breakpoints):
            if bool(candidate.operator) is operator and candidate.applies(path, moment):
                candidate.passes += 1
                failed = candidate.error
                if candidate.holds(values, scope):
                    candidate.hits += 1
                    stands = stands or candidate
                elif candidate.error not in (None, failed):
                    self._session.say(f"breakpoint {candidate}: {candidate.error}; it does not stop")
        return stands


def _in_walk(context: str, call: CellCall) -> str:
    parts = [context] if context else []
    if call.order > 1:
        parts.append(f"order {call.order}")
    if call.walk > 1:
        parts.append(f"walk {call.walk}")
    return ", ".join(parts)
