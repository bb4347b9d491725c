"""Stepping by lines in all of the user's code: construct, hooks, losses and the training loop."""

from __future__ import annotations

import asyncio
import contextlib
import linecache
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from debug_networks import tensor

import hookscope.engine as ms
from hookscope.engine import nn, ops
from hookscope.engine.debug import DebugAbort, DebugSession


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    tracer, hook = sys.gettrace(), sys.breakpointhook
    yield
    assert sys.gettrace() is tracer
    assert sys.breakpointhook is hook
    if sys.version_info >= (3, 12):
        assert "hookscope" not in [sys.monitoring.get_tool(tool) for tool in range(6)]


class Inner(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(2, 2, weight_init="ones", has_bias=False)

    def construct(self, x: Any) -> Any:
        y = self.fc(x)
        z = y * 2.0
        return z


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    def construct(self, x: Any) -> Any:
        h = self.inner(x)
        out = h + 1.0
        return out


class Person:
    """A pauser that answers with commands, then "continue", and notes each stop as function+line."""

    def __init__(self, commands: Iterable[str]) -> None:
        self.commands = iter(commands)
        self.stops: list[str] = []
        self.points: list[Any] = []
        self.session: DebugSession
        self.look = lambda session: None

    def unavailable(self) -> None:
        return None

    def wait(self, until: Any) -> None:
        point = self.session.paused
        assert point is not None
        self.points.append(point)
        self.stops.append(
            f"{point.function}+{point.line - point.first_line}" if not point.passing else f"{point.path}:{point.moment}"
        )
        self.look(self.session)
        if not until():
            self.session.resume(next(self.commands, "continue"))


def watched(net: nn.Cell | None, commands: Iterable[str] = (), **options: Any) -> tuple[DebugSession, Person]:
    person = Person(commands)
    session = person.session = DebugSession(net, pauser=person, **options)
    return session, person


X = tensor(1.0, 2.0)


def test_over_at_a_cell_stops_after_it_and_then_at_the_next_line_of_the_caller() -> None:
    net = Net()
    session, person = watched(net, ["over"] * 4, breaks=["inner:forward_pre"])

    def step() -> Any:
        return net(X)

    with session:
        step()
    assert person.stops[:4] == ["inner:forward_pre", "inner:forward", "construct+2", "construct+3"]
    assert person.points[2].moment == "construct" and person.points[2].path == ""
    assert "h" in person.points[2].locals


def test_into_at_a_cell_enters_its_construct_and_out_comes_back() -> None:
    net = Net()
    session, person = watched(net, ["into", "over", "out"], breaks=["inner:forward_pre"])
    with session:
        net(X)
    assert person.stops == ["inner:forward_pre", "construct+1", "construct+2", "construct+2"]
    assert [point.path for point in person.points] == ["inner", "inner", "inner", ""]


def test_the_operators_of_a_line_are_those_that_it_ran() -> None:
    net = Net()
    session, person = watched(net, ["into", "over", "over"], breaks=["inner:forward_pre"])
    with session:
        net(X)
    at_return = person.points[3]
    assert [(record.line, record.name) for record in at_return.operators if record.function == "construct"][-1] == (
        at_return.line - 1,
        "mul",
    )


def test_step_back_works_in_a_forward_pass() -> None:
    net = Net()
    session, person = watched(net, ["into", "over", "over"], breaks=["inner:forward_pre"])
    earlier: list[Any] = []

    def look(session: DebugSession) -> None:
        if len(person.points) == 4:
            past = session.step_back()
            earlier.append((past.line - past.first_line, sorted(past.locals), session.evaluate("float(y.sum())")))

    person.look = look  # type: ignore[assignment]
    with session:
        net(X)
    assert earlier == [(2, ["self", "x", "y"], 6.0)]


def test_an_edited_variable_of_construct_reaches_the_run_and_its_gradient() -> None:
    net = Net()
    session, person = watched(net, ["into", "over"], breaks=["inner:forward_pre"])

    def look(session: DebugSession) -> None:
        if person.stops[-1] == "construct+2" and person.points[-1].path == "inner":
            session.edit("y", "y * 10.0")

    person.look = look  # type: ignore[assignment]
    with session:
        gradient = ms.grad(lambda x: net(x).sum())(X)
    assert gradient.asnumpy().tolist() == [40.0, 40.0]


def test_in_a_recomputed_cell_a_variable_cannot_be_set_and_no_line_stops_twice() -> None:
    net = Net()
    net.inner.recompute()
    line = Inner.construct.__code__.co_firstlineno + 2
    session, person = watched(net, breaks=[f"inner:{line}"])
    errors: list[str] = []

    def look(session: DebugSession) -> None:
        try:
            session.edit("y", "y * 10.0")
        except RuntimeError as error:
            errors.append(str(error))

    person.look = look  # type: ignore[assignment]
    with session:
        gradient = ms.grad(lambda x: net(x).sum())(X)
    assert set(errors) == {"no variable can be set here: inner is computed again in the backward pass"}
    assert len(person.stops) == 1
    assert gradient.asnumpy().tolist() == [4.0, 4.0]


def test_the_training_loop_and_the_loss_are_stepped_too() -> None:
    net = Net()

    def loss_of(x: Any) -> Any:
        output = net(x)
        return output.sum()

    def train() -> float:
        total = 0.0
        for _ in range(2):
            gradient = ms.grad(loss_of)(X)
            total += float(gradient.sum())
        return total

    line = train.__code__.co_firstlineno + 3
    session, person = watched(net, ["into", "over", "over", "over", "over"], breaks=[f"{__file__}:{line}"])
    with session:
        assert train() == 16.0
    # Over at the last line of the loss is the next line of its caller, after the backward pass.
    assert person.stops[:5] == ["train+3", "loss_of+1", "loss_of+2", "train+4", "train+2"]
    assert person.points[0].path == "" and person.points[0].kind == "breakpoint"


def test_a_backward_hook_is_entered_from_the_moment_before_it() -> None:
    net = Net()

    def hook(cell: Any, grad_input: Any, grad_output: Any) -> None:
        seen = grad_output[0]
        del seen

    net.inner.register_backward_hook(hook)
    session, person = watched(net, ["into", "over", "over"], breaks=["inner.fc:backward"])
    with session:
        ms.grad(lambda x: net(x).sum())(X)
    assert person.stops[:3] == ["inner.fc:backward", "hook+1", "hook+2"]
    assert person.points[1].path == "inner"


def test_library_code_is_entered_on_request_alone() -> None:
    net = Net()
    session, person = watched(net, ["into", "into", "out", "over"], breaks=["inner:forward_pre"], just_my_code=False)
    with session:
        net(X)
    files = [point.filename.rpartition("/")[2] for point in person.points]
    assert files == [files[0], files[0], "linear.py", files[0], files[0]]
    assert person.points[2].path == "inner.fc" and sorted(person.points[2].locals) == ["self", "x"]


def test_breakpoint_in_the_code_pauses_the_session_and_over_steps_on() -> None:
    class Pausing(nn.Cell):
        def construct(self, x: Any) -> Any:
            y = x * 2.0
            breakpoint()
            z = y + 1.0
            return z

    net = Pausing()
    session, person = watched(net, ["over", "over"])
    with session:
        net(X)
    assert person.stops == ["construct+2", "construct+3", "construct+4"]
    assert person.points[0].reason == "breakpoint() was called"
    assert sorted(person.points[2].locals) == ["self", "x", "y", "z"]


def test_python_breakpoint_0_disables_breakpoint_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONBREAKPOINT", "0")
    session, person = watched(Net())
    with session:
        breakpoint()
    assert person.stops == []


def test_a_logpoint_prints_and_does_not_pause(capsys: pytest.CaptureFixture[str]) -> None:
    net = Net()
    line = Inner.construct.__code__.co_firstlineno + 2
    session, person = watched(
        net, breaks=["inner if norm > 1 log norm {norm:.3g} in step {step}", f"inner:{line} log y is {{y.sum():.1f}}"]
    )
    with session:
        net(X)
    assert person.stops == []
    assert capsys.readouterr().err.splitlines() == [
        f"hookscope: session: inner:{line}: y is 6.0",
        "hookscope: session: inner:forward: norm 8.49 in step 1",
    ]
    assert [stop.hits for stop in session.breakpoints] == [1, 1]


def test_a_logpoint_whose_expression_fails_says_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    line = Inner.construct.__code__.co_firstlineno + 2
    session, _ = watched(Net(), breaks=[f"inner:{line} log {{nothing}}"])
    with session:
        for _ in range(3):
            session.roots[0](X)
    errors = capsys.readouterr().err.splitlines()
    assert errors == [
        f"hookscope: session: breakpoint inner:{line} log {{nothing}}: "
        "NameError: name 'nothing' is not defined; it prints nothing"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model.py", "a file needs the number of a line, as in model.py:12"),
        ("/nowhere/at_all.py:3", "there is no file /nowhere/at_all.py"),
        (f"{__file__}:2", "line 2 has no code; the next line with code is"),
        ("inner log {norm", "expected '}' before end of string"),
        ("inner log {nrom}", "the name 'nrom' is unknown here; the nearest is 'norm'"),
    ],
)
def test_a_faulty_breakpoint_at_a_line_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="breakpoint") as caught:
        DebugSession(Net(), breaks=[text])
    assert message in str(caught.value)


def test_the_run_goes_on_up_to_a_line_and_only_once() -> None:
    net = Net()
    line = Net.construct.__code__.co_firstlineno + 3
    session, person = watched(net, breaks=["inner:forward_pre"])
    person.look = lambda session: len(person.stops) == 1 and session.run_to_line(line, __file__)  # type: ignore[assignment]
    with session:
        net(X)
        net(X)
    assert person.stops == ["inner:forward_pre", "construct+3", "inner:forward_pre"]
    assert person.points[1].reason == f"reached line {line}"
    with pytest.raises(RuntimeError, match="not paused"):
        session.run_to_line(line)


def test_a_line_without_code_cannot_be_run_to_and_the_run_stays() -> None:
    session, person = watched(Net(), breaks=["inner:forward_pre"])
    errors: list[str] = []

    def look(session: DebugSession) -> None:
        try:
            session.run_to_line(2, __file__)
        except ValueError as error:
            errors.append(str(error))

    person.look = look  # type: ignore[assignment]
    with session:
        session.roots[0](X)
    assert len(errors) == 1 and "line 2 has no code" in errors[0]


def test_a_breakpoint_in_a_file_that_never_ran_is_reported_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    net = Net()
    session, _ = watched(net, breaks=["nosuch_module.py:3"])
    with session:
        net(X)
    assert "breakpoint nosuch_module.py:3 was not reached: no such file has run" in capsys.readouterr().err


def test_hit_counts_are_conditions_on_passes() -> None:
    net = Net()
    line = Inner.construct.__code__.co_firstlineno + 2
    session, person = watched(net, breaks=[f"inner:{line} if passes % 3 == 0"])
    with session:
        for _ in range(7):
            net(X)
    assert len(person.stops) == 2


def test_each_thread_is_stepped_by_itself() -> None:
    net = Net()
    session, person = watched(net, ["into", "over", "over", "over"] * 2, breaks=["inner:forward_pre"])
    results: list[Any] = []
    with session:
        threads = [threading.Thread(target=lambda: results.append(net(X))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [result.asnumpy().tolist() for result in results] == [[7.0, 7.0]] * 2
    assert sorted(person.stops)[-2:] == ["inner:forward_pre"] * 2 and "construct+2" in person.stops


def test_a_coroutine_is_stepped_over_its_awaits() -> None:
    net = Net()

    async def run() -> Any:
        session.pause()
        first = net(X)
        await asyncio.sleep(0)
        second = net(X)
        return first + second

    session, person = watched(net, ["over"] * 4)
    with session:
        asyncio.run(run())
    assert person.stops == ["run+1", "run+2", "run+3", "run+4", "run+5"]


def test_a_generator_is_entered_at_each_value() -> None:
    net = Net()

    def batches() -> Iterator[Any]:
        for _ in range(2):
            batch = X * 1.0
            yield batch

    def loop() -> None:
        session.pause()
        for batch in batches():
            net(batch)

    session, person = watched(net, ["over", "into", "over", "over", "over"])
    with session:
        loop()
    assert person.stops == ["loop+1", "loop+2", "batches+1", "batches+2", "batches+3", "loop+3"]


def test_an_exception_of_construct_is_shown_where_it_rises_while_it_is_stepped() -> None:
    class Failing(nn.Cell):
        def construct(self, x: Any) -> Any:
            y = x * 2.0
            return ops.matmul(y, tensor(1.0, 2.0, 3.0))

    session, person = watched(Failing(), ["into", "over", "over"], breaks=[".:forward_pre"])
    with session, pytest.raises(Exception, match="must be equal"):
        session.roots[0](X)
    assert person.stops == [":forward_pre", "construct+1", "construct+2", "construct+2"]
    assert person.points[-1].exception is not None


def test_an_abort_at_a_line_ends_the_run_even_where_construct_catches_every_exception() -> None:
    ran: list[int] = []

    class Stubborn(nn.Cell):
        def construct(self, x: Any) -> Any:
            try:
                ran.append(1)
                ran.append(2)
            except Exception:
                ran.append(3)
            return x

    session, _ = watched(Stubborn(), ["into", "over", "abort"], breaks=[".:forward_pre"])
    with session:
        with pytest.raises(DebugAbort):
            session.roots[0](X)
        assert ran == [3] or ran == [1, 3]
        session.roots[0](X)  # the next run is whole


def test_stepping_ends_with_the_outermost_function_and_leaves_no_tracer() -> None:
    net = Net()

    def run() -> None:
        session.pause()
        net(X)

    session, person = watched(net, ["over"] * 9)
    session.attach()
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert person.stops == ["run+1", "run+2"]
    session.detach()


def test_stepping_through_a_step_changes_no_bit() -> None:
    def losses(session: DebugSession | None, net: nn.Cell) -> list[bytes]:
        forward = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
        values = []
        for _ in range(3):
            if session is not None:
                session.pause()
            loss, gradients = forward(X)
            for parameter, gradient in zip(net.trainable_params(), gradients, strict=True):
                parameter.set_data(parameter - gradient * 0.1)
            values.append(loss.asnumpy().tobytes())
        return values

    alone = losses(None, Net())
    for command in ("over", "into"):
        net = Net()
        session, _ = watched(net, [command] * 200)
        with session:
            assert losses(session, net) == alone


# Aborts, and what is left behind


class Entered:
    """A context manager that notes whether it was left."""

    def __init__(self) -> None:
        self.is_left = False

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.is_left = True


def test_an_abort_where_a_with_block_ends_still_leaves_the_block() -> None:
    entered, after = Entered(), []

    def run() -> None:
        session.pause()
        with entered:
            net(X)
        after.append(1)

    net = Net()
    session, person = watched(net, ["over", "over", "over", "abort"])
    with session, pytest.raises(DebugAbort):
        run()
    assert person.stops == ["run+1", "run+2", "run+3", "run+2"]
    assert entered.is_left and after == []


def test_an_abort_at_the_end_of_the_sessions_own_block_detaches_it() -> None:
    net = Net()
    session, _ = watched(net, ["over", "over", "abort"])

    def run() -> None:
        with session:
            session.pause()
            net(X)

    run()
    assert not session.attached
    net(X)


@pytest.mark.parametrize("breakpoint_", ["inner:forward_pre", "inner.fc:forward", "ops.mul"])
def test_an_abort_that_construct_catches_is_raised_again_at_its_end(breakpoint_: str) -> None:
    class Catching(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()

        def construct(self, x: Any) -> Any:
            try:
                return self.inner(x)
            except Exception:
                return x

    session, _ = watched(Catching(), ["abort"], breaks=[breakpoint_])
    with session, pytest.raises(DebugAbort):
        session.roots[0](X)


@pytest.mark.parametrize("command", [["abort"], ["continue"]])
def test_another_tools_tracer_is_back_after_an_abort_at_a_line(command: list[str]) -> None:
    if sys.version_info >= (3, 12):
        pytest.skip("sys.monitoring leaves tracers alone")

    def other(frame: Any, event: str, arg: Any) -> None:
        return None

    net = Net()
    session, _ = watched(net, ["into", *command], breaks=["inner:forward_pre"])
    before = sys.gettrace()
    sys.settrace(other)
    try:
        with contextlib.suppress(DebugAbort), session:
            net(X)
        tracer = sys.gettrace()
    finally:
        sys.settrace(before)
    assert tracer is other


def test_after_an_interrupt_the_next_run_does_not_go_on_with_the_last_command() -> None:
    net = Net()
    session, person = watched(net, ["into"], breaks=["inner:forward_pre"])

    def look(session: DebugSession) -> None:
        if len(person.stops) == 2:
            raise KeyboardInterrupt

    person.look = look  # type: ignore[assignment]
    with session:
        with pytest.raises(KeyboardInterrupt):
            net(X)
        person.stops.clear()
        net(X)
    assert person.stops == ["inner:forward_pre"]


def test_a_session_that_is_attached_again_at_a_pause_stops_once_at_each_line() -> None:
    net = Net()
    line = Inner.construct.__code__.co_firstlineno + 2
    session, person = watched(net, breaks=[f"inner:{line}"])

    def look(session: DebugSession) -> None:
        if len(person.stops) == 1:
            session.detach()
            session.attach()

    person.look = look  # type: ignore[assignment]
    session.attach()
    net(X)
    person.stops.clear()
    net(X)
    session.detach()
    assert person.stops == ["construct+2"]


def test_a_breakpoint_of_another_session_that_is_set_during_a_pause_stops_the_same_run() -> None:
    net = Net()
    line = Inner.construct.__code__.co_firstlineno + 2
    other, person = watched(net)
    session, first = watched(net, breaks=["inner:forward_pre"])
    first.look = lambda session: other.add_breakpoint(f"inner:{line}")  # type: ignore[assignment, return-value]
    with other, session:
        net(X)
    assert person.stops == ["construct+2"]


def test_an_ended_thread_keeps_no_values_and_no_tool() -> None:
    net = Net()
    line = Inner.construct.__code__.co_firstlineno + 2
    session, person = watched(net, breaks=[f"inner:{line}"])
    with session:
        for _ in range(2):
            thread = threading.Thread(target=net, args=(X,))
            thread.start()
            thread.join()
        net(X)
    assert person.stops == ["construct+2"] * 3


@pytest.mark.parametrize("way", ["breakpoint", "pause", "operator", "outer frame"])
def test_at_no_kind_of_stop_a_variable_of_a_recomputed_cell_can_be_set(way: str) -> None:
    class Recomputed(nn.Cell):
        def construct(self, x: Any) -> Any:
            y = x * 2.0
            if way == "breakpoint":
                breakpoint()
            elif way == "pause":
                session.pause()
            return self.helper(y)

        def helper(self, y: Any) -> Any:
            return y * y

    net = Recomputed()
    net.recompute()
    line = Recomputed.helper.__code__.co_firstlineno + 1
    breaks = {"operator": ["ops.mul if passes == 2"], "outer frame": [f"{__file__}:{line}"]}.get(way, [])
    session, person = watched(net, breaks=breaks)
    errors: list[str] = []

    def look(session: DebugSession) -> None:
        if way == "outer frame":
            session.show_frame(-2)
        try:
            session.edit("y", "y * 10.0")
        except RuntimeError as error:
            errors.append(str(error))

    person.look = look  # type: ignore[assignment]
    with session:
        gradient = ms.grad(lambda x: net(x).sum())(X)
    assert gradient.asnumpy().tolist() == [8.0, 16.0]
    assert errors and set(errors) == {"no variable can be set here: (root) is computed again in the backward pass"}


def test_the_lines_of_a_module_are_shown_also_its_first() -> None:
    source = "session.pause()\na = 1\n\nb = a + 1\n"
    filename = "<a module of this test>"
    linecache.cache[filename] = len(source), None, source.splitlines(True), filename
    session, person = watched(Net(), ["over", "over"])
    with session:
        exec(compile(source, filename, "exec"), {"session": session})
    point = person.points[-1]
    assert (point.first_line, point.line, len(point.lines)) == (1, 4, 4)
    assert point.stoppable == {1, 2, 4}


def test_code_that_pauses_can_be_evaluated_at_a_pause() -> None:
    def helper() -> int:
        breakpoint()
        return 3

    session, person = watched(Net())
    values: list[Any] = []
    person.look = lambda session: values.append(session.evaluate("helper()"))  # type: ignore[assignment, return-value]
    with session:
        session.pause()
    assert values == [3] and helper is not None
