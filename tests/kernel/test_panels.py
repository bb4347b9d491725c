"""The life of the panels that the magics show: live while their session has a name, static afterwards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
    """The module's kernel with the networks made, and without live panels of the test before."""
    assert kernel.run(SETUP).status == "ok"
    kernel.run("%%cell --no-panel\npass")
    return kernel


def displayed(result: Result) -> Message:
    """The first display of a cell."""
    return result.of_type("display_data")[0]["content"]


def display_id(result: Result) -> str:
    return str(displayed(result)["transient"]["display_id"])


def frozen(messages: list[Message]) -> list[str]:
    """The displays that were replaced by their static forms, less the copies behind live panels."""
    updates = [m["content"] for m in messages if m["msg_type"] == "update_display_data"]
    frozen = [u for u in updates if u["data"]["text/html"] and "hs-behind-live" not in u["data"]["text/html"]]
    return [u["transient"]["display_id"] for u in frozen]


def test_the_panel_is_shown_before_the_body_runs_and_renewed_after(network: Kernel) -> None:
    result = network.run("%%cell net\nprint('body'); net(x);")
    shown = [m for m in result.messages if m["msg_type"] in ("display_data", "stream", "update_display_data")]
    assert [m["msg_type"] for m in shown] == ["display_data", "display_data", "stream", "update_display_data"]
    live, before, _, after = (m["content"].get("data", {}) for m in shown)
    assert WIDGET in live
    assert "0 captures" in before["text/plain"]
    assert "2 captures" in after["text/plain"]
    assert "<table" in after["text/html"]


def test_where_nobody_looks_the_panel_is_shown_once_as_static_forms(network: Kernel) -> None:
    result = network.run("%%cell net\nprint('body'); net(x);", allow_stdin=False)
    shown = result.of_type("display_data")
    assert len(shown) == 1
    assert sorted(shown[0]["content"]["data"]) == ["text/html", "text/plain"]
    assert not result.of_type("update_display_data")


def test_the_next_cell_makes_the_panel_static_and_gives_its_captures_back(network: Kernel) -> None:
    first = network.run("%%cell net\nnet(x);")
    network.run("gc.disable(); seen = weakref.ref(_session.captures.latest('', 'output', 'forward').array)")
    assert network.run("print(seen() is not None)").text == "True\n"
    second = network.run("%%cell net\nprint('body')")
    kinds = [m["msg_type"] for m in second.messages]
    assert frozen(second.messages) == [display_id(first)]
    forms = second.of_type("update_display_data")[0]["content"]["data"]
    assert "A static copy: run the cell again for the live panel." in forms["text/html"]
    opened = [m["content"]["comm_id"] for m in first.of_type("comm_open")]
    assert [m["content"]["comm_id"] for m in second.of_type("comm_close")] == opened
    assert kinds.index("update_display_data") < kinds.index("stream"), "the body has the memory already"
    assert network.run("print(seen()); gc.enable()").text == "None\n"


@pytest.mark.parametrize("name", ["-o kept", ""])
def test_a_panel_whose_session_has_a_name_stays_live(network: Kernel, name: str) -> None:
    first = network.run(f"%%cell net {name}\nnet(x);")
    if not name:
        network.run("kept = _session")
    assert frozen(network.run("%%cell net\nnet(x);").messages) == []
    network.run("del kept")
    assert display_id(first) in frozen(network.run("%%cell net\nnet(x);").messages)


def test_a_cell_inside_a_cell_leaves_the_outer_panel_live(network: Kernel) -> None:
    inner = "get_ipython().run_cell_magic('cell', 'other', 'other(x);')"
    result = network.run(f"%%cell net\nnet(x); {inner}; net(x);")
    assert display_id(result) not in frozen(result.messages)
    assert network.run("print(_session.roots == [other])").text == "True\n"
    assert display_id(result) in frozen(network.run("%%cell net\nnet(x);").messages)


def test_what_cell_opened_stays_live_until_it_is_opened_again(network: Kernel) -> None:
    opened = network.run("%cell net")
    assert WIDGET in displayed(opened)["data"]
    cells = [network.run(f"%%cell {name}\n{name}(x);") for name in ("net", "other")]
    assert display_id(opened) not in frozen([m for cell in cells for m in cell.messages])
    assert display_id(opened) in frozen(network.run("%cell net").messages)
    network.run("_session.detach()")


def test_where_nobody_looks_cell_shows_the_static_forms(network: Kernel) -> None:
    result = network.run("%cell net", allow_stdin=False)
    assert sorted(displayed(result)["data"]) == ["text/html", "text/plain"]
    network.run("_session.detach()")


def test_cell_opens_a_panel_that_follows_later_cells_and_does_not_pile_up(network: Kernel) -> None:
    for _ in range(3):
        result = network.run("%cell net")
        assert WIDGET in result.of_type("display_data")[0]["content"]["data"]
        network.run("opened = [*globals().get('opened', []), _session]")
    network.run("net(x)")
    assert network.run("print([len(session.captures) for session in opened])").text == "[0, 0, 2]\n"
    network.run("_session.detach()")


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
        assert set(frozen(kernel.iopub)) == ids


def test_a_panel_that_cannot_be_made_static_does_not_stop_the_next_cell(network: Kernel) -> None:
    network.run("%%cell net\nnet(x);")
    network.run("def fail(): raise RuntimeError('broken')\n_session.tree = fail")
    result = network.run("%%cell net\nprint('body')")
    assert result.text == "body\n"
    assert result.errors == "hookscope: a panel could not be made static: RuntimeError: broken\n"
    assert len(result.of_type("comm_close")) == 2


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
    done = subprocess.run(argv, capture_output=True, text=True, timeout=100, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['text/html', 'text/plain']\n" * 2
