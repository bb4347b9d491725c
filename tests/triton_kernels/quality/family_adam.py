"""Adam: four streams in and three out, with a root and a division a value."""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

CASES = []
for dtype in (np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)):
    x = Array((4096, 4096), dtype)
    attrs = {"lr_t": 1e-3, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "use_nesterov": True}
    CASES.append(Case("adam", (x, x, x, x), Bounds(programs=4), attrs))
