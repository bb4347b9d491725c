"""``mindspore.dataset.transforms``: what may be done with any value of a row. Each is called with NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.dtype import numpy_dtype
from ..core.types import Array, DTypeLike, Number, TensorLike
from .config import current_random
from .steps import like, padded

__all__ = [
    "Compose", "Concatenate", "Duplicate", "Fill", "OneHot", "PadEnd", "RandomApply", "RandomChoice", "RandomOrder",
    "Slice", "Transform", "TypeCast", "Unique",
]  # fmt: skip


class Transform:
    """A function of arrays: called with several, it changes each. A subclass defines ``changed``."""

    def __call__(self, *values: Any) -> Any:
        changed = [self.changed(np.asarray(value)) for value in values]
        return changed[0] if len(changed) == 1 else tuple(changed)

    def changed(self, value: Array) -> Array:
        """The array after the change.

        Args:
            value: a NumPy array.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define 'changed'")


class TypeCast(Transform):
    """Another element type.

    Args:
        data_type: a dtype of the engine or of NumPy.

    Raises:
        TypeError: no dtype.
    """

    def __init__(self, data_type: DTypeLike) -> None:
        self.dtype = np.dtype(numpy_dtype(data_type))

    def changed(self, value: Array) -> Array:
        return value.astype(self.dtype)


class OneHot(Transform):
    """A class number as a row of zeros with a one.

    Args:
        num_classes: the length of the row, an int above 0.
        smoothing_rate: this share of the one, from 0 to 1, is spread over all classes.

    Raises:
        TypeError: ``num_classes`` is no int.
        ValueError: a number outside its range.
        RuntimeError: when called, a label that is no int below ``num_classes``.
    """

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        if isinstance(num_classes, bool) or not isinstance(num_classes, int):
            raise TypeError(f"For 'OneHot', 'num_classes' must be an int, but got {num_classes!r}")
        if num_classes < 1:
            raise ValueError(f"For 'OneHot', 'num_classes' must be above 0, but got {num_classes}")
        if not 0 <= smoothing_rate <= 1:
            raise ValueError(f"For 'OneHot', 'smoothing_rate' must be from 0 to 1, but got {smoothing_rate}")
        self.num_classes, self.smoothing_rate = num_classes, smoothing_rate

    def changed(self, value: Array) -> Array:
        if value.dtype.kind not in "iu" or (value.size and not (value.min() >= 0 and value.max() < self.num_classes)):
            raise RuntimeError(f"For 'OneHot', labels must be ints from 0 to {self.num_classes - 1}, but got {value}")
        rows = np.eye(self.num_classes, dtype=value.dtype)[value]
        if not self.smoothing_rate:
            return np.asarray(rows)
        return np.asarray(rows * (1 - self.smoothing_rate) + self.smoothing_rate / self.num_classes)


class Fill(Transform):
    """One value everywhere, in the shape and dtype of the input.

    Args:
        fill_value: the value, a number, or text for text.

    Raises:
        RuntimeError: when called, text for numbers or a number for text.
    """

    def __init__(self, fill_value: Number | str | bytes) -> None:
        self.fill_value = fill_value

    def changed(self, value: Array) -> Array:
        if isinstance(self.fill_value, str | bytes) is not (value.dtype.kind in "SU"):
            raise RuntimeError(f"For 'Fill', {self.fill_value!r} cannot be put in the place of values of {value.dtype}")
        return np.full(value.shape, *like(value, self.fill_value))


class PadEnd(Transform):
    """Another shape: values are put behind where it is larger, and cut off where it is smaller.

    Args:
        pad_shape: a length for each axis; None leaves an axis as it is.
        pad_value: what is put behind; 0 without it, or "" for text.

    Raises:
        RuntimeError: when called, a value with another number of axes, or text for numbers.
    """

    def __init__(self, pad_shape: Sequence[int | None], pad_value: Number | str | bytes | None = None) -> None:
        self.pad_shape, self.pad_value = list(pad_shape), pad_value

    def changed(self, value: Array) -> Array:
        return padded("For 'PadEnd', the value", [value], (self.pad_shape, self.pad_value))[0]


class Slice(Transform):
    """A part of the value: on each axis these places. The number of axes stays.

    Args:
        *slices: for each axis a slice, an int or a list of ints (these places), or None or True (all); ``...`` stands
            for the axes that are left over.

    Raises:
        RuntimeError: when called, more slices than axes, or no such place.
    """

    def __init__(self, *slices: Any) -> None:
        self.slices = slices

    def changed(self, value: Array) -> Array:
        given = list(self.slices)
        if any(one is ... for one in given):
            place = next(i for i, one in enumerate(given) if one is ...)
            given[place : place + 1] = [None] * (value.ndim - len(given) + 1)
        if len(given) > value.ndim:
            raise RuntimeError(f"For 'Slice', there are {len(given)} slices, but the value has the shape {value.shape}")
        for axis, one in enumerate(given):
            if one is None or one is True:
                continue
            places = [int(one)] if isinstance(one, int | np.integer) else one
            try:
                value = value[(slice(None),) * axis + (places,)]
            except IndexError as error:
                raise RuntimeError(f"For 'Slice', {error}") from error
        return value


class Concatenate(Transform):
    """Values with others before and behind.

    Args:
        axis: the axis along which.
        prepend: what comes before.
        append: what comes behind.
    """

    def __init__(self, axis: int = 0, prepend: TensorLike | None = None, append: TensorLike | None = None) -> None:
        self.axis, self.prepend, self.append = axis, prepend, append

    def __call__(self, *values: Any) -> Any:
        parts = [self.prepend, *values, self.append]
        return np.concatenate([np.asarray(part) for part in parts if part is not None], self.axis)


class Duplicate(Transform):
    """The value twice."""

    def __call__(self, *values: Any) -> Any:
        return values[0], values[0]


class Unique(Transform):
    """Different elements as they first come, the place of each element among them, and how often each is there."""

    def __call__(self, *values: Any) -> Any:
        found, first, places, counts = np.unique(values[0], return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first)
        return found[order], np.argsort(order)[places.reshape(-1)].astype(np.int32), counts[order].astype(np.int32)


class Compose:
    """Transforms one after another.

    Args:
        transforms: a list of functions; a tuple that one returns is the arguments of the next.

    Raises:
        TypeError: no list of functions.
    """

    def __init__(self, transforms: list[Callable[..., Any]]) -> None:
        self.transforms = _functions(type(self).__name__, transforms)

    def __call__(self, *values: Any) -> Any:
        for transform in self.transforms:
            result = transform(*values)
            values = result if isinstance(result, tuple) else (result,)
        return values[0] if len(values) == 1 else values


class RandomApply(Compose):
    """All of the transforms one after another with probability ``prob``, or none.

    Args:
        transforms: a list of functions.
        prob: the probability, from 0 to 1.

    Raises:
        TypeError: no list of functions, or no number.
        ValueError: a probability outside its range.
    """

    def __init__(self, transforms: list[Callable[..., Any]], prob: float = 0.5) -> None:
        super().__init__(transforms)
        self.prob = probability("RandomApply", prob)

    def __call__(self, *values: Any) -> Any:
        if current_random().random() < self.prob:
            return super().__call__(*values)
        return values[0] if len(values) == 1 else values


class RandomChoice(Compose):
    """One of the transforms, each as likely as another.

    Args:
        transforms: a list of functions.

    Raises:
        TypeError: no list of functions.
    """

    def __call__(self, *values: Any) -> Any:
        return self.transforms[int(current_random().integers(len(self.transforms)))](*values)


class RandomOrder(Compose):
    """All of the transforms, in random order.

    Args:
        transforms: a list of functions.

    Raises:
        TypeError: no list of functions.
    """

    def __call__(self, *values: Any) -> Any:
        order = current_random().permutation(len(self.transforms))
        return Compose([self.transforms[place] for place in order])(*values)


def _functions(who: str, given: list[Callable[..., Any]]) -> list[Callable[..., Any]]:
    if not isinstance(given, list) or not given or not all(callable(one) for one in given):
        raise TypeError(f"For '{who}', 'transforms' must be a list of functions, but got {given!r}")
    return given


def probability(who: str, prob: float) -> float:
    """Refuse what is no number from 0 to 1."""
    if isinstance(prob, bool) or not isinstance(prob, int | float):
        raise TypeError(f"For '{who}', 'prob' must be a number, but got {prob!r}")
    if not 0 <= prob <= 1:
        raise ValueError(f"For '{who}', 'prob' must be from 0 to 1, but got {prob}")
    return float(prob)
