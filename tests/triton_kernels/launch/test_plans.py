"""Plans without a GPU: a stand-in for CuPy on NumPy memory, and a stand-in for a Triton kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hookscope.triton_kernels.launch import launcher, plans
from hookscope.triton_kernels.launch.plans import Kernel, Number, Operand, Planner, UnsuitedError, plan_for
from hookscope.triton_kernels.launch.strides import broadcast_shape, memory_order, merge_axes
from hookscope.triton_kernels.library import row_tiles
from tests import strict_device
from tests.interpreted import needs_triton

HERE = Path(__file__).parent


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = strict_device.make()["cupy"]
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setattr(launcher, "_compiled", {})
    monkeypatch.setattr(plans, "_plans", {})
    return module


class FakeKernel:
    """Kernel that counts its compilations and stores its arguments."""

    def __init__(self) -> None:
        self.compiled_with: list[tuple[Any, dict[str, Any]]] = []
        self.runs: list[tuple[Any, ...]] = []

    def warmup(self, *arguments: Any, **options: Any) -> SimpleNamespace:
        self.compiled_with.append((arguments, options))
        return SimpleNamespace(
            run=lambda *launched: self.runs.append(launched), function="function", packed_metadata="metadata"
        )


class Doubling:
    """Entry that makes one array and starts one kernel on it and its input; it counts its plans."""

    def __init__(self) -> None:
        self.kernel = FakeKernel()
        self.planned: list[Operand] = []
        self.entry = Kernel(self.plan, varying=frozenset({"seed"}))

    def plan(self, call: Planner, x: Operand, factor: Number | None = None, **attrs: Any) -> Operand | None:
        if x.dtype.kind in "iu":
            return None
        self.planned.append(x)
        out = call.empty(x.shape, x.dtype)
        scalars = [x.size, *([] if factor is None else [factor]), *attrs.values()]
        call.launch(self.kernel, 7, (x, None, out), scalars, {"BLOCK": 64}, num_warps=8)
        return out

    def __call__(self, *inputs: Any, **attrs: Any) -> Any:
        plan = plan_for("double", self.entry, inputs, attrs)
        assert plan is not None
        return plan(*inputs, **attrs)


def test_a_kernel_is_started_with_addresses_on_cupys_stream(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    double = Doubling()
    monkeypatch.setattr(cupy.cuda.get_current_stream(), "ptr", 1234)
    x = cupy.empty((4, 8), np.float32)
    out = double(x[1])
    (run,) = double.kernel.runs
    assert run[:9] == (7, 1, 1, 1234, "function", "metadata", None, None, None)
    assert run[9:] == (x.data.ptr + 32, None, out.data.ptr, 8, 64)
    assert type(out) is cupy.ndarray and out.shape == (8,) and out.dtype == np.float32
    ((arguments, options),) = double.kernel.compiled_with
    assert [getattr(pointer, "dtype", None) for pointer in arguments[:3]] == [np.float32, None, np.float32]
    assert arguments[3:] == (8,)
    assert options["BLOCK"] == 64
    assert options["num_warps"] == 8


def test_the_c_launcher_of_triton_is_called_without_the_python_around_it() -> None:
    started: list[tuple[Any, ...]] = []
    run = SimpleNamespace(
        launch=lambda *arguments: started.append(arguments),
        arg_annotations="annotations",
        kernel_signature="signature",
        global_scratch_size=0,
        profile_scratch_size=0,
        gsan_enabled=False,
        launch_cooperative_grid=False,
        launch_pdl=True,
    )
    compiled = SimpleNamespace(run=run, function=5, packed_metadata="metadata")
    launcher.starter(compiled)(7, 1234, (1, 2))
    nothing = (None,) * 5
    assert started == [(7, 1, 1, 1234, 5, False, True, "metadata", *nothing, "annotations", "signature", (1, 2))]
    scratch: list[tuple[Any, ...]] = []

    class WithScratch:
        launch, arg_annotations, global_scratch_size = run.launch, "annotations", 64

        def __call__(self, *inputs: Any) -> None:
            scratch.append(inputs)

    launcher.starter(SimpleNamespace(run=WithScratch(), function=5, packed_metadata="m"))(7, 1234, (1, 2))
    assert scratch == [(7, 1, 1, 1234, 5, "m", None, None, None, 1, 2)] and len(started) == 1


def test_a_call_is_planned_once_for_arrays_that_are_alike(cupy: Any) -> None:
    double = Doubling()
    for seed in (3, 4, 2**20):
        double(cupy.empty((4, 8), np.float32), 0.5 * seed, seed=seed)
    assert len(double.planned) == len(double.kernel.compiled_with) == 1
    assert [run[12:] for run in double.kernel.runs] == [(32, 1.5, 3, 64), (32, 2.0, 4, 64), (32, 2.0**19, 2**20, 64)]


def test_a_call_is_planned_anew_for_whatever_a_plan_may_depend_on(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    double, matrix = Doubling(), cupy.empty((8, 8), np.float32)
    plain: dict[str, Any] = {"inputs": (matrix, 0.5), "attrs": {"rate": 1, "seed": 5}, "device": 0}
    changes: list[dict[str, Any]] = [
        {"inputs": (cupy.empty((8, 8), np.float16), 0.5)},
        {"inputs": (cupy.empty((8, 8), ml_dtypes.bfloat16), 0.5)},
        {"inputs": (cupy.empty((4, 16), np.float32), 0.5)},
        {"inputs": (matrix.T, 0.5)},
        {"inputs": (cupy.empty((9, 8), np.float32).ravel()[1:65].reshape(8, 8), 0.5)},  # not aligned to 16 bytes
        {"inputs": (matrix, 2)},
        {"inputs": (matrix, 2**40)},
        {"inputs": (matrix,)},
        {"attrs": {"rate": 2, "seed": 5}},
        {"attrs": {"other": 1, "seed": 5}},
        {"attrs": {"rate": 1, "seed": 2**40}},
        {"device": 1},
    ]
    for change in [{}, *changes, {}]:
        case = plain | change
        monkeypatch.setattr(cupy.cuda.device, "get_device_id", lambda number=case["device"]: number)
        double(*case["inputs"], **case["attrs"])
    assert len(double.kernel.runs) == len(changes) + 2
    assert len(double.planned) == len(changes) + 1


@pytest.mark.parametrize(
    ("inputs", "attrs"),
    [
        (([1.0],), {}),  # not an array
        ((np.float32(1),), {}),  # nor is NumPy's scalar, which has a dtype of its own
        ((np.zeros(3, np.int32),), {}),  # what the entry refuses
        ((np.zeros(3, np.float32),), {"rate": [1]}),  # an attribute that cannot be looked up
        ((np.zeros(3, np.float32),), {"seed": np.array(3)}),  # a number in an array would have to be waited for
    ],
)
def test_what_no_kernel_suits_has_no_plan(cupy: Any, inputs: Any, attrs: Any) -> None:
    argument = tuple([cupy.asarray(x) if isinstance(x, np.ndarray) else x for x in inputs])
    for _ in range(2):
        assert plan_for("double", Doubling().entry, argument, attrs) is None


def test_a_plan_that_turns_out_not_to_suit_deep_inside_is_none(cupy: Any) -> None:
    def plan(call: Planner, x: Operand) -> Operand:
        raise UnsuitedError("too many axes")

    assert plan_for("double", Kernel(plan), (cupy.empty((3,), np.float32),), {}) is None


def test_plans_are_let_go_of_when_there_are_too_many(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MAX_PLANS", 3)
    double = Doubling()
    for length in (*range(1, 9), 8):
        double(cupy.empty((length,), np.float32))
    assert len(double.planned) == 8 and len(plans._plans) <= 3


def test_outputs_may_be_none_inputs_and_arrays_in_any_memory_order(cupy: Any) -> None:
    def plan(call: Planner, x: Operand) -> Any:
        return None, x, call.empty((2, 3, 4), np.float16, order=(0, 2, 1))

    x = cupy.empty((5,), np.float32)
    result = plan_for("some", Kernel(plan), (x,), {})
    assert result is not None
    nothing, same, output = result(x)
    assert nothing is None and same is x
    assert output.shape == (2, 3, 4) and output.dtype == np.float16 and output.strides == (24, 2, 6)


def test_an_operands_views_are_those_of_numpy() -> None:
    base = np.zeros((4, 6, 5), np.float32)
    operand = Operand(0, base.shape, plans.element_strides(base), base.dtype)

    def check(view: Operand, array: Any) -> None:
        assert view.shape == array.shape and view.strides == plans.element_strides(array)
        assert view.offset * 4 == array.ctypes.data - base.ctypes.data
        assert view.is_contiguous == array.flags.c_contiguous and view.size == array.size
        assert view.is_aligned == (view.offset % 4 == 0)

    check(operand.transposed((2, 0, 1)), base.transpose(2, 0, 1))
    check(operand.part(1, 2, 3), base[:, 2:5])
    check(operand.part(-1, 4, 1).part(0, 1, 2), base[1:3, :, 4:])
    check(operand.reshaped(-1, 10), base.reshape(-1, 10))
    check(operand.part(0, 1, 2).reshaped(10, -1), base[1:3].reshape(10, -1))
    check(operand.part(0, 2, 1).broadcast((3, 4, 6, 5)), np.broadcast_to(base[2:3], (3, 4, 6, 5)))
    with pytest.raises(ValueError, match=r"shape \(6, 4, 5\) and strides \(5, 30, 1\) is not seen as \(24, 5\)"):
        operand.transposed((1, 0, 2)).reshaped(24, 5)
    with pytest.raises(ValueError, match="is not seen as"):
        operand.reshaped(7, 5)


@needs_triton
def test_integers_that_triton_tells_apart_are_told_apart() -> None:
    values = [0, 1, 2, 7, 15, 16, 17, 48, -1, -16, -17]
    values += [2**31 - 1, 2**31, 2**31 + 1, -(2**31), -(2**31) - 1, 2**40, 2**40 + 1, 2**62 + 1]
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    command = [sys.executable, str(HERE / "_specialization.py"), json.dumps(values)]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert process.returncode == 0, process.stderr
    tritons = json.loads(process.stdout)
    told_apart: dict[Any, set[str]] = {}
    for value, triton_says in zip(values, tritons, strict=True):
        told_apart.setdefault(launcher.specialization(value), set()).add(json.dumps(triton_says))
    assert all(len(group) == 1 for group in told_apart.values()), told_apart
    assert len(set(map(json.dumps, tritons))) > 3, "Triton's result carries no information"


def test_numpy_arrays_are_refused_outside_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "interpreting", lambda: False)
    with pytest.raises(TypeError, match="arrays must be CuPy arrays; NumPy arrays run only with TRITON_INTERPRET=1"):
        plan_for("double", Doubling().entry, (np.zeros(3, np.float32),), {})


def test_a_pointer_is_its_own_storage_and_its_own_copy() -> None:
    pointer = launcher.Pointer(4096, np.dtype(np.float16))
    assert pointer.data_ptr() == pointer.untyped_storage().cpu().data_ptr() == 4096
    assert pointer.new_empty(0, device="cpu").set_(pointer, 0, (), ()).data_ptr() == 4096
    assert pointer.dtype == np.float16


@pytest.mark.parametrize(
    ("argument", "is_float"),
    [
        (Operand(0, (2,), (1,), np.dtype(np.float32)), True),
        (Operand(0, (2,), (1,), np.dtype(np.float16)), True),
        (Operand(0, (2,), (1,), np.dtype(ml_dtypes.bfloat16)), True),
        (Operand(0, (2,), (1,), np.dtype(np.float64)), False),
        (Operand(0, (2,), (1,), np.dtype(np.int32)), False),
        (Operand(0, (0,), (1,), np.dtype(np.float32)), False),
        (Number(0, 1.5), False),
        (None, False),
    ],
)
def test_floats_of_at_most_32_bits_suit(argument: Any, is_float: bool) -> None:
    assert plans.is_float(argument) is is_float


def test_axes_that_lie_alike_become_one() -> None:
    row = (0, 0, 5, 1)
    assert merge_axes((2, 3, 4, 5), [(60, 20, 5, 1), row]) == ([6, 20], [[20, 1], [0, 1]])
    assert merge_axes((2, 4, 3, 5), [(60, 5, 20, 1)]) == ([2, 4, 3, 5], [[60, 5, 20, 1]])
    assert merge_axes((1, 1), [(7, 7)]) == ([1], [[0]])


def test_shapes_broadcast_as_in_numpy() -> None:
    for shapes in ([(3, 1), (4,)], [(2, 1, 5), (7, 1)], [(), (3,)], [(1,), (1, 1)], [(0, 1), (4,)]):
        assert broadcast_shape(shapes) == np.broadcast_shapes(*shapes)
    assert broadcast_shape([(3,), (4,)]) is None


def test_axes_come_in_the_order_in_which_they_lie_in_memory() -> None:
    x = np.zeros((2, 3, 1, 5))
    for axes in ((0, 1, 2, 3), (0, 3, 2, 1), (3, 1, 0, 2), (1, 0, 3, 2)):
        view = x.transpose(axes)
        order = memory_order(view.shape, view.strides)
        assert view.transpose(order).flags.c_contiguous


def test_tiles_cover_every_row_length_and_stay_in_their_limits() -> None:
    for columns in (1, 2, 63, 64, 65, 1024, 1025, 16384, 16385, 10**6):
        rows, block, warps = row_tiles.row_tile(columns, row_tiles.MAX_ROW)
        assert block & (block - 1) == 0
        assert rows * block <= row_tiles.MAX_ROW
        assert (block >= columns) == (columns <= row_tiles.MAX_ROW)
        assert warps in (4, 8, 16)
    assert all(a <= b for a, b in pairwise(row_tiles.warps_for(2**k) for k in range(16)))


@pytest.mark.parametrize("shape", [(5, 3, 4), (6,), (2, 7)])
def test_an_axis_as_rows(shape: tuple[int, ...]) -> None:
    x = np.zeros(shape, np.float32)
    for axis in range(-len(shape), len(shape)):
        call = Planner(1)
        full, rows = row_tiles.like_rows(call, Operand(0, shape, plans.element_strides(x), x.dtype), axis)
        assert full.shape == shape and rows.shape == (x.size // shape[axis], shape[axis])
        assert rows.is_contiguous and full.strides[axis] == 1
