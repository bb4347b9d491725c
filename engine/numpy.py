"""``mindspore.numpy``: NumPy's names for tensors. Numbers of Python become Int32 and Float32 here, as in MindSpore.

What is the same in ``ops``, or has other names of arguments there, is declared there (``numpy=``) and takes lists and
numbers here besides (``_taking_lists``); here is what differs otherwise.
"""

from __future__ import annotations

import builtins
import inspect
import itertools
import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as _np

from . import ops
from .core.checks import check_bool
from .core.dtype import (
    DType,
    any_dtype,
    bool_,
    float32,
    float64,
    int32,
    int64,
    numpy_dtype,
)
from .core.names import on_first_use
from .core.nested import tensors_in as _tensors_in
from .core.operator import Operator
from .core.surfaces import NUMPY as _NUMPY
from .core.tensor import Tensor
from .core.types import AnyDType, Ints, Number, Operand, TensorLike
from .mint.functions import diag as found
from .ops.arguments import Axis, one_axis
from .ops.joining import open_grid as _open_grid
from .ops.shape import tensor_of as _tensor_of
from .ops.sorting import unique_sorted as _unique_sorted

pi, e, inf, nan = math.pi, math.e, math.inf, math.nan
newaxis = None


def _dtype(dtype: AnyDType) -> DType:
    """An element type of the engine's, given so, by NumPy's name, or as a Python type."""
    named: dict[Any, Any] = {int: int32, float: float32, bool: bool_}
    return any_dtype(named.get(dtype, dtype))


def array(obj: TensorLike, dtype: AnyDType | None = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """A Tensor of numbers, lists, arrays or tensors, whose gradients pass; Python's ints become Int32, floats Float32.

    Args:
        obj: what it is made of; a Tensor and an array keep their dtype.
        dtype: the element type; None as said.
        copy: accepted for NumPy's sake: the result is a Tensor of its own either way.
        ndmin: how many axes there are at least; those that are missing are put in front, of length 1.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``obj`` cannot be a Tensor, or ``dtype`` names no element type.
    """
    found = _tensor_of(obj)
    if found is obj:
        found = found.clone()
    if dtype is None and not isinstance(obj, Tensor | _np.ndarray):
        dtype = {int64: int32, float64: float32}.get(found.dtype)
    if dtype is not None:
        # What holds no tensor is made in its dtype at once: large integers are not rounded on the way.
        found = found.astype(_dtype(dtype)) if _tensors_in(obj) else Tensor(obj, _dtype(dtype))
    while found.ndim < ndmin:
        found = ops.expand_dims(found, 0)
    return found


def asarray(a: TensorLike, dtype: AnyDType | None = None) -> Tensor:
    """A Tensor of numbers, lists, arrays or tensors; Python's ints become Int32 and its floats Float32.

    Args:
        a: what it is made of; a Tensor is returned itself where ``dtype`` is None.
        dtype: the element type; None keeps that of ``a``.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or ``dtype`` names no element type.
    """
    return a if isinstance(a, Tensor) and dtype is None else array(a, dtype)


def asfarray(a: TensorLike, dtype: AnyDType = float32) -> Tensor:
    """A floating Tensor of numbers, lists, arrays or tensors.

    Args:
        a: what it is made of.
        dtype: the element type; one that is not floating becomes Float32.

    Returns:
        a Tensor of the shape of ``a``.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or ``dtype`` names no element type.
    """
    wanted = _dtype(dtype)
    return asarray(a, wanted if wanted.is_floating_point else float32)


def copy(a: TensorLike) -> Tensor:
    """A copy that gradients pass.

    Args:
        a: a Tensor, or what one can be made of.

    Returns:
        a Tensor of its shape and dtype.
    """
    return asarray(a).clone()


def _as(found: Tensor, dtype: AnyDType | None) -> Tensor:
    return found if dtype is None else found.astype(_dtype(dtype))


# Made from nothing


def _made(values: object, dtype: AnyDType) -> Tensor:
    return Tensor(_np.asarray(values).astype(numpy_dtype(_dtype(dtype))))


def zeros(shape: Ints, dtype: AnyDType = float32) -> Tensor:
    """A Tensor of zeros; ``empty`` is another name of it.

    Args:
        shape: its shape: an int, or one for each axis.
        dtype: the element type.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``shape`` are no ints, or ``dtype`` names no element type.
    """
    return ops.zeros(shape, _dtype(dtype))


def ones(shape: Ints, dtype: AnyDType = float32) -> Tensor:
    """A Tensor of ones.

    Args:
        shape: its shape: an int, or one for each axis.
        dtype: the element type.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``shape`` are no ints, or ``dtype`` names no element type.
    """
    return ops.ones(shape, _dtype(dtype))


empty = zeros


def full(shape: Ints, fill_value: TensorLike, dtype: AnyDType | None = None) -> Tensor:
    """A Tensor of one value.

    Args:
        shape: its shape: an int, or one for each axis.
        fill_value: the value: a number, or what broadcasts to ``shape``.
        dtype: the element type; None is that of ``fill_value``.

    Returns:
        the Tensor.

    Raises:
        ValueError: ``fill_value`` does not broadcast to ``shape``.
    """
    value = asarray(fill_value, dtype)
    return ops.broadcast_to(value, (shape,) if isinstance(shape, int) else tuple(shape)).astype(value.dtype)


def zeros_like(a: TensorLike, dtype: AnyDType | None = None, shape: Ints | None = None) -> Tensor:
    """A Tensor of zeros like another.

    Args:
        a: the other Tensor, or what one can be made of.
        dtype: the element type; None is that of ``a``.
        shape: its shape: an int, or one for each axis; None is that of ``a``.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``shape`` are no ints, or ``dtype`` names no element type.
    """
    like = ops.zeros_like(asarray(a), dtype=None if dtype is None else _dtype(dtype))
    return like if shape is None else ops.zeros(shape, like.dtype)


def empty_like(prototype: TensorLike, dtype: AnyDType | None = None, shape: Ints | None = None) -> Tensor:
    """A Tensor like another, whose values no program may count on; they are zeros.

    Args:
        prototype: the other Tensor, or what one can be made of.
        dtype: the element type; None is that of ``prototype``.
        shape: its shape: an int, or one for each axis; None is that of ``prototype``.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``shape`` are no ints, or ``dtype`` names no element type.
    """
    return zeros_like(prototype, dtype, shape)


def arange(
    start: float | Tensor, stop: float | Tensor | None = None, step: float | Tensor | None = None, dtype: AnyDType |
    None = None,
) -> Tensor:  # fmt: skip
    """The numbers start, start + step, start + 2 step, ... below ``stop``.

    Args:
        start: the first number; where it is given alone, it is ``stop``, and the first is 0.
        stop: what all numbers are below (above, with a negative ``step``).
        step: how far they are apart; None is 1.
        dtype: the element type; None is Int32, or Float32 where one of the three is a float.

    Returns:
        a vector.

    Raises:
        ZeroDivisionError: ``step`` is 0.
    """
    given = [start, stop, step]
    whole = not builtins.any(
        x.dtype.is_floating_point if isinstance(x, Tensor) else isinstance(x, float) for x in given
    )
    low, high = (0, start) if stop is None else (start, stop)
    numbers = [x.item() if isinstance(x, Tensor) else x for x in (low, high, 1 if step is None else step)]
    return _made(_np.arange(*numbers), (int32 if whole else float32) if dtype is None else dtype)


def _spaced(
    name: str, spaced: Callable[..., Any], start: TensorLike, stop: TensorLike, axis: int, dtype: AnyDType | None,
    **how: Any,
) -> tuple[Tensor, Any]:  # fmt: skip
    """What NumPy's function of the name gives, with its axis at another place; and the step, of linspace."""
    ends = [one.asnumpy() if isinstance(one, Tensor) else _np.asarray(one) for one in (start, stop)]
    at = one_axis(axis, 1 + _np.broadcast(*ends).ndim, f"numpy.{name}")
    found = spaced(*ends, axis=at, **how)
    values, step = found if how.get("retstep") else (found, None)
    return _made(values, float32 if dtype is None else dtype), step


def linspace(
    start: TensorLike, stop: TensorLike, num: int = 50, endpoint: builtins.bool = True, retstep: builtins.bool = False,
    dtype: AnyDType | None = None, axis: int = 0,
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """Evenly spaced numbers from ``start`` to ``stop``.

    Args:
        start: the first number, or a Tensor of them.
        stop: the last one, or with ``endpoint`` False the one behind it; broadcasts with ``start``.
        num: how many numbers.
        endpoint: whether ``stop`` is one of them.
        retstep: whether to return how far they are apart too.
        dtype: the element type; None is Float32.
        axis: where the axis of the numbers is among those of the result.

    Returns:
        a Tensor whose axis ``axis`` has the length ``num``; with ``retstep`` that and a Float32 Tensor of the shape
        that ``start`` and ``stop`` broadcast to, NaN of a single number.

    Raises:
        ValueError: ``num`` is negative, or ``axis`` out of range.
    """
    found, step = _spaced(
        "linspace", _np.linspace, start, stop, axis, dtype, num=num, endpoint=endpoint, retstep=True
    )  # fmt: skip
    return (found, _made(step, float32)) if retstep else found


def logspace(
    start: TensorLike, stop: TensorLike, num: int = 50, endpoint: builtins.bool = True, base: float = 10.0,
    dtype: AnyDType | None = None, axis: int = 0,
) -> Tensor:  # fmt: skip
    """Numbers whose logarithms are evenly spaced, from base ** start to base ** stop.

    Args:
        start: the exponent of the first number.
        stop: that of the last one, or with ``endpoint`` False of the one behind it.
        num: how many numbers.
        endpoint: whether base ** stop is one of them.
        base: the base of the powers.
        dtype: the element type; None is Float32.
        axis: where the axis of the numbers is among those of the result.

    Returns:
        a Tensor whose axis ``axis`` has the length ``num``.

    Raises:
        ValueError: ``num`` is negative, or ``axis`` out of range.
    """
    return _spaced("logspace", _np.logspace, start, stop, axis, dtype, num=num, endpoint=endpoint, base=base)[0]


def geomspace(
    start: TensorLike, stop: TensorLike, num: int = 50, endpoint: builtins.bool = True, dtype: AnyDType | None = None,
    axis: int = 0,
) -> Tensor:  # fmt: skip
    """Numbers of which each is the one before times the same ratio, from ``start`` to ``stop``.

    Args:
        start: the first number, not 0.
        stop: the last one, not 0, or with ``endpoint`` False the one behind it.
        num: how many numbers.
        endpoint: whether ``stop`` is one of them.
        dtype: the element type; None is Float32.
        axis: where the axis of the numbers is among those of the result.

    Returns:
        a Tensor whose axis ``axis`` has the length ``num``.

    Raises:
        ValueError: ``num`` is negative, ``axis`` out of range, or an end is 0.
    """
    return _spaced("geomspace", _np.geomspace, start, stop, axis, dtype, num=num, endpoint=endpoint)[0]


def eye(N: int, M: int | None = None, k: int = 0, dtype: AnyDType = float32) -> Tensor:  # noqa: N803
    """A matrix with ones on one diagonal and zeros elsewhere.

    Args:
        N: the number of rows.
        M: the number of columns; None is ``N``.
        k: which diagonal: 0 the main one, above it positive, below it negative.
        dtype: the element type.

    Returns:
        a Tensor (N, M).
    """
    return _made(_np.eye(N, M, k), dtype)


def identity(n: int, dtype: AnyDType = float32) -> Tensor:
    """The identity matrix.

    Args:
        n: the number of rows and columns.
        dtype: the element type.

    Returns:
        a Tensor (n, n).
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: AnyDType = float32) -> Tensor:  # noqa: N803
    """A matrix with ones on and below one diagonal and zeros above it.

    Args:
        N: the number of rows.
        M: the number of columns; None is ``N``.
        k: which diagonal: 0 the main one, above it positive, below it negative.
        dtype: the element type.

    Returns:
        a Tensor (N, M).
    """
    return _made(_np.tri(N, M, k), dtype)


def indices(dimensions: Sequence[int], dtype: AnyDType = int32, sparse: builtins.bool = False) -> list[Tensor]:
    """For each axis of a grid the place of each of its points along that axis.

    Args:
        dimensions: the shape of the grid.
        dtype: the element type.
        sparse: whether the other axes have length 1, along which places are the same.

    Returns:
        a list of a Tensor for each axis, of the shape ``dimensions``, or with ``sparse`` one that broadcasts to it.
    """
    shape = tuple(dimensions)
    grid: Any = _np.indices(shape, sparse=True) if sparse else _np.indices(shape)
    return [_made(one, dtype) for one in grid]


def rand(*shape: int, dtype: AnyDType = float32) -> Tensor:
    """Random numbers, uniform over [0, 1).

    Args:
        *shape: the length of each axis.
        dtype: the element type, a floating one.

    Returns:
        a Tensor of that shape.
    """
    return ops.rand(*shape, dtype=_dtype(dtype))


def randn(*shape: int, dtype: AnyDType = float32) -> Tensor:
    """Random numbers of the standard normal distribution.

    Args:
        *shape: the length of each axis.
        dtype: the element type, a floating one.

    Returns:
        a Tensor of that shape.
    """
    return ops.randn(*shape, dtype=_dtype(dtype))


def randint(minval: int, maxval: int | None = None, shape: Ints | None = None, dtype: AnyDType = int32) -> Tensor:
    """Random ints, uniform from ``minval`` below ``maxval``.

    Args:
        minval: the lowest; where it is given alone, it is ``maxval``, and the lowest is 0.
        maxval: what all are below.
        shape: an int, or one for each axis; None is ``(1,)``.
        dtype: the element type.

    Returns:
        a Tensor of that shape.
    """
    low, high = (0, minval) if maxval is None else (minval, maxval)
    size = (1,) if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    return ops.randint(low, high, size, dtype=_dtype(dtype))


# Arithmetic


def clip(x: TensorLike, xmin: Operand | None, xmax: Operand | None, dtype: AnyDType | None = None) -> Tensor:
    """Elements raised to ``xmin`` and lowered to ``xmax``: min(max(x, xmin), xmax). NaN stays NaN.

    Args:
        x: the elements.
        xmin: the lower bound: a number, a Tensor that broadcasts, or None.
        xmax: the upper bound, likewise; not both are None.
        dtype: the dtype of the result; None leaves it.

    Returns:
        a Tensor.

    Raises:
        ValueError: both bounds are None, or the shapes do not broadcast.
    """
    if xmin is None and xmax is None:
        raise ValueError("For 'clip', at least one of 'xmin' and 'xmax' must be given")
    found = asarray(x)
    if xmin is not None:
        found = ops.maximum(found, xmin)
    if xmax is not None:
        found = ops.minimum(found, xmax)
    return _as(found, dtype)


def where(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None
) -> Tensor | tuple[Tensor, ...]:
    """``x`` where the condition holds, else ``y``; the condition alone gives the places where it holds.

    Args:
        condition: bools, or numbers that are not 0.
        x: what is taken where it holds; broadcasts with the others.
        y: what is taken where it does not.

    Returns:
        a Tensor of the shape that the three broadcast to; or a tuple of an Int64 vector for each axis.

    Raises:
        TypeError: one of ``x`` and ``y`` is given alone.
        ValueError: the shapes do not broadcast.
    """
    if x is None and y is None:
        return ops.nonzero(asarray(condition), as_tuple=True)
    if x is None or y is None:
        raise TypeError("For 'numpy.where', 'x' and 'y' must both be given, or neither")
    return ops.where(asarray(condition), asarray(x), asarray(y))


def histogram(
    a: TensorLike, bins: TensorLike | str = 10, range: tuple[float, float] | None = None, weights: TensorLike | None =
    None, density: builtins.bool = False
) -> tuple[Tensor, Tensor]:
    """(how many elements are in each bin, the edges of the bins); the last bin has its upper edge too.

    Args:
        a: the elements, of any shape.
        bins: how many bins of one width, or their edges.
        range: the lowest and the highest edge; those of the elements by default.
        weights: what each element counts.
        density: whether the integral over the bins is 1.

    Raises:
        TypeError: ``bins`` is a string.
        ValueError: edges that fall, or weights of another shape.
    """
    if isinstance(bins, str):
        raise TypeError(f"For 'numpy.histogram', 'bins' must be an int or edges, but got {bins!r}")
    given = asarray(bins)
    counts, edges = _np.histogram(
        asarray(a).asnumpy(),
        int(given.item()) if given.ndim == 0 else given.asnumpy(),
        range,
        weights=None if weights is None else asarray(weights).asnumpy(),
        density=density,
    )
    return _made(counts, float32), _made(edges, float32) if given.ndim == 0 else given


# Products


def cross(
    a: TensorLike, b: TensorLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """The cross product of vectors of 2 or 3; of two in the plane the component that stands upright on it.

    Args:
        a: the first vectors.
        b: the second ones; the other axes broadcast.
        axisa: the axis of ``a`` that its vectors lie along.
        axisb: that of ``b``.
        axisc: that of the result.
        axis: stands for all three, where it is given.

    Returns:
        a Tensor of vectors of 3; without their axis where both vectors are of 2.

    Raises:
        ValueError: vectors of another length, or shapes that do not broadcast.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = (ops.moveaxis(asarray(one), at, -1) for one, at in ((a, axisa), (b, axisb)))
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ValueError(
            f"For 'numpy.cross', the axes of the vectors must have length 2 or 3, but got {x.shape} and {y.shape}"
        )
    flat = x.shape[-1] == y.shape[-1] == 2
    shape = _np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    x, y = (ops.broadcast_to(one if one.shape[-1] == 3 else ops.pad(one, (0, 1)), (*shape, 3)) for one in (x, y))
    found = ops.cross(x, y, -1)
    return found[..., 2] if flat else ops.moveaxis(found, -1, axisc)


def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """The sum of products over the last axis of ``a`` and the last but one (the only one) of ``b``, as in NumPy.

    Args:
        a: numbers; without axes it multiplies all of ``b``.
        b: numbers; without axes it multiplies all of ``a``.

    Returns:
        a Tensor (*axes of a without the last, *axes of b without the summed one).

    Raises:
        ValueError: the lengths of the summed axes differ.
    """
    a, b = asarray(a), asarray(b)
    if not a.ndim or not b.ndim:
        return ops.mul(a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return ops.matmul(a, b)
    return tensordot(a, b, ([a.ndim - 1], [builtins.max(b.ndim - 2, 0)]))


def matmul(x1: TensorLike, x2: TensorLike, dtype: AnyDType | None = None) -> Tensor:
    """The product of matrices in the last two axes; the axes before them broadcast, a vector is one row or one column.

    Args:
        x1: numbers, (..., n, k) or (k,).
        x2: numbers, (..., k, m) or (k,).
        dtype: the dtype of the result; None leaves it.

    Returns:
        a Tensor (..., n, m).

    Raises:
        ValueError: the shapes do not fit.
    """
    return _as(ops.matmul(asarray(x1), asarray(x2)), dtype)


def tensordot(a: TensorLike, b: TensorLike, axes: int | Sequence[Ints] = 2) -> Tensor:
    """The sum of products over axes of both.

    Args:
        a: numbers.
        b: numbers.
        axes: how many: the last ones of ``a`` with the first ones of ``b``; or a pair of an axis or axes of ``a`` and
            those of ``b``, in the same order.

    Returns:
        a Tensor (*the other axes of a, *the other axes of b).

    Raises:
        ValueError: the lengths of the summed axes differ.
    """
    a, b = asarray(a), asarray(b)
    if isinstance(axes, int):
        axes = (list(range(a.ndim - axes, a.ndim)), list(range(axes)))
    of_a, of_b = ([one] if isinstance(one, int) else list(one) for one in axes)
    of_a, of_b = [i % a.ndim for i in of_a], [i % b.ndim for i in of_b]
    rest_a = [i for i in range(a.ndim) if i not in of_a]
    rest_b = [i for i in range(b.ndim) if i not in of_b]
    length = math.prod(a.shape[i] for i in of_a)
    left = ops.reshape(ops.transpose(a, tuple(rest_a + of_a)), (-1, length))
    right = ops.reshape(ops.transpose(b, tuple(of_b + rest_b)), (length, -1))
    shape = (*(a.shape[i] for i in rest_a), *(b.shape[i] for i in rest_b))
    return ops.reshape(ops.matmul(left, right), shape)


# Reductions


def sum(
    a: TensorLike, axis: Axis = None, dtype: AnyDType | None = None, keepdims: builtins.bool = False, initial: Number |
    None = None,
) -> Tensor:  # fmt: skip
    """The sum over axes.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        dtype: the dtype of the result; None is Int64 for integers and bools, else that of ``a``.
        keepdims: whether the axes stay, with length 1.
        initial: a number that is added.

    Returns:
        a Tensor.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is no int.
        ValueError: an axis is out of range or named twice.
    """
    found = ops.sum(asarray(a), axis, keepdims)
    return _as(found if initial is None else found + initial, dtype)


def mean(a: TensorLike, axis: Axis = None, keepdims: builtins.bool = False, dtype: AnyDType | None = None) -> Tensor:
    """The mean over axes.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        keepdims: whether the axes stay, with length 1.
        dtype: the dtype to convert to first; None leaves that of ``a``.

    Returns:
        a Tensor.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is no int.
        ValueError: an axis is out of range or named twice.
    """
    return ops.mean(_as(asarray(a), dtype), axis, keepdims)


def average(
    x: TensorLike, axis: Axis = None, weights: TensorLike | None = None, returned: builtins.bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """The weighted mean over axes: sum(x * weights) / sum(weights).

    Args:
        x: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        weights: what each element counts: of the shape of ``x``, or a vector for the one ``axis``; None is ones.
        returned: whether to return the sums of the weights too.

    Returns:
        a floating Tensor; with ``returned`` a pair of it and the sums of the weights, of the same shape.

    Raises:
        TypeError: ``x`` or ``weights`` cannot be a Tensor, or an axis is no int.
        ValueError: an axis is out of range, or ``weights`` has another shape.
    """
    x = asarray(x)
    x = x if x.dtype.is_floating_point or x.dtype.is_complex else x.astype(float32)
    counted = ops.ones_like(x) if weights is None else asarray(weights).astype(x.dtype)
    if counted.shape != x.shape:
        if not isinstance(axis, int) or counted.shape != (x.shape[axis],):
            raise ValueError(
                f"For 'numpy.average', 'weights' must have the shape {x.shape} of 'x' or be a vector for one 'axis', "
                f"but got {counted.shape}"
            )
        line = [1] * x.ndim
        line[axis] = counted.size
        counted = ops.broadcast_to(ops.reshape(counted, tuple(line)), x.shape)
    total = ops.sum(counted, axis)
    found = ops.sum(x * counted, axis) / total
    return (found, total) if returned else found


def nanmean(
    a: TensorLike, axis: Axis = None, dtype: AnyDType | None = None, keepdims: builtins.bool = False
) -> Tensor:
    """The mean of those elements over axes that are not NaN.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        dtype: the dtype to convert to first; None leaves that of ``a``.
        keepdims: whether the axes stay, with length 1.

    Returns:
        a Tensor, NaN where all elements are.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is no int.
        ValueError: an axis is out of range or named twice.
    """
    return ops.nanmean(_as(asarray(a), dtype), axis, keepdims)


def nanmax(a: TensorLike, axis: Axis = None, dtype: AnyDType | None = None, keepdims: builtins.bool = False) -> Tensor:
    """The largest of those elements over axes that are not NaN.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        dtype: the dtype of the result; None is that of ``a``.
        keepdims: whether the axes stay, with length 1.

    Returns:
        a Tensor, NaN where all elements are.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is no int.
        ValueError: an axis is out of range or named twice.
    """
    return _nanextreme(ops.amax, -math.inf, a, axis, dtype, keepdims)


def nanmin(a: TensorLike, axis: Axis = None, dtype: AnyDType | None = None, keepdims: builtins.bool = False) -> Tensor:
    """The smallest of those elements over axes that are not NaN.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        dtype: the dtype of the result; None is that of ``a``.
        keepdims: whether the axes stay, with length 1.

    Returns:
        a Tensor, NaN where all elements are.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is no int.
        ValueError: an axis is out of range or named twice.
    """
    return _nanextreme(ops.amin, math.inf, a, axis, dtype, keepdims)


def _nanextreme(
    extreme: Callable[..., Tensor], other: float, a: TensorLike, axis: Axis, dtype: AnyDType | None, keepdims:
    builtins.bool,
) -> Tensor:  # fmt: skip
    a = asarray(a)
    if not a.dtype.is_floating_point:
        return _as(extreme(a, axis, keepdims), dtype)
    missing = ops.isnan(a)
    found = extreme(ops.where(missing, other, a), axis, keepdims)
    return _as(ops.where(ops.all(missing, axis, keepdims), nan, found), dtype)


def nansum(a: TensorLike, axis: Axis = None, dtype: AnyDType | None = None, keepdims: builtins.bool = False) -> Tensor:
    """The sum of the elements over axes, with NaN counted as 0.

    Args:
        a: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        dtype: the dtype of the result; None leaves it.
        keepdims: whether the axes stay, with length 1.

    Returns:
        a Tensor.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or an axis is no int.
        ValueError: an axis is out of range or named twice.
    """
    return _as(ops.nansum(asarray(a), axis, keepdims), dtype)


def cov(
    m: TensorLike, y: TensorLike | None = None, rowvar: builtins.bool = True, bias: builtins.bool = False, ddof: int |
    None = None,
    fweights: TensorLike | None = None, aweights: TensorLike | None = None, dtype: AnyDType | None = None,
) -> Tensor:  # fmt: skip
    """The matrix of covariances of variables; see ``ops.cov``.

    Args:
        m: a variable in each row and an observation in each column; a vector is one variable.
        y: more variables of the same observations, put below those of ``m``.
        rowvar: whether the variables are the rows; False: the columns.
        bias: whether to divide by the number of observations n, instead of n - 1.
        ddof: divides by n - ``ddof`` instead, where it is given.
        fweights: how many times each observation counts.
        aweights: the weight of each observation.
        dtype: the dtype to convert to first; None leaves it.

    Returns:
        a symmetric matrix with a row for each variable; without axes for one variable.

    Raises:
        ValueError: more than 2 axes, or shapes that do not fit.
    """
    given = [ops.atleast_2d(_as(asarray(one), dtype)) for one in (m, y) if one is not None]
    columns = [one.T if not rowvar and one.shape[0] != 1 else one for one in given]
    whole = columns[0] if len(columns) == 1 else ops.cat(columns, 0)
    lost = (0 if bias else 1) if ddof is None else ddof
    weights = [None if one is None else asarray(one) for one in (fweights, aweights)]
    found = ops.cov(whole, correction=lost, fweights=weights[0], aweights=weights[1])
    return ops.squeeze(found)


def cumsum(a: TensorLike, axis: int | None = None, dtype: AnyDType | None = None) -> Tensor:
    """The sum of the elements so far.

    Args:
        a: the elements.
        axis: the axis, in [-ndim, ndim); None takes all elements, flattened.
        dtype: the dtype to sum in; None leaves it, and makes smaller integers and bools Int32.

    Returns:
        a Tensor of the shape of ``a``; a vector without ``axis``.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or ``axis`` is no int.
        ValueError: ``axis`` is out of range.
    """
    return asarray(a).cumsum(axis, None if dtype is None else _dtype(dtype))


# Shape


def shape(a: TensorLike) -> tuple[int, ...]:
    """The length of each axis.

    Args:
        a: a Tensor, or what one can be made of.

    Returns:
        a tuple of ints.
    """
    return asarray(a).shape


def size(a: TensorLike, axis: int | None = None) -> int:
    """The number of elements, or the length of one axis.

    Args:
        a: a Tensor, or what one can be made of.
        axis: the axis; None counts all elements.

    Returns:
        an int.

    Raises:
        IndexError: ``axis`` is out of range.
    """
    return asarray(a).size if axis is None else asarray(a).shape[axis]


def concatenate(arrays: Sequence[TensorLike], axis: int | None = 0) -> Tensor:
    """Tensors joined along an axis that they have.

    Args:
        arrays: what is joined; the shapes differ along ``axis`` at most.
        axis: the axis; None joins them flattened.

    Returns:
        a Tensor.

    Raises:
        ValueError: ``axis`` is out of range, or the shapes do not fit.
    """
    given = [asarray(one) for one in arrays]
    return ops.cat([ops.reshape(x, (-1,)) for x in given]) if axis is None else ops.cat(given, axis)


def _at_least(tensor: Tensor, axes: int) -> Tensor:
    return tensor if tensor.ndim >= axes else ops.reshape(tensor, (1,) * (axes - tensor.ndim) + tensor.shape)


def atleast_1d(*arys: TensorLike) -> Tensor | list[Tensor]:
    """Tensors with one axis at least: a number becomes a vector of one.

    Args:
        *arys: Tensors, or what they can be made of.

    Returns:
        a Tensor for one argument, a list for several.
    """
    found = [_at_least(asarray(one), 1) for one in arys]
    return found[0] if len(found) == 1 else found


def atleast_2d(*arys: TensorLike) -> Tensor | list[Tensor]:
    """Tensors with two axes at least: a vector becomes a row.

    Args:
        *arys: Tensors, or what they can be made of.

    Returns:
        a Tensor for one argument, a list for several.
    """
    found = [_at_least(asarray(one), 2) for one in arys]
    return found[0] if len(found) == 1 else found


def split(x: TensorLike, indices_or_sections: Ints, axis: int = 0) -> tuple[Tensor, ...]:
    """Pieces along one axis.

    Args:
        x: what is cut.
        indices_or_sections: how many pieces of one length; or the places to cut at, ascending.
        axis: the axis.

    Returns:
        a tuple of Tensors.

    Raises:
        ValueError: that many pieces of one length do not make up the axis.
    """
    x = asarray(x)
    if isinstance(indices_or_sections, int):
        if indices_or_sections < 1 or x.shape[axis] % indices_or_sections:
            raise ValueError(
                f"For 'numpy.split', 'indices_or_sections' {indices_or_sections} must divide the length "
                f"{x.shape[axis]} of axis {axis}"
            )
        return ops.split(x, x.shape[axis] // indices_or_sections, axis)
    ends = [0, *indices_or_sections, x.shape[axis]]
    return ops.split(x, [high - low for low, high in itertools.pairwise(ends)], axis)


def flip(m: TensorLike, axis: Axis = None) -> Tensor:
    """The elements in reverse order along axes.

    Args:
        m: a Tensor, or what one can be made of.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.

    Returns:
        a Tensor of the shape of ``m``.

    Raises:
        ValueError: an axis is out of range or named twice.
    """
    m = asarray(m)
    axes = tuple(range(m.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    return ops.flip(m, axes)


def meshgrid(*xi: TensorLike, sparse: builtins.bool = False, indexing: str = "xy") -> list[Tensor]:
    """The coordinates of the points of a grid: for each vector a Tensor of the grid's shape.

    Args:
        *xi: the coordinates along each axis of the grid, vectors.
        sparse: whether each Tensor has length 1 along the axes of the others, along which it would repeat itself.
        indexing: "xy": the first vector runs along the second axis, the second one along the first; "ij": each along
            its own.

    Returns:
        a list of a Tensor for each vector.

    Raises:
        TypeError: ``sparse`` is no bool, or another ``indexing``.
    """
    check_bool(sparse, "meshgrid", "sparse")
    if indexing not in ("xy", "ij"):
        raise TypeError(f"For 'meshgrid', 'indexing' must be 'xy' or 'ij', but got {indexing!r}")
    vectors = [asarray(one) for one in xi]
    grid = ops.meshgrid(*vectors, indexing=indexing)
    return _open_grid(vectors, indexing) if sparse else list(grid)


def vander(x: TensorLike, N: int | None = None, increasing: builtins.bool = False) -> Tensor:  # noqa: N803
    """The Vandermonde matrix: the powers of each element, a row each, from N - 1 down to 0.

    Args:
        x: a vector.
        N: how many powers; None is the length of ``x``.
        increasing: whether they begin with the power 0.

    Returns:
        a Tensor (length of x, N).

    Raises:
        ValueError: ``x`` is no vector.
    """
    found = ops.vander(asarray(x), N)
    return ops.flip(found, 1) if increasing else found


def diag(v: TensorLike, k: int = 0) -> Tensor:
    """A matrix with a vector on one diagonal, or one diagonal of a matrix.

    Args:
        v: a vector or a matrix.
        k: which diagonal: 0 the main one, above it positive, below it negative.

    Returns:
        a matrix of a vector, a vector of a matrix.
    """
    return found(asarray(v), k)


def take(a: TensorLike, indices: TensorLike, axis: int | None = None, mode: str = "clip") -> Tensor:
    """Elements along one axis by their places.

    Args:
        a: where they are taken from.
        indices: the places, ints of any shape.
        axis: the axis, in [-ndim, ndim); None counts the flattened elements.
        mode: what happens to places that are not there: "clip" takes the nearest, "wrap" counts around, "raise" is an
            error.

    Returns:
        a Tensor with the axes of ``indices`` in the place of ``axis``.

    Raises:
        ValueError: ``axis`` is out of range, or another ``mode``.
        RuntimeError: a place that is not there, with "raise".
    """
    return ops.take(asarray(a), asarray(indices), axis, mode)


def unique(x: TensorLike, return_inverse: builtins.bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Each value once, in ascending order; on demand the place of each element's value.

    Args:
        x: the elements.
        return_inverse: whether to return the places too.

    Returns:
        a vector of the values; with ``return_inverse`` a pair of it and the places, Int32, of the shape of ``x``.

    Raises:
        TypeError: ``x`` cannot be a Tensor.
        NotImplementedError: a gradient arrives at the values, which have none.
    """
    values, inverse = _unique_sorted(asarray(x), return_inverse=True)
    return (values, inverse.astype(int32)) if return_inverse else values


# Declared where the functions are


# These compute in the dtype of what they get and convert the result, as all operators do here.
_WITH_DTYPE = ("deg2rad", "float_power", "heaviside", "positive", "rad2deg")


def _taking_lists(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of ``ops`` that takes lists, arrays and numbers where it takes tensors.

    A number beside a tensor stays one, so that it does not change the element type. An operator takes ``dtype``, and
    so do those in ``_WITH_DTYPE``.
    """
    operator = isinstance(inspect.unwrap(function), Operator)
    signature = inspect.signature(function)
    kinds = {
        key: "Tensor" if operator else re.sub(r"\b(Operand|TensorLike)\b", "Tensor", str(one.annotation))
        for key, one in signature.parameters.items()
    }
    takes_dtype = operator or name in _WITH_DTYPE
    if takes_dtype:
        dtype = inspect.Parameter("dtype", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
        signature = signature.replace(parameters=[*signature.parameters.values(), dtype])

    def surface(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() got other arguments than {signature}: {error}") from None
        arguments = given.arguments
        wanted = arguments.pop("dtype", None) if takes_dtype else None
        for key, value in arguments.items():
            kind = kinds.get(key, "")
            if "Sequence[Tensor]" in kind:
                arguments[key] = [asarray(one) for one in value]
            elif "Tensor" in kind and isinstance(value, list | tuple | _np.ndarray):
                arguments[key] = asarray(value)
        if not builtins.any(isinstance(value, Tensor) for value in arguments.values()):
            for key, value in arguments.items():
                if "Tensor" in kinds.get(key, "") and isinstance(value, builtins.bool | int | float):
                    arguments[key] = asarray(value)
        return _as(function(*given.args, **given.kwargs), wanted)

    surface.__name__ = surface.__qualname__ = name
    surface.__doc__ = function.__doc__
    surface.__wrapped__ = function  # type: ignore[attr-defined]
    surface.__signature__ = signature  # type: ignore[attr-defined]
    return surface


if TYPE_CHECKING:
    from .numpy_types import *
globals().update({name: _taking_lists(name, function) for name, function in _NUMPY.items()})
__getattr__ = on_first_use(__name__)
