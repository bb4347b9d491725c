"""Rearranging elements: shapes, orders, splitting and joining."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import ops
from ...base.argument_checks import check_callable
from ...base.types import Ints, TensorLike
from ...ops.arguments import Axis, check_axes, int_of, ints_of, one_axis
from ...tensors.tensor import Tensor
from .arrays import asarray, several, tensors_of

__all__ = [
    "append",
    "apply_along_axis",
    "apply_over_axes",
    "array_str",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "concatenate",
    "dsplit",
    "expand_dims",
    "flip",
    "hsplit",
    "roll",
    "rollaxis",
    "shape",
    "size",
    "split",
    "vsplit",
]


def shape(a: TensorLike) -> tuple[int, ...]:
    """Return the length of each axis.

    Args:
        a: a Tensor, or a value convertible to one.

    Returns:
        a tuple of ints.
    """
    return asarray(a).shape


def size(a: TensorLike, axis: int | None = None) -> int:
    """Return the number of elements, or the length of one axis.

    Args:
        a: a Tensor, or a value convertible to one.
        axis: the axis; None counts all elements.

    Returns:
        an int.

    Raises:
        IndexError: ``axis`` is out of range.
    """
    x = asarray(a)
    return x.size if axis is None else x.shape[one_axis(axis, x.ndim, "numpy.size")]


def concatenate(arrays: Sequence[TensorLike], axis: int | None = 0) -> Tensor:
    """Concatenate tensors along an existing axis.

    Args:
        arrays: the tensors to join; the shapes differ along ``axis`` at most.
        axis: the axis; None joins them flattened.

    Returns:
        a Tensor.

    Raises:
        ValueError: ``axis`` is out of range, or the shapes do not match.
    """
    tensors = [asarray(item) for item in several(arrays, "numpy.concatenate", "arrays")]
    return ops.cat([ops.reshape(x, (-1,)) for x in tensors]) if axis is None else ops.cat(tensors, axis)


def atleast_1d(*arys: TensorLike) -> Tensor | list[Tensor]:
    """Return tensors with at least one axis: a number becomes a vector of one.

    Args:
        *arys: Tensors, or values convertible to them.

    Returns:
        a Tensor for one argument, a list for several.
    """
    tensors = [_at_least(asarray(x), 1) for x in arys]
    return tensors[0] if len(tensors) == 1 else tensors


def atleast_2d(*arys: TensorLike) -> Tensor | list[Tensor]:
    """Return tensors with at least two axes: a vector becomes a row.

    Args:
        *arys: Tensors, or values convertible to them.

    Returns:
        a Tensor for one argument, a list for several.
    """
    tensors = [_at_least(asarray(x), 2) for x in arys]
    return tensors[0] if len(tensors) == 1 else tensors


def _at_least(tensor: Tensor, axes: int) -> Tensor:
    return tensor if tensor.ndim >= axes else ops.reshape(tensor, (1,) * (axes - tensor.ndim) + tensor.shape)


def split(x: TensorLike, indices_or_sections: Ints, axis: int = 0) -> tuple[Tensor, ...]:
    """Split a tensor along one axis.

    Args:
        x: the tensor to split.
        indices_or_sections: the number of equal pieces; or the indices to split at, ascending.
        axis: the axis.

    Returns:
        a tuple of Tensors.

    Raises:
        ValueError: that many equal pieces do not divide the axis.
    """
    x = check_axes(asarray(x), 1, "numpy.split", "x")
    axis = one_axis(axis, x.ndim, "numpy.split")
    if isinstance(indices_or_sections, int):
        if indices_or_sections < 1 or x.shape[axis] % indices_or_sections:
            raise ValueError(
                f"For 'numpy.split', 'indices_or_sections' {indices_or_sections} must divide the length "
                f"{x.shape[axis]} of axis {axis}"
            )
        return ops.split(x, x.shape[axis] // indices_or_sections, axis)
    ends = [0, *ints_of(indices_or_sections, "numpy.split", "indices_or_sections"), x.shape[axis]]
    return ops.split(x, [high - low for low, high in itertools.pairwise(ends)], axis)


def vsplit(x: TensorLike, indices_or_sections: Ints) -> tuple[Tensor, ...]:
    """Split a tensor along the first axis.

    Args:
        x: the tensor to split, of at least 2 axes.
        indices_or_sections: the number of equal pieces; or the indices to split at, ascending.

    Returns:
        a tuple of Tensors.

    Raises:
        ValueError: too few axes, or that many equal pieces do not divide the axis.
    """
    return _split_along("vsplit", x, indices_or_sections, 0, 2)


def hsplit(x: TensorLike, indices_or_sections: Ints) -> tuple[Tensor, ...]:
    """Split a tensor along the second axis, a vector along its only one.

    Args:
        x: the tensor to split, of at least 1 axis.
        indices_or_sections: the number of equal pieces; or the indices to split at, ascending.

    Returns:
        a tuple of Tensors.

    Raises:
        ValueError: too few axes, or that many equal pieces do not divide the axis.
    """
    return _split_along("hsplit", x, indices_or_sections, 1, 1)


def dsplit(x: TensorLike, indices_or_sections: Ints) -> tuple[Tensor, ...]:
    """Split a tensor along the third axis.

    Args:
        x: the tensor to split, of at least 3 axes.
        indices_or_sections: the number of equal pieces; or the indices to split at, ascending.

    Returns:
        a tuple of Tensors.

    Raises:
        ValueError: too few axes, or that many equal pieces do not divide the axis.
    """
    return _split_along("dsplit", x, indices_or_sections, 2, 3)


def _split_along(name: str, x: TensorLike, indices_or_sections: Ints, axis: int, least: int) -> tuple[Tensor, ...]:
    tensor = asarray(x)
    if tensor.ndim < least:
        raise ValueError(f"For 'numpy.{name}', 'x' must have {least} axes at least, but got shape {tensor.shape}")
    return split(tensor, indices_or_sections, min(axis, tensor.ndim - 1))


def flip(m: TensorLike, axis: Axis = None) -> Tensor:
    """Reverse the order of elements along axes.

    Args:
        m: a Tensor, or a value convertible to one.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.

    Returns:
        a Tensor of the shape of ``m``.

    Raises:
        ValueError: an axis is out of range or repeated.
    """
    m = asarray(m)
    return ops.flip(m, tuple(range(m.ndim)) if axis is None else ints_of(axis, "numpy.flip", "axis"))


def atleast_3d(*arys: TensorLike) -> Tensor | list[Tensor]:
    """Return tensors with at least three axes: a vector becomes (1, n, 1), a matrix (n, m, 1).

    Args:
        *arys: Tensors, or values convertible to them.

    Returns:
        a Tensor for one argument, a list for several.
    """
    tensors = [ops.atleast_3d(asarray(x)) for x in arys]
    return tensors[0] if len(tensors) == 1 else tensors


def expand_dims(a: TensorLike, axis: Ints) -> Tensor:
    """Insert axes of length 1.

    Args:
        a: a Tensor, or a value convertible to one.
        axis: the positions of the new axes in the result: an int, or one for each.

    Returns:
        a Tensor of the same elements.

    Raises:
        TypeError: ``axis`` are not ints.
        ValueError: an axis is out of range or repeated.
    """
    x = asarray(a)
    axes = ints_of(axis, "numpy.expand_dims", "axis")
    positions = sorted(one_axis(position, x.ndim + len(axes), "numpy.expand_dims") for position in axes)
    if len(set(positions)) < len(positions):
        raise ValueError(f"For 'numpy.expand_dims', 'axis' must name each axis once, but got {axis}")
    for position in positions:
        x = ops.expand_dims(x, position)
    return x


def rollaxis(x: TensorLike, axis: int, start: int = 0) -> Tensor:
    """Move one axis back to before another.

    Args:
        x: a Tensor, or a value convertible to one.
        axis: the axis to move, in [-ndim, ndim).
        start: the axis that it is moved before, in [-ndim, ndim].

    Returns:
        a Tensor of the same elements.

    Raises:
        ValueError: one is out of range.
    """
    tensor = asarray(x)
    at = one_axis(axis, tensor.ndim, "numpy.rollaxis")
    start = int_of(start, "numpy.rollaxis", "start")
    if not -tensor.ndim <= start <= tensor.ndim:
        raise ValueError(f"For 'numpy.rollaxis', 'start' must be in [-{tensor.ndim}, {tensor.ndim}], but got {start}")
    before = start + tensor.ndim if start < 0 else start
    return ops.moveaxis(tensor, at, before - 1 if at < before else before)


def roll(a: TensorLike, shift: Ints, axis: Ints | None = None) -> Tensor:
    """Shift elements along axes; those beyond the end return at the start.

    Args:
        a: a Tensor, or a value convertible to one.
        shift: the distance, negative for the other direction; one number for all axes, or one for each.
        axis: the axis or axes; None rolls the flattened elements.

    Returns:
        a Tensor of the shape and dtype of ``a``.

    Raises:
        TypeError: ``shift`` or ``axis`` are not ints.
        ValueError: they differ in length, or an axis is out of range.
    """
    x = asarray(a)
    if axis is None:
        steps = ints_of(shift, "numpy.roll", "shift")
        return ops.roll(x, sum(steps))
    steps, axes = ints_of(shift, "numpy.roll", "shift"), ints_of(axis, "numpy.roll", "axis")
    count = max(len(steps), len(axes))
    return ops.roll(x, *(values * count if len(values) == 1 else values for values in (steps, axes)))


def broadcast_arrays(*args: TensorLike) -> list[Tensor]:
    """Broadcast tensors to a common shape.

    Args:
        *args: Tensors, or values convertible to them.

    Returns:
        a list of Tensors.

    Raises:
        ValueError: the shapes do not broadcast.
    """
    tensors = [asarray(x) for x in args]
    try:
        shape = np.broadcast_shapes(*(x.shape for x in tensors))
    except ValueError:
        shapes = ", ".join(str(x.shape) for x in tensors)
        raise ValueError(f"For 'numpy.broadcast_arrays', shapes must broadcast, but got {shapes}") from None
    return [ops.broadcast_to(x, shape) for x in tensors]


def append(arr: TensorLike, values: TensorLike, axis: int | None = None) -> Tensor:
    """Append elements to others.

    Args:
        arr: the first elements.
        values: the elements to append.
        axis: the axis along which, in [-ndim, ndim); None joins both flattened.

    Returns:
        a Tensor.

    Raises:
        ValueError: ``axis`` is out of range, or the shapes do not match.
    """
    return concatenate(tensors_of(arr, values), axis)


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: TensorLike, *args: Any, **kwargs: Any) -> Tensor:
    """Apply a function of a vector to all vectors along one axis.

    Args:
        func1d: takes a vector and returns a number or a Tensor, of one shape for all.
        axis: the axis, in [-ndim, ndim).
        arr: a Tensor, or a value convertible to one.
        *args: further arguments of the function.
        **kwargs: further keyword arguments.

    Returns:
        a Tensor with the axes of the function's result in place of ``axis``.

    Raises:
        ValueError: ``axis`` is out of range, or an axis has no elements.
    """
    x = asarray(arr)
    at = one_axis(axis, check_axes(x, 1, "numpy.apply_along_axis", "arr").ndim, "numpy.apply_along_axis")
    check_callable(func1d, "numpy.apply_along_axis", "func1d", show=repr)
    if not x.size:
        raise ValueError(f"For 'numpy.apply_along_axis', 'arr' must have elements, but got shape {x.shape}")
    lines = ops.moveaxis(x, at, -1)
    rows = ops.reshape(lines, (-1, x.shape[at]))
    stacked = ops.stack([asarray(func1d(rows[i], *args, **kwargs)) for i in range(rows.shape[0])])
    inner = stacked.shape[1:]
    restored = ops.reshape(stacked, (*lines.shape[:-1], *inner))
    return ops.moveaxis(restored, tuple(range(x.ndim - 1, restored.ndim)), tuple(range(at, at + len(inner))))


def apply_over_axes(func: Callable[[Tensor, int], Tensor], a: TensorLike, axes: Ints) -> Tensor:
    """Apply a function that reduces one axis to several axes in turn.

    Args:
        func: takes a Tensor and an axis, and returns a Tensor that keeps or drops that axis.
        a: a Tensor, or a value convertible to one.
        axes: the axis or axes.

    Returns:
        a Tensor with all axes of ``a``; reduced axes have length 1.

    Raises:
        ValueError: an axis is out of range, or the function returns the wrong rank.
    """
    result = asarray(a)
    check_callable(func, "numpy.apply_over_axes", "func", show=repr)
    for number in ints_of(axes, "numpy.apply_over_axes", "axes"):
        at = one_axis(number, result.ndim, "numpy.apply_over_axes")
        reduced = func(result, at)
        if reduced.ndim == result.ndim - 1:
            reduced = ops.expand_dims(reduced, at)
        if reduced.ndim != result.ndim:
            raise ValueError(
                f"For 'numpy.apply_over_axes', 'func' must return {result.ndim} or {result.ndim - 1} axes, but got "
                f"{reduced.ndim}"
            )
        result = reduced
    return result


def array_str(a: TensorLike) -> str:
    """Return the elements as NumPy prints them.

    Args:
        a: a Tensor, or a value convertible to one.

    Returns:
        a text.
    """
    return np.array_str(asarray(a).asnumpy())
