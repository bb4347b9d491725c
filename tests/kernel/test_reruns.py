"""What was clicked in a panel is there again when its own cell is run again, and in no other cell."""

from __future__ import annotations

from typing import Any

import pytest
from kernel_driver import Kernel, Result

SETUP = """
import numpy as np
from mindspore import Tensor, nn
class Net(nn.Cell):
    def __init__(self, *names):
        super().__init__()
        for name in names:
            setattr(self, name, nn.Dense(3, 3))
    def construct(self, x):
        for cell in self.cells():
            x = cell(x)
        return x
net, other = Net("first", "head"), Net("tail")
x = Tensor(np.ones((4, 3), np.float32))
"""
HOOK = "def note(cell, inputs, output):\n    calls.append(1)\n"


@pytest.fixture
def network(kernel: Kernel) -> Kernel:
    """Yield the module's kernel with the networks made, and without panels or choices of the test before."""
    assert kernel.run(SETUP).status == "ok"
    kernel.run("from hookscope.kernel.panels import panels_of; panels = panels_of(get_ipython())")
    kernel.run("while panels._contents: panels._end(panels._contents[0])")
    kernel.run("panels.forget_choices(None)")
    return kernel


def run(kernel: Kernel, cell: str, code: str, **options: Any) -> Result:
    """Run one cell of a notebook."""
    result = kernel.result(kernel.execute(code, cell=cell, **options))
    assert result.status == "ok", result.errors
    return result


def panel_of(result: Result) -> str:
    """Return the comm of the panel that a cell opened."""
    opened = [m["content"] for m in result.of_type("comm_open")]
    [comm] = [c["comm_id"] for c in opened if c["data"].get("state", {}).get("_model_name") == "AnyModel"]
    return str(comm)


def click(kernel: Kernel, result: Result, action: str, **fields: Any) -> None:
    """Send a message of the panel's page, and wait until it has been handled."""
    request = kernel.comm(panel_of(result), {"method": "custom", "content": {"type": action, **fields}})
    kernel.until(lambda: kernel.is_idle(request), "the message to be handled")


def breakpoints(kernel: Kernel) -> str:
    """Return the breakpoints of the newest session, without a cell of their own."""
    return kernel.run("print([str(stop) for stop in _session.breakpoints])").text.strip()


def test_the_next_run_of_the_cell_keeps_what_was_clicked_five_times_over(network: Kernel) -> None:
    first = run(network, "a", "%cell net")
    click(network, first, "breakpoint", path="head", moment="backward")
    for number in range(5):
        run(network, "a", "%cell net" + f"  # {number}")  # with another text each time
        assert breakpoints(network) == "['head:backward']"


def test_a_body_that_ran_keeps_hooks_too(network: Kernel) -> None:
    first = run(network, "a", "%%cell net\nnet(x);")
    click(network, first, "hook", path="head", kind="forward", on=True)
    click(network, first, "show", view="hooks")
    second = run(network, "a", "%%cell net\nnet(x); print(len(_session.hooks()), 'hook')")
    assert "1 hook" in second.text
    [state] = [
        m["content"]["data"]["state"]
        for m in second.of_type("comm_open")
        if m["content"]["data"].get("state", {}).get("_model_name") == "AnyModel"
    ]
    assert state["view"] == "hooks"
    assert state["retained"] == {"text": "1 hook", "misfits": []}


def test_a_written_hook_of_an_open_panel_runs_once_after_it(network: Kernel) -> None:
    network.run("calls = []")
    first = run(network, "a", "%cell net")
    click(network, first, "attach_hook", path="head", kind="forward", source=HOOK)
    run(network, "a", "%cell net")
    assert network.run("net(x); print(len(calls))").text == "1\n"
    assert run(network, "a", "net(x); print(len(calls))").text == "1\n"  # the panel is gone, and its hook with it
    run(network, "a", "%cell net")
    assert network.run("net(x); print(len(calls))").text == "2\n"


def test_two_cells_of_one_network_do_not_mix(network: Kernel) -> None:
    first, second = (run(network, cell, "%cell net") for cell in "ab")
    click(network, first, "breakpoint", path="head", moment="forward")
    click(network, second, "breakpoint", path="first", moment="forward")
    run(network, "a", "%cell net")
    assert breakpoints(network) == "['head:forward']"
    run(network, "b", "%cell net")
    assert breakpoints(network) == "['first:forward']"
    run(network, "c", "%cell net")
    assert breakpoints(network) == "[]"


def test_a_renamed_network_of_the_same_cells_keeps_them_and_another_network_does_not(network: Kernel) -> None:
    first = run(network, "a", "%cell net")
    click(network, first, "breakpoint", path="head", moment="forward")
    network.run("model = net")
    run(network, "a", "%cell model")
    assert breakpoints(network) == "['head:forward']"
    run(network, "a", "%cell other")
    assert breakpoints(network) == "[]"
    run(network, "a", "%cell net")
    assert breakpoints(network) == "['head:forward']"


def test_a_network_that_was_made_anew_keeps_what_fits_and_the_panel_says_what_does_not(network: Kernel) -> None:
    first = run(network, "a", "%cell net")
    for path in ("first", "head"):
        click(network, first, "breakpoint", path=path, moment="forward")
    network.run("net = Net('first')")
    second = run(network, "a", "%cell net")
    assert breakpoints(network) == "['first:forward']"
    [retained] = [
        state["retained"] for m in second.of_type("comm_open") if "retained" in (state := m["content"]["data"]["state"])
    ]
    assert retained == {
        "text": "1 breakpoint",
        "misfits": ["breakpoint head:forward: the network has no such cell now"],
    }


def test_a_network_that_the_body_makes_keeps_them_too(network: Kernel) -> None:
    code = "%%cell fresh\nfresh = Net('first', 'head')\nfresh(x)\nprint(len(_session.hooks()), 'hook')"
    first = run(network, "a", code)
    click(network, first, "hook", path="head", kind="forward", on=True)
    assert "1 hook" in run(network, "a", code).text


def test_the_line_wins(network: Kernel) -> None:
    first = run(network, "a", "%%cell net\nnet(x);")
    click(network, first, "breakpoint", path="head", moment="forward")
    click(network, first, "condition", name="dead_relu", on=True, pause=True, threshold="0.9")
    code = "%%cell net -b 'head if step > 5' --check dead_relu=0.5\nnet(x);"
    run(network, "a", code)
    assert breakpoints(network) == "['head:forward if step > 5']"
    text = network.run("print(_session.checks.conditions['dead_relu'].threshold, _session.checks.pausing)").text
    assert text == "0.5 set()\n"


def test_a_cell_that_failed_in_between_loses_nothing(network: Kernel) -> None:
    first = run(network, "a", "%cell net")
    click(network, first, "breakpoint", path="head", moment="forward")
    for code in ("%cell nett", "1 / 0", "%%cell net --chek\n"):
        assert network.result(network.execute(code, cell="a")).status == "error"
    run(network, "a", "%cell net")
    assert breakpoints(network) == "['head:forward']"


def test_a_cell_that_is_deleted_takes_them_with_it(network: Kernel) -> None:
    first = run(network, "a", "%cell net")
    click(network, first, "breakpoint", path="head", moment="forward")
    run(network, "b", "pass", deleted=["a"])
    run(network, "a", "%cell net")
    assert breakpoints(network) == "[]"


def test_a_cell_that_is_run_again_during_its_pause_keeps_what_was_clicked_there(network: Kernel) -> None:
    code = "%%cell net -b first\nnet(x);"
    cell = network.execute(code, cell="a")
    comm = network.until(
        lambda: [
            m["content"]["comm_id"]
            for m in network.children(cell)
            if m["msg_type"] == "comm_open" and m["content"]["data"]["state"].get("_model_name") == "AnyModel"
        ],
        "the panel",
    )[0]
    network.until(lambda: any("paused" in str(m["content"]) for m in network.children(cell)), "the pause")
    again = network.execute(code.replace("-b first", ""), cell="a")
    for content in (
        {"type": "breakpoint", "path": "head", "moment": "bprop_"},  # refused
        {"type": "mute", "condition": "nan", "path": "head", "on": True, "reason": ""},
        {"type": "resume", "command": "continue"},
    ):
        network.comm(comm, {"method": "custom", "content": content})
    assert [network.result(request).status for request in (cell, again)] == ["ok", "ok"]
    assert breakpoints(network) == "[]"
    assert network.run("print([mute.path for mute in _session.muted])").text == "['head']\n"


def test_forget(network: Kernel) -> None:
    first = run(network, "a", "%cell net")
    click(network, first, "breakpoint", path="head", moment="forward")
    assert network.run("%cell other --forget").text == "Nothing was clicked for other.\n"
    assert network.run("%cell net --forget").text == "Forgotten: what was clicked for net.\n"
    assert breakpoints(network) == "[]"
    run(network, "a", "%cell net")
    assert breakpoints(network) == "[]"
    assert network.run("%cell --forget").text == "Nothing was clicked.\n"
    assert "unexpected '--list' beside --forget" in network.run("%cell --forget --list").errors


def test_a_front_end_without_identifiers_goes_by_the_name(network: Kernel) -> None:
    first = network.run("%cell net")
    click(network, first, "breakpoint", path="head", moment="forward")
    network.run("%cell net")  # the same text is the same cell
    assert breakpoints(network) == "['head:forward']"
    network.run("%cell net  # edited")
    assert breakpoints(network) == "['head:forward']"
