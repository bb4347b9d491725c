"""CPU kernels of convolution and pooling: sliding windows as a strided view, then matrix products or reductions.

Written against the array module, so that they serve CuPy arrays too. Layout is NCHW; pads are (top, bottom, left,
right).
"""

from __future__ import annotations

from typing import Any

from .array_module import Array, array_module
from .masking import kept

__all__ = [
    "avg_pool2d", "avg_pool2d_grad", "conv2d", "conv2d_input_grad", "conv2d_weight_grad", "max_pool2d",
    "max_pool2d_grad", "output_length",
]  # fmt: skip

Pads = tuple[int, int, int, int]
Pair = tuple[int, int]


def output_length(length: int, kernel: int, stride: int, dilation: int, pads: int) -> int:
    """How many windows fit into an axis that has ``pads`` elements added."""
    return (length + pads - dilation * (kernel - 1) - 1) // stride + 1


def _widen(x: Array) -> Array:
    """Half precision as single: NumPy multiplies matrices of halves without BLAS and adds up in half precision."""
    return x if x.dtype.itemsize >= 4 else x.astype("float32")


def _padded(x: Array, pads: Pads, value: float = 0) -> Array:
    if not any(pads):
        return x
    top, bottom, left, right = pads
    n, c, h, w = x.shape
    padded: Array = array_module(x).full((n, c, h + top + bottom, w + left + right), value, x.dtype)
    padded[:, :, top : top + h, left : left + w] = x
    return padded


def _windows(x: Array, kernel: Pair, stride: Pair, dilation: Pair) -> Array:
    """The view (N, C, KH, KW, OH, OW) of all windows of a padded input."""
    n, c, h, w = x.shape
    oh = output_length(h, kernel[0], stride[0], dilation[0], 0)
    ow = output_length(w, kernel[1], stride[1], dilation[1], 0)
    sn, sc, sh, sw = x.strides
    strides = (sn, sc, sh * dilation[0], sw * dilation[1], sh * stride[0], sw * stride[1])
    xp = array_module(x)
    view: Array = xp.lib.stride_tricks.as_strided(x, (n, c, *kernel, oh, ow), strides)
    return view


def _columns(x: Array, kernel: Pair, stride: Pair, pads: Pads, dilation: Pair, group: int) -> tuple[Array, Pair]:
    """Windows as columns of a matrix for each sample and group: (N, G, C/G*KH*KW, OH*OW)."""
    view = _windows(_padded(x, pads), kernel, stride, dilation)
    n, c, kh, kw, oh, ow = view.shape
    return view.reshape(n, group, c // group * kh * kw, oh * ow), (oh, ow)


def conv2d(x: Array, weight: Array, stride: Pair, pads: Pads, dilation: Pair, group: int) -> Array:
    """Cross-correlation of x (N, C, H, W) with weight (K, C/group, KH, KW): (N, K, OH, OW)."""
    columns, (oh, ow) = _columns(_widen(x), weight.shape[2:], stride, pads, dilation, group)
    kernels = _widen(weight).reshape(group, weight.shape[0] // group, -1)
    products = (kernels @ columns).reshape(x.shape[0], weight.shape[0], oh, ow)
    return products.astype(x.dtype, copy=False)


def conv2d_weight_grad(g: Array, x: Array, kernel: Pair, stride: Pair, pads: Pads, dilation: Pair, group: int) -> Array:
    """The gradient of ``conv2d`` with respect to its weight."""
    columns, _ = _columns(_widen(x), kernel, stride, pads, dilation, group)
    n, k = g.shape[:2]
    arrived = _widen(g).reshape(n, group, k // group, -1)
    products = arrived @ columns.swapaxes(-1, -2)
    total: Array = products.sum(axis=0).reshape(k, x.shape[1] // group, *kernel)
    return total.astype(g.dtype, copy=False)


def conv2d_input_grad(
    g: Array, weight: Array, shape: tuple[int, ...], stride: Pair, pads: Pads, dilation: Pair, group: int
) -> Array:
    """The gradient of ``conv2d`` with respect to its input of ``shape``."""
    n, c, h, w = shape
    k, kernel = weight.shape[0], weight.shape[2:]
    oh, ow = g.shape[2:]
    kernels = _widen(weight).reshape(group, k // group, -1)
    columns = kernels.swapaxes(-1, -2) @ _widen(g).reshape(n, group, k // group, oh * ow)
    parts = columns.reshape(n, c, *kernel, oh, ow)
    return _folded(parts, (n, c, h, w), stride, pads, dilation).astype(g.dtype, copy=False)


def _folded(parts: Array, shape: tuple[int, ...], stride: Pair, pads: Pads, dilation: Pair) -> Array:
    """Sum windows (N, C, KH, KW, OH, OW) back into the places they were taken from."""
    n, c, h, w = shape
    top, bottom, left, right = pads
    kh, kw, oh, ow = parts.shape[2:]
    total: Array = array_module(parts).zeros((n, c, h + top + bottom, w + left + right), parts.dtype)
    for i in range(kh):
        rows = slice(i * dilation[0], i * dilation[0] + stride[0] * (oh - 1) + 1, stride[0])
        for j in range(kw):
            places = slice(j * dilation[1], j * dilation[1] + stride[1] * (ow - 1) + 1, stride[1])
            total[:, :, rows, places] += parts[:, :, i, j]
    return total[:, :, top : top + h, left : left + w]


def max_pool2d(x: Array, kernel: Pair, stride: Pair, pads: Pads, dilation: Pair) -> tuple[Array, Array]:
    """The largest element of each window (N, C, OH, OW) and its place in the window, row by row."""
    lowest = -float("inf") if x.dtype.kind in "fV" else 0
    view = _windows(_padded(x, pads, lowest), kernel, stride, dilation)
    _, _, kh, kw, _, _ = view.shape
    xp = array_module(x)
    candidates = [view[:, :, place // kw, place % kw] for place in range(kh * kw)]
    best: Any = xp.array(candidates[0])
    for candidate in candidates[1:]:
        best = xp.maximum(best, candidate)  # a NaN wins and stays
    # The first place that has the largest is the number of places before it.
    places = xp.zeros(best.shape, "int32")
    found = xp.zeros(best.shape, bool)
    for candidate in candidates:
        found |= (candidate == best) | (candidate != candidate)
        places += ~found
    return best, places


def max_pool2d_grad(
    g: Array, places: Array, shape: tuple[int, ...], kernel: Pair, stride: Pair, pads: Pads, dilation: Pair
) -> Array:
    """The gradient of ``max_pool2d``: each goes to the element that was the largest."""
    n, c, oh, ow = g.shape
    parts = array_module(g).zeros((n, c, *kernel, oh, ow), g.dtype)
    for place in range(kernel[0] * kernel[1]):
        parts[:, :, place // kernel[1], place % kernel[1]] = kept(g, places == place)
    return _folded(parts, shape, stride, pads, dilation)


def avg_pool2d(x: Array, kernel: Pair, stride: Pair, pads: Pads) -> Array:
    """The mean of each window, padding counted in."""
    view = _windows(_padded(x, pads), kernel, stride, (1, 1))
    return view.mean(axis=(2, 3), dtype=x.dtype)  # type: ignore[no-any-return]


def avg_pool2d_grad(g: Array, shape: tuple[int, ...], kernel: Pair, stride: Pair, pads: Pads) -> Array:
    """The gradient of ``avg_pool2d``: each is shared evenly by its window."""
    n, c, oh, ow = g.shape
    share = (g / (kernel[0] * kernel[1])).astype(g.dtype, copy=False)
    parts = array_module(g).broadcast_to(share[:, :, None, None], (n, c, *kernel, oh, ow))
    return _folded(parts, shape, stride, pads, (1, 1))
