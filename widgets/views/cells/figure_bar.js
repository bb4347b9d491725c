// One statistic of a cell: a bar and its number, or a word that replaces the number.

import { make, setAttribute, setText } from "../../static/dom.js";
import { shortNumber, toWords } from "./figures.js";

/** @typedef {import("./figures.js").Figure} Figure */
/** @typedef {import("./figures.js").Kind} Kind */

export class FigureBar {
  /** @param {Kind} kind @param {string} label the cell's label */
  constructor(kind, label) {
    this.kind = kind;
    this.label = label;
    this.bar = make("span", { class: "hs-figure-bar" });
    this.text = make("span", { class: "hs-figure-text" });
    // The accessible name contains the statistic in words, so screen readers skip the drawing.
    const drawn = make("span", { class: "hs-figure-drawn", "aria-hidden": "true" }, [make("span", { class: "hs-figure-track" }, [this.bar]), this.text]);
    this.element = make("button", { type: "button", class: "hs-figure", "data-kind": kind, "aria-expanded": "false", tabindex: "-1", hidden: "" }, [drawn]);
  }

  /** Draw a statistic; the element is hidden without one. @param {Figure | undefined} figure @param {import("./figures.js").Figures} figures */
  update(figure, figures) {
    this.element.hidden = !figure;
    if (!figure) return;
    const { value, word, step } = figure;
    setAttribute(this.element, "aria-label", `${toWords(this.kind, figure)}, at ${this.label} in step ${step}`);
    setAttribute(this.element, "data-word", word);
    setText(this.text, word || shortNumber(value));
    const width = `${(100 * figures.length(this.kind, figure)).toFixed(1)}%`;
    if (this.bar.style.width !== width) this.bar.style.width = width;
  }
}
