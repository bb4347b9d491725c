"""Positions of a paused run: lines that the user wrote, called by functions that the user wrote."""

from __future__ import annotations

import linecache
import os
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from debug_networks import Square, scripted, tensor

from hookscope.engine import grad, nn
from hookscope.engine.debug import DebugSession, PausePoint
from hookscope.engine.debug.stop.stepping.user_code import is_user_code


class UsesALayer(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.ReLU()
        self.square = Square()

    def construct(self, x: Any) -> Any:
        return self.square(self.layer(x))


def line_of(point: PausePoint) -> str:
    return str(point.lines[point.line - point.first_line]).strip()


def test_at_a_layer_of_the_engine_the_users_line_that_led_there_is_shown() -> None:
    net = UsesALayer()
    breaks = ["layer:forward_pre", "layer:forward", "layer:backward_pre", "layer:backward"]
    session, script = scripted(net, breaks=breaks)
    with session:
        grad(net)(tensor(2.0))
    assert {point.filename for point in script.points} == {__file__}
    assert [line_of(point) for point in script.points] == ["return self.square(self.layer(x))"] * 2 + [
        "grad(net)(tensor(2.0))"
    ] * 2
    assert script.points[0].place == f"forward_pre of layer, line {script.points[0].line}"
    assert set(script.points[0].locals) == {"cell", "inputs", "keywords"}


def test_at_a_cell_of_the_users_own_too_the_line_that_calls_it_is_shown() -> None:
    net = UsesALayer()
    session, script = scripted(net, breaks=[".:forward_pre", "square:forward_pre", "square"])
    with session:
        net(tensor(2.0))
    assert [(point.function, line_of(point)) for point in script.points] == [
        ("test_at_a_cell_of_the_users_own_too_the_line_that_calls_it_is_shown", "net(tensor(2.0))"),
        ("construct", "return self.square(self.layer(x))"),
        ("construct", "return self.square(self.layer(x))"),
    ]


def test_at_a_cell_the_names_of_the_line_that_calls_it_are_known() -> None:
    results: list[object] = []

    def look(session: DebugSession) -> None:
        results.append((session.evaluate("float(x.sum())"), session.evaluate("float(inputs[0].sum())")))

    session, script = scripted(UsesALayer(), look=look, breaks=["square:forward_pre"])
    with session:
        session.roots[0](tensor(-1.0, 2.0))
    assert results == [(1.0, 2.0)]
    assert "x" not in script.points[0].locals


def test_where_no_code_of_a_person_runs_the_construct_is_shown() -> None:
    session, script = scripted(UsesALayer(), breaks=["square"])
    with session, ThreadPoolExecutor(1) as pool:
        pool.submit(session.roots[0].layer, tensor(2.0)).result()
        pool.submit(session.roots[0].square, tensor(2.0)).result()
    (point,) = script.points
    assert (point.function, point.line) == ("construct", point.first_line)
    assert "return x * x" in point.lines[1]


def test_the_call_that_a_cell_magic_is_made_of_is_no_part_of_the_stack() -> None:
    def typed(name: str, text: str, names: dict[str, Any]) -> None:
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), names)

    class Shell:
        def run_cell_magic(self, body: str) -> None:
            typed("<body>", body, names)

    net = UsesALayer()
    session, script = scripted(net, breaks=["layer"])
    names: dict[str, Any] = {"shell": Shell(), "net": net, "x": tensor(1.0)}
    with session:
        typed("<cell>", "shell.run_cell_magic('y = 1\\nnet(x)')", names)
    stack = script.points[0].stack
    assert stack[-2:] == ["<module>, line 2", script.points[0].stack[-1]] and "construct, line" in stack[-1]
    assert "<module>, line 1" not in stack


def test_a_console_script_is_no_code_of_the_users() -> None:
    name = os.path.join(sysconfig.get_paths()["scripts"], "hookscope")
    assert not is_user_code(compile("main()", name, "exec"))


def test_without_a_line_of_the_users_the_one_outside_hookscope_is_shown() -> None:
    library = os.path.join(sysconfig.get_paths()["purelib"], "library", "train.py")
    net = nn.ReLU()
    session, script = scripted(net, breaks=["ops.relu"])
    names: dict[str, Any] = {"net": net, "x": tensor(1.0)}
    exec(compile("def fit():\n    net(x)", library, "exec"), names)
    with session:
        thread = threading.Thread(target=names["fit"])
        thread.start()
        thread.join()
    assert [(point.filename, point.function, point.line) for point in script.points] == [(library, "fit", 2)]
