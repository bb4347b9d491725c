"""Taps for the conditions on the network: the modes of its cells, and its structure."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookscope.engine import nn
from hookscope.engine.nn.optim._existing import existing_optimizers
from hookscope.engine.tape import taps
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.tensor import Tensor

from ....record.capture import cell_name
from ....watch.roots import has_parameters
from ...conditions.network import ModeObservation, SameNamesObservation, SharedObservation
from ..watcher import Watcher, WatcherParts

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.parameter import Parameter


__all__ = ["ModeWatch", "StructureWatch"]

_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
_DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)

_MAX_PASSES = 100
# Passes in a row on the same inputs; two are a loss and an accuracy.
_SAMPLES = 3

# Names of cells that are copies of another, with weights of their own.
_COPIES = ("target", "teacher", "ema", "momentum", "average", "copy", "old", "frozen", "reference")


@dataclass(eq=False)
class _Pass:
    """One outermost call outside any gradient call, and the cells that ran in training mode in it."""

    cell: int
    inputs: list[weakref.ref[Any]]
    offenders: list[tuple[str, str, int]] = field(default_factory=list)  # path, class, step
    outputs: list[weakref.ref[Any]] = field(default_factory=list)
    count: int = 1  # of the passes in a row, up to this one, on the same inputs


class _Running(threading.local):
    def __init__(self) -> None:
        self.calls: list[tuple[int, bool]] = []  # index of the call, whether it is recorded
        self.root: Cell | None = None  # the outermost cell
        self.root_trains = False  # its mode when it was called
        self.forward: _Pass | None = None


class ModeWatch(Watcher):
    """Check for BatchNorm and Dropout in the wrong mode.

    A network is being trained if a gradient call requests weights. So cells in prediction mode are judged at the end of
    that call. A BatchNorm is reported if its own weights were requested, since prediction mode is intended for a frozen
    one. A Dropout is reported if the whole network is in prediction mode. A forward pass in training mode outside
    gradient calls is reported, with three exceptions: its output is used in a gradient call, like the samples of a
    generator, the pass came before the first gradient call, as for a look at the shapes, or it is one of three passes
    or more in a row that get the same inputs, as where predictions are sampled by dropout.
    """

    shows = (ModeObservation,)
    observes_operators = True

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._running = _Running()
        self._passes: deque[_Pass] = deque(maxlen=_MAX_PASSES)
        # By path: the cell, its root if that is in prediction mode, and the step.
        self._predicting: dict[str, tuple[Cell, Cell | None, int]] = {}
        self._recorded_roots: set[int] = set()
        self._together: set[int] = set()  # ids of networks of which one judges the output of the other
        self._latest: _Pass | None = None
        self._trained = False

    def cell_enter(self, call: CellCall) -> None:
        """Record the mode of a cell."""
        running, cell = self._running, call.cell
        outermost = not running.calls
        is_recorded = bool(taps.outer_recordings()) or (not outermost and running.calls[-1][1])
        if outermost:
            running.root, running.root_trains = cell, bool(cell.training)
            # A part of the network that is called alone may produce samples for another network.
            if is_recorded or not self.is_root(cell):
                running.forward = None
            else:
                inputs = [weakref.ref(tensor._array) for tensor in tensors_in((call.args, call.kwargs))]
                running.forward = _Pass(id(cell), inputs)
        running.calls.append((call.index, is_recorded))
        if is_recorded:
            self._recorded_roots.add(id(cell))
            self._use(call)
        is_training = None if call.context else _mode(cell)
        location = None if is_training is None else self._attachment.place_of(call.index)
        if location is None:
            return
        if is_recorded and not is_training:
            root = None if running.root_trains else running.root
            self._predicting[location[0]] = cell, root, self._counts.steps
        elif not is_recorded and is_training and running.forward is not None:
            running.forward.offenders.append((location[0], type(cell).__name__, self._counts.steps))

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Record a dropout that is called as a function: it runs in training mode, whatever its cell's mode."""
        running = self._running
        if name == "dropout" and running.calls and not running.calls[-1][1] and running.forward is not None:
            running.forward.offenders.append((self._attachment.here, name, self._counts.steps))

    def cell_exit(self, call: CellCall) -> None:
        """Record the end of a cell."""
        self._leave(call)
        forward = self._running.forward
        if not self._running.calls and forward is not None and forward.offenders:
            forward.outputs = [weakref.ref(tensor._array) for tensor in tensors_in(call.output)]
            self._add(forward)

    def _add(self, forward: _Pass) -> None:
        """Add a pass to those that will be judged, unless it and those before it sample a prediction."""
        latest, self._latest = self._latest, forward
        if latest is not None and _is_repeated(latest, forward):
            forward.count = latest.count + 1
        self._passes.append(forward)
        if forward.count >= _SAMPLES:
            for _ in range(min(forward.count if forward.count == _SAMPLES else 1, len(self._passes))):
                self._passes.pop()

    def cell_error(self, call: CellCall, error: BaseException) -> None:
        """Record the exception of a cell."""
        self._leave(call)

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Judge the cells of a completed gradient call, and the forward passes before it."""
        if taps.outer_recordings():
            return
        requested = {id(parameter) for parameter, _ in pairs if parameter.requires_grad}
        predicting = self._predicting.copy() if requested else {}  # another thread may be adding more meanwhile
        for path, (cell, root, step) in predicting.items():
            if isinstance(cell, _DROPOUTS):
                # It has no weights: the cell around it that has some is trained, or is a frozen teacher.
                is_trained = root is not None and _has_any(root, requested) and self._is_trained(path, requested)
            else:
                is_trained = _has_any(cell, requested)
            if is_trained:
                self._tell(path, ModeObservation(type(cell).__name__, training=False, trained=True), step)
        networks = {id(root) for root in self._paths.roots if has_parameters(root)} & self._recorded_roots
        if len(networks) > 1:
            self._together |= networks
        for forward in tuple(self._passes):
            if self._trained and forward.cell in self._recorded_roots:
                self._tell_pass(forward)
        self._passes.clear()
        self._predicting.clear()
        self._recorded_roots.clear()
        self._trained = True

    def end_session(self) -> None:
        """Judge the remaining passes at the end of the session: no gradient call follows."""
        for forward in tuple(self._passes):
            self._tell_pass(forward)
        self._passes.clear()

    def _use(self, call: CellCall) -> None:
        if self._passes:
            argument_ids = {id(tensor._array) for tensor in tensors_in((call.args, tuple(call.kwargs.values())))}
            for forward in tuple(self._passes):
                if any(id(output()) in argument_ids for output in forward.outputs):
                    self._passes.remove(forward)

    def _leave(self, call: CellCall) -> None:
        calls = self._running.calls
        while calls and calls[-1][0] >= call.index:
            calls.pop()

    def _is_trained(self, path: str, requested: set[int]) -> bool:
        """Return whether weights of the nearest cell with parameters around a path were requested."""
        cells = dict(self._paths)
        while path:
            path = path.rpartition(".")[0]
            cell = cells.get(path)
            if cell is not None and has_parameters(cell):
                return _has_any(cell, requested)
        return True

    def _tell_pass(self, forward: _Pass) -> None:
        if forward.cell in self._together:
            return  # samples, generated for display in training mode
        for path, cell_type, step in forward.offenders:
            self._tell(path, ModeObservation(cell_type, training=True, trained=False), step)

    def _tell(self, path: str, observation: ModeObservation, step: int) -> None:
        self._examiner.observe(observation, path, cell_name(path), step)


def _is_repeated(first: _Pass, second: _Pass) -> bool:
    """Return whether two passes ran one network on the same inputs."""
    if first.cell != second.cell or not second.inputs or len(first.inputs) != len(second.inputs):
        return False
    return all(before() is after() for before, after in zip(first.inputs, second.inputs, strict=True))


def _has_any(cell: Cell, ids: set[int]) -> bool:
    return any(id(parameter) in ids for parameter in cell.get_parameters())


def _mode(cell: Cell) -> bool | None:
    """Return whether a BatchNorm or Dropout is in training mode; None for one without modes, and for other cells."""
    if isinstance(cell, _BATCH_NORMS):
        return bool(cell.training) if getattr(cell, "use_batch_statistics", None) is None else None
    if isinstance(cell, _DROPOUTS):
        return bool(cell.training) if getattr(cell, "p", 0) else None
    return None


class StructureWatch(Watcher):
    """Check of shared cells and of the names of parameters, when the network first runs.

    A cell that is passed to several parents is shared on purpose, as is one that stands beside itself and gets
    different inputs, as in a Siamese network. It is a mistake where it stands several times in a list, gets one input
    twice, or has the name of a copy.
    """

    shows = (SharedObservation, SameNamesObservation)

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._root_count = 0  # the number of checked roots
        self._shared: dict[int, list[str]] = {}  # paths of cells beside themselves, by the cell's id
        self._inputs: dict[int, weakref.ref[Any]] = {}  # the newest input of each of these

    def cell_enter(self, call: CellCall) -> None:
        """Check new roots at their first call, and the inputs of shared cells."""
        new_roots = self._paths.roots[self._root_count :]
        if new_roots:
            self._check_roots(new_roots)
        paths = self._shared.get(id(call.cell)) if self._shared else None
        if paths is not None:
            array = next((tensor._array for tensor in tensors_in(call.args)), None)
            previous = self._inputs.get(id(call.cell))
            if previous is not None and array is not None and previous() is array:
                self._tell_shared(paths)
                del self._shared[id(call.cell)]
            elif array is not None:
                self._inputs[id(call.cell)] = weakref.ref(array)

    def run_began(self) -> None:
        """Begin a run: inputs of different runs are not compared."""
        self._inputs.clear()

    def _check_roots(self, new_roots: list[Cell]) -> None:
        self._root_count += len(new_roots)
        paths_by_cell: dict[int, list[str]] = {}
        for root in new_roots:
            _collect_paths(root, self._paths.path_of(root) or "", paths_by_cell)
        cells = dict(self._paths)
        for key, paths in paths_by_cell.items():
            siblings = _siblings(paths)
            if len(siblings) < 2:
                continue
            parent = cells.get(siblings[0].rpartition(".")[0])
            if isinstance(parent, nn.CellList | nn.SequentialCell) or any(map(_is_copy, siblings)):
                self._tell_shared(paths)
            else:
                self._shared[key] = paths
        for root in new_roots:
            self._check_names(root)

    def _tell_shared(self, paths: list[str]) -> None:
        self._examiner.observe(SharedObservation(paths), paths[0], cell_name(paths[0]), self._counts.steps)

    def _check_names(self, root: Cell) -> None:
        """Report names of several parameters, or former ones if the current call just renamed them by paths.

        If optimizers have them, and each has parameters of different names, the root only holds several networks.
        """
        path, paths = self._paths.path_of(root) or "", dict[str, list[str]]()
        keys: dict[str, list[int]] = {}
        for name, parameter in root.parameters_and_names(name_prefix=path):
            own_name = parameter.__dict__.get("_shared_name", parameter.name)
            paths.setdefault(own_name, []).append(name)
            keys.setdefault(own_name, []).append(id(parameter))
        if _are_kept_apart([ids for ids in keys.values() if len(ids) > 1]):
            return
        if any(len(parameter_names) > 1 for parameter_names in paths.values()):
            self._examiner.observe(SameNamesObservation(paths), path, cell_name(path), self._counts.steps)


def _are_kept_apart(groups: list[list[int]]) -> bool:
    """Return whether optimizers hold parameters of these groups, and none holds two of one group."""
    held = [set(map(id, optimizer.parameters)) for optimizer in existing_optimizers()]
    counts = [len(ids.intersection(group)) for group in groups for ids in held]
    return max(counts, default=0) == 1


def _siblings(paths: list[str]) -> list[str]:
    """Return the paths with the parent that most of them have."""
    by_parent: dict[str, list[str]] = {}
    for path in paths:
        by_parent.setdefault(path.rpartition(".")[0], []).append(path)
    return max(by_parent.values(), key=len)


def _is_copy(path: str) -> bool:
    """Return whether the name of a cell says that it holds weights of its own, as those of a target network."""
    name = path.rpartition(".")[2].lower()
    return any(word in name for word in _COPIES)


def _collect_paths(cell: Cell, path: str, paths_by_cell: dict[int, list[str]]) -> None:
    """Collect the paths of each cell with parameters; inner cells of a shared cell are listed once."""
    cell_paths = paths_by_cell.setdefault(id(cell), [])
    cell_paths.append(path)
    if len(cell_paths) == 1:
        for name, inner in cell._cells.items():
            if inner is not None and next(iter(inner.get_parameters()), None) is not None:
                _collect_paths(inner, f"{path}.{name}" if path else name, paths_by_cell)
