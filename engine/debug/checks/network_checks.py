"""The taps behind the conditions on the network: which mode its cells run in, and whether its bprops are right."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookscope.engine import nn, taps
from hookscope.engine.nested import tensors_in
from hookscope.engine.tensor import Tensor

from ..captures.capture import cell_name
from ..conditions.network import BpropSeen, ModeSeen

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.parameter import Parameter
    from hookscope.engine.taps import CellCall

    from .training import Looks

__all__ = ["BpropWatch", "ModeWatch"]

# About how long the check of one bprop may take, and on how many elements of each value.
_SECONDS, _SAMPLES = 0.5, 16

_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
_DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)

_MAX_PASSES = 100


@dataclass(eq=False)
class _Pass:
    """One outermost call outside any gradient call, and what ran in training mode in it."""

    cell: int
    offenders: list[tuple[str, str, int]] = field(default_factory=list)  # path, class, step
    outputs: list[weakref.ref[Any]] = field(default_factory=list)


class _Running(threading.local):
    def __init__(self) -> None:
        self.calls: list[tuple[int, bool]] = []  # running number, whether it is recorded
        self.root_trains = False
        self.forward: _Pass | None = None


class ModeWatch(taps.Tap):
    """Looks for BatchNorm and Dropout in the wrong mode.

    A network is trained where a gradient call asks for weights. So what runs in prediction mode is judged when that
    call ends: BatchNorm if its own weights were asked for, since a frozen one is meant so; Dropout if the whole network
    is in prediction mode. A forward pass in training mode that no gradient follows is wrong unless what it gave is used
    in a gradient call (a generator's samples), or it came before the first one (a look at the shapes).

    Args:
        place: the path and the number of a call, from its running number; None if it is of no known cell.
        look: tries conditions.
        step: the number of the current step.
    """

    def __init__(
        self, place: Callable[[int], tuple[str, int] | None], look: Looks, step: Callable[[], int]
    ) -> None:
        self._place = place
        self._look = look
        self._step = step
        self._running = _Running()
        self._passes: deque[_Pass] = deque(maxlen=_MAX_PASSES)
        self._predicting: dict[str, tuple[Cell, bool, int]] = {}  # by path: the cell, whether its root trains, the step
        self._recorded_roots: set[int] = set()
        self._trained = False

    def cell_enter(self, call: CellCall) -> None:
        """Note the mode of a cell."""
        running, cell = self._running, call.cell
        outermost = not running.calls
        recorded = bool(taps.recordings_outside()) or (not outermost and running.calls[-1][1])
        if outermost:
            running.root_trains = bool(cell.training)
            running.forward = None if recorded else _Pass(id(cell))
        running.calls.append((call.index, recorded))
        if recorded:
            self._recorded_roots.add(id(cell))
            self._use(call)
        trains = None if call.context else _mode(cell)
        place = None if trains is None else self._place(call.index)
        if place is None:
            return
        if recorded and not trains:
            self._predicting[place[0]] = (cell, running.root_trains, self._step())
        elif not recorded and trains and running.forward is not None:
            running.forward.offenders.append((place[0], type(cell).__name__, self._step()))

    def cell_exit(self, call: CellCall) -> None:
        """A cell has run."""
        self._leave(call)
        forward = self._running.forward
        if not self._running.calls and forward is not None and forward.offenders:
            forward.outputs = [weakref.ref(t._array) for t in tensors_in(call.output)]
            self._passes.append(forward)

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """A cell raised."""
        self._leave(call)

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """A gradient call has ended: judge what ran in it, and the forward passes before it."""
        if taps.recordings_outside():
            return
        asked = {id(parameter) for parameter, _ in pairs if parameter.requires_grad}
        for path, (cell, root_trains, step) in self._predicting.items() if asked else ():
            own = any(id(parameter) in asked for _, parameter in cell.parameters_and_names())
            if own or (isinstance(cell, _DROPOUTS) and not root_trains):
                self._tell(path, ModeSeen(type(cell).__name__, training=False, trained=True), step)
        for forward in self._passes:
            if self._trained and forward.cell in self._recorded_roots:
                self._tell_pass(forward)
        self._passes.clear()
        self._predicting.clear()
        self._recorded_roots.clear()
        self._trained = True

    def ended(self) -> None:
        """The session ends: no gradient call follows."""
        for forward in self._passes:
            self._tell_pass(forward)
        self._passes.clear()

    def _use(self, call: CellCall) -> None:
        if self._passes:
            given = {id(t._array) for t in tensors_in((call.args, tuple(call.kwargs.values())))}
            for forward in tuple(self._passes):
                if any(id(output()) in given for output in forward.outputs):
                    self._passes.remove(forward)

    def _leave(self, call: CellCall) -> None:
        calls = self._running.calls
        while calls and calls[-1][0] >= call.index:
            calls.pop()

    def _tell_pass(self, forward: _Pass) -> None:
        for path, cell_type, step in forward.offenders:
            self._tell(path, ModeSeen(cell_type, training=True, trained=False), step)

    def _tell(self, path: str, seen: ModeSeen, step: int) -> None:
        self._look(("wrong_mode",), seen, path, cell_name(path), step)


def _mode(cell: Cell) -> bool | None:
    """Whether a BatchNorm or Dropout is in training mode; None for one without modes, and for other cells."""
    if isinstance(cell, _BATCH_NORMS):
        return bool(cell.training) if getattr(cell, "use_batch_statistics", None) is None else None
    if isinstance(cell, _DROPOUTS):
        return bool(cell.training) if getattr(cell, "p", 0) else None
    return None


class BpropWatch(taps.Tap):
    """Checks each custom ``bprop`` once, when it first runs, on a copy of its cell.

    Args:
        path: the path of a cell; None if it is not known.
        look: tries conditions.
        step: the number of the current step.
        say: says one line about a cell that cannot be checked.
    """

    observes_bprop = True

    def __init__(
        self, path: Callable[[Cell], str | None], look: Looks, step: Callable[[], int], say: Callable[[str], None]
    ) -> None:
        self._path = path
        self._look = look
        self._step = step
        self._say = say
        self._checked: weakref.WeakSet[Cell] = weakref.WeakSet()

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run it, and check it."""
        path = self._path(cell)
        if path is not None and cell not in self._checked:
            self._checked.add(cell)
            with taps.muted():
                self._check(cell, path, args[:-2])  # without the output and its gradient
        return function(*args)

    def _check(self, cell: Cell, path: str, inputs: tuple[Any, ...]) -> None:
        from ..comparing.gradient_check import check_gradient

        try:
            found = check_gradient(cell, *inputs, samples=_SAMPLES, seconds=_SECONDS)
        except Exception as error:  # the user's code, run in another dtype: what it raises there is no fault of its own
            self._say(f"the bprop of {cell_name(path)} is not checked: {type(error).__name__}: {error}")
            return
        worst = found.worst
        difference = "" if found.ok or worst is None else f"for {worst.name}: {worst.reason}"
        self._look(("wrong_bprop",), BpropSeen(difference), path, cell_name(path), self._step())
