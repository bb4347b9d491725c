"""Philox4x32-10 for kernels; ``engine.cpu.arrays.philox`` describes it, with the sources of its constants."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from .loops import f32

__all__ = ["exact", "four_words", "two_words", "uniform_of"]

exact = numba.njit(
    error_model="numpy", forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False
)  # a call would keep the loop from being vectorized
_U = np.uint64
_LOW, _WORD_BITS = _U(0xFFFFFFFF), _U(32)


@exact
def _round(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    product_0, product_1 = c0 * _U(0xD2511F53), c2 * _U(0xCD9E8D57)
    c0, c2 = (product_1 >> _WORD_BITS) ^ c1 ^ k0, (product_0 >> _WORD_BITS) ^ c3 ^ k1
    c1, c3 = product_1 & _LOW, product_0 & _LOW
    k0, k1 = (k0 + _U(0x9E3779B9)) & _LOW, (k1 + _U(0xBB67AE85)) & _LOW
    return c0, c1, c2, c3, k0, k1


@exact
def four_words(counter: Any, k0: Any, k1: Any) -> Any:
    """Return the words, in uint64, of a counter of 64 bits and a key of two times 32."""
    c0, c1, c2, c3 = counter & _LOW, counter >> _WORD_BITS, _U(0), _U(0)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    return c0, c1, c2, c3


@exact
def two_words(counter: Any, k0: Any, k1: Any) -> Any:
    """Return the first two of them."""
    c0, c1, _c2, _c3 = four_words(counter, k0, k1)
    return c0, c1


@exact
def uniform_of(word: Any) -> Any:
    """Return a float32 in [0, 1)."""
    signed = np.int32(word)
    return f32(np.int32(signed ^ np.int32(signed >> np.int32(31)))) * f32(4.6566127342e-10)
