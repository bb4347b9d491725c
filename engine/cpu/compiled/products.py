"""Products of matrices, in blocks of the result that are shared out."""

from __future__ import annotations

from .blas import gemm
from .loops import f32, i64, kernel

__all__ = ["product"]


@kernel(*[i64] * 14)
def product(
    first: int, stop: int, a: int, lda: int, a_turned: int, b: int, ldb: int, b_turned: int, c: int, ldc: int,
    m: int, n: int, k: int, across: int, rows: int, columns: int,
) -> None:  # fmt: skip
    """c (m, n) = a @ b of float32 matrices in blocks of ``rows`` by ``columns``, ``across`` of them side by side.

    a, b and c are addresses; a ``turned`` matrix lies in memory by columns.
    """
    for part in range(first, stop):
        i, j = part // across * rows, part % across * columns
        gemm(
            a_turned != 0, b_turned != 0, min(rows, m - i), min(columns, n - j), k,
            a + 4 * (i if a_turned != 0 else i * lda), lda, b + 4 * (j * ldb if b_turned != 0 else j), ldb,
            f32(0), c + 4 * (i * ldc + j), ldc,
        )  # fmt: skip
