"""Checks of representations: whether they collapse, and whether a value is compared with its own recomputation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine.tensors.backend import to_host
from hookscope.engine.tensors.tensor import Tensor

from ...conditions.representations import CollapseObservation, SameOperandsObservation
from .comparisons import Comparison, ComparisonUser, GradientCall, count_in_a_row
from .lineage import Lineage, sample

if TYPE_CHECKING:
    from ..watcher import WatcherParts

__all__ = ["CollapseCheck", "RepeatedCheck"]

# A batch of fewer samples may be alike by chance.
_SAMPLES = 4
# The variation of inputs that differ.
_DIFFERENT = 1e-4
_SMALL = 0.1
_OF_CLASSES = ("cross_entropy", "nll_loss")
# Gradient calls for the same weights in which values are compared.
_CALLS = 40


class CollapseCheck(ComparisonUser):
    """Check of the variation of representations and logits over the samples of a batch."""

    shows = (CollapseObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._largest: dict[tuple[int, int], float] = {}
        self._sizes: dict[tuple[int, int, int], float] = {}  # the largest mean squares

    def compared(self, comparison: Comparison, call: GradientCall) -> None:
        """Check the two values that a loss compares, or the logits that it gets."""
        arrays, origins = comparison.arrays, comparison.origins
        checked: tuple[Any, ...]
        if comparison.name in _OF_CLASSES:
            what, checked = "logits", arrays[:1]
        elif comparison.kind in ("difference", "product") or comparison.is_regression:
            if not all(origin.parameters for origin in origins) or "softmax" in str(comparison.makers):
                return
            what, checked = "representations", arrays
        else:
            return
        if not any(origin.weights for origin in origins) or not all(map(_is_batch, checked)):
            return
        key = call.key, comparison.number
        samples = [sample(array) for array in checked]
        if comparison.kind == "product":
            variations, distance = [_spread(numbers) for numbers in samples], _angle(*samples)
        else:
            sizes = []
            for index, numbers in enumerate(samples):
                size = max(_mean_square(numbers), self._sizes.get((*key, index), 0.0))
                self._sizes[*key, index] = size
                sizes.append(size)
            variations = [
                _variance(numbers) / size if size > 0 else np.nan for numbers, size in zip(samples, sizes, strict=True)
            ]
            distance = 0.0 if len(samples) < 2 else _mean_square(samples[0] - samples[1]) / max(*sizes, 1e-30)
        variation = max(variations)
        before = self._largest.get(key, 0.0)
        self._largest[key] = max(before, variation) if np.isfinite(variation) else before
        inputs_vary = variation < _SMALL and self._inputs_vary(len(checked[0]))
        if inputs_vary and what == "logits":
            inputs_vary = _differ(arrays[1])
        observation = CollapseObservation(what, variation, before, distance, inputs_vary)
        number = list(self._largest).index(key)
        subject = f"the {what}" if not number else f"the {what} of comparison {number + 1}"
        self._examiner.observe(observation, comparison.path, subject, call.step)

    def _inputs_vary(self, count: int) -> bool:
        """Return whether what came into the gradient call differs from sample to sample."""
        return any(_vary(array) for array in self._lineage.inputs() if array.ndim and len(array) == count)


class RepeatedCheck(ComparisonUser):
    """Check of differences and ratios of two values that one computation, made twice, gave."""

    shows = (SameOperandsObservation,)

    def __init__(self, parts: WatcherParts, lineage: Lineage) -> None:
        super().__init__(parts, lineage)
        self._in_a_row: dict[tuple[int, str], int] = {}
        self._seen: set[str] = set()  # operators, with their paths, in this gradient call

    def operator(
        self,
        name: str,
        inputs: tuple[Any, ...],
        outputs: Any,
        attrs: dict[str, Any],
        tracked: set[int],
        call: GradientCall,
    ) -> None:
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


def _mean_square(numbers: Any) -> float:
    with np.errstate(all="ignore"):
        return float(np.square(numbers).mean())


def _variance(numbers: Any) -> float:
    """Return the mean variance of the columns."""
    with np.errstate(all="ignore"):
        return float(numbers.var(axis=0).mean())


def _directions(numbers: Any) -> Any:
    with np.errstate(all="ignore"):
        return numbers / np.sqrt(np.square(numbers).sum(axis=1, keepdims=True))


def _spread(numbers: Any) -> float:
    """Return 1 minus the mean cosine of two samples."""
    count = len(numbers)
    with np.errstate(all="ignore"):
        total = np.square(_directions(numbers).sum(axis=0)).sum()
        return 1 - float(total - count) / (count * (count - 1))


def _angle(first: Any, second: Any) -> float:
    """Return 1 minus the mean cosine of samples of one row."""
    with np.errstate(all="ignore"):
        return 1 - float((_directions(first) * _directions(second)).sum(axis=1).mean())


def _vary(array: Any) -> bool:
    """Return whether the samples of inputs differ by more than a little."""
    if array.dtype.kind not in "fV" or array.ndim < 2:
        return _differ(array)
    numbers = sample(array)
    return _variance(numbers) > _DIFFERENT * _mean_square(numbers)


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
