// Memory of captures: notes about evictions, and a form for the bounds.

import { make, setAttribute, setText } from "../../static/dom.js";

/** @param {import("../../static/types.js").Send} send */
export function createMemory(send) {
  const bytes = makeInput("Values up to", "decimal", "a size such as 512MB or 1GiB");
  const count = makeInput("Captures up to", "numeric", "a whole number");
  const form = make("form", { class: "hs-bar hs-bounds", hidden: "", onsubmit: submit }, [
    make("label", {}, ["values up to", bytes]),
    make("label", {}, ["captures up to", count]),
    make("button", { type: "submit", class: "hs-button", text: "Set" }),
    make("span", { class: "hs-count", text: "The figures of older ones stay." }),
  ]);
  const button = make("button", {
    type: "button",
    class: "hs-button",
    "aria-expanded": "false",
    title: "How much memory captures may take",
    text: "Memory",
    onclick: () => {
      form.hidden = !form.hidden;
      setAttribute(button, "aria-expanded", !form.hidden);
      if (!form.hidden) bytes.focus();
    },
  });
  const notes = make("p", { class: "hs-notes", role: "note", hidden: "" });
  let bounds = ["", ""];

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    send({ type: "bounds", max_bytes: bytes.value, max_captures: count.value });
  }

  return {
    button,
    element: make("div", {}, [form, notes]),
    /** @param {{notes: string[], max_bytes: string, max_captures: number}} message */
    update(message) {
      setText(notes, message.notes.join(" "));
      notes.hidden = !message.notes.length;
      const now = [message.max_bytes, String(message.max_captures)];
      if (String(now) === String(bounds)) return; // keeps what is being typed
      bounds = now;
      [bytes.value, count.value] = now;
    },
  };
}

/** @param {string} label @param {string} mode @param {string} title */
function makeInput(label, mode, title) {
  return make("input", { type: "text", class: "hs-input", inputmode: mode, "aria-label": label, title, spellcheck: "false", autocomplete: "off" });
}
