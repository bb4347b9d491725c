// A series of numbers as a small line, drawn as SVG so that it takes the theme's colors by itself. The axis is logarithmic
// unless the series says otherwise.

import { make, makeSvg, setAttribute } from "./dom.js";
import { formatNumber } from "./format.js";

export const SPARK_WIDTH = 72;
const SPARK_HEIGHT = 18;
/** What the axis spans at least, in powers of ten: so that the lines of two rows can be compared, and noise stays small. */
const DECADES = 1;

/** Beyond this ratio of the largest to the smallest, a series that may be below zero is drawn with logarithms. */
const WIDE = 30;

/** @typedef {{steps: Float64Array, values: Float64Array, linear?: boolean}} Series */
/** @typedef {{series: Series, word: string, name: string}} Drawn what it is of: a gradient norm, of a parameter */

/** Numbers of any sign by step as Python sends them, with null for what is not finite. @param {[number, number | null][]} points @returns {Series} */
export function series(points) {
  const values = Float64Array.from(points, ([, value]) => value ?? NaN);
  const finite = [...values].filter(Number.isFinite);
  const low = Math.min(...finite);
  return { steps: Float64Array.from(points, ([step]) => step), values, linear: !(low > 0 && Math.max(...finite) > WIDE * low) };
}

/** @type {WeakMap<Element, Drawn>} */
const drawnSeries = new WeakMap();

/** What is drawn in a cell. @param {Element} cell */
export const drawnIn = (cell) => drawnSeries.get(cell);

/**
 * Draw a series into a cell; the same one again costs nothing.
 * @param {HTMLElement} cell @param {Series | undefined} series @param {string} word what it is a series of @param {string} [name] whose
 */
export function drawSparkline(cell, series, word, name = "") {
  if (!series || !series.steps.length) {
    if (cell.firstElementChild) cell.replaceChildren();
    drawnSeries.delete(cell);
    return;
  }
  let svg = cell.firstElementChild;
  if (!svg) {
    const parts = ["line", "zero", "fault", "point"].map((part) => makeSvg("path", { class: `hs-spark-${part}` }));
    svg = makeSvg("svg", { class: "hs-spark", role: "img", viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`, preserveAspectRatio: "none" }, parts);
    cell.replaceChildren(svg);
  }
  const label = sparkLabel(series, name ? `${word} of ${name}` : word);
  setAttribute(svg, "aria-label", label);
  const before = drawnSeries.get(cell);
  if (before?.series === series && before.name === name) return;
  drawnSeries.set(cell, { series, word, name });
  const places = placesOf(series);
  const zeros = marks(series, places, (value) => value === 0 && !series.linear, SPARK_HEIGHT - 1, SPARK_HEIGHT - 4);
  const faults = marks(series, places, (value) => !Number.isFinite(value), 1, 6);
  for (const [k, d] of [lineThrough(series, places), zeros, faults, null].entries()) setAttribute(svg.children[k], "d", d);
}

/** @param {Series} series @param {string} name */
function sparkLabel({ steps, values }, name) {
  const finite = [...values].filter(Number.isFinite);
  const last = formatNumber(values[values.length - 1]);
  const range = finite.length ? `from ${formatNumber(Math.min(...finite))} to ${formatNumber(Math.max(...finite))}, ` : "";
  const faults = values.length - finite.length;
  return `${name}, steps ${steps[0]} to ${steps[steps.length - 1]}: ${range}last ${last}${faults ? `, ${faults} not finite` : ""}`;
}

/** Whether a value is a point of the line: it is finite, and has a logarithm where that is needed. @param {Series} series @param {number} value */
const isOnLine = ({ linear }, value) => Number.isFinite(value) && (linear || value > 0);

/** Where each point stands: zero, which has no logarithm, at the bottom, what is not finite at the top. @param {Series} series */
export function placesOf(series) {
  const { steps, values, linear } = series;
  const scale = (/** @type {number} */ value) => (linear ? value / 2 : Math.log10(value)); // halves, since a range may be larger than the largest number
  const scaled = [...values].filter((value) => isOnLine(series, value)).map(scale);
  const [low, high] = [Math.min(...scaled), Math.max(...scaled)];
  const span = linear ? high - low || 1 : Math.max(DECADES, high - low);
  const stretch = steps[steps.length - 1] - steps[0] || 1;
  return [...values].map((value, k) => {
    const height = isOnLine(series, value) ? (scale(value) - (low / 2 + high / 2)) / span + 0.5 : value === 0 ? 0 : 1;
    return { x: 2 + ((steps[k] - steps[0]) / stretch) * (SPARK_WIDTH - 4), y: SPARK_HEIGHT - 2 - height * (SPARK_HEIGHT - 4) };
  });
}

/** @typedef {ReturnType<typeof placesOf>} Places */

/** The line through what has a logarithm. @param {Series} series @param {Places} places */
function lineThrough(series, places) {
  const stands = (/** @type {number} */ k) => isOnLine(series, series.values[k]);
  let line = "";
  places.forEach(({ x, y }, k) => {
    if (!stands(k)) return;
    line += `${stands(k - 1) ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    // A value that stands alone is a dot: its line is as long as its round cap.
    if (!stands(k - 1) && !stands(k + 1)) line += "h0.01";
  });
  return line;
}

/** A mark for each value of a kind. @param {Series} series @param {Places} places @param {(value: number) => boolean} wanted @param {number} from @param {number} to */
function marks({ values }, places, wanted, from, to) {
  return places.map(({ x }, k) => (wanted(values[k]) ? `M${x.toFixed(1)} ${from}V${to}` : "")).join("");
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
