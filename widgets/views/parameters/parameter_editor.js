// The value editor of a parameter: it previews a change during typing; only "Apply" performs it.

import { make, setAttribute, setText } from "../../static/dom.js";

/** The changes, and the fields of each: name, label, example, and whether they are optional. */
/** @type {Record<string, {title: string, fields: {name: string, label: string, example: string, optional?: boolean}[]}>} */
const EDITS = {
  set: {
    title: "set elements",
    fields: [
      { name: "index", label: "Elements", example: "[0, :]" },
      { name: "number", label: "Number", example: "0" },
    ],
  },
  scale: { title: "scale by", fields: [{ name: "factor", label: "Factor", example: "0.5" }] },
  zero: { title: "set to zero", fields: [] },
  initialize: { title: "initialize with", fields: [{ name: "initializer", label: "Initializer", example: "" }] },
  clip: {
    title: "clip",
    fields: [
      { name: "low", label: "Lowest", example: "-1", optional: true },
      { name: "high", label: "Highest", example: "1", optional: true },
    ],
  },
};
/** Delay in milliseconds between the last key press and the request for a preview. */
const PAUSE_IN_TYPING = 150;

/** @param {import("../../static/types.js").Send} send */
export function createParameterEditor(send) {
  let parameter = "";
  let number = 0;
  let timer = 0;
  /** @type {string[]} */
  let initializers = [];
  const action = make(
    "select",
    { class: "hs-select", "aria-label": "Change", onchange: () => drawFields() },
    Object.entries(EDITS).map(([value, { title }]) => make("option", { value, text: title })),
  );
  const fields = make("span", { class: "hs-edit-fields", oninput: () => changed() });
  const apply = make("button", { type: "submit", class: "hs-button hs-primary", text: "Apply", disabled: "" });
  const undo = make("button", { type: "button", class: "hs-button", text: "Undo", disabled: "", onclick: () => send({ type: "undo_edit" }) });
  const preview = make("p", { class: "hs-edit-preview", role: "status", "aria-label": "Preview of the change" });
  const element = make("form", { class: "hs-edit", "aria-label": "Change values", onsubmit: submit }, [
    make("div", { class: "hs-edit-row" }, [action, fields, apply, undo]),
    preview,
  ]);

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    if (apply.disabled) return;
    apply.disabled = true;
    send({ type: "apply_edit", number });
  }

  function drawFields() {
    const made = EDITS[action.value].fields.map(({ name, label, example }) =>
      name === "initializer"
        ? make("select", { class: "hs-select", name, "aria-label": label }, initializers.map((text) => make("option", { text })))
        : make("input", { class: "hs-input", name, "aria-label": label, placeholder: example || label, spellcheck: "false", autocomplete: "off" }),
    );
    fields.replaceChildren(...made);
    changed();
  }

  /** Handle typing: it makes the last preview invalid. */
  function changed() {
    number += 1;
    apply.disabled = true;
    clearTimeout(timer);
    /** @type {Record<string, string>} */
    const values = {};
    for (const field of fields.children) {
      if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) values[field.name] = field.value.trim();
    }
    const wanted = EDITS[action.value].fields;
    const missingFields = wanted.filter(({ name, optional }) => !optional && !values[name]);
    const nothing = wanted.length > 0 && !wanted.some(({ name }) => values[name]);
    if (missingFields.length || nothing) {
      const names = (missingFields.length ? missingFields : wanted).map(({ label }) => label.toLowerCase());
      tell(`Fill in ${names.join(missingFields.length ? " and " : " or ")} to see what changes.`, false);
      return;
    }
    if (!parameter) return;
    const requestNumber = number;
    const [name, change] = [parameter, action.value];
    timer = window.setTimeout(() => send({ type: "preview_edit", number: requestNumber, name, action: change, values }), PAUSE_IN_TYPING);
  }

  /** @param {string} text @param {boolean} failed */
  function tell(text, failed) {
    setText(preview, text);
    preview.classList.toggle("hs-refused", failed);
  }

  return {
    element,
    /** Switch to another parameter. @param {string} name @param {string[]} names of initializers */
    edit(name, names) {
      if (name === parameter) return;
      parameter = name;
      initializers = names;
      drawFields();
    },
    /** @param {{number: number, text: string, failed: boolean, ready: boolean, undo: string}} answer */
    answer(answer) {
      undo.disabled = !answer.undo;
      setAttribute(undo, "title", answer.undo ? `Undo: ${answer.undo}` : null);
      if (answer.number && answer.number !== number) return; // an outdated answer
      apply.disabled = !answer.ready;
      if (answer.text) tell(answer.text, answer.failed);
    },
    destroy: () => clearTimeout(timer),
  };
}
