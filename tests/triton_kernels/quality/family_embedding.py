"""Rows picked and added up by their numbers: bound by memory.

15 KiB are under way of a multiprocessor (see family_reductions). Picking has tiles of 2,048 values, 16 a thread, 4 KiB
in half precision: 8 programs, 64 registers. A program that adds up reads 4 rows of 512 values at once, 4 KiB in half
precision: 8 programs, 64 registers. The places of 64 numbers in the order are counted in 64 x 64 comparisons, 32 a
thread, in programs that also write zeros, which wait for nothing: 4 programs, 128 registers. Numbers are read singly.
"""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

FLOAT32, BFLOAT16, INT64 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16), np.dtype(np.int64)

NUMBERS = Array((8192,), INT64)
CASES = []
for dtype in (FLOAT32, BFLOAT16):
    table, g = Array((50257, 768), dtype), Array((8192, 768), dtype)
    added = {
        "zeros_and_order_kernel": Bounds(4, load_bytes=8, store_bytes=8),
        "chunks_kernel": Bounds(8, narrow_loads=16, store_bytes=8),
        "join_kernel": Bounds(8, narrow_loads=16, store_bytes=8),
    }
    CASES += [
        Case("rows_picked", (table, Array((8, 1024), INT64)), Bounds(8, narrow_loads=2), quick=dtype == BFLOAT16),
        Case("rows_added", (g, NUMBERS, None), added, {"rows": 50257}, quick=dtype == BFLOAT16),
        Case("rows_added", (g, NUMBERS, NUMBERS), added, {"rows": 50257}, "ordered"),
    ]
