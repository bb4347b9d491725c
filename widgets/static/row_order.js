// The rows that a table shows, and their order: filtered, sorted by a column, or in groups with headings.

/** A line above the rows of a group. @template Row */
export class Heading {
  /** @param {Row[]} rows */
  constructor(rows) {
    this.rows = rows;
  }
}

/** Return the rows whose `search` contains all terms. @template {{search: string}} Row @param {Row[]} rows @param {((row: Row) => boolean) | null} predicate @param {string[]} terms */
export function filtered(rows, predicate, terms) {
  const candidates = predicate ? rows.filter(predicate) : rows;
  return terms.length ? candidates.filter((row) => terms.every((term) => row.search.includes(term))) : candidates;
}

/** @template Row @param {Row[]} rows @param {(row: Row) => string | number} value @param {number} direction 1 or -1 */
export function sorted(rows, value, direction) {
  return [...rows].sort((a, b) => direction * compare(value(a), value(b)));
}

/** Insert a heading before the rows of each group; groups are ordered by their first rows. @template Row @param {Row[]} rows @param {(row: Row) => string} key @returns {(Row | Heading<Row>)[]} */
export function grouped(rows, key) {
  /** @type {Map<string, Heading<Row>>} */
  const groups = new Map();
  for (const row of rows) {
    const name = key(row);
    const group = groups.get(name);
    if (group) group.rows.push(row);
    else groups.set(name, new Heading([row]));
  }
  /** @type {(Row | Heading<Row>)[]} */
  const all = [];
  for (const group of groups.values()) {
    all.push(group);
    for (const row of group.rows) all.push(row);
  }
  return all;
}

/** Minimum range of a column, in decades, for its tints to span the full scale, so that noise is not exaggerated. */
const LEAST_DECADES = 1;

/**
 * Return a function for the tint of a magnitude within its column, from 0 to 1, by its logarithm.
 * @param {number[]} values all of them
 * @returns {(value: number) => number}
 */
export function tints(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    const size = Math.log10(Math.abs(value));
    if (!Number.isFinite(size)) continue;
    if (size < low) low = size;
    if (size > high) high = size;
  }
  const range = Math.max(LEAST_DECADES, high - low);
  return (value) => {
    const size = Math.log10(Math.abs(value));
    return Number.isFinite(size) ? (size - low) / range : 0;
  };
}

/**
 * Compare two values of a column; missing numbers (NaN) come last in ascending order.
 * @param {string | number} a
 * @param {string | number} b
 */
function compare(a, b) {
  if (typeof a === "string" || typeof b === "string") return String(a).localeCompare(String(b), undefined, { numeric: true });
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  if (Number.isNaN(b)) return -1;
  return a - b;
}
