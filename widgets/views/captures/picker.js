// A text field for choosing one of many items: those that contain all typed words are listed below it.

import { make, newId, setAttribute, setText } from "../../static/dom.js";
import { breakable } from "./titles.js";

/** @typedef {import("../../static/python.js").Choice} Choice */

/** Delay in milliseconds after a key before matches are requested. */
const SETTLE = 120;
/** Return whether a label contains a word, as Python does it: a number matches from its first digit on. @param {string} label @param {string} word */
function has(label, word) {
  for (let at = label.indexOf(word); at >= 0; at = label.indexOf(word, at + 1)) {
    if (!/\d/.test(word[0]) || !/\d/.test(label[at - 1] ?? "")) return true;
  }
  return false;
}

/**
 * Create the field and the list as separate elements: the list takes the full width, wherever the field is.
 * @param {{label: string, ask: (text: string) => void, pick: (choice: Choice) => void}} options
 */
export function createPicker({ label, ask, pick }) {
  const id = newId("hs-picker");
  /** The choices without any words. @type {Choice[]} */
  let nearest = [];
  /** @type {Choice[]} */
  let listed = [];
  let total = 0;
  let active = -1;
  let timer = 0;
  const list = make("ul", { class: "hs-picker-list", role: "listbox", id, "aria-label": label });
  const countText = make("p", { class: "hs-count", role: "status" });
  const element = make("div", { class: "hs-picker", hidden: "", onpointerdown: (/** @type {Event} */ event) => event.preventDefault() }, [list, countText]);
  const input = make("input", {
    type: "text",
    role: "combobox",
    class: "hs-filter hs-picker-field",
    placeholder: `${label}…`,
    "aria-label": label,
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": id,
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => open(),
    onclick: () => open(),
    onblur: () => close(),
    onkeydown: (/** @type {KeyboardEvent} */ event) => keyed(event),
  });
  list.addEventListener("click", (event) => {
    const option = event.target instanceof Element ? event.target.closest("[role=option]") : null;
    if (option) take([...list.children].indexOf(option));
  });

  function isOpen() {
    return !element.hidden;
  }

  /** Return the matches among local choices; Python may have more. */
  function find() {
    const terms = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    return nearest.filter((choice) => terms.every((word) => has(choice.label.toLowerCase(), word)));
  }

  function open() {
    const matches = find();
    clearTimeout(timer);
    if (input.value.trim()) timer = window.setTimeout(() => ask(input.value), SETTLE);
    show(matches, input.value.trim() ? matches.length : total);
    element.hidden = false;
    setAttribute(input, "aria-expanded", true);
    element.scrollIntoView?.({ block: "nearest" });
  }

  function close() {
    clearTimeout(timer);
    element.hidden = true;
    active = -1;
    setAttribute(input, "aria-expanded", false);
    setAttribute(input, "aria-activedescendant", null);
  }

  /** @param {Choice[]} choices @param {number} all */
  function show(choices, all) {
    const now = listed[active]?.index;
    listed = choices;
    list.replaceChildren(...choices.map(({ label: text }, k) => make("li", { role: "option", id: `${id}-${k}`, "aria-selected": false }, breakable(text))));
    list.hidden = !choices.length;
    activate(choices.findIndex((choice) => choice.index === now));
    const noun = all === 1 ? "capture" : "captures";
    setText(countText, !choices.length ? "No capture of this shape has these words." : all > choices.length ? `The nearest ${choices.length} of ${all.toLocaleString("en")} ${noun}: words narrow them down.` : `${all} ${noun} of this shape`);
  }

  /** @param {number} next or -1 */
  function activate(next) {
    active = next;
    [...list.children].forEach((option, k) => setAttribute(option, "aria-selected", k === next));
    setAttribute(input, "aria-activedescendant", next < 0 ? null : `${id}-${next}`);
    list.children[next]?.scrollIntoView({ block: "nearest" });
  }

  /** @param {number} k */
  function take(k) {
    const choice = listed[k];
    if (!choice) return;
    input.value = "";
    close();
    pick(choice);
  }

  /** @param {KeyboardEvent} event */
  function keyed(event) {
    const last = listed.length - 1;
    if (event.key === "Escape" && isOpen()) close();
    else if (event.key === "Enter" && isOpen()) take(Math.max(0, active));
    else if (event.key === "ArrowDown" && !isOpen()) open();
    else if (event.key === "ArrowDown") activate(active < last ? active + 1 : 0);
    else if (event.key === "ArrowUp" && isOpen()) activate(active > 0 ? active - 1 : last);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return {
    input,
    element,
    /** Set the choices without any words: the nearest ones, and the total number. @param {Choice[]} choices @param {number} all */
    update(choices, all) {
      [nearest, total] = [choices, all];
      if (isOpen()) open();
    },
    /** Handle Python's reply. @param {string} text @param {Choice[]} choices @param {number} all */
    receive(text, choices, all) {
      if (isOpen() && text === input.value) show(choices, all);
    },
    destroy: () => clearTimeout(timer),
  };
}
