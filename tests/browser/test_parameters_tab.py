"""The Parameters tab: every weight in a table, live while it trains, and changed by hand."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

TAB = "Parameters"
TRAIN, TELL, LIVE, LARGE, SMALLEST = 2, 3, 4, 5, 6
CELLS = [
    NETWORK,
    "%cell net",
    "_session.add_condition('update_too_large')\ntrain(5)",
    "print('bias', net.conv.bias.asnumpy().tolist(), 'requires_grad', net.conv.weight.requires_grad)",
    "import time\nwhile True:\n    train(1)\n    time.sleep(0.02)",
    "large = nn.SequentialCell([nn.Dense(2, 2) for _ in range(5_000)])\n%cell large",
    "print(min(large.get_parameters(), key=lambda p: np.linalg.norm(p.asnumpy())).name)",
]


def grid(panel: Panel) -> Locator:
    return panel.root.get_by_role("grid", name="Parameters")


def row(panel: Panel, name: str) -> Locator:
    """Return the row of a parameter."""
    return grid(panel).get_by_role("row").filter(has=panel.root.page.get_by_role("gridcell", name=name, exact=True))


def sort_by(panel: Panel, column: str) -> None:
    grid(panel).get_by_role("columnheader").get_by_role("button", name=column, exact=True).click()


def find(panel: Panel, text: str) -> None:
    panel.root.get_by_role("searchbox", name="Filter parameters").fill(text)


def test_rows_are_sorted_and_filtered(panel: Panel) -> None:
    first = grid(panel).get_by_role("row").nth(1)
    expect(first).to_contain_text("conv.weight")
    sort_by(panel, "size")
    expect(first).to_contain_text("conv.bias")
    sort_by(panel, "size")
    expect(first).to_contain_text("dense.weight")
    sort_by(panel, "size")
    expect(first).to_contain_text("conv.weight")
    find(panel, "bias")
    expect(grid(panel)).to_have_attribute("aria-rowcount", "3")
    find(panel, "")
    expect(grid(panel)).to_have_attribute("aria-rowcount", "5")


def test_requires_grad_is_switched(panel: Panel, shared_notebook: Notebook) -> None:
    switch = panel.root.get_by_role("checkbox", name="requires_grad of conv.weight")
    switch.click()
    expect(switch).not_to_be_checked()
    assert "requires_grad False" in shared_notebook.run_to_end(TELL)
    switch.click()
    expect(switch).to_be_checked()
    assert "requires_grad True" in shared_notebook.run_to_end(TELL)


def test_a_sparkline_has_the_history_of_each_gradient(panel: Panel, shared_notebook: Notebook) -> None:
    shared_notebook.run_to_end(TRAIN)
    name = re.compile(r"^gradient norm of dense.weight, steps \d+ to \d+: from .* to .*, last ")
    expect(row(panel, "dense.weight").get_by_role("img", name=name)).to_be_visible()
    panel.root.get_by_role("combobox", name="History shows").select_option("update ratio")
    name = re.compile(r"^update ratio of dense.weight, steps \d+ to \d+: ")
    expect(row(panel, "dense.weight").get_by_role("img", name=name)).to_be_visible()


def test_the_arrow_keys_read_the_history_of_the_selected_row(panel: Panel, shared_notebook: Notebook) -> None:
    shared_notebook.run_to_end(TRAIN)
    cell = grid(panel).get_by_role("gridcell", name="dense.weight", exact=True)
    expect(row(panel, "dense.weight").locator(".hs-spark")).to_be_visible()
    cell.click()
    expect(panel.root.get_by_role("region", name="Selected parameter")).to_contain_text("dense.weight")
    grid(panel).focus()
    reading = panel.root.get_by_role("status", name="Point of the history")
    shared_notebook.page.keyboard.press("ArrowLeft")
    expect(reading).to_have_text(re.compile(r"^step \d+: (gradient norm|update ratio) \S+$"))
    newest = reading.inner_text()
    shared_notebook.page.keyboard.press("ArrowLeft")
    expect(reading).not_to_have_text(newest)


def test_the_figures_follow_a_training_that_runs(panel: Panel, shared_notebook: Notebook) -> None:
    find(panel, "dense.weight")
    norm = row(panel, "dense.weight").get_by_role("gridcell").nth(6)
    shared_notebook.run(LIVE)
    for _ in range(3):
        before = norm.inner_text()
        expect(norm).not_to_have_text(before)
    assert shared_notebook.running() == LIVE
    shared_notebook.command("notebook:interrupt-kernel")
    assert "KeyboardInterrupt" in shared_notebook.finish(LIVE)
    expect(panel.root.get_by_role("group", name="Progress")).to_be_hidden()
    find(panel, "")


def test_an_edit_says_what_it_will_do_before_it_does_it_and_is_undone(panel: Panel, shared_notebook: Notebook) -> None:
    before = shared_notebook.run_to_end(TELL)
    grid(panel).get_by_role("gridcell", name="conv.bias", exact=True).click()
    chosen = panel.root.get_by_role("region", name="Selected parameter")
    expect(chosen).to_contain_text("conv.bias")
    status = chosen.get_by_role("status", name="Preview of the change")
    chosen.get_by_role("textbox", name="Elements").fill("[1:3]")
    chosen.get_by_role("textbox", name="Number").fill("7")
    expect(status).to_contain_text("changes 2 of 4 elements of conv.bias")
    assert shared_notebook.run_to_end(TELL) == before
    chosen.get_by_role("button", name="Apply").click()
    expect(status).to_contain_text("done, set conv.bias[1:3] to 7")
    assert ", 7.0, 7.0, " in shared_notebook.run_to_end(TELL)
    chosen.get_by_role("button", name="Undo").click()
    expect(status).to_contain_text("undone: set conv.bias[1:3] to 7")
    assert shared_notebook.run_to_end(TELL) == before


def test_ten_thousand_parameters_open_and_are_sorted_by_their_figures(panel: Panel, shared_notebook: Notebook) -> None:
    shared_notebook.run_to_end(LARGE)
    large = Panel.in_cell(shared_notebook.cell(LARGE))
    large.tab("Parameters")
    expect(grid(large)).to_have_attribute("aria-rowcount", "10001")
    assert grid(large).get_by_role("row").count() < 100
    smallest = shared_notebook.run_to_end(SMALLEST).strip()
    sort_by(large, "norm")
    first = grid(large).get_by_role("row").nth(1).get_by_role("gridcell").first
    expect(first).to_have_text(smallest)
    find(large, "4321.weight")
    expect(row(large, "4321.weight")).to_be_visible()
