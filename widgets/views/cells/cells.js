// The cells as Python sends them: a table of texts and numbers for constant properties, and a few bytes per cell for
// its switches. Rows read them when they are drawn.

import { toFloat64 } from "../../static/format.js";
import { CELL_STATES, HOOK_KINDS, MOMENTS } from "../../static/python.js";

/** @typedef {(typeof HOOK_KINDS)[number]} HookKind */
/**
 * @typedef {{path: string, label: string, name: string, type: string, depth: number, parameters: number,
 *   shape: string, shared: {mark: string, told: string, counted: string} | null}} CellNode
 * @typedef {{training: boolean, has_bprop: boolean, breaks: string[], hooks: Record<HookKind, number>,
 *   attached: HookKind[]}} CellState
 */

export class Cells {
  constructor() {
    /** @type {CellNode[]} */
    this.nodes = [];
    /** @type {Uint8Array} */
    this.states = new Uint8Array(0);
    this.signature = "";
    /** @type {unknown[]} */
    this.last = [];
  }

  /**
   * Read a message from Python. Return "same" without new data, "state" if only the switches changed, or else "cells".
   * @param {Partial<import("../../static/python.js").Tree>} texts
   * @param {DataView} numbers
   * @param {DataView} states
   * @returns {"same" | "state" | "cells"}
   */
  read(texts, numbers, states) {
    const now = [texts, numbers, states];
    if (now.every((part, k) => part === this.last[k])) return "same";
    const { paths, types = [], shapes = [], shared = [] } = texts;
    if (!paths) return "same"; // no data yet
    if (numbers.byteLength !== 32 * paths.length || states.byteLength !== CELL_STATES.length * paths.length) return "same"; // the rest will follow
    this.states = new Uint8Array(states.buffer, states.byteOffset, states.byteLength);
    const isUnchanged = texts === this.last[0] && numbers === this.last[1];
    this.last = now;
    if (isUnchanged) return "state";
    const count = paths.length;
    const columns = toFloat64(numbers);
    this.nodes = paths.map((path, k) => {
      const type = types[columns[count + k]];
      const name = path.slice(path.lastIndexOf(".") + 1) || type;
      return { path, label: path || "(root)", name, type, depth: columns[k], shape: shapes[columns[2 * count + k]], parameters: columns[3 * count + k], shared: null };
    });
    for (const [at, mark, told, counted] of shared) this.nodes[at].shared = { mark, told, counted };
    const signature = this.nodes.map(({ depth, path, type }, k) => `${depth} ${path} ${type} ${this.states[count + k]}`).join("\n");
    if (signature === this.signature) return "state";
    this.signature = signature;
    return "cells";
  }

  /** @param {number} index @param {(typeof CELL_STATES)[number]} name */
  #byte(index, name) {
    return this.states[CELL_STATES.indexOf(name) * this.nodes.length + index];
  }

  /** Return the state of a cell's switches. @param {number} index @returns {CellState} */
  state(index) {
    const [breaks, attached] = [this.#byte(index, "breaks"), this.#byte(index, "attached")];
    return {
      training: this.#byte(index, "training") > 0,
      has_bprop: this.#byte(index, "has_bprop") > 0,
      breaks: MOMENTS.filter((_, k) => (breaks >> k) & 1),
      attached: HOOK_KINDS.filter((_, k) => (attached >> k) & 1),
      hooks: /** @type {Record<HookKind, number>} */ (Object.fromEntries(HOOK_KINDS.map((kind) => [kind, this.#byte(index, kind)]))),
    };
  }

  /** Return the index of a cell, given by its path or by its name in captures, or -1. @param {string} cell */
  indexOf(cell) {
    return this.nodes.findIndex((node) => node.path === cell || node.label === cell);
  }
}
