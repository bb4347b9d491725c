"""Dropout: ten rounds of Philox a value, and a stream of memory; its mask is a byte a value."""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

CASES = []
for dtype in (np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)):
    x = Array((4096, 4096), dtype)
    # 8 values a thread are 8 bytes of the mask.
    bounds = Bounds(programs=8, narrow_loads=1, narrow_stores=1)
    CASES.append(Case("dropout", (x,), bounds, {"p": 0.1, "seed": 2**40 + 1, "offset": 0}))
    CASES.append(Case("dropout_grad", (x, Array(x.shape, np.dtype(np.bool_))), bounds, {"p": 0.1}))
