"""Choice between two kernels for a plain product: the default, a measured table, and files that are not a table."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hookscope.triton_kernels.launch import choice
from hookscope.triton_kernels.launch.choice import LARGE, Row, path_of, prefers_cublas

DEVICE = "NVIDIA H100 80GB HBM3"


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """Provide a CuPy that knows the name of its device, and a cache folder of the test's own."""
    runtime = SimpleNamespace(getDevice=lambda: 0, getDeviceProperties=lambda number: {"name": DEVICE.encode()})
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    choice._table.cache_clear()
    yield
    choice._table.cache_clear()


def keep(*rows: Row) -> None:
    choice._keep(DEVICE, rows)


def test_without_a_table_cublas_gets_large_products_of_two_matrices_that_lie_in_one_piece() -> None:
    assert prefers_cublas("bfloat16", "NT", 1024, 1024, 1024)
    assert not prefers_cublas("bfloat16", "NT", 1024, 1024, 1023)
    assert not prefers_cublas("bfloat16", "", 4096, 4096, 4096)
    assert LARGE == 1024**3


def test_without_cupy_there_is_no_cublas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "cupy")
    assert not prefers_cublas("bfloat16", "NT", 8192, 8192, 8192)


def test_what_was_measured_at_the_nearest_size_of_the_same_dtype_and_form_decides() -> None:
    keep(
        Row("bfloat16", "NN", 512, 512, 512, 1e-5, 2e-5),
        Row("bfloat16", "NN", 8192, 8192, 8192, 3e-3, 2e-3),
        Row("bfloat16", "TN", 8192, 8192, 8192, 1e-3, 2e-3),
        Row("float32", "NN", 512, 512, 512, 3e-5, 1e-5),
    )
    assert not prefers_cublas("bfloat16", "NN", 600, 700, 500)
    assert prefers_cublas("bfloat16", "NN", 4096, 8192, 4096)
    assert not prefers_cublas("bfloat16", "TN", 8192, 8192, 8192)
    assert prefers_cublas("float32", "NN", 16, 16, 16)
    assert prefers_cublas("float16", "NN", 1024, 1024, 1024), "not measured: the default"


def test_a_table_is_json_under_the_devices_name(tmp_path: Path) -> None:
    keep(Row("float32", "NN", 2, 3, 4, 1.0, 2.0))
    assert path_of(DEVICE) == tmp_path / "hookscope/products/NVIDIA_H100_80GB_HBM3.json"
    assert json.loads(path_of(DEVICE).read_text()) == {
        "version": 1,
        "device": DEVICE,
        "rows": [["float32", "NN", 2, 3, 4, 1.0, 2.0]],
    }
    assert list(path_of(DEVICE).parent.iterdir()) == [path_of(DEVICE)], "the unfinished file is gone"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "\x80",
        '{"version": 1}',
        json.dumps({"version": 1, "device": DEVICE, "rows": 3}),
        *[
            json.dumps({"version": 1, "device": DEVICE, "rows": [row]})
            for row in (
                [],
                ["float32"],
                ["float32", "NN", 2, 3, 4, 1.0, "2"],
                ["float32", "NN", 0, 3, 4, 1.0, 2.0],
                ["float32", "NN", 2, 3, 4, -1.0, 2.0],
                ["float32", "NN", 2, 3, 4, 1.0, 2.0, 5],
                7,
                ["float32", "NN", 2, 3, 4, float("nan"), 1.0],
            )
        ],
    ],
)
def test_a_broken_file_is_not_used_and_that_is_said_in_one_line_once(text: str) -> None:
    path_of(DEVICE).parent.mkdir(parents=True)
    path_of(DEVICE).write_text(text, encoding="latin-1")
    with pytest.warns(RuntimeWarning, match="products.* is not used, it cannot be read: ") as notices:
        assert prefers_cublas("float32", "NN", 1024, 1024, 1024)
    assert len(notices) == 1 and "\n" not in str(notices[0].message)
    assert prefers_cublas("float32", "NN", 1024, 1024, 1024)  # a second warning were an error


@pytest.mark.parametrize("other", [{"version": 2}, {"device": "another one"}])
def test_a_table_of_another_form_or_device_is_left_alone(other: dict[str, Any]) -> None:
    path_of(DEVICE).parent.mkdir(parents=True)
    row = ["float32", "NN", 1024, 1024, 1024, 1.0, 2.0]
    path_of(DEVICE).write_text(json.dumps({"version": 1, "device": DEVICE, "rows": [row], **other}))
    assert prefers_cublas("float32", "NN", 1024, 1024, 1024)
