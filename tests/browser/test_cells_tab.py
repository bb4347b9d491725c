"""The Cells tab: the tree of a network, and the switches of each of its cells."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook, wait_until
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

TAB = "Cells"
TRAIN, TELL, DIE, LARGE = 2, 3, 4, 5
CELLS = [
    NETWORK,
    "%cell net",
    "train(1)",
    """\
print('training', net.relu.training, 'hooks', [(hook.path, hook.kind) for hook in _session.hooks()])
print('breakpoints', len(_session.breakpoints))""",
    "_session.add_condition('dead_relu')\nkill_relu()\ntrain(3)",
    "large = nn.SequentialCell([nn.ReLU() for _ in range(10_000)])\n%cell large",
]


@pytest.fixture(autouse=True)
def tree(panel: Panel) -> None:
    """Return the tree."""
    panel.tree()


def item(panel: Panel, name: str) -> Locator:
    return panel.root.get_by_role("treeitem", name=name, exact=True)


def test_one_panel_has_all_views(panel: Panel) -> None:
    for name in ("Captures", "Parameters", "Stepper", "Findings", "Hooks", "Cells"):
        panel.tab(name)
        expect(panel.view(name)).to_be_visible()
        expect(panel.root.get_by_role("tab", selected=True)).to_contain_text(name)


def test_a_cell_shows_its_type_its_parameters_and_the_shape_of_its_last_output(
    panel: Panel, shared_notebook: Notebook
) -> None:
    shared_notebook.run_to_end(TRAIN)
    for name, parameters, shape in [("conv, Conv2d", "40", "2x4x6x6"), ("dense, Dense", "725", "2x5")]:
        expect(item(panel, name)).to_contain_text(parameters)
        expect(item(panel, name)).to_contain_text(shape)


def test_a_cell_that_ran_has_figures_with_their_trend(panel: Panel, shared_notebook: Notebook) -> None:
    shared_notebook.run_to_end(TRAIN)
    shared_notebook.run_to_end(TRAIN)
    for name in (r"^output spread [\d.]+, at dense in step", r"^gradient norm [\d.e-]+, at dense in step"):
        figure = item(panel, "dense, Dense").get_by_role("button", name=re.compile(name))
        expect(figure).to_be_visible()
        figure.focus()
        expect(panel.root.get_by_role("tooltip")).to_contain_text(re.compile(r"From [\d.e-]+ in step 1 to"))
        figure.press("Escape")
        expect(panel.root.get_by_role("tooltip")).to_be_hidden()


@pytest.mark.parametrize("kind", ["forward_pre", "forward", "backward_pre", "backward"])
def test_a_hook_of_each_kind_is_attached_and_taken_off(panel: Panel, shared_notebook: Notebook, kind: str) -> None:
    panel.toggle_hook(kind, "dense")
    assert f"hooks [('dense', '{kind}')]" in shared_notebook.run_to_end(TELL)
    panel.toggle_hook(kind, "dense")
    assert "hooks []" in shared_notebook.run_to_end(TELL)


def test_a_cell_is_set_to_predict_and_back(panel: Panel, shared_notebook: Notebook) -> None:
    panel.toggle_train("relu")
    assert "training False" in shared_notebook.run_to_end(TELL)
    panel.toggle_train("relu")
    assert "training True" in shared_notebook.run_to_end(TELL)


def test_a_breakpoint_set_in_the_tree_pauses_the_next_run(panel: Panel, shared_notebook: Notebook) -> None:
    breakpoint_at = panel.root.get_by_role("combobox", name="breakpoint at dense", exact=True)
    breakpoint_at.select_option("forward")
    wait_until("the kernel to know the breakpoint", lambda: "breakpoints 1" in shared_notebook.run_to_end(TELL))
    shared_notebook.run(TRAIN)
    panel.expect_paused("dense")
    panel.tab("Cells")
    breakpoint_at.select_option("")
    panel.tab("Stepper")
    panel.button("Continue").click()
    shared_notebook.finish(TRAIN)
    panel.tab("Cells")
    expect(breakpoint_at).to_have_value("")


def test_a_badge_counts_what_was_found_and_leads_to_it(panel: Panel, shared_notebook: Notebook) -> None:
    shared_notebook.run_to_end(DIE)
    item(panel, "relu, ReLU").get_by_role("button", name=re.compile("at relu, the worst: dead_relu$")).click()
    expect(panel.view("Findings")).to_be_visible()
    causes = panel.root.get_by_role("list", name="Findings").locator(":scope > li")
    expect(causes).to_have_count(1)
    expect(causes).to_contain_text("dead_relu in relu")


def test_search_goes_to_cells_by_path_and_by_type(panel: Panel) -> None:
    search = panel.root.get_by_role("searchbox", name="Search cells")
    search.fill("dense")
    expect(panel.root.get_by_text("1 of 1: dense", exact=True)).to_be_visible()
    search.fill("relu")
    search.press("Enter")
    expect(panel.root.get_by_text("1 of 1: relu", exact=True)).to_be_visible()
    search.fill("nowhere")
    expect(panel.root.get_by_text("no match", exact=True)).to_be_visible()
    search.fill("")


def test_ten_thousand_cells_open_and_each_is_found(panel: Panel, shared_notebook: Notebook) -> None:
    shared_notebook.run_to_end(LARGE)
    large = Panel.in_cell(shared_notebook.cell(LARGE))
    large.tree()
    expect(large.root.get_by_text(re.compile(r"^10\s001 cells$"))).to_be_visible()
    large.root.get_by_role("searchbox", name="Search cells").fill("9876")
    expect(item(large, "9876, ReLU")).to_be_visible()
    assert large.root.get_by_role("treeitem").count() < 100
    large.toggle_train("9876")
