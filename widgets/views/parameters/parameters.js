// The parameters: one row each, with the requires_grad switch and the figures that tell healthy from sick. Names come
// once; figures follow, those of the rows in view first. The selected one's values can be changed.

import { make, setText } from "../../static/dom.js";
import { Grid } from "../../static/grid.js";
import { FIGURES } from "../../static/python.js";
import { columns } from "./columns.js";
import { createParameterDetail } from "./parameter_detail.js";
import { addFigures, readRows } from "./rows.js";
import { createSeriesChooser } from "../../static/sparkline.js";

/** @typedef {import("./rows.js").ParameterRow} ParameterRow */
/** @typedef {keyof typeof SERIES_NAMES} Series */

const SERIES_NAMES = { gradient_norm: "gradient norm", update_ratio: "update ratio" };
/** @type {Set<string>} */
const IN_FIGURES = new Set(FIGURES);
/** Wait this long after a scroll before telling what is in view, in milliseconds. */
const SETTLE = 60;
/** Wait this long after an update before asking for what it left out, in milliseconds. */
const QUIET = 400;

class Parameters {
  /** @param {import("../../static/types.js").Send} send */
  constructor(send) {
    this.send = send;
    /** @type {ParameterRow[]} */
    this.rows = [];
    /** @type {string[]} */
    this.initializers = [];
    /** @type {Series} */
    this.series = "gradient_norm";
    this.timer = 0;
    this.remaining = 0;
    this.told = "";
    this.waiting = false;
    this.rest = 1;
    /** @type {Grid<ParameterRow>} */
    this.grid = new Grid({
      label: "Parameters",
      empty: "Waiting for the kernel.",
      key: (row) => row.name,
      onSelect: (row) => send({ type: "select_parameter", name: row.name }),
      onVisible: (visible) => {
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.#look(visible), SETTLE);
      },
      columns: columns(() => SERIES_NAMES[this.series]),
    });
    this.grid.view.addEventListener("change", (event) => this.#switched(event));
    const chooser = createSeriesChooser(SERIES_NAMES, (key) => this.#chooseSeries(/** @type {Series} */ (key)));
    this.detail = createParameterDetail(send);
    this.element = make("div", { class: "hs-view" }, [
      make("div", { class: "hs-bar" }, [this.grid.filter, make("label", { class: "hs-label" }, ["history of ", chooser]), make("span", { class: "hs-spring" }), this.grid.count]),
      this.grid.view,
      this.detail.element,
    ]);
  }

  /** @param {Series} series */
  #chooseSeries(series) {
    this.series = series;
    for (const row of this.rows) row.history = undefined;
    this.#lookAgain();
  }

  #lookAgain() {
    this.told = "";
    this.grid.schedule();
  }

  /** @param {Event} event */
  #switched({ target: box }) {
    if (!(box instanceof HTMLInputElement) || box.type !== "checkbox") return;
    const wanted = box.checked;
    // The box shows the model: it moves when Python says so, not when it is clicked.
    box.checked = !wanted;
    box.classList.add("hs-pending");
    this.send({ type: "requires_grad", name: box.dataset.name ?? "", on: wanted });
  }

  /** Tell Python what is in view, and whether an order needs the others' figures. @param {ParameterRow[]} visible */
  #look(visible) {
    const rows = visible.map((row) => row.position);
    const others = this.rest > 0 && IN_FIGURES.has(this.grid.sortKey);
    const now = `${rows} ${this.series} ${others}`;
    if (this.waiting || !rows.length || now === this.told) return;
    this.told = now;
    this.waiting = others;
    this.send({ type: "look_at_parameters", rows, others, series: this.series });
  }

  /** @param {Partial<import("../../static/python.js").ParameterTexts>} texts @param {DataView} buffer */
  update(texts, buffer) {
    if (!texts.name) return; // nothing was sent so far
    setText(this.grid.empty, "No parameters.");
    const rows = readRows(this.rows, texts, buffer);
    if (!rows) return;
    if (rows !== this.rows) [this.told, this.waiting] = ["", false];
    this.rows = rows;
    this.initializers = texts.initializers ?? [];
    this.grid.setRows(rows);
  }

  /** @param {import("../../static/python.js").ParameterFigures} message @param {DataView[]} buffers */
  addFigures(message, buffers) {
    addFigures(this.rows, buffers, message.series === this.series ? message.with_history : 0);
    this.rest = message.rest;
    this.waiting = false;
    clearTimeout(this.remaining);
    // An order needs the rest now; else it is asked for when no update has come for a while.
    if (this.rest && IN_FIGURES.has(this.grid.sortKey)) this.told = "";
    else if (this.rest) this.remaining = window.setTimeout(() => this.#lookAgain(), QUIET);
    this.grid.schedule();
  }

  /** @param {import("../../static/python.js").SelectedParameter} parameter @param {DataView[]} buffers */
  select(parameter, buffers) {
    const opening = this.detail.element.hidden;
    this.detail.element.hidden = false;
    this.grid.selected ??= parameter.name;
    this.detail.update(parameter, buffers[0], this.initializers);
    if (opening) this.grid.reveal();
  }

  destroy() {
    clearTimeout(this.timer);
    clearTimeout(this.remaining);
    this.detail.editor.destroy();
    this.grid.destroy();
  }
}

/**
 * @param {import("../../static/types.js").ViewContext} context
 * @returns {import("../../static/types.js").ViewPart}
 */
export function create({ send }) {
  const parameters = new Parameters(send);
  return {
    element: parameters.element,
    traits: [[["parameters", "parameter_numbers"], (texts, numbers) => parameters.update(texts, numbers)]],
    messages: {
      parameter_figures: (message, buffers) => parameters.addFigures(message, buffers),
      parameter: (message, buffers) => parameters.select(message, buffers),
      edit_answer: (message) => parameters.detail.editor.answer(message),
    },
    draw: () => parameters.grid.schedule(),
    destroy: () => parameters.destroy(),
  };
}
