"""The notebook 05_widget_driven_debugging: clicks alone make its network learn.

The cells that mend the network in code are not run; the panel makes the same changes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook, Server, write_notebook
from tests.browser.panel import Panel

OpenNotebook = Callable[[str], Notebook]

NAME = "05_widget_driven_debugging.ipynb"
LEARNS = "over 90% of the test images right: True"
LEARNS_NOT = "over 90% of the test images right: False"
MENDED_IN_CODE = ("set_train(", "parameter_edits", "set_requires_grad(")


@pytest.fixture
def notebook(lab: Server, open_notebook: OpenNotebook, repository: Path) -> Notebook:
    shutil.copy(repository / "notebooks" / NAME, lab.root / NAME)
    return open_notebook(NAME)


def run_through(notebook: Notebook, text: str, after: int = -1) -> int:
    """Run the cells after one up to the first that contains `text`, without those that mend in code."""
    cells = [index for index in notebook.code_cells() if index > after]
    last = next(index for index in cells if text in notebook.source(index))
    for index in cells[: cells.index(last) + 1]:
        source = notebook.source(index)
        if "dbg." in source and any(call in source for call in MENDED_IN_CODE):
            continue
        notebook.run(index)
        notebook.finish(index)
    return last


def view(panel: Panel, name: str) -> Locator:
    panel.tab(name)
    expect(panel.view(name)).to_be_visible()
    return panel.view(name)


def test_the_network_learns_when_it_is_mended_by_panel_alone(notebook: Notebook) -> None:
    first = run_through(notebook, "--check all -o dbg")
    assert LEARNS_NOT in notebook.text(notebook.find("fit(net, steps=200)"))

    panel = Panel.in_cell(notebook.cell(first))
    cards = view(panel, "Findings").get_by_role("list", name="Findings").locator(":scope > li")
    expect(cards).to_have_count(3)
    expect(cards.nth(0)).to_contain_text("BatchNorm1d is in prediction mode while the network is trained")
    expect(cards.nth(1)).to_contain_text("frozen_parameter in squeeze")
    expect(cards.nth(2)).to_contain_text("4096 of 4096 elements are zero")
    expect(cards.nth(2)).to_contain_text("bias before it")

    panel.button("show cell norm").first.click()
    mode = panel.root.get_by_role("switch", name="train mode of norm", exact=True)
    expect(mode).to_have_attribute("aria-checked", "false")
    panel.toggle_train("norm")

    parameters = view(panel, "Parameters")
    parameters.get_by_role("row").filter(has_text="hidden.bias").click()
    selected = panel.root.get_by_role("region", name="Selected parameter")
    selected.get_by_role("combobox", name="Change", exact=True).select_option("set to zero")
    preview = selected.get_by_role("status", name="Preview of the change")
    expect(preview).to_contain_text("changes 64 of 64 elements of hidden.bias: min -20 -> 0")
    selected.get_by_role("button", name="Apply", exact=True).click()
    expect(preview).to_contain_text("done")

    second = run_through(notebook, "--every 150", after=first)
    better = run_through(notebook, "over 70%", after=second)
    assert "over 70% of the test images right: True" in notebook.text(better)
    assert LEARNS_NOT in notebook.text(better)

    panel = Panel.in_cell(notebook.cell(second))
    findings = view(panel, "Findings").get_by_role("list", name="Findings").locator(":scope > li")
    expect(findings).to_have_count(1)
    expect(findings).to_contain_text("frozen_parameter in squeeze")
    frozen = view(panel, "Parameters").get_by_role("row").filter(has_text="squeeze.weight")
    box = frozen.get_by_role("checkbox", name="requires_grad of squeeze.weight", exact=True)
    expect(box).not_to_be_checked()
    box.click()
    expect(box).to_be_checked()

    last = run_through(notebook, "steps=400", after=better)
    assert LEARNS in notebook.text(last)
    assert notebook.failed() == []


def test_code_that_mends_finds_nothing_left_to_do(notebook: Notebook) -> None:
    """A person who has clicked may run the cells that do the same in code: they change nothing."""
    first = run_through(notebook, "--check all -o dbg")
    panel = Panel.in_cell(notebook.cell(first))
    panel.toggle_train("norm")
    view(panel, "Parameters").get_by_role("row").filter(has_text="hidden.bias").click()
    selected = panel.root.get_by_role("region", name="Selected parameter")
    selected.get_by_role("combobox", name="Change", exact=True).select_option("scale by")
    selected.get_by_role("textbox", name="Factor", exact=True).fill("0.25")
    preview = selected.get_by_role("status", name="Preview of the change")
    expect(preview).to_contain_text("changes 64 of 64 elements of hidden.bias")
    selected.get_by_role("button", name="Apply", exact=True).click()
    expect(preview).to_contain_text("done")
    mended = notebook.find("parameter_edits")
    notebook.run(mended)
    assert "norm trains: True  largest bias of hidden: -5.0" in notebook.finish(mended)


def test_find_faults_is_all_that_one_must_click_to_learn_what_is_wrong(
    lab: Server, open_notebook: OpenNotebook, repository: Path
) -> None:
    """The same network, in a panel without chosen conditions."""
    cells = json.loads((repository / "notebooks" / NAME).read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    mended = next(index for index, source in enumerate(code) if "requires_grad = False" in source)
    write_notebook(lab.root / "find_faults.ipynb", [*code[: mended + 1], "%cell net", "fit(net, steps=5)"])
    notebook = open_notebook("find_faults.ipynb")
    cell = run_through(notebook, "%cell net")
    panel = Panel.in_cell(notebook.cell(cell))
    panel.button("Find faults").click()
    findings = panel.view("Findings")
    expect(findings).to_contain_text("Nothing has run yet.")
    expect(panel.button("Find faults")).to_be_hidden()
    notebook.run_to_end(cell + 1)
    notebook.cell(cell)
    causes = findings.get_by_role("list", name="Findings").locator(":scope > li")
    expect(causes.filter(has_text="wrong_mode in norm")).to_be_visible()
    expect(causes.filter(has_text="dead_relu in relu")).to_be_visible()
