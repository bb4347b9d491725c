"""Digests of the bits of arrays, by which ranks compare them in a few bytes.

They are equal by mistake once in 2**33 comparisons at most; they do not resist deliberate collisions.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from hookscope.engine.tensors.backend import to_host

__all__ = ["MOST_ROWS", "digest", "dtype_name", "norm", "row_digests", "text_digest"]

MOST_ROWS = 256
"""The number of rows of a batch that are digested."""

_BLOCK = 8192  # words of 8 bytes
_BLOCKS = 16  # processed at a time, so that intermediate results stay in the cache
_CHANGES = 8


def digest(array: Any) -> str:
    """Return 16 hexadecimal digits for dtype, shape and bits of an array, independent of the order in memory.

    Small arrays, and the ends of large ones, are hashed with BLAKE2b. Of larger ones, each 64 KiB become two sums of
    products modulo 2**64, of the words of 8 bytes and of their upper halves, with fixed random numbers. On one core
    this took 0.23 ms a MB, and BLAKE2b alone 1.1 ms.

    Args:
        array: a NumPy or CuPy array of numbers.
    """
    host: Any = to_host(array)
    header = f"{dtype_name(host.dtype)}{host.shape}".encode()
    if host.nbytes < 8 * _BLOCK:
        return hashlib.blake2b(header + host.tobytes(), digest_size=8).hexdigest()
    state = hashlib.blake2b(header, digest_size=8)
    host = np.ascontiguousarray(host)
    data = host.reshape(-1).view(np.uint8)
    hashed_bytes = data.size // (8 * _BLOCK) * (8 * _BLOCK)
    blocks = data[:hashed_bytes].view(np.uint64).reshape(-1, _BLOCK)
    for begin in range(0, len(blocks), _BLOCKS):
        part = blocks[begin : begin + _BLOCKS]
        state.update(part @ _factors())
        # Differences in the upper halves alone, as of signs, would often cancel in the first sum.
        state.update((part >> np.uint64(32)) @ _factors())
    state.update(data[hashed_bytes:])
    return state.hexdigest()


@functools.cache
def dtype_name(dtype: Any) -> str:
    """Return the name of a NumPy dtype, cached since NumPy takes longer for it than for the digest of a small array."""
    return str(dtype.name)


@functools.cache
def _factors() -> Any:
    return np.random.Philox(0x5EED).random_raw(_BLOCK)


def text_digest(parts: Iterable[object]) -> str:
    """Return 16 hexadecimal digits for the texts of some values, in their order."""
    return hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=8).hexdigest()


def norm(array: Any) -> float | None:
    """Return the root of the sum of squares; None if it is not finite.

    Args:
        array: a NumPy or CuPy array of numbers.
    """
    host = to_host(array)
    wide = host if host.dtype.kind in "fc" and host.dtype.itemsize > 2 else host.astype(np.float32)
    flat = wide.reshape(-1)
    result = math.sqrt(np.vdot(flat, flat).real)
    return result if math.isfinite(result) else None


def row_digests(arrays: Iterable[Any]) -> list[str]:
    """Return digests of the rows of a batch, at most ``MOST_ROWS``, without rows that cannot identify a sample.

    A row is the elements of all arrays at one index of their first axes: an image with its label, tokens with their
    mask. A row that is constant, a class in one-hot form, a mask or a few small integers are omitted: they are the same
    in many samples.

    Args:
        arrays: the inputs of a network; those with a shorter or longer first axis than the largest one are ignored.
    """
    candidates = [array for array in arrays if array.ndim and array.size and array.dtype.kind in "biufcV"]
    if not candidates:
        return []
    count = max(candidates, key=lambda array: array.nbytes).shape[0]
    hosts = [to_host(array[:MOST_ROWS]) for array in candidates if array.shape[0] == count]
    flat = [np.ascontiguousarray(host).reshape(len(host), -1) for host in hosts]
    is_scalar = all(rows.shape[1] == 1 for rows in flat)
    changes, fractions = np.zeros(len(flat[0]), np.int64), np.zeros(len(flat[0]), bool)
    for rows in flat:
        if len(rows) > 1 and (rows == rows[0]).all():
            continue  # positions of tokens, a mask: the same in each row
        changes += (rows[:, 1:] != rows[:, :-1]).sum(axis=1)
        if rows.dtype.kind not in "biu":
            fractions |= (rows.real != np.trunc(rows.real)).any(axis=1)
    is_distinctive = (changes >= _CHANGES) | (fractions & ((changes > 0) | is_scalar))
    digests = []
    for index in np.flatnonzero(is_distinctive):
        state = hashlib.blake2b(digest_size=8)
        for rows in flat:
            state.update(rows[index].view(np.uint8))
        digests.append(state.hexdigest())
    return digests
