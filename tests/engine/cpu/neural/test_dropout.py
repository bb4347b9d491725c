"""Dropout on arrays against formulas in float64, and its masks against Philox's words, counted one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_references import DTYPES, close, normal
from layouts import assert_same_bits

from hookscope.engine.cpu.arrays import philox
from hookscope.engine.cpu.neural import dropout


def drawn(seed: int, offset: int, count: int) -> Any:
    """Return random numbers: element i is made of word i % 4 of counter offset + i // 4."""
    low, high = (np.array([offset + i // 4 & 2**64 - 1 for i in range(count)], np.uint64) >> s for s in (0, 32))
    zero = np.zeros(count, np.uint64)
    counter = (low & np.uint64(2**32 - 1), high, zero, zero)
    words = np.stack(philox.philox4x32(counter, (seed & 2**32 - 1, seed >> 32 & 2**32 - 1)))
    signed = words[np.arange(count) % 4, np.arange(count)].astype(np.uint32).view(np.int32)
    return np.where(signed < 0, ~signed, signed).astype(np.float32) * np.float32(4.6566127342e-10)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dropout_keeps_what_its_counters_say(dtype: np.dtype[Any]) -> None:
    x = normal(40, 30).astype(dtype).T
    is_retained = drawn(5, 1000, 1200).reshape(30, 40) >= np.float32(0.3)
    y, mask = dropout.dropout(x, 0.3, 5, 1000), dropout.dropout_kept(x, 0.3, 5, 1000)
    assert mask.dtype == np.bool_
    assert np.array_equal(mask, is_retained)
    close(y, np.where(is_retained, x.astype(np.float64) / 0.7, 0.0), dtype)


def test_dropout_at_its_two_ends() -> None:
    x = np.array([1.0, np.inf, np.nan], dtype=np.float32)
    assert dropout.dropout(x, 1.0, 1, 0).tolist() == [0, 0, 0]
    np.testing.assert_array_equal(dropout.dropout(x, 0.0, 1, 0), x)
    assert dropout.dropout_kept(x, 1.0, 1, 0).tolist() == [False] * 3
    assert dropout.dropout_kept(x, 0.0, 1, 0).tolist() == [True] * 3
    assert dropout.dropout(x[:0], 0.5, 1, 0).shape == (0,)


def test_what_is_drawn_as_the_probability_itself_is_kept() -> None:
    for count in (50, 20_001):
        result = drawn(5, 0, count)
        for index in (0, 17, 49):
            mask = dropout.dropout_kept(np.ones(count, np.float32), float(result[index]), 5, 0)
            assert mask[index]
            assert np.array_equal(mask, result >= result[index])


def test_draws_one_after_the_other_share_no_counter() -> None:
    for count in range(10):
        full = philox.uniform4x(3, 7, (count + 4,))
        np.testing.assert_array_equal(philox.uniform4x(3, 7, (count,)), full[:count])
        following = philox.uniform4x(3, 7 + philox.counters(count), (4,))
        assert not set(following.tolist()) & set(full[:count].tolist())


def test_dropout_names_a_probability_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"p must lie in \[0, 1\], got 1.5"):
        dropout.dropout(normal(2), 1.5, 0, 0)


@pytest.mark.parametrize(("seed", "offset"), [(5, 1000), (-3, 2**64 - 1000), (2**63 + 5, 2**40 + 3)])
@pytest.mark.parametrize("p", [0.1, 0.5, 1.0, 0.0])
@pytest.mark.parametrize("width", [19, 20])  # of maps in whole counters, and not
def test_much_is_dropped_by_the_same_counters_in_any_memory_order(width: int, p: float, seed: int, offset: int) -> None:
    x = normal(7, 5, 31, width).astype(np.float32)
    x[0, 0, 0, :3] = [np.nan, np.inf, -np.inf]
    result = drawn(seed, offset, x.size).reshape(x.shape)
    np.testing.assert_array_equal(philox.uniform4x(seed, offset, x.shape), result)
    mask = result >= np.float32(p)
    y = assert_same_bits(lambda x: dropout.dropout(x, p, seed, offset), x)
    np.testing.assert_array_equal(y, np.where(mask, x * np.float32(1 / (1 - p or 1)), np.float32(0)))
    np.testing.assert_array_equal(assert_same_bits(lambda x: dropout.dropout_kept(x, p, seed, offset), x), mask)
