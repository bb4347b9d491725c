"""Sums, means and extremes over axes, cumulative sums and products, differences and integrals."""

from __future__ import annotations

import math
from collections.abc import Callable

from ... import ops
from ...base.types import AnyDType, Number, TensorLike
from ...ops.arguments import Axis, ints_of, one_axis
from ...tensors.dtype import bool_, float32, int8, int16, int32, uint8, uint16, uint32
from ...tensors.tensor import Tensor
from .arrays import as_singles, as_type, asarray, element_type, floating

__all__ = [
    "average",
    "cumprod",
    "cumsum",
    "ediff1d",
    "gradient",
    "mean",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanstd",
    "nansum",
    "nanvar",
    "sum",
    "trace",
    "trapz",
    "unwrap",
]


def sum(
    a: TensorLike,
    axis: Axis = None,
    dtype: AnyDType | None = None,
    keepdims: bool = False,
    initial: Number | None = None,
) -> Tensor:
    """Return the sum over axes.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        dtype: the dtype of the result; None is Int64 for integers and bools, else that of ``a``.
        keepdims: whether the axes stay, with length 1.
        initial: a number to add.

    Returns:
        a Tensor.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    total = ops.sum(as_type(asarray(a), dtype), axis, keepdims)
    return as_type(total if initial is None else total + initial, dtype)


def mean(a: TensorLike, axis: Axis = None, keepdims: bool = False, dtype: AnyDType | None = None) -> Tensor:
    """Return the mean over axes.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        keepdims: whether the axes stay, with length 1.
        dtype: the dtype to convert to first; None leaves that of ``a``.

    Returns:
        a Tensor.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return ops.mean(as_type(asarray(a), dtype), axis, keepdims)


def average(
    x: TensorLike, axis: Axis = None, weights: TensorLike | None = None, returned: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the weighted mean over axes: sum(x * weights) / sum(weights).

    Args:
        x: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        weights: the weight of each element: of the shape of ``x``, or a vector for the one ``axis``; None is ones.
        returned: whether to return the sums of the weights too.

    Returns:
        a floating Tensor; with ``returned`` a pair of it and the sums of the weights, of the same shape.

    Raises:
        TypeError: ``x`` or ``weights`` cannot be a Tensor, or an axis is not an int.
        ValueError: an axis is out of range, or ``weights`` has the wrong shape.
    """
    x = asarray(x)
    x = x if x.dtype.is_floating_point or x.dtype.is_complex else x.astype(float32)
    factors = ops.ones_like(x) if weights is None else asarray(weights).astype(x.dtype)
    if factors.shape != x.shape:
        if not isinstance(axis, int) or factors.shape != (x.shape[axis],):
            raise ValueError(
                f"For 'numpy.average', 'weights' must have the shape {x.shape} of 'x' or be a vector for one 'axis', "
                f"but got {factors.shape}"
            )
        line = [1] * x.ndim
        line[axis] = factors.size
        factors = ops.broadcast_to(ops.reshape(factors, tuple(line)), x.shape)
    total = ops.sum(factors, axis)
    result = ops.sum(x * factors, axis) / total
    return (result, total) if returned else result


def nanmean(a: TensorLike, axis: Axis = None, dtype: AnyDType | None = None, keepdims: bool = False) -> Tensor:
    """Return the mean over axes of the elements that are not NaN.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        dtype: the dtype of the result; None is Float32, and Float64 for that.
        keepdims: whether the axes stay, with length 1.

    Returns:
        a Tensor, NaN if all elements are NaN.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return as_type(ops.nanmean(as_singles(asarray(a)), axis, keepdims), dtype)


def nanmax(a: TensorLike, axis: Axis = None, dtype: AnyDType | None = None, keepdims: bool = False) -> Tensor:
    """Return the largest over axes of the elements that are not NaN.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        dtype: the dtype of the result; None is that of ``a``.
        keepdims: whether the axes stay, with length 1.

    Returns:
        a Tensor, NaN if all elements are NaN.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return _nanextreme(ops.amax, -math.inf, a, axis, dtype, keepdims)


def nanmin(a: TensorLike, axis: Axis = None, dtype: AnyDType | None = None, keepdims: bool = False) -> Tensor:
    """Return the smallest over axes of the elements that are not NaN.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        dtype: the dtype of the result; None is that of ``a``.
        keepdims: whether the axes stay, with length 1.

    Returns:
        a Tensor, NaN if all elements are NaN.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return _nanextreme(ops.amin, math.inf, a, axis, dtype, keepdims)


def _nanextreme(
    extreme: Callable[..., Tensor], other: float, a: TensorLike, axis: Axis, dtype: AnyDType | None, keepdims: bool
) -> Tensor:
    a = asarray(a)
    if not a.dtype.is_floating_point:
        return as_type(extreme(a, axis, keepdims), dtype)
    missing = ops.isnan(a)
    value = extreme(ops.where(missing, other, a), axis, keepdims)
    return as_type(ops.where(ops.all(missing, axis, keepdims), math.nan, value), dtype)


def nansum(a: TensorLike, axis: Axis = None, dtype: AnyDType | None = None, keepdims: bool = False) -> Tensor:
    """Return the sum over axes, with NaN counted as 0.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        dtype: the dtype of the result; None is Int64 for bools and for integers of other types than Int32, else that
            of ``a``.
        keepdims: whether the axes stay, with length 1.

    Returns:
        a Tensor.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    x = asarray(a)
    return as_type(ops.nansum(x, axis, keepdims), int32 if dtype is None and x.dtype == int32 else dtype)


def cumsum(a: TensorLike, axis: int | None = None, dtype: AnyDType | None = None) -> Tensor:
    """Return the cumulative sum of the elements.

    Args:
        a: the elements.
        axis: the axis, in [-ndim, ndim); None flattens the input.
        dtype: the dtype to sum in; None leaves it, and makes smaller integers and bools Int32.

    Returns:
        a Tensor of the shape of ``a``; a vector if ``axis`` is None.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return asarray(a).cumsum(axis, None if dtype is None else element_type(dtype))


def trace(a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: AnyDType | None = None) -> Tensor:
    """Return the sum of a diagonal of the matrices in two axes.

    Args:
        a: the matrices.
        offset: the diagonal: 0 the main one, above it positive, below it negative.
        axis1: the axis of the rows.
        axis2: the axis of the columns.
        dtype: the dtype of the result; None is Int64 for integers and bools, else that of ``a``.

    Returns:
        a Tensor with the other axes of ``a``.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is not an int.
        ValueError: fewer than two axes, or an axis is out of range.
    """
    return sum(ops.diagonal(asarray(a), offset, axis1, axis2), -1, dtype)


def nanvar(
    a: TensorLike, axis: Axis = None, dtype: AnyDType | None = None, ddof: int = 0, keepdims: bool = False
) -> Tensor:
    """Return the variance over axes of the elements that are not NaN.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        dtype: the dtype of the result; None is Float32, and Float64 for that.
        ddof: subtracted from the number of elements that divides the sum of squares.
        keepdims: whether the axes stay, with length 1.

    Returns:
        a Tensor, NaN for at most ``ddof`` elements.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return as_type(_nanvar(a, axis, ddof, keepdims), dtype)


def nanstd(
    a: TensorLike, axis: Axis = None, dtype: AnyDType | None = None, ddof: int = 0, keepdims: bool = False
) -> Tensor:
    """Return the standard deviation over axes of the elements that are not NaN.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        dtype: the dtype of the result; None is Float32, and Float64 for that.
        ddof: subtracted from the number of elements that divides the sum of squares.
        keepdims: whether the axes stay, with length 1.

    Returns:
        a Tensor, NaN for at most ``ddof`` elements.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return as_type(ops.sqrt(_nanvar(a, axis, ddof, keepdims)), dtype)


def _nanvar(a: TensorLike, axis: Axis, ddof: int, keepdims: bool) -> Tensor:
    x = as_singles(asarray(a))
    missing = ops.isnan(x)
    present = ops.logical_not(missing).astype(x.dtype)
    filled = ops.where(missing, 0.0, x)
    middle = ops.sum(filled, axis, True) / ops.sum(present, axis, True)
    squares = ops.sum(ops.square(filled - middle) * present, axis, keepdims)
    remaining = ops.sum(present, axis, keepdims) - ddof
    return squares / ops.where(remaining > 0, remaining, math.nan)


def cumprod(a: TensorLike, axis: int | None = None, dtype: AnyDType | None = None) -> Tensor:
    """Return the cumulative product of the elements.

    Args:
        a: the elements.
        axis: the axis, in [-ndim, ndim); None flattens the input.
        dtype: the dtype to multiply in; None leaves it, and makes smaller integers Int32 or UInt32 and bools Int32.

    Returns:
        a Tensor of the shape of ``a``; a vector if ``axis`` is None.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    x = asarray(a)
    wider = {bool_: int32, int8: int32, int16: int32, uint8: uint32, uint16: uint32}
    kind = wider.get(x.dtype, x.dtype) if dtype is None else element_type(dtype)
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    return ops.cumprod(x, one_axis(axis, x.ndim, "numpy.cumprod"), kind)


def nancumsum(a: TensorLike, axis: int | None = None, dtype: AnyDType | None = None) -> Tensor:
    """Return the cumulative sum of the elements, with NaN counted as 0.

    Args:
        a: the elements.
        axis: the axis, in [-ndim, ndim); None flattens the input.
        dtype: the dtype to sum in; None leaves it, and makes smaller integers and bools Int32.

    Returns:
        a Tensor of the shape of ``a``; a vector if ``axis`` is None.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    x = asarray(a)
    return cumsum(ops.where(ops.isnan(x), 0, x) if x.dtype.is_floating_point else x, axis, dtype)


# Differences and integrals


def ediff1d(ary: TensorLike, to_end: TensorLike | None = None, to_begin: TensorLike | None = None) -> Tensor:
    """Return the differences of neighbors in the flattened input.

    Args:
        ary: the elements.
        to_end: appended to the differences.
        to_begin: prepended to the differences.

    Returns:
        a vector of the dtype of ``ary``.

    Raises:
        TypeError: an argument cannot be a Tensor.
    """
    x = ops.reshape(asarray(ary), (-1,))
    ends = [None if end is None else ops.reshape(asarray(end).astype(x.dtype), (-1,)) for end in (to_begin, to_end)]
    return ops.cat([end for end in (ends[0], ops.diff(x), ends[1]) if end is not None])


def gradient(f: TensorLike, *varargs: Number, axis: Axis = None, edge_order: int = 1) -> Tensor | list[Tensor]:
    """Return the gradient of a function sampled at grid points, from the neighbors on both sides.

    Args:
        f: the values of the function.
        *varargs: the spacing of the points, 1 by default: one number for all axes, or one for each.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        edge_order: 1: at the ends the difference to the neighbor.

    Returns:
        for each axis a Tensor of the shape of ``f``, Float32, and Float64 and complex for those; a list of several, a
        single one by itself.

    Raises:
        TypeError: neither one distance nor one for each axis.
        ValueError: an axis is out of range, or has fewer than 2 points.
        NotImplementedError: spacings that vary, or an unsupported ``edge_order``.
    """
    x = as_singles(asarray(f))
    if edge_order != 1:
        raise NotImplementedError(f"For 'numpy.gradient', 'edge_order' must be 1, but got {edge_order!r}")
    if not all(isinstance(number, int | float) for number in varargs):
        raise NotImplementedError("For 'numpy.gradient', the distances must be numbers: one along each axis")
    numbers = range(x.ndim) if axis is None else ints_of(axis, "numpy.gradient", "axis")
    axes = [one_axis(number, x.ndim, "numpy.gradient") for number in numbers]
    steps = [1.0] * len(axes) if not varargs else list(varargs) * (len(axes) if len(varargs) == 1 else 1)
    if len(steps) != len(axes):
        raise TypeError(f"For 'numpy.gradient', there must be 1 distance or {len(axes)}, but got {len(varargs)}")
    gradients = []
    for at, step in zip(axes, steps, strict=True):
        n = x.shape[at]
        if n < 2:
            raise ValueError(f"For 'numpy.gradient', axis {at} must have 2 points at least, but got shape {x.shape}")
        lines = ops.moveaxis(x, at, 0)
        slopes = [lines[1:2] - lines[:1], (lines[2:] - lines[:-2]) / 2, lines[-1:] - lines[-2:-1]]
        gradients.append(ops.moveaxis(ops.cat(slopes, 0) / step, 0, at))
    return gradients[0] if len(gradients) == 1 else gradients


def trapz(y: TensorLike, x: TensorLike | None = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    """Return the integral along one axis by the trapezoidal rule.

    Args:
        y: the values of the function.
        x: the sample points; None: ``dx`` apart. It is a vector, or has the shape of ``y``.
        dx: their spacing.
        axis: the axis, in [-ndim, ndim).

    Returns:
        a floating Tensor with the other axes of ``y``.

    Raises:
        TypeError: ``y`` or ``x`` cannot be a Tensor.
        ValueError: ``axis`` is out of range, or the shapes do not match.
    """
    values = floating(y)
    return ops.trapz(values, None if x is None else floating(x), dx=dx, dim=one_axis(axis, values.ndim, "numpy.trapz"))


def unwrap(p: TensorLike, discont: float = math.pi, axis: int = -1) -> Tensor:
    """Return angles without jumps: multiples of 2 pi are added to steps larger than half a turn.

    Args:
        p: the angles in radians.
        discont: the largest step that is left unchanged; below pi it counts as pi.
        axis: the axis of successive angles, in [-ndim, ndim).

    Returns:
        a Tensor of the shape of ``p``, Float32, and Float64 of that.

    Raises:
        TypeError: ``p`` cannot be a Tensor.
        ValueError: ``axis`` is out of range.
    """
    x = as_singles(asarray(p))
    lines = ops.moveaxis(x, one_axis(axis, x.ndim, "numpy.unwrap"), 0)
    steps = lines[1:] - lines[:-1]
    wrapped = ops.remainder(steps + math.pi, 2 * math.pi) - math.pi
    wrapped = ops.where(ops.logical_and(wrapped == -math.pi, steps > 0), math.pi, wrapped)
    added = ops.where(ops.abs(steps) < discont, 0.0, wrapped - steps)
    return ops.moveaxis(ops.cat([lines[:1], lines[1:] + ops.cumsum(added, 0)], 0), 0, axis)
