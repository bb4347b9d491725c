"""Outputs of notebook cells whose last line is a tensor, a parameter, a cell or a capture."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook, Window
from tests.browser.subject import NETWORK

CELLS = [
    NETWORK + "from hookscope.engine.debug import DebugSession\nwith DebugSession(net) as dbg:\n    train(1)\n",
    "images",
    "net.conv.weight",
    "net",
    "dbg.captures.latest('dense', 'output', 'forward')",
]


@pytest.fixture
def output(shared_notebook: Notebook, window: Window, request: pytest.FixtureRequest) -> Locator:
    """Return the output of one of the CELLS."""
    shared_notebook.run_to_end(request.param)
    return shared_notebook.cell(request.param)


@pytest.mark.parametrize("output", [1], indirect=True)
def test_a_tensor_shows_its_shape_its_figures_and_its_values(output: Locator) -> None:
    expect(output).to_contain_text("2x1x6x6 float32")
    expect(output.get_by_role("columnheader", name="mean")).to_be_visible()
    expect(output.get_by_role("img")).to_be_visible()
    expect(output.get_by_role("cell", name=re.compile(r"^0\.5488"))).to_be_visible()


@pytest.mark.parametrize("output", [2], indirect=True)
def test_a_parameter_shows_its_name_too(output: Locator) -> None:
    expect(output).to_contain_text("Parameter conv.weight 4x1x3x3 float32")
    expect(output.get_by_role("columnheader", name="std")).to_be_visible()


@pytest.mark.parametrize("output", [3], indirect=True)
def test_a_cell_shows_the_cells_within_with_their_parameters(output: Locator) -> None:
    expect(output).to_contain_text("Net")
    expect(output).to_contain_text("dense")
    expect(output).to_contain_text("765")


@pytest.mark.parametrize("output", [4], indirect=True)
def test_a_capture_shows_where_it_was_taken(output: Locator) -> None:
    expect(output).to_contain_text("dense#0 forward output 2x5 float32, step 1")
    expect(output.get_by_role("columnheader", name="norm")).to_be_visible()
