"""After an uncaught error: what the panel says, the post mortem, and the functions on the stack."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

TAB = "Stepper"
RUN = 1
FAILS = """\
class Head(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(144, 5)

    def construct(self, x):
        scaled = x * 2
        return self.dense(scaled)

net.dense = Head()
def predict(batch):
    rate = 0.5
    return net(batch) * rate
"""
CELLS = [
    NETWORK + FAILS,
    "%%cell net -o dbg\npredict(images[:, :, :5, :5])",
    "%%cell net -o paused --break exception\npredict(images[:, :, :5, :5])",
    "print('alive', dbg.failure.path)",
]


def stack(panel: Panel) -> Locator:
    return panel.root.get_by_role("list", name="Functions on the stack")


def expect_function(panel: Panel, name: str, local: str) -> None:
    expect(stack(panel).locator("[aria-current=location]")).to_contain_text(name)
    expect(panel.root.get_by_role("rowheader", name=local, exact=True)).to_be_visible()


@pytest.fixture
def failed(panel: Panel, shared_notebook: Notebook) -> Panel:
    """Wait for the run that fails."""
    expect(panel.root.get_by_role("status").filter(has_text="failed in dense.dense: ")).to_be_visible()
    return panel


def test_the_error_is_looked_at_after_the_cell_has_ended(failed: Panel, shared_notebook: Notebook) -> None:
    status = failed.root.get_by_role("status").filter(has_text="failed in dense.dense: ")
    expect(status.locator("[title]")).to_have_attribute("title", re.compile("^failed in dense.dense: ValueError: "))
    failed.button("Post mortem").click()
    expect(failed.root.get_by_role("heading", name=re.compile("^Failed: dense.dense, line"))).to_be_visible()
    expect(failed.root.get_by_text("dense.dense got x: float32 2x100")).to_be_visible()
    expect_function(failed, "Head.construct", "scaled")
    failed.expect_line("return self.dense(scaled)")
    failed.evaluate("scaled.shape", "(2, 100)")
    expect(failed.button("Continue")).to_be_disabled()

    functions = [text.partition(",")[0] for text in stack(failed).get_by_role("button").all_inner_texts()]
    assert functions == ["<module>", "predict", "Net.construct", "Head.construct"]
    stack(failed).get_by_role("button", name="predict").click()
    expect_function(failed, "predict", "rate")
    failed.expect_line("return net(batch) * rate")
    failed.evaluate("rate * 4", "2.0")
    stack(failed).locator("[aria-current=location]").press("ArrowDown")
    expect_function(failed, "Net.construct", "x")
    expect(failed.root.get_by_role("heading", name=re.compile("^Failed: Net.construct, line"))).to_be_visible()


def test_with_a_breakpoint_at_exceptions_the_run_pauses_there(failed: Panel, shared_notebook: Notebook) -> None:
    shared_notebook.run(2)
    panel = Panel.in_cell(shared_notebook.cell(2))
    panel.expect_paused("dense.dense")
    expect(panel.root.get_by_role("alert").filter(has_text="ValueError")).to_be_visible()
    expect_function(panel, "Head.construct", "scaled")
    stack(panel).get_by_role("button", name="predict").click()
    panel.root.get_by_role("textbox", name="Evaluate").fill("rate = 3")
    panel.root.get_by_role("textbox", name="Evaluate").press("Enter")
    panel.expect_local("rate", "3")
    expect(panel.button("Post mortem")).to_be_hidden()
    panel.button("Continue").click()
    expect(panel.root.get_by_role("status").filter(has_text="failed in dense.dense: ")).to_be_visible()
    expect(panel.button("Post mortem")).to_be_visible()
    shared_notebook.run(3)
    assert "alive dense.dense" in shared_notebook.finish(3)
