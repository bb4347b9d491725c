"""Parts of every kernel: the decorator, argument types, and functions of one number.

A kernel is a loop over parts: ``kernel(first, stop, ...)`` does those from ``first`` to before ``stop``, so that
``threads.share`` can share it out. ``read_array`` declares an array that is only read, ``written_array`` one that is
written.

Sums may be regrouped, and products and sums fused (REASSOCIATE), which vector instructions need. No kernel may
assume that there are no NaNs and infinities: a debugger needs them where mathematics puts them.

The functions are of float32, without branches, so that loops over them are vectorized; their polynomials were fitted by
least squares at Chebyshev nodes, relative to the function. The largest relative error, over all float32 numbers, is in
tests/engine/cpu/test_compiled_functions.py.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from .._building import ONCE, Entry

__all__ = [
    "BLOCK",
    "REASSOCIATE",
    "RUN",
    "at",
    "choose",
    "doubles",
    "elementwise",
    "erfcx",
    "exp",
    "f32",
    "f64",
    "floats",
    "give_back",
    "greater",
    "helper",
    "i32",
    "i64",
    "kernel",
    "largest",
    "lesser",
    "moments",
    "read_array",
    "sigmoid",
    "square_root",
    "start",
    "take",
    "tanh",
    "u8",
    "u32",
    "u64",
    "written_array",
]

REASSOCIATE = frozenset({"reassoc", "contract", "nsz"})
_CONTRACT = frozenset({"contract"})

f32, f64, i32, i64 = types.float32, types.float64, types.int32, types.int64
u8, u32, u64 = types.uint8, types.uint32, types.uint64


def read_array(element: Any = f32, axes: int = 1) -> Any:
    """Return the type of an array that is read."""
    return types.Array(element, axes, "C", readonly=True)


def written_array(element: Any = f32, axes: int = 1) -> Any:
    """Return the type of an array that is written."""
    return types.Array(element, axes, "C")


def kernel(*arguments: Any, fastmath: frozenset[str] = REASSOCIATE) -> Callable[[Any], Any]:
    """Return a decorator for a function of ``first``, ``stop`` and arguments of these types, for ``threads.share``."""

    def compiled(function: Any) -> Any:
        return Entry(function.__name__, function.__doc__, helper(function, fastmath=fastmath), arguments)

    return compiled


def helper(function: Any = None, *, fastmath: frozenset[str] = REASSOCIATE, once: bool = False) -> Any:
    """Compile a function that kernels call.

    It is inlined in each caller. With ``once`` it is compiled once for all callers, and called: for functions that
    take long compared with a call and would be much code in many places.
    """
    # Without reference counts: memory is owned only through ``take``.
    compiled = numba.njit(
        error_model="numpy", fastmath=set(fastmath), no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False
    )

    def decorate(function: Any) -> Any:
        dispatcher = compiled(function)
        if once:
            ONCE.append(dispatcher)
        return dispatcher

    return decorate if function is None else decorate(function)


BLOCK = 8192
"""The elements of a part of an elementwise kernel."""


def _elements(first: int, stop: int, out: int, x: int, y: int, number: Any, count: int) -> None:
    for part in range(first, stop):
        start = part * BLOCK
        size = min(BLOCK, count - start)
        outputs, xs, ys = floats(out + 4 * start, size), floats(x + 4 * start, size), floats(y + 4 * start, size)
        for i in range(size):
            outputs[i] = function(xs[i], ys[i], number)  # noqa: F821


def elementwise(function: Any) -> Any:
    """Return the kernel of ``function(x, y, number)`` of float32 numbers, for ``elements.mapped``."""
    name = function.__name__
    loop = FunctionType(_elements.__code__, {**globals(), "function": helper(function, fastmath=_CONTRACT)}, name)
    loop.__doc__ = function.__doc__
    return kernel(i64, i64, i64, f32, i64, fastmath=_CONTRACT)(loop)


def _bits(to: Any, of: Any, kind: Any) -> Any:
    def generate(_typing: Any, x: Any) -> Any:
        return to(of), lambda _context, builder, _signature, values: builder.bitcast(values[0], kind)

    return intrinsic(generate)


_float_of = _bits(types.float32, types.int32, ir.FloatType())
_bits_of = _bits(types.int32, types.float32, ir.IntType(32))


def _selection(operator: str) -> Any:
    """Return ``a if a < b else b``, declared to LLVM for numbers only: else it would not be vectorized."""

    def pick(_typing: Any, a: Any, _b: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            first = builder.fcmp_ordered(operator, values[0], values[1], flags=("nnan", "nsz"))
            return builder.select(first, values[0], values[1], flags=("nnan", "nsz"))

        return a(a, a), generate

    return intrinsic(pick)


lesser, greater = _selection("<"), _selection(">")


def at(element: Any, axes: int = 1) -> Any:
    """Return a function of an address and of each length: the elements there, by rows, as an array."""
    kind, size = types.Array(element, axes, "C"), element.bitwidth // 8

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        view = context.make_array(kind)(context, builder)
        strides = [ir.Constant(ir.IntType(64), size)]
        for length in values[:1:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        data = builder.inttoptr(values[0], view.data.type)
        arrayobj.populate_array(view, data, values[1:], strides, size, None)
        return view._getvalue()

    def of_one(_typing: Any, address: Any, count: Any) -> Any:
        return kind(types.int64, types.int64), generate

    def of_two(_typing: Any, address: Any, rows: Any, columns: Any) -> Any:
        return kind(types.int64, types.int64, types.int64), generate

    return intrinsic(of_one if axes == 1 else of_two)


floats, doubles = at(types.float32), at(types.float64)
"""The numbers at an address."""


@intrinsic
def start(_typing: Any, array: Any) -> Any:
    """Return the address of the first element of an array."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=values[0]).data
        return builder.ptrtoint(data, ir.IntType(64))

    return types.int64(array), generate


_LINE = 64
"""Bytes of a line of the cache, and of the longest vector."""


@intrinsic
def _allocate(_typing: Any, size: Any) -> Any:
    """Return the address of new memory of a size in bytes, aligned to a line; 0 if there is none left."""

    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        long, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(pointer, [long])
        padded_size = builder.add(values[0], ir.Constant(long, _LINE))
        memory = builder.call(cgutils.get_or_insert_function(builder.module, kind, "malloc"), [padded_size])
        result = builder.ptrtoint(memory, long)
        at = builder.and_(builder.add(result, ir.Constant(long, _LINE)), ir.Constant(long, -_LINE))
        is_there = builder.icmp_signed("!=", result, ir.Constant(long, 0))
        with builder.if_then(is_there):
            before = builder.sub(at, ir.Constant(long, 8))  # malloc's own begin is known there
            builder.store(result, builder.inttoptr(before, long.as_pointer()))
        return builder.select(is_there, at, ir.Constant(long, 0))

    return types.int64(types.int64), generate


@intrinsic
def give_back(_typing: Any, address: Any) -> Any:
    """Free memory of ``take``."""

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        long, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
        before = builder.sub(values[0], ir.Constant(long, 8))
        result = builder.load(builder.inttoptr(before, long.as_pointer()))
        kind = ir.FunctionType(ir.VoidType(), [pointer])
        free = cgutils.get_or_insert_function(builder.module, kind, "free")
        builder.call(free, [builder.inttoptr(result, pointer)])
        return context.get_dummy_value()

    return types.void(types.int64), generate


@helper
def take(size: int) -> Any:
    """Return the address of memory of a size in bytes, until ``give_back``; if there is none, the kernel raises."""
    result = _allocate(size)
    if result == 0:
        raise MemoryError
    return result


@intrinsic
def square_root(_typing: Any, x: Any) -> Any:
    """Return the square root of a float32, one instruction; ``math.sqrt`` is a call."""

    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.sqrt", [ir.FloatType()]), values)

    return types.float32(types.float32), generate


@intrinsic
def choose(_typing: Any, condition: Any, a: Any, _b: Any) -> Any:
    """Return ``a if condition else b`` without a branch, which a loop may not have to be vectorized."""
    return a(types.boolean, a, a), lambda _context, builder, _signature, values: builder.select(*values)


@helper
def largest(x: Any) -> Any:
    """Return the largest of these; any of them where one is NaN, which exponentials then pass on."""
    result = x[0]
    for i in range(1, x.size):
        result = greater(result, x[i])
    return result


RUN = 4096
"""Elements whose sum in float32 is good enough; sums of more add theirs in float64. They stay in the first cache."""


@helper
def _sum(x: Any) -> Any:
    total = f32(0)
    for i in range(x.size):
        total += x[i]
    return total


@helper
def _moments_about(x: Any, middle: Any) -> Any:
    total, squares = f32(0), f32(0)
    for i in range(x.size):
        difference = x[i] - middle
        total += difference
        squares += difference * difference
    return total, squares


@helper
def moments(address: int, count: int) -> Any:
    """Return the mean and the biased variance of ``count`` float32 numbers, in float64.

    They are read from memory once, in runs, whose moments are added by the formulae of Chan, Golub and LeVeque 1979
    ("Updating Formulae"). A run's own are taken about a number near its mean, which need not be the mean itself.
    """
    total, mean, squares = f64(0), f64(0), f64(0)
    for start in range(0, count, RUN):
        x = floats(address + 4 * start, min(RUN, count - start))
        size, added = f64(x.size), f64(_sum(x))
        near = f32(added / size)
        away, its_squares = _moments_about(x, near)
        difference = f64(near) + f64(away) / size - mean
        mean += difference * size / (start + size)
        squares += (
            f64(its_squares) - f64(away) * f64(away) / size + difference * difference * size * start / (start + size)
        )
        total += added
    # An infinite number has a NaN distance to the mean, but there is a mean.
    return (mean if mean == mean else total / count), (squares if not squares < 0 else f64(0)) / count


_F = np.float32
_ONE, _HALF, _TWO = _F(1), _F(0.5), _F(2)
_LOG2_E, _LN2_HIGH, _LN2_LOW = _F(1.4426950408889634), _F(0.693359375), _F(-2.12194440e-4)
_ROUND = _F(12582912.0)
"""1.5 * 2**23: added to a float32 and subtracted again, it leaves the nearest whole number."""


@helper(fastmath=_CONTRACT)  # regrouped, adding and subtracting _ROUND would cancel
def exp(x: Any) -> Any:
    c = choose(x < _F(89), x, _F(89))
    c = choose(c > _F(-104), c, _F(-104))
    rounded = c * _LOG2_E + _ROUND
    integer_part = rounded - _ROUND
    r = (c - integer_part * _LN2_HIGH) - integer_part * _LN2_LOW
    p = _F(0.00019826492643915117)
    p = p * r + _F(0.001394603168591857)
    p = p * r + _F(0.00833342969417572)
    p = p * r + _F(0.041666269302368164)
    p = p * r + _F(0.1666666567325592)
    p = p * r + _HALF
    p = p * (r * r) + r + _ONE
    power = np.int32(_bits_of(rounded) - np.int32(0x4B400000))
    half = np.int32(power >> np.int32(1))  # in two factors, for results that are subnormal or overflow
    y = p * _float_of(np.int32((half + np.int32(127)) << np.int32(23)))
    y = y * _float_of(np.int32((power - half + np.int32(127)) << np.int32(23)))
    return choose(x == x, y, x)


@helper(fastmath=_CONTRACT)
def sigmoid(x: Any) -> Any:
    decay = exp(-abs(x))
    return choose(x < _F(0), decay, _ONE) / (_ONE + decay)


@helper(fastmath=_CONTRACT)
def tanh(x: Any) -> Any:
    size = abs(x)
    far = _ONE - _TWO / (exp(_TWO * size) + _ONE)
    s = x * x
    p = _F(-0.00570404389873147)
    p = p * s + _F(0.020637862384319305)
    p = p * s + _F(-0.05373915657401085)
    p = p * s + _F(0.133314311504364)
    p = p * s + _F(-0.3333328068256378)
    near = x * (_ONE + s * p)
    far = choose(x == x, choose(x > _F(0), far, -far), x)
    return choose(size < _F(0.625), near, far)


@helper(fastmath=_CONTRACT)
def erfcx(z: Any) -> Any:
    """Return exp(z * z) * erfc(z), for z in [0, 10]: beyond, a tenth of it is negligible."""
    t = _ONE / (_ONE + _HALF * z)
    p = _F(-0.06010870635509491)
    p = p * t + _F(0.2894461154937744)
    p = p * t + _F(-0.4968295693397522)
    p = p * t + _F(0.2885151505470276)
    p = p * t + _F(-0.03339901939034462)
    p = p * t + _F(0.20536042749881744)
    p = p * t + _F(0.2424793839454651)
    p = p * t + _F(0.28245383501052856)
    p = p * t + _F(0.28208234906196594)
    return p * t
