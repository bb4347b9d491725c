"""Checks of picking rows and adding them up in Triton's interpreter; run by test_interpreter.py in its own process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _comparison import DTYPES, close, normal, run, suits, wide

from hookscope.triton_kernels import embedding


def added(g: Any, numbers: Any, rows: int) -> Any:
    """Return the sums of rows added one after another, in float64."""
    table = np.zeros((rows, g.shape[1]))
    np.add.at(table, numbers, wide(g))
    return table


def run_added(g: Any, numbers: Any, rows: int) -> Any:
    """Run with the order of the numbers, and by counting, which gives the same bits."""
    result = run("rows_added", g, numbers, np.argsort(numbers, kind="stable"), rows)
    if numbers.size <= 200:
        np.testing.assert_array_equal(wide(run("rows_added", g, numbers, None, rows)), wide(result))
    return result


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
def test_rows_are_picked(dtype: Any, index_dtype: Any) -> None:
    numbers = np.random.default_rng(0)
    for shape, indices in (((7, 5), (3, 4)), ((9,), (11,)), ((3, 2, 3), (1,)), ((4, 1100), (2, 3)), ((1, 3), (2,))):
        table, index = normal(*shape, dtype=dtype), numbers.integers(-shape[0], shape[0], indices).astype(index_dtype)
        result = run("rows_picked", table, index)
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, table[index])
        np.testing.assert_array_equal(run("rows_picked", table, index.T), table[index.T])
    x = np.array([[1, np.nan], [np.inf, -0.0]], dtype)
    np.testing.assert_array_equal(wide(run("rows_picked", x, np.array([1, 0, 1]))), wide(x)[[1, 0, 1]])


def test_a_number_out_of_range_counts_on_from_the_start() -> None:
    table, index = normal(5, 3), np.array([5, 6, -6, 2**40 + 1, -(2**40)])
    np.testing.assert_array_equal(run("rows_picked", table, index), table[index % 5])
    close(run("rows_added", table, index, None, 4), added(table, index % 4, 4), np.float32)
    close(run("rows_added", table, (index % 5 - 5).astype(np.int32), None, 5), added(table, index % 5, 5), np.float32)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_are_added_by_their_numbers(dtype: Any) -> None:
    sizes = [(13, 7, 5), (65, 2, 3), (1, 1, 1), (64, 3, 16), (70, 1000, 4), (9, 4, 515)]
    for count, rows, size in sizes if dtype == DTYPES[2] else sizes[:2]:
        g, numbers = normal(count, size, dtype=dtype), np.random.default_rng(1).integers(0, rows, count)
        close(run_added(g, numbers, rows), added(g, numbers, rows), dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_long_runs_of_one_number_begin_and_end_anywhere_in_a_chunk(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_CHUNK", 4)
    random = np.random.default_rng(2)
    cases = [[3, 9, 1, 8], [21], [4, 4, 4], [1, 1, 14, 2, 5], [8, 13]]
    for lengths in cases if dtype == DTYPES[2] else cases[:1]:
        numbers = random.permutation(np.repeat(np.arange(len(lengths)), lengths))
        g = normal(numbers.size, 3, dtype=dtype)
        close(run_added(g, numbers, len(lengths) + 1), added(g, numbers, len(lengths) + 1), dtype)


def test_sums_are_in_float32_and_nan_and_infinities_stay_where_they_belong() -> None:
    numbers, g = np.zeros(400, np.int64), np.ones((400, 1), DTYPES[2])
    numbers[[3, 200, 300]] = 1, 2, 1
    g[3], g[200] = np.inf, np.nan
    result = wide(run_added(g, numbers, 4))  # in bfloat16 ones add up to 256
    np.testing.assert_array_equal(result, [[396], [np.inf], [np.nan], [0]])


def test_rows_of_20001() -> None:
    g, numbers = normal(3, 20_001), np.array([1, 0, 1])
    close(run("rows_added", g, numbers, None, 2), added(g, numbers, 2), np.float32)
    np.testing.assert_array_equal(run("rows_picked", g, numbers), g[numbers])


def test_strided_gradients_and_order() -> None:
    g, numbers = normal(5, 12).T, np.arange(24)[::2] % 3
    close(run_added(g, numbers, 3), added(g, numbers, 3), np.float32)


def test_what_does_not_qualify() -> None:
    g, numbers = normal(4, 5), np.arange(4)
    assert not suits("rows_added", g.astype(np.float64), numbers, numbers, 4), "float64"
    assert not suits("rows_added", g, numbers, numbers.astype(np.int32), 4), "a narrow order"
    assert not suits("rows_added", np.broadcast_to(g[0, 0], (20_000, 1)), np.zeros(20_000, int), None, 4), "no order"
    assert not suits("rows_added", g, numbers[:3], numbers, 4), "too few numbers"
    assert not suits("rows_added", g[:0], numbers[:0], numbers[:0], 4), "nothing"
    assert not suits("rows_picked", g.T, numbers), "a table in another memory order"
    assert not suits("rows_picked", g, g), "an index of floats"
