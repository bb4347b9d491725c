"""Placeholders: tensors without values that say which inputs will come.."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import hookscope.engine as ms
from hookscope.engine import Symbol, Tensor, nn, ops


@pytest.mark.parametrize(
    ("shape", "result", "symbolic"),
    [
        ([None, 3], (-1, 3), [-1, 3]),
        ((2, -1), (2, -1), [2, -1]),
        ([Symbol(divisor=4), 3], (-1, 3), [{"divisor": 4}, 3]),
        ([Symbol(), None], (-1, -1), [{}, -1]),
        (None, (-2,), [-2]),
        ([-2], (-2,), [-2]),
    ],
)
def test_a_length_that_is_not_known_is_minus_one(shape: Any, result: tuple[int, ...], symbolic: list[Any]) -> None:
    tensor = Tensor(shape=shape, dtype=ms.int16)
    assert isinstance(tensor, Tensor) and (tensor.shape, tensor.dtype) == (result, ms.int16)
    assert (tensor.ndim, tensor.size, tensor.itemsize, tensor.nbytes) == (len(result), 0, 2, 0)
    assert tensor.symbolic_shape == symbolic  # type: ignore[attr-defined]  # of placeholders
    assert repr(tensor) == str(tensor) == f"Tensor(shape={list(result)}, dtype=Int16, value=\n)"


def test_a_dtype_alone_is_enough() -> None:
    assert Tensor(dtype=ms.float32).shape == (-2,)


@pytest.mark.parametrize(("shape", "values"), [((2, 3), [[0, 0, 0], [0, 0, 0]]), (3, [0, 0, 0]), ((), 0), ([0, 3], [])])
def test_a_whole_shape_makes_zeros(shape: Any, values: Any) -> None:
    assert Tensor(shape=shape, dtype=ms.float32).tolist() == values


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x.asnumpy(),
        lambda x: x + 1,
        lambda x: 1 + x,
        lambda x: ops.matmul(x, ops.ones(3)),
        lambda x: x.T,
        lambda x: x[0],
        lambda x: Tensor(x),
        lambda x: nn.Dense(3, 2)(x),
        lambda x: ms.grad(ops.sin)(x),
        lambda x: x.sum(),
        lambda x: bool(x.item()),
        lambda x: ops.stack([x, x]),
    ],
)
def test_its_values_cannot_be_used(use: Any) -> None:
    with pytest.raises(ValueError, match=r"a placeholder of shape \(-1, 3\) has no values"):
        use(Tensor(shape=[None, 3], dtype=ms.float32))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Tensor(shape=[None, 3]), ValueError, "'dtype' must be given beside 'shape'"),
        (lambda: Tensor(shape=[-3], dtype=ms.int8), ValueError, "'shape' must be 0 or more, but got \\[-3\\]"),
        (lambda: Tensor(shape=[None, -3], dtype=ms.int8), ValueError, "0 or more, or -1 or None, but got"),
        (lambda: Tensor(shape=[2.5], dtype=ms.int8), TypeError, "'shape' must be an int, but got float"),
        (lambda: Tensor(shape=[None, "a"], dtype=ms.int8), TypeError, "'shape' must be an int, but got str"),
        (lambda: Tensor(shape="ab", dtype=ms.int8), TypeError, "'shape' must be an int, or a list or tuple of them"),
        (lambda: Tensor(shape=[None], dtype=ms.int8, init="ones"), TypeError, "'shape' must be an int, but got None"),
        (lambda: Tensor([1.0], shape=[2]), ValueError, "'shape' excludes 'input_data'"),
    ],
)
def test_what_is_no_shape_is_refused(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_knows_as_much(copied: Any) -> None:
    for shape in (None, [Symbol(max=8), None, 3]):
        subject = Tensor(shape=shape, dtype=ms.float16)
        other = copied(subject)
        assert other is not subject and (other.dtype, other.symbolic_shape) == (subject.dtype, subject.symbolic_shape)


def test_a_cell_keeps_them_and_runs_on_what_comes() -> None:
    class Net(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return x * 2

    net, coming = Net(), Tensor(shape=[None, 3], dtype=ms.float32)
    net.set_inputs(coming)
    assert net.get_inputs() == (coming,)
    net.set_inputs(x=[coming])  # by name
    assert net.get_inputs() == ([coming],)
    assert net(Tensor([[1.0, 2.0, 3.0]])).tolist() == [[2.0, 4.0, 6.0]]


def test_a_symbol_prints_what_it_tells() -> None:
    # as MindSpore 2.10
    texts = [str(variant) for variant in (Symbol(), Symbol(max=10, min=2), Symbol(divisor=8), Symbol(8, 1, 2, 1))]
    assert texts == ["{}", "{'max': 10, 'min': 2}", "{'divisor': 8}", "{'max': 8, 'divisor': 2, 'remainder': 1}"]
    alike = Symbol(unique=True)
    assert str(alike) == f"{{'id': {id(alike)}}}" == str(alike) != str(Symbol(unique=True))
