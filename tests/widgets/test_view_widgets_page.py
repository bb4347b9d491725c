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
    "LossCurves": "Curves",
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


def group(panel_page: PanelPage, name: str) -> Locator:
    return panel_page.page.get_by_role("group", name=name, exact=True)


@pytest.mark.parametrize("name", TITLES)
def test_a_view_alone_has_its_own_name_and_neither_tabs_nor_export(
    show: Show, session: PlainSession, name: str
) -> None:
    session.capture()
    panel_page = show(getattr(widgets, name))
    panel_page.carry()
    alone = group(panel_page, f"{TITLES[name]} of Net")
    assert alone.is_visible()
    for role in ("tab", "tablist", "tabpanel"):
        assert panel_page.page.get_by_role(role).count() == 0
    assert panel_page.page.get_by_role("button", name="Export").count() == 0
    assert panel_page.page.get_by_role("status").filter(has_text="ready").count() == (name == "Stepper")
    panel_page.ask(type="explode")
    panel_page.carry()
    assert "unknown message 'explode'" in alone.get_by_role("alert").inner_text()


def test_what_leads_to_a_view_that_is_not_there_is_not_offered(show: Show, session: PlainSession) -> None:
    session.find("nan", "block.relu", session.capture("block.relu"))
    panel_page = show(widgets.CellTree, widgets.FindingList, widgets.TensorView)
    panel_page.panels[2].selected = 0
    detail = panel_page.page.get_by_role("region", name="Selected capture")
    panel_page.until(detail.is_visible)
    assert detail.get_by_role("button", name="Show source").is_visible()
    assert detail.get_by_role("button", name="Show cell").count() == 0
    findings = panel_page.page.get_by_role("region", name="Causes and consequences")
    panel_page.until(lambda: "nan" in findings.inner_text())
    assert findings.get_by_role("button", name="show cell block.relu").count() == 0
    assert findings.get_by_role("button", name="show the capture of nan in block.relu").count() == 0
    badge = panel_page.page.get_by_role("button", name="1 condition hit at block.relu, the worst: nan")
    assert badge.is_disabled()


def test_a_choice_of_views_has_tabs_for_these_and_leads_from_one_to_the_other(
    show: Show, session: PlainSession
) -> None:
    session.find("nan", "block.relu", session.capture("block.relu"))
    panel_page = show(lambda session: DebuggerPanel(session, views=("findings", "timeline", "tensor", "cells")))
    assert group(panel_page, "Debugger of Net").is_visible()
    assert panel_page.page.get_by_role("tab").all_inner_texts()[1:] == ["Timeline", "Tensor", "Cells"]
    panel_page.page.get_by_role("button", name="show the capture of nan in block.relu").click()
    grid = panel_page.page.get_by_role("grid", name="Captures")
    panel_page.until(lambda: grid.locator("[aria-selected=true]").count() == 1)
    panel_page.page.get_by_role("tab", name="Tensor").click()
    detail = panel_page.page.get_by_role("region", name="Selected capture")
    panel_page.until(detail.is_visible)
    detail.get_by_role("button", name="Show cell").click()
    panel_page.until(lambda: panel_page.page.get_by_role("treeitem", name="block.relu, LeakyReLU").is_visible())
    panel_page.until(lambda: panel_page.page.evaluate("document.activeElement.ariaLabel") == "block.relu, LeakyReLU")


def test_a_timeline_a_tensor_and_a_slider_in_a_box_show_the_same_capture(show: Show, session: PlainSession) -> None:
    for step in range(5):
        session.capture(step=step)
    slider = ipywidgets.IntSlider(min=0, max=4)
    panel_page = show(widgets.CaptureTimeline, widgets.TensorView)
    timeline, tensor = panel_page.panels
    ipywidgets.VBox([slider, *panel_page.panels])
    ipywidgets.link((timeline, "selected"), (tensor, "selected"))
    ipywidgets.link((slider, "value"), (timeline, "selected"))
    grid = panel_page.page.get_by_role("grid", name="Captures")
    heading = panel_page.page.get_by_role("region", name="Selected capture").get_by_role("heading").first
    panel_page.until(lambda: heading.inner_text() == "block#0 forward output, step 0")
    slider.value = 3
    panel_page.until(lambda: heading.inner_text() == "block#0 forward output, step 3")
    panel_page.until(lambda: grid.locator("[aria-selected=true]").inner_text().startswith("3"))
    assert grid.locator("[aria-selected=true]").count() == 1
    grid.get_by_role("row").nth(4).click()  # each row is below a heading
    panel_page.until(lambda: heading.inner_text() == "block#0 forward output, step 1")
    assert slider.value == 1
    grid.focus()
    for _ in range(3):
        panel_page.page.keyboard.press("ArrowDown")
    panel_page.until(lambda: slider.value == 4)
    panel_page.until(lambda: heading.inner_text() == "block#0 forward output, step 4")


def test_a_tensor_view_says_that_nothing_is_selected(show: Show, session: PlainSession) -> None:
    session.capture()
    panel_page = show(widgets.TensorView)
    alone = group(panel_page, "Tensor of Net")
    assert alone.inner_text().strip() == "No capture is selected."
    panel_page.panel.selected = 0
    panel_page.until(lambda: "No capture" not in alone.inner_text())
    panel_page.panel.selected = -1
    panel_page.until(lambda: alone.inner_text().strip() == "No capture is selected.")


def test_a_second_display_shows_the_same_and_both_follow(show: Show, session: PlainSession) -> None:
    for _ in range(3):
        session.capture()
    panel_page = show(DebuggerPanel)
    panel_page.page.get_by_role("tab", name="Captures").click()
    grids = panel_page.page.get_by_role("grid", name="Captures")
    panel_page.until(lambda: grids.first.get_attribute("aria-rowcount") == "5")
    panel_page.page.evaluate("show(true)")
    panel_page.until(lambda: [item.get_attribute("aria-rowcount") for item in grids.all()] == ["5", "5"])
    grids.nth(1).get_by_role("row").nth(2).click()
    panel_page.until(lambda: [item.locator("[aria-selected=true]").count() for item in grids.all()] == [1, 1])
    session.capture()
    session.emit("finished")
    panel_page.until(lambda: [item.get_attribute("aria-rowcount") for item in grids.all()] == ["6", "6"])
    panel_page.page.get_by_role("tab", name="Parameters").last.click()
    tables = panel_page.page.get_by_role("grid", name="Parameters")
    panel_page.until(lambda: [item.is_visible() for item in tables.all()] == [True, True])
    panel_page.until(lambda: all("block.weight" in item.inner_text() for item in tables.all()))


def test_a_quick_change_of_mind_about_the_tab_stays(show: Show) -> None:
    panel_page = show(DebuggerPanel)
    for name in ("Parameters", "Hooks", "Captures"):
        panel_page.page.get_by_role("tab", name=name).click()
    views = []
    for _ in range(4):
        panel_page.carry()
        views.append(panel_page.page.get_by_role("tab", selected=True).inner_text())
    assert views == ["Captures"] * 4
    assert panel_page.panel.view == "captures"


def test_what_the_throttle_holds_back_comes_without_another_event(show: Show, session: PlainSession) -> None:
    panel_page = show(DebuggerPanel)
    panel_page.page.get_by_role("tab", name="Captures").click()
    grid = panel_page.page.get_by_role("grid", name="Captures")
    panel_page.until(lambda: panel_page.panel.view == "captures")
    for _ in range(50):
        session.capture()
    panel_page.until(lambda: grid.get_attribute("aria-rowcount") == "52")


def test_a_panel_whose_kernel_is_gone_says_so(show: Show) -> None:
    panel_page = show(DebuggerPanel)
    panel_page.page.evaluate("model.send = () => { throw new Error('Cannot send'); }; null")
    panel_page.page.get_by_role("button", name="Find faults").filter(visible=True).click()
    assert panel_page.page.get_by_role("alert").inner_text() == (
        "The kernel that this panel belongs to is gone. Run the cell again for a live panel."
    )
