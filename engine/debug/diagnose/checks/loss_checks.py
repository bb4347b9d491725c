"""What is seen of losses and targets: calls of loss functions, differences, softmaxes, and what is differentiated.

A loss that is written out has no name of its own: there the operators tell, of which a difference between what the
network gave and something else is the loss most of the time.
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

from ...record.array_table import ByArray
from ...record.numbers import ends_of, number_in
from ..conditions.data import LabelsSeen
from ..conditions.loss import BINARY, BoundedSeen, BroadcastSeen, FirstLossSeen, LossCallSeen, SignSeen, SoftmaxSeen
from .watcher import Watched, Watcher

if TYPE_CHECKING:
    from hookscope.engine.tape.taps import CellCall

__all__ = ["LossWatch"]

# A cross-entropy is computed here beside the loss function's so many times.
_TIMES = 3

_OF_EQUAL_SHAPES = ("huber_loss", "l1_loss", "mse_loss", "smooth_l1_loss")
_DIFFERENCES = ("sub", "squared_difference")
_PROBABILITIES = ("softmax", "log_softmax", "sigmoid")
_OF_CLASSES = ("cross_entropy", "nll_loss")


class LossWatch(Watcher):
    """Looks at calls of loss functions, at what leads to them, and at what is differentiated after them."""

    shows = (LossCallSeen, LabelsSeen, BoundedSeen, BroadcastSeen, SoftmaxSeen, FirstLossSeen, SignSeen)
    observes_losses = True
    observes_operators = True

    def __init__(self, watched: Watched) -> None:
        super().__init__(watched)
        self._times = 0
        self._counts: Any = None
        self._binary: Any = np.zeros(2, np.int64)
        self._cross_entropy: float | None = None  # in the run that goes on
        self._given: list[weakref.ref[Any]] = []  # what the network gave in this step
        self._probabilities: ByArray[str] = ByArray()  # and in which cell they were made
        self._bounded: ByArray[tuple[float, float]] = ByArray()  # what an activation keeps within ends
        self._weight: Parameter | None = None  # the last one that an operator was given
        self._guessing: list[float] = []  # what logarithms in this run come to where nothing is known
        self._first = True

    def step_began(self) -> None:
        """A root cell is called."""
        self._given.clear()
        if self.has_new_root():
            self._times, self._first = 0, True

    def cell_exit(self, call: CellCall) -> None:
        """Know what the network gives again."""
        if self.is_root(call.cell):
            self._given += [weakref.ref(tensor._array) for tensor in tensors_in(call.output)]

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """An operator ran."""
        self._weight = next((given for given in inputs if isinstance(given, Parameter)), self._weight)
        if name in _DIFFERENCES:
            arrays = [tensor._array for tensor in tensors_in(inputs)]
            if len(arrays) == 2 and any(given() is one for given in self._given for one in arrays):
                self._compared(arrays[0], arrays[1], "the loss")
        elif name == "tanh" and isinstance(outputs, Tensor) and outputs._array.dtype.kind != "c":
            self._bounded.put(outputs._array, (-1.0, 1.0))
        elif name in _PROBABILITIES and isinstance(outputs, Tensor) and outputs._array.dtype.kind != "c":
            self._gave_probabilities(name, outputs, attrs.get("axis", -1))
        elif name == "log" and self._first and isinstance(outputs, Tensor):
            ends = ends_of(outputs._array)
            if ends is not None and -math.inf < ends[0] and ends[1] <= 0:
                self._guessing.append(-float(outputs._array.mean()))

    def _gave_probabilities(self, name: str, outputs: Tensor, axis: object) -> None:
        here, shape = self._watched.here(), tuple(outputs.shape)
        if name != "log_softmax":
            self._bounded.put(outputs._array, (0.0, 1.0))
        self._probabilities.put(outputs._array, here)
        if name != "sigmoid" and isinstance(axis, int) and -len(shape) <= axis < len(shape):
            seen = SoftmaxSeen(axis % len(shape), shape)
            self._watched.look(seen, here, name, self._watched.step())
            if name == "log_softmax" and len(shape) > 1 and shape[axis]:
                self._guessing.append(math.log(shape[axis]))

    def loss(self, name: str, prediction: Tensor, target: Tensor, attrs: dict[str, Any]) -> None:
        """A loss function is called."""
        if not (taps.recordings_outside() and self._watched.own_run()):
            return
        look, step, x, wanted = self._watched.look, self._watched.step(), prediction._array, target._array
        look(LossCallSeen(name, x, wanted), self._probabilities.get(x) or "", name, step)
        if name in _OF_EQUAL_SHAPES:
            self._compared(x, wanted, name)
        if name in BINARY and wanted.size and np.isin(labels := to_host(wanted).reshape(-1), (0, 1)).all():
            labels = labels.real.astype(np.int64)
            self._binary = self._binary + np.bincount(labels, minlength=2)
            look(LabelsSeen(labels, self._binary, binary=True), "", "the targets", step)
        # What does not fit is told by the loss function itself, which has not looked yet.
        fits = x.ndim > 1 and wanted.shape == (*x.shape[:1], *x.shape[2:]) and x.shape[1] > 0
        if name in _OF_CLASSES and wanted.dtype.kind in "iu" and fits:
            self._look_at_labels(x, wanted, attrs.get("ignore_index"))
            if name == "cross_entropy" and self._times < _TIMES and x.dtype.kind in "fV":
                self._cross_entropy = _cross_entropy(x, wanted, attrs.get("ignore_index"))
                if not self._times:
                    look(FirstLossSeen(self._cross_entropy, x.shape[1]), self._head(), name, step)
                self._times += 1

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """A gradient call with weights has ended."""
        if values and values[0]._array.size == 1 and values[0]._array.dtype.kind in "fV":
            loss, step = number_in(values[0]._array), self._watched.step()
            if self._cross_entropy is not None:
                self._watched.look(SignSeen(loss, self._cross_entropy), "", "the loss", step)
            elif self._first and self._guessing:
                guess = sum(self._guessing) / len(self._guessing)
                self._watched.look(SignSeen(loss, guess, about=True), "", "the loss", step)
            self._first = False
        self._cross_entropy = None
        self._guessing.clear()

    def _look_at_labels(self, x: Any, wanted: Any, ignored: int | None) -> None:
        labels = to_host(wanted).reshape(-1).astype(np.int64)
        labels = labels[labels != ignored]
        counts = np.bincount(labels[(labels >= 0) & (labels < x.shape[1])], minlength=x.shape[1])
        same = self._counts is not None and len(self._counts) == len(counts)
        self._counts = counts + self._counts if same else counts
        self._watched.look(LabelsSeen(labels, self._counts), "", "the labels", self._watched.step())

    def _compared(self, first: Any, second: Any, name: str) -> None:
        """Two arrays are compared, of which one is what the network gave."""
        look, step = self._watched.look, self._watched.step()
        look(BroadcastSeen(tuple(first.shape), tuple(second.shape)), "", name, step)
        for given, wanted in ((first, second), (second, first)):
            ends, found = self._bounded.get(given), ends_of(wanted)
            if ends is not None and self._bounded.get(wanted) is None and found is not None:
                look(BoundedSeen(*ends, *found), "", name, step)

    def _head(self) -> str:
        """The path of the cell whose weight was used last."""
        for path, cell in self._watched.cells if self._weight is not None else ():
            if any(parameter is self._weight for parameter in cell._params.values()):
                return path
        return ""


def _cross_entropy(logits: Any, labels: Any, ignored: int | None) -> float:
    """The mean cross-entropy of (N, C, ...) against class numbers (N, ...), in float64."""
    x = np.moveaxis(to_host(logits).astype(np.float64), 1, -1).reshape(-1, logits.shape[1])
    places = to_host(labels).reshape(-1).astype(np.int64)
    kept = places != ignored
    x, places = x[kept], places[kept]
    if not len(places):
        return math.nan
    with np.errstate(all="ignore"):
        x = x - x.max(axis=1, keepdims=True)
        found = np.log(np.exp(x).sum(axis=1)) - x[np.arange(len(places)), np.clip(places, 0, x.shape[1] - 1)]
    return float(found.mean())
