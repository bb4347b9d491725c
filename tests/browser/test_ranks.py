"""Two ranks debugged in JupyterLab: a pause, an expression on both, a rank's own panel, and Continue."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.lab import Notebook, Server, wait_until, write_notebook
from tests.browser.panel import Panel

START = "%ranks 2"
SETUP = """\
%%ranks
import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.communication import get_rank, init

init()
rank = get_rank()

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.dense(x)).sum()

net = Net()
x = ms.Tensor(np.full((2, 4), rank + 1.0, np.float32))
"""
RUN = """\
%%cell net --ranks --break 'relu:forward if rank == 1'
for _ in range(2):
    loss = net(x)
print('the cell goes on')"""
CELLS = [START, SETUP, RUN]


def test_two_ranks_are_paused_asked_looked_into_and_go_on(
    lab: Server, open_notebook: Callable[[str], Notebook]
) -> None:
    write_notebook(lab.root / "ranks.ipynb", CELLS)
    notebook = open_notebook("ranks.ipynb")
    notebook.run_to_end(0)
    notebook.run_to_end(1)
    notebook.run(2)
    root = notebook.cell(2).get_by_role("group", name="Ranks of net")
    commands = root.get_by_role("group", name="All ranks")
    go_on = commands.get_by_role("button", name="Continue", exact=True)
    expect(go_on).to_be_enabled()
    rows = root.get_by_role("table", name="Ranks", exact=True).get_by_role("row")
    expect(rows.nth(2)).to_contain_text("forward of relu")

    expression = root.get_by_role("textbox", name="Expression")
    expression.fill("x.sum()")
    expression.press("Enter")
    answers = root.get_by_role("log", name="Answers")
    expect(answers.get_by_role("group", name="rank 1: 16.0")).to_be_visible()

    tabs = root.get_by_role("tablist", name="Views of the ranks")
    captures = root.get_by_role("table", name="Captures of all ranks")
    expect(captures.get_by_role("row").filter(has_text="dense#0 forward output")).to_be_visible()
    tabs.get_by_role("tab", name="Rank").click()
    own = Panel.in_cell(notebook.cell(2))
    expect(root.get_by_role("radio", name="rank 1")).to_be_checked()
    own.expect_paused("relu")
    own.toggle_hook("forward", "dense")
    own.tab("Stepper")
    own.evaluate("x.shape", "(2, 4)")
    root.get_by_role("radio", name="rank 0").click()
    expect(own.root).to_have_count(1)
    expect(own.root).not_to_have_attribute("data-state", "paused")
    expect(go_on).to_be_enabled()  # rank 1 is paused, though its panel is closed

    go_on.click()
    expect(rows.nth(2)).to_contain_text("forward of relu")  # in the second call
    wait_until("the second pause", lambda: "2" in rows.nth(2).inner_text().split())
    go_on.click()
    assert "[1] the cell goes on" in notebook.finish(2)
    expect(go_on).to_be_disabled()
