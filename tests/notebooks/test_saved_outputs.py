"""Saved outputs of tutorials, which readers see on a code host without a kernel. nbval checks that they are right."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
_WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> nbformat.NotebookNode:
    return nbformat.read(request.param, as_version=4)


def test_there_are_tutorials() -> None:
    assert NOTEBOOKS


def test_each_cell_was_run_in_order(notebook: nbformat.NotebookNode) -> None:
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))


def test_panels_are_saved_as_static_html(notebook: nbformat.NotebookNode) -> None:
    panels = 0
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            data = output.get("data", {})
            assert _WIDGET_VIEW not in data
            is_panel = data.get("text/plain", "").startswith(("DebuggerPanel(", "RanksPanel("))
            panels += is_panel and "<table" in data["text/html"]
    assert panels
    assert "widgets" not in notebook.metadata


def test_it_runs_on_the_hookscope_kernel_and_is_small(notebook: nbformat.NotebookNode) -> None:
    assert notebook.metadata.kernelspec.name == "hookscope"
    assert len(nbformat.writes(notebook)) < 200_000
