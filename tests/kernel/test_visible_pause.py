"""A pause is visible where it can be answered: in a panel in sight, or in one that is shown for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kernel_driver import Kernel, Message

SETUP = """
import numpy as np
from mindspore import Tensor, nn
from hookscope.engine.debug import DebugSession
net = nn.Dense(3, 2)
x = Tensor(np.ones((4, 3), np.float32))
"""


@pytest.fixture
def network(kernel: Kernel) -> Iterator[Kernel]:
    assert kernel.run(SETUP).status == "ok"
    yield kernel
    kernel.run("from hookscope.kernel.panels import panels_of; panels = panels_of(get_ipython())")
    kernel.run("while panels._contents: panels._end(panels._contents[0])")


class Page:
    """A stand-in for the page that shows a panel."""

    def __init__(self, kernel: Kernel, cell: str, index: int = 0) -> None:
        self.kernel = kernel
        comms = kernel.until(lambda: panels(kernel.children(cell))[index:], "a panel")
        self.comm = comms[0]
        self.answered = 0

    def send(self, **content: object) -> None:
        self.kernel.comm(self.comm, {"method": "custom", "content": content})

    def look_count(self) -> int:
        """Return how often the kernel asked whether the panel can be seen."""
        return sum(m["content"]["data"].get("content") == {"type": "look"} for m in self.messages())

    def messages(self) -> list[Message]:
        of = [m for m in self.kernel.iopub if m["msg_type"] == "comm_msg"]
        return [m for m in of if m["content"]["comm_id"] == self.comm]

    def answer(self, visible: bool) -> None:
        """Wait for the question, and answer it."""
        self.answered += 1
        self.kernel.until(lambda: self.look_count() >= self.answered, "the question")
        self.send(type="seen", visible=visible)

    def resume(self) -> None:
        self.send(type="resume", command="continue")


def panels(messages: list[Message]) -> list[str]:
    """Return the comms of the panels that were opened."""
    return [
        m["content"]["comm_id"]
        for m in messages
        if m["msg_type"] == "comm_open" and m["content"]["data"].get("state", {}).get("_model_name") == "AnyModel"
    ]


def live_models(messages: list[Message]) -> list[str]:
    """Return the models of the panels that were displayed live."""
    view = "application/vnd.jupyter.widget-view+json"
    displays = [m["content"]["data"] for m in messages if m["msg_type"] == "display_data"]
    return [data[view]["model_id"] for data in displays if view in data]


def lines(messages: list[Message]) -> list[str]:
    """Return the lines about pauses as the page shows them now, in order; "" for one that went away."""
    shown: dict[str, str] = {}
    for content in (m["content"] for m in messages if m["msg_type"] in ("display_data", "update_display_data")):
        display, data = content["transient"]["display_id"], content["data"]
        if display in shown or "hs-pause-line" in data.get("text/html", ""):
            shown[display] = data["text/plain"]
    return list(shown.values())


def wait_for_line(kernel: Kernel, text: str, cell: str) -> str:
    """Wait until a cell's output has one line, which contains `text`; return it."""
    kernel.until(lambda: any(text in line for line in lines(kernel.children(cell))), f"the line {text!r}")
    [line] = lines(kernel.children(cell))
    return line


def wait_for_no_line(kernel: Kernel, cell: str) -> None:
    """Wait until every line of a cell's output, of which there is one at least, went away."""
    kernel.until(lambda: {*lines(kernel.children(cell))} == {""}, "the lines to go away")


def test_a_panel_that_is_seen_is_enough(network: Kernel) -> None:
    cell = network.execute("%%cell net -b .\nnet(x);", cell="1")
    page = Page(network, cell)
    page.answer(True)
    network.query("kernel_info_request", {})
    page.resume()
    result = network.result(cell)
    assert live_models(result.messages) == [page.comm]
    assert lines(result.messages) == []


def test_a_panel_that_cannot_be_seen_is_shown_once_more_where_the_run_stands(network: Kernel) -> None:
    first = Page(network, network.result(network.execute("%cell net", cell="1")).reply["parent_header"]["msg_id"])
    network.run("_session.add_breakpoint('.')")
    cell = network.execute("net(x); print('went on')", cell="2")
    first.answer(False)
    second = Page(network, cell)
    wait_for_line(network, "press Continue in the panel below, or interrupt the kernel", cell)
    second.resume()
    result = network.result(cell)
    wait_for_no_line(network, cell)
    assert live_models(result.messages) == [second.comm]
    assert "went on" in result.text


def test_a_page_that_is_gone_does_not_answer(network: Kernel) -> None:
    """As after the tab was closed, or a reload that lost unsaved outputs."""
    network.result(network.execute("%cell net", cell="1"))
    network.run("_session.add_breakpoint('.')")
    cell = network.execute("net(x)", cell="2")
    second = Page(network, cell)
    second.resume()
    assert live_models(network.result(cell).messages) == [second.comm]


def test_a_session_without_any_panel_pauses_visibly(network: Kernel) -> None:
    cell = network.execute("with DebugSession(net, breaks=['.'], name='mine') as mine: net(x)", cell="1")
    page = Page(network, cell)
    line = wait_for_line(network, "(breakpoint .:forward): press Continue in the panel below", cell)
    assert line.startswith("hookscope: mine: paused at forward of (root)")
    page.resume()
    assert network.result(cell).status == "ok"


def test_a_panel_that_is_taken_off_during_the_pause_comes_back(network: Kernel) -> None:
    """The outputs were cleared, or its cell was deleted."""
    cell = network.execute("%%cell net -b .\nnet(x);", cell="1")
    page = Page(network, cell)
    page.answer(True)
    network.query("kernel_info_request", {})
    page.send(type="gone")
    network.until(lambda: page.look_count() == 2, "the question")
    page.send(type="seen", visible=False)
    again = Page(network, cell, index=1)
    again.resume()
    assert network.result(cell).status == "ok"


def test_a_panel_that_was_taken_off_before_the_pause_comes_back(network: Kernel) -> None:
    """The cell that shows it runs, and its outputs are cleared before the run comes to the breakpoint."""
    code = "%%cell net\nwhile not taken():\n    net(x)\n_session.add_breakpoint('.')\nnet(x);"
    network.run(
        "from hookscope.widgets.panel import DebuggerPanel; from hookscope.widgets.saved_widget import open_panels"
    )
    network.run("taken = lambda: any(isinstance(p, DebuggerPanel) and p.removals for p in list(open_panels))")
    cell = network.execute(code, cell="1")
    page = Page(network, cell)
    page.send(type="gone")
    again = Page(network, cell, index=1)
    wait_for_line(network, "press Continue in the panel below, or interrupt the kernel", cell)
    again.resume()
    assert network.result(cell).status == "ok"


def test_a_cell_that_waits_says_why_and_on_another_page_shows_the_panel(network: Kernel) -> None:
    """A page that was loaded anew shows nothing more of the running cell."""
    cell = network.execute("%%cell net -b .\nnet(x);", cell="1")
    page = Page(network, cell)
    page.answer(True)
    other_page = network.second_client()
    try:
        waits = other_page.execute("print('my turn')", cell="2")
        line = wait_for_line(other_page, "press Continue in the panel of net, or interrupt the kernel.", waits)
        assert line.startswith("hookscope: this cell waits, since another one is paused at forward of (root)")
        page.answer(True)
        other_page.until(lambda: live_models(other_page.children(waits)), "the panel")
        [comm] = live_models(other_page.children(waits))
        other_page.comm(comm, {"method": "custom", "content": {"type": "resume", "command": "continue"}})
        assert network.result(cell).status == "ok"
        assert "my turn" in other_page.result(waits).text
        wait_for_no_line(other_page, waits)
    finally:
        other_page.client.stop_channels()


def test_a_cell_that_waits_on_the_same_page_says_where_the_panel_is(network: Kernel) -> None:
    cell = network.execute("%%cell net -b .\nnet(x);", cell="1")
    page = Page(network, cell)
    page.answer(True)
    waits = network.execute("pass", cell="2")
    wait_for_line(network, "this cell waits", waits)
    page.answer(True)
    network.query("kernel_info_request", {})
    page.resume()
    network.result(cell)
    assert live_models(network.result(waits).messages) == []


def test_a_cell_that_waits_for_a_bare_pause_gets_its_button(network: Kernel) -> None:
    cell = network.execute("from hookscope.kernel import pause\npause()")
    button = network.comm_opened(cell, "ButtonModel")
    waits = network.execute("pass", cell="2")
    wait_for_line(network, "hookscope: this cell waits, since another one is paused: press Continue.", waits)
    network.until(lambda: live_models(network.children(waits)) == [button], "the button")
    network.click(button)
    network.result(cell)
    network.result(waits)
    wait_for_no_line(network, waits)


def test_during_a_long_pause_the_static_form_is_renewed(network: Kernel) -> None:
    network.run("import hookscope.widgets.saved_widget as kept; kept._RENEW_SECONDS = 0.2")
    cell = network.execute("%%cell net -b .\nnet(x);", cell="1")
    page = Page(network, cell)
    page.answer(True)

    def renewed() -> bool:
        updates = [m["content"]["data"] for m in network.children(cell) if m["msg_type"] == "update_display_data"]
        return any("2 captures" in data["text/plain"] for data in updates)

    network.until(renewed, "the static form")
    page.resume()
    network.result(cell)
    network.run("kept._RENEW_SECONDS = 10.0")


def test_a_cell_that_was_run_again_before_it_paused_shows_the_pause_in_its_new_run(network: Kernel) -> None:
    """Its page has given the cell to the new run, and shows nothing of the paused one."""
    network.result(network.execute("%cell net", cell="1"))
    network.run("_session.add_breakpoint('.'); import threading; ready = threading.Event()")
    network.run("threading.Timer(2.0, ready.set).start()")
    code = "ready.wait()\nnet(x)\n_session.breakpoints.clear()"
    first, again = (network.execute(code, cell="2") for _ in range(2))
    wait_for_line(network, "hookscope: this cell waits, since its last run is paused", again)
    network.until(lambda: live_models(network.children(again)), "the panel")
    [comm] = live_models(network.children(again))
    network.comm(comm, {"method": "custom", "content": {"type": "resume", "command": "continue"}})
    assert [network.result(cell).status for cell in (first, again)] == ["ok", "ok"]


def test_a_cell_that_waits_longer_than_one_pause_says_where_the_run_is_now(network: Kernel) -> None:
    """A step ends one pause and begins the next; the line is one, and goes away at the end."""
    cell = network.execute("%%cell net -b .:forward_pre -b .\nnet(x);", cell="1")
    page = Page(network, cell)
    page.answer(True)
    waits = network.execute("pass", cell="2")
    wait_for_line(network, "this cell waits", waits)
    page.answer(True)
    network.query("kernel_info_request", {})
    page.resume()
    page.answer(True)
    network.until(lambda: "paused at forward of" in wait_for_line(network, "waits", waits), "the second place")
    page.resume()
    network.result(cell)
    network.result(waits)
    wait_for_no_line(network, waits)


def test_an_interrupt_takes_the_lines_away_too(network: Kernel) -> None:
    cell = network.execute("with DebugSession(net, breaks=['.']): net(x)", cell="1")
    Page(network, cell)
    wait_for_line(network, "press Continue", cell)
    network.interrupt("message")
    assert network.result(cell).status == "error"
    wait_for_no_line(network, cell)


def test_a_name_in_a_line_is_no_markup(network: Kernel) -> None:
    name = "<img src=x onerror=alert(1)>"
    cell = network.execute(f"with DebugSession(net, breaks=['.'], name={name!r}): net(x)", cell="1")
    page = Page(network, cell)
    line = wait_for_line(network, "press Continue", cell)
    assert name in line
    html = [
        m["content"]["data"].get("text/html", "") for m in network.children(cell) if m["msg_type"] == "display_data"
    ]
    assert not any("<img" in text for text in html)
    page.resume()
    network.result(cell)


def test_a_restart_takes_the_lines_away_too(network: Kernel) -> None:
    cell = network.execute("with DebugSession(net, breaks=['.']): net(x)", cell="1")
    Page(network, cell)
    wait_for_line(network, "press Continue", cell)
    network.restart()
    assert lines(network.children(cell)) == [""]
