// The legend of a chart: a button for each series, which shows and hides it.

import { make, makeSvg, setAttribute, setText } from "../../static/dom.js";
import { lookOf } from "./curve.js";

export class Legend {
  /** @param {string} title of the chart @param {() => void} onChange called when the user has switched a series */
  constructor(title, onChange) {
    this.onChange = onChange;
    /** The names of hidden series. @type {Set<string>} */
    this.hidden = new Set();
    /** @type {Map<string, HTMLButtonElement>} */
    this.buttons = new Map();
    this.element = make("div", { class: "hs-chart-legend", role: "group", "aria-label": `Series of ${title}` });
  }

  /** Show these series, in their order. @param {string[]} names */
  update(names) {
    const buttons = names.map((name, k) => {
      const button = this.buttons.get(name) ?? this.#makeButton(name);
      for (const [attribute, value] of Object.entries(lookOf(k))) setAttribute(button, attribute, value);
      setAttribute(button, "aria-pressed", !this.hidden.has(name));
      return button;
    });
    if (buttons.length !== this.element.childElementCount || buttons.some((button, k) => button !== this.element.children[k])) {
      this.buttons = new Map(names.map((name, k) => [name, buttons[k]]));
      this.element.replaceChildren(...buttons);
    }
  }

  /** @param {string} name */
  #makeButton(name) {
    const swatch = makeSvg("svg", { width: 22, height: 8, "aria-hidden": "true" }, [makeSvg("path", { class: "hs-chart-line", d: "M1 4H21" })]);
    const label = make("span", { class: "hs-chart-name" });
    setText(label, name);
    return make("button", { type: "button", class: "hs-chart-series", title: name, onclick: () => this.#toggle(name) }, [swatch, label]);
  }

  /** @param {string} name */
  #toggle(name) {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    const button = this.buttons.get(name);
    if (button) setAttribute(button, "aria-pressed", !this.hidden.has(name));
    this.onChange();
  }
}
