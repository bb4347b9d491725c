"""Dropout whose mask depends on the seed and the element's counter alone.

The random numbers are Triton's Philox, which the engine's `cpu.philox` gives bit for bit: for one seed and
offset, the mask is the same on a CPU and on a GPU.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

from typing import Any

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels._launch import Array, Kernel, array_module, cdiv, is_float, launch

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
    tl.store(mask_ptr + index, kept.to(tl.uint8), mask=inside)


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


def _signed(value: int) -> int:
    """The 64 low bits as a signed integer, which is what Triton passes without a type of its own."""
    low = int(value) & 0xFFFFFFFFFFFFFFFF
    return low - 2**64 if low >= 2**63 else low


def dropout(x: Array, p: float, seed: int, offset: int) -> tuple[Array, Array]:
    xp = array_module(x)
    x = xp.ascontiguousarray(x)
    y: Array = xp.empty_like(x)
    mask: Array = xp.empty(x.shape, dtype=np.bool_)
    launch(
        dropout_kernel,
        cdiv(x.size, _BLOCK),
        (x, y, mask.view(np.uint8)),
        (x.size, _signed(seed), _signed(offset), float(p), float(_keep(p))),
        {"BLOCK": _BLOCK},
    )
    return y, mask


def dropout_grad(g: Array, mask: Array, p: float) -> Array:
    xp = array_module(g)
    g, mask = xp.ascontiguousarray(g), xp.ascontiguousarray(mask)
    dx: Array = xp.empty_like(g)
    launch(
        dropout_grad_kernel,
        cdiv(g.size, _BLOCK),
        (g, mask.view(np.uint8), dx),
        (g.size, float(_keep(p))),
        {"BLOCK": _BLOCK},
    )
    return dx


def _forward_qualifies(x: Any, p: float, seed: int, offset: int) -> bool:
    return is_float(x) and 0.0 <= p <= 1.0


def _backward_qualifies(g: Any, mask: Any, p: float) -> bool:
    return is_float(g) and mask.dtype == np.bool_ and mask.shape == g.shape and 0.0 <= p <= 1.0


KERNELS = {
    "dropout": Kernel(dropout, _forward_qualifies),
    "dropout_grad": Kernel(dropout_grad, _backward_qualifies),
}
