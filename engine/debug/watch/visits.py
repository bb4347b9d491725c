"""Visits: the calls of a session's cells, each with its path, its step and its number in that step.

A run begins with a gradient call for weights, or outside of one with the call of a root, unless that continues another
run: a repetition, the loss of a network, another network in the same gradient call. Which runs begin a step is in
``steps``.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

import hookscope.engine as engine
from hookscope.engine.autograd.backward import backward
from hookscope.engine.distributed.world import launcher_rank
from hookscope.engine.nn.calling import call_observed
from hookscope.engine.nn.optim.optimizer import Optimizer
from hookscope.engine.tape import taps
from hookscope.engine.tape.progress import safe_point
from hookscope.engine.tape.tape import active_observers

from .own_runs import OwnRuns
from .roots import has_parameters, is_loss, may_be_taken, network_around, networks_in, networks_of, owns_any
from .steps import TrainingSteps

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.tape import GradientComputation
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

    from ..events import Events
    from ..record.counts import Counts
    from ..stop.editing import Edit
    from ..stop.pause import PausePoint
    from .observer import Stages
    from .paths import CellPaths
    from .watches import Watches

__all__ = ["Visit", "Visits"]


@dataclass(eq=False, slots=True, weakref_slot=True)
class Visit:
    """One call of a known cell: its path, its step, and its number in that step.

    A repeated call (in a recomputed cell) has the step and the number of the first one; ``context`` describes its
    origin.
    """

    cell: Cell
    path: str
    step: int
    call: int
    depth: int = 0
    context: str = ""
    edits: dict[str, tuple[PausePoint, Sequence[Edit]]] = field(default_factory=dict)  # by moment
    stopped: set[str] = field(default_factory=set)  # the moments at which the call stopped
    first: Visit | None = None
    aborted: bool = False  # at a line inside it

    def names(self) -> dict[str, Any]:
        """Return the debugger's names for expressions, apart from ``value``."""
        return {
            "step": self.step,
            "call": self.call,
            "cell": self.cell,
            "rank": launcher_rank()[0],
            "np": np,
            "ms": engine,
        }

    def names_with(self, values: Sequence[Tensor]) -> dict[str, Any]:
        """Return the debugger's names and ``value``, the first of the values that pass."""
        return {**self.names(), "value": values[0] if values else None}


# Code on the stack during a run that a session may observe.
_RUNS = (call_observed.__code__, backward.__code__)


class _PerThread(threading.local):
    root: CellCall | None = None
    began_run: Callable[[], Cell | None] = staticmethod(lambda: None)  # the root whose call began the run
    computation: GradientComputation | None = None  # the newest own gradient call for weights

    def __init__(self) -> None:
        self.running: list[Visit] = []
        self.candidates: list[Cell] = []  # networks that the function of the newest gradient call leads to


class Visits:
    """Registry of visits from the session's attachment to its end.

    Args:
        paths: the cells of the session.
        counts: counters of steps.
        takes_roots: whether called networks become roots.
        watches: notified when inner cells may have been added.
        events: prints a message on too many networks.
    """

    def __init__(self, paths: CellPaths, counts: Counts, takes_roots: bool, watches: Watches, events: Events) -> None:
        self.paths = paths
        self._counts = counts
        self._takes_roots = takes_roots
        self._watches = watches
        self._events = events
        self._thread = _PerThread()
        self._runs = OwnRuns(paths.roots)
        self._training = TrainingSteps()
        self._steps_before = counts.steps  # of earlier runs of the session
        self._calls: dict[int, int] = {}  # calls in this step, by the cell's id
        # By the number of the call, which keeps the visit alive until no gradient can reach it. Dead references are
        # removed at each step: a dictionary of weak values removes them at once, and is slower.
        self._visits: dict[int, weakref.ref[Visit]] = {}
        self._going_back: dict[int, Visit] = {}  # the last visit that a gradient reached, by the cell's id
        self._searched = False
        self._cell_count = paths.count

    # Notifications of the observer

    def enter(self, call: CellCall, first: Visit | None, stages: Stages) -> Visit | None:
        """Register a call of a cell, which may begin a step; return None for cells outside the session.

        Args:
            call: the call.
            first: the visit of the call that this one repeats.
            stages: notified when a step has begun.
        """
        path = self.path(call)
        if path is None:
            if isinstance(call.cell, Optimizer):
                self._update(call.cell, stages)
            if not call.depth:
                self._runs.other_called(call.cell)
            return None
        if first is not None:
            visit = Visit(call.cell, path, first.step, first.call, first.depth, call.context, first=first)
        else:
            self._find_run(call, stages)
            number = self._calls.get(id(call.cell), 0)
            self._calls[id(call.cell)] = number + 1
            visit = Visit(call.cell, path, self._counts.steps, number, call.depth, call.context)
        self._visits[call.index] = weakref.ref(visit)
        self._thread.running.append(visit)
        return visit

    def arrive(self, visit: Visit) -> None:
        """Register gradients that reach the call."""
        self._going_back[id(visit.cell)] = visit
        self._thread.running.append(visit)

    def leave(self, visit: Visit | None, call: CellCall | None = None) -> None:
        """End the call, or the visit's backward pass if ``call`` is None."""
        thread = self._thread
        if call is not None and thread.root is call:
            thread.root = None
        running = thread.running
        if running and running[-1] is visit:
            running.pop()
        elif visit in running:  # an error ended the visits inside it
            del running[len(running) - 1 - running[::-1].index(visit) :]

    def leave_all(self) -> None:
        """End all visits of this thread, after an error that left a gradient call."""
        self._thread.running.clear()

    def path(self, call: CellCall) -> str | None:
        """Return the path of the called cell, which may have just joined the network or become a root."""
        paths = self.paths
        path = paths.path_of(call.cell)
        if path is None and call.depth == 0 and self._takes_roots:
            self._take_roots(network_around(call.cell, self._thread.candidates if self._in_gradient_call() else ()))
            return paths.path_of(call.cell)
        if path is None and not self._searched:
            # Once a run: a cell in a plain list is below no root, and every search would fail.
            self._searched = True
            paths.refresh()
            self._find_new_cells()
            path = paths.path_of(call.cell)
        return path

    def _find_new_cells(self) -> None:
        if self.paths.count != self._cell_count:
            self._cell_count = self.paths.count
            self._watches.reset()  # a cell with new inner cells is not a leaf any more

    def _take_roots(self, cell: Cell) -> None:
        paths = self.paths
        for network in networks_in(cell):
            if paths.path_of(network) is not None:
                continue
            if may_be_taken(network, paths.roots):
                paths.add_root(network)
                self._events.notify("changed")
            elif has_parameters(network):
                name = type(network).__name__
                self._events.say(f"the limit of watched networks is reached: this {name} is not watched", "networks")

    # Runs and steps

    def differentiate(
        self,
        computation: GradientComputation,
        function: Callable[..., Any],
        weights: Sequence[Parameter],
        stages: Stages,
    ) -> None:
        """Begin the run of an outermost gradient call for weights, which may begin a step."""
        if taps.outer_recordings():
            return
        if not self.is_own(weights):
            return
        if self._takes_roots:
            self._thread.candidates = networks_of(function, weights)
        self._runs.own_called()
        self._counts.trainings += 1
        self._thread.computation = computation
        self._begin_run(stages, self._training.begins(weights, self._counts.steps - self._steps_before))
        stages.checks.roles.differentiating(weights)

    def _update(self, optimizer: Optimizer, stages: Stages) -> None:
        """Begin the run of an optimizer's call, if it begins a step."""
        weights = optimizer.parameters
        if taps.outer_recordings() or not self.is_own(weights):
            return
        self._counts.trainings += 1
        if self._training.update_begins(weights, self._counts.steps - self._steps_before):
            self._begin_run(stages, True)

    def is_own(self, weights: Sequence[Parameter]) -> bool:
        """Return whether some of the weights belong to the session's networks, or their network may join them."""
        return self._takes_roots or owns_any(self.paths.roots, weights)

    def note_gradients(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        """Note the gradients of the weights at the end of a gradient call."""
        if not taps.outer_recordings():
            self._training.note_gradients(gradient for _, gradient in pairs)

    def _in_gradient_call(self) -> bool:
        """Return whether this thread runs the function of an own gradient call for weights, which is one run."""
        return self._thread.computation in active_observers

    def _find_run(self, call: CellCall, stages: Stages) -> None:
        thread = self._thread
        root = thread.root
        is_root = (root is None or call.depth <= root.depth) and any(call.cell is cell for cell in self.paths.roots)
        continues = is_root and self._continues_run(call.cell)
        if is_root or not call.depth:
            self._runs.own_called()
        if is_root:
            thread.root = call
            if not (call.continues or continues):
                if not self._in_gradient_call():
                    thread.began_run = weakref.ref(call.cell)
                    self._begin_run(stages, not self._training.has_begun)
                safe_point()

    def _continues_run(self, cell: Cell) -> bool:
        """Return whether a root continues a run: as the loss of another root, or in the same gradient call."""
        first_root = self._thread.began_run()
        if len(self.paths.roots) == 1 or first_root is None or first_root is cell:
            return False
        return self._runs.in_same_recording() or (has_parameters(first_root) and is_loss(cell))

    def _begin_run(self, stages: Stages, begins_step: bool) -> None:
        if begins_step:
            self._counts.steps += 1
            self._calls.clear()
        for index, reference in tuple(self._visits.items()):
            if reference() is None:
                self._visits.pop(index, None)
        self._thread.running.clear()
        self._searched = False
        self._find_new_cells()
        stages.run_began()

    # Queries

    @property
    def own_run(self) -> bool:
        """True if the current run of this thread belongs to the session's network, or to no network."""
        return bool(self._thread.running) or not self._runs.elsewhere

    def is_outermost_root(self, cell: Cell, depth: int) -> bool:
        """Return whether a call of this cell at this depth is one of a root that no call of a root contains."""
        root = self._thread.root
        return (root is None or depth <= root.depth) and any(cell is known for known in self.paths.roots)

    @property
    def in_root_call(self) -> bool:
        """True if this thread is inside a call of a root."""
        return self._thread.root is not None

    def running(self) -> Visit | None:
        """Return the innermost visit of this thread, forward or backward."""
        running = self._thread.running
        return running[-1] if running else None

    def all_running(self) -> list[Visit]:
        """Return the visits of this thread, the innermost last."""
        return self._thread.running

    def of_no_call(self, cell: Cell, path: str) -> Visit:
        """Return a visit for a cell without a known call."""
        return Visit(cell, path, self._counts.steps, 0)

    def inside(self) -> bool:
        """Return whether this thread is inside a call of a cell or a backward pass.

        The stack is inspected, since records of a call may outlive one that an error or an interrupt ended.
        """
        frame: FrameType | None = sys._getframe()
        while frame is not None and frame.f_code not in _RUNS:
            frame = frame.f_back
        return frame is not None

    def of_call(self, index: int) -> Visit | None:
        """Return the visit of the call with this number."""
        reference = self._visits.get(index)
        return None if reference is None else reference()

    def of_bprop(self, cell: Cell) -> Visit | None:
        """Return the visit whose gradient a cell's ``bprop`` computes."""
        return self._going_back.get(id(cell))

    def of_hook(self, cell: Cell, path: str, kind: str) -> Visit:
        """Return the visit of a hook of ``kind``; the hook runs just before or after the tap is notified."""
        if kind.startswith("backward") and id(cell) in self._going_back:
            return self._going_back[id(cell)]
        step, number = self._counts.steps, self._calls.get(id(cell), 0)
        if kind == "forward_pre":
            is_root = self._thread.root is None and any(cell is root for root in self.paths.roots)
            begins_step = is_root and not self._training.has_begun
            return Visit(cell, path, step + 1, 0) if begins_step else Visit(cell, path, step, number)
        return Visit(cell, path, step, max(number - 1, 0))
