// Which rows a table shows, and in which order: filtered, sorted by a column, or in groups with a heading each.

/** A line above the rows of a group. @template Row */
export class Heading {
  /** @param {Row[]} rows */
  constructor(rows) {
    this.rows = rows;
  }
}

/** The rows that have all terms in their `search`. @template {{search: string}} Row @param {Row[]} rows @param {((row: Row) => boolean) | null} only @param {string[]} terms */
export function chosen(rows, only, terms) {
  const there = only ? rows.filter(only) : rows;
  return terms.length ? there.filter((row) => terms.every((term) => row.search.includes(term))) : there;
}

/** @template Row @param {Row[]} rows @param {(row: Row) => string | number} value @param {number} direction 1 or -1 */
export function sorted(rows, value, direction) {
  return [...rows].sort((a, b) => direction * compare(value(a), value(b)));
}

/** Put a heading before the rows of each group; groups stand in the order of their first rows. @template Row @param {Row[]} rows @param {(row: Row) => string} key @returns {(Row | Heading<Row>)[]} */
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

/** The least range of a column, in decades, over which its tints go from none to all: noise is not made to look big. */
const LEAST_DECADES = 1;

/**
 * How strong the tint of a magnitude is among the others of its column, from 0 to 1, by its logarithm.
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
 * Order two values of a column; what is not a number yet comes last in ascending order.
 * @param {string | number} a
 * @param {string | number} b
 */
function compare(a, b) {
  if (typeof a === "string" || typeof b === "string") return String(a).localeCompare(String(b), undefined, { numeric: true });
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  if (Number.isNaN(b)) return -1;
  return a - b;
}
