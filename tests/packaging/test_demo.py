"""The page that `make demo` writes: readable as a file, with the panels' static forms in it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

WIDGET = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"


@pytest.fixture
def page(repository: Path) -> str:
    specification = importlib.util.spec_from_file_location("demo", repository / "scripts" / "demo.py")
    assert specification is not None
    assert specification.loader is not None
    demo = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(demo)
    forms = {WIDGET: {"model_id": "1"}, "text/html": "<table>static panel</table>", "text/plain": "Panel(1)"}
    notebook = new_notebook(
        cells=[new_code_cell("panel", outputs=[new_output("display_data", data=forms)])],
        metadata={"widgets": {STATE: {"state": {}, "version_major": 2, "version_minor": 0}}},
    )
    nbformat.validate(notebook)
    return str(demo.html_page(notebook, "title"))


def test_the_page_shows_the_static_form_of_a_panel(page: str) -> None:
    assert "<table>static panel</table>" in page
    assert WIDGET not in page
    assert "Panel(1)" not in page


def test_the_page_loads_nothing(page: str) -> None:
    assert re.findall(r"<(?:script|link|iframe|object)\b", page) == []
    assert re.findall(r"""(?:src=|@import\s|url\()\s*["']?(?!data:|#)[a-z]+:""", page) == []
