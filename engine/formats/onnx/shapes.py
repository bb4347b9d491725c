"""Converters of operators that move elements: reshapes, slices, concatenation, padding, windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .draft import Draft, Edge, computable, converts

__all__ = ["padded", "sliced"]


@converts("reshape")
def _reshape(d: Draft, x: Edge, shape: Any) -> Edge:
    return x.reshape(d.node.outputs[0].shape)


@converts("broadcast_to")
def _broadcast_to(d: Draft, x: Edge, shape: tuple[int, ...]) -> Edge:
    output: Edge = d("Expand", x, d.ints(shape), shape=tuple(shape))
    return output


@converts("transpose")
def _transpose(d: Draft, x: Edge, axes: tuple[int, ...] | None) -> Edge:
    order = [a % x.ndim for a in axes] if axes is not None else list(range(x.ndim))[::-1]
    if order == sorted(order):
        output: Edge = d("Identity", x, shape=x.shape)
        return output
    return x.transpose(order)


@converts("concat")
def _concat(d: Draft, *parts: Edge, axis: int) -> Edge:
    output: Edge = d("Concat", *d.alike(*parts), axis=axis)
    return output


@converts("slice_axis")
def _slice_axis(d: Draft, x: Edge, axis: int, start: int | None, stop: int | None) -> Edge:
    return sliced(d, x, {axis: slice(start, stop)})


@converts("parts")
def _parts(d: Draft, x: Edge, axis: int, sizes: tuple[int, ...]) -> tuple[Edge, ...]:
    return tuple(d("Split", x, d.ints(sizes), outputs=len(sizes), axis=axis)) if len(sizes) > 1 else (x,)


def sliced(d: Draft, x: Edge, slices: dict[int, slice]) -> Edge:
    """Slice along some axes, with Python's semantics.

    Args:
        d: the graph under construction.
        x: the value to slice.
        slices: the slices by axis.

    Returns:
        the part; ``x`` itself without slices.
    """
    rows = [(axis, *part.indices(x.shape[axis])) for axis, part in slices.items()]
    if not rows:
        return x
    shape = list(x.shape)
    for axis, start, stop, step in rows:
        shape[axis] = len(range(start, stop, step))
    # A stop before the first element: -1 would be the last one.
    table = [(a, start, stop if stop >= 0 else np.iinfo(np.int64).min, step) for a, start, stop, step in rows]
    axes, starts, stops, steps = (d.ints(column) for column in zip(*table, strict=True))
    output: Edge = d("Slice", x, starts, stops, axes, steps, shape=tuple(shape))
    return output


@converts("flip")
def _flip(d: Draft, x: Edge, axes: Any) -> Edge:
    flipped = range(x.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
    if not len(flipped):
        output: Edge = d("Identity", x, shape=x.shape)
        return output
    return sliced(d, x, {axis % x.ndim: slice(None, None, -1) for axis in flipped})


# Borders


def padded(d: Draft, x: Edge, widths: Any, value: Any = 0) -> Edge:
    """Pad a value.

    Args:
        d: the graph under construction.
        x: the value to pad.
        widths: for each axis, the widths before and after.
        value: the value of the border.

    Returns:
        the padded value; ``x`` itself without a border.
    """
    if not any(map(any, widths)):
        return x
    inner_value = x.cast(computable(x.dtype)) if x.dtype.kind in "iu" else x
    befores, afters = zip(*widths, strict=True)
    shape = tuple([n + b + a for n, b, a in zip(x.shape, befores, afters, strict=True)])
    output: Edge = d("Pad", inner_value, d.ints([*befores, *afters]), d.constant(value, inner_value.dtype), shape=shape)
    return output.cast(x.dtype)


@converts("pad")
def _pad(d: Draft, x: Edge, widths: Any, mode: str, value: Any) -> Edge:
    widths = np.broadcast_to(widths, (x.ndim, 2)).tolist()
    if mode == "constant":
        return padded(d, x, widths, value)
    for axis, width in enumerate(widths):
        if any(width):
            indices = np.pad(np.arange(x.shape[axis]), width, mode=mode)  # type: ignore[call-overload]  # one of its modes
            shape = (*x.shape[:axis], len(indices), *x.shape[axis + 1 :])
            x = d("Gather", x, d.ints(indices), axis=axis, shape=shape)
    return x


@converts("pad_axis")
def _pad_axis(d: Draft, x: Edge, axis: int, before: int, after: int) -> Edge:
    return padded(d, x, [(before, after) if i == axis else (0, 0) for i in range(x.ndim)])


# Windows


@converts("im2col")
def _im2col(d: Draft, x: Edge, kernel: Any, stride: Any, pads: Any, dilation: Any) -> Edge:
    top, bottom, left, right = pads
    x = padded(d, x, [(0, 0), (0, 0), (top, bottom), (left, right)])
    reach = [n - e * (k - 1) for n, k, e in zip(x.shape[2:], kernel, dilation, strict=True)]
    parts = []
    for i, j in np.ndindex(*kernel):
        offset = i * dilation[0], j * dilation[1]
        slices = {axis + 2: slice(offset[axis], offset[axis] + reach[axis], stride[axis]) for axis in range(2)}
        parts.append(sliced(d, x, slices).reshape((*x.shape[:2], 1, -1)))
    return d("Concat", *parts, axis=2).reshape(d.node.outputs[0].shape)


@converts("col2im")
def _col2im(d: Draft, x: Edge, size: Any, kernel: Any, stride: Any, pads: Any, dilation: Any) -> Edge:
    top, bottom, left, right = pads
    output: Edge = d(
        "Col2Im",
        x.wide(),
        d.ints(size),
        d.ints(kernel),
        dilations=list(dilation),
        pads=[top, left, bottom, right],
        strides=list(stride),
    )
    return output
