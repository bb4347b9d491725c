"""JupyterLab's variable panel: tensors, parameters and cells by their figures, in any state of the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
import pytest
from kernel_driver import Kernel

from hookscope.engine import Parameter, Tensor, nn
from hookscope.kernel import variables

Json = dict[str, Any]

SETUP = """
import numpy as np
from hookscope.engine import Parameter, Tensor, nn
from hookscope.kernel import pause
x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
w = Parameter(x, name="<b>w</b>", requires_grad=False)
net = nn.Dense(3, 4)
number = 41
array = np.arange(3)
"""
SENT = count(1)


def ask(kernel: Kernel, command: str, **arguments: Any) -> Json:
    """Send a debug_request; return its reply's content."""
    content = {"seq": next(SENT), "type": "request", "command": command, "arguments": arguments}
    reply: Json = kernel.control_reply(kernel.send("debug_request", content, control=True))["content"]
    return reply


def table(reply: Json) -> dict[str, str]:
    return {row["name"]: row["value"] for row in reply["body"]["variables"]}


def rich(kernel: Kernel, name: str, **more: Any) -> Json:
    reply = ask(kernel, "richInspectVariables", variableName=name, **more)
    assert reply["success"]
    data: Json = reply["body"]["data"]
    return data


@pytest.fixture(scope="module")
def with_variables(shared_kernel: Kernel) -> Kernel:
    assert shared_kernel.run(SETUP).status == "ok"
    return shared_kernel


def check(kernel: Kernel) -> None:
    values = table(ask(kernel, "inspectVariables"))
    assert values["x"] == "Float32 (3, 4), min 0, max 11, mean 5.5, std 3.4521, norm 22.494"
    assert values["w"].startswith("<b>w</b>: Float32 (3, 4), requires_grad=False, min 0")
    assert values["net"] == "2 parameters with 16 elements, predicting"
    assert values["number"] == "41"
    assert values["array"] == "array([0, 1, 2])"
    forms = rich(kernel, "x")
    assert "mean      5.5" in forms["text/plain"]
    assert "<td>(3, 4)</td>" in forms["text/html"]
    forms = rich(kernel, "w")
    assert "&lt;b&gt;w&lt;/b&gt;" in forms["text/html"] and "<b>" not in forms["text/html"]
    forms = rich(kernel, "net")
    assert "<td>weight</td>" in forms["text/html"] and "Dense(" in forms["text/plain"]
    assert rich(kernel, "number") == {"text/plain": "41"}
    assert rich(kernel, "array") == {"text/plain": "array([0, 1, 2])"}


def test_the_panel_shows_figures_while_the_kernel_is_free(kernel: Kernel, with_variables: Kernel) -> None:
    check(kernel)


def test_the_panel_shows_figures_while_a_cell_is_paused(kernel: Kernel, with_variables: Kernel) -> None:
    cell = kernel.execute("print('paused'); go = False; pause(lambda: go)")
    kernel.wait_for_text("paused", cell)
    check(kernel)
    kernel.interrupt("message")
    assert kernel.result(cell).error_names == ["KeyboardInterrupt"]


def test_the_panel_shows_figures_while_a_cell_is_busy(kernel: Kernel, with_variables: Kernel) -> None:
    cell = kernel.execute("print('busy', flush=True)\nwhile True: pass")
    kernel.wait_for_text("busy", cell)
    check(kernel)
    kernel.interrupt("message")
    assert kernel.result(cell).error_names == ["KeyboardInterrupt"]


@pytest.mark.parametrize("name", ["no_such_name", "x.shape", "x; boom()", "special variables"])
def test_names_that_are_no_variables_show_nothing(kernel: Kernel, with_variables: Kernel, name: str) -> None:
    assert ask(kernel, "richInspectVariables", variableName=name)["body"]["data"] == {}


@pytest.fixture
def stopped() -> Iterator[tuple[Kernel, int]]:
    """Yield a kernel of its own that is stopped at a breakpoint of the debugger, and the frame's number."""
    with Kernel() as kernel:
        kernel.run(SETUP)
        code = "def inner(local, plain):\n    half = local * 0.5\n    return half\n\nresult = inner(x, 7)"
        ask(kernel, "initialize", clientID="test", adapterID="", linesStartAt1=True, columnsStartAt1=True)
        ask(kernel, "attach")
        path = ask(kernel, "dumpCell", code=code)["body"]["sourcePath"]
        ask(kernel, "setBreakpoints", breakpoints=[{"line": 3}], source={"path": path}, sourceModified=False)
        ask(kernel, "configurationDone")
        cell = kernel.execute(code)

        def stop() -> Json | None:
            events = [m["content"] for m in kernel.iopub if m["msg_type"] == "debug_event"]
            return next((event for event in events if event["event"] == "stopped"), None)

        thread = kernel.until(stop, "the stop")["body"]["threadId"]
        yield kernel, ask(kernel, "stackTrace", threadId=thread)["body"]["stackFrames"][0]["id"]
        ask(kernel, "continue", threadId=thread)
        assert kernel.result(cell).status == "ok"
        ask(kernel, "disconnect", restart=False, terminateDebuggee=False)
        assert table(ask(kernel, "inspectVariables"))["result"].startswith("Float32 (3, 4), min 0, max 5.5")


def test_the_panel_shows_figures_at_a_breakpoint_of_the_debugger(stopped: tuple[Kernel, int]) -> None:
    kernel, frame = stopped
    scopes = ask(kernel, "scopes", frameId=frame)["body"]["scopes"]
    values = table(ask(kernel, "variables", variablesReference=scopes[0]["variablesReference"]))
    assert values["half"] == "Float32 (3, 4), min 0, max 5.5, mean 2.75, std 1.726, norm 11.247"
    assert values["plain"] == "7"
    forms = rich(kernel, "half", frameId=frame)
    assert "mean      2.75" in forms["text/plain"] and "<table>" in forms["text/html"]
    assert rich(kernel, "plain", frameId=frame) == {"text/plain": "7"}


# Texts of a line and a form, without a kernel


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (Tensor(np.float32(0.25)), "Float32 (), 0.25"),
        (Tensor(np.array([1, 2], np.int32)), "Int32 (2,), [1, 2]"),
        (Tensor(np.array([True, False])), "Bool (2,), [True, False]"),
        (Tensor(np.zeros((0, 3), np.float32)), "Float32 (0, 3)"),
        (Tensor(np.full(8, np.nan, np.float32)), "Float32 (8,), min nan, max nan, mean nan, std nan, norm nan, NaN 8"),
        (
            Tensor(np.array([1] * 7 + [np.inf], np.float16)),
            "Float16 (8,), min 1, max 1, mean 1, std 0, norm 2.6458, inf 1",
        ),
        (Parameter(np.ones(2, np.float32), name="w"), "w: Float32 (2,), [1.0, 1.0]"),
        (nn.ReLU(), "0 parameters with 0 elements, predicting"),
    ],
)
def test_a_line_says_dtype_shape_and_figures(value: object, line: str) -> None:
    assert variables.is_known(type(value))
    assert variables.line(value) == line


def test_large_tensors_have_no_figures() -> None:
    class Refusing(Tensor):
        def asnumpy(self) -> np.ndarray[Any, Any]:
            raise AssertionError("looked at")

    large = Refusing(np.broadcast_to(np.float32(1), (variables.LINE_ELEMENTS + 1,)))
    assert variables.line(large) == f"Float32 ({variables.LINE_ELEMENTS + 1},)"
    huge = Refusing(np.zeros(1, np.float32))
    huge._array = np.broadcast_to(np.float32(1), (1000, 10_001))
    forms = variables.forms(huge)
    assert "left out: more than 10,000,000 elements" in forms["text/plain"]
    assert "mean" not in forms["text/html"]


def test_other_values_are_left_to_ipykernel() -> None:
    assert not variables.is_known(int) and not variables.is_known(np.ndarray)
    assert variables.forms(3) == {} and variables.forms(Tensor) == {}


def test_a_value_that_raises_is_named_instead() -> None:
    class Broken(nn.Cell):
        def parameters_and_names(self, *_: object, **__: object) -> Any:
            raise RuntimeError("<script>")

    assert variables.line(Broken()) == "<Broken that cannot be described: RuntimeError>"
    assert variables.forms(Broken()) == {"text/plain": "<Broken that cannot be described: RuntimeError>"}


def test_a_cell_of_many_parameters_lists_the_first() -> None:
    net = nn.CellList([nn.Dense(1, 1, has_bias=False) for _ in range(variables.MAX_ROWS + 1)])
    forms = variables.forms(net)
    assert f"; the first {variables.MAX_ROWS} are shown" in forms["text/html"]
    assert f"\n{variables.MAX_ROWS}.weight" not in forms["text/plain"]
    assert f"\n{variables.MAX_ROWS - 1}.weight" in forms["text/plain"]
