"""Converters of operators along axes: sums, extremes, sorting, cumulative sums."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .draft import Draft, Edge, computable, converts

__all__ = ["reduced"]

_Axes = int | tuple[int, ...] | None


def _axes(x: Edge, axis: _Axes) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(x.ndim))
    return tuple([a % x.ndim for a in (axis if isinstance(axis, tuple | list) else (axis,))])


def reduced(d: Draft, kind: str, x: Edge, axis: _Axes, keepdims: bool) -> Edge:
    """Add a node that reduces axes.

    Args:
        d: the graph under construction.
        kind: ONNX's name, such as "ReduceSum".
        x: the value to reduce.
        axis: one axis, several, or None for all.
        keepdims: whether to keep them, with length 1.

    Returns:
        the result, in the dtype of ``x``.
    """
    axes = _axes(x, axis)
    shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
    kept_shape = tuple(shape if keepdims else [n for i, n in enumerate(shape) if i not in axes])
    output: Edge = d(kind, x, d.ints(axes), shape=kept_shape, keepdims=int(keepdims), noop_with_empty_axes=1)
    return output


def _reduction(kind: str, d: Draft, x: Edge, axis: _Axes, keepdims: bool) -> Edge:
    return reduced(d, kind, x.cast(computable(x.dtype, steps=2)), axis, keepdims)


for _name, _kind in (
    ("sum", "ReduceSum"),
    ("prod", "ReduceProd"),
    ("amax", "ReduceMax"),
    ("amin", "ReduceMin"),
    ("any", "ReduceMax"),
    ("all", "ReduceMin"),
):
    converts(_name)(functools.partial(_reduction, _kind))


@converts("any", "all")
def _truth(d: Draft, x: Edge, axis: _Axes, keepdims: bool) -> Edge:
    kind = "ReduceMax" if d.node.operator.name == "any" else "ReduceMin"
    return reduced(d, kind, x.cast(np.bool_).cast(np.int32), axis, keepdims)


@converts("mean")
def _mean(d: Draft, x: Edge, axis: _Axes, keepdims: bool) -> Edge:
    # The mean of integers is rounded towards 0, like a cast.
    return reduced(d, "ReduceMean", x.cast(np.float64) if x.dtype.kind in "iu" else x.wide(), axis, keepdims)


@converts("sum_to")
def _sum_to(d: Draft, x: Edge, shape: tuple[int, ...]) -> Edge:
    added = x.ndim - len(shape)
    axes = tuple([i for i, n in enumerate(x.shape) if i < added or (shape[i - added] == 1 and n != 1)])
    return reduced(d, "ReduceSum", x.cast(computable(x.dtype, steps=2)), axes, True).reshape(shape)


# Positions of extremes


def _extreme_position(kind: str, d: Draft, x: Edge, axis: int | None, keepdims: bool) -> Edge:
    shape = x.shape
    x = x.cast(computable(x.dtype))
    flat, along = (x.reshape((-1,)), 0) if axis is None else (x, axis % x.ndim if x.ndim else 0)
    if axis is not None and not shape:
        flat = x.reshape((1,))
    output: Edge = d(
        kind, flat, dtype=np.int64, axis=along, keepdims=int(keepdims and axis is not None and bool(shape))
    )
    return output.reshape((1,) * len(shape)) if axis is None and keepdims else output


for _name, _kind in (("argmax", "ArgMax"), ("argmin", "ArgMin")):
    converts(_name)(functools.partial(_extreme_position, _kind))


@converts("max_along", "min_along")
def _along(d: Draft, x: Edge, axis: int, keepdims: bool) -> tuple[Edge, Edge]:
    name = "Max" if d.node.operator.name == "max_along" else "Min"
    if not x.ndim:
        return x, d.constant(0, np.int64)
    return _reduction(f"Reduce{name}", d, x, axis, keepdims), _extreme_position(f"Arg{name}", d, x, axis, keepdims)


# Order


def _sorted(d: Draft, x: Edge, count: int, axis: int, largest: bool) -> tuple[Edge, Edge]:
    """Return the first ``count`` elements in order along an axis, and their indices; ties keep their order."""
    values, indices = d(
        "TopK", x.cast(computable(x.dtype)), d.ints([count]), outputs=2, axis=axis, largest=int(largest), sorted=1
    )
    return values, Edge(d, indices.name, np.dtype(np.int64), None)


@converts("order")
def _order(d: Draft, x: Edge, axis: int, descending: bool) -> Edge:
    if not x.ndim:
        return d.constant(0, np.int64)
    return _sorted(d, x, x.shape[axis], axis, descending)[1]


@converts("nth_element")
def _nth(d: Draft, x: Edge, n: int) -> Edge:
    index = n % x.shape[-1]
    values, _ = _sorted(d, x, index + 1, -1, False)
    output: Edge = d("Gather", values, d.constant(index, np.int64), axis=-1)
    return output


@converts("search")
def _search(d: Draft, boundaries: Edge, values: Edge, right: bool) -> Edge:
    """Return the number of boundaries before each value."""
    if boundaries.ndim > 1:
        values = values.reshape((*values.shape, 1))
        boundaries = boundaries.reshape((*boundaries.shape[:-1], 1, boundaries.shape[-1]))
    else:
        values = values.reshape((*values.shape, 1))
    is_before = (boundaries <= values) if right else (boundaries < values)
    return reduced(d, "ReduceSum", is_before.cast(np.int64), -1, False)


# Cumulative


@converts("cumsum")
def _cumsum(d: Draft, x: Edge, axis: int) -> Edge:
    x = x.cast(computable(x.dtype, steps=2))
    output: Edge = d("CumSum", x, d.constant(axis % x.ndim, np.int64), shape=x.shape)
    return output


def _so_far(d: Draft, x: Edge, axis: int, otherwise: Any) -> Edge:
    """Append an axis with the elements up to each one along ``axis``, and ``otherwise`` for those after it.

    ONNX has no cumulative product: this takes memory quadratic in the axis' length.
    """
    length = x.shape[axis]
    order = [i for i in range(x.ndim) if i != axis % x.ndim] + [axis % x.ndim]
    moved = x.transpose(order)
    is_included = d.constant(np.tri(length, dtype=bool))
    return d.where(is_included, moved.reshape((*moved.shape[:-1], 1, length)), otherwise)


def _back(d: Draft, result: Edge, x: Edge, axis: int) -> Edge:
    """Move the last axis back to its position."""
    shape = tuple([n for i, n in enumerate(x.shape) if i != axis % x.ndim] + [x.shape[axis]])
    order = list(range(x.ndim - 1))
    order.insert(axis % x.ndim, x.ndim - 1)
    return Edge(d, result.name, result.dtype, shape).transpose(order)


@converts("cumprod")
def _cumprod(d: Draft, x: Edge, axis: int) -> Edge:
    x = x.cast(computable(x.dtype, steps=2))
    return _back(d, reduced(d, "ReduceProd", _so_far(d, x, axis, 1), -1, False), x, axis)


@converts("logcumsumexp")
def _logcumsumexp(d: Draft, x: Edge, axis: int) -> Edge:
    x = x.wide()
    return _back(d, reduced(d, "ReduceLogSumExp", _so_far(d, x, axis, -math.inf), -1, False), x, axis)


@converts("running_extreme")
def _running_extreme(d: Draft, x: Edge, axis: int, largest: bool) -> Edge:
    x = x.cast(computable(x.dtype))
    limits = np.iinfo(x.dtype) if x.dtype.kind in "iu" else None
    least = (limits.min if largest else limits.max) if limits else (-math.inf if largest else math.inf)
    # The last of equal elements, excluding those after the element, which may equal ``least``, too.
    prefixes = _so_far(d, x, axis, least)
    extremes = reduced(d, "ReduceMax" if largest else "ReduceMin", prefixes, -1, True)
    is_extreme = prefixes.equals(extremes) & d.constant(np.tri(x.shape[axis], dtype=bool))
    indices = d.where(is_extreme, d.constant(np.arange(x.shape[axis])), -1)
    return _back(d, reduced(d, "ReduceMax", Edge(d, indices.name, indices.dtype, prefixes.shape), -1, False), x, axis)
