"""Breakpoints at lines of a bprop: it is stepped for them alone, and Continue stops at them."""

from __future__ import annotations

from typing import Any

import pytest
from debug_networks import Scale, SquareThenScale, helper, scripted, tensor

import hookscope.engine as ms
from hookscope.engine import grad, nn
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.stop.points import lines_with_code

FIRST = Scale.bprop.__code__.co_firstlineno  # its def line
IN_HELPER = helper.__code__.co_firstlineno + 2


def run(net: nn.Cell, *values: float) -> list[float]:
    return [float(x) for x in grad(net)(tensor(*values)).asnumpy()]


class Looping(Scale):
    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        total = dout * 0.0
        for k in range(5):
            total = total + dout * k
        return (total,)


LOOP = Looping.bprop.__code__.co_firstlineno + 3


def test_continue_stops_at_a_line_with_a_breakpoint_and_after_it_goes_on_to_the_end() -> None:
    session, script = scripted(SquareThenScale(), step=True, breaks=[f"scale:{FIRST + 3}"])
    with session:
        assert run(session.roots[0], 1.0) == [12.0]
    assert script.positions == ["bprop+1", "bprop+3"]
    assert [point.reason for point in script.points] == ["the bprop begins", f"breakpoint scale:{FIRST + 3}"]
    assert "scaled" in script.points[1].locals
    (stop,) = session.breakpoints
    assert (stop.passes, stop.hits) == (1, 1)


def test_it_stops_a_bprop_that_nobody_steps_in_every_run() -> None:
    session, script = scripted(SquareThenScale(), breaks=[f"scale:{FIRST + 3}"])
    with session:
        assert [run(session.roots[0], 1.0) for _ in range(2)] == [[12.0], [12.0]]
    assert script.positions == ["bprop+3", "bprop+3"]
    assert script.points[0].reason == f"breakpoint scale:{FIRST + 3}"
    assert len(script.points[0].history) == 4  # lines passed before can be stepped back to


def test_what_a_bprop_raises_before_its_breakpoint_is_no_pause() -> None:
    class Raising(Scale):
        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            gradient = 1 / 0
            return (gradient,)

    line = Raising.bprop.__code__.co_firstlineno + 2
    session, script = scripted(SquareThenScale(Raising()), breaks=[f"scale:{line}"])
    with session, pytest.raises(ZeroDivisionError):
        run(session.roots[0], 1.0)
    assert script.positions == []


def test_without_one_continue_goes_on_to_the_end() -> None:
    session, script = scripted(SquareThenScale(), step=True, breaks=["square:3", f"scale:{FIRST + 300}"])
    with session:
        run(session.roots[0], 1.0)
    assert script.positions == ["bprop+1"]


def test_it_stops_also_inside_a_function_that_is_stepped_over() -> None:
    session, script = scripted(SquareThenScale(), ["over", "over"], step=True, breaks=[f"scale:{IN_HELPER}"])
    with session:
        run(session.roots[0], 1.0)
    assert script.positions == ["bprop+1", "bprop+2", "helper+2"]


def test_one_set_at_a_pause_counts_from_there_and_one_removed_stops_no_more() -> None:
    def look(session: DebugSession) -> None:
        if len(script.points) == 1:
            session.add_breakpoint(f"scale:{FIRST + 2}")
        elif len(script.points) == 2:
            session.add_breakpoint(f"scale:{FIRST + 3}")
            session.remove_breakpoint(f"scale:{FIRST + 3}")

    session, script = scripted(SquareThenScale(), look=look, step=True)
    with session:
        run(session.roots[0], 1.0)
    assert script.positions == ["bprop+1", "bprop+2"]


def test_its_expression_sees_the_variables_of_the_line_and_how_often_it_was_passed() -> None:
    breaks = [f"scale:{LOOP} if k == 3", f"scale:{LOOP} if passes % 4 == 2 and float(dout.sum()) == 1"]
    session, script = scripted(SquareThenScale(Looping()), step=True, breaks=breaks)
    with session:
        run(session.roots[0], 1.0)
    assert script.positions == ["bprop+1", "bprop+3", "bprop+3"]
    assert [point.locals["k"] for point in script.points[1:]] == [1, 3]
    assert [stop.passes for stop in session.breakpoints] == [5, 5]


def test_an_expression_that_fails_is_said_once_and_does_not_stop(capsys: pytest.CaptureFixture[str]) -> None:
    session, script = scripted(SquareThenScale(Looping()), step=True, breaks=[f"scale:{LOOP} if missing > 1"])
    with session:
        assert run(session.roots[0], 1.0) == [20.0]
    assert script.positions == ["bprop+1"]
    assert session.breakpoints[0].error == "NameError: name 'missing' is not defined"
    output = capsys.readouterr().err
    assert output.count("name 'missing' is not defined; it does not stop") == 1


def test_a_line_of_another_file_is_named_with_it() -> None:
    for file, stops in {helper.__code__.co_filename: ["bprop+1", "helper+2"], "elsewhere.py": ["bprop+1"]}.items():
        session, script = scripted(SquareThenScale(), step=True, breaks=[f"scale:{file}:{IN_HELPER}"])
        with session:
            run(session.roots[0], 1.0)
        assert script.positions == stops


def test_an_expression_that_is_computed_at_a_line_changes_no_bit_and_runs_no_breakpoint() -> None:
    session, script = scripted(SquareThenScale(), step=True, breaks=[f"scale:{FIRST + 3} if self(x).sum() > 1e9"])
    with session:
        assert run(session.roots[0], 1.0) == [12.0]
    assert script.positions == ["bprop+1"] and session.breakpoints[0].error is None
    assert [record.name for record in script.points[0].operators] == []


def test_the_lines_at_which_one_can_stand_are_those_with_code() -> None:
    def function(x: Any) -> Any:
        """A function without breakpoints."""
        # none here either
        inner = lambda y: (  # noqa: E731
            y + x
        )

        return inner(1)

    first = function.__code__.co_firstlineno
    assert {line - first for line in lines_with_code(function.__code__)} == {3, 4, 7}
    assert lines_with_code((lambda: 1).__code__) == {(lambda: 1).__code__.co_firstlineno}


def test_stops_say_where_one_can_stand_and_how_far_back_they_are() -> None:
    log: list[tuple[int, bool]] = []

    def look(session: DebugSession) -> None:
        point = session.paused
        assert point is not None and point.bprop_begins == (Scale.bprop.__code__.co_filename, FIRST)
        if len(script.points) == 3:
            for _ in range(3):  # two lines of the helper, then the line of the call
                session.step_back()
                assert session.shown is not None
                log.append((session.shown.back, session.shown.stoppable == point.stoppable))

    session, script = scripted(SquareThenScale(), ["over", "over"], look, step=True)
    with session:
        run(session.roots[0], 1.0)
    assert script.points[0].stoppable == {FIRST + 1, FIRST + 2, FIRST + 3} and script.points[0].back == 0
    assert log == [(1, False), (2, False), (3, True)]


class Joined(nn.Cell):
    def construct(self, x: Any) -> Any:
        doubled = x * 2.0
        return doubled + 1.0


class Around(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(2, 2)
        self.joined = Joined()

    def construct(self, x: Any) -> Any:
        y = self.fc(x)
        return self.joined(y)


IN_JOINED = Joined.construct.__code__.co_firstlineno + 2


@pytest.mark.parametrize("place", [f"joined:{IN_JOINED}", f"test_line_breakpoints.py:{IN_JOINED}"])
def test_a_run_of_the_network_by_a_check_neither_stops_nor_enters_the_past(place: str) -> None:
    net = Around()
    seen: list[Any] = []
    # samples_leak runs a copy of the network, with another first sample, when the first call of the network ends
    session, script = scripted(net, conditions=["samples_leak"], breaks=[place])
    script._look = lambda session: seen.append(
        [state.locals["x"].asnumpy().tolist() for state in session.paused.history if state.function == "construct"]  # type: ignore[union-attr, attr-defined]
    )
    step = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    inputs = [tensor(*map(float, range(6))).reshape(3, 2) * k for k in (1.0, 2.0)]
    with session:
        for x in inputs:
            step(x)
    assert script.positions == ["construct+2", "construct+2"]
    first, second = (net.fc(x).asnumpy().tolist() for x in inputs)
    assert all(x in (first, second) for x in seen[-1])


def test_the_operators_of_an_earlier_call_are_not_those_of_this_one() -> None:
    from hookscope.widgets.views.stepper.stop import stop_view

    net = Around()
    lines: list[set[int]] = []
    session, script = scripted(net, ["over"], breaks=[f"joined:{IN_JOINED}"])
    script._look = lambda session: lines.append({item["line"] for item in stop_view(session.paused)["operators"]})  # type: ignore[arg-type]
    with session:
        for _ in range(2):
            net(tensor(1.0, 2.0).reshape(1, 2))
    assert [point.function for point in script.points] == ["construct", "construct"]
    assert lines[-1] <= {0}
