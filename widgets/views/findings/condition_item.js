// One condition: whether it is looked for, whether the run pauses where it holds, and its threshold.

import { make, setAttribute } from "../../static/dom.js";

/** @typedef {import("../../static/python.js").ConditionRow} ConditionRow */

export class ConditionItem {
  /** @param {ConditionRow} row @param {import("../../static/types.js").Send} send */
  constructor(row, send) {
    this.row = row;
    this.send = send;
    this.drawn = "";
    const { name, own } = row;
    this.on = make("input", { type: "checkbox", class: "hs-check", "aria-label": `look for ${name}`, onchange: () => this.#tell(this.on.checked, this.on.checked && this.pause.checked) });
    this.pause = make("input", { type: "checkbox", class: "hs-check", "aria-label": `pause at ${name}`, onchange: () => this.#tell(this.pause.checked || this.on.checked, this.pause.checked) });
    this.threshold = row.threshold === "" ? null : make("input", {
      type: "text",
      inputmode: "decimal",
      class: "hs-input hs-threshold",
      "aria-label": `threshold of ${name}`,
      // A condition that is off takes it along when it is switched on.
      onchange: () => this.on.checked && this.#tell(true, this.pause.checked),
    });
    const remove = make("button", { type: "button", class: "hs-button hs-small", text: "Remove", "aria-label": `remove ${name}`, onclick: () => this.#tell(false, false) });
    this.element = make("tr", {}, [
      make("td", {}, own ? [] : [this.on]),
      make("td", {}, [this.pause]),
      make("th", { scope: "row", text: name }),
      make("td", {}, this.threshold ? [this.threshold, make("span", { class: "hs-unit", text: row.unit })] : []),
      make("td", {}, [make("span", { class: "hs-meaning", text: row.meaning }), own ? remove : make("span", { class: "hs-advice", text: row.advice })]),
    ]);
    this.update(row);
  }

  /** @param {boolean} look @param {boolean} stop */
  #tell(look, stop) {
    this.element.classList.add("hs-pending");
    this.send({ type: "condition", name: this.row.name, on: look, pause: stop, threshold: look ? (this.threshold?.value ?? "") : "" });
  }

  /** @param {ConditionRow} row */
  update(row) {
    this.row = row;
    this.on.checked = row.on;
    this.pause.checked = row.pause;
    this.element.classList.toggle("hs-off", !row.on);
    // What a person typed and the session refused stays, to be mended; so does it while the condition is off.
    const change = `${row.on} ${row.threshold}`;
    if (this.threshold && change !== this.drawn && (row.on || !this.drawn)) this.threshold.value = row.threshold;
    this.drawn = change;
  }

  /** The session has done what was asked, or refused it. */
  answered() {
    this.on.checked = this.row.on;
    this.pause.checked = this.row.pause;
    if (!this.threshold) return;
    const refused = this.row.on && Number(this.threshold.value) !== Number(this.row.threshold);
    setAttribute(this.threshold, "aria-invalid", refused ? "true" : null);
  }
}
