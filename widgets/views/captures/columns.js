// The columns of the captures' table.

import { make, setText } from "../../static/dom.js";
import { formatCount, formatNumber } from "../../static/format.js";

/** @typedef {import("./rows.js").CaptureRow} CaptureRow */

/** Where a capture comes from, if not from the watching itself: on its badge, and in words. @type {Record<string, [string, string]>} */
export const ORIGINS = { hook: ["hook", "recorded by a hook"], edit: ["edited", "edited at a pause"] };

/** @type {import("../../static/grid.js").Column<CaptureRow>[]} */
export const COLUMNS = [
  { key: "step", title: "step", width: "32px", number: true, value: (r) => r.step },
  { key: "cell", title: "cell", width: "minmax(76px, 1.6fr)", value: (r) => (r.call ? `${r.cell} #${r.call}` : r.cell) },
  { key: "direction", title: "direction", width: "106px", value: (r) => r.direction, draw: drawDirection },
  { key: "slot", title: "value", width: "minmax(94px, 1fr)", value: (r) => (r.context ? `${r.slot} (${r.context})` : r.slot) },
  { key: "shape", title: "shape", width: "minmax(56px, 0.9fr)", value: (r) => r.shape },
  { key: "dtype", title: "dtype", width: "54px", value: (r) => r.dtype },
  { key: "minimum", title: "min", width: "66px", number: true, value: (r) => r.minimum, text: (r) => (r.never ? "given up" : figure(r, r.minimum)) },
  { key: "maximum", title: "max", width: "66px", number: true, value: (r) => r.maximum, text: (r) => figure(r, r.maximum) },
  { key: "mean", title: "mean", width: "66px", number: true, value: (r) => r.mean, text: (r) => figure(r, r.mean) },
  { key: "std", title: "std", width: "66px", number: true, value: (r) => r.std, text: (r) => figure(r, r.std) },
  { key: "nan", title: "NaN", width: "30px", number: true, value: (r) => r.nan, draw: (cell, r) => drawFault(cell, r, r.nan) },
  { key: "inf", title: "inf", width: "30px", number: true, value: (r) => r.inf, draw: (cell, r) => drawFault(cell, r, r.inf) },
];

/** A figure that nobody asked for yet is a dot. @param {CaptureRow} row @param {number} value */
function figure(row, value) {
  return row.known ? formatNumber(value) : row.never ? "" : "·";
}

/** @param {HTMLElement} cell @param {CaptureRow} row */
function drawDirection(cell, row) {
  const now = `${row.direction} ${row.origin} ${row.hits}`;
  if (cell.dataset.drawn === now) return;
  cell.dataset.drawn = now;
  const [short, kind] = row.direction === "forward" ? ["fwd", "hs-forward"] : ["bwd", "hs-backward"];
  cell.replaceChildren(make("abbr", { class: `hs-direction ${kind}`, text: short, title: row.direction }));
  if (row.origin in ORIGINS) cell.append(make("span", { class: "hs-badge", text: ORIGINS[row.origin][0], title: ORIGINS[row.origin][1] }));
  if (row.hits) cell.append(make("span", { class: "hs-badge hs-warn", text: "!", title: row.hits, "aria-label": `condition: ${row.hits}`, role: "img" }));
}

/** @param {HTMLElement} cell @param {CaptureRow} row @param {number} count */
function drawFault(cell, row, count) {
  setText(cell, row.known ? formatCount(count) : row.never ? "" : "·");
  cell.classList.toggle("hs-fault", row.known && count > 0);
}
