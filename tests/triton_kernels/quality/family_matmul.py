"""Matrix products on tensor cores, in the three forms that a layer and its gradients have, and with epilogues.

The sums of a tile in float32 are a thread's registers: 128 x 256 of 8 warps take 128 of them, with as many left of the
255 for fragments and addresses: one program on a multiprocessor. That it waits for nothing is the copies' doing, which
go on meanwhile: cp.async of 16 bytes, three steps ahead or more. An activation other than ReLU is worked out of 64 sums
a thread, 128 x 128 of 8 warps; on 9.0, where the fragments stay in shared memory (wgmma), two such programs have 128
registers a thread, and one works out its activation while the other multiplies. On 8.0 fragments take registers, and it
is one.

float32 is three TF32 products of both parts of each operand, in a tile of 64 x 64 by 4 warps: 32 sums, and 64 registers
of fragments twice over; 65,536 / (3 * 128) = 168 for three programs.

K-contiguous operands with a K that divides by 2 alone can only be read by 4 bytes, and with an odd one by 2, which
cp.async cannot: they go through registers, with 32 sums a thread, two programs of 8 warps with 128 registers each. No
form of these may spill.
"""

from typing import Any

import ml_dtypes
import numpy as np

from .bounds import CAPABILITIES, Array, Bounds, Case

FLOAT32, FLOAT16, BFLOAT16 = np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)
PLAIN = {"transpose_a": False, "transpose_b": False}
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh")
# A thread reads the bias of its own columns: one read a pair of them, so many pairs are in 8 rows of fragments.
BIAS = 16


def operands(form: str, m: int, n: int, k: int, dtype: Any) -> tuple[Array, Array]:
    """Return a product's matrices; T first in `form` is for an `a` along M, T second for a `b` along K."""
    a = Array((m, k), dtype, (1, m) if form[0] == "T" else None)
    return a, Array((k, n), dtype, (1, k) if form[1] == "T" else None)


def linear(m: int, n: int, k: int, dtype: Any, activation: str, bounds: Bounds, **rest: Any) -> Case:
    inputs = (Array((m, k), dtype), Array((n, k), dtype), Array((n,), dtype))
    return Case("linear", inputs, bounds, {"activation": activation}, activation, **rest)


LARGE = {
    80: Bounds(1, tensor_cores="mma", copies=True, stages=4),
    90: Bounds(1, tensor_cores="wgmma", copies=True, stages=4),
}
SINGLE = Bounds(3, tensor_cores="mma", copies=True, stages=3)
# A tile of 64 x 64 by 4 warps: 32 sums, and half the registers of a thread for three programs.
MEDIUM = Bounds(3, tensor_cores="wgmma", copies=True, stages=3)
# 16 rows: bound by the reads of `b`, for which 4 programs with 3 steps of 6 KiB are under way. A thread has 4 sums or
# more of 16 x 32, 8 bytes.
FLAT = Bounds(4, store_bytes=8, tensor_cores="mma", copies=True, stages=4)

CASES = []
for form in ("NT", "NN", "TN"):
    for capability in CAPABILITIES:
        for dtype in (BFLOAT16, FLOAT16):
            for k in (4096, 1000):
                quick = dtype == BFLOAT16 and k == 1000 and capability == 90
                arrays = operands(form, 4096, 4096, k, dtype)
                CASES.append(Case("matmul", arrays, LARGE[capability], PLAIN, form, quick, capability))
    CASES += [
        Case("matmul", operands(form, 4096, 4096, 4096, FLOAT32), SINGLE, PLAIN, form),
        Case("matmul", operands(form, 1024, 512, 512, BFLOAT16), MEDIUM, PLAIN, form),
        Case("matmul", operands(form, 16, 4096, 4096, BFLOAT16), FLAT, PLAIN, form),
    ]
    # A batch of attention's products: 128 x 64 x 128 of 64 heads.
    a, b = operands(form, 128, 64, 128, BFLOAT16)
    a, b = (Array((64, *x.shape), x.dtype, (x.size, *[s // 2 for s in x.strides])) for x in (a, b))
    CASES.append(Case("matmul", (a, b), Bounds(2, tensor_cores="wgmma", copies=True, stages=3), PLAIN, form))
    # In float32 every read is of 4 bytes where a stride is odd; 16 sums a thread.
    CASES.append(
        Case(
            "matmul",
            operands(form, 1023, 1025, 50257, FLOAT32),
            Bounds(2, 4, 4, tensor_cores="mma", copies=True, stages=3),
            PLAIN,
            form,
        )
    )

# Operands along K are read by 4 bytes (4090) or 2 (50257); those along M or N, which divide by 8, by 16.
EVEN = Bounds(1, 4, tensor_cores="mma", copies=True, stages=3)
CASES += [Case("matmul", operands(form, 4096, 4096, 4090, BFLOAT16), EVEN, PLAIN, form) for form in ("NT", "NN")]
CASES += [
    Case("matmul", operands("TN", 4096, 4096, 4090, BFLOAT16), LARGE[80], PLAIN, "TN", only=80),
    Case("matmul", operands("TN", 4096, 4096, 50257, BFLOAT16), LARGE[90], PLAIN, "TN", only=90),
    Case("matmul", operands("NT", 4096, 4096, 50257, BFLOAT16), Bounds(2, 2, tensor_cores="mma"), PLAIN, "NT", True),
    Case("matmul", operands("NN", 4096, 4096, 50257, BFLOAT16), Bounds(2, 2, tensor_cores="mma"), PLAIN, "NN"),
    # Rows of the result that begin anywhere are written by 2 bytes.
    Case(
        "matmul", operands("NT", 4096, 50257, 768, BFLOAT16), Bounds(1, 16, 2, tensor_cores="mma", copies=True), PLAIN
    ),
    Case("matmul", operands("TN", 4095, 4093, 4091, BFLOAT16), Bounds(2, 2, 2, tensor_cores="mma"), PLAIN, "odd"),
    Case("matmul", operands("NN", 4095, 4093, 4091, BFLOAT16), Bounds(2, 2, 2, tensor_cores="mma"), PLAIN, "odd"),
]
for activation in ACTIVATIONS:
    for capability in CAPABILITIES:
        programs = 2 if capability == 90 and activation != "relu" else 1
        bounds = Bounds(programs, narrow_loads=BIAS, tensor_cores="wgmma", copies=True, stages=3)
        quick = activation == "gelu" and capability == 80
        CASES.append(linear(4096, 4096, 4096, BFLOAT16, activation, bounds, quick=quick, only=capability))
    bounds = Bounds(3, narrow_loads=BIAS, tensor_cores="mma", copies=True, stages=3)
    CASES.append(linear(4096, 4096, 4096, FLOAT32, activation, bounds))
    CASES.append(linear(4096, 4096, 4090, BFLOAT16, activation, Bounds(1, 2, tensor_cores="mma", copies=True)))
    CASES.append(linear(1024, 1024, 50257, BFLOAT16, activation, Bounds(2, 2, tensor_cores="mma")))
    CASES.append(linear(1024, 1024, 50257, FLOAT32, activation, Bounds(2, 4, tensor_cores="mma")))
    CASES.append(linear(300, 200, 100, BFLOAT16, activation, Bounds(3, 2, 8, tensor_cores="mma", copies=True)))
