"""CPU kernels of convolution and pooling over one to three axes: sliding windows as a strided view, then products.

Written against the array module, so that they serve CuPy arrays too. Arguments and results are (N, C, *lengths); pads
are (before, after) of each axis in turn, (top, bottom, left, right) of an image.

Inside, the samples are the last axis: (C, *lengths, N). One row of windows is then contiguous and is copied
and added at full speed even for small images, and the whole batch is one matrix product. Results are
views with the axes permuted, and the following operators (normalization, activation, pooling, the next convolution)
keep the order, so that only the first layer of a network needs a transposition.

Float32 on the CPU, if there is enough work, is computed in kernels (``winograd``, ``convolution``, ``pooling``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..array_module import Array, array_module
from ..arrays.masking import zero_outside
from . import convolution, pooling, winograd

__all__ = [
    "avg_pool",
    "avg_pool_grad",
    "conv",
    "conv_input_grad",
    "conv_weight_grad",
    "max_pool",
    "max_pool_grad",
    "max_pool_pick",
    "output_length",
    "samples_first",
    "samples_last",
]

Ints = tuple[int, ...]

_BLOCK = 1 << 21
"""Bytes of windows per block: they stay in the second-level cache until the product reads them."""


def output_length(length: int, kernel: int, stride: int, dilation: int, pads: int) -> int:
    """Return the number of windows in an axis with ``pads`` elements added."""
    return (length + pads - dilation * (kernel - 1) - 1) // stride + 1


def samples_last(x: Array) -> Array:
    """Return (N, C, ...) as (C, ..., N), contiguous."""
    contiguous: Array = array_module(x).ascontiguousarray(x.transpose(*range(1, x.ndim), 0))
    return contiguous


def samples_first(x: Array) -> Array:
    """Return (C, ..., N) as (N, C, ...), a view."""
    return x.transpose(-1, *range(x.ndim - 1))


def _widen(x: Array) -> Array:
    """Return half precision as single: NumPy multiplies matrices of halves without BLAS and sums in half precision."""
    return x if x.dtype.itemsize >= 4 else x.astype("float32")


def _padded(x: Array, pads: Ints, value: float = 0) -> Array:
    """Return (N, C, *lengths) as (C, *lengths, N), padded with ``value``."""
    if not any(pads):
        return samples_last(x)
    xp = array_module(x)
    befores, afters = pads[::2], pads[1::2]
    lengths = [n + b + a for n, b, a in zip(x.shape[2:], befores, afters, strict=True)]
    shape = (x.shape[1], *lengths, x.shape[0])
    padded: Array = xp.full(shape, value, x.dtype) if value else xp.zeros(shape, x.dtype)
    padded[_inner(x.shape[2:], pads)] = x.transpose(*range(1, x.ndim), 0)
    return padded


def _inner(lengths: Ints, pads: Ints) -> tuple[slice, ...]:
    return (slice(None), *(slice(before, before + n) for n, before in zip(lengths, pads[::2], strict=True)))


def _windows(x: Array, kernel: Ints, stride: Ints, dilation: Ints) -> Array:
    """Return the view (C, *kernel, *outputs, N) of all windows of a padded input."""
    d = len(kernel)
    lengths, steps = x.shape[1 : d + 1], x.strides[1 : d + 1]
    outputs = [output_length(n, k, s, e, 0) for n, k, s, e in zip(lengths, kernel, stride, dilation, strict=True)]
    within = [step * e for step, e in zip(steps, dilation, strict=True)]
    between = [step * s for step, s in zip(steps, stride, strict=True)]
    view: Array = array_module(x).lib.stride_tricks.as_strided(
        x, (x.shape[0], *kernel, *outputs, x.shape[-1]), (x.strides[0], *within, *between, x.strides[-1])
    )
    return view


def _blocks(view: Array, kernel: Ints, group: int) -> Iterator[tuple[slice, Array]]:
    """Yield windows as columns of a matrix for each group, (G, C/G * kernel, rows * ... * N), some rows at a time.

    The memory of a block is reused for the next.
    """
    d = len(kernel)
    rows, depth = view.shape[d + 1], view.shape[0] // group * math.prod(kernel)
    row_length = math.prod(view.shape[d + 2 :])
    if math.prod(kernel) == 1 and view.flags.c_contiguous:
        yield slice(0, rows), view.reshape(group, depth, rows * row_length)
        return
    xp = array_module(view)
    bytes_of_row = max(1, depth * group * row_length * view.dtype.itemsize)
    step = min(rows, max(1, _BLOCK // bytes_of_row)) if xp is np else rows
    memory = xp.empty(depth * group * step * row_length, view.dtype)
    for start in range(0, rows, max(1, step)):
        part = view[(slice(None),) * (d + 1) + (slice(start, start + step),)]
        block = memory[: part.size].reshape(part.shape)
        block[...] = part
        yield slice(start, start + part.shape[d + 1]), block.reshape(group, depth, -1)


def _output_lengths(lengths: Ints, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints) -> Ints:
    return tuple(
        output_length(n, k, s, e, before + after)
        for n, k, s, e, before, after in zip(lengths, kernel, stride, dilation, pads[::2], pads[1::2], strict=True)
    )


def conv(x: Array, weight: Array, stride: Ints, pads: Ints, dilation: Ints, group: int) -> Array:
    """Return the cross-correlation of x (N, C, *lengths) with weight (K, C/group, *kernel): (N, K, *outputs)."""
    kernel = weight.shape[2:]
    lengths = _output_lengths(x.shape[2:], kernel, stride, pads, dilation)
    if winograd.suits(x, weight, kernel, weight.shape[0], lengths, stride, dilation, group):
        y = winograd.conv(x, weight, pads, lengths)
        if y is not None:
            return samples_first(y)
    if convolution.suits(x, weight, kernel, weight.shape[0], lengths, group):
        return samples_first(convolution.conv(x, weight, stride, pads, dilation, group, lengths))
    view = _windows(_padded(_widen(x), pads), kernel, stride, dilation)
    outputs = view.shape[len(kernel) + 1 :]
    kernels = _widen(weight).reshape(group, weight.shape[0] // group, -1)
    xp = array_module(x)
    y = xp.empty((group, kernels.shape[1], outputs[0], math.prod(outputs[1:])), xp.result_type(view, kernels))
    for rows, block in _blocks(view, kernel, group):
        part = y[:, :, rows].reshape(group, kernels.shape[1], -1)  # a view: rows of one run
        xp.matmul(kernels, block, out=part)
    return samples_first(y.reshape(weight.shape[0], *outputs)).astype(x.dtype, copy=False)


def conv_weight_grad(g: Array, x: Array, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints, group: int) -> Array:
    """Return the gradient of ``conv`` with respect to its weight."""
    if winograd.suits(x, g, kernel, g.shape[1], g.shape[2:], stride, dilation, group):
        gradient = winograd.conv_weight_grad(g, x, pads)
        if gradient is not None:
            return gradient
    if convolution.suits(x, g, kernel, g.shape[1], g.shape[2:], group):
        return convolution.conv_weight_grad(g, x, kernel, stride, pads, dilation, group)
    view = _windows(_padded(_widen(x), pads), kernel, stride, dilation)
    # A transposed convolution may add more at the ends than the windows of its input cover.
    view = view[(slice(None),) * (len(kernel) + 1) + tuple(slice(n) for n in g.shape[2:])]
    k = g.shape[1]
    gradients = samples_last(_widen(g)).reshape(group, k // group, g.shape[2], -1)
    total: Any = 0
    for rows, block in _blocks(view, kernel, group):
        total = total + gradients[:, :, rows].reshape(group, k // group, -1) @ block.swapaxes(-1, -2)
    return total.reshape(k, x.shape[1] // group, *kernel).astype(g.dtype, copy=False)


def conv_input_grad(
    g: Array, weight: Array, shape: Ints, stride: Ints, pads: Ints, dilation: Ints, group: int
) -> Array:
    """Return the gradient of ``conv`` with respect to its input of ``shape``."""
    k, kernel = weight.shape[0], weight.shape[2:]
    if winograd.suits(g, weight, kernel, weight.shape[1], shape[2:], stride, dilation, group) and max(pads) <= 2:
        # With strides of 1 it is a convolution with kernels rotated by 180 degrees.
        gradient = winograd.conv(g, weight, tuple(2 - n for n in pads), shape[2:], turned=True)
        if gradient is not None:
            return samples_first(gradient)
    if convolution.suits(g, weight, kernel, shape[1], g.shape[2:], group):
        return samples_first(convolution.conv_input_grad(g, weight, shape, stride, pads, dilation, group))
    xp = array_module(g)
    kernels = _widen(weight).reshape(group, k // group, -1).swapaxes(-1, -2)
    gradients = samples_last(_widen(g)).reshape(group, k // group, g.shape[2], -1)
    depth = group * kernels.shape[1]
    total = _frame(shape, pads, gradients)
    bytes_of_row = max(1, depth * gradients.shape[-1] * gradients.dtype.itemsize)
    step = min(g.shape[2], max(1, _BLOCK // bytes_of_row)) if xp is np else g.shape[2]
    for start in range(0, g.shape[2], max(1, step)):
        part = gradients[:, :, start : start + step]
        block = kernels @ part.reshape(group, k // group, -1)
        windows = block.reshape(shape[1], *kernel, part.shape[2], *g.shape[3:], g.shape[0])
        _add_windows(total[:, start * stride[0] :], windows, kernel, stride, dilation)
    return samples_first(total[_inner(shape[2:], pads)]).astype(g.dtype, copy=False)


def _frame(shape: Ints, pads: Ints, like: Array) -> Array:
    lengths = [n + b + a for n, b, a in zip(shape[2:], pads[::2], pads[1::2], strict=True)]
    return array_module(like).zeros((shape[1], *lengths, shape[0]), like.dtype)


def _region(position: Ints, outputs: Ints, stride: Ints, dilation: Ints) -> tuple[slice, ...]:
    """Return the slices of the elements at one position of all windows, in (C, *lengths, N)."""
    starts = [p * e for p, e in zip(position, dilation, strict=True)]
    return (slice(None), *(slice(b, b + s * (n - 1) + 1, s) for b, s, n in zip(starts, stride, outputs, strict=True)))


def _add_windows(total: Array, windows: Array, kernel: Ints, stride: Ints, dilation: Ints) -> None:
    """Add windows (C, *kernel, *outputs, N) to the elements that they were taken from."""
    outputs = windows.shape[len(kernel) + 1 : -1]
    for position in np.ndindex(*kernel):
        total[_region(position, outputs, stride, dilation)] += windows[(slice(None), *position)]


def max_pool(x: Array, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints) -> tuple[Array, Array]:
    """Return the largest element of each window (N, C, *outputs) and its index in the window, in row-major order."""
    outputs = _output_lengths(x.shape[2:], kernel, stride, pads, dilation)
    if pooling.suits(x, kernel, stride, (*x.shape[:2], *outputs)):
        pooled = pooling.max_pool(x, outputs, kernel, stride, pads, dilation)
        return samples_first(pooled[0]), samples_first(pooled[1])
    xp = array_module(x)
    # bfloat16 has the kind "V".
    lowest = -float("inf") if x.dtype.kind in "fV" else int(xp.iinfo(x.dtype).min) if x.dtype.kind in "iu" else 0
    view = _windows(_padded(x, pads, lowest), kernel, stride, dilation)
    count = math.prod(kernel)
    small = count <= 256
    best: Any = None
    positions: Any = None
    for number, position in enumerate(np.ndindex(*kernel)):
        candidate = view[(slice(None), *position)]
        if best is None:
            best = xp.array(candidate)
            positions = xp.zeros(best.shape, "uint8" if small else "int32")
            continue
        # Not "candidate > best": a NaN wins and stays. Position numbers increase, so the largest is the last winner.
        better = ~(candidate <= best)
        better &= best == best
        xp.maximum(best, candidate, out=best)
        xp.maximum(positions, xp.multiply(better, number, dtype=positions.dtype), out=positions)
    return samples_first(best), samples_first(positions)


def max_pool_grad(
    g: Array, positions: Array, shape: Ints, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints
) -> Array:
    """Return the gradient of ``max_pool``: each goes to the element that was the largest."""
    if pooling.suits(g, kernel, stride, g.shape):
        return samples_first(pooling.max_pool_grad(g, positions, shape, kernel, stride, pads, dilation))
    disjoint = all(s >= k for s, k in zip(stride, kernel, strict=True)) and set(dilation) == {1}
    gradients, chosen = samples_last(g if disjoint else _widen(g)), samples_last(positions)
    total = _frame(shape, pads, gradients)
    for number, position in enumerate(np.ndindex(*kernel)):
        part = zero_outside(gradients, chosen == number)
        region = _region(position, g.shape[2:], stride, dilation)
        if disjoint:
            total[region] = part
        else:
            total[region] += part
    return samples_first(total[_inner(shape[2:], pads)]).astype(g.dtype, copy=False)


def max_pool_pick(x: Array, positions: Array, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints) -> Array:
    """Return the element of each window at ``positions``: the transpose of ``max_pool_grad``."""
    if pooling.suits(x, kernel, stride, positions.shape):
        return samples_first(pooling.max_pool_pick(x, positions, kernel, stride, pads, dilation))
    view = _windows(_padded(x, pads), kernel, stride, dilation)
    chosen = samples_last(positions)
    picked = array_module(x).zeros(chosen.shape, x.dtype)
    for number, position in enumerate(np.ndindex(*kernel)):
        picked += zero_outside(view[(slice(None), *position)], chosen == number)
    return samples_first(picked)


def avg_pool(x: Array, kernel: Ints, stride: Ints, pads: Ints) -> Array:
    """Return the mean of each window, including padding."""
    flat = (1,) * len(kernel)
    outputs = _output_lengths(x.shape[2:], kernel, stride, pads, flat)
    if pooling.suits(x, kernel, stride, (*x.shape[:2], *outputs)):
        return samples_first(pooling.avg_pool(x, outputs, kernel, stride, pads))
    view = _windows(_padded(_widen(x), pads), kernel, stride, flat)
    total: Any = None
    for position in np.ndindex(*kernel):
        candidate = view[(slice(None), *position)]
        if total is None:
            total = array_module(x).array(candidate)
        else:
            total += candidate
    total *= 1 / math.prod(kernel)
    return samples_first(total).astype(x.dtype, copy=False)


def avg_pool_grad(g: Array, shape: Ints, kernel: Ints, stride: Ints, pads: Ints) -> Array:
    """Return the gradient of ``avg_pool``: each is distributed evenly over its window."""
    if pooling.suits(g, kernel, stride, g.shape):
        return samples_first(pooling.avg_pool_grad(g, shape, kernel, stride, pads))
    share = samples_last(_widen(g)) * (1 / math.prod(kernel))
    total = _frame(shape, pads, share)
    flat = (1,) * len(kernel)
    for position in np.ndindex(*kernel):
        total[_region(position, g.shape[2:], stride, flat)] += share
    return samples_first(total[_inner(shape[2:], pads)]).astype(g.dtype, copy=False)
