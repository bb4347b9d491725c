"""Variables set at a stop in a function: every confirmed edit reaches the run, refused ones change nothing.

Python 3.11 to 3.13 behave alike, though they store a frame's variables in three ways (PEP 667, PEP 709).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from debug_networks import Script, scripted, tensor
from scripted_steps import run_stepped

import hookscope.engine as ms
from hookscope.engine import grad, nn, ops
from hookscope.engine.debug import DebugAbort, DebugSession
from hookscope.engine.debug.stop.stepping.stepper import Stop

Look = Callable[[DebugSession], None]


class Products(nn.Cell):
    """a * b * s, with a custom bprop: one gradient a variable, all returned in one line."""

    def construct(self, a: Any, b: Any, s: Any) -> Any:
        return a * b * s

    def bprop(self, a: Any, b: Any, s: Any, out: Any, dout: Any) -> Any:
        da = b * s * dout
        db = a * s * dout
        ds = a * b * dout
        return da, db, ds


INPUTS = (tensor(2.0), tensor(3.0), tensor(5.0))


def slopes(net: nn.Cell, *looks: Look | str, inputs: Any = INPUTS) -> list[float]:
    """Return the gradients of a run whose stops are inspected, or answered by a command, in this order."""
    script = Script()
    session = DebugSession(net, pauser=script, step=True)
    left = list(looks)

    def wait(until: Callable[[], bool]) -> None:
        while left:
            look = left.pop(0)
            if isinstance(look, str):
                session.resume(look)
                return
            look(session)
        session.resume("continue")

    script.wait = wait  # type: ignore[method-assign]
    with session:
        gradients = grad(net, tuple(range(len(inputs))))(*inputs)
    assert not left, "the run had fewer stops"
    return [float(item.asnumpy()[0]) for item in (gradients if isinstance(gradients, tuple) else (gradients,))]


def set_to(name: str, expression: str) -> Look:
    def look(session: DebugSession) -> None:
        session.edit(name, expression)

    return look


def sets(*pairs: tuple[str, Any]) -> Look:
    def look(session: DebugSession) -> None:
        for name, value in pairs:
            session.assign(name, value)

    return look


def evaluates(expression: str) -> Look:
    def look(session: DebugSession) -> None:
        session.evaluate(expression)

    return look


def refuses(name: str, text: str, value: Any = 1.0) -> Look:
    def look(session: DebugSession) -> None:
        point = session.paused
        assert point is not None
        before, changed = dict(point.locals), set(point.changed)
        with pytest.raises((NameError, TypeError, IndexError, KeyError, RuntimeError, ValueError)) as caught:
            session.assign(name, value)
        assert text in str(caught.value) and "\n" not in str(caught.value)
        assert point.locals == before and point.changed == changed

    return look


THERE = ["over", "over", "over"]


def test_each_of_several_edits_at_one_stop_reaches_the_run() -> None:
    edits = [set_to("db", "db * 0 + 5"), set_to("da", "da * 0 + 4"), set_to("ds", "ds * 0 + 3")]
    assert slopes(Products(), *THERE, *edits) == [4.0, 5.0, 3.0]


def test_an_edit_is_seen_by_the_edits_and_evaluations_after_it() -> None:
    def look(session: DebugSession) -> None:
        session.edit("da", "da * 0 + 1")
        for _ in range(3):
            session.edit("da", "da * 2")
            session.edit("db", "da + db * 0")
        assert float(session.evaluate("da.sum() + db.sum()")) == 16.0  # type: ignore[arg-type]
        session.assign("ds", session.evaluate("ds * 0 + 7"))

    assert slopes(Products(), *THERE, look) == [8.0, 8.0, 7.0]


def test_edits_before_and_after_steps_are_all_kept() -> None:
    looks = [
        "over",
        set_to("da", "da * 0 + 1"),
        set_to("s", "s * 0 + 10"),
        "over",
        set_to("db", "db + 1"),
        "over",
        set_to("da", "da + 2"),
        set_to("db", "db * 2"),
    ]
    assert slopes(Products(), *looks) == [3.0, 2 * (2 * 10 + 1.0), 6.0]


def test_a_variable_that_the_function_has_not_made_yet_can_be_set_and_one_that_it_deleted_too() -> None:
    class Careless(Products):
        def bprop(self, a: Any, b: Any, s: Any, out: Any, dout: Any) -> Any:
            da = b * s * dout
            del da
            if float(dout.sum()) > 100:
                late = a
            return da, late, s  # noqa: F821  # only the person at the pause makes them

    looks = ["over", "over", set_to("late", "a * 0 + 8"), set_to("da", "a * 0 + 9"), "over", set_to("late", "late + 1")]
    assert slopes(Careless(), *looks) == [9.0, 9.0, 5.0]


def test_a_loop_variable_is_set_for_the_turn_that_it_stands_in() -> None:
    class Loops(Products):
        def bprop(self, a: Any, b: Any, s: Any, out: Any, dout: Any) -> Any:
            total = a * 0
            for item in (a, b, s):
                total = total + item
            return total, item, s

    last = ["over"] * 2 + [set_to("item", "item * 100"), "over", "over", "over", "over", set_to("item", "item * 1000")]
    assert slopes(Loops(), *last) == [200.0 + 3 + 5000, 5000.0, 5.0]


def test_variables_that_inner_functions_share_are_set_on_either_side() -> None:
    class Shares(Products):
        def bprop(self, a: Any, b: Any, s: Any, out: Any, dout: Any) -> Any:
            factor = a * 0 + 1
            count = a * 0

            def scaled(value: Any) -> Any:
                nonlocal count
                count = count + factor
                return value * factor

            da = scaled(a)
            db = scaled(b)
            return da, db, count

    assert slopes(Shares()) == [2.0, 3.0, 2.0]
    outside = ["over"] * 3 + [set_to("factor", "factor * 10"), set_to("count", "count + 100"), "over", "over"]
    assert slopes(Shares(), *outside, set_to("da", "da + count")) == [20.0 + 120, 30.0, 120.0]
    inside = ["over"] * 3 + ["into", set_to("factor", "factor * 10"), set_to("value", "value + 1"), "over"]
    assert slopes(Shares(), *inside, set_to("count", "count + 1000"), "out", set_to("count", "count + 1")) == [
        30.0,
        30.0,
        10 + 1000 + 1 + 10.0,
    ]


def test_what_an_evaluated_function_does_to_a_shared_variable_stays_done() -> None:
    class Shares(Products):
        def bprop(self, a: Any, b: Any, s: Any, out: Any, dout: Any) -> Any:
            count = a * 0

            def add(value: Any) -> Any:
                nonlocal count
                count = count + value
                return count

            da = add(b)
            return da, count, s

    looks = ["over", "over", evaluates("add(b)"), set_to("a", "a"), evaluates("add(b)")]
    assert slopes(Shares(), *looks) == [9.0, 9.0, 5.0]
    values: list[float] = []
    steps = [*looks, lambda s: values.append(float(s.evaluate("count.sum()"))), set_to("count", "count + 1")]
    assert slopes(Shares(), *steps) == [10.0, 10.0, 5.0]
    assert values == [6.0]


def test_what_happens_to_a_shared_variable_during_a_stop_stays_done() -> None:
    def function() -> int:
        count = 1

        def add() -> None:
            nonlocal count
            count += 10

        add()
        return count

    def answer(stop: Stop) -> str:
        add: Any = stop.locals().get("add")
        if add is not None:
            add()
        return "over"

    # At the two lines that come after ``add``, and by the function itself.
    assert run_stepped(answer, function) == 31


def test_one_item_of_a_tuple_or_a_list_is_set_as_python_would() -> None:
    class Items(Products):
        def bprop(self, a: Any, b: Any, s: Any, out: Any, dout: Any) -> Any:
            pair = (a, b)
            rest = [s, {"by": s}]
            same = rest
            return pair[0], pair[1], same[0]

    looks = ["over"] * 3 + [set_to("pair[1]", "pair[0] * 50"), set_to("rest[0]", "rest[0] + 1"), set_to("pair[0]", "s")]
    assert slopes(Items(), *looks) == [5.0, 100.0, 6.0]
    refused = [
        refuses("pair[2]", "pair has 2 elements, and none at index 2"),
        refuses("a[0]", "a has no elements by index: it is a Tensor"),
        refuses(
            "late[0]", "'late' is not a local variable of bprop; it has self, a, b, s, out, dout, pair, rest, same"
        ),
    ]
    assert slopes(Items(), *["over"] * 3, *refused) == [2.0, 3.0, 5.0]
    assert slopes(Items(), "over", refuses("rest[0]", "'rest' has no value yet")) == [2.0, 3.0, 5.0]


def test_a_name_that_the_function_does_not_have_is_refused_in_one_sentence() -> None:
    looks = [
        refuses("dz", "'dz' is not a local variable of bprop; it has self, a, b, s, out, dout, da, db, ds"),
        refuses("a b", "'a b' is not a local variable"),
        refuses("", "'' is not a local variable"),
        refuses("__builtins__", "is not a local variable"),
    ]
    assert slopes(Products(), *looks, *THERE, *looks) == [15.0, 10.0, 6.0]


number = 1.0


def test_the_variable_of_a_comprehension_is_never_mistaken_for_one_of_the_function_around() -> None:
    shared = 1.0

    class Comprehends(Products):
        def bprop(self, a: Any, b: Any, s: Any, out: Any, dout: Any) -> Any:
            doubled = [number * 2 for number in (a, b)]
            tripled = [shared * 3 for shared in (a, b)]
            return doubled[0] * number, tripled[0] * shared, s

    for name in ("number", "shared"):
        outcomes: list[str] = []

        def look(session: DebugSession, name: str = name, results: list[str] = outcomes) -> None:
            try:
                session.assign(name, 10.0)
            except NameError as error:
                results.append(str(error))

        actual = slopes(Comprehends(), "over", "over", look)
        # Set, and the run uses it; or refused, and nothing changes.
        if outcomes:
            assert actual == [4.0, 6.0, 5.0]
            assert outcomes[0].startswith(f"'{name}' ") and "\n" not in outcomes[0]
        else:
            assert name == "shared" and actual == [4.0, 60.0, 5.0] and shared == 10.0
    assert number == 1.0


def test_generators_and_class_bodies_are_set_where_they_are_stepped() -> None:
    class Makes(Products):
        def bprop(self, a: Any, b: Any, s: Any, out: Any, dout: Any) -> Any:
            def each() -> Any:
                mine = a
                yield mine
                yield mine

            class Kept:
                value = b
                other = value

            first, second = each()
            return first, second, Kept.other

    def look(session: DebugSession) -> None:
        point = session.paused
        assert point is not None
        line = point.lines[point.line - point.first_line].strip()
        if line == "yield mine":
            session.edit("mine", "mine * 10")
        elif line == "other = value":
            session.edit("value", "value * 10")
            session.edit("fresh", "value + 1")
            assert float(session.evaluate("fresh.sum()")) == 31.0  # type: ignore[arg-type]

    net = Makes()
    session, _ = scripted(net, ["into"] * 30, look, step=True)
    with session:
        assert [float(item.asnumpy()[0]) for item in grad(net, (0, 1, 2))(*INPUTS)] == [20.0, 200.0, 30.0]


def test_an_edit_after_an_operator_counts_from_the_next_look_at_the_variable_on() -> None:
    class Mixes(Products):
        def bprop(self, a: Any, b: Any, s: Any, out: Any, dout: Any) -> Any:
            return a * b + s * b, b, s

    looks = ["operator", "operator", set_to("s", "s * 2"), set_to("b", "b * 10")]
    session_sees = slopes(Mixes(), "operator", set_to("s", "s * 2"), set_to("b", "b * 10"))
    assert session_sees == [6.0 + 10 * 30, 30.0, 10.0]
    assert slopes(Mixes(), *looks) == [6.0 + 15.0, 30.0, 10.0]


def test_two_sessions_at_one_line_both_edit_it() -> None:
    net = Products()
    first, _ = scripted(net, ["over"] * 3, lambda s: set_at_return(s, "da", 1.0), step=True)
    then, _ = scripted(net, ["over"] * 3, lambda s: set_at_return(s, "db", 2.0), step=True)
    with first, then:
        gradients = grad(net, (0, 1, 2))(*INPUTS)
    assert [float(result.asnumpy()[0]) for result in gradients] == [1.0, 2.0, 6.0]


def set_at_return(session: DebugSession, name: str, value: float) -> None:
    point = session.paused
    assert point is not None
    if point.lines[point.line - point.first_line].strip().startswith("return"):
        session.assign(name, tensor(value))


def test_where_an_exception_rose_nothing_can_be_set() -> None:
    class Broken(Products):
        def bprop(self, a: Any, b: Any, s: Any, out: Any, dout: Any) -> Any:
            missing = a / "no number"
            return missing, b, s

    with pytest.raises(TypeError):
        slopes(Broken(), "over", refuses("a", "nothing can be set here: the line has raised TypeError"))


# Functions that pause by themselves


def test_a_function_that_pauses_goes_on_with_what_was_set() -> None:
    def look(session: DebugSession) -> None:
        session.edit("x", "x + 1")
        session.edit("y", "x * 2")
        session.edit("x", "x * 10")

    session, _ = scripted(None, (), look)

    def work(x: float) -> tuple[float, float]:
        y = 0.0
        session.pause()
        return x, y

    assert work(1.0) == (20.0, 4.0)


def test_at_the_top_of_a_module_variables_are_set_and_made() -> None:
    session, _ = scripted(None, (), sets(("x", 5), ("fresh", 6), ("x", 7)))
    names: dict[str, Any] = {"session": session}
    exec(compile("x = 1\nsession.pause()\ny = x + fresh", "notebook.py", "exec"), names)
    assert (names["x"], names["y"], names["fresh"]) == (7, 13, 6)

    def look(session: DebugSession) -> None:
        for name in ("3x", "", "if", "a.b"):
            with pytest.raises(NameError, match="is not a name that can be set"):
                session.assign(name, 1)

    session, _ = scripted(None, (), look)
    names = {"session": session}
    exec(compile("session.pause()", "notebook.py", "exec"), names)
    assert set(names) == {"session", "__builtins__"}


def test_inside_a_comprehension_at_the_top_of_a_module_a_name_is_set_or_refused() -> None:
    refused: list[str] = []

    def look(session: DebugSession) -> None:
        try:
            session.assign("x", 5)
        except NameError as error:
            refused.append(str(error))

    for namespaces in ((), ({"own": 1},)):
        session, _ = scripted(None, (), look)
        names: dict[str, Any] = {"session": session, "x": 1}
        text = "x = 1\nfound = [(session.pause(), x)[1] for turn in range(1)]\ny = x"
        exec(compile(text, "notebook.py", "exec"), names, *namespaces)
        names |= dict(*namespaces)
        assert (names["found"], names["y"], bool(refused)) in (([5], 5, False), ([1], 1, True))
        refused.clear()


# Abort


def aborted(work: Callable[[], Any], session: DebugSession) -> None:
    with pytest.raises(DebugAbort), session:
        work()


def test_abort_undoes_what_was_set_and_outlives_the_function() -> None:
    count, kept = 1.0, [1.0, 2.0]

    def work() -> float:
        nonlocal count
        mine = kept
        count += 1
        session.pause()
        return count + sum(mine)

    def look(session: DebugSession) -> None:
        session.assign("count", 50.0)
        session.assign("mine[0]", 70.0)
        session.assign("count", 60.0)
        session.assign("mine[0]", 80.0)
        assert (count, kept) == (60.0, [80.0, 2.0])

    session, _ = scripted(None, ["abort"], look)
    aborted(work, session)
    assert (count, kept) == (2.0, [1.0, 2.0])
    session, _ = scripted(None, (), look)
    with session:
        assert work() == 60.0 + 82.0
    assert (count, kept) == (60.0, [80.0, 2.0])


def test_abort_undoes_what_was_set_and_made_at_the_top_of_a_module() -> None:
    session, _ = scripted(None, ["abort"], sets(("x", 5), ("fresh", 6)))
    names: dict[str, Any] = {"session": session}
    aborted(lambda: exec(compile("x = 1\nsession.pause()", "notebook.py", "exec"), names), session)
    assert names["x"] == 1 and "fresh" not in names


def test_abort_undoes_an_edit_of_a_variable_that_the_next_steps_bprop_reads() -> None:
    factor = tensor(1.0)

    class Factored(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 1.0

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (dout * factor,)

    net = Factored()
    with pytest.raises(DebugAbort):
        slopes(net, set_to("factor", "factor * 7"), "abort", inputs=INPUTS[:1])
    assert slopes(net, inputs=INPUTS[:1]) == [1.0]
    assert slopes(net, set_to("factor", "factor * 7"), inputs=INPUTS[:1]) == [7.0]
    assert float(factor.asnumpy()[0]) == 7.0


# At cells


def test_several_edits_at_one_moment_of_a_cell_count_one_after_the_other() -> None:
    class Two(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 2.0, x * 3.0

    class Root(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.two = Two()

        def construct(self, x: Any) -> Any:
            one, other = self.two(x)
            return one * 1000.0 + other

    def look(session: DebugSession) -> None:
        session.edit("output[1]", "output[0] + 1")
        session.edit("output", "(output[0] * 5, output[1])")
        session.edit("output[0]", "output[0] + output[1]")
        session.assign("output[1]", session.evaluate("output[1] * 2"))

    net = Root()
    session, _ = scripted(net, (), look, breaks=["two"])
    with session:
        assert net(tensor(1.0)).tolist() == [13_000.0 + 6]


def test_an_edit_by_a_figure_of_the_value_is_made_again_where_the_cell_is_run_again() -> None:
    def net_of(hook: bool) -> nn.Cell:
        ms.set_seed(1)
        net = nn.SequentialCell(nn.SequentialCell(nn.Dense(3, 3), nn.Tanh()), nn.Dense(3, 1))
        net[0].recompute()
        if hook:
            net[0][0].register_forward_hook(lambda cell, inputs, output: output * float(ops.norm(output).asnumpy()))
        return net

    x = ms.Tensor([[1.0, 2.0, 3.0]], ms.float32)
    expected = grad(net_of(True))(x).asnumpy()
    session, script = scripted(net_of(False), (), set_to("output", "output * norm"), breaks=["0.0"])
    with session:
        gradient = grad(session.roots[0])(x).asnumpy()
    assert len(script.points) == 1
    assert gradient == pytest.approx(expected, rel=1e-5)
