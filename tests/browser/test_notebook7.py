"""The same panel in Jupyter Notebook 7, which is built from JupyterLab's parts and has a page for each notebook."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Notebook, Server, Window, lab_server
from tests.browser.panel import Panel


@pytest.fixture(scope="module")
def server(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with lab_server(tmp_path_factory.mktemp("notebook7"), "notebook") as server:
        yield server


def test_the_tour_pauses_and_goes_on(server: Server, window: Window, repository: Path) -> None:
    shutil.copy(repository / "notebooks" / "01_tour.ipynb", server.root / "01_tour.ipynb")
    tour = Notebook(server, window.page, "01_tour.ipynb")
    tour.open()
    try:
        tour.command("notebook:run-all-cells")
        index = tour.find("--step")
        panel = Panel(tour.page.get_by_role("group", name="Debugger of DigitNet").last)
        expect(panel.root.get_by_role("status")).to_contain_text("paused in", timeout=120_000)
        panel.expect_line("is_open = x > 0")
        panel.tab("Cells")
        panel.toggle_hook("forward", "conv1")
        panel.toggle_hook("backward", "gate")
        panel.tab("Stepper")
        panel.step_over_to("mask = is_open.astype(ms.int32)")
        panel.button("Continue").click()
        tour.finish(index)
        tour.finish(tour.code_cells()[-1])
        assert tour.failed() == []
    finally:
        # Notebook 7.6 itself, while it starts: it asks for the settings of a plugin that it did not load.
        window.errors[:] = [error for error in window.errors if "reading 'schema'" not in error]
        tour.close()
