"""A panel lives until its own cell runs again, a pause is always visible, and a saved notebook has the captures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Notebook, Server, write_notebook
from tests.browser.panel import Panel

NETWORK = """
import numpy as np
import mindspore as ms
from mindspore import nn, ops

ms.set_seed(1)
net = nn.SequentialCell(nn.Dense(3, 2), nn.ReLU())
x = ms.Tensor(np.ones((4, 3), np.float32))
"""
Opener = Callable[..., Notebook]


@pytest.fixture
def open_cells(lab: Server, open_notebook: Opener, request: pytest.FixtureRequest) -> Opener:
    """Open a notebook of these cells after the network's; the network's has run."""

    def open_one(*cells: str) -> Notebook:
        name = f"{request.node.name}.ipynb"
        write_notebook(lab.root / name, [NETWORK, *cells])
        notebook = open_notebook(name)
        notebook.run_to_end(0)
        return notebook

    return open_one


def clear_outputs(notebook: Notebook) -> None:
    notebook.command("notebook:clear-all-cell-outputs")


def go_on(notebook: Notebook, cell: int) -> None:
    """Press Continue in the panel that the cell shows."""
    panel = Panel.in_cell(notebook.cell(cell))
    panel.expect_paused("forward of 1")
    panel.button("Continue").click()


def test_panels_of_several_cells_live_beside_each_other(open_cells: Opener) -> None:
    notebook = open_cells("%%cell net\nnet(x);", "%%cell net\nnet(x);", "%cell --list")
    for cell in (1, 2):
        notebook.run_to_end(cell)
    assert "_session_1" in notebook.run_to_end(3) and "_session_2" in notebook.text(3)
    for cell in (1, 2):
        panel = Panel.in_cell(notebook.cell(cell))
        panel.tab("Findings")
        panel.button("Watch again").click()
        expect(panel.root.get_by_role("status").first).to_have_text("watching")
    notebook.run_to_end(1)
    expect(notebook.cell(1).get_by_role("group", name=re.compile("^Debugger of "))).to_have_count(1)


def test_outputs_that_are_cleared_in_a_pause_give_the_panel_back(open_cells: Opener) -> None:
    notebook = open_cells("%%cell net --break 1\nnet(x)\nprint('went on')")
    notebook.run(1)
    Panel.in_cell(notebook.cell(1)).expect_paused("forward of 1")
    clear_outputs(notebook)
    expect(notebook.cell(1)).to_contain_text("press Continue in the panel below, or interrupt the kernel")
    go_on(notebook, 1)
    assert "went on" in notebook.finish(1)


def test_a_page_that_is_loaded_anew_in_a_pause_shows_it_in_the_next_cell_that_is_run(open_cells: Opener) -> None:
    """Unsaved output is lost, and the running cell shows nothing more."""
    notebook = open_cells("%%cell net --break 1\nnet(x)", "print('my turn')")
    notebook.run(1)
    Panel.in_cell(notebook.cell(1)).expect_paused("forward of 1")
    notebook.reload()
    notebook.run(2)
    expect(notebook.cell(2)).to_contain_text("this cell waits, since another one is paused at forward of 1")
    go_on(notebook, 2)
    assert "my turn" in notebook.finish(2)


def test_a_panel_that_is_scrolled_away_is_shown_where_the_run_stands(open_cells: Opener) -> None:
    long = "\n".join(f"# line {number}" for number in range(200))
    notebook = open_cells("%cell net", long, "_session.add_breakpoint('1')\nnet(x)\nprint('went on')")
    for cell in (1, 2):
        notebook.run_to_end(cell)
    away = Panel.in_cell(notebook.cell(1)).root
    notebook.cell(3).scroll_into_view_if_needed()
    expect(away).not_to_be_in_viewport()
    notebook.run(3)
    go_on(notebook, 3)
    assert "went on" in notebook.finish(3)


def test_a_session_without_a_panel_pauses_with_one(open_cells: Opener) -> None:
    code = "from hookscope.engine.debug import DebugSession\nwith DebugSession(net, breaks=['1']):\n    net(x)"
    notebook = open_cells(code)
    notebook.run(1)
    go_on(notebook, 1)
    notebook.finish(1)


def test_an_old_panel_does_not_pause_a_new_network(open_cells: Opener) -> None:
    notebook = open_cells("%cell net", "ops.log(net(x) * 0 - 1)\nprint('went on')")
    notebook.run_to_end(1)
    panel = Panel.in_cell(notebook.cell(1))
    panel.settings()
    box = panel.root.get_by_role("checkbox", name="pause at nan")
    box.click()
    expect(box).to_be_checked()
    notebook.run_to_end(0)
    old = panel.root.get_by_role("status").first
    notebook.cell(1)
    expect(old).to_have_text("net is another network now: run the cell that opened this panel again")
    notebook.run_to_end(1)
    Panel.in_cell(notebook.cell(1)).button("Forget").click()  # the next run of the cell keeps what was clicked
    notebook.run(2)
    assert "went on" in notebook.finish(2)


def captures_in_file(notebook: Notebook) -> list[int]:
    """Return the number of captures in each static panel of the saved file."""
    cells = json.loads((notebook.server.root / notebook.path).read_text(encoding="utf-8"))["cells"]
    texts = ["".join(o.get("data", {}).get("text/html", "")) for cell in cells for o in cell.get("outputs", ())]
    return [int(match[1]) for text in texts if (match := re.search(r"Captures: (\d+)", text))]


def test_a_saved_notebook_has_what_the_panel_saw_in_later_cells(open_cells: Opener) -> None:
    notebook = open_cells("%cell net", "net(x);", "net(x);")
    for cell in (1, 2, 3):
        notebook.run_to_end(cell)
    notebook.save()
    assert captures_in_file(notebook) == [8]
    notebook.shut_down()
    notebook.reload()
    expect(notebook.cell(1).get_by_text("Captures: 8")).to_be_visible()


def test_after_a_reload_what_is_seen_stands_under_the_next_watched_cell(open_cells: Opener) -> None:
    notebook = open_cells("%cell net", "net(x);", "net(x);", "net(x);")
    for cell in (1, 2):
        notebook.run_to_end(cell)
    notebook.save()
    notebook.reload()
    for cell in (3, 4):
        notebook.run_to_end(cell)
    notebook.save()
    assert captures_in_file(notebook) == [4, 12]
