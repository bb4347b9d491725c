"""Elementwise operators: unary, binary with NumPy's broadcasting, and the gradients of the activations.

Two kernels serve them all; which operator they compute is a compile-time constant. Operands are read through
their strides, so that neither broadcasting nor a transposed or sliced operand makes a copy. Arithmetic is in
float32, rounded once when stored. NaN passes through everything, also where the hardware's minimum and
maximum would drop it.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import triton
import triton.language as tl
from triton.language.extra import libdevice

from hookscope.triton_kernels import _math
from hookscope.triton_kernels._launch import (
    Array,
    Kernel,
    are_floats,
    array_module,
    cdiv,
    interpreting,
    launch,
)
from hookscope.triton_kernels._strides import broadcast_strides, merge_axes

_BLOCK = 1024
# Axes the kernel can tell apart, after neighbours that lie alike in all operands are taken as one.
_MAX_AXES = 4


@triton.jit
def _unary(x, OPERATOR: tl.constexpr):
    if OPERATOR == "neg":
        y = -x
    elif OPERATOR == "exp":
        y = tl.exp(x)
    elif OPERATOR == "log":
        y = tl.log(x)
    elif OPERATOR == "sqrt":
        y = tl.sqrt_rn(x)
    elif OPERATOR == "rsqrt":
        y = tl.rsqrt(x)
    elif OPERATOR == "abs":
        y = tl.abs(x)
    elif OPERATOR == "square":
        y = x * x
    else:
        y = _math.activate(x, OPERATOR)
    return y


@triton.jit
def _binary(x, y, OPERATOR: tl.constexpr, INTERPRET: tl.constexpr):
    """`x` and `y`; in a gradient, `x` is the gradient that comes and `y` the saved value."""
    if OPERATOR == "add":
        z = x + y
    elif OPERATOR == "sub":
        z = x - y
    elif OPERATOR == "mul":
        z = x * y
    elif OPERATOR == "div":
        z = tl.div_rn(x, y)
    elif OPERATOR == "maximum":
        z = tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)
    elif OPERATOR == "minimum":
        z = tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)
    elif OPERATOR == "pow":
        if INTERPRET:
            # The interpreter has no libdevice. For x >= 0 only, which is what it is tested with.
            z = tl.exp2(y.to(tl.float64) * tl.log2(x.to(tl.float64))).to(tl.float32)
        else:
            z = libdevice.pow(x, y)
    elif OPERATOR == "relu_grad":
        z = tl.where(y > 0, x, 0.0)
    elif OPERATOR == "sigmoid_grad":
        z = x * y * (1.0 - y)
    elif OPERATOR == "tanh_grad":
        z = x * (1.0 - y * y)
    elif OPERATOR == "silu_grad":
        gate = _math.sigmoid(y)
        z = x * gate * (1.0 + y * (1.0 - gate))
    elif OPERATOR == "gelu_grad":
        density = 0.3989422804014327 * tl.exp(-0.5 * y * y)
        z = x * (_math.gelu_gate(y) + y * density)
    else:
        bend = _math.gelu_bend(y)
        slope = 0.7978845608028654 * (1.0 + 0.134145 * y * y)
        z = x * (0.5 * (1.0 + bend) + 0.5 * y * (1.0 - bend * bend) * slope)
    return z


@triton.jit
def flat_kernel(
    x_ptr, y_ptr, out_ptr, count,
    OPERATOR: tl.constexpr, BINARY: tl.constexpr, LONG: tl.constexpr, INTERPRET: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """out[i] = OPERATOR(x[i], y[i]) for operands that lie as `out` does."""
    start = tl.program_id(0)
    if LONG:
        start = start.to(tl.int64)
    index = start * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    x = tl.load(x_ptr + index, mask=mask).to(tl.float32)
    if BINARY:
        y = tl.load(y_ptr + index, mask=mask).to(tl.float32)
        z = _binary(x, y, OPERATOR, INTERPRET)
    else:
        z = _unary(x, OPERATOR)
    tl.store(out_ptr + index, z.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def strided_kernel(
    x_ptr, y_ptr, out_ptr, count,
    size_1, size_2, size_3,
    x_stride_0, x_stride_1, x_stride_2, x_stride_3,
    y_stride_0, y_stride_1, y_stride_2, y_stride_3,
    AXES: tl.constexpr, OPERATOR: tl.constexpr, BINARY: tl.constexpr, LONG: tl.constexpr,
    INTERPRET: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """out[i] = OPERATOR(x[i], y[i]), with i in axes: 0 varies slowest, those from AXES on do not exist."""
    start = tl.program_id(0)
    if LONG:
        start = start.to(tl.int64)
    index = start * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    rest = index
    x_at = tl.zeros((BLOCK,), dtype=tl.int64)
    y_at = tl.zeros((BLOCK,), dtype=tl.int64)
    if AXES >= 4:
        place = (rest % size_3).to(tl.int64)
        rest = rest // size_3
        x_at += place * x_stride_3
        y_at += place * y_stride_3
    if AXES >= 3:
        place = (rest % size_2).to(tl.int64)
        rest = rest // size_2
        x_at += place * x_stride_2
        y_at += place * y_stride_2
    if AXES >= 2:
        place = (rest % size_1).to(tl.int64)
        rest = rest // size_1
        x_at += place * x_stride_1
        y_at += place * y_stride_1
    x_at += rest.to(tl.int64) * x_stride_0
    y_at += rest.to(tl.int64) * y_stride_0
    x = tl.load(x_ptr + x_at, mask=mask).to(tl.float32)
    if BINARY:
        y = tl.load(y_ptr + y_at, mask=mask).to(tl.float32)
        z = _binary(x, y, OPERATOR, INTERPRET)
    else:
        z = _unary(x, OPERATOR)
    tl.store(out_ptr + index, z.to(out_ptr.dtype.element_ty), mask=mask)


def _is_flat(shape: tuple[int, ...], operands: Sequence[Array]) -> bool:
    return all(operand.shape == shape and operand.flags.c_contiguous for operand in operands)


def _axes(shape: tuple[int, ...], operands: Sequence[Array]) -> tuple[list[int], list[list[int]]]:
    return merge_axes(shape, [broadcast_strides(operand, shape) for operand in operands])


def _shape_of(operands: Sequence[Array]) -> tuple[int, ...]:
    if len(operands) == 1 or operands[0].shape == operands[1].shape:
        return operands[0].shape
    return tuple(array_module(operands[0]).broadcast(*operands).shape)


def _run(operator: str, *operands: Array) -> Array:
    x, y = operands[0], operands[-1]
    shape = _shape_of(operands)
    out: Array = array_module(x).empty(shape, dtype=x.dtype)
    count = out.size
    constants = {
        "OPERATOR": operator,
        "BINARY": len(operands) == 2,
        # Indices take 32 bits where they fit: dividing 64-bit ones is slow.
        "LONG": count + _BLOCK >= 2**31,
        "INTERPRET": interpreting(),
        "BLOCK": _BLOCK,
    }
    if _is_flat(shape, operands):
        launch(flat_kernel, cdiv(count, _BLOCK), (x, y, out), (count,), constants)
        return out
    sizes, strides = _axes(shape, operands)
    axes = len(sizes)
    if axes > _MAX_AXES:
        raise ValueError(f"{operator} takes arrays of at most {_MAX_AXES} separate axes, got {axes}")
    # The kernel reads no size and no stride of an axis that does not exist.
    missing = (0,) * (_MAX_AXES - axes)
    scalars = (count, *sizes[1:], *missing, *strides[0], *missing, *strides[-1], *missing)
    launch(strided_kernel, cdiv(count, _BLOCK), (x, y, out), scalars, {"AXES": axes, **constants})
    return out


def gelu(x: Array, approximate: str) -> Array:
    return _run("gelu_tanh" if approximate == "tanh" else "gelu", x)


def gelu_grad(g: Array, x: Array, approximate: str) -> Array:
    return _run("gelu_tanh_grad" if approximate == "tanh" else "gelu_grad", g, x)


def _suits(*operands: Any) -> bool:
    if not are_floats(*operands):
        return False
    if _is_flat(operands[0].shape, operands):
        return True
    try:
        shape = _shape_of(operands)
    except ValueError:
        return False  # shapes that do not broadcast: the caller's own path tells the user
    return len(_axes(shape, operands)[0]) <= _MAX_AXES


def _kernel(operator: str, operands: int) -> Kernel:
    def qualifies(*arrays: Any) -> bool:
        return len(arrays) == operands and _suits(*arrays)

    return Kernel(functools.partial(_run, operator), qualifies)


UNARY = ("neg", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "silu", "abs", "square")
BINARY = (
    "add", "sub", "mul", "div", "maximum", "minimum", "pow",
    "relu_grad", "sigmoid_grad", "tanh_grad", "silu_grad",
)  # fmt: skip

KERNELS = {
    **{operator: _kernel(operator, 1) for operator in UNARY},
    **{operator: _kernel(operator, 2) for operator in BINARY},
    "gelu": Kernel(gelu, lambda x, approximate: approximate in ("none", "tanh") and _suits(x)),
    "gelu_grad": Kernel(gelu_grad, lambda g, x, approximate: approximate in ("none", "tanh") and _suits(g, x)),
}
