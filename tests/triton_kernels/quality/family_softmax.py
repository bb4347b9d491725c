"""Softmax: a row of up to 16,384 values stays in registers, 32 of a thread and as many powers; see bounds.py.

A row in registers is one program; 4,096 values are 8 warps with 16 values a thread, and 4 such programs (1,024 threads,
64 registers) have 32 KiB in bfloat16 under way. Rows of 16,384 have 16 warps and 32 values a thread, twice with the
powers: 2 programs, 64 registers of the 2 * 512 threads. A longer row goes by in pieces of 4,096.
"""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

FLOAT32, BFLOAT16 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)

CASES = []
for dtype in (FLOAT32, BFLOAT16):
    x, wide, long = Array((4096, 4096), dtype), Array((64, 16384), dtype), Array((64, 40000), dtype)
    CASES += [
        Case("softmax", (x,), Bounds(programs=2), {"axis": 1}, quick=dtype == BFLOAT16),
        Case("softmax", (wide,), Bounds(programs=1), {"axis": 1}),
        Case("softmax", (long,), Bounds(programs=2), {"axis": 1}),
        Case("softmax_grad", (x, x), Bounds(programs=2), {"axis": 1}),
        Case("softmax_grad", (long, long), Bounds(programs=2), {"axis": 1}),
        Case(
            "log_softmax",
            (x,),
            {"copy_kernel": Bounds(programs=8, narrow_loads=8, narrow_stores=8), "softmax_kernel": Bounds(programs=2)},
            {"axis": 0},
        ),
        Case("log_softmax_grad", (x, x), Bounds(programs=2), {"axis": 1}),
    ]
