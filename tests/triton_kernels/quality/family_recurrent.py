"""Steps of recurrent layers, which wait for each other: short, and so many programs that all multiprocessors have one.

A program of 64 samples and 32 units has 4 gates of 16 registers a thread of 4 warps, and beside those what tensor cores
multiply: a tile of the state and one of each gate's weights. A stage takes (64 + 4 * 32) rows of 64 in half precision,
24 KiB, three of them 72 KiB. In float32 an operand is three. For few samples a tile is 32 samples and 16
units, so that there are more programs; one at once will do. Sums of a bias go over rows in the order of memory.
"""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

FLOAT32, BFLOAT16 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)


def cases(kind: str, gates: int, dtype: np.dtype, samples: int, size: int, quick: bool = False) -> list[Case]:
    steps, high = 3, gates * size
    x, h = Array((steps, samples, size), dtype), Array((samples, size), dtype)
    c = h if kind == "lstm" else None
    weights = [Array((high, size), dtype), Array((high, size), dtype), Array((high,), dtype), Array((high,), dtype)]
    arrays = [Array((steps, length, samples), FLOAT32, (samples * length, 1, length)) for length in (high, size, size)]
    bounds = {
        "step_kernel": Bounds(programs=1, tensor_cores="mma", copies=True, stages=3, narrow_loads=16, narrow_stores=2),
        # The first of these has no product, since no step comes after it.
        "step_grad_kernel": Bounds(programs=2, stages=3, narrow_loads=2, narrow_stores=8),
        "bias_kernel": Bounds(programs=4, narrow_stores=2),
        # Held to its own bounds in its own family.
        "matmul_kernel": Bounds(programs=1, tensor_cores="mma", narrow_loads=96),
    }
    inputs = (x, h, c, *weights, None)
    return [
        Case("recurrent", inputs, bounds, {"kind": kind, "reverse": False}, kind, quick=quick),
        Case(
            "recurrent_grad",
            (x, None, None, *inputs, *arrays),
            bounds,
            {"kind": kind, "reverse": False, "with_x": True},
            kind,
        ),
    ]


CASES = [
    *cases("lstm", 4, BFLOAT16, 128, 2048),
    *cases("lstm", 4, FLOAT32, 64, 512),
    *cases("gru", 3, BFLOAT16, 64, 1024, quick=True),
    *cases("gru", 3, FLOAT32, 128, 2048),
]
