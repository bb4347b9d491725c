"""Words of memory: every change of a network changes a word, or a guard beside the words notices it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.compile.function import CompiledFunction
from hookscope.engine.compile.guards import memory_words as words
from hookscope.engine.compile.plan.guarded_plan import GuardedPlan

KNOWN = sys.version_info[:2] in ((3, 11), (3, 12))
SCALE: Any = 2.0


class Settings:
    def __init__(self) -> None:
        self.power = 1.0


def turned(x: Tensor) -> Tensor:
    return ops.sin(x)


def scaled_by(factor: float) -> Callable[..., Any]:
    def scaled(x: Tensor, times: float = 2.0, *, plus: float = 0.25) -> Tensor:
        return x * (times * factor) + plus

    return scaled


class Block(nn.Cell):
    shift = 0.5

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(3, 3)
        self.act = nn.Tanh()
        self.settings = Settings()
        self.factors = {"a": 1.5}
        self.signs = [1.0, -1.0]
        self.scaled = scaled_by(0.75)

    def construct(self, x: Tensor) -> Tensor:
        y = self.act(self.dense(x)) * self.factors["a"] + self.shift
        return turned(self.scaled(y)) * self.settings.power * SCALE * self.signs[0] + len(self.factors)


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.SequentialCell(Block(), Block())

    def construct(self, x: Tensor) -> Tensor:
        return self.blocks(x)


class Louder(Block):
    def construct(self, x: Tensor) -> Tensor:
        return super().construct(x) * 3


@pytest.fixture
def net() -> Iterator[Net]:
    ms.set_seed(1)
    made = Net()
    shift, construct, code, scale = Block.shift, Block.construct, turned.__code__, SCALE
    yield made
    Block.shift, turned.__code__ = shift, code
    Block.construct = construct  # type: ignore[method-assign]
    globals()["SCALE"] = scale
    if "shift" in vars(Net):
        del Net.shift  # type: ignore[attr-defined]


def _plan(compiled: CompiledFunction) -> GuardedPlan:
    ((plan,),) = compiled.plans.values()
    return plan


def _replayed(net: nn.Cell, x: Tensor) -> CompiledFunction:
    compiled = CompiledFunction(net, "net")
    for _ in range(4):
        compiled(x)
    assert compiled.counts["replayed"] >= 2
    return compiled


def _replaced_dictionary(net: Net) -> None:
    block = net.blocks[0]
    changed = dict(vars(block), factors={"a": 9.0})
    object.__setattr__(block, "__dict__", changed)


def _set(where: Callable[[Net], Any], name: str, value: Any) -> Callable[[Net], None]:
    return lambda net: setattr(where(net), name, value)


def _weight(of: np.ndarray[Any, Any]) -> Callable[[Net], None]:
    return lambda net: net.blocks[1].dense.weight.set_data(Tensor(of))


CHANGES: dict[str, Callable[[Net], Any]] = {
    "an attribute of an object": _set(lambda net: net.blocks[1].settings, "power", 3.0),
    "the dictionary of an object, replaced": _set(lambda net: net.blocks[1].settings, "__dict__", {"power": 3.0}),
    "the class of an object": _set(lambda net: net.blocks[0], "__class__", Louder),
    "an attribute past __setattr__": lambda net: object.__setattr__(net.blocks[0], "shift", 4.0),
    "an item of the attributes": lambda net: vars(net.blocks[0]).update(shift=4.0),
    "the attributes, replaced": _replaced_dictionary,
    "an attribute": _set(lambda net: net.blocks[0], "shift", 4.0),
    "an attribute of the class": _set(lambda _: Block, "shift", 4.0),
    "a method": _set(lambda _: Block, "construct", lambda self, x: self.dense(x)),
    "the code of a function": _set(lambda _: turned, "__code__", (lambda x: ops.cos(x)).__code__),
    "the defaults of a function": _set(lambda net: net.blocks[0].scaled, "__defaults__", (3.0,)),
    "the keyword defaults of a function": _set(lambda net: net.blocks[0].scaled, "__kwdefaults__", {"plus": 3.0}),
    "one of the keyword defaults": lambda net: net.blocks[0].scaled.__kwdefaults__.update(plus=3.0),
    "a variable of a closure": lambda net: setattr(net.blocks[0].scaled.__closure__[0], "cell_contents", 3.0),
    "a global": lambda _: globals().update(SCALE=5.0),
    "an item of a list": lambda net: net.blocks[0].signs.__setitem__(0, 7.0),
    "an item of a dictionary": lambda net: net.blocks[0].factors.update(a=7.0),
    "a further item of a dictionary": lambda net: net.blocks[0].factors.update(b=7.0),
    "a child": _set(lambda net: net.blocks[1], "act", nn.ReLU()),
    "a child, among the children": lambda net: net.blocks._cells.update({"1": nn.ReLU()}),
    "a further child": lambda net: net.blocks.append(nn.ReLU()),
    "a parameter": _set(lambda net: net.blocks[0].dense, "weight", Parameter(np.ones((3, 3), np.float32), name="w")),
    "the numbers of a parameter": _weight(np.full((3, 3), 0.25, np.float32)),
    "a hook": lambda net: net.blocks[0].register_forward_hook(lambda cell, inputs, output: output * 2),
    "a hook of a parameter": lambda net: net.blocks[0].dense.weight.register_hook(lambda gradient: gradient * 2),
    "training": lambda net: net.set_train(),
    "a built-in function": lambda _: vars(sys.modules[__name__]).update(len=lambda _: 10),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen(net: Net, name: str) -> None:
    x = Tensor(np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3))
    compiled = _replayed(net, x)
    assert _plan(compiled).guards._memory_words.are_unchanged([x._array]) is KNOWN
    try:
        CHANGES[name](net)
        result, expected = [compiled(x).asnumpy() for _ in range(3)], net(x).asnumpy()
    finally:
        globals().pop("len", None)
    for item in result:
        assert item.tobytes() == expected.tobytes()


def test_arguments_of_another_form_are_seen() -> None:
    def function(*inputs: Tensor) -> Tensor:
        return sum(inputs, start=weight) * len(inputs)

    weight = Tensor(np.full((2, 2), 3, np.float32))
    compiled = CompiledFunction(function, "function")
    forms = (((2, 2), "f4"), ((1, 2), "f4"), ((2, 2), "i4"))
    item, row, column = (Tensor(np.ones(shape, dtype)) for shape, dtype in forms)
    calls: list[list[Tensor]] = [
        [item],
        [column],
        [item],
        [row],
        [column],
        [item, row],
        [],
        [item, row, column],
        [row, item],
    ]
    for arguments in calls * 4:
        result, expected = compiled(*arguments), function(*arguments)
        assert result.dtype == expected.dtype
        assert result.asnumpy().tobytes() == expected.asnumpy().tobytes()
    assert compiled.counts["replayed"] == len(calls) * 4 - 7
    assert all(plan.guards._memory_words._unchanged is not None for (plan,) in compiled.plans.values()) is KNOWN


def test_a_parameter_of_another_shape_is_seen() -> None:
    @ms.jit
    def doubled() -> Tensor:
        return weight * 2

    weight = Parameter(np.ones((2, 2), np.float32), name="w")
    for shape, dtype in (((2, 2), np.float32), ((3,), np.float32), ((3,), np.float16), ((), np.float32)):
        for _ in range(3):
            weight._array = np.full(shape, 3, dtype)
            assert doubled().asnumpy().dtype == dtype
            assert doubled().asnumpy().tobytes() == np.full(shape, 6, dtype).tobytes()


class Adds(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.weight = Parameter(np.ones(3, np.float32), name="w")

    def construct(self, x: Tensor) -> Tensor:
        ops.assign_add(self.weight, x)
        return self.weight + x


def test_an_argument_that_holds_the_array_of_a_parameter_is_seen() -> None:
    ones, planned, eager = Tensor(np.ones(3, np.float32)), Adds(), Adds()
    compiled = _replayed(planned, ones)
    for _ in range(4):
        eager(ones)
    with pytest.warns(UserWarning, match="an argument is one of the tensors that it reads from elsewhere"):
        result = compiled(Tensor._wrap(planned.weight._array)).asnumpy()
    assert result.tobytes() == eager(Tensor._wrap(eager.weight._array)).asnumpy().tobytes()


class InOrder(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.ReLU(), nn.Tanh()

    def construct(self, x: Tensor) -> Tensor:
        for cell in self._cells.values():
            x = cell(x) - 0.5
        return x


def test_the_order_of_children_is_seen() -> None:
    net, x = InOrder(), Tensor(np.linspace(-1, 1, 6, dtype=np.float32))
    compiled = _replayed(net, x)
    for name, last in (("first", True), ("first", False), ("second", False)):
        net._cells.move_to_end(name, last)
        assert compiled(x).asnumpy().tobytes() == net(x).asnumpy().tobytes()
    assert list(net._cells) == ["second", "first"]


def test_without_the_words_everything_is_asked(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_is_layout_known", lambda: False)
    x = Tensor(np.ones((2, 3), np.float32))
    compiled = _replayed(net, x)
    assert not _plan(compiled).guards._memory_words.are_unchanged([x._array])
    net.blocks[0].settings.power = 3.0
    assert compiled(x).asnumpy().tobytes() == net(x).asnumpy().tobytes()


def test_where_numba_is_off_the_words_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "is_on", lambda: False)
    words._is_layout_known.cache_clear()
    try:
        assert not words._is_layout_known()
    finally:
        words._is_layout_known.cache_clear()
