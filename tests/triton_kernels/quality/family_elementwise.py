"""Elementwise operators: bound by memory, so that what counts is that enough reads of 16 bytes are under way.

A program of 4 warps has 1,024 values, 8 a thread. By Little's law a multiprocessor has to have (3.35 TB/s) * (600 ns) /
132, 15 KiB, under way (9.0; 8.0 has 2.0 TB/s and 108 of them, 11 KiB): 8 programs of 1,024 values of at least 2 bytes
are 16 KiB. 8 programs of 128 threads leave a thread 64 registers.
"""

import ml_dtypes
import numpy as np

from .bounds import Array, Bounds, Case

FLOAT32, BFLOAT16 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)

STREAM = Bounds(programs=8, wide_index=False)
# The exponent and its logarithm, of 8 values, in libdevice's steps.
HEAVY = Bounds(programs=4, wide_index=False)
# Indices in other operands are computed in 64 bits. A thread reads operands along the columns alone for several rows,
# in pieces as small as a thread's share of 256 columns: 2 values. Of operands along the rows a thread has one value.
TILE = Bounds(programs=8, narrow_loads=2, wide_index=True)
# Tiles of 64 x 64, 32 values a thread of each operand and of the result, turned in shared memory: 8 or 16 KiB, and
# 32 KiB under way of 4 programs.
ACROSS = Bounds(programs=4, wide_index=True)

UNARY = ("neg", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "silu", "abs", "square")
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum", "relu_grad", "sigmoid_grad", "tanh_grad", "silu_grad")

CASES = []
for dtype in (FLOAT32, BFLOAT16):
    x, row = Array((4096, 4096), dtype), Array((4096,), dtype)
    maps, channels = Array((64, 256, 56, 56), dtype), Array((256, 1, 1), dtype)
    last = Array((64, 256, 56, 56), dtype, (56 * 56 * 256, 1, 56 * 256, 256))
    CASES += [Case(name, (x,), STREAM, quick=name == "tanh" and dtype == BFLOAT16) for name in UNARY]
    CASES += [Case(name, (x, x), STREAM) for name in BINARY]
    CASES += [
        Case("pow", (x, x), HEAVY),
        Case("mul", (x, 0.5), STREAM, note="number"),
        Case("add", (x, row), TILE, quick=dtype == BFLOAT16),
        Case("mul", (x, Array((4096, 1), dtype)), TILE, note="a column"),
        Case("add", (maps, channels), TILE, note="channels"),
        Case("add", (last, channels), TILE, note="channels that lie last"),
        Case("add", (last, maps), ACROSS, note="across"),
        Case("add", (x, Array((4096, 4096), dtype, (1, 4096))), ACROSS, note="transposed", quick=dtype == BFLOAT16),
    ]
    for approximate in ("none", "tanh"):
        attrs = {"approximate": approximate}
        CASES += [
            Case("gelu", (x,), STREAM, attrs, note=approximate),
            Case("gelu_grad", (x, x), STREAM, attrs, note=approximate),
        ]
