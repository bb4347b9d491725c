"""Every view in windows of 480 and 350 pixels, in Chromium: nothing is clipped, or makes the page scroll sideways."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from panel_page import PanelPage
from playwright.sync_api import Page

from hookscope.engine import Tensor, grad, nn
from hookscope.engine.debug import DebugSession
from tests.browser.accessibility import AXE, lowest_contrast, violations

# Controls and headings that are, in part, outside the panel's sides.
OUTSIDE = """(panel) => {
  const box = panel.getBoundingClientRect();
  return [...panel.querySelectorAll("button, input, select, textarea, h3, h4, [role=columnheader], kbd")]
    .filter((one) => one.checkVisibility() && one.role !== "tab")
    .filter((one) => {
      const { left, right } = one.getBoundingClientRect();
      return left < box.left - 1 || right > box.right + 1;
    })
    .map((one) => one.getAttribute("aria-label") || one.textContent);
}"""

BACK, FURTHER = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"

# The element that appears in a view when its first row is selected.
SELECTED: dict[str, tuple[Any, str]] = {"Captures": ("group", "Channels"), "Parameters": ("form", "Change values")}


@pytest.fixture(scope="module")
def session() -> DebugSession:
    """Return a session over a convolutional network with a dead unit, after three steps."""
    net = nn.SequentialCell(nn.Conv2d(1, 4, 3, has_bias=True), nn.ReLU(), nn.Flatten(), nn.Dense(256, 3))
    net[0].bias.set_data(Tensor(np.full(4, -50, np.float32)))
    x = Tensor(np.random.default_rng(0).normal(size=(4, 1, 8, 8)).astype(np.float32))
    session = DebugSession(net, conditions=["all"])
    with session:
        for _ in range(3):
            grad(lambda: net(x).sum(), None, net.trainable_params())()
    return session


@pytest.fixture(params=[(480, "light"), (480, "dark"), (350, "light")])
def narrow(page: Page, session: DebugSession, sent: list[Any], request: pytest.FixtureRequest) -> PanelPage:
    width, scheme = request.param
    page.set_viewport_size({"width": width, "height": 700})
    page.emulate_media(color_scheme=scheme)
    return PanelPage(page, session, sent)


def test_every_view_fits_is_readable_and_accessible(narrow: PanelPage) -> None:
    page = narrow.page
    panel = page.get_by_role("group", name="Debugger of SequentialCell")
    for tab in page.get_by_role("tab").all():
        tab.click()
        name = tab.inner_text()
        narrow.until(page.get_by_role("tabpanel").is_visible)
        if name in SELECTED:
            grid = page.get_by_role("grid", name=name)
            narrow.until(lambda grid=grid: int(grid.get_attribute("aria-rowcount") or 1) > 1)
            grid.focus()
            page.keyboard.press("Home")
            role, what = SELECTED[name]
            narrow.until(page.get_by_role(role, name=what).is_visible)
        assert panel.evaluate(OUTSIDE) == [], name
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0, name
        ratio, where = lowest_contrast(page)
        assert ratio >= 4.5, (name, where)
        if AXE.exists():  # npm installs it, which may be missing here
            # A row of the tree is named by its path; the rule wants all of the row's text, the figures too.
            results = [line for line in violations(panel) if "label-content-name-mismatch" not in line]
            assert results == [], name


def test_the_strip_of_tabs_shows_the_chosen_one_and_that_there_are_more(
    page: Page, session: DebugSession, sent: list[Any]
) -> None:
    page.set_viewport_size({"width": 350, "height": 700})
    panel_page = PanelPage(page, session, sent)
    strip, more = (
        page.get_by_role("tablist"),
        page.locator("button", has_text=re.compile(f"^[{BACK}{FURTHER}]$")).filter(visible=True),
    )
    inside = """(strip) => {
      const tab = strip.querySelector("[aria-selected=true]").getBoundingClientRect();
      const { left, right } = strip.getBoundingClientRect();
      return tab.left >= left - 1 && tab.right <= right + 1;
    }"""
    page.get_by_role("tab", name="Findings").click()  # another panel of the session may have had another tab
    panel_page.until(lambda: more.all_inner_texts() == [FURTHER])
    more.click()
    panel_page.until(lambda: more.first.inner_text() == BACK)
    page.get_by_role("tab", name="Findings").press("End")
    panel_page.until(lambda: page.get_by_role("tabpanel", name="Hooks").is_visible())
    panel_page.until(lambda: more.all_inner_texts() == [BACK])
    assert strip.evaluate(inside)
    page.set_viewport_size({"width": 700, "height": 700})
    panel_page.until(lambda: more.count() == 0)
    assert strip.evaluate("(strip) => strip.scrollWidth - strip.clientWidth") == 0
