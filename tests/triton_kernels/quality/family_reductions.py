"""Reductions: bound by memory, each element read once.

By Little's law a multiprocessor has to have (3.35 TB/s) * (600 ns) / 132, 15 KiB, under way. A program of 4 warps reads
a tile of 4,096 values at once, 32 a thread: 8 KiB in half precision. Their sums so far are 32 registers a thread in
float32, beside 32 (16 in half precision) that are being read: 128 registers of 4 programs, which have 32 KiB under way.
Places are 64-bit keys, twice the registers: 2 programs, 16 KiB. Of parts in a second launch there may be so few that
a thread reads two of them, of 8 bytes together.
"""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

FLOAT32, BFLOAT16 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)

# A program writes a number for each of its rows: of one row 2 or 4 bytes, of 64 a thread's.
STREAM = Bounds(programs=4, store_bytes=2)
PARTS = Bounds(programs=4, store_bytes=2, narrow_loads=2)
INDICES = Bounds(programs=2, store_bytes=8)
BOTH = Bounds(programs=2, store_bytes=2)
# Rows of 49 values begin anywhere: read singly.
SHORT = Bounds(programs=4, load_bytes=2, store_bytes=2)

CASES = []
for dtype in (FLOAT32, BFLOAT16):
    x, maps = Array((4096, 4096), dtype), Array((64, 256, 56, 56), dtype)
    last = Array((64, 256, 56, 56), dtype, (56 * 56 * 256, 1, 56 * 256, 256))
    is_half = dtype == BFLOAT16
    for name in ("sum", "mean", "amax"):
        CASES += [
            Case(name, (x,), STREAM, {"axis": (1,), "keepdims": False}, "rows", quick=is_half and name == "sum"),
            Case(name, (x,), STREAM, {"axis": (0,), "keepdims": False}, "columns", quick=is_half and name == "mean"),
        ]
    CASES += [
        Case("sum", (x,), STREAM, {"axis": None, "keepdims": False}, "all"),
        Case("sum", (maps,), PARTS, {"axis": (0, 2, 3), "keepdims": False}, "of channels"),
        Case("sum", (last,), STREAM, {"axis": (0, 2, 3), "keepdims": False}, "of channels that lie last"),
        Case("sum_to", (x,), STREAM, {"shape": (4096,)}),
        Case("mean", (Array((64, 256, 7, 7), dtype),), SHORT, {"axis": (2, 3), "keepdims": True}, "short rows"),
        Case("argmax", (x,), INDICES, {"axis": 1, "keepdims": False}),
        Case("max_along", (x,), BOTH, {"axis": 1, "keepdims": False}),
    ]
x = Array((4096, 4096), FLOAT32)
CASES += [Case(name, (x,), STREAM, {"axis": (1,), "keepdims": False}) for name in ("prod", "amin")]
CASES += [Case(name, (x,), Bounds(4, store_bytes=1), {"axis": (1,), "keepdims": False}) for name in ("any", "all")]
CASES += [Case("argmin", (x,), INDICES, {"axis": 1, "keepdims": False})]
CASES += [Case("min_along", (x,), BOTH, {"axis": 1, "keepdims": False})]
