"""Cross-entropy of a row of logits; its label and what is kept of it are one value each."""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

FLOAT32, BFLOAT16 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)

ROW = Bounds(programs=2, narrow_loads=4, narrow_stores=2)

CASES = []
for dtype in (FLOAT32, BFLOAT16):
    for rows, columns in ((4096, 4096), (64, 40000)):
        x, labels, losses = Array((rows, columns), dtype), Array((rows,), np.dtype(np.int64)), Array((rows,), FLOAT32)
        attrs = {"ignore_index": -100}
        CASES.append(Case("sparse_softmax_cross_entropy", (x, labels), ROW, attrs))
        CASES.append(Case("sparse_softmax_cross_entropy_grad", (losses, x, labels, losses), ROW, attrs))
