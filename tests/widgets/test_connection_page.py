"""A panel whose kernel is gone or out of reach says so at once, with its controls off, until it is connected again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from panel_page import PanelPage, no_errors
from plain_session import PlainSession
from playwright.sync_api import Browser, Locator, Page, expect

# The interface of JupyterLab's kernel that a panel uses.
KERNEL = """() => {
  const signal = () => {
    const slots = new Set();
    const emit = () => [...slots].forEach((f) => f());
    return { connect: (f) => slots.add(f), disconnect: (f) => slots.delete(f), emit, slots };
  };
  window.kernel = { status: "busy", connectionStatus: "connected", isDisposed: false, statusChanged: signal(),
    connectionStatusChanged: signal(), disposed: signal() };
  window.widgetManager = { kernel: window.kernel };
  window.become = (state) => {
    Object.assign(window.kernel, state);
    window.kernel[state.status ? "statusChanged" : state.isDisposed ? "disposed" : "connectionStatusChanged"].emit();
  };
}"""
GONE = "The kernel that this panel belongs to is gone. Run the cell again for a live panel."
AWAY = "No connection to the kernel."
SILENT = "The kernel has not answered so far: it is busy, or gone."


@pytest.fixture
def shown(page: Page, session: PlainSession, sent: list[Any]) -> PanelPage:
    page.evaluate(KERNEL)
    return look_at_the_tree(PanelPage(page, session, sent))


def look_at_the_tree(panel_page: PanelPage) -> PanelPage:
    panel_page.panel.view = "cells"
    panel_page.carry()
    return panel_page


@pytest.fixture
def apart(browser: Browser) -> Iterator[Page]:
    """Yield a page that is not shared: a replaced clock stays replaced."""
    page = browser.new_page()
    with no_errors(page):
        yield page
    page.close()


@pytest.fixture
def hurried(apart: Page, session: PlainSession, sent: list[Any]) -> PanelPage:
    apart.evaluate(KERNEL)
    panel_page = look_at_the_tree(PanelPage(apart, session, sent))
    hurry(panel_page)
    return panel_page


def become(panel_page: PanelPage, **state: Any) -> None:
    panel_page.page.evaluate("state => become(state)", state)


def alert(panel_page: PanelPage) -> Locator:
    return panel_page.page.get_by_role("alert").filter(visible=True)


def controls(panel_page: PanelPage) -> Locator:
    """Return all buttons and fields except the tabs."""
    return panel_page.page.locator("button:not([role=tab]), input, select, textarea")


def expect_off(panel_page: PanelPage, line: str) -> None:
    expect(alert(panel_page)).to_contain_text(line)
    assert controls(panel_page).count() > 5
    assert controls(panel_page).and_(panel_page.page.locator(":enabled")).count() == 0


@pytest.mark.parametrize("state", ["restarting", "autorestarting", "dead", "terminating"])
def test_a_kernel_that_ends_is_told_at_once(shown: PanelPage, state: str) -> None:
    assert alert(shown).count() == 0
    become(shown, status=state)
    expect_off(shown, GONE)
    assert "ready" not in shown.page.get_by_role("status").inner_text()
    become(shown, status="idle")  # another process
    expect_off(shown, GONE)


def test_so_is_one_that_is_shut_down(shown: PanelPage) -> None:
    become(shown, isDisposed=True)
    expect_off(shown, GONE)


def test_and_a_comm_that_is_closed(shown: PanelPage) -> None:
    shown.page.evaluate("model.trigger('comm:close')")
    expect_off(shown, GONE)


def test_and_a_comm_that_takes_nothing_more(shown: PanelPage) -> None:
    shown.page.evaluate("window.sendFails = true")  # a mouse that moves over the page would notice this, too
    shown.page.get_by_role("switch", name="train mode of block", exact=True).dispatch_event("click")
    expect_off(shown, GONE)


def test_a_pause_is_over_with_its_kernel(shown: PanelPage, session: PlainSession) -> None:
    session.pause()
    shown.until(shown.page.get_by_role("button", name="Step over", exact=True).is_enabled)
    become(shown, status="restarting")
    expect_off(shown, GONE)
    assert "paused" not in shown.page.get_by_role("status").inner_text()
    shown.page.keyboard.press("F10")
    shown.carry()
    assert session.commands == []


def test_the_tabs_still_show_what_there_is(shown: PanelPage, session: PlainSession) -> None:
    session.capture()
    become(shown, isDisposed=True)
    sent = shown.waiting()  # before the end
    for tab in shown.page.get_by_role("tab").all():
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        expect_off(shown, GONE)
    assert shown.waiting() == sent


def test_without_a_connection_it_waits_and_with_one_it_is_live_again(shown: PanelPage, session: PlainSession) -> None:
    become(shown, connectionStatus="connecting")
    expect_off(shown, AWAY)
    shown.page.get_by_role("tab", name="Captures").click()
    session.capture("block")
    shown._sent.clear()  # messages sent meanwhile are lost
    become(shown, connectionStatus="connected")
    shown.until(lambda: alert(shown).count() == 0)
    shown.page.get_by_role("tab", name="Captures").click()
    shown.until(shown.page.get_by_role("row").filter(has_text="block").first.is_visible)
    shown.page.get_by_role("tab", name="Cells").click()
    switch = shown.page.get_by_role("switch", name="train mode of block", exact=True)
    switch.click()
    shown.until(lambda: switch.get_attribute("aria-checked") == "false")


def test_a_restart_without_a_connection_is_the_end(shown: PanelPage) -> None:
    become(shown, connectionStatus="connecting")
    become(shown, status="restarting")
    become(shown, status="idle")
    become(shown, connectionStatus="connected")
    expect_off(shown, GONE)


def hurry(panel_page: PanelPage) -> None:
    """Replace the page's clock by Playwright's, so that the test does not wait."""
    panel_page.page.clock.install()
    panel_page.page.evaluate("show()")
    panel_page.carry()
    panel_page.page.wait_for_timeout(20)
    panel_page.carry()


def ask_and_wait(panel_page: PanelPage) -> None:
    panel_page.page.get_by_role("switch", name="train mode of block", exact=True).click()
    panel_page.page.clock.run_for(6000)


def test_a_busy_kernel_that_does_not_answer_is_busy_or_gone(hurried: PanelPage) -> None:
    ask_and_wait(hurried)
    expect(alert(hurried)).to_have_text(SILENT)
    expect(hurried.page.get_by_role("switch", name="train mode of block", exact=True)).to_be_enabled()
    hurried.until(lambda: alert(hurried).count() == 0)  # the answer


def test_an_idle_one_that_does_not_answer_has_no_such_panel(hurried: PanelPage) -> None:
    become(hurried, status="idle")
    ask_and_wait(hurried)
    expect_off(hurried, GONE)


def test_a_page_that_knows_no_kernel_goes_by_the_answers(apart: Page, session: Any, sent: list[Any]) -> None:
    panel_page = look_at_the_tree(PanelPage(apart, session, sent))
    hurry(panel_page)
    ask_and_wait(panel_page)
    expect(alert(panel_page)).to_have_text(SILENT)


def test_a_panel_that_is_taken_away_listens_no_more(shown: PanelPage) -> None:
    count = "kernel.statusChanged.slots.size + kernel.connectionStatusChanged.slots.size + kernel.disposed.slots.size"
    assert shown.page.evaluate(count) == 3
    shown.page.evaluate("hides.splice(0).forEach((hide) => hide())")
    assert shown.page.evaluate(count) == 0
