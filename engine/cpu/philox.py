"""Counter-based random numbers: Philox4x32-10, the same bits on a CPU and on a GPU.

Philox is a keyed bijection of a 128-bit counter (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As
Easy as 1, 2, 3", SC11, https://doi.org/10.1145/2063384.2063405). Element i of a draw depends on the seed and
on its own counter alone, so a draw can be split, repeated or made on another device and stays the same. The
counter and the key are laid out as Triton's `tl.rand` and `tl.randint` lay them out, whose values these
functions reproduce bit for bit: the key is the (low, high) half of the seed, the counter the (low, high) half
of the offset and two zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.compiling import is_on, kernels
from hookscope.engine.cpu.threads import share

_ROUNDS = 10
_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = 0x9E3779B9
_WEYL_1 = 0xBB67AE85
_LOW, _LONG = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
_LOW_WORD = np.uint64(_LOW)
_WORD_BITS = np.uint64(32)

# Triton's scale for 31 random bits: the largest float32 that keeps 2**31 * scale below 1.
_UNIFORM_SCALE = np.float32(4.6566127342e-10)

_LEAST = 1 << 14
"""Numbers from which on the compiled form is worth its call."""

# A block of counters whose temporaries stay in a 1 MiB second-level cache (5 arrays of 8 bytes each).
_BLOCK = 16384


def philox4x32(counter: Sequence[Array], key: tuple[int, int]) -> tuple[Array, Array, Array, Array]:
    """The four output words of Philox4x32-10, as uint64 arrays that hold 32-bit values.

    `counter` is four uint64 arrays of 32-bit values, `key` two 32-bit integers.
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        product_0 = c0 * _MULTIPLIER_0
        product_1 = c2 * _MULTIPLIER_1
        c0 = (product_1 >> _WORD_BITS) ^ c1 ^ np.uint64(k0)
        c2 = (product_0 >> _WORD_BITS) ^ c3 ^ np.uint64(k1)
        c1 = product_1 & _LOW_WORD
        c3 = product_0 & _LOW_WORD
        k0 = (k0 + _WEYL_0) & _LOW
        k1 = (k1 + _WEYL_1) & _LOW
    return c0, c1, c2, c3


def philox_uint32(seed: int, offsets: Array) -> Array:
    """The first Philox word for each offset: the bits of `tl.randint(seed, offset)` for 64-bit offsets."""
    return _words(seed, offsets)[0].astype(np.uint32)


def philox_uniform(seed: int, offsets: Array) -> Array:
    """Float32 in [0, 1) for each offset: `tl.rand(seed, offset)`, bit for bit."""
    return _to_uniform(_words(seed, offsets)[0])


def uniform(seed: int, offset: int, shape: tuple[int, ...], xp: Any = np) -> Array:
    """Float32 array in [0, 1); element i in C order uses the counter `offset + i`."""
    if xp is np and math.prod(shape) >= _LEAST and is_on():
        return _compiled_uniform(seed, offset, shape)
    return _draw(lambda words: _to_uniform(words[0]), seed, offset, shape, xp)


def normal(seed: int, offset: int, shape: tuple[int, ...], xp: Any = np) -> Array:
    """Float32 array, normal with mean 0 and variance 1; element i in C order uses the counter `offset + i`.

    Box and Muller, "A Note on the Generation of Random Normal Deviates", Ann. Math. Statist. 29 (1958): the
    two uniforms of an element are the first two words of its counter, each moved to the middle of its
    interval so that the logarithm is finite. Computed in float64 and rounded once.
    """
    return _draw(_box_muller, seed, offset, shape, xp)


def _compiled_uniform(seed: int, offset: int, shape: tuple[int, ...]) -> Array:
    out = np.empty(shape, np.float32)
    share(kernels("dropout").uniform, -(-out.size // 4096), *words(seed, offset), out.reshape(-1))
    return out


def words(seed: int, offset: int) -> tuple[np.uint64, np.uint64]:
    """Seed and counter in 64 bits, at which both wrap."""
    return np.uint64(int(seed) & _LONG), np.uint64(int(offset) & _LONG)


def _words(seed: int, offsets: Array) -> tuple[Array, Array, Array, Array]:
    counters = offsets.astype(np.uint64)
    zero = array_module(counters).zeros_like(counters)
    seed = int(seed)  # Python's unbounded integer: `&` below then means two's complement for negative seeds
    return philox4x32(
        (counters & _LOW_WORD, counters >> _WORD_BITS, zero, zero),
        (seed & _LOW, (seed >> 32) & _LOW),
    )


def _to_uniform(words: Array) -> Array:
    signed = words.astype(np.uint32).view(np.int32)
    # As in tl.rand: fold the sign away (~x is -x - 1), then scale the remaining 31 bits.
    folded: Array = signed ^ (signed >> np.int32(31))
    return folded.astype(np.float32) * _UNIFORM_SCALE


def _box_muller(words: Sequence[Array]) -> Array:
    xp = array_module(words[0])
    first = (words[0].astype(np.float64) + 0.5) * 2.0**-32
    second = (words[1].astype(np.float64) + 0.5) * 2.0**-32
    normals = xp.sqrt(-2.0 * xp.log(first)) * xp.cos(2.0 * math.pi * second)
    return normals.astype(np.float32)  # xp is numpy or the untyped cupy


def _draw(
    transform: Callable[[Sequence[Array]], Array], seed: int, offset: int, shape: tuple[int, ...], xp: Any
) -> Array:
    count = math.prod(shape)
    # Counters wrap at 64 bits; NumPy refuses a start outside uint64, so the wrap is done on Python's integer.
    start = np.uint64(int(offset) & _LONG)
    out: Array = xp.empty(count, dtype=np.float32)
    block = _BLOCK if xp is np else max(count, 1)  # a GPU has no use for blocks: each costs a launch
    for begin in range(0, count, block):
        end = min(begin + block, count)
        counters = xp.arange(begin, end, dtype=np.uint64) + start
        out[begin:end] = transform(_words(seed, counters))
    return out.reshape(shape)
