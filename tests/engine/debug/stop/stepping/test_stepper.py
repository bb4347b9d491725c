"""The line stepper on plain functions: where each command stops, and the state it leaves behind."""

from __future__ import annotations

import contextlib
import functools
import linecache
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scripted_steps import run_stepped, stops_of

import hookscope
from hookscope.engine.debug.stop.pause import DebugAbort
from hookscope.engine.debug.stop.stepping.stepper import Stepper, Stop, is_user_code, user_frame
from hookscope.engine.debug.stop.stepping.user_code import nearest_user_frame


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    before = sys.gettrace()
    yield
    assert sys.gettrace() is before
    if sys.version_info >= (3, 12):
        assert "hookscope" not in [sys.monitoring.get_tool(tool) for tool in range(6)]


def helper(x: int) -> int:
    y = x + 1
    return y * 2


def caller(x: int) -> int:
    a = helper(x)
    b = helper(a) + helper(a)
    return b


def test_the_first_stop_is_the_first_line_and_continue_ends_it() -> None:
    assert stops_of(caller, 1, commands=["continue"]) == (20, ["caller+1"])


def test_over_stays_in_the_function_and_ends_with_it() -> None:
    assert stops_of(caller, 1, commands=["over"] * 9) == (20, ["caller+1", "caller+2", "caller+3"])


def test_into_enters_calls_and_over_at_the_end_comes_back_to_the_caller() -> None:
    _, stops = stops_of(caller, 1, commands=["into", "over", "over", "continue"])
    assert stops == ["caller+1", "helper+1", "helper+2", "caller+2"]


def test_out_lands_on_the_next_line_of_the_caller_not_in_its_other_calls() -> None:
    _, stops = stops_of(caller, 1, commands=["over", "into", "out", "continue"])
    assert stops == ["caller+1", "caller+2", "helper+1", "caller+3"]


def test_out_of_the_outermost_function_runs_to_the_end() -> None:
    assert stops_of(caller, 1, commands=["out"]) == (20, ["caller+1"])


def test_into_every_line_goes_through_both_calls_of_one_line() -> None:
    _, stops = stops_of(caller, 1, commands=["over"] + ["into"] * 9)
    assert stops == ["caller+1", "caller+2", "helper+1", "helper+2", "helper+1", "helper+2", "caller+3"]


def test_over_does_not_stop_in_a_recursive_call_of_the_same_function() -> None:
    def down(n: int) -> int:
        if n == 0:
            return 0
        below = down(n - 1)
        return below + 1

    assert stops_of(down, 3, commands=["over"] * 9) == (3, ["down+1", "down+3", "down+4"])


def test_over_follows_a_loop_line_by_line() -> None:
    def loop() -> int:
        total = 0
        for i in range(2):
            total += i
        return total

    _, stops = stops_of(loop, commands=["over"] * 9)
    assert stops == ["loop+1", "loop+2", "loop+3", "loop+2", "loop+3", "loop+2", "loop+4"]


def test_into_enters_a_callback_through_library_code() -> None:
    def key(x: float) -> float:
        return -x

    def order() -> list[float]:
        import statistics

        return sorted([statistics.median([1, 3]), 5], key=key)

    _, stops = stops_of(order, commands=["over", "into", "out", "continue"])
    assert stops == ["order+1", "order+3", "key+1"]


def test_over_goes_on_past_a_caught_exception_raised_in_a_call() -> None:
    def fails() -> None:
        raise KeyError("k")

    def guarded() -> str:
        try:
            fails()
        except KeyError:
            return "caught"
        return "missed"

    result, stops = stops_of(guarded, commands=["over", "into"] + ["over"] * 9)
    assert result == "caught"
    assert stops == ["guarded+1", "guarded+2", "fails+1", "fails+1 KeyError", "guarded+3", "guarded+4"]


def test_abort_raises_debug_abort_at_the_stop() -> None:
    ran: list[int] = []

    def body() -> None:
        ran.append(1)
        ran.append(2)

    with pytest.raises(DebugAbort):
        stops_of(body, commands=["over", "abort"])
    assert ran == [1]


def test_abort_wins_over_a_function_that_catches_every_exception() -> None:
    def stubborn() -> str:
        with contextlib.suppress(Exception):
            helper(1)
        return "went on"

    with pytest.raises(DebugAbort):
        stops_of(stubborn, commands=["over", "abort"])


def test_locals_are_shown_and_assign_changes_what_the_function_computes() -> None:
    log: list[dict[str, object]] = []

    def answer(stop: Stop) -> str:
        log.append(stop.locals())
        if "y" in log[-1]:
            stop.assign("y", 100)
            return "continue"
        return "over"

    assert run_stepped(answer, helper, 1) == 200
    assert log == [{"x": 1}, {"x": 1, "y": 2}]


def test_assign_refuses_a_name_that_is_no_local_variable() -> None:
    def answer(stop: Stop) -> str:
        with pytest.raises(NameError, match="'z' is not a local variable of helper; it has x, y"):
            stop.assign("z", 1)
        return "continue"

    assert run_stepped(answer, helper, 1) == 4


def test_an_exception_in_the_callback_ends_the_stepping_and_comes_out() -> None:
    def answer(stop: Stop) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_stepped(answer, helper, 1)


def test_an_unknown_command_is_refused_with_the_allowed_ones() -> None:
    with pytest.raises(ValueError, match="over, into, out, .*abort, got 'jump'"):
        stops_of(helper, 1, commands=["jump"])


def test_no_trace_is_left_in_frames_after_continue() -> None:
    def inner() -> None:
        frames.append(sys._getframe())

    def outer() -> None:
        frames.append(sys._getframe())
        inner()

    frames: list[Any] = []
    stops_of(outer, commands=["into", "continue"])
    assert [frame.f_trace for frame in frames] == [None, None]


def test_nested_stepping_has_commands_of_its_own_and_hands_back_to_the_outer() -> None:
    inner_seen: list[str] = []

    def nested(x: int) -> int:
        result, stops = stops_of(helper, x, commands=["over", "continue"])
        inner_seen.extend(stops)
        return int(result)

    def outer() -> int:
        a = nested(1)
        b = a + 1
        return b

    result, seen = stops_of(outer, commands=["over"] * 5)
    assert (result, seen) == (5, ["outer+1", "outer+2", "outer+3"])
    assert inner_seen == ["helper+1", "helper+2"]


def stepped_by_two(outer: list[str], inner: list[str]) -> tuple[Any, list[str]]:
    """Run ``caller(1)`` under two steppers, each with its commands; return the stops of both in their order."""
    stops: list[str] = []

    def answers(name: str, commands: list[str]) -> Callable[[Stop], str]:
        script = iter(commands)

        def answer(stop: Stop) -> str:
            stops.append(f"{name} {stop.frame.f_code.co_name}+{stop.line - stop.frame.f_code.co_firstlineno}")
            return next(script, "continue")

        return answer

    through = functools.partial(run_stepped, answers("inner", inner), caller)

    @functools.wraps(caller)
    def wrapped(x: int) -> Any:
        return through(x)

    try:
        return run_stepped(answers("outer", outer), wrapped, 1, user_code=lambda code: code in USERS), stops
    except DebugAbort:
        return "aborted", stops


USERS = (helper.__code__, caller.__code__)


def test_two_steppers_of_one_function_both_stop_each_by_its_own_commands() -> None:
    assert stepped_by_two(["over", "continue"], ["over"] * 3) == (
        20,
        ["outer caller+1", "inner caller+1", "outer caller+2", "inner caller+2", "inner caller+3"],
    )
    assert stepped_by_two(["continue"], ["into", "out"])[1] == [
        "outer caller+1",
        "inner caller+1",
        "inner helper+1",
        "inner caller+2",
    ]
    assert stepped_by_two(["over", "into", "continue"], ["continue"])[1] == [
        "outer caller+1",
        "inner caller+1",
        "outer caller+2",
        "outer helper+1",
    ]


@pytest.mark.parametrize("commands", [(["over", "abort"], ["over"] * 3), (["over"] * 3, ["over", "abort"])])
def test_an_abort_in_either_of_two_steppers_ends_the_run(commands: tuple[list[str], list[str]]) -> None:
    result, stops = stepped_by_two(*commands)
    assert result == "aborted"
    assert stops[-1].endswith("caller+2")


def test_other_threads_run_on_without_stopping() -> None:
    results: list[int] = []

    def body() -> None:
        thread = threading.Thread(target=lambda: results.append(helper(3)))
        thread.start()
        thread.join()

    _, stops = stops_of(body, commands=["into"] * 20)
    assert results == [8]
    assert not [stop for stop in stops if stop.startswith("helper")]


def test_a_method_and_a_wrapped_function_stop_at_their_first_user_line() -> None:
    class Thing:
        def method(self) -> str:
            return "m"

    assert stops_of(Thing().method, commands=[]) == ("m", ["method+1"])
    assert stops_of(lambda: helper(2), commands=["into"])[1] == ["<lambda>+0", "helper+1"]


def test_equal_code_objects_are_both_stepped() -> None:
    namespaces: list[dict[str, Any]] = [{}, {}]
    for namespace in namespaces:  # as when a notebook cell is run twice
        exec(compile("def f(x):\n    y = x\n    return y\n", __file__, "exec"), namespace)
    first, second = (namespace["f"] for namespace in namespaces)

    def both() -> int:
        return int(first(1) + second(2))

    _, stops = stops_of(both, commands=["into"] * 9)
    assert stops == ["both+1", "f+1", "f+2", "f+1", "f+2"]


def test_user_code_is_neither_the_library_nor_installed_packages_nor_hookscope() -> None:
    import json

    assert is_user_code(helper.__code__)
    assert not is_user_code(json.dumps.__code__)
    assert not is_user_code(pytest.raises.__code__)
    assert not is_user_code(Stepper.call.__code__)
    for folder in ("engine", "kernel", "widgets"):
        assert not is_user_code(compile("1", str(Path(hookscope.__file__).parent / folder / "module.py"), "exec"))
    assert not is_user_code(compile("1", "<generated>", "eval"))
    assert is_user_code(compile("1", str(Path("/tmp/ipykernel_7/123.py")), "exec"))


def test_a_line_at_a_prompt_is_the_users_once_its_text_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "found = nearest_user_frame(sys._getframe())"
    code = compile(text, "<prompt 1>", "exec")
    names: dict[str, Any] = {"nearest_user_frame": nearest_user_frame, "sys": sys}
    exec(code, names)
    assert names["found"] is sys._getframe()
    monkeypatch.setitem(linecache.cache, "<prompt 1>", (len(text), None, [text], "<prompt 1>"))
    exec(code, names)
    assert names["found"].f_code is code


def test_generated_code_is_not_the_users_also_where_the_text_of_python_c_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As Python 3.13 leaves it for `python -c`, which is how pytest-xdist starts its workers.
    text = "import example"
    monkeypatch.setitem(linecache.cache, "<string>", (len(text), None, [text], "<string>"))

    @dataclass
    class Point:
        x: int

    def make() -> int:
        point = Point(1)
        return point.x

    assert stops_of(make, commands=["into"] * 5) == (1, ["make+1", "make+2"])


def test_user_frame_is_the_innermost_user_frame_of_an_error() -> None:
    import json

    def parse() -> None:
        json.loads("{")

    try:
        parse()
    except ValueError as error:
        stop = user_frame(error)
    assert stop is not None
    assert (stop.frame.f_code.co_name, stop.line) == ("parse", parse.__code__.co_firstlineno + 1)
