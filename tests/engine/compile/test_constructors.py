"""Unreachable code prevents no plan, reachable code is seen, and reasons name their line."""

from __future__ import annotations

import copy
import dataclasses
import os
import random
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn
from hookscope.engine.compile import plans_of

GENERATOR = np.random.default_rng(3)
THERE = Tensor([1.0, 2.0])


class Drawing(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(Tensor(np.random.randn(2), ms.float32), name="w")
        self.v = Parameter(Tensor(GENERATOR.normal(size=2), ms.float32), name="v")
        self.scale = random.random() + len(os.environ.get("HOME", ""))

    def construct(self, x: Tensor) -> Tensor:
        return x * self.w * self.scale + self.v

    def __repr__(self) -> str:
        return f"{np.random.rand()}"

    def __del__(self) -> None:
        random.random()


class Inheriting(Drawing):
    def __init__(self) -> None:
        super().__init__()
        self.block = Drawing()

    def construct(self, x: Tensor) -> Tensor:
        if isinstance(self.block, Drawing):
            x = self.block(x)
        return super().construct(x)


def warnings_of(call: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        call()
    return [str(result.message) for result in records]


def line_of(code: str) -> int:
    with open(__file__, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if code in line and "line_of" not in line)


@pytest.mark.parametrize("kind", [Drawing, Inheriting])
def test_a_constructor_that_draws_prevents_no_plan(kind: type[nn.Cell]) -> None:
    net, x = kind(), Tensor([1.0, 2.0])
    assert warnings_of(lambda: net.compile(x)) == [] and net.compiled
    result = ms.jit(net, fullgraph=True)(x)
    assert np.array_equal(result.asnumpy(), net.construct(x).asnumpy())


def test_gradients_and_steps_of_such_networks_are_compiled() -> None:
    net, x = Inheriting(), Tensor([1.0, 2.0])
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    assert warnings_of(lambda: step.compile(x, x)) == [] and step.compiled


def test_a_constructor_that_the_call_uses_is_looked_through() -> None:
    values = [1.0]

    class Made:
        def __init__(self) -> None:
            self.by = values[0]

    kept = Made()

    @ms.jit
    def f(x: Tensor) -> Tensor:
        return x * type(kept)().by

    x = Tensor([1.0, 2.0])
    for value in (1.0, 2.0, 3.0, 3.0):
        values[0] = value
        assert f(x).asnumpy().tolist() == [value, 2 * value]
    assert plans_of(f)[0].counts["replayed"] >= 1
    Made.__init__ = lambda self: setattr(self, "by", 7.0)  # type: ignore[method-assign]
    assert f(x).asnumpy().tolist() == [7.0, 14.0]


def test_two_classes_of_one_text_are_two() -> None:
    def made(value: list[float]) -> type:
        class Made:
            def __init__(self) -> None:
                self.by = value[0]

        return Made

    values = [1.0], [10.0]
    first, second = (made(value)() for value in values)

    @ms.jit
    def f(x: Tensor) -> Tensor:
        return x * (type(first)().by + type(second)().by)

    x = Tensor([1.0])
    for item, other in ((1.0, 10.0), (1.0, 10.0), (2.0, 10.0), (2.0, 20.0), (2.0, 20.0)):
        values[0][0], values[1][0] = item, other
        assert f(x).item() == item + other


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_of_two_classes_of_one_text_the_one_that_no_name_leads_to_is_seen_too(is_wrapped: bool) -> None:
    def wrapped(function: Any) -> Any:
        def inner(*args: Any) -> Any:
            return function(*args)

        return inner if is_wrapped else function

    def made(value: list[float]) -> Any:
        class Made:
            @wrapped
            def __init__(self) -> None:
                self.by = value[0]

        return Made

    values = [1.0], [10.0]
    Named, other = made(values[0]), made(values[1])()  # noqa: N806  (a class)

    @ms.jit
    def f(x: Tensor) -> Tensor:
        return x * (Named().by + type(other)().by)

    x = Tensor([1.0])
    for item, another in ((1.0, 10.0), (1.0, 10.0), (2.0, 10.0), (2.0, 20.0), (2.0, 20.0), (2.0, 30.0)):
        values[0][0], values[1][0] = item, another
        assert f(x).item() == item + another


def test_a_network_that_is_made_in_the_call_draws_each_time() -> None:
    @ms.jit
    def f(x: Tensor) -> Tensor:
        return Drawing().w * x

    x = Tensor([1.0, 1.0])
    messages = warnings_of(lambda: [f(x) for _ in range(4)])
    assert len(messages) == 1 and re.search(r"(numpy.random|Generator) is read", messages[0])
    assert len({f(x).asnumpy().tobytes() for _ in range(4)}) == 4


def in_new(values: list[float]) -> Any:
    class Made:
        def __new__(cls) -> Any:
            made = object.__new__(cls)
            made.by = values[0]  # type: ignore[attr-defined]
            return made

    kept = Made()
    return lambda x: x * type(kept)().by


def in_a_copy(values: list[float]) -> Any:
    class Made:
        def __deepcopy__(self, memo: Any) -> Any:
            made = object.__new__(type(self))
            made.by = values[0]  # type: ignore[attr-defined]
            return made

    kept = Made()
    return lambda x: x * copy.deepcopy(kept).by


def in_a_text(values: list[float]) -> Any:
    class Made:
        def __format__(self, how: str) -> str:
            return "n" * int(values[0])

    kept = Made()
    return lambda x: x * len(f"{kept:3}")


def in_a_chain(values: list[float]) -> Any:
    class Base:
        def __init__(self) -> None:
            self.by = values[0]

    class Made(Base):
        def __init__(self) -> None:
            super().__init__()
            self.more = 1

    kept = type("Further", (Made,), {})()
    return lambda x: x * kept.__class__().by


def in_a_class(values: list[float]) -> Any:
    class Made:
        def __class_getitem__(cls, key: int) -> float:
            return values[0] * key

    kept = Made()
    return lambda x: x * type(kept)[1]  # type: ignore[index]


def in_a_class_that_is_made(values: list[float]) -> Any:
    class Made:
        def __init_subclass__(cls) -> None:
            cls.by = values[0]  # type: ignore[attr-defined]

    kept = Made()
    return lambda x: x * type("Further", (type(kept),), {}).by  # type: ignore[attr-defined]


def in_a_replaced_data_class(values: list[float]) -> Any:
    @dataclasses.dataclass
    class Made:
        other: float = 1.0
        by: float = 0.0

        def __post_init__(self) -> None:
            self.by = values[0]

    kept = Made()
    return lambda x: x * dataclasses.replace(kept, other=2.0).by


@pytest.mark.parametrize(
    "made", [in_new, in_a_copy, in_a_text, in_a_chain, in_a_class, in_a_class_that_is_made, in_a_replaced_data_class]
)
def test_what_such_methods_read_is_seen(made: Callable[[list[float]], Any]) -> None:
    values = [1.0]
    compiled, x = ms.jit(made(values)), Tensor([1.0])
    for value in (1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 1.0):
        values[0] = value
        assert compiled(x).item() == value
    assert plans_of(compiled)[0].counts["replayed"] >= 2


def test_compiling_draws_no_number_though_a_constructor_runs() -> None:
    class Making(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return Drawing().w * x * random.random()

    np.random.seed(3)
    random.seed(3)
    expected = np.random.rand(), random.random()
    np.random.seed(3)
    random.seed(3)
    warnings_of(lambda: Making().compile(Tensor([1.0, 2.0])))
    assert (np.random.rand(), random.random()) == expected


def test_the_text_of_an_object_is_looked_through_where_it_is_asked_for() -> None:
    class Named:
        def __repr__(self) -> str:
            return "n" * lengths[0]

    lengths, one = [2], Named()

    @ms.jit
    def f(x: Tensor) -> Tensor:
        return x * len(f"{one!r}")

    for length in (2, 2, 2, 3, 3, 3):
        lengths[0] = length
        assert f(Tensor([1.0])).item() == length


class Iterating(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[Iterator[int]] = [iter((1, 2))]

    def construct(self, x: Tensor) -> Tensor:
        y = x + 1.0
        for part in self.parts:  # the line of an iterator
            y = y * next(part)
        return y


class Counting(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def construct(self, x: Tensor) -> Tensor:
        y = x * self.calls
        self.calls += 1  # the line of a counter
        return y


class Returning(nn.Cell):
    def construct(self, x: Tensor) -> Any:
        y = x + 1.0
        return y, object()  # the line of a result


class Frames(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * len(type(self).construct.__code__.co_name)  # the line of a code


class There(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * THERE  # the line of a tensor


class Drawn(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * np.random.rand()  # the line of a draw


@pytest.mark.parametrize(
    ("kind", "reason", "line"),
    [
        (Iterating, "iterator is read", "an iterator"),
        (Counting, "it changes a value of Python that it reads", "a counter"),
        (Returning, "it returns a object", "a result"),
        (Frames, "'__code__' is read", "a code"),
        (There, "an argument is one of the tensors", "a tensor"),
        (Drawn, "numpy.random is read", "a draw"),
    ],
)
def test_compiling_says_which_line_prevents_a_plan(kind: type[nn.Cell], reason: str, line: str) -> None:
    net = kind()
    (message,) = warnings_of(lambda: net.compile(THERE))
    assert reason in message and f"({__file__}:{line_of(f'# the line of {line}')})" in message
    called = ms.jit(net, fullgraph=True)

    def thrice() -> None:  # a value changes it, which the third call shows
        for _ in range(3):
            called(THERE)

    with pytest.raises(RuntimeError, match=f":{line_of(f'# the line of {line}')}"):
        thrice()
