"""The figures of a value, against NumPy's own on the finite elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from hookscope.engine.debug.statistics import BINS, Statistics, statistics


def check_against_numpy(figures: Statistics, finite: npt.NDArray[np.float64]) -> None:
    assert figures.minimum == finite.min()
    assert figures.maximum == finite.max()
    assert figures.mean == pytest.approx(finite.mean(), rel=1e-12, abs=1e-300)
    assert figures.std == pytest.approx(finite.std(), rel=1e-9, abs=1e-300)
    assert figures.norm == pytest.approx(np.linalg.norm(finite), rel=1e-12)
    assert figures.zeros == (finite == 0).sum()
    assert figures.histogram.sum() == finite.size == figures.finite
    assert figures.histogram.dtype == np.int64 and figures.histogram.shape == (BINS,)
    assert figures.edges.dtype == np.float64 and figures.edges.shape == (BINS + 1,)


@pytest.mark.parametrize("size", [1, 7, 1 << 15, (1 << 15) + 1, 100_003])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_of_any_size_agree_with_numpy(dtype: str, size: int) -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, size).astype(dtype)
    check_against_numpy(statistics(values), values.astype(np.float64))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "bool"])
def test_integers_and_booleans_count_as_numbers(dtype: str) -> None:
    values = np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 100, 1000).astype(dtype)
    figures = statistics(values)
    check_against_numpy(figures, values.astype(np.float64))
    assert figures.dtype == dtype


def test_bfloat16_is_a_number_type() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="bfloat16 needs ml_dtypes")
    values = np.array([0, 1, -2, np.inf, np.nan], ml_dtypes.bfloat16)
    figures = statistics(values)
    assert (figures.dtype, figures.nan, figures.positive_inf) == ("bfloat16", 1, 1)
    check_against_numpy(figures, np.array([0.0, 1.0, -2.0]))


def test_complex_elements_count_by_magnitude() -> None:
    figures = statistics(np.array([3 + 4j, 0, 5j], np.complex64))
    check_against_numpy(figures, np.array([5.0, 0.0, 5.0]))


def test_a_finite_complex_element_has_a_finite_magnitude() -> None:
    figures = statistics(np.array([3e38 + 3e38j], np.complex64))
    assert figures.finite == 1 and figures.maximum == pytest.approx(math.sqrt(2) * 3e38)


def test_values_that_are_not_finite_are_counted_and_left_out() -> None:
    values = np.array([1.0, np.nan, np.inf, -np.inf, -np.inf, 0.0, -3.0], np.float32)
    figures = statistics(values)
    assert (figures.nan, figures.positive_inf, figures.negative_inf, figures.count) == (1, 1, 2, 7)
    check_against_numpy(figures, np.array([1.0, 0.0, -3.0]))


@pytest.mark.parametrize("values", [np.zeros((0, 3), np.float32), np.array([np.nan, np.inf])])
def test_without_finite_elements_the_figures_are_nan(values: npt.NDArray[Any]) -> None:
    figures = statistics(values)
    assert figures.shape == values.shape and figures.finite == 0
    for number in (figures.minimum, figures.maximum, figures.mean, figures.std, figures.norm):
        assert math.isnan(number)
    assert not figures.histogram.any() and np.isnan(figures.edges).all()


def test_transposed_and_sliced_arrays_give_the_figures_of_their_elements() -> None:
    values = np.arange(60, dtype=np.float32).reshape(3, 4, 5).transpose(2, 0, 1)[::2]
    figures = statistics(values)
    assert figures.shape == (3, 3, 4)
    check_against_numpy(figures, values.astype(np.float64))


def test_a_number_has_statistics_and_the_value_is_not_changed() -> None:
    assert statistics(2.5).mean == 2.5
    values = np.array([1.0, -4.0])
    values.flags.writeable = False
    assert statistics(values).mean == -1.5


@pytest.mark.parametrize("extreme", [1e308, 1e-308, 5e-324])
def test_extreme_magnitudes_neither_overflow_nor_vanish(extreme: float) -> None:
    figures = statistics(np.array([extreme, -extreme, extreme]))
    assert figures.norm / extreme == pytest.approx(math.sqrt(3), rel=1e-9) or extreme < 1e-320
    assert math.isfinite(figures.mean) and math.isfinite(figures.std) and figures.norm > 0
    assert figures.histogram[0] == 1 and figures.histogram[-1] == 2
    assert figures.edges[0] == -extreme and figures.edges[-1] == extreme


def test_a_large_offset_does_not_spoil_the_standard_deviation() -> None:
    values = 1e9 + np.random.default_rng(2).normal(size=100_000)
    assert statistics(values).std == pytest.approx(values.std(), rel=1e-6)


def test_the_histogram_puts_values_into_equal_bins() -> None:
    figures = statistics(np.arange(BINS * 3 + 1, dtype=np.float64))  # 0..192: three to a bin, and the right edge
    assert figures.histogram.tolist() == [3] * (BINS - 1) + [4]
    np.testing.assert_allclose(figures.edges, np.arange(BINS + 1) * 3.0)


@pytest.mark.parametrize("value", [0.0, 7.0, -1e300, 1e-300])
def test_one_repeated_value_lies_in_one_bin_around_it(value: float) -> None:
    figures = statistics(np.full(10, value))
    assert figures.std == 0 and figures.mean == value
    assert np.count_nonzero(figures.histogram) == 1
    assert figures.edges[0] < value < figures.edges[-1] or abs(value) < 1e-100


def test_neighbouring_floats_do_not_break_the_histogram() -> None:
    figures = statistics(np.array([1.0, np.nextafter(1.0, 2.0)]))
    assert figures.histogram[0] == 1 and figures.histogram[-1] == 1


def test_what_holds_no_numbers_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="value must hold numbers to have statistics, got elements of dtype <U1"):
        statistics(np.array(["a"]))


def test_an_array_on_a_gpu_is_fetched_with_get() -> None:
    class FakeGpuArray:
        def get(self) -> npt.NDArray[Any]:
            return np.array([1.0, 2.0], np.float32)

    FakeGpuArray.__module__ = "cupy"
    assert statistics(FakeGpuArray()).mean == 1.5
