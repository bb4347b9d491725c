// The statistics of the cells' values as Python sends them, their descriptions, and the lengths of their bars.

import { formatCount, formatNumber, toFloat64 } from "../../static/format.js";
import { FIGURE_KINDS, FIGURE_NUMBERS, FIGURE_WORDS } from "../../static/python.js";

/** @typedef {(typeof FIGURE_KINDS)[number]} Kind */
/** @typedef {Record<Exclude<(typeof FIGURE_NUMBERS)[number], "cell" | "kind" | "word">, number> & {word: (typeof FIGURE_WORDS)[number]}} Figure */

/** Minimum ratio of a scale's ends, so that nearly equal values have nearly equal bars. */
const LEAST_SPAN = 100;
/** Length of the shortest bar, relative to the longest. */
const SHORTEST = 0.08;

/** Format a statistic for its bar and its accessible name. @param {number} value */
export function shortNumber(value) {
  return formatNumber(value, 3);
}

/** Return the noun for a statistic. @param {Kind} kind @param {number} [count] elements of the value */
function nounOf(kind, count = 0) {
  if (kind === "gradient") return "gradient norm";
  return count === 1 ? "output magnitude" : "output spread";
}

/** Describe a statistic, with its noun. @param {Kind} kind @param {Figure} figure */
export function toWords(kind, { value, word, nan, inf, count, largest }) {
  const noun = nounOf(kind, count);
  if (word === "zero") return `${noun} 0: every element is zero`;
  if (word === "const") return `${noun} 0: every element is the same, of magnitude ${shortNumber(largest)}`;
  if (word === "empty") return `no ${noun}: the value has no elements`;
  if (!nan && !inf) return `${noun} ${shortNumber(value)}`;
  const faults = [nan ? `${formatCount(nan)} NaN` : "", inf ? `${formatCount(inf)} inf` : ""].filter(Boolean).join(", ");
  const rest = Number.isNaN(value) ? "no element is finite" : `${shortNumber(value)} without them`;
  return `${noun} ${word}: ${faults} of ${formatCount(count)} elements, ${rest}`;
}

export class Figures {
  constructor() {
    /** Statistics by the row in the tree. @type {Map<number, Partial<Record<Kind, Figure>>>} */
    this.byCell = new Map();
    /** The range of all known positive values. @type {Record<Kind, [number, number]>} */
    this.scales = { output: [Infinity, 0], gradient: [Infinity, 0] };
    /** The last state that was read. To read it again would restore outdated values. @type {DataView | undefined} */
    this.state = undefined;
  }

  /** Clear the statistics, after the rows changed. */
  clear() {
    this.byCell.clear();
    this.state = undefined;
  }

  /** Read the state that Python keeps; return whether it changed. @param {DataView} buffer */
  readState(buffer) {
    if (buffer === this.state) return false;
    this.state = buffer;
    this.read(buffer);
    return true;
  }

  /** Read a message from Python; rows out of view keep their values. @param {DataView} buffer */
  read(buffer) {
    const numbers = toFloat64(buffer);
    const count = numbers.length / FIGURE_NUMBERS.length;
    for (let k = 0; k < count; k++) {
      const [cell, kind, step, value, word, nan, inf, elements, largest] = FIGURE_NUMBERS.map((_, c) => numbers[c * count + k]);
      const figuresOfCell = this.byCell.get(cell) ?? {};
      figuresOfCell[FIGURE_KINDS[kind]] = { step, value, word: FIGURE_WORDS[word], nan, inf, count: elements, largest };
      this.byCell.set(cell, figuresOfCell);
    }
    for (const kind of FIGURE_KINDS) this.scales[kind] = this.#scale(kind);
  }

  /** @param {Kind} kind @returns {[number, number]} */
  #scale(kind) {
    let [low, high] = [Infinity, 0];
    for (const { [kind]: figure } of this.byCell.values()) {
      if (!figure || !(figure.value > 0)) continue;
      low = Math.min(low, figure.value);
      high = Math.max(high, figure.value);
    }
    return [low, high];
  }

  /** Return the length of a bar, from 0 to 1, on a logarithmic scale. @param {Kind} kind @param {Figure} figure */
  length(kind, { value }) {
    if (!(value > 0)) return 0;
    const [low, high] = this.scales[kind];
    const bottom = Math.log(Math.min(low, high / LEAST_SPAN));
    const share = (Math.log(value) - bottom) / (Math.log(high) - bottom);
    return SHORTEST + (1 - SHORTEST) * Math.min(1, Math.max(0, share));
  }

  /** Describe the scale of the bars of a kind; "" if there are none. @param {Kind} kind */
  legend(kind) {
    const [low, high] = this.scales[kind];
    if (!(high > 0)) return "";
    return `${nounOf(kind)}: the bars are logarithmic, of ${formatNumber(low)} to ${formatNumber(high)}`;
  }
}
