"""Dropout on arrays, by counters. It is linear: its gradient is dropout with the same mask, drawn again."""

from __future__ import annotations

import numpy as np

from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.arrays import philox
from hookscope.engine.cpu.arrays.masking import zero_outside
from hookscope.engine.cpu.compiling import is_worth, kernels, ready
from hookscope.engine.cpu.threads import share
from hookscope.engine.cpu.widening import narrow, widen

__all__ = ["dropout", "dropout_kept"]


def dropout(x: Array, p: float, seed: int, offset: int) -> Array:
    """Zero each element with probability `p`, multiply the others by 1 / (1 - p).

    Element i in C order is kept if element i of `philox.uniform4x(seed, offset, x.shape)` is at least `p`.
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"p must lie in [0, 1], got {p}")
    if is_worth(x):
        return _compiled(x, p, seed, offset)
    mask = philox.uniform4x(seed, offset, x.shape, array_module(x)) >= np.float32(p)
    return narrow(zero_outside(widen(x) * _scale(p), mask), x)


def dropout_kept(x: Array, p: float, seed: int, offset: int) -> Array:
    """Return a mask of the elements of an array of this shape that `dropout` keeps."""
    return dropout(array_module(x).ones(x.shape, np.float32), p, seed, offset) != 0


def _scale(p: float) -> float:
    # With p = 1 nothing is kept, and the product is never used.
    return 1.0 / (1.0 - p) if p < 1.0 else 1.0


_BLOCK = 4096  # of ``compiled.neural.dropout``


def _compiled(x: Array, p: float, seed: int, offset: int) -> Array:
    """Compute dropout in a kernel; row-major arrays and those with the samples last are not copied."""
    numbers = (p, _scale(p), *philox.in_64_bits(seed, offset))
    last = np.moveaxis(x, 0, -1)
    if last.flags.c_contiguous and not x.flags.c_contiguous:
        rows = ready(last).reshape(-1, len(x))
        dropped = np.empty_like(rows)
        part = 4 * -(-_BLOCK // (4 * len(x)))
        share(kernels("dropout").dropout_of_samples, -(-len(rows) // part), rows, dropped, part, *numbers)
        return np.moveaxis(dropped.reshape(last.shape), -1, 0)
    x = ready(x)
    y = np.empty_like(x)
    share(kernels("dropout").dropout, -(-x.size // _BLOCK), x.reshape(-1), y.reshape(-1), *numbers)
    return y
