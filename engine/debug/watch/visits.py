"""Visits: the calls of a session's cells, each with its path, its step and its number in that step.

A step begins with the call of a root, unless the call belongs to a run that is counted already: a repetition, a loss
beside its network, another network in the same gradient call.
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
from hookscope.engine.distributed.world import launched
from hookscope.engine.nn.calling import call_observed
from hookscope.engine.tape.progress import safe_point

from .own_runs import OwnRuns
from .roots import has_parameters, is_loss, may_be_taken, networks_in

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.tensor import Tensor

    from ..record.counts import Counts
    from ..stop.editing import Edit
    from ..stop.pause import PausePoint
    from .paths import CellPaths

__all__ = ["Visit", "Visits"]


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

    def names(self) -> dict[str, Any]:
        """The debugger's names for expressions, apart from the value."""
        return {"step": self.step, "call": self.call, "cell": self.cell, "rank": launched()[0], "np": np, "ms": engine}

    def names_with(self, values: Sequence[Tensor]) -> dict[str, Any]:
        """The same, and the first of the values that pass."""
        return {**self.names(), "value": values[0] if values else None}


# What is on the stack while something runs that a session may watch.
_RUNS = (call_observed.__code__, backward.__code__)


class _PerThread(threading.local):
    root: CellCall | None = None
    began_step: Callable[[], Cell | None] = staticmethod(lambda: None)  # the root whose call did

    def __init__(self) -> None:
        self.running: list[Visit] = []


class Visits:
    """The visits from when a session attaches to when it detaches.

    Args:
        paths: the cells of the session.
        counts: the steps are counted here.
        takes_roots: whether networks that are called become roots.
        say: told of networks that are too many, with what it is about.
        new_step: called when a step has begun.
        new_cells: called when there may be cells inside of others that were not there before.
    """

    def __init__(
        self,
        paths: CellPaths,
        counts: Counts,
        takes_roots: bool,
        say: Callable[[str, str], None],
        new_step: Callable[[], None],
        new_cells: Callable[[], None],
    ) -> None:
        self.paths = paths
        self._counts = counts
        self._takes_roots = takes_roots
        self._say = say
        self._new_step = new_step
        self._new_cells = new_cells
        self._thread = _PerThread()
        self._runs = OwnRuns(paths.roots)
        self._calls: dict[int, int] = {}  # calls in this step, by the cell's id
        # By the running number of the call, which holds them: until no gradient can come to it any more. Those that
        # are gone are taken out at each step: a dictionary of weak values does it at once, and takes longer.
        self._visits: dict[int, weakref.ref[Visit]] = {}
        self._going_back: dict[int, Visit] = {}  # the last visit that a gradient arrived at, by the cell's id
        self._looked_for_new_cells_in = -1
        self._cells_known = paths.count

    # What the observer tells

    def enter(self, call: CellCall, first: Visit | None) -> Visit | None:
        """A cell is called, again where there was a first time; None if it is none of the session's."""
        path = self.path(call)
        if path is None:
            if not call.depth:
                self._runs.other_called(call.cell)
            return None
        if first is not None:
            visit = Visit(call.cell, path, first.step, first.call, first.depth, call.context, first=first)
        else:
            self._look_for_step(call)
            number = self._calls.get(id(call.cell), 0)
            self._calls[id(call.cell)] = number + 1
            visit = Visit(call.cell, path, self._counts.steps, number, call.depth, call.context)
        self._visits[call.index] = weakref.ref(visit)
        self._thread.running.append(visit)
        return visit

    def arrive(self, visit: Visit) -> None:
        """Gradients arrive at the call."""
        self._going_back[id(visit.cell)] = visit
        self._thread.running.append(visit)

    def leave(self, visit: Visit | None, call: CellCall | None = None) -> None:
        """The call is over, or with None for it the way back through the visit."""
        thread = self._thread
        if call is not None and thread.root is call:
            thread.root = None
        running = thread.running
        if running and running[-1] is visit:
            running.pop()
        elif visit in running:  # what was inside it ended by an error
            del running[len(running) - 1 - running[::-1].index(visit) :]

    def path(self, call: CellCall) -> str | None:
        """The path of the cell that is called, which may just have come to the network, or be a root from now on."""
        paths = self.paths
        path = paths.path_of(call.cell)
        if path is None and call.depth == 0 and self._takes_roots:
            self._take_roots(call.cell)
            return paths.path_of(call.cell)
        if path is None and self._looked_for_new_cells_in != self._counts.steps:
            # Only once a step: a cell in a plain list is below no root, however often one looks.
            self._looked_for_new_cells_in = self._counts.steps
            paths.refresh()
            self._look_for_new_cells()
            path = paths.path_of(call.cell)
        return path

    def _look_for_new_cells(self) -> None:
        if self.paths.count != self._cells_known:
            self._cells_known = self.paths.count
            self._new_cells()  # a cell that got others inside is no leaf any more

    def _take_roots(self, cell: Cell) -> None:
        paths = self.paths
        for network in networks_in(cell):
            if paths.path_of(network) is not None:
                continue
            if may_be_taken(network, paths.roots):
                paths.add_root(network)
            elif has_parameters(network):
                name = type(network).__name__
                self._say(f"watches no more networks: this {name} is one too many", "networks")

    # Steps

    def _look_for_step(self, call: CellCall) -> None:
        thread = self._thread
        root = thread.root
        is_root = (root is None or call.depth <= root.depth) and any(call.cell is cell for cell in self.paths.roots)
        goes_on = is_root and self._goes_on(call.cell)
        if is_root or not call.depth:
            self._runs.own_called()
        if is_root:
            thread.root = call
            if not (call.continues or goes_on):
                thread.began_step = weakref.ref(call.cell)
                self._begin_step()

    def _goes_on(self, cell: Cell) -> bool:
        """Whether a root belongs to the step that another one began: as its loss, or in the same gradient call."""
        began = self._thread.began_step()
        if len(self.paths.roots) == 1 or began is None or began is cell:
            return False
        return self._runs.in_same_recording() or (has_parameters(began) and is_loss(cell))

    def _begin_step(self) -> None:
        self._counts.steps += 1
        for index, known in tuple(self._visits.items()):
            if known() is None:
                self._visits.pop(index, None)
        self._calls.clear()
        self._thread.running.clear()
        self._look_for_new_cells()
        self._new_step()
        safe_point()

    # What others ask

    @property
    def own_run(self) -> bool:
        """Whether what this thread runs now belongs to the session's network, or to nobody's."""
        return bool(self._thread.running) or not self._runs.elsewhere

    def running(self) -> Visit | None:
        """The innermost cell that this thread is in, forward or on the way back."""
        running = self._thread.running
        return running[-1] if running else None

    def of_no_call(self, cell: Cell, path: str) -> Visit:
        """Stands for a visit of a cell where none is known."""
        return Visit(cell, path, self._counts.steps, 0)

    def inside(self) -> bool:
        """Whether this thread is inside a call of a cell or a backward pass.

        Its stack tells: what was noted of a call may outlive one that an error or an interrupt ended.
        """
        frame: FrameType | None = sys._getframe()
        while frame is not None and frame.f_code not in _RUNS:
            frame = frame.f_back
        return frame is not None

    def of_call(self, index: int) -> Visit | None:
        """The visit of the call with this running number."""
        known = self._visits.get(index)
        return None if known is None else known()

    def of_bprop(self, cell: Cell) -> Visit | None:
        """The visit whose gradient a cell's ``bprop`` computes."""
        return self._going_back.get(id(cell))

    def of_hook(self, cell: Cell, path: str, kind: str) -> Visit:
        """The visit that a hook of ``kind`` belongs to; it runs just before or after the tap hears of it."""
        if kind.startswith("backward") and id(cell) in self._going_back:
            return self._going_back[id(cell)]
        step, number = self._counts.steps, self._calls.get(id(cell), 0)
        if kind == "forward_pre":
            begins = self._thread.root is None and any(cell is root for root in self.paths.roots)
            return Visit(cell, path, step + 1, 0) if begins else Visit(cell, path, step, number)
        return Visit(cell, path, step, max(number - 1, 0))
