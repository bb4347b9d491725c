"""Digests: what stands for the bits of arrays, so that ranks can tell in a few bytes whether they have the same.

They say "the same" by mistake once in 2**33 comparisons at most; nobody is kept from making two that agree on purpose.
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
"""Of so many rows of a batch there are digests."""

_BLOCK = 8192  # words of 8 bytes
_BLOCKS = 16  # that are done at a time, so that what is computed on the way stays in the cache
_CHANGES = 8


def digest(array: Any) -> str:
    """16 hexadecimal digits for dtype, shape and bits of an array; the order in memory does not count.

    Small arrays, and the ends of large ones, go through BLAKE2b. Of larger ones each 64 KiB become two sums of products
    modulo 2**64, of the words of 8 bytes and of their upper halves, with fixed random numbers. On one core that took
    0.23 ms a MB, where BLAKE2b alone took 1.1 ms.

    Args:
        array: a NumPy or CuPy array of numbers.
    """
    host: Any = to_host(array)
    of_what = f"{dtype_name(host.dtype)}{host.shape}".encode()
    if host.nbytes < 8 * _BLOCK:
        return hashlib.blake2b(of_what + host.tobytes(), digest_size=8).hexdigest()
    found = hashlib.blake2b(of_what, digest_size=8)
    host = np.ascontiguousarray(host)
    words = host.reshape(-1).view(np.uint8)
    whole = words.size // (8 * _BLOCK) * (8 * _BLOCK)
    blocks = words[:whole].view(np.uint64).reshape(-1, _BLOCK)
    for begin in range(0, len(blocks), _BLOCKS):
        part = blocks[begin : begin + _BLOCKS]
        found.update(part @ _factors())
        # Differences in the upper halves alone, as of signs, would often cancel in the first sum.
        found.update((part >> np.uint64(32)) @ _factors())
    found.update(words[whole:])
    return found.hexdigest()


@functools.cache
def dtype_name(dtype: Any) -> str:
    """The name of a NumPy dtype, which takes NumPy longer than the digest of a small array."""
    return str(dtype.name)


@functools.cache
def _factors() -> Any:
    return np.random.Philox(0x5EED).random_raw(_BLOCK)


def text_digest(parts: Iterable[object]) -> str:
    """16 hexadecimal digits for the texts of some values, in their order."""
    return hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=8).hexdigest()


def norm(array: Any) -> float | None:
    """The root of the sum of squares; None where it is not finite.

    Args:
        array: a NumPy or CuPy array of numbers.
    """
    host = to_host(array)
    wide = host if host.dtype.kind in "fc" and host.dtype.itemsize > 2 else host.astype(np.float32)
    flat = wide.reshape(-1)
    found = math.sqrt(np.vdot(flat, flat).real)
    return found if math.isfinite(found) else None


def row_digests(arrays: Iterable[Any]) -> list[str]:
    """Digests of the rows of a batch, of ``MOST_ROWS`` at most; of rows by which nobody could know a sample, none.

    A row is what the arrays hold at one place of their first axes, all together: an image with its label, tokens with
    their mask. A row that is constant, a class in one-hot form, a mask or a few small integers are not told: they are
    the same in many samples.

    Args:
        arrays: the inputs of a network; those whose first axis is not as long as that of the largest do not count.
    """
    given = [array for array in arrays if array.ndim and array.size and array.dtype.kind in "biufcV"]
    if not given:
        return []
    count = max(given, key=lambda array: array.nbytes).shape[0]
    hosts = [to_host(array[:MOST_ROWS]) for array in given if array.shape[0] == count]
    flat = [np.ascontiguousarray(host).reshape(len(host), -1) for host in hosts]
    single = all(rows.shape[1] == 1 for rows in flat)
    changes, fractions = np.zeros(len(flat[0]), np.int64), np.zeros(len(flat[0]), bool)
    for rows in flat:
        if len(rows) > 1 and (rows == rows[0]).all():
            continue  # places of tokens, a mask: the same in each row
        changes += (rows[:, 1:] != rows[:, :-1]).sum(axis=1)
        if rows.dtype.kind not in "biu":
            fractions |= (rows.real != np.trunc(rows.real)).any(axis=1)
    tells = (changes >= _CHANGES) | (fractions & ((changes > 0) | single))
    found = []
    for place in np.flatnonzero(tells):
        one = hashlib.blake2b(digest_size=8)
        for rows in flat:
            one.update(rows[place].view(np.uint8))
        found.append(one.hexdigest())
    return found
