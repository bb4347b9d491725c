"""A session without references stops watching at once."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from debug_networks import SquareThenScale, tensor

from hookscope.engine import grad, nn, vjp
from hookscope.engine.debug import DebugSession
from hookscope.engine.tape import taps


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def everything(net: nn.Cell) -> DebugSession:
    session = DebugSession(net, conditions=["all"], stop_on=["nan"], breaks=["ops.mul"])
    session.attach()
    session.attach_hook("scale", "backward")
    return session


def used_session(net: nn.Cell) -> DebugSession:
    """Return a session that has done most of what a session can do."""
    session = everything(net)
    grad(net)(tensor(1.0, 2.0))
    session.findings()
    session.table()
    session.tree()
    session.hooks()
    return session


@pytest.mark.parametrize("make", [everything, used_session])
def test_when_its_last_name_is_deleted(make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    net = SquareThenScale()
    session = make(net)
    assert taps.cell_taps and session.attached
    capsys.readouterr()
    del session
    assert (taps.cell_taps, taps.operator_taps, taps.bprop_taps) == ([], [], [])
    assert not any(hooks for cell in (net, net.square, net.scale) for hooks in cell._hooks.values())
    message = "hookscope: session: watches no more, since no variable refers to this session any longer\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize("make", [everything, used_session])
def test_what_it_captured_goes_with_it_though_its_gradient_may_still_be_asked_for(make: Any) -> None:
    net = SquareThenScale()
    session = make(net)
    _, back = vjp(net, tensor(1.0, 2.0))  # it keeps the calls, which refer to their sessions
    assert len(session.captures) > 0
    captures = weakref.ref(session.captures)
    del session
    assert captures() is None
    assert back(tensor(1.0, 1.0))


def test_a_hook_of_ones_own_stays_in_the_network() -> None:
    net = SquareThenScale()
    session = DebugSession(net)
    log: list[nn.Cell] = []
    session.attach_hook("square", "forward", lambda cell, inputs, output: log.append(cell))
    del session
    net(tensor(1.0))
    assert log == [net.square]


def test_one_session_after_another_under_one_name_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """As if the cell of a notebook runs again."""
    net = SquareThenScale()
    session = everything(net)
    before = len(taps.cell_taps)
    for _ in range(20):
        session = everything(net)
        assert len(taps.cell_taps) == before
    capsys.readouterr()
    net(tensor(1.0))
    assert session.step == 1
    session.detach()
    session.detach_hook("scale", "backward")
    assert "watches no more" not in capsys.readouterr().err


def test_a_detached_one_goes_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    with DebugSession(SquareThenScale()) as session:
        pass
    del session
    assert capsys.readouterr().err == ""


def test_one_that_ends_inside_its_own_event_lets_the_run_go_on() -> None:
    net = SquareThenScale()
    sessions = [DebugSession(net)]
    sessions[0].attach()
    sessions[0].observe(lambda event: sessions.clear())
    assert net(tensor(2.0)).asnumpy().tolist() == [12.0]
    assert not sessions and taps.cell_taps == []
