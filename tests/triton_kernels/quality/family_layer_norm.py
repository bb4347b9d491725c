"""Layer norm: as softmax, a row in registers; its gradient's sums over the rows go by strips of columns."""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

FLOAT32, BFLOAT16 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)

# A row's mean and deviation are one value each.
ROW = Bounds(programs=1, narrow_loads=8, narrow_stores=8)

CASES = []
for dtype in (FLOAT32, BFLOAT16):
    for rows, columns in ((4096, 4096), (64, 16384), (64, 40000)):
        x, row, saved = Array((rows, columns), dtype), Array((columns,), dtype), Array((rows, 1), FLOAT32)
        attrs = {"begin_norm_axis": 1, "epsilon": 1e-5}
        CASES.append(Case("layer_norm", (x, row, row), ROW, attrs, quick=dtype == BFLOAT16 and columns == 4096))
        CASES.append(Case("layer_norm_grad", (x, x, row, saved, saved), ROW, {"begin_norm_axis": 1}))
