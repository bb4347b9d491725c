"""Stepping through Python's generators, decorators, exceptions and threads; the same on every version."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from scripted_steps import position_of, run_stepped, stops_of

from hookscope.engine.debug.stop.pause import DebugAbort
from hookscope.engine.debug.stop.stepping.stepper import Stop


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    before = sys.gettrace()
    yield
    assert sys.gettrace() is before
    if sys.version_info >= (3, 12):
        assert "hookscope" not in [sys.monitoring.get_tool(tool) for tool in range(6)]


def receives_lines() -> bool:
    """Return whether a stepper receives this thread's lines now."""
    if sys.version_info >= (3, 12):
        tools = [tool for tool in range(6) if sys.monitoring.get_tool(tool) == "hookscope"]
        return any(sys.monitoring.get_events(tool) for tool in tools)
    return sys.gettrace() is not None


def double(x: int) -> int:
    return 2 * x


def fails(x: int) -> int:
    raise KeyError(x)


# Generators


def numbers() -> Iterator[int]:
    yield 1
    yield 2


def test_over_at_a_yield_goes_to_the_function_that_takes_the_value() -> None:
    def take() -> int:
        total = 0
        for n in numbers():
            total += n
        return total

    result, stops = stops_of(take, commands=["over", "into", "over", "over", "over", "over", "over"])
    assert result == 3
    assert stops == ["take+1", "take+2", "numbers+1", "take+3", "take+2", "take+3", "take+2", "take+4"]


def test_into_enters_a_generator_again_after_each_yield_and_out_leaves_it() -> None:
    def take() -> int:
        total = 0
        for n in numbers():
            total += n
        return total

    _, stops = stops_of(take, commands=["over", "into", "over", "over", "into", "out", "continue"])
    assert stops == ["take+1", "take+2", "numbers+1", "take+3", "take+2", "numbers+2", "take+3"]


def test_into_enters_a_generator_that_was_under_way_before_the_stepping_began() -> None:
    source = numbers()
    assert next(source) == 1

    def take() -> int:
        n = next(source)
        return n

    assert stops_of(take, commands=["into", "over", "over"]) == (2, ["take+1", "numbers+2", "take+2"])


def test_a_generator_that_is_left_suspended_runs_on_unwatched() -> None:
    source = numbers()

    def take() -> int:
        n = next(source)
        return n

    assert stops_of(take, commands=["into", "over"]) == (1, ["take+1", "numbers+1", "take+2"])
    log: list[str] = []

    def tracer(frame: Any, event: str, arg: Any) -> None:  # it requests no lines, so that the frame stays as it is
        log.append(f"{frame.f_code.co_name} {event}")

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        assert next(source) == 2
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
    assert "numbers call" in log


def test_yield_from_and_generator_expressions_are_stepped() -> None:
    def all_of() -> Iterator[int]:
        yield from numbers()

    def take() -> int:
        total = sum(double(n) for n in all_of())
        return total

    result, stops = stops_of(take, commands=["into", "into", "into", "over", "out", "out", "over", "over"])
    assert result == 6
    assert stops[:3] == ["take+1", "<genexpr>+0", "all_of+1"]
    assert stops[-1] == "take+2"


# Comprehensions, lambdas, nested functions, recursion


@pytest.mark.parametrize(
    "comprehend",
    [
        lambda values: [double(v) for v in values],
        lambda values: list({double(v) for v in values}),
        lambda values: list({double(v): v for v in values}),
    ],
)
def test_a_comprehension_is_a_part_of_its_line(comprehend: Callable[[list[int]], list[int]]) -> None:
    def body() -> list[int]:
        doubled = comprehend([1, 2])
        return doubled

    assert stops_of(body, commands=["over", "over"]) == ([2, 4], ["body+1", "body+2"])
    _, stops = stops_of(body, commands=["into", "into", "into", "out"])
    assert stops == ["body+1", "<lambda>+0", "double+1", "double+1", "body+2"]


def test_lambdas_and_nested_functions_with_cells_are_stepped_and_edited() -> None:
    def outer() -> int:
        scale = 3

        def inner(x: int) -> int:
            y = x * scale
            return y

        add = lambda x: x + scale  # noqa: E731  # it is what is tested
        return add(inner(2))

    def answer(stop: Stop) -> str:
        log.append(position_of(stop))
        if log[-1] == "inner+1":
            assert stop.locals() == {"x": 2, "scale": 3}
            stop.assign("scale", 10)
        return "into"

    log: list[str] = []
    assert run_stepped(answer, outer) == 30
    assert log == ["outer+1", "outer+3", "outer+7", "outer+8", "inner+1", "inner+2", "<lambda>+0"]


def test_into_follows_recursion_and_out_leaves_one_call_of_it() -> None:
    def down(n: int) -> int:
        if n == 0:
            return 0
        below = down(n - 1)
        return below + 1

    result, stops = stops_of(down, 2, commands=["over", "into", "over", "into", "out", "out", "over"])
    assert result == 2
    assert stops == ["down+1", "down+3", "down+1", "down+3", "down+1", "down+4", "down+4"]


# try, finally, with


def test_finally_runs_line_by_line_also_when_an_exception_leaves() -> None:
    def guarded(log: list[str]) -> None:
        try:
            fails(1)
        finally:
            log.append("cleaned")

    log: list[str] = []
    seen: list[str] = []

    def answer(stop: Stop) -> str:
        seen.append(position_of(stop))
        return "over"

    with pytest.raises(KeyError):
        run_stepped(answer, guarded, log)
    assert log == ["cleaned"]
    assert seen == ["guarded+1", "guarded+2", "fails+1 KeyError", "guarded+4"]


def test_with_blocks_enter_their_managers_only_by_into() -> None:
    @contextlib.contextmanager
    def managed() -> Iterator[int]:
        yield 5

    def body() -> int:
        with managed() as value:
            result = value + 1
        return result

    result, over = stops_of(body, commands=["over"] * 9)
    assert result == 6
    assert [item for item in over if item != "body+1"] == ["body+2", "body+3"]
    _, into = stops_of(body, commands=["into", "out", "continue"])
    assert into == ["body+1", "managed+2", "body+2"]


@pytest.mark.parametrize("block", ["finally", "except", "with"])
def test_an_abort_in_a_block_that_cleans_up_ends_the_run(block: str) -> None:
    def in_finally(log: list[str]) -> None:
        try:
            log.append("tried")
        finally:
            log.append("cleaning")
            log.append("cleaned")

    def in_except(log: list[str]) -> None:
        try:
            fails(1)
        except KeyError:
            log.append("cleaning")
            log.append("cleaned")

    def in_with(log: list[str]) -> None:
        with contextlib.suppress(Exception):
            log.append("cleaning")
            log.append("cleaned")
        log.append("went on")

    functions = {"finally": in_finally, "except": in_except, "with": in_with}
    log: list[str] = []

    def answer(stop: Stop) -> str:
        return "abort" if log and log[-1] == "cleaning" else "over"

    with pytest.raises(DebugAbort):
        run_stepped(answer, functions[block], log)
    assert "cleaned" not in log


def test_an_abort_that_a_finally_swallows_by_returning_still_ends_the_run() -> None:
    def stubborn() -> str:
        try:
            double(1)
        finally:
            return "went on"  # noqa: B012  # it is what is tested

    with pytest.raises(DebugAbort):
        stops_of(stubborn, commands=["over", "abort"])


# Exceptions


def test_a_caught_exception_is_shown_once_where_it_rises_with_the_variables_there() -> None:
    def inner(x: int) -> int:
        y = x + 1
        return fails(y)

    def body() -> str:
        try:
            inner(1)
        except KeyError:
            return "caught"
        return "missed"

    stops: list[tuple[str, dict[str, object]]] = []

    def answer(stop: Stop) -> str:
        if stop.exception is not None:
            stops.append((position_of(stop), stop.locals()))
        return "over"

    assert run_stepped(answer, body) == "caught"
    assert stops == [("fails+1 KeyError", {"x": 2})]


def test_an_exception_that_a_call_that_is_stepped_over_catches_itself_is_its_own_affair() -> None:
    def copes() -> int:
        try:
            return fails(1)
        except KeyError:
            return 7

    def body() -> int:
        result = copes()
        return result

    assert stops_of(body, commands=["over"] * 5) == (7, ["body+1", "body+2"])
    assert "fails+1 KeyError" in stops_of(body, commands=["into"] * 9)[1]


def test_an_exception_raised_from_another_is_shown_too_and_one_raised_again_is_not() -> None:
    def body() -> str:
        try:
            try:
                fails(1)
            except KeyError as error:
                raise ValueError("bad") from error
        except ValueError:
            try:
                raise
            except ValueError:
                return "caught"

    result, stops = stops_of(body, commands=["over"] * 20)
    assert result == "caught"
    assert [item for item in stops if "Error" in item] == ["fails+1 KeyError", "body+5 ValueError"]


def test_an_exception_of_a_library_is_shown_at_the_line_that_called_it() -> None:
    import json

    def body() -> str:
        try:
            json.loads("{")
        except ValueError:
            return "caught"
        return "missed"

    assert stops_of(body, commands=["over"] * 9) == (
        "caught",
        ["body+1", "body+2", "body+2 JSONDecodeError", "body+3", "body+4"],
    )


def test_the_end_of_an_iteration_is_no_exception_to_show() -> None:
    def body() -> int:
        source = iter([1])
        next(source)
        try:
            next(source)
        except StopIteration:
            return sum(numbers())
        return 0

    result, stops = stops_of(body, commands=["over"] * 20)
    assert result == 3
    assert not [item for item in stops if "StopIteration" in item]


def test_an_abort_at_an_exception_ends_the_run_also_where_the_exception_would_be_caught() -> None:
    def body() -> str:
        try:
            fails(1)
        except Exception:  # users may write this
            return "went on"
        return "missed"

    def answer(stop: Stop) -> str:
        return "over" if stop.exception is None else "abort"

    with pytest.raises(DebugAbort):
        run_stepped(answer, body)


# Decorators


def announced(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        before = 1
        result = function(*args)
        return result + before

    return wrapper


def plainly(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*args: Any) -> Any:
        result = function(*args)
        return result

    return wrapper


def test_a_decorator_that_names_its_function_is_stepped_only_after_it() -> None:
    @announced
    def body(x: int) -> int:
        y = double(x)
        return y

    result, stops = stops_of(body, 1, commands=["over"] * 9)
    assert result == 3
    assert stops == ["body+2", "body+3", "wrapper+4"]


def test_a_decorator_that_hides_its_function_is_stepped_first_and_into_enters_the_function() -> None:
    @plainly
    def body(x: int) -> int:
        y = double(x)
        return y

    assert stops_of(body, 1, commands=["into", "over", "over", "over"]) == (
        2,
        ["wrapper+1", "body+2", "body+3", "wrapper+2"],
    )


# State left behind


def test_after_continue_nothing_is_traced_any_more() -> None:
    states: list[bool] = []

    def body() -> None:
        states.append(receives_lines())
        states.append(receives_lines())

    stops_of(body, commands=["over", "continue"])
    assert states == [True, False]


def test_a_tracer_of_somebody_else_is_as_it_was_and_hears_of_what_runs_after_continue() -> None:
    log: list[str] = []

    def tracer(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename == __file__:
            log.append(f"{frame.f_code.co_name} {event}")
        return tracer

    def later() -> None:
        pass

    def body() -> None:
        double(1)
        later()

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        _, stops = stops_of(body, commands=["over", "continue"])
        assert sys.gettrace() is tracer
        double(2)
    finally:
        sys.settrace(before)
    assert stops == ["body+1", "body+2"]
    assert "later call" in log
    assert "double call" in log


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.11 has no sys.monitoring")
def test_other_tools_of_sys_monitoring_keep_their_events() -> None:
    monitoring = sys.monitoring
    log: list[int] = []
    monitoring.use_tool_id(2, "another")
    try:
        monitoring.register_callback(2, monitoring.events.LINE, lambda code, line: log.append(line))
        monitoring.set_local_events(2, double.__code__, monitoring.events.LINE)
        _, stops = stops_of(double, 1, commands=["over"])
        double(2)
        assert monitoring.get_tool(2) == "another"
        assert monitoring.get_local_events(2, double.__code__) == monitoring.events.LINE
    finally:
        monitoring.set_local_events(2, double.__code__, 0)
        monitoring.register_callback(2, monitoring.events.LINE, None)
        monitoring.free_tool_id(2)
    assert stops == ["double+1"] and len(log) == 2


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.11 has no sys.monitoring")
def test_where_other_tools_hold_every_free_id_one_line_says_so_and_nothing_is_left_behind() -> None:
    monitoring = sys.monitoring
    for tool in (3, 4):
        monitoring.use_tool_id(tool, "another")
    try:
        with pytest.raises(RuntimeError, match="stepping needs one of sys.monitoring's tool ids 3 and 4"):
            stops_of(double, 1, commands=[])
    finally:
        for tool in (3, 4):
            monitoring.free_tool_id(tool)
    assert stops_of(double, 1, commands=[]) == (2, ["double+1"])


# Threads


def test_each_thread_steps_by_itself_and_one_may_wait_for_another() -> None:
    seen: dict[str, list[str]] = {}

    def child() -> None:
        _, seen["child"] = stops_of(double, 1, commands=["over"])

    def body() -> int:
        thread = threading.Thread(target=child)
        thread.start()
        thread.join(120)
        return double(1)

    result, seen["parent"] = stops_of(body, commands=["over"] * 9)
    assert result == 2
    assert seen == {"child": ["double+1"], "parent": ["body+1", "body+2", "body+3", "body+4"]}


def test_threads_that_step_one_function_at_the_same_time_all_stop() -> None:
    together = threading.Barrier(4, timeout=120)
    seen: dict[int, list[str]] = {}

    def body(number: int) -> int:
        a = double(number)
        together.wait()
        return a + 1

    def work(number: int) -> None:
        result, seen[number] = stops_of(body, number, commands=["over"] * 9)
        assert result == 2 * number + 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert seen == {number: ["body+1", "body+2", "body+3"] for number in range(4)}
