// The captures by calls: inputs and outputs of a cell share a line; forward and backward are separate.

/** @typedef {import("./rows.js").CaptureRow} CaptureRow */
/**
 * @typedef {{key: number, step: number, path: string, cell: string, call: number, direction: string, context: string,
 *   group: string, search: string, parts: [CaptureRow | null, CaptureRow | null]}} Line
 *   The inputs and outputs of a call; the second of several inputs shares a line with the second output.
 */
/** @typedef {{sides: [CaptureRow[], CaptureRow[]], lines: Line[] | null}} Call */

/** Indices of the parts of a line. */
const IN = 0;
export const OUT = 1;

/** @param {CaptureRow} row */
function sideOf({ slot, direction }) {
  return slot.startsWith(direction === "backward" ? "grad_output" : "input") ? IN : OUT;
}

/** Return the key of a row's call; captures by hooks are separate, since they repeat the call's own captures, possibly modified. @param {CaptureRow} row */
function callOf(row) {
  return JSON.stringify([row.step, row.path, row.call, row.direction, row.context, row.origin === "hook"]);
}

/** @param {Call} call @returns {Line[]} */
function linesOf({ sides: [inputs, outputs] }) {
  return Array.from({ length: Math.max(inputs.length, outputs.length) }, (_, k) => {
    /** @type {Line["parts"]} */
    const parts = [inputs[k] ?? null, outputs[k] ?? null];
    const there = parts.flatMap((part) => part ?? []);
    const { index, step, path, cell, call, direction, context } = there[0];
    return { key: index, step, path, cell, call, direction, context, group: `${step} ${path}`, search: there.map((entry) => entry.search).join(" "), parts };
  });
}

export class Calls {
  constructor() {
    /** In run order. @type {Map<string, Call>} */
    this.byName = new Map();
    /** @type {Line[] | null} */
    this.cachedLines = null;
  }

  clear() {
    this.byName.clear();
    this.cachedLines = null;
  }

  /** @param {CaptureRow} row */
  add(row) {
    const name = callOf(row);
    const call = this.byName.get(name) ?? { sides: [[], []], lines: null };
    call.sides[sideOf(row)].push(row);
    call.lines = null;
    this.byName.set(name, call);
    this.cachedLines = null;
  }

  /** Remove a capture that is no longer kept. @param {CaptureRow} row */
  remove(row) {
    const name = callOf(row);
    const call = this.byName.get(name);
    if (!call) return;
    const side = sideOf(row);
    call.sides[side] = call.sides[side].filter((entry) => entry !== row);
    call.lines = null;
    if (!call.sides[IN].length && !call.sides[OUT].length) this.byName.delete(name);
    this.cachedLines = null;
  }

  lines() {
    this.cachedLines ??= [...this.byName.values()].flatMap((call) => (call.lines ??= linesOf(call)));
    return this.cachedLines;
  }
}
