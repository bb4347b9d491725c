"""Steps over all tensors of an optimizer, and the search for an overflow: kernels that are told of arrays by a table.

Little's law: 3.35 TB/s (an H100) over some 0.8 us of latency and 132 multiprocessors keeps 20 KB of reads in flight on
each. A program of Adam has 16 KB of them (4 arrays of 1024 numbers of 4 bytes), in half precision 8 KB; one of momentum
12 and 6 KB; so 4 programs at once are enough. Of `overflow_rows`, which reads one array, 4 and 2 KB: 8 programs.

A whole chunk is read 16 bytes at a time. The last one of a tensor, in a branch of its own, is read number by number: 8
numbers of a thread for each array. All threads read from the table, 8 bytes each: the row, the chunk, the
size, decay, rate and the powers or factor and flag (at most 12), and an address for each array and each result, in both
branches.
"""

import numpy as np

from .bounds import Array, Bounds, Case

NUMBERS_OF_A_THREAD = 8


def bounds(reads: int, writes: int, programs: int = 4, numbers: int = 12) -> Bounds:
    return Bounds(
        programs=programs,
        narrow_loads=NUMBERS_OF_A_THREAD * reads + numbers + 2 * (reads + 2 * writes),
        narrow_stores=NUMBERS_OF_A_THREAD * writes,
    )


TABLE, CHUNKS = Array((62, 10), np.dtype(np.int64)), Array((11_000, 2), np.dtype(np.int32))
FLAG, NUMBER, STEP = (Array((), np.dtype(kind)) for kind in (np.uint8, np.float32, np.int32))
ADAM = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "use_nesterov": False, "loss_scale": 1.0}
CASES = []
for name in ("float32", "bfloat16"):
    for flag, note in ((None, ""), (FLAG, "a flag")):
        adam = {"dtypes": (name,) * 4, **ADAM}
        settings = {**adam, "form": "adam", "apart": False, "loss_scale": 2.0, "use_nesterov": True}
        rows = (TABLE, CHUNKS, flag)
        quick = name == "float32" and flag is not None
        CASES.append(Case("adam_rows", (*rows, NUMBER, NUMBER), bounds(4, 3), settings, f"{name} {note}", quick))
        settings = {**adam, "form": "adam_weight_decay", "apart": True}
        CASES.append(Case("adam_rows", (*rows, None, None), bounds(4, 3), settings, f"{name}, decay apart {note}"))
        settings = {**adam, "form": "adamw", "apart": True}
        CASES.append(Case("adam_rows", (*rows, NUMBER, NUMBER), bounds(4, 3), settings, f"{name}, AdamW {note}"))
        settings = {"dtypes": (name,) * 2, "first": "none", "share": 1.0, "loss_scale": 1.0, "use_nesterov": False}
        CASES.append(Case("momentum_rows", (*rows, None, None), bounds(2, 1), settings, f"{name}, descent {note}"))
        settings = {"dtypes": (name,) * 3, "first": "none", "share": 1.0, "loss_scale": 1.0, "use_nesterov": False}
        CASES.append(Case("momentum_rows", (*rows, NUMBER, None), bounds(3, 2), settings, f"{name} {note}"))
        settings = {"dtypes": (name,) * 4, "first": "step", "share": 0.9, "loss_scale": 1.0, "use_nesterov": False}
        CASES.append(Case("momentum_rows", (*rows, NUMBER, STEP), bounds(4, 3), settings, f"{name}, SGD {note}"))
        settings = {**settings, "first": "stat"}
        CASES.append(Case("momentum_rows", (*rows, NUMBER, None), bounds(4, 3), settings, f"{name}, its state {note}"))
    limits = Bounds(programs=8, narrow_loads=NUMBERS_OF_A_THREAD + 6, store_bytes=1)
    CASES.append(Case("overflow_rows", (TABLE, CHUNKS, FLAG), limits, {"dtype": name}, name))
