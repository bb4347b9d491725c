"""The tensors within values: found in order, put back in order, also where a list or a dictionary is inside itself."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from hookscope.engine import COOTensor, Tensor
from hookscope.engine.tensors.nested import direct_positions, replaced, tensors_in

Pair = namedtuple("Pair", ["left", "right"])


def tensors(count: int) -> list[Tensor]:
    return [Tensor(np.full(2, number, np.float32)) for number in range(count)]


def same(results: list[Tensor], expected: list[Tensor]) -> bool:
    return list(map(id, results)) == list(map(id, expected))


def test_tensors_are_found_and_replaced_in_order_and_everything_else_stays() -> None:
    a, b, c, d, e, f = tensors(6)
    value = Pair((a, 3, [b]), {"k": "text", "t": c})
    assert same(tensors_in(value), [a, b, c])
    output = replaced(value, [d, e, f])
    assert type(output) is Pair and output.left[1] == 3 and output.right["k"] == "text"
    assert same(tensors_in(output), [d, e, f]) and same(tensors_in(value), [a, b, c])
    assert replaced(a, [d]) is d and replaced("text", []) == "text"


def test_a_list_inside_itself_is_looked_at_once() -> None:
    a, b, c, d = tensors(4)
    values: list[Any] = [a]
    values += [values, b]
    assert same(tensors_in(values), [a, b])
    assert same(tensors_in((values, values, c)), [a, b, a, b, c])
    output = replaced(values, [c, d])
    assert output is not values and output[1] is output and same([output[0], output[2]], [c, d])
    assert same([values[0], values[2]], [a, b]) and values[1] is values
    beside = replaced((values, values), [a, b, c, d])
    assert beside[0][1] is beside[0] and beside[1][1] is beside[1]
    assert same([beside[0][0], beside[1][0]], [a, c])
    assert direct_positions(values) == [0, 1]


def test_a_dictionary_inside_itself_is_looked_at_once() -> None:
    a, b, c, d = tensors(4)
    values: dict[str, Any] = {"a": a}
    values["inside"] = [values, (b, values)]
    assert same(tensors_in(values), [a, b])
    output = replaced(values, [c, d])
    assert output["inside"][0] is output and output["inside"][1][1] is output
    assert same([output["a"], output["inside"][1][0]], [c, d])


def test_a_sparse_tensor_beside_a_list_inside_itself_is_its_values() -> None:
    sparse = COOTensor(Tensor(np.array([[0, 1]], np.int32)), Tensor(np.ones(1, np.float32)), (2, 2))
    (other,) = tensors(1)
    values: list[Any] = [sparse]
    values.append(values)
    assert [t.shape for t in tensors_in(values)] == [(1,)]
    assert replaced(values, [other], bare=True)[0] is other


def test_what_is_too_deep_for_python_raises_as_ever() -> None:
    inputs = tensors(1)
    deep: Any = inputs[0]
    for _ in range(20_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        tensors_in(deep)
    with pytest.raises(RecursionError):
        replaced(deep, inputs)
