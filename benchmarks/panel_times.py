"""Times of the panel in JupyterLab, in Chromium: its first paint, a step until it is shown, the cost of live updates.

    python -m benchmarks panel_times [--repeats 5]

Requires the packages of the browser tests (`make test` installs them). The page's clock measures the first two: from
the click to the frame after the one that has the answer. The kernel's clock measures the third: training steps of
about 50 ms, watched without a panel and with one, in turns; the panel is drawn on the same cores. Ratios are medians of
the rounds' ratios.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

LARGE = """\
import json, time
import mindspore as ms
import numpy as np
from mindspore import nn
from hookscope.engine.debug import DebugSession
from hookscope.widgets import DebuggerPanel

class Square(nn.Cell):
    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        a = 2 * x
        b = a + 1
        c = b - 1
        d = c * 1
        e = d + 0
        f = e * dout
        return (f,)

class Net(nn.Cell):
    def __init__(self, blocks, layers):
        super().__init__()
        self.blocks = nn.SequentialCell(*(self.block(layers) for _ in range(blocks)))
        self.square = Square()

    def block(self, layers):
        return nn.SequentialCell(*(nn.Dense(2, 2) for _ in range(layers)))

    def construct(self, x):
        return self.square(self.blocks(x)).sum()

net, small = Net(100, 50), Net(1, 2)
x = ms.Tensor(np.ones((1, 2), np.float32))
large_step = ms.value_and_grad(net, 0, net.trainable_params())
small_step = ms.value_and_grad(small, 0, small.trainable_params())
parameters = len(list(net.get_parameters()))
assert parameters == 10_000, parameters"""

LIVE = """\
mlp = nn.SequentialCell(nn.Dense(784, 1024), nn.ReLU(), nn.Dense(1024, 1024), nn.ReLU(), nn.Dense(1024, 10))
optimizer = nn.SGD(mlp.trainable_params(), 1e-4)
gradient = ms.value_and_grad(lambda data: (mlp(data) ** 2).mean(), None, optimizer.parameters)

def seconds(data, steps):
    start = time.perf_counter()
    for _ in range(steps):
        value, gradients = gradient(data)
        optimizer(gradients)
    return (time.perf_counter() - start) / steps

def batch(rows):
    return ms.Tensor(np.random.default_rng(0).standard_normal((rows, 784)).astype(np.float32))

seconds(batch(64), 5)
data = batch(max(1, round(64 * 0.05 / seconds(batch(64), 20))))
seconds(data, 10)
session = DebugSession(mlp)
session.attach()
seconds(data, 10)
panel = None"""
DISPLAY = "panel = DebuggerPanel(session)\npanel.display()\npanel.view = 'parameters'"
WATCHED = "print(json.dumps(seconds(data, STEPS)))"
CLOSED = "panel.close()"
# Panels that a magic opened become static, so that they cost the next one nothing.
FROZEN = "from hookscope.kernel import panels\npanels.freeze_all(60)"

# A change of the page has been painted when the next frame begins.
SETTLE = 1000  # milliseconds until a panel that has just been opened has been drawn for the first time
FRAME = "const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));"
FIRST_PAINT = f"""async (index) => {{
  {FRAME}
  const notebook = window.jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = index;
  const start = performance.now();
  void window.jupyterapp.commands.execute("notebook:run-cell");
  const seen = '[role=group][aria-label^="Debugger of"] [role=tabpanel]:not([hidden])';
  while (!document.querySelector(seen)) await frame();
  await frame();
  return performance.now() - start;
}}"""
TREE = f"""async () => {{
  {FRAME}
  const root = document.querySelector('[role=group][aria-label^="Debugger of"]');
  const start = performance.now();
  [...root.querySelectorAll("[role=tab]")].find((tab) => tab.textContent.startsWith("Cells")).click();
  while (!root.querySelector("[role=treeitem]")) await frame();
  await frame();
  return performance.now() - start;
}}"""
STEP = f"""async () => {{
  {FRAME}
  const root = [...document.querySelectorAll('[role=group][aria-label^="Debugger of"]')].at(-1);
  const line = () => root.querySelector("[aria-current=true]").textContent;
  const button = root.querySelector("button[aria-keyshortcuts=F10]");
  while (button.disabled) await frame();
  const before = line();
  const start = performance.now();
  button.click();
  while (line() === before) await frame();
  await frame();
  return performance.now() - start;
}}"""
# Counts the frames in which the panel changed, from now on.
COUNT = f"""() => {{
  {FRAME}
  window.updates = 0;
  let changed = false;
  const root = document.querySelector('[role=group][aria-label^="Debugger of"]');
  new MutationObserver(() => {{
    if (changed) return;
    changed = true;
    requestAnimationFrame(() => {{ window.updates += 1; changed = false; }});
  }}).observe(root, {{ subtree: true, childList: true, characterData: true, attributes: true }});
}}"""


def _measure(notebook: Any, repeats: int, steps: int) -> None:
    from tests.browser.panel import Panel

    page = notebook.page

    def run(index: int) -> str:
        notebook.run(index)
        return str(notebook.finish(index, 120))

    def clear(index: int) -> None:
        run(8)
        page.evaluate("(index) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = index; }", index)
        notebook.command("notebook:clear-cell-output")
        page.wait_for_function("() => !document.querySelector('[role=group][aria-label^=\"Debugger of\"]')")

    def paint() -> tuple[float, float]:
        milliseconds = float(page.evaluate(FIRST_PAINT, 1))
        notebook.finish(1)
        tree = float(page.evaluate(TREE))
        clear(1)
        return milliseconds, tree

    def stepping(index: int) -> list[float]:
        notebook.run(index)
        panel = Panel.in_cell(notebook.cell(index))
        panel.expect_paused("square")
        times = [page.evaluate(STEP) for _ in range(min(repeats, 5))]  # the bprop has six lines
        panel.button("Continue").click()
        notebook.finish(index)
        clear(index)
        return times

    print(f"{'in Chromium, ms':<44}{'median':>8}{'min':>8}{'max':>8}{'aim':>8}")
    run(0)
    _row("panel of 10,000 parameters, a kernel's first", [paint()[0]], 1000.0)
    painted = [paint() for _ in range(repeats)]
    _row("panel of 10,000 parameters, first paint", [first for first, _ in painted], 1000.0)
    _row("its tree, from the click on", [tree for _, tree in painted], 1000.0)
    _row("step to updated view, 6 parameters", stepping(2), 150.0)
    _row("step to updated view, 10,000 parameters", stepping(3), 150.0)
    run(4)
    plain, live, rates = [], [], []
    for _ in range(repeats):
        plain.append(float(json.loads(run(6))))
        run(5)
        Panel.in_cell(notebook.cell(5))
        page.evaluate(COUNT)
        page.wait_for_timeout(SETTLE)
        live.append(float(json.loads(run(6))))
        rates.append(page.evaluate("window.updates") / (live[-1] * steps))
        run(7)
    ratio = _median([a / b for a, b in zip(live, plain, strict=True)])
    print(f"\nlive, {1 / _median(live):.1f} steps a second, drawn anew {_median(rates):.1f} times a second:")
    without_panel, with_panel = _median(plain) * 1e3, _median(live) * 1e3
    print(f"  {without_panel:.1f} ms a step without a panel, {with_panel:.1f} with one: {ratio:.3f} (aim 1.05)")


_median: Callable[[list[float]], float] = statistics.median


def _row(name: str, times: list[float], aim: float) -> None:
    print(f"{name:<44}{_median(times):>8.0f}{min(times):>8.0f}{max(times):>8.0f}{aim:>8.0f}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60, help="of a round of the live part (60)")
    options = parser.parse_args(arguments)
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        print("not measured: Playwright is not installed; `make test` installs it")
        return
    from tests.browser.chromium import find_chromium, how_to, missing_packages
    from tests.browser.lab import PAGE_SECONDS, Notebook, Window, browser_context, lab_server, write_notebook

    chromium, missing = find_chromium(), missing_packages()
    if chromium is None or missing:
        print(f"not measured: {how_to(missing)}")
        return
    expect.set_options(timeout=PAGE_SECONDS * 1000)
    stepping = [
        "%%cell small --step -o small_debugger\n_ = small_step(x)",
        "%%cell net --step -o large_debugger\n_ = large_step(x)",
    ]
    watched = WATCHED.replace("STEPS", str(options.steps))
    cells = [LARGE, "%cell net", *stepping, LIVE, DISPLAY, watched, CLOSED, FROZEN]
    with (
        tempfile.TemporaryDirectory() as folder,
        lab_server(Path(folder)) as server,
        sync_playwright() as playwright,
        browser_context(playwright, chromium, Path(folder) / "profile") as context,
    ):
        write_notebook(server.root / "panel_times.ipynb", cells)
        notebook = Notebook(server, Window(context.new_page()).page, "panel_times.ipynb")
        notebook.open()
        try:
            _measure(notebook, options.repeats, options.steps)
        finally:
            notebook.close()


if __name__ == "__main__":
    main()
