"""Passes over graphs: the steps that they remove, and those that they must not."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, ops
from hookscope.engine.compile.function import CompiledFunction


def test_arrays_that_no_rule_reads_do_not_wait_for_the_walk_back() -> None:
    shape = (64, 1024)

    def function(x: Tensor) -> Any:
        for _ in range(6):
            x = ops.relu(x) + 1.0  # the rules read only relu's output of these
        return x.sum()

    gradient = ms.value_and_grad(function)
    compiled, x = CompiledFunction(lambda x: gradient(x), "f"), Tensor(np.ones(shape, np.float32))
    expected = gradient(x)
    for _ in range(2):
        compiled(x)
    tracemalloc.start()
    actual = compiled(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert compiled.counts["replayed"] == 2
    assert [t.asnumpy().tobytes() for t in actual] == [t.asnumpy().tobytes() for t in expected]
    assert peak < 9.5 * x.nbytes  # six outputs of relu, and the values computed with them; otherwise twelve


def test_zeros_of_two_signs_are_two_constants() -> None:
    function = CompiledFunction(lambda x: 1.0 / (x * 0.0) - 1.0 / (x * -0.0), "f")
    x = Tensor(np.ones(3, np.float32))
    for _ in range(3):
        assert function(x).tolist() == [float("inf")] * 3
    assert function.counts["replayed"] == 2


X, Y, G = (Tensor(np.array(numbers, np.float32)) for numbers in ([1.0, 2.0], [3.0, 5.0], [7.0, 11.0]))


def slope(function: Callable[[Tensor], Tensor], x: Tensor, arriving: Tensor) -> Tensor:
    gradient: Tensor = ms.ops.GradOperation(sens_param=True)(function)(x, arriving) + 1.0
    return gradient


ALIKE: dict[str, Callable[..., Any]] = {
    "gradients of two inputs": lambda x, y, g: (slope(lambda x: x * y, x, g), slope(lambda y: x * y, y, g)),
    "two gradients that arrive": lambda x, y, g: (slope(lambda x: x * y, x, g), slope(lambda x: x * y, x, y)),
    "several outputs": lambda x, y, g: [a + b for a, b in zip(ops.max(x, 0), ops.max(x, 0), strict=True)],
    "other axes": lambda x, y, g: (ops.stack((x, y), 0).sum(0) * 1, ops.stack((x, y), 0).sum(1) * 1),
    "operands turned around": lambda x, y, g: ((x - y) * 1, (y - x) * 1),
    "numbers of two types": lambda x, y, g: (ops.full_like(x, 1) * x, ops.full_like(x, True) * y),
}


@pytest.mark.parametrize("name", ALIKE)
def test_what_is_alike_is_not_taken_for_the_same(name: str) -> None:
    function = ALIKE[name]
    compiled = CompiledFunction(function, name)
    expected = [t.asnumpy().tobytes() for t in function(X, Y, G)]
    for _ in range(3):
        assert [t.asnumpy().tobytes() for t in compiled(X, Y, G)] == expected
    assert compiled.counts["replayed"] == 2


def test_a_constant_that_is_given_out_is_another_value_at_each_call() -> None:
    made = CompiledFunction(lambda x: (x * 2, Tensor([1.0, 2.0])), "made")
    (_, a), (_, b), (_, c) = (made(X) for _ in range(3))
    assert made.counts["replayed"] == 2
    slopes = ms.grad(lambda b: ms.grad(lambda c: (b * c * 3).sum())(c).sum())(b)
    assert slopes.tolist() == [3.0, 3.0]
    numbers: list[float] = []

    def loss(b: Tensor, c: Tensor) -> Tensor:
        b.register_hook(lambda g: numbers.append(float(g.sum())))
        return (b * 2 + c * 5).sum()

    assert [g.tolist() for g in ms.grad(loss, (0, 1))(b, c)] == [[2.0, 2.0], [5.0, 5.0]]
    assert numbers == [4.0]
    b.add_(1.0)
    assert (a.tolist(), b.tolist(), c.tolist(), made(X)[1].tolist()) == ([1.0, 2.0], [2.0, 3.0], [1.0, 2.0], [1.0, 2.0])
