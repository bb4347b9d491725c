"""Long work: it shows its progress, its panel answers meanwhile, and Stop ends it."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook, wait_until
from tests.browser.panel import Panel

SETUP = """\
import time
import mindspore as ms
import numpy as np
import mindspore.dataset as ds
from mindspore import nn, ops
from mindspore.train import LambdaCallback, Model

class Slow(nn.Cell):
    def construct(self, *xs):
        time.sleep(0.1)
        return sum(xs)

    def bprop(self, *given):
        dout = given[-1]
        return (dout,) * (len(given) - 2)

net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), 0.1)
model = Model(net, loss_fn, optimizer)
x = np.random.RandomState(0).rand(400, 4).astype(np.float32)
y = (x[:, 0] > 0.5).astype(np.int32)
data = ds.NumpySlicesDataset({"x": x, "y": y}, shuffle=False).batch(4)
ended = LambdaCallback(on_train_end=lambda context: print("training has ended"))
step = ms.value_and_grad(lambda: loss_fn(net(ms.Tensor(x)), ms.Tensor(y)), None, optimizer.parameters)
slow, xs = Slow(), [ms.Tensor(np.ones(3, np.float32)) for _ in range(20)]

# The page of a session takes as long to make here as that of a large network.
from hookscope.engine.debug import DebugSession
from hookscope.widgets import DebuggerPanel, export_html
from hookscope.widgets.static_html import drawings
quick = drawings.figures_html
def figures_html(statistics):
    time.sleep(0.02)
    return quick(statistics)
drawings.figures_html = figures_html"""
TRAINING = "%%cell net -o trained\nmodel.train(100, data, callbacks=[ended])\nprint('the cell goes on')"
LOOP = "%%cell net -o looped\nwhile True:\n    loss, gradients = step()\n    optimizer(gradients)"
STOOD = "print('usable', 6 * 7)"
CHECK = "%%cell slow --step\nms.grad(lambda *xs: slow(*xs).sum(), tuple(range(20)))(*xs)\nprint('the cell goes on')"
EXPORT = """\
with DebugSession(net) as watched:
    for _ in range(20):
        step()
shown = DebuggerPanel(watched)
shown"""
EXPORT_IN_A_CELL = "export_html(watched, 'session.html')"
LEFT = "import os\nprint([name for name in os.listdir() if 'session.html' in name], 'usable', 6 * 7)"
CELLS = [SETUP, TRAINING, LOOP, STOOD, CHECK, EXPORT, EXPORT_IN_A_CELL, LEFT]


def bar(panel: Panel, name: str) -> Locator:
    return panel.root.get_by_role("progressbar", name=name, exact=True)


def progress_text(panel: Panel) -> Locator:
    return panel.root.get_by_role("group", name="Progress")


def text_at_end(shared_notebook: Notebook, index: int, word: str) -> str:
    """Return a cell's text, once it contains this. The kernel looks idle for a moment after each answer."""
    wait_until(f"{word!r} in cell {index}", lambda: re.search(word, shared_notebook.text(index)))
    return shared_notebook.finish(index)


def start(shared_notebook: Notebook, index: int) -> Panel:
    shared_notebook.run(index)
    return Panel.in_cell(shared_notebook.cell(index))


def test_training_shows_its_progress_answers_and_stops_after_a_step(shared_notebook: Notebook) -> None:
    panel = start(shared_notebook, 1)
    expect(bar(panel, "training")).to_be_visible()
    expect(progress_text(panel)).to_contain_text(re.compile(r"\d+ of 10,000 steps · epoch \d+ of 100 · .* left"))
    first = progress_text(panel).inner_text()
    expect(progress_text(panel)).not_to_have_text(first)
    panel.tab("Parameters")
    expect(panel.view("Parameters").get_by_role("row").nth(1)).to_be_visible()
    panel.tab("Cells")
    panel.toggle_train("0")  # the kernel says so while the cell runs
    assert shared_notebook.running() == 1
    panel.button("Stop").click()
    assert "training has ended" in text_at_end(shared_notebook, 1, "the cell goes on")
    assert 1 not in shared_notebook.failed()
    expect(panel.root).to_contain_text(re.compile(r"training stopped after [\d,]+ of 10,000 steps"))
    expect(bar(panel, "training")).to_have_count(0)


def test_a_loop_of_the_users_own_shows_its_speed_and_stop_aborts_it(shared_notebook: Notebook) -> None:
    panel = start(shared_notebook, 2)
    expect(bar(panel, "running")).to_be_visible()
    expect(progress_text(panel)).to_contain_text(re.compile(r"step [\d,]+ · [\d.,]+ (steps/s|s each)"))
    panel.button("Stop").click()
    text_at_end(shared_notebook, 2, "DebugAbort")
    expect(bar(panel, "running")).to_have_count(0)
    assert "usable 42" in shared_notebook.run_to_end(3)


def test_a_gradient_check_shows_its_progress_and_stops(shared_notebook: Notebook) -> None:
    panel = start(shared_notebook, 4)
    panel.expect_paused("bprop")
    panel.button("Check gradient").click()
    expect(bar(panel, "gradient check")).to_be_visible()
    expect(progress_text(panel)).to_contain_text(re.compile(r"\d+ of 60 elements"))
    panel.button("Stop").click()
    expect(panel.view("Stepper")).to_contain_text(re.compile(r"gradient check stopped after \d+ of 60 elements"))
    panel.button("Continue").click()
    text_at_end(shared_notebook, 4, "the cell goes on")


def test_an_export_shows_its_progress_and_stops_without_a_page(shared_notebook: Notebook) -> None:
    panel = start(shared_notebook, 5)
    shared_notebook.finish(5)
    saved: list[str] = []
    shared_notebook.page.on("download", lambda download: saved.append(download.suggested_filename))
    panel.button("Export").click()
    expect(bar(panel, "export")).to_be_visible()
    expect(progress_text(panel)).to_contain_text(re.compile(r"captures: \d+ of \d+ captures"))
    panel.button("Stop").click()
    expect(panel.root).to_contain_text(re.compile(r"export stopped after \d of \d parts"))
    assert "usable 42" in shared_notebook.run_to_end(7)
    assert saved == []


def test_an_export_that_nobody_stops_is_saved(shared_notebook: Notebook) -> None:
    panel = start(shared_notebook, 5)
    shared_notebook.finish(5)
    with shared_notebook.page.expect_download(timeout=120_000) as download:
        panel.button("Export").click()
        expect(bar(panel, "export")).to_be_visible()
    assert download.value.suggested_filename == "hookscope-SequentialCell.html"
    expect(bar(panel, "export")).to_have_count(0)


def test_an_export_in_a_cell_is_stopped_from_the_panel_and_leaves_no_file(shared_notebook: Notebook) -> None:
    shared_notebook.run(5)
    shared_notebook.finish(5)
    panel = Panel.in_cell(shared_notebook.cell(5))
    shared_notebook.run(6)
    expect(bar(panel, "export")).to_be_visible()
    panel.button("Stop").click()
    assert "Traceback" not in text_at_end(shared_notebook, 6, r"export stopped after \d of \d parts")
    assert shared_notebook.run_to_end(7).startswith("[] usable")
