"""Tables on the device that describe many arrays for one launch.

A table has a row of integers for each array: sizes, addresses, numbers by their bits. A program of the kernel processes
one chunk of one row. Tables are uploaded asynchronously, by CuPy through pinned memory, and cached. In training, the
same addresses recur, of tensors that are modified in place and of gradients from CuPy's memory pool.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from hookscope.triton_kernels.launch.launcher import address_of, cdiv

__all__ = ["bits", "chunks", "number", "table"]

MAX_TABLES = 256
"""Maximum number of cached tables; then all are evicted."""

_uploads: dict[Hashable, Any] = {}


def table(rows: Sequence[Sequence[int]], like: Any) -> Any:
    """Return the rows as an array of 64-bit integers, on the device of `like`."""
    host = np.array(rows, np.int64)
    return _uploaded((host.shape[1], host.tobytes()), host, like)


def chunks(sizes: tuple[int, ...], block: int, like: Any) -> Any:
    """Return, for each program, its row and the index of its chunk of `block` elements in that row, as pairs."""
    return _uploaded((sizes, block), functools.partial(_chunks, sizes, block), like)


def number(value: Any, like: Any) -> Any:
    """Return a number that a kernel reads by address: a float32 array unchanged, a Python number uploaded once."""
    if isinstance(value, float | int):
        return _uploaded(float(value), np.array([value], np.float32), like)
    return value if value.dtype == np.float32 else value.astype(np.float32)


@functools.lru_cache(4096)
def bits(value: float) -> int:
    """Return the bits of a number in float32, as an integer for a table."""
    return int(np.float32(value).view(np.int32))


def _chunks(sizes: tuple[int, ...], block: int) -> Any:
    counts = np.array([cdiv(size, block) for size in sizes])
    rows = np.repeat(np.arange(len(sizes)), counts)
    positions = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([rows, positions], 1).astype(np.int32)


def _uploaded(key: Hashable, host: Any, like: Any) -> Any:
    if isinstance(like, np.ndarray):  # interpreted
        return host() if callable(host) else host
    cupy = sys.modules["cupy"]
    # Keyed by the stream too, since another stream would not wait for the upload.
    key = (cupy.cuda.runtime.getDevice(), cupy.cuda.get_current_stream().ptr, type(key), key)
    cached = _uploads.get(key)
    if cached is None:
        if len(_uploads) >= MAX_TABLES:
            _uploads.clear()
        cached = _uploads[key] = cupy.asarray(host() if callable(host) else host)
    return cached


def addresses(arrays: Sequence[Any]) -> list[int]:
    """Return the addresses of arrays."""
    return [address_of(x) for x in arrays]
