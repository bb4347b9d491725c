"""Pooling over one to three axes: largest and mean of windows, by size, by output size, by power, and back.

One axis is pooled as two, the first of length 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import random
from ..backend import to_device
from ..cpu import windows
from ..cpu.array_module import array_module
from ..operator import Operator
from ..surfaces import declare, prim, renamed
from ..tensor import Tensor
from .arithmetic import abs as absolute
from .arithmetic import mul, pow, sign
from .convolution import check_format, check_windows, ints_for, pads_for
from .indexing import getitem
from .linalg import matmul
from .shape import _check, expand_dims, reshape, squeeze, swapaxes

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "fractional_max_pool2d", "fractional_max_pool3d",
    "lp_pool1d", "lp_pool2d", "max_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip

Ints = tuple[int, ...]


def _entries(axes: int) -> tuple[Operator, Operator]:
    """Largest and mean over ``axes`` axes, with their gradients and the transposes of these."""
    largest, average = f"max_pool{axes}d", f"avg_pool{axes}d"

    def largest_rule(F: Any, needs: list[bool], g: Any, out: Any, x: Any, **how: Any) -> list[Any]:
        return [getattr(F, f"{largest}_grad")(g[0], out[1], shape=tuple(x.shape), **how)]

    def largest_back(F: Any, gg: Any, out: Any, g: Any, places: Any, shape: Any, **how: Any) -> Any:
        return getattr(F, f"{largest}_pick")(gg, places, **how)

    def picked_back(F: Any, g: Any, out: Any, x: Any, places: Any, **how: Any) -> Any:
        return getattr(F, f"{largest}_grad")(g, places, shape=tuple(x.shape), **how)

    def average_rule(F: Any, g: Any, out: Any, x: Any, **how: Any) -> Any:
        return getattr(F, f"{average}_grad")(g, shape=tuple(x.shape), **how)

    def average_back(F: Any, gg: Any, out: Any, g: Any, shape: Any, **how: Any) -> Any:
        return getattr(F, average)(gg, **how)

    Operator(f"{largest}_grad", windows.max_pool_grad, (largest_back, None))
    Operator(f"{largest}_pick", windows.max_pool_pick, (picked_back, None))
    Operator(f"{average}_grad", windows.avg_pool_grad, (average_back,))
    return (
        Operator(largest, windows.max_pool, joint_vjp=largest_rule),
        Operator(average, windows.avg_pool, (average_rule,)),
    )


_POOLS = {axes: _entries(axes) for axes in (2, 3)}


def _batched(function: Callable[[Tensor], Any], x: Any, axes: int, name: str) -> Any:
    """``function`` of (N, C, ...), also where ``x`` is one sample (C, ...)."""
    if _check(x, name).ndim == axes + 1:
        found = function(expand_dims(x, 0))
        return tuple(squeeze(y, 0) for y in found) if isinstance(found, tuple) else squeeze(found, 0)
    if x.ndim != axes + 2:
        letters = "(N, C, D, H, W)"[: 5 + 3 * axes] if axes == 3 else "(N, C, H, W)" if axes == 2 else "(N, C, L)"
        raise ValueError(f"For '{name}', the input must have {axes + 2} axes {letters}, but got shape {x.shape}")
    return function(x)


def _ceiled(lengths: Ints, kernel: Ints, stride: Ints, dilation: Ints, pads: Ints) -> Ints:
    """Pads with so much added at the ends that a last, partial window fits, if it begins inside input or padding."""
    found = list(pads)
    for place, (n, k, s, d) in enumerate(zip(lengths, kernel, stride, dilation, strict=True)):
        before, after = pads[2 * place], pads[2 * place + 1]
        span = d * (k - 1) + 1
        count = -(-(n + before + after - span) // s) + 1
        if (count - 1) * s >= n + before:
            count -= 1
        found[2 * place + 1] = max(after, (count - 1) * s + span - n - before)
    return tuple(found)


def largest_of_windows(
    axes: int,
    name: str,
    x: Any,
    kernel_size: Any,
    stride: Any,
    pad_mode: str,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    """The largest element of each window, and with ``return_indices`` where it is in the flattened sample."""

    def pooled(x: Tensor) -> Any:
        kernel = ints_for(kernel_size, axes, name, "kernel_size")
        strides = kernel if stride is None else ints_for(stride, axes, name, "stride")
        dilations = ints_for(dilation, axes, name, "dilation")
        lengths = tuple(x.shape[2:])
        pads = pads_for(pad_mode, padding, lengths, kernel, strides, dilations, name)
        if any(p > k // 2 for p, k in zip(pads[::2], kernel, strict=True)) and pad_mode.lower() == "pad":
            raise ValueError(f"For '{name}', 'padding' must be at most half of 'kernel_size', but got {padding!r}")
        if ceil_mode:
            pads = _ceiled(lengths, kernel, strides, dilations, pads)
        check_windows(x, kernel, strides, dilations, pads, name)
        best, places = _POOLS[axes][0](x, kernel=kernel, stride=strides, pads=pads, dilation=dilations)
        if not return_indices:
            return best
        flat = _flat_places(places._array, lengths, kernel, strides, pads, dilations)
        return best, Tensor._wrap(flat)

    return _batched(pooled, x, axes, name)


def _flat_places(places: Any, lengths: Ints, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints) -> Any:
    """Places in windows as places in the flattened axes of one sample and channel."""
    xp = array_module(places)
    flat = 0
    rest = places.astype("int64")
    inside = []
    for k in reversed(kernel):
        inside.append(rest % k)
        rest = rest // k
    for axis, (within, n) in enumerate(zip(reversed(inside), lengths, strict=True)):
        shape = [1] * places.ndim
        shape[axis + 2] = -1
        starts = xp.arange(places.shape[axis + 2]).reshape(shape) * stride[axis] - pads[2 * axis]
        flat = flat * n + starts + within * dilation[axis]
    return flat


def mean_of_windows(
    axes: int,
    name: str,
    x: Any,
    kernel_size: Any,
    stride: Any,
    pad_mode: str,
    padding: Any,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window; padding counts if ``count_include_pad``, what ``ceil_mode`` adds never does."""

    def pooled(x: Tensor) -> Tensor:
        kernel = ints_for(kernel_size, axes, name, "kernel_size")
        strides = kernel if stride is None else ints_for(stride, axes, name, "stride")
        flat = (1,) * axes
        lengths = tuple(x.shape[2:])
        given = pads = pads_for(pad_mode, padding, lengths, kernel, strides, flat, name)
        if ceil_mode:
            pads = _ceiled(lengths, kernel, strides, flat, pads)
        check_windows(x, kernel, strides, flat, pads, name)
        found: Tensor = _POOLS[axes][1](x, kernel=kernel, stride=strides, pads=pads)
        size = math.prod(kernel)
        if divisor_override:
            return mul(found, size / divisor_override)  # type: ignore[no-any-return]
        if (count_include_pad and pads == given) or not any(pads):
            return found
        counts: Any = 1
        for axis, (n, k, s) in enumerate(zip(lengths, kernel, strides, strict=True)):
            before, after = given[2 * axis : 2 * axis + 2]
            starts = np.arange(found.shape[axis + 2]) * s
            low, high = (0, n + before + after) if count_include_pad else (before, before + n)
            covered = np.minimum(starts + k, high) - np.maximum(starts, low)
            counts = np.multiply.outer(counts, covered)
        factors = (size / np.maximum(counts, 1)).astype(found._array.dtype)
        return mul(found, Tensor._wrap(to_device(factors)))  # type: ignore[no-any-return]

    return _batched(pooled, x, axes, name)  # type: ignore[no-any-return]


def as_image(function: Callable[[Tensor], Any], x: Any, name: str) -> Any:
    """``function`` of (N, C, 1, L), for what comes as (N, C, L)."""

    def pooled(x: Tensor) -> Any:
        found = function(expand_dims(x, 2))
        return tuple(squeeze(y, 2) for y in found) if isinstance(found, tuple) else squeeze(found, 2)

    return _batched(pooled, x, 1, name)


def flat_pair(value: Any, name: str, argument: str, first: int = 1, least: int = 1) -> Any:
    """An int, or a tuple of one, for the second of two axes."""
    return None if value is None else (first, *ints_for(value, 1, name, argument, least))


def max_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
    *,
    pad_mode: str = "pad",
) -> Any:
    """The largest element of each window."""
    return largest_of_windows(
        2, "max_pool2d", x, kernel_size, stride, pad_mode, padding, dilation, ceil_mode, return_indices
    )


def max_pool3d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    pad_mode: str = "pad",
) -> Any:
    """The largest element of each window of (N, C, D, H, W)."""
    return largest_of_windows(
        3, "max_pool3d", x, kernel_size, stride, pad_mode, padding, dilation, ceil_mode, return_indices
    )


def avg_pool1d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    *,
    pad_mode: str = "pad",
) -> Tensor:
    """The mean of each window of (N, C, L)."""
    name = "avg_pool1d"
    sides = (0, 0, padding, padding) if isinstance(padding, int) else (0, 0, *(tuple(padding) * 2)[:2])
    window, steps = flat_pair(kernel_size, name, "kernel_size"), flat_pair(stride, name, "stride")

    def pooled(x: Tensor) -> Tensor:
        return mean_of_windows(2, name, x, window, steps, pad_mode, sides, ceil_mode, count_include_pad)

    return as_image(pooled, input_x, name)  # type: ignore[no-any-return]


def avg_pool2d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
    *,
    pad_mode: str = "pad",
) -> Tensor:
    """The mean of each window."""
    return mean_of_windows(
        2, "avg_pool2d", input_x, kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    input_x: Tensor,
    kernel_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
    *,
    pad_mode: str = "pad",
) -> Tensor:
    """The mean of each window of (N, C, D, H, W)."""
    return mean_of_windows(
        3, "avg_pool3d", input_x, kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override
    )


def _pool_class(name: str, function: Callable[..., Tensor]) -> None:
    """The class of a pooling over two axes."""

    @declare(primitive=prim(name, kernel_size=1, strides=1, pad_mode="valid", data_format="NCHW"))
    def pooled(x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, data_format: str) -> Tensor:
        check_format(data_format, "NCHW", name)
        return function(x, kernel_size, strides, pad_mode=pad_mode)

    pooled.__doc__ = function.__doc__


_pool_class("MaxPool", max_pool2d)
_pool_class("AvgPool", avg_pool2d)


def _output_size(size: Any, x: Tensor, axes: int, name: str) -> Ints:
    """The wanted lengths; None keeps an axis as it is."""
    given = (size,) * axes if isinstance(size, int) or size is None else tuple(size)
    if len(given) == 1:
        given *= axes
    if len(given) != axes or not all(n is None or (isinstance(n, int) and not isinstance(n, bool)) for n in given):
        raise TypeError(f"For '{name}', 'output_size' must be an int or a tuple of {axes} ints, but got {size!r}")
    if any(n is not None and n < 1 for n in given):
        raise ValueError(f"For '{name}', 'output_size' must be at least 1, but got {size!r}")
    return tuple(have if n is None else n for n, have in zip(given, x.shape[2:], strict=True))


def _edges(length: int, parts: int) -> list[tuple[int, int]]:
    """Window i of an axis goes from floor(i * length / parts) to ceil((i + 1) * length / parts)."""
    return [(i * length // parts, -(-(i + 1) * length // parts)) for i in range(parts)]


def _adaptive_average(input: Any, output_size: Any, axes: int, name: str) -> Tensor:
    def pooled(x: Tensor) -> Tensor:
        lengths, size = tuple(x.shape[2:]), _output_size(output_size, x, axes, name)
        if all(n % m == 0 for n, m in zip(lengths, size, strict=True)):
            window = tuple(n // m for n, m in zip(lengths, size, strict=True))
            return mean_of_windows(axes, name, x, window, window, "valid", 0)
        # A mean over uneven parts of one axis is a product with a matrix.
        for axis, (length, parts) in enumerate(zip(lengths, size, strict=True)):
            weights = np.zeros((length, parts))
            for part, (start, stop) in enumerate(_edges(length, parts)):
                weights[start:stop, part] = 1 / (stop - start)
            matrix = Tensor._wrap(to_device(weights.astype(x._array.dtype)))
            last = x.ndim - 1
            x = swapaxes(matmul(swapaxes(x, axis + 2, last), matrix), axis + 2, last)
        return x

    return _batched(pooled, input, axes, name)  # type: ignore[no-any-return]


def _largest_between(x: Tensor, edges: list[list[tuple[int, int]]], return_indices: bool) -> Any:
    """The largest element between ``edges`` of each axis; the indices are into the flattened axes."""
    array = x._array
    xp = array_module(array)
    lengths, counts = x.shape[2:], tuple(len(e) for e in edges)
    found = xp.zeros((*x.shape[:2], *counts), "int64")
    numbers = xp.arange(math.prod(lengths)).reshape(lengths)
    for place in np.ndindex(*counts):
        part = tuple(slice(*edges[axis][i]) for axis, i in enumerate(place))
        block = array[(slice(None), slice(None), *part)].reshape(*x.shape[:2], -1)
        found[(slice(None), slice(None), *place)] = numbers[part].reshape(-1)[block.argmax(axis=-1)]
    indices = Tensor._wrap(found)
    best = gathered(x, indices)
    return (best, indices) if return_indices else best


def gathered(x: Tensor, indices: Tensor) -> Tensor:
    """Of each sample and channel the elements at places in its flattened axes."""
    n, c = x.shape[:2]
    xp = array_module(x._array)
    samples = Tensor._wrap(xp.arange(n)[:, None, None])
    channels = Tensor._wrap(xp.arange(c)[None, :, None])
    picked = getitem(reshape(x, (n, c, -1)), (samples, channels, reshape(indices, (n, c, -1))))
    return reshape(picked, indices.shape)


def _adaptive_largest(input: Any, output_size: Any, return_indices: bool, axes: int, name: str) -> Any:
    def pooled(x: Tensor) -> Any:
        size = _output_size(output_size, x, axes, name)
        edges = [_edges(n, parts) for n, parts in zip(x.shape[2:], size, strict=True)]
        return _largest_between(x, edges, return_indices)

    return _batched(pooled, input, axes, name)


@declare(mint="nn.functional.adaptive_avg_pool1d")
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Means over windows chosen so that the output (N, C, ...) has ``output_size``."""
    name = "adaptive_avg_pool1d"
    size = (1, *_one(output_size, name))
    return as_image(lambda x: _adaptive_average(x, size, 2, name), input, name)  # type: ignore[no-any-return]


def _one(size: Any, name: str) -> Ints:
    return ints_for(size, 1, name, "output_size")


@declare(mint="nn.functional.adaptive_avg_pool2d")
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over windows chosen so that the output has ``output_size``."""
    return _adaptive_average(input, output_size, 2, "adaptive_avg_pool2d")


@declare(mint="nn.functional.adaptive_avg_pool3d")
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means over windows chosen so that the output has ``output_size``."""
    return _adaptive_average(input, output_size, 3, "adaptive_avg_pool3d")


def adaptive_max_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The largest elements of windows chosen so that the output has ``output_size``."""
    size = _one(output_size, "adaptive_max_pool1d")
    return _adaptive_largest(input, size, False, 1, "adaptive_max_pool1d")  # type: ignore[no-any-return]


@declare(mint="nn.functional.adaptive_max_pool2d")
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of windows chosen so that the output has ``output_size``."""
    return _adaptive_largest(input, output_size, return_indices, 2, "adaptive_max_pool2d")


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of windows chosen so that the output has ``output_size``."""
    return _adaptive_largest(input, output_size, return_indices, 3, "adaptive_max_pool3d")


def _powers(x: Tensor, norm_type: float, averaged: Tensor, size: int) -> Tensor:
    """(sum of x ** p) ** (1 / p), as PyTorch and MindSpore have it: with the sign of the sum."""
    total = mul(averaged, size)
    return mul(sign(total), pow(absolute(total), 1.0 / norm_type))  # type: ignore[no-any-return]


def lp_pool1d(x: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The ``norm_type``-norm of each window of (N, C, L)."""
    (size,) = ints_for(kernel_size, 1, "lp_pool1d", "kernel_size")
    raised = pow(x, float(norm_type))
    averaged = avg_pool1d(raised, size, size if stride is None else stride, 0, ceil_mode)
    return _powers(x, norm_type, averaged, size)


def lp_pool2d(x: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The ``norm_type``-norm of each window of (N, C, H, W)."""
    size = ints_for(kernel_size, 2, "lp_pool2d", "kernel_size")
    raised = pow(x, float(norm_type))
    averaged = avg_pool2d(raised, size, size if stride is None else stride, 0, ceil_mode)
    return _powers(x, norm_type, averaged, math.prod(size))


def _unpooled(
    axes: int, name: str, x: Any, indices: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Tensor:
    kernel = ints_for(kernel_size, axes, name, "kernel_size")
    strides = kernel if not stride else ints_for(stride, axes, name, "stride")
    pads = ints_for(padding, axes, name, "padding", 0)
    if _check(x, name).shape != _check(indices, name, "indices").shape:
        raise ValueError(f"For '{name}', 'indices' must have the shape {x.shape} of 'x', but got {indices.shape}")
    if x.ndim == axes + 1:
        size = None if output_size is None else (1, *output_size) if len(output_size) == axes + 1 else output_size
        found = _unpooled(axes, name, expand_dims(x, 0), expand_dims(indices, 0), kernel, strides, pads, size)
        return squeeze(found, 0)
    if output_size:
        lengths = tuple(output_size)[-axes:]
    else:
        lengths = tuple((n - 1) * s - 2 * p + k for n, s, p, k in zip(x.shape[2:], strides, pads, kernel, strict=True))
    total = math.prod(lengths)
    places = indices._array
    if places.size and not 0 <= int(places.min()) <= int(places.max()) < total:
        raise ValueError(f"For '{name}', 'indices' must be in [0, {total})")
    from ..operator import TENSOR_FUNCTIONS

    n, c = x.shape[:2]
    xp = array_module(places)
    index = (xp.arange(n)[:, None, None], xp.arange(c)[None, :, None], places.reshape(n, c, -1))
    # Of two elements that go to one place, the last is kept, and gets the gradient.
    empty = Tensor._wrap(xp.zeros((n, c, total), x._array.dtype))
    filled = TENSOR_FUNCTIONS.setitem(empty, reshape(x, (n, c, -1)), index=index)
    return reshape(filled, (n, c, *lengths))


def max_unpool1d(
    x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Elements put back to where ``indices`` say they were the largest; 0 elsewhere."""
    return _unpooled(1, "max_unpool1d", x, indices, kernel_size, stride, padding, output_size)


@declare(mint=renamed("nn.functional.max_unpool2d", x="input"))
def max_unpool2d(
    x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Elements put back to where ``indices`` say they were the largest; 0 elsewhere."""
    return _unpooled(2, "max_unpool2d", x, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Elements put back to where ``indices`` say they were the largest; 0 elsewhere."""
    return _unpooled(3, "max_unpool3d", x, indices, kernel_size, stride, padding, output_size)


def _fractional(
    axes: int, name: str, input: Any, kernel_size: Any, size: Any, ratio: Any, indices: bool, samples: Tensor | None
) -> Any:
    """Graham 2014: windows that begin at pseudorandom places, floor(alpha * (i + u)) - floor(alpha * u)."""

    def pooled(x: Tensor) -> Any:
        kernel = ints_for(kernel_size, axes, name, "kernel_size")
        if (size is None) == (ratio is None):
            raise ValueError(f"For '{name}', one of 'output_size' and 'output_ratio' must be given")
        if size is not None:
            lengths = ints_for(size, axes, name, "output_size")
        else:
            ratios = (ratio,) * axes if isinstance(ratio, float) else tuple(ratio)
            lengths = tuple(int(n * r) for n, r in zip(x.shape[2:], ratios, strict=True))
        drawn = random.uniform((axes,)) if samples is None else np.asarray(samples.asnumpy()).reshape(-1)[:axes]
        edges = []
        for n, k, m, u in zip(x.shape[2:], kernel, lengths, drawn, strict=True):
            if n < k + m - 1:
                raise ValueError(f"For '{name}', windows of {k} and output {m} do not fit into length {n}")
            alpha = (n - k) / (m - 1) if m > 1 else 0.0
            starts = [int((i + u) * alpha) - int(u * alpha) for i in range(m - 1)] + [n - k]
            edges.append([(start, start + k) for start in starts])
        return _largest_between(x, edges, indices)

    return _batched(pooled, input, axes, name)


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows at pseudorandom places; the output has ``output_size``."""
    name = "fractional_max_pool2d"
    return _fractional(2, name, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows at pseudorandom places; the output has ``output_size``."""
    name = "fractional_max_pool3d"
    return _fractional(3, name, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)
