"""Every view in a window of 480 pixels, in Chromium: nothing is clipped, and nothing makes the page scroll sideways."""

from __future__ import annotations

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
    .filter((one) => one.checkVisibility())
    .filter((one) => {
      const { left, right } = one.getBoundingClientRect();
      return left < box.left - 1 || right > box.right + 1;
    })
    .map((one) => one.getAttribute("aria-label") || one.textContent);
}"""

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


@pytest.fixture(params=["light", "dark"])
def narrow(page: Page, session: DebugSession, sent: list[Any], request: pytest.FixtureRequest) -> PanelPage:
    page.set_viewport_size({"width": 480, "height": 700})
    page.emulate_media(color_scheme=request.param)
    return PanelPage(page, session, sent)


def test_every_view_fits_is_readable_and_accessible(narrow: PanelPage) -> None:
    page = narrow.page
    panel = page.get_by_role("group", name="Debugger of SequentialCell")
    tablist = page.get_by_role("tablist")
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
        assert tablist.evaluate("list => list.scrollWidth - list.clientWidth") == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 480, name
        ratio, where = lowest_contrast(page)
        assert ratio >= 4.5, (name, where)
        if AXE.exists():  # npm installs it, which may be missing here
            # A row of the tree is named by its path; the rule wants all of the row's text, the figures too.
            results = [line for line in violations(panel) if "label-content-name-mismatch" not in line]
            assert results == [], name
