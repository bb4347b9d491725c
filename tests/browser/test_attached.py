"""A run that was started in a terminal, observed from a notebook: the same panel, a pause, an edit, and Continue."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Notebook, Server, wait_until, write_notebook
from tests.browser.panel import Panel

SCRIPT = """\
import sys
import time

import mindspore as ms
import numpy as np
from mindspore import nn

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.dense(x)).sum()

net = Net()
x = ms.Tensor(np.ones((2, 4), np.float32))
goes_on, step = True, 0
while goes_on:
    net(x)
    step += 1
    time.sleep(0.02)
print("ended by a person, after step", step, flush=True)
"""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start a script in a process of its own that runs until its variable changes; yield its name."""
    script, name = tmp_path / "endless.py", f"endless-{uuid4().hex[:6]}"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "hookscope", "run", f"--serve={name}", str(script)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "is served" in process.stderr.readline()
    yield name, process
    process.kill()
    process.communicate()


def test_a_run_that_was_not_started_here_is_watched_paused_changed_and_left_running(
    lab: Server, open_notebook: Callable[[str], Notebook], run: tuple[str, subprocess.Popen[str]]
) -> None:
    name, process = run
    write_notebook(lab.root / "attach.ipynb", [f"%cell --attach {name}", "print('usable', 6 * 7)"])
    notebook = open_notebook("attach.ipynb")
    notebook.run(0)
    notebook.finish(0)
    panel = Panel.in_cell(notebook.cell(0))
    expect(panel.root).to_have_attribute("data-state", "watching")
    panel.tab("Cells")
    stop = panel.root.get_by_role("combobox", name="breakpoint at relu", exact=True)
    stop.select_option("forward")
    panel.expect_paused("relu")
    panel.evaluate("net.dense.weight.shape", "(3, 4)")
    assert "usable 42" in notebook.run_to_end(1)  # the notebook's own kernel is free
    panel.tab("Cells")
    stop.select_option("")
    panel.tab("Stepper")
    panel.button("Continue").click()
    expect(panel.root).to_have_attribute("data-state", "watching")
    assert process.poll() is None  # the run continues

    notebook.save()
    notebook.reload()  # the page is loaded again, and has the panel again
    notebook.wait_ready()
    panel = Panel.in_cell(notebook.cell(0))
    panel.tab("Cells")
    panel.root.get_by_role("combobox", name="breakpoint at relu", exact=True).select_option("forward")
    panel.expect_paused("relu")
    panel.evaluate("setattr(sys.modules['__main__'], 'goes_on', False)", "None")
    panel.button("Continue").click()
    wait_until("the script to end", lambda: process.poll() is not None)
    assert process.stdout is not None and "ended by a person" in process.stdout.read()
