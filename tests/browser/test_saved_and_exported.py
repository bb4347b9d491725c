"""A panel without a kernel: the saved notebook's static panel, and the page that Export gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.lab import Notebook
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

TAB = "Captures"
RUN = 1
CELLS = [NETWORK, "%%cell net --check all -o dbg\nkill_relu()\ntrain(3)"]


@pytest.fixture
def exported(panel: Panel, shared_notebook: Notebook, tmp_path: Path) -> Iterator[Page]:
    """Yield the page that a click on Export downloads, opened from disk; it may request nothing at all."""
    with shared_notebook.page.expect_download() as download:
        panel.button("Export").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    page = shared_notebook.page.context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    yield page
    page.close()
    assert requests == [file.as_uri()]


def test_export_downloads_one_page_that_opens_by_itself(exported: Page) -> None:
    expect(exported.get_by_role("heading", name="Net", exact=True, level=1)).to_be_visible()
    for part in ("Findings", "Parameters"):
        expect(exported.get_by_role("heading", name=part)).to_be_visible()
    expect(exported.get_by_text("dead_relu").first).to_be_visible()


def test_a_saved_notebook_shows_a_static_panel_without_a_kernel(panel: Panel, shared_notebook: Notebook) -> None:
    shared_notebook.finish(RUN)
    shared_notebook.save()
    shared_notebook.shut_down()
    shared_notebook.reload()
    output = shared_notebook.cell(RUN)
    expect(output.get_by_text("A static copy: run the cell again for the live panel.")).to_be_visible()
    gone = output.get_by_text("Error displaying widget")
    expect(gone).to_be_hidden()
    # What it shows as long as a notebook is open without a kernel.
    gone.evaluate("(one) => { one.textContent = 'Loading widget...'; one.classList.remove('jupyter-widgets'); }")
    expect(output.get_by_text("Loading widget...")).to_be_hidden()
    expect(panel.root).to_have_count(0)
    expect(output.get_by_role("listitem").filter(has_text="dead_relu").first).to_be_visible()
    for part in ("Captures", "Cells", "Parameters"):
        expect(output.get_by_text(re.compile(rf"^{part}: \d+"))).to_be_visible()
    row = output.get_by_role("row", name="1 relu forward output 2x4x6x6 float32")
    expect(row).to_be_hidden()  # the fault comes first
    output.get_by_text(re.compile(r"^Captures: \d+")).click()
    expect(row).to_be_visible()
