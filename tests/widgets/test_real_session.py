"""The panel over a real DebugSession: a network with its own bprop, debugged by the panel's messages alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sent_cells import cells_of

from hookscope import engine as ms
from hookscope.engine import nn, ops
from hookscope.engine.debug import DebugAbort, DebugSession
from hookscope.widgets import DebuggerPanel, HookTable, ParameterTable

pytestmark = pytest.mark.usefixtures("sent")


class LeakyReLU(nn.Cell):
    """A cell that passes a tenth of the gradient where the input is negative."""

    def construct(self, x: Any) -> Any:
        return ops.relu(x)

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        mask = (x > 0).astype(x.dtype)
        slope = mask + 0.1 * (1 - mask)
        return (dout * slope,)


class Block(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(4, 3)
        self.relu = LeakyReLU()

    def construct(self, x: Any) -> Any:
        return self.relu(self.dense(x))


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.block = Block()
        self.head = nn.Dense(3, 2)

    def construct(self, x: Any) -> Any:
        return self.head(self.block(x))


class Person:
    """A pauser that answers each pause with the next messages, as the browser would send them."""

    def __init__(self, *answers: list[dict[str, Any]]) -> None:
        self.answers = list(answers)
        self.panel: DebuggerPanel
        self.pauses: list[dict[str, Any]] = []

    def unavailable(self) -> None:
        return None

    def wait(self, until: Callable[[], bool]) -> None:
        self.pauses.append({"text": self.panel.status["text"], "stop": dict(self.panel.stop)})
        for message in self.answers.pop(0):
            self.panel._received(self.panel, message, [])
        assert until(), "the last message of an answer did not resume the run"


def resume(command: str) -> dict[str, Any]:
    return {"type": "resume", "command": command}


@pytest.fixture
def net() -> Net:
    net = Net()
    for parameter in net.trainable_params():
        parameter.set_data(ms.Tensor(np.full(parameter.shape, 0.5, np.float32)))
    return net.set_train()


def train(net: Net) -> tuple[Any, ...]:
    x = ms.Tensor(np.array([[1, -2, 3, -4], [1, 2, 3, 4]], np.float32))
    return ms.grad(lambda x: net(x).sum(), None, net.trainable_params())(x)


def test_a_bprop_is_stepped_line_by_line_from_the_panel(net: Net) -> None:
    person = Person(
        [resume("over")], [resume("over")], [{"type": "evaluate", "expression": "slope"}, resume("continue")]
    )
    session = DebugSession(net, pauser=person)
    person.panel = panel = DebuggerPanel(session)
    panel._received(panel, {"type": "breakpoint", "path": "block.relu", "moment": "bprop"}, [])
    with session:
        train(net)
    lines = [pause["stop"]["line"] for pause in person.pauses]
    first = LeakyReLU.bprop.__code__.co_firstlineno
    assert lines == [first + 1, first + 2, first + 3]
    assert person.pauses[0]["text"] == f"paused in bprop of block.relu, line {first + 1}"
    last = person.pauses[-1]["stop"]
    assert "".join(text for _, text in last["lines"][0]).strip().startswith("def bprop(self")
    assert [item["name"] for item in last["locals"] if item["changed"]] == ["slope"]
    assert {"cast", "mul"} <= {record["name"] for record in last["operators"]}
    (answer,) = panel.evaluations
    assert answer["text"] == "Tensor 2x3 float32 [0.1, 0.1, 0.1, 1, 1, 1]"
    assert panel.status["text"] == "finished, no longer watching"


def test_abort_ends_the_run_and_the_panel_says_finished(net: Net) -> None:
    person = Person([resume("abort")])
    session = DebugSession(net, pauser=person, step=True)
    person.panel = panel = DebuggerPanel(session)
    with pytest.raises(DebugAbort), session:
        train(net)
    assert panel.status["text"] == "finished, no longer watching"


def test_a_hook_attached_during_a_pause_records(net: Net) -> None:
    hook = {"type": "hook", "path": "block.dense", "kind": "backward", "on": True}
    person = Person([hook, resume("continue")])
    session = DebugSession(net, pauser=person, step=True)
    person.panel = panel = DebuggerPanel(session)
    with session:
        train(net)
    panel.view = "cells"
    (node,) = [node for node in cells_of(panel) if node["path"] == "block.dense"]
    assert node["attached"] == ["backward"]
    person.answers.append([resume("continue")])
    with session:
        train(net)
    assert {capture.path for capture in session.captures if capture.origin == "hook"} == {"block.dense"}


def test_switches_change_the_network_itself(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net))
    panel._received(panel, {"type": "train", "path": "block", "on": False}, [])
    panel._received(panel, {"type": "requires_grad", "name": "head.bias", "on": False}, [])
    assert not net.block.relu.training
    assert net.head.training
    assert not net.head.bias.requires_grad


def test_a_wrong_path_is_answered_with_the_nearest(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net))
    panel._received(panel, {"type": "train", "path": "block.rely", "on": True}, [])
    assert "block.relu" in panel.status["error"]


def test_a_pause_that_nobody_can_answer_is_in_the_snapshot(net: Net, capsys: pytest.CaptureFixture[str]) -> None:
    class Nobody(Person):
        def unavailable(self) -> str:  # type: ignore[override]
            return "this is a test"

    session = DebugSession(net, pauser=Nobody(), step=True)
    panel = DebuggerPanel(session)
    with session:
        train(net)
    assert panel.status["text"] == "finished, no longer watching; 1 pause skipped: this is a test"
    assert "Skipped pause: bprop of block.relu, line" in panel.snapshot_html()
    assert capsys.readouterr().err.count("\n") == 1


def test_the_parameter_table_is_text_and_html(net: Net) -> None:
    table = ParameterTable(net)
    lines = repr(table).splitlines()
    assert lines[0] == "name                shape  dtype    requires_grad  mean  std     norm  gradient norm"
    assert lines[1] == "block.dense.weight  3x4    float32  yes             0.5    0   1.7321"
    assert [line.split()[0] for line in lines[2:]] == ["block.dense.bias", "head.weight", "head.bias"]
    html = table._repr_mimebundle_()["text/html"]
    assert "Parameters: 4" in html
    assert "1.7321" in html


def test_the_hook_table_tells_whose_hooks_they_are(net: Net) -> None:
    def look(cell: nn.Cell, inputs: Any, output: Any) -> None:
        """Do nothing."""

    net.head.register_forward_hook(look)
    session = DebugSession(net)
    session.attach_hook("block.relu", "backward_pre")
    lines = repr(HookTable(session)).splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["block.relu", "backward_pre"], ["head", "forward"]]
    assert [line.split()[-1] for line in lines] == ["from", "panel", "you"]
    assert repr(HookTable(Net())) == "Hooks: none"


@pytest.mark.parametrize("table", [ParameterTable, HookTable])
def test_a_table_of_something_else_is_refused(table: type) -> None:
    with pytest.raises(TypeError, match="expected a Cell or a DebugSession, got int"):
        table(3)
