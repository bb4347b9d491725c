"""Attention: two products a block, and what is known of the softmax stays in registers.

Of heads of 64 a block of 128 queries has, a thread of 8 warps, 32 registers of sums, 32 of the scores with 64 keys and
16 of their powers in half precision, and beside those addresses and what is on its way: below 128, so two programs at
once where the tensor cores read queries and keys from shared memory (9.0), one where these take registers too (8.0).
Heads of 128 have 64 registers of sums: one program. Its shared memory has 32 KiB of queries and three stages of 2 * 16
KiB of keys and values. A tile of a mask takes as much as one of scores, so that blocks of keys are half as long there,
and it is read where the scores are: pieces of 4 and 8 bytes.

In the gradients three or four products have their sums beside each other. For `dq` of heads of 64, 128 queries: 32 of
sums, 2 * 32 of scores and their gradients, below 128 on 9.0. For `dk` and `dv`, 128 keys of 64: 2 * 32 of sums and 2 *
32 with 64 queries, one program. Of 128: 64 queries and 64 keys each, 2 * 32 and 2 * 16.

In float32 an operand is three, which is why tiles are small there and one program is meant to be resident.

Narrow reads are those of the rows' sums, and of ranges and masks; stores of sums are narrow.
"""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

FLOAT32, BFLOAT16 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)


def heads(length: int, size: int, dtype: np.dtype) -> Array:
    """Return heads of a projection (4, length, 16 * size)."""
    return Array((4, 16, length, size), dtype, (length * 16 * size, size, 16 * size, 1))


def cases(
    length: int, size: int, dtype: np.dtype, bounds: dict[str, Bounds], mask: Array | None = None, **options: object
) -> list[Case]:
    x, sums = heads(length, size, dtype), Array((4, 16, length), FLOAT32)
    attrs = {"scale": size**-0.5}
    return [
        Case("attention", (x, x, x, mask), bounds, attrs, **options),
        Case("attention_grad", (x, x, sums, x, x, x, mask), bounds, attrs, **options),
    ]


def bounds(forward: int, dq: int, dkv: int, narrow: int = 0, **options: object) -> dict[str, Bounds]:
    return {
        "ranges_kernel": Bounds(programs=4, narrow_stores=2),
        "attention_kernel": Bounds(programs=forward, narrow_loads=narrow, narrow_stores=2, **options),
        "attention_dq_kernel": Bounds(programs=dq, narrow_loads=8 + narrow, narrow_stores=2, **options),
        "attention_dkv_kernel": Bounds(programs=dkv, narrow_loads=4 + narrow, **options),
    }


QUEUED = {"tensor_cores": "wgmma", "copies": True, "stages": 2}
SINGLE = bounds(1, 1, 1, **QUEUED)

CASES = [
    *cases(4096, 64, BFLOAT16, bounds(2, 2, 1, **QUEUED), only=90),
    *cases(4096, 64, BFLOAT16, SINGLE, only=80),
    *cases(4096, 128, BFLOAT16, SINGLE, quick=True),
    *cases(4096, 256, BFLOAT16, bounds(1, 1, 1, tensor_cores="mma")),
    *cases(4096, 64, FLOAT32, bounds(1, 1, 1, tensor_cores="mma")),
    *cases(4096, 128, FLOAT32, bounds(1, 1, 1, tensor_cores="mma")),
    *cases(4093, 80, BFLOAT16, bounds(1, 1, 1, narrow=18, **QUEUED), note="rows beside the blocks"),
]
for dtype in (BFLOAT16, FLOAT32):
    settings = QUEUED if dtype == BFLOAT16 else {"tensor_cores": "mma"}
    for size in (64, 128):
        causal, padding = Array((4096, 4096), dtype), Array((4, 1, 1, 4096), dtype)
        CASES += cases(4096, size, dtype, bounds(1, 1, 1, narrow=18, **settings), causal, note="causal")
        CASES += cases(4096, size, dtype, bounds(1, 1, 1, narrow=18, **settings), padding, note="padding")
for dtype in (BFLOAT16, FLOAT32):
    x = heads(4096, 64, dtype)
    CASES.append(Case("attention_weights", (x, x, None), Bounds(programs=1, tensor_cores="mma"), {"scale": 0.125}))
