"""Learning rates of a watched training: those of each update, and reading them changes and evaluates nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hookscope import engine as ms
from hookscope.engine import Tensor, nn, value_and_grad
from hookscope.engine.debug import DebugSession

X = Tensor(np.ones((2, 3), np.float32))
OPTIMIZERS: dict[str, Callable[[Any], nn.Optimizer]] = {
    "sgd": lambda weights: nn.SGD(weights, 0.25),
    "listed": lambda weights: nn.Momentum(weights, [0.5, 0.25, 0.125], 0.9),
    "schedule": lambda weights: nn.Adam(weights, nn.ExponentialDecayLR(0.5, 0.5, 1)),
}
EXPECTED = {"sgd": [0.25] * 4, "listed": [0.5, 0.25, 0.125, 0.125], "schedule": [0.5, 0.25, 0.125, 0.0625]}


def network() -> nn.SequentialCell:
    return nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 1))


def train(net: nn.Cell, *optimizers: nn.Optimizer, steps: int = 4) -> None:
    for _ in range(steps):
        for optimizer in optimizers:
            step = value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
            optimizer(step(X)[1])


def rates(session: DebugSession) -> dict[str, list[float]]:
    points = session.scalars.points()
    return {name: [p.value for p in rows] for name, rows in points.items() if name.startswith("learning rate")}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_rate_of_each_update_is_recorded(name: str) -> None:
    net = network()
    with DebugSession(net) as session:
        train(net, OPTIMIZERS[name](net.trainable_params()))
    assert rates(session) == {"learning rate": pytest.approx(EXPECTED[name])}
    assert [point.step for point in session.scalars.points()["learning rate"]] == [1, 2, 3, 4]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_reading_changes_no_bit(name: str) -> None:
    results = []
    for is_watched in (False, True):
        ms.set_seed(1)
        net = network()
        optimizer = OPTIMIZERS[name](net.trainable_params())
        session = DebugSession(net)
        if is_watched:
            session.attach()
        train(net, optimizer)
        session.detach()
        results.append([p.asnumpy().tobytes() for p in (*net.get_parameters(), optimizer.global_step)])
    assert results[0] == results[1]


def test_a_schedule_is_called_once_for_each_update() -> None:
    class Counting(nn.LearningRateSchedule):
        calls = 0

        def construct(self, global_step: Tensor) -> Tensor:
            Counting.calls += 1
            return Tensor(np.float32(0.1 * Counting.calls))

    net = network()
    optimizer = nn.SGD(net.trainable_params(), Counting())
    with DebugSession(net) as session:
        train(net, optimizer, steps=3)
    assert Counting.calls == 3
    assert rates(session) == {"learning rate": pytest.approx([0.1, 0.2, 0.3])}


def test_a_rate_that_is_assigned_in_between_is_read_again() -> None:
    net = network()
    optimizer = nn.SGD(net.trainable_params(), 0.5)
    with DebugSession(net) as session:
        train(net, optimizer, steps=2)
        optimizer.learning_rate.set_data(Tensor(np.float32(0.125)))
        train(net, optimizer, steps=1)
    assert rates(session) == {"learning rate": [0.5, 0.5, 0.125]}


def test_groups_have_a_rate_each_with_the_path_of_their_weights() -> None:
    net = network()
    groups = [{"params": net[0].trainable_params(), "lr": 0.5}, {"params": net[2].trainable_params(), "lr": 0.25}]
    with DebugSession(net) as session:
        train(net, nn.SGD(groups, 0.1), steps=2)
    assert rates(session) == {"learning rate of 0": [0.5, 0.5], "learning rate of 2": [0.25, 0.25]}


def test_several_optimizers_have_a_rate_and_a_loss_each() -> None:
    net = network()
    first, last = nn.SGD(net[0].trainable_params(), 0.5), nn.Adam(net[2].trainable_params(), 0.25)
    with DebugSession(net) as session:
        train(net, first, last, steps=2)
    assert rates(session) == {"learning rate of 0": [0.5, 0.5], "learning rate of 2": [0.25, 0.25]}
    assert [name for name in session.scalars.series() if "loss" in name] == ["loss of 0", "loss of 2"]


def test_another_optimizer_of_the_same_weights_goes_on_with_the_curve() -> None:
    net = network()
    with DebugSession(net) as session:
        train(net, nn.SGD(net.trainable_params(), 0.5), steps=1)
        train(net, nn.SGD(net.trainable_params(), 0.25), steps=1)
    assert rates(session) == {"learning rate": [0.5, 0.25]}


def test_an_optimizer_of_another_network_is_not_recorded() -> None:
    net, other = network(), network()
    with DebugSession(net) as session:
        train(other, nn.SGD(other.trainable_params(), 0.5))
    assert session.scalars.count == 0


def test_rates_that_are_derived_from_the_weights_are_not_shown_as_zero() -> None:
    net = network()
    with DebugSession(net) as session:
        train(net, nn.AdaFactor(net.trainable_params()))
    assert rates(session) == {}
