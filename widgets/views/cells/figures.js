// The figures of the cells' values as Python sends them, what they are in words, and how long their bars are.

import { formatCount, formatNumber, toFloat64 } from "../../static/format.js";
import { FIGURE_KINDS, FIGURE_NUMBERS, FIGURE_WORDS } from "../../static/python.js";

/** @typedef {(typeof FIGURE_KINDS)[number]} Kind */
/** @typedef {Record<Exclude<(typeof FIGURE_NUMBERS)[number], "cell" | "kind" | "word">, number> & {word: (typeof FIGURE_WORDS)[number]}} Figure */

/** A scale spans at least this ratio: figures that are nearly the same have bars that are. */
const LEAST_SPAN = 100;
/** A bar of the smallest figure is so long, of 1: it is not nothing. */
const SHORTEST = 0.08;

/** A figure as it is written at its bar, and in its name. @param {number} value */
export function shortNumber(value) {
  return formatNumber(value, 3);
}

/** What a figure is called. @param {Kind} kind @param {number} [count] elements of the value */
export function nounOf(kind, count = 0) {
  if (kind === "gradient") return "gradient norm";
  return count === 1 ? "output magnitude" : "output spread";
}

/** A figure in words, with its noun. @param {Kind} kind @param {Figure} figure */
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
    /** By the row of the tree. @type {Map<number, Partial<Record<Kind, Figure>>>} */
    this.known = new Map();
    /** The least and the largest figure above zero of all that are known. @type {Record<Kind, [number, number]>} */
    this.scales = { output: [Infinity, 0], gradient: [Infinity, 0] };
    /** The state that was read last: read again it would put older figures back. @type {DataView | undefined} */
    this.state = undefined;
  }

  /** The tree has other rows. */
  clear() {
    this.known.clear();
    this.state = undefined;
  }

  /** Take the state that Python keeps; returns whether it is another. @param {DataView} buffer */
  readState(buffer) {
    if (buffer === this.state) return false;
    this.state = buffer;
    this.read(buffer);
    return true;
  }

  /** Take what Python sent; rows that are out of sight keep what they had. @param {DataView} buffer */
  read(buffer) {
    const numbers = toFloat64(buffer);
    const count = numbers.length / FIGURE_NUMBERS.length;
    for (let k = 0; k < count; k++) {
      const [cell, kind, step, value, word, nan, inf, elements, largest] = FIGURE_NUMBERS.map((_, c) => numbers[c * count + k]);
      const here = this.known.get(cell) ?? {};
      here[FIGURE_KINDS[kind]] = { step, value, word: FIGURE_WORDS[word], nan, inf, count: elements, largest };
      this.known.set(cell, here);
    }
    for (const kind of FIGURE_KINDS) this.scales[kind] = this.#scale(kind);
  }

  /** @param {Kind} kind @returns {[number, number]} */
  #scale(kind) {
    let [low, high] = [Infinity, 0];
    for (const { [kind]: figure } of this.known.values()) {
      if (!figure || !(figure.value > 0)) continue;
      low = Math.min(low, figure.value);
      high = Math.max(high, figure.value);
    }
    return [low, high];
  }

  /** How long the bar of a figure is, from 0 to 1, by its logarithm. @param {Kind} kind @param {Figure} figure */
  length(kind, { value }) {
    if (!(value > 0)) return 0;
    const [low, high] = this.scales[kind];
    const bottom = Math.log(Math.min(low, high / LEAST_SPAN));
    const place = (Math.log(value) - bottom) / (Math.log(high) - bottom);
    return SHORTEST + (1 - SHORTEST) * Math.min(1, Math.max(0, place));
  }

  /** What the bars of a kind stand for, or "" while there is none. @param {Kind} kind */
  legend(kind) {
    const [low, high] = this.scales[kind];
    if (!(high > 0)) return "";
    return `${nounOf(kind)}: the bars are logarithmic, of ${formatNumber(low)} to ${formatNumber(high)}`;
  }
}
