// A remedy for a cause: a button that first announces the change, and then shows the outcome and an undo button.

import { make, setText } from "../../static/dom.js";

/** @typedef {import("../../static/python.js").CureRow} CureRow */

/**
 * @param {CureRow} first
 * @param {string} label the cell's label
 * @param {(on: boolean) => void} tell
 */
export function createCure(first, label, tell) {
  const status = make("span", { class: "hs-cure-text", role: "status" });
  const open = make("button", { type: "button", class: "hs-button", text: first.label, "aria-label": `${first.label}: ${label}`, "aria-expanded": "false", onclick: () => show(!isOpen) });
  const apply = make("button", { type: "button", class: "hs-button hs-primary", text: "Apply", "aria-label": `apply: ${first.label}: ${label}`, onclick: applyNow });
  const undo = make("button", { type: "button", class: "hs-button", text: "Undo", "aria-label": `undo: ${first.label}: ${label}`, onclick: () => tell(false) });
  const element = make("div", { class: "hs-cure" }, [open, status, apply, undo]);
  let cure = first;
  let isOpen = false;

  /** @param {boolean} isOn */
  function show(isOn) {
    isOpen = isOn;
    update(cure);
    if (isOn) apply.focus();
  }

  function applyNow() {
    show(false);
    open.focus();
    tell(true);
  }

  /** @param {CureRow} now */
  function update(now) {
    const hadFocus = element.contains(document.activeElement);
    const turned = now.done !== cure.done;
    cure = now;
    if (now.done) isOpen = false;
    open.hidden = now.done;
    open.setAttribute("aria-expanded", String(isOpen));
    apply.hidden = !isOpen;
    undo.hidden = !now.done;
    setText(status, now.done ? `${now.label}: done; ${now.outcome}.` : isOpen ? now.preview : now.outcome);
    if (turned && hadFocus) (now.done ? undo : open).focus();
  }

  return { element, update };
}
