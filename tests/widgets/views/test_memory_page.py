"""Evicted captures, in Chromium: their rows, their note, and the form that changes the bounds."""

from __future__ import annotations

import pytest
from panel_page import PanelPage
from plain_session import PlainSession
from playwright.sync_api import Locator

from tests.browser.accessibility import AXE, lowest_contrast, violations


@pytest.fixture
def rows(panel_page: PanelPage, session: PlainSession) -> Locator:
    """Return the rows of six captures: two were evicted with their figures, and one without."""
    for step in range(1, 7):
        session.capture(step=step)
    session.captures.give_up(1)
    session.captures.give_up(1, figures=False)
    session.emit("finished")
    panel_page.page.get_by_role("tab", name="Captures").click()
    grid = panel_page.page.get_by_role("grid", name="Captures")
    panel_page.page.get_by_role(
        "button", name="By cell"
    ).click()  # a row each, since each is the output of another step
    panel_page.until(lambda: grid.get_attribute("aria-rowcount") == "7")
    session.captures.give_up(1)  # when the page has its row
    session.emit("finished")
    return grid.get_by_role("row")


def test_the_rows_stay_with_their_figures_or_say_that_there_are_none(panel_page: PanelPage, rows: Locator) -> None:
    note = panel_page.page.get_by_role("note").filter(has_text="The values of the 3 oldest were given up.")
    panel_page.until(note.is_visible)
    panel_page.until(lambda: "given up" in rows.nth(2).inner_text() and "·" not in rows.nth(2).inner_text())
    assert rows.count() == 7
    for index in (1, 3, 4):
        assert "1.71" in rows.nth(index).inner_text() and "given up" not in rows.nth(index).inner_text()
    outputs = [rows.nth(k).get_by_role("gridcell", name="output") for k in (3, 4)]
    assert [output.evaluate("one => getComputedStyle(one).fontStyle") for output in outputs] == ["italic", "normal"]
    ratio, where = lowest_contrast(panel_page.page)
    assert ratio >= 4.5, where


def test_one_without_a_value_is_selected_and_shows_its_figures_alone(panel_page: PanelPage, rows: Locator) -> None:
    rows.nth(1).click()
    detail = panel_page.page.get_by_role("region", name="Selected capture")
    panel_page.until(detail.is_visible)
    text = detail.inner_text()
    assert "its figures stay" in text and "2.5" in text
    assert not detail.get_by_role("button", name="Copy as NumPy").is_visible()
    assert detail.locator("canvas:visible").count() == 0
    rows.nth(2).click()
    panel_page.until(lambda: "before its figures were requested" in detail.inner_text())
    rows.nth(5).click()
    panel_page.until(detail.get_by_role("button", name="Copy as NumPy").is_visible)
    panel_page.until(panel_page.page.get_by_role("img", name="Heatmap of block#0 forward output, step 5").is_visible)


def test_the_bounds_are_changed_in_the_panel_or_refused_in_one_line(
    panel_page: PanelPage, session: PlainSession, rows: Locator
) -> None:
    button = panel_page.page.get_by_role("button", name="Memory")
    button.click()
    size = panel_page.page.get_by_role("textbox", name="Values up to")
    assert (size.input_value(), button.get_attribute("aria-expanded")) == ("256 MiB", "true")
    size.fill("1.5GiB")
    size.press("Enter")
    panel_page.until(lambda: session.captures.max_bytes == 3 << 29)
    panel_page.until(lambda: size.input_value() == "1.5 GiB")
    size.fill("much")
    panel_page.page.get_by_role("textbox", name="Captures up to").fill("5")
    panel_page.page.get_by_role("button", name="Set", exact=True).click()
    alert = panel_page.page.get_by_role("alert")
    panel_page.until(alert.is_visible)
    assert alert.inner_text() == "values must be a size of 1 byte or more such as 512MB or 1GiB, got 'much'"
    assert session.captures.max_captures == 20_000
    size.fill("")
    panel_page.page.get_by_role("textbox", name="Captures up to").fill("no")
    panel_page.page.get_by_role("button", name="Set", exact=True).click()
    panel_page.until(lambda: alert.inner_text() == "captures must be a whole number, 1 or more, got 'no'")
    panel_page.page.get_by_role("textbox", name="Captures up to").fill("5")
    panel_page.page.get_by_role("button", name="Set", exact=True).click()
    panel_page.until(lambda: session.captures.max_captures == 5)
    if AXE.is_file():
        assert violations(panel_page.page.get_by_role("group", name="Debugger of Net")) == []
