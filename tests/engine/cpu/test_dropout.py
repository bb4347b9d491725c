"""Dropout on arrays against formulas in float64, gradients against central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_references import DTYPES, close, normal

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
    drawn = philox.uniform(5, 0, (50,))
    for place in (0, 17, 49):
        mask = dropout.dropout(np.ones(50, np.float32), float(drawn[place]), 5, 0)[1]
        assert mask[place]
        assert np.array_equal(mask, drawn >= drawn[place])


def test_dropout_names_a_probability_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"p must lie in \[0, 1\], got 1.5"):
        dropout.dropout(normal(2), 1.5, 0, 0)
