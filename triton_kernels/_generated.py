"""Kernels that are made of text, and the second half of the sums that they leave in parts."""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import linecache
from typing import Any

import triton
import triton.language as tl
from triton.language.extra import libdevice

from hookscope.triton_kernels._launch import cdiv, next_power_of_2
from hookscope.triton_kernels._plans import Operand, Planner

_kernels: dict[str, Any] = {}


@triton.jit
def max_of(a, b):
    """The larger, NaN where either is."""
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def min_of(a, b):
    """The smaller, NaN where either is."""
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


def generated(text: str, name: str) -> Any:
    """The kernel that a text defines, one for each name.

    `name` tells texts apart, as a digest of the text does. The text's lines stand where Python looks for those of a
    file, since Triton reads them. The machine code is kept in Triton's cache on disk, under a digest of the text, too.
    """
    found = _kernels.get(name)
    if found is None:
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
        found = _kernels.setdefault(name, triton.jit(names[name]))
    return found


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
        total = total.to(tl.float32)  # from which alone there is a way to bfloat16
    tl.store(out_ptr + column, total.to(out_ptr.dtype.element_ty), mask=inside)


def add_parts(call: Planner, parts: Operand, out: Operand, count: int, extreme: str = "") -> None:
    """Have added up the rows of a matrix into `out`, in one order; divided by `count` unless that is 0.

    With an `extreme`, "max" or "min", that in the place of the sum.
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
