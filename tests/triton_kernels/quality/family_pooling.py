"""Pooling, which is bound by memory.

3.35 TB/s at 0.6 us under way are 2 MB, 15 KiB of each of 132 multiprocessors, or 960 threads with 16 bytes each:
8 programs of 128 threads, 64 registers a thread. A thread has 8 elements in half precision: it reads and writes 16
bytes of them, and 8 of their places.
"""

from typing import Any

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def image(n: int, c: int, y: int, x: int, dtype: Any = BFLOAT16) -> Array:
    """Return an image with its channels last."""
    return Array((n, c, y, x), np.dtype(dtype), (y * x * c, 1, x * c, c))


def volume(*shape: int) -> Array:
    _n, c, z, y, x = shape
    return Array(shape, BFLOAT16, (z * y * x * c, 1, y * x * c, x * c, c))


HALVED = {"kernel": (3, 3), "stride": (2, 2), "pads": (1, 1, 1, 1)}
LARGEST = {**HALVED, "dilation": (1, 1)}
DEEP = {"kernel": (2, 2, 2), "stride": (2, 2, 2), "pads": (0, 0, 0, 0, 0, 0)}
LARGEST_DEEP = {**DEEP, "dilation": (1, 1, 1)}
GLOBAL = {"kernel": (7, 7), "stride": (7, 7), "pads": (0, 0, 0, 0)}
MEAN = Bounds(programs=8)
PLACED = Bounds(programs=8, narrow_stores=1)
PLACED_FAR = Bounds(programs=8, narrow_stores=1, wide_index=True)
SPREAD = Bounds(programs=8, narrow_loads=1)
# The places tell where to read, each element elsewhere: 8 and 16 bytes on their way in a thread, 640 threads.
PICKED = Bounds(programs=5, narrow_loads=9)

LARGE, SMALL = image(256, 64, 112, 112), image(256, 64, 56, 56)
INDICES = image(256, 64, 56, 56, np.uint8)
DEEP_LARGE, DEEP_SMALL = volume(8, 64, 16, 56, 56), volume(8, 64, 8, 28, 28)
DEEP_PLACES = Array(DEEP_SMALL.shape, np.dtype(np.uint8), DEEP_SMALL.element_strides)

CASES = [
    Case("max_pool2d", (LARGE,), PLACED, LARGEST, quick=True),
    Case("max_pool2d", (Array(LARGE.shape, BFLOAT16),), Bounds(8, 2, narrow_stores=1), LARGEST, "in C order"),
    Case("max_pool2d", (image(1024, 64, 256, 256),), PLACED_FAR, LARGEST, "beyond 2^31"),
    Case("max_pool2d_grad", (SMALL, INDICES), SPREAD, {**LARGEST, "shape": LARGE.shape}, quick=True),
    Case("max_pool2d_pick", (LARGE, INDICES), PICKED, LARGEST),
    Case("avg_pool2d", (LARGE,), MEAN, HALVED),
    Case("avg_pool2d", (image(256, 2048, 7, 7),), MEAN, GLOBAL, "the whole image"),
    Case("avg_pool2d_grad", (SMALL,), MEAN, {**HALVED, "shape": LARGE.shape}),
    Case("avg_pool2d_grad", (image(256, 2048, 1, 1),), MEAN, {**GLOBAL, "shape": (256, 2048, 7, 7)}, "the whole image"),
    Case("max_pool3d", (DEEP_LARGE,), PLACED, LARGEST_DEEP),
    Case("max_pool3d_grad", (DEEP_SMALL, DEEP_PLACES), SPREAD, {**LARGEST_DEEP, "shape": DEEP_LARGE.shape}),
    Case("max_pool3d_pick", (DEEP_LARGE, DEEP_PLACES), PICKED, LARGEST_DEEP),
    Case("avg_pool3d", (DEEP_LARGE,), MEAN, DEEP),
    Case("avg_pool3d_grad", (DEEP_SMALL,), MEAN, {**DEEP, "shape": DEEP_LARGE.shape}),
]
