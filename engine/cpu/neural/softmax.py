"""Softmax and its logarithm on arrays, and their gradients."""

from __future__ import annotations

import numpy as np

from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.arrays.rows import as_rows, per_part
from hookscope.engine.cpu.compiling import address, is_worth, kernels
from hookscope.engine.cpu.threads import share
from hookscope.engine.cpu.widening import narrow, widen

__all__ = ["log_softmax", "log_softmax_grad", "softmax", "softmax_grad"]


def _compiled(name: str, axis: int, *inputs: Array) -> Array:
    """Return the result of a kernel for arrays of one shape, row by row along ``axis``."""
    arrays = [as_rows(x, axis) for x in inputs]
    result = np.empty_like(arrays[0])
    count = result.shape[-1]
    part_rows, parts = per_part(result.size // count, count)
    addresses = [address(x) for x in (*arrays, result)]
    share(getattr(kernels("softmax"), name), parts, *addresses, result.size // count, count, part_rows)
    return result.swapaxes(axis, -1)


def softmax(x: Array, axis: int) -> Array:
    if is_worth(x):
        return _compiled("softmax", axis, x)
    if x.size == 0:
        return narrow(x.copy(), x)
    xp = array_module(x)
    wide = widen(x)
    y = xp.asarray(wide - wide.max(axis=axis, keepdims=True))
    xp.exp(y, out=y)
    y /= y.sum(axis=axis, keepdims=True)
    return narrow(y, x)


def softmax_grad(g: Array, y: Array, axis: int) -> Array:
    """Return the gradient of softmax from its output `y`."""
    if is_worth(y) and is_worth(g):
        return _compiled("softmax_grad", axis, g, y)
    wide = widen(y)
    product = widen(g) * wide
    product -= wide * product.sum(axis=axis, keepdims=True)
    return narrow(product, y)


def log_softmax(x: Array, axis: int) -> Array:
    if is_worth(x):
        return _compiled("log_softmax", axis, x)
    if x.size == 0:
        return narrow(x.copy(), x)
    xp = array_module(x)
    wide = widen(x)
    y = wide - wide.max(axis=axis, keepdims=True)
    y -= xp.log(xp.exp(y).sum(axis=axis, keepdims=True))
    return narrow(y, x)


def log_softmax_grad(g: Array, y: Array, axis: int) -> Array:
    """Return the gradient of log_softmax from its output `y`."""
    if is_worth(y) and is_worth(g):
        return _compiled("log_softmax_grad", axis, g, y)
    wide = widen(g)
    return narrow(wide - array_module(y).exp(widen(y)) * wide.sum(axis=axis, keepdims=True), y)
