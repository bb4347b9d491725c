"""Panels in a real Chromium without Jupyter: the widgets' own messages, carried to a plain page and back."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Error, Page, TimeoutError, ViewportSize

from hookscope.widgets import DebuggerPanel
from tests.browser.lab import STEP_SECONDS

SIZE: ViewportSize = {"width": 1000, "height": 640}
# Models as anywidget gives them to `render`, fed by `receive`; their messages wait in `outbox`.
MODEL = """
const view = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const models = {};
function makeModel(id) {
  const listeners = {}, state = {};
  const call = (event, ...args) => (listeners[event] ?? []).forEach((f) => f(...args));
  return {
    get: (name) => state[name],
    set: (name, value) => (state[name] = value),
    on: (event, f) => (listeners[event] ??= []).push(f),
    off: (event, f) => (listeners[event] = (listeners[event] ?? []).filter((g) => g !== f)),
    send: (content) => {
      if (window.sendFails) throw new Error("Cannot send");
      window.outbox.push([id, JSON.stringify(content)]);
    },
    trigger: call,
    get widget_manager() { return window.widgetManager; },
    receive: ({ data, buffers }) => {
      if (data.method === "custom") return call("msg:custom", data.content, buffers.map(view));
      (data.buffer_paths ?? []).forEach((path, k) => (data.state[path[0]] = view(buffers[k])));
      Object.assign(state, data.state);
      for (const name of Object.keys(data.state)) call(`change:${name}`);
    },
  };
}
window.receive = (text) => {
  for (const { id, ...message } of JSON.parse(text)) {
    models[id] ??= makeModel(id);
    window.model ??= models[id];
    models[id].receive(message);
  }
};
window.outbox = [];
window.hides = [];
// Draw every widget; `once more` beside what is there already.
window.show = async (onceMore = false) => {
  if (!onceMore) {
    for (const hide of window.hides.splice(0)) hide();
    document.body.replaceChildren();
  }
  for (const model of Object.values(models)) {
    const style = Object.assign(document.createElement("style"), { textContent: model.get("_css") });
    if (!onceMore) document.head.append(style);
    const module = await import(URL.createObjectURL(new Blob([model.get("_esm")], { type: "text/javascript" })));
    const el = document.createElement("div");
    document.body.append(el);
    window.hides.push(module.default.render({ model, el }));
  }
};
null; // Playwright would call a function that is left here
"""


def empty(page: Page) -> None:
    """Give a page a new document, the usual size and theme, and no mouse over it."""
    page.goto("about:blank")
    page.mouse.move(-1, -1)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(SIZE)


@contextmanager
def no_errors(page: Page) -> Iterator[None]:
    """Fail if JavaScript raises in the page inside the block."""
    errors: list[str] = []

    def note(error: Error) -> None:
        errors.append(error.stack or str(error))

    page.on("pageerror", note)
    yield
    page.remove_listener("pageerror", note)
    assert errors == []


class PanelPage:
    """A page with a panel, or with several widgets one below the other, and the mail between them and Python."""

    def __init__(self, page: Page, session: Any, sent: list[Any], *make: Callable[[Any], DebuggerPanel]) -> None:
        self.page = page
        self._sent = sent
        page.set_content('<!doctype html><html lang="en"><title>panel</title><body></body></html>')
        page.evaluate(MODEL)
        self.panels = [item(session) for item in make or (DebuggerPanel,)]
        self.panel = self.panels[0]
        self.carry()
        page.evaluate("show()")
        self.carry()

    def carry(self) -> None:
        """Carry every waiting message, in both directions."""
        by_comm = {panel.comm.comm_id: panel for panel in self.panels if panel.comm is not None}
        for comm, text in self.page.evaluate("outbox.splice(0)"):
            by_comm[comm]._received(by_comm[comm], json.loads(text), [])
        sent = self._sent[:]
        del self._sent[: len(sent)]  # keeps messages that another thread sends meanwhile
        messages = [_envelope(*message) for message in sent if message[1].get("comm_id") in by_comm]
        if messages:
            self.page.evaluate("text => receive(text)", json.dumps(messages))

    def waiting(self) -> int:
        """Return the number of messages from the page that were not carried yet."""
        return int(self.page.evaluate("outbox.length"))

    def ask(self, **message: Any) -> None:
        """Deliver a message as if the page had sent it."""
        self.panel._received(self.panel, message, [])

    def until(self, condition: Callable[[], bool], seconds: float = STEP_SECONDS) -> None:
        """Carry messages until a condition on the page holds."""
        end = time.monotonic() + seconds
        self.page.set_default_timeout(100)  # a missing element must not hold up the messages
        while not _holds(condition):
            assert time.monotonic() < end, "not reached:\n" + self.page.locator("body").inner_text()
            self.carry()
            self.page.wait_for_timeout(10)
        self.page.set_default_timeout(STEP_SECONDS * 1000)


def _holds(condition: Callable[[], bool]) -> bool:
    try:
        return condition()
    except TimeoutError:
        return False


def _envelope(kind: str, data: dict[str, Any], buffers: list[Any]) -> dict[str, Any]:
    data = dict(data)
    comm = data.pop("comm_id")
    if kind == "comm_open":
        data = {"method": "update", **data}
    return {"id": comm, "data": data, "buffers": [base64.b64encode(bytes(buffer)).decode() for buffer in buffers]}
