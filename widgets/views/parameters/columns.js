// The columns of the two tables of parameters: for weights, and for running statistics, which are not trained.

import { make, setAttribute, setText } from "../../static/dom.js";
import { formatCount, formatNumber } from "../../static/format.js";
import { drawSparkline } from "../../static/sparkline.js";
import { faultsOf, isFrozen, notesOf } from "./rows.js";

/** @typedef {import("./rows.js").ParameterRow} ParameterRow */
/** @typedef {import("../../static/grid.js").Column<ParameterRow> & {hint: string}} Column `hint` describes a column */
/** @typedef {keyof typeof FIGURES_IN_WORDS} Figure */

const FIGURES_IN_WORDS = {
  mean: "mean of its finite elements",
  std: "standard deviation of its finite elements",
  minimum: "smallest of its finite elements",
  maximum: "largest of its finite elements",
  norm: "L2 norm of its finite elements",
  gradient_norm: "L2 norm of the newest gradient that came for it",
  update_ratio: "L2 norm of the last update by that of the weight before it; about 1e-3 is usual",
};
const NAME = { key: "name", title: "name", value: (/** @type {ParameterRow} */ r) => r.name, draw: drawName, hint: "its path in the network" };
const SHAPE = { key: "shape", title: "shape", value: (/** @type {ParameterRow} */ r) => `${r.shape} ${r.dtype}`, hint: "its shape and dtype" };

/** @param {() => string} series returns a description of the history @returns {Column[]} */
export const weightColumns = (series) => [
  { ...NAME, width: "minmax(104px, 3fr)" },
  { ...SHAPE, width: "minmax(112px, 1.2fr)" },
  { key: "size", title: "size", width: "minmax(52px, 0.5fr)", number: true, value: (r) => r.size, draw: drawSize, hint: "number of elements" },
  { key: "requires_grad", title: "requires_grad", width: "minmax(86px, 0.8fr)", value: (r) => Number(r.requires_grad), draw: drawSwitch, hint: "whether gradient calls train it; a parameter that they do not train is frozen" },
  figure("mean", "minmax(68px, 0.7fr)"),
  figure("std", "minmax(60px, 0.7fr)"),
  figure("norm", "minmax(60px, 0.7fr)"),
  figure("gradient_norm", "minmax(86px, 0.8fr)"),
  figure("update_ratio", "minmax(78px, 0.7fr)"),
  {
    key: "history",
    title: "history",
    width: "minmax(72px, 0.9fr)",
    value: (r) => r.history?.values.at(-1) ?? NaN,
    draw: (cell, r) => drawSparkline(cell, r.history, series(), r.name),
    hint: "by step, on a logarithmic axis of at least one decade; point at it, or press ← and → in the selected row, to read values",
  },
];

/** @type {Column[]} */
export const runningColumns = [
  { ...NAME, width: "minmax(104px, 3fr)" },
  { ...SHAPE, width: "minmax(112px, 1.2fr)" },
  figure("mean", "minmax(68px, 0.7fr)"),
  figure("std", "minmax(60px, 0.7fr)"),
  figure("minimum", "minmax(68px, 0.7fr)"),
  figure("maximum", "minmax(68px, 0.7fr)"),
];

/** @param {Figure} key @param {string} width @returns {Column} */
function figure(key, width) {
  const title = { minimum: "min", maximum: "max" }[String(key)] ?? key.replace("_", " ");
  return { key, title, width, number: true, value: (row) => row[key], draw: (cell, row) => drawFigure(cell, row, key), hint: FIGURES_IN_WORDS[key] };
}

/** @param {HTMLElement} cell @param {ParameterRow} row @param {Figure} key */
function drawFigure(cell, row, key) {
  setText(cell, !row.known ? "·" : Number.isNaN(row[key]) ? "–" : formatNumber(row[key]));
  const unusual = key === "update_ratio" && row.known ? row.unusual : "";
  cell.classList.toggle("hs-unusual", Boolean(unusual));
  setAttribute(cell, "title", unusual || (row.known ? `${row.name}: ${FIGURES_IN_WORDS[key]}` : "not computed yet"));
  setAttribute(cell, "aria-description", unusual || null);
}

/** Draw the name. Its end is the most informative part, so an overlong name is truncated at its beginning. @param {HTMLElement} cell @param {ParameterRow} row */
function drawName(cell, row) {
  if (!cell.firstElementChild) {
    cell.classList.add("hs-parameter-name");
    cell.append(make("span", { class: "hs-name-end" }, [make("bdi")]), make("span", { class: "hs-badge hs-warn" }), make("span", { class: "hs-shared" }));
  }
  const [name, faults, shared] = /** @type {HTMLElement[]} */ ([...cell.children]);
  setText(/** @type {HTMLElement} */ (name.firstElementChild), row.name);
  const notFinite = row.known ? [row.nan ? "NaN" : "", row.inf ? "inf" : ""].filter(Boolean).join(", ") : "";
  setText(faults, notFinite);
  faults.hidden = !notFinite;
  setText(shared, row.shared);
  shared.hidden = !row.shared;
  const parts = [row.name, row.shared, row.known ? faultsOf(row) : ""].filter(Boolean);
  setAttribute(cell, "aria-label", parts.join(", "));
  setAttribute(cell, "title", [row.name, `${row.shape} ${row.dtype}`, ...notesOf(row)].join("\n"));
}

/** @param {HTMLElement} cell @param {ParameterRow} row */
function drawSize(cell, row) {
  setText(cell, row.size < 1e6 ? formatCount(row.size) : row.size < 1e9 ? `${(row.size / 1e6).toPrecision(3)}M` : `${(row.size / 1e9).toPrecision(3)}G`);
  setAttribute(cell, "title", `${formatCount(row.size)} ${row.size === 1 ? "element" : "elements"}`);
}

/** @param {HTMLElement} cell @param {ParameterRow} row */
function drawSwitch(cell, row) {
  if (!cell.firstElementChild) cell.append(make("input", { type: "checkbox", class: "hs-check" }), make("span", { class: "hs-frozen", "aria-hidden": "true" }));
  const [box, frozen] = /** @type {[HTMLInputElement, HTMLElement]} */ ([...cell.children]);
  box.dataset.name = row.name;
  setAttribute(box, "aria-label", `requires_grad of ${row.name}`);
  box.checked = row.requires_grad;
  setText(frozen, isFrozen(row) ? "frozen" : "");
  setAttribute(cell, "title", row.requires_grad ? `requires_grad is True: gradient calls train ${row.name}` : `requires_grad is False: ${row.name} is frozen`);
}
