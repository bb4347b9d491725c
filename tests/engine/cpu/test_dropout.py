"""Dropout on arrays against formulas in float64, gradients against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_references import DTYPES, close, normal
from layouts import assert_same_bits

from hookscope.engine.cpu import dropout, philox


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dropout_keeps_what_its_counters_say(dtype: np.dtype[Any]) -> None:
    x = normal(40, 30).astype(dtype).T
    y, mask = dropout.dropout(x, 0.3, 5, 1000)
    kept = philox.philox_uniform(5, np.arange(1000, 2200)).reshape(30, 40) >= np.float32(0.3)
    assert mask.dtype == np.bool_
    assert np.array_equal(mask, kept)
    close(y, np.where(kept, x.astype(np.float64) / 0.7, 0.0), dtype)
    close(dropout.dropout_grad(x, mask, 0.3), y.astype(np.float64), dtype)


def test_dropout_at_its_two_ends() -> None:
    x = np.array([1.0, np.inf, np.nan], dtype=np.float32)
    assert dropout.dropout(x, 1.0, 1, 0)[0].tolist() == [0, 0, 0]
    np.testing.assert_array_equal(dropout.dropout(x, 0.0, 1, 0)[0], x)


def test_what_is_drawn_as_the_probability_itself_is_kept() -> None:
    for count in (50, 20_000):
        drawn = philox.uniform(5, 0, (count,))
        for place in (0, 17, 49):
            mask = dropout.dropout(np.ones(count, np.float32), float(drawn[place]), 5, 0)[1]
            assert mask[place]
            assert np.array_equal(mask, drawn >= drawn[place])


def test_dropout_names_a_probability_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"p must lie in \[0, 1\], got 1.5"):
        dropout.dropout(normal(2), 1.5, 0, 0)


@pytest.mark.parametrize(("seed", "offset"), [(5, 1000), (-3, 2**64 - 1000), (2**63 + 5, 2**40 + 3)])
@pytest.mark.parametrize("p", [0.1, 0.5, 1.0, 0.0])
def test_much_is_dropped_by_the_same_counters_in_any_memory_order(p: float, seed: int, offset: int) -> None:
    x, g = normal(7, 5, 31, 19).astype(np.float32), normal(7, 5, 31, 19, seed=1).astype(np.float32)
    x[0, 0, 0, :3] = g[0, 0, 0, :3] = [np.nan, np.inf, -np.inf]
    counters = np.array([(offset + i) % 2**64 for i in range(x.size)], np.uint64)
    drawn = philox.philox_uniform(seed, counters).reshape(x.shape)
    np.testing.assert_array_equal(philox.uniform(seed, offset, x.shape), drawn)
    kept = drawn >= np.float32(p)
    rest = np.float32(1 - p or 1)
    y, mask = assert_same_bits(lambda x: dropout.dropout(x, p, seed, offset), x)
    np.testing.assert_array_equal(mask, kept)
    np.testing.assert_array_equal(y, np.where(kept, x / rest, np.float32(0)))
    found = assert_same_bits(lambda g, mask: dropout.dropout_grad(g, mask, p), g, mask)
    np.testing.assert_array_equal(found, np.where(kept, g / rest, np.float32(0)))
