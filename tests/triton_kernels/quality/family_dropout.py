"""Dropout: ten rounds of Philox for four values, and a stream of memory.

A program of 4 warps has 2,048 values, 16 a thread: 4 draws of four words, the state of one 10 registers, and 16 values:
64 registers of 8 programs, which have 8 * 2,048 * 2 bytes = 32 KiB under way.
"""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

CASES = []
for dtype in (np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)):
    x = Array((4096, 4096), dtype)
    for name in ("dropout", "dropout_kept"):
        CASES.append(Case(name, (x,), Bounds(8), {"p": 0.1, "seed": 2**40 + 1, "offset": 0}))
