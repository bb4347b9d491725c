"""A person at the notebook: JupyterLab in Chromium, the Hookscope kernel, and the panel between them.

One file, so that all of it shares one server and one browser.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Notebook, Server, wait_until, write_notebook
from tests.browser.panel import Panel

OpenNotebook = Callable[[str], Notebook]

NETWORK = """\
import mindspore as ms
import numpy as np
from mindspore import nn, ops

class Square(nn.Cell):
    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        twice = 2 * x
        slope = twice.sum()
        gradient = dout * twice
        return (gradient,)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()
        self.square = Square()

    def construct(self, x):
        return self.square(self.relu(x)).sum()

net = Net()
x = ms.Tensor(np.array([-1.0, 2.0, 3.0], np.float32))
step = ms.grad(net)
"""
OPEN_PANEL = "%cell net"
RUN_PAUSED = """\
%%cell net --step -o dbg
gradient = step(x)
print("gradient", gradient.asnumpy().tolist())"""
SHOW_STATE = """\
print("train", net.square.training, net.relu.training)
print("saw", sorted({(c.path, c.direction) for c in _session.captures if c.origin == "hook"}))"""
FIRST_LINE, SECOND_LINE = "twice = 2 * x", "slope = twice.sum()"
THIRD_LINE, LAST_LINE = "gradient = dout * twice", "return (gradient,)"


@pytest.fixture
def notebook(lab: Server, open_notebook: OpenNotebook, request: pytest.FixtureRequest) -> Notebook:
    """Yield a notebook of its own for each test, with the network made."""
    name = f"{request.node.name}.ipynb"
    write_notebook(lab.root / name, [NETWORK, OPEN_PANEL, RUN_PAUSED, SHOW_STATE, "print('usable', 6 * 7)"])
    notebook = open_notebook(name)
    notebook.run(0)
    notebook.finish(0)
    return notebook


def pause(notebook: Notebook) -> Panel:
    notebook.run(2)
    panel = Panel.in_cell(notebook.cell(2))
    panel.expect_paused("square")
    panel.expect_line(FIRST_LINE)
    return panel


def test_hooks_modes_and_stepping_from_the_panels(notebook: Notebook) -> None:
    notebook.run(1)
    notebook.finish(1)
    open_panel = Panel.in_cell(notebook.cell(1))
    open_panel.toggle_hook("forward", "relu")
    open_panel.toggle_hook("backward", "relu")
    open_panel.toggle_train("square")
    panel = pause(notebook)
    panel.step_over_to(SECOND_LINE)
    panel.expect_local("twice", "[0, 4, 6]")
    panel.step_over_to(THIRD_LINE)
    panel.step_over_to(LAST_LINE)
    panel.evaluate("slope.asnumpy().item()", "10.0")
    panel.evaluate("self.training", "True")
    panel.button("Continue").click()
    assert "gradient [0.0, 4.0, 6.0]" in notebook.finish(2)
    notebook.run(3)
    state = notebook.finish(3)
    assert "train True False" in state
    assert "saw [('relu', 'backward'), ('relu', 'forward')]" in state


def test_the_tree_works_during_a_pause(notebook: Notebook) -> None:
    panel = pause(notebook)
    panel.tab("Cells")
    panel.toggle_hook("forward", "relu")
    panel.toggle_hook("backward", "relu")
    panel.toggle_train("square")
    panel.tab("Stepper")
    panel.evaluate("self.training", "True")
    panel.button("Continue").click()
    assert "gradient [0.0, 4.0, 6.0]" in notebook.finish(2)


def test_a_finished_cell_keeps_its_captures_to_look_at(notebook: Notebook) -> None:
    panel = pause(notebook)
    panel.button("Continue").click()
    notebook.finish(2)
    panel.tab("Captures")
    captured = panel.root.get_by_role("row").filter(has_text="relu").first
    expect(captured).to_be_visible()
    captured.click()


def test_a_reload_during_a_pause_restores_the_panel(notebook: Notebook) -> None:
    pause(notebook).step_over_to(SECOND_LINE)
    notebook.save()
    notebook.reload()
    panel = Panel.in_cell(notebook.cell(2))
    panel.expect_paused("square")
    panel.expect_line(SECOND_LINE)
    panel.step_over_to(THIRD_LINE)
    panel.button("Continue").click()
    notebook.wait_status("idle")
    notebook.run(4)
    assert "usable 42" in notebook.finish(4)


def test_an_interrupt_while_paused_leaves_the_kernel_usable(notebook: Notebook) -> None:
    pause(notebook)
    notebook.command("notebook:interrupt-kernel")
    assert "KeyboardInterrupt" in notebook.finish(2)
    notebook.run(4)
    assert "usable 42" in notebook.finish(4)
    pause(notebook).button("Continue").click()
    assert "gradient [0.0, 4.0, 6.0]" in notebook.finish(2)


def test_a_restart_while_paused_gives_a_fresh_kernel(notebook: Notebook) -> None:
    pause(notebook)
    notebook.command("notebook:restart-kernel")
    dialog = notebook.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Confirm Kernel Restart").click()
    notebook.wait_ready()
    notebook.run(4)
    assert "usable 42" in notebook.finish(4)
    notebook.run(3)
    assert "NameError" in notebook.finish(3)


def test_abort_ends_the_cell_with_one_line(notebook: Notebook) -> None:
    pause(notebook).button("Abort").click()
    assert "gradient [" not in notebook.finish(2)
    notebook.run(4)
    assert "usable 42" in notebook.finish(4)


@pytest.fixture
def tour(lab: Server, open_notebook: OpenNotebook, repository: Path) -> Notebook:
    shutil.copy(repository / "notebooks" / "01_tour.ipynb", lab.root / "01_tour.ipynb")
    return open_notebook("01_tour.ipynb")


def paused_panel(notebook: Notebook) -> Panel | None:
    """Return the panel of the running cell, once it is paused; None when no cell runs any more."""

    def look() -> tuple[Panel | None] | None:
        running = notebook.running()
        if running is None:
            return (None,) if notebook.status() == "idle" else None
        panel = Panel(notebook.cell(running).get_by_role("group", name=re.compile("^Debugger of ")))
        step = panel.root.get_by_role("button", name="Step over", exact=True, disabled=False)
        return (panel,) if step.count() else None

    return wait_until("the tour to pause or to end", look, 120)[0]


def test_the_tour_by_hand(tour: Notebook) -> None:
    """Run all cells; at the first pause use the tree and the stepper; then let the tour go on to its end."""
    tour.command("notebook:run-all-cells")
    panel = paused_panel(tour)
    assert panel is not None, "the tour did not pause"
    panel.tab("Cells")
    assert panel.toggle_first("button", "forward hook on")
    assert panel.toggle_first("button", "backward hook on")
    assert panel.toggle_first("switch", "train mode of")
    panel.tab("Stepper")
    lines = [panel.line()]
    for _ in range(3):
        panel.step_over()
        lines.append(panel.line())
    assert len(set(lines)) == 4, lines
    local = panel.root.get_by_role("table", name="Locals").get_by_role("cell").first
    expect(local).not_to_be_empty()
    while panel is not None:
        panel.button("Continue").click()
        panel = paused_panel(tour)
    assert tour.failed() == []
    for index in tour.code_cells():
        tour.finish(index)
