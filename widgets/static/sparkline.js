// A sparkline: a series of numbers as a small SVG line, whose colors follow the theme. The axis is logarithmic unless
// the series is linear.

import { make, makeSvg, setAttribute } from "./dom.js";
import { formatNumber } from "./format.js";

export const SPARK_WIDTH = 72;
const SPARK_HEIGHT = 18;
/** Minimum span of the axis, in powers of ten, so that lines of two rows are comparable and noise stays small. */
const DECADES = 1;

/** Ratio of maximum to minimum above which a series of any sign is drawn with logarithms if it is positive. */
const WIDE = 30;

/** @typedef {{steps: Float64Array, values: Float64Array, linear?: boolean}} Series */
/** @typedef {{series: Series, word: string, name: string}} Drawn a series, its quantity and its subject: a gradient norm, a parameter */

/** Return a series of numbers of any sign by step from Python's form, with null for nonfinite ones. @param {[number, number | null][]} points @returns {Series} */
export function series(points) {
  const values = Float64Array.from(points, ([, value]) => value ?? NaN);
  const finite = [...values].filter(Number.isFinite);
  const low = Math.min(...finite);
  return { steps: Float64Array.from(points, ([step]) => step), values, linear: !(low > 0 && Math.max(...finite) > WIDE * low) };
}

/** @type {WeakMap<Element, Drawn>} */
const drawnSeries = new WeakMap();

/** Return the series drawn in a cell. @param {Element} cell */
export const drawnIn = (cell) => drawnSeries.get(cell);

/**
 * Draw a series into a cell; repeating the same one costs nothing.
 * @param {HTMLElement} cell @param {Series | undefined} series @param {string} word the quantity @param {string} [name]
 *   the subject
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
  const positions = placesOf(series);
  const zeros = marks(series, positions, (value) => value === 0 && !series.linear, SPARK_HEIGHT - 1, SPARK_HEIGHT - 4);
  const faults = marks(series, positions, (value) => !Number.isFinite(value), 1, 6);
  for (const [k, d] of [lineThrough(series, positions), zeros, faults, null].entries()) setAttribute(svg.children[k], "d", d);
}

/** @param {Series} series @param {string} name */
function sparkLabel({ steps, values }, name) {
  const finite = [...values].filter(Number.isFinite);
  const last = formatNumber(values[values.length - 1]);
  const range = finite.length ? `from ${formatNumber(Math.min(...finite))} to ${formatNumber(Math.max(...finite))}, ` : "";
  const faults = values.length - finite.length;
  return `${name}, steps ${steps[0]} to ${steps[steps.length - 1]}: ${range}last ${last}${faults ? `, ${faults} not finite` : ""}`;
}

/** Return whether a value is a point of the line: finite, and positive on a logarithmic axis. @param {Series} series @param {number} value */
const isOnLine = ({ linear }, value) => Number.isFinite(value) && (linear || value > 0);

/** Return the position of each point: zero on a logarithmic axis at the bottom, nonfinite values at the top. @param {Series} series */
export function placesOf(series) {
  const { steps, values, linear } = series;
  const scale = (/** @type {number} */ value) => (linear ? value / 2 : Math.log10(value)); // halves, since a range may exceed the largest number
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

/** Return the path through the points of the line. @param {Series} series @param {Places} positions */
function lineThrough(series, positions) {
  const stands = (/** @type {number} */ k) => isOnLine(series, series.values[k]);
  let line = "";
  positions.forEach(({ x, y }, k) => {
    if (!stands(k)) return;
    line += `${stands(k - 1) ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    // An isolated value is a dot: its line is as long as its round cap.
    if (!stands(k - 1) && !stands(k + 1)) line += "h0.01";
  });
  return line;
}

/** Return the path of marks for each value of a kind. @param {Series} series @param {Places} positions @param {(value: number) => boolean} predicate @param {number} from @param {number} to */
function marks({ values }, positions, predicate, from, to) {
  return positions.map(({ x }, k) => (predicate(values[k]) ? `M${x.toFixed(1)} ${from}V${to}` : "")).join("");
}

/** Create a selector for the series that the lines show. @param {Record<string, string>} names @param {(key: string) => void} choose */
export function createSeriesChooser(names, choose) {
  const select = make(
    "select",
    { class: "hs-select", "aria-label": "History shows", onchange: () => choose(select.value) },
    Object.entries(names).map(([value, text]) => make("option", { value, text })),
  );
  return select;
}
