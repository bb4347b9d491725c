"""Likenesses of a wrong gradient to the right one: "negated", "transposed", "3.29 times it everywhere".

``LIKENESSES`` has a row for each: a name, a test, and the sentence for the result of the test. A test predicts the
wrong gradient from the right one. It succeeds only if the prediction agrees in every element, and differs from the
right gradient in so many elements that chance would do it once in ten thousand times at most.

Everything is tested for two draws of the output gradients, and must hold for both.
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
Match = tuple[str, ...] | None

# An element far below the largest one has a tolerance relative to that one: sums lose its digits.
_OF_LARGEST = 1e-3
# Probability of agreement by chance in distinguishable elements: once in 10 to this power.
_CHANCE = 4
# If two predictions are farther apart than this many tolerances, an element cannot agree with both.
_APART = 2
# Rounding limit of numbers in words: a factor of 0.98 is not 1.
_NEAR = 0.01
# If signs decide, an element is worth a bit: 14 of them are one in ten thousand.
_SIGNS = 7
# The largest tested shift along an axis, and the most axes whose orders are all tested (23 for 4).
_FARTHEST, _MOST_AXES = 8, 4
# Matrices of more rows are not inverted: it takes too long.
_LARGEST_MATRIX = 512
# Arrays with more elements are first tested in a corner of this many elements of each axis, which refutes nearly all.
_SMALL, _CORNER = 4096, 8


@dataclass(frozen=True, eq=False)
class WrongGradient:
    """A wrong gradient and the values it may be made of.

    Arrays of gradients have the shape (2, *shape), float64 or complex128: one for each draw. NaN means unknown, so a
    wrong gradient that is NaN has infinity there.

    Attributes:
        own: the wrong gradient.
        right: the right gradient.
        against: the right gradient in words.
        rtol: the relative tolerance of each element.
        error: the tolerance relative to the largest element.
        others: by name, the right gradients of the other inputs and parameters, (2, *their shape).
        values: by name, inputs, parameters and outputs, (2, *their shape).
        arriving: by name, the output gradients, (2, *their shape).
        lengths: the possible numbers of elements of a mean.
        alone: yields, for the first and the last index along each axis of an output, the index as an expression, the
            axis, and a function of the draw: the right gradient if only the elements at that index counted.
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
        """The axes of ``own`` after the axis of draws."""
        return range(1, self.own.ndim)

    @property
    def telling(self) -> int:
        """The number of elements that distinguishes a prediction from chance."""
        return math.ceil(_CHANCE / -math.log10(min(self.rtol + self.error, 0.5)))

    @property
    def near(self) -> float:
        """The tolerance of a factor, which is more precise than each of its many elements."""
        return min(2 * (self.rtol + self.error), _NEAR)

    @property
    def corner(self) -> tuple[slice, ...]:
        """The elements to test first: all of a small gradient."""
        part = slice(None) if self.own.size <= _SMALL else slice(_CORNER)
        return (slice(None), *(part for _ in self.axes))

    def allowed(self, prediction: Array) -> Array:
        """Return the tolerance of each element of a prediction."""
        size = np.nan_to_num(np.abs(prediction), nan=0.0, posinf=0.0)
        largest = size.max(axis=tuple(range(1, size.ndim)), keepdims=True, initial=0.0)
        return np.asarray(np.maximum(self.rtol * size, (self.rtol * _OF_LARGEST + self.error) * largest))

    def apart(self, prediction: Array, other: Array) -> npt.NDArray[np.bool_]:
        """Return the elements in which two predictions are distinguishable."""
        allowed = np.maximum(self.allowed(prediction), self.allowed(other))
        return np.asarray(np.abs(prediction - other) > _APART * allowed)

    def not_zero(self, array: Array) -> npt.NDArray[np.bool_]:
        """Return the elements that are distinguishable from zero."""
        return np.asarray(np.abs(array) > _APART * self.allowed(array))

    def agrees(self, seen: Array, prediction: Array) -> bool:
        """Return whether each element is as predicted, where the prediction is known."""
        is_known = ~(np.isnan(prediction) | np.isnan(seen))
        return not (is_known & ~(np.abs(seen - prediction) <= self.allowed(prediction))).any()

    def fits(self, prediction: Array, of: Any = ...) -> bool:
        """Return whether ``own``, or a part of it, is as predicted, distinguishable from ``right`` and from chance.

        One element more than ``telling`` is required: a factor or an axis was chosen for the prediction to fit.
        """
        actual, correct = self.own[of], self.right[of]
        if not all(self.agrees(actual[part], prediction[part]) for part in (self.corner, ...)):
            return False
        # Agreement of zeros means little.
        is_distinct = self.apart(prediction[:1], correct[:1]) & self.not_zero(prediction[:1])
        return int(is_distinct.sum()) > self.telling


class Likeness(NamedTuple):
    """One likeness of a wrong gradient.

    Attributes:
        name: its name in tests and messages.
        test: returns the arguments of the sentence, or None if it does not fit.
        sentence: the sentence, with a placeholder for each argument.
        tier: a later tier is tested only if no likeness of an earlier one fits.
    """

    name: str
    test: Callable[[WrongGradient], Match]
    sentence: str
    tier: int


def likeness(wrong: WrongGradient) -> str:
    """Return the likeness of a wrong gradient in a few words; "" if nothing simple fits, or more than two do.

    If the right gradient is zero everywhere, nothing can be said.
    """
    largest = np.nanmax(np.abs(wrong.right[0]), initial=0.0)
    finite = np.abs(wrong.own[np.isfinite(wrong.own)])
    # Sums whose terms cancel leave rounding, which is not a reference for a comparison.
    if not largest > (wrong.rtol + wrong.error) ** 2 * finite.max(initial=0.0):
        return ""
    with np.errstate(all="ignore"):
        for _, tier in itertools.groupby(LIKENESSES, key=lambda row: row.tier):
            sentences = [row.sentence.format(*arguments) for row in tier if (arguments := row.test(wrong)) is not None]
            if sentences:
                first, *others = sentences
                return (
                    ", or ".join([first.removesuffix("?") if others else first, *others]) if len(sentences) <= 2 else ""
                )
    return ""


# Numbers


def _ratio(target: Array, source: Array) -> complex:
    """Return the factor that brings ``source`` closest to ``target``."""
    is_known = np.isfinite(target) & np.isfinite(source)
    target, source = target[is_known], source[is_known]
    size = float(np.square(np.abs(source)).sum())
    ratio = complex(np.vdot(source, target)) / size if size else 0.0
    return ratio if np.iscomplexobj(target) else ratio.real


def _number(number: complex) -> str:
    """Format a number with three digits, or as many as distinguish it from 1 and -1."""
    if abs(number.imag) <= 1e-6 * abs(number):
        number = number.real
    digits = 3
    while digits < 9 and abs(complex(f"{number:.{digits}g}")) == 1 != abs(number):
        digits += 1
    return f"{number:.{digits}g}"


# Tests


def _zero(wrong: WrongGradient) -> Match:
    return None if wrong.own.any() else ()


def _factor_of(wrong: WrongGradient) -> complex | None:
    factor = _ratio(wrong.own, wrong.right)
    return factor if factor and wrong.fits(factor * wrong.right) else None


def _negated(wrong: WrongGradient) -> Match:
    factor = _factor_of(wrong)
    return () if factor is not None and abs(factor + 1) <= wrong.near else None


def _factor(wrong: WrongGradient) -> Match:
    factor = _factor_of(wrong)
    if factor is None or abs(factor + 1) <= wrong.near:
        return None
    averaged = [length for length in wrong.lengths if abs(factor * length - 1) <= wrong.near]
    summed = [length for length in wrong.lengths if abs(factor / length - 1) <= wrong.near]
    cause = ""
    if len(averaged) == 1:
        cause = f", or averaged over {averaged[0]} instead of summed"
    elif len(summed) == 1:
        cause = f", or summed over {summed[0]} instead of averaged"
    return _number(factor), wrong.against, cause


def _whole_numbers(wrong: WrongGradient) -> Match:
    if np.iscomplexobj(wrong.own):
        return None
    is_match = any(wrong.fits(cut(wrong.right)) for cut in (np.trunc, np.floor, np.rint))
    return (wrong.against,) if is_match else None


def _without_dout(wrong: WrongGradient) -> Match:
    first, second = wrong.own[:1], wrong.own[1:]
    return () if wrong.agrees(first, second) and wrong.not_zero(first).sum() >= wrong.telling else None


def _transposed(wrong: WrongGradient) -> Match:
    if not 2 <= len(wrong.axes) <= _MOST_AXES:
        return None
    shape = wrong.own.shape
    for order in itertools.permutations(wrong.axes):
        transposed = wrong.right.transpose(0, *order)
        if transposed.shape == shape and wrong.fits(transposed):
            swapped_axes = [str(axis - 1) for axis, source in zip(wrong.axes, order, strict=True) if axis != source]
            if len(wrong.axes) == 2:
                return ("",)
            if len(swapped_axes) == 2:
                return (f": axes {' and '.join(swapped_axes)} swapped",)
            return (f": its axes in the order {', '.join(str(axis - 1) for axis in order)}",)
    transposed = wrong.right.swapaxes(1, 2)
    if len(wrong.axes) == 2 and transposed.shape != shape and wrong.fits(transposed.reshape(shape)):
        return (", and then given the shape",)
    return None


def _other_way_up(wrong: WrongGradient) -> Match:
    """Test for a product with a matrix instead of its transpose, which the shapes of a square one permit."""
    size = wrong.own.shape[-1]
    if len(wrong.axes) < 2 or np.isnan(wrong.right).any():
        return None
    for name, value in wrong.values:
        matrix = value[0]
        if matrix.shape != (size, size) or size > _LARGEST_MATRIX:
            continue
        with suppress(np.linalg.LinAlgError):  # a singular matrix
            for used, required in ((matrix, matrix.T), (matrix.T, matrix)):
                if wrong.fits(wrong.right @ np.linalg.solve(required, used)):
                    return (name,)
    return None


def _conjugated(wrong: WrongGradient) -> Match:
    return () if np.iscomplexobj(wrong.own) and wrong.fits(wrong.right.conj()) else None


def _reversed(wrong: WrongGradient) -> Match:
    # One axis (for two elements this is a shift, too), or the last two, as for a kernel that is not flipped.
    shape = wrong.own.shape
    single: list[tuple[int, ...]] = [(axis,) for axis in wrong.axes if shape[axis] > 2 or len(wrong.axes) == 1]
    last = [tuple(wrong.axes)[-2:]] if len(wrong.axes) > 1 else []
    for chosen in [*single, *last]:
        if wrong.fits(np.flip(wrong.right, chosen)):
            return (f"{'axes' if len(chosen) > 1 else 'axis'} {' and '.join(str(axis - 1) for axis in chosen)}",)
    return None


def _shifted(wrong: WrongGradient) -> Match:
    for axis in wrong.axes:
        length = wrong.own.shape[axis]
        for distance in range(1, min(length // 2, _FARTHEST) + 1):
            for step in (distance, -distance):
                leading = (slice(None),) * axis
                target, source = (*leading, slice(distance, None)), (*leading, slice(length - distance))
                if step < 0:
                    target, source = source, target
                if not wrong.fits(wrong.right[source], of=target):
                    continue
                is_rolled = wrong.agrees(wrong.own, np.roll(wrong.right, step, axis))
                return (
                    "rolled" if is_rolled else "shifted",
                    str(step),
                    str(axis - 1),
                    "" if is_rolled else ", its edge apart",
                )
    return None


def _of_another(wrong: WrongGradient) -> Match:
    names = [name for name, right in wrong.others if _is(wrong, right)]
    return (" or ".join(names),) if names else None


def _is(wrong: WrongGradient, other: Array) -> bool:
    """Return whether another value's gradient is ``own``, also if summed as for a broadcast value of that shape."""
    shape = wrong.own.shape
    added_axes = other.ndim - wrong.own.ndim
    if added_axes >= 0 and other.shape != shape:
        other = other.sum(axis=tuple(range(1, 1 + added_axes)))
        broadcast_axes = tuple(axis for axis in wrong.axes if shape[axis] == 1)
        other = other.sum(axis=broadcast_axes, keepdims=True)
    return other.shape == shape and wrong.fits(other)


def _spread(wrong: WrongGradient) -> Match:
    for axis in wrong.axes:
        sums = wrong.right.sum(axis, keepdims=True)
        for name, number in (("sum", 1), ("mean", wrong.own.shape[axis])):
            if wrong.fits(np.broadcast_to(sums / number, wrong.own.shape)):
                return name, str(axis - 1), wrong.against
    return None


def _offset(wrong: WrongGradient) -> Match:
    difference = wrong.own - wrong.right
    numbers = [_middle(draw) for draw in difference]
    offset = np.asarray(numbers).reshape(-1, *(1 for _ in wrong.axes))
    middle = np.asarray(_middle(wrong.right[0]))
    varying = int(wrong.apart(wrong.right[:1], np.full(wrong.right[:1].shape, middle)).sum())
    if varying < wrong.telling + 1 or not wrong.fits(wrong.right + offset):
        return None
    is_constant = np.isnan(numbers[1]) or wrong.agrees(np.asarray(numbers[:1]), np.asarray(numbers[1:]))
    return (_number(numbers[0]) if is_constant else "one and the same number",)


def _middle(array: Array) -> Any:
    """Return the median of the known elements; for complex ones, that of each part."""
    finite = array[~np.isnan(array)]
    if not finite.size:
        return np.nan
    return np.median(finite.real) + 1j * np.median(finite.imag) if finite.dtype.kind == "c" else np.median(finite)


# Factors in the gradients of common functions; v and 1 / v are both tested for each.
_FUNCTIONS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("{}", lambda v: v),
    ("{}**2", np.square),
    ("(1 - {})", lambda v: 1 - v),
    ("(1 - {}**2)", lambda v: 1 - np.square(v)),
)


def _missing(wrong: WrongGradient) -> Match:
    if not np.isfinite(wrong.own).all():
        return None
    return _multiplied(wrong, wrong.own, wrong.right, wrong.values)


def _too_many(wrong: WrongGradient) -> Match:
    return _multiplied(wrong, wrong.right, wrong.own, [*wrong.values, *wrong.arriving])


def _multiplied(wrong: WrongGradient, less: Array, more: Array, values: Sequence[tuple[str, Array]]) -> Match:
    """Return the element-wise factor from ``less`` to ``more``."""
    scaled = _ratio(more, less) * less  # a number alone is the subject of another row
    for name, value in _broadcast(values, wrong.own.shape):
        for text, function in _FUNCTIONS:
            for part in (wrong.corner, ...):
                pattern = less[part] * function(value[part])
                number = _ratio(more[part], pattern)
                if not number or not wrong.agrees(more[part], number * pattern):
                    break
            else:
                is_distinct = (wrong.apart(number * pattern, scaled) & wrong.apart(number * pattern, less))[:1]
                zeros = is_distinct & ~wrong.not_zero(number * pattern[:1])
                # Zeros alone, as from a mask, are worth as much as signs.
                if (
                    int((is_distinct & ~zeros).sum()) >= wrong.telling + 2
                    or min(zeros.sum(), (~is_distinct).sum()) >= _SIGNS
                ):
                    is_unit = abs(number - 1) <= wrong.near
                    expression = text.format(name)
                    return (expression.strip("()") if is_unit else f"{_number(number)}*{expression}",)
    return None


def _broadcast(values: Sequence[tuple[str, Array]], shape: tuple[int, ...]) -> Iterator[tuple[str, Array]]:
    """Yield the values that broadcast to a shape; the axis of draws is not broadcast."""
    for name, value in values:
        expanded = value.reshape(2, *(1,) * (len(shape) - value.ndim), *value.shape[1:])
        if expanded.ndim == len(shape) and all(
            length in (1, target) for length, target in zip(expanded.shape, shape, strict=True)
        ):
            yield name, np.broadcast_to(expanded, shape)


def _not_summed(wrong: WrongGradient) -> Match:
    for expression, axis, gradient in wrong.alone():
        prediction = gradient(0)[None]
        is_distinct = wrong.apart(prediction, wrong.right[:1]) & wrong.not_zero(prediction)
        is_match = is_distinct.sum() > wrong.telling and wrong.agrees(wrong.own[:1], prediction)
        if is_match and wrong.agrees(wrong.own[1:], gradient(1)[None]):
            return expression, str(axis)
    return None


class _Parts(NamedTuple):
    """The wrong elements, and the right ones that are not zero; elements as in one draw."""

    wrong: npt.NDArray[np.bool_]
    right: npt.NDArray[np.bool_]


def _parts(wrong: WrongGradient) -> _Parts | None:
    """Return the parts of a gradient that is right in enough elements to exclude chance."""
    is_unknown = np.isnan(wrong.right[0])
    allowed = wrong.allowed(wrong.right)
    is_wrong = (~np.isnan(wrong.right) & ~(np.abs(wrong.own - wrong.right) <= allowed)).any(0)
    is_zero = ~is_unknown & ~is_wrong & (np.abs(wrong.right[0]) <= _APART * allowed[0])
    is_right = ~(is_unknown | is_wrong | is_zero)
    if not is_wrong.any() or 2 * is_unknown.sum() > is_unknown.size or is_right.sum() <= wrong.telling:
        return None
    return _Parts(is_wrong, is_right)


def _there(wrong: WrongGradient, off: npt.NDArray[np.bool_]) -> str:
    """Return the common property of the wrong elements, in words."""
    actual, correct = wrong.own[:, off], wrong.right[:, off]
    if not actual.any():
        return ", zero there"
    if not np.isfinite(actual).any():
        return ", not finite there"
    factor = _ratio(actual, correct)
    if int(off.sum()) <= wrong.telling or not factor or not wrong.agrees(actual, factor * correct):
        return ""
    return f", {_number(factor)} times {wrong.against} there"


def _by_sign(wrong: WrongGradient) -> Match:
    parts = _parts(wrong)
    if parts is None:
        return None
    is_judged = parts.wrong | parts.right
    for name, value in _broadcast(wrong.values, wrong.own.shape):
        values = value[0]
        if np.iscomplexobj(values):
            continue
        for operator, selected in (("<", values < 0), (">", values > 0), ("<=", values <= 0), (">=", values >= 0)):
            is_match = np.array_equal(parts.wrong[is_judged], selected[is_judged])
            if is_match and min(parts.wrong.sum(), parts.right.sum()) >= _SIGNS:
                return name, operator, _there(wrong, parts.wrong)
    return None


def _range(mask: npt.NDArray[np.bool_]) -> tuple[str, tuple[slice, ...]]:
    """Return the smallest range with all marked elements, as an index in words and as one; "" for everything."""
    slices, texts = [], []
    for indices, length in zip(map(np.unique, np.nonzero(mask)), mask.shape, strict=True):
        first, last = int(indices[0]), int(indices[-1])
        steps = np.unique(np.diff(indices))
        step = int(steps[0]) if len(steps) == 1 else 1
        slices.append(slice(first, last + 1, step))
        stride = "" if step == 1 else f":{step}"
        is_complete = step == 1 and last + 1 - first == length
        texts.append(":" if is_complete else f"{first}:{last + 1}{stride}" if first != last else str(first))
    return "" if set(texts) == {":"} else f"[{', '.join(texts)}]", tuple(slices)


def _only_in(wrong: WrongGradient) -> Match:
    parts = _parts(wrong)
    if parts is None or parts.right.sum() >= parts.wrong.sum():
        return None
    text, index = _range(parts.right)
    if not text or parts.wrong[index].any():
        return None
    return text, _there(wrong, parts.wrong).replace("there", "elsewhere")


def _outside(wrong: WrongGradient) -> Match:
    parts = _parts(wrong)
    if parts is None or parts.right.sum() < parts.wrong.sum():
        return None
    text, index = _range(parts.wrong)
    if not text:
        return None
    return text, "" if parts.right[index].any() else _there(wrong, parts.wrong)


def _scattered(wrong: WrongGradient) -> Match:
    parts = _parts(wrong)
    if parts is None:
        return None
    right, count = int(parts.right.sum()), int((parts.right | parts.wrong).sum())
    position = ", ".join(str(int(index)) for index in np.argwhere(parts.wrong)[0])
    # Fewer elements may be right by a common property of the gradients.
    return (str(right), str(count), f"[{position}]") if 4 * right >= count else None


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
"""The likenesses of a wrong gradient, by tier."""
