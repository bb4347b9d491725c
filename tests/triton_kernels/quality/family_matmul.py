"""Matrix products on tensor cores.

A tile of 128 x 128 sums in float32 has 128 registers a thread of 4 warps, and 64 of 8; beside them there are addresses
and what is on its way: 8 warps with 2 programs on a multiprocessor at 128 registers a thread, or one program at 255.
A step of 64 in depth in bfloat16 takes (128 + 128) * 64 * 2 B = 32 KiB of shared memory, and three stages 96 KiB.
"""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

FLOAT32, BFLOAT16 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)
PLAIN = {"transpose_a": False, "transpose_b": False}

CASES = []
for dtype, core in ((FLOAT32, "mma"), (BFLOAT16, "wgmma")):
    x, row = Array((4096, 4096), dtype), Array((4096,), dtype)
    WHOLE = Bounds(programs=1, tensor_cores=core, copies=True, stages=3)
    CASES += [
        Case("linear", (x, x, None), WHOLE, {"activation": None}, quick=dtype == BFLOAT16),
        Case("linear", (x, x, row), WHOLE, {"activation": "gelu"}, "gelu"),
        Case("matmul", (x, x), WHOLE, PLAIN),
    ]
