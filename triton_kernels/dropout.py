"""Dropout whose mask depends only on the seed and the element's index.

Element i in C order is kept according to word i % 4 of Philox's counter offset + i // 4. The words are Triton's, which
the engine's `cpu.arrays.philox` reproduces bit for bit: for one seed and offset, the mask is the same on a CPU and on a
GPU. Dropout is its own gradient: nothing is saved, and the mask is generated again.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels.launch.launcher import cdiv
from hookscope.triton_kernels.launch.plans import Input, Kernel, Number, Operand, Planner, is_float

_BLOCK = 2048


# Seeds and offsets vary between calls: specializing on their values would compile many kernels.
@triton.jit(do_not_specialize=["seed", "offset"])
def dropout_kernel(x_ptr, y_ptr, count, seed, offset, p, scale, BLOCK: tl.constexpr):
    """Apply dropout; `scale` is 1 / (1 - p), computed on the host in double precision; without `x`, store the mask."""
    first = tl.program_id(0).to(tl.int64) * BLOCK
    index = first + tl.arange(0, BLOCK)
    inside = index < count
    a, b, c, d = tl.rand4x(seed, first // 4 + tl.arange(0, BLOCK // 4) + offset)
    keep_mask = tl.interleave(tl.interleave(a, c), tl.interleave(b, d)) >= p
    if x_ptr is None:
        tl.store(y_ptr + index, keep_mask.to(y_ptr.dtype.element_ty), mask=inside)
    else:
        x = tl.load(x_ptr + index, mask=inside, other=0.0).to(tl.float32)
        y = tl.where(keep_mask, x * scale, 0.0)
        tl.store(y_ptr + index, y.to(y_ptr.dtype.element_ty), mask=inside)


def _plan(call: Planner, x: Operand | None, y: Operand, p: float, seed: Number, offset: Number) -> Operand:
    # With p = 1 nothing is kept, and the scale is unused.
    scalars = (y.size, seed, offset, float(p), 1.0 / (1.0 - p) if p < 1.0 else 1.0)
    call.launch(dropout_kernel, cdiv(y.size, _BLOCK), (x, y), scalars, {"BLOCK": _BLOCK})
    return y


def _dropout(call: Planner, x: Input, p: float, seed: Number, offset: Number) -> Operand | None:
    if not is_float(x) or not 0.0 <= p <= 1.0:
        return None
    return _plan(call, call.contiguous(x), call.empty(x.shape, x.dtype), p, seed, offset)


def _dropout_kept(call: Planner, x: Input, p: float, seed: Number, offset: Number) -> Operand | None:
    if not isinstance(x, Operand) or x.size == 0 or not 0.0 <= p <= 1.0:
        return None
    return _plan(call, None, call.empty(x.shape, np.bool_), p, seed, offset)


_VARYING = frozenset({"seed", "offset"})
KERNELS = {"dropout": Kernel(_dropout, _VARYING), "dropout_kept": Kernel(_dropout_kept, _VARYING)}
