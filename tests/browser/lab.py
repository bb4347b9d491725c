"""A real JupyterLab or Notebook 7 in Chromium: a server, a page, and a notebook opened in it.

Commands go through `window.jupyterapp`, which JupyterLab offers with `expose_app_in_browser`; what a person
looks at and clicks is reached through roles and accessible names with `Notebook.cell(i)`. Waiting is polling
from Python with a deadline, never a fixed sleep.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import BrowserContext, Error, Locator, Page, Playwright, expect

# Root in a container has no sandbox; the others keep the browser from asking the outside for anything.
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
SERVER_SECONDS = 120  # a cold start on two busy cores takes about 20
PAGE_SECONDS = 120
STEP_SECONDS = 120


def wait_until(what: str, condition: Callable[[], object], seconds: float = STEP_SECONDS) -> Any:
    """Poll until `condition()` is true and return its value; after `seconds`, raise an error that names `what`."""
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:g} s for {what}")
        time.sleep(0.05)


FrontEnd = Literal["JupyterLab", "Notebook 7"]
PAGES: dict[FrontEnd, str] = {"JupyterLab": "lab/tree", "Notebook 7": "notebooks"}  # the page that opens a notebook
COMMANDS: dict[FrontEnd, tuple[str, tuple[str, ...]]] = {
    "JupyterLab": ("lab", ("--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly")),
    "Notebook 7": ("notebook", ("--JupyterNotebookApp.expose_app_in_browser=True",)),
}


@dataclass
class Server:
    """A server on a free port of this machine, with its own settings and no token, for one front end."""

    root: Path
    url: str
    process: subprocess.Popen[bytes]
    log: Path
    front_end: FrontEnd = "JupyterLab"

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/{path}", timeout=10) as reply:
            return json.load(reply)

    def delete(self, path: str) -> None:
        request = urllib.request.Request(f"{self.url}/{path}", method="DELETE")
        with suppress(urllib.error.HTTPError), urllib.request.urlopen(request, timeout=30):
            pass

    def answers(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError(f"JupyterLab's server ended by itself:\n{self.log.read_text()[-3000:]}")
        try:
            return bool(self.get("api"))
        except OSError:
            return False


@contextmanager
def reserved_port() -> Iterator[int]:
    """Reserve a port of this machine that no one else gets, though a server that knows it may listen there.

    Linux gives a bound port to no process that asks for any free one. It lets a process listen on that very port
    beside a socket that only holds it, if both allow addresses to be reused: servers do.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


@contextmanager
def lab_server(folder: Path, front_end: FrontEnd = "JupyterLab") -> Iterator[Server]:
    """Start JupyterLab, or Notebook 7, on `folder`/notebooks; its settings, workspaces and log stay in `folder`."""
    root = folder / "notebooks"
    root.mkdir(parents=True, exist_ok=True)
    log = folder / "server.log"
    # No news and no updates: they need other machines, and show a dialog over the page.
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"checkForUpdates": false, "fetchNews": "false"}')
    foreign = ("JUPYTER", "JPY_")
    environment = {name: text for name, text in os.environ.items() if not name.startswith(foreign)}
    environment |= {
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
    }
    # A server of its own for each: one server for both would tell Notebook 7 the page that JupyterLab showed last.
    application, traits = COMMANDS[front_end]
    with log.open("wb") as output, reserved_port() as port:
        command = [
            *(sys.executable, "-m", "jupyter", application, "--no-browser", "--allow-root", f"--port={port}"),
            *("--ServerApp.port_retries=0", "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True"),
            *(f"--ServerApp.root_dir={root}", *traits),
        ]
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
        server = Server(root, f"http://127.0.0.1:{port}", process, log, front_end)
        try:
            wait_until("JupyterLab's server", server.answers, SERVER_SECONDS)
            yield server
            for kernel in server.get("api/kernels"):
                server.delete(f"api/kernels/{kernel['id']}")
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@dataclass
class Window:
    """A page of a fresh Chromium profile, with its errors and its requests to other machines."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests_outside: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(STEP_SECONDS * 1000)
        self.page.on("pageerror", lambda error: self._fail(error.stack or str(error)))
        self.page.on("request", lambda request: self._note(request.url))

    def _fail(self, error: str) -> None:
        if "reading 'schema'" not in error:  # Notebook 7.6 itself, as it starts: settings of a plugin it did not load
            self.errors.append(error)

    def _note(self, url: str) -> None:
        address = urllib.parse.urlsplit(url)
        if address.scheme in {"http", "https", "ws", "wss"} and address.hostname != "127.0.0.1":
            self.requests_outside.append(url)


@contextmanager
def browser_context(playwright: Playwright, chromium: str, profile: Path) -> Iterator[BrowserContext]:
    """Start Chromium with its cache in `profile`: it reads and compiles JupyterLab's scripts once."""
    context = playwright.chromium.launch_persistent_context(
        profile, executable_path=chromium, args=CHROMIUM_ARGUMENTS, viewport={"width": 1400, "height": 1000}
    )
    try:
        yield context
    finally:
        context.close()


# Close every document without asking whether to save it.
CLOSE = "() => [...window.jupyterapp.shell.widgets('main')].forEach((one) => one.dispose())"
# Let JupyterLab find out which kernels are gone. Its pending requests to them fail now, and not in the next test.
FORGET_KERNELS = """async () => {
    const { sessions, kernels } = window.jupyterapp.serviceManager;
    await Promise.all([sessions.refreshRunning(), kernels.refreshRunning()]);
    await new Promise((done) => setTimeout(done));
}"""


@dataclass
class Notebook:
    """One notebook, opened in JupyterLab or in Notebook 7."""

    server: Server
    page: Page
    path: str
    is_reloaded: bool = False

    def open(self) -> None:
        """Open it in the JupyterLab on the page, or load a page for it, which takes three times as long."""
        if self.server.front_end == "JupyterLab" and self.page.url.startswith(f"{self.server.url}/lab"):
            self.command("docmanager:open", path=self.path, factory="Notebook")
        else:
            pages = f"{self.server.url}/{PAGES[self.server.front_end]}"
            self.page.goto(f"{pages}/{self.path}?reset", timeout=PAGE_SECONDS * 1000)
            wait_until("the page to load", self._is_restored)
        self.wait_ready()

    def _is_restored(self) -> bool:
        try:
            return bool(self.page.evaluate("() => window.jupyterapp?.restored.then(() => true)"))
        except Error as error:
            if "navigation" not in str(error):
                raise
            return False  # JupyterLab goes on to another address if a page has its workspace already

    def reload(self) -> None:
        """Load the page again, as the browser's button does, and wait until the notebook is back."""
        self.is_reloaded = True
        self.page.reload(timeout=PAGE_SECONDS * 1000)
        self.wait_open()

    def save(self) -> None:
        save = "() => window.jupyterapp.shell.currentWidget.context.save().then(() => true)"
        self.page.evaluate(save)

    def shut_down(self) -> None:
        """End the kernel, as "Shut Down Kernel" does."""
        for session in self.server.get("api/sessions"):
            self.server.delete(f"api/sessions/{session['id']}")

    def close(self, keep_page: bool = False) -> None:
        """Shut the kernel down and leave the page, or JupyterLab's page to the next notebook; nothing is saved.

        A page that was loaded again is left: JupyterLab may still restore in it what was open before.
        """
        if keep_page and not self.is_reloaded and self.server.front_end == "JupyterLab":
            self.page.evaluate(CLOSE)
            self.shut_down()
            self.page.evaluate(FORGET_KERNELS)
        else:
            self.shut_down()
            self.page.goto("about:blank")

    def wait_open(self) -> None:
        """Wait until the notebook is the current document and its session is connected; its kernel may be busy."""
        script = """async (path) => {
            const widget = window.jupyterapp?.shell.currentWidget;
            if (widget?.context?.path !== path) return false;
            await widget.context.ready;
            await widget.sessionContext.ready;
            return widget.sessionContext.session?.kernel?.connectionStatus === 'connected';
        }"""
        wait_until(f"{self.path} to open", lambda: self.page.evaluate(script, self.path), PAGE_SECONDS)

    def wait_ready(self) -> None:
        self.wait_open()
        self.wait_status("idle", PAGE_SECONDS)

    def status(self) -> str:
        """Return the kernel's state as JupyterLab sees it: idle, busy, restarting, ..."""
        session = "window.jupyterapp.shell.currentWidget.sessionContext.session"
        return str(self.page.evaluate(f"() => {session}?.kernel?.status ?? 'none'"))

    def wait_status(self, status: str, seconds: float = STEP_SECONDS) -> None:
        wait_until(f"the kernel to be {status}", lambda: self.status() == status, seconds)

    def command(self, name: str, **arguments: object) -> None:
        """Run one of JupyterLab's commands without waiting for its effects."""
        script = "([name, args]) => { void window.jupyterapp.commands.execute(name, args); }"
        self.page.evaluate(script, [name, arguments])

    def set_theme(self, theme: Literal["Light", "Dark"]) -> None:
        self.command("apputils:change-theme", theme=f"JupyterLab {theme}")
        is_light = "true" if theme == "Light" else "false"
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-light", is_light)
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0)  # shown while a theme loads

    def run(self, index: int) -> None:
        """Run one cell without waiting for it."""
        script = """(index) => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            notebook.deselectAll();
            notebook.activeCellIndex = index;
            void window.jupyterapp.commands.execute('notebook:run-cell');
        }"""
        self.page.evaluate(script, index)

    def has_run(self, index: int) -> bool:
        """Return whether the cell shows its number, which is absent from the start of its run to the end."""
        # Its state is not enough: a notebook that has just been opened may take a cell that has run for a running one.
        script = "(index) => window.jupyterapp.shell.currentWidget.content.widgets[index].model.executionCount !== null"
        return bool(self.page.evaluate(script, index))

    def finish(self, index: int, seconds: float = STEP_SECONDS) -> str:
        """Wait until the cell has run; return its text output."""
        wait_until(f"cell {index} to finish", lambda: self.has_run(index), seconds)
        return self.text(index)

    def run_to_end(self, index: int) -> str:
        """Run one cell and wait for it; return its text output."""
        self.run(index)
        return self.finish(index)

    def running(self) -> int | None:
        """Return the index of the running cell."""
        script = """() => window.jupyterapp.shell.currentWidget.content.widgets.findIndex(
            (cell) => cell.model.type === 'code' && cell.model.executionState === 'running')"""
        index = int(self.page.evaluate(script))
        return None if index < 0 else index

    def code_cells(self) -> list[int]:
        """Return the indices of the non-empty code cells."""
        script = """() => window.jupyterapp.shell.currentWidget.content.widgets.flatMap((cell, index) =>
            cell.model.type === 'code' && cell.model.sharedModel.source.trim() ? [index] : [])"""
        return [int(index) for index in self.page.evaluate(script)]

    def failed(self) -> list[int]:
        """Return the indices of the cells that show an error."""
        script = """() => window.jupyterapp.shell.currentWidget.content.widgets.flatMap((cell, index) =>
            cell.model.toJSON().outputs?.some((output) => output.output_type === 'error') ? [index] : [])"""
        return [int(index) for index in self.page.evaluate(script)]

    def source(self, index: int) -> str:
        cells = "window.jupyterapp.shell.currentWidget.content.widgets"
        return str(self.page.evaluate(f"(index) => {cells}[index].model.sharedModel.source", index))

    def find(self, text: str) -> int:
        """Return the index of the first code cell whose source contains `text`."""
        script = """(text) => window.jupyterapp.shell.currentWidget.content.widgets.findIndex(
            (cell) => cell.model.type === 'code' && cell.model.sharedModel.source.includes(text))"""
        index = int(self.page.evaluate(script, text))
        if index < 0:
            raise LookupError(f"no code cell of {self.path} contains {text!r}")
        return index

    def cell(self, index: int) -> Locator:
        """Return the cell on the page, scrolled to: JupyterLab removes distant cells from the page."""
        script = """async (index) => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            notebook.activeCellIndex = index;
            await notebook.scrollToItem(index, 'smart');
        }"""
        self.page.evaluate(script, index)
        return self.page.locator(f".jp-NotebookPanel .jp-Cell[data-windowed-list-index='{index}']")

    def text(self, index: int) -> str:
        """Return the cell's text outputs as the document stores them, streams and tracebacks included."""
        script = """(index) => JSON.stringify(
            window.jupyterapp.shell.currentWidget.content.widgets[index].model.toJSON().outputs)"""
        pieces: list[str] = []
        for output in json.loads(self.page.evaluate(script, index)):
            data = output.get("data", {}).get("text/plain", "")
            for piece in (output.get("text", ""), data, *output.get("traceback", ())):
                pieces.append("".join(piece))
        return "\n".join(pieces)


def write_notebook(path: Path, cells: list[str], kernel: str = "hookscope") -> None:
    """Write a notebook of code cells for `kernel`."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    notebook = new_notebook(
        cells=[new_code_cell(source) for source in cells],
        metadata={"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}},
    )
    nbformat.write(notebook, path)
