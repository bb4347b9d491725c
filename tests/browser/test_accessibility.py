"""What a person who cannot use a mouse, or cannot see well, meets: in JupyterLab, in each tab, in both themes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessibility import AXE, ENOUGH_CONTRAST, lowest_contrast, violations
from tests.browser.lab import Notebook, Server, Window, write_notebook
from tests.browser.panel import Panel

OpenNotebook = Callable[[str], Notebook]
Theme = Literal["Light", "Dark"]

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
RUN = "%%cell net --step -o dbg\nvalue, gradients = step(x)\nprint('done', value)"
SHOW = "print('saw', sorted({(c.path, c.direction) for c in dbg.captures if c.origin == 'hook'}), net.square.training)"
MOST_PRESSES = 60  # of one key from one place to another


@pytest.fixture
def notebook(lab: Server, open_notebook: OpenNotebook, request: pytest.FixtureRequest) -> Notebook:
    name = f"{request.node.name}.ipynb".replace("[", "-").replace("]", "")
    write_notebook(lab.root / name, [NETWORK, RUN, SHOW])
    return open_notebook(name)


@pytest.fixture
def axe() -> None:
    if not AXE.exists():
        reason = "axe-core is not installed: with Node and npm, `make test` or `make lint` puts it into js/node_modules"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


@pytest.fixture
def paused(notebook: Notebook) -> Iterator[Panel]:
    notebook.run(0)
    notebook.finish(0)
    notebook.run(1)
    panel = Panel.in_cell(notebook.cell(1))
    panel.expect_paused("square")
    yield panel
    notebook.set_theme("Light")


@pytest.mark.usefixtures("axe")
def test_a_fault_is_found(window: Window) -> None:
    grey = "<p style='color: #999; background: white'>grey</p>"
    window.page.set_content(f"<main class='hs'><button></button>{grey}</main>")
    found = violations(window.page.locator(".hs"))
    assert [line.partition(" ")[0] for line in found] == ["button-name", "color-contrast"]
    assert lowest_contrast(window.page)[0] < ENOUGH_CONTRAST


@pytest.mark.usefixtures("axe")
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_axe_finds_no_serious_violation_in_any_tab(notebook: Notebook, paused: Panel, theme: Theme) -> None:
    notebook.set_theme(theme)
    found = {name: violations(paused.root) for name in tabs_in_turn(paused)}
    assert len(found) >= 4
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_text_has_enough_contrast_in_every_tab(notebook: Notebook, paused: Panel, theme: Theme) -> None:
    notebook.set_theme(theme)
    measured = {name: lowest_contrast(notebook.page) for name in tabs_in_turn(paused)}
    assert len(measured) >= 4
    assert {name: low for name, low in measured.items() if low[0] < ENOUGH_CONTRAST} == {}


def tabs_in_turn(panel: Panel) -> Iterator[str]:
    """Choose each tab, and give its name once its view is shown; open what the first row of a view opens."""
    for tab in panel.root.get_by_role("tablist", name="Debugger").get_by_role("tab").all():
        name = tab.inner_text()
        tab.click()
        view = panel.root.get_by_role("tabpanel", name=name)
        expect(view).to_be_visible()
        rows = view.get_by_role("row").filter(has=panel.root.page.get_by_role("gridcell"))
        if rows.count():
            rows.first.click()
        yield name


def test_a_whole_session_by_keyboard_alone(notebook: Notebook) -> None:
    """Run a cell that pauses, attach a hook, look at a value, step, evaluate, go on: no mouse."""
    keys = Keys(notebook.page)
    keys.press("Shift+Enter")  # JupyterLab's own, which selects the next cell
    notebook.finish(0)
    keys.press("Shift+Enter")
    panel = Panel(notebook.page.get_by_role("group", name=re.compile("^Debugger of ")))
    panel.expect_paused("square")
    panel.expect_line("twice = 2 * x")

    keys.go("Shift+Tab", "tab", "Stepper")  # from the third cell back into the output of the second
    keys.press("Home")
    keys.expect("tab", "Findings")
    keys.go("ArrowRight", "tab", "Cells")
    keys.go("Tab", "treeitem", "(root), Net")
    keys.go("ArrowDown", "treeitem", "square, Square")
    keys.go("Tab", "button", "forward hook on square")
    keys.press("Space")
    expect(panel.button("forward hook on square")).to_have_attribute("aria-pressed", "true")
    keys.go("Tab", "switch", "train mode of square")
    keys.press("Space")
    switch = panel.root.get_by_role("switch", name="train mode of square", exact=True)
    expect(switch).to_have_attribute("aria-checked", "false")
    keys.press("Escape")
    keys.expect("treeitem", "square, Square")

    keys.go("Shift+Tab", "tab", "Cells")
    keys.go("ArrowRight", "tab", "Captures")
    keys.go("Tab", "grid", "Captures")
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(panel.root.get_by_role("region", name="Selected capture")).to_be_visible()

    keys.go("Shift+Tab", "tab", "Captures")
    keys.go("ArrowRight", "tab", "Stepper")
    keys.press("F10")
    panel.expect_line("gradient = dout * twice")
    keys.go("Tab", "textbox", "Evaluate")
    notebook.page.keyboard.type("twice.shape")
    keys.press("Enter")
    expect(panel.root.get_by_role("log", name="Evaluation results")).to_contain_text("(1, 2)")
    keys.press("F9")
    assert "done" in notebook.finish(1)
    expect(panel.root.get_by_role("status").first).to_contain_text("finished")


class Keys:
    """The keyboard of a page, and where its focus is, by role and accessible name."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def expect(self, role: str, name: str) -> None:
        expect(self._place(role, name)).to_be_focused()

    def go(self, key: str, role: str, name: str) -> None:
        """Press a key until the focus is there."""
        for _ in range(MOST_PRESSES):
            self.press(key)
            if self._place(role, name).evaluate_all("all => all.includes(document.activeElement)"):
                return
        raise AssertionError(f"{MOST_PRESSES} times {key} did not reach the {role} {name!r}")

    def _place(self, role: Any, name: str) -> Locator:
        return self.page.get_by_role(role, name=name, exact=True)
