"""Compiled networks run eagerly for a session: silently at level O0, with one line at O1, and reasons on request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn
from hookscope.engine.compile import plans_of
from hookscope.engine.debug import DebugSession
from hookscope.engine.tape import taps

X = Tensor(np.array([[1.0, -2.0], [3.0, 0.5]], np.float32))
O1 = ms.JitConfig(jit_level="O1")


@pytest.fixture
def graph_mode() -> Iterator[None]:
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def network() -> nn.SequentialCell:
    return nn.SequentialCell(nn.Dense(2, 2), nn.Tanh(), nn.Sigmoid())


def stderr_of(session: DebugSession, run: Callable[[], Any], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the standard error output of three runs."""
    with session:
        for _ in range(3):
            run()
    return capsys.readouterr().err.splitlines()


def test_watching_a_function_of_level_o1_is_said_once_and_gives_the_eager_numbers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    net = network()
    eager = net(X).asnumpy()
    step = ms.jit(lambda x: net(x), jit_level="O1")
    session = DebugSession(net)
    results: list[Any] = []
    (line,) = stderr_of(session, lambda: results.append(step(X).asnumpy()), capsys)
    assert line.startswith("hookscope: session: '") and "has jit_level O1" in line
    assert "its operators run one by one and round as at O0" in line
    assert all(np.array_equal(result, eager) for result in results)
    assert session.captured == 18  # inputs and outputs of three cells
    assert stderr_of(session, lambda: step(X), capsys) == []  # once a session


@pytest.mark.parametrize("way", ["cell in graph mode", "compile_and_run", "gradient in graph mode", "gradient of jit"])
def test_each_way_to_call_what_is_compiled_at_o1_says_so(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    net = network()
    net.set_jit_config(O1)
    calls: dict[str, Callable[[], Any]] = {
        "cell in graph mode": lambda: net(X),
        "compile_and_run": lambda: net.compile_and_run(X),
        "gradient in graph mode": lambda: ms.grad(net)(X),
        "gradient of jit": lambda: ms.grad(ms.jit(lambda x: net(x), jit_level="O1"))(X),
    }
    if way.endswith("graph mode"):
        ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert len(stderr_of(DebugSession(net), calls[way], capsys)) == 1
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_at_o0_and_of_what_is_not_the_session_s_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    net, other = network(), network()
    assert stderr_of(DebugSession(net), lambda: ms.jit(lambda x: net(x))(X), capsys) == []
    assert stderr_of(DebugSession(other), lambda: ms.jit(lambda x: net(x), jit_level="O1")(X), capsys) == []


@pytest.mark.usefixtures("graph_mode")
def test_a_cell_inside_belongs_to_the_plan_around_it_whatever_its_own_level_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    inner = network()
    inner.set_jit_config(O1)
    net = nn.SequentialCell(inner, nn.ReLU())
    assert stderr_of(DebugSession(net), lambda: net(X), capsys) == []


def test_a_gradient_of_a_cell_has_the_level_of_the_cell() -> None:
    nodes = {}
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        for level in ("O0", "O1"):
            net = network()
            net.set_jit_config(ms.JitConfig(jit_level=level))
            ms.grad(net)(X)
            (compiled,) = plans_of(net)
            nodes[level] = [len(item.plan.graph.nodes) for some in compiled.plans.values() for item in some]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert nodes["O1"] < nodes["O0"]


@pytest.mark.usefixtures("graph_mode")
def test_a_hook_of_a_session_makes_calls_eager_in_silence_until_it_is_taken_off(
    capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    net = network()
    session = DebugSession(net)
    session.attach_hook("0", "forward")
    for _ in range(3):
        net(X)
    assert session.captured == 3
    session.detach_hook("0", "forward")
    net(X)
    net(X)
    assert plans_of(net)[0].counts == {"traced": 1, "replayed": 1, "eager": 3, "refused": 0}
    session.attach_hook("0", "forward")
    net(X)
    assert session.captured == 4
    assert not recwarn.list and capsys.readouterr().err == ""


def test_a_hook_of_a_session_on_a_network_of_level_o1_says_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    net = network()
    net.set_jit_config(O1)
    session = DebugSession(net)
    session.attach_hook("0", "forward")
    for _ in range(3):
        net.compile_and_run(X)
    (line,) = capsys.readouterr().err.splitlines()
    assert "'SequentialCell' has jit_level O1" in line


def test_the_hooks_of_a_session_that_is_gone_hold_up_nobody_nor_do_those_on_another_network() -> None:
    net, before = network(), set(taps.hooking)
    session = DebugSession(network())
    session.attach_hook("0", "forward")
    net.compile(X)
    assert net.compiled
    assert len(taps.hooking - before) == 1
    del session
    assert not taps.hooking - before


def test_a_session_says_what_runs_eagerly_for_it() -> None:
    net = network()
    session = DebugSession(net)
    net.compile(X)
    assert session.runs_eagerly == ""
    with session:
        message = "SequentialCell is compiled; while the session watches, its calls run eagerly"
        assert session.runs_eagerly == message
        step = ms.jit(lambda x: net(x))
        step(X)
        assert session.runs_eagerly.endswith("are compiled; while the session watches, their calls run eagerly")
    assert session.runs_eagerly == ""
    session.attach_hook("0", "forward")
    assert "while a hook of the session is attached" in session.runs_eagerly
    session.detach_hook("0", "forward")
    assert session.runs_eagerly == ""
    with DebugSession(network()) as other:
        assert other.runs_eagerly == ""
