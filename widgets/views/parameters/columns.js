// The columns of the parameters' table.

import { make, setAttribute } from "../../static/dom.js";
import { formatCount, formatNumber } from "../../static/format.js";
import { drawSparkline } from "../../static/sparkline.js";

/** @typedef {import("./rows.js").ParameterRow} ParameterRow */
/** @typedef {import("../../static/grid.js").Column<ParameterRow>} Column */

/** @param {() => string} series what the history shows, in words @returns {Column[]} */
export const columns = (series) => [
  { key: "name", title: "name", width: "minmax(104px, 2fr)", value: (r) => r.name },
  { key: "shape", title: "shape", width: "minmax(92px, 1fr)", value: (r) => `${r.shape} ${r.dtype}` },
  { key: "size", title: "size", width: "50px", number: true, value: (r) => r.size, text: (r) => formatCount(r.size) },
  { key: "requires_grad", title: "requires_grad", width: "84px", value: (r) => Number(r.requires_grad), draw: drawSwitch },
  figure("mean", "mean", "68px"),
  figure("std", "std", "60px"),
  figure("norm", "norm", "60px"),
  figure("gradient_norm", "gradient norm", "88px"),
  figure("update_ratio", "update ratio", "76px"),
  {
    key: "history",
    title: "history",
    width: "72px",
    value: (r) => r.history?.values.at(-1) ?? NaN,
    draw: (cell, r) => drawSparkline(cell, r.history, `${series()} of ${r.name}`),
  },
];

/** @param {"mean" | "std" | "norm" | "gradient_norm" | "update_ratio"} key @param {string} title @param {string} width @returns {Column} */
function figure(key, title, width) {
  const text = (/** @type {ParameterRow} */ row) => (!row.known ? "·" : Number.isNaN(row[key]) ? "–" : formatNumber(row[key]));
  return { key, title, width, number: true, value: (row) => row[key], text };
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
