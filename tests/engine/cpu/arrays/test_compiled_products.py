"""Products of matrices that are shared out in tiles: right, and the same bits for any number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hookscope.engine.cpu import compiling, threads
from hookscope.engine.cpu.arrays import matmul

# (a, b, transpose_a, transpose_b): tiles along rows and columns, matrices in batches, one broadcast, odd lengths.
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], bool, bool]] = {
    "long rows": ((64, 784), (512, 784), False, True),
    "turned first": ((64, 512), (64, 785), True, False),
    "both turned": ((300, 201), (111, 300), True, True),
    "many rows": ((1001, 130), (130, 33), False, False),
    "many columns": ((17, 130), (130, 2001), False, False),
    "batch": ((3, 5, 50, 60), (3, 5, 60, 70), False, False),
    "batch turned": ((3, 5, 50, 60), (3, 5, 70, 60), False, True),
    "broadcast": ((6, 1, 64, 65), (4, 65, 80), False, False),
    "one matrix for all": ((7, 90, 80), (80, 70), False, False),
    "many rows, turned second": ((1100, 70), (45, 70), False, True),
    "deep, turned second": ((130, 2001), (40, 2001), False, True),
    "many rows, batch turned": ((2, 1030, 40), (2, 33, 40), False, True),
    "many rows, broadcast turned": ((3, 1030, 40), (1, 33, 40), False, True),
    "many rows, both turned": ((50, 1030), (60, 50), True, True),
    "one column": ((300, 400), (400, 1), False, False),
    "one row": ((1, 400), (400, 300), False, False),
}


def pair(case: str, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    a, b = (random.standard_normal(shape).astype(np.float32) for shape in CASES[case][:2])
    return a, b


def exact(case: str, a: Any, b: Any) -> Any:
    _, _, turned_a, turned_b = CASES[case]
    a, b = a.astype(np.float64), b.astype(np.float64)
    return np.matmul(a.swapaxes(-1, -2) if turned_a else a, b.swapaxes(-1, -2) if turned_b else b)


@pytest.fixture(autouse=True)
def number() -> Iterator[None]:
    yield
    threads.set_number(None)


@pytest.mark.parametrize("case", CASES)
def test_products_agree_with_float64_for_any_number_of_threads(case: str) -> None:
    a, b = pair(case)
    results = []
    for count in (1, 2, 3):
        threads.set_number(count)
        results.append(matmul.matmul(a, b, *CASES[case][2:]))
    expected = exact(case, a, b)
    assert results[0].shape == expected.shape and results[0].dtype == np.float32 and results[0].flags.c_contiguous
    np.testing.assert_allclose(results[0], expected, rtol=1e-5, atol=2e-4)
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


@pytest.mark.parametrize("case", ["long rows", "batch", "one matrix for all", "many rows, turned second"])
def test_operands_may_lie_in_memory_in_any_way(case: str) -> None:
    a, b = pair(case)
    expected = exact(case, a, b)
    spread = np.zeros((*a.shape[:-1], 2 * a.shape[-1]), np.float32)
    spread[..., ::2] = a
    shifted = np.frombuffer(b"\0" + b.tobytes(), np.float32, offset=1).reshape(b.shape)
    columns_first = np.asfortranarray(a)
    flipped = np.ascontiguousarray(b[..., ::-1])[..., ::-1]
    for left, right in ((spread[..., ::2], b), (a, shifted), (columns_first, b), (a, flipped)):
        np.testing.assert_allclose(matmul.matmul(left, right, *CASES[case][2:]), expected, rtol=1e-5, atol=2e-4)


@pytest.mark.parametrize("shape", [(64, 784), (8, 16, 784), (2000, 100), (3, 5)])
def test_the_bias_is_added_to_each_row(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(1)
    x, weight = (random.standard_normal(s).astype(np.float32) for s in (shape, (400, shape[-1])))
    bias = random.standard_normal(800).astype(np.float32)[::2]
    expected = x.astype(np.float64) @ weight.astype(np.float64).T + bias.astype(np.float64)
    np.testing.assert_allclose(matmul.linear(x, weight, bias, None), expected, rtol=1e-5, atol=2e-4)


def test_a_nan_and_an_infinity_stay_in_their_rows_and_columns() -> None:
    a, b = pair("many columns")
    a[3, 7], b[11, 1500] = np.nan, np.inf
    result = matmul.matmul(a, b, False, False)
    expected = np.zeros(result.shape, bool)
    expected[3], expected[:, 1500] = True, True
    np.testing.assert_array_equal(~np.isfinite(result), expected)
    assert np.isinf(result[np.arange(17) != 3, 1500]).all() and np.isnan(result[3]).all()


@pytest.mark.parametrize(
    ("left", "right"),
    [((1, 1500), (1500, 1400)), ((1500,), (1500, 1400)), ((1400, 1500), (1500,)), ((1 << 15,), (1 << 15,))],
)
def test_a_vector_of_much_work_has_the_same_bits_for_any_number_of_blas_threads(
    left: tuple[int, ...], right: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matmul, "is_on", lambda: True)  # NumPy's own product is not promised to
    x = np.random.default_rng(2).standard_normal(left).astype(np.float32)
    w = np.random.default_rng(3).standard_normal(right).astype(np.float32)
    libraries = threads._blas_libraries("numpy")
    before = [library.get_num_threads() for library in libraries]
    try:
        results = []
        for count in (1, 2, 3):
            for library in libraries:
                library.set_num_threads(count)
            results.append(matmul.matmul(x, w, False, False))
    finally:
        for library, count in zip(libraries, before, strict=True):
            library.set_num_threads(count)
    assert all(np.array_equal(each, results[0]) for each in results)


@pytest.mark.parametrize("shape", [(2, 1 << 16), (1000, 257), (1 << 17, 1), (200_000, 3)])
def test_columns_are_summed_as_in_float64_and_each_has_its_own_nans(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(4).standard_normal(shape).astype(np.float32)
    assert matmul.has_fast_column_sums(x) == compiling.is_on()
    size = np.abs(x.astype(np.float64)).sum(axis=0)
    assert (np.abs(matmul.column_sums(x) - x.sum(axis=0, dtype=np.float64)) <= 1e-6 * size).all()
    x[1, 0] = np.inf
    assert np.isinf(matmul.column_sums(x)[0]) and np.isfinite(matmul.column_sums(x)[1:]).all()
    x[0, 0] = -np.inf
    with np.errstate(invalid="ignore"):  # as in an operator
        assert np.isnan(matmul.column_sums(x)[0])
        assert np.isfinite(matmul.column_sums(x)[1:]).all()


def test_other_sums_of_columns_are_numpys() -> None:
    x = np.zeros((512, 512), np.float32)
    for other in (x.T[1:], x[:, 1:], x[:100], x.astype(np.float64), x.reshape(-1), x.reshape(2, 256, 512)):
        assert not matmul.has_fast_column_sums(other)


def test_without_numba_it_is_numpys_product(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = pair("long rows")
    monkeypatch.setattr(matmul, "is_on", lambda: False)
    np.testing.assert_array_equal(matmul.matmul(a, b, False, True), a @ b.T)
