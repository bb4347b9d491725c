// The parameters: one row each, with the requires_grad switch and statistics that reveal faults; running statistics,
// which are not trained, have a separate table below. Names are sent once; statistics follow, first for the rows in
// view. The values of the selected parameter can be edited.

import { make, setAttribute, setText } from "../../static/dom.js";
import { Grid } from "../../static/grid.js";
import { FIGURES } from "../../static/python.js";
import { runningColumns, weightColumns } from "./columns.js";
import { createParameterDetail } from "./parameter_detail.js";
import { addFigures, readRows } from "./rows.js";
import { createSeriesChooser } from "../../static/sparkline.js";
import { createRunningStatistics } from "./running_statistics.js";
import { SparklineReading } from "./sparkline_reading.js";

/** @typedef {import("./rows.js").ParameterRow} ParameterRow */
/** @typedef {keyof typeof SERIES_NAMES} Series */

const SERIES_NAMES = { gradient_norm: "gradient norm", update_ratio: "update ratio" };
/** @type {Set<string>} */
const IN_FIGURES = new Set(FIGURES);
/** Delay in milliseconds between a scroll and the report of the rows in view. */
const SETTLE = 60;
/** Delay in milliseconds between an update and the request for the rest. */
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
    this.reportedRows = "";
    this.isPending = false;
    this.rest = 1;
    this.selectedName = "";
    /** @type {Map<Grid<ParameterRow>, ParameterRow[]>} */
    this.inView = new Map();
    this.weights = this.#table("Parameters", weightColumns(() => SERIES_NAMES[this.series]));
    this.statistics = this.#table("Running statistics", runningColumns);
    this.tables = [this.weights, this.statistics];
    this.weights.view.addEventListener("change", (event) => this.#switched(event));
    setAttribute(this.weights.view, "aria-description", "Arrow left and right read the history of the selected row.");
    this.reading = new SparklineReading(this.weights.view, () => this.weights.view.querySelector("[aria-selected=true]"));
    this.running = createRunningStatistics(this.statistics, () => this.#toggled());
    this.weights.filter.addEventListener("input", () => this.#filtered());
    this.noun = make("span");
    const chooser = createSeriesChooser(SERIES_NAMES, (key) => this.#chooseSeries(/** @type {Series} */ (key)));
    this.detail = createParameterDetail(send);
    this.element = make("div", { class: "hs-view hs-parameters" }, [
      make("div", { class: "hs-bar" }, [
        this.weights.filter,
        make("label", { class: "hs-label" }, ["history of ", chooser]),
        make("span", { class: "hs-spring" }),
        make("span", { class: "hs-count" }, [this.weights.count, this.noun]),
      ]),
      this.weights.view,
      this.reading.element,
      this.running.element,
      this.detail.element,
    ]);
  }

  /** @param {string} label @param {import("./columns.js").Column[]} columns @returns {Grid<ParameterRow>} */
  #table(label, columns) {
    /** @type {Grid<ParameterRow>} */
    const table = new Grid({
      label,
      empty: "Waiting for the kernel.",
      key: (row) => row.name,
      state: (row) => (row.requires_grad || row.running ? null : "frozen"),
      onSelect: (row) => this.#select(table, row),
      onVisible: (visible) => this.#drawn(table, visible),
      columns,
    });
    columns.forEach(({ title, hint }, k) => {
      setAttribute(table.head.children[k], "title", hint);
      const [before, after] = title.split("_"); // allows a line break behind it
      if (after) table.head.children[k].firstElementChild?.replaceChildren(`${before}_`, make("wbr"), after);
    });
    return table;
  }

  /** @param {Grid<ParameterRow>} table @param {ParameterRow} row */
  #select(table, row) {
    this.selectedName = row.name;
    this.#showChosen(table);
    this.send({ type: "select_parameter", name: row.name });
  }

  /** Clear the selection in the other tables, so that at most one row is selected. @param {Grid<ParameterRow>} table */
  #showChosen(table) {
    for (const other of this.tables) {
      other.selected = other === table ? this.selectedName : null;
      if (other !== table) other.schedule();
    }
  }

  /** @param {Grid<ParameterRow>} table @param {ParameterRow[]} visible */
  #drawn(table, visible) {
    this.inView.set(table, visible);
    this.reading.refresh();
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.#look(), SETTLE);
  }

  #toggled() {
    if (!this.running.isOpen()) this.inView.delete(this.statistics);
    this.#lookAgain();
  }

  /** Apply the filter to both tables, and show matches that exist only among the statistics. */
  #filtered() {
    this.statistics.filter.value = this.weights.filter.value;
    this.statistics.schedule();
    this.#sayEmpty();
  }

  #sayEmpty() {
    const filtered = this.weights.filter.value.trim() !== "";
    setText(this.weights.empty, filtered ? "No parameter has all of these words." : "No parameters.");
    setText(this.statistics.empty, "No running statistic has all of these words.");
  }

  /** @param {Series} series */
  #chooseSeries(series) {
    this.series = series;
    for (const row of this.rows) row.history = undefined;
    this.#lookAgain();
  }

  #lookAgain() {
    this.reportedRows = "";
    for (const table of this.tables) table.schedule();
  }

  /** @param {Event} event */
  #switched({ target: box }) {
    if (!(box instanceof HTMLInputElement) || box.type !== "checkbox") return;
    const wanted = box.checked;
    // The box shows the model's state: it changes when Python confirms, not when it is clicked.
    box.checked = !wanted;
    box.classList.add("hs-pending");
    this.send({ type: "requires_grad", name: box.dataset.name ?? "", on: wanted });
  }

  #isOrdered() {
    return this.tables.some((table) => IN_FIGURES.has(table.sortKey));
  }

  /** Tell Python the rows in view, and whether the order requires the others' statistics. */
  #look() {
    const rows = [...this.inView.values()].flat().map((row) => row.position);
    const others = this.rest > 0 && this.#isOrdered();
    const now = `${rows} ${this.series} ${others}`;
    if (this.isPending || !rows.length || now === this.reportedRows) return;
    this.reportedRows = now;
    this.isPending = others;
    this.send({ type: "look_at_parameters", rows, others, series: this.series });
  }

  /** @param {Partial<import("../../static/python.js").ParameterTexts>} texts @param {DataView} buffer */
  update(texts, buffer) {
    if (!texts.name) return; // no data yet
    this.#sayEmpty();
    const rows = readRows(this.rows, texts, buffer);
    if (!rows) return;
    if (rows !== this.rows) [this.reportedRows, this.isPending] = ["", false];
    this.rows = rows;
    this.initializers = texts.initializers ?? [];
    this.weights.setRows(rows.filter((row) => !row.running));
    setText(this.noun, this.weights.rows.length === 1 ? " parameter" : " parameters");
    this.running.setRows(rows.filter((row) => row.running));
    this.#tell();
  }

  /** @param {import("../../static/python.js").ParameterFigures} message @param {DataView[]} buffers */
  addFigures(message, buffers) {
    addFigures(this.rows, buffers, message, message.series === this.series);
    this.rest = message.rest;
    this.isPending = false;
    clearTimeout(this.remaining);
    // Sorting requires the rest now; otherwise it is requested after a time without updates.
    if (this.rest && this.#isOrdered()) this.reportedRows = "";
    else if (this.rest) this.remaining = window.setTimeout(() => this.#lookAgain(), QUIET);
    for (const table of this.tables) table.schedule();
    this.running.tell();
    this.#tell();
  }

  #tell() {
    if (!this.detail.element.hidden) this.detail.tell(this.rows.find((row) => row.name === this.selectedName));
  }

  /** @param {import("../../static/python.js").SelectedParameter} parameter @param {DataView[]} buffers */
  select(parameter, buffers) {
    const opening = this.detail.element.hidden;
    this.detail.element.hidden = false;
    this.detail.update(parameter, buffers[0], this.initializers);
    if (!this.selectedName) {
      // The selection predates the reload of the page.
      this.selectedName = parameter.name;
      const running = this.rows.find((row) => row.name === parameter.name)?.running;
      this.#showChosen(running ? this.statistics : this.weights);
    }
    this.#tell();
    if (opening) for (const table of this.tables) table.reveal();
  }

  destroy() {
    clearTimeout(this.timer);
    clearTimeout(this.remaining);
    this.detail.editor.destroy();
    for (const table of this.tables) table.destroy();
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
    draw: () => {
      for (const table of parameters.tables) table.schedule();
    },
    destroy: () => parameters.destroy(),
  };
}
