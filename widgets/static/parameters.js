// The parameters: one row each, with the requires_grad switch and the figures that tell healthy from sick. Names come
// once; figures follow, those of the rows in view first. The selected one's values can be changed.

import { make, setAttribute, setText } from "./dom.js";
import { formatCount, formatNumber, toFloat64 } from "./format.js";
import { Grid } from "./grid.js";
import { createHistogram } from "./histogram.js";
import { createParameterEditor } from "./parameter_editor.js";
import { createSeriesChooser, drawSparkline } from "./sparkline.js";

/** @typedef {import("./types.js").ParameterRow} ParameterRow */

/** The number columns of a message of figures, in parameters_view.py's order (FIGURES). */
const PARAMETER_FIGURES = ["position", "mean", "std", "minimum", "maximum", "norm", "gradient_norm", "update_ratio", "nan", "inf"];
const SERIES_NAMES = { gradient_norm: "gradient norm", update_ratio: "update ratio" };
/** @type {Record<string, string>} */
const PARAMETER_FIGURE_NAMES = { minimum: "min", maximum: "max", nan: "NaN", positive_inf: "+inf", negative_inf: "−inf" };
/** Wait this long after a scroll before telling what is in view, in milliseconds. */
const PARAMETERS_SETTLE = 60;
/** Wait this long after an update before asking for what it left out, in milliseconds. */
const PARAMETERS_QUIET = 400;

/** @param {import("./types.js").Send} send */
export function createParameters(send) {
  /** @type {ParameterRow[]} */
  let rows = [];
  /** @type {{name?: string[], initializers?: string[]}} */
  let known = {};
  /** @type {keyof typeof SERIES_NAMES} */
  let series = "gradient_norm";
  let timer = 0;
  let remaining = 0;
  let told = "";
  let waiting = false;
  let rest = 1;

  const figure = (/** @type {ParameterRow} */ row, /** @type {number} */ value) => {
    if (!row.known) return "·";
    return Number.isNaN(value) ? "–" : formatNumber(value);
  };
  /** @type {Grid<ParameterRow>} */
  const grid = new Grid({
    label: "Parameters",
    empty: "Waiting for the kernel.",
    key: (row) => row.name,
    onSelect: (row) => {
      send({ type: "select_parameter", name: row.name });
    },
    onVisible: (visible) => {
      clearTimeout(timer);
      timer = window.setTimeout(() => look(visible), PARAMETERS_SETTLE);
    },
    columns: [
      { key: "name", title: "name", width: "minmax(104px, 2fr)", value: (r) => r.name },
      { key: "shape", title: "shape", width: "minmax(92px, 1fr)", value: (r) => `${r.shape} ${r.dtype}` },
      { key: "size", title: "size", width: "50px", number: true, value: (r) => r.size, text: (r) => formatCount(r.size) },
      { key: "requires_grad", title: "requires_grad", width: "84px", value: (r) => Number(r.requires_grad), draw: drawSwitch },
      { key: "mean", title: "mean", width: "68px", number: true, value: (r) => r.mean, text: (r) => figure(r, r.mean) },
      { key: "std", title: "std", width: "60px", number: true, value: (r) => r.std, text: (r) => figure(r, r.std) },
      { key: "norm", title: "norm", width: "60px", number: true, value: (r) => r.norm, text: (r) => figure(r, r.norm) },
      {
        key: "gradient_norm",
        title: "gradient norm",
        width: "88px",
        number: true,
        value: (r) => r.gradient_norm,
        text: (r) => figure(r, r.gradient_norm),
      },
      {
        key: "update_ratio",
        title: "update ratio",
        width: "76px",
        number: true,
        value: (r) => r.update_ratio,
        text: (r) => figure(r, r.update_ratio),
      },
      {
        key: "history",
        title: "history",
        width: "72px",
        value: (r) => r.history?.values.at(-1) ?? NaN,
        draw: (cell, r) => drawSparkline(cell, r.history, `${SERIES_NAMES[series]} of ${r.name}`),
      },
    ],
  });

  const chooser = createSeriesChooser(SERIES_NAMES, (key) => {
    series = /** @type {keyof typeof SERIES_NAMES} */ (key);
    for (const row of rows) row.history = undefined;
    told = "";
    grid.schedule();
  });
  const histogram = createHistogram();
  const editor = createParameterEditor(send);
  const heading = make("h3", { class: "hs-detail-title" });
  const value = make("code", { class: "hs-detail-value" });
  const figures = make("dl", { class: "hs-figures" });
  const detail = make("section", { class: "hs-detail hs-parameter", "aria-label": "Selected parameter", hidden: "" }, [
    heading,
    value,
    editor.element,
    make("div", { class: "hs-parameter-figures" }, [figures, histogram.element]),
  ]);
  const element = make("div", { class: "hs-view" }, [
    make("div", { class: "hs-bar" }, [grid.filter, make("label", { class: "hs-label" }, ["history of ", chooser]), make("span", { class: "hs-spring" }), grid.count]),
    grid.view,
    detail,
  ]);
  grid.view.addEventListener("change", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || box.type !== "checkbox") return;
    const wanted = box.checked;
    // The box shows the model: it moves when Python says so, not when it is clicked.
    box.checked = !wanted;
    box.classList.add("hs-pending");
    send({ type: "requires_grad", name: box.dataset.name ?? "", on: wanted });
  });

  function askForRest() {
    told = "";
    grid.schedule();
  }

  /** Tell Python what is in view, and whether an order needs the others' figures. @param {ParameterRow[]} visible */
  function look(visible) {
    const positions = visible.map((row) => row.position);
    const others = rest > 0 && PARAMETER_FIGURES.includes(grid.sortKey);
    const now = `${positions} ${series} ${others}`;
    if (waiting || !positions.length || now === told) return;
    told = now;
    waiting = others;
    send({ type: "look_at_parameters", rows: positions, others, series });
  }

  /**
   * @param {{name?: string[], shape?: string[], dtype?: string[], initializers?: string[]}} texts
   * @param {DataView} buffer
   */
  function update(texts, buffer) {
    if (!texts.name) return; // nothing was sent so far
    setText(grid.empty, "No parameters.");
    const names = texts.name;
    const numbers = toFloat64(buffer);
    if (numbers.length !== 2 * names.length) return; // the other half is on its way
    const same = names.length === rows.length && names.every((name, k) => name === rows[k].name);
    if (!same) {
      const none = { known: false, mean: NaN, std: NaN, minimum: NaN, maximum: NaN, norm: NaN, gradient_norm: NaN, update_ratio: NaN, nan: 0, inf: 0 };
      rows = names.map((name, position) => {
        const [shape, dtype] = [texts.shape?.[position] ?? "", texts.dtype?.[position] ?? ""];
        const search = `${name} ${shape} ${dtype}`.toLowerCase();
        return { ...none, position, name, shape, dtype, search, size: 0, requires_grad: false, history: undefined };
      });
      told = "";
      waiting = false;
    }
    rows.forEach((row, k) => {
      row.requires_grad = numbers[k] > 0;
      row.size = numbers[names.length + k];
    });
    known = texts;
    grid.setRows(rows);
  }

  /** Messages that are not state; returns whether this one was for here. @param {any} message @param {DataView[]} buffers */
  function receive(message, buffers) {
    if (message.type === "parameter_figures") addFigures(message, buffers);
    else if (message.type === "parameter") select(message, buffers[0]);
    else if (message.type === "edit_answer") editor.answer(message);
    else return false;
    return true;
  }

  /** @param {{rest: number, series: string, with_history: number}} message @param {DataView[]} buffers */
  function addFigures(message, buffers) {
    const numbers = toFloat64(buffers[0]);
    const histories = toFloat64(buffers[1]);
    const count = numbers.length / PARAMETER_FIGURES.length;
    let at = 0;
    for (let k = 0; k < count; k++) {
      const row = rows[numbers[k]];
      if (!row) continue;
      PARAMETER_FIGURES.forEach((name, c) => {
        if (c) Object.assign(row, { [name]: numbers[c * count + k] });
      });
      row.known = true;
      const length = histories[at];
      if (k < message.with_history && message.series === series) {
        row.history = { steps: histories.slice(at + 1, at + 1 + length), values: histories.slice(at + 1 + length, at + 1 + 2 * length) };
      }
      at += 1 + 2 * length;
    }
    rest = message.rest;
    waiting = false;
    clearTimeout(remaining);
    // An order needs the rest now; else it is asked for when no update has come for a while.
    if (rest && PARAMETER_FIGURES.includes(grid.sortKey)) told = "";
    else if (rest) remaining = window.setTimeout(askForRest, PARAMETERS_QUIET);
    grid.schedule();
  }

  /** @param {any} message @param {DataView} buffer */
  function select(message, buffer) {
    const opening = detail.hidden;
    detail.hidden = false;
    grid.selected ??= message.name;
    setText(heading, message.name);
    setText(value, message.value);
    const shown = Object.entries(message.figures).filter(([name, text]) => !/nan|inf/.test(name) || Number(text) > 0);
    figures.replaceChildren(
      ...shown.map(([name, text]) =>
        make("div", {}, [make("dt", { text: PARAMETER_FIGURE_NAMES[name] ?? name }), make("dd", { text: formatNumber(fromPython(text), 6) })]),
      ),
    );
    const numbers = toFloat64(buffer);
    const [nan, positive, negative] = ["nan", "positive_inf", "negative_inf"].map((name) => Number(message.figures[name]));
    histogram.update(numbers.subarray(0, 64), numbers.subarray(64), message.name, { nan, positive, negative });
    editor.edit(message.name, known.initializers ?? []);
    if (opening) grid.reveal();
  }

  return {
    element,
    update,
    receive,
    draw: () => grid.schedule(),
    destroy() {
      clearTimeout(timer);
      clearTimeout(remaining);
      editor.destroy();
      grid.destroy();
    },
  };
}

/** Python writes inf and nan in its own way. @param {unknown} text */
function fromPython(text) {
  return Number(String(text).replace("inf", "Infinity"));
}

/** @param {HTMLElement} cell @param {ParameterRow} row */
function drawSwitch(cell, row) {
  let box = /** @type {HTMLInputElement | null} */ (cell.firstElementChild);
  if (!box) {
    box = make("input", { type: "checkbox", class: "hs-check" });
    cell.append(box);
  }
  box.dataset.name = row.name;
  setAttribute(box, "aria-label", `requires_grad of ${row.name}`);
  box.checked = row.requires_grad;
}
