"""Products of sparse matrices and the order of their elements, against dense ones."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hookscope.engine.cpu.arrays.sparse import (
    Positions,
    element_product,
    matrix_product,
    merged,
    offsets,
    product_positions,
)


def positions(rows: list[int], columns: list[int], shape: tuple[int, int] = (3, 4)) -> Positions:
    return Positions(np.array(rows, np.int32), np.array(columns, np.int32), shape)


TWICE = positions([2, 0, 2, 0], [1, 3, 1, 0])  # out of order, and one place twice
VALUES = np.array([1, 2, 3, 4])


def dense(values: Any, where: Positions) -> Any:
    result = np.zeros(where.shape, values.dtype)
    np.add.at(result, (where.rows, where.columns), values)
    return result


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.complex64])
def test_products_are_those_of_dense_matrices_in_the_dtype_that_came(dtype: Any) -> None:
    values, right = VALUES.astype(dtype), np.arange(8).reshape(4, 2).astype(dtype)
    result = matrix_product(values, right, TWICE)
    assert result.dtype == right.dtype
    np.testing.assert_array_equal(result.astype(complex), dense(VALUES, TWICE) @ np.arange(8).reshape(4, 2))
    at = positions([2, 2, 1], [2, 0, 1], (3, 3))
    picked = element_product(values, values, TWICE, TWICE.transposed, at)
    assert picked.dtype == values.dtype
    square = dense(VALUES, TWICE) @ dense(VALUES, TWICE).T
    np.testing.assert_array_equal(picked.astype(complex), square[at.rows, at.columns])


def test_a_product_has_a_place_wherever_elements_meet() -> None:
    result = product_positions(TWICE, TWICE.transposed)
    assert (result.rows.tolist(), result.columns.tolist(), result.shape) == ([0, 2], [0, 2], (3, 3))
    # 1 * 1 + 1 * -1: the terms cancel, and the place is kept
    first, second = positions([0, 0], [0, 1], (1, 2)), positions([0, 1], [0, 0], (2, 1))
    result = product_positions(first, second)
    assert (result.rows.tolist(), result.columns.tolist()) == ([0], [0])
    assert element_product(np.array([1.0, 1.0]), np.array([1.0, -1.0]), first, second, result).tolist() == [0.0]


def test_places_are_merged_in_order_and_rows_become_offsets() -> None:
    rows, columns, at = merged(TWICE)
    assert (rows.tolist(), columns.tolist(), at.tolist()) == ([0, 0, 2], [0, 3, 1], [2, 1, 2, 0])
    result = offsets(TWICE.rows, 3)
    assert (result.tolist(), result.dtype) == ([0, 2, 2, 4], np.int32)
    assert offsets(np.zeros(0, np.int64), 2).tolist() == [0, 0, 0]
