"""Stepping a bprop while JupyterLab's own debugger (debugpy) is on, and that debugger afterwards."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from kernel_driver import LINK, Kernel

Json = dict[str, Any]

NETWORK = """
import numpy as np
from mindspore import Tensor, grad, nn

def twice(gradient):
    doubled = gradient * 2.0
    return doubled

class Scale(nn.Cell):
    def construct(self, x):
        return x * 3.0
    def bprop(self, x, out, dout):
        gradient = dout * 3.0
        scaled = twice(gradient)
        return (scaled,)

net, x = Scale(), Tensor(np.ones(1, np.float32))
gradient = grad(net)
"""
LINE_IN_HELPER = NETWORK.splitlines().index("    doubled = gradient * 2.0") + 1
LINE_IN_BPROP = NETWORK.splitlines().index("        scaled = twice(gradient)") + 1


class Debugged:
    """A kernel with debugpy attached, as JupyterLab's bug button does it."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._sent = count(1)
        self.path = ""

    def ask(self, command: str, **arguments: Any) -> Json:
        content = {"seq": next(self._sent), "type": "request", "command": command, "arguments": arguments}
        reply = self.kernel.control_reply(self.kernel.send("debug_request", content, control=True))
        body: Json = reply["content"].get("body") or {}
        assert reply["content"]["success"], reply["content"]
        return body

    def attach(self) -> None:
        self.ask("initialize", clientID="test", adapterID="", linesStartAt1=True, columnsStartAt1=True)
        self.ask("attach")

    def define(self, code: str) -> str:
        """Run a cell that the debugger knows; return the file that it takes it for."""
        self.path = str(self.ask("dumpCell", code=code)["sourcePath"])
        assert self.kernel.run(code).status == "ok"
        return self.path

    def break_at(self, *lines: int) -> None:
        points = [{"line": line} for line in lines]
        self.ask("setBreakpoints", breakpoints=points, source={"path": self.path}, sourceModified=False)
        self.ask("configurationDone")

    def stops_in(self, cell: str) -> list[str]:
        """Continue the cell at each stop; return the stops."""
        stops: list[str] = []
        handled = 0
        while not self.kernel.is_idle(cell):
            self.kernel.collect()
            events = [m["content"] for m in self.kernel.iopub if m["msg_type"] == "debug_event"]
            stopped = [event for event in events if event["event"] == "stopped"]
            for event in stopped[handled:]:
                thread = event["body"]["threadId"]
                frame = self.ask("stackTrace", threadId=thread)["stackFrames"][0]
                stops.append(f"{frame['name'].rpartition('.')[2]} {frame['line']}")
                self.ask("continue", threadId=thread)
            handled = len(stopped)
        self.kernel.iopub[:] = [m for m in self.kernel.iopub if m["msg_type"] != "debug_event"]
        return stops


@pytest.fixture(scope="module")
def debugged() -> Iterator[Debugged]:
    with Kernel() as kernel:
        debugged = Debugged(kernel)
        debugged.attach()
        debugged.define(NETWORK)
        yield debugged
        debugged.ask("disconnect", restart=False, terminateDebuggee=False)


@pytest.fixture
def link(debugged: Debugged) -> str:
    """Open a comm whose messages run as code in the kernel, even while it is paused; return its id."""
    kernel = debugged.kernel
    cell = kernel.execute(LINK + "link.on_msg(lambda m: exec(m['content']['data'], globals()))")
    assert kernel.result(cell).status == "ok"
    return kernel.comm_opened(cell)


def step_through(kernel: Kernel, link: str) -> None:
    """Step a bprop by the kernel's pause: over, into the helper, back and forward, and on to the end."""
    cell = kernel.execute("%%cell net --step -o dbg --no-panel\nprint('result', gradient(x))")
    show = "print('at', dbg.shown.function, dbg.shown.line - dbg.shown.first_line, flush=True)"
    for command, position in (
        ("pass", "at bprop 1"),
        ("dbg.resume('over')", "at bprop 2"),
        ("dbg.resume('into')", "at twice 1"),
        ("dbg.step_back()", "at bprop 2"),
        ("dbg.resume('over')", "at twice 2"),
        ("dbg.resume('out')", "at bprop 3"),
    ):
        kernel.comm(link, command)
        kernel.wait_for_text(position, kernel.comm(link, show))
    kernel.comm(link, "dbg.resume()")
    result = kernel.result(cell)
    assert result.status == "ok", result.errors
    assert "6" in result.text
    assert "PYDEV" not in result.errors, "debugpy warns about tracing"
    kernel.run("del dbg")


def test_a_bprop_is_stepped_while_the_debugger_is_on_and_its_breakpoints_work_before_and_after(
    debugged: Debugged, link: str
) -> None:
    for _ in range(2):
        debugged.break_at(LINE_IN_HELPER, LINE_IN_BPROP)
        cell = debugged.kernel.execute("print(gradient(x))")
        assert debugged.stops_in(cell) == [f"bprop {LINE_IN_BPROP}", f"twice {LINE_IN_HELPER}"]
        debugged.break_at()
        step_through(debugged.kernel, link)


@pytest.mark.parametrize("command", ["over", "continue"])
def test_the_debugger_stops_in_a_function_after_a_bprop_was_stepped_in_it(debugged: Debugged, command: str) -> None:
    answered = f"""
    class Answers:
        def unavailable(self): return None
        def wait(self, until): session.resume({command!r}); stops.append(session)
    from hookscope.engine.debug import DebugSession
    stops = []
    def steps_and_goes_on():
        global session
        with DebugSession(net, step=True, pauser=Answers()) as session:
            gradient(x)
        more = len(stops)
        return more
    """
    code = textwrap.dedent(answered)
    debugged.define(code)
    line = code.splitlines().index("    more = len(stops)") + 1
    debugged.break_at(line)
    cell = debugged.kernel.execute("print(steps_and_goes_on())")
    assert debugged.stops_in(cell) == [f"steps_and_goes_on {line}"]
    assert (
        debugged.kernel.result(cell).text == {"over": "4\n", "continue": "1\n"}[command]
    )  # over stops where the with block ends, too
