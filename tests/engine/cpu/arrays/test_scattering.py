"""Rows added into a table: the same bits as numpy.add.at, for any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_references import normal
from layouts import assert_same_bits

from hookscope.engine.cpu import compiling
from hookscope.engine.cpu.arrays import scattering


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile, even if the environment leaves all to NumPy."""
    monkeypatch.setattr(compiling, "is_on", lambda: True)


@pytest.mark.parametrize("wrapped", [True, False])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("shape", "indices"), [((50, 33), (20, 30)), ((7, 3, 5), (2000,)), ((1, 20_000), (3,)), ((40_000, 2), (9_000,))]
)
def test_rows_are_added_in_their_order(shape: tuple[int, ...], indices: Any, dtype: type, wrapped: bool) -> None:
    index = np.random.default_rng(0).integers(-shape[0], shape[0], indices).astype(dtype)
    g = normal(*indices, *shape[1:]).astype(np.float32)
    g.reshape(-1)[[5, 100]] = np.nan, np.inf
    expected = np.zeros(shape, np.float32)
    np.add.at(expected, index, g)
    result = assert_same_bits(lambda g: scattering.rows_added(g, (index,) if wrapped else index, shape), g)
    np.testing.assert_array_equal(result, expected)


def test_what_is_not_about_rows_of_large_arrays_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    g, index = np.ones((200, 100), np.float32), np.zeros(200, np.int64)
    assert scattering.rows_added(g, index, (3, 100)) is not None
    for other in (index + 3, index - 4, index > 0, (index, index), slice(None), [0] * 200, np.array(0)):
        assert scattering.rows_added(g, other, (3, 100)) is None
    assert scattering.rows_added(g[:100], index[:100], (3, 100)) is None
    assert scattering.rows_added(g.astype(np.float64), index, (3, 100)) is None
    monkeypatch.setattr(compiling, "is_on", lambda: False)
    assert scattering.rows_added(g, index, (3, 100)) is None
