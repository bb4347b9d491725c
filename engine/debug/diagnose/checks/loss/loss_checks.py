"""Checks of losses and targets: calls of loss functions, differences, softmaxes, and differentiated values.

A loss that is written out has no name of its own. It is inferred from the operators: a difference between an output of
the network and another value is the loss most of the time.
"""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine.tape import taps
from hookscope.engine.tensors.backend import to_host
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.parameter import Parameter
from hookscope.engine.tensors.tensor import Tensor

from ....record.array_table import ByArray
from ....record.numbers import ends_of, number_in
from ...conditions.data import LabelsObservation
from ...conditions.loss import (
    BINARY,
    BoundedObservation,
    BroadcastObservation,
    FirstLossObservation,
    LossCallObservation,
    SignObservation,
    SoftmaxObservation,
)
from ..watcher import Watcher, WatcherParts

if TYPE_CHECKING:
    from hookscope.engine.tape.taps import CellCall

__all__ = ["LossWatch"]

# A cross-entropy is recomputed here in this many calls of the loss function.
_TIMES = 3

_OF_EQUAL_SHAPES = ("huber_loss", "l1_loss", "mse_loss", "smooth_l1_loss")
_DIFFERENCES = ("sub", "squared_difference")
_PROBABILITIES = ("softmax", "log_softmax", "sigmoid")
_RESHAPES = ("reshape", "squeeze", "expand_dims", "transpose", "getitem", "concat", "cast", "flatten")
_OF_CLASSES = ("cross_entropy", "nll_loss")


class LossWatch(Watcher):
    """Check of calls of loss functions, of the operators before them, and of the values differentiated after them."""

    shows = (
        LossCallObservation,
        LabelsObservation,
        BoundedObservation,
        BroadcastObservation,
        SoftmaxObservation,
        FirstLossObservation,
        SignObservation,
    )
    observes_losses = True
    observes_operators = True

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._times = 0
        self._class_counts: Any = None
        self._binary: Any = np.zeros(2, np.int64)
        self._cross_entropy: float | None = None  # in the current run
        self._outputs: list[weakref.ref[Any]] = []  # the network's outputs in this step
        self._probabilities: ByArray[str] = ByArray()  # and the cell that computed them
        self._bounded: ByArray[tuple[float, float]] = ByArray()  # values that an activation keeps within limits
        self._weight: Parameter | None = None  # the last one that was passed to an operator
        self._guessing: list[float] = []  # the values that logarithms in this run have for an uninformed prediction
        self._first = True

    def run_began(self) -> None:
        """Begin a run: a gradient call for weights, or a call of a root."""
        self._outputs.clear()
        if self.has_new_root():
            self._times, self._first = 0, True

    def cell_exit(self, call: CellCall) -> None:
        """Record the outputs of the network."""
        if self.is_root(call.cell):
            self._outputs += [weakref.ref(tensor._array) for tensor in tensors_in(call.output)]

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Inspect an operator."""
        self._weight = next((value for value in inputs if isinstance(value, Parameter)), self._weight)
        if name in _DIFFERENCES:
            arrays = [tensor._array for tensor in tensors_in(inputs)]
            if len(arrays) == 2 and any(output() is array for output in self._outputs for array in arrays):
                self._compared(arrays[0], arrays[1], "the loss")
        elif name == "tanh" and isinstance(outputs, Tensor) and outputs._array.dtype.kind != "c":
            self._bounded.put(outputs._array, (-1.0, 1.0))
        elif name in _PROBABILITIES and isinstance(outputs, Tensor) and outputs._array.dtype.kind != "c":
            self._gave_probabilities(name, outputs, attrs.get("axis", -1))
        elif name in _RESHAPES and isinstance(outputs, Tensor) and isinstance(inputs[0], Tensor):
            made_by = self._probabilities.get(inputs[0]._array)
            if made_by is not None:
                self._probabilities.put(outputs._array, made_by)
        elif name == "log" and self._first and isinstance(outputs, Tensor):
            ends = ends_of(outputs._array)
            if ends is not None and -math.inf < ends[0] and ends[1] <= 0:
                self._guessing.append(-float(outputs._array.mean()))

    def _gave_probabilities(self, name: str, outputs: Tensor, axis: object) -> None:
        path, shape = self._attachment.here, tuple(outputs.shape)
        if name != "log_softmax":
            self._bounded.put(outputs._array, (0.0, 1.0))
        self._probabilities.put(outputs._array, path)
        if name != "sigmoid" and isinstance(axis, int) and -len(shape) <= axis < len(shape):
            observation = SoftmaxObservation(axis % len(shape), shape)
            self._examiner.observe(observation, path, name, self._counts.steps)
            if name == "log_softmax" and len(shape) > 1 and shape[axis]:
                self._guessing.append(math.log(shape[axis]))

    def loss(self, name: str, prediction: Tensor, target: Tensor, attrs: dict[str, Any]) -> None:
        """Check a call of a loss function."""
        if not (taps.outer_recordings() and self._attachment.own_run):
            return
        observe, step, x, expected = self._examiner.observe, self._counts.steps, prediction._array, target._array
        made_by = self._probabilities.get(x)
        observe(LossCallObservation(name, x, expected, made_by is not None), made_by or "", name, step)
        if name in _OF_EQUAL_SHAPES:
            self._compared(x, expected, name)
        if name in BINARY and expected.size and np.isin(labels := to_host(expected).reshape(-1), (0, 1)).all():
            labels = labels.real.astype(np.int64)
            self._binary = self._binary + np.bincount(labels, minlength=2)
            observe(LabelsObservation(labels, self._binary, binary=True), "", "the targets", step)
        # The loss function itself, which checks its arguments later, reports those that do not fit.
        has_class_axis = x.ndim > 1 and expected.shape == (*x.shape[:1], *x.shape[2:]) and x.shape[1] > 0
        if name in _OF_CLASSES and expected.dtype.kind in "iu" and has_class_axis:
            self._check_labels(x, expected, attrs.get("ignore_index"))
            if name == "cross_entropy" and self._times < _TIMES and x.dtype.kind in "fV":
                self._cross_entropy = _cross_entropy(x, expected, attrs.get("ignore_index"))
                if not self._times:
                    is_new = self._weight is None or self._weight.as_made
                    observe(FirstLossObservation(self._cross_entropy, x.shape[1], is_new), self._head(), name, step)
                self._times += 1

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Check the loss after a gradient call with weights."""
        if values and values[0]._array.size == 1 and values[0]._array.dtype.kind in "fV":
            loss, step = number_in(values[0]._array), self._counts.steps
            if self._cross_entropy is not None:
                self._examiner.observe(SignObservation(loss, self._cross_entropy), "", "the loss", step)
            elif self._first and self._guessing:
                uninformed = sum(self._guessing) / len(self._guessing)
                self._examiner.observe(SignObservation(loss, uninformed, about=True), "", "the loss", step)
            self._first = False
        self._cross_entropy = None
        self._guessing.clear()

    def _check_labels(self, x: Any, expected: Any, ignored: int | None) -> None:
        labels = to_host(expected).reshape(-1).astype(np.int64)
        labels = labels[labels != ignored]
        counts = np.bincount(labels[(labels >= 0) & (labels < x.shape[1])], minlength=x.shape[1])
        has_same_classes = self._class_counts is not None and len(self._class_counts) == len(counts)
        self._class_counts = counts + self._class_counts if has_same_classes else counts
        self._examiner.observe(LabelsObservation(labels, self._class_counts), "", "the labels", self._counts.steps)

    def _compared(self, first: Any, second: Any, name: str) -> None:
        """Check two arrays in a comparison, one of which is an output of the network."""
        observe, step = self._examiner.observe, self._counts.steps
        observe(BroadcastObservation(tuple(first.shape), tuple(second.shape)), "", name, step)
        for value, target in ((first, second), (second, first)):
            limits, extremes = self._bounded.get(value), ends_of(target)
            if limits is not None and self._bounded.get(target) is None and extremes is not None:
                observe(BoundedObservation(*limits, *extremes), "", name, step)

    def _head(self) -> str:
        """Return the path of the cell whose weight was used last."""
        for path, cell in self._paths if self._weight is not None else ():
            if any(parameter is self._weight for parameter in cell._params.values()):
                return path
        return ""


def _cross_entropy(logits: Any, labels: Any, ignored: int | None) -> float:
    """Return the mean cross-entropy of (N, C, ...) against class numbers (N, ...), in float64."""
    x = np.moveaxis(to_host(logits).astype(np.float64), 1, -1).reshape(-1, logits.shape[1])
    indices = to_host(labels).reshape(-1).astype(np.int64)
    is_counted = indices != ignored
    x, indices = x[is_counted], indices[is_counted]
    if not len(indices):
        return math.nan
    with np.errstate(all="ignore"):
        x = x - x.max(axis=1, keepdims=True)
        losses = np.log(np.exp(x).sum(axis=1)) - x[np.arange(len(indices)), np.clip(indices, 0, x.shape[1] - 1)]
    return float(losses.mean())
