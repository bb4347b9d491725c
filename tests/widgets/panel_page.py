"""A panel in a real Chromium without Jupyter: the widget's own messages, carried to a plain page and back."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, TimeoutError

from hookscope.widgets import DebuggerPanel

# A model as anywidget gives it to `render`, fed by `receive`, sending through `sendToPython`.
MODEL = """
const listeners = {}, state = {};
const call = (event, ...args) => (listeners[event] ?? []).forEach((f) => f(...args));
const view = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
window.model = {
  get: (name) => state[name],
  set: (name, value) => (state[name] = value),
  on: (event, f) => (listeners[event] ??= []).push(f),
  off: (event, f) => (listeners[event] = (listeners[event] ?? []).filter((g) => g !== f)),
  send: (content) => window.sendToPython(JSON.stringify(content)),
};
window.receive = (text) => {
  for (const { data, buffers } of JSON.parse(text)) {
    if (data.method === "custom") { call("msg:custom", data.content, buffers.map(view)); continue; }
    (data.buffer_paths ?? []).forEach((path, k) => (data.state[path[0]] = view(buffers[k])));
    Object.assign(state, data.state);
    for (const name of Object.keys(data.state)) call(`change:${name}`);
  }
};
window.show = async () => {
  window.hide?.();
  document.body.replaceChildren();
  const style = document.createElement("style");
  style.textContent = state._css;
  document.head.append(style);
  const module = await import(URL.createObjectURL(new Blob([state._esm], { type: "text/javascript" })));
  const el = document.createElement("div");
  document.body.append(el);
  window.hide = module.default.render({ model, el });
};
null; // Playwright would call a function that is left here
"""


class PanelPage:
    """One panel, one page, and the mail between them."""

    def __init__(self, page: Page, session: Any, sent: list[Any]) -> None:
        self.page = page
        self.errors: list[str] = []
        self._sent = sent
        self._inbox: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.expose_function("sendToPython", lambda text: self._inbox.append(text))
        page.set_content('<!doctype html><html lang="en"><title>panel</title><body></body></html>')
        page.evaluate(MODEL)
        self.panel = DebuggerPanel(session)
        self.carry()
        page.evaluate("show()")
        self.carry()

    def carry(self) -> None:
        """Carry every waiting message, in both directions."""
        inbox, self._inbox[:] = list(self._inbox), []
        for text in inbox:
            self.panel._received(self.panel, json.loads(text), [])
        messages = [_envelope(*message) for message in self._sent]
        self._sent.clear()
        if messages:
            self.page.evaluate("text => receive(text)", json.dumps(messages))

    def until(self, condition: Callable[[], bool], seconds: float = 10.0) -> None:
        """Carry messages until the page shows what is expected."""
        end = time.monotonic() + seconds
        self.page.set_default_timeout(100)  # what is not there yet must not hold up the mail
        while not _holds(condition):
            assert time.monotonic() < end, "not reached:\n" + self.page.locator("body").inner_text()
            self.carry()
            self.page.wait_for_timeout(10)
        self.page.set_default_timeout(10_000)


def _holds(condition: Callable[[], bool]) -> bool:
    try:
        return condition()
    except TimeoutError:
        return False


def _envelope(kind: str, data: dict[str, Any], buffers: list[Any]) -> dict[str, Any]:
    if kind == "comm_open":
        data = {"method": "update", **data}
    return {"data": data, "buffers": [base64.b64encode(bytes(buffer)).decode() for buffer in buffers]}
