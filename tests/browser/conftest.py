"""JupyterLab, started once for all tests of this folder, and Chromium, started once for each of its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.chromium import find_chromium, how_to, missing_packages
from tests.browser.lab import STEP_SECONDS, Notebook, Server, Window, browser_window, lab_server

OpenNotebook = Callable[[str], Notebook]
TakeScreenshots = Callable[[Notebook, int, str], None]


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


@pytest.fixture(scope="module")  # one Playwright at a time: tests/widgets has one too, maybe in the same process
def browser(chromium: str) -> Iterator[Window]:
    expect.set_options(timeout=STEP_SECONDS * 1000)
    with sync_playwright() as playwright, browser_window(playwright, chromium) as window:
        yield window


@pytest.fixture
def window(browser: Window) -> Iterator[Window]:
    """The one page; after each test, nothing may have failed in it or gone out of this machine."""
    browser.errors.clear()
    browser.requests_outside.clear()
    yield browser
    assert browser.errors == []
    assert browser.requests_outside == []


@pytest.fixture
def open_notebook(
    lab: Server, window: Window, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[OpenNotebook]:
    """Open a notebook of the server's folder; on failure, leave a screenshot and the server's last words."""
    opened: list[Notebook] = []

    def open_one(name: str) -> Notebook:
        notebook = Notebook(lab, window.page, name)
        opened.append(notebook)
        notebook.open()
        return notebook

    failures = request.session.testsfailed
    yield open_one
    if request.session.testsfailed > failures:
        picture = tmp_path / "failed.png"
        window.page.screenshot(path=picture)
        print(f"screenshot: {picture}\nserver's log: ...{lab.log.read_text()[-2000:]}")
    for notebook in opened:
        notebook.close()


@pytest.fixture
def take_screenshots() -> TakeScreenshots:
    """Save one cell of the notebook as NAME-light.png and NAME-dark.png, if HOOKSCOPE_SCREENSHOTS names a folder."""
    folder = os.environ.get("HOOKSCOPE_SCREENSHOTS")

    def take(notebook: Notebook, index: int, name: str) -> None:
        if not folder:
            return
        for theme in ("Dark", "Light"):
            notebook.command("apputils:change-theme", theme=f"JupyterLab {theme}")
            is_light = "true" if theme == "Light" else "false"
            expect(notebook.page.locator("body")).to_have_attribute("data-jp-theme-light", is_light)
            expect(notebook.page.locator("#jupyterlab-splash")).to_have_count(0)  # shown while a theme loads
            path = Path(folder) / f"{name}-{theme.lower()}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            notebook.cell(index).screenshot(path=path)

    return take
