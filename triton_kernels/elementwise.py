"""Elementwise operators: unary, binary with NumPy's broadcasting, and the gradients of the activations.

Two kernels implement them all; the operator is a compile-time constant. Operands are read by their strides, a tile of
rows and columns per program, so that neither broadcasting nor a transposed or sliced operand needs a copy, and a Python
number is an argument. The output has the memory order of the first operand with all axes. Arithmetic is in float32,
rounded once when stored. NaN propagates through every operator, including minimum and maximum, for which the hardware
would drop it.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl
from triton.language.extra import libdevice

from hookscope.triton_kernels.launch.launcher import cdiv, interpreting, is_long, next_power_of_2
from hookscope.triton_kernels.launch.plans import Input, Kernel, Number, Operand, Planner, are_floats
from hookscope.triton_kernels.launch.strides import broadcast_shape, memory_order, merge_axes
from hookscope.triton_kernels.library import scalar_functions
from hookscope.triton_kernels.library.array_copy import MAX_AXES, place_of

_BLOCK = 1024
"""Elements of a program: 8 for each of 128 threads, which are one or two loads of 16 bytes."""
_SIDE = 64
"""Side of a tile for operands with a different innermost axis."""


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
        y = scalar_functions.activate(x, OPERATOR)
    return y


@triton.jit
def _binary(x, y, OPERATOR: tl.constexpr, INTERPRET: tl.constexpr):
    """Apply an operator to `x` and `y`; for a gradient, `x` is the incoming gradient and `y` the saved value."""
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
            # The interpreter has no libdevice. For x >= 0 only, as in its tests.
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
        gate = scalar_functions.sigmoid(y)
        z = x * gate * (1.0 + y * (1.0 - gate))
    elif OPERATOR == "gelu_grad":
        density = 0.3989422804014327 * tl.exp(-0.5 * y * y)
        z = x * (scalar_functions.gelu_gate(y) + y * density)
    else:
        tl.static_assert(OPERATOR == "gelu_tanh_grad", "no such operator")
        bend = scalar_functions.gelu_bend(y)
        slope = 0.7978845608028654 * (1.0 + 0.134145 * y * y)
        z = x * (0.5 * (1.0 + bend) + 0.5 * y * (1.0 - bend * bend) * slope)
    return z


@triton.jit
def flat_kernel(
    x_ptr,
    y_ptr,
    out_ptr,
    count,
    number,
    OPERATOR: tl.constexpr,
    FORM: tl.constexpr,
    LONG: tl.constexpr,
    INTERPRET: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """out[i] = OPERATOR(x[i], y[i]) for operands in the layout of `out`; FORM says which of them are arrays."""
    start = tl.program_id(0)
    if LONG:
        start = start.to(tl.int64)
    index = start * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    z = _applied(x_ptr + index, mask, y_ptr + index, mask, number, OPERATOR, FORM, INTERPRET)
    tl.store(out_ptr + index, z.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def tile_kernel(
    x_ptr,
    y_ptr,
    out_ptr,
    rows,
    columns,
    column_blocks,
    number,
    size_1,
    size_2,
    size_3,
    size_4,
    x_0,
    x_1,
    x_2,
    x_3,
    x_4,
    x_along,
    y_0,
    y_1,
    y_2,
    y_3,
    y_4,
    y_along,
    AXES: tl.constexpr,
    X_VARIES: tl.constexpr,
    Y_VARIES: tl.constexpr,
    OPERATOR: tl.constexpr,
    FORM: tl.constexpr,
    LONG: tl.constexpr,
    INTERPRET: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Compute the operator for operands of any strides; `out` is dense in the order of the axes.

    Columns are the innermost axis, rows all others, so that offsets along several axes are computed only once per row.
    An operand that is constant along rows or columns is read once for all of them.
    """
    program = tl.program_id(0)
    m = (program // column_blocks) * ROWS + tl.arange(0, ROWS)
    n = (program % column_blocks) * BLOCK + tl.arange(0, BLOCK)
    if LONG:
        m, n = m.to(tl.int64), n.to(tl.int64)
    x_row = place_of(m, size_1, size_2, size_3, size_4, x_0, x_1, x_2, x_3, x_4, AXES)
    y_row = place_of(m, size_1, size_2, size_3, size_4, y_0, y_1, y_2, y_3, y_4, AXES)
    x_at, x_mask = _tile_at(x_row, n * x_along, m < rows, n < columns, X_VARIES)
    y_at, y_mask = _tile_at(y_row, n * y_along, m < rows, n < columns, Y_VARIES)
    z = _applied(x_ptr + x_at, x_mask, y_ptr + y_at, y_mask, number, OPERATOR, FORM, INTERPRET)
    mask = (m < rows)[:, None] & (n < columns)[None, :]
    z = tl.broadcast_to(z.to(out_ptr.dtype.element_ty), (ROWS, BLOCK))
    tl.store(out_ptr + (m[:, None] * columns + n[None, :]), z, mask=mask)


@triton.jit
def _tile_at(row, column, row_inside, column_inside, VARIES: tl.constexpr):
    """Return the offsets of an operand's elements of a tile, and the mask of existing ones."""
    if VARIES == "rows":
        at, mask = row[:, None], row_inside[:, None]
    elif VARIES == "columns":
        at, mask = column[None, :], column_inside[None, :]
    else:
        tl.static_assert(VARIES == "both")
        at, mask = row[:, None] + column[None, :], row_inside[:, None] & column_inside[None, :]
    return at, mask


@triton.jit
def _rounded(number, x, dtype: tl.constexpr):
    """Return a number for each element of `x`, rounded to the array's dtype before use, as in NumPy."""
    return (tl.zeros_like(x) + number).to(dtype).to(tl.float32)


@triton.jit
def _applied(
    x_ptrs, x_mask, y_ptrs, y_mask, number, OPERATOR: tl.constexpr, FORM: tl.constexpr, INTERPRET: tl.constexpr
):
    if FORM == "x":
        z = _unary(tl.load(x_ptrs, mask=x_mask).to(tl.float32), OPERATOR)
    elif FORM == "x, number":
        x = tl.load(x_ptrs, mask=x_mask).to(tl.float32)
        z = _binary(x, _rounded(number, x, x_ptrs.dtype.element_ty), OPERATOR, INTERPRET)
    elif FORM == "number, y":
        y = tl.load(y_ptrs, mask=y_mask).to(tl.float32)
        z = _binary(_rounded(number, y, y_ptrs.dtype.element_ty), y, OPERATOR, INTERPRET)
    else:
        tl.static_assert(FORM == "x, y")
        x = tl.load(x_ptrs, mask=x_mask).to(tl.float32)
        y = tl.load(y_ptrs, mask=y_mask).to(tl.float32)
        z = _binary(x, y, OPERATOR, INTERPRET)
    return z


def _elementwise(operator: str, call: Planner, *inputs: Input) -> Operand | None:
    arrays = [x for x in inputs if isinstance(x, Operand)]
    numbers = [x for x in inputs if isinstance(x, Number)]
    if not are_floats(*arrays) or len(arrays) + len(numbers) != len(inputs):
        return None
    shape = broadcast_shape([x.shape for x in arrays])
    if shape is None:
        return None  # the caller's own implementation reports the error
    full_operand = next((x for x in arrays if x.shape == shape), None)
    order = list(range(len(shape))) if full_operand is None else memory_order(full_operand.shape, full_operand.strides)
    views = [x.broadcast(shape).transposed(order) for x in arrays]
    lengths = views[0].shape
    sizes, strides = merge_axes(lengths, [view.strides for view in views])
    axes = len(sizes)
    if axes > MAX_AXES + 1:
        return None
    out = call.empty(shape, arrays[0].dtype, order)
    if len(inputs) == 1:
        form, x, y = "x", views[0], views[0]
    elif len(arrays) == 2:
        form, x, y = "x, y", views[0], views[1]
    else:
        form, x, y = ("x, number" if inputs[0] is arrays[0] else "number, y"), views[0], views[0]
    farthest = max(
        [sum([(n - 1) * abs(s) for n, s in zip(sizes, operand_strides, strict=True)]) for operand_strides in strides]
    )
    constants = {
        "OPERATOR": operator,
        "FORM": form,
        "LONG": is_long(max(out.size, farthest) + _SIDE * _BLOCK),
        "INTERPRET": interpreting(),
    }
    number = numbers[0] if numbers else 0.0
    if axes == 1 and all(operand_strides == [1] for operand_strides in strides):
        constants["BLOCK"] = _BLOCK
        call.launch(flat_kernel, cdiv(out.size, _BLOCK), (x, y, out), (out.size, number), constants)
        return out
    if axes == 1:
        sizes, strides = [1, *sizes], [[0, *operand_strides] for operand_strides in strides]
    (*outer, columns), rows = sizes, out.size // sizes[-1]
    is_transposed = any(abs(operand_strides[-1]) > 1 for operand_strides in strides)  # then tiles are square
    block = min(next_power_of_2(columns), _SIDE if is_transposed and rows > 1 else _BLOCK)
    tile_rows = min(next_power_of_2(rows), _SIDE if is_transposed else _BLOCK // block)
    blocks = cdiv(columns, block)
    # The kernel reads neither size nor stride of a missing axis.
    missing = (0,) * (MAX_AXES - len(outer))
    scalars = [rows, columns, blocks, number, *outer[1:], *missing]
    for name, operand_strides in (("X_VARIES", strides[0]), ("Y_VARIES", strides[-1])):
        scalars += [*operand_strides[:-1], *missing, operand_strides[-1]]
        constants[name] = (
            "both"
            if any(operand_strides[:-1]) and operand_strides[-1]
            else "columns"
            if operand_strides[-1]
            else "rows"
        )
    constants |= {"AXES": len(outer), "ROWS": tile_rows, "BLOCK": block}
    call.launch(tile_kernel, cdiv(rows, tile_rows) * blocks, (x, y, out), scalars, constants)
    return out


_GELUS = {"none": "gelu", "tanh": "gelu_tanh"}


def _gelu(call: Planner, x: Input, approximate: str) -> Operand | None:
    form = _GELUS.get(approximate)
    return None if form is None else _elementwise(form, call, x)


def _gelu_grad(call: Planner, g: Input, x: Input, approximate: str) -> Operand | None:
    form = _GELUS.get(approximate)
    return None if form is None else _elementwise(f"{form}_grad", call, g, x)


def _kernel(operator: str, operands: int) -> Kernel:
    def plan(call: Planner, *inputs: Input, **attrs: Any) -> Operand | None:
        return None if attrs or len(inputs) != operands else _elementwise(operator, call, *inputs)

    return Kernel(plan)


UNARY = ("neg", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "silu", "abs", "square")
BINARY = (
    "add",
    "sub",
    "mul",
    "div",
    "maximum",
    "minimum",
    "pow",
    "relu_grad",
    "sigmoid_grad",
    "tanh_grad",
    "silu_grad",
)

KERNELS = {
    **{operator: _kernel(operator, 1) for operator in UNARY},
    **{operator: _kernel(operator, 2) for operator in BINARY},
    "gelu": Kernel(_gelu),
    "gelu_grad": Kernel(_gelu_grad),
}
