// The parameters as Python sends them: names and shapes once, then figures, and a history of those in view.

import { toFloat64 } from "../../static/format.js";
import { FIGURES } from "../../static/python.js";

/**
 * @typedef {Record<(typeof FIGURES)[number], number> & {name: string, shape: string, dtype: string, size: number,
 *   requires_grad: boolean, known: boolean, search: string,
 *   history: {steps: Float64Array, values: Float64Array} | undefined}} ParameterRow
 */

const NOT_KNOWN = { known: false, mean: NaN, std: NaN, minimum: NaN, maximum: NaN, norm: NaN, gradient_norm: NaN, update_ratio: NaN, nan: 0, inf: 0 };

/**
 * The rows of these parameters, the ones there were if the names are the same; null if half of them is on its way.
 * @param {ParameterRow[]} before @param {Partial<import("../../static/python.js").ParameterTexts>} texts @param {DataView} buffer
 */
export function readRows(before, { name: names = [], shape: shapes = [], dtype: dtypes = [] }, buffer) {
  const numbers = toFloat64(buffer);
  if (numbers.length !== 2 * names.length) return null;
  const same = names.length === before.length && names.every((name, k) => name === before[k].name);
  /** @type {ParameterRow[]} */
  const rows = same ? before : names.map((name, position) => {
    const [shape, dtype] = [shapes[position] ?? "", dtypes[position] ?? ""];
    return { ...NOT_KNOWN, position, name, shape, dtype, search: `${name} ${shape} ${dtype}`.toLowerCase(), size: 0, requires_grad: false, history: undefined };
  });
  rows.forEach((row, k) => {
    row.requires_grad = numbers[k] > 0;
    row.size = numbers[names.length + k];
  });
  return rows;
}

/** Put figures and histories into their rows. @param {ParameterRow[]} rows @param {DataView[]} buffers @param {number} withHistory so many of the first take one */
export function addFigures(rows, [figures, histories], withHistory) {
  const numbers = toFloat64(figures);
  const points = toFloat64(histories);
  const count = numbers.length / FIGURES.length;
  let at = 0;
  for (let k = 0; k < count; k++) {
    const row = rows[numbers[k]];
    if (!row) continue;
    FIGURES.forEach((name, c) => (row[name] = numbers[c * count + k]));
    row.known = true;
    const length = points[at];
    if (k < withHistory) row.history = { steps: points.slice(at + 1, at + 1 + length), values: points.slice(at + 1 + length, at + 1 + 2 * length) };
    at += 1 + 2 * length;
  }
}
