"""Products of matrices inside kernels: SciPy's BLAS, called without the interpreter's lock.

Who shares such a kernel out does so in ``threads.single_threaded_blas``.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import get_cython_function_address, intrinsic

__all__ = ["gemm", "product"]

# Machine code on disk knows the function by this name; where it is differs in each process.
_NAME = "hookscope_sgemm"
llvmlite.binding.add_symbol(_NAME, get_cython_function_address("scipy.linalg.cython_blas", "sgemm"))

_int, _float, _byte = ir.IntType(32), ir.FloatType(), ir.IntType(8)


@intrinsic
def gemm(
    _typing: Any, transposed_a: Any, transposed_b: Any, m: Any, n: Any, k: Any,
    a: Any, lda: Any, b: Any, ldb: Any, beta: Any, c: Any, ldc: Any,
) -> Any:  # fmt: skip
    """c (m, n) = a @ b + beta * c of float32 matrices by rows; addresses in bytes, distances of rows in elements.

    ``transposed_a``: a lies in memory as (k, m); ``transposed_b``: b as (n, k).
    """

    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        # BLAS counts by columns: there it is c' = b' a'.
        ta, tb, rows, columns, depth, first, lead_a, second, lead_b, factor, result, lead_c = values

        def place(value: Any) -> Any:
            at = cgutils.alloca_once(builder, value.type)
            builder.store(value, at)
            return at

        def letter(flag: Any) -> Any:
            return place(builder.select(flag, ir.Constant(_byte, ord("T")), ir.Constant(_byte, ord("N"))))

        def length(value: Any) -> Any:
            return place(builder.trunc(value, _int))

        def matrix(address: Any) -> Any:
            return builder.inttoptr(address, _float.as_pointer())

        arguments = [
            letter(tb), letter(ta), length(columns), length(rows), length(depth), place(ir.Constant(_float, 1.0)),
            matrix(second), length(lead_b), matrix(first), length(lead_a), place(factor), matrix(result),
            length(lead_c),
        ]  # fmt: skip
        kind = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, _NAME), arguments)

    long = types.int64
    return types.void(
        types.boolean, types.boolean, long, long, long, long, long, long, long, types.float32, long, long
    ), generate


_MOST = 1_000_000
"""Multiplications up to which OpenBLAS, where it has AVX-512, multiplies without bringing a and b in order first; that
takes 18 us for a (512, 128) and b (128, 16), and as one product 25 us."""


@numba.njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def product(
    transposed_a: bool, m: int, n: int, k: int, a: int, lda: int, b: int, ldb: int, beta: Any, c: int, ldc: int
) -> None:
    """``gemm`` for a b (k, n) of few columns, by as many rows of a as make a small product."""
    rows = max(m, 1)
    if n * k * 16 <= _MOST:
        rows = _MOST // max(n * k, 1) // 16 * 16
    for i in range(0, m, rows):
        gemm(
            transposed_a, False, min(rows, m - i), n, k, a + 4 * (i if transposed_a else i * lda), lda, b, ldb, beta,
            c + 4 * i * ldc, ldc,
        )  # fmt: skip
