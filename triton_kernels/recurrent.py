"""Recurrent layers over a complete sequence: tanh and relu cells, LSTM and GRU, and their gradient.

The inputs' contributions to the gates are one product for all steps, and so are the gradients of weights and inputs. A
step is one launch: a program computes the previous state's contribution to all gates of some units of some samples, and
then those units' new state. In the gradient, which iterates in reverse, it computes the gradient of the state from the
next step's gates, and then the gradients of the units' own gates. Gates are in the order i, f, g, o (LSTM) and r, z, n
(GRU).

Arrays that are saved for the gradient have the axes that they have on the CPU, with the units innermost in memory.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels import matmul
from hookscope.triton_kernels.launch.launcher import cdiv, interpreting, next_power_of_2
from hookscope.triton_kernels.launch.plans import Input, Kernel, Operand, Planner, UnsuitedError, are_floats
from hookscope.triton_kernels.library import scalar_functions

GATES = {"tanh": 1, "relu": 1, "gru": 3, "lstm": 4}
_TILE = (64, 32)
_SMALL_TILE = (32, 16)
_MANY = 128
"""From this number of programs on a tile need not be smaller: roughly a GPU's number of multiprocessors."""


@triton.jit
def _tile_of(ptr, row, column, rows, columns, stride, WIDEN: tl.constexpr):
    """Load a tile of a matrix with contiguous columns, 0 outside of it; `row` and `column` have two axes."""
    x = tl.load(ptr + row * stride + column, mask=(row < rows) & (column < columns), other=0.0)
    if WIDEN:
        x = x.to(tl.float32)
    return x


@triton.jit
def _times(total, x, w, PRECISION: tl.constexpr, WIDEN: tl.constexpr):
    """Return total + x @ w, with `x` converted to the dtype of the weights."""
    if not WIDEN:
        x = x.to(w.dtype)
    return tl.dot(x, w, total, input_precision=PRECISION)


@triton.jit
def step_kernel(
    gates_ptr,
    w_ptr,
    h_ptr,
    c_ptr,
    b_ih_ptr,
    b_hh_ptr,
    keep_ptr,
    states_ptr,
    hidden_ptr,
    outputs_ptr,
    last_h_ptr,
    last_c_ptr,
    samples,
    size,
    KIND: tl.constexpr,
    GATES: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    HAS_KEEP: tl.constexpr,
    IS_LAST: tl.constexpr,
    PRECISION: tl.constexpr,
    WIDEN: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_U: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Compute a step of some units of some samples; `gates` holds the inputs' part, and receives the saved values."""
    tiles = tl.cdiv(size, BLOCK_U)
    sample = (tl.program_id(0) // tiles * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)[:, None]
    unit = (tl.program_id(0) % tiles * BLOCK_U + tl.arange(0, BLOCK_U))[None, :]
    column = tl.program_id(0) % tiles * BLOCK_U + tl.arange(0, BLOCK_U)
    w_ptr += (tl.program_id(0) % tiles).to(tl.int64) * BLOCK_U * size
    row = tl.arange(0, BLOCK_U)[:, None]
    gate_rows = size - tl.program_id(0) % tiles * BLOCK_U
    # Rows of a gate's weights; those of the next gate begin `further` elements later.
    further = size.to(tl.int64) * size
    p_0 = tl.zeros((BLOCK_N, BLOCK_U), dtype=tl.float32)
    p_1, p_2, p_3 = p_0, p_0, p_0
    for start in range(0, size, BLOCK_K):
        k = (start + tl.arange(0, BLOCK_K))[None, :]
        h = _tile_of(h_ptr, sample, k, samples, size, size, WIDEN)
        p_0 = _times(p_0, h, tl.trans(_tile_of(w_ptr, row, k, gate_rows, size, size, WIDEN)), PRECISION, WIDEN)
        if GATES > 1:
            w = _tile_of(w_ptr + further, row, k, gate_rows, size, size, WIDEN)
            p_1 = _times(p_1, h, tl.trans(w), PRECISION, WIDEN)
            w = _tile_of(w_ptr + 2 * further, row, k, gate_rows, size, size, WIDEN)
            p_2 = _times(p_2, h, tl.trans(w), PRECISION, WIDEN)
        if GATES > 3:
            w = _tile_of(w_ptr + 3 * further, row, k, gate_rows, size, size, WIDEN)
            p_3 = _times(p_3, h, tl.trans(w), PRECISION, WIDEN)

    inside = (sample < samples) & (unit < size)
    at = sample * size + unit
    gates_ptrs = gates_ptr + sample * (GATES * size) + unit
    has_unit = column < size
    before = tl.load(h_ptr + at, mask=inside, other=0.0).to(tl.float32)
    live = tl.full((BLOCK_N, 1), 1, dtype=tl.int1)
    if HAS_KEEP:
        live = tl.load(keep_ptr + sample, mask=sample < samples, other=0) != 0
    x_0 = tl.load(gates_ptrs, mask=inside, other=0.0)
    if HAS_BIAS:
        x_0 += tl.load(b_ih_ptr + column, mask=has_unit, other=0.0).to(tl.float32)[None, :]
        p_0 += tl.load(b_hh_ptr + column, mask=has_unit, other=0.0).to(tl.float32)[None, :]
    if GATES > 1:
        x_1 = tl.load(gates_ptrs + size, mask=inside, other=0.0)
        x_2 = tl.load(gates_ptrs + 2 * size, mask=inside, other=0.0)
        if HAS_BIAS:
            x_1 += tl.load(b_ih_ptr + size + column, mask=has_unit, other=0.0).to(tl.float32)[None, :]
            p_1 += tl.load(b_hh_ptr + size + column, mask=has_unit, other=0.0).to(tl.float32)[None, :]
            x_2 += tl.load(b_ih_ptr + 2 * size + column, mask=has_unit, other=0.0).to(tl.float32)[None, :]
            p_2 += tl.load(b_hh_ptr + 2 * size + column, mask=has_unit, other=0.0).to(tl.float32)[None, :]
    if KIND == "lstm":
        x_3 = tl.load(gates_ptrs + 3 * size, mask=inside, other=0.0)
        if HAS_BIAS:
            x_3 += tl.load(b_ih_ptr + 3 * size + column, mask=has_unit, other=0.0).to(tl.float32)[None, :]
            p_3 += tl.load(b_hh_ptr + 3 * size + column, mask=has_unit, other=0.0).to(tl.float32)[None, :]
        i = scalar_functions.sigmoid(x_0 + p_0)
        f = scalar_functions.sigmoid(x_1 + p_1)
        g = scalar_functions.tanh(x_2 + p_2)
        o = scalar_functions.sigmoid(x_3 + p_3)
        tl.store(gates_ptrs, i, mask=inside)
        tl.store(gates_ptrs + size, f, mask=inside)
        tl.store(gates_ptrs + 2 * size, g, mask=inside)
        tl.store(gates_ptrs + 3 * size, o, mask=inside)
        c = tl.load(c_ptr + at, mask=inside, other=0.0).to(tl.float32)
        new_c = f * c + i * g
        new_h = o * scalar_functions.tanh(new_c)
        new_c = tl.where(live, new_c, c)
        tl.store(hidden_ptr + at, new_c, mask=inside)
        if IS_LAST:
            tl.store(last_c_ptr + at, new_c.to(last_c_ptr.dtype.element_ty), mask=inside)
    elif KIND == "gru":
        r = scalar_functions.sigmoid(x_0 + p_0)
        z = scalar_functions.sigmoid(x_1 + p_1)
        n = scalar_functions.tanh(x_2 + r * p_2)
        tl.store(gates_ptrs, r, mask=inside)
        tl.store(gates_ptrs + size, z, mask=inside)
        tl.store(gates_ptrs + 2 * size, n, mask=inside)
        tl.store(hidden_ptr + at, p_2, mask=inside)
        new_h = n + z * (before - n)
    else:
        tl.store(gates_ptrs, x_0 + p_0, mask=inside)
        new_h = scalar_functions.activate(x_0 + p_0, KIND)
    tl.store(outputs_ptr + at, tl.where(live, new_h, 0.0).to(outputs_ptr.dtype.element_ty), mask=inside)
    new_h = tl.where(live, new_h, before)
    tl.store(states_ptr + at, new_h, mask=inside)
    if IS_LAST:
        tl.store(last_h_ptr + at, new_h.to(last_h_ptr.dtype.element_ty), mask=inside)


@triton.jit
def step_grad_kernel(
    g_ptr,
    dh_ptr,
    dc_ptr,
    after_ptr,
    w_ptr,
    gates_ptr,
    hidden_ptr,
    h_ptr,
    c_ptr,
    keep_ptr,
    of_gates_ptr,
    of_products_ptr,
    before_ptr,
    of_h_ptr,
    of_c_ptr,
    samples,
    size,
    g_sample,
    g_unit,
    KIND: tl.constexpr,
    GATES: tl.constexpr,
    HAS_G: tl.constexpr,
    HAS_DH: tl.constexpr,
    HAS_DC: tl.constexpr,
    HAS_AFTER: tl.constexpr,
    HAS_KEEP: tl.constexpr,
    HAS_STEP: tl.constexpr,
    PRECISION: tl.constexpr,
    WIDEN: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_U: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Compute the gradient of the gates of some units from that of their state after a step.

    `dh` and `dc` are the gradients so far, `after` the gradients of all gates of the next step; `of_h` and `of_c`
    receive the gradients for the previous step. Without HAS_STEP, compute the gradients of the initial state.
    """
    tiles = tl.cdiv(size, BLOCK_U)
    sample = (tl.program_id(0) // tiles * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)[:, None]
    unit = (tl.program_id(0) % tiles * BLOCK_U + tl.arange(0, BLOCK_U))[None, :]
    dh = tl.zeros((BLOCK_N, BLOCK_U), dtype=tl.float32)
    if HAS_AFTER:
        for start in range(0, GATES * size, BLOCK_K):
            k = start + tl.arange(0, BLOCK_K)
            d = _tile_of(after_ptr, sample, k[None, :], samples, GATES * size, GATES * size, WIDEN)
            w = _tile_of(w_ptr, k.to(tl.int64)[:, None], unit, GATES * size, size, size, WIDEN)
            dh = _times(dh, d, w, PRECISION, WIDEN)
    inside = (sample < samples) & (unit < size)
    at = sample * size + unit
    if HAS_DH:
        dh += tl.load(dh_ptr + at, mask=inside, other=0.0).to(tl.float32)
    dc = tl.zeros((BLOCK_N, BLOCK_U), dtype=tl.float32)
    if HAS_DC:
        dc = tl.load(dc_ptr + at, mask=inside, other=0.0).to(tl.float32)
    passed_h = tl.zeros((BLOCK_N, BLOCK_U), dtype=tl.float32)
    passed_c = passed_h
    if HAS_STEP:
        g = passed_h
        if HAS_G:
            g = tl.load(g_ptr + sample * g_sample + unit * g_unit, mask=inside, other=0.0).to(tl.float32)
        if HAS_KEEP:
            live = tl.load(keep_ptr + sample, mask=sample < samples, other=0) != 0
            passed_h = tl.where(live, 0.0, dh)
            passed_c = tl.where(live, 0.0, dc)
            dh = tl.where(live, dh + g, 0.0)
            dc = tl.where(live, dc, 0.0)
        else:
            dh += g
        before = tl.load(h_ptr + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(before_ptr + at, before.to(before_ptr.dtype.element_ty), mask=inside)
        gates_ptrs = gates_ptr + sample * (GATES * size) + unit
        of_gates_ptrs = of_gates_ptr + sample * (GATES * size) + unit
        dtype = of_gates_ptr.dtype.element_ty
        if KIND == "lstm":
            i = tl.load(gates_ptrs, mask=inside, other=0.0)
            f = tl.load(gates_ptrs + size, mask=inside, other=0.0)
            n = tl.load(gates_ptrs + 2 * size, mask=inside, other=0.0)
            o = tl.load(gates_ptrs + 3 * size, mask=inside, other=0.0)
            bent = scalar_functions.tanh(tl.load(hidden_ptr + at, mask=inside, other=0.0))
            c = tl.load(c_ptr + at, mask=inside, other=0.0).to(tl.float32)
            dc += dh * o * (1.0 - bent * bent)
            tl.store(of_gates_ptrs, (dc * n * i * (1.0 - i)).to(dtype), mask=inside)
            tl.store(of_gates_ptrs + size, (dc * c * f * (1.0 - f)).to(dtype), mask=inside)
            tl.store(of_gates_ptrs + 2 * size, (dc * i * (1.0 - n * n)).to(dtype), mask=inside)
            tl.store(of_gates_ptrs + 3 * size, (dh * bent * o * (1.0 - o)).to(dtype), mask=inside)
            dc = dc * f
            dh = tl.zeros((BLOCK_N, BLOCK_U), dtype=tl.float32)
        elif KIND == "gru":
            r = tl.load(gates_ptrs, mask=inside, other=0.0)
            z = tl.load(gates_ptrs + size, mask=inside, other=0.0)
            n = tl.load(gates_ptrs + 2 * size, mask=inside, other=0.0)
            dn = dh * (1.0 - z) * (1.0 - n * n)
            dr = dn * tl.load(hidden_ptr + at, mask=inside, other=0.0) * r * (1.0 - r)
            dz = dh * (before - n) * z * (1.0 - z)
            of_products_ptrs = of_products_ptr + sample * (GATES * size) + unit
            tl.store(of_gates_ptrs, dr.to(dtype), mask=inside)
            tl.store(of_gates_ptrs + size, dz.to(dtype), mask=inside)
            tl.store(of_gates_ptrs + 2 * size, dn.to(dtype), mask=inside)
            tl.store(of_products_ptrs, dr.to(dtype), mask=inside)
            tl.store(of_products_ptrs + size, dz.to(dtype), mask=inside)
            tl.store(of_products_ptrs + 2 * size, (dn * r).to(dtype), mask=inside)
            dh = dh * z
        else:
            gate = tl.load(gates_ptrs, mask=inside, other=0.0)
            if KIND == "tanh":
                bent = scalar_functions.tanh(gate)
                d = dh * (1.0 - bent * bent)
            else:
                tl.static_assert(KIND == "relu", "no such cell")
                d = tl.where(gate > 0, dh, 0.0)
            tl.store(of_gates_ptrs, d.to(dtype), mask=inside)
            dh = tl.zeros((BLOCK_N, BLOCK_U), dtype=tl.float32)
    tl.store(of_h_ptr + at, (dh + passed_h).to(of_h_ptr.dtype.element_ty), mask=inside)
    if KIND == "lstm":
        tl.store(of_c_ptr + at, (dc + passed_c).to(of_c_ptr.dtype.element_ty), mask=inside)


@triton.jit
def bias_kernel(
    of_gates_ptr,
    of_products_ptr,
    ih_ptr,
    hh_ptr,
    rows,
    columns,
    SAME: tl.constexpr,
    BLOCK_R: tl.constexpr,
    BLOCK_C: tl.constexpr,
):
    """Sum the rows of two matrices, or of one for both biases."""
    column = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    row = tl.arange(0, BLOCK_R)
    ih = tl.zeros((BLOCK_R, BLOCK_C), dtype=tl.float32)
    hh = tl.zeros((BLOCK_R, BLOCK_C), dtype=tl.float32)
    for start in range(0, rows, BLOCK_R):
        inside = (start + row < rows)[:, None] & (column < columns)[None, :]
        at = (start + row).to(tl.int64)[:, None] * columns + column[None, :]
        ih += tl.load(of_gates_ptr + at, mask=inside, other=0.0).to(tl.float32)
        if not SAME:
            hh += tl.load(of_products_ptr + at, mask=inside, other=0.0).to(tl.float32)
    if SAME:
        hh = ih
    has_column = column < columns
    tl.store(ih_ptr + column, tl.sum(ih, axis=0).to(ih_ptr.dtype.element_ty), mask=has_column)
    tl.store(hh_ptr + column, tl.sum(hh, axis=0).to(hh_ptr.dtype.element_ty), mask=has_column)


class _Layer(NamedTuple):
    """The inputs of a layer."""

    x: Operand
    h0: Operand
    c0: Operand | None
    w_ih: Operand
    w_hh: Operand
    b_ih: Operand | None
    b_hh: Operand | None
    keep: Operand | None


def _layer(kind: str, *inputs: Input) -> _Layer:
    """Return the inputs, in the order of `_Layer`.

    Raises:
        UnsuitedError: they are not the inputs of a layer, in one dtype.
    """
    arrays = [operand for operand in inputs if isinstance(operand, Operand)]
    if len(arrays) + sum(operand is None for operand in inputs) < len(inputs):
        raise UnsuitedError("numbers among the inputs")
    layer = _Layer(*inputs)  # type: ignore[arg-type]  # all are operands or None
    x, h0, c0, w_ih, w_hh, b_ih, b_hh, keep = layer
    if not are_floats(*[operand for operand in arrays if operand is not keep]) or None in (x, h0, w_ih, w_hh):
        raise UnsuitedError("no arrays of one dtype")
    if x.ndim != 3 or w_hh.ndim != 2 or kind not in GATES:
        raise UnsuitedError("no sequences")
    gate_size, size, state = GATES[kind] * w_hh.shape[1], w_hh.shape[1], (x.shape[1], w_hh.shape[1])
    fits = h0.shape == state and w_ih.shape == (gate_size, x.shape[2]) and w_hh.shape == (gate_size, size)
    fits &= (c0 is None and kind != "lstm") or (c0 is not None and c0.shape == state)
    fits &= (b_ih is None) == (b_hh is None) and all(
        operand is None or operand.shape == (gate_size,) for operand in (b_ih, b_hh)
    )
    if not fits or (keep is not None and (keep.shape != (*x.shape[:2], 1) or keep.dtype != np.bool_)):
        raise UnsuitedError("shapes that are not a layer's")
    return layer


def _layout(x: Operand, size: int, depth: int) -> tuple[int, dict[str, Any]]:
    """Return the number of programs of a step, and the constants of all its kernels."""
    samples = x.shape[1]
    rows, units = _TILE if cdiv(samples, _TILE[0]) * cdiv(size, _TILE[1]) >= _MANY else _SMALL_TILE
    rows, units = min(rows, max(16, next_power_of_2(samples))), min(units, max(16, next_power_of_2(size)))
    return cdiv(samples, rows) * cdiv(size, units), {
        "PRECISION": "tf32x3" if x.itemsize == 4 else "tf32",
        # The interpreter multiplies bfloat16 as the integers that represent it.
        "WIDEN": x.dtype.name == "bfloat16" and interpreting(),
        "BLOCK_N": rows,
        "BLOCK_U": units,
        "BLOCK_K": min(64 if x.itemsize == 2 else 32, max(16, next_power_of_2(depth))),
    }


def _forward(
    call: Planner,
    x: Input,
    h0: Input,
    c0: Input,
    w_ih: Input,
    w_hh: Input,
    b_ih: Input,
    b_hh: Input,
    keep: Input,
    kind: str,
    reverse: bool,
) -> tuple[Operand, ...]:
    x, h0, c0, w_ih, w_hh, b_ih, b_hh, keep = _layer(kind, x, h0, c0, w_ih, w_hh, b_ih, b_hh, keep)
    steps, samples, width = x.shape
    size, gate_size, dtype = w_hh.shape[1], w_hh.shape[0], x.dtype
    w_hh, h = call.contiguous(w_hh), call.contiguous(h0)
    c, b_ih, b_hh, keep = (_contiguous(call, operand) for operand in (c0, b_ih, b_hh, keep))
    rows = call.contiguous(x).reshaped(-1, width)
    gates = call.empty((steps, gate_size, samples), np.float32, (0, 2, 1))
    states = call.empty((steps, size, samples), np.float32, (0, 2, 1))
    of_kind = steps if kind in ("lstm", "gru") else 0
    hidden = call.empty((of_kind, size, samples), np.float32, (0, 2, 1))
    outputs = call.empty((steps, samples, size), dtype)
    last_h = call.empty((samples, size), dtype)
    last_c = call.empty((samples, size if kind == "lstm" else 0), dtype)
    from_inputs = gates.transposed((0, 2, 1)).reshaped(-1, gate_size)
    matmul.multiply(call, rows, w_ih.transposed((1, 0)), None, None, from_inputs, (1, 1), (0, 0, 0, 0))
    programs, constants = _layout(x, size, size)
    constants |= {"KIND": kind, "GATES": GATES[kind], "HAS_BIAS": b_ih is not None, "HAS_KEEP": keep is not None}
    order = range(steps - 1, -1, -1) if reverse else range(steps)
    for t in order:
        is_last = t == order[-1]
        new_h, new_c = states.part(0, t, 1), hidden.part(0, t, 1) if of_kind else None
        arrays = (
            gates.part(0, t, 1),
            w_hh,
            h,
            c if kind == "lstm" else None,
            b_ih,
            b_hh,
            keep and keep.part(0, t, 1),
            new_h,
            new_c,
            outputs.part(0, t, 1),
            last_h if is_last else None,
            last_c if is_last and kind == "lstm" else None,
        )
        call.launch(
            step_kernel, programs, arrays, (samples, size), {**constants, "IS_LAST": is_last}, num_warps=4, num_stages=3
        )
        h, c = new_h, new_c
    return outputs, last_h, last_c, gates, states, hidden


def _contiguous(call: Planner, x: Operand | None) -> Operand | None:
    return None if x is None else call.contiguous(x)


def _back(
    call: Planner,
    g: Input,
    gh: Input,
    gc: Input,
    x: Input,
    h0: Input,
    c0: Input,
    w_ih: Input,
    w_hh: Input,
    b_ih: Input,
    b_hh: Input,
    keep: Input,
    gates: Input,
    states: Input,
    hidden: Input,
    kind: str,
    reverse: bool,
    with_x: bool = True,
) -> tuple[Operand | None, ...] | None:
    x, h0, c0, w_ih, w_hh, b_ih, b_hh, keep = _layer(kind, x, h0, c0, w_ih, w_hh, b_ih, b_hh, keep)
    saved = [operand.transposed((0, 2, 1)) for operand in (gates, states, hidden) if isinstance(operand, Operand)]
    gradients = [
        operand if isinstance(operand, Operand) and are_floats(operand, x) else None for operand in (g, gh, gc)
    ]
    if len(saved) < 3 or [operand is None for operand in gradients] != [operand is None for operand in (g, gh, gc)]:
        return None
    if any(operand.dtype != np.float32 for operand in saved):  # the dtype in which the forward pass saves them
        return None
    steps, samples, width = x.shape
    size, gate_size, dtype = w_hh.shape[1], w_hh.shape[0], x.dtype
    outer, gh, gc = gradients[0], _contiguous(call, gradients[1]), _contiguous(call, gradients[2])
    w, first_h = call.contiguous(w_hh), call.contiguous(h0)
    first_c, keep = _contiguous(call, c0), _contiguous(call, keep)
    gates, states, hidden = (call.contiguous(operand) if operand.size else operand for operand in saved)
    of_gates, before = call.empty((steps, samples, gate_size), dtype), call.empty((steps, samples, size), dtype)
    of_products = call.empty((steps, samples, gate_size), dtype) if kind == "gru" else of_gates
    # Gradients passed from step to step; each element is read and written by the same program.
    of_h = call.empty((samples, size), np.float32)
    of_c = call.empty((samples, size), np.float32) if kind == "lstm" else None
    dh0 = call.empty((samples, size), dtype)
    dc0 = call.empty((samples if c0 is not None else 0, size), dtype)
    programs, constants = _layout(x, size, gate_size)
    constants |= {"KIND": kind, "GATES": GATES[kind], "HAS_KEEP": keep is not None}
    dh, dc, after = gh, gc if kind == "lstm" else None, None
    order = range(steps) if reverse else range(steps - 1, -1, -1)
    for t in [*order, None]:
        if t is None:
            step_arrays: tuple[Operand | None, ...] = (None,) * 8
            to_h, to_c = dh0, dc0 if kind == "lstm" else None
        else:
            previous = None if t == order[-1] else t + (1 if reverse else -1)
            h = first_h if previous is None else states.part(0, previous, 1)
            c = None
            if kind == "lstm":
                c = first_c if previous is None else hidden.part(0, previous, 1)
            step_arrays = (
                gates.part(0, t, 1),
                hidden.part(0, t, 1) if hidden.size else None,
                h,
                c,
                keep and keep.part(0, t, 1),
                of_gates.part(0, t, 1),
                of_products.part(0, t, 1),
                before.part(0, t, 1),
            )
            to_h, to_c = of_h, of_c
        outer_t = outer.part(0, t, 1) if outer is not None and t is not None else None
        flags = {
            "HAS_G": outer_t is not None,
            "HAS_DH": dh is not None,
            "HAS_DC": dc is not None,
            "HAS_AFTER": after is not None,
            "HAS_STEP": t is not None,
        }
        call.launch(
            step_grad_kernel,
            programs,
            (outer_t, dh, dc, after, w, *step_arrays, to_h, to_c),
            (samples, size, *(outer.strides[1:] if outer is not None else (0, 0))),
            {**constants, **flags},
            num_warps=4,
            num_stages=3,
        )
        dh, dc = of_h, of_c
        if t is not None:
            after = of_products.part(0, t, 1)
    flat, products = of_gates.reshaped(-1, gate_size), of_products.reshaped(-1, gate_size)
    rows = call.contiguous(x).reshaped(-1, width)
    product = matmul.product
    dx = call.empty((0, size), dtype)
    if with_x:
        dx = call.empty(x.shape, dtype)
        matmul.multiply(call, flat, w_ih, None, None, dx.reshaped(-1, width), (1, 1), (0, 0, 0, 0))
    of_w_ih = product(call, flat, rows, True, False)
    of_w_hh = product(call, products, before.reshaped(-1, size), True, False)
    of_b_ih, of_b_hh = [call.empty((0, size) if b_ih is None else (gate_size,), dtype) for _ in range(2)]
    if b_ih is not None:
        call.launch(
            bias_kernel,
            cdiv(gate_size, 32),
            (flat, products, of_b_ih, of_b_hh),
            (steps * samples, gate_size),
            {"SAME": kind != "gru", "BLOCK_R": 64, "BLOCK_C": 32},
        )
    return dx, dh0, dc0, of_w_ih, of_w_hh, of_b_ih, of_b_hh


KERNELS = {"recurrent": Kernel(_forward), "recurrent_grad": Kernel(_back)}
