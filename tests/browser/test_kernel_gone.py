"""A panel whose kernel is gone says so at once; one that was only disconnected is live again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.lab import Notebook, Server, Window, write_notebook
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

CELLS = [
    f"{NETWORK}\nimport os\nprint('process', os.getpid())",
    "%%cell net --step -o dbg\ntrain(1)\nprint('done')",
    "print('usable', 6 * 7)",
]
GONE = "The kernel that this panel belongs to is gone. Run the cell again for a live panel."
SECOND = "gradient = dout * slope"


@pytest.fixture
def notebook(lab: Server, open_notebook: Callable[[str], Notebook]) -> Notebook:
    write_notebook(lab.root / "kernel_gone.ipynb", CELLS)
    return open_notebook("kernel_gone.ipynb")


def pause(notebook: Notebook) -> tuple[Panel, int]:
    """Return a panel at its first pause, and the paused process."""
    process = int(notebook.run_to_end(0).split()[-1])
    notebook.run(1)
    panel = Panel.in_cell(notebook.cell(1))
    panel.expect_paused("double")
    return panel, process


def controls_that_are_on(panel: Panel) -> Locator:
    controls = panel.root.locator("button:not([role=tab], .hs-tabs-more), input, select, textarea")
    assert controls.count() > 5
    return controls.and_(panel.root.locator(":enabled"))


def expect_gone(panel: Panel) -> None:
    expect(panel.root.get_by_role("alert").filter(has_text=GONE)).to_be_visible()
    expect(controls_that_are_on(panel)).to_have_count(0)
    expect(panel.root.get_by_role("status").first).to_have_text("kernel gone")


def expect_its_tabs_to_work(panel: Panel) -> None:
    """Expect the tabs to show the data that they got: a view that was never open is empty."""
    panel.tab("Findings")
    expect(panel.view("Findings").get_by_role("heading", name="Findings")).to_be_visible()
    panel.tab("Stepper")
    expect(panel.view("Stepper")).to_contain_text("bprop of")


def dismiss_what_jupyter_says(page: Page) -> None:
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button").last.click()
    expect(dialog).to_have_count(0)


def expect_usable(notebook: Notebook) -> None:
    notebook.wait_ready()
    assert "usable 42" in notebook.run_to_end(2)
    panel, _ = pause(notebook)
    panel.button("Continue").click()
    assert "done" in notebook.finish(1)


def test_after_a_restart(notebook: Notebook) -> None:
    panel, _ = pause(notebook)
    notebook.command("notebook:restart-kernel")
    dialog = notebook.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Confirm Kernel Restart").click()
    expect_gone(panel)
    notebook.wait_ready()
    expect_gone(panel)
    expect_its_tabs_to_work(panel)
    expect_usable(notebook)


def test_after_the_process_was_killed(notebook: Notebook) -> None:
    panel, process = pause(notebook)
    os.kill(process, signal.SIGKILL)
    expect_gone(panel)
    dismiss_what_jupyter_says(notebook.page)
    expect_its_tabs_to_work(panel)
    expect_usable(notebook)


def test_a_connection_that_breaks_and_comes_back(notebook: Notebook, window: Window) -> None:
    panel, _ = pause(notebook)
    kernel = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
    # The page's messages to the server's sockets are held back until they are let through again.
    window.page.evaluate(f"""() => {{
        window.sockets = WebSocket;
        window.WebSocket = class extends WebSocket {{ constructor() {{ super("ws://127.0.0.1:1"); }} }};
        {kernel}.serverSettings.WebSocket = window.WebSocket;
        {kernel}._ws.close();
        {kernel}._onWSClose({{ code: 1006 }});
    }}""")
    expect(panel.root.get_by_role("alert").filter(has_text="No connection to the kernel")).to_be_visible()
    expect(controls_that_are_on(panel)).to_have_count(0)
    window.page.evaluate(f"""() => {{
        window.WebSocket = window.sockets;
        {kernel}.serverSettings.WebSocket = window.sockets;
        void {kernel}.reconnect();
    }}""")
    panel.expect_paused("double")
    expect(panel.root.get_by_role("alert").filter(visible=True)).to_have_count(0)
    panel.step_over_to(SECOND)
    panel.button("Continue").click()
    assert "done" in notebook.finish(1)
