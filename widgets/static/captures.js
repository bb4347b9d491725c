// The captures: every value that passed a watched cell, newest first or in order, and the selected one's histogram.

import { make, setAttribute, setText } from "./dom.js";
import { formatCount, formatNumber, toFloat64 } from "./format.js";
import { Grid } from "./grid.js";
import { createHistogram } from "./histogram.js";

/** @typedef {import("./types.js").CaptureRow} CaptureRow */
/** @typedef {import("./types.js").Selection} Selection */

/** The number columns of a message, in views.py's order (CAPTURE_NUMBERS). */
const CAPTURE_NUMBERS = ["index", "step", "call", "known", "minimum", "maximum", "mean", "std", "nan", "inf"];
/** @type {Record<string, string>} */
const FIGURE_NAMES = { nan: "NaN", positive_inf: "+inf", negative_inf: "−inf" };
/** Wait this long after a scroll before asking for statistics of what came into view, in milliseconds. */
const SETTLE = 60;

/** @param {import("./types.js").Send} send */
export function createCaptures(send) {
  /** @type {CaptureRow[]} */
  let rows = [];
  /** @type {Map<number, CaptureRow>} */
  const byIndex = new Map();
  /** @type {Set<number>} */
  const asked = new Set();
  let timer = 0;
  let dropped = 0;
  let waiting = false;
  const statistic = (/** @type {CaptureRow} */ row, /** @type {number} */ value) => (row.known ? formatNumber(value) : "·");

  /** @type {Grid<CaptureRow>} */
  const grid = new Grid({
    label: "Captures",
    empty: "No captures yet. They appear here while watched cells run.",
    key: (row) => row.index,
    onSelect: (row) => send({ type: "select", index: row.index }),
    onVisible: (visible) => {
      clearTimeout(timer);
      timer = window.setTimeout(() => ask(visible), SETTLE);
    },
    columns: [
      { key: "step", title: "step", width: "32px", number: true, value: (r) => r.step },
      { key: "cell", title: "cell", width: "minmax(76px, 1.6fr)", value: (r) => (r.call ? `${r.cell} #${r.call}` : r.cell) },
      { key: "direction", title: "direction", width: "106px", value: (r) => r.direction, draw: drawDirection },
      { key: "slot", title: "value", width: "minmax(94px, 1fr)", value: (r) => r.slot },
      { key: "shape", title: "shape", width: "minmax(56px, 0.9fr)", value: (r) => r.shape },
      { key: "dtype", title: "dtype", width: "54px", value: (r) => r.dtype },
      { key: "minimum", title: "min", width: "66px", number: true, value: (r) => r.minimum, text: (r) => statistic(r, r.minimum) },
      { key: "maximum", title: "max", width: "66px", number: true, value: (r) => r.maximum, text: (r) => statistic(r, r.maximum) },
      { key: "mean", title: "mean", width: "66px", number: true, value: (r) => r.mean, text: (r) => statistic(r, r.mean) },
      { key: "std", title: "std", width: "66px", number: true, value: (r) => r.std, text: (r) => statistic(r, r.std) },
      { key: "nan", title: "NaN", width: "30px", number: true, value: (r) => r.nan, draw: drawFault("nan") },
      { key: "inf", title: "inf", width: "30px", number: true, value: (r) => r.inf, draw: drawFault("inf") },
    ],
  });

  const order = make("button", {
    type: "button",
    class: "hs-button",
    "aria-pressed": "false",
    text: "Newest first",
    onclick: () => {
      grid.newestFirst = !grid.newestFirst;
      setAttribute(order, "aria-pressed", grid.newestFirst);
      grid.view.scrollTop = 0;
      grid.schedule();
    },
  });
  const lost = make("span", { class: "hs-count" });
  const histogram = createHistogram();
  const heading = make("h3", { class: "hs-detail-title" });
  const value = make("code", { class: "hs-detail-value" });
  const figures = make("dl", { class: "hs-figures" });
  const detail = make("section", { class: "hs-detail", "aria-label": "Selected capture", hidden: "" }, [
    make("div", { class: "hs-detail-side" }, [heading, value, figures]),
    histogram.element,
  ]);
  const element = make("div", { class: "hs-view" }, [
    make("div", { class: "hs-bar" }, [grid.filter, order, make("span", { class: "hs-spring" }), lost, grid.count]),
    grid.view,
    detail,
  ]);

  /** One question at a time: Python may be busy, and answers when it is not. @param {CaptureRow[]} visible */
  function ask(visible) {
    if (waiting) return;
    const indices = visible.filter((row) => !row.known && !asked.has(row.index)).map((row) => row.index);
    if (!indices.length) return;
    for (const index of indices) asked.add(index);
    waiting = true;
    send({ type: "statistics", indices });
  }

  /** @param {Float64Array} numbers @param {number} count @param {(row: Record<string, number>, k: number) => void} each */
  function eachRow(numbers, count, each) {
    for (let k = 0; k < count; k++) {
      /** @type {Record<string, number>} */
      const row = {};
      CAPTURE_NUMBERS.forEach((name, c) => (row[name] = numbers[c * count + k]));
      each(row, k);
    }
  }

  /** New captures, and which of the old ones Python has dropped. @param {any} message @param {DataView[]} buffers */
  function add(message, buffers) {
    if (message.reset) {
      rows = [];
      byIndex.clear();
      asked.clear();
    }
    const text = message.columns;
    eachRow(toFloat64(buffers[0]), message.count, (numbers, k) => {
      const row = /** @type {CaptureRow} */ (/** @type {unknown} */ ({ ...numbers, known: numbers.known > 0 }));
      for (const name of ["cell", "direction", "slot", "shape", "dtype", "origin", "hits"]) Object.assign(row, { [name]: text[name][k] });
      row.search = `${row.cell} #${row.call} ${row.direction} ${row.slot} ${row.shape} ${row.dtype} ${row.origin} ${row.hits}`.toLowerCase();
      rows.push(row);
      byIndex.set(row.index, row);
    });
    const kept = rows.findIndex((row) => row.index >= message.oldest);
    for (const row of rows.splice(0, kept < 0 ? rows.length : kept)) byIndex.delete(row.index);
    dropped = message.dropped;
    setText(lost, dropped ? `${formatCount(dropped)} older dropped` : "");
    grid.setRows(rows);
  }

  /** Statistics that were asked for. @param {DataView[]} buffers */
  function addStatistics(buffers) {
    waiting = false;
    const numbers = toFloat64(buffers[0]);
    eachRow(numbers, numbers.length / CAPTURE_NUMBERS.length, (figures) => {
      const row = byIndex.get(figures.index);
      if (row) Object.assign(row, figures, { known: true });
    });
    grid.schedule();
  }

  /** @param {Selection} selection @param {DataView} buffer */
  function select(selection, buffer) {
    const opening = detail.hidden;
    detail.hidden = selection.index === undefined;
    if (detail.hidden) return;
    // What was clicked here leads; the model's selection is for a page that was just loaded.
    grid.selected ??= selection.index;
    setText(heading, `${selection.key}, step ${selection.step}`);
    setText(value, selection.value);
    figures.replaceChildren();
    const marks = [...selection.hits, ...(selection.origin === "hook" ? ["recorded by a hook"] : [])];
    if (marks.length) figures.append(figure("marks", marks.join(", ")));
    for (const [name, number] of Object.entries(selection.figures)) {
      figures.append(figure(FIGURE_NAMES[name] ?? name, formatNumber(parseNumber(number), 6)));
    }
    const numbers = toFloat64(buffer);
    histogram.update(numbers.subarray(0, 64), numbers.subarray(64), selection.key);
    if (opening) grid.reveal();
  }

  return {
    element,
    add,
    addStatistics,
    select,
    draw: () => grid.schedule(),
    destroy() {
      clearTimeout(timer);
      grid.destroy();
    },
  };
}

/** @param {string} name @param {string} text */
function figure(name, text) {
  return make("div", {}, [make("dt", { text: name }), make("dd", { text })]);
}

/** Python writes inf and nan in its own way. @param {string} text */
function parseNumber(text) {
  if (text === "inf") return Infinity;
  if (text === "-inf") return -Infinity;
  return Number(text);
}

/** @param {HTMLElement} cell @param {CaptureRow} row */
function drawDirection(cell, row) {
  if (cell.dataset.drawn === `${row.direction} ${row.origin} ${row.hits}`) return;
  cell.dataset.drawn = `${row.direction} ${row.origin} ${row.hits}`;
  const [short, kind] = row.direction === "forward" ? ["fwd", "hs-forward"] : ["bwd", "hs-backward"];
  cell.replaceChildren(make("abbr", { class: `hs-direction ${kind}`, text: short, title: row.direction }));
  if (row.origin === "hook") cell.append(make("span", { class: "hs-badge", text: "hook", title: "recorded by a hook" }));
  if (row.hits) cell.append(make("span", { class: "hs-badge hs-warn", text: "!", title: row.hits, "aria-label": `condition: ${row.hits}`, role: "img" }));
}

/** @param {"nan" | "inf"} name */
function drawFault(name) {
  return (/** @type {HTMLElement} */ cell, /** @type {CaptureRow} */ row) => {
    setText(cell, row.known ? formatCount(row[name]) : "·");
    cell.classList.toggle("hs-fault", row.known && row[name] > 0);
  };
}
