"""JupyterLab on a plain IPython kernel: `%load_ext hookscope` gives everything that does not need a pause.

JupyterLab talks to widgets over a subshell: the kernel may answer a panel in one thread while another runs a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook, Server, Window, write_notebook
from tests.browser.panel import Panel

NETWORK = """\
%load_ext hookscope
import time
import hookscope
hookscope.install_as_mindspore()
import mindspore as ms
import numpy as np
from mindspore import nn

class Square(nn.Cell):
    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        twice = 2 * x
        return (dout * twice,)

net = nn.SequentialCell(nn.Dense(3, 2), Square())
x = ms.Tensor(np.array([[-1.0, 2.0, 3.0]], np.float32))
step = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
print(type(get_ipython().kernel).__name__, ms.__name__)"""
OPEN = "%cell net"
TRAIN = "_ = step(x)"
STATE = """\
saw = sorted({(c.path, c.direction) for c in _session.captures if c.origin == "hook"})
print("saw", saw, "bias", net[0].bias.asnumpy().tolist(), net[0].weight.requires_grad, net[1].training)"""
TRAIN_ON = """\
for _ in range(100):
    step(x)
    time.sleep(0.02)
print("trained", _session.step)"""
HOOKS = "print('hooks', [(row.path, row.kind) for row in _session.hooks()])"
STOP = "%%cell net --step -o dbg\nprint('went on', step(x)[0].shape)"
SKIPPED = "print(dbg.skipped_pauses[-1].place)"
CELLS = [NETWORK, OPEN, TRAIN, STATE, TRAIN_ON, HOOKS, STOP, SKIPPED]


@pytest.fixture(scope="module")
def notebook(lab: Server, browser: Window, request: pytest.FixtureRequest) -> Iterator[Notebook]:
    write_notebook(lab.root / "plain.ipynb", CELLS, kernel="python3")
    notebook = Notebook(lab, browser.page, "plain.ipynb")
    failures = request.session.testsfailed
    notebook.open()
    assert notebook.run_to_end(0).strip() == "IPythonKernel hookscope.engine"
    yield notebook
    notebook.close(keep_page=request.session.testsfailed == failures)


@pytest.fixture
def panel(notebook: Notebook, window: Window) -> Panel:
    """Yield the panel of `%cell net`, opened anew; fail if the page had an error."""
    notebook.run_to_end(1)
    return Panel.in_cell(notebook.cell(1))


def selected(panel: Panel) -> Locator:
    return panel.root.get_by_role("region", name="Selected parameter")


def test_the_panel_is_live_after_the_cell_has_ended(notebook: Notebook, panel: Panel) -> None:
    panel.toggle_hook("forward", "0")
    panel.toggle_hook("backward", "1")
    panel.toggle_train("1")

    panel.tab("Parameters")
    box = panel.root.get_by_role("checkbox", name="requires_grad of 0.weight", exact=True)
    box.click()
    expect(box).not_to_be_checked()
    panel.root.get_by_role("row").filter(has_text="0.bias").click()
    selected(panel).get_by_role("textbox", name="Elements").fill("[:]")
    selected(panel).get_by_role("textbox", name="Number").fill("7")
    status = selected(panel).get_by_role("status", name="Preview of the change")
    expect(status).to_contain_text("changes 2 of 2 elements of 0.bias")
    selected(panel).get_by_role("button", name="Apply", exact=True).click()
    expect(status).to_contain_text("done, set 0.bias[:] to 7")

    notebook.run_to_end(2)
    panel.tab("Captures")
    hooked = panel.root.get_by_role("row").filter(has_text=re.compile("hook"))
    expect(hooked.first).to_be_visible()
    state = notebook.run_to_end(3)
    assert "saw [('0', 'forward'), ('1', 'backward')] bias [7.0, 7.0] False True" in state
    expect(panel.root.get_by_role("alert")).to_have_count(0)


def test_what_is_clicked_while_a_cell_runs_is_done(notebook: Notebook, panel: Panel) -> None:
    """At once or when the cell has ended: where ipykernel handles a message depends on the last sender."""
    notebook.run(4)
    panel = Panel.in_cell(notebook.cell(1))
    for kind in ("forward_pre", "forward", "backward_pre"):
        panel.toggle_hook(kind, "1")
    panel.toggle_hook("forward_pre", "1")
    assert "trained 100" in notebook.finish(4)
    expect(panel.root.get_by_role("alert")).to_have_count(0)
    hooks = notebook.run_to_end(5)
    assert "('1', 'forward_pre')" not in hooks
    assert "('1', 'forward')" in hooks
    assert "('1', 'backward_pre')" in hooks


def test_a_breakpoint_says_in_one_line_that_it_records_instead(notebook: Notebook, window: Window) -> None:
    output = notebook.run_to_end(6)
    assert output.count("not paused at bprop of 1") == 1
    assert "choose the Hookscope kernel to pause; kept in skipped_pauses" in output
    assert "went on ()" in output
    panel = Panel.in_cell(notebook.cell(6))
    skipped = "1 pause skipped: choose the Hookscope kernel to pause"
    expect(panel.root.get_by_role("status").first).to_contain_text(skipped)
    panel.tab("Stepper")
    panel.expect_line("twice = 2 * x")
    expect(panel.button("Step over")).to_be_disabled()
    assert "bprop of 1" in notebook.run_to_end(7)
