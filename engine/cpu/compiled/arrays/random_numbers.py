"""Draws of random numbers, each in one pass over its result; equal to ``philox``'s with NumPy to the last bit.

Therefore nothing is regrouped or fused here: each sum, product, quotient and root is rounded once, as in NumPy.
``philox`` describes the numbers and the sources of the constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ..library.loops import f32, f64, i64, kernel, written_array
from ..library.philox import exact, two_words, uniform_of

__all__ = ["BLOCK", "normal", "uniform"]

BLOCK = 1 << 15
"""How many numbers a part draws."""

_EXACT: frozenset[str] = frozenset()
_U, _D = np.uint64, np.float64


def _operation(result: Any, argument: Any, build: Any) -> Any:
    def generate(_typing: Any, x: Any) -> Any:
        return result(argument), lambda _context, builder, _signature, values: build(builder, values[0])

    return intrinsic(generate)


_float_of = _operation(types.float64, types.uint64, lambda builder, x: builder.bitcast(x, ir.DoubleType()))
_bits_of = _operation(types.uint64, types.float64, lambda builder, x: builder.bitcast(x, ir.IntType(64)))
_root = _operation(
    types.float64,
    types.float64,
    lambda builder, x: builder.call(builder.module.declare_intrinsic("llvm.sqrt", [ir.DoubleType()]), [x]),
)


@exact
def _middle(word: Any) -> Any:
    """Return word + 0.5: below 2 ** 52 a whole number is the lower half of a float64's bits."""
    return _float_of(word | _U(0x4330000000000000)) - _D(4503599627370495.5)


@exact
def _log(x: Any) -> Any:
    """Return the logarithm of x / 2 ** 32."""
    bits = _bits_of(x) + _U(0x3FF0000000000000 - 0x3FE6A09E00000000)
    power = _float_of((bits >> _U(52)) | _U(0x4330000000000000)) - _D(4503599627370496.0 + 1023 + 32)
    f = _float_of((bits & _U(0xFFFFFFFFFFFFF)) + _U(0x3FE6A09E00000000)) - _D(1)
    half = _D(0.5) * f * f
    s = f / (_D(2) + f)
    z = s * s
    p = _D(1.479819860511658591e-01)
    p = p * z + _D(1.531383769920937332e-01)
    p = p * z + _D(1.818357216161805012e-01)
    p = p * z + _D(2.222219843214978396e-01)
    p = p * z + _D(2.857142874366239149e-01)
    p = p * z + _D(3.999999999940941908e-01)
    p = p * z + _D(6.666666666666735130e-01)
    rest = s * (half + z * p) + power * _D(1.90821492927058770002e-10)
    return power * _D(6.93147180369123816490e-01) - ((half - rest) - f)


@exact
def _cosine(x: Any) -> Any:
    """Return the cosine of x / 2 ** 32 turns."""
    q = abs(x * _D(2.0**-30) - _D(2)) - _D(1)
    z = q * q
    p = _D(5.87297574479995e-12)
    p = p * z + _D(-6.684416831856085e-10)
    p = p * z + _D(5.6921364280986254e-08)
    p = p * z + _D(-3.5988430204672576e-06)
    p = p * z + _D(0.0001604411847130916)
    p = p * z + _D(-0.004681754135304255)
    p = p * z + _D(0.07969262624616565)
    p = p * z + _D(-0.6459640975062462)
    p = p * z + _D(1.5707963267948966)
    return p * q


@kernel(written_array(), i64, i64, i64, f64, f64, f64, fastmath=_EXACT)
def uniform(
    first: int, stop: int, out: Any, start: int, low_key: int, high_key: int, times: float, less: float, scale: float
) -> None:
    """Draw (times * uniform - less) * scale."""
    k0, k1, begin = _U(low_key), _U(high_key), _U(start)
    a, b, c = f32(times), f32(less), f32(scale)
    for part in range(first, stop):
        drawn, counter = out[part * BLOCK : (part + 1) * BLOCK], begin + _U(part * BLOCK)
        for i in range(drawn.size):
            drawn[i] = (a * uniform_of(two_words(counter + _U(i), k0, k1)[0]) - b) * c


@kernel(written_array(), i64, i64, i64, f64, f64, fastmath=_EXACT)
def normal(
    first: int, stop: int, out: Any, start: int, low_key: int, high_key: int, deviation: float, mean: float
) -> None:
    """Draw deviation * normal + mean."""
    k0, k1, begin = _U(low_key), _U(high_key), _U(start)
    a, b = f32(deviation), f32(mean)
    for part in range(first, stop):
        drawn, counter = out[part * BLOCK : (part + 1) * BLOCK], begin + _U(part * BLOCK)
        for i in range(drawn.size):
            w0, w1 = two_words(counter + _U(i), k0, k1)
            drawn[i] = a * f32(_root(_D(-2) * _log(_middle(w0))) * _cosine(_middle(w1))) + b
