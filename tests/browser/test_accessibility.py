"""Accessibility in JupyterLab: each tab, in both themes."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.accessibility import AXE, ENOUGH_CONTRAST, lowest_contrast, violations
from tests.browser.lab import Notebook, Window
from tests.browser.panel import Panel

NETWORK = """\
import mindspore as ms
import numpy as np
from mindspore import nn

class Square(nn.Cell):
    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        twice = 2 * x
        gradient = dout * twice
        return (gradient,)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)
        self.square = Square()

    def construct(self, x):
        return self.square(self.dense(x)).sum()

net = Net()
x = ms.Tensor(np.array([[-1.0, 2.0, np.nan]], np.float32))
step = ms.value_and_grad(net, 0, net.trainable_params())"""
CELLS = [NETWORK, "%%cell net --step -o dbg\nvalue, gradients = step(x)"]


@pytest.fixture
def axe() -> None:
    if not AXE.exists():
        reason = "axe-core is not installed: with Node and npm, `make test` or `make lint` puts it into js/node_modules"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


@pytest.fixture(scope="module")
def paused_panel(shared_panel: Panel) -> Panel:
    shared_panel.expect_paused("square")
    return shared_panel


@pytest.fixture(params=["Light", "Dark"])
def paused(
    paused_panel: Panel, shared_notebook: Notebook, window: Window, request: pytest.FixtureRequest
) -> Iterator[Panel]:
    """Return the panel of a paused run, in each theme."""
    shared_notebook.set_theme(request.param)
    yield paused_panel
    shared_notebook.set_theme("Light")


@pytest.mark.usefixtures("axe")
def test_a_fault_is_found(context: BrowserContext) -> None:
    page = context.new_page()
    page.set_content("<main class='hs'><button></button><p style='color: #999; background: white'>grey</p></main>")
    matches = violations(page.locator(".hs"))
    assert [line.partition(" ")[0] for line in matches] == ["button-name", "color-contrast"]
    assert lowest_contrast(page)[0] < ENOUGH_CONTRAST
    page.close()


@pytest.mark.usefixtures("axe")
def test_axe_finds_no_serious_violation_in_any_tab(paused: Panel) -> None:
    results = {name: violations(paused.root) for name in tabs_in_turn(paused)}
    assert len(results) >= 4
    assert {name: lines for name, lines in results.items() if lines} == {}


def test_text_has_enough_contrast_in_every_tab(paused: Panel) -> None:
    measured = {name: lowest_contrast(paused.root.page) for name in tabs_in_turn(paused)}
    assert len(measured) >= 4
    assert {name: low for name, low in measured.items() if low[0] < ENOUGH_CONTRAST} == {}


def tabs_in_turn(panel: Panel) -> Iterator[str]:
    """Choose each tab, and yield its name once its view is shown; open the details of its first row."""
    for tab in panel.root.get_by_role("tablist", name="Debugger").get_by_role("tab").all():
        name = tab.inner_text()
        tab.click()
        view = panel.root.get_by_role("tabpanel", name=name)
        expect(view).to_be_visible()
        rows = view.get_by_role("row").filter(has=panel.root.page.get_by_role("gridcell"))
        if rows.count():
            rows.first.click()
        yield name
