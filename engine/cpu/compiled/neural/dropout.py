"""Dropout by Philox 4x32-10 (``philox``), drawn and applied in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..library.loops import (
    at,
    choose,
    f32,
    floats,
    give_back,
    helper,
    i64,
    kernel,
    read_array,
    take,
    u64,
    written_array,
)
from ..library.philox import four_words, uniform_of

__all__ = ["dropout", "dropout_of_samples"]

_U = np.uint64
_BLOCK = 4096
_rows = at(f32, 2)


@helper
def _drawn(counter: Any, seed: Any, out: Any) -> None:
    """Draw a number of each word of the counters from this one on."""
    low, high = seed & _U(0xFFFFFFFF), seed >> _U(32)
    for i in range(out.size // 4):
        c0, c1, c2, c3 = four_words(counter + _U(i), low, high)
        out[4 * i], out[4 * i + 1] = uniform_of(c0), uniform_of(c1)
        out[4 * i + 2], out[4 * i + 3] = uniform_of(c2), uniform_of(c3)


@helper
def _drawn_apart(counter: Any, step: Any, seed: Any, out: Any) -> None:
    """Draw a row for each of the four words of every ``step``-th counter from this one on."""
    low, high = seed & _U(0xFFFFFFFF), seed >> _U(32)
    for i in range(out.shape[1]):
        c0, c1, c2, c3 = four_words(counter + _U(i) * step, low, high)
        out[0, i], out[1, i], out[2, i], out[3, i] = uniform_of(c0), uniform_of(c1), uniform_of(c2), uniform_of(c3)


@helper
def _drawn_singly(offset: Any, index: Any, step: Any, seed: Any, out: Any) -> None:
    """Draw the number of every ``step``-th element from ``index`` on."""
    low, high = seed & _U(0xFFFFFFFF), seed >> _U(32)
    for i in range(out.size):
        at = index + _U(i) * step
        c0, c1, c2, c3 = four_words(offset + (at >> _U(2)), low, high)
        first, second = choose(at & _U(1) != _U(0), c1, c0), choose(at & _U(1) != _U(0), c3, c2)
        out[i] = uniform_of(choose(at & _U(2) != _U(0), second, first))


@helper
def _write_dropped(x: Any, drawn: Any, p: Any, scale: Any, y: Any) -> None:
    for i in range(x.size):
        y[i] = choose(drawn[i] >= p, x[i] * scale, np.float32(0))


@kernel(read_array(), written_array(), f32, f32, u64, u64)
def dropout(first: int, stop: int, x: Any, y: Any, p: Any, scale: Any, seed: Any, offset: Any) -> None:
    """Write x * scale to y where the drawn number is p or more, 0 elsewhere."""
    memory = take(4 * _BLOCK)
    drawn = floats(memory, _BLOCK)
    for start in range(first * _BLOCK, min(stop * _BLOCK, x.size), _BLOCK):
        end = min(start + _BLOCK, x.size)
        _drawn(offset + _U(start // 4), seed, drawn[: (end - start + 3) // 4 * 4])
        _write_dropped(x[start:end], drawn[: end - start], p, scale, y[start:end])
    give_back(memory)


@kernel(read_array(f32, 2), written_array(f32, 2), i64, f32, f32, u64, u64)
def dropout_of_samples(
    first: int, stop: int, x: Any, y: Any, part: int, p: Any, scale: Any, seed: Any, offset: Any
) -> None:
    """Write the same where samples lie innermost in memory, and the draw goes sample by sample.

    A part has ``part`` elements of each sample, a multiple of four.
    """
    elements, samples = x.shape
    memory = take(16 * samples)
    drawn = _rows(memory, 4, samples)
    for start in range(first * part, min(stop * part, elements), 4):
        end = min(start + 4, elements)
        if elements % 4 == 0:
            _drawn_apart(offset + _U(start // 4), _U(elements // 4), seed, drawn)
        else:
            for position in range(start, end):
                _drawn_singly(offset, _U(position), _U(elements), seed, drawn[position - start])
        for position in range(start, end):
            _write_dropped(x[position], drawn[position - start], p, scale, y[position])
    give_back(memory)
