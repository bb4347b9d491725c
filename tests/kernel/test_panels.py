"""The life of panels and sessions: until their own cell runs again; and their content in a saved notebook."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kernel_driver import Kernel, Message, Result

SETUP = """
import gc, weakref
import numpy as np
from mindspore import Tensor, nn
net, other = nn.Dense(3, 2), nn.ReLU()
x = Tensor(np.ones((4, 3), np.float32))
"""
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def network(kernel: Kernel) -> Kernel:
    """Yield the module's kernel with the networks made, and without panels of the test before."""
    assert kernel.run(SETUP).status == "ok"
    kernel.run("from hookscope.kernel.panels import panels_of; panels = panels_of(get_ipython())")
    kernel.run("while panels._contents: panels._end(panels._contents[0])")
    return kernel


def run(kernel: Kernel, cell: int, code: str, **options: Any) -> Result:
    """Run one cell of a notebook."""
    return kernel.result(kernel.execute(code, cell=f"cell {cell}", **options))


def opened_comms(result: Result) -> list[str]:
    """Return the comms of the widgets that a cell made."""
    return [m["content"]["comm_id"] for m in result.of_type("comm_open")]


def closed_comms(*results: Result) -> set[str]:
    """Return the comms that were closed while these cells ran."""
    return {m["content"]["comm_id"] for result in results for m in result.of_type("comm_close")}


def statuses(messages: list[Message]) -> list[Message]:
    """Return the states that the panels reported, in order."""
    states = [m["content"]["data"].get("state", {}) for m in messages if m["msg_type"] == "comm_msg"]
    return [state["status"] for state in states if "status" in state]


def display_of(result: Result) -> Message:
    """Return the first display of a cell."""
    return result.of_type("display_data")[0]["content"]


def display_id(result: Result) -> str:
    return str(display_of(result)["transient"]["display_id"])


def frozen_displays(messages: list[Message]) -> list[str]:
    """Return the displays that were replaced by their static forms, without the copies after live panels."""
    updates = [m["content"] for m in messages if m["msg_type"] == "update_display_data"]
    frozen_displays = [u for u in updates if u["data"]["text/html"] and "hs-behind-live" not in u["data"]["text/html"]]
    return [u["transient"]["display_id"] for u in frozen_displays]


def test_the_panel_is_shown_before_the_body_runs_and_renewed_after(network: Kernel) -> None:
    result = network.run("%%cell net\nprint('body'); net(x);")
    displays = [m for m in result.messages if m["msg_type"] in ("display_data", "stream", "update_display_data")]
    assert [m["msg_type"] for m in displays] == ["display_data", "display_data", "stream", "update_display_data"]
    live, before, _, after = (m["content"].get("data", {}) for m in displays)
    assert WIDGET in live
    assert "0 captures" in before["text/plain"]
    assert "2 captures" in after["text/plain"]
    assert "<table" in after["text/html"]


def test_a_page_that_is_connected_again_gets_what_it_may_have_missed(network: Kernel) -> None:
    """It asks for the kernel's info; another page, which lacks the display, gets nothing for it."""

    def renewed(messages: list[Message]) -> list[Message]:
        return [m["content"] for m in messages if m["msg_type"] == "update_display_data"]

    result = run(network, 1, "%%cell net\nnet(x);")
    count_before = len(renewed(network.iopub))
    network.second_client().client.stop_channels()  # its request was answered
    network.run("pass")
    assert len(renewed(network.iopub)) == count_before
    network.query("kernel_info_request", {})
    [update] = network.until(lambda: renewed(network.iopub)[count_before:], "the static form")
    assert "2 captures" in update["data"]["text/plain"]
    assert update["transient"]["display_id"] == result.of_type("display_data")[1]["content"]["transient"]["display_id"]


def test_without_a_page_the_panel_is_shown_once_as_static_forms(network: Kernel) -> None:
    result = network.run("%%cell net\nprint('body'); net(x);", allow_stdin=False)
    displays = result.of_type("display_data")
    assert len(displays) == 1
    assert sorted(displays[0]["content"]["data"]) == ["text/html", "text/plain"]
    assert not result.of_type("update_display_data")


def test_a_panel_lives_until_its_own_cell_runs_again(network: Kernel) -> None:
    first = run(network, 1, "%%cell net\nnet(x);")
    others = [run(network, n, code) for n, code in enumerate(["%%cell net\nnet(x);", "%cell net", "net(x)"], start=2)]
    assert closed_comms(*others) == set()
    again = run(network, 1, "%%cell net\nnet(x);")
    assert closed_comms(again) == set(opened_comms(first))
    kinds = [m["msg_type"] for m in again.messages]
    assert kinds.index("comm_close") < kinds.index("comm_open")


def test_a_cell_that_opens_nothing_any_more_closes_what_it_had_opened(network: Kernel) -> None:
    first = run(network, 1, "%cell net")
    assert closed_comms(run(network, 1, "pass")) == set(opened_comms(first))
    assert network.run("from hookscope.engine.tape import taps; print(taps.cell_taps)").text == "[]\n"


def test_a_deleted_cell_takes_its_panel_with_it(network: Kernel) -> None:
    first = run(network, 1, "%cell net")
    assert closed_comms(run(network, 2, "pass", deleted=["cell 7"])) == set()
    assert closed_comms(run(network, 2, "pass", deleted=["cell 1"])) == set(opened_comms(first))


def test_a_front_end_that_gives_its_cells_no_names_is_known_by_their_text(network: Kernel) -> None:
    first = network.run("%cell net")
    assert closed_comms(network.run("%cell other"), network.run("net(x)")) == set()
    assert closed_comms(network.run("%cell net")) == set(opened_comms(first))
    network.run("pass")
    for name in ("net", "other"):
        network.run(f"_ = get_ipython().run_line_magic('cell', '{name}')  # {name}")


def test_what_a_cell_replaces_watches_no_more_from_that_moment_on(network: Kernel) -> None:
    run(network, 1, "%cell net")
    run(network, 2, "old = _session")
    run(network, 1, "print(old.attached)\n%cell net")
    assert network.run("print(old.attached, _session.attached, len(old.captures))").text == "False True 0\n"
    result = run(network, 3, "net(x); print(len(old.captures), len(_session.captures))")
    assert result.text == "0 2\n"


def test_an_old_session_does_not_pause_a_new_network(network: Kernel) -> None:
    """Both cells run again, as after a change of the network; nothing is ticked in the new panel."""
    make = "net = nn.SequentialCell(nn.Dense(3, 2))"
    run(network, 1, make)
    run(network, 2, "%cell net")
    run(network, 3, "_session.add_condition('nan', pause=True); old = _session; del _session")
    run(network, 1, make)
    assert network.run("print(old.attached)").text == "False\n", "the session stays attached to the replaced network"
    run(network, 2, "%cell net")
    result = run(network, 4, "from mindspore import ops; ops.log(net(x) * 0 - 1); print('went on')")
    assert result.text == "went on\n" and "paused" not in result.errors


def test_where_the_name_means_another_network_the_panel_says_so(network: Kernel) -> None:
    cell = run(network, 1, "%cell net")
    result = run(network, 2, "net = nn.Dense(3, 2)")
    text = "net is another network now: run the cell that opened this panel again"
    assert text in [status.get("text") for status in statuses(result.messages)]
    comm = opened_comms(cell)[-1]
    network.comm(comm, {"method": "custom", "content": {"type": "watch_again"}})
    network.run("pass")
    assert text in [status.get("error") for status in statuses(network.iopub)]


def test_a_finished_panel_watches_again_when_it_is_asked_to(network: Kernel) -> None:
    cell = run(network, 1, "%%cell net\nnet(x);")
    run(network, 2, "net(x)")
    panel = network.comm_opened(cell.reply["parent_header"]["msg_id"], "AnyModel")
    network.comm(panel, {"method": "custom", "content": {"type": "watch_again"}})
    assert run(network, 3, "net(x); print(_session.step)").text == "2\n"


def test_sessions_have_names_and_are_listed(network: Kernel) -> None:
    assert network.run("%cell --list").text == "There is no session: %cell NET or %%cell NET opens one.\n"
    run(network, 1, "%%cell net\nnet(x);")
    run(network, 2, "%cell other")
    run(network, 3, "%%cell other -o mine\nother(x);")
    listed = network.run("%cell --list").text.splitlines()
    assert [line.split()[:4] for line in listed[2:]] == [
        ["_session_1", "net", "finished", "1"],
        ["_session_2", "other", "watching", "1"],
        ["mine", "other", "finished", "1"],
    ]
    names = "print(_session_1.roots == [net], _session_2.roots == mine.roots == [other], _session is _session_2)"
    assert network.run(names).text == "True True True\n"
    run(network, 1, "%cell net")
    assert network.run("print(_session_1 is _session)").text == "True\n", "a free number is not reused"
    run(network, 2, "pass")
    assert "NameError" in network.run("_session_2").error_names


def test_a_session_can_have_one_more_panel(network: Kernel) -> None:
    run(network, 1, "%%cell net\nnet(x);")
    result = run(network, 2, "%cell _session_1")
    assert WIDGET in display_of(result)["data"]
    assert closed_comms(run(network, 2, "pass")) == set(opened_comms(result))
    assert network.run("print(len(_session_1.captures))").text == "2\n"


def test_a_cell_inside_a_cell_leaves_the_outer_panel_live(network: Kernel) -> None:
    inner = "get_ipython().run_cell_magic('cell', 'other', 'other(x);')"
    result = run(network, 1, f"%%cell net\nnet(x); {inner}; net(x);")
    assert closed_comms(result) == set() and len(opened_comms(result)) == 4  # a panel and its layout, twice
    assert network.run("print(_session.roots == [other], _session_1.step)").text == "True 2\n"


def test_a_magic_in_a_loop_does_not_pile_up(network: Kernel) -> None:
    result = run(network, 1, "for _ in range(3): get_ipython().run_line_magic('cell', 'net')")
    assert len(closed_comms(result)) == 4
    assert network.run("print([name for name in globals() if name.startswith('_session_')])").text == "['_session_1']\n"


def test_a_panel_of_ones_own_is_closed_when_the_cell_that_made_it_runs_again(network: Kernel) -> None:
    code = """
from hookscope.engine.debug import DebugSession
from hookscope.widgets import DebuggerPanel
session = DebugSession(net)
session.attach()
DebuggerPanel(session)"""
    first = run(network, 1, code)
    assert WIDGET in display_of(first)["data"]
    second = run(network, 1, code)
    assert closed_comms(second) == set(opened_comms(first))
    assert network.run("from hookscope.engine.debug.session import is_watched; print(is_watched(net))").text == "True\n"
    run(network, 1, "pass")
    network.run("del session")
    assert network.run("print(is_watched(net))").text == "False\n"


def test_without_a_page_cell_shows_the_static_forms(network: Kernel) -> None:
    result = run(network, 1, "%cell net", allow_stdin=False)
    assert sorted(display_of(result)["data"]) == ["text/html", "text/plain"]


# Content of the saved notebook


def copies(messages: list[Message]) -> list[str]:
    """Return the texts of the displayed static forms, the newest last."""
    kinds = ("display_data", "update_display_data")
    displays = [m["content"]["data"] for m in messages if m["msg_type"] in kinds]
    return [data["text/plain"] for data in displays if "hs-behind-live" in data.get("text/html", "")]


def test_what_a_panel_saw_in_later_cells_is_in_the_static_form(network: Kernel) -> None:
    cell = run(network, 1, "%cell net")
    assert "0 captures" in copies(cell.messages)[-1]
    second_result = run(network, 2, "net(x)")
    assert ["2 captures" in text for text in copies(second_result.messages)] == [True]
    assert copies(run(network, 3, "pass").messages) == [], "a copy is displayed without anything new"
    update = second_result.of_type("update_display_data")[0]["content"]
    assert update["transient"]["display_id"] == cell.of_type("display_data")[1]["content"]["transient"]["display_id"]


def test_a_page_that_was_loaded_anew_gets_its_static_form_under_the_next_watched_cell(network: Kernel) -> None:
    run(network, 1, "%cell net")
    other_page = network.second_client()
    try:
        assert copies(run(other_page, 2, "pass").messages) == []
        fresh = run(other_page, 3, "net(x)")
        [display] = fresh.of_type("display_data")
        assert "2 captures" in display["content"]["data"]["text/plain"]
        assert "2 captures" in copies(fresh.of_type("update_display_data"))[-1], "the first page lacks the captures"
        second_result = run(other_page, 4, "net(x)")
        assert ["4 captures" in text for text in copies(second_result.messages)] == [True, True]
        assert second_result.of_type("display_data") == []
    finally:
        other_page.client.stop_channels()


@pytest.mark.parametrize("restart", [False, True])
def test_the_end_of_the_kernel_makes_the_live_panels_static(restart: bool) -> None:
    with Kernel() as kernel:
        kernel.run(SETUP)
        finished = kernel.run("%%cell net -o kept\nnet(x);")
        paused = kernel.execute("%%cell net -b . -o dbg\nnet(x);")
        kernel.until(lambda: "paused in" in str(kernel.children(paused)), "the pause")
        kernel.send("shutdown_request", {"restart": restart}, control=True)
        kernel.until(lambda: not kernel.manager.is_alive(), "the end of the process")
        kernel.collect()
        ids = {display_id(finished), display_id(Result({}, kernel.children(paused)))}
        assert set(frozen_displays(kernel.iopub)) == ids


def test_a_panel_that_cannot_be_renewed_does_not_stop_the_notebook(network: Kernel) -> None:
    run(network, 1, "%cell net")
    run(network, 2, "def fail(): raise RuntimeError('broken')\n_session.tree = fail")
    result = run(network, 3, "net(x); print('body')")
    assert result.text == "body\n"
    assert "the static form of 'cells' raised RuntimeError: broken; the run goes on without it" in result.errors


NOTEBOOK = """
import nbformat, sys
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
setup, cells = sys.argv[1], sys.argv[2:]
notebook = new_notebook(cells=[new_code_cell(source) for source in ["%load_ext hookscope\\n" + setup, *cells]])
NotebookClient(notebook, kernel_name="python3").execute()
for cell in notebook.cells[1:]:
    print(*[sorted(output.get("data", {})) for output in cell.outputs])
"""


def test_a_plain_kernel_run_by_nbclient_keeps_static_forms_only(tmp_path: Path) -> None:
    setup = SETUP.replace("mindspore", "hookscope.engine")
    argv = [sys.executable, "-c", NOTEBOOK, setup, "%%cell net\nnet(x);", "%cell net"]
    process = subprocess.run(argv, capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert process.stdout == "['text/html', 'text/plain']\n" * 2


TRAINED = """\
from hookscope.engine import nn, value_and_grad
net = nn.Dense(3, 2)
optimizer = nn.SGD(net.trainable_params(), {rate})
step = value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
get_ipython().run_line_magic("cell", "net")
for _ in range({steps}):
    optimizer(step(x)[1])
"""
NUMBERS = """\
scalars = panels._contents[-1].session.scalars
rates = lambda scalars: [point.value for point in scalars.points()["learning rate"]]
print(rates(scalars), scalars.previous and rates(scalars.previous), scalars.previous and scalars.previous.previous)
"""


def test_the_curves_of_a_cell_that_runs_again_have_those_of_its_run_before(network: Kernel) -> None:
    run(network, 1, TRAINED.format(rate=0.5, steps=1))
    assert network.run(NUMBERS).text == "[0.5] None None\n"
    run(network, 1, TRAINED.format(rate=0.25, steps=2))
    assert network.run(NUMBERS).text == "[0.25, 0.25] [0.5] None\n"
    # A run that fails at once does not count, and of another cell there is no run before.
    run(network, 1, TRAINED.format(rate=0.125, steps="undefined"))
    run(network, 1, TRAINED.format(rate=0.125, steps=1))
    assert network.run(NUMBERS).text == "[0.125] [0.25, 0.25] None\n"
    run(network, 2, TRAINED.format(rate=0.5, steps=1))
    assert network.run(NUMBERS).text == "[0.5] None None\n"


def test_a_panel_of_the_same_session_has_no_run_before(network: Kernel) -> None:
    network.run("from hookscope import DebugSession, DebuggerPanel; own = DebugSession(net); own.log('score', 1)")
    for _ in range(2):
        run(network, 1, "panel = DebuggerPanel(own)")
    assert network.run("print(own.scalars.previous)").text == "None\n"
    network.run("del own, panel")


def test_the_curves_of_a_panel_of_ones_own_have_the_run_before_too(network: Kernel) -> None:
    code = (
        "from hookscope import DebugSession, DebuggerPanel; s = DebugSession(net); p = DebuggerPanel(s); s.log('a', {})"
    )
    run(network, 1, code.format(1))
    run(network, 1, code.format(2))
    assert network.run("print(s.scalars.previous.points()['a'][0].value)").text == "1.0\n"
    network.run("del s, p")
