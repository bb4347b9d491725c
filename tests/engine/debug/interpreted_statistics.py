"""Statistics of values on a GPU, in Triton's interpreter; test_statistics_on_gpu.py runs them."""

from __future__ import annotations

import dataclasses
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hookscope import triton_kernels
from hookscope.engine import Tensor
from hookscope.engine.debug.record.statistics import Statistics, changes, figures, statistics, statistics_of
from tests import strict_device

triton_kernels.kernels()  # Triton is imported once; modules imported on the strict device are forgotten after it


def normal(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def same(figures: Statistics, want: Statistics) -> None:
    for name, value in dataclasses.asdict(want).items():
        actual = getattr(figures, name)
        if isinstance(value, float):
            assert actual == pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True), name
        elif name == "histogram":
            if actual.size:  # on the CPU a converted tensor has one even if it was not requested
                np.testing.assert_array_equal(actual, value)
        else:
            assert actual == value, name


def values() -> list[Any]:
    bad = normal(6000)
    bad[7:9] = np.nan, np.inf
    return [
        normal(90, 100),
        bad,
        normal(7).astype(np.float64),
        np.full(5000, 2.5, np.float32),
        np.zeros((0, 3)),
        normal(5000).astype(ml_dtypes.bfloat16),
        np.arange(5000) % 7,
        normal(5000) * (1 + 2j),
        np.array([True] * 9),
        normal(5000).astype(np.float64) * 1e-200,
        normal(100, 60)[:, ::2],
        np.full(5000, np.nan, np.float32),
    ]


@pytest.mark.parametrize("counted", [False, True])
def test_many_values_are_measured_together_and_read_once(counted: bool) -> None:
    there = [
        0,
        1,
        2,
        3,
        5,
        6,
        8,
        9,
        11,
    ]  # complex and empty arrays, and those in several pieces, are copied to the host
    with strict_device.device(triton=True) as counts:
        tensors = [Tensor._wrap(strict_device.CUPY.asarray(value)) for value in values()]
        want = statistics_of(values(), counted)
        for item, expected in zip(statistics_of(tensors, counted), want, strict=True):
            same(item, expected)
            assert item.histogram.size or not counted
        counts.clear()
        statistics_of([tensors[index] for index in there if index != 9], counted)  # which is too small to square
        assert len(counts.to_host) == 1


def test_of_one_value_a_row_is_read_not_the_value() -> None:
    with strict_device.device(triton=True) as counts:
        large, small = Tensor(normal(100, 100)), Tensor(normal(10))
        counts.clear()
        same(statistics(large), statistics(normal(100, 100)))
        same(figures(large), figures(normal(100, 100)))
        assert [event.bytes for event in counts.to_host] == [8 * 74, 8 * 10]
        same(statistics(small), statistics(normal(10)))
        assert counts.to_host[-1].bytes == 40 and len(counts.to_host) == 3


def test_changes_of_many_parameters_are_read_once() -> None:
    before = [normal(60, 100), normal(8), np.full(9, 2.0, np.float32), np.zeros(0, np.float32)]
    now = [before[0] * 2, before[1] + 1, np.array([np.inf, *[1.0] * 8], np.float32), before[3]]
    with strict_device.device(triton=True) as counts:
        pairs = [(Tensor(x)._array, Tensor(y)._array) for x, y in zip(now, before, strict=True)]
        counts.clear()
        results = changes(pairs[:3])
        assert len(counts.to_host) == 1
        results += changes(pairs[3:])
    for (change, norm), (expected, was) in zip(results, changes(list(zip(now, before, strict=True))), strict=True):
        assert change == pytest.approx(expected, rel=1e-6, nan_ok=True) and norm == pytest.approx(was, rel=1e-12)


def test_by_cupy_alone_values_are_copied_to_the_host() -> None:
    with strict_device.device():
        for value, item in zip(values(), statistics_of([Tensor(normal(90, 100))]), strict=False):
            same(item, statistics(value))
