"""Queries of a tensor's properties, and conversions between numbers and tensors: exact answers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, grad, ops

SHAPES = [(), (0,), (3,), (2, 0, 4), (2, 3, 4)]


@pytest.mark.parametrize("dtype", [ms.float32, ms.int8, ms.bool_, ms.bfloat16, ms.complex64])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_tensor_tells_its_shape_axes_size_and_dtype(shape: tuple[int, ...], dtype: Any) -> None:
    x = Tensor(np.zeros(shape), dtype)
    for value in (ops.dyn_shape(x), ops.TensorShape()(x)):
        assert (value.tolist(), value.shape, value.dtype) == (list(shape), (len(shape),), ms.int64)
    assert ops.rank(x) == ops.Rank()(x) == len(shape)
    assert ops.size(x) == ops.Size()(x) == math.prod(shape)
    assert ops.dtype(x) is ops.DType()(x) is dtype


@pytest.mark.parametrize("value", [ops.dyn_shape, ops.rank, ops.size, ops.dtype])
def test_only_a_tensor_is_asked(value: Any) -> None:
    with pytest.raises(TypeError, match=r"must be a Tensor, but got list"):
        value([1.0])


def test_tensors_and_parameters_are_tensors_and_nothing_else_is() -> None:
    assert [ops.is_tensor(x) for x in (Tensor(1), Parameter(Tensor([1.0]), "p"))] == [True, True]
    assert [ops.is_tensor(x) for x in (1, np.ones(1), [Tensor(1)], None, Tensor)] == [False] * 5


@pytest.mark.parametrize(
    ("x", "want"),
    [([1, 2], (1, 2)), ([1.5, 2.0], (1.5, 2.0)), ([True, False], (True, False)), ([[1, 2], [3, 4]], ([1, 2], [3, 4]))],
)
def test_elements_become_a_tuple_of_python_numbers(x: Any, want: tuple[Any, ...]) -> None:
    result = ops.TensorToTuple()(Tensor(x))
    assert result == want and [type(item) for item in result] == [type(item) for item in want]


@pytest.mark.parametrize(
    ("argument", "dtype"),
    [((1, -2), ms.int32), ((1, 2.5), ms.float32), ((True, False), ms.bool_), (((1, 2), (3, 4)), ms.int32)],
)
def test_a_tuple_of_numbers_becomes_a_tensor(argument: Any, dtype: Any) -> None:
    for result in (ops.tuple_to_array(argument), ops.TupleToArray()(argument)):
        assert result.dtype is dtype
        np.testing.assert_array_equal(result.asnumpy(), argument)


@pytest.mark.parametrize("value", [True, False, 0, -7, 2**40, 2.5, -0.0, math.inf])
def test_a_number_becomes_a_tensor_without_axes(value: Any) -> None:
    for result in (ops.scalar_to_tensor(value), ops.ScalarToTensor()(value)):  # MindSpore's default is Float32
        assert (result.shape, result.dtype, result.item()) == ((), ms.float32, float(value))
    for result in (ops.scalar_to_tensor(value, ms.float64), ops.ScalarToTensor()(value, ms.float64)):
        assert (result.dtype, result.item()) == (ms.float64, float(value))
    kept = ops.ScalarToArray()(value)
    own = {bool: ms.bool_, int: ms.int64, float: ms.float32}[type(value)]
    assert (kept.shape, kept.dtype, kept.item()) == ((), own, value)


@pytest.mark.parametrize("value", [1j, "1", [1], Tensor(1)])
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=f"'input_x' must be a number, but got {type(value).__name__}"):
        ops.scalar_to_tensor(value)


def test_a_number_with_a_plus_is_itself() -> None:
    assert [ops.scalar_uadd(x) for x in (-3, 2.5, True)] == [-3, 2.5, 1]
    assert type(ops.scalar_uadd(True)) is int
    x = Tensor([-1.5, 2.0])
    assert ops.scalar_uadd(x).tolist() == [-1.5, 2.0]
    assert grad(lambda x: ops.scalar_uadd(x * x).sum())(x).tolist() == [-3.0, 4.0]


@pytest.mark.parametrize("decimals", [None, 0, 1, -1])
def test_halves_are_rounded_to_the_even_neighbor(decimals: int | None) -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1.26, 25.0, 35.0, np.inf, -np.inf, np.nan])
    want = np.round(x, decimals or 0)
    argument = () if decimals is None else (decimals,)
    for result in (ops.Round()(Tensor(x), *argument), round(Tensor(x), *argument)):
        np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-15)
    assert grad(lambda x: ops.Round()(x, *argument).sum())(Tensor(x)).tolist() == [0.0] * len(x)
    rounded = round(Tensor([15, 25, -15]), *argument)
    assert rounded.tolist() == np.round([15, 25, -15], decimals or 0).tolist()


def test_select_of_two_numbers_has_the_dtype_of_both() -> None:
    chosen = Tensor([True, False])
    # recorded from MindSpore 2.10
    for first, second, dtype in ((1, 2, ms.int64), (1.5, 2, ms.float32), (True, False, ms.bool_), (1, 2.5, ms.float32)):
        result = ops.select(chosen, first, second)
        assert result.dtype is dtype and result.asnumpy().tolist() == [first, second]
