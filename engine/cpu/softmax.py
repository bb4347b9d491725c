"""Softmax and its logarithm on arrays, and their gradients."""

from __future__ import annotations

from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.widening import narrow, widen

__all__ = ["log_softmax", "log_softmax_grad", "softmax", "softmax_grad"]


def softmax(x: Array, axis: int) -> Array:
    if x.size == 0:
        return narrow(x.copy(), x)
    xp = array_module(x)
    wide = widen(x)
    y = xp.asarray(wide - wide.max(axis=axis, keepdims=True))
    xp.exp(y, out=y)
    y /= y.sum(axis=axis, keepdims=True)
    return narrow(y, x)


def softmax_grad(g: Array, y: Array, axis: int) -> Array:
    """Gradient of softmax from its output `y`."""
    wide = widen(y)
    product = widen(g) * wide
    product -= wide * product.sum(axis=axis, keepdims=True)
    return narrow(product, y)


def log_softmax(x: Array, axis: int) -> Array:
    if x.size == 0:
        return narrow(x.copy(), x)
    xp = array_module(x)
    wide = widen(x)
    y = wide - wide.max(axis=axis, keepdims=True)
    y -= xp.log(xp.exp(y).sum(axis=axis, keepdims=True))
    return narrow(y, x)


def log_softmax_grad(g: Array, y: Array, axis: int) -> Array:
    """Gradient of log_softmax from its output `y`."""
    wide = widen(g)
    return narrow(wide - array_module(y).exp(widen(y)) * wide.sum(axis=axis, keepdims=True), y)
