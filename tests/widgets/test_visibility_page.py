"""The page's replies to the question whether a user sees the panel."""

from __future__ import annotations

from typing import Any

from panel_page import PanelPage
from plain_session import PlainSession
from playwright.sync_api import Page

# An observer that reports, when `report()` is called, where the element was when it was observed.
DELAYED_OBSERVER = """() => {
  window.IntersectionObserver = class {
    constructor(callback) { this.callback = callback; }
    observe(element) {
      const box = element.getBoundingClientRect();
      window.report = () => this.callback([{ boundingClientRect: box, intersectionRect: box }]);
    }
    disconnect() {}
  };
}"""


def test_a_panel_on_the_page_is_visible(page: Page, session: PlainSession, sent: list[Any]) -> None:
    panel_page = PanelPage(page, session, sent)
    panel_page.panel.ask_who_sees()
    panel_page.until(lambda: panel_page.panel.seen is True)


def test_a_panel_that_is_removed_before_its_measurement_arrives_is_not_visible(
    page: Page, session: PlainSession, sent: list[Any]
) -> None:
    """As in a fast browser when the outputs are cleared: a pause would wait where nobody sees it."""
    panel_page = PanelPage(page, session, sent)
    page.evaluate(DELAYED_OBSERVER)
    panel_page.panel.ask_who_sees()
    panel_page.carry()
    page.evaluate("hides.splice(0).forEach((hide) => hide()); document.body.replaceChildren(); report(); null")
    panel_page.carry()
    assert (panel_page.panel.removals, panel_page.panel.seen) == (1, False)
