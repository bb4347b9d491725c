"""Products of matrices inside kernels: SciPy's BLAS, called without the interpreter's lock.

A caller that distributes such a kernel over threads does so in ``threads.single_threaded_blas``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ...machine_code import GEMM
from .loops import helper

__all__ = ["NO", "YES", "cached_product", "gemm", "product"]

_ONE = np.float32(1)
NO, YES = np.bool_(False), np.bool_(True)
"""For ``cached_product`` and ``product``: with False and True, Numba compiles them anew for each combination."""

_int, _float, _byte = ir.IntType(32), ir.FloatType(), ir.IntType(8)


@intrinsic
def gemm(
    _typing: Any,
    transposed_a: Any,
    transposed_b: Any,
    m: Any,
    n: Any,
    k: Any,
    a: Any,
    lda: Any,
    b: Any,
    ldb: Any,
    beta: Any,
    c: Any,
    ldc: Any,
) -> Any:
    """Compute c (m, n) = a @ b + beta * c of float32 matrices by rows.

    Addresses are in bytes, distances of rows in elements.

    ``transposed_a``: a lies in memory as (k, m); ``transposed_b``: b as (n, k).
    """

    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        # BLAS counts by columns: there it is c' = b' a'.
        ta, tb, rows, columns, depth, first, lead_a, second, lead_b, factor, result, lead_c = values

        def on_stack(value: Any) -> Any:
            at = cgutils.alloca_once(builder, value.type)
            builder.store(value, at)
            return at

        def letter(flag: Any) -> Any:
            return on_stack(builder.select(flag, ir.Constant(_byte, ord("T")), ir.Constant(_byte, ord("N"))))

        def length(value: Any) -> Any:
            return on_stack(builder.trunc(value, _int))

        def matrix(address: Any) -> Any:
            return builder.inttoptr(address, _float.as_pointer())

        arguments = [
            letter(tb),
            letter(ta),
            length(columns),
            length(rows),
            length(depth),
            on_stack(ir.Constant(_float, 1.0)),
            matrix(second),
            length(lead_b),
            matrix(first),
            length(lead_a),
            on_stack(factor),
            matrix(result),
            length(lead_c),
        ]
        kind = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, GEMM), arguments)

    long = types.int64
    return types.void(
        types.boolean, types.boolean, long, long, long, long, long, long, long, types.float32, long, long
    ), generate


_SIDE, _DEPTH = 64, 240
"""Sizes of small products: below a million multiplications, for which OpenBLAS has kernels that copy no operands."""


@helper(once=True)
def product(
    a_turned: bool,
    b_turned: bool,
    m: int,
    n: int,
    k: int,
    a: int,
    lda: int,
    b: int,
    ldb: int,
    beta: Any,
    c: int,
    ldc: int,
    small: int,
) -> None:
    """Compute ``gemm``; in small products if ``small`` is not 0, that is, if OpenBLAS has kernels for them.

    ``threads.small_products`` returns whether it has. With AVX-512 they reach 105 to 114 GFLOP/s a core where a large
    product reaches 75 to 100.
    """
    if small == 0 or (b_turned and a_turned):
        gemm(a_turned, b_turned, m, n, k, a, lda, b, ldb, beta, c, ldc)
        return
    side, depth = _SIDE, _DEPTH
    if b_turned:
        side, depth = 32, -(-k // max(1, -(-k // (4 * _DEPTH))))
    for j in range(0, n, side):
        width = min(side, n - j)
        for first in range(0, max(k, 1), depth):
            deep = min(depth, k - first)
            for i in range(0, m, side):
                of_a = a + 4 * (first * lda + i if a_turned else i * lda + first)
                of_b = b + 4 * (j * ldb + first if b_turned else first * ldb + j)
                factor, of_c = beta if first == 0 else _ONE, c + 4 * (i * ldc + j)
                gemm(a_turned, b_turned, min(side, m - i), width, deep, of_a, lda, of_b, ldb, factor, of_c, ldc)


_SMALL = 950_000
"""Multiplications of a product that OpenBLAS computes without a copy of its operands, at up to twice the rate."""
_DEEP, _WIDE, _TALL = 256, 128, 64
_DOTS = 32
"""Rows and columns of such a product if the second matrix is turned."""


@helper(once=True)
def cached_product(
    turned_a: bool,
    turned_b: bool,
    m: int,
    n: int,
    k: int,
    a: int,
    lda: int,
    b: int,
    ldb: int,
    beta: Any,
    c: int,
    ldc: int,
) -> None:
    """Compute ``gemm`` in pieces that are small to BLAS, for matrices that are in the cache."""
    deep = min(k, _DEEP)
    wide = min(n, max(_WIDE, _SMALL // (deep * min(m, _TALL))))
    high = max(8, _SMALL // (wide * deep) // 8 * 8)
    if turned_b and k < 2 * _DOTS:
        wide, high, deep = n, m, k  # the operand with the short side is copied
    elif turned_b:
        wide, high, deep = _DOTS, _DOTS, min(k, _SMALL // (_DOTS * _DOTS))
    for i in range(0, m, high):
        for j in range(0, n, wide):
            for first in range(0, k, deep):
                rows, columns, depth = min(high, m - i), min(wide, n - j), min(deep, k - first)
                of_a = a + 4 * (first * lda + i if turned_a else i * lda + first)
                of_b = b + 4 * (j * ldb + first if turned_b else first * ldb + j)
                factor, of_c = beta if first == 0 else _ONE, c + 4 * (i * ldc + j)
                gemm(turned_a, turned_b, rows, columns, depth, of_a, lda, of_b, ldb, factor, of_c, ldc)
