"""Convolutions as matrix products, and those of thin groups.

A tile of 128 x 128 sums in float32 has 64 registers a thread of 8 warps, one of 128 x 64 as many of 4; what is read for
the next step goes past registers, but rows have a place each, which takes more of them than a matrix does. So one
program of 8 warps or two of 4 are meant to be resident at once: 255 registers. A step of 64 in depth takes
(128 + 128) * 64 * 2 B = 32 KiB of shared memory and three stages 96 KiB, of 128 x 64 72 KiB, two of which fit.
In float32 each operand is there in two parts, so a tile is of 64 x 64 with steps of 32: 32 sums a thread of 4 warps.

Convolutions with thin groups are limited by the bandwidth of memory. At 3.35 TB/s and a latency of 0.6 us, 2 MB must
be in flight. That is 15 KiB for each of 132 multiprocessors, or 960 threads that load 16 bytes each. So 8 programs of
128 threads are to be resident on a multiprocessor, and a thread may use 64 registers. The weights of these convolutions
are few, and they are loaded one element at a time.
"""

from typing import Any

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

FLOAT32, BFLOAT16 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)


def image(n: int, c: int, y: int, x: int, dtype: Any = BFLOAT16) -> Array:
    """Return an image with its channels last."""
    return Array((n, c, y, x), dtype, (y * x * c, 1, x * c, c))


SAME = {"stride": (1, 1), "pads": (1, 1, 1, 1), "dilation": (1, 1), "group": 1}
HALVED = {**SAME, "stride": (2, 2)}
FIRST = {"stride": (2, 2), "pads": (3, 3, 3, 3), "dilation": (1, 1), "group": 1}
ONE_PROGRAM = Bounds(programs=1, tensor_cores="wgmma", copies=True, stages=3)
# Of the bias each thread reads the numbers of its columns.
ONE_BIAS = Bounds(programs=1, narrow_loads=16, tensor_cores="wgmma", copies=True, stages=3)
TWO = Bounds(programs=2, tensor_cores="wgmma", copies=True, stages=3)
SINGLE = Bounds(programs=2, tensor_cores="mma", copies=True, stages=3)
# Two sums a thread and their places in C order, which are apart.
PARTS = Bounds(programs=8, load_bytes=8, store_bytes=2)
THIN = {"thin_kernel": Bounds(programs=8, narrow_loads=8)}
# Eight channels lie together, a step of 16 takes those of two taps; sums are few. Kernels of 16 bytes, their ends of 4.
FLAT = Bounds(programs=6, load_bytes=4, tensor_cores="mma", copies=True)

CASES = [
    Case("conv2d", (image(256, 64, 56, 56), image(64, 64, 3, 3)), TWO, SAME, quick=True),
    Case("conv2d", (image(256, 256, 14, 14), image(256, 256, 3, 3)), ONE_PROGRAM, SAME),
    Case("conv2d_bias", (image(256, 256, 14, 14), image(256, 256, 3, 3), Array((256,), BFLOAT16)), ONE_BIAS, SAME),
    Case("conv2d", (image(256, 24, 56, 56), image(72, 24, 3, 3)), TWO, SAME, "channels that are not a power of two"),
    Case("conv2d", (image(256, 8, 32, 32), image(8, 8, 3, 3)), FLAT, SAME, "flat"),
    # Three channels lie together in 6 bytes: read singly.
    Case("conv2d", (Array((256, 3, 224, 224), BFLOAT16), image(64, 3, 7, 7)), Bounds(2, 2, tensor_cores="mma"), FIRST),
    Case("conv2d", (image(64, 64, 56, 56, FLOAT32), image(64, 64, 3, 3, FLOAT32)), SINGLE, SAME),
    Case("conv2d", (image(256, 64, 56, 56), Array((64, 1, 3, 3), BFLOAT16)), THIN, {**SAME, "group": 64}, "depthwise"),
    Case(
        "conv2d",
        (image(1024, 64, 256, 256), image(64, 64, 3, 3)),
        Bounds(1, tensor_cores="wgmma", copies=True, wide_index=True),
        SAME,
        "beyond 2^31",
    ),
    Case(
        "conv2d_input_grad",
        (image(256, 256, 14, 14), image(256, 256, 3, 3)),
        ONE_PROGRAM,
        {**SAME, "shape": (256, 256, 14, 14)},
        quick=True,
    ),
    Case(
        "conv2d_input_grad",
        (image(256, 256, 14, 14), image(256, 128, 3, 3)),
        ONE_PROGRAM,
        {**HALVED, "shape": (256, 128, 28, 28)},
        "stride 2",
    ),
    Case(
        "conv2d_input_grad",
        (image(64, 256, 14, 14, FLOAT32), image(256, 128, 3, 3, FLOAT32)),
        SINGLE,
        {**HALVED, "shape": (64, 128, 28, 28)},
        "stride 2",
    ),
    Case(
        "conv2d_input_grad",
        (image(256, 64, 56, 56), Array((64, 1, 3, 3), BFLOAT16)),
        THIN,
        {**SAME, "group": 64, "shape": (256, 64, 56, 56)},
        "depthwise",
    ),
    Case(
        "conv2d_weight_grad",
        (image(256, 64, 56, 56), image(256, 64, 56, 56)),
        {"weight_kernel": TWO, "add_parts_kernel": PARTS},
        {**SAME, "kernel": (3, 3)},
        quick=True,
    ),
    Case(
        "conv2d_weight_grad",
        (image(256, 256, 14, 14), image(256, 256, 14, 14)),
        {"weight_kernel": ONE_PROGRAM, "add_parts_kernel": PARTS},
        {**SAME, "kernel": (3, 3)},
    ),
    Case(
        "conv2d_weight_grad",
        (image(256, 64, 56, 56, FLOAT32), image(256, 64, 56, 56, FLOAT32)),
        {"weight_kernel": SINGLE, "add_parts_kernel": PARTS},
        {**SAME, "kernel": (3, 3)},
    ),
    Case(
        "conv2d_weight_grad",
        (image(256, 64, 56, 56), image(256, 64, 56, 56)),
        # A program adds up its rows for 64 kernels, and writes these.
        {"thin_weight_kernel": Bounds(8, store_bytes=4), "add_parts_kernel": PARTS},
        {**SAME, "group": 64, "kernel": (3, 3)},
        "depthwise",
    ),
]
