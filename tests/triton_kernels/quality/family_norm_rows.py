"""Layer and RMS norm's gradients in one pass, and cross-entropy by tiles of rows; see bounds.py.

Forward, a row of 4,096 values is 8 warps with 16 values a thread, 4 programs at once (1,024 threads, 64 registers), so
that 32 KiB in bfloat16 are under way.

The gradients' program keeps 16 values a thread of each of gamma and its two sums, 48 registers, beside g and x of the
tile that is computed with, while the next is on its way by cp.async: 128 registers, 2 programs of 8 warps, each with
16 KiB under way in bfloat16; of a row of 8,192 values, 16 warps and 1 program. Means and deviations are one value of a
row each. The shares are added by 4 warps, 8 programs at once.
"""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

FLOAT32, BFLOAT16 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)

FORWARD = Bounds(programs=4, narrow_stores=2, wide_index=True)
# A row's label, loss, log-sum-exp and gradient.
LOSS = Bounds(programs=4, narrow_loads=3, narrow_stores=2, wide_index=True)


def gradient(programs: int) -> dict[str, Bounds]:
    """Return bounds for a row of which one or two numbers are read, for two stages of the loop and before it."""
    own = Bounds(programs=programs, narrow_loads=6, copies=True, wide_index=True)
    return {"layer_norm_grad_kernel": own, "add_shares_kernel": Bounds(programs=8, narrow_stores=2)}


CASES = []
for dtype in (BFLOAT16, FLOAT32):
    quick = dtype == BFLOAT16
    for rows, columns in ((16384, 1024), (16384, 4096), (4096, 8192)):
        x, row, saved = Array((rows, columns), dtype), Array((columns,), dtype), Array((rows, 1), FLOAT32)
        of_row = gradient(1 if columns == 8192 else 2)
        axis = {"begin_norm_axis": 1}
        CASES.append(Case("layer_norm_grad", (x, x, row, saved, saved), of_row, axis, quick=quick and columns == 4096))
        CASES.append(Case("rms_norm_grad", (x, x, row, saved), of_row, {"epsilon": 1e-5}))
    x, row = Array((4096, 4096), dtype), Array((4096,), dtype)
    labels, losses, ignored = Array((4096,), np.dtype(np.int64)), Array((4096,), FLOAT32), {"ignore_index": -100}
    CASES += [
        Case("rms_norm", (x, row), FORWARD, {"epsilon": 1e-5}),
        Case("layer_norm", (x, row, row), FORWARD, {"begin_norm_axis": 1, "epsilon": 1e-5}),
        Case("softmax_grad", (x, x), FORWARD, {"axis": 1}),
        Case("sparse_softmax_cross_entropy", (x, labels), LOSS, ignored),
        Case("sparse_softmax_cross_entropy_grad", (losses, x, labels, losses), LOSS, ignored),
    ]
COUNT = {
    "count_kernel": Bounds(programs=8, store_bytes=4),
    "add_counts_kernel": Bounds(programs=8, load_bytes=4, store_bytes=4),
}
for count in (8192, 1 << 20):
    labels = Array((count,), np.dtype(np.int64))
    bounds = COUNT if count > 8192 else {"count_kernel": Bounds(programs=8, store_bytes=4)}
    CASES.append(Case("count_other_than", (labels,), bounds, {"other_than": -100, "dtype": FLOAT32}))
