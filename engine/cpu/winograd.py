"""Convolution with 3 x 3 kernels by Winograd's minimal filtering: a quarter of the multiplications.

An image is cut into tiles of 4 x 4 outputs, each from 6 x 6 inputs. With three constant matrices A, G, B (Lavin and
Gray 2016, "Fast Algorithms for Convolutional Neural Networks", section 4) the outputs of a tile are

    A' [ (G w G') * (B d B') ] A        w: the kernel, d: the inputs, *: element by element

so that one product over channels is left for each of the 36 elements. The transformations are products of matrices as
well, with the Kronecker products of A, G and B on the flattened tiles, and so run at the speed of BLAS.

The points of the interpolation are 0, 1, -1, 1/2, -2 (Barabasz et al. 2020, "Error Analysis and Improving the Accuracy
of Winograd Convolution for Deep Neural Networks"). Against float64, 64 to 512 channels of normal numbers: the largest
error is 5e-6 of the largest output, with 0, 1, -1, 2, -2 it is 1e-5, and that of the direct product is 5e-7. An error
spreads within its tile and no further.

Arrays are as in ``windows``: (N, C, H, W) outside, (C, H, W, N) inside.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from .array_module import Array, array_module

__all__ = ["conv", "conv_weight_grad", "is_whole", "suits"]

Ints = tuple[int, ...]

_POINTS = (0.0, 1.0, -1.0, 0.5, -2.0)
_OUT, _IN, _KERNEL = 4, 6, 3
_BLOCK = 5 << 20
"""Bytes of transformed tiles that are made at once: they stay in the cache until the product reads them."""
_LEAST_CHANNELS, _LEAST_TILES = 64, 32
"""With fewer, the transformations cost more than the multiplications that they save."""


@cache
def _matrices() -> tuple[Array, Array, Array]:
    """For the flattened tiles: of the outputs (16, 36), of the kernel (36, 9) and of the inputs (36, 36)."""
    count = len(_POINTS)
    a, g, b = np.zeros((_IN, _OUT)), np.zeros((_IN, _KERNEL)), np.zeros((_IN, _IN))
    for i, point in enumerate(_POINTS):
        others = [p for p in _POINTS if p != point]
        a[i] = point ** np.arange(_OUT)
        g[i] = point ** np.arange(_KERNEL) / np.prod([point - p for p in others])
        b[i, :count] = np.poly(others)[::-1]
    # The last point is infinity: only the highest powers.
    a[-1, -1] = g[-1, -1] = 1
    b[-1] = np.poly(_POINTS)[::-1]
    found = tuple(np.kron(m, m).astype(np.float32) for m in (a.T, g, b))
    return found[0], found[1], found[2]


def suits(
    x: Array, other: Array, kernel: Ints, kernels: int, outputs: Ints, stride: Ints, dilation: Ints, group: int
) -> bool:
    """Whether a convolution goes this way: 3 x 3 on the CPU in Float32, every place, enough work, few outputs beyond
    the edge."""
    if kernel != (3, 3) or (stride, dilation, group) != ((1, 1), (1, 1), 1) or array_module(x) is not np:
        return False
    if not x.dtype == other.dtype == np.float32 or min(x.shape[1], kernels) < _LEAST_CHANNELS:
        return False
    tiles = math.prod(-(-n // _OUT) for n in outputs)
    return x.shape[0] * tiles >= _LEAST_TILES and tiles * _OUT * _OUT <= 2 * math.prod(outputs)


def is_whole(found: Array) -> bool:
    """Whether a result has no infinities and NaNs: in the transformations they spread over their tiles.

    Also False where the squares overflow; the direct product, which the caller falls back to, is never wrong. The
    product of BLAS takes a third of the time of a sum.
    """
    flat = found.reshape(-1)
    return bool(np.isfinite(flat @ flat))


def _inside(first: int, count: int, length: int) -> tuple[slice, slice]:
    """Of ``count`` places, every 4 from ``first`` on, those in an axis of ``length``: which they are, and where."""
    start = min(count, max(0, -(first // _OUT)))
    stop = min(count, max(start, -((first - length) // _OUT)))
    return slice(start, stop), slice(first + _OUT * start, first + _OUT * stop, _OUT)


def _transformed(matrix: Array, x: Array, pads: tuple[int, ...], rows: slice, columns: int) -> Array:
    """``matrix`` times the flattened tiles of x (N, C, H, W) in some rows of tiles: (36, C, tiles).

    Tiles begin every 4 elements of x with zeros around it; x is read in place, without a padded copy.
    """
    size = math.isqrt(matrix.shape[1])
    x = x.transpose(1, 2, 3, 0)
    c, height, width, n = x.shape
    tiles = np.empty((size, size, c, rows.stop - rows.start, columns, n), x.dtype)
    for i in range(size):
        there, here = _inside(_OUT * rows.start + i - pads[0], tiles.shape[3], height)
        tiles[i, :, :, : there.start] = tiles[i, :, :, there.stop :] = 0
        for j in range(size):
            across, along = _inside(j - pads[2], columns, width)
            row = tiles[i, j, :, there]
            row[:, :, : across.start] = row[:, :, across.stop :] = 0
            row[:, :, across] = x[:, here, along]
    made: Array = np.matmul(matrix, tiles.reshape(size * size, -1))
    return made.reshape(len(matrix), c, -1)


def _transformed_kernels(matrix: Array, weight: Array, transposed: bool) -> Array:
    """(36, K, C) of weight (K, C, 3, 3), which lies in memory as (C, K, 3, 3) if ``transposed``."""
    if transposed:
        weight = weight.swapaxes(0, 1)
    made: Array = np.matmul(matrix, weight.reshape(-1, _KERNEL * _KERNEL).T)
    made = made.reshape(-1, *weight.shape[:2])
    return made.swapaxes(1, 2) if transposed else made


def _parts(count: int, bytes_of_one: int) -> list[slice]:
    step = max(1, _BLOCK // max(1, bytes_of_one))
    return [slice(start, min(count, start + step)) for start in range(0, count, step)]


def conv(x: Array, weight: Array, pads: tuple[int, ...], outputs: tuple[int, ...], transposed: bool = False) -> Array:
    """Cross-correlation of x (N, C, H, W) with weight (K, C, 3, 3), as (K, *outputs, N).

    With ``transposed`` x is (N, K, H, W), the kernels are turned round, and the result has C channels.
    """
    of_outputs, of_kernel, of_inputs = _matrices()
    if transposed:
        weight, of_kernel = weight.swapaxes(0, 1), of_kernel[:, ::-1]
    k, c = weight.shape[:2]
    n, points = len(x), len(of_kernel)
    rows, columns = (-(-length // _OUT) for length in outputs)
    y = np.empty((k, *outputs, n), x.dtype)
    for part in _parts(rows, points * max(c, k) * columns * n * x.itemsize):
        inputs = _transformed(of_inputs, x, pads, part, columns)
        for some in _parts(k, points * c * x.itemsize):
            products = np.matmul(_transformed_kernels(of_kernel, weight[some], transposed), inputs)
            made = np.matmul(of_outputs, products.reshape(points, -1))
            tiles = made.reshape(_OUT, _OUT, products.shape[1], -1, columns, n)
            target = y[some, _OUT * part.start : _OUT * part.stop]
            for i, j in np.ndindex(_OUT, _OUT):
                place = target[:, i::_OUT, j::_OUT]
                place[...] = tiles[i, j, :, : place.shape[1], : place.shape[2]]
    return y


def conv_weight_grad(g: Array, x: Array, pads: tuple[int, ...]) -> Array:
    """The gradient of ``conv`` with respect to its weight: the same three products the other way round."""
    of_outputs, of_kernel, of_inputs = _matrices()
    n, k = g.shape[:2]
    c, points = x.shape[1], len(of_kernel)
    rows, columns = (-(-length // _OUT) for length in g.shape[2:])
    found = np.zeros((k, c, _KERNEL, _KERNEL), x.dtype)
    for part in _parts(rows, points * max(c, k) * columns * n * x.itemsize):
        inputs = _transformed(of_inputs, x, pads, part, columns).swapaxes(1, 2)
        outputs = _transformed(of_outputs.T, g, (0, 0, 0, 0), part, columns)
        for some in _parts(k, points * c * x.itemsize):
            products = np.matmul(outputs[:, some], inputs)
            found[some] += np.matmul(products.reshape(points, -1).T, of_kernel).reshape(-1, c, _KERNEL, _KERNEL)
    return found
