"""Copies in one piece are what NumPy's are, however the numbers lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from layouts import ORDERS, samples_last

from hookscope.engine.cpu import threads
from hookscope.engine.cpu.arrays import copying


def numbers(*shape: int) -> Any:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


VIEWS: dict[str, Any] = {
    "a matrix": numbers(131, 257).T,
    "whole tiles": numbers(128, 256).T,
    "many rows": numbers(3, 20_011).T,
    "many columns": numbers(20_011, 3).T,
    "matrices": numbers(5, 67, 90).swapaxes(1, 2),
    "channels last": np.moveaxis(numbers(4, 17, 19, 23), 1, -1),
    "samples last": samples_last(numbers(7, 5, 31, 19)),
    "samples first": np.moveaxis(numbers(7, 5, 31, 19), 0, -1),
    "a part": numbers(300, 400)[3:200, 17:250].T,
    "parts of matrices": numbers(6, 100, 200)[1:5, 3:80, 11:150].swapaxes(1, 2),
    "backwards": numbers(300, 400)[::-1].T,
    "backwards along": numbers(300, 400)[:, ::-1].T,
    "one row again and again": np.broadcast_to(numbers(200), (100, 200)).T,
    "one number": np.broadcast_to(np.float32(3), (200, 200)),
    "reversed axes": numbers(12, 13, 14, 15).T,
    "with ones": numbers(1, 131, 1, 257).T,
    "small": numbers(30, 40).T,
    "doubles": numbers(131, 257).astype(np.float64).T,
    "no axis": np.array(3, np.float32),
    "nothing": np.zeros((0, 300), np.float32).T,
    **{order: make(numbers(9, 8, 17, 19)) for order, make in ORDERS.items()},
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_copy_in_one_piece_has_the_same_numbers_in_their_places(name: str) -> None:
    x = VIEWS[name]
    try:
        for count in (1, 2, 4):
            threads.set_number(count)
            result = copying.contiguous(x)
            assert result.flags.c_contiguous and result.dtype == x.dtype and result.shape == x.shape
            np.testing.assert_array_equal(result, x)
    finally:
        threads.set_number(None)
    assert (result is x) == x.flags.c_contiguous
