"""Stops at operators, at passes and at the next cell; breakpoints and watches are added and removed at any time."""

from __future__ import annotations

import weakref
from typing import Any

import pytest
from debug_networks import Square, SquareThenScale, Twice, scripted, tensor

from hookscope.engine import grad, nn, ops
from hookscope.engine.debug import Breakpoint, DebugSession
from hookscope.engine.tape import taps


class Layered(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Square()

    def construct(self, x: Any) -> Any:
        y = ops.exp(self.inner(x))
        return ops.log(y) + 1.0


# Operators


def test_a_breakpoint_at_an_operator_stops_after_it_at_the_users_line() -> None:
    def look(session: DebugSession) -> None:
        assert float(session.evaluate("value.sum()")) == pytest.approx(4.0)  # type: ignore[arg-type]
        assert session.evaluate("(output is value, float(inputs[0].sum()) > 50, step)") == (True, True, 1)

    net = Layered()
    session, script = scripted(net, (), look, breaks=["ops.log"])
    with session:
        assert grad(net)(tensor(2.0)).tolist() == [4.0]
    (point,) = script.points
    assert (point.kind, point.path, point.moment) == ("breakpoint", "", "operator")
    assert point.reason == "breakpoint ops.log:forward"
    assert point.lines[point.line - point.first_line].strip() == "return ops.log(y) + 1.0"
    assert "y" in point.locals
    assert point.operator is not None and point.operator.name == "log"


def test_a_breakpoint_at_an_operators_gradient_and_with_an_expression() -> None:
    net = Layered()
    session, script = scripted(net, breaks=["ops.exp:backward if norm > 0.5", "ops.mul:forward if norm > 100"])
    with session:
        grad(net)(tensor(2.0))
        net(tensor(11.0))
    assert [(p.path, p.reason) for p in script.points] == [
        ("", "breakpoint ops.exp:backward if norm > 0.5"),
        ("inner", "breakpoint ops.mul:forward if norm > 100"),
    ]


def test_operators_are_listened_to_only_while_a_breakpoint_wants_it() -> None:
    session, _ = scripted(Layered(), breaks=["inner"])
    with session:
        assert taps.operator_taps == []
        session.add_breakpoint("ops.log")
        assert len(taps.operator_taps) == 1
        session.remove_breakpoint("ops.log")
        assert taps.operator_taps == []
        session.add_breakpoint("ops.log")
    assert taps.operator_taps == []


def test_operator_and_cell_are_commands() -> None:
    net = Layered()
    session, script = scripted(net, ["operator", "operator", "cell", "cell", "operator"], breaks=["inner:forward_pre"])
    with session:
        grad(net)(tensor(2.0))
    assert [(p.moment, p.path, p.operator.name if p.operator else "") for p in script.points] == [
        ("forward_pre", "inner", ""),
        ("operator", "inner", "mul"),
        ("operator", "", "exp"),
        ("forward", "", ""),
        ("backward_pre", "", ""),
        ("operator", "", "add"),
    ]


def test_cell_passes_over_the_lines_of_a_bprop_where_into_enters_them() -> None:
    for command, kinds in (("cell", ["breakpoint", "pause", "pause"]), ("into", ["breakpoint", "bprop", "bprop"])):
        session, script = scripted(SquareThenScale(), [command] * 2, breaks=["scale:backward_pre"])
        with session:
            grad(session.roots[0])(tensor(1.0))
        assert [point.kind for point in script.points] == kinds


def test_cell_in_a_bprop_goes_on_to_the_next_cell() -> None:
    session, script = scripted(SquareThenScale(), ["cell", "continue"], step=True)
    with session:
        grad(session.roots[0])(tensor(1.0))
    assert [(p.path, p.moment) for p in script.points] == [("scale", "bprop"), ("scale", "backward")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ops.lgo", "breakpoint 'ops.lgo': there is no operator 'lgo'; the nearest is 'log'"),
        ("ops.log:bprop", "at an operator, moment must be forward or backward, got 'bprop'"),
        ("ops.log:forward_pre", "at an operator, moment must be forward or backward, got 'forward_pre'"),
        ("ops.log if vlue > 1", "the name 'vlue' is unknown here; the nearest is 'value'"),
    ],
)
def test_a_faulty_breakpoint_at_an_operator_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        DebugSession(Square(), breaks=[text])


# Passes


def test_passes_counts_how_often_the_run_came_by() -> None:
    def look(session: DebugSession) -> None:
        assert session.paused is not None
        if session.paused.moment == "forward":
            assert session.evaluate("passes") == 3

    net = Twice(Square())
    session, script = scripted(net, (), look, breaks=["inner if passes == 3", "ops.mul if passes % 4 == 0"])
    with session:
        for _ in range(2):
            net(tensor(1.5))
    assert [(p.moment, p.reason) for p in script.points] == [
        ("forward", "breakpoint inner:forward if passes == 3"),
        ("operator", "breakpoint ops.mul:forward if passes % 4 == 0"),
    ]
    assert [stop.passes for stop in session.breakpoints] == [4, 4]


# Adding and removing


def test_breakpoints_and_watches_change_while_the_run_is_paused() -> None:
    def look(session: DebugSession) -> None:
        if len(script.points) == 1:
            session.add_breakpoint("scale:backward")
            session.add_watch("scale")
            session.remove_breakpoint(Breakpoint("square"))

    net = SquareThenScale()
    session, script = scripted(net, (), look, breaks=["square"], watch=["square:backward"])
    with session:
        grad(net)(tensor(1.0))
        grad(net)(tensor(1.0))
    assert [(p.path, p.moment) for p in script.points] == [("square", "forward")] + [("scale", "backward")] * 2
    assert [(c.path, c.direction) for c in session.captures if c.step == 1] == [
        ("scale", "forward"),
        ("scale", "forward"),
        ("scale", "backward"),
        ("scale", "backward"),
        ("square", "backward"),
        ("square", "backward"),
    ]


def test_a_watch_that_is_taken_away_makes_no_captures_from_then_on() -> None:
    net = SquareThenScale()
    with DebugSession(net, watch=["square", "scale"]) as session:
        net(tensor(1.0))
        session.remove_watch("square")
        net(tensor(1.0))
        assert [c.path for c in session.captures if c.step == 2] == ["scale", "scale"]
        session.remove_watch("scale")
        net(tensor(1.0))
    assert [c.path for c in session.captures if c.step == 3] == ["square", "square", "scale", "scale"]


def test_what_is_added_is_checked_and_what_is_not_there_cannot_be_removed() -> None:
    session = DebugSession(SquareThenScale(), breaks=["scale"])
    with pytest.raises(ValueError, match="breakpoint 'scal' matches no cell; the nearest is 'scale'"):
        session.add_breakpoint("scal")
    with pytest.raises(ValueError, match="no such cell has a bprop of its own"):
        session.add_breakpoint("square:bprop")
    with pytest.raises(ValueError, match="watch 'squar' matches no cell; the nearest is 'square'"):
        session.add_watch("squar")
    with pytest.raises(ValueError, match="no breakpoint 'scale:backward' in this session; the nearest is"):
        session.remove_breakpoint("scale:backward")
    with pytest.raises(ValueError, match="no watch 'square' in this session"):
        session.remove_watch("square")
    first = session.breakpoints[0]
    assert session.add_breakpoint("scale:forward") is first and session.breakpoints == [first]


def test_a_pause_that_nobody_answered_keeps_no_function_alive() -> None:
    class Kept:
        pass

    class Nobody:
        def unavailable(self) -> str:
            return "nobody is there"

        def wait(self, until: Any) -> None:
            raise AssertionError

    session = DebugSession(pauser=Nobody())

    def caller() -> Any:
        holder = Kept()
        session.pause()
        session.skipped_pauses[-1].locals.clear()  # the displayed rows stay, the function is released
        return weakref.ref(holder)

    assert caller()() is None
