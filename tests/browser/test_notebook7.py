"""The panel in Jupyter Notebook 7, which is built from JupyterLab's parts and has a page for each notebook.

The tests show that these parts are those that the panel needs; all else is tested in JupyterLab.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Notebook, Server, Window, write_notebook
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

OPEN, RUN, USABLE = 1, 2, 3
CELLS = [NETWORK, "%cell net", "%%cell net --step -o dbg\ntrain(1)\nprint('done')", "print('usable', 6 * 7)"]
FIRST, SECOND, LAST = "slope = doubled(ops.ones_like(x))", "gradient = dout * slope", "return (gradient,)"
GONE = "The kernel that this panel belongs to is gone."


@pytest.fixture(scope="module")
def shared_notebook(notebook7: Server, browser: Window) -> Iterator[Notebook]:
    write_notebook(notebook7.root / "smoke.ipynb", CELLS)
    notebook = Notebook(notebook7, browser.page, "smoke.ipynb")
    notebook.open()
    notebook.run_to_end(0)
    notebook.run_to_end(OPEN)
    yield notebook
    notebook.close()


@pytest.fixture
def notebook(shared_notebook: Notebook, window: Window) -> Notebook:
    """Yield the one notebook; fail if the page had an error."""
    return shared_notebook


def pause(notebook: Notebook) -> Panel:
    notebook.run(RUN)
    panel = Panel.in_cell(notebook.cell(RUN))
    panel.expect_paused("double")
    panel.expect_line(FIRST)
    return panel


def test_a_hook_is_attached_in_the_panel_and_sees_the_next_run(notebook: Notebook) -> None:
    panel = Panel.in_cell(notebook.cell(OPEN))
    panel.toggle_hook("forward", "dense")
    pause(notebook).button("Continue").click()
    assert "done" in notebook.finish(RUN)
    panel = Panel.in_cell(notebook.cell(OPEN))
    panel.tab("Hooks")
    hooks = panel.root.get_by_role("region", name="Hooks on cells")
    expect(hooks.get_by_role("row", name=re.compile("^dense forward"))).to_be_visible()
    panel.toggle_hook("forward", "dense")


def test_a_pause_is_stepped_through_by_buttons_and_by_keys_in_an_editor(notebook: Notebook) -> None:
    panel = pause(notebook)
    panel.step_over_to(SECOND)
    expect(panel.button("Step over")).to_be_enabled()
    box = notebook.cell(USABLE).get_by_role("textbox").first
    box.click()
    box.press("F10")
    panel.expect_line(LAST)
    panel.evaluate("slope.sum()", "20")
    panel.button("Continue").click()
    assert "done" in notebook.finish(RUN)
    assert notebook.source(USABLE) == CELLS[USABLE]


def test_an_interrupt_while_paused_leaves_the_kernel_usable(notebook: Notebook) -> None:
    pause(notebook)
    notebook.command("notebook:interrupt-kernel")
    assert "KeyboardInterrupt" in notebook.finish(RUN)
    assert "usable 42" in notebook.run_to_end(USABLE)


def test_a_click_on_export_downloads_a_page(notebook: Notebook) -> None:
    with notebook.page.expect_download() as download:
        Panel.in_cell(notebook.cell(OPEN)).button("Export").click()
    assert download.value.suggested_filename == "hookscope-Net.html"


def test_after_a_restart_a_panel_says_that_its_kernel_is_gone(notebook: Notebook) -> None:
    panel = Panel.in_cell(notebook.cell(OPEN))
    notebook.command("notebook:restart-kernel")
    notebook.page.get_by_role("dialog").get_by_role("button", name="Confirm Kernel Restart").click()
    expect(panel.root.get_by_role("alert").filter(has_text=GONE)).to_be_visible()
    notebook.wait_ready()
    assert "usable 42" in notebook.run_to_end(USABLE)
    for cell in (0, OPEN):
        notebook.run_to_end(cell)


def test_a_saved_notebook_shows_a_static_panel_without_a_kernel(notebook: Notebook) -> None:
    panel = pause(notebook)
    panel.button("Continue").click()
    notebook.finish(RUN)
    notebook.save()
    notebook.shut_down()
    notebook.reload()
    output = notebook.cell(RUN)
    expect(output.get_by_text("A static copy: run the cell again for the live panel.")).to_be_visible()
    expect(output.get_by_text("Error displaying widget")).to_be_hidden()
    expect(output.get_by_text(re.compile(r"^Captures: \d+"))).to_be_visible()
