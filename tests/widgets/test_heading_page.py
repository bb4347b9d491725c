"""The heading above every view, in Chromium: the run's state, its loss, the findings, and the main action."""

from __future__ import annotations

from typing import Any

import pytest
from panel_page import PanelPage
from plain_session import PlainSession
from playwright.sync_api import Locator, Page

from hookscope.widgets.views import TABS, VIEWS

HEIGHT = 520


def main_actions(panel_page: PanelPage) -> list[str]:
    """Return the buttons above the views, except Export."""
    buttons = panel_page.page.locator(".hs-head .hs-button").filter(visible=True)
    return [text for text in buttons.all_inner_texts() if text != "Export"]


def heading(panel_page: PanelPage) -> Locator:
    return panel_page.page.locator(".hs-head")


def test_it_is_the_same_above_every_view_and_the_height_stays(panel_page: PanelPage, session: PlainSession) -> None:
    for step in range(30):
        session.capture(step=step)
    panel = panel_page.page.get_by_role("group", name="Debugger of Net")
    heights = set()
    for name in TABS:
        panel_page.page.get_by_role("tab", name=VIEWS[name].title).click()
        panel_page.carry()
        heights.add((heading(panel_page).inner_text(), panel.bounding_box()["height"]))  # type: ignore[index]
    assert len(heights) == 1
    assert heights.pop()[1] == HEIGHT


def test_step_and_loss_follow_the_run(panel_page: PanelPage, session: PlainSession) -> None:
    assert "loss" not in heading(panel_page).inner_text()
    session.step = 3
    session.history.losses.extend([(1, 2.5), (2, float("nan")), (3, 0.125)])
    panel_page.panel.sync()
    panel_page.until(lambda: "loss 0.125" in heading(panel_page).inner_text())
    assert "step 3" in heading(panel_page).inner_text()
    curve = heading(panel_page).get_by_role("img")
    assert curve.get_attribute("aria-label") == "loss, steps 1 to 3: from 0.1250 to 2.500, last 0.1250, 1 not finite"


def test_of_many_losses_the_curve_has_some_and_the_peaks(panel_page: PanelPage, session: PlainSession) -> None:
    session.history.losses.extend((step, 9.0 if step == 501 else 1.0) for step in range(1000))
    panel_page.panel.sync()
    losses = panel_page.panel.heading["losses"]
    assert len(losses) <= 60
    assert (501, 9.0) in losses


def test_one_thing_to_do_next(panel_page: PanelPage, session: PlainSession) -> None:
    assert main_actions(panel_page) == ["Find faults"]
    session.pause()
    panel_page.until(lambda: main_actions(panel_page) == ["Continue"])
    panel_page.page.locator(".hs-head").get_by_role("button", name="Continue the run").click()
    panel_page.until(lambda: session.commands == ["continue"])
    session.add_condition("nan")
    panel_page.panel.sync()
    panel_page.until(lambda: main_actions(panel_page) == [])
    session.emit("finished")
    panel_page.until(lambda: main_actions(panel_page) == ["Watch again"])


def test_the_causes_are_counted_and_lead_to_their_cards(panel_page: PanelPage, session: PlainSession) -> None:
    link = heading(panel_page).get_by_role("button", name="found")
    assert not link.is_visible()
    session.find("nan", "block")
    session.find("wrong_mode", "block.relu")
    session.emit("finished")
    panel_page.until(link.is_visible)
    assert link.inner_text() == "2 causes found"
    panel_page.page.get_by_role("tab", name="Hooks").click()
    link.click()
    panel_page.until(panel_page.page.get_by_role("tabpanel", name="Findings").is_visible)


@pytest.mark.parametrize(("pause", "tab"), [(False, "Findings"), (True, "Stepper")])
def test_a_panel_opens_on_the_pause_or_else_on_the_findings(
    page: Page, session: PlainSession, sent: list[Any], pause: bool, tab: str
) -> None:
    session.find("nan", "block")
    if pause:
        session.pause()
    PanelPage(page, session, sent)
    assert page.get_by_role("tab", selected=True).inner_text().startswith(tab)


def middle(one: Locator) -> float:
    """Return the height on the page at which an element is centered."""
    box = one.bounding_box()
    assert box is not None
    return box["y"] + box["height"] / 2


@pytest.mark.parametrize("width", [480, 350])
def test_on_a_narrow_page_the_buttons_stay_beside_the_name(
    panel_page: PanelPage, session: PlainSession, width: int
) -> None:
    panel_page.page.set_viewport_size({"width": width, "height": 700})
    session.step = 3
    session.pause(path="features.block.relu")
    button = heading(panel_page).get_by_role("button", name="Continue the run")
    panel_page.until(lambda: button.is_visible() and "step 3" in heading(panel_page).inner_text())
    name, status = heading(panel_page).get_by_text("Net", exact=True), heading(panel_page).get_by_role("status")
    assert middle(name) == pytest.approx(middle(button), abs=3)
    assert middle(status) > middle(button) + 15


def test_a_single_loss_leaves_no_room_for_a_curve(panel_page: PanelPage, session: PlainSession) -> None:
    session.step = 1
    session.history.losses.append((1, 0.5))
    panel_page.panel.sync()
    loss, step = heading(panel_page).get_by_text("loss 0.5"), heading(panel_page).get_by_text("step 1")
    panel_page.until(loss.is_visible)
    left, right = step.bounding_box(), loss.bounding_box()
    assert left is not None
    assert right is not None
    assert right["x"] - left["x"] - left["width"] < 30
