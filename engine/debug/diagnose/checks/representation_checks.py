"""Checks of representations: whether they collapse, and whether a value is compared with its own recomputation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine.tensors.backend import to_host
from hookscope.engine.tensors.tensor import Tensor

from ..conditions.representations import CollapseObservation, SameOperandsObservation
from .comparisons import Comparison, ComparisonUser, GradientCall, count_in_a_row
from .lineage import Lineage, sample

if TYPE_CHECKING:
    from .watcher import WatcherParts

__all__ = ["CollapseCheck", "RepeatedCheck"]

# A batch of fewer samples may be alike by chance.
_SAMPLES = 4
# The variation of inputs that differ.
_DIFFERENT = 0.01
_SMALL = 1e-3
_OF_CLASSES = ("cross_entropy", "nll_loss")
# Gradient calls for the same weights in which values are compared.
_CALLS = 40


class CollapseCheck(ComparisonUser):
    """Check of the variation of representations and logits over the samples of a batch."""

    shows = (CollapseObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._largest: dict[tuple[int, int], float] = {}
        self._in_a_row: dict[tuple[int, int], int] = {}

    def compared(self, comparison: Comparison, call: GradientCall) -> None:
        """Check the two values that a loss compares, or the logits that it gets."""
        arrays, origins = comparison.arrays, comparison.origins
        if comparison.name in _OF_CLASSES:
            what, checked = "logits", arrays[:1]
        elif all(origin.parameters for origin in origins) and "softmax" not in str(comparison.makers):
            what, checked = "representations", arrays
        else:
            return
        if not any(origin.weights for origin in origins) or not all(map(_is_batch, checked)):
            return
        variation = max(map(_variation, checked))
        key = call.key, comparison.number
        before = self._largest.get(key, 0.0)
        self._largest[key] = max(before, variation) if np.isfinite(variation) else before
        is_small = variation < _SMALL and self._inputs_vary(len(checked[0]))
        if is_small and what == "logits":
            is_small = _differ(arrays[1])
        comparisons = count_in_a_row(self._in_a_row, key, is_small)
        observation = CollapseObservation(what, variation, before, comparisons)
        self._examiner.observe(observation, comparison.path, f"the {what}", call.step)

    def _inputs_vary(self, count: int) -> bool:
        """Return whether what came into the gradient call differs from sample to sample."""
        batches = [array for array in self._lineage.inputs() if array.ndim and len(array) == count]
        return any(
            _variation(array) > _DIFFERENT if array.dtype.kind in "fV" and array.ndim > 1 else _differ(array)
            for array in batches
        )


class RepeatedCheck(ComparisonUser):
    """Check of differences and ratios of two values that one computation, made twice, gave."""

    shows = (SameOperandsObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._in_a_row: dict[tuple[int, str], int] = {}
        self._seen: set[str] = set()  # operators, with their paths, in this gradient call

    def operator(self, name: str, inputs: tuple[Any, ...], tracked: set[int], call: GradientCall) -> None:
        """Check the operands of a difference or a ratio."""
        if name not in ("sub", "div") or call.number > _CALLS or len(inputs) != 2:
            return
        first, second = inputs
        if not (isinstance(first, Tensor) and isinstance(second, Tensor)):
            return
        arrays = first._array, second._array
        if arrays[0] is arrays[1] or not all(id(array) in tracked for array in arrays):
            return
        origins = self._lineage.of(first, tracked), self._lineage.of(second, tracked)
        if not origins[0].weights > 0 or origins[0].signature != origins[1].signature:
            return
        if arrays[0].size > 1 and arrays[0].shape == arrays[1].shape and _are_equal(*arrays):
            self._seen.add(name)
            comparisons = count_in_a_row(self._in_a_row, (call.key, name), True)
            observation = SameOperandsObservation(name, comparisons)
            self._examiner.observe(observation, "", "a difference" if name == "sub" else "a ratio", call.step)

    def differentiated(self, call: GradientCall) -> None:
        """Forget the operators that had different operands in this gradient call."""
        for name in ("sub", "div"):
            if name not in self._seen:
                self._in_a_row.pop((call.key, name), None)
        self._seen.clear()


def _is_batch(array: Any) -> bool:
    return array.ndim > 1 and len(array) >= _SAMPLES and array.size > len(array) and array.dtype.kind in "fV"


def _variation(array: Any) -> float:
    """Return the standard deviation over the samples by the root mean square; NaN if all is zero."""
    numbers = sample(array)
    with np.errstate(all="ignore"):
        size = float(np.sqrt(np.square(numbers).mean()))
        return float(np.sqrt(numbers.var(axis=0).mean())) / size if size > 0 else float("nan")


def _differ(array: Any) -> bool:
    """Return whether the samples of an array differ."""
    if not array.size or not array.ndim or array.dtype.kind not in "fViub":
        return False
    numbers = sample(array)
    return bool((numbers != numbers[:1]).any())


def _are_equal(first: Any, second: Any) -> bool:
    """Return whether two arrays are equal, and more than one number repeated."""
    first, second = to_host(first), to_host(second)
    with np.errstate(all="ignore"):
        return bool((first == second).all()) and bool((first != first.reshape(-1)[0]).any())
