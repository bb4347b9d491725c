"""Digests tell bits apart, whatever the order in memory; rows have digests only if they tell samples apart."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hookscope.engine import Tensor
from hookscope.engine.debug.compare.ranks.digests import digest, norm, row_digests
from tests import strict_device

LARGE = np.random.default_rng(0).standard_normal(70_000).astype(np.float32)


@pytest.mark.parametrize("size", [1, 5, 16_384, 16_385, 70_000])
def test_any_changed_bit_is_another_digest(size: int) -> None:
    x = LARGE[:size]
    rng = np.random.default_rng(1)
    digests = {digest(x)}
    for _ in range(200):
        changed = x.copy().view(np.uint32)
        changed[rng.integers(size)] ^= np.uint32(1 << rng.integers(32))
        digests.add(digest(changed.view(np.float32)))
        assert digest(x.copy()) == digest(x)
    assert len(digests) > min(150, size * 20)


def test_changes_that_cancel_in_sums_are_seen() -> None:
    indices = np.array([1, 3, 101, 103])
    negated, exchanged = LARGE.copy(), LARGE.copy()
    negated[indices] *= -1
    exchanged[[1, 3]] = exchanged[[3, 1]]
    assert len({digest(item) for item in (LARGE, -LARGE, negated, exchanged, LARGE[::-1])}) == 5


def test_shape_and_dtype_count_and_the_order_in_memory_does_not() -> None:
    x = LARGE[:60_000].reshape(200, 300)
    assert digest(x) == digest(np.asfortranarray(x))
    assert digest(x) != digest(x.reshape(300, 200)) != digest(x.T)
    zeros = [np.zeros(4, dtype) for dtype in (np.float32, np.int32, np.float16, bool, ml_dtypes.bfloat16)]
    assert len({digest(item) for item in (*zeros, np.zeros((), np.float32))}) == 6


def test_arrays_on_a_device_have_the_digests_of_the_host() -> None:
    x = LARGE[:20_000].reshape(100, 200)
    with strict_device.device():
        array = Tensor(x)._array
        assert type(array) is not np.ndarray
        assert (digest(array), norm(array), row_digests([array])) == (digest(x), norm(x), row_digests([x]))


def test_a_norm_is_a_number_or_none() -> None:
    assert norm(np.array([3, 4], np.int32)) == norm(np.array([3, 4], ml_dtypes.bfloat16)) == 5.0
    assert norm(np.array([3 + 4j])) == 5.0
    assert norm(np.array([np.nan, 1.0])) is None and norm(np.array([np.inf], np.float16)) is None


def test_rows_are_told_where_they_tell_samples_apart() -> None:
    rng = np.random.default_rng(0)
    floats = rng.standard_normal((6, 4)).astype(np.float32)
    tokens = rng.integers(0, 1000, (6, 20))
    for arrays in ([floats], [tokens], [floats.astype(ml_dtypes.bfloat16)], [rng.standard_normal((6, 1))]):
        assert len(set(row_digests(arrays))) == 6
    named_rows: list[list[Any]] = [
        [],
        [np.float32(1.5)],
        [np.zeros((6, 4))],
        [np.full((6, 4), 0.5)],
        [np.eye(6)],
        [rng.integers(0, 3, (6, 2))],
        [np.arange(6)],
        [np.tile(np.arange(50), (6, 1))],
        [np.zeros((0, 4))],
    ]
    for arrays in named_rows:
        assert row_digests(arrays) == []


def test_a_row_is_of_all_inputs_together() -> None:
    rng = np.random.default_rng(0)
    x, labels, table = rng.standard_normal((6, 4)), np.arange(6), rng.standard_normal((3, 3))
    both = row_digests([x, labels])
    assert both != row_digests([x]) and row_digests([x, labels, table]) == both
    assert row_digests([x[:3], labels[:3]]) == both[:3]
