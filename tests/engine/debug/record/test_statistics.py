"""Statistics of a value, against NumPy's own on the finite elements."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import hypothesis
import hypothesis.strategies as st
import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from hookscope.engine.cpu import threads
from hookscope.engine.debug.record.statistics import BINS, Statistics, any_nonfinite, changes, statistics, statistics_of

LARGE = 300_001  # elements: several pieces, the last one of odd length


def on_threads(count: int, values: Any) -> Statistics:
    threads.set_number(count)
    try:
        return statistics(values)
    finally:
        threads.set_number(None)


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


def bins_by_search(figures: Statistics, finite: npt.NDArray[np.float64]) -> list[int]:
    """Return how many elements lie between two limits, the lower one included; above the last limit none."""
    indices = np.searchsorted(figures.edges, finite, side="right") - 1
    return np.bincount(np.minimum(indices, BINS - 1), minlength=BINS).tolist()


@pytest.mark.parametrize("size", [1, 7, 4096, 1 << 15, (1 << 15) + 1, LARGE])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_of_any_size_agree_with_numpy(dtype: str, size: int) -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, size).astype(dtype)
    figures = statistics(values)
    check_against_numpy(figures, values.astype(np.float64))
    assert figures.histogram.tolist() == bins_by_search(figures, values.astype(np.float64))


@pytest.mark.parametrize("size", [1000, LARGE])
@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", ">f4", "<c16"]
)
def test_numbers_of_any_type_agree_with_numpy(dtype: str, size: int) -> None:
    values = np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 100, size).astype(dtype)
    figures = statistics(values)
    check_against_numpy(figures, np.abs(values.astype(np.complex128)))
    assert figures.dtype == values.dtype.name
    assert figures.histogram.tolist() == bins_by_search(figures, values.real.astype(np.float64))


def test_bfloat16_is_a_number_type() -> None:
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


@pytest.mark.parametrize(
    "values", [np.zeros((0, 3), np.float32), np.array([np.nan, np.inf]), np.full(LARGE, np.nan), np.float16("nan")]
)
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


@pytest.mark.parametrize("axes", [(2, 0, 1), (0, 2, 1)])
@pytest.mark.parametrize("shape", [(2, 3, 70_000), (1, 70_000, 5), (300_000, 1, 2)])
def test_large_arrays_of_any_layout_give_the_figures_of_their_elements(
    shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    values = np.random.default_rng(3).normal(size=shape).astype(np.float32)
    for layout in (values.transpose(axes), values[..., ::2], values[:, ::-1], np.broadcast_to(values, (2, *shape))):
        figures = statistics(layout)
        check_against_numpy(figures, layout.astype(np.float64))
        assert figures.shape == layout.shape


def test_elements_at_odd_addresses_are_read() -> None:
    values = np.frombuffer(b"?" + np.arange(8.0, dtype=np.float32).tobytes(), np.float32, offset=1)
    check_against_numpy(statistics(values), np.arange(8.0))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_in_a_large_array_too_values_that_are_not_finite_are_left_out(dtype: str) -> None:
    values = np.random.default_rng(4).normal(size=LARGE).astype(dtype)
    values[::1000], values[5], values[7::100_000] = np.nan, np.inf, -np.inf
    values[1 << 15 : 2 << 15] = np.nan  # a whole block of the kernels
    finite = values[np.isfinite(values)].astype(np.float64)
    figures = statistics(values)
    assert figures.nan == np.isnan(values).sum()
    assert (figures.positive_inf, figures.negative_inf) == (1, np.isneginf(values).sum())
    check_against_numpy(figures, finite)
    assert figures.histogram.tolist() == bins_by_search(figures, finite)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_the_number_of_threads_changes_no_bit(dtype: str) -> None:
    values = (np.random.default_rng(5).normal(size=10 * LARGE) * 1000).astype(dtype)
    item, *others = [on_threads(count, values) for count in (1, 2, 3)]
    for other in others:
        assert (item.mean, item.std, item.norm) == (other.mean, other.std, other.norm)
        assert item.histogram.tolist() == other.histogram.tolist()


def test_the_figures_of_many_values_at_once_are_those_of_each_alone() -> None:
    draw = np.random.default_rng(8).normal
    values = [
        draw(size=(3, 5)).astype(np.float32),
        draw(size=0),
        draw(size=LARGE).astype(np.float32),
        np.arange(9),
        draw(size=(300, 500)).T,
        draw(size=70_000)[::2],
        np.float16([1, np.inf]),
        draw(size=(40, 5000)) * 1e200,
        2.5,
    ]
    values[2][77] = np.nan
    for some in (values, values[:2], values[3:4], []):
        for figures, value in zip(statistics_of(some), some, strict=True):
            alone = statistics(value)
            for name in ("count", "shape", "dtype", "zeros", "nan", "positive_inf", "negative_inf"):
                assert getattr(figures, name) == getattr(alone, name)
            for name in ("minimum", "maximum", "mean", "std", "norm"):
                np.testing.assert_equal(getattr(figures, name), getattr(alone, name))
            assert figures.histogram.tolist() == alone.histogram.tolist()


@pytest.mark.parametrize("low", [0.0, -32.0, 7.0, -1000.0, 60_000.0, 3e6])
def test_elements_beside_the_limit_of_two_bins_lie_on_their_side(low: float) -> None:
    limits = (low + np.arange(BINS + 1) * np.float32(0.75)).astype(np.float32)
    neighbors = [np.nextafter(limits[1:-1], np.float32(toward)) for toward in (-np.inf, np.inf)]
    values = np.concatenate([limits, *neighbors] * 40)
    values = np.random.default_rng(9).permutation(values)
    assert values.size > 4096 and (values.min(), values.max()) == (limits[0], limits[-1])
    figures = statistics(values)
    assert figures.histogram.tolist() == bins_by_search(figures, values.astype(np.float64))


def test_what_changed_agrees_with_numpy() -> None:
    draw = np.random.default_rng(10)
    befores = [draw.normal(size=shape).astype(np.float32) for shape in ((), (0,), (7, 3), (300, 401), (LARGE,))]
    nows = [before + np.float32(0.01) * draw.normal(size=before.shape).astype(np.float32) for before in befores]
    pairs = [*zip(nows, befores, strict=True), (nows[3].T, befores[3].T), (nows[3][::2], befores[3][::2])]
    pairs += [(nows[3], befores[3].copy("F")), (np.float16([1, 3]), np.float16([1, 1])), (np.array([5]), np.array([2]))]
    for (change, norm), (now, before) in zip(changes(pairs), pairs, strict=True):
        wide, old = np.asarray(now, np.float64), np.asarray(before, np.float64)
        assert change == pytest.approx(np.linalg.norm(wide - old), rel=1e-6)
        assert norm == pytest.approx(np.linalg.norm(old), rel=1e-12)
    for bad in (np.nan, np.inf):
        spoilt = befores[3].copy()
        spoilt[299, 400] = bad
        for pair in ((spoilt, befores[3]), (befores[3], spoilt), (spoilt, spoilt)):
            assert math.isnan(changes([pair])[0][0])
    assert changes([]) == []
    assert changes([(befores[3], befores[3])])[0][0] == 0


def test_threads_may_ask_at_once() -> None:
    values = np.random.default_rng(6).normal(size=(8, LARGE))
    expected = [statistics(row).std for row in values]
    with ThreadPoolExecutor(8) as pool:
        assert [figures.std for figures in pool.map(statistics, values)] == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_helpers_of_its_own() -> None:
    values = np.ones(LARGE)
    on_threads(2, values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the point of the test is that there are threads
        child = os.fork()
    if not child:
        os._exit(int(on_threads(2, values).mean))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def test_a_number_has_statistics_and_the_value_is_not_changed() -> None:
    assert statistics(2.5).mean == 2.5
    values = np.array([1.0, -4.0])
    values.flags.writeable = False
    assert statistics(values).mean == -1.5


def test_every_float16_is_read_as_it_is() -> None:
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    for order in (values, values.reshape(256, 256)[:, ::-1]):
        figures = statistics(order)
        check_against_numpy(figures, values[np.isfinite(values)].astype(np.float64))
        assert (figures.nan, figures.positive_inf, figures.negative_inf) == (2046, 1, 1)
    for value in values[::251]:
        if np.isfinite(value):
            assert statistics(value).minimum == float(value)


@pytest.mark.parametrize("size", [3, LARGE])
@pytest.mark.parametrize("extreme", [1e300, 1e-300])
def test_squares_that_overflow_or_vanish_are_summed(extreme: float, size: int) -> None:
    values = np.random.default_rng(7).normal(size=size)
    figures = statistics(values * extreme)
    for name in ("minimum", "maximum", "mean", "std", "norm"):
        assert getattr(figures, name) / extreme == pytest.approx(getattr(statistics(values), name), rel=1e-9)
    assert figures.histogram.tolist() == statistics(values).histogram.tolist()


@pytest.mark.parametrize("extreme", [1e308, 1e-308, 5e-324])
def test_extreme_magnitudes_neither_overflow_nor_vanish(extreme: float) -> None:
    figures = statistics(np.array([extreme, -extreme, extreme]))
    assert figures.norm / extreme == pytest.approx(math.sqrt(3), rel=1e-9) or extreme < 1e-320
    assert math.isfinite(figures.mean) and math.isfinite(figures.std) and figures.norm > 0
    assert figures.histogram[0] == 1 and figures.histogram[-1] == 2
    assert figures.edges[0] == -extreme and figures.edges[-1] == extreme


def test_magnitudes_far_apart_all_count() -> None:
    figures = statistics(np.array([1e-300, 1e300, -1e-320, 0.0, np.inf]))
    assert (figures.minimum, figures.maximum, figures.zeros, figures.finite) == (-1e-320, 1e300, 1, 4)
    assert figures.norm == pytest.approx(1e300) and figures.mean == pytest.approx(2.5e299)
    assert figures.histogram[0] == 3 and figures.histogram[-1] == 1


def test_float32_neither_overflows_nor_vanishes() -> None:
    values = np.array([3e38, -3e38, 1e-45, 3e38], np.float32)
    figures = statistics(values)
    check_against_numpy(figures, values.astype(np.float64))
    check_against_numpy(statistics(values[2:3]), values[2:3].astype(np.float64))


@hypothesis.settings(deadline=None)
@hypothesis.given(st.lists(st.floats(), min_size=1, max_size=40))
def test_any_floats_agree_with_exact_arithmetic(values: list[float]) -> None:
    figures = statistics(np.array(values))
    finite = [Fraction(value) for value in values if math.isfinite(value)]
    assert figures.finite == len(finite) == figures.histogram.sum()
    if not finite:
        return
    largest = float(max(map(abs, finite)))
    mean = sum(finite) / len(finite)
    variance = sum((value - mean) ** 2 for value in finite) / len(finite)
    unit = Fraction(largest) or Fraction(1)
    assert (figures.minimum, figures.maximum) == (min(finite), max(finite))
    assert figures.zeros == finite.count(Fraction(0))
    assert abs(Fraction(figures.mean) - mean) <= unit * Fraction(1, 1 << 48) + Fraction(5e-324)
    std = math.sqrt(variance / unit**2) * largest
    assert figures.std == pytest.approx(std, rel=1e-9, abs=largest * 2.0**-48 + 5e-324)
    norm = math.sqrt(sum((value / unit) ** 2 for value in finite))
    assert figures.norm == pytest.approx(norm * largest, rel=1e-12, abs=5e-324)


def test_a_large_offset_does_not_spoil_the_standard_deviation() -> None:
    values = 1e9 + np.random.default_rng(2).normal(size=100_000)
    assert statistics(values).std == pytest.approx(values.std(), rel=1e-6)


def test_the_histogram_puts_values_into_equal_bins() -> None:
    figures = statistics(np.arange(BINS * 3 + 1, dtype=np.float64))  # 0..192: three to a bin, and the right edge
    assert figures.histogram.tolist() == [3] * (BINS - 1) + [4]
    np.testing.assert_allclose(figures.edges, np.arange(BINS + 1) * 3.0)


@pytest.mark.parametrize("span", [5, 63, 65, 100, 255, 1000, 4097, 16_383])
def test_integers_lie_in_the_bin_that_begins_at_or_below_them(span: int) -> None:
    values = np.arange(span + 1)
    figures = statistics(values.astype(np.int32))
    # By integers: the bin of n is the integral part of n * 64 / span.
    bins = [min(number * BINS // span, BINS - 1) for number in range(span + 1)]
    assert figures.histogram.tolist() == np.bincount(bins, minlength=BINS).tolist()


@pytest.mark.parametrize("value", [0.0, 7.0, -1e300, 1e-300])
def test_one_repeated_value_lies_in_one_bin_around_it(value: float) -> None:
    figures = statistics(np.full(10, value))
    assert figures.std == 0 and figures.mean == value
    assert np.count_nonzero(figures.histogram) == 1
    assert figures.edges[0] < value < figures.edges[-1] or abs(value) < 1e-100


def test_neighboring_floats_do_not_break_the_histogram() -> None:
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


@pytest.mark.parametrize("size", [0, 1, 64, LARGE])
@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float32", "float64", "complex64", "complex128"])
def test_any_nonfinite_finds_one_element_anywhere(dtype: npt.DTypeLike, size: int) -> None:
    values = np.full(size, -1.5, dtype)
    if size:
        values[0] = np.finfo(np.float16).max
    assert any_nonfinite(values) is False
    for bad in (np.nan, np.inf, -np.inf, np.copysign(np.nan, -1)):
        for index in {0, size // 2, size - 1} if size else ():
            spoilt = values.copy()
            spoilt[index] = bad
            assert any_nonfinite(spoilt) is True
            assert any_nonfinite(spoilt.reshape(1, -1).T) is True
            assert any_nonfinite(np.repeat(spoilt, 2)[::2]) is True


def test_a_view_of_what_is_finite_is_finite_and_one_of_what_is_not_may_be() -> None:
    values = np.ones((200, 300), np.float32)
    assert not any_nonfinite(values) and not any_nonfinite(values[::2, 1:])
    spoilt = values.copy()
    spoilt[7, 7] = np.inf
    assert any_nonfinite(spoilt) and not any_nonfinite(spoilt[8:]) and any_nonfinite(spoilt[:, 7])
    assert any_nonfinite(spoilt.transpose(1, 0)) and any_nonfinite(spoilt)
    values[7, 7] = np.nan  # as if an optimizer steps in place: nothing is cached for an array
    assert any_nonfinite(values)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64"])
def test_integers_are_finite(dtype: str) -> None:
    assert any_nonfinite(np.ones(3, dtype)) is False


def test_the_linker_of_kernels_is_imported_with_the_first_statistics() -> None:
    code = (
        "import sys, numpy\n"
        "from hookscope.engine.debug.record.statistics import any_nonfinite, statistics\n"
        "any_nonfinite(numpy.ones(3))\n"
        "assert not {'llvmlite', 'numba'} & set(sys.modules)\n"
        "assert statistics(1.0).mean == 1 and 'llvmlite' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "HOOKSCOPE_NUMBA": "1"}, check=True)


@pytest.mark.ci_only
def test_without_a_folder_for_machine_code_it_is_compiled_anew() -> None:
    code = (
        "import pathlib\n"
        "from hookscope.engine.cpu import compiling\n"
        "from hookscope.engine.debug import statistics\n"
        "compiling.BUILT = pathlib.Path('nowhere')\n"
        "assert statistics([1.0, 3.0]).std == 1"
    )
    environment = {**os.environ, "HOOKSCOPE_NUMBA": "1", "XDG_CACHE_HOME": os.devnull}
    environment.pop("NUMBA_CACHE_DIR", None)
    process = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert process.stdout == "" and "there is no folder to keep it in" in process.stderr
