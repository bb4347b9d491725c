"""The session's tap: turns what passes in the network into captures, condition hits and pauses.

After a command at a cell, "into" stops at the next moment of any cell (or the first line of a custom bprop), "over"
at the next one that is not inside the cell, "out" at the next one of the cells around it.

It only looks. The values it keeps are tensors of their own around the arrays that pass; an exception leaves
it only if the user aborts or interrupts the run.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import hookscope.engine as engine
from hookscope.engine import taps
from hookscope.engine.taps import CellCall
from hookscope.engine.tensor import Tensor

from .bprop import BpropRun
from .capture import Capture, pick_slot
from .conditions import Hit, examine
from .paths import is_leaf
from .points import argument_names, place, point_at_cell

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.parameter import Parameter

    from .session import DebugSession

__all__ = ["Observer"]

# Calls whose gradients may still come; more than any recording of one step holds in practice.
_MAX_CALLS = 100_000


@dataclass(eq=False, slots=True)
class Visit:
    """One call of a known cell: where it is, in which step, which call of it in that step."""

    cell: Cell
    path: str
    step: int
    call: int
    depth: int = 0
    watched: frozenset[str] = frozenset()  # directions


# To which depth of calls the next moment of a cell is a stop, after a command at a cell.
_ANY_DEPTH = 1 << 30


class _PerThread(threading.local):
    root: CellCall | None = None
    stop_to_depth = -1
    bprop_depth = 0


class Observer(taps.Tap):
    """What a session attaches to the engine."""

    observes_bprop = True

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self._thread = _PerThread()
        self._counts: dict[int, int] = {}  # calls in this step, by the cell's id
        self._visits: OrderedDict[int, Visit] = OrderedDict()  # by the running number of the call
        self._going_back: dict[int, Visit] = {}  # the last visit that a gradient arrived at, by the cell's id
        self._looked_for_new_cells_in = -1
        self._seen: set[tuple[str, str]] = set()  # (spreading condition, direction) in this step
        self._shown_errors: set[int] = set()

    # What the engine tells

    def cell_enter(self, call: CellCall) -> None:
        """Count the call and keep its inputs."""
        visit = self._visit(call)
        if visit is None:
            return
        inputs = [*pick_slot("input", call.args, Tensor), *pick_slot("input", call.kwargs, Tensor)]
        self._moment(visit, "forward_pre", "forward", inputs, {"inputs": call.args, "keywords": call.kwargs})

    def cell_exit(self, call: CellCall) -> None:
        """Keep its outputs."""
        self._leave(call)
        visit = self._visits.get(call.index)
        if visit is None:
            return
        outputs = list(pick_slot("output", call.output, Tensor))
        self._session.shapes[visit.path] = ", ".join("x".join(map(str, t.shape)) or "()" for _, t in outputs)
        self._moment(visit, "forward", "forward", outputs, {"inputs": call.args, "output": call.output})

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """The call is over."""
        self._leave(call)

    def backward_enter(self, call: CellCall, grad_output: tuple[Tensor | None, ...]) -> None:
        """Keep the gradients that arrive."""
        visit = self._visits.get(call.index)
        if visit is not None:
            self._going_back[id(call.cell)] = visit
            found = [(f"grad_output[{i}]", g) for i, g in enumerate(grad_output) if g is not None]
            self._moment(visit, "backward_pre", "backward", found, {"grad_output": grad_output})

    def backward_exit(self, call: CellCall, grad_input: tuple[Tensor | None, ...]) -> None:
        """Keep the gradients that leave."""
        visit = self._visits.get(call.index)
        if visit is not None:
            found = [(f"grad_input[{i}]", g) for i, g in enumerate(grad_input) if g is not None]
            self._moment(visit, "backward", "backward", found, {"grad_input": grad_input})

    def parameter_gradients(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        """Keep the newest gradient of each parameter."""
        for parameter, gradient in pairs:
            self._session.gradients[id(parameter)] = Tensor._wrap(gradient._array)
        self._session.notify("changed")

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run a custom bprop, under the stepper if the session stops there."""
        session = self._session
        path = session.paths.path_of(cell)
        if path is None or not session.can_stop():
            return function(*args)
        with taps.muted():
            arguments = argument_names(function, args)
            values = [value for _, value in pick_slot("dout", args[-1:], Tensor)]
            visit = self._going_back.get(id(cell)) or Visit(cell, path, session.step, 0)
            names = {**self.names(visit), "value": values[0] if values else None}
            stands = self._breakpoint(path, "bprop", values, lambda: {**names, **arguments})
        if stands is None and not session.step_bprop and self._thread.stop_to_depth < _ANY_DEPTH:
            return function(*args)
        self._thread.stop_to_depth = -1
        reason = f"the bprop of {place(path)} begins" if stands is None else f"breakpoint {stands}"
        self._thread.bprop_depth += 1
        try:
            return BpropRun(path, "bprop", reason, names, session.pause_at, self._shown_errors).run(function, args)
        finally:
            self._thread.bprop_depth -= 1
            if not self._thread.bprop_depth:
                self._shown_errors.clear()

    # Steps and calls

    def _visit(self, call: CellCall) -> Visit | None:
        path = self._path(call)
        if path is None:
            return None
        session = self._session
        root = self._thread.root
        outermost = root is None or call.depth <= root.depth
        if outermost and any(call.cell is cell for cell in session.roots):
            self._thread.root = call
            session.step += 1
            self._counts.clear()
            self._seen.clear()
        number = self._counts.get(id(call.cell), 0)
        self._counts[id(call.cell)] = number + 1
        visit = self._visits[call.index] = Visit(call.cell, path, session.step, number, call.depth)
        if len(self._visits) > _MAX_CALLS:
            self._visits.popitem(last=False)
        if max(session.step - 1, 0) % session.every == 0:
            leaf = is_leaf(call.cell)
            visit.watched = frozenset(
                direction
                for direction in ("forward", "backward")
                if any(watch.covers(path, leaf, direction) for watch in session.watch)
            )
        return visit

    def _path(self, call: CellCall) -> str | None:
        session = self._session
        path = session.paths.path_of(call.cell)
        if path is None and call.depth == 0 and session.takes_roots:
            return session.paths.add_root(call.cell)
        if path is None and self._looked_for_new_cells_in != session.step:
            # Only once a step: a cell in a plain list is below no root, however often one looks.
            self._looked_for_new_cells_in = session.step
            session.paths.refresh()
            path = session.paths.path_of(call.cell)
        return path

    def _leave(self, call: CellCall) -> None:
        if self._thread.root is call:
            self._thread.root = None

    def visit_of_hook(self, cell: Cell, path: str, kind: str) -> Visit:
        """The visit that a hook of ``kind`` belongs to; it runs just before or after the tap hears of it."""
        if kind.startswith("backward") and id(cell) in self._going_back:
            return self._going_back[id(cell)]
        number = self._counts.get(id(cell), 0)
        return Visit(cell, path, self._session.step, max(number - (kind != "forward_pre"), 0))

    # Captures and pauses

    def keep(self, visit: Visit, direction: str, values: list[tuple[str, Tensor]], origin: str = "tap") -> list[Hit]:
        """Make captures of the values; returns the hits that ask for a pause."""
        session = self._session
        pausing: list[Hit] = []
        for slot, value in values:
            capture = Capture(
                session.next_index(), visit.step, visit.path, type(visit.cell).__name__, visit.call,
                direction, slot, Tensor._wrap(value._array), origin,
            )  # fmt: skip
            session.captures.append(capture)
            for hit in examine(capture, session.conditions) if session.conditions else ():
                capture.hits.append(hit.condition.name)
                session.keep_hit(hit)
                if not hit.condition.spreads:
                    pausing.append(hit)
                elif (hit.condition.name, direction) not in self._seen:
                    self._seen.add((hit.condition.name, direction))
                    pausing.append(hit)
        if values:
            session.notify("captured")
        return pausing

    def _moment(
        self,
        visit: Visit,
        moment: str,
        direction: str,
        slots: list[tuple[str, Tensor]],
        shown: dict[str, object],
    ) -> None:
        hits = self.keep(visit, direction, slots) if direction in visit.watched else []
        session = self._session
        stepped_to = visit.depth <= self._thread.stop_to_depth
        if not (hits or stepped_to or session.breakpoints):
            return
        values = [value for _, value in slots]
        names = {**self.names(visit), "value": values[0] if values else None}
        stands = self._breakpoint(visit.path, moment, values, lambda: names)
        reasons = [hit.message for hit in hits] + ([] if stands is None else [f"breakpoint {stands}"])
        if not reasons and stepped_to:
            reasons.append(f"stepped to {place(visit.path)}, {moment}")
        if not reasons:
            return
        kind = "condition" if hits else "breakpoint" if stands is not None else "pause"
        self._thread.stop_to_depth = -1
        point = point_at_cell(visit.cell, kind, "; ".join(reasons), visit.path, moment, names, shown)
        command = session.pause_or_abort(point)
        to_depth = {"into": _ANY_DEPTH, "over": visit.depth, "out": visit.depth - 1}
        self._thread.stop_to_depth = to_depth.get(command, -1)

    def names(self, visit: Visit) -> dict[str, object]:
        """The debugger's names for expressions, apart from the value."""
        return {"step": visit.step, "call": visit.call, "cell": visit.cell, "np": np, "ms": engine}

    def _breakpoint(self, path: str, moment: str, values: list[Tensor], scope: Callable[[], dict[str, object]]) -> Any:
        stands = None
        for candidate in tuple(self._session.breakpoints):
            if candidate.applies(path, moment):
                failed = candidate.error
                if candidate.holds(values, scope):
                    candidate.hits += 1
                    stands = stands or candidate
                elif candidate.error not in (None, failed):
                    self._session.say(f"breakpoint {candidate}: {candidate.error}; it does not stop")
        return stands
