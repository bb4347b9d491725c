"""Checks of matmul and linear in Triton's interpreter; run by test_interpreter.py in its own process."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from _comparison import DTYPES, close, normal, run, suits, wide

from hookscope.engine.cpu import matmul
from hookscope.triton_kernels import _math


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((33, 17), (17, 5)),
        ((70, 40), (40, 65)),
        ((64, 64), (64, 64)),
        ((1, 1), (1, 1)),
        ((9,), (9, 4)),
        ((4, 9), (9,)),
        ((9,), (9,)),
        ((3, 4, 5), (5, 6)),
        ((4, 5), (3, 5, 6)),
        ((2, 1, 4, 5), (3, 5, 6)),
    ],
    ids=str,
)
def test_matmul_follows_numpy(left: tuple[int, ...], right: tuple[int, ...], dtype: Any) -> None:
    a, b = normal(*left, dtype=dtype), normal(*right, dtype=dtype, seed=1)
    want = wide(a) @ wide(b)
    got = run("matmul", a, b, False, False)
    assert got.shape == want.shape
    close(got / dtype.type(8), want / 8, dtype)


@pytest.mark.parametrize(("transpose_a", "transpose_b"), [(True, False), (False, True), (True, True)])
def test_matmul_transposes_without_a_copy(transpose_a: bool, transpose_b: bool) -> None:
    a = normal(2, 7, 5) if transpose_a else normal(2, 5, 7)
    b = normal(2, 6, 7, seed=1) if transpose_b else normal(2, 7, 6, seed=1)
    want = matmul.matmul(*wide(a, b), transpose_a, transpose_b)
    close(run("matmul", a, b, transpose_a, transpose_b), want, np.float32)


def test_matmul_of_strided_operands() -> None:
    a, b = normal(9, 30)[::2, ::3], normal(8, 10).T[:, ::-2]
    close(run("matmul", a, b, False, False), wide(a) @ wide(b), np.float32)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("activation", _math.ACTIVATIONS)
def test_linear_with_every_activation(activation: str | None, dtype: Any) -> None:
    x, weight, bias = (
        normal(2, 5, 19, dtype=dtype),
        normal(7, 19, dtype=dtype, seed=1),
        normal(7, dtype=dtype, seed=2),
    )
    for given in (bias, None):
        want = matmul.linear(*wide(x, weight), None if given is None else wide(given), activation)
        close(run("linear", x, weight, given, activation) / dtype.type(8), want / 8, dtype)


def test_linear_on_one_sample_and_on_a_strided_batch() -> None:
    weight = normal(7, 19, seed=1)
    x = normal(19, 6).T[::2]
    for sample in (x, x[0]):
        close(
            run("linear", sample, weight, None, "relu"),
            matmul.linear(*wide(sample, weight), None, "relu"),
            np.float32,
        )


def test_nan_passes_through_linear_and_relu() -> None:
    x, weight = normal(3, 4), normal(5, 4, seed=1)
    x[1, 2] = np.nan
    assert np.isnan(run("linear", x, weight, None, "relu")).all(axis=1).tolist() == [False, True, False]


def test_what_does_not_qualify() -> None:
    a = normal(4, 5)
    matmul, linear = partial(suits, "matmul"), partial(suits, "linear")
    assert not matmul(a, a, False, False), "inner sizes that differ"
    assert not matmul(a, a.astype(np.float16).T, False, False), "two dtypes"
    assert not matmul(a[0], a[0], True, False), "a vector to transpose"
    assert not matmul(normal(2, 4, 5), normal(3, 5, 4), False, False), "batches that do not broadcast"
    assert not matmul(a.astype(int), a.T.astype(int), False, False), "integers"
    assert not linear(a, normal(3, 4), None, None), "a weight of another size"
    assert not linear(a, normal(3, 5), normal(4), None), "a bias of another size"
    assert not linear(a, normal(3, 5), None, "swish"), "an unknown activation"
