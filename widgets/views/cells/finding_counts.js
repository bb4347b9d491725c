// The findings in each cell, and in the descendants of a collapsed one.

/** @typedef {{times: number, worst: string}} CellCount The number of findings in a cell, and the worst condition's name. */
/** @typedef {CellCount & {cells: number, at: number}} DescendantCount The same for its descendants, with the number of affected cells and the row of the worst finding. */

export class FindingCounts {
  constructor() {
    /** Findings by path. @type {Map<string, CellCount>} */
    this.byPath = new Map();
    /** Findings in descendants, by the row in the tree. @type {Map<number, DescendantCount>} */
    this.below = new Map();
    /** Ranks by path; the worst cell has rank 0. @type {Map<string, number>} */
    this.ranks = new Map();
  }

  /** @param {Partial<import("../../static/python.js").Conditions>} now */
  update({ cells = [] }) {
    this.byPath = new Map(cells.map(([path, times, worst]) => [path, { times, worst }]));
    this.ranks = new Map(cells.map(([path], rank) => [path, rank]));
  }

  /** @param {string} path */
  #rank(path) {
    return this.ranks.get(path) ?? Infinity;
  }

  /** Collect the findings in each row's descendants. @param {import("./cells.js").CellNode[]} nodes @param {number[]} parents */
  sumDescendants(nodes, parents) {
    this.below.clear();
    if (!this.byPath.size) return;
    nodes.forEach(({ path }, at) => {
      const count = this.byPath.get(path);
      if (!count) return;
      for (let ancestor = parents[at]; ancestor >= 0; ancestor = parents[ancestor]) {
        const sum = this.below.get(ancestor) ?? { times: 0, cells: 0, worst: count.worst, at };
        sum.times += count.times;
        sum.cells += 1;
        if (this.#rank(path) < this.#rank(nodes[sum.at].path)) [sum.worst, sum.at] = [count.worst, at];
        this.below.set(ancestor, sum);
      }
    });
  }
}
