"""Checks of figures and histograms in Triton's interpreter; run by test_interpreter.py in its own process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _comparison import BFLOAT16, normal

from hookscope.triton_kernels import statistics

FLOATS = [np.dtype(np.float32), np.dtype(np.float16), BFLOAT16, np.dtype(np.float64)]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make pieces small, so that values of several pieces need not be large."""
    monkeypatch.setattr(statistics, "PIECE", 2048)


def reference(x: Any) -> tuple[list[float], Any]:
    """Return the figures of all elements by NumPy in float64, and the histogram."""
    every = x.astype(np.float64).ravel()
    finite = every[np.isfinite(every)]
    counts = np.zeros(64)
    low, high = (finite.min(), finite.max()) if finite.size else (np.inf, -np.inf)
    if low < high:
        counts, _ = np.histogram(finite, 64, (low, high))
    mean = finite.mean() if finite.size else 0.0
    others = [(every == 0).sum(), np.isnan(every).sum(), (every == np.inf).sum(), (every == -np.inf).sum()]
    return [finite.size, low, high, mean, ((finite - mean) ** 2).sum(), (finite**2).sum(), *others], counts


def put_together(rows: Any) -> list[float]:
    count = rows[:, 0].sum()
    mean = (rows[:, 0] * rows[:, 3]).sum() / max(count, 1)
    spread = (rows[:, 4] + rows[:, 0] * (rows[:, 3] - mean) ** 2).sum()
    return [count, rows[:, 1].min(), rows[:, 2].max(), mean, spread, *rows[:, 5:10].sum(0)]


def agree(values: list[Any]) -> None:
    rows, ends = statistics.measured(values, counted=True)
    for x, first, stop in zip(values, ends, ends[1:], strict=False):
        want, counts = reference(x)
        np.testing.assert_allclose(put_together(rows[first:stop]), want, rtol=1e-12, atol=1e-12)
        result = rows[first:stop, 10:].sum(0)
        assert result.sum() == counts.sum()
        assert abs(np.cumsum(result - counts)).max() <= 2  # NumPy assigns values on a limit by its rounded edges
    alone, _ = statistics.measured(values, counted=False)
    np.testing.assert_array_equal(alone, rows[:, :10])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_figures_of_many_values_at_once(dtype: Any) -> None:
    bad = normal(3000, dtype=dtype, seed=1)
    bad[[0, 5, 2047, 2999]] = np.nan, np.inf, -np.inf, np.nan
    nothing, turned = np.full(5, np.nan).astype(dtype), normal(40, 60, dtype=dtype).T
    agree([normal(7, 11, dtype=dtype), bad, np.array([2.5], dtype), nothing, turned, normal(2048, dtype=dtype)])


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int32, np.int64])
def test_figures_of_integers_and_booleans(dtype: Any) -> None:
    agree([np.random.default_rng(0).integers(0, 2 if dtype is np.bool_ else 100, 2500).astype(dtype)])


def test_values_of_several_dtypes() -> None:
    agree([normal(10), normal(3000, dtype=np.float64), normal(9, dtype=BFLOAT16), np.arange(5), normal(2500)])


def test_few_digits_cancel_far_from_zero() -> None:
    agree([(normal(5000) + 1e4).astype(np.float32), np.concatenate([[0.0], normal(5000, dtype=np.float64) + 1e3])])


@pytest.mark.parametrize("size", [1e-130, 1e-150, 1e140, 1e150])
def test_there_is_a_histogram_where_squares_neither_vanish_nor_overflow(size: float) -> None:
    rows, _ = statistics.measured([np.linspace(-size, size, 100)], counted=True)
    assert rows[:, 10:].sum() == (100 if 1e-140 < size < 1e145 else 0)


def test_what_the_kernels_take() -> None:
    x = normal(8, 8)
    assert statistics.takes(x) and statistics.takes(x.T)
    for other in (x[:, ::2], x[:0], x.astype(np.complex64), x.reshape(-1)[1:]):
        assert not statistics.takes(other)
