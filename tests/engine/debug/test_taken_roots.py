"""A session without a network takes those that run, and judges them as if each had been its argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops
from hookscope.engine.debug import DebugSession
from hookscope.engine.train import Model

RNG = np.random.default_rng(0)
X = Tensor(RNG.normal(size=(8, 4)).astype(np.float32))
Y = Tensor(RNG.integers(0, 3, 8).astype(np.int32))


def network(bias: float = 0.1) -> nn.Cell:
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(4, 8, bias_init=bias), nn.ReLU(), nn.Dense(8, 3))
    net.set_train()
    return net


class NetWithLoss(nn.Cell):
    """As users write it."""

    def __init__(self, net: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.net, self.loss = net, nn.CrossEntropyLoss()

    def construct(self, x: Any, y: Any) -> Any:
        return self.loss(self.net(x), y)


class TrainStep(nn.Cell):
    """As users write it."""

    def __init__(self, net: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.net_with_loss, self.optimizer = NetWithLoss(net), sgd(net)

    def construct(self, x: Any, y: Any) -> Any:
        value, gradients = ms.value_and_grad(self.net_with_loss, None, self.optimizer.parameters)(x, y)
        self.optimizer(gradients)
        return value


def sgd(net: nn.Cell, rate: float = 0.1) -> nn.Optimizer:
    return nn.SGD(net.trainable_params(), rate)


def trained(net: nn.Cell, steps: int, scale: float = 1.0, loss: Any = None, x: Tensor = X) -> None:
    """Run a training loop with a loss outside the network."""
    optimizer, loss = sgd(net), loss or nn.CrossEntropyLoss()
    step = ms.value_and_grad(lambda a, b: loss(net(a), b) * scale, None, optimizer.parameters)
    for _ in range(steps):
        _, gradients = step(x, Y)
        optimizer(tuple(gradient / scale for gradient in gradients))


def by_cells(net: nn.Cell, steps: int) -> None:
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), sgd(net))
    for _ in range(steps):
        step(X, Y)


def with_loss_scale(net: nn.Cell, steps: int) -> None:
    scale = nn.DynamicLossScaleUpdateCell(1024, 2, 1000)
    step = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), sgd(net), scale)
    for _ in range(steps):
        step(X, Y)


def by_own_cells(net: nn.Cell, steps: int) -> None:
    step = TrainStep(net)
    for _ in range(steps):
        step(X, Y)


def by_model(net: nn.Cell, steps: int) -> None:
    data = ms.dataset.GeneratorDataset([(X.asnumpy()[i], Y.asnumpy()[i]) for i in range(8)], ["x", "y"]).batch(8)
    Model(net, nn.CrossEntropyLoss(), sgd(net)).train(steps, data)


ways = pytest.mark.parametrize("way", [trained, by_cells, with_loss_scale, by_own_cells, by_model])


@ways
def test_paths_and_steps_are_those_of_the_network_however_it_is_trained(way: Callable[[nn.Cell, int], None]) -> None:
    net = network()
    with DebugSession(conditions=["all"]) as session:
        way(net, 6)
    assert session.roots[0] is net
    assert {"", "0", "1", "2"} <= {path for path, _ in session.paths}
    assert not any(isinstance(cell, nn.Optimizer | TrainStep | nn.TrainOneStepCell) for _, cell in session.paths)
    assert session.step == 6
    assert not session.findings().causes()


@ways
def test_a_fault_is_found_as_in_a_session_of_the_network(way: Callable[[nn.Cell, int], None]) -> None:
    def causes(is_given: bool) -> list[tuple[str, str]]:
        net = network(bias=-50.0)
        with DebugSession(net if is_given else None, conditions=["all"]) as session:
            way(net, 6)
        return [(cause.condition, cause.place) for cause in session.findings().causes()]

    assert causes(is_given=False) == causes(is_given=True) != []
    assert ("dead_relu", "1") in causes(is_given=False)


def test_evaluation_begins_a_step_for_each_batch_and_none_for_its_loss() -> None:
    net, loss = network().set_train(False), nn.CrossEntropyLoss()
    with DebugSession() as session:
        for _ in range(3):
            loss(net(X), Y)
    assert session.step == 3


def test_two_networks_in_one_gradient_call_are_one_step() -> None:
    generator, critic = network(), nn.Dense(3, 1)
    step = ms.value_and_grad(lambda z: critic(generator(z)).mean(), None, generator.trainable_params())
    with DebugSession() as session:
        step(X)
        step(X)
    assert session.roots == [generator, critic]
    assert session.step == 2


def test_samples_that_a_generator_makes_between_its_steps_are_no_evaluation() -> None:
    generator = nn.SequentialCell(nn.Dense(4, 8), nn.BatchNorm1d(8)).set_train()
    critic = nn.Dense(8, 1).set_train()
    step = ms.value_and_grad(lambda z: critic(generator(z)).mean(), None, generator.trainable_params())
    with DebugSession(conditions=["wrong_mode"]) as session:
        for _ in range(3):
            step(X)
            generator(X)
    assert not session.findings()


def test_a_network_that_waits_for_its_turn_is_not_called_unchanged() -> None:
    first, second = network(), network()
    with DebugSession(conditions=["unchanged_weight"]) as session:
        second(X)
        trained(first, 10)
    assert not session.findings()


def test_each_network_is_looked_at_from_its_own_beginning() -> None:
    with DebugSession(conditions=["initial_weights", "inputs_not_normalized", "shared_cell", "first_loss"]) as session:
        trained(network(), 15)
        twice = nn.Dense(4, 4)
        faulty = nn.SequentialCell(twice, twice, nn.Dense(4, 3, weight_init=50.0)).set_train()
        trained(faulty, 3, x=X * 1000)
    findings = {finding.condition for finding in session.findings()}
    assert findings == {"initial_weights", "inputs_not_normalized", "shared_cell", "first_loss"}


def test_a_loss_scale_is_no_exploding_gradient() -> None:
    with DebugSession(conditions=["exploding_gradient"]) as session:
        trained(network(), 3, scale=4096.0)
    assert not session.findings()


def test_losses_that_are_made_in_each_step_do_not_pile_up() -> None:
    net = network()
    with DebugSession() as session:
        for _ in range(40):
            nn.CrossEntropyLoss()(net(X), Y)
    assert len(session.roots) < 20
    assert session.step == 40


def test_of_very_many_networks_the_first_are_watched_and_a_line_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with DebugSession() as session:
        for _ in range(100):
            nn.Dense(4, 1)(X)
    assert len(session.roots) == 50
    assert capsys.readouterr().err.count("the limit of watched networks is reached: this Dense is not watched") == 1


def test_a_network_without_loss_or_optimizer_is_taken_as_it_is() -> None:
    class Outer(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.inner = network()

        def construct(self, x: Any) -> Any:
            return ops.tanh(self.inner(x))

    outer = Outer()
    with DebugSession() as session:
        outer(X)
    assert session.roots == [outer]
