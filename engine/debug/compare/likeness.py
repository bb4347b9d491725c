"""What a wrong gradient looks like beside the right one: "negated", "transposed", "3.29 times it everywhere".

``LIKENESSES`` has a row for each, and a new one is one more row: a name, a test, and the sentence for what the test
finds. A test predicts the wrong gradient from the right one. It may say so only if the prediction agrees in every
element, and differs from the right gradient in so many that chance would do it once in ten thousand times at most.

Everything is seen for two draws of the gradients that arrive at the outputs, and has to hold for both.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["LIKENESSES", "Likeness", "WrongGradient", "likeness"]

Array = npt.NDArray[Any]
Found = tuple[str, ...] | None

# An element far below the largest one is not held to its own digits: sums lose them.
_OF_LARGEST = 1e-3
# What chance may do: agree in elements that are told apart, once in 10 to this power.
_CHANCE = 4
# Of predictions that are farther apart than this many tolerances, an element cannot agree with both.
_APART = 2
# What a number is not rounded by in words: a factor of 0.98 is not 1.
_NEAR = 0.01
# Where signs tell, an element is worth a bit: 14 of them make one in ten thousand.
_SIGNS = 7
# How far along an axis a shift is looked for, and of how many axes all orders are tried (23 for 4).
_FARTHEST, _MOST_AXES = 8, 4
# Matrices of more rows are not divided by: it takes long.
_LARGEST_MATRIX = 512
# Arrays with more elements are looked at in a corner first, so many of each axis, which refutes nearly all.
_SMALL, _CORNER = 4096, 8


@dataclass(frozen=True, eq=False)
class WrongGradient:
    """A wrong gradient and what it may be made of.

    Arrays of gradients have the shape (2, *shape), float64 or complex128: one for each draw. NaN stands for what is not
    known, so a wrong gradient that is NaN has infinity there.

    Attributes:
        own: the wrong gradient.
        right: the right one.
        against: what the right one is, in words.
        rtol: how far gradients may differ that are equal, of each element.
        error: the same, of the largest element.
        others: by name, the right gradients of the other inputs and parameters, (2, *their shape).
        values: by name, inputs, parameters and outputs, (2, *their shape).
        arriving: the same of the gradients that arrive.
        lengths: over how many elements a mean may be.
        alone: for each edge of an output, as an index and the axis, the right gradient by draw if only that counted.
    """

    own: Array
    right: Array
    against: str
    rtol: float
    error: float
    others: Sequence[tuple[str, Array]]
    values: Sequence[tuple[str, Array]]
    arriving: Sequence[tuple[str, Array]]
    lengths: frozenset[int]
    alone: Callable[[], Iterator[tuple[str, int, Callable[[int], Array]]]]

    @property
    def axes(self) -> range:
        """The axes of ``own`` after that of the draws."""
        return range(1, self.own.ndim)

    @property
    def telling(self) -> int:
        """The fewest elements that tell a prediction from chance."""
        return math.ceil(_CHANCE / -math.log10(min(self.rtol + self.error, 0.5)))

    @property
    def near(self) -> float:
        """How far from a number a factor may be that is this number: it is of many elements, so better than each."""
        return min(2 * (self.rtol + self.error), _NEAR)

    @property
    def corner(self) -> tuple[slice, ...]:
        """Which elements to look at first: all of a small gradient."""
        few = slice(None) if self.own.size <= _SMALL else slice(_CORNER)
        return (slice(None), *(few for _ in self.axes))

    def allowed(self, prediction: Array) -> Array:
        """How far from a prediction an element may be that agrees with it."""
        size = np.nan_to_num(np.abs(prediction), nan=0.0, posinf=0.0)
        largest = size.max(axis=tuple(range(1, size.ndim)), keepdims=True, initial=0.0)
        return np.asarray(np.maximum(self.rtol * size, (self.rtol * _OF_LARGEST + self.error) * largest))

    def apart(self, one: Array, other: Array) -> npt.NDArray[np.bool_]:
        """The elements in which two predictions are told apart."""
        allowed = np.maximum(self.allowed(one), self.allowed(other))
        return np.asarray(np.abs(one - other) > _APART * allowed)

    def not_zero(self, array: Array) -> npt.NDArray[np.bool_]:
        """The elements that are told apart from zero."""
        return np.asarray(np.abs(array) > _APART * self.allowed(array))

    def agrees(self, seen: Array, prediction: Array) -> bool:
        """Whether each element is as predicted, where anything is."""
        known = ~(np.isnan(prediction) | np.isnan(seen))
        return not (known & ~(np.abs(seen - prediction) <= self.allowed(prediction))).any()

    def fits(self, prediction: Array, of: Any = ...) -> bool:
        """Whether ``own``, or a part of it, is as predicted, told apart from ``right`` and from chance.

        One element more than ``telling`` is asked for: a factor or an axis was chosen for the prediction to fit.
        """
        own, right = self.own[of], self.right[of]
        if not all(self.agrees(own[part], prediction[part]) for part in (self.corner, ...)):
            return False
        # That zeros are alike says little.
        told = self.apart(prediction[:1], right[:1]) & self.not_zero(prediction[:1])
        return int(told.sum()) > self.telling


class Likeness(NamedTuple):
    """One thing that a wrong gradient can look like.

    Attributes:
        name: what tests and messages call it.
        test: the words for the sentence; None where it looks otherwise.
        sentence: with a place for each word.
        tier: those of a later tier are tried only where none of an earlier one fits.
    """

    name: str
    test: Callable[[WrongGradient], Found]
    sentence: str
    tier: int


def likeness(wrong: WrongGradient) -> str:
    """What a wrong gradient looks like, in a few words; "" where nothing simple fits, or more than two things do.

    At a right gradient that is zero everywhere, nothing can be told.
    """
    largest = np.nanmax(np.abs(wrong.right[0]), initial=0.0)
    finite = np.abs(wrong.own[np.isfinite(wrong.own)])
    # Sums whose terms cancel leave rounding, which is no gradient to hold anything against.
    if not largest > (wrong.rtol + wrong.error) ** 2 * finite.max(initial=0.0):
        return ""
    with np.errstate(all="ignore"):
        for _, tier in itertools.groupby(LIKENESSES, key=lambda row: row.tier):
            found = [row.sentence.format(*words) for row in tier if (words := row.test(wrong)) is not None]
            if found:
                first, *others = found
                return ", or ".join([first.removesuffix("?") if others else first, *others]) if len(found) <= 2 else ""
    return ""


# Numbers


def _ratio(one: Array, other: Array) -> complex:
    """The number that ``other`` is to be multiplied by to be next to ``one``."""
    known = np.isfinite(one) & np.isfinite(other)
    one, other = one[known], other[known]
    size = float(np.square(np.abs(other)).sum())
    ratio = complex(np.vdot(other, one)) / size if size else 0.0
    return ratio if np.iscomplexobj(one) else ratio.real


def _number(number: complex) -> str:
    """A number with three digits, or as many as it takes to tell it from 1 and -1."""
    if abs(number.imag) <= 1e-6 * abs(number):
        number = number.real
    digits = 3
    while digits < 9 and abs(complex(f"{number:.{digits}g}")) == 1 != abs(number):
        digits += 1
    return f"{number:.{digits}g}"


# The tests


def _zero(wrong: WrongGradient) -> Found:
    return None if wrong.own.any() else ()


def _factor_of(wrong: WrongGradient) -> complex | None:
    factor = _ratio(wrong.own, wrong.right)
    return factor if factor and wrong.fits(factor * wrong.right) else None


def _negated(wrong: WrongGradient) -> Found:
    factor = _factor_of(wrong)
    return () if factor is not None and abs(factor + 1) <= wrong.near else None


def _factor(wrong: WrongGradient) -> Found:
    factor = _factor_of(wrong)
    if factor is None or abs(factor + 1) <= wrong.near:
        return None
    averaged = [n for n in wrong.lengths if abs(factor * n - 1) <= wrong.near]
    summed = [n for n in wrong.lengths if abs(factor / n - 1) <= wrong.near]
    cause = ""
    if len(averaged) == 1:
        cause = f", or averaged over {averaged[0]} instead of summed"
    elif len(summed) == 1:
        cause = f", or summed over {summed[0]} instead of averaged"
    return _number(factor), wrong.against, cause


def _whole_numbers(wrong: WrongGradient) -> Found:
    if np.iscomplexobj(wrong.own):
        return None
    fitting = any(wrong.fits(cut(wrong.right)) for cut in (np.trunc, np.floor, np.rint))
    return (wrong.against,) if fitting else None


def _without_dout(wrong: WrongGradient) -> Found:
    one, other = wrong.own[:1], wrong.own[1:]
    return () if wrong.agrees(one, other) and wrong.not_zero(one).sum() >= wrong.telling else None


def _transposed(wrong: WrongGradient) -> Found:
    if not 2 <= len(wrong.axes) <= _MOST_AXES:
        return None
    shape = wrong.own.shape
    for order in itertools.permutations(wrong.axes):
        moved = wrong.right.transpose(0, *order)
        if moved.shape == shape and wrong.fits(moved):
            swapped = [str(axis - 1) for axis, other in zip(wrong.axes, order, strict=True) if axis != other]
            if len(wrong.axes) == 2:
                return ("",)
            if len(swapped) == 2:
                return (f": axes {' and '.join(swapped)} swapped",)
            return (f": its axes in the order {', '.join(str(axis - 1) for axis in order)}",)
    moved = wrong.right.swapaxes(1, 2)
    if len(wrong.axes) == 2 and moved.shape != shape and wrong.fits(moved.reshape(shape)):
        return (", and then given the shape",)
    return None


def _other_way_up(wrong: WrongGradient) -> Found:
    """A product with a matrix where one with its transpose belongs, which the shapes of a square one let pass."""
    size = wrong.own.shape[-1]
    if len(wrong.axes) < 2 or np.isnan(wrong.right).any():
        return None
    for name, value in wrong.values:
        matrix = value[0]
        if matrix.shape != (size, size) or size > _LARGEST_MATRIX:
            continue
        with suppress(np.linalg.LinAlgError):  # one that cannot be divided by
            for taken, belongs in ((matrix, matrix.T), (matrix.T, matrix)):
                if wrong.fits(wrong.right @ np.linalg.solve(belongs, taken)):
                    return (name,)
    return None


def _conjugated(wrong: WrongGradient) -> Found:
    return () if np.iscomplexobj(wrong.own) and wrong.fits(wrong.right.conj()) else None


def _reversed(wrong: WrongGradient) -> Found:
    # One axis (of two elements that is a shift, too), or the last two, as of a kernel that is not flipped.
    shape = wrong.own.shape
    single: list[tuple[int, ...]] = [(axis,) for axis in wrong.axes if shape[axis] > 2 or len(wrong.axes) == 1]
    last = [tuple(wrong.axes)[-2:]] if len(wrong.axes) > 1 else []
    for chosen in [*single, *last]:
        if wrong.fits(np.flip(wrong.right, chosen)):
            return (f"{'axes' if len(chosen) > 1 else 'axis'} {' and '.join(str(axis - 1) for axis in chosen)}",)
    return None


def _shifted(wrong: WrongGradient) -> Found:
    for axis in wrong.axes:
        length = wrong.own.shape[axis]
        for far in range(1, min(length // 2, _FARTHEST) + 1):
            for step in (far, -far):
                before = (slice(None),) * axis
                kept, come_from = (*before, slice(far, None)), (*before, slice(length - far))
                if step < 0:
                    kept, come_from = come_from, kept
                if not wrong.fits(wrong.right[come_from], of=kept):
                    continue
                rolled = wrong.agrees(wrong.own, np.roll(wrong.right, step, axis))
                return "rolled" if rolled else "shifted", str(step), str(axis - 1), "" if rolled else ", its edge apart"
    return None


def _of_another(wrong: WrongGradient) -> Found:
    names = [name for name, right in wrong.others if _is(wrong, right)]
    return (" or ".join(names),) if names else None


def _is(wrong: WrongGradient, other: Array) -> bool:
    """Whether another value's gradient is ``own``, also as the engine sums one that broadcasts to ``own``'s shape."""
    shape = wrong.own.shape
    extra = other.ndim - wrong.own.ndim
    if extra >= 0 and other.shape != shape:
        other = other.sum(axis=tuple(range(1, 1 + extra)))
        narrow = tuple(axis for axis in wrong.axes if shape[axis] == 1)
        other = other.sum(axis=narrow, keepdims=True)
    return other.shape == shape and wrong.fits(other)


def _spread(wrong: WrongGradient) -> Found:
    for axis in wrong.axes:
        total = wrong.right.sum(axis, keepdims=True)
        for name, number in (("sum", 1), ("mean", wrong.own.shape[axis])):
            if wrong.fits(np.broadcast_to(total / number, wrong.own.shape)):
                return name, str(axis - 1), wrong.against
    return None


def _offset(wrong: WrongGradient) -> Found:
    difference = wrong.own - wrong.right
    numbers = [_middle(one) for one in difference]
    offset = np.asarray(numbers).reshape(-1, *(1 for _ in wrong.axes))
    middle = np.asarray(_middle(wrong.right[0]))
    varies = int(wrong.apart(wrong.right[:1], np.full(wrong.right[:1].shape, middle)).sum())
    if varies < wrong.telling + 1 or not wrong.fits(wrong.right + offset):
        return None
    same = np.isnan(numbers[1]) or wrong.agrees(np.asarray(numbers[:1]), np.asarray(numbers[1:]))
    return (_number(numbers[0]) if same else "one and the same number",)


def _middle(array: Array) -> Any:
    """The median of the known elements; of complex ones, that of each part."""
    known = array[~np.isnan(array)]
    if not known.size:
        return np.nan
    return np.median(known.real) + 1j * np.median(known.imag) if known.dtype.kind == "c" else np.median(known)


# What values are multiplied by in the gradients of the usual functions; v and 1 / v are both tried of each.
_FUNCTIONS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("{}", lambda v: v),
    ("{}**2", np.square),
    ("(1 - {})", lambda v: 1 - v),
    ("(1 - {}**2)", lambda v: 1 - np.square(v)),
)


def _missing(wrong: WrongGradient) -> Found:
    if not np.isfinite(wrong.own).all():
        return None
    return _multiplied(wrong, wrong.own, wrong.right, wrong.values)


def _too_many(wrong: WrongGradient) -> Found:
    return _multiplied(wrong, wrong.right, wrong.own, [*wrong.values, *wrong.arriving])


def _multiplied(wrong: WrongGradient, less: Array, more: Array, values: Sequence[tuple[str, Array]]) -> Found:
    """What to multiply ``less`` with, element by element, to get ``more``."""
    beside = _ratio(more, less) * less  # a number alone is another row's
    for name, value in _broadcast(values, wrong.own.shape):
        for text, function in _FUNCTIONS:
            for part in (wrong.corner, ...):
                pattern = less[part] * function(value[part])
                number = _ratio(more[part], pattern)
                if not number or not wrong.agrees(more[part], number * pattern):
                    break
            else:
                told = (wrong.apart(number * pattern, beside) & wrong.apart(number * pattern, less))[:1]
                zeros = told & ~wrong.not_zero(number * pattern[:1])
                # Zeros alone, as a mask makes them, are worth as much as signs.
                if int((told & ~zeros).sum()) >= wrong.telling + 2 or min(zeros.sum(), (~told).sum()) >= _SIGNS:
                    plain = abs(number - 1) <= wrong.near
                    expression = text.format(name)
                    return (expression.strip("()") if plain else f"{_number(number)}*{expression}",)
    return None


def _broadcast(values: Sequence[tuple[str, Array]], shape: tuple[int, ...]) -> Iterator[tuple[str, Array]]:
    """Those that broadcast to a shape; the draws are not what is broadcast."""
    for name, value in values:
        fitted = value.reshape(2, *(1,) * (len(shape) - value.ndim), *value.shape[1:])
        if fitted.ndim == len(shape) and all(n in (1, its) for n, its in zip(fitted.shape, shape, strict=True)):
            yield name, np.broadcast_to(fitted, shape)


def _not_summed(wrong: WrongGradient) -> Found:
    for words, axis, gradient in wrong.alone():
        one = gradient(0)[None]
        told = wrong.apart(one, wrong.right[:1]) & wrong.not_zero(one)
        alike = told.sum() > wrong.telling and wrong.agrees(wrong.own[:1], one)
        if alike and wrong.agrees(wrong.own[1:], gradient(1)[None]):
            return words, str(axis)
    return None


class _Parts(NamedTuple):
    """Which elements are wrong, and which are right without being zero; elements as in one draw."""

    wrong: npt.NDArray[np.bool_]
    right: npt.NDArray[np.bool_]


def _parts(wrong: WrongGradient) -> _Parts | None:
    """The parts of a gradient that is right in enough elements to tell that from chance."""
    unknown = np.isnan(wrong.right[0])
    allowed = wrong.allowed(wrong.right)
    off = (~np.isnan(wrong.right) & ~(np.abs(wrong.own - wrong.right) <= allowed)).any(0)
    zero = ~unknown & ~off & (np.abs(wrong.right[0]) <= _APART * allowed[0])
    right = ~(unknown | off | zero)
    if not off.any() or 2 * unknown.sum() > unknown.size or right.sum() <= wrong.telling:
        return None
    return _Parts(off, right)


def _there(wrong: WrongGradient, off: npt.NDArray[np.bool_]) -> str:
    """What the wrong elements have in common."""
    own, right = wrong.own[:, off], wrong.right[:, off]
    if not own.any():
        return ", zero there"
    if not np.isfinite(own).any():
        return ", not finite there"
    factor = _ratio(own, right)
    if int(off.sum()) <= wrong.telling or not factor or not wrong.agrees(own, factor * right):
        return ""
    return f", {_number(factor)} times {wrong.against} there"


def _by_sign(wrong: WrongGradient) -> Found:
    parts = _parts(wrong)
    if parts is None:
        return None
    judged = parts.wrong | parts.right
    for name, value in _broadcast(wrong.values, wrong.own.shape):
        values = value[0]
        if np.iscomplexobj(values):
            continue
        for words, where in (("<", values < 0), (">", values > 0), ("<=", values <= 0), (">=", values >= 0)):
            alike = np.array_equal(parts.wrong[judged], where[judged])
            if alike and min(parts.wrong.sum(), parts.right.sum()) >= _SIGNS:
                return name, words, _there(wrong, parts.wrong)
    return None


def _range(mask: npt.NDArray[np.bool_]) -> tuple[str, tuple[slice, ...]]:
    """The least range that holds all of some elements, as an index in words and as one; "" for everything."""
    found, words = [], []
    for places, length in zip(map(np.unique, np.nonzero(mask)), mask.shape, strict=True):
        first, last = int(places[0]), int(places[-1])
        steps = np.unique(np.diff(places))
        step = int(steps[0]) if len(steps) == 1 else 1
        found.append(slice(first, last + 1, step))
        every = "" if step == 1 else f":{step}"
        whole = step == 1 and last + 1 - first == length
        words.append(":" if whole else f"{first}:{last + 1}{every}" if first != last else str(first))
    return "" if set(words) == {":"} else f"[{', '.join(words)}]", tuple(found)


def _only_in(wrong: WrongGradient) -> Found:
    parts = _parts(wrong)
    if parts is None or parts.right.sum() >= parts.wrong.sum():
        return None
    words, found = _range(parts.right)
    if not words or parts.wrong[found].any():
        return None
    return words, _there(wrong, parts.wrong).replace("there", "elsewhere")


def _outside(wrong: WrongGradient) -> Found:
    parts = _parts(wrong)
    if parts is None or parts.right.sum() < parts.wrong.sum():
        return None
    words, found = _range(parts.wrong)
    if not words:
        return None
    return words, "" if parts.right[found].any() else _there(wrong, parts.wrong)


def _scattered(wrong: WrongGradient) -> Found:
    parts = _parts(wrong)
    if parts is None:
        return None
    right, count = int(parts.right.sum()), int((parts.right | parts.wrong).sum())
    first = ", ".join(str(int(place)) for place in np.argwhere(parts.wrong)[0])
    # Fewer are right by what the gradients have in common.
    return (str(right), str(count), f"[{first}]") if 4 * right >= count else None


LIKENESSES = (
    Likeness("zero", _zero, "zero everywhere", 0),
    Likeness("negated", _negated, "negated", 1),
    Likeness("factor", _factor, "{0} times {1} everywhere: a missing factor{2}?", 1),
    Likeness("conjugated", _conjugated, "conjugated", 1),
    Likeness("whole numbers", _whole_numbers, "{0} cut to whole numbers: a cast to an integer?", 1),
    Likeness("without dout", _without_dout, "the same whatever dout is: a missing factor?", 1),
    Likeness("transposed", _transposed, "transposed{0}", 1),
    Likeness("other way up", _other_way_up, "right with {0} transposed", 1),
    Likeness("reversed", _reversed, "reversed along {0}", 1),
    Likeness("shifted", _shifted, "{0} by {1} along axis {2}{3}", 1),
    Likeness("of another", _of_another, "the gradient of {0}: returned in another order?", 1),
    Likeness("offset", _offset, "off by {0} in every element", 1),
    Likeness("missing", _missing, "right if multiplied by {0}: a missing factor?", 1),
    Likeness("too many", _too_many, "right if divided by {0}", 1),
    Likeness("spread", _spread, "the {0} along axis {1} of {2} in each place", 2),
    Likeness("not summed", _not_summed, "what {0} alone gives: not summed over axis {1}?", 2),
    Likeness("by sign", _by_sign, "right but where {0} {1} 0{2}", 3),
    Likeness("only in", _only_in, "right only in {0}{1}", 4),
    Likeness("outside", _outside, "right outside of {0}{1}", 4),
    Likeness("scattered", _scattered, "right in {0} of {1} elements, wrong first at {2}", 5),
)
"""Each thing that a wrong gradient can look like, by tier."""
