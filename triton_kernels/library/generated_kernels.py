"""Kernels from generated source, and the second stage of their partial sums."""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import linecache
from typing import Any

import triton
import triton.language as tl
from triton.language.extra import libdevice

from hookscope.triton_kernels.launch.launcher import cdiv, next_power_of_2
from hookscope.triton_kernels.launch.plans import Operand, Planner

_kernels: dict[str, Any] = {}


@triton.jit
def max_of(a, b):
    """Return the larger value, NaN if either is NaN."""
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def min_of(a, b):
    """Return the smaller value, NaN if either is NaN."""
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


def generated(text: str, name: str) -> Any:
    """Return the kernel that a text defines, one for each name.

    `name` identifies the text, as its digest does. The text's lines are stored in `linecache`, since Triton reads them.
    The machine code is cached on disk by Triton, also under a digest of the text.
    """
    kernel = _kernels.get(name)
    if kernel is None:
        file = f"<{name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        names: dict[str, Any] = {
            "tl": tl,
            "libdevice": libdevice,
            "max_of": max_of,
            "min_of": min_of,
            "__name__": __name__,
        }
        exec(compile(text, file, "exec"), names)
        kernel = _kernels.setdefault(name, triton.jit(names[name]))
    return kernel


@triton.jit
def parts_kernel(
    parts_ptr,
    out_ptr,
    columns,
    parts,
    count,
    EXTREME: tl.constexpr,
    MEAN: tl.constexpr,
    HALF: tl.constexpr,
    BLOCK_PARTS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """out[j] = the sum of parts[:, j], divided by count for a mean; or its EXTREME."""
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    start = float("-inf") if EXTREME == "max" else float("inf") if EXTREME == "min" else 0
    total = tl.full((BLOCK,), start, parts_ptr.dtype.element_ty)
    for first in range(0, parts, BLOCK_PARTS):
        part = first + tl.arange(0, BLOCK_PARTS)
        mask = (part < parts)[:, None] & inside[None, :]
        tile = tl.load(parts_ptr + (part[:, None] * columns + column[None, :]), mask=mask, other=start)
        if EXTREME == "max":
            total = max_of(total, tl.reduce(tile, 0, max_of))
        elif EXTREME == "min":
            total = min_of(total, tl.reduce(tile, 0, min_of))
        else:
            total += tl.sum(tile, axis=0)
    if MEAN:
        total = total / count
    if HALF:
        total = total.to(tl.float32)  # only float32 converts to bfloat16
    tl.store(out_ptr + column, total.to(out_ptr.dtype.element_ty), mask=inside)


def add_parts(call: Planner, parts: Operand, out: Operand, count: int, extreme: str = "") -> None:
    """Plan the sum of a matrix's rows into `out`, in a fixed order, divided by `count` unless that is 0.

    With an `extreme`, "max" or "min", compute that instead of the sum.
    """
    rows, columns = parts.shape
    block = min(next_power_of_2(columns), 64)
    constants = {
        "EXTREME": extreme,
        "MEAN": count > 0,
        "HALF": out.itemsize == 2 and parts.dtype.kind == "f",
        "BLOCK_PARTS": min(next_power_of_2(rows), 1024 // block),
        "BLOCK": block,
    }
    call.launch(parts_kernel, cdiv(columns, block), (parts, out), (columns, rows, count), constants, contracts=False)
