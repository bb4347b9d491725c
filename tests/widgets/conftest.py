"""A comm that stores its messages, a session of plain data, a simulated clock, a page in Chromium."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import comm
import pytest
from comm.base_comm import BaseComm

sys.path.insert(0, str(Path(__file__).parent))

from panel_page import SIZE, PanelPage, empty, no_errors
from plain_session import FakeClock, PlainSession
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.chromium import find_chromium, how_to, missing_packages
from tests.browser.lab import CHROMIUM_ARGUMENTS, STEP_SECONDS


class RecordingComm(BaseComm):
    """A comm that stores every message instead of publishing it."""

    log: list[tuple[str, dict[str, Any], list[Any]]]

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
    ) -> None:
        self.log.append((msg_type, {**(data or {}), "comm_id": self.comm_id}, list(buffers or [])))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any], list[Any]]]:
    """Return the messages that went to the page, in order."""
    log: list[tuple[str, dict[str, Any], list[Any]]] = []

    def create(*args: Any, **keys: Any) -> RecordingComm:
        RecordingComm.log = log
        return RecordingComm(*args, **keys)

    monkeypatch.setattr(comm, "create_comm", create)
    return log


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def session() -> PlainSession:
    return PlainSession()


@pytest.fixture(scope="package")  # while Playwright is at work here, no other event loop may run in this thread
def browser() -> Iterator[Browser]:
    path, missing = find_chromium(), missing_packages()
    if path is None or missing:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(how_to(missing))
    expect.set_options(timeout=STEP_SECONDS * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def spare_pages(browser: Browser) -> list[Page]:
    """Return the list that holds the shared page while no test has it."""
    return []


@pytest.fixture
def page(browser: Browser, spare_pages: list[Page], request: pytest.FixtureRequest) -> Iterator[Page]:
    """Yield the shared page, empty; a JavaScript error fails the test, and the next test gets another page.

    A page of its own takes Chromium longer than most tests do: a process, and in it a window with its frame.
    """
    page = spare_pages.pop() if spare_pages else browser.new_page(viewport=SIZE)
    failures = request.session.testsfailed
    try:
        with no_errors(page):
            yield page
        if request.session.testsfailed == failures:
            empty(page)
            spare_pages.append(page)
    finally:
        if not spare_pages:
            page.close()


@pytest.fixture
def panel_page(page: Page, session: PlainSession, sent: list[Any]) -> PanelPage:
    """Return a panel on a page, with its tree in view."""
    panel_page = PanelPage(page, session, sent)
    panel_page.panel.view = "cells"
    panel_page.carry()
    return panel_page
