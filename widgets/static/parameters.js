// The parameters: one row each, with the requires_grad switch and the figures that tell healthy from sick.

import { make, setAttribute } from "./dom.js";
import { formatCount, formatNumber, toFloat64 } from "./format.js";
import { Grid } from "./grid.js";

/** @typedef {import("./types.js").ParameterRow} ParameterRow */

/** The number columns, in views.py's order (PARAMETER_NUMBERS). */
const PARAMETER_NUMBERS = ["requires_grad", "size", "mean", "std", "norm", "gradient_norm"];

/** @param {import("./types.js").Send} send */
export function createParameters(send) {
  /** @type {Grid<ParameterRow>} */
  const grid = new Grid({
    label: "Parameters",
    empty: "No parameters.",
    key: (row) => row.name,
    columns: [
      { key: "name", title: "name", width: "minmax(130px, 2fr)", value: (r) => r.name },
      { key: "shape", title: "shape", width: "minmax(76px, 1fr)", value: (r) => r.shape },
      { key: "size", title: "size", width: "66px", number: true, value: (r) => r.size, text: (r) => formatCount(r.size) },
      { key: "dtype", title: "dtype", width: "58px", value: (r) => r.dtype },
      { key: "requires_grad", title: "requires_grad", width: "88px", value: (r) => Number(r.requires_grad), draw: drawSwitch },
      { key: "mean", title: "mean", width: "72px", number: true, value: (r) => r.mean, text: (r) => formatNumber(r.mean) },
      { key: "std", title: "std", width: "72px", number: true, value: (r) => r.std, text: (r) => formatNumber(r.std) },
      { key: "norm", title: "norm", width: "72px", number: true, value: (r) => r.norm, text: (r) => formatNumber(r.norm) },
      {
        key: "gradient_norm",
        title: "gradient norm",
        width: "92px",
        number: true,
        value: (r) => r.gradient_norm,
        text: (r) => (Number.isNaN(r.gradient_norm) ? "–" : formatNumber(r.gradient_norm)),
      },
    ],
  });
  const element = make("div", { class: "hs-view" }, [
    make("div", { class: "hs-bar" }, [grid.filter, make("span", { class: "hs-spring" }), grid.count]),
    grid.view,
  ]);
  element.addEventListener("change", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || box.type !== "checkbox") return;
    const wanted = box.checked;
    // The box shows the model: it moves when Python says so, not when it is clicked.
    box.checked = !wanted;
    box.classList.add("hs-pending");
    send({ type: "requires_grad", name: box.dataset.name ?? "", on: wanted });
  });

  /** @param {{name: string[], shape: string[], dtype: string[]}} texts @param {DataView} buffer */
  function update(texts, buffer) {
    const names = texts.name ?? [];
    const numbers = toFloat64(buffer);
    if (numbers.length !== names.length * PARAMETER_NUMBERS.length) return; // the other half is on its way
    const rows = names.map((name, k) => {
      /** @type {Record<string, number>} */
      const figures = {};
      PARAMETER_NUMBERS.forEach((key, c) => (figures[key] = numbers[c * names.length + k]));
      const shape = texts.shape[k];
      const dtype = texts.dtype[k];
      const row = { ...figures, name, shape, dtype, requires_grad: figures.requires_grad > 0, search: `${name} ${shape} ${dtype}`.toLowerCase() };
      return /** @type {ParameterRow} */ (/** @type {unknown} */ (row));
    });
    grid.setRows(rows);
  }

  return { element, update, draw: () => grid.schedule(), destroy: () => grid.destroy() };
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
