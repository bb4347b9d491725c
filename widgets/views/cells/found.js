// What was found in each cell, and of a shut one what was found in the cells inside.

/** @typedef {{times: number, worst: string}} Here How often conditions held in a cell, and the worst one's name. */
/** @typedef {Here & {cells: number, at: number}} Below The same for the cells inside: in how many, and the row with the worst. */

export class Found {
  constructor() {
    /** By path. @type {Map<string, Here>} */
    this.here = new Map();
    /** By the row of the tree. @type {Map<number, Below>} */
    this.below = new Map();
    /** By path, from the worst on. @type {Map<string, number>} */
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

  /** Gather for each row what is inside it. @param {import("./cells.js").CellNode[]} nodes @param {number[]} parents */
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
