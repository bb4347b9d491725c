"""Data on the gradients that ``check_gradient`` finds wrong, collected for ``likeness.py``.

It includes a second draw of the output gradients: agreement for a single draw may be chance, and a ``bprop`` that
ignores them returns the same for both.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hookscope.engine.tensors.tensor import Tensor

from .differentiated import DifferentiatedCall, Leaf, Reals
from .finite_differences import Slope
from .isolated import EPSILON
from .likeness import WrongGradient, likeness

__all__ = ["Compared", "likenesses"]

# Above this many elements a phrase is not worth its cost: about a second, and 32 MiB for each array.
_MOST = 2**21
# More values than this belong to a network, not to a cell with a bprop.
_MOST_VALUES = 16


class Compared(NamedTuple):
    """One compared gradient.

    Attributes:
        leaf: the leaf.
        own: the gradient.
        automatic: the automatic gradient; None if the cell has no bprop.
        slopes: the slopes by differences, by the index of the element; under None, the slope in a random direction
            through many elements.
        error: the tolerance of the slopes.
        wrong: the verdict.
    """

    leaf: Leaf
    own: Reals
    automatic: Reals | None
    slopes: Mapping[int | None, Slope]
    error: float
    wrong: bool

    @property
    def sloping(self) -> dict[int, float]:
        """The slopes of single elements without a kink."""
        return {index: slope.value for index, slope in self.slopes.items() if index is not None and not slope.kink}

    @property
    def refuted(self) -> list[int]:
        """The elements whose automatic gradient differences refute, too, as where ``construct`` detaches a value.

        Without an automatic gradient, all elements of ``sloping``.
        """
        automatic = self.automatic
        if automatic is None:
            return list(self.sloping)
        return [
            index
            for index, slope in self.sloping.items()
            if abs(slope - automatic[index]) > self.slopes[index].tolerance
        ]

    def by_differences(self) -> Reals:
        """Return the gradient by differences; NaN where it was not checked or has none."""
        gradient = np.full(self.own.shape, np.nan)
        gradient[list(self.sloping)] = list(self.sloping.values())
        if 2 * len(self.refuted) <= len(self.sloping):
            # Not detached, but at a kink, where differences and a wrong gradient may both be half of a slope.
            gradient[self.refuted] = np.nan
        return gradient


def likenesses(call: DifferentiatedCall, compared: list[Compared], rtol: float, seed: int) -> list[str]:
    """Return the likeness of each gradient: a phrase of ``likeness.py``, "" for right or very large ones.

    Args:
        call: the call of the gradients.
        compared: all of them, since one may be the gradient of another.
        rtol: the relative tolerance of equal gradients.
        seed: seed of the second draw.
    """
    is_eligible = [comparison.wrong and comparison.own.size <= _MOST for comparison in compared]
    if not any(is_eligible):
        return [""] * len(compared)
    sens = call.random_sens(np.random.default_rng([seed, 1]))
    try:
        second_draw = call.gradients(automatic=False, sens=sens)
    except Exception:  # the user's bprop, which may reject other gradients than the first: the verdict remains
        return [""] * len(compared)
    data = _Gathered(call, compared, rtol, sens, second_draw)
    return [data.likeness(index) if is_chosen else "" for index, is_chosen in enumerate(is_eligible)]


class _Gathered:
    """Data for the phrases of one check; ``second`` is the gradients for the output gradients ``sens``."""

    def __init__(
        self, call: DifferentiatedCall, compared: list[Compared], rtol: float, sens: list[Tensor], second: list[Reals]
    ) -> None:
        self.call, self.compared, self.rtol = call, compared, rtol
        self.sens = (call.sens, sens)
        self.own = [
            _stacked(comparison.leaf, comparison.own, second_gradient)
            for comparison, second_gradient in zip(compared, second, strict=True)
        ]
        automatic: list[Any] = [None] * len(compared)
        if call.copy.has_bprop:
            automatic = call.gradients(automatic=True, sens=sens)
        self.right = [
            _right(comparison, second_gradient) for comparison, second_gradient in zip(compared, automatic, strict=True)
        ]
        self.values, self.arriving, self.lengths = self._values(), self._arriving(), self._lengths()
        self.gradient_alone = cache(self._gradient_alone)  # it computes all leaves

    def likeness(self, position: int) -> str:
        comparison, right = self.compared[position], self.right[position]
        largest = float(np.nanmax(np.abs(right[0]), initial=0.0))
        gradient = np.where(np.isnan(self.own[position]), np.inf, self.own[position])
        by_differences = comparison.automatic is None or bool(comparison.refuted)
        return likeness(
            WrongGradient(
                gradient,
                right,
                "finite differences" if by_differences else "the automatic gradient",
                self.rtol,
                comparison.error / largest if by_differences and largest else 0.0,
                [
                    (candidate.leaf.name, right_of_candidate)
                    for candidate, right_of_candidate in zip(self.compared, self.right, strict=True)
                    if candidate is not comparison
                ],
                self.values,
                self.arriving,
                self.lengths,
                partial(self._alone, position),
            )
        )

    def _values(self) -> list[tuple[str, npt.NDArray[Any]]]:
        """Return the values that the gradients may have been computed from, for both draws."""
        weights = [(leaf.name, leaf.array) for leaf in self.call.leaves if leaf.parameter is not None]
        values = [
            *self.call.input_arrays,
            *((self._indexed("out", index), array) for index, array in enumerate(self.call.outputs)),
            *(weights if len(weights) <= _MOST_VALUES else ()),
        ][:_MOST_VALUES]
        return [
            (name, np.broadcast_to(_wide(array), (2, *array.shape)))
            for name, array in values
            if array.size <= _MOST and (array.dtype.kind in "biuf" or array.dtype.name in EPSILON)
        ]

    def _arriving(self) -> list[tuple[str, npt.NDArray[Any]]]:
        pairs = enumerate(zip(*self.sens, strict=True))
        return [
            (self._indexed("dout", index), _wide(np.stack([tensor.asnumpy() for tensor in pair])))
            for index, pair in pairs
        ]

    def _lengths(self) -> frozenset[int]:
        """Return the possible numbers of elements of a mean: products of some axes of an output or an input."""
        shapes = {array.shape for array in self.call.outputs} | {array.shape for _, array in self.call.input_arrays}
        return frozenset(
            math.prod(lengths)
            for shape in shapes
            for count in range(1, len(shape) + 1)
            for lengths in itertools.combinations(shape, count)
        ) - {0, 1}

    def _alone(self, position: int) -> Iterator[tuple[str, int, Callable[[int], npt.NDArray[Any]]]]:
        """Yield the right gradients if only the first or the last index along an axis of an output counted."""
        comparison = self.compared[position]
        for output, array in enumerate(self.call.outputs):
            # In an output that is not larger than the gradient, nothing has been summed.
            if comparison.automatic is None or comparison.refuted or array.size <= comparison.own.size:
                continue
            for axis, length in enumerate(array.shape):
                for index in (0, length - 1) if length > 1 else ():
                    index_words = [":"] * axis + [str(index)] + [":"] * (array.ndim - axis - 1)
                    expression = f"{self._indexed('out', output)}[{', '.join(index_words)}]"
                    yield expression, axis, partial(self._leaf_alone, position, output, axis, index)

    def _indexed(self, name: str, index: int) -> str:
        return f"{name}[{index}]" if len(self.call.outputs) > 1 else name

    def _leaf_alone(self, position: int, output: int, axis: int, index: int, draw: int) -> npt.NDArray[Any]:
        return _shaped(self.compared[position].leaf, self.gradient_alone(output, axis, index, draw)[position])

    def _gradient_alone(self, output: int, axis: int, index: int, draw: int) -> list[Reals]:
        sens = [np.zeros(tensor.shape, tensor.asnumpy().dtype) for tensor in self.sens[draw]]
        full = self.sens[draw][output].asnumpy()
        np.moveaxis(sens[output], axis, 0)[index] = np.moveaxis(full, axis, 0)[index]
        return self.call.gradients(automatic=True, sens=[Tensor(array) for array in sens])


def _right(comparison: Compared, second: Reals | None) -> npt.NDArray[Any]:
    """Return the right gradient for both draws, NaN where it is not known."""
    if comparison.automatic is None or second is None or comparison.refuted:
        return _stacked(comparison.leaf, comparison.by_differences(), np.full(comparison.own.shape, np.nan))
    kinks = np.zeros(comparison.own.shape, bool)
    kinks[[index for index, slope in comparison.slopes.items() if index is not None and slope.kink]] = True
    is_unknown = kinks | ~np.isfinite(comparison.automatic) | ~np.isfinite(second)
    return _stacked(
        comparison.leaf, *(np.where(is_unknown, np.nan, gradient) for gradient in (comparison.automatic, second))
    )


def _stacked(leaf: Leaf, first: Reals, second: Reals) -> npt.NDArray[Any]:
    return np.stack([_shaped(leaf, first), _shaped(leaf, second)])


def _shaped(leaf: Leaf, numbers: Reals) -> npt.NDArray[Any]:
    """Return flat real numbers as a gradient of the leaf's shape."""
    flat: npt.NDArray[Any] = numbers.view(np.complex128) if leaf.width == 2 else numbers
    return flat.reshape(leaf.shape)


def _wide(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
