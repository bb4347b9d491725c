"""Checks of what a network must not see: the class numbers that it is to predict, and what a mask is to hide."""

from __future__ import annotations

from dataclasses import dataclass
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
_CALLS = 100
# The share of class numbers that the network predicts right, from which on it copies them.
_COPIED = 0.9
_SUMS, _PRODUCTS = ("sum", "mean"), ("matmul", "bmm", "batch_matmul")
_RESHAPES = ("reshape", "cast", "transpose", "dropout", "dropout_with_mask", "squeeze", "expand_dims")


class TargetInputCheck(ComparisonUser):
    """Check of class numbers that are the indices by which the network looks up its inputs, and that it can copy."""

    shows = (TargetInputObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._in_a_row: dict[tuple[int, int], int] = {}

    def compared(self, comparison: Comparison, call: GradientCall) -> None:
        """Compare the class numbers of sequences with the only lookup of as many."""
        logits, target = comparison.arrays
        if call.number > _CALLS or comparison.kind != "function" or target.dtype.kind not in "iu":
            return
        if target.size < _FEWEST or not comparison.origins[0].weights:
            return
        tokens = self._lineage.lookup(target.size)
        share = 0.0
        if tokens is not None and tokens.ndim > 1 and min(tokens.shape[:2]) > 1 and logits.ndim > 1:
            numbers = to_host(target).reshape(-1)
            if np.array_equal(to_host(tokens).reshape(-1), numbers) and len(np.unique(numbers)) >= _FEWEST_CLASSES:
                predicted = to_host(logits.argmax(axis=1)).reshape(-1)
                share = float((predicted == numbers).mean()) if predicted.size == numbers.size else 0.0
        comparisons = count_in_a_row(self._in_a_row, (call.key, comparison.number), share >= _COPIED)
        self._examiner.observe(TargetInputObservation(share, comparisons), "", "the targets", call.step)


@dataclass(eq=False)
class _Masked:
    """Weights of a softmax of which a mask took a part away, in the cell at this path."""

    lost: float
    path: str
    is_summed: bool = False


class LateMaskCheck(ComparisonUser):
    """Check of masks of zeros and ones that the results of a softmax are multiplied with, before they weight values.

    A row that keeps one element alone is a choice, and one that is divided by its sum, before or after it weights the
    values, is right.
    """

    shows = (LateMaskObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._in_a_row: dict[tuple[int, int], int] = {}
        self.forget()

    def forget(self) -> None:
        """Forget the arrays of the gradient call."""
        self._softmaxes: ByArray[bool] = ByArray()  # along the last axis
        self._masked: ByArray[_Masked] = ByArray()
        self._used: list[_Masked] = []

    def operator(
        self,
        name: str,
        inputs: tuple[Any, ...],
        outputs: Any,
        attrs: dict[str, Any],
        tracked: set[int],
        call: GradientCall,
    ) -> None:
        """Follow the results of a softmax."""
        if call.number > _CALLS or not isinstance(outputs, Tensor):
            return
        if name == "softmax":
            if attrs.get("axis", -1) in (-1, outputs.ndim - 1):
                self._softmaxes.put(outputs._array, True)
            return
        tensors = [value for value in inputs if isinstance(value, Tensor)]
        masked = self._masked.get(tensors[0]._array) if tensors else None
        if masked is not None:
            if name in _RESHAPES:
                self._masked.put(outputs._array, masked)
            elif name in _SUMS:
                masked.is_summed = True
            elif name in _PRODUCTS:
                self._used.append(masked)
        elif name in _RESHAPES and tensors and self._softmaxes.get(tensors[0]._array):
            self._softmaxes.put(outputs._array, True)
        elif name == "mul" and len(tensors) == 2:
            first, second = tensors
            weights, mask = (first, second) if self._softmaxes.get(first._array) else (second, first)
            if self._softmaxes.get(weights._array) and not self._lineage.of(mask, tracked).parameters:
                lost = _lost_part(to_host(weights._array), to_host(mask._array))
                if lost:
                    self._masked.put(outputs._array, _Masked(lost, self._parts.attachment.here))

    def differentiated(self, call: GradientCall) -> None:
        """Check the masked weights that were used and never summed."""
        for number, masked in enumerate(self._used):
            if not masked.is_summed:
                calls = count_in_a_row(self._in_a_row, (call.key, number), True)
                self._examiner.observe(LateMaskObservation(masked.lost, calls), masked.path, "a mask", call.step)


def _lost_part(weights: Any, mask: Any) -> float:
    """Return the part of the weights that a mask takes away; 0.0 if it is none, or a choice of one in each row."""
    if weights.ndim < 2 or weights.dtype.kind not in "fV" or not (weights.size and mask.size):
        return 0.0
    if not np.isin(mask, (0, 1)).all():
        return 0.0
    weights, mask = np.broadcast_arrays(weights, mask)
    mask = mask.reshape(-1, mask.shape[-1])
    counts = mask.astype(np.int64).sum(axis=1)
    # A row without a one is that of a query that does not count.
    is_partial = (counts > 0) & (counts < mask.shape[1])
    if not is_partial.any() or (counts > 1).sum() <= (counts == 1).sum():
        return 0.0
    rows = weights.reshape(-1, weights.shape[-1])[is_partial].astype(np.float64)
    with np.errstate(all="ignore"):
        return float(1 - (rows * mask[is_partial]).sum() / max(rows.sum(), 1e-30))
