"""Dropout by Philox 4x32-10 (``philox``), drawn and applied in one pass, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from .loops import choose, f32, given, helper, i64, kernel, made, u8, u64
from .philox import uniform_of, words

__all__ = ["dropout", "dropout_grad"]

_U = np.uint64
_BLOCK = 4096


@helper
def _drawn(offset: Any, step: Any, seed: Any, out: Any) -> None:
    low, high = seed & _U(0xFFFFFFFF), seed >> _U(32)
    for i in range(out.size):
        out[i] = uniform_of(words(offset + _U(i) * step, low, high)[0])


@helper
def _kept(x: Any, drawn: Any, p: Any, rest: Any, y: Any, mask: Any) -> None:
    for i in range(x.size):
        keep = drawn[i] >= p
        mask[i] = np.uint8(keep)
        y[i] = choose(keep, x[i] / rest, np.float32(0))


@kernel(given(), made(), made(u8), i64, f32, f32, u64, u64)
def dropout(
    first: int, stop: int, x: Any, y: Any, mask: Any, samples: int, p: Any, rest: Any, seed: Any, offset: Any
) -> None:
    """y is x / rest and the mask 1 where what is drawn is p or more, both are 0 elsewhere.

    The elements of a sample have counters that follow each other; ``samples`` numbers of the same place lie together.
    """
    drawn = np.empty(_BLOCK, np.float32)
    places = x.size // samples
    for start in range(first * _BLOCK, min(stop * _BLOCK, x.size), _BLOCK):
        end = min(start + _BLOCK, x.size)
        at = start
        while at < end:  # a run of elements of one place; with one sample all are one run
            place, sample = (at, 0) if samples == 1 else (at // samples, at % samples)
            run = min(end - at, x.size if samples == 1 else samples - sample)
            step = 1 if samples == 1 else places
            _drawn(offset + _U(sample * places + place), _U(step), seed, drawn[at - start : at - start + run])
            at += run
        _kept(x[start:end], drawn[: end - start], p, rest, y[start:end], mask[start:end])


@helper
def _passed(g: Any, mask: Any, rest: Any, dx: Any) -> None:
    for i in range(g.size):
        dx[i] = choose(mask[i] != np.uint8(0), g[i] / rest, np.float32(0))


@kernel(given(), given(u8), made(), f32)
def dropout_grad(first: int, stop: int, g: Any, mask: Any, dx: Any, rest: Any) -> None:
    """g / rest where the mask is not 0, 0 elsewhere."""
    start, end = first * _BLOCK, min(stop * _BLOCK, g.size)
    _passed(g[start:end], mask[start:end], rest, dx[start:end])
