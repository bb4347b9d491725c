// The page's captures, received as columns of texts and of numbers and converted to rows.

import { toFloat64 } from "../../static/format.js";
import { CAPTURE_NUMBERS, CAPTURE_TEXTS } from "../../static/python.js";
import { Calls } from "./calls.js";

/**
 * @typedef {Record<Exclude<(typeof CAPTURE_NUMBERS)[number], "known">, number> & Record<(typeof CAPTURE_TEXTS)[number], string>
 *   & {known: boolean, never: boolean, given: boolean, search: string}} CaptureRow
 */

export class CaptureRows {
  constructor() {
    /** In run order. @type {CaptureRow[]} */
    this.all = [];
    /** @type {Map<number, CaptureRow>} */
    this.byIndex = new Map();
    this.calls = new Calls();
    /** @type {number[]} */
    this.steps = [];
    /** The conditions that held in each step. @type {Map<number, Set<string>>} */
    this.held = new Map();
  }

  /** Add new captures, and remove those that Python has evicted. @param {import("../../static/python.js").NewCaptures} message @param {DataView} buffer */
  add(message, buffer) {
    if (message.reset) {
      this.all = [];
      this.byIndex.clear();
      this.calls.clear();
    }
    eachRow(toFloat64(buffer), message.count, (numbers, k) => {
      const texts = Object.fromEntries(CAPTURE_TEXTS.map((name) => [name, message.columns[name][k]]));
      const row = /** @type {CaptureRow} */ (/** @type {unknown} */ ({ ...numbers, ...texts, ...asFar(numbers.known) }));
      row.search = `${row.cell} #${row.call} ${row.direction} ${row.slot} ${row.context} ${row.shape} ${row.dtype} ${row.origin} ${row.hits}`.toLowerCase();
      this.all.push(row);
      this.byIndex.set(row.index, row);
      this.calls.add(row);
    });
    const firstRetained = this.all.findIndex((row) => row.index >= message.oldest);
    for (const row of this.all.splice(0, firstRetained < 0 ? this.all.length : firstRetained)) {
      this.byIndex.delete(row.index);
      this.calls.remove(row);
    }
    this.all.forEach((row, k) => (row.given = k < message.given_up));
    this.#readSteps();
  }

  #readSteps() {
    this.steps = [...new Set(this.all.map((row) => row.step))].sort((a, b) => a - b);
    this.held.clear();
    for (const row of this.all) {
      if (!row.hits) continue;
      const names = this.held.get(row.step) ?? new Set();
      for (const name of row.hits.split(", ")) names.add(name);
      this.held.set(row.step, names);
    }
  }

  /** Add requested statistics. @param {DataView} buffer */
  addStatistics(buffer) {
    const numbers = toFloat64(buffer);
    eachRow(numbers, numbers.length / CAPTURE_NUMBERS.length, (figures) => {
      const row = this.byIndex.get(figures.index);
      if (row) Object.assign(row, figures, asFar(figures.known));
    });
  }

  /** Return the capture of the same value in another step. @param {CaptureRow} row @param {number} step */
  inStep(row, step) {
    const keyOf = (/** @type {CaptureRow} */ candidate) => `${candidate.path} ${candidate.call} ${candidate.direction} ${candidate.slot} ${candidate.context}`;
    return this.all.find((candidate) => candidate.step === step && keyOf(candidate) === keyOf(row));
  }
}

/** @param {Float64Array} numbers @param {number} count @param {(row: Record<string, number>, k: number) => void} each */
function eachRow(numbers, count, each) {
  for (let k = 0; k < count; k++) each(Object.fromEntries(CAPTURE_NUMBERS.map((name, c) => [name, numbers[c * count + k]])), k);
}

/** Return whether a row's statistics are known, or never will be, from feed.py's single number. @param {number} known */
function asFar(known) {
  return { known: known > 0, never: known < 0 };
}
