"""Make the moving picture of the README: a fault is found, the run pauses there, is stepped, and the fault is mended.

    python -m tests.browser.make_picture docs/images/debugging.webp

JupyterLab in Chromium runs the network of the tour's pictures. Each scene is a screenshot with a caption, and with a
ring where the mouse clicks next.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Locator, Page, Playwright, expect, sync_playwright

from tests.browser.chromium import find_chromium, how_to, missing_packages
from tests.browser.lab import STEP_SECONDS, Notebook, Window, browser_context, lab_server, write_notebook
from tests.browser.panel import Panel
from tests.browser.pictures import NETWORK

WIDTH, HEIGHT, CAPTION = 940, 720, 40  # pixels
MOST_BYTES = 1_500_000
OPEN, FIT, MEND = 1, 2, 3
CELLS = [NETWORK, "%cell net", "fit(20)", ""]
MENDED = """\
Gate.bprop = lambda self, x, out, dout: (dout * (x > 0),)  # without the cast
fit(60)"""


@dataclass
class Film:
    """The scenes so far, each with the seconds that it is shown."""

    page: Page
    scenes: list[tuple[Image.Image, float]] = field(default_factory=list)

    def take(self, caption: str, seconds: float, click: Locator | None = None) -> None:
        """Take the page as it is, with a caption; mark the middle of what is clicked next."""
        self.page.mouse.move(0, 0)
        picture = Image.open(BytesIO(self.page.screenshot(animations="disabled"))).convert("RGB")
        scene = Image.new("RGB", (WIDTH, HEIGHT + CAPTION), "#1f2328")
        scene.paste(picture)
        pen = ImageDraw.Draw(scene)
        pen.text((WIDTH // 2, HEIGHT + CAPTION // 2), caption, "white", ImageFont.load_default(20), anchor="mm")
        if click is not None:
            box = click.bounding_box()
            assert box is not None
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            pen.ellipse((x - 22, y - 22, x + 22, y + 22), outline="#d9480f", width=4)
        self.scenes.append((scene, seconds))

    def click(self, caption: str, seconds: float, button: Locator) -> None:
        """Take the page with a ring at a button, then click it."""
        button.scroll_into_view_if_needed()
        self.take(caption, seconds, button)
        button.click()

    def save(self, path: Path) -> None:
        first, *others = [scene for scene, _ in self.scenes]
        durations = [round(1000 * seconds) for _, seconds in self.scenes]
        path.parent.mkdir(parents=True, exist_ok=True)
        first.save(path, save_all=True, append_images=others, duration=durations, loop=0, quality=80, method=6)


def play(notebook: Notebook, film: Film) -> None:
    """Play the scenes, and take each."""
    notebook.run_to_end(0)
    notebook.run_to_end(OPEN)
    panel = Panel.in_cell(notebook.cell(OPEN))
    _to_the_top(notebook, OPEN)
    film.click("A network that does not learn. Find faults watches the next run.", 2.5, panel.button("Find faults"))
    notebook.run_to_end(FIT)
    expect(panel.root.get_by_role("list", name="Findings").get_by_role("listitem").first).to_be_visible()
    _to_the_top(notebook, OPEN)
    pause = panel.root.get_by_role("button", name="Pause here next time")
    film.take("Find: the cause, its cell and its line.", 3.5)
    film.click("Pause there in the next run.", 1.5, pause)
    film.click(
        "Pause there in the next run.", 1.5, panel.root.get_by_role("button", name="apply: Pause here next time")
    )
    expect(panel.root.get_by_role("button", name="undo: Pause here next time")).to_be_visible()
    notebook.run(FIT)
    panel.expect_paused("gate")
    _to_the_top(notebook, OPEN)
    film.take("Pause: in the middle of the backward pass, with live values.", 3)
    for source in ("mask = is_open", "arriving = dout", "dx = arriving"):
        film.click("Step, line by line.", 1, panel.button("Step over"))
        panel.expect_line(source)
    panel.expect_local("arriving", "int32")
    film.take("The cast to int32 makes the arriving gradient zero.", 3.5)
    panel.tab("Cells")
    panel.root.get_by_role("combobox", name="breakpoint at gate", exact=True).select_option("")
    panel.tab("Stepper")
    film.click("Without the breakpoint, continue to the end.", 1.5, panel.button("Continue the run"))
    notebook.finish(FIT)
    _mend(notebook, panel, film)


def _mend(notebook: Notebook, panel: Panel, film: Film) -> None:
    panel.tab("Findings")
    panel.button("Clear").click()
    editor = notebook.cell(MEND).get_by_role("textbox").first
    editor.fill(MENDED)
    notebook.cell(MEND).evaluate("(cell) => cell.scrollIntoView({ block: 'end' })")
    film.take("Mend it in the notebook, and train on.", 3)
    notebook.run_to_end(MEND)
    _to_the_top(notebook, OPEN)
    expect(panel.root.get_by_role("list", name="Findings").get_by_role("listitem")).to_have_count(0)
    film.take("The loss falls, and nothing is found any more.", 4.5)


def _to_the_top(notebook: Notebook, index: int) -> None:
    """Scroll a cell to the top of the window."""
    notebook.cell(index).evaluate("(cell) => cell.scrollIntoView({ block: 'start' })")


def make(playwright: Playwright, chromium: str, scratch: Path, path: Path) -> int:
    """Make the picture; return its size in bytes."""
    with lab_server(scratch) as server, browser_context(playwright, chromium, scratch / "profile") as context:
        write_notebook(server.root / "picture.ipynb", CELLS)
        page = Window(context.new_page()).page
        page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        notebook = Notebook(server, page, "picture.ipynb")
        notebook.open()
        notebook.command("application:toggle-left-area")
        notebook.command("application:toggle-presentation-mode")
        film = Film(page)
        play(notebook, film)
        film.save(path)
    return path.stat().st_size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, nargs="?", default=Path("docs/images/debugging.webp"))
    path = parser.parse_args().path
    chromium, missing = find_chromium(), missing_packages()
    if chromium is None or missing:
        parser.error(how_to(missing))
    expect.set_options(timeout=STEP_SECONDS * 1000)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        size = make(playwright, chromium, Path(scratch), path)
    print(f"{path}: {size:,} bytes")
    return int(size > MOST_BYTES)


if __name__ == "__main__":
    raise SystemExit(main())
