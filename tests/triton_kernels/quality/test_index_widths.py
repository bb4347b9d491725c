"""Beyond 2^31 elements no place in memory overflows: read from the IR, which is seen to tell where one does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.interpreted import needs_triton

from .huge import CASES
from .index_widths import Widths
from .test_quality import ask

pytestmark = needs_triton

assert ask  # a fixture

QUICK = ("neg", "matmul")
NUMBERS = [
    pytest.param(number, id=case.name, marks=() if case.operator in QUICK else pytest.mark.ci_only)
    for number, case in enumerate(CASES)
]

LINES = """
  tt.func public @double(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %count: i32, %far: i64) {
    %block = arith.constant 1024 : i32 loc(#loc1)
    %program = tt.get_program_id x : i32 loc(#loc2)
    %start = arith.muli %program, %block : i32 loc(#loc3)
    %lane = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32> loc(#loc4)
    %starts = tt.splat %start : i32 -> tensor<1024xi32> loc(#loc5)
    %index = arith.addi %starts, %lane : tensor<1024xi32> loc(#loc6)
    %counts = tt.splat %count : i32 -> tensor<1024xi32> loc(#loc7)
    %inside = arith.cmpi slt, %index, %counts : tensor<1024xi32> loc(#loc8)
    %xs = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>> loc(#loc9)
    %at = tt.addptr %xs, %index : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32> loc(#loc10)
    %x = tt.load %at, %inside : tensor<1024x!tt.ptr<f32>> loc(#loc11)
    %y = arith.addf %x, %x : tensor<1024xf32> loc(#loc12)
    tt.store %at, %y, %inside : tensor<1024x!tt.ptr<f32>> loc(#loc13)
"""


def test_the_last_program_that_fits_and_the_first_that_does_not_are_told_apart() -> None:
    assert Widths(LINES, {"count": 5}, 2**21).faults == []
    beyond = Widths(LINES, {"count": 5}, 2**21 + 1)
    assert beyond.asked == 3
    assert [fault.partition(": %")[2] for fault in beyond.faults] == [
        "start = arith.muli %program, %block : i32",
        "index = arith.addi %starts, %lane : tensor<1024xi32>",
    ]


def test_wide_products_and_clamped_indices_are_no_fault_and_narrowed_ones_are() -> None:
    wide = LINES.replace("%start = arith.muli %program, %block : i32", "%start = arith.muli %far, %far : i64")
    assert Widths(wide.replace("i32", "i64"), {"far": 2**31}, 1).faults == []
    narrowed = LINES.replace("%start = arith.muli %program, %block", "%start = arith.trunci %far : i64 to i32 // ")
    assert len(Widths(narrowed, {"far": 2**31}, 1).faults) == 2
    assert Widths(narrowed, {"far": 2**30}, 1).faults == []
    clamped = LINES.replace("arith.muli %program, %block", "arith.remsi %program, %block")
    assert Widths(clamped, {}, 2**31 - 1).faults == []


def test_what_a_loop_carries_is_not_taken_for_proven() -> None:
    loop = LINES.replace(
        "%lane =",
        "%last = scf.for %i = %start to %count step %block iter_args(%held = %start) -> (i32) : i32 {\n"
        "%next = arith.addi %held, %block : i32\nscf.yield %next : i32\n}\n%lane =",
    ).replace("tt.splat %start", "tt.splat %last")
    assert any("nothing is known" in fault for fault in Widths(loop, {"count": 5}, 1).faults)


@pytest.mark.parametrize("number", NUMBERS)
def test_no_place_overflows(ask: Callable[[str], Any], number: int) -> None:
    for kernel, value, faults in ask(f"90 huge {number}"):
        assert value and not faults, (kernel, faults)


def test_a_kernel_that_does_not_ask_whether_an_index_is_long_is_found_out(ask: Callable[[str], Any]) -> None:
    number = next(at for at, case in enumerate(CASES) if case.operator == "neg")
    ((_, _, faults),) = ask(f"90 short {number}")
    assert faults
