"""A cell that is run again keeps what was clicked in its panel, says what does not fit, and forgets it on request."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook, Server, write_notebook
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

CELLS = [NETWORK, "%cell net", "net = nn.SequentialCell([nn.Conv2d(1, 4, 3)])"]


@pytest.fixture
def notebook(lab: Server, open_notebook: Callable[[str], Notebook]) -> Notebook:
    write_notebook(lab.root / "rerun_of_a_cell.ipynb", CELLS)
    return open_notebook("rerun_of_a_cell.ipynb")


def panel_of(notebook: Notebook) -> tuple[Panel, Locator]:
    """Return the panel of the second cell, run again, and its note."""
    notebook.run_to_end(1)
    panel = Panel.in_cell(notebook.cell(1))
    return panel, panel.root.get_by_role("note", name="Kept from the previous run")


def test_a_cell_that_is_run_again_keeps_what_was_clicked(notebook: Notebook) -> None:
    notebook.run_to_end(0)
    panel, note = panel_of(notebook)
    expect(note).to_be_hidden()
    panel.toggle_hook("forward", "dense")
    panel.tab("Hooks")
    panel, note = panel_of(notebook)
    expect(note).to_contain_text("Kept from the previous run: 1 hook.")
    expect(panel.view("Hooks")).to_be_visible()
    panel.tree()
    expect(panel.button("forward hook on dense")).to_have_attribute("aria-pressed", "true")
    notebook.run_to_end(2)
    panel, note = panel_of(notebook)
    expect(note.get_by_role("listitem")).to_have_text("forward hook of dense: the network has no such cell now")
    note.get_by_role("button", name="Forget").click()
    expect(note).to_be_hidden()
    panel, note = panel_of(notebook)
    expect(note).to_be_hidden()
