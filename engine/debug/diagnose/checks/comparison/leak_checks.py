"""Checks of what a network must not see: the class numbers that it is to predict, and what a mask is to hide."""

from __future__ import annotations

from typing import Any

import numpy as np

from hookscope.engine.tensors.backend import to_host
from hookscope.engine.tensors.tensor import Tensor

from ....record.array_table import ByArray
from ...conditions.targets import LateMaskObservation, TargetInputObservation
from ..watcher import WatcherParts
from .comparisons import Comparison, ComparisonUser, GradientCall, count_in_a_row
from .lineage import Lineage

__all__ = ["LateMaskCheck", "TargetInputCheck"]

# Fewer class numbers, or of fewer classes, are equal by chance.
_FEWEST, _FEWEST_CLASSES = 16, 3
# Gradient calls for the same weights in which values are read.
_CALLS = 20
_RESHAPES = ("reshape", "cast", "transpose", "dropout", "dropout_with_mask", "squeeze", "expand_dims")


class TargetInputCheck(ComparisonUser):
    """Check of class numbers that are the indices by which the network looks up its inputs."""

    shows = (TargetInputObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._in_a_row: dict[tuple[int, int], int] = {}

    def compared(self, comparison: Comparison, call: GradientCall) -> None:
        """Compare the class numbers with all lookups so far."""
        target = comparison.second
        if call.number > _CALLS or comparison.kind != "function" or target.dtype.kind not in "iu":
            return
        if target.size < _FEWEST or not comparison.origins[0].weights:
            return
        numbers = to_host(target).reshape(-1)
        is_input = any(
            array.size == numbers.size and np.array_equal(to_host(array).reshape(-1), numbers)
            for array in self._lineage.lookups()
        )
        # The numbers from 0 on are positions, and the labels of pairs in a contrast.
        is_input = is_input and len(np.unique(numbers)) >= _FEWEST_CLASSES
        is_input = is_input and not np.array_equal(numbers, np.arange(numbers.size))
        comparisons = count_in_a_row(self._in_a_row, (call.key, comparison.number), is_input)
        self._examiner.observe(TargetInputObservation(comparisons), "", "the targets", call.step)


class LateMaskCheck(ComparisonUser):
    """Check of masks of zeros and ones that the results of a softmax are multiplied with, before they weight values.

    A row that keeps one element alone is a choice, and one that is divided by its sum again is right.
    """

    shows = (LateMaskObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._weights: ByArray[bool] = ByArray()  # results of a softmax along the last axis; True: masked
        self._lost: ByArray[tuple[float, str]] = ByArray()  # of masked ones: the lost part, and the path
        self._in_a_row: dict[tuple[int, int], int] = {}
        self._number = 0

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, tracked: set[int], call: GradientCall) -> None:
        """Follow the results of a softmax."""
        if call.number > _CALLS or not isinstance(outputs, Tensor):
            return
        if name == "softmax":
            self._weights.put(outputs._array, False)
            return
        tensors = [value for value in inputs if isinstance(value, Tensor)]
        states = [self._weights.get(tensor._array) for tensor in tensors]
        if name in _RESHAPES and states and states[0] is not None:
            self._weights.put(outputs._array, states[0])
            lost = self._lost.get(tensors[0]._array)
            if lost is not None:
                self._lost.put(outputs._array, lost)
        elif name == "mul" and len(states) == 2 and False in states:
            weights, mask = tensors if states[0] is False else tensors[::-1]
            if not self._lineage.of(mask, tracked).parameters:
                part = _lost_part(to_host(weights._array), to_host(mask._array))
                if part:
                    self._weights.put(outputs._array, True)
                    self._lost.put(outputs._array, (part, self._parts.attachment.here))
        elif name in ("matmul", "bmm", "batch_matmul") and states and states[0]:
            lost = self._lost.get(tensors[0]._array)
            if lost is not None:
                calls = count_in_a_row(self._in_a_row, (call.key, self._number), True)
                self._number += 1
                self._examiner.observe(LateMaskObservation(lost[0], calls), lost[1], "a mask", call.step)

    def differentiated(self, call: GradientCall) -> None:
        """Forget the arrays of the gradient call."""
        self._weights, self._lost, self._number = ByArray(), ByArray(), 0


def _lost_part(weights: Any, mask: Any) -> float:
    """Return the part of the weights that a mask takes away; 0.0 if it is none, or a choice of one in each row."""
    if (
        weights.ndim < 2
        or weights.dtype.kind not in "fV"
        or not (weights.size and mask.size)
        or not np.isin(mask, (0, 1)).all()
    ):
        return 0.0
    mask = np.broadcast_to(mask, weights.shape).reshape(-1, weights.shape[-1])
    counts = mask.astype(np.int64).sum(axis=1)
    # A row without a one is that of a query that does not count.
    is_partial = (counts > 0) & (counts < mask.shape[1])
    if not is_partial.any() or (counts > 1).sum() <= (counts == 1).sum():
        return 0.0
    rows = weights.reshape(-1, weights.shape[-1]).astype(np.float64)[is_partial]
    with np.errstate(all="ignore"):
        return float(1 - (rows * mask[is_partial]).sum() / max(rows.sum(), 1e-30))
