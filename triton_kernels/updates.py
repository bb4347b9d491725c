"""Optimizer steps over many tensors in one launch: each element is read and written once, with scalars on the device.

Weight decay and loss scaling are applied in the same pass. So is skipping the step if a flag on the device is set,
after an overflow: then all values are written unchanged. `engine/cpu/optim/updates.py` contains the rules.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels.launch.launcher import cdiv
from hookscope.triton_kernels.launch.plans import Input, Kernel, Number, Operand, Planner, is_float, plan_for
from hookscope.triton_kernels.launch.tables import addresses, bits, chunks, number, table

_BLOCK = 1024
"""Elements of a program of 4 warps: 8 per thread, two loads of 16 bytes per array in float32, one in half precision."""

_TYPES = {"float32": tl.float32, "float16": tl.float16, "bfloat16": tl.bfloat16}

# Columns of a table's row: size, decay's bits, the address of the learning rate, the gradient; then the old and new
# address of the parameter and of each state.
_SIZE, _DECAY, _RATE, _GRADIENT, _VALUES = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2), tl.constexpr(3), 4


@triton.jit
def _array(row_ptr, COLUMN: tl.constexpr, DTYPE: tl.constexpr):
    """Return a pointer from a table. All arrays in a table begin at addresses that are divisible by 16."""
    return tl.multiple_of(tl.load(row_ptr + COLUMN).to(tl.pointer_type(DTYPE)), 16)


@triton.jit
def _read(pointer, index, inside, UNMASKED: tl.constexpr):
    if UNMASKED:
        x = tl.load(pointer + index)
    else:
        x = tl.load(pointer + index, mask=inside, other=0.0)
    return x.to(tl.float32)


@triton.jit
def _write(pointer, index, inside, x, before, left_out, LEAVES: tl.constexpr, UNMASKED: tl.constexpr):
    """Store `x`, or with LEAVES, `before` if the step is skipped."""
    if LEAVES:
        x = tl.where(left_out, before, x)
    if UNMASKED:
        tl.store(pointer + index, x.to(pointer.dtype.element_ty))
    else:
        tl.store(pointer + index, x.to(pointer.dtype.element_ty), mask=inside)


@triton.jit
def _gradient(
    row_ptr, index, inside, p, decay, loss_scale, G: tl.constexpr, SCALED: tl.constexpr, UNMASKED: tl.constexpr
):
    """Return the gradient with decay, without the loss scale, which does not apply to decay."""
    g = _read(_array(row_ptr, _GRADIENT, G), index, inside, UNMASKED)
    if decay != 0.0:  # 0 times an infinite parameter is NaN
        g += decay * p
    if SCALED:
        g = tl.div_rn(g, loss_scale)
    return g


@triton.jit
def _adam_chunk(
    row_ptr,
    index,
    inside,
    left_out,
    numbers,
    P: tl.constexpr,
    G: tl.constexpr,
    M: tl.constexpr,
    V: tl.constexpr,
    FORM: tl.constexpr,
    APART: tl.constexpr,
    NESTEROV: tl.constexpr,
    SCALED: tl.constexpr,
    LEAVES: tl.constexpr,
    UNMASKED: tl.constexpr,
):
    lr, rate, root, decay, beta1, rest1, beta2, rest2, eps, loss_scale = numbers
    p = _read(_array(row_ptr, 4, P), index, inside, UNMASKED)
    old_m = _read(_array(row_ptr, 6, M), index, inside, UNMASKED)
    old_v = _read(_array(row_ptr, 8, V), index, inside, UNMASKED)
    g = _gradient(row_ptr, index, inside, p, 0.0 if APART else decay, loss_scale, G, SCALED, UNMASKED)
    m = beta1 * old_m + rest1 * g
    v = beta2 * old_v + rest2 * g * g
    by = m
    if NESTEROV:
        by = beta1 * m + rest1 * g
    if FORM == "adam_weight_decay":
        by = by / (tl.sqrt_rn(v) + eps)
        if APART:  # noqa: SIM102  # Triton has no `and` of a constant and a device value
            if decay != 0.0:
                by += decay * p
        new = p - rate * by
    elif FORM == "adamw":
        new = p
        if APART:  # noqa: SIM102  # Triton has no `and` of a constant and a device value
            if decay != 0.0:
                new = p * (1.0 - lr * decay)
        new -= by / (tl.div_rn(tl.sqrt_rn(v), root) + eps) * rate
    else:
        tl.static_assert(FORM == "adam", "no such form")
        new = p - rate * by / (tl.sqrt_rn(v) + eps)
    _write(_array(row_ptr, 5, P), index, inside, new, p, left_out, LEAVES, UNMASKED)
    _write(_array(row_ptr, 7, M), index, inside, m, old_m, left_out, LEAVES, UNMASKED)
    _write(_array(row_ptr, 9, V), index, inside, v, old_v, left_out, LEAVES, UNMASKED)


@triton.jit
def adam_rows_kernel(
    table_ptr,
    chunks_ptr,
    left_out_ptr,
    power1_ptr,
    power2_ptr,
    beta1,
    rest1,
    beta2,
    rest2,
    eps,
    loss_scale,
    P: tl.constexpr,
    G: tl.constexpr,
    M: tl.constexpr,
    V: tl.constexpr,
    FORM: tl.constexpr,
    APART: tl.constexpr,
    NESTEROV: tl.constexpr,
    SCALED: tl.constexpr,
    LEAVES: tl.constexpr,
    COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Apply an Adam step; `rest1` and `rest2` are 1 - beta1 and 1 - beta2; in float32, 1 - 0.999 keeps four digits.

    FORM is a rule of `engine/cpu/optim/updates.py`; APART says that decay is part of that rule, not of the gradient.
    With powers of the betas, the moments are bias-corrected.
    """
    row_ptr = table_ptr + tl.load(chunks_ptr + 2 * tl.program_id(0)).to(tl.int64) * COLUMNS
    start = tl.load(chunks_ptr + 2 * tl.program_id(0) + 1).to(tl.int64) * BLOCK
    size = tl.load(row_ptr + _SIZE)
    decay = tl.load(row_ptr + _DECAY).to(tl.int32).to(tl.float32, bitcast=True)
    lr = tl.load(tl.load(row_ptr + _RATE).to(tl.pointer_type(tl.float32)))
    rate, root = lr, 1.0
    if power1_ptr is not None:
        # In the powers' own precision, since their difference from 1 is small.
        root = tl.sqrt_rn((1.0 - tl.load(power2_ptr)).to(tl.float32))
        rate = tl.div_rn(lr if FORM == "adamw" else lr * root, (1.0 - tl.load(power1_ptr)).to(tl.float32))
    left_out = False
    if LEAVES:
        left_out = tl.load(left_out_ptr) != 0
    index = start + tl.arange(0, BLOCK)
    inside = index < size
    numbers = (lr, rate, root, decay, beta1, rest1, beta2, rest2, eps, loss_scale)
    if start + BLOCK <= size:
        _adam_chunk(row_ptr, index, inside, left_out, numbers, P, G, M, V, FORM, APART, NESTEROV, SCALED, LEAVES, True)
    else:
        _adam_chunk(row_ptr, index, inside, left_out, numbers, P, G, M, V, FORM, APART, NESTEROV, SCALED, LEAVES, False)


@triton.jit
def _momentum_chunk(
    row_ptr,
    index,
    inside,
    left_out,
    numbers,
    P: tl.constexpr,
    G: tl.constexpr,
    V: tl.constexpr,
    S: tl.constexpr,
    FIRST: tl.constexpr,
    NESTEROV: tl.constexpr,
    SCALED: tl.constexpr,
    LEAVES: tl.constexpr,
    UNMASKED: tl.constexpr,
):
    """Process a chunk; V is the dtype of the sum of gradients, S that of the state for the first step; or None."""
    lr, decay, factor, share, is_first, loss_scale = numbers
    p = _read(_array(row_ptr, 4, P), index, inside, UNMASKED)
    g = _gradient(row_ptr, index, inside, p, decay, loss_scale, G, SCALED, UNMASKED)
    by = g
    # SGD without momentum leaves its states unchanged, and reads them only if they are written to another array.
    moves = factor != 0.0
    if FIRST == "stat":
        old_stat = _read(_array(row_ptr, 8, S), index, inside, UNMASKED)
        is_first = old_stat != 0.0
        _write(_array(row_ptr, 9, S), index, inside, tl.zeros_like(old_stat), old_stat, left_out, LEAVES, UNMASKED)
    if V is not None:  # noqa: SIM102
        if (FIRST == "none") | moves | (tl.load(row_ptr + 6) != tl.load(row_ptr + 7)):
            old_v = _read(_array(row_ptr, 6, V), index, inside, UNMASKED)
            v = factor * old_v + share * g
            if FIRST != "none":
                v = tl.where(is_first, g, v)
            by = v
            if NESTEROV:
                by = g + factor * v
            if FIRST != "none":
                by = tl.where(moves, by, g)
                v = tl.where(moves, v, old_v)
            _write(_array(row_ptr, 7, V), index, inside, v, old_v, left_out, LEAVES, UNMASKED)
    if (FIRST == "step") and (S is not None):
        # This state is 1 before the first step, 0 after it.
        begins = moves & is_first
        if begins | (tl.load(row_ptr + 8) != tl.load(row_ptr + 9)):
            old_stat = _read(_array(row_ptr, 8, S), index, inside, UNMASKED)
            stat = tl.where(begins, 0.0, old_stat)
            _write(_array(row_ptr, 9, S), index, inside, stat, old_stat, left_out, LEAVES, UNMASKED)
    _write(_array(row_ptr, 5, P), index, inside, p - lr * by, p, left_out, LEAVES, UNMASKED)


@triton.jit
def momentum_rows_kernel(
    table_ptr,
    chunks_ptr,
    left_out_ptr,
    factor_ptr,
    step_ptr,
    share,
    loss_scale,
    P: tl.constexpr,
    G: tl.constexpr,
    V: tl.constexpr,
    S: tl.constexpr,
    FIRST: tl.constexpr,
    NESTEROV: tl.constexpr,
    SCALED: tl.constexpr,
    LEAVES: tl.constexpr,
    COLUMNS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Apply a step of momentum, or of descent without it; in SGD's first step the sum of gradients is the gradient.

    FIRST says which step is the first: "step", step 1; "stat", per element, if its state is nonzero; or "none".
    """
    row_ptr = table_ptr + tl.load(chunks_ptr + 2 * tl.program_id(0)).to(tl.int64) * COLUMNS
    start = tl.load(chunks_ptr + 2 * tl.program_id(0) + 1).to(tl.int64) * BLOCK
    size = tl.load(row_ptr + _SIZE)
    decay = tl.load(row_ptr + _DECAY).to(tl.int32).to(tl.float32, bitcast=True)
    lr = tl.load(tl.load(row_ptr + _RATE).to(tl.pointer_type(tl.float32)))
    factor = 0.0
    if factor_ptr is not None:
        factor = tl.load(factor_ptr).to(tl.float32)
    is_first = False
    if FIRST == "step":
        is_first = tl.load(step_ptr) == 1
    left_out = False
    if LEAVES:
        left_out = tl.load(left_out_ptr) != 0
    index = start + tl.arange(0, BLOCK)
    inside = index < size
    numbers = (lr, decay, factor, share, is_first, loss_scale)
    if start + BLOCK <= size:
        _momentum_chunk(row_ptr, index, inside, left_out, numbers, P, G, V, S, FIRST, NESTEROV, SCALED, LEAVES, True)
    else:
        _momentum_chunk(row_ptr, index, inside, left_out, numbers, P, G, V, S, FIRST, NESTEROV, SCALED, LEAVES, False)


@triton.jit
def overflow_rows_kernel(table_ptr, chunks_ptr, flag_ptr, X: tl.constexpr, BLOCK: tl.constexpr):
    """Set the flag if a number is infinite or NaN. All programs that write, write the same value."""
    row_ptr = table_ptr + tl.load(chunks_ptr + 2 * tl.program_id(0)).to(tl.int64) * 2
    start = tl.load(chunks_ptr + 2 * tl.program_id(0) + 1).to(tl.int64) * BLOCK
    size = tl.load(row_ptr)
    index = start + tl.arange(0, BLOCK)
    x_ptr = _array(row_ptr, 1, X)
    if start + BLOCK <= size:
        x = _read(x_ptr, index, index < size, True)
    else:
        x = _read(x_ptr, index, index < size, False)
    if tl.max((tl.abs(x) < float("inf")).to(tl.int32) ^ 1, axis=0) != 0:
        tl.store(flag_ptr, 1)


def _operands(*inputs: Input) -> list[Operand]:
    return [x for x in inputs if isinstance(x, Operand)]


def _adam_rows(
    call: Planner,
    rows: Input,
    parts: Input,
    left_out: Input,
    power1: Input,
    power2: Input,
    dtypes: tuple[str, ...],
    beta1: float,
    beta2: float,
    eps: float,
    loss_scale: float,
    form: str,
    apart: bool,
    use_nesterov: bool,
) -> Operand:
    rows, parts = _operands(rows, parts)
    gradient, value, *states = [_TYPES[name] for name in dtypes]
    scalars = [*map(float, (beta1, 1.0 - beta1, beta2, 1.0 - beta2, eps, loss_scale))]
    constants = {
        "P": value,
        "G": gradient,
        "M": states[0],
        "V": states[1],
        "FORM": form,
        "APART": bool(apart),
        "NESTEROV": bool(use_nesterov),
        "SCALED": loss_scale != 1.0,
        "LEAVES": left_out is not None,
        "COLUMNS": rows.shape[1],
        "BLOCK": _BLOCK,
    }
    arrays = [rows, parts, *[x if isinstance(x, Operand) else None for x in (left_out, power1, power2)]]
    call.launch(adam_rows_kernel, parts.shape[0], arrays, scalars, constants)
    return rows  # there is no output


def _momentum_rows(
    call: Planner,
    rows: Input,
    parts: Input,
    left_out: Input,
    factor: Input,
    step: Input,
    dtypes: tuple[str, ...],
    first: str,
    share: float,
    loss_scale: float,
    use_nesterov: bool,
) -> Operand:
    rows, parts = _operands(rows, parts)
    gradient, value, *states = [_TYPES[name] for name in dtypes]
    sums, stat = [*states, None, None][:2]
    constants = {
        "P": value,
        "G": gradient,
        "V": sums,
        "S": stat,
        "FIRST": first,
        "NESTEROV": bool(use_nesterov),
        "SCALED": loss_scale != 1.0,
        "LEAVES": left_out is not None,
        "COLUMNS": rows.shape[1],
        "BLOCK": _BLOCK,
    }
    arrays = [rows, parts, *[x if isinstance(x, Operand) else None for x in (left_out, factor, step)]]
    scalars = [float(share), float(loss_scale)]
    call.launch(momentum_rows_kernel, parts.shape[0], arrays, scalars, constants)
    return rows  # there is no output


def _overflow_rows(call: Planner, rows: Input, parts: Input, flag: Input, dtype: str) -> Operand:
    rows, parts, flag = _operands(rows, parts, flag)
    constants = {"X": _TYPES[dtype], "BLOCK": _BLOCK}
    call.launch(overflow_rows_kernel, parts.shape[0], (rows, parts, flag), (), constants)
    return rows  # there is no output


def step(
    name: str, rows: Sequence[tuple[Any, float, Sequence[Any]]], left_out: Any, shared: Sequence[Any], **settings: Any
) -> None:
    """Write a step's results, in one launch.

    Args:
        name: the name of a kernel on rows in `KERNELS`.
        rows: for each tensor the learning rate (an array of one number, or a Python number), the decay, and arrays of
            one shape in C order at addresses that are divisible by 16: the gradient; then the parameter and each state,
            each twice: the old value and the destination of the new one, which may be the same array. The dtypes of all
            rows are those of the first.
        left_out: an array of one bool that skips the step if it is true; None for a step that is never skipped.
        shared: numbers common to all rows, arrays or Python numbers.
        settings: settings of the kernel.
    """
    arrays = [row[2] for row in rows]
    like = arrays[0][0]
    rates = {id(rate): number(rate, like) for rate, *_ in rows}
    host = [
        [row[0].size, bits(decay), *addresses([rates[id(rate)], *row])]
        for (rate, decay, _), row in zip(rows, arrays, strict=True)
    ]
    dtypes = tuple([x.dtype.name for x in (arrays[0][0], *arrays[0][1::2])])
    flag = None if left_out is None else left_out.view(np.uint8)
    arguments = (
        table(host, like),
        chunks(tuple([row[0].size for row in arrays]), _BLOCK, like),
        flag,
        *[None if x is None else number(x, like) if isinstance(x, float) else x for x in shared],
    )
    _launch(name, arguments, dtypes=dtypes, **settings)


def overflows(arrays: Sequence[Any], flag: Any) -> None:
    """Write True into an array of one bool if one of the arrays contains an infinite or NaN number.

    Args:
        arrays: dense arrays of float32, float16 and bfloat16.
        flag: an array of one bool, unchanged if all numbers are finite.
    """
    by_dtype: dict[str, list[Any]] = {}
    for x in arrays:
        if x.size:
            by_dtype.setdefault(x.dtype.name, []).append(x)
    for name, members in by_dtype.items():
        sizes = tuple([x.size for x in members])
        host = [[x.size, at] for x, at in zip(members, addresses(members), strict=True)]
        arguments = (table(host, flag), chunks(sizes, _BLOCK, flag), flag.view(np.uint8))
        _launch("overflow_rows", arguments, dtype=name)


def _launch(name: str, inputs: tuple[Any, ...], **settings: Any) -> None:
    plan = plan_for(name, KERNELS[name], inputs, settings)
    assert plan is not None
    plan(*inputs, **settings)


@triton.jit
def adam_kernel(
    param_ptr,
    m_ptr,
    v_ptr,
    grad_ptr,
    new_param_ptr,
    new_m_ptr,
    new_v_ptr,
    count,
    lr_t,
    beta1,
    rest1,
    beta2,
    rest2,
    eps,
    NESTEROV: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Compute a step of one tensor into new arrays: the entry of the operators' table, for single calls."""
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
    call: Planner,
    param: Input,
    m: Input,
    v: Input,
    grad: Input,
    lr_t: Number,
    beta1: float,
    beta2: float,
    eps: float,
    use_nesterov: bool,
) -> tuple[Operand, Operand, Operand] | None:
    arrays = [x for x in (param, m, v, grad) if is_float(x)]
    if len(arrays) < 4 or len({x.shape for x in arrays}) > 1:
        return None
    arrays = [call.contiguous(x) for x in arrays]
    outputs = [call.empty(x.shape, x.dtype) for x in arrays[:3]]
    numbers = [float(x) for x in (beta1, 1.0 - beta1, beta2, 1.0 - beta2, eps)]
    scalars: list[int | float | Number] = [arrays[0].size, lr_t, *numbers]
    constants = {"NESTEROV": bool(use_nesterov), "BLOCK": _BLOCK}
    call.launch(adam_kernel, cdiv(arrays[0].size, _BLOCK), (*arrays, *outputs), scalars, constants)
    return outputs[0], outputs[1], outputs[2]


# Kernels on rows are not operators of the engine's table, since `step` and `overflows` call them.
KERNELS = {
    "adam": Kernel(_adam, varying=frozenset({"lr_t"})),
    "adam_rows": Kernel(_adam_rows),
    "momentum_rows": Kernel(_momentum_rows),
    "overflow_rows": Kernel(_overflow_rows),
}
