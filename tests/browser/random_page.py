"""One browser tab of a random session: a notebook in JupyterLab among other documents that its user has opened.

Unlike `lab.Notebook` it finds its notebook by path, wherever the focus is, and panels wherever they are on the page.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import ConsoleMessage, Dialog, Error, Locator, Page

from tests.browser.lab import PAGE_SECONDS, Server, wait_until
from tests.browser.panel import Panel

# Defined before JupyterLab's own scripts run. A lost connection is one whose sockets close.
SCRIPT = """
window.driver = {
  sockets: [],
  count: 0,
  book: (path) => window.jupyterapp && [...window.jupyterapp.shell.widgets('main')].find(
    (widget) => widget.context?.path === path && widget.content?.widgets),
  outputs: (cell) => cell.model.type === 'code' ? cell.model.outputs.toJSON() : [],
  cells: (path) => window.driver.book(path).content.widgets.map((cell) => ({
    id: cell.model.id, source: cell.model.sharedModel.source, empty: !window.driver.outputs(cell).length,
    request: cell.outputArea?.future?.msg.header.msg_id ?? null})),
  panels: (path) => [...document.querySelectorAll('[role=group][aria-label^="Debugger of "]')].map((root) => {
    root.dataset.random ||= String(++window.driver.count);
    const node = root.closest('.jp-Notebook .jp-Cell');
    const seen = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== 'hidden';
    const named = (element) => element.getAttribute('aria-label') || element.innerText.trim().split('\\n')[0];
    const controls = [...root.querySelectorAll(':is(button, input, select):enabled:not([role=tab], .hs-tabs-more)')];
    const text = (role) => [...root.querySelectorAll(`[role=${role}]`)].filter(seen).map((one) => one.innerText.trim());
    return {
      mark: root.dataset.random, visible: seen(root), label: root.getAttribute('aria-label').slice(12),
      cell: window.driver.book(path)?.content.widgets.find((cell) => cell.node === node)?.model.id ?? null,
      docked: !node, status: text('status').join(' '), problem: text('alert').filter(Boolean).join(' '),
      enabled: controls.filter((one) => one.getAttribute('aria-disabled') !== 'true').map(named),
      offered: controls.filter(seen).map(named),
      text: root.innerText,
    };
  }),
  activate: (path, index) => {
    const book = window.driver.book(path);
    window.jupyterapp.shell.activateById(book.id);
    book.content.deselectAll();
    book.content.mode = 'command';
    if (index !== null) book.content.activeCellIndex = index;
  },
};
// Its user agrees to what JupyterLab asks: to restart, to overwrite; and closes what it tells.
setInterval(() => {
  const buttons = ['.jp-mod-accept', '.jp-Dialog-footer button:last-child'];
  // The last of them: before "Overwrite" stands "Revert", which would lose what this tab shows.
  const [accept, close] = buttons.map((one) => [...document.querySelectorAll(`.jp-Dialog ${one}`)].at(-1));
  (accept ?? close)?.click();
}, 200);
window.WebSocket = class extends window.WebSocket {
  constructor(...given) { super(...given); window.driver.sockets.push(this); }
};
"""


@dataclass(frozen=True)
class PanelState:
    """A panel on the page at one moment."""

    mark: str
    visible: bool
    label: str
    cell: str | None
    docked: bool
    status: str
    problem: str
    enabled: list[str]  # those in other views too,
    offered: list[str]  # and those that are in sight
    text: str

    @property
    def can_go_on(self) -> bool:
        """Return whether it offers to end a pause."""
        return self.visible and "Continue" in self.enabled and "Abort" in self.enabled

    def ends_pause(self, position: str) -> bool:
        """Return whether it offers to end the pause in this place."""
        return self.can_go_on and f"paused in {position}" in self.status


@dataclass
class Tab:
    """A browser tab that has the notebook open, or had."""

    server: Server
    page: Page
    path: str
    name: str
    errors: list[str] = field(default_factory=list)
    is_open: bool = False

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self.errors.append(error.stack or str(error)))
        self.page.on("console", self._said)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"console: {message.text}")

    def js(self, script: str, *arguments: Any) -> Any:
        """Evaluate a function of the path and these arguments; once more if the page was being unloaded."""
        try:
            return self.page.evaluate(f"(given) => ({script})(...given)", [self.path, *arguments])
        except Error as error:
            if "context was destroyed" not in str(error):
                raise
            self.page.wait_for_load_state()
            return self.page.evaluate(f"(given) => ({script})(...given)", [self.path, *arguments])

    # The notebook

    def load(self, workspace: str) -> None:
        """Load JupyterLab with the notebook."""
        url = f"{self.server.url}/lab/workspaces/{workspace}/tree/{self.path}?reset"
        self.page.goto(url, timeout=PAGE_SECONDS * 1000)
        self.wait_open()

    def open(self) -> None:
        """Open the notebook where JupyterLab is already loaded."""
        self.js("(path) => { void window.jupyterapp.commands.execute('docmanager:open', {path}); }")
        try:
            self.wait_open(30)
        except TimeoutError:  # JupyterLab was connecting to a kernel that has ended, for which it waits a minute
            self.reload()

    def reload(self) -> None:
        """Load the page again; unsaved changes are lost."""
        self.page.on("dialog", _accept)  # "leave the page?"
        try:
            self.page.reload(timeout=PAGE_SECONDS * 1000)
        finally:
            self.page.remove_listener("dialog", _accept)
        self.wait_open()

    def close(self, save: bool) -> None:
        """Close the notebook; its kernel stays."""
        if save:
            self.save()
        self.js("(path) => { const book = window.driver.book(path); book.context.model.dirty = false; book.close(); }")
        self.wait("the notebook to close", lambda: self.js("(path) => !window.driver.book(path)"))
        self.is_open = False

    def wait_open(self, seconds: float = PAGE_SECONDS) -> None:
        """Wait until the notebook is open and connected; its kernel may be busy."""
        script = """async (path) => {
            const book = window.driver.book(path);
            if (!book) return false;
            await book.context.ready;
            await book.sessionContext.ready;
            return book.sessionContext.session?.kernel?.connectionStatus === 'connected';
        }"""
        self.wait("the notebook to open", lambda: self.js(script), seconds)
        self.is_open = True

    def wait(self, what: str, condition: Callable[[], object], seconds: float = 30) -> Any:
        """Poll a condition until it holds."""
        return wait_until(f"{what} in {self.name}", condition, seconds)

    def save(self) -> None:
        """Save, overwriting what another tab has saved."""
        self.js("""(path) => {
            window.driver.saving = true;
            const done = () => { window.driver.saving = false; };
            window.driver.book(path).context.save().then(done, done);
        }""")
        self.wait("the save", lambda: not self.page.evaluate("() => window.driver.saving"))

    def catch_up(self) -> None:
        """Wait for the kernel's messages so far: another tab's cell may have ended just now."""
        self.js("""(path) => Promise.race([
            window.driver.book(path).sessionContext.session?.kernel?.requestCommInfo({}).catch(() => undefined),
            new Promise((resolve) => { setTimeout(resolve, 3000); }),
        ]).then(() => true)""")

    def client(self) -> str:
        """Return the client that the kernel takes this tab's cells to come from."""
        return str(self.js("(path) => window.driver.book(path).sessionContext.session?.kernel?.clientId ?? ''"))

    def status(self) -> str:
        """Return the kernel's state as this tab sees it."""
        return str(self.js("(path) => window.driver.book(path).sessionContext.session?.kernel?.status ?? 'none'"))

    def cells(self) -> list[dict[str, Any]]:
        """Return each cell's id, source, whether it has no output, and the request whose outputs it takes."""
        return list(self.js("(path) => window.driver.cells(path)"))

    def command(self, name: str, cell: int | None = None) -> None:
        """Run one of JupyterLab's commands on a cell, without waiting for its effects."""
        self.js(
            """(path, name, cell) => {
                window.driver.activate(path, cell);
                void window.jupyterapp.commands.execute(name);
            }""",
            name,
            cell,
        )

    def set_source(self, index: int, source: str) -> None:
        cell = "window.driver.book(path).content.widgets[index]"
        self.js(f"(path, index, text) => {cell}.model.sharedModel.setSource(text)", index, source)

    def lose_connection(self) -> None:
        self.page.context.set_offline(True)
        self.page.evaluate("() => window.driver.sockets.splice(0).forEach((socket) => socket.close())")

    def find_connection(self) -> None:
        """Wait for the connection, as soon as JupyterLab has tried once more or its user told it to."""
        self.page.context.set_offline(False)
        if self.is_open:
            self.command("notebook:reconnect-to-kernel")
            self.wait_open()

    def outputs(self) -> list[tuple[str, dict[str, Any]]]:
        """Return each output in the document, with the id of its cell."""
        script = """(path) => JSON.stringify(window.driver.book(path).content.widgets.flatMap((cell) =>
            window.driver.outputs(cell).map((output) => [cell.model.id, output])))"""
        return [(cell, output) for cell, output in json.loads(self.js(script))]

    # The panels

    def panels(self) -> list[PanelState]:
        """Return every panel that is on the page now, those in views of outputs included."""
        return [PanelState(**item) for item in self.js("(path) => window.driver.panels(path)")]

    def search(self, condition: Callable[[PanelState], bool]) -> PanelState | None:
        """Return the first matching panel; if none is in sight, scroll to each cell in turn, as a person would."""
        panel = next(filter(condition, self.panels()), None)
        for index in range(len(self.cells()) if panel is None else 0):
            self.scroll_to(index)
            panel = panel or next(filter(condition, self.panels()), None)
        return panel

    def find(self, condition: Callable[[PanelState], bool], seconds: float) -> PanelState | None:
        """Return the first matching panel, as soon as there is one."""
        end = time.monotonic() + seconds
        while (panel := self.search(condition)) is None and time.monotonic() < end:
            self.page.wait_for_timeout(100)
        return panel

    def scroll_to(self, index: int) -> None:
        script = """async (path, index) => {
            window.driver.activate(path, null);
            const scrolled = window.driver.book(path).content.scrollToItem(index, 'smart');
            await Promise.race([scrolled, new Promise((done) => setTimeout(done, 300))]);
        }"""
        self.js(script, index)

    def panel(self, state: PanelState) -> Panel:
        """Return the controls of a panel."""
        return Panel(self.locator(state))

    def locator(self, panel: PanelState) -> Locator:
        return self.page.locator(f"[data-random='{panel.mark}']")

    def leave(self) -> None:
        """Close all that is open, without a question, so that the next session finds JupyterLab unchanged."""
        with suppress(Error, TimeoutError):
            self.js("""(path) => {
                for (const widget of [...window.jupyterapp.shell.widgets('main')]) {
                    if (widget.context?.model) widget.context.model.dirty = false;
                    widget.dispose();
                }
            }""")
        self.is_open = False


def _accept(dialog: Dialog) -> None:
    dialog.accept()
