"""One step of Adam as MindSpore's `nn.Adam` takes it: four arrays read and three written, in one pass."""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import triton
import triton.language as tl

from hookscope.triton_kernels._launch import cdiv
from hookscope.triton_kernels._plans import Given, Kernel, Number, Operand, Planner, is_float

_BLOCK = 1024


@triton.jit
def adam_kernel(
    param_ptr, m_ptr, v_ptr, grad_ptr, new_param_ptr, new_m_ptr, new_v_ptr, count,
    lr_t, beta1, rest1, beta2, rest2, eps,
    NESTEROV: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """`rest1` and `rest2` are 1 - beta1 and 1 - beta2: in float32, 1 - 0.999 would keep four digits."""
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    grad = tl.load(grad_ptr + index, mask=inside, other=0.0).to(tl.float32)
    m = beta1 * tl.load(m_ptr + index, mask=inside, other=0.0).to(tl.float32) + rest1 * grad
    v = beta2 * tl.load(v_ptr + index, mask=inside, other=0.0).to(tl.float32) + rest2 * grad * grad
    step = m
    if NESTEROV:
        step = beta1 * m + rest1 * grad
    param = tl.load(param_ptr + index, mask=inside, other=0.0).to(tl.float32)
    param -= lr_t * step / (tl.sqrt_rn(v) + eps)
    tl.store(new_param_ptr + index, param.to(new_param_ptr.dtype.element_ty), mask=inside)
    tl.store(new_m_ptr + index, m.to(new_m_ptr.dtype.element_ty), mask=inside)
    tl.store(new_v_ptr + index, v.to(new_v_ptr.dtype.element_ty), mask=inside)


def _adam(
    call: Planner, param: Given, m: Given, v: Given, grad: Given,
    lr_t: Number, beta1: float, beta2: float, eps: float, use_nesterov: bool,
) -> tuple[Operand, Operand, Operand] | None:  # fmt: skip
    arrays = [x for x in (param, m, v, grad) if is_float(x)]
    if len(arrays) < 4 or len({x.shape for x in arrays}) > 1:
        return None
    arrays = [call.contiguous(x) for x in arrays]
    made = [call.empty(x.shape, x.dtype) for x in arrays[:3]]
    rates = [float(rate) for rate in (beta1, 1.0 - beta1, beta2, 1.0 - beta2, eps)]
    scalars: list[int | float | Number] = [arrays[0].size, lr_t, *rates]
    constants = {"NESTEROV": bool(use_nesterov), "BLOCK": _BLOCK}
    call.launch(adam_kernel, cdiv(arrays[0].size, _BLOCK), (*arrays, *made), scalars, constants)
    return made[0], made[1], made[2]


KERNELS = {"adam": Kernel(_adam, varying=frozenset({"lr_t"}))}
