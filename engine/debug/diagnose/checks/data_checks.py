"""What is seen of the data: what arrives at the first weights, batches of one, and whether samples are independent."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine import nn
from hookscope.engine.cpu.array_module import array_module
from hookscope.engine.tape import taps
from hookscope.engine.tape.tape import no_recording
from hookscope.engine.tensors.backend import to_host
from hookscope.engine.tensors.nested import replaced, tensors_in
from hookscope.engine.tensors.parameter import Parameter
from hookscope.engine.tensors.tensor import Tensor

from ...compare.isolated import IsolatedCell, held_tensors
from ...compare.side_effects import is_plain, side_effect
from ...record.capture import cell_name
from ..conditions.data import BatchSeen, InputSeen, SamplesSeen
from .watcher import Watched, Watcher

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.taps import CellCall

__all__ = ["InputWatch", "SamplesWatch"]

BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
_NORMALIZATIONS = (*BATCH_NORMS, nn.LayerNorm, nn.GroupNorm, nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)

# A larger network is not run once more for one condition.
_MOST_ELEMENTS = 1 << 22
# Samples leak in a cell where the change is at least this share of that in the network's outputs.
_AS_MUCH = 1e-3
# Nor are the inputs looked at for ever.
_STEPS = 10


class InputWatch(Watcher):
    """Looks at what the first cell with weights gets in a training step, and at how much BatchNorm has to go by."""

    shows = (InputSeen, BatchSeen)

    def __init__(self, watched: Watched) -> None:
        super().__init__(watched)
        self._looked = False
        self._steps = 0

    def step_began(self) -> None:
        """A root cell is called."""
        self._steps = 1 if self.has_new_root() else self._steps + 1
        self._looked = self._steps > _STEPS

    def cell_enter(self, call: CellCall) -> None:
        """Look at the arguments of a cell with weights of its own."""
        cell = call.cell
        place = None if call.context or not cell._params else self._watched.place(call.index)
        if place is None or not taps.recordings_outside():
            return
        values = [t._array for t in tensors_in(call.args) if t._array.dtype.kind in "fV" and t._array.size > 1]
        if isinstance(cell, BATCH_NORMS) and cell.training and values and values[0].ndim > 1:
            count = values[0].size // values[0].shape[1]
            self._watched.look(BatchSeen(count), place[0], cell_name(place[0]), self._watched.step())
        # An embedding gets numbers of things: what comes from elsewhere is looked at where it comes in.
        if self._looked or not values or not any(parameter is not None for parameter in cell._params.values()):
            return
        self._looked = True
        if not isinstance(cell, _NORMALIZATIONS):
            self._watched.look(_input(values[0]), "", "the inputs", self._watched.step())


def _input(array: Any) -> InputSeen:
    with np.errstate(all="ignore"):  # of which a user may have made errors
        numbers = to_host(array).astype(np.float32)
        numbers = np.where(np.isfinite(numbers), numbers, 0)
        features = numbers.reshape(-1, numbers.shape[-1]) if numbers.ndim == 2 else numbers.reshape(-1, 1)
        each = np.sqrt((features**2).mean(axis=0))
        return InputSeen(float(np.sqrt((numbers**2).mean())), float(each.max()), float(np.median(each)))


class SamplesWatch(Watcher):
    """Runs a copy of each root once more with another first sample, and looks whether the outputs of others change."""

    shows = (SamplesSeen,)
    observes_operators = True

    def __init__(self, watched: Watched) -> None:
        super().__init__(watched)
        self._tried: set[int] = set()
        self._pairs: set[int] = set()  # of so many things each operators have looked at pairs, in this run

    def cell_enter(self, call: CellCall) -> None:
        """A root begins."""
        if self.is_root(call.cell):
            self._pairs.clear()

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """An operator ran: note a matrix of pairs that it made of something else than weights."""
        if not isinstance(outputs, Tensor) or outputs.ndim != 2 or outputs.shape[0] != outputs.shape[1]:
            return
        given = [one for one in inputs if isinstance(one, Tensor)]
        count = outputs.shape[0]
        if len(given) == 2 and not any(isinstance(one, Parameter) for one in given):
            first, second = (one.shape for one in given)
            each_with_each = {first, second} == {(count, 1), (1, count)}
            if each_with_each or (name == "matmul" and (first[0], second[-1]) == (count, count) != second):
                self._pairs.add(count)

    def cell_exit(self, call: CellCall) -> None:
        """A root has run for the first time in a training step: see."""
        if id(call.cell) in self._tried or call.context or not self.is_root(call.cell):
            return
        path = self._watched.path(call.cell)
        given, made = tensors_in((call.args, call.kwargs)), tensors_in(call.output)
        if path is None or not given or not made or not taps.recordings_outside():
            return
        self._tried.add(id(call.cell))
        outside = side_effect(call.cell) if is_plain((call.args, call.kwargs)) else "an argument that is no tensor"
        if outside:
            name = cell_name(path)
            self._watched.say(f"samples_leak is not looked for in {name}: a run of a copy may change {outside}", None)
            return
        count = given[0].shape[0] if given[0].ndim else 0
        fits = all(tensor.ndim and tensor.shape[0] == count for tensor in (*given, *made))
        if count < 2 or not fits or sum(tensor.size for tensor in (*given, *made)) > _MOST_ELEMENTS:
            return
        held = [tensor for tensor in held_tensors(call.cell) if not isinstance(tensor, Parameter)]
        if count in self._pairs or any(tensor.shape == (count, count) for tensor in (*given, *made, *held)):
            return  # each sample is meant to know of the others: nodes of a graph, or pairs to tell apart
        with taps.muted():
            changes = _changes(call.cell, call.args, call.kwargs)
        change = changes.get("", (0.0, 0.0))[1]
        if change > 0:
            # The first cell to end that brings it in: not one around it, nor one after it.
            least = _AS_MUCH * change
            where = next((name for name, (came, went) in changes.items() if went >= least > came), "")
            inner = f"{path}.{where}" if path and where else path or where
            self._watched.look(SamplesSeen(change), inner, cell_name(inner), self._watched.step())


def _changes(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """By how much what the cells get and give of other samples changes with the first sample, of its size.

    By path, in the order in which the cells end; empty where it does not run.
    """
    seen: list[dict[str, tuple[list[Any], list[Any]]]] = []
    try:
        copy = IsolatedCell(cell, wide=False)
        for other in (False, True):
            values: dict[str, tuple[list[Any], list[Any]]] = {}
            seen.append(values)
            with copy.run() as one, no_recording():
                one.set_train(False)
                hooks = []
                for path, part in one.cells_and_names():
                    part.set_train(False)
                    if path:
                        hooks.append(part.register_forward_hook(partial(_note, values, path)))
                held = tensors_in((args, kwargs))
                tensors = [_with_another_first(t) if other else Tensor._wrap(t._array.copy()) for t in held]
                given, named = replaced((args, kwargs), tensors)
                values[""] = [], _arrays(one(*given, **named))
                for hook in hooks:
                    hook.remove()
    except (Exception, SystemExit):  # the user's code, in another mode or with other numbers: no fault of its own
        return {}
    before, after = seen
    return {
        path: (_change(came, after[path][0]), _change(went, after[path][1]))
        for path, (came, went) in before.items()
        if path in after
    }


def _note(values: dict[str, tuple[list[Any], list[Any]]], path: str, cell: Cell, inputs: Any, output: Any) -> None:
    values.setdefault(path, (_arrays(inputs), _arrays(output)))


def _arrays(value: Any) -> list[Any]:
    return [to_host(tensor._array) for tensor in tensors_in(value)]


def _change(before: list[Any], after: list[Any]) -> float:
    changes = []
    for one, other in zip(before, after, strict=False):
        if one.shape != other.shape or one.ndim == 0 or len(one) < 2 or one.dtype.kind not in "fV":
            continue
        if np.isfinite(one).all() and np.isfinite(other).all():
            with np.errstate(all="ignore"):  # of which a user may have made errors
                first, second = one[1:].astype(np.float64), other[1:].astype(np.float64)
                size = max(float(np.abs(first).max(initial=0)), 1e-30)
                changes.append(float(np.abs(second - first).max(initial=0)) / size)
    return max(changes, default=0.0)


def _with_another_first(tensor: Tensor) -> Tensor:
    """The first sample replaced by the last one, where these differ, else by its negative."""
    array = tensor._array
    host = to_host(array)
    first = host[-1:] if not np.array_equal(host[-1:], host[:1]) else -host[-1:]
    joined = np.concatenate([first, host[1:]]).astype(array.dtype, copy=False)
    return Tensor._wrap(array_module(array).asarray(joined))
