"""``mindspore.dataset.transforms``: transforms of any value of a row. Each is called with NumPy arrays."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from ..base.argument_checks import check_number, check_positive_int, check_type
from ..base.module_names import name_methods
from ..base.types import AnyDType, Array, DTypeLike, Number, TensorLike
from ..tensors.dtype import any_dtype, bool_, numpy_dtype
from ..tensors.tensor import Tensor
from .config import current_random
from .steps import as_array, like, pad

__all__ = [
    "Compose",
    "Concatenate",
    "Duplicate",
    "Fill",
    "Mask",
    "OneHot",
    "PadEnd",
    "Plugin",
    "RandomApply",
    "RandomChoice",
    "RandomOrder",
    "Relational",
    "Slice",
    "Transform",
    "TypeCast",
    "Unique",
    "not_random",
]

F = TypeVar("F")


class Transform:
    """A function of arrays, applied to each argument. A subclass defines ``changed``."""

    def __call__(self, *values: Any) -> Any:
        changed = [self.changed(np.asarray(value)) for value in values]
        return changed[0] if len(changed) == 1 else tuple(changed)

    def changed(self, value: Array) -> Array:
        """Return the transformed array.

        Args:
            value: a NumPy array.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define 'changed'")


class TypeCast(Transform):
    """Converts to another element type.

    Args:
        data_type: a dtype of the engine or of NumPy.

    Raises:
        TypeError: not a dtype.
    """

    def __init__(self, data_type: AnyDType) -> None:
        self.dtype = np.dtype(any_dtype(data_type).numpy)

    def changed(self, value: Array) -> Array:
        return value.astype(self.dtype)


class OneHot(Transform):
    """Converts a class number to a row of zeros with a one; several in one axis to a matrix. Axes of length 1 are
    dropped.

    Args:
        num_classes: the length of the row, an int above 0.
        smoothing_rate: the fraction of the one, from 0 to 1, that is spread over all classes.

    Raises:
        TypeError: ``num_classes`` is not an int.
        ValueError: a number outside its range.
        RuntimeError: when called, a label that is not an int below ``num_classes``, or labels with several axes.
    """

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        check_positive_int(num_classes, "OneHot", "num_classes", show=repr)
        if not 0 <= smoothing_rate <= 1:
            raise ValueError(f"For 'OneHot', 'smoothing_rate' must be from 0 to 1, but got {smoothing_rate}")
        self.num_classes, self.smoothing_rate = num_classes, smoothing_rate

    def changed(self, value: Array) -> Array:
        if value.dtype.kind not in "iu" or (value.size and not (value.min() >= 0 and value.max() < self.num_classes)):
            raise RuntimeError(f"For 'OneHot', labels must be ints from 0 to {self.num_classes - 1}, but got {value}")
        if value.squeeze().ndim > 1:
            raise RuntimeError(f"For 'OneHot', labels must have one axis at most, but got the shape {value.shape}")
        rows = np.eye(self.num_classes, dtype=value.dtype)[value.squeeze()]
        if not self.smoothing_rate:
            return np.asarray(rows)
        return np.asarray(rows * (1 - self.smoothing_rate) + self.smoothing_rate / self.num_classes)


class Fill(Transform):
    """Replaces all elements by one value, in the shape and dtype of the input.

    Args:
        fill_value: the value, a number, or text for text.

    Raises:
        TypeError: ``fill_value`` is neither.
        RuntimeError: when called, text for numbers or a number for text.
    """

    def __init__(self, fill_value: Number | str | bytes) -> None:
        check_type(fill_value, int | float | str | bytes, "Fill", "fill_value", "a number or text")
        self.fill_value = fill_value

    def changed(self, value: Array) -> Array:
        if isinstance(self.fill_value, str | bytes) is not (value.dtype.kind in "SU"):
            raise RuntimeError(f"For 'Fill', {self.fill_value!r} cannot be put in the place of values of {value.dtype}")
        if value.dtype.kind in "SU":
            return np.full(value.shape, np.asarray(self.fill_value).astype(value.dtype.kind))
        return np.full(value.shape, *like(value, self.fill_value))


class Relational(enum.IntEnum):
    """Comparisons of ``Mask``."""

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


_COMPARISONS: dict[Relational, Callable[..., Any]] = {
    Relational.EQ: np.equal,
    Relational.NE: np.not_equal,
    Relational.GT: np.greater,
    Relational.GE: np.greater_equal,
    Relational.LT: np.less,
    Relational.LE: np.less_equal,
}


class Mask(Transform):
    """Marks the elements for which a comparison with a constant holds.

    Args:
        operator: the comparison.
        constant: a number, or text for text.
        dtype: the element type of the result.

    Raises:
        TypeError: an argument of the wrong type.
        RuntimeError: when called, text for numbers or a number for text.
    """

    def __init__(self, operator: Relational, constant: Number | str | bytes, dtype: DTypeLike = bool_) -> None:
        check_type(operator, Relational, "Mask", "operator", "a Relational", show=repr)
        check_type(constant, str | bytes | bool | int | float, "Mask", "constant", "a number or text", show=repr)
        self.compare, self.constant, self.dtype = _COMPARISONS[operator], constant, np.dtype(numpy_dtype(dtype))

    def changed(self, value: Array) -> Array:
        if isinstance(self.constant, str | bytes) is not (value.dtype.kind in "SU"):
            raise RuntimeError(f"For 'Mask', values of {value.dtype} cannot be compared with {self.constant!r}")
        return np.asarray(self.compare(value, self.constant)).astype(self.dtype)


class Plugin:
    """Not covered: a transform in a shared library of MindSpore's.

    Args:
        lib_path: not used.
        func_name: not used.
        user_args: not used.

    Raises:
        NotImplementedError: always; the message names an alternative.
    """

    def __init__(self, lib_path: str, func_name: str, user_args: str | None = None) -> NoReturn:
        raise NotImplementedError(
            "transforms.Plugin is not covered by hookscope: write the transform in Python, or call the library by "
            "ctypes"
        )


def not_random(function: F) -> F:
    """Mark a user's transform as deterministic, by setting its attribute ``random`` to False.

    Args:
        function: a function or class, which is returned.
    """
    function.random = False  # type: ignore[attr-defined]  # MindSpore's mark on any function
    return function


class PadEnd(Transform):
    """Changes the shape: longer axes are padded at the end, and shorter ones cut off.

    Args:
        pad_shape: a length for each axis; None leaves an axis unchanged.
        pad_value: the padding; by default 0, or "" for text.

    Raises:
        TypeError: not a list of lengths.
        ValueError: a length below 1.
        RuntimeError: when called, a value of the wrong rank, or text for numbers.
    """

    def __init__(self, pad_shape: Sequence[int | None], pad_value: Number | str | bytes | None = None) -> None:
        check_type(pad_shape, list | tuple, "PadEnd", "pad_shape", "a list of lengths", show=repr)
        for length in pad_shape:
            if length is not None:
                check_positive_int(length, "PadEnd", "pad_shape", show=repr)
        self.pad_shape, self.pad_value = list(pad_shape), pad_value

    def changed(self, value: Array) -> Array:
        return pad("For 'PadEnd', the value", [value], (self.pad_shape, self.pad_value))[0]


class Slice(Transform):
    """Takes a part of the value, keeping all axes.

    Args:
        *slices: the selection along each axis: a slice, an int (one index), a list of ints (these indices), or None or
            True (all); an ellipsis is all axes not listed.

    Raises:
        TypeError: something else.
        RuntimeError: when called, more of them than axes, or an index out of range.
    """

    def __init__(self, *slices: Any) -> None:
        for item in slices:
            entries = item if isinstance(item, list) else [item]
            ints = bool(entries) and all(isinstance(i, int | np.integer) and not isinstance(i, bool) for i in entries)
            if not (ints or item is None or item is True or item is ... or isinstance(item, slice)):
                raise TypeError(
                    f"For 'Slice', 'slices' must be slices, ints, lists of ints, None, True or ..., but got {item!r}"
                )
        if sum(item is ... for item in slices) > 1:
            raise TypeError(f"For 'Slice', 'slices' may have one ellipsis, but got {slices!r}")
        self.slices = slices

    def changed(self, value: Array) -> Array:
        remaining = value.ndim - sum(item is not ... for item in self.slices)
        if remaining < 0:
            raise RuntimeError(f"For 'Slice', there are {len(self.slices)} 'slices', but the shape is {value.shape}")
        axis = 0
        for item in self.slices:
            if item is ...:
                axis += remaining
                continue
            if isinstance(item, slice):
                value = value[(slice(None),) * axis + (item,)]
            elif item is not None and item is not True:
                indices: Any = [item] if isinstance(item, int | np.integer) else item
                length = value.shape[axis]
                if any(not -length <= i < length for i in indices):
                    raise RuntimeError(f"For 'Slice', places must be in [{-length}, {length}), but got {item!r}")
                value = value.take(indices, axis)
            axis += 1
        return value


class Concatenate(Transform):
    """Concatenates values with others before and after, all with one axis.

    Args:
        axis: 0 or -1.
        prepend: an array before them.
        append: an array after them.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: the wrong axis, or an array with several.
        RuntimeError: when called, values with several axes or of the wrong dtypes.
    """

    def __init__(self, axis: int = 0, prepend: TensorLike | None = None, append: TensorLike | None = None) -> None:
        if check_type(axis, int, "Concatenate", "axis") not in (0, -1):
            raise ValueError(f"For 'Concatenate', 'axis' must be 0 or -1, but got {axis}")
        for name, array in (("prepend", prepend), ("append", append)):
            check_type(array, np.ndarray | Tensor | list | None, "Concatenate", name, "an array", show=repr)
            if array is not None and np.ndim(as_array(array)) != 1:
                raise ValueError(f"For 'Concatenate', '{name}' must have one axis, but got {np.shape(as_array(array))}")
        self.axis, self.prepend, self.append = axis, prepend, append

    def __call__(self, *values: Any) -> Any:
        parts = [as_array(part) for part in (self.prepend, *values, self.append) if part is not None]
        if (
            any(part.ndim != 1 for part in parts)
            or len({part.dtype.str[:2] for part in parts}) > 1
            or len({part.dtype for part in parts if part.dtype.kind not in "SU"}) > 1
        ):
            kinds = [f"{part.dtype}{part.shape}" for part in parts]
            raise RuntimeError(f"For 'Concatenate', values must have one axis and one dtype, but got {kinds}")
        return np.concatenate(parts, self.axis)


class Duplicate(Transform):
    """Returns the value twice.

    Raises:
        RuntimeError: when called with several values.
    """

    def __call__(self, *values: Any) -> Any:
        if len(values) != 1:
            raise RuntimeError(f"For 'Duplicate', there must be one value, but got {len(values)}")
        return values[0], values[0]


class Unique(Transform):
    """Returns the unique elements by first occurrence, the index of each element among them, and their counts."""

    def __call__(self, *values: Any) -> Any:
        unique_values, first, inverse, counts = np.unique(
            values[0], return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first)
        return (
            unique_values[order],
            np.argsort(order)[inverse.reshape(-1)].astype(np.int32),
            counts[order].astype(np.int32),
        )


class Compose:
    """Transforms in sequence.

    Args:
        transforms: a list of functions; a returned tuple is the arguments of the next.

    Raises:
        TypeError: not a list of functions.
        ValueError: an empty list.
    """

    def __init__(self, transforms: list[Callable[..., Any]]) -> None:
        self.transforms = _functions(type(self).__name__, transforms)

    def __call__(self, *values: Any) -> Any:
        for transform in self.transforms:
            result = transform(*values)
            values = result if isinstance(result, tuple) else (result,)
        return values[0] if len(values) == 1 else values


class Sometimes:
    """Applies a transform with probability ``prob``, else returns its input."""

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = probability(type(self).__name__, prob)

    def __call__(self, *values: Any) -> Any:
        if current_random().random() < self.prob:
            return super().__call__(*values)  # type: ignore[misc]  # of the transform, the next base
        return values[0] if len(values) == 1 else values


class RandomApply(Sometimes, Compose):
    """Applies all of the transforms in sequence with probability ``prob``, or none.

    Args:
        transforms: a list of functions.
        prob: the probability, from 0 to 1.

    Raises:
        TypeError: not a list of functions, or not a number.
        ValueError: an empty list, or a probability outside its range.
    """

    def __init__(self, transforms: list[Callable[..., Any]], prob: float = 0.5) -> None:
        Compose.__init__(self, transforms)
        self.prob = probability("RandomApply", prob)


class RandomChoice(Compose):
    """Applies one of the transforms, drawn uniformly.

    Args:
        transforms: a list of functions.

    Raises:
        TypeError: not a list of functions.
        ValueError: an empty list.
    """

    def __call__(self, *values: Any) -> Any:
        return self.transforms[int(current_random().integers(len(self.transforms)))](*values)


class RandomOrder(Compose):
    """Applies all of the transforms, in random order.

    Args:
        transforms: a list of functions.

    Raises:
        TypeError: not a list of functions.
        ValueError: an empty list.
    """

    def __call__(self, *values: Any) -> Any:
        order = current_random().permutation(len(self.transforms))
        return Compose([self.transforms[index] for index in order])(*values)


def _functions(caller: str, functions: list[Callable[..., Any]]) -> list[Callable[..., Any]]:
    if isinstance(functions, list) and not functions:
        raise ValueError(f"For '{caller}', 'transforms' must not be empty")
    if not isinstance(functions, list) or not all(callable(function) for function in functions):
        raise TypeError(f"For '{caller}', 'transforms' must be a list of functions, but got {functions!r}")
    return functions


def probability(caller: str, prob: float) -> float:
    """Raise TypeError or ValueError unless the value is a number from 0 to 1."""
    check_number(prob, caller, "prob", show=repr)
    if not 0 <= prob <= 1:
        raise ValueError(f"For '{caller}', 'prob' must be from 0 to 1, but got {prob}")
    return float(prob)


name_methods(globals(), inner=(Sometimes,))
