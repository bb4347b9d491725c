// The parameters as Python sends them: names and shapes once, then statistics, and a history of those in view.

import { toFloat64 } from "../../static/format.js";
import { FIGURES } from "../../static/python.js";

/**
 * @typedef {Record<(typeof FIGURES)[number], number> & {name: string, shape: string, dtype: string, size: number,
 *   requires_grad: boolean, running: boolean, shared: string, unusual: string, known: boolean, search: string,
 *   history: {steps: Float64Array, values: Float64Array} | undefined}} ParameterRow
 */

const NOT_KNOWN = { known: false, mean: NaN, std: NaN, minimum: NaN, maximum: NaN, norm: NaN, gradient_norm: NaN, update_ratio: NaN, nan: 0, inf: 0 };
/** Numbers per parameter: requires_grad, size, whether it is a running statistic. */
const NUMBERS = 3;

/**
 * Return the rows of these parameters, reused if the names are the same; null if half of the data is missing.
 * @param {ParameterRow[]} before @param {Partial<import("../../static/python.js").ParameterTexts>} texts @param {DataView} buffer
 */
export function readRows(before, { name: names = [], shape: shapes = [], dtype: dtypes = [], shared = {} }, buffer) {
  const numbers = toFloat64(buffer);
  if (numbers.length !== NUMBERS * names.length) return null;
  const same = names.length === before.length && names.every((name, k) => name === before[k].name);
  /** @type {ParameterRow[]} */
  const rows = same ? before : names.map((name, position) => ({ ...NOT_KNOWN, position, name, shape: "", dtype: "", shared: "", unusual: "", search: "", size: 0, requires_grad: false, running: false, history: undefined }));
  rows.forEach((row, k) => {
    [row.shape, row.dtype, row.shared] = [shapes[k] ?? "", dtypes[k] ?? "", shared[k] ?? ""];
    row.requires_grad = numbers[k] > 0;
    row.size = numbers[names.length + k];
    row.running = numbers[2 * names.length + k] > 0;
    row.search = `${row.name} ${row.shape} ${row.dtype} ${row.shared} ${isFrozen(row) ? "frozen" : ""}`.toLowerCase();
  });
  return rows;
}

/** Copy statistics and histories into their rows. @param {ParameterRow[]} rows @param {DataView[]} buffers @param {import("../../static/python.js").ParameterFigures} message @param {boolean} withHistory whether the first rows receive histories */
export function addFigures(rows, [figures, histories], message, withHistory) {
  const numbers = toFloat64(figures);
  const points = toFloat64(histories);
  const count = numbers.length / FIGURES.length;
  let at = 0;
  for (let k = 0; k < count; k++) {
    const row = rows[numbers[k]];
    if (!row) continue;
    FIGURES.forEach((name, c) => (row[name] = numbers[c * count + k]));
    row.known = true;
    row.unusual = message.unusual[row.position] ?? "";
    const length = points[at];
    if (withHistory && k < message.with_history) row.history = { steps: points.slice(at + 1, at + 1 + length), values: points.slice(at + 1 + length, at + 1 + 2 * length) };
    at += 1 + 2 * length;
  }
}

/** Return whether a row is a weight that is not trained. @param {ParameterRow} row */
export const isFrozen = (row) => !row.requires_grad && !row.running;

/** Describe the nonfinite elements of a parameter; "" if there are none. @param {ParameterRow} row */
export function faultsOf(row) {
  return [row.nan ? `${row.nan} NaN` : "", row.inf ? `${row.inf} inf` : ""].filter(Boolean).join(", ");
}

/** Return the notes about a parameter. @param {ParameterRow} row */
export function notesOf(row) {
  const faults = faultsOf(row);
  return [
    row.shared,
    isFrozen(row) ? "frozen: requires_grad is False" : "",
    row.running ? "a running statistic: its cell keeps it, no gradient trains it" : "",
    faults ? `${faults} among its ${row.size} elements` : "",
    row.unusual,
  ].filter(Boolean);
}
