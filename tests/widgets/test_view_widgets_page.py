"""Single views, in Chromium: their names, the controls that they omit, and how they work together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets
import pytest
from panel_page import PanelPage
from plain_session import PlainSession
from playwright.sync_api import Locator, Page

from hookscope import widgets
from hookscope.widgets import DebuggerPanel

TITLES = {
    "CellTree": "Cells",
    "CaptureTimeline": "Timeline",
    "TensorView": "Tensor",
    "ParameterEditor": "Parameters",
    "Stepper": "Stepper",
    "FindingList": "Findings",
    "HookEditor": "Hooks",
}


Show = Callable[..., PanelPage]


@pytest.fixture
def show(page: Page, session: PlainSession, sent: list[Any]) -> Show:
    """Put these widgets of the session on the page."""
    return partial(PanelPage, page, session, sent)


def group(shown: PanelPage, name: str) -> Locator:
    return shown.page.get_by_role("group", name=name, exact=True)


@pytest.mark.parametrize("name", TITLES)
def test_a_view_alone_has_its_own_name_and_neither_tabs_nor_export(
    show: Show, session: PlainSession, name: str
) -> None:
    session.capture()
    shown = show(getattr(widgets, name))
    shown.carry()
    alone = group(shown, f"{TITLES[name]} of Net")
    assert alone.is_visible()
    for role in ("tab", "tablist", "tabpanel"):
        assert shown.page.get_by_role(role).count() == 0
    assert shown.page.get_by_role("button", name="Export").count() == 0
    assert shown.page.get_by_role("status").filter(has_text="ready").count() == (name == "Stepper")
    shown.ask(type="explode")
    shown.carry()
    assert "unknown message 'explode'" in alone.get_by_role("alert").inner_text()


def test_what_leads_to_a_view_that_is_not_there_is_not_offered(show: Show, session: PlainSession) -> None:
    session.find("nan", "block.relu", session.capture("block.relu"))
    shown = show(widgets.CellTree, widgets.FindingList, widgets.TensorView)
    shown.panels[2].selected = 0
    detail = shown.page.get_by_role("region", name="Selected capture")
    shown.until(detail.is_visible)
    assert detail.get_by_role("button", name="Show source").is_visible()
    assert detail.get_by_role("button", name="Show cell").count() == 0
    found = shown.page.get_by_role("region", name="Causes and consequences")
    shown.until(lambda: "nan" in found.inner_text())
    assert found.get_by_role("button", name="show cell block.relu").count() == 0
    assert found.get_by_role("button", name="show the capture of nan in block.relu").count() == 0
    badge = shown.page.get_by_role("button", name="1 condition hit at block.relu, the worst: nan")
    assert badge.is_disabled()


def test_a_choice_of_views_has_tabs_for_these_and_leads_from_one_to_the_other(
    show: Show, session: PlainSession
) -> None:
    session.find("nan", "block.relu", session.capture("block.relu"))
    shown = show(lambda session: DebuggerPanel(session, views=("findings", "timeline", "tensor", "cells")))
    assert group(shown, "Debugger of Net").is_visible()
    assert shown.page.get_by_role("tab").all_inner_texts()[1:] == ["Timeline", "Tensor", "Cells"]
    shown.page.get_by_role("button", name="show the capture of nan in block.relu").click()
    grid = shown.page.get_by_role("grid", name="Captures")
    shown.until(lambda: grid.locator("[aria-selected=true]").count() == 1)
    shown.page.get_by_role("tab", name="Tensor").click()
    detail = shown.page.get_by_role("region", name="Selected capture")
    shown.until(detail.is_visible)
    detail.get_by_role("button", name="Show cell").click()
    shown.until(lambda: shown.page.get_by_role("treeitem", name="block.relu, LeakyReLU").is_visible())
    shown.until(lambda: shown.page.evaluate("document.activeElement.ariaLabel") == "block.relu, LeakyReLU")


def test_a_timeline_a_tensor_and_a_slider_in_a_box_show_the_same_capture(show: Show, session: PlainSession) -> None:
    for step in range(5):
        session.capture(step=step)
    slider = ipywidgets.IntSlider(min=0, max=4)
    shown = show(widgets.CaptureTimeline, widgets.TensorView)
    timeline, tensor = shown.panels
    ipywidgets.VBox([slider, *shown.panels])
    ipywidgets.link((timeline, "selected"), (tensor, "selected"))
    ipywidgets.link((slider, "value"), (timeline, "selected"))
    grid = shown.page.get_by_role("grid", name="Captures")
    heading = shown.page.get_by_role("region", name="Selected capture").get_by_role("heading").first
    shown.until(lambda: heading.inner_text() == "block#0 forward output, step 0")
    slider.value = 3
    shown.until(lambda: heading.inner_text() == "block#0 forward output, step 3")
    shown.until(lambda: grid.locator("[aria-selected=true]").inner_text().startswith("3"))
    assert grid.locator("[aria-selected=true]").count() == 1
    grid.get_by_role("row").nth(4).click()  # each row is below a heading
    shown.until(lambda: heading.inner_text() == "block#0 forward output, step 1")
    assert slider.value == 1
    grid.focus()
    for _ in range(3):
        shown.page.keyboard.press("ArrowDown")
    shown.until(lambda: slider.value == 4)
    shown.until(lambda: heading.inner_text() == "block#0 forward output, step 4")


def test_a_tensor_view_says_that_nothing_is_selected(show: Show, session: PlainSession) -> None:
    session.capture()
    shown = show(widgets.TensorView)
    alone = group(shown, "Tensor of Net")
    assert alone.inner_text().strip() == "No capture is selected."
    shown.panel.selected = 0
    shown.until(lambda: "No capture" not in alone.inner_text())
    shown.panel.selected = -1
    shown.until(lambda: alone.inner_text().strip() == "No capture is selected.")


def test_a_second_display_shows_the_same_and_both_follow(show: Show, session: PlainSession) -> None:
    for _ in range(3):
        session.capture()
    shown = show(DebuggerPanel)
    shown.page.get_by_role("tab", name="Captures").click()
    grids = shown.page.get_by_role("grid", name="Captures")
    shown.until(lambda: grids.first.get_attribute("aria-rowcount") == "5")
    shown.page.evaluate("show(true)")
    shown.until(lambda: [one.get_attribute("aria-rowcount") for one in grids.all()] == ["5", "5"])
    grids.nth(1).get_by_role("row").nth(2).click()
    shown.until(lambda: [one.locator("[aria-selected=true]").count() for one in grids.all()] == [1, 1])
    session.capture()
    session.emit("finished")
    shown.until(lambda: [one.get_attribute("aria-rowcount") for one in grids.all()] == ["6", "6"])
    shown.page.get_by_role("tab", name="Parameters").last.click()
    tables = shown.page.get_by_role("grid", name="Parameters")
    shown.until(lambda: [one.is_visible() for one in tables.all()] == [True, True])
    shown.until(lambda: all("block.weight" in one.inner_text() for one in tables.all()))


def test_a_quick_change_of_mind_about_the_tab_stays(show: Show) -> None:
    shown = show(DebuggerPanel)
    for name in ("Parameters", "Hooks", "Captures"):
        shown.page.get_by_role("tab", name=name).click()
    seen = []
    for _ in range(4):
        shown.carry()
        seen.append(shown.page.get_by_role("tab", selected=True).inner_text())
    assert seen == ["Captures"] * 4
    assert shown.panel.view == "captures"


def test_what_the_throttle_holds_back_comes_without_another_event(show: Show, session: PlainSession) -> None:
    shown = show(DebuggerPanel)
    shown.page.get_by_role("tab", name="Captures").click()
    grid = shown.page.get_by_role("grid", name="Captures")
    shown.until(lambda: shown.panel.view == "captures")
    for _ in range(50):
        session.capture()
    shown.until(lambda: grid.get_attribute("aria-rowcount") == "52")


def test_a_panel_whose_kernel_is_gone_says_so(show: Show) -> None:
    shown = show(DebuggerPanel)
    shown.page.evaluate("model.send = () => { throw new Error('Cannot send'); }; null")
    shown.page.get_by_role("button", name="Find faults").filter(visible=True).click()
    assert shown.page.get_by_role("alert").inner_text() == (
        "The kernel that this panel belongs to is gone. Run the cell again for a live panel."
    )
