"""Dropout whose mask depends on the seed and the element's counter alone.

The random numbers are Triton's Philox, which the engine's `cpu.philox` gives bit for bit: for one seed and
offset, the mask is the same on a CPU and on a GPU.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels._launch import cdiv
from hookscope.triton_kernels._plans import Given, Kernel, Number, Operand, Planner, is_float

_BLOCK = 1024


# A seed and an offset are other numbers at every call: compiling their values in would compile many kernels.
@triton.jit(do_not_specialize=["seed", "offset"])
def dropout_kernel(x_ptr, y_ptr, mask_ptr, count, seed, offset, p, keep, BLOCK: tl.constexpr):
    """`keep` is 1 - p, computed on the host where it is exact to double precision."""
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    kept = tl.rand(seed, index + offset) >= p
    x = tl.load(x_ptr + index, mask=inside, other=0.0).to(tl.float32)
    y = tl.where(kept, tl.div_rn(x, keep), 0.0)
    tl.store(y_ptr + index, y.to(y_ptr.dtype.element_ty), mask=inside)
    tl.store(mask_ptr + index, kept.to(mask_ptr.dtype.element_ty), mask=inside)


@triton.jit
def dropout_grad_kernel(g_ptr, mask_ptr, dx_ptr, count, keep, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    kept = tl.load(mask_ptr + index, mask=inside, other=0) != 0
    g = tl.load(g_ptr + index, mask=inside, other=0.0).to(tl.float32)
    dx = tl.where(kept, tl.div_rn(g, keep), 0.0)
    tl.store(dx_ptr + index, dx.to(dx_ptr.dtype.element_ty), mask=inside)


def _keep(p: float) -> float:
    # With p = 1 nothing is kept, and what the division gives is never used.
    return 1.0 - p if p < 1.0 else 1.0


def _dropout(call: Planner, x: Given, p: float, seed: Number, offset: Number) -> tuple[Operand, Operand] | None:
    if not is_float(x) or not 0.0 <= p <= 1.0:
        return None
    x = call.contiguous(x)
    y, mask = call.empty(x.shape, x.dtype), call.empty(x.shape, np.bool_)
    scalars = (x.size, seed, offset, float(p), float(_keep(p)))
    call.launch(dropout_kernel, cdiv(x.size, _BLOCK), (x, y, mask), scalars, {"BLOCK": _BLOCK})
    return y, mask


def _dropout_grad(call: Planner, g: Given, mask: Given, p: float) -> Operand | None:
    if not is_float(g) or not isinstance(mask, Operand) or mask.dtype != np.bool_ or mask.shape != g.shape:
        return None
    if not 0.0 <= p <= 1.0:
        return None
    g, mask = call.contiguous(g), call.contiguous(mask)
    dx = call.empty(g.shape, g.dtype)
    scalars = (g.size, float(_keep(p)))
    call.launch(dropout_grad_kernel, cdiv(g.size, _BLOCK), (g, mask, dx), scalars, {"BLOCK": _BLOCK})
    return dx


KERNELS = {
    "dropout": Kernel(_dropout, varying=frozenset({"seed", "offset"})),
    "dropout_grad": Kernel(_dropout_grad),
}
