"""The stepper over a real session: operators forth and back with their values, edits, and the gradient check."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plain_session import FakeClock, PlainSession

from hookscope import engine as ms
from hookscope.engine import nn, ops
from hookscope.engine.debug import DebugSession, PausePoint
from hookscope.engine.debug.stop.breakpoints.breakpoint import Breakpoint
from hookscope.widgets import DebuggerPanel
from hookscope.widgets.views.cells.nodes import cell_states
from hookscope.widgets.views.stepper import stop
from hookscope.widgets.views.stepper.local_values import plot_view, tensors_in

pytestmark = pytest.mark.usefixtures("sent")


class Doubled(nn.Cell):
    """x * x, with a gradient that is a third of the right one if `wrong`."""

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
    """A pauser that answers the pauses one after the other: each answer acts on the panel, then names the command."""

    def __init__(self, *answers: Callable[[], str]) -> None:
        self.answers = list(answers)
        self.panel: DebuggerPanel

    def unavailable(self) -> None:
        return None

    def wait(self, until: Callable[[], bool]) -> None:
        point = self.panel.session.paused
        if point is not None and point.kind == "line" and point.function == "debug":  # the bprop has ended
            ask(self.panel, type="resume", command="continue")
            return
        ask(self.panel, type="resume", command=self.answers.pop(0)())
        assert until()


def ask(panel: DebuggerPanel, **message: Any) -> None:
    panel._received(panel, message, [])
    assert panel.status["error"] == ""


def debug(cell: nn.Cell, *answers: Callable[[DebuggerPanel], str]) -> Any:
    """Run a gradient of the cell, answer each pause in its bprop, and return the gradient."""
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
            "expression": "twice = twice * 10",
            "text": "Tensor 3 float32 [20, -40, 60]",
            "failed": False,
        }
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
        assert "the run is not in a bprop" in panel.gradient["summary"]
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


def sent_by(sent: list[Any], kind: str) -> list[dict[str, Any]]:
    contents = [data["content"] for _, data, _ in sent if data.get("method") == "custom"]
    return [content for content in contents if content["type"] == kind]


def test_a_line_breakpoint_of_the_panel_is_one_of_the_session_and_stops_the_run() -> None:
    last = Doubled.bprop.__code__.co_firstlineno + 5
    reached = []

    def begin(panel: DebuggerPanel) -> str:
        assert panel.stop["stoppable"][0] == panel.stop["first_line"] and panel.stop["stoppable"][-1] == last
        ask(panel, type="set_breakpoint_at", line=last, condition="float(dout.sum()) == 3", log="")
        assert [str(stop) for stop in panel.session.breakpoints] == [f".:{last} if float(dout.sum()) == 3"]
        assert panel.stop["breakpoints"] == [
            {
                "line": last,
                "text": f".:{last} if float(dout.sum()) == 3",
                "condition": "float(dout.sum()) == 3",
                "log": "",
                "hits": "0 stops",
                "error": "",
            }
        ]
        return "continue"

    def end(panel: DebuggerPanel) -> str:
        reached.append(panel.stop["line"])
        assert panel.stop["breakpoints"][0]["hits"] == "1 stop"
        ask(panel, type="step_back")
        assert (panel.stop["back"], panel.stop["line"], len(panel.stop["breakpoints"])) == (1, last - 1, 1)
        ask(panel, type="remove_breakpoint_at", line=last)
        assert panel.session.breakpoints == [] and panel.stop["breakpoints"] == []
        return "continue"

    debug(Doubled(), begin, end)
    assert reached == [last]


def test_a_breakpoint_at_a_line_is_no_moment_that_the_tree_shows(session: PlainSession) -> None:
    without = cell_states(session.tree(), [])
    assert cell_states(session.tree(), [Breakpoint("block.relu", "12")]) == without
    assert cell_states(session.tree(), [Breakpoint("block.relu", "bprop")]) != without


def test_a_breakpoint_where_no_code_is_says_so() -> None:
    def look(panel: DebuggerPanel) -> str:
        panel._received(panel, {"type": "set_breakpoint_at", "line": 1, "condition": "", "log": ""}, [])
        assert panel.status["error"] == "no breakpoint can stand at line 1: it has no code of bprop"
        panel._error = ""
        return "continue"

    debug(Doubled(), look)


def test_watched_expressions_follow_the_stops_also_back_in_the_past() -> None:
    def values(panel: DebuggerPanel) -> list[str]:
        return [watch["text"] for watch in panel.watches]

    def first(panel: DebuggerPanel) -> str:
        ask(panel, type="watch_expression", expression="  x   is not None ")
        ask(panel, type="watch_expression", expression="twice.sum().asnumpy().item()")
        ask(panel, type="watch_expression", expression="twice.sum().asnumpy().item()")
        assert values(panel)[1:] == ["NameError: name 'twice' is not defined"]
        assert [watch["failed"] for watch in panel.watches] == [False, True]
        return "over"

    def second(panel: DebuggerPanel) -> str:
        assert values(panel)[1:] == ["4.0"]
        ask(panel, type="edit", name="twice", expression="twice * 10")
        assert values(panel)[1:] == ["40.0"]
        ask(panel, type="step_back")
        assert values(panel)[1:] == ["NameError: name 'twice' is not defined"]
        ask(panel, type="unwatch_expression", expression="twice.sum().asnumpy().item()")
        assert len(panel.watches) == 1
        return "continue"

    debug(Doubled(), first, second)


class Counting(Doubled):
    """A cell whose bprop has a function that changes a variable each time it is called."""

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        calls = 0

        def count() -> int:
            nonlocal calls
            calls += 1
            return calls

        return (dout * count(),)


def test_a_watched_expression_that_changes_something_is_evaluated_and_does_not_go_round() -> None:
    counted = []

    def look() -> str:
        ask(person.panel, type="watch_expression", expression="count()")
        counted.append(int(person.panel.watches[0]["text"]))
        clock.now += 1000.0  # at the next stop an update is due again
        return "operator" if len(counted) == 1 else "continue"

    person = Answers(lambda: "over", lambda: "over", look, look)
    session = DebugSession(Counting(), pauser=person, step=True)
    clock = FakeClock()
    person.panel = DebuggerPanel(session, clock=clock)
    with session:
        ms.grad(lambda x: session.roots[0](x).sum())(ms.Tensor(np.ones(2, np.float32)))
    assert len(counted) == 2 and counted[-1] < 20


def test_watching_and_pointing_change_no_bit_of_the_gradient() -> None:
    def look(panel: DebuggerPanel) -> str:
        ask(panel, type="watch_expression", expression="(self(x) * twice).sum()")
        for name in ("x", "self.wrong", "dout"):
            ask(panel, type="peek", expression=name)
        ask(panel, type="select_local", name="twice", part="")
        ask(panel, type="open_local", name="twice", part="")
        return "over"

    assert debug(Doubled(), over, look, over, over) == debug(Doubled(), over, over, over, over) == [2, -4, 6]


def test_a_name_is_answered_with_its_figures_and_nothing_else_is_evaluated(sent: list[Any]) -> None:
    def look(panel: DebuggerPanel) -> str:
        sent.clear()
        for name in ("twice", "self.wrong", "nowhere"):
            ask(panel, type="peek", expression=name)
        rows = [(item["expression"], item["text"], item["failed"]) for item in sent_by(sent, "peek")]
        assert rows == [
            ("twice", "Tensor 3 float32 [2, -4, 6]\nmin -4, max 6, mean 1.3333, std 4.1096", False),
            ("self.wrong", "False", False),
            ("nowhere", "NameError: name 'nowhere' is not defined", True),
        ]
        panel._received(panel, {"type": "peek", "expression": "x.sum()"}, [])
        assert panel.status["error"] == "'x.sum()' is not a name"
        panel._error = ""
        return "continue"

    debug(Doubled(), over, look)


def test_a_local_opens_as_the_capture_that_holds_it_or_as_one_that_is_made(sent: list[Any]) -> None:
    def look(panel: DebuggerPanel) -> str:
        captures, session = panel.session.captures, panel.session
        count = len(captures)
        for name in ("twice", "twice"):
            ask(panel, type="open_local", name=name, part="")
        made = captures[-1]
        assert len(captures) == count + 1 and session.captured == count + 1
        assert (made.origin, made.slot, made.direction, made.cell_type) == ("local", "twice", "backward", "Doubled")
        assert made.key.endswith(f"backward twice (local at line {panel.stop['line']})")
        assert made.value.asnumpy().tolist() == [2, -4, 6]
        ask(panel, type="open_local", name="dout", part="")
        assert len(captures) == count + 1
        arrived = sent_by(sent, "local_capture")
        assert [item["index"] for item in arrived[:2]] == [made.index] * 2
        assert next(capture for capture in captures if capture.index == arrived[2]["index"]).slot == "grad_output[0]"
        panel._received(panel, {"type": "open_local", "name": "self", "part": ""}, [])
        assert panel.status["error"] == "self is not a tensor here"
        panel._error = ""
        return "continue"

    debug(Doubled(), over, look)


def test_the_picture_of_a_local_holds_its_histogram_and_its_first_matrix() -> None:
    value = np.array([[[1.0, np.nan], [3.0, np.inf]], [[5.0, 6.0], [7.0, 8.0]]], np.float32)
    point = PausePoint("bprop", "", "", "bprop", locals={"a": ms.Tensor(value), "own": value, "text": "x" * 5000})
    plot, numbers = plot_view(point, "a", "")
    assert (plot["name"], plot["part"], plot["parts"], plot["note"]) == ("a", "a", ["a"], "[0] of it")
    assert plot["faults"] == {"nan": 1, "positive": 1, "negative": 0}
    assert plot["picture"] is not None
    assert (plot["picture"]["rows"], plot["picture"]["columns"], plot["picture"]["title"]) == (2, 2, "a")
    drawn = np.frombuffer(numbers, np.float64, 129 + 4)
    assert drawn[:64].sum() == 6 and (drawn[64], drawn[128]) == (1, 8)
    np.testing.assert_array_equal(drawn[129:], [1, np.nan, 3, np.inf])
    assert len(numbers) == (129 + 4) * 8 + 4
    assert plot_view(point, "own", "")[1] == numbers
    text, none = plot_view(point, "text", "")
    assert text["picture"] is None and none == b"" and len(text["text"]) <= 1000
    assert plot_view(point, "gone", "")[0]["lost"]


@pytest.mark.parametrize(
    "value",
    [np.zeros((0, 3)), np.array(["a", "b"]), np.array([1j, 2]), np.array([None, 1]), [], {}, [[[np.ones(2)]]], None],
)
def test_what_cannot_be_drawn_is_text(value: Any) -> None:
    plot, numbers = plot_view(PausePoint("bprop", "", "", "bprop", locals={"v": value}), "v", "")
    assert plot["picture"] is None and numbers == b"" and not plot["lost"]


def test_only_the_tensors_near_the_top_of_a_local_are_looked_for() -> None:
    tensor = ms.Tensor(np.ones(2, np.float32))
    assert list(tensors_in("v", {"a": tensor, "b": [1, tensor]})) == ["v[a]", "v[b][1]"]
    assert list(tensors_in("v", [[[tensor]]])) == []
    sparse = ms.COOTensor(ms.Tensor([[0, 1]]), ms.Tensor([2.0]), (2, 2))
    assert {slot: part.tolist() for slot, part in tensors_in("v", [sparse]).items()} == {"v[0].values": [2.0]}
    assert len(tensors_in("v", [tensor] * 1000)) == 40


@pytest.mark.parametrize("line", [1, 450, 1000, 2500, 5000])
def test_of_a_long_script_the_lines_around_the_current_one_travel(session: PlainSession, line: int) -> None:
    session.pause(lines=[f"x{k} = {k}\n" for k in range(1, 5001)], first_line=1, line=line, moment="forward")
    view = stop.stop_view(session.paused)
    assert len(view["lines"]) == 600
    current = view["lines"][line - view["first_line"]]
    assert "".join(text for _, text in current) == f"x{line} = {line}"


def test_a_stop_carries_source_locals_operators_and_the_exception(session: PlainSession) -> None:
    session.pause(exception=ZeroDivisionError("division by zero\nmore"))
    view = stop.stop_view(session.paused)
    assert view["title"] == "bprop of block.relu, line 11"
    assert view["lines"][1] == [("", "    "), ("keyword", "return"), ("", " (dout,)")]
    assert view["locals"][1] == {"name": "n", "value": "3", "changed": True}
    assert view["operators"] == [
        {"name": "Mul", "inputs": "float64 2, 2", "outputs": "None", "shown": False, "line": 0}
    ]
    assert view["exception"] == "ZeroDivisionError: division by zero"
    json.dumps(view)
