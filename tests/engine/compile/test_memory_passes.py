"""Passes that release memory: updates as soon as gradients are there, and recomputation in the backward pass.

The results do not change: references are the eager run and the same plan without the pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.compile.function import CompiledFunction, graph_of
from hookscope.engine.compile.graph import EagerCall, Graph, OperatorCall
from hookscope.engine.compile.loops import cpu_loops as loops
from hookscope.engine.compile.passes import early_updates, recompute
from hookscope.engine.compile.passes import optimization as passes

WIDTH = 160


@pytest.fixture(autouse=True)
def _small_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_updates, "_LEAST", 1 << 10)
    monkeypatch.setattr(recompute, "_LEAST", 1 << 8)


class Network(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Dense(8, WIDTH, activation="relu"), nn.Dense(WIDTH, WIDTH)
        self.norm, self.last = nn.LayerNorm((WIDTH,)), nn.Dense(WIDTH, 4)

    def construct(self, x: Tensor) -> Tensor:
        return self.last(ops.gelu(self.norm(self.second(self.first(x)))) * 1.5)


class Normed(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.SequentialCell(*[nn.Dense(8, 8) for _ in range(5)])
        self.norms = nn.SequentialCell(*[nn.LayerNorm((8,)) for _ in range(5)])

    def construct(self, x: Tensor) -> Tensor:
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = layer(norm(x))
        return x[:, :4]


class Bulging(Normed):
    """A network that computes most where most memory is in use, where no value can be released."""

    def construct(self, x: Tensor) -> Tensor:
        return super().construct(x + ops.matmul(x[:, :, None], x[:, None, :] @ Tensor(np.ones((8, 18), "f4"))).mean(2))


class Pictures(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(3, 8, 3),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.Conv2d(8, 8, 3),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.Conv2d(8, 8, 3),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.Flatten(),
            nn.Dense(8 * 64, 4),
        )

    def construct(self, x: Tensor) -> Tensor:
        return self.layers(x)


def _data(shape: tuple[int, ...], seed: int = 3) -> tuple[Tensor, Tensor]:
    random = np.random.default_rng(seed)
    return Tensor(random.normal(size=shape).astype(np.float32)), Tensor(
        random.integers(0, 4, shape[0]).astype(np.int32)
    )


def _step(net: nn.Cell, optimizer: nn.Optimizer, between: Callable[[Any], Any] = lambda gradients: gradients) -> Any:
    loss = nn.CrossEntropyLoss()
    value_and_gradients = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

    def step(x: Tensor, y: Tensor) -> Tensor:
        value, gradients = value_and_gradients(x, y)
        optimizer(between(gradients))
        return value

    return step


def _state(net: nn.Cell, optimizer: nn.Optimizer) -> list[np.ndarray[Any, Any]]:
    return [p.asnumpy() for p in (*net.get_parameters(), *optimizer.get_parameters())]


OPTIMIZERS: dict[str, Callable[[nn.Cell], nn.Optimizer]] = {
    "SGD": lambda net: nn.SGD(net.trainable_params(), 0.05, momentum=0.9, weight_decay=1e-3),
    "Momentum": lambda net: nn.Momentum(net.trainable_params(), nn.ExponentialDecayLR(0.1, 0.9, 2), 0.9),
    "Adam": lambda net: nn.Adam(net.trainable_params(), 1e-2),
    "AdamWeightDecay": lambda net: nn.AdamWeightDecay(net.trainable_params(), 1e-2, weight_decay=0.1),
    "RMSProp": lambda net: nn.RMSProp(net.trainable_params(), 1e-2, centered=True),
    "Adagrad": lambda net: nn.Adagrad(
        [{"params": net.trainable_params()[:2], "lr": 0.1}, {"params": net.trainable_params()[2:]}], 0.01
    ),
    "AdaFactor": lambda net: nn.AdaFactor(net.trainable_params(), 1e-2, scale_parameter=False, relative_step=False),
}


def _trained(
    make: Callable[[], nn.Cell], optimizer_of: Callable[[nn.Cell], nn.Optimizer], shape: tuple[int, ...], planned: bool
) -> tuple[list[np.ndarray[Any, Any]], Graph | None]:
    ms.set_seed(5)
    net = make()
    net.set_train()
    optimizer = optimizer_of(net)
    step = _step(net, optimizer)
    compiled = CompiledFunction(step, "step", fullgraph=True, level="O1") if planned else step
    losses = [compiled(*_data(shape, seed)).asnumpy() for seed in range(5)]
    graph = None
    if isinstance(compiled, CompiledFunction):
        assert compiled.counts["replayed"] >= 3
        (((guarded,),),) = (compiled.plans.values(),)
        graph = guarded.plan.graph
    return [*losses, *_state(net, optimizer)], graph


def _close(results: list[np.ndarray[Any, Any]], expected: list[np.ndarray[Any, Any]]) -> None:
    for item, other in zip(results, expected, strict=True):
        np.testing.assert_allclose(item, other, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_in_parts_changes_what_the_whole_step_does(name: str) -> None:
    result, graph = _trained(Network, OPTIMIZERS[name], (6, 8), planned=True)
    eager, _ = _trained(Network, OPTIMIZERS[name], (6, 8), planned=False)
    assert graph is not None
    assert sum(isinstance(node, EagerCall) for node in graph.nodes) >= 4
    _close(result, eager)


@pytest.mark.parametrize(("make", "shape"), [(Normed, (400, 8)), (Pictures, (5, 3, 8, 8))])
def test_what_is_computed_again_is_what_it_was(
    make: Callable[[], nn.Cell], shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    result, graph = _trained(make, OPTIMIZERS["Adam"], shape, planned=True)
    eager, _ = _trained(make, OPTIMIZERS["Adam"], shape, planned=False)
    monkeypatch.setattr(passes, "with_recomputation", lambda graph: graph)
    retained, graph_that_keeps = _trained(make, OPTIMIZERS["Adam"], shape, planned=True)
    assert graph is not None
    assert graph_that_keeps is not None
    most, most_kept = (max(recompute._Lives(item.nodes, item).bytes_held) for item in (graph, graph_that_keeps))
    assert most < 0.9 * most_kept
    _close(result, eager)
    _close(result, retained)


def test_values_are_computed_again_where_less_than_the_most_is_held_too() -> None:
    _, graph = _trained(Bulging, OPTIMIZERS["SGD"], (400, 8), planned=True)
    assert graph is not None
    lives = recompute._Lives(graph.nodes, graph)
    assert not lives.across(lives.bytes_held.index(max(lives.bytes_held)))
    assert sum(isinstance(node, OperatorCall) and node.operator.name == "layer_norm" for node in graph.nodes) > 5


def _planned(step: Callable[..., Any]) -> Graph:
    graph = graph_of(step, *_data((6, 8)))
    return passes.with_early_updates(graph)


def _parts(graph: Graph) -> list[str]:
    return [node.function.__name__ for node in graph.nodes if isinstance(node, EagerCall)]


def test_gradients_that_meet_before_the_step_are_all_waited_for() -> None:
    net = Network()
    step = _step(net, nn.SGD(net.trainable_params(), 0.1), lambda gradients: ops.clip_by_global_norm(gradients, 0.1))
    compiled = CompiledFunction(step, "step", fullgraph=True, level="O1")
    twin = Network()
    for mine, its in zip(twin.get_parameters(), net.get_parameters(), strict=True):
        mine.set_data(Tensor(its.asnumpy()))
    eager = _step(twin, nn.SGD(twin.trainable_params(), 0.1), lambda gradients: ops.clip_by_global_norm(gradients, 0.1))
    for _ in range(4):
        compiled(*_data((6, 8)))
        eager(*_data((6, 8)))
    _close([p.asnumpy() for p in net.get_parameters()], [p.asnumpy() for p in twin.get_parameters()])


def test_a_parameter_is_read_before_it_is_changed_wherever_the_reading_stands() -> None:
    def run(planned: bool) -> list[np.ndarray[Any, Any]]:
        ms.set_seed(2)
        net = Network()
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        inner = _step(net, optimizer)

        def step(x: Tensor, y: Tensor) -> Any:
            before = [p * 1.0 for p in optimizer.parameters]
            value = inner(x, y)
            return value, [b - p for b, p in zip(before, optimizer.parameters, strict=True)]

        call = CompiledFunction(step, "step", fullgraph=True, level="O1") if planned else step
        results: list[np.ndarray[Any, Any]] = []
        for _ in range(3):
            value, differences = call(*_data((6, 8)))
            results += [value.asnumpy(), *[difference.asnumpy() for difference in differences]]
        return results

    _close(run(True), run(False))


Stepping = Callable[[Network, nn.Optimizer, Callable[[Any, Any], Any]], Callable[..., Any]]


def a_check_behind_the_gradients(net: Network, optimizer: nn.Optimizer, ask: Callable[[Any, Any], Any]) -> Any:
    def step(x: Tensor, y: Tensor, indices: Tensor) -> Any:
        value, gradients = ask(x, y)
        result = ops.unsorted_segment_sum(value * x[:, 0], indices, 3)
        optimizer(gradients)
        return value, result

    return step


def a_parameter_that_is_changed_before(net: Network, optimizer: nn.Optimizer, ask: Callable[[Any, Any], Any]) -> Any:
    def step(x: Tensor, y: Tensor, indices: Tensor) -> Any:
        value, gradients = ask(x, y)
        ops.assign(net.last.weight, net.last.weight * 0.5)
        optimizer(gradients)
        return value, net.last.weight * 1.0

    return step


def what_a_parameter_was(net: Network, optimizer: nn.Optimizer, ask: Callable[[Any, Any], Any]) -> Any:
    def step(x: Tensor, y: Tensor, indices: Tensor) -> Any:
        value, gradients = ask(x, y)
        before = net.last.weight.data
        optimizer(gradients)
        return value, before

    return step


STEPPING: list[Stepping] = [a_check_behind_the_gradients, a_parameter_that_is_changed_before, what_a_parameter_was]


@pytest.mark.parametrize("make", STEPPING)
def test_a_step_with_more_around_it_gives_and_leaves_what_it_does_eagerly(make: Stepping) -> None:
    def run(planned: bool) -> list[np.ndarray[Any, Any]]:
        ms.set_seed(2)
        net = Network()
        optimizer = nn.Adam(net.trainable_params(), 1e-2)
        loss = nn.CrossEntropyLoss()
        ask = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
        step = make(net, optimizer, ask)
        call = CompiledFunction(step, "step", level="O1") if planned else step
        outcomes: list[np.ndarray[Any, Any]] = []
        for last in (1, 2, 0, -1, 1):  # segments below 0 are left out, which no plan does
            results = call(*_data((6, 8)), Tensor(np.array([0, 1, 2, 0, 1, last], np.int32)))
            outcomes += [result.asnumpy() for result in results]
        if isinstance(call, CompiledFunction):
            assert call.counts["replayed"] >= 3
        return [*outcomes, *_state(net, optimizer)]

    _close(run(True), run(False))


def test_gradients_that_are_given_out_and_two_optimizers_leave_the_step_whole() -> None:
    net = Network()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    loss = nn.CrossEntropyLoss()
    value_and_gradients = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

    def gives_out(x: Tensor, y: Tensor) -> Any:
        value, gradients = value_and_gradients(x, y)
        optimizer(gradients)
        return value, gradients

    assert _parts(_planned(gives_out)) == ["_step"]
    two = [nn.SGD(net.trainable_params()[:2], 0.1), nn.SGD(net.trainable_params()[2:], 0.1)]

    def by_two(x: Tensor, y: Tensor) -> Any:
        value, gradients = value_and_gradients(x, y)
        two[0](gradients[:2])
        two[1](gradients[2:])
        return value

    assert _parts(_planned(by_two)) == ["_step", "_step"]


def test_a_label_out_of_range_changes_no_parameter() -> None:
    net = Network()
    weight: Parameter = net.last.weight
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    compiled = CompiledFunction(_step(net, optimizer), "step", fullgraph=True, level="O1")
    x, y = _data((6, 8))
    for _ in range(3):
        compiled(x, y)
    before = [p.asnumpy() for p in net.get_parameters()]
    with pytest.raises(Exception, match="label"):
        compiled(x, Tensor(np.full(6, 9, np.int32)))
    for now, then in zip(net.get_parameters(), before, strict=True):
        assert now.asnumpy().tobytes() == then.tobytes()
    assert int(optimizer.global_step.asnumpy()[0]) == 3
    assert weight.shape == (4, WIDTH)


OVER: dict[str, tuple[Callable[..., Any], bool]] = {
    "nobody needs it": (lambda x, w: ops.tanh(x @ w) * 2, True),
    "it is needed later": (lambda x, w: (lambda a: (ops.tanh(a) * 2) @ w + a)(x @ w), True),
    "it is given out": (lambda x, w: (lambda a: (a, ops.tanh(a) * 2))(x @ w), False),
    "a look at it is given out": (lambda x, w: (lambda a: (a.reshape(-1), ops.tanh(a) * 2))(x @ w), False),
    "a look at it is needed later": (lambda x, w: (lambda a: (ops.tanh(a) * 2) @ a.T)(x @ w), False),
    "it is an argument": (lambda x, w: ops.tanh(x) * 2 + w, False),
    "it is a look at an argument": (lambda x, w: ops.tanh(x.T) * 2 + w, False),
    "its shape is another look": (lambda x, w: ops.tanh((x @ w).reshape(2, 128, 256)) * 2, True),
    "it lies in another order": (lambda x, w: ops.tanh((x @ w).T) * 2, True),
    "its sum is taken, too": (lambda x, w: (lambda b: (b, b.sum()))(ops.tanh(x @ w) * 2), True),
}


@pytest.mark.parametrize("name", OVER)
def test_a_loop_writes_over_what_nobody_needs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, is_over = OVER[name]
    random = np.random.default_rng(1)
    x, w = (Tensor(random.normal(size=(256, 256)).astype(np.float32) * 0.1) for _ in range(2))
    originals = [x.asnumpy(), w.asnumpy()]
    outcomes: list[bool] = []
    real = loops._function

    def noted(*arguments: Any) -> Any:
        call = real(*arguments)

        def calls(*arrays: Any, **into: Any) -> Any:
            outcomes.append(into.get("into") is not None)
            return call(*arrays, **into)

        return calls

    monkeypatch.setattr(loops, "_function", noted)
    compiled = CompiledFunction(function, "f", fullgraph=True, level="O1")
    for _ in range(3):
        results = compiled(x, w)
    assert compiled.counts["replayed"] == 2
    assert any(outcomes) is is_over
    expected = function(x, w)
    for entry, other in zip(*(r if isinstance(r, tuple) else (r,) for r in (results, expected)), strict=True):
        np.testing.assert_allclose(entry.asnumpy(), other.asnumpy(), rtol=1e-4, atol=1e-5)
    assert [x.asnumpy().tobytes(), w.asnumpy().tobytes()] == [item.tobytes() for item in originals]
