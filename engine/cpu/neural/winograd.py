"""Convolution with 3 x 3 kernels by Winograd's minimal filtering: a quarter of the multiplications.

An image is cut into tiles of 4 x 4 outputs, each from 6 x 6 inputs. With three constant matrices A, G, B (Lavin and
Gray 2016, "Fast Algorithms for Convolutional Neural Networks", section 4) the outputs of a tile are

    A' [ (G w G') * (B d B') ] A        w: the kernel, d: the inputs, *: element by element

so that one product over channels remains for each of the 36 elements. If a tile of 4 x 4 would mostly exceed
the edge, tiles have 2 x 2 outputs, from 4 x 4 inputs.

The points of the interpolation are 0, 1, -1, 1/2, -2 (Barabasz et al. 2020, "Error Analysis and Improving the Accuracy
of Winograd Convolution for Deep Neural Networks"). Against float64, 64 to 512 channels of normal numbers: the largest
error is 5e-6 of the largest output, with 0, 1, -1, 2, -2 it is 1e-5, and that of the direct product is 5e-7. An error
spreads within its tile and no further.

Arrays are as in ``windows``: (N, C, H, W) outside, (C, H, W, N) inside. The work is divided in one of two ways. If
all transformed kernels are few, they are computed first, and a part of the work is some tiles from inputs to
outputs. If they are many, or more than the tiles, the inputs are transformed first, a few megabytes at a time, and a
part is some kernels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from ..array_module import Array
from ..compiling import address, is_on, kernels, ready
from ..threads import share, single_threaded_blas

__all__ = ["conv", "conv_weight_grad", "suits"]

Ints = tuple[int, ...]

_LEAST_CHANNELS = 16
_LEAST_WORK = 1 << 22
"""Multiplications of the direct method from which the transformations pay."""
_FEW_KERNELS, _MOST_KERNELS = 1 << 14, 1 << 16
"""Kernels that are all transformed first: 2.25 and 9 MiB."""
_MOST_INPUTS = 5 << 20
"""Bytes of transformed inputs at a time."""
_LEAST_TILES, _MOST_TILES = 32, 128
"""Tiles per block: fewer make thin products, more do not stay in the cache."""
_MOST_PARTS = 16
_SIDE = 32
"""Kernels per part."""


def suits(
    x: Array, other: Array, kernel: Ints, kernels: int, outputs: Ints, stride: Ints, dilation: Ints, group: int
) -> bool:
    """Return whether a convolution is computed here: 3 x 3 in float32 on the CPU, stride 1, and enough work."""
    if kernel != (3, 3) or (stride, dilation, group) != ((1, 1), (1, 1), 1) or type(x) is not np.ndarray:
        return False
    if not x.dtype == other.dtype == np.float32 or min(x.shape[1], kernels) < _LEAST_CHANNELS or min(outputs) < 2:
        return False
    return 9 * len(x) * x.shape[1] * kernels * math.prod(outputs) >= _LEAST_WORK and is_on()


def _tile(outputs: Ints) -> int:
    """Return the outputs along the side of a tile that need fewer multiplications."""
    small, large = (math.prod(-(-n // tile) for n in outputs) * (tile + 2) ** 2 for tile in (2, 4))
    return 2 if small < large else 4


@cache
def _blocks(outputs: Ints, samples: int, tile: int, most: int) -> tuple[Array, Array, int]:
    """Return blocks in the form for kernels, the tiles of each, and their maximum; all of about one size."""
    rows, columns = (-(-n // tile) for n in outputs)
    sample_count = _even(samples, most)
    across = _even(columns, max(1, most // sample_count))
    down = _even(rows, max(1, most // (sample_count * across)))
    bounds = [
        (r, min(rows, r + down), c, min(columns, c + across), n, min(samples, n + sample_count))
        for r in range(0, rows, down)
        for c in range(0, columns, across)
        for n in range(0, samples, sample_count)
    ]
    blocks = np.array(bounds, np.int64).reshape(-1, 6)
    counts = np.prod(blocks[:, 1::2] - blocks[:, ::2], axis=1)
    return blocks, counts, int(counts.max())


def _even(count: int, most: int) -> int:
    """Return the length of pieces of ``count``, at most ``most``, of nearly equal length."""
    return -(-count // -(-count // most))


def _inside(x: Array) -> Array:
    return ready(x.transpose(1, 2, 3, 0))


def _goes_by_tiles(channels: int, kernels: int, tiles: int) -> bool:
    """Return whether the kernels are transformed first: if they are few, or not many and fewer than the tiles.

    Few tiles make few blocks for the threads, and take less memory than many kernels.
    """
    return channels * kernels <= (_MOST_KERNELS if kernels < tiles else _FEW_KERNELS)


def conv(x: Array, weight: Array, pads: Ints, outputs: Ints, turned: bool = False) -> Array | None:
    """Return the cross-correlation of x (N, C, H, W) with weight (K, C, 3, 3), as (K, *outputs, N).

    With ``turned`` x is (N, K, H, W), the kernels are rotated by 180 degrees, and the result has C channels.

    Returns:
        None if a number is not finite, or its square is not: the transformations would spread it over
        its tile.
    """
    channels, count = (weight.shape[0], weight.shape[1]) if turned else (weight.shape[1], weight.shape[0])
    x, weight = _inside(x), ready(weight)
    _, height, width, samples = x.shape
    tile = _tile(outputs)
    positions = (tile + 2) ** 2
    y = np.empty((count, *outputs, samples), np.float32)
    tiles = samples * math.prod(-(-n // tile) for n in outputs)
    compiled = kernels("winograd")
    image = (address(x), channels, height, width, samples, pads[0], pads[2])
    with single_threaded_blas("scipy"):
        if _goes_by_tiles(channels, count, tiles):
            u = np.empty((positions, *weight.shape[:2]), np.float32)
            part_kernels = max(1, 4096 // weight.shape[1])
            share(
                compiled.kernels,
                -(-len(weight) // part_kernels),
                part_kernels,
                address(weight),
                *weight.shape[:2],
                turned,
                address(u),
                tile,
            )
            blocks, _, most = _blocks(outputs, samples, tile, min(max(tiles // 8, _LEAST_TILES), _MOST_TILES))
            sums = np.empty(min(len(blocks), _MOST_PARTS), np.float32)
            share(
                compiled.by_tiles,
                len(sums),
                blocks,
                sums,
                *image,
                address(u),
                turned,
                address(y),
                count,
                *outputs,
                tile,
                most,
            )
            return y if np.isfinite(sums).all() else None
        side = _even(count, _SIDE)
        sums = np.empty(-(-count // side), np.float32)
        for blocks, v, most in _transformed(compiled, image, outputs, samples, tile, _MOST_TILES):
            share(
                compiled.by_kernels,
                len(sums),
                blocks,
                sums,
                side,
                address(weight),
                turned,
                address(v),
                channels,
                count,
                address(y),
                *outputs,
                samples,
                tile,
                most,
            )
            if not np.isfinite(sums).all():
                return None
    return y


def _transformed(
    compiled: Any, image: Ints, outputs: Ints, samples: int, tile: int, most: int
) -> Iterator[tuple[Array, Array, int]]:
    """Yield blocks and their transformed inputs, some megabytes at a time; the memory is reused for the next."""
    channels = image[1]
    of_tile = 4 * (tile + 2) ** 2 * channels
    most = min(most, max(_LEAST_TILES, _MOST_INPUTS // of_tile))
    blocks, counts, most = _blocks(outputs, samples, tile, most)
    step = max(1, _MOST_INPUTS // (of_tile * most))
    v = np.empty(of_tile // 4 * int(counts[:step].sum()), np.float32)
    part_channels = _even(channels, 16)
    for start in range(0, len(blocks), step):
        part = blocks[start : start + step]
        share(compiled.inputs, -(-channels // part_channels), part, part_channels, *image, address(v), tile, most)
        yield part, v, most


def conv_weight_grad(g: Array, x: Array, pads: Ints) -> Array | None:
    """Return the gradient of ``conv`` with respect to its weight; None likewise."""
    outputs = g.shape[2:]
    g, x = _inside(g), _inside(x)
    channels, height, width, samples = x.shape
    count, tile = len(g), _tile(outputs)
    gradient = np.empty((count, channels, 3, 3), np.float32)
    tiles = samples * math.prod(-(-n // tile) for n in outputs)
    side = _even(count, max(8, min(_SIDE if tiles > 64 else 2 * _SIDE, -(-count // 4))))
    compiled = kernels("winograd")
    image = (address(x), channels, height, width, samples, pads[0], pads[2])
    with single_threaded_blas("scipy"):
        for number, (blocks, v, most) in enumerate(
            _transformed(compiled, image, outputs, samples, tile, 2 * _MOST_TILES)
        ):
            share(
                compiled.weight_gradient,
                -(-count // side),
                blocks,
                side,
                address(g),
                address(v),
                channels,
                count,
                *outputs,
                samples,
                address(gradient),
                number,
                tile,
                most,
            )
    flat = gradient.reshape(-1)
    with single_threaded_blas("numpy"):
        return gradient if np.isfinite(flat @ flat) else None
