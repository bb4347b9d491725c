"""Lifetimes of plans: they belong to the function, the cell or the method's object, not to copies."""

from __future__ import annotations

import copy
import functools
import gc
import pickle
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn
from hookscope.engine.compile import plans_of
from hookscope.engine.compile.function import CompiledFunction


@pytest.fixture(autouse=True)
def graph_mode() -> Iterator[None]:
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


class Times(nn.Cell):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor
        self.weight = Parameter(Tensor(1.0), name="weight")

    def construct(self, x: Tensor) -> Tensor:
        return x * self.factor * self.weight

    def other(self, x: Tensor) -> Tensor:
        return -x * self.factor

    @ms.jit
    def by_plans(self, x: Tensor) -> Tensor:
        return x * self.factor


X = Tensor([1.0, 2.0])


def gradient(function: Callable[..., Tensor]) -> float:
    return float(ms.grad(function)(X)[0])


COPIES: dict[str, Callable[[Times], Times]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda cell: pickle.loads(pickle.dumps(cell)),
}


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_of_a_cell_has_plans_of_its_own(way: str) -> None:
    first = Times(2.0)
    for _ in range(2):
        assert float(first(X)[0]) == 2 and gradient(first) == 2
    second = COPIES[way](first)
    assert not second.compiled
    second.factor = 3.0
    for _ in range(2):
        assert float(second(X)[0]) == 3 and gradient(second) == 3
        assert float(first(X)[0]) == 2 and gradient(first) == 2


@pytest.mark.parametrize("name", ["other", "construct", "by_plans"])
def test_gradients_of_one_method_of_two_objects_are_two(name: str) -> None:
    first, second = Times(2.0), Times(3.0)
    sign = -1 if name == "other" else 1
    for _ in range(2):
        assert gradient(getattr(first, name)) == 2 * sign
        assert gradient(getattr(second, name)) == 3 * sign
    (compiled,) = plans_of(getattr(first, name))
    assert (compiled.counts["traced"], compiled.counts["replayed"]) == (1, 1)


def test_a_wrapper_with_the_attributes_of_a_function_has_plans_of_its_own() -> None:
    def square(x: Tensor) -> Tensor:
        return x * x

    assert gradient(square) == 2

    @functools.wraps(square)
    def cube(x: Tensor) -> Tensor:
        return x * x * x

    assert gradient(cube) == 3
    assert gradient(square) == 2


def test_what_a_function_is_called_by_can_be_looked_at() -> None:
    def double(x: Tensor) -> Tensor:
        return x + x if len(x.shape) == 1 else x

    compiled = ms.jit(double)
    assert plans_of(compiled) == []
    compiled(X)
    compiled(X)
    compiled(Tensor([1.0]))
    ms.grad(compiled)(X)
    own, of_gradient = plans_of(compiled)
    assert own.counts == {"traced": 2, "replayed": 1, "eager": 0, "refused": 0}
    name = "test_what_a_function_is_called_by_can_be_looked_at.<locals>.double"
    assert repr(own) == f"<{name}: plans 2, calls 2 traced, 1 replayed>"
    assert len(own.sources) == 2 and all(text.startswith("def plan(") for text in own.sources)
    assert repr(of_gradient) == "<grad: plans 1, calls 1 traced>"


class Pair(NamedTuple):
    first: int
    second: tuple[int, ...]


PASSED: list[Callable[[int], Any]] = [
    lambda i: np.float32(i),
    lambda i: np.int64(i),
    lambda i: range(i),
    lambda i: slice(i),
    lambda i: frozenset((i, 5)),
    lambda i: frozenset((True if i else 1, 2)),
    lambda i: (frozenset((i,)),),
    lambda i: {"a": np.float64(i)},
    lambda i: np.dtype(("f4", "f8", "i4")[i]),
    lambda i: (0.0, -0.0, 1.0)[i],
    lambda i: Pair(i, (i,)),
]


@pytest.mark.parametrize("index", range(len(PASSED)))
def test_arguments_that_live_for_one_call_are_told_apart_by_what_they_are(index: int) -> None:
    def function(x: Tensor, argument: Any) -> Any:
        return x * 2, str(argument)

    compiled, make, x = CompiledFunction(function, "f"), PASSED[index], Tensor(np.float32([1, 2]))
    for call in range(40):
        _, result = compiled(x, make(call % 3))
        assert result == str(make(call % 3))
    assert compiled.counts["replayed"] > 30


class Batch(NamedTuple):
    x: Tensor
    target: Tensor


def test_batches_that_are_named_tuples_have_one_plan_and_share_no_tensor_with_others() -> None:
    weight = Parameter(np.float32([1, 2]), name="w")
    step = ms.value_and_grad(lambda batch: ((batch.x * weight - batch.target) ** 2).sum(), None, [weight])
    compiled = ms.jit(step)
    for i in range(20):
        x = Tensor(np.float32([i, 1]))
        for batch in (Batch(x, X * i), Batch(x, x)):
            (loss, (gradient,)), (expected, (its,)) = compiled(batch), step(batch)
            assert (loss.asnumpy().tobytes(), gradient.asnumpy().tobytes()) == (
                expected.asnumpy().tobytes(),
                its.asnumpy().tobytes(),
            )
    (own, *_) = plans_of(compiled)
    assert own.counts["replayed"] == 38


def forgotten_class() -> list[weakref.ref[object]]:
    class Net(nn.Cell):
        table = Tensor([1.0, 2.0])

        def __init__(self) -> None:
            super().__init__()
            self.weight = Parameter(Tensor(2.0), name="weight")

        @ms.jit
        def construct(self, x: Tensor) -> Tensor:
            return x * self.weight + self.table

    net = Net()
    for _ in range(2):
        net(X)
    return [weakref.ref(item) for item in (net, net.weight, Net, Net.table)]


def forgotten_cell() -> list[weakref.ref[object]]:
    cell = Times(2.0)
    optimizer = nn.Momentum(cell.trainable_params(), 0.1, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(cell, nn.MSELoss()), optimizer)
    for _ in range(2):
        cell(X)
        step(X, X)
    gradient(cell)
    return [weakref.ref(item) for item in (cell, cell.weight, optimizer, step)]


def forgotten_function() -> list[weakref.ref[object]]:
    cell = Times(2.0)

    @ms.jit
    def function(x: Tensor) -> Tensor:
        return cell(x) + 1.0

    for _ in range(2):
        function(X)
    return [weakref.ref(function), weakref.ref(cell)]


def forgotten_error() -> list[weakref.ref[object]]:
    cell = Times(2.0)
    with pytest.raises(TypeError):
        cell("no tensor")  # type: ignore[arg-type]
    return [weakref.ref(cell), weakref.ref(cell.weight)]


@pytest.mark.parametrize("make", [forgotten_class, forgotten_cell, forgotten_function, forgotten_error])
def test_what_plans_are_of_goes_when_nobody_else_holds_it(make: Callable[[], list[weakref.ref[object]]]) -> None:
    references = make()
    gc.collect()
    assert [reference() for reference in references] == [None] * len(references)
