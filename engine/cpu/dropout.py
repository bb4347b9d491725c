"""Dropout on arrays, by counters, and its gradient."""

from __future__ import annotations

import numpy as np

from hookscope.engine.cpu import philox
from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.compiling import is_worth, kernels, ready
from hookscope.engine.cpu.elements import in_order_of
from hookscope.engine.cpu.masking import kept
from hookscope.engine.cpu.threads import share
from hookscope.engine.cpu.widening import narrow, widen

__all__ = ["dropout", "dropout_grad"]


def dropout(x: Array, p: float, seed: int, offset: int) -> tuple[Array, Array]:
    """Zero each element with probability `p`, divide the others by 1 - p; return that and what was kept.

    Element i in C order is kept if `philox.uniform(seed, offset + i) >= p`.
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"p must lie in [0, 1], got {p}")
    if is_worth(x):
        return _compiled(x, p, seed, offset)
    mask = philox.uniform(seed, offset, x.shape, array_module(x)) >= np.float32(p)
    return _keep(x, mask, p), mask


def dropout_grad(g: Array, mask: Array, p: float) -> Array:
    if is_worth(g) and mask.shape == g.shape and mask.dtype == np.bool_:
        return _compiled_grad(g, mask, p)
    return _keep(g, mask, p)


def _keep(x: Array, mask: Array, p: float) -> Array:
    return narrow(kept(widen(x) / _rest(p), mask), x)


def _rest(p: float) -> float:
    # With p = 1 nothing is kept, and what the division gives is never used.
    return 1.0 - p if p < 1.0 else 1.0


_BLOCK = 4096  # of ``compiled.dropout``


def _compiled(x: Array, p: float, seed: int, offset: int) -> tuple[Array, Array]:
    """Elements that lie in memory as NumPy has it, or with the samples last, are taken as they lie."""
    last = np.moveaxis(x, 0, -1)
    samples = x.shape[0] if last.flags.c_contiguous and not x.flags.c_contiguous else 1
    x = ready(last if samples > 1 else x)
    y, mask = np.empty_like(x), np.empty_like(x, np.bool_)
    share(
        kernels("dropout").dropout, -(-x.size // _BLOCK), x.reshape(-1), y.reshape(-1), mask.reshape(-1).view(np.uint8),
        samples, p, _rest(p), *philox.in_64_bits(seed, offset),
    )  # fmt: skip
    return (np.moveaxis(y, -1, 0), np.moveaxis(mask, -1, 0)) if samples > 1 else (y, mask)


def _compiled_grad(g: Array, mask: Array, p: float) -> Array:
    dx = np.empty_like(mask, np.float32)  # in its memory order
    mask, g = (in_order_of(dx, x).ravel("K") for x in (mask, g))
    kernel = kernels("dropout").dropout_grad
    share(kernel, -(-g.size // _BLOCK), g, mask.view(np.uint8), dx.ravel("K"), _rest(p))
    return dx
