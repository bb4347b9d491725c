"""The cell tree in Chromium: switches, breakpoints, search, badges, ten thousand cells, and its height."""

from __future__ import annotations

import pytest
from panel_page import PanelPage
from plain_session import PlainSession, plain_node
from playwright.sync_api import Locator

from hookscope.engine.debug import Breakpoint


def button(shown: PanelPage, name: str) -> Locator:
    return shown.page.get_by_role("button", name=name, exact=True)


def item(shown: PanelPage, name: str) -> Locator:
    return shown.page.get_by_role("treeitem", name=name, exact=True)


def focused(shown: PanelPage) -> str:
    return shown.page.evaluate("document.activeElement.getAttribute('aria-label')")


def many_cells(session: PlainSession, count: int) -> None:
    session.nodes += [plain_node(f"block.c{k}", 2, "Dense") for k in range(count)]


@pytest.mark.parametrize("kind", ["forward_pre", "forward", "backward_pre", "backward"])
def test_a_click_attaches_a_hook_and_the_model_answers(shown: PanelPage, session: PlainSession, kind: str) -> None:
    toggle = button(shown, f"{kind} hook on block.relu")
    assert toggle.get_attribute("aria-pressed") == "false"
    toggle.click()
    shown.until(lambda: toggle.get_attribute("aria-pressed") == "true")
    assert session.node("block.relu").attached == {kind}


def test_the_train_switch_follows_a_click(shown: PanelPage, session: PlainSession) -> None:
    switch = shown.page.get_by_role("switch", name="train mode of block.relu")
    switch.click()
    shown.until(lambda: switch.get_attribute("aria-checked") == "false")
    assert session.node("block.relu").training is False


@pytest.mark.parametrize("moment", ["forward_pre", "forward", "backward_pre", "backward", "bprop"])
def test_a_breakpoint_is_set_at_any_moment_and_taken_away(shown: PanelPage, session: PlainSession, moment: str) -> None:
    choice = shown.page.get_by_role("combobox", name="breakpoint at block.relu")
    choice.select_option(moment)
    shown.until(lambda: session.breakpoints == [Breakpoint("block.relu", moment)])
    shown.until(lambda: choice.locator("xpath=self::*[not(contains(@class, 'hs-pending'))]").count() == 1)
    assert choice.input_value() == moment
    choice.select_option("")
    shown.until(lambda: session.breakpoints == [])


def test_a_cell_without_a_bprop_offers_no_breakpoint_in_it(shown: PanelPage) -> None:
    choice = shown.page.get_by_role("combobox", name="breakpoint at block", exact=True)
    offered = choice.get_by_role("option").all_inner_texts()
    assert offered[1:] == ["forward_pre", "forward", "backward_pre", "backward"]


def test_several_breakpoints_at_one_cell_are_told(shown: PanelPage, session: PlainSession) -> None:
    session.breakpoints = [Breakpoint("block"), Breakpoint("bl*", "backward")]
    shown.panel.sync()
    choice = shown.page.get_by_role("combobox", name="breakpoint at block", exact=True)
    shown.until(lambda: choice.evaluate("e => e.selectedOptions[0].textContent") == "forward, backward")


def test_a_breakpoint_that_is_refused_shows_as_it_was(shown: PanelPage, session: PlainSession) -> None:
    def refuse(stop: object) -> None:
        raise ValueError("not here")

    session.add_breakpoint = refuse
    choice = shown.page.get_by_role("combobox", name="breakpoint at block.relu")
    choice.select_option("forward")
    shown.until(lambda: "not here" in shown.page.get_by_role("alert").inner_text())
    shown.until(lambda: choice.input_value() == "")


def test_the_tree_is_walked_with_the_arrow_keys(shown: PanelPage, session: PlainSession) -> None:
    keyboard = shown.page.keyboard
    shown.page.get_by_role("searchbox", name="Search cells").focus()
    keyboard.press("Tab")
    assert focused(shown) == "(root), Net"
    keyboard.press("ArrowDown")
    assert focused(shown) == "block, Block"
    keyboard.press("ArrowLeft")
    assert item(shown, "block, Block").get_attribute("aria-expanded") == "false"
    assert shown.page.get_by_role("treeitem").count() == 2
    keyboard.press("ArrowRight")
    keyboard.press("ArrowRight")
    assert focused(shown) == "block.relu, LeakyReLU"
    keyboard.press("Tab")
    assert focused(shown) == "forward_pre hook on block.relu"
    keyboard.press("Space")
    shown.until(lambda: session.node("block.relu").attached == {"forward_pre"})
    keyboard.press("Escape")
    assert focused(shown) == "block.relu, LeakyReLU"


def test_of_ten_thousand_cells_only_those_in_sight_are_elements(shown: PanelPage, session: PlainSession) -> None:
    many_cells(session, 10_000)
    shown.panel.sync()
    items = shown.page.get_by_role("treeitem")
    shown.until(lambda: items.count() == 2)
    item(shown, "block, Block").focus()
    shown.page.keyboard.press("ArrowRight")
    assert 10 < items.count() < 40
    assert item(shown, "block.c5, Dense").get_attribute("aria-setsize") == "10001"
    shown.page.keyboard.press("End")
    assert focused(shown) == "block.c9999, Dense"
    assert item(shown, "block.c9999, Dense").get_attribute("aria-posinset") == "10001"
    assert item(shown, "block.c9999, Dense").is_visible()


def test_the_focused_cell_stays_when_it_is_scrolled_out_of_sight(shown: PanelPage, session: PlainSession) -> None:
    many_cells(session, 1000)
    shown.panel.sync()
    shown.until(lambda: shown.page.get_by_role("treeitem").count() == 2)
    item(shown, "block, Block").focus()
    shown.page.keyboard.press("ArrowRight")
    shown.page.mouse.move(300, 300)
    shown.page.mouse.wheel(0, 9000)
    shown.until(lambda: item(shown, "block.c320, Dense").count() == 1)
    assert focused(shown) == "block, Block"
    shown.page.keyboard.press("ArrowDown")
    assert focused(shown) == "block.relu, LeakyReLU"


def test_the_search_opens_what_is_shut_and_enter_goes_on(shown: PanelPage, session: PlainSession) -> None:
    many_cells(session, 1000)
    shown.panel.sync()
    shown.until(lambda: shown.page.get_by_role("treeitem").count() == 2)
    box = shown.page.get_by_role("searchbox", name="Search cells")
    bar = shown.page.get_by_role("tabpanel", name="Cells")
    box.fill("dense c99")
    assert "1 of 11: block.c99" in bar.inner_text()
    assert item(shown, "block.c99, Dense").is_visible()
    box.press("Enter")
    assert "2 of 11: block.c990" in bar.inner_text()
    assert item(shown, "block.c990, Dense").is_visible()
    box.press("Shift+Enter")
    box.press("Shift+Enter")
    assert "11 of 11: block.c999" in bar.inner_text()
    box.fill("nowhere")
    assert "no match" in bar.inner_text()


def test_a_badge_tells_the_hits_and_opens_what_was_found_there(shown: PanelPage, session: PlainSession) -> None:
    session.find("dead_relu", "block.relu", count=3)
    session.find("nan", "block.relu", count=2)
    session.find("wrong_mode", "block")
    shown.panel.sync()
    badge = button(shown, "5 condition hits at block.relu, the worst: nan")
    shown.until(badge.is_visible)
    badge.click()
    causes = shown.page.get_by_role("list", name="Findings").locator(":scope > li")
    assert causes.count() == 1 and "so also: dead_relu in block.relu" in causes.inner_text()
    button(shown, "All cells").click()
    assert causes.count() == 2


def test_the_panel_of_a_large_network_scrolls_inside(shown: PanelPage, session: PlainSession) -> None:
    many_cells(session, 100)
    shown.panel.sync()
    shown.until(lambda: shown.page.get_by_role("treeitem").count() == 2)
    item(shown, "block, Block").focus()
    shown.page.keyboard.press("ArrowRight")
    panel = shown.page.get_by_role("group", name="Debugger of Net")
    assert panel.bounding_box()["height"] <= 520
    assert panel.evaluate("panel => panel.scrollHeight <= panel.clientHeight")
    assert shown.page.get_by_role("status").is_visible()
