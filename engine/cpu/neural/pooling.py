"""Pooling in compiled kernels. Arrays are as in ``windows``: (N, C, *lengths) outside, (C, *lengths, N) inside."""

from __future__ import annotations

import math

import numpy as np

from ..array_module import Array
from ..compiling import address, is_on, kernels
from ..threads import share
from .convolution import samples_last, taps_of

__all__ = ["avg_pool", "avg_pool_grad", "max_pool", "max_pool_grad", "max_pool_pick", "suits"]

Ints = tuple[int, ...]

_LEAST_WORK = 1 << 15
"""Elements of all windows together from which a compiled kernel is faster."""
_LEAST_RUN = 8
"""Minimum of contiguous samples if windows are not contiguous: for fewer, NumPy is as fast."""
_MOST_POSITIONS = 256
"""Maximum of positions in a window, whose indices are bytes."""


def suits(x: Array, kernel: Ints, stride: Ints, windows: Ints) -> bool:
    """Return whether compiled kernels compute a pooling to (N, C, *outputs), its gradient and the transpose of that."""
    if stride[-1] > 1 and windows[0] < _LEAST_RUN:
        return False
    positions = math.prod(kernel)
    if type(x) is not np.ndarray or x.dtype != np.float32 or positions > _MOST_POSITIONS:
        return False
    return positions * math.prod(windows) >= _LEAST_WORK and is_on()


def _pooled(
    what: str,
    x: Array,
    y: Array,
    positions: Array | None,
    kernel: Ints,
    stride: Ints,
    pads: Ints,
    dilation: Ints,
    factor: float = 1.0,
) -> None:
    """Run a kernel between x (C, *lengths, N) and windows y (C, *outputs, N)."""
    compiled, unit_axes = kernels("pooling"), (1,) * (3 - len(kernel))
    shape = np.array(
        [*unit_axes, *x.shape[1:-1], *unit_axes, *stride, *unit_axes, *y.shape[1:-1], x.shape[-1]], np.int64
    )
    share(
        compiled.pooled,
        len(x),
        taps_of(kernel, dilation, pads),
        shape,
        getattr(compiled, what),
        address(x),
        address(y),
        0 if positions is None else address(positions),
        np.float32(factor),
    )


def max_pool(x: Array, outputs: Ints, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints) -> tuple[Array, Array]:
    """Return ``windows.max_pool``, both as (C, *outputs, N)."""
    x = samples_last(x)
    y = np.empty((len(x), *outputs, x.shape[-1]), np.float32)
    positions = np.empty(y.shape, np.uint8)
    _pooled("LARGEST", x, y, positions, kernel, stride, pads, dilation)
    return y, positions


def max_pool_grad(
    g: Array, positions: Array, shape: Ints, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints
) -> Array:
    """Return ``windows.max_pool_grad``, as (C, *lengths, N)."""
    x = np.empty((*shape[1:], shape[0]), np.float32)
    _pooled("RETURNED", x, samples_last(g), samples_last(positions), kernel, stride, pads, dilation)
    return x


def max_pool_pick(x: Array, positions: Array, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints) -> Array:
    """Return ``windows.max_pool_pick``, as (C, *outputs, N)."""
    positions = samples_last(positions)
    y = np.empty(positions.shape, np.float32)
    _pooled("PICKED", samples_last(x), y, positions, kernel, stride, pads, dilation)
    return y


def avg_pool(x: Array, outputs: Ints, kernel: Ints, stride: Ints, pads: Ints) -> Array:
    """Return ``windows.avg_pool``, as (C, *outputs, N)."""
    x = samples_last(x)
    y = np.empty((len(x), *outputs, x.shape[-1]), np.float32)
    _pooled("MEAN", x, y, None, kernel, stride, pads, (1,) * len(kernel), 1 / math.prod(kernel))
    return y


def avg_pool_grad(g: Array, shape: Ints, kernel: Ints, stride: Ints, pads: Ints) -> Array:
    """Return ``windows.avg_pool_grad``, as (C, *lengths, N)."""
    x = np.empty((*shape[1:], shape[0]), np.float32)
    _pooled("SHARED", x, samples_last(g), None, kernel, stride, pads, (1,) * len(kernel), 1 / math.prod(kernel))
    return x
