"""Pooling: largest and mean of windows, and their gradients. Images, windows and taps are as in ``spans``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types

from ..library.loops import at, choose, f32, floats, helper, i64, kernel, read_array
from ..library.spans import clear, span

__all__ = ["LARGEST", "MEAN", "PICKED", "RETURNED", "SHARED", "pooled"]

LARGEST, RETURNED, PICKED, MEAN, SHARED = range(5)
_LOWEST = np.float32(-np.inf)
_u8 = np.uint8


_bytes = at(types.uint8)


@helper
def _largest(x: Any, y: Any, positions: Any, step: int, number: Any) -> None:
    for i in range(y.size):
        # Not "new > old": a NaN wins and stays.
        new, old = x[i * step], y[i]
        better = (not (new <= old)) & (old == old)
        y[i] = choose(better, new, old)
        positions[i] = choose(better, number, positions[i])


@helper
def _returned(x: Any, y: Any, positions: Any, step: int, number: Any) -> None:
    for i in range(y.size):
        x[i * step] += choose(positions[i] == number, y[i], f32(0))


@helper
def _picked(x: Any, y: Any, positions: Any, step: int, number: Any) -> None:
    for i in range(y.size):
        y[i] = choose(positions[i] == number, x[i * step], y[i])


@helper
def _added(x: Any, y: Any, step: int) -> None:
    for i in range(y.size):
        y[i] += x[i * step]


@helper
def _shared(x: Any, y: Any, step: int, factor: Any) -> None:
    for i in range(y.size):
        x[i * step] += factor * y[i]


@helper
def _run(what: int, image: int, step: int, line: int, positions: int, count: int, number: Any, factor: Any) -> None:
    x, y, chosen = floats(image, (count - 1) * step + 1), floats(line, count), _bytes(positions, count)
    if what == LARGEST:
        _largest(x, y, chosen, step, number)
    elif what == RETURNED:
        _returned(x, y, chosen, step, number)
    elif what == PICKED:
        _picked(x, y, chosen, step, number)
    elif what == MEAN:
        _added(x, y, step)
    else:
        _shared(x, y, step, factor)


@kernel(read_array(i64, 2), read_array(i64), i64, i64, i64, i64, f32)
def pooled(
    first: int, stop: int, taps: Any, shape: Any, what: int, x: int, y: int, positions: int, factor: Any
) -> None:
    """Pool images x to windows y, or distribute windows over images, a channel a part.

    LARGEST writes y, and in ``positions`` which tap it was; a window that lies in the padding has -inf. RETURNED adds y
    to where ``positions`` says, in x. PICKED writes y from there. MEAN writes the sum times ``factor``; SHARED adds y
    times ``factor`` to all of a window. ``positions`` has bytes.
    """
    of_width, samples = shape[5], shape[9]
    image = shape[0] * shape[1] * shape[2] * samples
    rows, wide = shape[6] * shape[7], shape[8]
    windows = rows * wide * samples
    for part in range(first, stop):
        of_image, of_line, of_positions = x + 4 * part * image, y + 4 * part * windows, positions + part * windows
        if what in (RETURNED, SHARED):
            clear(of_image, image)
        for row in range(rows):
            line = floats(of_line, wide * samples)
            if what == LARGEST:
                line[:] = _LOWEST
                _bytes(of_positions, wide * samples)[:] = _u8(0)
            elif what in (PICKED, MEAN):
                line[:] = f32(0)
            for number in range(len(taps)):
                _, start, end, pixel = span(taps[number], shape, row * wide, (row + 1) * wide)
                image_at, line_at = of_image + 4 * pixel * samples, of_line + 4 * start * samples
                chosen = of_positions + start * samples
                runs, length = end - start, samples
                if of_width == 1:
                    runs, length = min(runs, 1), runs * samples
                elif samples == 1 and runs > 1:
                    _run(what, image_at, of_width, line_at, chosen, runs, _u8(number), factor)
                    runs = 0
                for _ in range(runs):  # with a distance that is a constant, which vector instructions need
                    _run(what, image_at, 1, line_at, chosen, length, _u8(number), factor)
                    image_at += 4 * of_width * samples
                    line_at += 4 * samples
                    chosen += samples
            if what == MEAN:
                for i in range(wide * samples):
                    line[i] *= factor
            of_line += 4 * wide * samples
            of_positions += wide * samples
