"""Counts of the benchmarks inside a worker: the bytes of a step, and its time by file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import peaks, time_by_file

MIB = 1 << 20


class Step:
    """Step on 16 MiB of weights that were part of more; it takes 8 and 2 MiB at once and retains 1 between steps."""

    def __init__(self) -> None:
        self.weights = np.ones(64 * MIB, np.uint8)[: 16 * MIB].copy()
        self.buffer: Any = None

    def run(self) -> None:
        first, second = np.ones(8 * MIB, np.uint8), np.ones(2 * MIB, np.uint8)
        del first, second
        self.buffer = np.ones(MIB, np.uint8)

    def state(self) -> list[Any]:
        return [self.weights]


def test_the_peak_of_a_step_is_what_it_holds_at_once_and_what_stays() -> None:
    assert peaks.of("hookscope", Step) == pytest.approx(11 * MIB, rel=0.01)
    assert peaks.of("mindspore", Step) is None


def test_time_in_numpy_is_that_of_the_file_that_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_by_file, "_SECONDS", 0.05)
    names: dict[str, Any] = {"x": np.random.default_rng(0).standard_normal(300_000)}
    exec(compile("def sort(): x.argsort()", "/somewhere/engine/cpu/sorting.py", "exec"), names)
    exec(compile("def call(sort): sort()", "/somewhere/engine/nn/calling.py", "exec"), names)
    shares = time_by_file.of(lambda: names["call"](names["sort"]))
    assert next(iter(shares)) == "cpu/sorting.py"
    assert shares["cpu/sorting.py"] > 0.9
    assert 0 < shares["dispatch, tape, layers"] < 0.05
    assert sum(shares.values()) == pytest.approx(1)
