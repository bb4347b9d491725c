"""Stepping the bprops that people write: decorated, typed in a notebook, several at once, on threads."""

from __future__ import annotations

import functools
import linecache
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from debug_networks import Scale, Script, SquareThenScale, Twice, scripted, tensor

from hookscope.engine import Tensor, grad, nn, ops
from hookscope.engine.debug import DebugAbort, DebugSession


def run(net: nn.Cell, *values: float) -> list[float]:
    return [float(x) for x in grad(net)(tensor(*values)).asnumpy()]


def checking(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a bprop in a decorator, as users do."""

    @functools.wraps(function)
    def wrapper(self: Any, *args: Any) -> Any:
        count = len(args)
        gradients = function(self, *args)
        return gradients if count else ()

    return wrapper


class Decorated(Scale):
    @checking
    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        gradient = dout * 3.0
        return (gradient,)


def test_of_a_decorated_bprop_the_first_stop_is_in_the_users_own_lines() -> None:
    session, script = scripted(SquareThenScale(Decorated()), ["over"] * 9, step=True)
    with session:
        assert run(session.roots[0], 1.0) == [6.0]
    assert script.positions == ["bprop+2", "bprop+3", "wrapper+4"]
    assert script.points[0].reason == "the bprop begins"
    assert set(script.points[0].locals) == {"self", "x", "out", "dout"}


def test_a_breakpoint_at_a_decorated_bprop_knows_its_arguments() -> None:
    session, script = scripted(SquareThenScale(Decorated()), breaks=["scale:bprop if float(dout.sum()) == 1.0"])
    with session:
        run(session.roots[0], 1.0)
    assert script.positions == ["bprop+2"]


def typed_cell(filename: str, number: float) -> nn.Cell:
    """Return a cell with a bprop whose text is in linecache, as IPython does for notebook cells."""
    source = (
        "class Typed(nn.Cell):\n"
        "    def construct(self, x):\n        return x\n"
        f"    def bprop(self, x, out, dout):\n        y = dout * {number}\n        return (y,)\n"
    )
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"nn": nn, "__name__": "__main__"}
    exec(compile(source, filename, "exec"), namespace)
    made: nn.Cell = namespace["Typed"]()
    return made


def test_after_a_notebook_cell_is_run_again_old_and_new_bprop_are_both_stepped(tmp_path: Path) -> None:
    filename = str(tmp_path / "ipykernel_7" / "1234.py")
    net = nn.SequentialCell([typed_cell(filename, 2.0), typed_cell(filename, 2.0)])
    session, script = scripted(net, ["over"] * 9, step=True)
    with session:
        assert run(net, 1.0) == [4.0]
    assert [point.path for point in script.points] == ["1", "1", "0", "0"]
    assert [point.line for point in script.points] == [5, 6, 5, 6]
    assert script.points[0].lines[1].strip() == "y = dout * 2.0"


class CallsOther(nn.Cell):
    """A cell that calls another cell's bprop itself, and one through ``grad``."""

    def __init__(self) -> None:
        super().__init__()
        self.other = Scale()

    def construct(self, x: Any) -> Any:
        return x * 1.0

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        direct = self.other.bprop(x, out, dout)
        through = grad(self.other)(x)
        return (direct[0] + through,)


def test_a_bprop_that_calls_another_ones_bprop_is_followed_into_it() -> None:
    session, script = scripted(CallsOther(), ["into"] * 30, step=True)
    with session:
        assert run(session.roots[0], 1.0) == [12.0]
    assert script.positions == [
        "bprop+1",
        "bprop+1",
        "bprop+2",
        "helper+1",
        "helper+2",
        "bprop+3",  # called directly
        "bprop+2",
        "construct+1",
        "bprop+1",
        "bprop+2",
        "helper+1",
        "helper+2",
        "bprop+3",  # through grad
        "bprop+3",
    ]
    by_itself = [point.reason for point in script.points].index("the bprop begins", 1)
    assert [point.path for point in script.points[by_itself : by_itself + 5]] == ["other"] * 5
    assert script.points[1].path == ""


def test_a_bprop_that_is_called_twice_in_a_step_stops_in_both_calls() -> None:
    net = Twice(Scale())
    session, script = scripted(net, ["over"] * 9, step=True)
    with session:
        assert run(net, 1.0) == [36.0]
    assert script.positions == ["bprop+1", "bprop+2", "bprop+3"] * 2
    assert [float(point.locals["dout"].asnumpy()[0]) for point in script.points[::3]] == [1.0, 6.0]  # type: ignore[attr-defined]
    assert [len(point.operators) for point in script.points] == [0, 1, 2, 2, 3, 4]
    assert [len(point.history) for point in script.points] == [0, 1, 4, 5, 6, 9]  # back into the first call, too


def test_a_variable_that_is_set_is_what_the_following_lines_and_stops_see() -> None:
    def look(session: DebugSession) -> None:
        point = session.paused
        assert point is not None
        if point.line - point.first_line == 2:
            session.assign("gradient", session.evaluate("gradient + 7.0"))
        if point.function == "helper":
            log.append(float(point.locals["gradient"].asnumpy()[0]))  # type: ignore[attr-defined]

    log: list[float] = []
    session, script = scripted(SquareThenScale(), ["over", "into", "over", "over"], look, step=True)
    with session:
        assert run(session.roots[0], 1.0) == [40.0]
    assert script.positions[2] == "helper+1" and log[0] == 10.0


class Looping(Scale):
    """A cell with every kind of Python statement in one bprop."""

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        parts = (dout * factor for factor in (1.0, 2.0))
        total = ops.zeros_like(dout)
        for part in parts:
            total = total + part
        with np.errstate(all="ignore"):
            weights = [float(v) for v in total.asnumpy()]
        try:
            weights.index(-1.0)
        except ValueError:
            total = total * 1.0
        finally:
            weights.clear()
        return (total,)


def test_a_bprop_with_generators_loops_with_and_try_is_stepped_over_line_by_line() -> None:
    session, script = scripted(SquareThenScale(Looping()), ["over"] * 40, step=True)
    with session:
        assert run(session.roots[0], 1.0) == [6.0]
    # At its end Python returns to the line of a with.
    stops = list(script.positions)
    while stops.count("bprop+5") > 1:
        del stops[len(stops) - 1 - stops[::-1].index("bprop+5")]
    assert stops == [
        "bprop+1",
        "bprop+2",
        "bprop+3",
        "bprop+4",
        "bprop+3",
        "bprop+4",
        "bprop+3",
        "bprop+5",
        "bprop+6",
        "bprop+7",
        "bprop+8",
        "bprop+8",
        "bprop+9",
        "bprop+10",
        "bprop+12",
        "bprop+13",
    ]
    raised = [point for point in script.points if point.exception is not None]
    assert [(type(point.exception), point.reason) for point in raised] == [(ValueError, "ValueError raised here")]


def test_stepping_changes_no_bit_of_the_gradient() -> None:
    net = SquareThenScale(Looping())
    values = [0.1, -3.7, 1e-30, 2.5e7]
    plain = grad(net)(tensor(*values)).asnumpy().tobytes()
    for command in ("over", "into", "operator", "continue"):
        session, script = scripted(net, [command] * 99, step=True)
        with session:
            assert grad(net)(tensor(*values)).asnumpy().tobytes() == plain
        assert script.points


def test_after_continue_the_bprop_runs_untraced_and_its_operators_are_still_kept() -> None:
    states: list[bool] = []

    class Looks(Scale):
        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            states.append(receives_lines())
            gradient = dout * 3.0
            states.append(receives_lines())
            return gradient.missing

    session, script = scripted(SquareThenScale(Looks()), ["over", "continue"], step=True)
    with session, pytest.raises(AttributeError):
        run(session.roots[0], 1.0)
    assert states == [True, False]
    assert [record.name for record in script.points[-1].operators] == ["mul"]
    assert script.points[-1].reason == "AttributeError raised here"


def receives_lines() -> bool:
    """Return whether the stepper receives lines now."""
    if sys.version_info >= (3, 12):
        tools = [tool for tool in range(6) if sys.monitoring.get_tool(tool) == "hookscope"]
        return any(sys.monitoring.get_events(tool) for tool in tools)
    return sys.gettrace() is not None


def test_an_abort_in_a_finally_of_a_bprop_ends_the_run_and_the_next_run_is_whole() -> None:
    class Cleans(Scale):
        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            try:
                gradient = dout * 6.0
            finally:
                cleaned.append("begun")
                cleaned.append("done")
            return (gradient,)

    cleaned: list[str] = []
    net = SquareThenScale(Cleans())
    session, _ = scripted(net, ["over", "over", "over", "abort"], step=True)
    with session:
        with pytest.raises(DebugAbort):
            run(net, 1.0)
        assert cleaned == ["begun"]
        session.step_bprop = False
        assert run(net, 1.0) == [12.0]
    assert cleaned == ["begun", "begun", "done"]


def test_bprops_on_several_threads_all_stop_one_pause_at_a_time() -> None:
    net = SquareThenScale()
    together = threading.Barrier(3, timeout=120)
    paused: list[str] = []
    results: list[list[float]] = []

    class Counting(Script):
        def wait(self, until: Any) -> None:
            paused.append("in")
            super().wait(until)
            paused.append("out")

    script = Counting(["over"] * 99)
    session = DebugSession(net, step=True, pauser=script)
    script.session = session

    def work() -> None:
        together.wait()
        results.append(run(net, 1.0))

    threads = [threading.Thread(target=work) for _ in range(3)]
    with session:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    assert results == [[12.0]] * 3
    assert paused == ["in", "out"] * 9
    assert sorted(script.positions) == sorted(["bprop+1", "bprop+2", "bprop+3"] * 3)
    assert {len(point.operators) for point in script.points} == {0, 1, 2}, "each sees its own operators"


def test_a_bprop_that_waits_for_a_thread_whose_bprop_is_stepped_too() -> None:
    inner = SquareThenScale()

    class Waits(Scale):
        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            results: list[Any] = []
            thread = threading.Thread(target=lambda: results.append(grad(inner)(Tensor(x.asnumpy()))))
            thread.start()
            thread.join(120)
            return (results[0],)

    net = SquareThenScale(Waits())
    outer, first = scripted(net, ["over"] * 9, step=True)
    other, second = scripted(inner, ["over"] * 9, step=True)
    with outer, other:
        assert run(net, 1.0) == [24.0]
    assert first.positions == ["bprop+1", "bprop+2", "bprop+3", "bprop+4", "bprop+5"]
    assert second.positions == ["bprop+1", "bprop+2", "bprop+3"]
    assert [len(point.operators) for point in first.points] == [0] * 5, (
        "operators of the other thread were attributed to this bprop"
    )


def test_second_derivatives_step_the_bprop_in_each_walk_back() -> None:
    net = SquareThenScale()
    session, script = scripted(net, ["continue"] * 9, step=True)
    with session:
        second = grad(lambda x: grad(net)(x).sum())(tensor(3.0))
    assert second.asnumpy().tolist() == [12.0]
    assert script.positions and set(script.positions) == {"bprop+1"}
