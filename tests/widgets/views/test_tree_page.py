"""The cell tree in Chromium: switches, breakpoints, search, badges, figures, trends, ten thousand cells, its height."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from panel_page import PanelPage
from plain_session import PlainCapture, PlainSession, PlainTensor, plain_node
from playwright.sync_api import Browser, Locator, Page, expect

from hookscope.engine import Tensor, nn, value_and_grad
from hookscope.engine.debug import Breakpoint, DebugSession
from hookscope.engine.debug.record.statistics import load_kernels
from tests.browser.accessibility import AXE, lowest_contrast, violations


@pytest.fixture(scope="module", autouse=True)
def kernels() -> None:
    """Load the statistics' kernels now, since a background thread would load them later."""
    load_kernels()


def button(panel_page: PanelPage, name: str) -> Locator:
    return panel_page.page.get_by_role("button", name=name, exact=True)


def item(panel_page: PanelPage, name: str) -> Locator:
    return panel_page.page.get_by_role("treeitem", name=name, exact=True)


def focused(panel_page: PanelPage) -> str:
    return panel_page.page.evaluate("document.activeElement.getAttribute('aria-label')")


def many_cells(session: PlainSession, count: int) -> None:
    session.nodes += [plain_node(f"block.c{k}", 2, "Dense") for k in range(count)]


@pytest.mark.parametrize("kind", ["forward_pre", "forward", "backward_pre", "backward"])
def test_a_click_attaches_a_hook_and_the_model_answers(panel_page: PanelPage, session: PlainSession, kind: str) -> None:
    toggle = button(panel_page, f"{kind} hook on block.relu")
    assert toggle.get_attribute("aria-pressed") == "false"
    toggle.click()
    panel_page.until(lambda: toggle.get_attribute("aria-pressed") == "true")
    assert session.node("block.relu").attached == {kind}


def test_the_train_switch_follows_a_click(panel_page: PanelPage, session: PlainSession) -> None:
    switch = panel_page.page.get_by_role("switch", name="train mode of block.relu")
    switch.click()
    panel_page.until(lambda: switch.get_attribute("aria-checked") == "false")
    assert session.node("block.relu").training is False


@pytest.mark.parametrize("moment", ["forward_pre", "forward", "backward_pre", "backward", "bprop"])
def test_a_breakpoint_is_set_at_any_moment_and_taken_away(
    panel_page: PanelPage, session: PlainSession, moment: str
) -> None:
    choice = panel_page.page.get_by_role("combobox", name="breakpoint at block.relu")
    choice.select_option(moment)
    panel_page.until(lambda: session.breakpoints == [Breakpoint("block.relu", moment)])
    panel_page.until(lambda: choice.locator("xpath=self::*[not(contains(@class, 'hs-pending'))]").count() == 1)
    assert choice.input_value() == moment
    choice.select_option("")
    panel_page.until(lambda: session.breakpoints == [])


def test_a_cell_without_a_bprop_offers_no_breakpoint_in_it(panel_page: PanelPage) -> None:
    choice = panel_page.page.get_by_role("combobox", name="breakpoint at block", exact=True)
    offered = choice.get_by_role("option").all_inner_texts()
    assert offered[1:] == ["forward_pre", "forward", "backward_pre", "backward", "exception"]


def test_several_breakpoints_at_one_cell_are_told(panel_page: PanelPage, session: PlainSession) -> None:
    session.breakpoints = [Breakpoint("block"), Breakpoint("bl*", "backward")]
    panel_page.panel.sync()
    choice = panel_page.page.get_by_role("combobox", name="breakpoint at block", exact=True)
    panel_page.until(lambda: choice.evaluate("e => e.selectedOptions[0].textContent") == "forward, backward")
    assert choice.get_attribute("title") == "forward, backward"


def test_a_breakpoint_that_is_refused_shows_as_it_was(panel_page: PanelPage, session: PlainSession) -> None:
    def refuse(stop: object) -> None:
        raise ValueError("not here")

    session.add_breakpoint = refuse
    choice = panel_page.page.get_by_role("combobox", name="breakpoint at block.relu")
    choice.select_option("forward")
    panel_page.until(lambda: "not here" in panel_page.page.get_by_role("alert").inner_text())
    panel_page.until(lambda: choice.input_value() == "")


def test_the_tree_is_walked_with_the_arrow_keys(panel_page: PanelPage, session: PlainSession) -> None:
    keyboard = panel_page.page.keyboard
    panel_page.page.get_by_role("searchbox", name="Search cells").focus()
    keyboard.press("Tab")
    assert focused(panel_page) == "(root), Net"
    keyboard.press("ArrowDown")
    assert focused(panel_page) == "block, Block"
    keyboard.press("ArrowLeft")
    assert item(panel_page, "block, Block").get_attribute("aria-expanded") == "false"
    assert panel_page.page.get_by_role("treeitem").count() == 2
    keyboard.press("ArrowRight")
    keyboard.press("ArrowRight")
    assert focused(panel_page) == "block.relu, LeakyReLU"
    keyboard.press("Tab")
    assert focused(panel_page) == "forward_pre hook on block.relu"
    keyboard.press("Space")
    panel_page.until(lambda: session.node("block.relu").attached == {"forward_pre"})
    keyboard.press("Escape")
    assert focused(panel_page) == "block.relu, LeakyReLU"


def test_of_ten_thousand_cells_only_those_in_sight_are_elements(panel_page: PanelPage, session: PlainSession) -> None:
    many_cells(session, 10_000)
    panel_page.panel.sync()
    items = panel_page.page.get_by_role("treeitem")
    panel_page.until(lambda: items.count() == 2)
    item(panel_page, "block, Block").focus()
    panel_page.page.keyboard.press("ArrowRight")
    assert 10 < items.count() < 40
    assert item(panel_page, "block.c5, Dense").get_attribute("aria-setsize") == "10001"
    panel_page.page.keyboard.press("End")
    assert focused(panel_page) == "block.c9999, Dense"
    assert item(panel_page, "block.c9999, Dense").get_attribute("aria-posinset") == "10001"
    assert item(panel_page, "block.c9999, Dense").is_visible()


def test_the_focused_cell_stays_when_it_is_scrolled_out_of_sight(panel_page: PanelPage, session: PlainSession) -> None:
    many_cells(session, 1000)
    panel_page.panel.sync()
    panel_page.until(lambda: panel_page.page.get_by_role("treeitem").count() == 2)
    item(panel_page, "block, Block").focus()
    panel_page.page.keyboard.press("ArrowRight")
    panel_page.page.mouse.move(300, 300)
    panel_page.page.mouse.wheel(0, 9000)
    panel_page.until(lambda: item(panel_page, "block.c320, Dense").count() == 1)
    assert focused(panel_page) == "block, Block"
    panel_page.page.keyboard.press("ArrowDown")
    assert focused(panel_page) == "block.relu, LeakyReLU"


def test_the_search_opens_what_is_shut_and_enter_goes_on(panel_page: PanelPage, session: PlainSession) -> None:
    many_cells(session, 1000)
    panel_page.panel.sync()
    panel_page.until(lambda: panel_page.page.get_by_role("treeitem").count() == 2)
    box = panel_page.page.get_by_role("searchbox", name="Search cells")
    bar = panel_page.page.get_by_role("tabpanel", name="Cells")
    box.fill("dense c99")
    assert "1 of 11: block.c99" in bar.inner_text()
    assert item(panel_page, "block.c99, Dense").is_visible()
    box.press("Enter")
    assert "2 of 11: block.c990" in bar.inner_text()
    assert item(panel_page, "block.c990, Dense").is_visible()
    box.press("Shift+Enter")
    box.press("Shift+Enter")
    assert "11 of 11: block.c999" in bar.inner_text()
    box.fill("nowhere")
    assert "no match" in bar.inner_text()


def test_a_badge_tells_the_hits_and_opens_what_was_found_there(panel_page: PanelPage, session: PlainSession) -> None:
    session.find("dead_relu", "block.relu", count=3)
    session.find("nan", "block.relu", count=2)
    session.find("wrong_mode", "block")
    panel_page.panel.sync()
    badge = button(panel_page, "5 condition hits at block.relu, the worst: nan")
    panel_page.until(badge.is_visible)
    badge.click()
    causes = panel_page.page.get_by_role("list", name="Findings").locator(":scope > li")
    assert causes.count() == 1 and "so also: dead_relu in block.relu" in causes.inner_text()
    button(panel_page, "All cells").click()
    assert causes.count() == 2


def test_the_panel_of_a_large_network_scrolls_inside(panel_page: PanelPage, session: PlainSession) -> None:
    many_cells(session, 100)
    panel_page.panel.sync()
    panel_page.until(lambda: panel_page.page.get_by_role("treeitem").count() == 2)
    item(panel_page, "block, Block").focus()
    panel_page.page.keyboard.press("ArrowRight")
    panel = panel_page.page.get_by_role("group", name="Debugger of Net")
    assert panel.bounding_box()["height"] <= 520
    assert panel.evaluate("panel => panel.scrollHeight <= panel.clientHeight")
    assert panel_page.page.get_by_role("status").is_visible()


# Controls that appear


def opacity(control: Locator) -> str:
    return control.evaluate("control => getComputedStyle(control).opacity")


def positions(row: Locator) -> list[Any]:
    return row.evaluate("row => [...row.querySelectorAll('*')].map((one) => one.getBoundingClientRect().toJSON())")


def test_controls_appear_with_the_pointer_or_the_focus_and_nothing_moves(panel_page: PanelPage) -> None:
    row = item(panel_page, "block, Block")
    hook = button(panel_page, "forward hook on block")
    stop = panel_page.page.get_by_role("combobox", name="breakpoint at block", exact=True)
    before = positions(row)
    assert [opacity(item) for item in (hook, stop)] == ["0", "0"]
    row.hover()
    assert [opacity(item) for item in (hook, stop)] == ["1", "1"]
    assert positions(row) == before
    panel_page.page.mouse.move(1, 1)
    assert opacity(hook) == "0"
    row.focus()
    assert [opacity(item) for item in (hook, stop)] == ["1", "1"]
    panel_page.page.keyboard.press("Tab")  # into the row
    assert opacity(hook) == "1"


def test_what_is_set_is_always_to_be_seen(panel_page: PanelPage, session: PlainSession) -> None:
    session.attach_hook("block", "forward")
    session.node("block").hooks["backward"] = 2  # of the user's own code
    session.breakpoints.append(Breakpoint("block", "forward"))
    session.node("block.relu").training = False
    panel_page.panel.sync()
    page = panel_page.page
    stop = page.get_by_role("combobox", name="breakpoint at block", exact=True)
    panel_page.until(lambda: stop.input_value() == "forward")
    opacities = {
        name: opacity(button(panel_page, f"{name} hook on block")) for name in ("forward_pre", "forward", "backward")
    }
    assert opacities == {"forward_pre": "0", "forward": "1", "backward": "1"}
    assert opacity(stop) == "1"
    # The mode of the whole, and where a cell's is not that of the cell around it.
    switches = [page.get_by_role("switch", name=f"train mode of {name}") for name in ("(root)", "block", "block.relu")]
    assert [opacity(switch.first) for switch in switches] == ["1", "0", "1"]


def test_where_nothing_hovers_controls_are_always_there(
    browser: Browser, session: PlainSession, sent: list[Any]
) -> None:
    context = browser.new_context(has_touch=True, is_mobile=True, viewport={"width": 480, "height": 800})
    touched = PanelPage(context.new_page(), session, sent)
    touched.panel.view = "cells"
    touched.carry()
    assert touched.page.evaluate("matchMedia('(hover: none)').matches")
    assert opacity(button(touched, "forward hook on block")) == "1"
    context.close()


# Figures


def bar(panel_page: PanelPage, name: str) -> Locator:
    """Return the bar whose name begins so."""
    return panel_page.page.get_by_role("button", name=re.compile(f"^{re.escape(name)}"))


def value(session: PlainSession, path: str, array: list[float], **more: Any) -> None:
    index = len(session.captures)
    session.captures.append(PlainCapture(index, path, PlainTensor(np.array(array, np.float32)), **more))
    session.emit("captured")


def test_bars_are_long_by_their_logarithm_and_a_cell_without_figures_has_none(
    panel_page: PanelPage, session: PlainSession
) -> None:
    value(session, "block", [0.0, 2e-6])
    value(session, "block.relu", [0.0, 2e-3])
    value(session, "block.relu", [30.0, 40.0], direction="backward", slot="grad_output[0]")
    panel_page.panel.sync()
    least = bar(panel_page, "output spread 1.0e-6, at block in")
    most = bar(panel_page, "output spread 0.00100, at block.relu in")
    panel_page.until(lambda: least.is_visible() and most.is_visible())
    widths = [item.locator(".hs-figure-bar").evaluate("bar => parseFloat(bar.style.width)") for item in (least, most)]
    assert widths[1] == 100
    assert 0 < widths[0] < 10
    expect(bar(panel_page, "gradient norm 50, at block.relu in step 1")).to_be_visible()
    assert item(panel_page, "(root), Net").locator(".hs-figure:not([hidden])").count() == 0


@pytest.mark.parametrize("width", [1400, 1000, 480])
def test_zero_constant_and_nan_are_words_and_no_empty_bar(
    panel_page: PanelPage, session: PlainSession, width: int
) -> None:
    panel_page.page.set_viewport_size({"width": width, "height": 640})
    value(session, "", [0.0, 0.0])
    value(session, "block", [5.0, 5.0])
    value(session, "block.relu", [1.0, 3.0, np.nan, np.inf])
    panel_page.panel.sync()
    for name, word in [
        ("output spread 0: every element is zero, at (root)", "zero"),
        ("output spread 0: every element is the same, of magnitude 5, at block", "const"),
        ("output spread NaN: 1 NaN, 1 inf of 4 elements, 1 without them, at block.relu", "NaN"),
    ]:
        panel_page.until(bar(panel_page, name).is_visible)
        assert bar(panel_page, name).inner_text() == word


def test_figures_follow_the_rows_in_sight_and_the_focus_stays(panel_page: PanelPage, session: PlainSession) -> None:
    many_cells(session, 400)
    for k in range(400):
        value(session, f"block.c{k}", [0.0, 2.0 + k])
    panel_page.panel.sync()
    panel_page.until(lambda: panel_page.page.get_by_role("treeitem").count() == 2)
    item(panel_page, "block, Block").focus()
    panel_page.page.keyboard.press("ArrowRight")
    panel_page.until(bar(panel_page, "output spread 2, at block.c2 in").is_visible)
    assert session.captures[300].computed == 0
    panel_page.page.mouse.move(300, 300)
    panel_page.page.mouse.wheel(0, 300 * 28)
    panel_page.until(bar(panel_page, "output spread 151, at block.c300 in").is_visible)
    assert session.captures[200].computed == 0
    assert focused(panel_page) == "block, Block"
    box = panel_page.page.get_by_role("searchbox", name="Search cells")
    box.fill("c399")
    panel_page.until(bar(panel_page, "output spread 201, at block.c399 in").is_visible)


# Trends


def trend(panel_page: PanelPage) -> Locator:
    return panel_page.page.get_by_role("tooltip")


def test_a_trend_opens_with_the_focus_and_is_told_in_words(panel_page: PanelPage, session: PlainSession) -> None:
    for step, size in enumerate([1.0, 0.0, np.nan, 4.0, 2.0], 1):
        value(session, "block", [0.0, 2 * size, *([0.0, size] if np.isnan(size) else [])], step=step)
    panel_page.panel.sync()
    panel_page.until(bar(panel_page, "output spread 2, at block in step 5").is_visible)
    item(panel_page, "block, Block").focus()
    panel_page.page.keyboard.press("Tab")
    assert focused(panel_page) == "output spread 2, at block in step 5"
    text = "From 1 in step 1 to 2 in step 5; between 1 and 4; not finite at 1 step; zero at 1 step."
    panel_page.until(lambda: text in trend(panel_page).inner_text())
    assert trend(panel_page).locator("svg").is_visible()
    assert bar(panel_page, "output spread").get_attribute("aria-describedby") == trend(panel_page).get_attribute("id")
    panel_page.page.keyboard.press("Escape")  # first the window, then the row
    expect(trend(panel_page)).to_be_hidden()
    assert focused(panel_page) == "output spread 2, at block in step 5"
    panel_page.page.keyboard.press("Escape")
    assert focused(panel_page) == "block, Block"


def test_a_trend_opens_under_the_pointer_goes_on_with_the_run_and_shuts(
    panel_page: PanelPage, session: PlainSession
) -> None:
    for step in (1, 2):
        value(session, "block", [0.0, 2.0 * step], step=step)
    panel_page.panel.sync()
    panel_page.until(bar(panel_page, "output spread 2, at block").is_visible)
    bar(panel_page, "output spread 2, at block").hover()
    panel_page.until(lambda: "From 1 in step 1 to 2 in step 2." in trend(panel_page).inner_text())
    value(session, "block", [0.0, 6.0], step=3)
    panel_page.panel.sync()
    panel_page.until(lambda: "From 1 in step 1 to 3 in step 3" in trend(panel_page).inner_text())
    panel_page.page.mouse.move(5, 5)
    panel_page.until(trend(panel_page).is_hidden)


def test_a_trend_stays_inside_the_window(panel_page: PanelPage, session: PlainSession) -> None:
    panel_page.page.set_viewport_size({"width": 480, "height": 260})
    value(session, "block.relu", [0.0, 2.0], direction="backward", slot="grad_output[0]")
    panel_page.panel.sync()
    norm = bar(panel_page, "gradient norm 2, at block.relu")
    panel_page.until(norm.is_visible)
    norm.focus()
    panel_page.until(lambda: "Only 2 in step 1 so far." in trend(panel_page).inner_text())
    box = trend(panel_page).bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 480
    assert box["y"] >= 0 and box["y"] + box["height"] <= 260


# Findings inside a cell


def test_a_shut_cell_carries_the_worst_of_what_is_inside_and_leads_there(
    panel_page: PanelPage, session: PlainSession
) -> None:
    session.nodes.append(plain_node("block.dense", 2, "Dense"))
    session.find("dead_relu", "block.relu", count=3)
    session.find("nan", "block.dense", count=2)
    panel_page.panel.sync()
    worst = button(panel_page, "5 condition hits below block, the worst: nan in block.dense")
    panel_page.until(item(panel_page, "block.dense, Dense").is_visible)
    assert not worst.is_visible()  # it is open: each cell has its own
    item(panel_page, "block, Block").focus()
    panel_page.page.keyboard.press("ArrowLeft")
    expect(worst).to_be_visible()
    expect(worst).to_have_text("nan")
    expect(worst).to_have_attribute("data-count", "5")
    worst.click()
    causes = panel_page.page.get_by_role("list", name="Findings").locator(":scope > li")
    expect(causes).to_have_count(1)
    expect(causes).to_contain_text("nan in block.dense")


# All of it at once


class Tied(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Dense(3, 3), nn.Dense(3, 3)
        self.second.weight = self.first.weight
        self.a_name_that_is_as_long_as_names_of_cells_sometimes_are_and_then_some = nn.ReLU()
        self.insert_child_to_cell("\u05e9\u05dc\u05d5\u05dd\U0001f984", nn.ReLU())

    def construct(self, x: Any) -> Any:
        for cell in self.cells():
            x = cell(x)
        return x.sum()


@pytest.fixture(scope="module")
def session_that_ran() -> DebugSession:
    """Return a session over a network with a tied weight, awkward names and a NaN in its last step."""
    net = Tied()
    session = DebugSession(net, conditions=["all"])
    step = value_and_grad(net, None, net.trainable_params())
    with session:
        for number in (1.0, 2.0, np.nan):
            step(Tensor(np.full((2, 3), number, np.float32)))
    return session


@pytest.fixture(params=[(480, "light"), (480, "dark"), (1400, "light"), (1400, "dark")], ids=str)
def full(page: Page, session_that_ran: DebugSession, sent: list[Any], request: pytest.FixtureRequest) -> PanelPage:
    width, theme = request.param
    page.set_viewport_size({"width": width, "height": 700})
    page.emulate_media(color_scheme=theme)
    panel = PanelPage(page, session_that_ran, sent)
    panel.panel.view = "cells"
    panel.carry()
    return panel


def test_shared_parameters_are_told_and_everything_is_readable_and_inside(full: PanelPage) -> None:
    second = item(full, "second, Dense")
    assert "Its weight is the same parameter as first.weight." in second.get_attribute("aria-description")
    assert "9 elements of these shared with first" in second.get_attribute("aria-description")
    assert second.locator(".hs-shared").inner_text() == "weight shared with first"
    full.until(bar(full, "output spread NaN").first.is_visible)
    bar(full, "output spread NaN: 6 NaN of 6 elements, no element is finite, at second").focus()
    full.until(lambda: "not finite at 1 step" in trend(full).inner_text())
    ratio, where = lowest_contrast(full.page)
    assert ratio >= 4.5, where
    panel = full.page.get_by_role("group", name="Debugger of Tied")
    right = panel.bounding_box()["x"] + panel.bounding_box()["width"]
    for control in panel.locator(".hs-cell > *").all():
        box = control.bounding_box()
        assert box is None or box["x"] + box["width"] <= right
    assert panel.locator(".hs-cells").evaluate("cells => cells.scrollWidth <= cells.clientWidth")
    if AXE.exists():
        # A row of the tree is named by its path; the rule wants all of the row's text, the figures too.
        violations_found = [
            line for line in violations(panel) if "label-content-name-mismatch" in line and "treeitem" in line
        ]
        assert [line for line in violations(panel) if line not in violations_found] == []


def test_a_narrow_page_shows_the_names_and_what_can_be_searched_in_full(
    panel_page: PanelPage, session: PlainSession
) -> None:
    session.nodes += [plain_node("block.conv12", 2, "Conv2d"), plain_node("flatten", 1, "Flatten")]
    session.emit("changed")
    panel_page.page.set_viewport_size({"width": 350, "height": 700})
    panel_page.until(item(panel_page, "flatten, Flatten").is_visible)
    names = panel_page.page.get_by_role("treeitem").locator("[title]").filter(has_text=re.compile(r"^[a-z0-9]+$"))
    cut = names.evaluate_all("all => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.title)")
    assert (names.count() > 3, cut) == (True, [])
    search = panel_page.page.get_by_role("searchbox", name="Search cells").bounding_box()
    assert search is not None
    assert search["width"] > 170


def test_the_number_of_parameters_is_apart_from_the_output(panel_page: PanelPage) -> None:
    panel_page.page.set_viewport_size({"width": 1300, "height": 700})
    row = item(panel_page, "block, Block")
    gap = row.evaluate(
        """(row) => {
          const textBox = (name) => {
            const range = document.createRange();
            range.selectNodeContents(row.querySelector(name));
            return range.getBoundingClientRect();
          };
          return textBox(".hs-cell-shape").left - textBox(".hs-cell-count").right;
        }"""
    )
    assert gap > 12
