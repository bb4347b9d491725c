// The findings in each cell, and in the descendants of a collapsed one.

/** @typedef {{times: number, worst: string}} Here The number of findings in a cell, and the worst condition's name. */
/** @typedef {Here & {cells: number, at: number}} Below The same for its descendants, with the number of affected cells and the row of the worst finding. */

export class Found {
  constructor() {
    /** Findings by path. @type {Map<string, Here>} */
    this.here = new Map();
    /** Findings in descendants, by the row in the tree. @type {Map<number, Below>} */
    this.below = new Map();
    /** Ranks by path; the worst cell has rank 0. @type {Map<string, number>} */
    this.ranks = new Map();
  }

  /** @param {Partial<import("../../static/python.js").Conditions>} now */
  read({ cells = [] }) {
    this.here = new Map(cells.map(([path, times, worst]) => [path, { times, worst }]));
    this.ranks = new Map(cells.map(([path], place) => [path, place]));
  }

  /** @param {string} path */
  #rank(path) {
    return this.ranks.get(path) ?? Infinity;
  }

  /** Collect the findings in each row's descendants. @param {import("./cells.js").CellNode[]} nodes @param {number[]} parents */
  gather(nodes, parents) {
    this.below.clear();
    if (!this.here.size) return;
    nodes.forEach(({ path }, at) => {
      const found = this.here.get(path);
      if (!found) return;
      for (let outer = parents[at]; outer >= 0; outer = parents[outer]) {
        const sum = this.below.get(outer) ?? { times: 0, cells: 0, worst: found.worst, at };
        sum.times += found.times;
        sum.cells += 1;
        if (this.#rank(path) < this.#rank(nodes[sum.at].path)) [sum.worst, sum.at] = [found.worst, at];
        this.below.set(outer, sum);
      }
    });
  }
}
