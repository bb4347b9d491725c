"""Parts of loops that are generated from scalar expressions (``compile.loops``): memory, and functions of an element.

Loops access their arrays through pointers, and declare that stored arrays overlap no others: the arrays that are
written are new ones. Otherwise LLVM would have to compare all addresses first, and would not vectorize loops over more
than a few arrays.

For float32, exponentials, logarithms and functions derived from them are computed here, in float32 and without calls.
All other functions, and all functions of float64, are the C library's.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from .loops import at, choose, doubles, erfcx, exp, give_back, helper, take, tanh

__all__ = [
    "ceil",
    "choose",
    "double",
    "fetch",
    "float64_at",
    "floor",
    "give_back",
    "int64_at",
    "pointer",
    "put",
    "rint",
    "root",
    "single",
    "summed",
    "take",
    "trunc",
]

_F = np.float32


def _of_float(name: str) -> Any:
    """Return one of LLVM's functions of a floating number."""

    @intrinsic
    def function(_typing: Any, x: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [values[0].type]), values)

        return x(x), generate

    return function


floor, ceil, trunc, rint, root = (_of_float(name) for name in ("floor", "ceil", "trunc", "rint", "sqrt"))


def _scope(builder: Any, number: int) -> Any:
    """Return an alias scope for the stores through one pointer; 0 is the scope of all loads."""
    module = builder.module
    domain = module.add_metadata([ir.MetaDataString(module, "hookscope.loops")])
    return module.add_metadata([ir.MetaDataString(module, f"hookscope.loops.{number}"), domain])


def _mark(builder: Any, access: Any, number: int, count: int) -> Any:
    scope = builder.module.add_metadata([_scope(builder, number)])
    other_scopes = builder.module.add_metadata([_scope(builder, k) for k in range(count + 1) if k != number])
    access.set_metadata("alias.scope", scope)
    access.set_metadata("noalias", other_scopes)
    return access


@intrinsic
def pointer(_typing: Any, array: Any) -> Any:
    """Return a pointer to the first element of an array."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return cgutils.create_struct_proxy(signature.args[0])(context, builder, value=values[0]).data

    return types.misc.CPointer(array.dtype)(array), generate


@intrinsic(prefer_literal=True)
def fetch(_typing: Any, of: Any, index: Any, number: Any, count: Any) -> Any:
    """Return an element: ``number`` is 0 for arrays that are only read, else which of ``count`` written ones it is."""
    array_number, array_count, kind = number.literal_value, count.literal_value, of.dtype

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        loaded = _mark(builder, builder.load(builder.gep(values[0], [values[1]])), array_number, array_count)
        return context.data_model_manager[kind].from_data(builder, loaded)

    return kind(of, types.int64, number, count), generate


@intrinsic(prefer_literal=True)
def put(_typing: Any, to: Any, index: Any, value: Any, number: Any, count: Any) -> Any:
    """Store an element in the ``number``-th of ``count`` arrays that are written."""
    array_number, array_count, kind = number.literal_value, count.literal_value, to.dtype

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        data = context.data_model_manager[kind].as_data(builder, values[2])
        _mark(builder, builder.store(data, builder.gep(values[0], [values[1]])), array_number, array_count)
        return context.get_dummy_value()

    return types.void(to, types.int64, kind, number, count), generate


float64_at, int64_at = doubles, at(types.int64)


@intrinsic
def summed(_typing: Any, total: Any, x: Any) -> Any:
    """Return total + x, in a sum whose order LLVM may choose, once and for all, to make vectors."""

    def generate(_context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if isinstance(signature.return_type, types.Integer):
            return builder.add(*values)
        return builder.fadd(*values, flags=("reassoc", "nsz", "contract"))

    return total(total, total), generate


def _bits(to: Any, of: Any, kind: Any) -> Any:
    def generate(_typing: Any, x: Any) -> Any:
        return to(of), lambda _context, builder, _signature, values: builder.bitcast(values[0], kind)

    return intrinsic(generate)


_float_of = _bits(types.float32, types.int32, ir.FloatType())
_bits_of = _bits(types.int32, types.float32, ir.IntType(32))

_LN2_HIGH, _LN2_LOW = _F(0.693359375), _F(-2.12194440e-4)
_SQRT_HALF, _LEAST, _SCALE = _F(math.sqrt(0.5)), _F(2.0**-126), _F(2.0**25)
_INFINITE, _NAN = _F(math.inf), _F(math.nan)


@helper(fastmath=frozenset({"contract"}))
def _log(x: Any) -> Any:
    """Return the natural logarithm.

    Of x = m * 2**e with m around 1 it is e * log(2) + log(m), the latter by a polynomial that was fitted for the least
    relative error.
    """
    small = x < _LEAST
    y = choose(small, x * _SCALE, x)
    bits = np.int32(_bits_of(y) - np.int32(0x3F3504F3))  # the bits of sqrt(1/2)
    e = np.int32(bits >> np.int32(23))
    m = _float_of(np.int32(np.int32(bits & np.int32(0x7FFFFF)) + np.int32(0x3F3504F3)))
    exponent = _F(e) - choose(small, _F(25), _F(0))
    r = m - _F(1)
    p = _F(0.067466601729393)
    p = p * r + _F(-0.1167566329240799)
    p = p * r + _F(0.11888159066438675)
    p = p * r + _F(-0.12405586987733841)
    p = p * r + _F(0.14219552278518677)
    p = p * r + _F(-0.1666799634695053)
    p = p * r + _F(0.2000211924314499)
    p = p * r + _F(-0.25000008940696716)
    p = p * r + _F(0.3333331346511841)
    square = r * r
    result = (p * r - _F(0.5)) * square + exponent * _LN2_LOW + r + exponent * _LN2_HIGH
    result = choose(x == _F(0), -_INFINITE, choose(x < _F(0), _NAN, result))
    return choose((x == _INFINITE) | (x != x), x, result)


@helper(fastmath=frozenset())
def _log1p(x: Any) -> Any:
    """Return log(1 + x) by Kahan: the rounding of 1 + x is taken back by the quotient."""
    y = x + _F(1)
    z = y - _F(1)
    result = _log(y) * (x / choose(z == _F(0), _F(1), z))
    return choose((z == _F(0)) | (x != x), x, choose((y == _F(0)) | (y == _INFINITE), _log(y), result))


@helper(fastmath=frozenset())
def _expm1(x: Any) -> Any:
    """Return exp(x) - 1 by Kahan, too; x itself near 0, where exp(x) is 1."""
    y = exp(x)
    z = y - _F(1)
    logarithm = _log(choose((y == _F(1)) | (y == _F(0)), _F(2), y))
    result = choose((y == _INFINITE) | (z == _F(-1)), z, z * (x / logarithm))
    return choose((y == _F(1)) | (x != x), x, result)


@helper(fastmath=frozenset({"contract"}))
def _erfc(x: Any) -> Any:
    z = abs(x)
    z = choose(z < _F(11), z, _F(11))
    # The exponential of -z * z, of its leading bits and, as a series, of the rest, which is below 0.09: of z * z as it
    # is rounded it would be 40 units off.
    high = _float_of(np.int32(_bits_of(z) & np.int32(-4096)))
    rest = (z - high) * (z + high)
    series = _F(1) - rest * (_F(1) - rest * (_F(0.5) - rest * (_F(1 / 6) - rest * _F(1 / 24))))
    tail = erfcx(choose(z < _F(10), z, _F(10))) * exp(-high * high) * series
    return choose(x != x, x, choose(x < _F(0), _F(2) - tail, tail))


single: dict[str, Any] = {"exp": exp, "tanh": tanh, "log": _log, "log1p": _log1p, "expm1": _expm1, "erfc": _erfc}
"""Functions of float32 by name; of those that are missing here the C library's."""


def _of_library(name: str) -> Any:
    function = getattr(math, name, None) or getattr(np, name)

    @numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy", _nrt=False)
    def called(x: Any) -> Any:
        return function(x)

    return called


double: dict[str, Any] = {
    name: _of_library(name)
    for name in (
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "erf",
        "erfc",
    )
}
"""Functions of float64, and of float32 where the C library has them."""
