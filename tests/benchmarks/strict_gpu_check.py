"""``gpu_check`` on the strict device, whose clock counts; test_gpu_check.py runs it in a process of its own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks import gpu_cases, gpu_check, gpu_networks
from hookscope import triton_kernels
from hookscope.engine import nn
from hookscope.engine.tensors.operator import OPERATORS
from hookscope.triton_kernels import Kernel, elementwise
from hookscope.triton_kernels.launch import choice, plans
from tests import strict_device
from tests.engine.compile import gpu_by_numpy

assert gpu_by_numpy  # which puts functions in place


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a cache folder for the table of products, of which one is measured; every size counts as large."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(choice, "SIZES", ((16, 24, 33),))
    monkeypatch.setattr(choice, "LARGE", 1)
    return tmp_path


def run(tmp_path: Path, **options: Any) -> tuple[int, dict[str, Any]]:
    out = tmp_path / "gpu_check.json"
    settings = {"size": 37, "repeats": 1, "flushed-bytes": 64, "networks": "", "seed": 3, "out": out} | options
    with strict_device.device(triton=True):
        status = gpu_check.main([f"--{name}={value}" for name, value in settings.items()])
    return status, json.loads(out.read_text())


def test_every_kernel_has_a_case_that_is_right_in_each_dtype(tmp_path: Path) -> None:
    # A dtype takes half a minute.
    dtypes = ("bfloat16", "float16", "float32") if os.environ.get("CI") else ("bfloat16",)
    status, result = run(tmp_path, dtypes=",".join(dtypes))
    assert result["wrong"] == [] and status == 0
    for dtype in dtypes:
        rows = [row for row in result["rows"] if row["dtype"] == dtype]
        assert {row["name"] for row in rows if "name" in row} == triton_kernels.kernels().keys() & OPERATORS.keys()
        assert {row["operator"] for row in rows} >= {"chain", "means", "way_back"}
        assert all(row["us"] == 1000 for row in rows), "the clock counts a millisecond a call"
    (row,) = [row for row in result["rows"] if row["operator"] == "add" and row["dtype"] == "bfloat16"]
    copied = 2.0 * gpu_check.FLUSHED_BYTES / 1000
    assert row["share"] == pytest.approx(3 * 37 * 37 * 2 / 1000 / copied), "two read and one written"


def test_what_people_train_with_comes_first() -> None:
    assert next(iter(gpu_check.DTYPES)) == "bfloat16"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave only the cases of tanh, without loops."""
    cases = gpu_cases.cases
    monkeypatch.setattr(
        gpu_cases, "cases", lambda *arguments: (case for case in cases(*arguments) if case.name == "tanh")
    )
    monkeypatch.setattr(gpu_cases, "_rows", lambda *arguments: ())
    for name in ("_products", "_drawn", "_reductions", "_images", "_sequences", "_picked"):
        monkeypatch.setattr(gpu_cases, name, lambda *arguments: ())
    monkeypatch.setattr(gpu_check, "check_loops", lambda *arguments: ())
    some = {"tanh": triton_kernels.kernels()["tanh"]}
    monkeypatch.setattr(gpu_check, "kernels", lambda: some)


@pytest.mark.usefixtures("few")
def test_a_step_of_a_network_is_that_of_the_cpu_and_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: Any = gpu_networks._rows("float32")

    def mlp(wrap: Any) -> Any:  # which in its real size takes the interpreter minutes
        net = nn.SequentialCell(nn.Dense(20, 32), nn.ReLU(), nn.Dense(32, 10))
        return rows._training(wrap, net, rows.normal(8, 20), rows.labels(8))

    monkeypatch.setattr(rows, "mlp", mlp)
    status, result = run(tmp_path, dtypes="float32", networks="mlp")
    steps = [row for row in result["rows"] if row["operator"] == "mlp step"]
    assert [row["dtype"] for row in steps] == ["float32", "bfloat16"]
    assert status == 0 and all(row["us"] == 1000 for row in steps)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("fault", ["another operator", "an output that is not written", "it takes nothing"])
def test_a_wrong_kernel_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    wrong = {
        "another operator": elementwise.KERNELS["neg"].plan,
        "an output that is not written": lambda call, x: call.empty(x.shape, x.dtype),
        "it takes nothing": lambda call, x: None,
    }
    monkeypatch.setattr(plans, "_plans", {})
    monkeypatch.setattr(gpu_check, "kernels", lambda: {"tanh": Kernel(wrong[fault])})
    status, result = run(tmp_path, dtypes="float32")
    assert status == 1
    assert [line.partition(":")[0] for line in result["wrong"]] == ["tanh float32"]


@pytest.mark.usefixtures("few")
def test_which_is_faster_at_products_is_kept_for_later_programs(tmp_path: Path, cache: Path) -> None:
    run(tmp_path, dtypes="float32")
    rows = json.loads((cache / "hookscope" / "products" / "strict_device.json").read_text())["rows"]
    assert {(row[0], row[1]) for row in rows} == {(d, f) for d in gpu_check.DTYPES for f in ("NN", "NT", "TN")}
    assert all(row[2:] == [16, 24, 33, 1e-3, 1e-3] for row in rows)


@pytest.mark.usefixtures("few")
def test_a_kernel_without_a_case_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = {**gpu_check.kernels(), "sin": Kernel(lambda call, x: None)}
    monkeypatch.setattr(gpu_check, "kernels", lambda: more)
    status, result = run(tmp_path, dtypes="float32")
    assert status == 1 and result["wrong"] == ["sin has no case"]


def test_the_networks_steps_are_those_of_the_training_benchmark() -> None:
    assert set(gpu_networks.NAMES) <= set(gpu_networks._rows("float32").rows())
