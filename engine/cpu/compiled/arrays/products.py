"""Products of matrices, in tiles of the results that are shared out."""

from __future__ import annotations

from typing import Any

from ..library.blas import product
from ..library.loops import f32, floats, i64, kernel, read_array

__all__ = ["products"]


@kernel(read_array(i64, 2), *[i64] * 14)
def products(
    first: int,
    stop: int,
    starts: Any,
    lda: int,
    a_turned: int,
    ldb: int,
    b_turned: int,
    ldc: int,
    m: int,
    n: int,
    k: int,
    rows: int,
    columns: int,
    tiles: int,
    across: int,
    bias: int,
    small: int,
) -> None:
    """Compute c (m, n) = a @ b + bias of float32 matrices, in tiles of ``rows`` by ``columns``.

    Each line of ``starts`` has the addresses of an a, a b and a c, whose ``tiles`` tiles are ``across`` side by side;
    ``bias`` is the address of n numbers, or 0. A ``turned`` matrix lies in memory by columns; ``small`` is that of
    ``blas.product``.
    """
    for part in range(first, stop):
        a, b, c = starts[part // tiles]
        tile = part % tiles
        i, j = tile // across * rows, tile % across * columns
        height, width = min(rows, m - i), min(columns, n - j)
        if bias != 0:
            added = floats(bias + 4 * j, width)
            for row in range(height):
                line = floats(c + 4 * ((i + row) * ldc + j), width)
                for column in range(width):
                    line[column] = added[column]
        product(
            a_turned != 0,
            b_turned != 0,
            height,
            width,
            k,
            a + 4 * (i if a_turned != 0 else i * lda),
            lda,
            b + 4 * (j * ldb if b_turned != 0 else j),
            ldb,
            f32(1 if bias != 0 else 0),
            c + 4 * (i * ldc + j),
            ldc,
            small,
        )
