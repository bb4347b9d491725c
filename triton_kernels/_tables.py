"""Many arrays in one launch: what a kernel is told of them, in small tables on the device.

A table has a row of integers for each array and whatever belongs to it: sizes, addresses, numbers by their bits. A
program of the kernel takes one chunk of one row. Tables are uploaded without a wait, CuPy copies by way of pinned
memory, and kept: in a training the same addresses come again, of tensors that are written in place and of gradients
from CuPy's pool of memory.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from hookscope.triton_kernels._launch import address_of, cdiv

__all__ = ["bits", "chunks", "number", "table"]

MAX_TABLES = 256
"""So many are kept; then all are let go of."""

_kept: dict[Hashable, Any] = {}


def table(rows: Sequence[Sequence[int]], like: Any) -> Any:
    """The rows as an array of 64-bit integers, where `like` lies."""
    host = np.array(rows, np.int64)
    return _uploaded((host.shape[1], host.tobytes()), host, like)


def chunks(sizes: tuple[int, ...], block: int, like: Any) -> Any:
    """For each program its row and which of the row's chunks of `block` elements it takes, as pairs."""
    return _uploaded((sizes, block), functools.partial(_chunks, sizes, block), like)


def number(value: Any, like: Any) -> Any:
    """A number that a kernel reads by its address: an array of one float32 as it is, Python's put there once."""
    if isinstance(value, float | int):
        return _uploaded(float(value), np.array([value], np.float32), like)
    return value if value.dtype == np.float32 else value.astype(np.float32)


@functools.lru_cache(4096)
def bits(value: float) -> int:
    """The bits of a number in float32, as a table holds it among integers."""
    return int(np.float32(value).view(np.int32))


def _chunks(sizes: tuple[int, ...], block: int) -> Any:
    counts = np.array([cdiv(size, block) for size in sizes])
    rows = np.repeat(np.arange(len(sizes)), counts)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([rows, places], 1).astype(np.int32)


def _uploaded(key: Hashable, host: Any, like: Any) -> Any:
    if isinstance(like, np.ndarray):  # interpreted
        return host() if callable(host) else host
    cupy = sys.modules["cupy"]
    # By the stream too: another one would not wait for the upload.
    key = (cupy.cuda.runtime.getDevice(), cupy.cuda.get_current_stream().ptr, type(key), key)
    found = _kept.get(key)
    if found is None:
        if len(_kept) >= MAX_TABLES:
            _kept.clear()
        found = _kept[key] = cupy.asarray(host() if callable(host) else host)
    return found


def addresses(arrays: Sequence[Any]) -> list[int]:
    """Where arrays lie."""
    return [address_of(x) for x in arrays]
