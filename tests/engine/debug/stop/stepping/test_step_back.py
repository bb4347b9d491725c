"""Stepping back: earlier values of a bprop are shown unchanged, and the run continues from its own position."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from debug_networks import Scale, Square, SquareThenScale, helper, scripted, tensor

from hookscope.engine import Tensor, grad, nn, ops
from hookscope.engine.debug import DebugAbort, DebugSession, PausePoint
from hookscope.engine.debug.stop.stepping.history import LineHistory


def position_of(point: PausePoint) -> str:
    return f"{point.function}+{point.line - point.first_line}"


def inspect_last_stop(
    net: nn.Cell, commands: list[str], look: Callable[[DebugSession], None], *values: float
) -> list[float]:
    """Return the gradient under a session that steps with these commands and inspects the last stop."""
    stops: list[int] = []

    def each(session: DebugSession) -> None:
        stops.append(1)
        if len(stops) == len(commands) + 1:
            look(session)

    session, _ = scripted(net, commands, each, step=True)
    with session:
        gradient = grad(net)(tensor(*(values or (1.0,))))
    assert len(stops) > len(commands), "the last stop was not inspected"
    return [float(x) for x in gradient.asnumpy()]


# Lines


def test_step_back_goes_through_the_lines_also_those_stepped_over_and_forward_returns() -> None:
    def look(session: DebugSession) -> None:
        live = session.paused
        assert live is not None and session.shown is live and position_of(live) == "bprop+3"
        back = [session.step_back() for _ in range(4)]
        assert [position_of(point) for point in back] == ["helper+2", "helper+1", "bprop+2", "bprop+1"]
        assert [point.kind for point in back] == ["past"] * 4
        assert [point.reason for point in back] == ["1 line back", "2 lines back", "3 lines back", "4 lines back"]
        assert (back[0].path, back[0].moment, session.paused) == ("scale", "bprop", live)
        assert [position_of(session.step_forward()) for _ in range(3)] == ["bprop+2", "helper+1", "helper+2"]
        assert session.step_forward() is live and session.shown is live

    assert inspect_last_stop(SquareThenScale(), ["over", "over"], look) == [12.0]


def test_the_past_has_the_variables_changes_stack_and_operators_of_its_line() -> None:
    def look(session: DebugSession) -> None:
        inside = session.step_back()
        assert {name: float(value.asnumpy()[0]) for name, value in inside.locals.items()} == {  # type: ignore[attr-defined]
            "gradient": 3.0,
            "doubled": 6.0,
        }
        assert inside.changed == {"doubled"}
        assert [entry.partition(",")[0] for entry in inside.stack[-2:]] == ["bprop", "helper"]
        assert [record.name for record in inside.operators] == ["mul", "mul"]
        session.step_back()
        before = session.step_back()
        assert set(before.locals) == {"self", "x", "out", "dout", "gradient"}
        assert before.changed == {"gradient"}
        assert [record.name for record in before.operators] == ["mul"]
        assert before.lines[before.line - before.first_line].strip() == "scaled = helper(gradient)"
        assert session.step_back().operators == []

    inspect_last_stop(SquareThenScale(), ["over", "over"], look)


class WritesToAPart(nn.Cell):
    """A cell whose bprop writes to a row of the gradient that it returns."""

    def construct(self, x: Any) -> Any:
        return x * 2.0

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        gradient = dout * 2.0
        row = gradient[:1]
        row[0] = 7.0
        gradient[1:][0] = 9.0
        return (gradient,)


def test_the_past_has_tensors_as_they_were_before_a_part_of_them_was_written() -> None:
    def look(session: DebugSession) -> None:
        past = []
        for _ in range(2):
            point = session.step_back()
            past.append([point.locals[name].tolist() for name in ("gradient", "row")])  # type: ignore[attr-defined]
        assert past == [[[7.0, 2.0], [7.0]], [[2.0, 2.0], [2.0]]]
        now = session.paused
        assert now is not None and now.locals["gradient"].tolist() == [7.0, 9.0]  # type: ignore[attr-defined]

    assert inspect_last_stop(WritesToAPart(), ["over"] * 4, look, 1.0, 1.0) == [7.0, 9.0]


def test_evaluate_sees_the_past_and_setting_there_is_refused() -> None:
    def look(session: DebugSession) -> None:
        with pytest.raises(NameError):
            session.evaluate("doubled")
        session.step_back()
        assert session.evaluate("float(doubled.sum())") == 6.0
        assert session.evaluate("(step, helper is not None)") == (1, True)
        with pytest.raises(RuntimeError, match="earlier lines cannot change: step forward"):
            session.assign("gradient", 1)
        session.step_forward()
        session.assign("scaled", session.evaluate("scaled * 10.0"))

    assert inspect_last_stop(SquareThenScale(), ["over", "over"], look) == [120.0]


class InPlace(Scale):
    """A cell whose bprop changes objects in place, in every way it can."""

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        gradient = dout * 1.0
        several = [gradient]
        table = np.zeros(2)
        gradient[0] = 50.0
        several.append(gradient)
        table[0] = 7.0
        by_name = {"a": 1}
        by_name["b"] = 2
        return (gradient,)


def test_operations_in_place_do_not_rewrite_the_past() -> None:
    def look(session: DebugSession) -> None:
        texts: dict[str, list[str]] = {}
        assert session.paused is not None
        for _ in session.paused.history:
            point = session.step_back()
            for name, value in point.locals.items():
                if name in point.changed:
                    text = value.asnumpy() if isinstance(value, Tensor) else value
                    if isinstance(value, list):
                        text = [item.asnumpy().tolist() for item in value]
                    texts.setdefault(name, []).insert(0, f"{position_of(point)} {text}")
        assert texts == {
            "gradient": ["bprop+2 [1.]", "bprop+5 [50.]"],
            # The tensor in the list is the one changed in place.
            "several": ["bprop+3 [[1.0]]", "bprop+5 [[50.0]]", "bprop+6 [[50.0], [50.0]]"],
            "table": ["bprop+4 [0. 0.]", "bprop+7 [7. 0.]"],
            "by_name": ["bprop+8 {'a': 1}"],
        }
        assert session.paused.locals["by_name"] == {"a": 1, "b": 2}

    assert inspect_last_stop(SquareThenScale(InPlace()), ["over"] * 8, look) == [100.0]


def test_a_variable_that_was_set_at_a_line_is_what_the_line_ran_with() -> None:
    def look(session: DebugSession) -> None:
        if "gradient" in session.evaluate("dir()"):  # type: ignore[operator]
            return
        session.assign("dout", session.evaluate("dout * 10.0"))

    def later(session: DebugSession) -> None:
        assert float(session.step_back().locals["dout"].asnumpy()[0]) == 10.0  # type: ignore[attr-defined]

    looks = iter([look, later])
    session, _ = scripted(SquareThenScale(), ["over"], lambda session: next(looks)(session), step=True)
    with session:
        assert float(grad(session.roots[0])(tensor(1.0)).asnumpy()[0]) == 120.0
    assert next(looks, None) is None


@pytest.mark.parametrize("command", ["over", "out", "continue"])
def test_a_command_goes_on_from_where_the_run_stands_whatever_is_shown(command: str) -> None:
    def look(session: DebugSession) -> None:
        session.step_back()
        session.step_back()

    session, script = scripted(
        SquareThenScale(), ["over", "over", command], lambda s: look(s) if len(script.points) == 3 else None, step=True
    )
    with session:
        assert float(grad(session.roots[0])(tensor(1.0)).asnumpy()[0]) == 12.0
    assert session.shown is None
    assert script.positions == ["bprop+1", "bprop+2", "bprop+3"]


def test_at_an_exception_the_line_that_raised_it_is_part_of_the_past() -> None:
    class Raises(Scale):
        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            gradient = dout * 3.0
            return gradient.nothing

    def look(session: DebugSession) -> None:
        assert session.paused is not None and session.paused.reason == "AttributeError raised here"
        assert [position_of(session.step_back()) for _ in range(2)] == ["bprop+2", "bprop+1"]

    net = SquareThenScale(Raises())
    with pytest.raises(AttributeError):
        inspect_last_stop(net, ["over", "over"], look)


def test_where_there_is_no_past_one_line_says_so() -> None:
    def look(session: DebugSession) -> None:
        with pytest.raises(RuntimeError, match="there is nothing to step back to"):
            session.step_back()
        with pytest.raises(RuntimeError, match="the run is at this line"):
            session.step_forward()
        with pytest.raises((RuntimeError, IndexError), match=r"no operator to show|one of the 0 operators"):
            session.show_operator(0)

    inspect_last_stop(SquareThenScale(), [], look)
    session, script = scripted(SquareThenScale(), [], look, breaks=["scale"])
    with session:
        grad(session.roots[0])(tensor(1.0))
    assert len(script.points) == 1
    for act in (session.step_back, session.step_forward, functools.partial(session.show_operator, 0)):
        with pytest.raises(RuntimeError, match="session is not paused"):
            act()


def test_at_the_oldest_line_one_line_says_so_and_what_is_shown_stays() -> None:
    def look(session: DebugSession) -> None:
        first = session.step_back()
        with pytest.raises(RuntimeError, match="no earlier line"):
            session.step_back()
        assert session.shown is first

    inspect_last_stop(SquareThenScale(), ["over"], look)


def test_observers_hear_that_something_else_is_shown() -> None:
    events: list[str] = []

    def look(session: DebugSession) -> None:
        session.observe(events.append)
        session.step_back()
        session.step_forward()
        session.show_operator(0)
        assert events == ["changed"] * 3

    inspect_last_stop(SquareThenScale(), ["over"], look)


# Operators


def test_an_operator_is_shown_with_its_values_and_the_line_that_ran_it() -> None:
    def look(session: DebugSession) -> None:
        point = session.show_operator(1)
        assert (position_of(point), point.reason, point.kind) == ("helper+1", "operator mul", "past")
        assert point.operator is not None
        assert (point.operator.name, point.operator.function, point.operator.line) == ("mul", "helper", point.line)
        assert point.operator.filename == point.filename and point.operator.path == ""
        assert session.evaluate("(float(inputs[0].sum()), inputs[1], float(output.sum()))") == (3.0, 2.0, 6.0)
        assert session.evaluate("float(gradient.sum())") == 3.0
        assert len(point.operators) == 2
        assert position_of(session.step_back()) == "bprop+2"
        assert position_of(session.show_operator(-2)) == "bprop+1"
        with pytest.raises(IndexError, match="one of the 2 operators that ran so far, got 2"):
            session.show_operator(2)
        assert position_of(session.step_forward()) == "bprop+2"

    inspect_last_stop(SquareThenScale(), ["over", "over"], look)


def test_an_operator_after_a_call_on_its_line_is_shown_with_the_variables_of_the_line() -> None:
    class Mixed(Scale):
        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            factor = 5.0
            scaled = helper(dout) * factor
            return (scaled,)

    def look(session: DebugSession) -> None:
        point = session.show_operator(-1)
        assert position_of(point) == "bprop+2"
        assert point.locals["factor"] == 5.0

    inspect_last_stop(SquareThenScale(Mixed()), ["over", "over"], look)


def test_operators_keep_their_values_when_a_tensor_is_changed_in_place() -> None:
    def look(session: DebugSession) -> None:
        assert session.paused is not None
        first = session.paused.operators[0]
        assert first.outputs.asnumpy()[0] == 1.0

    inspect_last_stop(SquareThenScale(InPlace()), ["over"] * 8, look)


class Composed(nn.Cell):
    """A cell whose bprop calls a cell, engine code of several operators, and Python."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Square()

    def construct(self, x: Any) -> Any:
        return x * 2.0

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        squared = self.inner(dout)
        normal = ops.softmax(squared)
        return (normal * 0.0 + 1.0,)


def test_the_command_operator_stops_after_each_operator_also_inside_engine_code_and_cells() -> None:
    session, script = scripted(Composed(), ["operator"] * 20, step=True)
    with session:
        assert grad(session.roots[0])(tensor(1.0, 2.0)).asnumpy().tolist() == [1.0, 1.0]
    first, *stops = script.points
    assert first.reason == "the bprop begins" and first.operator is None
    names = [point.operator.name for point in stops if point.operator is not None]
    assert [point.reason for point in stops] == [f"operator {name} ran forward" for name in names]
    assert [position_of(point) for point in stops] == ["construct+1"] + ["bprop+2"] * (len(stops) - 3) + ["bprop+3"] * 2
    assert [point.operator.path for point in stops] == ["inner"] + [""] * (len(stops) - 1)  # type: ignore[union-attr]
    assert names[0] == "mul" and names[-2:] == ["mul", "add"]
    last = stops[-1].operator
    assert last is not None and last.outputs.asnumpy().tolist() == [1.0, 1.0]
    assert [len(point.operators) for point in stops] == list(range(1, len(stops) + 1))


@pytest.mark.parametrize(("command", "then"), [("over", ["bprop+3"]), ("into", ["bprop+3"]), ("out", [])])
def test_other_commands_go_on_from_an_operators_line(command: str, then: list[str]) -> None:
    session, script = scripted(Composed(), ["over", "operator", command], step=True)
    with session:
        grad(session.roots[0])(tensor(1.0, 2.0))
    assert script.positions == ["bprop+1", "bprop+2", "bprop+2", *then]


def test_what_is_evaluated_at_an_operator_is_neither_stepped_nor_kept() -> None:
    def look(session: DebugSession) -> None:
        assert session.paused is not None
        if session.paused.operator is not None:
            assert session.evaluate("float(helper(output).sum())") == 6.0
            evaluated.append(1)

    evaluated: list[int] = []
    net = SquareThenScale()
    gradient, first = scripted(net, ["operator", "over", "over"], look, step=True)
    other, second = scripted(net, ["over"] * 9, step=True)
    with gradient, other:
        grad(net)(tensor(1.0))
    assert evaluated == [1]
    assert first.positions == ["bprop+1", "bprop+1", "bprop+2", "bprop+3"]
    assert second.positions == ["bprop+1", "bprop+2", "bprop+3"]
    assert [len(point.operators) for point in second.points] == [0, 1, 2]
    assert [len(point.history) for point in second.points] == [0, 1, 4]


def test_the_command_operator_at_the_last_line_goes_on_to_the_next_operator_outside() -> None:
    session, script = scripted(SquareThenScale(), ["over", "over", "operator", "continue"], step=True)
    with session:
        assert grad(session.roots[0])(tensor(1.0)).asnumpy().tolist() == [12.0]
    *inside, outside = script.points
    assert [position_of(point) for point in inside] == ["bprop+1", "bprop+2", "bprop+3"]
    assert outside.moment == "operator" and outside.reason == "operator mul ran backward"


def test_the_command_cell_stops_at_the_cell_that_the_bprop_calls() -> None:
    session, script = scripted(Composed(), ["cell", "continue"], step=True)
    with session:
        grad(session.roots[0])(tensor(1.0, 2.0))
    assert [(point.path, point.moment) for point in script.points] == [("", "bprop"), ("inner", "forward_pre")]


def test_at_an_operator_a_variable_can_be_set_and_an_abort_ends_the_run() -> None:
    def look(session: DebugSession) -> None:
        assert session.paused is not None
        if session.paused.operator is not None:
            session.assign("dout", 5)
            assert session.evaluate("(dout, float(output.sum()))") == (5, 3.0)

    session, script = scripted(SquareThenScale(), ["operator", "abort"], look, step=True)
    with session, pytest.raises(DebugAbort):
        grad(session.roots[0])(tensor(1.0))
    assert len(script.points) == 2


# Cells


def test_over_does_not_enter_a_cell_that_the_bprop_calls_and_its_captures_are_labeled() -> None:
    net = Composed()
    session, script = scripted(net, ["over"] * 9, step=True)
    with session:
        grad(net)(tensor(1.0, 2.0))
        net(tensor(1.0, 2.0))
    assert script.positions == ["bprop+1", "bprop+2", "bprop+3"]
    inside = [capture for capture in session.captures if capture.path == "inner"]
    assert {capture.context for capture in inside} == {"in the bprop of (root)"}
    assert "in the bprop of (root)" in inside[0].key


def test_captures_of_a_bprop_that_is_not_stepped_are_labeled_too() -> None:
    net = Composed()
    with DebugSession(net) as session:
        grad(net)(tensor(1.0, 2.0))
    assert {c.context for c in session.captures if c.path == "inner"} == {"in the bprop of (root)"}
    assert {c.context for c in session.captures if c.path == ""} == {""}


# Bounds


def history() -> LineHistory:
    def callers(frame: Any) -> list[Any]:
        return [frame]

    return LineHistory(callers, max_states=5, max_operators=3, max_bytes=1000)


def test_the_history_is_bounded_by_lines_operators_and_bytes() -> None:
    lines = history()
    for number in range(20):
        lines.passes(sys._getframe())
        lines.operator("add", (tensor(float(number)),), tensor(float(number)), "", sys._getframe())
    assert (len(lines.states), len(lines.records), lines.ran) == (5, 3, 20)
    assert [state.locals["number"] for state in lines.states] == [15, 16, 17, 18, 19]
    for _ in range(4):
        large = tensor(*range(100))
        lines.passes(sys._getframe())
        assert lines.bytes <= 1000
    assert [float(state.locals["large"].sum()) for state in lines.states] == [4950.0] * 2  # type: ignore[attr-defined]
    del large
    lines.clear()
    assert (len(lines.states), lines.records, lines.bytes) == (0, [], 0)


def test_one_array_in_many_lines_is_counted_once() -> None:
    lines = history()
    shared = tensor(*range(100))
    for _ in range(5):
        lines.passes(sys._getframe())
    assert len(lines.states) == 5 and lines.bytes == shared.nbytes


def count_up() -> int:
    total = 0
    for number in range(3000):
        total += number
    return total


def test_of_a_long_loop_that_is_stepped_over_the_newest_lines_are_kept() -> None:
    class Loops(Scale):
        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            total = count_up()
            return (dout + total,)

    def look(session: DebugSession) -> None:
        assert session.paused is not None and len(session.paused.history) == 999
        assert position_of(session.step_back()) == "count_up+4"
        assert [session.step_back().locals["number"] for _ in range(3)] == [2999, 2999, 2998]

    inspect_last_stop(SquareThenScale(Loops()), ["over"], look)


class Chain(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.square = Square()

    def construct(self, x: Any) -> Any:
        y = self.square(x)
        z = self.square(y)
        return z


def test_an_earlier_line_is_not_said_to_be_in_the_cell_that_is_paused_now() -> None:
    titles: dict[str, list[str]] = {}

    def look(session: DebugSession) -> None:
        point = session.paused
        assert point is not None
        earlier = [session.step_back().place for _ in point.history[-2:]]
        titles[point.place] = [place.rpartition(", ")[0] for place in earlier]

    session, _ = scripted(Chain(), ["into"] * 8, look, breaks=[".:forward_pre"])
    with session:
        session.roots[0](tensor(2.0))
    first = Chain.construct.__code__.co_firstlineno
    assert titles[f"construct of (root), line {first + 2}"] == ["Square.construct", "construct of (root)"]
    line = Square.construct.__code__.co_firstlineno + 1
    assert titles[f"construct of square, line {line}"] == ["Chain.construct", "Square.construct"]
