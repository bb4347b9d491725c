"""One step of Adam as MindSpore's `nn.Adam` takes it: four arrays read and three written, in one pass."""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

from hookscope.triton_kernels._launch import Array, Kernel, array_module, cdiv, is_float, launch

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


def adam(
    param: Array,
    m: Array,
    v: Array,
    grad: Array,
    lr_t: float,
    beta1: float,
    beta2: float,
    eps: float,
    use_nesterov: bool,
) -> tuple[Array, Array, Array]:
    xp = array_module(param)
    param, m, v, grad = (xp.ascontiguousarray(array) for array in (param, m, v, grad))
    new_param, new_m, new_v = (xp.empty_like(array) for array in (param, m, v))
    rates = (lr_t, beta1, 1.0 - beta1, beta2, 1.0 - beta2, eps)
    launch(
        adam_kernel,
        cdiv(param.size, _BLOCK),
        (param, m, v, grad, new_param, new_m, new_v),
        (param.size, *(float(rate) for rate in rates)),
        {"NESTEROV": bool(use_nesterov), "BLOCK": _BLOCK},
    )
    return new_param, new_m, new_v


def _qualifies(
    param: Any,
    m: Any,
    v: Any,
    grad: Any,
    lr_t: float,
    beta1: float,
    beta2: float,
    eps: float,
    use_nesterov: bool,
) -> bool:
    arrays = (param, m, v, grad)
    rates = (lr_t, beta1, beta2, eps)
    return (
        all(is_float(array) and array.shape == param.shape for array in arrays)
        # An array of one value would have to be waited for.
        and all(isinstance(rate, float | int) for rate in rates)
    )


KERNELS = {"adam": Kernel(adam, _qualifies)}
