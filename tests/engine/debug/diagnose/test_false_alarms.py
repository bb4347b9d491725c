"""Sound programs that once raised an alarm, each with the fault that it was taken for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops
from hookscope.engine.debug import DebugSession

RNG = np.random.default_rng(0)


def tensor(*shape: int, seed: int = 0) -> Tensor:
    return Tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def train(
    session: DebugSession,
    loss: Callable[..., Any],
    weights: Sequence[ms.Parameter],
    steps: int = 5,
    after: Callable[[], object] = lambda: None,
    rate: float = 1e-2,
) -> list[str]:
    optimizer = nn.Adam(weights, rate)
    step = ms.value_and_grad(loss, None, optimizer.parameters)
    with nullcontext() if session.attached else session:
        for _ in range(steps):
            optimizer(step()[1])
            after()
    return [finding.condition for finding in session.findings()]


@pytest.fixture(autouse=True)
def seed() -> None:
    ms.set_seed(0)


@pytest.mark.parametrize("samples", [1, 2, 8])
def test_predictions_that_are_sampled_by_dropout_are_meant(samples: int) -> None:
    net, x, y = (
        nn.SequentialCell(nn.Dense(6, 16), nn.Dropout(p=0.2), nn.Dense(16, 2)).set_train(),
        tensor(8, 6),
        tensor(8, 2),
    )
    conditions = train(
        DebugSession(net, conditions=["wrong_mode"]),
        lambda: ops.mse_loss(net(x), y),
        net.trainable_params(),
        after=lambda: [net(x) for _ in range(samples)],
    )
    assert conditions == ([] if samples > 2 else ["wrong_mode"])  # two are a loss and an accuracy


def test_gradients_of_zero_behind_heads_that_begin_with_zeros_are_of_the_first_step_alone() -> None:
    body, head = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU()), nn.Dense(16, 2, weight_init="zeros")
    net, x, y = nn.SequentialCell(body, head), tensor(8, 6), tensor(8, 2)

    def acted() -> Any:  # the call before the first gradient makes that of the gradient the second one of its step
        return ops.mse_loss(net(x), y)

    session = DebugSession(net, conditions=["all_zero"])
    with session:
        net(x)
        assert train(session, acted, net.trainable_params(), after=lambda: net(x)) == []
    assert [finding.condition for finding in session.findings()] == []


def test_zeros_that_pass_are_taken_back_and_zeros_that_stay_are_not() -> None:
    class Branches(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.gate = nn.Dense(6, 4), nn.ReLU(), 0.0

        def construct(self, x: Tensor) -> Any:
            hidden = self.first(x)
            return hidden + self.second(hidden) * self.gate

    net, x = Branches(), tensor(8, 6)
    session = DebugSession(net, conditions=["all_zero"])
    assert train(session, lambda: ops.square(net(x)).mean(), net.trainable_params()) == ["all_zero"]
    net.gate = 1.0
    assert train(session, lambda: ops.square(net(x)).mean(), net.trainable_params()) == []


def test_nodes_of_a_graph_that_a_constant_matrix_mixes_are_meant_to_interact() -> None:
    edges = np.asarray(RNG.random((12, 12)) < 0.3, np.float32)
    constant = Tensor(edges / np.maximum(edges.sum(1, keepdims=True), 1))

    class Propagation(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.dense = nn.Dense(6, 3)

        def construct(self, x: Tensor) -> Any:
            return ops.matmul(constant, self.dense(x))

    class Mean(Propagation):
        def construct(self, x: Tensor) -> Any:
            hidden = self.dense(x)
            return hidden - hidden.mean(0)

    x, labels = tensor(12, 6), Tensor(np.arange(12, dtype=np.int32) % 3)
    for kind, expected in ((Propagation, []), (Mean, ["samples_leak"])):
        net = kind()
        session = DebugSession(net, conditions=["samples_leak"])
        assert train(session, lambda net=net: ops.cross_entropy(net(x), labels), net.trainable_params()) == expected


@pytest.mark.parametrize("leaks", [False, True])
def test_samples_may_be_along_another_axis_of_the_output(leaks: bool) -> None:
    class Frames(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.dense = nn.Dense(6, 3)

        def construct(self, x: Tensor) -> Any:  # (N, T, 6) -> (T, N, 3), with as many samples as frames
            hidden = self.dense(x).permute(1, 0, 2)
            return hidden - hidden.mean(1, keep_dims=True) if leaks else hidden

    net, x = Frames(), tensor(8, 8, 6)
    session = DebugSession(net, conditions=["samples_leak"])
    conditions = train(session, lambda: ops.square(net(x)).mean(), net.trainable_params())
    assert conditions == (["samples_leak"] if leaks else [])


def test_gradients_beside_that_of_a_small_penalty_do_not_explode() -> None:
    class Factors(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.bias = nn.Embedding(20, 4), nn.Embedding(20, 1)

        def construct(self, x: Tensor) -> Any:
            return 10 * (self.table(x).sum(1, keepdims=True) + self.bias(x))

    net, rows, scores = Factors(), Tensor(np.arange(20, dtype=np.int32)), tensor(20, 1)

    def loss() -> Any:
        return ops.square(net(rows) - scores).mean() / 100 + 1e-6 * ops.square(net.table(rows)).mean()

    assert train(DebugSession(net, conditions=["exploding_gradient"]), loss, net.trainable_params()) == []


def test_a_loss_that_rises_first_and_falls_later_has_no_symptom_at_the_end() -> None:
    net, x = nn.Dense(6, 1), tensor(8, 6)
    heights = iter([*np.linspace(1, 3, 24), *np.linspace(3, 0.2, 60)])

    def loss() -> Any:
        return ops.square(net(x)).mean() * 0 + Tensor(np.float32(next(heights)))

    session = DebugSession(net, conditions=["loss_not_decreasing"])
    assert train(session, loss, net.trainable_params(), 24) == ["loss_not_decreasing"]
    assert train(session, loss, net.trainable_params(), 60) == []


@pytest.mark.parametrize("grows", [False, True])
def test_a_gradient_is_no_larger_because_that_of_a_head_that_has_learned_is_small(grows: bool) -> None:
    class Heads(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.steady, self.learned = nn.Dense(6, 4), nn.Dense(4, 1), nn.Dense(4, 1)
            self.scale, self.factor = 1.0, 1.0

        def construct(self, x: Tensor) -> Any:
            hidden = self.body(x)
            return self.steady(hidden) * self.factor + self.learned(hidden) * self.scale

    net, x = Heads(), tensor(8, 6)

    def after() -> None:
        net.scale = 1e-5
        net.factor = 1e4 if grows else 1.0

    session = DebugSession(net, conditions=["exploding_gradient"])
    with session:
        assert train(session, lambda: net(x).mean(), net.trainable_params(), rate=1e-9) == []
        after()
        conditions = train(session, lambda: net(x).mean(), net.trainable_params(), rate=1e-9)
    assert bool(conditions) is grows


def test_zeros_of_a_training_step_are_not_taken_back_by_an_evaluation() -> None:
    class Mask(nn.Cell):
        def construct(self, x: Tensor) -> Any:
            return x * 0 if self.training else x

    net, x = nn.SequentialCell(nn.Dense(6, 4), Mask(), nn.Dense(4, 2)).set_train(), tensor(8, 6)
    session = DebugSession(net, conditions=["all_zero"])

    def evaluate() -> None:
        net.set_train(False)
        net(x)
        net.set_train()

    conditions = train(session, lambda: net(x).mean(), net.trainable_params(), after=evaluate)
    assert conditions and set(conditions) == {"all_zero"}


def test_a_gradient_that_grows_slowly_is_reported() -> None:
    class Grow(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.factor = 1.0

        def construct(self, x: Tensor) -> Any:
            return x * self.factor

    cells = [Grow() for _ in range(6)]
    net, x = nn.SequentialCell(nn.Dense(4, 4), *cells), tensor(8, 4)

    def grow() -> None:
        for cell in cells:
            cell.factor *= 1.02

    session = DebugSession(net, conditions=["exploding_gradient"])
    assert "exploding_gradient" in train(session, lambda: net(x).mean(), net.trainable_params(), 150, grow, 1e-9)


def test_the_loss_of_another_network_takes_no_symptom_back() -> None:
    x, y = tensor(16, 6), tensor(16, 2)
    session = DebugSession(None, conditions=["loss_not_decreasing"])
    with session:
        for rate in (1e-9, 1e-1):
            net = nn.Dense(6, 2)
            conditions = train(session, lambda net=net: ops.mse_loss(net(x), y), net.trainable_params(), 40, rate=rate)
            assert conditions == ["loss_not_decreasing"]


def test_an_index_of_numpy_ends_no_check() -> None:
    net, x, column = nn.Dense(6, 3), tensor(8, 6), np.int64(1)
    session = DebugSession(net, conditions=["all"])
    train(session, lambda: ops.square(net(x)[:, column]).mean(), net.trainable_params())
    assert not session.faults
