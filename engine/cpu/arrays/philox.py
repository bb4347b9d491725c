"""Counter-based random numbers: Philox4x32-10, the same bits on a CPU and on a GPU.

Philox is a keyed bijection of a 128-bit counter (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As
Easy as 1, 2, 3", SC11, https://doi.org/10.1145/2063384.2063405). Element i of a draw depends only on the seed and
on its own counter, so a draw can be split, repeated or made on another device and stays the same. The
layout of counter and key is that of Triton's `tl.rand` and `tl.randint`, whose values these
functions reproduce bit for bit: the key is the (low, high) half of the seed, the counter the (low, high) half
of the offset and two zeros.

Large draws are compiled (`compiled.arrays.random_numbers`). They give the same bits on any processor: they use only
operations with IEEE 754's exact rounding, and implement logarithm and cosine with these.
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
_LOW, _LONG = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF  # of 32 and of 64 bits
_LOW_WORD = np.uint64(_LOW)
_WORD_BITS = np.uint64(32)

# Triton's scale for 31 random bits: the largest float32 that keeps 2**31 * scale below 1.
_UNIFORM_SCALE = np.float32(4.6566127342e-10)

# A block of counters whose temporaries stay in a 1 MiB second-level cache (5 arrays of 8 bytes each).
_BLOCK = 16384

# Numbers from which loading a compiled draw pays: NumPy takes 2 ms for as many.
_LEAST = 1 << 16


def philox4x32(counter: Sequence[Array], key: tuple[int, int]) -> tuple[Array, Array, Array, Array]:
    """Return the four output words of Philox4x32-10, as uint64 arrays that hold 32-bit values.

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
    """Return the first Philox word for each offset: the bits of `tl.randint(seed, offset)` for 64-bit offsets."""
    return _random_bits(seed, offsets)[0].astype(np.uint32)


def philox_uniform(seed: int, offsets: Array) -> Array:
    """Return Float32 in [0, 1) for each offset: `tl.rand(seed, offset)`, bit for bit."""
    return _to_uniform(_random_bits(seed, offsets)[0])


def uniform(seed: int, offset: int, shape: tuple[int, ...], xp: Any = np, bound: float | None = None) -> Array:
    """Draw a Float32 array in [0, 1), or [-bound, bound); element i in C order uses the counter `offset + i`."""
    scaling = (1.0, 0.0, 1.0) if bound is None else (2.0, 1.0, float(bound))
    return _draw("uniform", seed, offset, shape, xp, scaling)


def counters(count: int) -> int:
    """Return the number of counters that `uniform4x` uses for this number of elements."""
    return (count + 3) // 4


def uniform4x(seed: int, offset: int, shape: tuple[int, ...], xp: Any = np) -> Array:
    """Draw a Float32 array in [0, 1) of all words, as `tl.rand4x`; the source of dropout masks.

    Element i in C order uses word i % 4 of the counter `offset + i // 4`.
    """
    count, start = math.prod(shape), in_64_bits(seed, offset)[1]
    counter_count = counters(count)
    out: Array = xp.empty((counter_count, 4), dtype=np.float32)
    block = _BLOCK if xp is np else max(counter_count, 1)
    for first in range(0, counter_count, block):
        end = min(first + block, counter_count)
        for index, word in enumerate(_random_bits(seed, xp.arange(first, end, dtype=np.uint64) + start)):
            out[first:end, index] = _to_uniform(word)
    return out.reshape(-1)[:count].reshape(shape)


def normal(
    seed: int, offset: int, shape: tuple[int, ...], xp: Any = np, deviation: float = 1.0, mean: float = 0.0
) -> Array:
    """Draw a Float32 array of the normal distribution; element i in C order uses the counter `offset + i`.

    Box and Muller, "A Note on the Generation of Random Normal Deviates", Ann. Math. Statist. 29 (1958): the
    two uniforms of an element are the first two words of its counter, each moved to the middle of its
    interval so that the logarithm is finite. Computed in float64 and rounded once, before scaling.
    """
    return _draw("normal", seed, offset, shape, xp, (float(deviation), float(mean)))


def in_64_bits(seed: int, offset: int) -> tuple[np.uint64, np.uint64]:
    """Return seed and counter modulo 2 ** 64."""
    return np.uint64(int(seed) & _LONG), np.uint64(int(offset) & _LONG)


def _random_bits(seed: int, offsets: Array) -> tuple[Array, Array, Array, Array]:
    counters = offsets.astype(np.uint64)
    zero = array_module(counters).zeros_like(counters)
    seed = int(seed)  # Python's unbounded integer: `&` below then means two's complement for negative seeds
    return philox4x32((counters & _LOW_WORD, counters >> _WORD_BITS, zero, zero), (seed & _LOW, (seed >> 32) & _LOW))


def _to_uniform(bits: Array) -> Array:
    signed = bits.astype(np.uint32).view(np.int32)
    # As in tl.rand: fold the sign away (~x is -x - 1), then scale the remaining 31 bits.
    folded: Array = signed ^ (signed >> np.int32(31))
    return folded.astype(np.float32) * _UNIFORM_SCALE


def _scaled_uniform(bits: Sequence[Array], times: float, less: float, scale: float) -> Array:
    drawn = _to_uniform(bits[0])
    return drawn if less == 0.0 else (drawn * np.float32(times) - np.float32(less)) * np.float32(scale)


def _box_muller(bits: Sequence[Array], deviation: float = 1.0, mean: float = 0.0) -> Array:
    first, second = bits[0].astype(np.float64) + 0.5, bits[1].astype(np.float64) + 0.5
    normals = array_module(first).sqrt(-2.0 * _log(first)) * _cosine(second)
    scaled: Array = normals.astype(np.float32) * np.float32(deviation) + np.float32(mean)
    return scaled


# Sun Microsystems' e_log.c (fdlibm 5.3): log(1 + f) = f - (f * f / 2 - s * (f * f / 2 + R)) for s = f / (2 + f), where
# R is this polynomial in s * s, for 1 + f within [sqrt(1/2), sqrt(2)]. The highest power comes first.
_LOG = (
    1.479819860511658591e-01,
    1.531383769920937332e-01,
    1.818357216161805012e-01,
    2.222219843214978396e-01,
    2.857142874366239149e-01,
    3.999999999940941908e-01,
    6.666666666666735130e-01,
)
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10

# sin(pi / 2 * q) / q in q * q, for q within [-1, 1]: Chebyshev's interpolation, with a relative error of 4e-19.
_SINE = (
    5.87297574479995e-12,
    -6.684416831856085e-10,
    5.6921364280986254e-08,
    -3.5988430204672576e-06,
    0.0001604411847130916,
    -0.004681754135304255,
    0.07969262624616565,
    -0.6459640975062462,
    1.5707963267948966,
)


def _polynomial(z: Array, coefficients: Sequence[float]) -> Array:
    result = z * coefficients[0]
    for coefficient in coefficients[1:-1]:
        result += coefficient
        result *= z
    result += coefficients[-1]
    return result


def _log(x: Array) -> Array:
    """Return the logarithm of x / 2 ** 32."""
    bits = x.view(np.int64) + (0x3FF0000000000000 - 0x3FE6A09E00000000)
    power = ((bits >> 52) - (1023 + 32)).astype(np.float64)
    f = ((bits & 0xFFFFFFFFFFFFF) + 0x3FE6A09E00000000).view(np.float64) - 1.0
    half = 0.5 * f * f
    s = f / (2.0 + f)
    z = s * s
    correction = s * (half + z * _polynomial(z, _LOG)) + power * _LN2_LOW
    logarithm: Array = power * _LN2_HIGH - ((half - correction) - f)
    return logarithm


def _cosine(x: Array) -> Array:
    """Return the cosine of x / 2 ** 32 turns, computed as the sine of the complementary angle."""
    q = abs(x * 2.0**-30 - 2.0) - 1.0
    cosine: Array = _polynomial(q * q, _SINE) * q
    return cosine


_TRANSFORMS: dict[str, Callable[..., Array]] = {"uniform": _scaled_uniform, "normal": _box_muller}


def _draw(name: str, seed: int, offset: int, shape: tuple[int, ...], xp: Any, scaling: tuple[float, ...]) -> Array:
    count = math.prod(shape)
    out: Array = xp.empty(count, dtype=np.float32)
    seed = int(seed)
    # Counters wrap at 64 bits; NumPy rejects a start outside uint64, so the wrap is done on Python's integer.
    begin = int(offset) & _LONG
    if count >= _LEAST and xp is np and is_on():
        compiled = kernels("random_numbers")
        signed = begin - (begin >> 63 << 64)  # the same 64 bits
        parts = -(-count // compiled.BLOCK)
        share(getattr(compiled, name), parts, out, signed, seed & _LOW, (seed >> 32) & _LOW, *scaling)
        return out.reshape(shape)
    transform, start = _TRANSFORMS[name], np.uint64(begin)
    block = _BLOCK if xp is np else max(count, 1)  # a GPU does not need blocks: each costs a launch
    for first in range(0, count, block):
        end = min(first + block, count)
        counters = xp.arange(first, end, dtype=np.uint64) + start
        out[first:end] = transform(_random_bits(seed, counters), *scaling)
    return out.reshape(shape)
