"""The same panel in Jupyter Notebook 7, which is built from JupyterLab's parts and has a page for each notebook."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Notebook, Server, Window
from tests.browser.panel import Panel


@pytest.mark.ci_only
def test_the_tour_pauses_and_goes_on(notebook7: Server, window: Window, repository: Path) -> None:
    shutil.copy(repository / "notebooks" / "01_tour.ipynb", notebook7.root / "01_tour.ipynb")
    tour = Notebook(notebook7, window.page, "01_tour.ipynb")
    tour.open()
    try:
        tour.command("notebook:run-all-cells")
        index = tour.find("--step")
        panel = Panel(tour.page.get_by_role("group", name="Debugger of DigitNet").last)
        expect(panel.root.get_by_role("status").first).to_contain_text("paused in", timeout=120_000)
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
        tour.close()
