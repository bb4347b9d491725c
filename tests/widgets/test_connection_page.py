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
def panel_page(page: Page, session: PlainSession, sent: list[Any]) -> PanelPage:
    page.evaluate(KERNEL)
    return look_at_the_tree(PanelPage(page, session, sent))


def look_at_the_tree(panel_page: PanelPage) -> PanelPage:
    panel_page.panel.view = "cells"
    panel_page.carry()
    return panel_page


@pytest.fixture
def private_page(browser: Browser) -> Iterator[Page]:
    """Yield a page that is not shared: a replaced clock stays replaced."""
    page = browser.new_page()
    with no_errors(page):
        yield page
    page.close()


@pytest.fixture
def hurried(private_page: Page, session: PlainSession, sent: list[Any]) -> PanelPage:
    private_page.evaluate(KERNEL)
    panel_page = look_at_the_tree(PanelPage(private_page, session, sent))
    hurry(panel_page)
    return panel_page


def become(panel_page: PanelPage, **state: Any) -> None:
    panel_page.page.evaluate("state => become(state)", state)


def alert(panel_page: PanelPage) -> Locator:
    return panel_page.page.get_by_role("alert").filter(visible=True)


def controls(panel_page: PanelPage) -> Locator:
    """Return all buttons and fields except the tabs."""
    return panel_page.page.locator("button:not([role=tab], .hs-tabs-more), input, select, textarea")


def expect_off(panel_page: PanelPage, line: str) -> None:
    expect(alert(panel_page)).to_contain_text(line)
    assert controls(panel_page).count() > 5
    assert controls(panel_page).and_(panel_page.page.locator(":enabled")).count() == 0


@pytest.mark.parametrize("state", ["restarting", "autorestarting", "dead", "terminating"])
def test_a_kernel_that_ends_is_told_at_once(panel_page: PanelPage, state: str) -> None:
    assert alert(panel_page).count() == 0
    become(panel_page, status=state)
    expect_off(panel_page, GONE)
    assert "ready" not in panel_page.page.get_by_role("status").inner_text()
    become(panel_page, status="idle")  # another process
    expect_off(panel_page, GONE)


def test_so_is_one_that_is_shut_down(panel_page: PanelPage) -> None:
    become(panel_page, isDisposed=True)
    expect_off(panel_page, GONE)


def test_a_closed_comm_is_reported_at_once(panel_page: PanelPage) -> None:
    panel_page.page.evaluate("model.trigger('comm:close')")
    expect_off(panel_page, GONE)


def test_a_comm_that_takes_no_messages_is_reported_at_once(panel_page: PanelPage) -> None:
    panel_page.page.evaluate("window.sendFails = true")  # a mouse that moves over the page would notice this, too
    panel_page.page.get_by_role("switch", name="train mode of block", exact=True).dispatch_event("click")
    expect_off(panel_page, GONE)


def test_a_pause_is_over_with_its_kernel(panel_page: PanelPage, session: PlainSession) -> None:
    session.pause()
    panel_page.until(panel_page.page.get_by_role("button", name="Step over", exact=True).is_enabled)
    become(panel_page, status="restarting")
    expect_off(panel_page, GONE)
    assert "paused" not in panel_page.page.get_by_role("status").inner_text()
    panel_page.page.keyboard.press("F10")
    panel_page.carry()
    assert session.commands == []


def test_the_tabs_still_show_what_there_is(panel_page: PanelPage, session: PlainSession) -> None:
    session.capture()
    become(panel_page, isDisposed=True)
    sent = panel_page.waiting()  # before the end
    for tab in panel_page.page.get_by_role("tab").all():
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        expect_off(panel_page, GONE)
    assert panel_page.waiting() == sent


def test_without_a_connection_it_waits_and_with_one_it_is_live_again(
    panel_page: PanelPage, session: PlainSession
) -> None:
    become(panel_page, connectionStatus="connecting")
    expect_off(panel_page, AWAY)
    panel_page.page.get_by_role("tab", name="Captures").click()
    session.capture("block")
    panel_page._sent.clear()  # messages sent meanwhile are lost
    become(panel_page, connectionStatus="connected")
    panel_page.until(lambda: alert(panel_page).count() == 0)
    panel_page.page.get_by_role("tab", name="Captures").click()
    panel_page.until(panel_page.page.get_by_role("row").filter(has_text="block").first.is_visible)
    panel_page.page.get_by_role("tab", name="Cells").click()
    switch = panel_page.page.get_by_role("switch", name="train mode of block", exact=True)
    switch.click()
    panel_page.until(lambda: switch.get_attribute("aria-checked") == "false")


def test_a_restart_without_a_connection_is_the_end(panel_page: PanelPage) -> None:
    become(panel_page, connectionStatus="connecting")
    become(panel_page, status="restarting")
    become(panel_page, status="idle")
    become(panel_page, connectionStatus="connected")
    expect_off(panel_page, GONE)


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


def test_a_page_that_knows_no_kernel_goes_by_the_answers(private_page: Page, session: Any, sent: list[Any]) -> None:
    panel_page = look_at_the_tree(PanelPage(private_page, session, sent))
    hurry(panel_page)
    ask_and_wait(panel_page)
    expect(alert(panel_page)).to_have_text(SILENT)


def test_a_panel_that_is_taken_away_listens_no_more(panel_page: PanelPage) -> None:
    count = "kernel.statusChanged.slots.size + kernel.connectionStatusChanged.slots.size + kernel.disposed.slots.size"
    assert panel_page.page.evaluate(count) == 4  # of the connection, and of the moves of a rerun
    panel_page.page.evaluate("hides.splice(0).forEach((hide) => hide())")
    assert panel_page.page.evaluate(count) == 0
