"""The launch layer without a GPU: a stand-in for CuPy on NumPy memory, and a stand-in for a Triton kernel."""

from __future__ import annotations

import importlib.util
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

from hookscope.triton_kernels import _launch
from hookscope.triton_kernels._strides import broadcast_strides, merge_axes

HERE = Path(__file__).parent


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = importlib.util.spec_from_file_location("_fake_cupy", HERE / "_fake_cupy.py")
    assert spec is not None
    assert spec.loader is not None
    stand_in = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stand_in)
    module = stand_in.make()
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setattr(_launch, "_compiled", {})
    return module


class FakeKernel:
    """Counts how often it is compiled, and keeps what it is run with."""

    def __init__(self) -> None:
        self.compiled_with: list[tuple[Any, dict[str, Any]]] = []
        self.runs: list[tuple[Any, ...]] = []

    def warmup(self, *arguments: Any, **options: Any) -> SimpleNamespace:
        self.compiled_with.append((arguments, options))
        return SimpleNamespace(
            run=lambda *launched: self.runs.append(launched), function="function", packed_metadata="metadata"
        )


def test_a_kernel_is_run_with_addresses_on_cupys_stream(cupy: Any) -> None:
    kernel, cupy.stream = FakeKernel(), 1234
    x, out = cupy.empty((4, 8), np.float32), cupy.empty((8,), np.float32)
    view = x[1]
    _launch.launch(kernel, 7, (view, None, out), (32, 0.5), {"BLOCK": 64, "NAME": "relu"}, num_warps=8)
    (run,) = kernel.runs
    assert run[:9] == (7, 1, 1, 1234, "function", "metadata", None, None, None)
    assert run[9:] == (x.ctypes.data + 32, None, out.ctypes.data, 32, 0.5, 64, "relu")
    ((arguments, options),) = kernel.compiled_with
    assert arguments[0].data_ptr() == x.ctypes.data + 32
    assert arguments[0].dtype == np.float32
    assert arguments[1] is None
    assert arguments[3:] == (32, 0.5)
    assert options["BLOCK"] == 64
    assert options["num_warps"] == 8


def test_a_kernel_is_compiled_once_for_arguments_that_are_alike(cupy: Any) -> None:
    kernel = FakeKernel()
    for count, rate in ((7, 0.5), (23, 1.5), (-5, 2.0)):
        x = cupy.empty((count & 31,), np.float32)
        _launch.launch(kernel, 1, (x, None), (count, rate), {"BLOCK": 64})
    assert len(kernel.runs) == 3
    assert len(kernel.compiled_with) == 1


def test_a_kernel_is_compiled_anew_for_whatever_is_compiled_in(cupy: Any) -> None:
    kernel = FakeKernel()
    whole = cupy.empty((64,), np.float32)
    plain = {"array": whole, "scalar": 7, "block": 64, "warps": 4, "device": 0}
    changes: list[dict[str, Any]] = [
        {"array": cupy.empty((64,), np.float16)},
        {"array": cupy.empty((64,), ml_dtypes.bfloat16)},
        {"array": whole[1:]},  # an address that does not divide by 16
        {"array": None},
        {"scalar": 1},
        {"scalar": 16},
        {"scalar": 2**31 + 1},
        {"scalar": 7.0},
        {"block": 128},
        {"warps": 8},
        {"device": 1},
    ]
    for change in [{}, *changes, {}]:
        case = plain | change
        cupy.device = case["device"]
        _launch.launch(kernel, 1, (case["array"], whole), (case["scalar"],), {"B": case["block"]}, case["warps"])
    assert len(kernel.runs) == len(changes) + 2
    assert len(kernel.compiled_with) == len(changes) + 1


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is published for Linux only")
def test_integers_that_triton_tells_apart_are_told_apart() -> None:
    values = [0, 1, 2, 7, 15, 16, 17, 48, -1, -16, -17]
    values += [2**31 - 1, 2**31, 2**31 + 1, -(2**31), -(2**31) - 1, 2**40, 2**40 + 1, 2**62 + 1]
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    command = [sys.executable, str(HERE / "_specialisation.py"), json.dumps(values)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    tritons = json.loads(done.stdout)
    told_apart: dict[Any, set[str]] = {}
    for value, triton_says in zip(values, tritons, strict=True):
        told_apart.setdefault(_launch.specialisation(value), set()).add(json.dumps(triton_says))
    assert all(len(group) == 1 for group in told_apart.values()), told_apart
    assert len(set(map(json.dumps, tritons))) > 3, "Triton's answer says nothing"


def test_numpy_arrays_are_refused_outside_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_launch, "interpreting", lambda: False)
    with pytest.raises(TypeError, match="arrays must be CuPy arrays; NumPy arrays run only with TRITON_INTERPRET=1"):
        _launch.launch(FakeKernel(), 1, (np.zeros(3, np.float32),), (), {})


def test_a_numpy_pointer_is_the_arrays_own_memory() -> None:
    x = np.zeros((4, 6), np.float16)[1:, ::2]
    pointer = _launch.NumpyPointer(x)
    assert pointer.data_ptr() == x.ctypes.data
    assert pointer.untyped_storage().cpu().data_ptr() == x.ctypes.data
    assert pointer.size() == (3, 3)
    assert pointer.stride() == (6, 2)


def test_the_array_module_is_told_by_the_array(cupy: Any) -> None:
    assert _launch.array_module(np.zeros(2)) is np
    assert _launch.array_module(cupy.empty((2,), np.float32)) is cupy


@pytest.mark.parametrize(
    ("value", "qualifies"),
    [
        (np.zeros(2, np.float32), True),
        (np.zeros(2, np.float16), True),
        (np.zeros(2, ml_dtypes.bfloat16), True),
        (np.zeros(2, np.float64), False),
        (np.zeros(2, np.int32), False),
        (np.zeros(0, np.float32), False),
        (1.5, False),
        (None, False),
    ],
)
def test_floats_of_at_most_32_bits_qualify(value: Any, qualifies: bool) -> None:
    assert _launch.is_float(value) is qualifies


def test_axes_that_lie_alike_become_one() -> None:
    x = np.zeros((2, 3, 4, 5), np.float32)
    strides = [broadcast_strides(x, x.shape), broadcast_strides(x[0, 0], x.shape)]
    assert merge_axes(x.shape, strides) == ([6, 20], [[20, 1], [0, 1]])
    turned = x.transpose(0, 2, 1, 3)
    assert merge_axes(turned.shape, [broadcast_strides(turned, turned.shape)]) == (
        [2, 4, 3, 5],
        [[60, 5, 20, 1]],
    )
    assert merge_axes((1, 1), [(7, 7)]) == ([1], [[0]])


def test_tiles_cover_every_row_length_and_stay_in_their_limits() -> None:
    for columns in (1, 2, 63, 64, 65, 1024, 1025, 16384, 16385, 10**6):
        rows, block, warps = _launch.row_tile(columns, _launch.MAX_ROW)
        assert block & (block - 1) == 0
        assert rows * block <= _launch.MAX_ROW
        assert (block >= columns) == (columns <= _launch.MAX_ROW)
        assert warps in (4, 8, 16)
    assert all(a <= b for a, b in pairwise(_launch.warps_for(2**k) for k in range(16)))


@pytest.mark.parametrize("shape", [(5, 3, 4), (6,), (2, 7)])
def test_rows_and_back(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape)
    for axis in range(-len(shape), len(shape)):
        rows = _launch.as_rows(x, axis)
        assert rows.flags.c_contiguous
        assert rows.shape[1] == shape[axis]
        assert np.array_equal(_launch.from_rows(rows, x, axis), x)
