// One condition: its threshold, and switches for its detection and for pauses.

import { make, setAttribute } from "../../static/dom.js";

/** @typedef {import("../../static/python.js").ConditionRow} ConditionRow */

export class ConditionItem {
  /** @param {ConditionRow} row @param {import("../../static/types.js").Send} ask */
  constructor(row, ask) {
    this.row = row;
    this.ask = ask;
    this.drawn = "";
    const { name, is_custom } = row;
    this.on = make("input", { type: "checkbox", class: "hs-check", "aria-label": `look for ${name}`, onchange: () => this.#tell(this.on.checked, this.on.checked && this.pause.checked) });
    this.pause = make("input", { type: "checkbox", class: "hs-check", "aria-label": `pause at ${name}`, onchange: () => this.#tell(this.pause.checked || this.on.checked, this.pause.checked) });
    this.threshold = row.threshold === "" ? null : make("input", {
      type: "text",
      inputmode: "decimal",
      class: "hs-input hs-threshold",
      "aria-label": `threshold of ${name}`,
      // A disabled condition sends its threshold when it is enabled.
      onchange: () => this.on.checked && this.#tell(true, this.pause.checked),
    });
    const remove = make("button", { type: "button", class: "hs-button", text: "Remove", "aria-label": `remove ${name}`, onclick: () => this.#tell(false, false) });
    this.element = make("tr", {}, [
      make("td", {}, is_custom ? [] : [this.on]),
      make("td", {}, [this.pause]),
      make("th", { scope: "row", text: name }),
      make("td", {}, this.threshold ? [this.threshold, make("span", { class: "hs-unit", text: row.unit })] : []),
      make("td", {}, [make("span", { class: "hs-meaning", text: row.meaning }), is_custom ? remove : make("span", { class: "hs-advice", text: row.advice })]),
    ]);
    this.update(row, false);
  }

  /** @param {boolean} look @param {boolean} stop */
  #tell(look, stop) {
    this.element.classList.add("hs-pending");
    this.ask({ type: "condition", name: this.row.name, on: look, pause: stop, threshold: look ? (this.threshold?.value ?? "") : "" });
  }

  /** @param {ConditionRow} row @param {boolean} older older than the user's last input, which takes precedence until it is answered */
  update(row, older) {
    this.row = row;
    if (!older) this.#draw();
  }

  #draw() {
    const { on, pause, threshold } = this.row;
    this.on.checked = on;
    this.pause.checked = pause;
    this.element.classList.toggle("hs-off", !on);
    const change = `${on} ${threshold}`;
    if (this.threshold && change !== this.drawn && (on || !this.drawn) && !this.#isTyped()) this.threshold.value = threshold;
    this.drawn = change;
  }

  /** Return whether the field holds text to preserve: unsent, rejected, or that of a disabled condition. */
  #isTyped() {
    return this.threshold === document.activeElement && !this.drawn.endsWith(` ${this.threshold?.value}`);
  }

  /** Handle the session's answer to all requests, whether accepted or rejected. */
  confirmed() {
    this.#draw();
    if (!this.threshold) return;
    const refused = this.row.on && Number(this.threshold.value) !== Number(this.row.threshold);
    setAttribute(this.threshold, "aria-invalid", refused ? "true" : null);
  }
}
