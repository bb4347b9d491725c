"""Converters of indexing and indexed assignment: slices, gathers, and scatters over the flat elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...compile.graph import OperatorCall, Value, replace_values
from .draft import CONVERTERS, Draft, Edge, UnsupportedError, converts
from .shapes import sliced

__all__: list[str] = []


@converts("getitem")
def _getitem(d: Draft, x: Edge, index: Any) -> Edge:
    return picked(d, x, index)


def picked(d: Draft, x: Edge, index: Any) -> Edge:
    """Return ``x[index]`` by NumPy's rules: first the slices, then the index arrays."""
    shape, axes, parts = _one_for_each_axis(d, x.shape, index)
    x = sliced(d, x, axes)
    if shape is not None:
        x = x.reshape([1 if axis is None else x.shape[axis] for axis in shape])
    arrays = [i for i, part in enumerate(parts) if part is not None]
    if not any(isinstance(parts[i], Edge) for i in arrays):
        lengths = [n for i, n in enumerate(x.shape) if parts[i] is None]
        for i in reversed(arrays):
            x = sliced(d, x, {i: slice(parts[i], parts[i] + 1)})
        return x.reshape(lengths) if arrays else x
    is_consecutive = arrays == list(range(arrays[0], arrays[-1] + 1))
    positions = [_index_edge(d, parts[i]) for i in arrays]
    common = np.broadcast_shapes(*[position.shape for position in positions])
    other_axes = [i for i in range(x.ndim) if i not in arrays]
    other_lengths = tuple([x.shape[i] for i in other_axes])
    if len(arrays) == 1:
        axis = arrays[0]
        output: Edge = d("Gather", x, positions[0], axis=axis, shape=(*x.shape[:axis], *common, *x.shape[axis + 1 :]))
        return output
    x = x.transpose([*arrays, *other_axes])
    columns = [d("Expand", position, d.ints(common), shape=common).reshape((*common, 1)) for position in positions]
    grid = d("Concat", *columns, axis=-1, shape=(*common, len(arrays)))
    output = d("GatherND", x, grid, shape=(*common, *other_lengths))
    if not is_consecutive:
        return output
    first, count = arrays[0], len(common)
    axes_before = [count + i for i in range(first)]
    return output.transpose([*axes_before, *range(count), *range(count + first, count + len(other_lengths))])


def _one_for_each_axis(
    d: Draft, shape: tuple[int, ...], index: Any
) -> tuple[list[int | None] | None, dict[int, slice], list[Any]]:
    """Return an index in three parts.

    These are its slices by axis; the resulting axes with None for each new one, or None without new ones; and for each
    resulting axis an int, an edge, or None if it is kept.
    """
    items = list(index) if isinstance(index, tuple) else [index]
    expanded: list[Any] = []
    for part in items:
        part = d.arrays.get(part, part) if type(part) is Value else part
        if isinstance(part, np.ndarray) and part.dtype.kind == "b":
            expanded += list(part.nonzero())
        elif type(part) is Value and part.dtype.kind == "b":
            raise UnsupportedError("the shape of a part that a mask picks depends on the numbers: use where instead")
        else:
            expanded.append(part)
    consumed = sum(part is not None and part is not Ellipsis for part in expanded)
    ellipsis_at = next((i for i, part in enumerate(expanded) if part is Ellipsis), len(expanded))
    expanded[ellipsis_at : ellipsis_at + 1] = [slice(None)] * (len(shape) - consumed)
    axes: dict[int, slice] = {}
    order: list[int | None] = []
    parts: list[Any] = []
    axis = 0
    for part in expanded:
        if part is None:
            order.append(None)
            parts.append(None)
            continue
        if isinstance(part, slice):
            if part.indices(shape[axis]) != (0, shape[axis], 1):
                axes[axis] = part
            parts.append(None)
        elif isinstance(part, int | np.integer):
            parts.append(int(part) % max(shape[axis], 1))
        else:
            parts.append(d.edge(part))
        order.append(axis)
        axis += 1
    return (order if None in order else None), axes, parts


def _index_edge(d: Draft, part: Any) -> Edge:
    return part.cast(np.int64) if isinstance(part, Edge) else d.constant(part, np.int64)  # an int among arrays


# Writing


def _numbers(d: Draft, shape: tuple[int, ...]) -> Edge:
    """Return the number of each element in memory order."""
    count = math.prod(shape)
    numbers: Edge = d(
        "Range", d.constant(0, np.int64), d.constant(count, np.int64), d.constant(1, np.int64), shape=(count,)
    )
    return numbers.reshape(shape)


def _scattered(d: Draft, x: Edge, positions: Edge, updates: Any, how: str = "none") -> Edge:
    """Return ``x`` with updates at positions of its flat elements."""
    shape = x.shape
    new = updates if isinstance(updates, Edge) else d.constant(updates, x.dtype)
    count = math.prod(positions.shape)
    new = d("Expand", new.cast(x.dtype), d.ints(positions.shape), shape=positions.shape).reshape((count,))
    flat = d(
        "ScatterElements",
        x.reshape((math.prod(shape),)),
        positions.reshape((count,)),
        new,
        axis=0,
        reduction=how,
        shape=(math.prod(shape),),
    )
    return flat.reshape(shape)


@converts("setitem")
def _setitem(d: Draft, x: Edge, value: Any, index: Any) -> Edge:
    return _scattered(d, x, picked(d, _numbers(d, x.shape), index), value)


@converts("scatter_add")
def _scatter_add(d: Draft, g: Edge, index: Any, shape: tuple[int, ...]) -> Edge:
    g = g.wide()
    start = d("Expand", d.constant(0, g.dtype), d.ints(shape), shape=tuple(shape))
    return _scattered(d, start, picked(d, _numbers(d, tuple(shape)), index), g, "add")


@converts("scatter_reduce")
def _scatter_reduce(d: Draft, x: Edge, updates: Any, index: Any, how: str) -> Edge:
    x = x.wide()
    positions = picked(d, _numbers(d, x.shape), index)
    if how != "div":
        return _scattered(d, x, positions, updates, how)
    if x.dtype.kind in "iu":
        raise UnsupportedError("quotients of integers, one after the other, have no form in ONNX: use floats")
    start = d("Expand", d.constant(1, x.dtype), d.ints(x.shape), shape=x.shape)
    return x / _scattered(d, start, positions, updates, "mul")


@converts("write_through")
def _write_through(d: Draft, root: Edge, new: Any, steps: Any) -> Edge:
    """Write through a view: its steps, applied to the numbers of the root's elements, select the elements to write."""
    node, positions = d.node, _numbers(d, root.shape)
    view = np.arange(math.prod(root.shape)).reshape(root.shape)
    try:
        for operator, attrs in steps:
            static = replace_values(attrs, (Value,), lambda value: np.zeros(value.shape, value.dtype))
            view = operator.kernel(view, **static)
            d.node = OperatorCall(operator, (), attrs, (Value(view.shape, view.dtype),), False)
            output = CONVERTERS[operator.name](d, positions, **attrs)
            positions = Edge(d, output.name, output.dtype, view.shape)
    finally:
        d.node = node
    return _scattered(d, root, positions, new)
