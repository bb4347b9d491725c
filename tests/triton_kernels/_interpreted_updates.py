"""Checks of dropout and Adam in Triton's interpreter; run by test_interpreter.py in its own process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from _comparison import DTYPES, close, normal, run, suits, wide

from hookscope.engine.cpu import adam, dropout, philox
from hookscope.triton_kernels._launch import interpret


@triton.jit
def random_kernel(words_ptr, uniform_ptr, count, seed, offset, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    index = tl.arange(0, BLOCK).to(tl.int64)
    tl.store(words_ptr + index, tl.randint(seed, index + offset), mask=index < count)
    tl.store(uniform_ptr + index, tl.rand(seed, index + offset), mask=index < count)


SEEDS_AND_OFFSETS = [
    (0, 0),
    (1, 16),
    (-3, 5),
    (2**31, 2**31 - 50),
    (2**32 - 1, 2**32 - 50),
    (2**62 + 9, 2**62),
]


@pytest.mark.parametrize(("seed", "offset"), SEEDS_AND_OFFSETS)
def test_cpu_random_numbers_are_tritons_bit_for_bit(seed: int, offset: int) -> None:
    words, uniform = np.empty(100, np.int32), np.empty(100, np.float32)
    arrays = [(array.ctypes.data, array.dtype) for array in (words, uniform)]
    interpret(random_kernel, 1, arrays, (100, seed, offset), {"BLOCK": 128})
    offsets = np.arange(offset, offset + 100)
    assert np.array_equal(words.view(np.uint32), philox.philox_uint32(seed, offsets))
    assert np.array_equal(uniform, philox.philox_uniform(seed, offsets))


@pytest.mark.parametrize(("seed", "offset"), [*SEEDS_AND_OFFSETS, (2**64 - 1, 7), (12345, 2**63 + 11)])
def test_dropout_masks_are_those_of_the_cpu_bit_for_bit(seed: int, offset: int) -> None:
    for shape in ((11, 13), (1,), (3, 2047)):
        x = normal(*shape)
        mask = run("dropout_kept", x, 0.3, seed, offset)
        assert mask.dtype == np.bool_
        assert np.array_equal(mask, dropout.dropout_kept(x, 0.3, seed, offset))
        assert np.array_equal(run("dropout", x, 0.3, seed, offset), dropout.dropout(x, 0.3, seed, offset))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dropout(dtype: Any) -> None:
    x = normal(40, 60, dtype=dtype).T
    mask = dropout.dropout_kept(x, 0.25, 5, 1000)
    assert 0.7 < mask.mean() < 0.8
    close(run("dropout", x, 0.25, 5, 1000), np.where(mask, wide(x) / 0.75, 0), dtype)
    np.testing.assert_array_equal(run("dropout_kept", x, 0.25, 5, 1000), mask)


def test_dropout_at_its_two_ends() -> None:
    x = np.array([1.0, np.inf, np.nan], dtype=np.float32)
    assert run("dropout", x, 1.0, 1, 0).tolist() == [0, 0, 0]
    np.testing.assert_array_equal(run("dropout", x, 0.0, 1, 0), x)


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_adam(dtype: Any, nesterov: bool) -> None:
    param, grad = normal(7, 11, dtype=dtype), normal(7, 11, dtype=dtype, seed=1)
    m, v = normal(7, 11, seed=2) * np.float32(0.1), abs(normal(7, 11, seed=3))
    before = [array.copy() for array in (param, m, v, grad)]
    rates = (1e-2, 0.9, 0.999, 1e-8, nesterov)
    got = run("adam", param, m, v, grad, *rates)
    for result, want, like in zip(got, adam.adam(*wide(param, m, v, grad), *rates), (param, m, v), strict=True):
        close(result, want, like.dtype)
    assert all(np.array_equal(a, b) for a, b in zip(before, (param, m, v, grad), strict=True))


def test_adam_keeps_the_digits_of_one_minus_beta2() -> None:
    zero, one = np.zeros(3, np.float32), np.ones(3, np.float32)
    v = run("adam", zero, zero, zero, one, 1e-3, 0.9, 0.999, 1e-8, False)[2]
    np.testing.assert_allclose(v, 1e-3, rtol=2e-7)


def test_what_does_not_qualify() -> None:
    x = normal(4)
    rates = (0.9, 0.999, 1e-8, False)
    assert not suits("dropout", x, 1.5, 0, 0), "a probability out of range"
    assert not suits("dropout", x[:0], 0.5, 0, 0), "nothing"
    assert not suits("adam", x, x, x, x[:2], 1e-3, *rates), "two shapes"
    assert not suits("adam", x, x, x, x, np.array(1e-3), *rates), "a rate in an array"
