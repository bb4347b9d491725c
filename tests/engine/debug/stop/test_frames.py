"""Frames of a pause: each of the user's functions can be shown, evaluated in, and as long as it runs set."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from debug_networks import Script, SquareThenScale, scripted, tensor

from hookscope.engine import grad, nn
from hookscope.engine.debug import DebugAbort, DebugSession
from hookscope.engine.debug.stop.stepping.user_code import is_user_file


def train(net: nn.Cell) -> float:
    """Return a variable of a loop of the user's."""
    rate, results = 0.5, []
    for step in range(1):
        results.append(step + grad(net)(tensor(1.0, 2.0)))
    return rate


def at_the_first_stop(look: Any, *commands: str, **options: Any) -> tuple[DebugSession, Script]:
    def once(session: DebugSession) -> None:
        if script.session is not None and len(script.points) == 1:
            look(session)

    net = SquareThenScale()
    session, script = scripted(net, commands, once, **options)
    return session, script


def index_of(session: DebugSession, function: str) -> int:
    assert session.paused is not None
    return [frame.code.co_name for frame in session.paused.frames].index(function)


@pytest.mark.parametrize("options", [{"step": True}, {"breaks": ["square"]}, {"breaks": ["ops.mul"]}])
def test_each_function_of_the_stack_can_be_shown_with_its_line_and_variables(options: Any) -> None:
    def look(session: DebugSession) -> None:
        paused = session.paused
        assert paused is not None
        assert [frame.label for frame in paused.frames] == paused.stack
        assert paused.frame == len(paused.frames) - 1
        point = session.show_frame(index_of(session, "train"))
        assert session.shown is point and session.paused is paused
        assert (point.function, point.locals["rate"], point.path) == ("train", 0.5, paused.path)
        assert point.place == f"train, line {point.line}"
        assert (
            point.lines[point.line - point.first_line].strip() == "results.append(step + grad(net)(tensor(1.0, 2.0)))"
        )
        assert point.line in point.stoppable
        assert session.show_frame(-1) is paused

    session, script = at_the_first_stop(look, **options)
    with session:
        train(session.roots[0])
    assert script.points


def test_an_expression_sees_the_variables_of_the_function_that_is_shown() -> None:
    def look(session: DebugSession) -> None:
        assert session.evaluate("dout.shape") == (2,)
        session.show_frame(index_of(session, "train"))
        assert session.evaluate("rate * 4, tensor(1.0).shape, step") == (2.0, (1,), 0)
        with pytest.raises(NameError):
            session.evaluate("dout")

    session, _ = at_the_first_stop(look, step=True)
    with session:
        train(session.roots[0])


def test_a_name_of_the_caller_of_a_cell_is_not_seen_further_outside() -> None:
    def look(session: DebugSession) -> None:
        assert session.evaluate("cell is self.square") is True
        session.show_frame(index_of(session, "train"))
        with pytest.raises(NameError):
            session.evaluate("self")

    session, _ = at_the_first_stop(look, breaks=["square"])
    with session:
        train(session.roots[0])


def test_a_variable_of_an_outer_function_can_be_set_and_the_run_uses_it() -> None:
    def look(session: DebugSession) -> None:
        session.show_frame(index_of(session, "train"))
        session.edit("rate", "rate + 1")
        assert session.shown is not None and session.shown.locals["rate"] == 1.5
        with pytest.raises(NameError):
            session.assign("dout", 1)

    session, _ = at_the_first_stop(look, step=True)
    with session:
        assert train(session.roots[0]) == 1.5


def test_an_abort_takes_back_what_was_set_in_an_outer_function() -> None:
    def look(session: DebugSession) -> None:
        session.show_frame(index_of(session, "loop"))
        session.assign("rate", 7)

    session, _ = at_the_first_stop(look, "abort", step=True)

    def loop() -> int:
        rate = 1
        with suppress(DebugAbort):
            grad(session.roots[0])(tensor(1.0))
        return rate

    with session:
        assert loop() == 1


def test_values_that_pass_are_set_only_in_the_function_of_the_pause() -> None:
    def look(session: DebugSession) -> None:
        session.show_frame(index_of(session, "train"))
        with pytest.raises(NameError, match="'output' is not a local variable of train"):
            session.assign("output", tensor(5.0, 5.0))
        session.show_frame(-1)
        session.assign("output", tensor(5.0, 5.0))

    session, _ = at_the_first_stop(look, breaks=["scale"])
    with session:
        train(session.roots[0])
    capture = session.captures.latest("scale", "output", "forward")
    assert capture is not None and capture.array.tolist() == [5.0, 5.0]


def test_a_frame_is_left_by_a_step_and_by_a_step_back() -> None:
    def look(session: DebugSession) -> None:
        session.show_frame(0)

    session, _ = at_the_first_stop(look, "over", step=True)
    shown: list[str] = []

    def on_event(event: str) -> None:
        if event == "paused" and session.shown is not None:
            shown.append(session.shown.function)

    session.observe(on_event)
    with session:
        train(session.roots[0])
    assert shown[:2] == ["bprop", "bprop"]


def test_code_of_the_kernel_and_the_panels_is_not_the_users() -> None:
    from hookscope.kernel.magics import cell_body
    from hookscope.widgets import panel

    assert not is_user_file(str(cell_body.__file__)) and not is_user_file(str(panel.__file__))
    assert is_user_file(__file__)


@pytest.mark.parametrize("index", [99, -99])
def test_an_index_that_is_none_is_refused(index: int) -> None:
    def look(session: DebugSession) -> None:
        with pytest.raises(IndexError, match=f"index must be one of the .* functions on the stack, got {index}"):
            session.show_frame(index)

    session, _ = at_the_first_stop(look, step=True)
    with session:
        train(session.roots[0])


def test_a_pause_that_has_ended_holds_no_running_function() -> None:
    session, script = scripted(SquareThenScale(), step=True)
    with session:
        train(session.roots[0])
    assert all(not point.frames for point in script.points)
    with pytest.raises(RuntimeError, match="is not paused"):
        session.show_frame(0)
