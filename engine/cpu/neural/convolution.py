"""Convolution in compiled kernels: by columns that are written in blocks, or directly for thin groups.

Arrays are as in ``windows``: (N, C, *lengths) outside, (C, *lengths, N) inside, over one to three axes.
"""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np

from ..array_module import Array
from ..compiling import address, is_on, kernels, ready
from ..threads import share, single_threaded_blas

__all__ = ["conv", "conv_input_grad", "conv_weight_grad", "samples_last", "suits", "taps_of"]

Ints = tuple[int, ...]

_LEAST_WORK = 1 << 18
"""Multiplications from which a compiled kernel is faster."""
_COLUMNS = 1 << 16
"""Numbers of columns per block: they stay in the second-level cache until the product reads them."""
_LEAST, _MOST = 64, 4096
"""Windows that are multiplied at once."""
_PARTS = 16
_LEAST_ROWS = 96
"""Rows of columns per part, if there are enough: each part reads the complete gradient."""
_THIN = 4
"""Groups with fewer kernels, or with fewer positions in a kernel's column, are computed directly."""


def suits(x: Array, other: Array, kernel: Ints, kernels: int, outputs: Ints, group: int) -> bool:
    """Return whether compiled kernels compute a convolution and its gradients: float32 on the CPU, and enough work."""
    if type(x) is not np.ndarray or not x.dtype == other.dtype == np.float32:
        return False
    return len(x) * x.shape[1] * kernels // group * math.prod(kernel) * math.prod(outputs) >= _LEAST_WORK and is_on()


def samples_last(x: Array) -> Array:
    """Return (N, C, ...) as (C, ..., N), in the form for kernels."""
    return ready(x.transpose(*range(1, x.ndim), 0))


@cache
def taps_of(kernel: Ints, dilation: Ints, pads: Ints) -> Array:
    """Return the positions of a window, in the form for kernels; missing axes are prepended."""
    missing = (0,) * (3 - len(kernel))
    positions = [
        (
            *missing,
            *(offset * spacing - pad for offset, spacing, pad in zip(position, dilation, pads[::2], strict=True)),
        )
        for position in itertools.product(*map(range, kernel))
    ]
    return np.array(positions, np.int64)


class _Plan:
    """Numbers for the kernels.

    Attributes:
        taps, shape: as in ``compiled.neural.convolution``.
        flat: whether the input is the matrix of its windows.
        direct: whether it is computed without columns.
        depth: the length of a column of one group.
    """

    def __init__(
        self,
        lengths: Ints,
        outputs: Ints,
        kernel: Ints,
        stride: Ints,
        pads: Ints,
        dilation: Ints,
        samples: int,
        channels: int,
        kernels: int,
        groups: int,
    ) -> None:
        unit_axes = (1,) * (3 - len(kernel))
        self.taps = taps_of(kernel, dilation, pads)
        self.shape = np.array(
            [*unit_axes, *lengths, *unit_axes, *stride, *unit_axes, *outputs, samples, channels, kernels, groups],
            np.int64,
        )
        self.flat = lengths == outputs and len(self.taps) == 1 and set(stride) == {1} and not any(pads)
        self.depth = channels * len(self.taps)
        self.direct = groups > 1 and (kernels < _THIN or self.depth < _THIN)
        self.outputs, self.samples = math.prod(outputs), samples

    def blocks(self, rows: int, kernels: int = 1) -> Ints:
        """Return the numbers of pixels and of samples per product, for columns of ``rows`` numbers."""
        count = min(max(_COLUMNS // max(rows, kernels), _LEAST), _MOST)
        pixels = min(self.outputs, max(1, count // self.samples))
        return pixels, self.samples if pixels > 1 else min(self.samples, count)


@cache
def _plan(*settings: Ints | int) -> _Plan:
    return _Plan(*settings)  # type: ignore[arg-type]  # passed unchanged


def _even(count: int, most: int) -> int:
    """Return the length of pieces of ``count``, at most ``most``, of nearly equal length."""
    return -(-count // -(-count // most))


def conv(x: Array, weight: Array, stride: Ints, pads: Ints, dilation: Ints, group: int, outputs: Ints) -> Array:
    """Return ``windows.conv``, as (K, *outputs, N)."""
    n, count = len(x), len(weight)
    plan = _plan(
        x.shape[2:], outputs, weight.shape[2:], stride, pads, dilation, n, x.shape[1] // group, count // group, group
    )
    x, weight = samples_last(x), ready(weight)
    y = np.empty((count, *outputs, n), np.float32)
    if plan.direct:
        share(kernels("thin_groups").directly, group, plan.taps, plan.shape, 0, address(x), address(weight), address(y))
        return y
    compiled = kernels("convolution")
    pixels, sample_count = plan.blocks(plan.depth)
    blocks = -(-plan.outputs // pixels) * -(-n // sample_count)
    parts = min(blocks, _PARTS)
    most = max(len(plan.taps), min(plan.depth, _COLUMNS // (pixels * sample_count)))
    with single_threaded_blas("scipy"):
        share(
            compiled.convolution,
            parts,
            parts,
            plan.taps,
            plan.shape,
            pixels,
            sample_count,
            most,
            plan.flat,
            address(x),
            address(weight),
            address(y),
        )
    return y


def conv_input_grad(
    g: Array, weight: Array, shape: Ints, stride: Ints, pads: Ints, dilation: Ints, group: int
) -> Array:
    """Return ``windows.conv_input_grad``, as (C, *lengths, N)."""
    n, count = len(g), len(weight)
    plan = _plan(
        shape[2:], g.shape[2:], weight.shape[2:], stride, pads, dilation, n, shape[1] // group, count // group, group
    )
    g, weight = samples_last(g), ready(weight)
    x = np.empty((*shape[1:], n), np.float32)
    if plan.direct:
        share(kernels("thin_groups").directly, group, plan.taps, plan.shape, 1, address(x), address(weight), address(g))
        return x
    compiled = kernels("convolution")
    channels = shape[1] // group
    part_channels = _even(channels, max(-(-_LEAST_ROWS // len(plan.taps)), -(-channels // _PARTS)))
    pixels, sample_count = plan.blocks(part_channels * len(plan.taps), count // group)
    parts = group * -(-channels // part_channels)
    with single_threaded_blas("scipy"):
        share(
            compiled.input_gradient,
            parts,
            plan.taps,
            plan.shape,
            pixels,
            sample_count,
            part_channels,
            plan.flat,
            address(g),
            address(weight),
            address(x),
        )
    return x


def conv_weight_grad(g: Array, x: Array, kernel: Ints, stride: Ints, pads: Ints, dilation: Ints, group: int) -> Array:
    """Return ``windows.conv_weight_grad``."""
    n, count = g.shape[:2]
    plan = _plan(
        x.shape[2:], g.shape[2:], kernel, stride, pads, dilation, n, x.shape[1] // group, count // group, group
    )
    g, x = samples_last(g), samples_last(x)
    gradient = np.empty((count, len(x) // group, *kernel), np.float32)
    if plan.direct:
        share(
            kernels("thin_groups").directly, group, plan.taps, plan.shape, 2, address(x), address(gradient), address(g)
        )
        return gradient
    compiled = kernels("convolution")
    part_rows = _even(plan.depth, max(_LEAST_ROWS if plan.depth > 4 * _LEAST_ROWS else 8, -(-plan.depth // _PARTS)))
    pixels, sample_count = plan.blocks(part_rows, count // group)
    parts = group * -(-plan.depth // part_rows)
    with single_threaded_blas("scipy"):
        share(
            compiled.weight_gradient,
            parts,
            plan.taps,
            plan.shape,
            pixels,
            sample_count,
            part_rows,
            plan.flat,
            address(g),
            address(x),
            address(gradient),
        )
    return gradient
