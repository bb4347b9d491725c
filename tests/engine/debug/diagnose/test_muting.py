"""Cleared findings, and conditions that are muted for one cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from debug_networks import scripted, tensor

from hookscope.engine import Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import DebugSession, Muted
from hookscope.engine.tensors.initializer import Normal


class Log(nn.Cell):
    def construct(self, x: Any) -> Any:
        return ops.log(x)


def logs() -> nn.SequentialCell:
    """Return two cells that make a NaN of a negative number; the ReLU between them passes it on unchanged."""
    return nn.SequentialCell([Log(), nn.ReLU(), Log()])


def findings_of(session: DebugSession) -> list[tuple[str, str, int]]:
    return [(finding.condition, finding.path, finding.count) for finding in session.findings()]


def test_cleared_findings_are_gone_and_what_still_holds_is_found_again() -> None:
    events: list[str] = []
    with DebugSession(logs(), conditions=["nan"]) as session:
        session.observe(events.append)
        session.roots[0](tensor(-1.0, 2.0))
        assert [(condition, path) for condition, path, _ in findings_of(session)] == [("nan", "0")]
        session.clear_findings()
        assert not session.findings() and not session.hits and "changed" in events
        session.roots[0](tensor(-1.0, 2.0))
        assert [(finding.path, finding.first_step) for finding in session.findings()] == [("0", 2)]


def test_what_is_muted_in_a_cell_is_not_found_there_but_elsewhere() -> None:
    net = nn.SequentialCell([Log(), nn.ReLU()])
    with DebugSession(net, conditions=["nan", "all_zero"]) as session:
        net(tensor(-1.0, 2.0))
        session.mute("nan", "0")
        assert session.muted == [Muted("nan", "0")]
        assert not session.findings() and not session.hits
        net(tensor(-1.0, 2.0))
        assert not session.findings() and not session.captures[-1].hits
        net[0].construct = lambda x: x
        net[1].construct = ops.log
        net(tensor(-1.0, 2.0))
        assert [(condition, path) for condition, path, _ in findings_of(session)] == [("nan", "1")]
        session.unmute("nan", "0")
        assert [(condition, path) for condition, path, _ in findings_of(session)] == [("nan", "0"), ("nan", "1")]
        net[0].construct, net[1].construct = ops.log, lambda x: x
        net(tensor(-1.0, 2.0))
        assert [(condition, path) for condition, path, _ in findings_of(session)] == [("nan", "0"), ("nan", "1")]
        assert session.muted == []


def test_a_batch_norm_that_is_frozen_on_purpose_can_be_muted() -> None:
    net = nn.SequentialCell([nn.Dense(4, 4), nn.BatchNorm1d(4), nn.Dense(4, 4), nn.BatchNorm1d(4)]).set_train()
    for index in (1, 3):
        net[index].set_train(False)
    step = value_and_grad(lambda x: (net(x) ** 2).mean(), None, net.trainable_params())
    with DebugSession(net, conditions=["wrong_mode"]) as session:
        session.mute("wrong_mode", "1")
        for seed in range(3):
            step(Tensor(np.random.default_rng(seed).normal(size=(8, 4)).astype(np.float32)))
    assert [(finding.condition, finding.path) for finding in session.findings()] == [("wrong_mode", "3")]


@pytest.mark.parametrize("muted", [False, True])
def test_what_is_muted_is_not_paused_at(muted: bool) -> None:
    net = Log()
    session, script = scripted(net, stop_on=["nan", "if norm > 1"])
    if muted:
        session.mute("nan", "")
        session.mute("if norm > 1", "")
    with session:
        net(tensor(-1.0, 50.0))
    assert bool(script.points) is not muted
    assert bool(session.findings()) is not muted


def test_a_condition_on_a_parameter_is_muted_by_its_cell() -> None:
    net = nn.SequentialCell([nn.Dense(4, 4, weight_init=Normal(100.0)), nn.Tanh(), nn.Dense(4, 1)])

    def conditions(*muted: str) -> set[str]:
        with DebugSession(net, conditions=["initial_weights"]) as session:
            for path in muted:
                session.mute("initial_weights", path)
            value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(Tensor(np.ones((2, 4), np.float32)))
        return {finding.path for finding in session.findings()}

    assert conditions() == {"0"}
    assert conditions("0") == set()


@pytest.mark.parametrize(
    ("condition", "path", "message"),
    [
        ("nans", "0", "mute: no condition 'nans'; the nearest is 'nan'"),
        ("nan", "o", "mute: no cell 'o' in this session"),
    ],
)
def test_what_there_is_not_cannot_be_muted(condition: str, path: str, message: str) -> None:
    session = DebugSession(nn.SequentialCell([Log()]))
    with pytest.raises(ValueError, match=f"^{message}$"):
        session.mute(condition, path)
    assert session.muted == []


def test_what_is_not_muted_cannot_be_unmuted() -> None:
    session = DebugSession(nn.SequentialCell([Log()]))
    with pytest.raises(ValueError, match="^unmute: nan in 0 is not muted; muted: nothing$"):
        session.unmute("nan", "0")
    session.mute("inf", "")
    with pytest.raises(ValueError, match=r"^unmute: nan in 0 is not muted; muted: inf in \(root\)$"):
        session.unmute("nan", "0")


def test_muting_twice_is_muting_once() -> None:
    session = DebugSession(Log())
    session.mute("nan", "")
    session.mute("nan", "")
    session.unmute("nan", "")
    assert session.muted == []


def test_what_was_known_before_it_was_muted_is_back_though_its_values_are_gone() -> None:
    net = nn.SequentialCell([Log(), nn.ReLU()])
    with DebugSession(net, conditions=["nan"], max_captures=8) as session:
        net(tensor(-1.0, 2.0))
        for _ in range(10):
            net(tensor(1.0, 2.0))
        (before,) = session.findings()
        session.mute("nan", before.path)
        session.unmute("nan", before.path)
        (after,) = session.findings()
    assert (after.message, after.count, after.first_step) == (before.message, before.count, before.first_step)
