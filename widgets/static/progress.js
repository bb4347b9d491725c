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

  /** @param {import("./python.js").Progress} current */
  function update(current) {
    clearTimeout(look);
    openEnded = false;
    const active = Boolean(current.what);
    element.hidden = !active && !current.note;
    work.hidden = !active;
    note.hidden = active || !current.note;
    setText(note, active ? "" : (current.note ?? ""));
    if (!active) return;
    setText(what, current.what ?? "");
    setText(text, current.text ?? "");
    setText(inner, current.inner ?? "");
    inner.hidden = !current.inner;
    setAttribute(bar, "aria-label", current.what);
    setAttribute(bar, "value", current.value);
    stop.hidden = !current.can_stop;
    setAttribute(stop, "title", `End this ${current.what === "running" ? "run" : current.what}`);
    drawStop(Boolean(current.stopping));
    openEnded = Boolean(current.open_ended);
    confirmed();
  }

  /** Schedule the next check after Python has checked or reported progress. */
  function confirmed() {
    clearTimeout(look);
    if (openEnded) look = window.setTimeout(() => send({ type: "look_at_work" }), LOOK);
  }

  return { element, update, confirmed, destroy: () => clearTimeout(look) };
}
