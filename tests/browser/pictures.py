"""Take the pictures of docs/images: each view of the panel, in light and dark, in a wide and in a narrow window.

    python -m tests.browser.pictures docs/images

They show the network of the tour, whose gate lets no gradient through, in JupyterLab. A picture NAME-light.png is of a
panel 1100 pixels wide, NAME-narrow-light.png of one with 480.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Playwright, expect, sync_playwright

from tests.browser.chromium import find_chromium, how_to, missing_packages
from tests.browser.lab import STEP_SECONDS, Notebook, Window, browser_context, lab_server, write_notebook
from tests.browser.panel import Panel

WIDTHS = {"": 1100, "-narrow": 480}
HEIGHT = 1300  # of the window
HIGHEST = 1000  # of a picture: of what goes on below, the upper part
COLOURS = 256  # of a picture: enough for a heatmap, and a third of the bytes

NETWORK = """\
import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.train import Model
from sklearn.datasets import load_digits

digits = load_digits()
images = (digits.images / 16).astype(np.float32)[:, np.newaxis]
labels = digits.target.astype(np.int32)

class Gate(nn.Cell):
    def construct(self, x):
        return ops.relu(x)

    def bprop(self, x, out, dout):
        is_open = x > 0
        mask = is_open.astype(ms.int32)
        arriving = dout.astype(mask.dtype)
        dx = arriving * mask
        return (dx,)

class DigitNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, has_bias=True)
        self.conv2 = nn.Conv2d(8, 16, 3, has_bias=True)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.hidden = nn.Dense(64, 32)
        self.gate = Gate()
        self.head = nn.Dense(32, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.head(self.gate(self.hidden(self.flatten(x))))

ms.set_seed(1)
net = DigitNet().set_train()
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)

def fit(steps):
    for start in range(0, 16 * steps, 16):
        loss, gradients = step(Tensor(images[start : start + 16]), Tensor(labels[start : start + 16]))
        optimizer(gradients)
"""
OPEN, FIT, DISPLAY, SAVED, TRAIN = 1, 2, 3, 4, 5
CELLS = [
    NETWORK,
    "%cell net",
    "fit(20)",
    "net.head.weight",
    "%%cell net --check all -o dbg\nfit(4)",
    "%%cell net\nModel(net, loss_fn, optimizer).train(20, ds.NumpySlicesDataset((images, labels)).batch(32))",
]
RANKS_CELLS = [
    "%ranks 4",
    "%%ranks\n"
    + NETWORK.split("ms.set_seed(1)")[0]
    + """\
from mindspore.communication import get_rank, init

init()
rank = get_rank()
ms.set_seed(1)
net = DigitNet().set_train()
loss_fn = nn.CrossEntropyLoss()
train = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), nn.Momentum(net.trainable_params(), 0.01, 0.9))
mine = images[rank::4]
if rank == 2:
    mine[70, 0, 3, 3] = np.nan

def fit(steps):
    for start in range(0, 16 * steps, 16):
        train(Tensor(mine[start : start + 16]), Tensor(labels[rank::4][start : start + 16]))
""",
    "%%cell net --ranks --check nan --break 'gate:forward if rank == 1 and step == 5'\nfit(8)",
]
HOOK = """\
def gradient_norm(cell, grad_input, grad_output):
    arrives, leaves = (np.linalg.norm(g[0].asnumpy()) for g in (grad_output, grad_input))
    print(f"{leaves:.3g} of {arrives:.3g} gets through")
"""
DRAWN = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
Take = Callable[[str, Locator], None]


def take_all(playwright: Playwright, chromium: str, scratch: Path, folder: Path) -> None:
    with lab_server(scratch) as server, browser_context(playwright, chromium, scratch / "profile") as context:
        write_notebook(server.root / "pictures.ipynb", CELLS)
        notebook = Notebook(server, Window(context.new_page()).page, "pictures.ipynb")
        notebook.open()
        notebook.command("application:toggle-left-area")
        notebook.run_to_end(0)
        notebook.run_to_end(OPEN)
        panel = Panel.in_cell(notebook.cell(OPEN))

        def take(name: str, locator: Locator) -> None:
            save_all(folder, name, locator, in_themes_of(notebook))

        take_views(notebook, panel, take)
        take_stepper(notebook, panel, take)
        take_exported(notebook, panel, folder, scratch)
        take_docked(notebook, folder)
        take_training(notebook, take)
        notebook.run_to_end(DISPLAY)
        take("display", notebook.cell(DISPLAY))
        notebook.run_to_end(SAVED)
        notebook.save()
        notebook.shut_down()
        notebook.reload()
        expect(notebook.cell(SAVED).get_by_role("listitem").filter(has_text="wrong_bprop").first).to_be_visible()
        take("saved", notebook.cell(SAVED))
        take_ranks(Notebook(server, Window(context.new_page()).page, "ranks.ipynb"), folder)


def take_ranks(notebook: Notebook, folder: Path) -> None:
    """Take four ranks, of which one is paused and another has a NaN."""
    write_notebook(notebook.server.root / notebook.path, RANKS_CELLS)
    notebook.open()
    notebook.command("application:toggle-left-area")
    for index in (0, 1):
        notebook.run_to_end(index)
    notebook.run(2)
    root = notebook.cell(2).get_by_role("group", name="Ranks of net")
    expect(root.get_by_role("group", name="All ranks").get_by_role("button", name="Continue")).to_be_enabled()
    root.get_by_role("textbox", name="Expression").fill("mine.mean()")
    root.get_by_role("button", name="Evaluate").click()
    expect(root.get_by_role("log", name="Answers")).to_contain_text("nan")
    save_all(folder, "ranks", root, in_themes_of(notebook))
    notebook.close()


def take_views(notebook: Notebook, panel: Panel, take: Take) -> None:
    """Take every tab but the stepper, of a panel that watches."""
    panel.button("Find faults").click()
    panel.tab("Hooks")
    panel.root.get_by_role("combobox", name="Cell", exact=True).fill("gate")
    panel.root.get_by_role("combobox", name="Kind", exact=True).select_option("backward")
    panel.root.get_by_role("textbox", name="Hook function").fill(HOOK)
    panel.button("Attach").click()
    expect(panel.button("Detach backward hook gradient_norm of gate")).to_be_visible()
    notebook.run_to_end(FIT)
    expect(panel.root.get_by_role("log", name="Printed by hooks")).to_contain_text("gets through")
    take("hooks", panel.root)
    panel.tab("Findings")
    expect(panel.root.get_by_role("list", name="Findings").get_by_role("listitem").first).to_be_visible()
    take("findings", panel.root)
    panel.tab("Cells")
    panel.toggle_hook("forward", "conv1")
    panel.root.get_by_role("combobox", name="breakpoint at gate", exact=True).select_option("bprop")
    take("cells", panel.root)
    panel.tab("Captures")
    for key in ("Home", "End"):  # the last step alone
        panel.root.get_by_role("slider", name="Step", exact=True).press(key)
    panel.select_capture(20, "conv2")
    panel.root.get_by_role("searchbox", name="Filter captures").fill("conv2")
    take("channels", panel.root)
    panel.select_capture(20, "head")
    panel.root.get_by_role("searchbox", name="Filter captures").fill("head")
    take("captures", panel.root)
    panel.root.get_by_role("combobox", name="Compare with").fill("step 19: head output")
    panel.root.get_by_role("option", name="step 19: head#0 forward output").click()
    expect(panel.root.get_by_role("img", name="Heatmap of difference")).to_be_visible()
    take("compare", panel.root)
    panel.tab("Curves")
    expect(panel.root.get_by_role("slider", name="Step of loss", exact=True)).to_be_visible()
    take("curves", panel.root)
    panel.tab("Parameters")
    panel.root.get_by_role("gridcell", name="head.weight", exact=True).click()
    panel.root.get_by_role("combobox", name="Change", exact=True).select_option("clip")
    panel.root.get_by_role("textbox", name="Lowest").fill("-0.1")
    panel.root.get_by_role("textbox", name="Highest").fill("0.1")
    expect(panel.button("Apply")).to_be_enabled()
    take("parameters", panel.root)


def take_stepper(notebook: Notebook, panel: Panel, take: Take) -> None:
    """Take a pause in the gate's bprop, where the gradient is lost."""
    notebook.run(FIT)
    panel.expect_paused("gate")
    for source in ("mask = is_open", "arriving = dout", "dx = arriving"):
        panel.step_over_to(source)
    panel.button("Check gradient").click()
    expect(panel.root.get_by_role("table", name="Gradient check")).to_be_visible()
    panel.evaluate("abs(dout).max()", "0.")
    panel.root.locator(".hs-side").evaluate("(side) => { side.scrollTop = 0; }")
    take("stepper", panel.root)
    panel.tab("Cells")
    panel.root.get_by_role("combobox", name="breakpoint at gate", exact=True).select_option("")
    panel.tab("Stepper")
    panel.button("Continue").click()
    notebook.finish(FIT)


def take_docked(notebook: Notebook, folder: Path) -> None:
    """Take the panel beside the notebook, where it stays during scrolling."""
    page = notebook.page
    page.evaluate("(index) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = index; }", OPEN)
    notebook.command("notebook:create-output-view")
    docked = page.locator(".jp-LinkedOutputView").get_by_role("group", name=re.compile("^Debugger of "))
    Panel(docked).tab("Findings")
    page.set_viewport_size({"width": 1600, "height": 700})
    for theme in in_themes_of(notebook)():
        save(folder / f"docked-{theme}.png", page.screenshot(animations="disabled"))
    page.locator(".lm-TabBar-tab").filter(has_text="Output View").locator(".lm-TabBar-tabCloseIcon").click()


def take_training(notebook: Notebook, take: Take) -> None:
    """Take the panel while a Model trains."""
    notebook.run(TRAIN)
    panel = Panel.in_cell(notebook.cell(TRAIN))
    expect(panel.root.get_by_role("progressbar", name="training")).to_be_visible()
    panel.tab("Parameters")
    expect(panel.root.get_by_role("group", name="Progress")).to_contain_text("epoch 3 of 20")
    take("training", panel.root)
    panel.button("Stop").click()
    expect(panel.root).to_contain_text("training stopped after")
    notebook.finish(TRAIN)


def take_exported(notebook: Notebook, panel: Panel, folder: Path, scratch: Path) -> None:
    """Take the page that Export gives, in a browser with each theme."""
    with notebook.page.expect_download() as download:
        panel.button("Export").click()
    download.value.save_as(scratch / "session.html")
    page = notebook.page.context.new_page()
    page.goto((scratch / "session.html").as_uri())

    def in_themes() -> Iterator[str]:
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            yield theme

    save_all(folder, "exported", page.locator("body"), in_themes)
    page.close()


def in_themes_of(notebook: Notebook) -> Callable[[], Iterator[str]]:
    def in_themes() -> Iterator[str]:
        for theme in ("Dark", "Light"):
            notebook.set_theme(theme)
            yield theme.lower()

    return in_themes


def save_all(folder: Path, name: str, locator: Locator, in_themes: Callable[[], Iterator[str]]) -> None:
    """Save what is shown, in each theme and width."""
    for theme in in_themes():
        for suffix, width in WIDTHS.items():
            set_width(locator, width)
            locator.page.mouse.move(0, 0)
            save(folder / f"{name}{suffix}-{theme}.png", locator.screenshot(animations="disabled"))


def set_width(locator: Locator, width: int) -> None:
    """Resize the window so that the panel has this width."""
    for _ in range(3):
        box, window = locator.bounding_box(), locator.page.viewport_size
        assert box is not None
        assert window is not None
        locator.page.set_viewport_size({"width": round(window["width"] + width - box["width"]), "height": HEIGHT})
        locator.page.wait_for_function(
            "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
        )


def save(path: Path, png: bytes) -> None:
    picture = Image.open(BytesIO(png)).convert("RGB")
    picture = picture.crop((0, 0, picture.width, min(picture.height, HIGHEST)))
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    chromium, missing = find_chromium(), missing_packages()
    if chromium is None or missing:
        parser.error(how_to(missing))
    expect.set_options(timeout=STEP_SECONDS * 1000)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        take_all(playwright, chromium, Path(scratch), options.folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
