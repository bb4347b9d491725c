"""Random numbers of the engine: Philox, a pure function of (seed, counter), the same on CPU and GPU.

There is one global stream: a seed and a counter that each use advances by the number of elements drawn. Setting the
seed resets the counter, so that a run is reproducible, and a dropout mask is the same on any device.
"""

from __future__ import annotations

import math
import operator
import os
import threading
from typing import Any

import numpy as np

from ..base.argument_checks import check_at_most, check_int, check_not_negative
from ..cpu.arrays import philox
from ..tape.tape import state

__all__ = ["get_seed", "set_seed"]

MOST_SEED = 2**64 - 1
"""Largest seed: the key of Philox has 64 bits."""
_lock = threading.Lock()
_seed: int | None = None
_stream_seed = int.from_bytes(os.urandom(4), "little")  # `secrets` takes 5 ms to import
_offset = 0


def set_seed(seed: int) -> None:
    """Restart the engine's and NumPy's global random numbers from a seed.

    Args:
        seed: an int of 64 bits that is not negative; NumPy gets it modulo 2 ** 32.

    Raises:
        TypeError: ``seed`` is not an int.
        ValueError: ``seed`` is negative or has more bits.
    """
    global _seed, _stream_seed, _offset
    check_not_negative(check_int(seed, "set_seed", "seed"), "set_seed", "seed")
    check_at_most(seed, MOST_SEED, "set_seed", "seed")
    with _lock:
        _seed = _stream_seed = seed
        _offset = 0
    np.random.seed(seed % 2**32)


def get_seed() -> int | None:
    """Return the argument of the last ``set_seed``.

    Returns:
        an int, or None before ``set_seed`` was called.
    """
    return _seed


def draw(count: int) -> tuple[int, int]:
    """Return the seed and the first of ``count`` unused counters."""
    return _draw(count) if state.tracer is None else state.tracer.draw_numbers(_draw, count)


def _draw(count: int) -> tuple[int, int]:
    global _offset
    with _lock:
        offset = _offset
        _offset += count
        return _stream_seed, offset


def position() -> tuple[int, int]:
    """Return the position of the stream: its seed and the counter of the next draw."""
    with _lock:
        return _stream_seed, _offset


def go_to(new_position: tuple[int, int]) -> None:
    """Set the position of the stream: the same draws follow."""
    global _stream_seed, _offset
    if state.tracer is not None:
        state.tracer.set_position(new_position)
    with _lock:
        _stream_seed, _offset = new_position


def _checked_seed(seed: object) -> int:
    try:
        return operator.index(seed)  # type: ignore[arg-type]  # raises unless it is an int
    except (TypeError, ValueError):
        raise TypeError(f"'seed' must be an int, but got {type(seed).__name__}") from None


def position_of_draw(shape: tuple[int, ...], seed: int | None) -> tuple[int, int]:
    """Return the seed and counter of an array's numbers: those of a seed, or the next ones of the engine's stream."""
    return draw(math.prod(shape)) if seed is None else (_checked_seed(seed), 0)


def uniform(shape: tuple[int, ...], seed: int | None = None, bound: float | None = None) -> np.ndarray[Any, Any]:
    """Draw Float32 numbers evenly distributed over [0, 1), or [-bound, bound)."""
    return uniform_at(*position_of_draw(shape, seed), shape, bound)


def uniform_at(stream: int, offset: int, shape: tuple[int, ...], bound: float | None = None) -> np.ndarray[Any, Any]:
    """Return those of a stream from a position on."""
    return np.asarray(philox.uniform(stream, offset, shape, bound=bound))


def normal(
    shape: tuple[int, ...], seed: int | None = None, deviation: float = 1.0, mean: float = 0.0
) -> np.ndarray[Any, Any]:
    """Draw Float32 numbers of the normal distribution."""
    return normal_at(*position_of_draw(shape, seed), shape, deviation, mean)


def normal_at(
    stream: int, offset: int, shape: tuple[int, ...], deviation: float = 1.0, mean: float = 0.0
) -> np.ndarray[Any, Any]:
    """Return those of a stream from a position on."""
    return np.asarray(philox.normal(stream, offset, shape, deviation=deviation, mean=mean))
