"""Elementwise operators: unary, binary with NumPy's broadcasting, and the gradients of the activations.

Two kernels serve them all; which operator they compute is a compile-time constant. Operands are read through their
strides, so that neither broadcasting nor a transposed or sliced operand makes a copy, and a Python number is an
argument. The output lies as the first operand that has all its axes. Arithmetic is in float32, rounded once when
stored. NaN passes through everything, also where the hardware's minimum and maximum would drop it.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl
from triton.language.extra import libdevice

from hookscope.triton_kernels import _math
from hookscope.triton_kernels._copy import MAX_AXES, place_of
from hookscope.triton_kernels._launch import cdiv, interpreting, is_long
from hookscope.triton_kernels._plans import Given, Kernel, Number, Operand, Planner, are_floats
from hookscope.triton_kernels._strides import broadcast_shape, memory_order, merge_axes

_BLOCK = 1024


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
        tl.static_assert(OPERATOR == "gelu_tanh_grad", "no such operator")
        bend = _math.gelu_bend(y)
        slope = 0.7978845608028654 * (1.0 + 0.134145 * y * y)
        z = x * (0.5 * (1.0 + bend) + 0.5 * y * (1.0 - bend * bend) * slope)
    return z


@triton.jit
def flat_kernel(
    x_ptr, y_ptr, out_ptr, count, number,
    OPERATOR: tl.constexpr, FORM: tl.constexpr, LONG: tl.constexpr, INTERPRET: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """out[i] = OPERATOR(x[i], y[i]) for operands that lie as `out` does; FORM says which of them are arrays."""
    start = tl.program_id(0)
    if LONG:
        start = start.to(tl.int64)
    index = start * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    _apply(x_ptr, y_ptr, out_ptr, index, index, index, mask, number, OPERATOR, FORM, INTERPRET)


@triton.jit
def strided_kernel(
    x_ptr, y_ptr, out_ptr, count, number,
    size_1, size_2, size_3, size_4,
    x_0, x_1, x_2, x_3, x_4, y_0, y_1, y_2, y_3, y_4,
    AXES: tl.constexpr, OPERATOR: tl.constexpr, FORM: tl.constexpr, LONG: tl.constexpr,
    INTERPRET: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The same with operands that lie anyhow; `out` is in one piece, in the order of the axes."""
    start = tl.program_id(0)
    if LONG:
        start = start.to(tl.int64)
    index = start * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    x_at = place_of(index, size_1, size_2, size_3, size_4, x_0, x_1, x_2, x_3, x_4, AXES)
    y_at = place_of(index, size_1, size_2, size_3, size_4, y_0, y_1, y_2, y_3, y_4, AXES)
    _apply(x_ptr, y_ptr, out_ptr, x_at, y_at, index, mask, number, OPERATOR, FORM, INTERPRET)


@triton.jit
def _rounded(number, x, dtype: tl.constexpr):
    """A number beside each of `x`, which has the array's dtype, as NumPy has it, before it is used."""
    return (tl.zeros_like(x) + number).to(dtype).to(tl.float32)


@triton.jit
def _apply(
    x_ptr, y_ptr, out_ptr, x_at, y_at, out_at, mask, number,
    OPERATOR: tl.constexpr, FORM: tl.constexpr, INTERPRET: tl.constexpr,
):  # fmt: skip
    if FORM == "x":
        z = _unary(tl.load(x_ptr + x_at, mask=mask).to(tl.float32), OPERATOR)
    elif FORM == "x, number":
        x = tl.load(x_ptr + x_at, mask=mask).to(tl.float32)
        z = _binary(x, _rounded(number, x, x_ptr.dtype.element_ty), OPERATOR, INTERPRET)
    elif FORM == "number, y":
        y = tl.load(y_ptr + y_at, mask=mask).to(tl.float32)
        z = _binary(_rounded(number, y, y_ptr.dtype.element_ty), y, OPERATOR, INTERPRET)
    else:
        tl.static_assert(FORM == "x, y")
        x = tl.load(x_ptr + x_at, mask=mask).to(tl.float32)
        y = tl.load(y_ptr + y_at, mask=mask).to(tl.float32)
        z = _binary(x, y, OPERATOR, INTERPRET)
    tl.store(out_ptr + out_at, z.to(out_ptr.dtype.element_ty), mask=mask)


def _elementwise(operator: str, call: Planner, *inputs: Given) -> Operand | None:
    arrays = [x for x in inputs if isinstance(x, Operand)]
    numbers = [x for x in inputs if isinstance(x, Number)]
    if not are_floats(*arrays) or len(arrays) + len(numbers) != len(inputs):
        return None
    shape = broadcast_shape([x.shape for x in arrays])
    if shape is None:
        return None  # the caller's own path tells the user
    whole = next((x for x in arrays if x.shape == shape), None)
    order = list(range(len(shape))) if whole is None else memory_order(whole.shape, whole.strides)
    views = [x.broadcast(shape).transposed(order) for x in arrays]
    lengths = views[0].shape
    sizes, strides = merge_axes(lengths, [view.strides for view in views])
    axes = len(sizes)
    if axes > MAX_AXES:
        return None
    out = call.empty(shape, arrays[0].dtype, order)
    if len(inputs) == 1:
        form, x, y = "x", views[0], views[0]
    elif len(arrays) == 2:
        form, x, y = "x, y", views[0], views[1]
    else:
        form, x, y = ("x, number" if inputs[0] is arrays[0] else "number, y"), views[0], views[0]
    constants = {
        "OPERATOR": operator,
        "FORM": form,
        "LONG": is_long(out.size + _BLOCK),
        "INTERPRET": interpreting(),
        "BLOCK": _BLOCK,
    }
    programs, number = cdiv(out.size, _BLOCK), numbers[0] if numbers else 0.0
    if axes == 1 and all(own == [1] for own in strides):
        call.launch(flat_kernel, programs, (x, y, out), (out.size, number), constants)
        return out
    # The kernel reads no size and no stride of an axis that does not exist.
    missing = (0,) * (MAX_AXES - axes)
    scalars = (out.size, number, *sizes[1:], *missing, *strides[0], *missing, *strides[-1], *missing)
    call.launch(strided_kernel, programs, (x, y, out), scalars, {"AXES": axes, **constants})
    return out


_GELUS = {"none": "gelu", "tanh": "gelu_tanh"}


def _gelu(call: Planner, x: Given, approximate: str) -> Operand | None:
    form = _GELUS.get(approximate)
    return None if form is None else _elementwise(form, call, x)


def _gelu_grad(call: Planner, g: Given, x: Given, approximate: str) -> Operand | None:
    form = _GELUS.get(approximate)
    return None if form is None else _elementwise(f"{form}_grad", call, g, x)


def _kernel(operator: str, operands: int) -> Kernel:
    def plan(call: Planner, *inputs: Given, **attrs: Any) -> Operand | None:
        return None if attrs or len(inputs) != operands else _elementwise(operator, call, *inputs)

    return Kernel(plan)


UNARY = ("neg", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "silu", "abs", "square")
BINARY = (
    "add", "sub", "mul", "div", "maximum", "minimum", "pow",
    "relu_grad", "sigmoid_grad", "tanh_grad", "silu_grad",
)  # fmt: skip

KERNELS = {
    **{operator: _kernel(operator, 1) for operator in UNARY},
    **{operator: _kernel(operator, 2) for operator in BINARY},
    "gelu": Kernel(_gelu),
    "gelu_grad": Kernel(_gelu_grad),
}
