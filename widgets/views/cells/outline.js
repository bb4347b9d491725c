// The visible rows of a tree, in depth-first order, with their depths and their expanded or collapsed states.

/** Maximum number of initially visible rows; whole levels are expanded up to this number. */
const OPEN_ROWS = 40;

export class Outline {
  constructor() {
    /** @type {number[][]} */
    this.children = [];
    /** @type {number[]} */
    this.parents = [];
    /** @type {number[]} */
    this.roots = [];
    /** The visible rows from top to bottom, always ascending. @type {number[]} */
    this.lines = [];
    /** @type {Set<number>} */
    this.expansion = new Set();
  }

  /** Start over with other rows. @param {number[]} depths */
  set(depths) {
    /** @type {number[]} */
    const trail = [];
    this.roots = [];
    this.children = depths.map(() => []);
    this.parents = depths.map(() => -1);
    depths.forEach((depth, index) => {
      while (trail.length && depths[trail[trail.length - 1]] >= depth) trail.pop();
      if (trail.length) {
        this.parents[index] = trail[trail.length - 1];
        this.children[this.parents[index]].push(index);
      } else this.roots.push(index);
      trail.push(index);
    });
    this.expansion.clear();
    let level = this.roots;
    let rows = level.length;
    for (let first = true; level.length; first = false) {
      const below = level.flatMap((index) => this.children[index]);
      rows += below.length;
      if (rows > OPEN_ROWS && !first) break;
      for (const index of level) this.expansion.add(index);
      level = below;
    }
    this.#arrange();
  }

  #arrange() {
    this.lines = [];
    for (let index = 0; index < this.parents.length; index++) {
      const parent = this.parents[index];
      if (parent < 0 || (this.expansion.has(parent) && this.positionOf(parent) >= 0)) this.lines.push(index);
    }
  }

  /** Return the position of a row among the visible ones, or -1. @param {number} index */
  positionOf(index) {
    let low = 0;
    let high = this.lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.lines[middle] < index) low = middle + 1;
      else high = middle;
    }
    return this.lines[low] === index ? low : -1;
  }

  /** Expand or collapse a row; return whether that changed the tree. @param {number} index @param {boolean} on */
  setOpen(index, on) {
    if (!this.children[index]?.length || on === this.expansion.has(index)) return false;
    if (on) this.expansion.add(index);
    else this.expansion.delete(index);
    this.#arrange();
    return true;
  }

  /** Expand all ancestors of a row. @param {number} index */
  uncover(index) {
    for (let at = this.parents[index]; at >= 0; at = this.parents[at]) this.expansion.add(at);
    this.#arrange();
  }

  /** @param {number} index @param {number} outer */
  isInside(index, outer) {
    for (let at = this.parents[index]; at >= 0; at = this.parents[at]) if (at === outer) return true;
    return false;
  }

  /** Return the siblings of a row, including itself. @param {number} index */
  siblings(index) {
    return this.parents[index] < 0 ? this.roots : this.children[this.parents[index]];
  }
}
