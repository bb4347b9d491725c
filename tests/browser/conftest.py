"""JupyterLab, Notebook 7, Chromium and its page, each started once for this folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Playwright, expect, sync_playwright

from tests.browser.chromium import find_chromium, how_to, missing_packages
from tests.browser.lab import STEP_SECONDS, Notebook, Server, Window, browser_context, lab_server, write_notebook
from tests.browser.panel import Panel

OpenNotebook = Callable[[str], Notebook]


@pytest.fixture(scope="session")
def chromium() -> str:
    path, missing = find_chromium(), missing_packages()
    if path is None or missing:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(how_to(missing))
    return path


@pytest.fixture(scope="session")
def lab(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with lab_server(tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture(scope="session")
def notebook7(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with lab_server(tmp_path_factory.mktemp("notebook7"), "Notebook 7") as server:
        yield server


@pytest.fixture(scope="package")  # while it is at work here, no other event loop may run in this thread
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def context(
    playwright: Playwright, chromium: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserContext]:
    expect.set_options(timeout=STEP_SECONDS * 1000)
    with browser_context(playwright, chromium, tmp_path_factory.mktemp("profile")) as context:
        yield context


@pytest.fixture(scope="package")
def spare_windows() -> list[Window]:
    """Return the list that holds the files' shared page while no test has it."""
    return []


@pytest.fixture(scope="module")
def browser(context: BrowserContext, spare_windows: list[Window], request: pytest.FixtureRequest) -> Iterator[Window]:
    """Yield the shared page; after a file with a failed test, the next file gets another one."""
    window = spare_windows.pop() if spare_windows else Window(context.new_page())
    failures = request.session.testsfailed
    yield window
    if request.session.testsfailed == failures:
        spare_windows.append(window)
    else:
        window.page.close()


@pytest.fixture
def window(browser: Window, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Window]:
    """Yield the page; after each test, fail if it had an error or sent a request to another machine."""
    browser.errors.clear()
    browser.requests_outside.clear()
    failures = request.session.testsfailed
    yield browser
    if request.session.testsfailed > failures:
        picture = tmp_path / "failed.png"
        browser.page.screenshot(path=picture)
        print(f"screenshot: {picture}")
    assert browser.errors == []
    assert browser.requests_outside == []


@pytest.fixture
def open_notebook(lab: Server, window: Window, request: pytest.FixtureRequest) -> Iterator[OpenNotebook]:
    """Open a notebook of JupyterLab's folder; on failure, add the end of the server's log to the error."""
    notebooks: list[Notebook] = []

    def open_one(name: str) -> Notebook:
        notebook = Notebook(lab, window.page, name)
        notebooks.append(notebook)
        notebook.open()
        return notebook

    failures = request.session.testsfailed
    yield open_one
    if request.session.testsfailed > failures:
        print(f"server's log: ...{lab.log.read_text()[-2000:]}")
    errors = list(window.errors)
    for notebook in notebooks:
        notebook.close(keep_page=request.session.testsfailed == failures)
    window.errors[:] = errors  # without those of JupyterLab as it closes a notebook


@pytest.fixture(scope="module")
def shared_notebook(lab: Server, browser: Window, request: pytest.FixtureRequest) -> Iterator[Notebook]:
    """Yield a file's CELLS as a notebook, opened once for all tests of the file; the first cell has run."""
    name = re.sub(r".*\.", "", request.module.__name__) + ".ipynb"
    write_notebook(lab.root / name, request.module.CELLS)
    notebook = Notebook(lab, browser.page, name)
    failures = request.session.testsfailed
    notebook.open()
    notebook.run_to_end(0)
    yield notebook
    notebook.close(keep_page=request.session.testsfailed == failures)


@pytest.fixture(scope="module")
def shared_panel(shared_notebook: Notebook) -> Panel:
    """Return the panel that the second of a file's CELLS opens."""
    shared_notebook.run(1)
    return Panel.in_cell(shared_notebook.cell(1))


@pytest.fixture
def panel(shared_panel: Panel, window: Window, request: pytest.FixtureRequest) -> Iterator[Panel]:
    """Yield the same with the file's TAB chosen; a run that a test leaves paused is continued afterwards."""
    shared_panel.tab(request.module.TAB)
    yield shared_panel
    if shared_panel.is_paused():
        shared_panel.tab("Stepper")
        shared_panel.button("Continue").click()
