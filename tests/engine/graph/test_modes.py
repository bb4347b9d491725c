"""``set_context(mode=GRAPH_MODE)``, ``jit`` and what cells offer about graphs do what they say."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops
from hookscope.engine.core import random
from hookscope.engine.graph.function import Compiled

X = Tensor(np.array([[1.0, -2.0], [3.0, 0.5]], np.float32))


@pytest.fixture
def graph_mode() -> Iterator[None]:
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


class Dropping(nn.Cell):
    """Counts its calls in a parameter, and drops at random."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(2, 2)
        self.drop = nn.Dropout(p=0.5)
        self.calls = ms.Parameter(Tensor(0.0), "calls")

    def construct(self, x: Any) -> Any:
        ops.assign(self.calls, self.calls + 1.0)
        return self.drop(self.dense(x))


def plans(cell: nn.Cell) -> Compiled:
    found: Compiled = cell.__dict__["_compiled"]
    return found


def test_compile_makes_a_plan_and_changes_nothing() -> None:
    net = Dropping().set_train()
    before = random.position()
    assert not net.compiled
    assert net.compile(X) is None
    assert net.compiled
    assert float(net.calls) == 0.0
    assert random.position() == before
    expected = net(X).asnumpy()
    random.go_to(before)
    assert np.array_equal(net.compile_and_run(X).asnumpy(), expected)
    assert plans(net).counts == {"traced": 1, "replayed": 1, "eager": 0, "refused": 0}
    assert float(net.calls) == 2.0


def test_a_jit_config_says_at_which_level_a_cell_s_graphs_run() -> None:
    levels = {}
    for level in ("O0", "O1"):
        net = nn.SequentialCell(nn.Dense(2, 2), nn.Tanh(), nn.Sigmoid())
        net.set_jit_config(ms.JitConfig(jit_level=level))
        net.compile(X)
        levels[level] = [len(one.plan.graph.nodes) for some in plans(net).plans.values() for one in some]
    assert levels["O1"] < levels["O0"]


@pytest.mark.usefixtures("graph_mode")
def test_in_graph_mode_calls_are_compared_with_what_set_inputs_said() -> None:
    net = nn.Dense(2, 2)
    net.set_inputs(Tensor(shape=[None, 2], dtype=ms.float32))
    assert net(X).shape == (2, 2)
    assert net(X[:1]).shape == (1, 2)
    with pytest.raises(ValueError, match=r"input 0 must have 2 axes, but got shape \(2,\)"):
        net(X[0])
    with pytest.raises(ValueError, match=r"input 0 must have the shape \(-1, 2\), but got \(2, 1\)"):
        net(X[:, :1])
    with pytest.raises(TypeError, match="input 0 must have dtype Float32, but got Int32"):
        net(X.astype(ms.int32))
    with pytest.raises(TypeError, match="told of 1 inputs, but got 2"):
        net(X, X)


def test_a_branch_on_a_value_runs_eagerly_and_one_warning_names_the_line() -> None:
    @ms.jit
    def positive(x: Any) -> Any:
        if x.sum() > 0:
            return x + 1
        return x - 1

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for x in (X, -X, X):
            assert np.array_equal(positive(x).asnumpy(), x.asnumpy() + (1 if x.sum() > 0 else -1))
    (one,) = told
    words = r"no plan can be made of '.*positive': .*test_modes.py:\d+.*runs eagerly"
    assert re.match(words, str(one.message))


def test_with_fullgraph_it_is_an_error_that_names_the_line_and_nothing_is_changed() -> None:
    weight = ms.Parameter(Tensor(1.0), "weight")

    @ms.jit(fullgraph=True)
    def read(x: Any) -> Any:
        ops.assign(weight, weight + 1.0)
        return x * float(x.sum())

    with pytest.raises(RuntimeError, match=r"no plan can be made of '.*read': .*test_modes.py:\d+"):
        read(X)
    assert float(weight) == 1.0


def test_what_a_kernel_refuses_is_told_as_eagerly() -> None:
    table = Tensor(np.ones((3, 2), np.float32))

    def picked(index: Any) -> Any:
        return ops.gather(table, index, 0)

    compiled = ms.jit(picked)
    for _ in range(2):
        assert compiled(Tensor([0, 2])).shape == (2, 2)
    with pytest.raises(RuntimeError) as eager:
        picked(Tensor([0, 5]))
    with pytest.raises(RuntimeError) as by_plan:
        compiled(Tensor([0, 5]))
    assert str(by_plan.value) == str(eager.value)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"capture_mode": "source"}, ValueError, "'capture_mode' must be one of"),
        ({"jit_level": "O2"}, ValueError, "'jit_level' must be one of"),
        ({"dynamic": 2}, ValueError, "'dynamic' must be one of"),
        ({"dynamic": 0.5}, TypeError, "'dynamic'"),
        ({"fullgraph": 3}, TypeError, "'fullgraph'"),
        ({"backend": "GE"}, RuntimeError, "'backend' must be '' or 'ms_backend'"),
        ({"exec_order": "dbs"}, ValueError, "'exec_order' must be one of"),
        ({"disable_format_transform": 1}, TypeError, "'disable_format_transform'"),
    ],
)
def test_an_option_that_jit_does_not_know_is_refused(options: dict[str, Any], error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        ms.jit(lambda x: x, **options)


def test_an_option_for_other_devices_says_that_it_has_no_effect() -> None:
    with pytest.warns(UserWarning, match="the option 'exec_order' has no effect here"):
        ms.jit(lambda x: x, exec_order="bfs")


def test_an_argument_that_is_a_view_of_what_a_plan_changes_is_seen_to_change() -> None:
    def outcome(way: Any) -> list[float]:
        weight = ms.Parameter(Tensor([1.0, 2.0, 3.0]), "weight")

        def step(x: Any) -> Any:
            before = x * 10.0
            ops.assign(weight, weight * 2.0)
            return before + x

        step = way(step)
        given = [lambda: Tensor([1.0]), lambda: Tensor([2.0]), lambda: weight[:1], lambda: Tensor([4.0])]
        return [float(step(make())[0]) for make in given]

    assert outcome(ms.jit) == outcome(lambda function: function)


@pytest.mark.parametrize("level", ["O0", "O1"])
def test_what_calls_give_is_told_apart_where_a_plan_computes_it_once(level: str) -> None:
    def thrice(x: Any) -> Any:
        return x * 2.0, x * 2.0, ops.ones((2, 2), ms.float32), ops.ones((2, 2), ms.float32) * 2.0

    def of_first(a: Tensor, b: Tensor) -> list[list[float]]:
        gradient: list[list[float]] = ms.grad(lambda a: (a * b).sum())(a).tolist()
        return gradient

    compiled = ms.jit(thrice, jit_level=level)
    first, second, third = (compiled(X) for _ in range(3))
    for one in (first, second):
        assert of_first(one[0], one[1]) == one[1].tolist()
    for place in (0, 2, 3):
        assert of_first(second[place], third[place]) == third[place].tolist()
