"""The taps behind the conditions on the network: which mode its cells run in, and whether its bprops are right."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookscope.engine import nn
from hookscope.engine.tape import taps
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.tensor import Tensor

from ...record.capture import cell_name
from ...watch.roots import has_parameters
from ..conditions.network import BpropSeen, ModeSeen, SameNamesSeen, SharedSeen
from .watcher import Watched, Watcher

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.parameter import Parameter


__all__ = ["BpropWatch", "ModeWatch", "StructureWatch"]

# About how long the check of one bprop may take, and on how many elements of each value.
_SECONDS, _SAMPLES = 0.5, 16
# In which of the steps in which it runs.
_CHECKED = (1, 2, 10)
_CHECKED_UNTIL = max(_CHECKED)

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


class ModeWatch(Watcher):
    """Looks for BatchNorm and Dropout in the wrong mode.

    A network is trained where a gradient call asks for weights. So what runs in prediction mode is judged when that
    call ends: BatchNorm if its own weights were asked for, since a frozen one is meant so; Dropout if the whole network
    is in prediction mode. A forward pass in training mode that no gradient follows is wrong unless what it gave is used
    in a gradient call (a generator's samples), or it came before the first one (a look at the shapes).
    """

    shows = (ModeSeen,)
    observes_operators = True

    def __init__(self, watched: Watched) -> None:
        super().__init__(watched)
        self._running = _Running()
        self._passes: deque[_Pass] = deque(maxlen=_MAX_PASSES)
        self._predicting: dict[str, tuple[Cell, bool, int]] = {}  # by path: the cell, whether its root trains, the step
        self._recorded_roots: set[int] = set()
        self._together: set[int] = set()  # ids of networks of which one judges what the other one makes
        self._trained = False

    def cell_enter(self, call: CellCall) -> None:
        """Note the mode of a cell."""
        running, cell = self._running, call.cell
        outermost = not running.calls
        recorded = bool(taps.recordings_outside()) or (not outermost and running.calls[-1][1])
        if outermost:
            running.root_trains = bool(cell.training)
            # A part of the network that is called by itself may well make samples for the other one.
            running.forward = None if recorded or not self.is_root(cell) else _Pass(id(cell))
        running.calls.append((call.index, recorded))
        if recorded:
            self._recorded_roots.add(id(cell))
            self._use(call)
        trains = None if call.context else _mode(cell)
        place = None if trains is None else self._watched.place(call.index)
        if place is None:
            return
        if recorded and not trains:
            self._predicting[place[0]] = (cell, running.root_trains, self._watched.step())
        elif not recorded and trains and running.forward is not None:
            running.forward.offenders.append((place[0], type(cell).__name__, self._watched.step()))

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """A dropout that is called as a function: it runs in training mode, whatever its cell's."""
        running = self._running
        if name == "dropout" and running.calls and not running.calls[-1][1] and running.forward is not None:
            running.forward.offenders.append((self._watched.here(), name, self._watched.step()))

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
        predicting = self._predicting.copy() if asked else {}  # another thread may be noting more meanwhile
        for path, (cell, root_trains, step) in predicting.items():
            own = any(id(parameter) in asked for _, parameter in cell.parameters_and_names())
            if own or (isinstance(cell, _DROPOUTS) and not root_trains):
                self._tell(path, ModeSeen(type(cell).__name__, training=False, trained=True), step)
        networks = {id(root) for root in self._watched.roots() if has_parameters(root)} & self._recorded_roots
        if len(networks) > 1:
            self._together |= networks
        for forward in tuple(self._passes):
            if self._trained and forward.cell in self._recorded_roots:
                self._tell_pass(forward)
        self._passes.clear()
        self._predicting.clear()
        self._recorded_roots.clear()
        self._trained = True

    def ended(self) -> None:
        """The session ends: no gradient call follows."""
        for forward in tuple(self._passes):
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
        if forward.cell in self._together:
            return  # samples, made to be looked at as they are in training
        for path, cell_type, step in forward.offenders:
            self._tell(path, ModeSeen(cell_type, training=True, trained=False), step)

    def _tell(self, path: str, seen: ModeSeen, step: int) -> None:
        self._watched.look(seen, path, cell_name(path), step)


def _mode(cell: Cell) -> bool | None:
    """Whether a BatchNorm or Dropout is in training mode; None for one without modes, and for other cells."""
    if isinstance(cell, _BATCH_NORMS):
        return bool(cell.training) if getattr(cell, "use_batch_statistics", None) is None else None
    if isinstance(cell, _DROPOUTS):
        return bool(cell.training) if getattr(cell, "p", 0) else None
    return None


class StructureWatch(Watcher):
    """Looks at where in the network its cells stand, and how its parameters are named, when it first runs."""

    shows = (SharedSeen, SameNamesSeen)

    def __init__(self, watched: Watched) -> None:
        super().__init__(watched)
        self._looked = 0  # at so many roots

    def cell_enter(self, call: CellCall) -> None:
        """A cell is called; at the first one of a root, look."""
        new = self._watched.roots()[self._looked :]
        if not new:
            return
        self._looked += len(new)
        places: dict[int, list[str]] = {}
        for root in new:
            _places(root, self._watched.path(root) or "", places)
        for paths in places.values():
            if len(paths) > 1:
                self._watched.look(SharedSeen(paths), paths[0], cell_name(paths[0]), self._watched.step())
        for root in new:
            self._look_at_names(root)

    def _look_at_names(self, root: Cell) -> None:
        """Tell of names that several parameters have, or had until the call that is beginning named them by paths."""
        path, paths = self._watched.path(root) or "", dict[str, list[str]]()
        for place, parameter in root.parameters_and_names(name_prefix=path):
            paths.setdefault(parameter.__dict__.get("_shared_name", parameter.name), []).append(place)
        if any(len(places) > 1 for places in paths.values()):
            self._watched.look(SameNamesSeen(paths), path, cell_name(path), self._watched.step())


def _places(cell: Cell, path: str, places: dict[int, list[str]]) -> None:
    """Note at which paths each cell with parameters stands; what is inside one that stands twice is not told again."""
    known = places.setdefault(id(cell), [])
    known.append(path)
    if len(known) == 1:
        for name, inner in cell._cells.items():
            if inner is not None and next(iter(inner.get_parameters()), None) is not None:
                _places(inner, f"{path}.{name}" if path else name, places)


class BpropWatch(Watcher):
    """Checks each custom ``bprop`` on a copy of its cell: when it first runs, and in some later steps.

    What it saved in the first step may be what it still uses in the second.
    """

    shows = (BpropSeen,)
    observes_bprop = True

    def __init__(self, watched: Watched) -> None:
        super().__init__(watched)
        self._steps: weakref.WeakKeyDictionary[Cell, list[int]] = weakref.WeakKeyDictionary()  # in which each ran

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Run it, and check it."""
        path, step = self._watched.path(cell), self._watched.step()
        steps = self._steps.setdefault(cell, [])
        if path is not None and step not in steps[-1:] and len(steps) < _CHECKED_UNTIL:
            steps.append(step)
            if len(steps) in _CHECKED:
                with taps.muted():
                    self._check(cell, path, args[:-2])  # without the output and its gradient
        return function(*args)

    def _check(self, cell: Cell, path: str, inputs: tuple[Any, ...]) -> None:
        from ...compare.gradient_check import check_gradient
        from ...compare.side_effects import is_plain, side_effect

        outside = side_effect(cell) if is_plain(inputs) else "an argument that is no tensor"
        if outside:
            name = cell_name(path)
            self._watched.say(f"the bprop of {name} is not checked: the run of a copy of it may change {outside}", None)
            return
        try:
            found = check_gradient(cell, *inputs, samples=_SAMPLES, seconds=_SECONDS)
        except (Exception, SystemExit) as error:  # the user's code, run in another dtype: no fault of its own
            self._watched.say(f"the bprop of {cell_name(path)} is not checked: {type(error).__name__}: {error}", None)
            return
        worst = found.worst
        # A step function has no gradient to speak of: whatever stands for it is meant so, as in a straight-through one.
        meant = all(row.flat for row in found.rows if row.verdict == "wrong")
        difference = "" if meant or worst is None else f"for {worst.name}: {worst.reason}"
        self._watched.look(BpropSeen(difference), path, cell_name(path), self._watched.step())
