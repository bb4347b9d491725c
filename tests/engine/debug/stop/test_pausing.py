"""Pausing: where each kind stops, the values and commands available there, and that the run is unchanged."""

from __future__ import annotations

import linecache
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from debug_networks import Scale, Script, Square, SquareThenScale, scripted, tensor

from hookscope.engine import Tensor, grad, nn, ops
from hookscope.engine.debug import Breakpoint, DebugAbort, DebugSession, default_pauser, set_default_pauser
from hookscope.engine.tape.tape import recording_active


def run(net: nn.Cell, *values: float) -> list[float]:
    return [float(x) for x in grad(net)(tensor(*values)).asnumpy()]


# Stepping a bprop


def test_over_visits_each_line_of_the_bprop_and_the_result_is_the_same() -> None:
    session, script = scripted(SquareThenScale(), ["over"] * 9, step=True)
    with session:
        assert run(session.roots[0], 1.0, 2.0) == [12.0, 24.0]
    assert script.positions == ["bprop+1", "bprop+2", "bprop+3"]
    assert [point.kind for point in script.points] == ["bprop"] * 3
    assert [point.reason for point in script.points] == ["the bprop begins", "stepped", "stepped"]
    assert script.points[1].place == f"bprop of scale, line {script.points[1].line}"
    assert script.points[1].path == "scale" and script.points[1].moment == "bprop"


def test_into_enters_the_helper_and_out_returns_to_the_bprop() -> None:
    session, script = scripted(SquareThenScale(), ["over", "into", "out", "continue"], step=True)
    with session:
        run(session.roots[0], 1.0)
    assert script.positions == ["bprop+1", "bprop+2", "helper+1", "bprop+3"]
    assert [entry.split(",")[0] for entry in script.points[2].stack[-2:]] == ["bprop", "helper"]


def test_locals_changes_and_operators_are_shown_at_each_stop() -> None:
    session, script = scripted(SquareThenScale(), ["over"] * 9, step=True)
    with session:
        run(session.roots[0], 1.0)
    assert [set(point.locals) - {"self"} for point in script.points] == [
        {"x", "out", "dout"},
        {"x", "out", "dout", "gradient"},
        {"x", "out", "dout", "gradient", "scaled"},
    ]
    assert [point.changed for point in script.points] == [set(), {"gradient"}, {"scaled"}]
    assert [[record.name for record in point.operators] for point in script.points] == [[], ["mul"], ["mul", "mul"]]
    recorded = script.points[2].operators[1]
    assert recorded.inputs[0].asnumpy() == 3.0 and recorded.outputs.asnumpy() == 6.0


def test_the_source_is_that_of_the_function_with_the_current_line_in_it() -> None:
    session, script = scripted(SquareThenScale(), ["over"], step=True)
    with session:
        run(session.roots[0], 1.0)
    point = script.points[1]
    assert point.filename.endswith("debug_networks.py")
    assert point.lines[0].strip().startswith("def bprop")
    assert point.lines[point.line - point.first_line].strip() == "scaled = helper(gradient)"


def test_a_bprop_typed_in_a_notebook_cell_is_stepped_with_its_source(tmp_path: Path) -> None:
    source = (
        "class Typed(nn.Cell):\n"
        "    def construct(self, x):\n        return x\n"
        "    def bprop(self, x, out, dout):\n        y = dout + 1.0\n        return (y,)\n"
    )
    filename = str(tmp_path / "ipykernel_7" / "1234.py")  # no such file: IPython puts the text into linecache
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"nn": nn, "__name__": "__main__"}
    exec(compile(source, filename, "exec"), namespace)
    session, script = scripted(namespace["Typed"](), ["over"], step=True)
    with session:
        assert run(session.roots[0], 1.0) == [2.0]
    point = script.points[1]
    assert list(point.lines) == source.splitlines()[3:]
    assert (point.first_line, point.line, point.filename) == (4, 6, filename)


def test_into_enters_the_construct_of_a_cell_that_the_bprop_calls() -> None:
    class CallsCell(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Square()

        def construct(self, x: Any) -> Any:
            return x + 1.0

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            squared = self.inner(dout)
            return (squared,)

    session, script = scripted(CallsCell(), ["into", "over", "over"], step=True)
    with session:
        assert run(session.roots[0], 5.0) == [1.0]
    assert script.positions == ["bprop+1", "construct+1", "bprop+2"]
    assert session.captures.latest("inner", "output", "forward") is not None


def test_a_breakpoint_at_the_bprop_stops_only_when_its_expression_is_true() -> None:
    net = SquareThenScale()
    session, script = scripted(net, breaks=["scale:bprop if float(x.sum()) > 10 and norm >= 1"])
    with session:
        run(net, 1.0)
        assert script.points == []
        run(net, 4.0)
    assert script.positions == ["bprop+1"]
    assert script.points[0].reason == "breakpoint scale:bprop if float(x.sum()) > 10 and norm >= 1"
    assert session.breakpoints[0].hits == 1


def test_every_call_of_the_bprop_stops_again_after_continue() -> None:
    net = SquareThenScale()
    session, script = scripted(net, step=True)
    with session:
        run(net, 1.0)
        run(net, 1.0)
        session.step_bprop = False
        run(net, 1.0)
    assert script.positions == ["bprop+1", "bprop+1"]


class Raising(Scale):
    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        table: dict[str, Any] = {}
        gradient = dout * 3.0
        return table["missing"], gradient


@pytest.mark.parametrize("commands", [["over"] * 9, ["continue"]])
def test_an_exception_in_a_bprop_is_shown_where_it_rises_and_goes_on_its_way(commands: list[str]) -> None:
    session, script = scripted(SquareThenScale(Raising()), commands, step=True)
    with session, pytest.raises(KeyError, match="missing"):
        run(session.roots[0], 1.0)
    last = script.points[-1]
    assert isinstance(last.exception, KeyError)
    assert (script.positions[-1], last.reason) == ("bprop+3", "KeyError raised here")
    assert "gradient" in last.locals
    assert sum(point.exception is not None for point in script.points) == 1


def test_a_bprop_inside_a_bprop_is_stepped_by_itself_and_its_error_is_shown_once() -> None:
    class Outer(nn.Cell):
        def __init__(self, inner: nn.Cell) -> None:
            super().__init__()
            self.inner = inner

        def construct(self, x: Any) -> Any:
            return x * 2.0

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            slope = grad(self.inner)(x)
            return (slope,)

    session, script = scripted(Outer(Scale()), ["over", "over", "over", "over", "over", "over"], step=True)
    with session:
        assert run(session.roots[0], 1.0) == [6.0]
    assert [point.path for point in script.points] == ["", "inner", "inner", "inner", ""]
    assert script.positions == ["bprop+1", "bprop+1", "bprop+2", "bprop+3", "bprop+2"]

    session, script = scripted(Outer(Raising()), step=True)
    with session, pytest.raises(KeyError):
        run(session.roots[0], 1.0)
    assert [point.path for point in script.points if point.exception is not None] == ["inner"]


def test_two_sessions_both_step_a_bprop_and_see_its_operators() -> None:
    net = SquareThenScale()
    older, first = scripted(net, ["over"] * 9, step=True)
    newer, second = scripted(net, ["over", "into", "continue"], step=True)
    with older, newer:
        assert run(net, 1.0) == [12.0]
        assert run(net, 1.0) == [12.0]
    assert first.positions == ["bprop+1", "bprop+2", "bprop+3"] * 2
    assert second.positions == ["bprop+1", "bprop+2", "helper+1", "bprop+1"]
    assert [len(point.operators) for point in first.points] == [0, 1, 2] * 2
    assert [len(point.operators) for point in second.points] == [0, 1, 1, 0]
    assert set(second.points[0].locals) == {"self", "x", "out", "dout"}


def test_a_session_that_only_watches_leaves_the_bprop_to_the_one_that_steps() -> None:
    net = SquareThenScale()
    steps, script = scripted(net, ["over"] * 9, breaks=["scale:bprop if float(x.sum()) == 1"])
    with steps, DebugSession(net) as watches:
        assert run(net, 1.0) == [12.0]
    assert script.positions == ["bprop+1", "bprop+2", "bprop+3"]
    assert watches.captures.latest("scale", "grad_input[0]", "backward") is not None
    assert watches.skipped_pauses == []


def test_an_error_in_a_bprop_is_shown_by_both_sessions() -> None:
    net = SquareThenScale(Raising())
    older, first = scripted(net, step=True)
    newer, second = scripted(net, step=True)
    with older, newer, pytest.raises(KeyError, match="missing"):
        run(net, 1.0)
    for script in (first, second):
        assert [type(point.exception) for point in script.points] == [type(None), KeyError]


def test_the_scope_at_a_line_of_a_bprop_is_that_of_python_and_the_debuggers_names_after_it() -> None:
    def look(session: DebugSession) -> None:
        assert float(session.evaluate("helper(dout).sum()")) == 4.0  # type: ignore[arg-type]  # a global
        assert session.evaluate("[x.shape for _ in range(2)]") == [(2,), (2,)]
        assert session.evaluate("(norm, step, self is cell)") == (pytest.approx(2**0.5), 1, True)

    session, script = scripted(SquareThenScale(), (), look, step=True)
    with session:
        run(session.roots[0], 1.0, 2.0)
    assert len(script.points) == 1


def test_what_a_panel_computes_at_a_line_of_a_bprop_is_neither_recorded_nor_watched() -> None:
    def look(session: DebugSession) -> None:
        assert session.paused is not None
        ops.relu(session.roots[0](session.paused.locals["dout"]))

    session, script = scripted(SquareThenScale(), ["over"] * 9, look, step=True)
    with session:
        assert run(session.roots[0], 1.0) == [12.0]
    assert [record.name for record in script.points[-1].operators] == ["mul", "mul"]
    assert len(session.captures) == 8 and session.step == 1


def test_evaluate_from_another_thread_is_not_watched() -> None:
    def look(session: DebugSession) -> None:
        thread = threading.Thread(target=lambda: results.append(session.evaluate("cell(inputs[0])")))
        thread.start()
        thread.join()

    results: list[Any] = []
    session, _ = scripted(SquareThenScale(), (), look, breaks=["scale"])
    with session:
        assert run(session.roots[0], 1.0) == [12.0]
    assert results[0].asnumpy() == 3.0
    assert len(session.captures) == 8


def test_a_variable_set_while_stepping_changes_the_gradient() -> None:
    def look(session: DebugSession) -> None:
        assert session.paused is not None
        if "gradient" in session.paused.locals and "scaled" not in session.paused.locals:
            session.assign("gradient", session.evaluate("gradient * 100.0"))
            assert float(session.evaluate("gradient.sum()")) == 300.0  # type: ignore[arg-type]

    session, _ = scripted(SquareThenScale(), ["over"] * 9, look, step=True)
    with session:
        assert run(session.roots[0], 1.0) == [1200.0]


# Pausing at a cell


@pytest.mark.parametrize(
    ("moment", "text", "value"),
    [
        ("forward_pre", "inputs", 4.0),
        ("forward", "output", 12.0),
        ("backward_pre", "grad_output", 1.0),
        ("backward", "grad_input", 6.0),
    ],
)
def test_a_breakpoint_stops_at_each_moment_of_a_cell(moment: str, text: str, value: float) -> None:
    def look(session: DebugSession) -> None:
        assert float(session.evaluate("value.sum()")) == value  # type: ignore[arg-type]
        assert session.evaluate("norm") == value
        assert session.evaluate("(step, call, cell is not None)") == (1, 0, True)
        assert float(session.evaluate("np.abs(-1.5)")) == 1.5  # type: ignore[arg-type]
        assert session.evaluate("ms.Tensor").__name__ == "Tensor"  # type: ignore[attr-defined]

    session, script = scripted(SquareThenScale(), (), look, breaks=[f"scale:{moment}"])
    with session:
        run(session.roots[0], 2.0)
    (point,) = script.points
    assert (point.kind, point.path, point.moment) == ("breakpoint", "scale", moment)
    assert point.reason == f"breakpoint scale:{moment}"
    assert text in point.locals and "cell" in point.locals
    back = moment.startswith("backward")
    assert point.function == ("run" if back else "construct")
    assert ("grad(" if back else "return self.scale(self.square(x))") in point.lines[point.line - point.first_line]


def moments(script: Script) -> list[str]:
    return [f"{point.path or '.'}:{point.moment}" for point in script.points]


def test_into_at_a_cell_goes_from_moment_to_moment_and_into_the_bprop() -> None:
    session, script = scripted(SquareThenScale(), ["into"] * 6 + ["over"] * 3, breaks=["."])
    with session:
        run(session.roots[0], 1.0)
    assert moments(script) == [".:forward", ".:backward_pre", "scale:backward_pre", "scale:bprop"] + ["scale:bprop"] * 4
    assert [point.kind for point in script.points[:4]] == ["breakpoint", "pause", "pause", "bprop"]
    assert (script.points[2].reason, script.points[2].moment) == ("stepped", "backward_pre")


def test_over_at_a_cell_stays_outside_it_and_out_leaves_the_cells_around() -> None:
    commands = ["over", "over", "out", "over", "continue"]
    session, script = scripted(SquareThenScale(), commands, breaks=["square:forward_pre"])
    with session:
        run(session.roots[0], 1.0)
    inside = ["square:forward_pre", "square:forward", "scale:forward_pre"]
    assert moments(script) == [*inside, ".:forward", ".:backward_pre"]


@pytest.mark.parametrize("commands", [["continue", "abort"], ["over", "over", "over", "abort"]])
def test_an_abort_at_an_exception_keeps_the_exception_as_the_cause(commands: list[str]) -> None:
    session, script = scripted(SquareThenScale(Raising()), commands, step=True)
    with session, pytest.raises(DebugAbort) as caught:
        run(session.roots[0], 1.0)
    assert isinstance(caught.value.__cause__, KeyError) and len(script.points) == len(commands)


def test_a_condition_pauses_once_where_it_begins() -> None:
    class Spoil(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * tensor(float("nan"))

    session, script = scripted(nn.SequentialCell([nn.ReLU(), Spoil(), nn.ReLU()]), stop_on=["nan"])
    with session:
        session.roots[0](tensor(1.0))
        session.roots[0](tensor(1.0))
    assert [(point.kind, point.path, point.moment) for point in script.points] == [("condition", "1", "forward")] * 2
    assert script.points[0].reason == "nan in 1#0 forward output (1 of 1 elements)"


def test_an_expression_that_fails_is_noted_and_does_not_stop_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    net = SquareThenScale()
    session, script = scripted(net, breaks=["scale if value.nothing"])
    with session:
        assert run(net, 1.0) == [12.0]
        assert run(net, 1.0) == [12.0]
    assert script.points == []
    error = session.breakpoints[0].error
    assert error is not None and error.startswith("AttributeError")
    assert capsys.readouterr().err.count("breakpoint scale:forward if value.nothing: AttributeError") == 1


def test_breakpoints_and_hooks_can_be_added_while_paused() -> None:
    def look(session: DebugSession) -> None:
        if len(script.points) == 1:
            session.breakpoints.append(Breakpoint("scale", "backward"))
            session.attach_hook("scale", "forward_pre")

    session, script = scripted(SquareThenScale(), (), look, breaks=["square:forward"])
    with session:
        run(session.roots[0], 1.0)
    assert [(point.path, point.moment) for point in script.points] == [("square", "forward"), ("scale", "backward")]
    assert [capture.key for capture in session.captures if capture.origin == "hook"] == ["scale#0 forward input[0]"]
    session.detach_hook("scale", "forward_pre")


def test_pause_stops_in_the_function_that_calls_it() -> None:
    def look(session: DebugSession) -> None:
        assert session.evaluate("mine + 1") == 42
        session.assign("mine", 7)

    session, script = scripted(None, (), look)
    mine = 41
    session.pause("to look around")
    (point,) = script.points
    assert mine == 7
    assert (point.kind, point.reason) == ("pause", "to look around")
    assert point.lines[point.line - point.first_line].strip() == 'session.pause("to look around")'


# Ending a pause


@pytest.mark.parametrize(
    "options", [{"step": True}, {"breaks": ["scale:forward"]}, {"breaks": ["scale:backward"]}, {"breaks": ["."]}]
)
def test_abort_leaves_hooks_mode_and_recording_as_they_were(options: dict[str, Any]) -> None:
    net = SquareThenScale()
    net.set_train(False)
    net.square.set_train()
    log: list[str] = []
    handle = net.square.register_forward_hook(lambda cell, inputs, output: log.append("hook"))
    session, _ = scripted(net, ["abort"], **options)
    with session:
        with pytest.raises(DebugAbort, match="aborted"):
            run(net, 1.0)
        assert not recording_active()
        assert (net.training, net.square.training, net.scale.training) == (False, True, False)
        assert len(net.square._hooks["forward"]) == 1
        log.clear()
        assert run(net, 1.0) == [12.0]
        assert log == ["hook"]
        assert session.captures[-1].call == 0 and session.step == 2
    handle.remove()
    assert session.paused is None


def test_an_interrupt_while_paused_unwinds_and_the_session_goes_on() -> None:
    class Interrupting(Script):
        def wait(self, until: Any) -> None:
            raise KeyboardInterrupt

    net = SquareThenScale()
    session = DebugSession(net, step=True, pauser=Interrupting())
    with session:
        with pytest.raises(KeyboardInterrupt):
            run(net, 1.0)
        assert session.paused is None
        session.step_bprop = False
        assert run(net, 1.0) == [12.0]


@pytest.mark.parametrize("last", ["paused", "resumed"])
def test_an_interrupt_while_panels_are_told_of_a_pause_leaves_nothing_standing(last: str) -> None:
    """They are drawn then, which takes a while: an idle kernel reported that it was paused."""
    net = Scale()
    session, script = scripted(net)
    interrupted: list[str] = []
    texts: list[str] = []

    def interrupt(event: str) -> None:
        if event == last and not interrupted:
            interrupted.append(event)
            raise KeyboardInterrupt
        texts.append(event)

    with session:
        session.add_breakpoint(Breakpoint("", "forward"))
        session.observe(interrupt)
        session.observe(texts.append)
        with pytest.raises(KeyboardInterrupt):
            net(Tensor([3.0]))
        assert session.paused is None and session.shown is None
        assert [event for event in texts if event in ("paused", "resumed")] == ["paused"] * 2 + ["resumed"] * 2
        net(Tensor([3.0]))
    assert len(script.points) == (1 if last == "paused" else 2)


def test_another_thread_may_resume() -> None:
    class Waiting(Script):
        def wait(self, until: Any) -> None:
            waiting.set()
            resumed.wait(120)
            assert until()

    waiting, resumed = threading.Event(), threading.Event()
    net = SquareThenScale()
    session = DebugSession(net, step=True, pauser=Waiting())

    def resume() -> None:
        waiting.wait(120)
        session.resume("continue")
        resumed.set()

    thread = threading.Thread(target=resume)
    thread.start()
    with session:
        assert run(net, 1.0) == [12.0]
    thread.join()


def test_detaching_while_paused_lets_the_run_go_on() -> None:
    net = SquareThenScale()
    session, script = scripted(net, ["over"], lambda s: s.detach(), step=True)
    events: list[str] = []
    session.observe(events.append)
    with session:
        assert run(net, 1.0) == [12.0]
        assert run(net, 1.0) == [12.0]
    assert len(script.points) == 1
    assert [event for event in events if event != "captured"] == ["attached", "paused", "finished"]


def test_resume_and_evaluate_need_a_pause_and_a_known_command() -> None:
    session = DebugSession(Square())
    with pytest.raises(RuntimeError, match="session is not paused"):
        session.resume()
    with pytest.raises(RuntimeError, match="session is not paused"):
        session.evaluate("1")
    with pytest.raises(ValueError, match="got 'go'"):
        session.resume("go")


def test_evaluate_raises_what_the_expression_raises_and_the_run_goes_on() -> None:
    def look(session: DebugSession) -> None:
        with pytest.raises(ZeroDivisionError):
            session.evaluate("1 / 0")
        with pytest.raises(ValueError, match="expression 'x = 1'"):
            session.evaluate("x = 1")
        with pytest.raises(NameError, match="unheard_of"):
            session.evaluate("unheard_of")
        with pytest.raises(NameError, match="'x' cannot be set at forward: there is output"):
            session.assign("x", 1)

    session, _ = scripted(SquareThenScale(), (), look, breaks=["scale"])
    with session:
        assert run(session.roots[0], 1.0) == [12.0]


def test_what_is_evaluated_while_paused_is_neither_watched_nor_recorded() -> None:
    def look(session: DebugSession) -> None:
        session.evaluate("cell(inputs[0]) + ms.ops.relu(inputs[0])")
        session.evaluate("ms.grad(cell)(inputs[0])")

    net = SquareThenScale()
    session, script = scripted(net, (), look, breaks=["scale:forward"], step=False)
    with session:
        assert run(net, 1.0) == [12.0]
    assert len(script.points) == 1 and len(session.captures) == 8


# Pauses that cannot be answered


class Nobody:
    def unavailable(self) -> str | None:
        return "nobody is here"

    def wait(self, until: Any) -> None:
        raise AssertionError("asked although nobody is here")


def test_pauses_that_cannot_be_answered_are_stored_and_one_line_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    net = SquareThenScale()
    session = DebugSession(net, step=True, breaks=["square"], pauser=Nobody(), name="demo")
    with session:
        assert run(net, 1.0) == [12.0]
        assert run(net, 1.0) == [12.0]
    assert [point.kind for point in session.skipped_pauses] == ["breakpoint", "bprop"] * 2
    assert session.skipped_pauses[1].locals["x"].asnumpy() == 1.0  # type: ignore[attr-defined]
    output = capsys.readouterr().err.splitlines()
    first = session.skipped_pauses[0]
    assert output == [
        f"hookscope: demo: not paused at forward of square, line {first.line} (breakpoint square:forward): "
        "nobody is here; kept in skipped_pauses"
    ]


def test_skipped_pauses_are_bounded() -> None:
    net = Square()
    with DebugSession(net, breaks=["."], pauser=Nobody()) as session:
        for _ in range(150):
            net(tensor(1.0))
    assert len(session.skipped_pauses) == 100
    assert session.breakpoints[0].hits == 150


@pytest.fixture
def restored_default() -> Iterator[None]:
    before = default_pauser()
    yield
    set_default_pauser(before)


def test_the_default_pauser_is_asked_at_the_time_of_the_pause(restored_default: None) -> None:
    net = SquareThenScale()
    session = DebugSession(net, step=True)
    script = Script(["over"])
    script.session = session
    requests: list[DebugSession] = []
    set_default_pauser(lambda of: (requests.append(of), script)[1])
    with session:
        run(net, 1.0)
    assert set(map(id, requests)) == {id(session)}
    assert len(script.points) == 2


# Views, hooks and events


def test_the_tree_tells_type_size_shape_mode_bprop_and_hooks() -> None:
    net = nn.SequentialCell([nn.Dense(3, 2), Scale()])
    handle = net[1].register_forward_hook(lambda cell, inputs, output: None)
    session = DebugSession(net)
    with session:
        session.attach_hook("1", "backward")
        session.set_train("1", True)
        net(Tensor(np.ones((4, 3), np.float32)))
    root, dense, scale = session.tree()
    assert root[:5] == ("", "SequentialCell", "SequentialCell", 0, 8)
    assert dense[:5] == ("0", "0", "Dense", 1, 8) and dense.shape == "4x2"
    assert (dense.training, dense.has_bprop, dense.attached) == (False, False, set())
    assert (scale.training, scale.has_bprop, scale.attached) == (True, True, {"backward"})
    assert scale.hooks == {"forward_pre": 0, "forward": 1, "backward_pre": 0, "backward": 1}
    rows = [(row.path, row.kind, row.by_session) for row in session.hooks()]
    assert rows == [("1", "forward", False), ("1", "backward", True)]
    session.detach_hook("1", "backward")
    assert len(session.hooks()) == 1
    handle.remove()


def test_parameters_are_rows_and_requires_grad_can_be_set() -> None:
    session = DebugSession(nn.Dense(3, 2))
    weight, bias = session.parameters()
    assert (weight.name, weight.shape, weight.dtype, weight.size) == ("weight", (2, 3), "float32", 6)
    assert weight.requires_grad and weight.gradient_norm is None and bias.statistics.count == 2
    session.set_requires_grad("weight", False)
    assert [row.requires_grad for row in session.parameters()] == [False, True]
    with pytest.raises(ValueError, match="no parameter 'wait' in this session; the nearest is 'weight'"):
        session.set_requires_grad("wait", True)


@pytest.mark.parametrize(
    ("kind", "slots"),
    [
        ("forward_pre", ["input[0]"]),
        ("forward", ["output"]),
        ("backward_pre", ["grad_output[0]"]),
        ("backward", ["grad_output[0]", "grad_input[0]"]),
    ],
)
def test_a_default_hook_makes_captures_of_what_it_sees_and_stays_after_the_session(kind: str, slots: list[str]) -> None:
    net = SquareThenScale()
    session = DebugSession(net, watch=["scale:forward"])
    session.attach_hook("square", kind)
    session.attach_hook("square", kind)
    for expected_step in (1, 0):
        session.captures.clear()
        if expected_step:
            session.attach()
        run(net, 3.0)
        hooked = [capture for capture in session.captures if capture.origin == "hook"]
        assert [capture.slot for capture in hooked] == slots
        assert {(capture.path, capture.call) for capture in hooked} == {("square", 0)}
        session.detach()
    assert hooked[0].value.asnumpy() == {"forward_pre": 3.0, "forward": 9.0}.get(kind, 6.0)
    session.detach_hook("square", kind)
    session.detach_hook("square", kind)
    assert session.hooks() == []


def test_a_hook_of_ones_own_may_change_what_passes() -> None:
    net = SquareThenScale()
    session = DebugSession(net)
    session.attach_hook("square", "forward", lambda cell, inputs, output: ops.zeros_like(output))
    assert net(tensor(5.0)).asnumpy() == 0.0
    assert [row.function.rpartition(".")[2] for row in session.hooks()] == ["<lambda>"]
    session.detach_hook("square", "forward")


def test_unknown_paths_and_kinds_are_refused_with_the_nearest() -> None:
    session = DebugSession(SquareThenScale())
    with pytest.raises(ValueError, match="no cell 'sqare' in this session; the nearest is 'square'"):
        session.attach_hook("sqare", "forward")
    with pytest.raises(ValueError, match=r"kind must be one of .*, got 'foward'; the nearest is 'forward'"):
        session.attach_hook("square", "foward")
    with pytest.raises(ValueError, match="no cell 'x'"):
        session.set_train("x", True)
    assert session.hooks() == []


def test_observers_hear_the_events_in_order_until_they_leave() -> None:
    net = SquareThenScale()
    session, _ = scripted(net, step=True, watch=["scale:backward"])
    events: list[str] = []
    leave = session.observe(events.append)
    with session:
        run(net, 1.0)
    heard = [event for event in events if event != "changed"]
    assert heard == ["attached", "captured", "paused", "resumed", "captured", "finished"]
    leave()
    leave()
    session.set_train("", True)
    assert events[-1] == "finished"


@pytest.mark.faults_expected
def test_an_observer_that_fails_does_not_disturb_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(event: str) -> None:
        raise RuntimeError("view gone")

    net = SquareThenScale()
    session = DebugSession(net)
    session.observe(fail)
    with session:
        assert run(net, 1.0) == [12.0]
    assert capsys.readouterr().err == (
        "hookscope: session: an observer raised RuntimeError: view gone; the run goes on without it "
        "(traceback: session.faults, and the log 'hookscope.debug')\n"
    )


def test_every_way_to_step_works_under_a_trace_function_of_somebody_else() -> None:
    import sys

    def tracer(frame: Any, event: str, arg: Any) -> None:
        return None

    session, script = scripted(SquareThenScale(), ["over", "continue"], step=True)
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        with session:
            run(session.roots[0], 1.0)
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
    assert script.positions == ["bprop+1", "bprop+2"]
