"""Checks of the data: the inputs of the first weights, batches of one, and the independence of samples."""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

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
from ...record.array_table import ByArray
from ...record.capture import cell_name
from ...record.numbers import ends_of
from ..conditions.data import BatchObservation, InputObservation, SamplesObservation
from .watcher import Watcher, WatcherParts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.taps import CellCall

__all__ = ["InputWatch", "SamplesWatch"]

BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
_NORMALIZATIONS = (*BATCH_NORMS, nn.LayerNorm, nn.GroupNorm, nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)

# Operators that normalize, and that change the shape alone.
_NORMALIZING = ("batch_norm", "layer_norm", "instance_norm", "group_norm", "rms_norm")
_SHAPING = ("reshape", "transpose", "cast", "broadcast_to")

_RECURRENT = (nn.RNN, nn.LSTM, nn.GRU)

# A larger network is not run again for one condition.
_MOST_ELEMENTS = 1 << 22
# Samples leak in a cell if the change is at least this share of that in the network's outputs.
_AS_MUCH = 1e-3
# The inputs are checked in this many steps at most.
_STEPS = 10


class _Pending(NamedTuple):
    """The input of the first cell with weights, until it is known what follows."""

    observation: InputObservation
    call: CellCall
    step: int


class InputWatch(Watcher):
    """Check of the inputs of the first cell with weights in a training step, and of the batch size at BatchNorm.

    Inputs need not be normalized if the cell's output is, directly or after a change of its shape. Cells that have no
    weights but scales, biases and statistics may normalize by themselves, and are passed over.
    """

    shows = (InputObservation, BatchObservation)
    observes_operators = True

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._checked = False
        self._steps = 0
        self._pending: _Pending | None = None
        self._scaled: _Pending | None = None  # the input of the first cell that has only scales
        self._outputs: list[weakref.ref[Any]] = []  # the output of the first cell, also in other shapes
        self._means: list[weakref.ref[Any]] = []  # of the output

    def run_began(self) -> None:
        """Begin a run: a gradient call for weights, or a call of a root."""
        self._settle()
        self._steps = 1 if self.has_new_root() else self._steps + 1
        self._checked = self._steps > _STEPS

    def cell_enter(self, call: CellCall) -> None:
        """Check the arguments of a cell with weights of its own, and what follows the first one."""
        cell = call.cell
        if self._outputs and isinstance(cell, _NORMALIZATIONS) and self._gets_output(tensors_in(call.args)):
            self._drop()
        location = None if call.context or not cell._params else self._attachment.place_of(call.index)
        if location is None or not taps.outer_recordings():
            return
        values = [
            tensor._array
            for tensor in tensors_in(call.args)
            if tensor._array.dtype.kind in "fV" and tensor._array.size > 1
        ]
        if isinstance(cell, BATCH_NORMS) and cell.training and values and values[0].ndim > 1:
            count = values[0].size // values[0].shape[1]
            self._examiner.observe(BatchObservation(count), location[0], cell_name(location[0]), self._counts.steps)
        # The input of an embedding is indices; other inputs are checked where they enter.
        parameters = [parameter for parameter in cell._params.values() if parameter is not None]
        if self._checked or not values or not parameters:
            return
        is_normalization = isinstance(cell, _NORMALIZATIONS)
        if not is_normalization and all(parameter.ndim < 2 for parameter in parameters):
            if self._scaled is None and any(parameter.requires_grad for parameter in parameters):
                self._scaled = _Pending(_input(values[0]), call, self._counts.steps)
            return
        self._checked = True
        self._scaled = None
        if not is_normalization:
            self._pending = _Pending(_input(values[0]), call, self._counts.steps)

    def cell_exit(self, call: CellCall) -> None:
        """Note the output of the first cell with weights."""
        if self._pending is not None and call is self._pending.call:
            self._outputs = [weakref.ref(tensor._array) for tensor in tensors_in(call.output)]

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Follow the output of the first cell to what normalizes it, or computes with it."""
        if not self._outputs or not self._gets_output(inputs):
            return
        if name in _NORMALIZING:
            self._drop()
        elif name in _SHAPING and isinstance(outputs, Tensor):
            self._outputs.append(weakref.ref(outputs._array))
        elif name == "mean" and isinstance(outputs, Tensor):
            self._means.append(weakref.ref(outputs._array))
        elif name == "sub" and len(inputs) == 2 and _is_any(inputs[1], self._means):
            self._drop()  # a normalization that is written out
        else:
            self._settle()

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Report inputs that nothing normalized."""
        self._settle()

    def end_session(self) -> None:
        """End the session."""
        self._settle()

    def _gets_output(self, values: Iterable[Any]) -> bool:
        return any(_is_any(value, self._outputs) for value in values)

    def _settle(self) -> None:
        """Report the pending inputs."""
        pending = self._pending or self._scaled
        self._drop()
        if pending is not None:
            self._examiner.observe(pending.observation, "", "the inputs", pending.step)

    def _drop(self) -> None:
        self._pending = self._scaled = None
        self._outputs, self._means = [], []


def _is_any(value: Any, references: list[weakref.ref[Any]]) -> bool:
    array = value._array if isinstance(value, Tensor) else None
    return array is not None and any(reference() is array for reference in references)


def _input(array: Any) -> InputObservation:
    with np.errstate(all="ignore"):  # the user may have turned warnings into errors
        numbers = to_host(array).astype(np.float32)
        numbers = np.where(np.isfinite(numbers), numbers, 0)
        features = numbers.reshape(-1, numbers.shape[-1]) if numbers.ndim == 2 else numbers.reshape(-1, 1)
        feature_scales = np.sqrt((features**2).mean(axis=0))
        return InputObservation(
            float(np.sqrt((numbers**2).mean())), float(feature_scales.max()), float(np.median(feature_scales))
        )


class SamplesWatch(Watcher):
    """Check that runs a copy of each root with another first sample, and compares the outputs of the other samples."""

    shows = (SamplesObservation,)
    observes_operators = True

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._tried: set[int] = set()
        self._pairs: set[int] = set()  # sizes N of the (N, N) matrices of pairs used in this run
        self._inputs: ByArray[bool] | None = None  # of a root that is not checked yet, and what is computed from them

    def cell_enter(self, call: CellCall) -> None:
        """Begin the run of a root."""
        if self.is_root(call.cell):
            self._pairs.clear()
            self._inputs = None
            if id(call.cell) not in self._tried and not call.context:
                self._inputs = ByArray()
                for tensor in tensors_in((call.args, call.kwargs)):
                    self._inputs.put(tensor._array, True)

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Record a matrix of pairs that an operator computed from inputs other than weights, or that is a constant."""
        if self._inputs is not None:
            self._follow(name, inputs, outputs)
        if not isinstance(outputs, Tensor) or outputs.ndim != 2 or outputs.shape[0] != outputs.shape[1]:
            return
        tensors = [tensor for tensor in inputs if isinstance(tensor, Tensor)]
        count = outputs.shape[0]
        if len(tensors) == 2 and not any(isinstance(tensor, Parameter) for tensor in tensors):
            first_shape, second_shape = (tensor.shape for tensor in tensors)
            is_pairwise = {first_shape, second_shape} == {(count, 1), (1, count)}
            if is_pairwise or (
                name == "matmul" and (first_shape[0], second_shape[-1]) == (count, count) != second_shape
            ):
                self._pairs.add(count)

    def _follow(self, name: str, inputs: tuple[Any, ...], outputs: Any) -> None:
        """Follow what is computed from the inputs; record a constant matrix of pairs, such as the edges of a graph."""
        tensors = [tensor for tensor in inputs if isinstance(tensor, Tensor)]
        computed = self._inputs
        if computed is None or not tensors:
            return
        is_computed = [bool(computed.get(tensor._array)) for tensor in tensors]
        if any(is_computed):
            for output in tensors_in(outputs):
                computed.put(output._array, True)
        first = tensors[0]
        if name == "matmul" and is_computed == [False, True] and not isinstance(first, Parameter) and first.ndim == 2:
            count = first.shape[0]
            if first.shape == (count, count):
                self._pairs.add(count)

    def cell_exit(self, call: CellCall) -> None:
        """Check a root after its first run in a training step."""
        if id(call.cell) in self._tried or call.context or not self.is_root(call.cell):
            return
        path = self._paths.path_of(call.cell)
        inputs, outputs = tensors_in((call.args, call.kwargs)), tensors_in(call.output)
        if path is None or not inputs or not outputs or not taps.outer_recordings():
            return
        self._tried.add(id(call.cell))
        self._inputs = None
        effect = side_effect(call.cell) if is_plain((call.args, call.kwargs)) else "an argument that is not a tensor"
        if effect:
            reason = f"the run of a copy may change {effect}"
            self._examiner.leave_unchecked("samples_leak", cell_name(path), reason)
            return
        count = inputs[0].shape[0] if inputs[0].ndim else 0
        has_batch_axis = all(tensor.ndim and tensor.shape[0] == count for tensor in (*inputs, *outputs))
        if count < 2 or not has_batch_axis or sum(tensor.size for tensor in (*inputs, *outputs)) > _MOST_ELEMENTS:
            return
        buffers = [tensor for tensor in held_tensors(call.cell) if not isinstance(tensor, Parameter)]
        if count in self._pairs or any(tensor.shape == (count, count) for tensor in (*inputs, *outputs, *buffers)):
            return  # samples are meant to interact: nodes of a graph, or pairs of a contrastive loss
        if any(_numbers_samples(tensor, count) for tensor in buffers):
            return  # edges of a graph
        with taps.mute():
            changes = _changes(call.cell, call.args, call.kwargs)
        change = changes.get("", (0.0, 0.0))[1]
        if change > 0:
            # The cell that introduces the change is the first one to end whose outputs change and whose inputs do not:
            # enclosing cells and cells that run later end after it.
            threshold = _AS_MUCH * change
            leaking_path = next(
                (
                    name
                    for name, (input_change, output_change) in changes.items()
                    if output_change >= threshold > input_change
                ),
                "",
            )
            inner = f"{path}.{leaking_path}" if path and leaking_path else path or leaking_path
            recurrent = isinstance(dict(self._paths).get(inner), _RECURRENT)
            observation = SamplesObservation(change, recurrent)
            self._examiner.observe(observation, inner, cell_name(inner), self._counts.steps)


def _changes(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Return by how much the first sample changes the inputs and outputs of the other samples, relative to their size.

    By path, in the order in which the cells end; empty if the network does not run.
    """
    runs: list[dict[str, tuple[list[Any], list[Any]]]] = []
    other = _most_different(tensors_in((args, kwargs)))
    try:
        copy = IsolatedCell(cell, wide=False)
        for is_changed in (False, True):
            values: dict[str, tuple[list[Any], list[Any]]] = {}
            runs.append(values)
            with copy.run() as isolated, no_recording():
                isolated.set_train(False)
                hooks = []
                for path, part in isolated.cells_and_names():
                    part.set_train(False)
                    if path:
                        hooks.append(part.register_forward_hook(partial(_note, values, path)))
                originals = tensors_in((args, kwargs))
                tensors = [
                    _with_another_first(tensor, other) if is_changed else Tensor._wrap(tensor._array.copy())
                    for tensor in originals
                ]
                new_args, new_kwargs = replaced((args, kwargs), tensors)
                values[""] = [], _arrays(isolated(*new_args, **new_kwargs))
                for hook in hooks:
                    hook.remove()
    except (Exception, SystemExit):  # user code in another mode or with other numbers: not its fault
        return {}
    original, changed = runs
    count = len(originals[0]._array)
    return {
        path: (_change(inputs, changed[path][0], count), _change(outputs, changed[path][1], count))
        for path, (inputs, outputs) in original.items()
        if path in changed
    }


def _note(values: dict[str, tuple[list[Any], list[Any]]], path: str, cell: Cell, inputs: Any, output: Any) -> None:
    values.setdefault(path, (_arrays(inputs), _arrays(output)))


def _arrays(value: Any) -> list[Any]:
    return [to_host(tensor._array) for tensor in tensors_in(value)]


def _change(before: list[Any], after: list[Any], count: int) -> float:
    """Return by how much values other than those of the first of ``count`` samples differ, relative to their size."""
    changes = []
    for original, changed in zip(before, after, strict=False):
        if (
            original.shape != changed.shape
            or original.ndim == 0
            or len(original) < 2
            or original.dtype.kind not in "fV"
        ):
            continue
        if np.isfinite(original).all() and np.isfinite(changed).all():
            # The samples may be along another axis, as where time comes first.
            axes = [axis for axis, length in enumerate(original.shape) if length == count] or [0]
            changes.append(min(_change_along(axis, original, changed) for axis in axes))
    return max(changes, default=0.0)


def _change_along(axis: int, before: Any, after: Any) -> float:
    """Return by how much the values differ, but for the first ones along an axis, relative to their size."""
    with np.errstate(all="ignore"):  # the user may have turned warnings into errors
        first, second = (np.moveaxis(array, axis, 0)[1:].astype(np.float64) for array in (before, after))
        size = max(float(np.abs(first).max(initial=0)), 1e-30)
        return float(np.abs(second - first).max(initial=0)) / size


def _numbers_samples(tensor: Tensor, count: int) -> bool:
    """Return whether integers that a network holds are numbers of most of the samples, as the edges of a graph are."""
    array = tensor._array
    if array.dtype.kind not in "iu" or array.size < count:
        return False
    low, high = ends_of(array) or (-1.0, -1.0)
    return low >= 0 and count / 2 <= high < count


def _most_different(tensors: list[Tensor]) -> int:
    """Return the index of the sample that differs from the first one in most of its elements, the last of several.

    Of tokens, many are alike by chance, and a change must be seen where the network looks.
    """
    shares: Any = 0.0
    for tensor in tensors:
        host = to_host(tensor._array)
        shares = shares + (host[1:] != host[:1]).reshape(len(host) - 1, -1).mean(axis=1)
    return len(shares) - int(np.argmax(shares[::-1])) if np.ndim(shares) else -1


def _with_another_first(tensor: Tensor, other: int) -> Tensor:
    """Return the tensor with the first sample replaced by another one, if they differ, else by its negative."""
    array = tensor._array
    host = to_host(array)
    sample = host[other][None]
    first = sample if not np.array_equal(sample, host[:1]) else -sample
    joined = np.concatenate([first, host[1:]]).astype(array.dtype, copy=False)
    return Tensor._wrap(array_module(array).asarray(joined))
