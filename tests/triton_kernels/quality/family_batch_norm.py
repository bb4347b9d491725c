"""Batch norm: 16 values a thread of 8 warps, in every memory order; see bounds.py.

Reads are tiles of 4,096 values: one is in computation and the next is on its way by cp.async. A program
of the sums has 16 KiB under way in bfloat16 (x) or 32 (g and x), and three are to be resident: 80 registers of the
3 * 256 threads. With two sums and the values of a tile in float32 a thread needs 48 and some for places. The second
launch adds up to 128 shares of 32 channels first (of each of up to four arrays 16 values a thread), and is to be
resident twice: 128 registers. Numbers of a channel are one value each. Samples of 49 elements (7x7) are aligned to
nothing: what lies so is read element by element, and takes the registers of 16 addresses.
"""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

FLOAT32, BFLOAT16 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)

# The provisional mean takes the first tile by ordinary reads; a number of a channel is read or written alone.
FIRST = Bounds(programs=3, narrow_loads=2, narrow_stores=4, copies=True, wide_index=True)
SECOND = Bounds(programs=2, narrow_loads=8, narrow_stores=2, copies=True, wide_index=True)
BOUNDS = {
    "statistics_kernel": FIRST,
    "gradient_sums_kernel": FIRST,
    "normalize_kernel": SECOND,
    "gradient_kernel": SECOND,
    "affine_kernel": Bounds(programs=3, narrow_loads=3, copies=True, wide_index=True),
    "running_kernel": Bounds(programs=8, load_bytes=8, store_bytes=8),
}
ALONE = Bounds(programs=2, load_bytes=2, store_bytes=2)

CASES = []
for dtype in (BFLOAT16, FLOAT32):
    channel = Array((64,), FLOAT32)
    for order, strides in (("NCHW", None), ("channels last", (200704, 1, 3584, 64))):
        x = Array((256, 64, 56, 56), dtype, strides)
        quick, attrs = dtype == BFLOAT16, {"epsilon": 1e-5}
        CASES += [
            Case("batch_norm", (x, channel, channel), BOUNDS, attrs, order, quick=quick),
            Case("batch_norm_grad", (x, x, channel, channel, channel), BOUNDS, attrs, order, quick=quick),
            Case("affine_of_channels", (x, channel, channel, channel), BOUNDS, {}, order),
        ]
    x, channel = Array((256, 512, 7, 7), dtype), Array((512,), FLOAT32)
    CASES += [
        Case("batch_norm", (x, channel, channel), ALONE, {"epsilon": 1e-5}),
        Case("batch_norm_grad", (x, x, channel, channel, channel), ALONE, {"epsilon": 1e-5}),
    ]
CASES.append(Case("running_statistics", (channel,) * 4, BOUNDS, {"momentum": 0.1, "count": 12544}))
