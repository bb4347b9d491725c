// A series of numbers as a small line, drawn as SVG so that it takes the theme's colors by itself.

import { make, setAttribute } from "./dom.js";
import { formatNumber } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";
const SPARK_WIDTH = 72;
const SPARK_HEIGHT = 18;
/** Beyond this ratio of the largest to the smallest, heights are logarithms. */
const WIDE = 30;

/** @typedef {{steps: Float64Array, values: Float64Array}} Series */

/** Numbers by step as Python sends them, with null for what is not finite. @param {[number, number | null][]} points @returns {Series} */
export function series(points) {
  return { steps: Float64Array.from(points, ([step]) => step), values: Float64Array.from(points, ([, value]) => value ?? NaN) };
}

/** @type {WeakMap<Element, Series>} */
const drawnSeries = new WeakMap();

/**
 * Draw a series into a cell; the same one again costs nothing.
 * @param {HTMLElement} cell
 * @param {Series | undefined} series
 * @param {string} name
 */
export function drawSparkline(cell, series, name) {
  if (!series || !series.steps.length) {
    if (cell.firstElementChild) cell.replaceChildren();
    drawnSeries.delete(cell);
    return;
  }
  let svg = cell.firstElementChild;
  if (!svg) {
    svg = document.createElementNS(SVG, "svg");
    const attributes = { class: "hs-spark", role: "img", viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`, width: SPARK_WIDTH, height: SPARK_HEIGHT };
    for (const [key, value] of Object.entries(attributes)) setAttribute(svg, key, value);
    svg.append(document.createElementNS(SVG, "path"), document.createElementNS(SVG, "path"));
    setAttribute(svg.children[0], "class", "hs-spark-line");
    setAttribute(svg.children[1], "class", "hs-spark-fault");
    cell.replaceChildren(svg);
  }
  const label = sparkLabel(series, name);
  setAttribute(svg, "aria-label", label);
  setAttribute(cell, "title", label);
  if (drawnSeries.get(cell) === series) return;
  drawnSeries.set(cell, series);
  const [line, faults] = sparkPaths(series);
  setAttribute(svg.children[0], "d", line);
  setAttribute(svg.children[1], "d", faults);
}

/** @param {Series} series @param {string} name */
function sparkLabel({ steps, values }, name) {
  const finite = [...values].filter(Number.isFinite);
  const last = formatNumber(values[values.length - 1]);
  const range = finite.length ? `from ${formatNumber(Math.min(...finite))} to ${formatNumber(Math.max(...finite))}, ` : "";
  const faults = values.length - finite.length;
  return `${name}, steps ${steps[0]} to ${steps[steps.length - 1]}: ${range}last ${last}${faults ? `, ${faults} not finite` : ""}`;
}

/** The line through the finite values, and a mark at the top for each of the others. @param {Series} series */
function sparkPaths({ steps, values }) {
  const finite = [...values].filter(Number.isFinite);
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  const scale = low > 0 && high > WIDE * low ? Math.log : (/** @type {number} */ value) => value;
  const [bottom, top] = [scale(low), scale(high)];
  const first = steps[0];
  const span = steps[steps.length - 1] - first || 1;
  let line = "";
  let faults = "";
  let pen = "M";
  values.forEach((value, k) => {
    const x = (2 + ((steps[k] - first) / span) * (SPARK_WIDTH - 4)).toFixed(1);
    if (!Number.isFinite(value)) {
      faults += `M${x} 1V6`;
      pen = "M";
      return;
    }
    const height = top > bottom ? (scale(value) - bottom) / (top - bottom) : 0.5;
    const y = (SPARK_HEIGHT - 2 - height * (SPARK_HEIGHT - 4)).toFixed(1);
    line += `${pen}${x} ${y}`;
    // A value that stands alone is a dot: its line is as long as its round cap.
    if (pen === "M" && !Number.isFinite(values[k + 1] ?? NaN)) line += "h0.01";
    pen = "L";
  });
  return [line, faults];
}

/** The chooser of what the lines show. @param {Record<string, string>} names @param {(key: string) => void} choose */
export function createSeriesChooser(names, choose) {
  const select = make(
    "select",
    { class: "hs-select", "aria-label": "History shows", onchange: () => choose(select.value) },
    Object.entries(names).map(([value, text]) => make("option", { value, text })),
  );
  return select;
}
