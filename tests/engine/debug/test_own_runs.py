"""A session watches its own network's runs, and ignores those of other networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from debug_networks import tensor

from hookscope.engine import Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import DebugSession, PausePoint


class Log(nn.Cell):
    """A weight, and a logarithm that makes a NaN of numbers below zero."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(2, 2)

    def construct(self, x: Any) -> Any:
        return self.dense(ops.log(x))


class WithLoss(nn.Cell):
    """A network and a loss, as training wrappers hold them."""

    def __init__(self, net: nn.Cell) -> None:
        super().__init__()
        self.net = net

    def construct(self, x: Any) -> Any:
        return ops.log(-(self.net(x) ** 2)).sum()


class Answers:
    """A pauser that continues at each pause, and records it."""

    def __init__(self) -> None:
        self.points: list[PausePoint] = []
        self.session: DebugSession | None = None

    def unavailable(self) -> str | None:
        return None

    def wait(self, until: Any) -> None:
        assert self.session is not None and self.session.paused is not None
        self.points.append(self.session.paused)
        self.session.resume("continue")
        assert until()


BAD = tensor(-1.0, 2.0).reshape((1, 2))
GOOD = tensor(1.0, 2.0).reshape((1, 2))


def watching(net: nn.Cell) -> tuple[DebugSession, Answers]:
    answers = Answers()
    session = DebugSession(net, stop_on=["nan"], breaks=["ops.log"], pauser=answers)
    answers.session = session
    return session, answers


def train(net: nn.Cell, x: Tensor) -> None:
    step = value_and_grad(lambda: ops.log(net(x)).sum(), None, net.trainable_params())
    step()


@pytest.mark.parametrize("run", [train, lambda net, x: net(x)], ids=["training", "forward"])
def test_a_new_network_is_nothing_to_an_old_session(run: Any) -> None:
    old, new = Log(), Log()
    session, answers = watching(old)
    with session:
        run(old, GOOD)
        paused, findings = len(answers.points), len(session.findings())
        assert paused > 0
        run(new, BAD)
        assert len(answers.points) == paused and len(session.findings()) == findings
        run(old, BAD)
        assert len(answers.points) > paused and len(session.findings()) > findings


def test_what_a_new_network_trains_is_not_kept() -> None:
    old, new = Log(), Log()
    session = DebugSession(old, conditions=["all"])
    with session:
        train(old, GOOD)
        gradients, losses = set(session.gradients), list(session.history.losses)
        assert len(losses) == 1
        train(new, GOOD)
    assert set(session.gradients) == gradients and list(session.history.losses) == losses


def test_code_around_the_network_belongs_to_its_run() -> None:
    """Before the first call it may be the inputs; after a call the loss, written out or as a cell."""
    net, loss = Log(), nn.SequentialCell(nn.ReLU())
    session, _ = watching(net)
    with session:
        ops.log(BAD)
        assert [producer.operator for producer in session.producers] == ["log"]
        net(GOOD)
        loss(GOOD)
        ops.log(BAD)
        assert len(session.producers) == 2


def test_a_wrapper_around_the_network_is_no_other_network() -> None:
    net = Log()
    session, _ = watching(net)
    with session:
        WithLoss(net)(GOOD)
        assert [producer.operator for producer in session.producers] == ["log"]


def test_networks_of_one_gradient_call_are_one_run() -> None:
    """A critic's call on a generator's samples belongs to the generator's run, too."""
    generator, critic = nn.Dense(2, 2), Log()
    session, _ = watching(generator)
    with session:
        value_and_grad(lambda: critic(-(generator(GOOD) ** 2)).sum(), None, generator.trainable_params())()
        assert "log" in {producer.operator for producer in session.producers}


def test_two_sessions_each_find_their_own() -> None:
    first_net, other = Log(), Log()
    first, _ = watching(first_net)
    second, _ = watching(other)
    with first, second:
        train(first_net, BAD)
        assert first.findings() and not second.findings()
        result = len(first.findings())
        train(other, BAD)
        assert second.findings() and len(first.findings()) == result


def test_a_cell_that_two_networks_share_is_looked_at_in_both() -> None:
    shared = Log()
    one, other = nn.SequentialCell(shared), nn.SequentialCell(nn.Dense(2, 2), nn.ReLU(), shared)
    session, _ = watching(one)
    with session:
        one(GOOD)
        other(Tensor(np.array([[1.0, -1.0]], np.float32)))
        assert session.captures[-1].path.startswith("0")
