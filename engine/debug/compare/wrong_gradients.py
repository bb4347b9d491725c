"""What is known of the gradients that ``check_gradient`` finds wrong, gathered for ``likeness.py``.

That takes a second draw of the gradients that arrive: what holds for one alone may be chance, and a ``bprop`` that
forgets them returns the same for both.
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
from .isolated import EPSILON
from .likeness import WrongGradient, likeness
from .slopes import Slope

__all__ = ["Compared", "likenesses"]

# Above this many elements a phrase is not worth the time and the memory: about a second, and 32 MiB for each array.
_MOST = 2**21
# More values than this are no cell with a bprop, but a network around one.
_MOST_VALUES = 16


class Compared(NamedTuple):
    """One gradient that was compared.

    Attributes:
        leaf: of what.
        own: the gradient.
        automatic: the automatic one; None where the cell has no bprop.
        slopes: by differences, by element, and by None in a direction through many.
        error: how far these may be off.
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
        """The slopes of single elements that have one."""
        return {place: s.value for place, s in self.slopes.items() if place is not None and not s.kink}

    @property
    def refuted(self) -> list[int]:
        """Where differences say that the automatic gradient is wrong, too: construct is detached on the way."""
        automatic = self.automatic
        if automatic is None:
            return list(self.sloping)
        return [p for p, slope in self.sloping.items() if abs(slope - automatic[p]) > self.slopes[p].tolerance]

    def by_differences(self) -> Reals:
        """The gradient by differences; NaN where it was not looked at or has none."""
        found = np.full(self.own.shape, np.nan)
        found[list(self.sloping)] = list(self.sloping.values())
        if 2 * len(self.refuted) <= len(self.sloping):
            # Not detached, but at a kink, where differences and a wrong gradient may both be half of a slope.
            found[self.refuted] = np.nan
        return found


def likenesses(call: DifferentiatedCall, compared: list[Compared], rtol: float, seed: int) -> list[str]:
    """What each gradient looks like: a phrase of ``likeness.py``, "" for those that are not wrong, or very large.

    Args:
        call: the call whose gradients they are.
        compared: all of them, since one may be that of another.
        rtol: how far gradients may differ that are equal.
        seed: of the second draw.
    """
    judged = [one.wrong and one.own.size <= _MOST for one in compared]
    if not any(judged):
        return [""] * len(compared)
    sens = call.random_sens(np.random.default_rng([seed, 1]))
    try:
        second = call.gradients(automatic=False, sens=sens)
    except Exception:  # the user's bprop, which may refuse other gradients than the first: the verdict stands without
        return [""] * len(compared)
    gathered = _Gathered(call, compared, rtol, sens, second)
    return [gathered.likeness(place) if chosen else "" for place, chosen in enumerate(judged)]


class _Gathered:
    """Everything for the phrases of one check; ``second`` is what the gradients are where ``sens`` arrives."""

    def __init__(
        self, call: DifferentiatedCall, compared: list[Compared], rtol: float, sens: list[Tensor], second: list[Reals]
    ) -> None:
        self.call, self.compared, self.rtol = call, compared, rtol
        self.sens = (call.sens, sens)
        self.own = [_stacked(c.leaf, c.own, other) for c, other in zip(compared, second, strict=True)]
        automatic: list[Any] = [None] * len(compared)
        if call.copy.has_bprop:
            automatic = call.gradients(automatic=True, sens=sens)
        self.right = [_right(c, other) for c, other in zip(compared, automatic, strict=True)]
        self.values, self.arriving, self.lengths = self._values(), self._arriving(), self._lengths()
        self.gradient_alone = cache(self._gradient_alone)  # it is of all leaves

    def likeness(self, place: int) -> str:
        one, right = self.compared[place], self.right[place]
        largest = float(np.nanmax(np.abs(right[0]), initial=0.0))
        own = np.where(np.isnan(self.own[place]), np.inf, self.own[place])
        by_differences = one.automatic is None or bool(one.refuted)
        return likeness(
            WrongGradient(
                own,
                right,
                "finite differences" if by_differences else "the automatic gradient",
                self.rtol,
                one.error / largest if by_differences and largest else 0.0,
                [(c.leaf.name, other) for c, other in zip(self.compared, self.right, strict=True) if c is not one],
                self.values,
                self.arriving,
                self.lengths,
                partial(self._alone, place),
            )
        )

    def _values(self) -> list[tuple[str, npt.NDArray[Any]]]:
        """What the gradients may have been computed from, for both draws."""
        weights = [(leaf.name, leaf.array) for leaf in self.call.leaves if leaf.parameter is not None]
        known = [
            *self.call.named,
            *((self._named("out", place), array) for place, array in enumerate(self.call.outputs)),
            *(weights if len(weights) <= _MOST_VALUES else ()),
        ][:_MOST_VALUES]
        return [
            (name, np.broadcast_to(_wide(array), (2, *array.shape)))
            for name, array in known
            if array.size <= _MOST and (array.dtype.kind in "biuf" or array.dtype.name in EPSILON)
        ]

    def _arriving(self) -> list[tuple[str, npt.NDArray[Any]]]:
        pairs = enumerate(zip(*self.sens, strict=True))
        return [(self._named("dout", place), _wide(np.stack([t.asnumpy() for t in pair]))) for place, pair in pairs]

    def _lengths(self) -> frozenset[int]:
        """Over how many elements a mean may have been taken: some axes of an output or an input."""
        shapes = {array.shape for array in self.call.outputs} | {array.shape for _, array in self.call.named}
        return frozenset(
            math.prod(chosen)
            for shape in shapes
            for count in range(1, len(shape) + 1)
            for chosen in itertools.combinations(shape, count)
        ) - {0, 1}

    def _alone(self, place: int) -> Iterator[tuple[str, int, Callable[[int], npt.NDArray[Any]]]]:
        """The right gradient if only the first or the last index along an axis of an output counted."""
        one = self.compared[place]
        for output, array in enumerate(self.call.outputs):
            if one.automatic is None or one.refuted or array.size <= one.own.size:  # nothing has been summed
                continue
            for axis, length in enumerate(array.shape):
                for index in (0, length - 1) if length > 1 else ():
                    index_words = [":"] * axis + [str(index)] + [":"] * (array.ndim - axis - 1)
                    words = f"{self._named('out', output)}[{', '.join(index_words)}]"
                    yield words, axis, partial(self._leaf_alone, place, output, axis, index)

    def _named(self, name: str, place: int) -> str:
        return f"{name}[{place}]" if len(self.call.outputs) > 1 else name

    def _leaf_alone(self, place: int, output: int, axis: int, index: int, draw: int) -> npt.NDArray[Any]:
        return _shaped(self.compared[place].leaf, self.gradient_alone(output, axis, index, draw)[place])

    def _gradient_alone(self, output: int, axis: int, index: int, draw: int) -> list[Reals]:
        sens = [np.zeros(t.shape, t.asnumpy().dtype) for t in self.sens[draw]]
        whole = self.sens[draw][output].asnumpy()
        np.moveaxis(sens[output], axis, 0)[index] = np.moveaxis(whole, axis, 0)[index]
        return self.call.gradients(automatic=True, sens=[Tensor(array) for array in sens])


def _right(one: Compared, second: Reals | None) -> npt.NDArray[Any]:
    """The right gradient for both draws, NaN where it is not known."""
    if one.automatic is None or second is None or one.refuted:
        return _stacked(one.leaf, one.by_differences(), np.full(one.own.shape, np.nan))
    kinks = np.zeros(one.own.shape, bool)
    kinks[[place for place, slope in one.slopes.items() if place is not None and slope.kink]] = True
    unknown = kinks | ~np.isfinite(one.automatic) | ~np.isfinite(second)
    return _stacked(one.leaf, *(np.where(unknown, np.nan, gradient) for gradient in (one.automatic, second)))


def _stacked(leaf: Leaf, one: Reals, other: Reals) -> npt.NDArray[Any]:
    return np.stack([_shaped(leaf, one), _shaped(leaf, other)])


def _shaped(leaf: Leaf, numbers: Reals) -> npt.NDArray[Any]:
    """Flat real numbers as the gradient that they stand for."""
    flat: npt.NDArray[Any] = numbers.view(np.complex128) if leaf.width == 2 else numbers
    return flat.reshape(leaf.shape)


def _wide(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
