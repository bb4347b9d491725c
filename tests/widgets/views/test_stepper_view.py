"""The stepper over a real session: operators forth and back with their values, edits, and the gradient check."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plain_session import PlainSession

from hookscope import engine as ms
from hookscope.engine import nn, ops
from hookscope.engine.debug import DebugSession
from hookscope.widgets import DebuggerPanel
from hookscope.widgets.views.stepper import stop

pytestmark = pytest.mark.usefixtures("sent")


class Doubled(nn.Cell):
    """Gives x * x, and says that its gradient is a third of what it is where `wrong`."""

    def __init__(self, wrong: bool = False) -> None:
        super().__init__()
        self.wrong = wrong

    def construct(self, x: Any) -> Any:
        return x * x

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        twice = 2 * x
        if self.wrong:
            twice = twice / 3
        gradient = ops.mul(dout, twice)
        return (gradient,)


class Answers:
    """Answers the pauses one after the other: each answer acts on the panel, then names the command."""

    def __init__(self, *answers: Callable[[], str]) -> None:
        self.answers = list(answers)
        self.panel: DebuggerPanel

    def unavailable(self) -> None:
        return None

    def wait(self, until: Callable[[], bool]) -> None:
        ask(self.panel, type="resume", command=self.answers.pop(0)())
        assert until()


def ask(panel: DebuggerPanel, **message: Any) -> None:
    panel._received(panel, message, [])
    assert panel.status["error"] == ""


def debug(cell: nn.Cell, *answers: Callable[[DebuggerPanel], str]) -> Any:
    """Run a gradient of the cell, and answer each pause in its bprop; the gradient."""
    person = Answers(*(lambda answer=answer: answer(person.panel) for answer in answers))
    session = DebugSession(cell, pauser=person, step=True)
    person.panel = DebuggerPanel(session)
    with session:
        gradient = ms.grad(lambda x: cell(x).sum())(ms.Tensor(np.array([1.0, -2.0, 3.0], np.float32)))
    assert person.answers == []
    return gradient.asnumpy().tolist()


def over(panel: DebuggerPanel) -> str:
    return "over"


def test_the_operators_stay_listed_while_an_earlier_one_is_shown_with_its_values() -> None:
    def look(panel: DebuggerPanel) -> str:
        names = [record["name"] for record in panel.stop["operators"]]
        assert (names, panel.stop["ran"], panel.stop["operator"]) == (["mul", "mul"], 2, None)
        ask(panel, type="show_operator", index=0)
        assert [record["name"] for record in panel.stop["operators"]] == names
        assert [record["shown"] for record in panel.stop["operators"]] == [True, False]
        assert panel.stop["ran"] == 1
        values = panel.stop["operator"]
        assert values["outputs"] == ["Tensor 3 float32 [2, -4, 6]"]
        assert "Tensor 3 float32 [1, -2, 3]" in values["inputs"]
        ask(panel, type="show_operator", index=1)
        assert panel.stop["operator"]["outputs"] == ["Tensor 3 float32 [2, -4, 6]"]
        assert panel.stop["ran"] == 2
        return "continue"

    assert debug(Doubled(), over, over, over, look) == [2, -4, 6]


def test_lines_back_count_only_the_operators_that_had_run_by_then() -> None:
    def look(panel: DebuggerPanel) -> str:
        ask(panel, type="step_back")
        assert (panel.stop["ran"], len(panel.stop["operators"])) == (1, 2)
        ask(panel, type="step_forward")
        assert panel.stop["ran"] == 2
        return "continue"

    debug(Doubled(), over, over, over, look)


def test_an_edit_is_answered_shown_and_goes_on_into_the_gradient() -> None:
    def look(panel: DebuggerPanel) -> str:
        ask(panel, type="edit", name="twice", expression="twice * 10")
        assert panel.evaluations[-1] == {
            "expression": "twice = twice * 10", "text": "Tensor 3 float32 [20, -40, 60]", "failed": False,
        }  # fmt: skip
        (local,) = [local for local in panel.stop["locals"] if local["name"] == "twice"]
        assert (local["value"], local["changed"]) == ("Tensor 3 float32 [20, -40, 60]", True)
        ask(panel, type="edit", name="twice", expression="missing")
        assert panel.evaluations[-1]["failed"]
        ask(panel, type="edit", name="nothing", expression="1")
        assert panel.evaluations[-1]["failed"]
        return "continue"

    assert debug(Doubled(), over, look) == [20, -40, 60]


def test_every_edit_at_one_stop_goes_on_into_the_gradient() -> None:
    def look(panel: DebuggerPanel) -> str:
        for name, expression in (("twice", "twice * 10"), ("dout", "dout * 2"), ("twice", "twice + 1")):
            ask(panel, type="edit", name=name, expression=expression)
            assert not panel.evaluations[-1]["failed"]
        return "continue"

    assert debug(Doubled(), over, look) == [42, -78, 122]


@pytest.mark.parametrize("wrong", [False, True])
def test_the_gradient_of_the_paused_cell_is_checked_with_its_inputs(wrong: bool) -> None:
    states = []

    def look(panel: DebuggerPanel) -> str:
        assert panel.stop["can_check"]
        panel.observe(lambda change: states.append(change["new"]["state"]), "gradient")
        ask(panel, type="check_gradient")
        assert panel.gradient["ok"] is not wrong
        (row,) = panel.gradient["rows"]
        assert (row["name"], row["shape"], row["verdict"]) == ("x", "3", "wrong" if wrong else "right")
        assert row["checked"] == "3 of 3"
        assert ("finite differences" in row["reason"]) is wrong
        assert ("; 0.333 times the automatic gradient everywhere" in row["reason"]) is wrong
        assert panel.stop["title"].startswith("bprop of ")
        return "continue"

    debug(Doubled(wrong), over, look)
    assert states == ["checking", "done"]


def test_a_check_that_cannot_be_made_says_why() -> None:
    def look(panel: DebuggerPanel) -> str:
        assert not panel.stop["can_check"]
        ask(panel, type="check_gradient")
        assert panel.gradient["state"] == "failed"
        assert "the run stands in no bprop" in panel.gradient["summary"]
        return "continue"

    person = Answers(lambda: look(person.panel))
    session = DebugSession(nn.ReLU(), pauser=person, breaks=[".:forward"])
    person.panel = DebuggerPanel(session)
    with session:
        session.roots[0](ms.Tensor(np.ones(2, np.float32)))


def test_looking_at_an_expression_that_captures_leaves_the_panel_paused() -> None:
    def look(panel: DebuggerPanel) -> str:
        ask(panel, type="hook", path=".", kind="forward", on=True)
        ask(panel, type="evaluate", expression="self(x)")
        panel._observed("captured")
        assert panel.status["state"] == "paused"
        return "continue"

    debug(Doubled(), look)


def test_a_stop_carries_source_locals_operators_and_the_exception(session: PlainSession) -> None:
    session.pause(exception=ZeroDivisionError("division by zero\nmore"))
    view = stop.stop_view(session.paused)
    assert view["title"] == "bprop of block.relu, line 11"
    assert view["lines"][1] == [("", "    "), ("keyword", "return"), ("", " (dout,)")]
    assert view["locals"][1] == {"name": "n", "value": "3", "changed": True}
    assert view["operators"] == [{"name": "Mul", "inputs": "float64 2, 2", "outputs": "None", "shown": False}]
    assert view["exception"] == "ZeroDivisionError: division by zero"
    json.dumps(view)
