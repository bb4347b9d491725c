"""The panel of ranks in Chromium: located by roles and names, used by keyboard, read in both themes and widths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fake_fleet import FakeFleet, row
from panel_page import PanelPage
from playwright.sync_api import Locator, Page, expect

from hookscope.engine.debug.compare.ranks import RankFinding
from hookscope.widgets.ranks import RanksPanel
from tests.browser.accessibility import AXE, ENOUGH_CONTRAST, lowest_contrast, violations

NASTY = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture
def panel_page(page: Page, fleet: FakeFleet, sent: list[Any]) -> Iterator[PanelPage]:
    """Return the panel on a page, with one paused rank."""
    fleet.found = [RankFinding("ranks_differ", 3, (2,), "conv", "output", "conv has NaN on rank 2", "look at its data")]
    fleet.ranks[2].captures["conv#0 forward output"] = row(nan=3.0, mean="nan")
    fleet.ranks[2].parameters["conv.bias"] = row(bits="b")
    fleet.pause(1)
    page.set_viewport_size({"width": 1000, "height": 900})
    panels: list[Any] = []

    def make(ranks: Any) -> Any:
        panels.append(RanksPanel(ranks, "net"))
        return panels[0]

    panel_page = PanelPage(page, fleet, sent, make)
    panel_page.until(lambda: ranks(panel_page).get_by_role("table", name="Captures of all ranks").is_visible())
    yield panel_page
    panels[0].close()
    panels[0]._thread.join()


def ranks(panel_page: PanelPage) -> Locator:
    return panel_page.page.get_by_role("group", name="Ranks of net")


def button(panel_page: PanelPage, name: str) -> Locator:
    return ranks(panel_page).get_by_role("button", name=name, exact=True)


def until_text(panel_page: PanelPage, locator: Locator, text: str) -> None:
    panel_page.until(lambda: text in locator.inner_text())


def test_the_ranks_their_states_and_the_whole_are_there_by_role(panel_page: PanelPage, fleet: FakeFleet) -> None:
    rows = ranks(panel_page).get_by_role("table", name="Ranks", exact=True).get_by_role("row")
    panel_page.until(lambda: "paused" in rows.nth(2).inner_text())
    expect(rows.nth(2)).to_contain_text("forward of relu, line 15: breakpoint relu")
    expect(rows.nth(1)).to_contain_text("held")
    until_text(panel_page, ranks(panel_page).get_by_role("status").first, "paused on rank 1")
    fleet.ranks[1].gone = "rank 1 has ended"
    fleet.tell()
    panel_page.until(lambda: "ended" in rows.nth(2).inner_text())


def test_commands_by_keyboard_and_why_they_do_nothing(panel_page: PanelPage, fleet: FakeFleet) -> None:
    over = button(panel_page, "Over")
    panel_page.until(over.is_enabled)
    over.focus()
    panel_page.page.keyboard.press("Enter")
    panel_page.until(lambda: fleet.commands == ["over"])
    for rank in fleet.ranks.values():
        rank.status |= {"state": "idle"}
    fleet.tell()
    panel_page.until(lambda: not over.is_enabled())
    expect(over).to_have_attribute("title", "Step over on all paused ranks: no rank is paused")


def test_a_finding_leads_to_its_value(panel_page: PanelPage) -> None:
    findings = ranks(panel_page).get_by_role("list", name="Findings across ranks").get_by_role("listitem")
    expect(findings).to_contain_text("step 3: conv has NaN on rank 2")
    button(panel_page, "Show conv output").click()
    table = ranks(panel_page).get_by_role("table", name="Captures of all ranks")
    panel_page.until(lambda: table.get_by_role("row").count() == 2)
    cell = table.get_by_role("cell", name="nan (3 NaN)")
    expect(cell).to_have_attribute("title", "3 NaN")
    expect(ranks(panel_page).get_by_role("searchbox", name="Filter captures of all ranks")).to_have_value("conv output")


def test_tabs_filter_and_bits_of_parameters(panel_page: PanelPage, fleet: FakeFleet) -> None:
    ranks(panel_page).get_by_role("tab", name="Captures").press("ArrowRight")
    table = ranks(panel_page).get_by_role("table", name="Parameters of all ranks")
    panel_page.until(lambda: table.is_visible() and table.get_by_role("row").count() == 3)
    ranks(panel_page).get_by_role("checkbox", name="Compare bits").check()
    panel_page.until(lambda: table.get_by_role("img", name="the same bits on all ranks").count() == 1)
    ranks(panel_page).get_by_role("searchbox", name="Filter parameters of all ranks").fill("bias")
    panel_page.until(lambda: table.get_by_role("row").count() == 2)
    ranks(panel_page).get_by_role("combobox", name="Figure").last.select_option("shape")
    panel_page.until(lambda: table.get_by_role("cell", name="2x3 float32").count() == 3)


def test_an_expression_by_enter_has_a_field_for_each_rank(panel_page: PanelPage, fleet: FakeFleet) -> None:
    fleet.ranks[2].names["loss"] = 7
    field = ranks(panel_page).get_by_role("textbox", name="Expression")
    field.fill("loss")
    field.press("Enter")
    log = ranks(panel_page).get_by_role("log", name="Answers")
    panel_page.until(lambda: log.is_visible() and log.inner_text().split() == ["loss:", "0.12", "0.12", "7"])
    expect(log.get_by_role("group", name="rank 2, differs from most ranks: 7")).to_be_visible()
    ranks(panel_page).get_by_role("combobox", name="Evaluate on").select_option("1")
    field.fill("1 / 0")
    field.press("Enter")
    until_text(panel_page, log, "ZeroDivisionError: division by zero")


WIDGETS = """
window.widgetManager = {
  has_model: () => true,
  get_model: async (id) => id,
  create_view: async (id) => {
    const el = Object.assign(document.createElement("div"), { textContent: `this is the ${id}` });
    return { el, remove: () => { el.remove(); (window.removed ??= []).push(id); } };
  },
};
null;
"""


def test_the_chosen_ranks_own_panel_is_shown_alone(panel_page: PanelPage) -> None:
    panel_page.page.evaluate(WIDGETS)
    ranks(panel_page).get_by_role("tab", name="Rank").click()
    until_text(panel_page, ranks(panel_page), "this is the panel of 1")  # the paused one
    expect(ranks(panel_page).get_by_role("radio", name="rank 1")).to_be_checked()
    ranks(panel_page).get_by_role("radio", name="rank 1").press("ArrowRight")
    until_text(panel_page, ranks(panel_page), "this is the panel of 2")
    expect(ranks(panel_page)).not_to_contain_text("this is the panel of 1")
    assert panel_page.page.evaluate("window.removed") == ["panel of 1"]


def test_a_page_that_knows_no_other_widgets_says_so(panel_page: PanelPage) -> None:
    ranks(panel_page).get_by_role("tab", name="Rank").click()
    until_text(panel_page, ranks(panel_page), "This page shows no panel of another process.")


def test_an_error_is_one_line_below(panel_page: PanelPage) -> None:
    panel_page.ask(type="nonsense")
    alert = ranks(panel_page).get_by_role("alert")
    until_text(panel_page, alert, "unknown message 'nonsense'")


def test_words_of_ranks_are_text(panel_page: PanelPage, fleet: FakeFleet) -> None:
    for rank in fleet.ranks.values():
        rank.captures[NASTY] = row(dtype=NASTY)
        rank.names["loss"] = NASTY
        rank.status |= {"reason": NASTY, "state": "held"}
    fleet.found = [RankFinding(NASTY, 1, (0,), NASTY, "", NASTY, NASTY)]
    panel_page.ask(type="refresh")
    panel_page.ask(type="evaluate", expression="loss", rank=-1)
    fleet.tell()
    until_text(panel_page, ranks(panel_page), "<img src=x onerror=alert(1)>\\u202e")
    until_text(panel_page, ranks(panel_page).get_by_role("log"), "<img")
    assert ranks(panel_page).locator("img").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 480])
def test_it_can_be_read_in_both_themes_and_fits_a_narrow_page(panel_page: PanelPage, theme: Any, width: int) -> None:
    page = panel_page.page
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 900})
    panel_page.ask(type="evaluate", expression="loss", rank=-1)
    until_text(panel_page, ranks(panel_page), "0.12")
    for tab in ("Captures", "Parameters", "Rank"):
        ranks(panel_page).get_by_role("tab", name=tab).click()
        panel_page.carry()
        contrast, where = lowest_contrast(page)
        assert contrast >= ENOUGH_CONTRAST, where
        if AXE.exists():  # axe-core needs npm
            assert violations(ranks(panel_page)) == [], json.dumps(violations(ranks(panel_page)))[:2000]
    box = ranks(panel_page).bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= width
