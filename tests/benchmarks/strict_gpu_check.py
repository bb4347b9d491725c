"""``gpu_check`` on the strict device, whose clock counts; test_gpu_check.py runs it in a process of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import gpu_cases, gpu_check, gpu_networks
from hookscope import triton_kernels
from hookscope.triton_kernels import Kernel, _plans, elementwise
from tests import strict_device
from tests.engine.graph import gpu_by_numpy

assert gpu_by_numpy  # which puts functions in place


def run(tmp_path: Path, **options: Any) -> tuple[int, dict[str, Any]]:
    out = tmp_path / "gpu_check.json"
    given = {"size": 37, "repeats": 1, "flushed-bytes": 64, "networks": "", "seed": 3, "out": out} | options
    with strict_device.device(triton=True):
        status = gpu_check.main([f"--{name}={value}" for name, value in given.items()])
    return status, json.loads(out.read_text())


def test_every_kernel_has_a_case_that_is_right_in_each_dtype(tmp_path: Path) -> None:
    status, found = run(tmp_path)
    assert found["wrong"] == [] and status == 0
    for dtype in ("bfloat16", "float16", "float32"):
        rows = [row for row in found["rows"] if row["dtype"] == dtype]
        assert {row["name"] for row in rows if "name" in row} == set(triton_kernels.kernels())
        assert {row["operator"] for row in rows} >= {"chain", "means", "way_back"}
        assert all(row["us"] == 1000 for row in rows), "the clock counts a millisecond a call"
    assert found["rows"][0]["dtype"] == "bfloat16", "what people train with comes first"
    (row,) = [row for row in found["rows"] if row["operator"] == "add" and row["dtype"] == "float32"]
    copied = 2.0 * gpu_check.FLUSHED_BYTES / 1000
    assert row["share"] == pytest.approx(3 * 37 * 37 * 4 / 1000 / copied), "two read and one written"


def test_a_step_of_a_network_is_that_of_the_cpu_and_is_timed(tmp_path: Path) -> None:
    status, found = run(tmp_path, dtypes="float32", networks="mlp")
    steps = [row for row in found["rows"] if row["operator"] == "mlp step"]
    assert [row["dtype"] for row in steps] == ["float32", "bfloat16"]
    assert status == 0 and all(row["us"] == 1000 for row in steps)


@pytest.mark.parametrize("fault", ["another operator", "an output that is not written", "it takes nothing"])
def test_a_wrong_kernel_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    kernels = dict(triton_kernels.kernels())
    wrong = {
        "another operator": elementwise.KERNELS["neg"].plan,
        "an output that is not written": lambda call, x: call.empty(x.shape, x.dtype),
        "it takes nothing": lambda call, x: None,
    }
    kernels["tanh"] = Kernel(wrong[fault])
    monkeypatch.setattr(_plans, "_plans", {})
    for module in (triton_kernels, gpu_check):
        monkeypatch.setattr(module, "kernels", lambda: kernels)
    status, found = run(tmp_path, dtypes="float32")
    assert status == 1
    assert [line.partition(":")[0] for line in found["wrong"]] == ["tanh float32"]


def test_a_kernel_without_a_case_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = {**triton_kernels.kernels(), "new_one": Kernel(lambda call, x: None)}
    for module in (triton_kernels, gpu_check):
        monkeypatch.setattr(module, "kernels", lambda: kernels)
    monkeypatch.setattr(gpu_cases, "cases", lambda *given: iter(()))
    status, found = run(tmp_path, dtypes="float32")
    assert status == 1 and "new_one has no case" in found["wrong"]


def test_the_networks_steps_are_those_of_the_training_benchmark() -> None:
    assert set(gpu_networks.NAMES) <= set(gpu_networks._rows("float32").rows())
