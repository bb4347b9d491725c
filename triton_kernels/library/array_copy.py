"""Copy of an array with other strides, into C order or the order of the destination."""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import triton
import triton.language as tl

from hookscope.triton_kernels.launch.launcher import cdiv, is_long
from hookscope.triton_kernels.launch.plans import Operand, Planner, UnsuitedError
from hookscope.triton_kernels.launch.strides import merge_axes

_BLOCK = 1024
MAX_AXES = 5
"""Maximum axes for `place_of`, after merging adjacent axes with compatible strides in all operands."""


@triton.jit
def place_of(
    index, size_1, size_2, size_3, size_4, stride_0, stride_1, stride_2, stride_3, stride_4, AXES: tl.constexpr
):
    """Return an element's offset from an operand's first element, by its index in C order (axis 0 varies slowest).

    Axes from AXES on do not exist.
    """
    at = tl.zeros(index.shape, dtype=tl.int64)
    if AXES >= 5:
        at += (index % size_4).to(tl.int64) * stride_4
        index = index // size_4
    if AXES >= 4:
        at += (index % size_3).to(tl.int64) * stride_3
        index = index // size_3
    if AXES >= 3:
        at += (index % size_2).to(tl.int64) * stride_2
        index = index // size_2
    if AXES >= 2:
        at += (index % size_1).to(tl.int64) * stride_1
        index = index // size_1
    return at + index.to(tl.int64) * stride_0


@triton.jit
def copy_kernel(
    x_ptr,
    out_ptr,
    count,
    size_1,
    size_2,
    size_3,
    size_4,
    x_0,
    x_1,
    x_2,
    x_3,
    x_4,
    out_0,
    out_1,
    out_2,
    out_3,
    out_4,
    AXES: tl.constexpr,
    LONG: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """out[i] = x[i]."""
    start = tl.program_id(0)
    if LONG:
        start = start.to(tl.int64)
    index = start * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    x_at = place_of(index, size_1, size_2, size_3, size_4, x_0, x_1, x_2, x_3, x_4, AXES)
    out_at = place_of(index, size_1, size_2, size_3, size_4, out_0, out_1, out_2, out_3, out_4, AXES)
    tl.store(out_ptr + out_at, tl.load(x_ptr + x_at, mask=inside), mask=inside)


def copy(call: Planner, x: Operand, out: Operand) -> None:
    """Plan a copy of the elements of `x` into `out`, of the same shape and dtype.

    Raises:
        UnsuitedError: there are more than `MAX_AXES` axes after merging.
    """
    sizes, strides = merge_axes(x.shape, [x.strides, out.strides])
    axes = len(sizes)
    if axes > MAX_AXES:
        raise UnsuitedError(f"a copy takes at most {MAX_AXES} separate axes, got {axes}")
    missing = (0,) * (MAX_AXES - axes)
    scalars = (x.size, *sizes[1:], *missing, *strides[0], *missing, *strides[1], *missing)
    constants = {"AXES": axes, "LONG": is_long(x.size + _BLOCK), "BLOCK": _BLOCK}
    call.launch(copy_kernel, cdiv(x.size, _BLOCK), (x, out), scalars, constants)
