"""A whole session in JupyterLab without a mouse."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.lab import Notebook, Server, write_notebook
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

RUN = "%%cell net --step -o dbg\ntrain(1)\nprint('done')"
MOST_PRESSES = 60  # of one key from one place to another


@pytest.fixture
def notebook(lab: Server, open_notebook: Callable[[str], Notebook]) -> Notebook:
    write_notebook(lab.root / "keyboard_alone.ipynb", [NETWORK, RUN, ""])
    return open_notebook("keyboard_alone.ipynb")


def test_a_whole_session_by_keyboard_alone(notebook: Notebook) -> None:
    """Run a cell that pauses, attach a hook, look at a value, step, evaluate, continue: no mouse."""
    keys = Keys(notebook.page)
    keys.press("Shift+Enter")  # JupyterLab's own, which selects the next cell
    notebook.finish(0)
    keys.press("Shift+Enter")
    panel = Panel(notebook.page.get_by_role("group", name=re.compile("^Debugger of ")))
    panel.expect_paused("double")
    panel.expect_line("slope = doubled(ops.ones_like(x))")

    keys.go("Shift+Tab", "tab", "Stepper")  # from the third cell back into the output of the second
    keys.press("Home")
    keys.expect("tab", "Findings")
    keys.go("ArrowRight", "tab", "Cells")
    keys.go("Tab", "treeitem", "(root), Net")
    keys.go("ArrowDown", "treeitem", "double, Double")
    keys.go("Tab", "button", "forward hook on double")
    keys.press("Space")
    expect(panel.button("forward hook on double")).to_have_attribute("aria-pressed", "true")
    keys.go("Tab", "switch", "train mode of double")
    keys.press("Space")
    switch = panel.root.get_by_role("switch", name="train mode of double", exact=True)
    expect(switch).to_have_attribute("aria-checked", "false")
    keys.press("Escape")
    keys.expect("treeitem", "double, Double")

    keys.go("Shift+Tab", "tab", "Cells")
    keys.go("ArrowRight", "tab", "Captures")
    keys.go("Tab", "grid", "Captures")
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(panel.root.get_by_role("region", name="Selected capture")).to_be_visible()

    keys.go("Shift+Tab", "tab", "Captures")
    keys.go("ArrowRight", "tab", "Stepper")
    keys.press("F10")
    panel.expect_line("gradient = dout * slope")
    keys.go("Tab", "textbox", "Evaluate")
    notebook.page.keyboard.type("slope.shape")
    keys.press("Enter")
    expect(panel.root.get_by_role("log", name="Evaluation results")).to_contain_text("(2, 5)")
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
        expect(self._locator(role, name)).to_be_focused()

    def go(self, key: str, role: str, name: str) -> None:
        """Press a key until the focus is there."""
        for _ in range(MOST_PRESSES):
            self.press(key)
            if self._locator(role, name).evaluate_all("all => all.includes(document.activeElement)"):
                return
        raise AssertionError(f"{MOST_PRESSES} times {key} did not reach the {role} {name!r}")

    def _locator(self, role: Any, name: str) -> Locator:
        return self.page.get_by_role(role, name=name, exact=True)
