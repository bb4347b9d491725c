// Long work: its progress, the remaining time, and the button that stops it.

import { make, setAttribute, setText } from "./dom.js";

/** Milliseconds between requests to check a user's own loop, whose end is not reported. */
const LOOK = 2000;

/** @param {import("./types.js").Send} send */
export function createProgress(send) {
  const what = make("b");
  const text = make("span", { class: "hs-progress-text" });
  const inner = make("span", { class: "hs-progress-inner" });
  const bar = make("progress", { max: 1 });
  const stop = make("button", { type: "button", class: "hs-button hs-progress-stop", text: "Stop", onclick: end });
  const work = make("div", { class: "hs-progress-work", role: "group", "aria-label": "Progress", hidden: "" }, [
    make("div", { class: "hs-progress-line" }, [what, text, inner]),
    bar,
    stop,
  ]);
  const note = make("p", { class: "hs-progress-note", "aria-live": "polite", hidden: "" });
  const element = make("div", { class: "hs-progress", hidden: "" }, [work, note]);
  let look = 0;
  let openEnded = false;

  function end() {
    if (stop.getAttribute("aria-disabled")) return;
    drawStop(true); // until Python has handled it
    send({ type: "stop_work" });
  }

  /** Draw the stop button; it keeps the focus while it is inactive, so it is not disabled. @param {boolean} stopping */
  function drawStop(stopping) {
    setText(stop, stopping ? "Stopping…" : "Stop");
    setAttribute(stop, "aria-disabled", stopping ? "true" : null);
  }

  /** @param {import("./python.js").Progress} shown */
  function update(shown) {
    clearTimeout(look);
    openEnded = false;
    const active = Boolean(shown.what);
    element.hidden = !active && !shown.note;
    work.hidden = !active;
    note.hidden = active || !shown.note;
    setText(note, active ? "" : (shown.note ?? ""));
    if (!active) return;
    setText(what, shown.what ?? "");
    setText(text, shown.text ?? "");
    setText(inner, shown.inner ?? "");
    inner.hidden = !shown.inner;
    setAttribute(bar, "aria-label", shown.what);
    setAttribute(bar, "value", shown.value);
    stop.hidden = !shown.can_stop;
    setAttribute(stop, "title", `End this ${shown.what === "running" ? "run" : shown.what}`);
    drawStop(Boolean(shown.stopping));
    openEnded = Boolean(shown.open_ended);
    answered();
  }

  /** Schedule the next check after Python has checked or reported progress. */
  function answered() {
    clearTimeout(look);
    if (openEnded) look = window.setTimeout(() => send({ type: "look_at_work" }), LOOK);
  }

  return { element, update, answered, destroy: () => clearTimeout(look) };
}
