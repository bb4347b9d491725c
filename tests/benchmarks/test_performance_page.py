"""docs/performance.md is filled from what a run keeps: each table, the picture, and what misses its aim stands out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks import performance_page, results, training, watching


def sections(ratio: float = 0.5) -> dict[str, Any]:
    peers = ("torch", "torch-compiled", *training.MINDSPORE, "jax")
    rows = {
        name: {
            "seconds": {"hookscope": 0.0123, "machine": 0.05} | dict.fromkeys(peers, 0.0246),
            "ratios": dict.fromkeys(peers, ratio) | {"mindspore-graph": 0.25},
            "rounds": 3,
            "places": {"cpu/matmul.py": 0.62, "dispatch, tape, layers": 0.35, "cpu/softmax.py": 0.03},
        }
        for name in training.ROWS
    }
    run = {"versions": {"torch": "torch 9.9"}, "rates": {"sgemm": 200.0, "copy": 20.0}, "rows": rows}
    return {
        "where": {"processor": "A processor", "cores": 2, "system": "Linux", "python": "3.11.0", "day": "2026-01-01"},
        "training": {"2": run, "1": run},
        "step_memory": {"lenet": {"hookscope": {"grown": 2**27, "peak": 6 * 2**20}, "torch": {"peak": 4 * 2**20}}},
        "watching": {
            "transformer": {
                "threads": 2,
                "rounds": 9,
                "ways": {
                    "references": {"step": 175.5, "added": 8.25, "ratio": 1.05, "torch": 250.0, "torch ratio": 1.01},
                    "statistics": {"step": 190.0, "added": 20.0, "ratio": 1.125, "torch": None, "torch ratio": None},
                },
            }
        },
        "graph_mode": {
            "threads": 1,
            "versions": {},
            "guards": {f"{kind} {what}": 2e-6 for kind in ("ReLU", "Dense") for what in ("guards", "eager", "planned")},
            "rows": {
                "mlp": {
                    "seconds": {"hookscope": 0.003, "hookscope-O1": 0.002},
                    "ratios": {"torch": ratio, "torch-compiled": 0.8},
                    "peaks": {"hookscope-O1": 2**20, "torch": 2**21, "torch-compiled": None},
                    "traced": {"eager": 0.003, "O0": 0.03, "O0 bytes": 2048.0, "O1": 0.06, "O1 bytes": 4096.0},
                }
            },
        },
        "first_use": {"hookscope": {"from disk": {"start": 0.25, "first": 0.75}}},
    }


def between(page: str, name: str) -> str:
    match = re.search(f"<!-- {name} -->(.*?)<!-- end -->", page, re.DOTALL)
    assert match
    return match[1].strip()


def test_each_table_is_filled_and_what_is_around_stays() -> None:
    page = performance_page.PAGE.read_text()
    once = performance_page.filled(page, sections())
    assert performance_page.filled(once, sections()) == once
    for name in performance_page.TABLES:
        assert between(once, name)
    empty = re.compile("(<!-- [a-z ]+ -->).*?<!-- end -->", re.DOTALL)
    assert empty.sub(r"\1", once) == empty.sub(r"\1", page)
    assert "| LeNet-5, batch 64, Adam | 12.30 ms |" in between(once, "times")
    assert "`cpu/matmul.py` 62%, `dispatch, tape, layers` 35% |" in between(once, "limits")
    assert "| Hookscope, from disk | 0.25 | 0.75 |" in between(once, "first use")
    assert "| 2.00 ms | 0.50 (≤ 0.5) | 0.80 (≤ 0.9) | 0.50 (≤ 0.8) | - | 10.0, 2 KiB |" in between(once, "graph mode")
    assert "A processor, 2 cores" in between(once, "where")
    assert "200 GFLOP/s" in between(once, "where")


def test_what_misses_its_aim_stands_out() -> None:
    times = between(performance_page.filled(performance_page.PAGE.read_text(), sections(0.62)), "times")
    (mlp,) = [line for line in times.splitlines() if "MLP" in line]
    (lenet,) = [line for line in times.splitlines() if "LeNet" in line]
    assert "| **0.62** (≤ 0.6) | 0.62 | **0.62** (≤ 0.33) | 0.25 (≤ 0.33) | 0.62 |" in mlp
    assert "| 0.62 (≤ 0.65) |" in lenet
    memory = between(performance_page.filled(performance_page.PAGE.read_text(), sections()), "memory")
    assert "| LeNet-5, batch 64, Adam | 6.0 | 4.0 | **1.50** (≤ 1) | 128.0 | - |" in memory


def test_what_watching_costs_is_shown_in_milliseconds_beside_its_ratio_and_aim() -> None:
    table = between(performance_page.filled(performance_page.PAGE.read_text(), sections()), "watching")
    name = "Transformer encoder: "
    references = f"| {name}references to everything | 175.50 ms | 8.25 ms | **1.050** (≤ 1.03) | 250.00 ms | 1.010 |"
    assert references in table
    assert f"| {name}statistics of everything | 190.00 ms | 20.00 ms | 1.125 (≤ 1.15) | - | - |" in table
    assert f"| {name}every condition | - | - | - | - | - |" in table
    assert "| ResNet-18 on 32x32: every condition | - | - | - | - | - |" in table


def test_ratios_of_watching_are_those_of_rounds_and_added_is_their_difference() -> None:
    times = {
        ("nothing", "hookscope"): [0.1, 0.2, 0.1],
        ("references", "hookscope"): [0.11, 0.3, 0.12],
        ("never", "hookscope-never"): [0.1, 0.1, 0.1],
        ("nothing", "torch"): [0.1] * 3,
    }
    result = watching.summary(times)
    assert result["references"]["step"] == pytest.approx(120)
    assert result["references"]["added"] == pytest.approx(20)
    assert result["references"]["ratio"] == pytest.approx(1.2)
    assert result["nothing"] == {
        "step": pytest.approx(100),
        "added": None,
        "ratio": pytest.approx(1.0),
        "torch": pytest.approx(100),
        "torch ratio": None,
    }
    assert set(result["conditions"].values()) == {None}


def test_a_page_without_a_marker_is_refused() -> None:
    with pytest.raises(ValueError, match="no marker '<!-- where -->'"):
        performance_page.filled("# a page", sections())


def test_equal_figures_give_an_equal_small_picture(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        performance_page.draw(sections(), tmp_path / name)
    first = (tmp_path / "a.svg").read_bytes()
    assert first == (tmp_path / "b.svg").read_bytes()
    assert len(first) < 60_000
    assert b"LeNet-5" in first


def test_the_page_as_it_is_has_every_table() -> None:
    page = performance_page.PAGE.read_text()
    assert all(between(page, name) for name in performance_page.TABLES)
    assert performance_page.PICTURE.stat().st_size < 60_000


def test_sections_are_kept_one_beside_the_other(tmp_path: Path) -> None:
    path = tmp_path / "build" / "kept.json"
    assert results.load(path) == {}
    results.keep("a", {"x": 1}, path)
    results.keep("b", [2], path)
    results.keep("a", {"x": 3}, path)
    result = results.load(path)
    assert (result["a"], result["b"]) == ({"x": 3}, [2])
    assert result["where"]["cores"] > 0


def test_a_row_that_was_not_measured_is_not_dropped() -> None:
    lacking = sections()
    del lacking["training"]["2"]["rows"]["transformer"]
    page = performance_page.filled(performance_page.PAGE.read_text(), lacking)
    for table in ("times", "memory"):
        assert "| Transformer encoder, 4 layers, batch 8 | - | - |" in between(page, table)
