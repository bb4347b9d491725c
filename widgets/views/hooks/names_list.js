// Completion in the editor: Tab requests names from the kernel; a list below the cursor shows them, filtered by further
// typing.

import { closest, make, newId, setAttribute, setText } from "../../static/dom.js";

/** Completable text: it ends in a name or a dot. */
const BEGUN = /[\p{L}\p{N}_.]$/u;
export class NamesList {
  /** @param {(number: number, before: string) => void} ask requests names from the kernel, which answers with the same number */
  constructor(ask) {
    this.ask = ask;
    this.id = newId("hs-names");
    this.number = 0;
    /** Offset of the completed name. */
    this.from = 0;
    /** @type {string[]} */
    this.names = [];
    this.active = 0;
    this.list = make("ul", { class: "hs-names", id: this.id, role: "listbox", "aria-label": "Names", hidden: "" });
    this.says = make("p", { class: "hs-hidden", role: "status", "aria-label": "Completion" });
    this.elements = [this.list, this.says];
    // The editor must keep the focus when the list is pressed.
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const option = closest(event.target, "[role=option]");
      if (option) this.#take(option.dataset.name ?? "");
    });
  }

  /** @param {import("./code_area.js").CodeArea} area the editor */
  belongTo(area) {
    this.area = area;
    setAttribute(area.input, "aria-autocomplete", "list");
    area.element.append(...this.elements);
    area.input.addEventListener("blur", () => this.close());
    area.input.addEventListener("input", () => this.#typed());
    area.input.addEventListener("scroll", () => this.close());
  }

  get isOpen() {
    return !this.list.hidden;
  }

  /** Request names for the cursor; return false if there is nothing to complete. @param {boolean} [always] requests names even if none is started */
  complete(always = false) {
    const input = this.area?.input;
    if (!input || input.selectionStart !== input.selectionEnd) return false;
    const before = input.value.slice(0, input.selectionStart);
    if (!always && !BEGUN.test(before)) return false;
    this.ask(++this.number, before);
    return true;
  }

  /** @param {import("../../static/python.js").HookNames} message */
  update({ number, begun, names }) {
    const input = this.area?.input;
    if (!input || number !== this.number || input.ownerDocument.activeElement !== input) return; // the user typed on or left
    this.from = input.selectionStart - begun.length;
    if (names.length === 1) return this.#take(names[0]);
    setText(this.says, names.length ? `${names.length} names: arrow keys choose, Enter takes one, Escape closes.` : "No name begins so.");
    this.#show(names);
  }

  /** Filter the names by the typed text, and ignore a pending answer. */
  #typed() {
    this.number += 1;
    if (!this.isOpen || !this.area) return;
    const begun = this.area.value.slice(this.from, this.area.input.selectionStart);
    this.#show(/^[\p{L}\p{N}_]+$/u.test(begun) ? this.names.filter((name) => name.startsWith(begun)) : []);
  }

  /** @param {string[]} names */
  #show(names) {
    if (!this.area || !names.length) return this.close();
    this.names = names;
    this.list.replaceChildren(...names.map((name, k) => make("li", { role: "option", id: `${this.id}-${k}`, "data-name": name, text: name })));
    this.list.hidden = false;
    setAttribute(this.area.input, "aria-controls", this.id);
    this.#choose(0);
    this.#place(this.area);
  }

  /** Place the list below the name, or above it if there is more room. @param {import("./code_area.js").CodeArea} area */
  #place(area) {
    const { left, top } = area.placeBelow(this.from);
    const above = top + this.list.offsetHeight > area.element.clientHeight && top > area.element.clientHeight / 2;
    this.list.style.top = above ? "auto" : `${top}px`;
    this.list.style.bottom = above ? `${area.element.clientHeight - top + 19}px` : "auto";
    this.list.style.left = `${Math.max(0, Math.min(left - 8, area.element.clientWidth - this.list.offsetWidth))}px`;
  }

  /** @param {number} k */
  #choose(k) {
    const options = [...this.list.children];
    this.active = (k + options.length) % options.length;
    options.forEach((option, at) => setAttribute(option, "aria-selected", at === this.active));
    options[this.active].scrollIntoView({ block: "nearest" });
    if (this.area) setAttribute(this.area.input, "aria-activedescendant", options[this.active].id);
  }

  /** @param {string} name */
  #take(name) {
    this.close();
    if (!this.area) return;
    const end = this.from + name.length;
    this.area.change({ from: this.from, to: this.area.input.selectionStart, text: name, start: end, end });
    setText(this.says, name);
  }

  /** Handle a key before the editor does; return whether the list used it. @param {KeyboardEvent} event */
  keyed(event) {
    if (event.ctrlKey && event.key === " ") return this.complete(true);
    if (!this.isOpen || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return false;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") this.#choose(this.active + (event.key === "ArrowDown" ? 1 : -1));
    else if (event.key === "Enter" || event.key === "Tab") this.#take(this.names[this.active]);
    else if (event.key === "Escape") this.close();
    else {
      if (/^(Arrow|Home|End|Page)/.test(event.key)) this.close();
      return false;
    }
    return true;
  }

  close() {
    if (this.list.hidden) return;
    this.list.hidden = true;
    this.list.replaceChildren();
    if (this.area) for (const name of ["aria-controls", "aria-activedescendant"]) setAttribute(this.area.input, name, null);
  }
}
