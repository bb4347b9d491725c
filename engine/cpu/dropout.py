"""Dropout on arrays, by counters, and its gradient."""

from __future__ import annotations

import numpy as np

from hookscope.engine.cpu import philox
from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.masking import kept
from hookscope.engine.cpu.widening import narrow, widen

__all__ = ["dropout", "dropout_grad"]


def dropout(x: Array, p: float, seed: int, offset: int) -> tuple[Array, Array]:
    """Zero each element with probability `p`, divide the others by 1 - p; return that and what was kept.

    Element i in C order is kept if `philox.uniform(seed, offset + i) >= p`.
    """
    mask = philox.uniform(seed, offset, x.shape, array_module(x)) >= np.float32(p)
    return _keep(x, mask, p), mask


def dropout_grad(g: Array, mask: Array, p: float) -> Array:
    return _keep(g, mask, p)


def _keep(x: Array, mask: Array, p: float) -> Array:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"p must lie in [0, 1], got {p}")
    # With p = 1 nothing is kept, and what the division gives is never used.
    scaled = widen(x) / (1.0 - p if p < 1.0 else 1.0)
    return narrow(kept(scaled, mask), x)
