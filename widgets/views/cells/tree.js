// The cell tree: the network's cells, each with two statistics of its values, its findings and its controls. Only the
// rows in view are elements, so that the tree can show ten thousand expanded cells.

import { closest, make, setAttribute, setText } from "../../static/dom.js";
import { formatCount } from "../../static/format.js";
import { CellItem } from "./cell_item.js";
import { Cells } from "./cells.js";
import { Figures } from "./figures.js";
import { FindingCounts } from "./finding_counts.js";
import { Outline } from "./outline.js";
import { createSearch, nextMatch } from "./search.js";
import { TrendWindow } from "./trend.js";

/** @typedef {import("./figures.js").Kind} Kind */

const HOOK_TITLES = ["fwd pre", "fwd", "bwd pre", "bwd"];
/** Height of a row in CSS pixels; tree.css uses the same through --hs-cell-height. */
const CELL_HEIGHT = 28;
/** Number of extra rows drawn above and below the view. */
const MARGIN = 4;
/** Delay in milliseconds between a scroll and the report of the rows in view. */
const SETTLE = 60;

class Tree {
  /** @param {import("../../static/types.js").Send} send @param {import("../../static/types.js").Go} go */
  constructor(send, go) {
    this.send = send;
    this.go = go;
    this.cells = new Cells();
    this.outline = new Outline();
    /** The current elements, by index of their node. @type {Map<number, CellItem>} */
    this.items = new Map();
    this.findingCounts = new FindingCounts();
    this.figures = new Figures();
    this.reportedRows = ""; // the rows in view, as last reported to Python
    this.timer = 0;
    /** @type {number[]} */
    this.matches = [];
    this.current = 0;
    this.requestedCell = ""; // a cell to select as soon as it arrives
    this.list = make("ul", { class: "hs-tree", role: "tree", "aria-label": "Cell tree" });
    /** @type {[Kind, HTMLElement][]} */
    this.legends = [
      ["output", make("span", {}, [make("span", { class: "hs-wide", text: "output " }), "spread"])],
      ["gradient", make("span", {}, ["grad", make("span", { class: "hs-wide", text: "ient norm" })])],
    ];
    this.head = make("div", { class: "hs-cell hs-cell-head", "aria-hidden": "true" }, [
      make("span", { text: "cell" }),
      make("span", { text: "worst finding" }),
      ...this.legends.map(([, legend]) => legend),
      make("span", { class: "hs-number", text: "parameters" }),
      make("span", { text: "output" }),
      ...HOOK_TITLES.map((title) => make("span", { class: "hs-center", text: title })),
      make("span", { class: "hs-center", text: "train" }),
      make("span", { text: "pause at" }),
    ]);
    this.empty = make("p", { class: "hs-empty", text: "Waiting for the kernel." });
    this.scroller = make("div", { class: "hs-scroll hs-cells", onscroll: () => this.draw() }, [this.head, this.list, this.empty]);
    this.search = createSearch((by) => this.#find(by));
    this.total = make("span", { class: "hs-count" });
    this.bar = make("div", { class: "hs-bar" }, [...this.search.elements, make("span", { class: "hs-spring" }), this.total]);
    this.trend = new TrendWindow(send, (bar) => this.#figureOf(bar));
    this.element = make("div", { class: "hs-view" }, [this.bar, this.scroller, this.trend.element]);
    this.resize = new ResizeObserver(() => this.draw());
    this.resize.observe(this.scroller);
    this.list.addEventListener("click", (event) => this.#clicked(event));
    this.list.addEventListener("change", (event) => this.#changed(event));
    this.list.addEventListener("focusin", (event) => this.#focused(event));
    this.list.addEventListener("keydown", (event) => this.#keyed(event));
    this.trend.follow(this.list);
  }

  /** Return the subject of a bar, or null if the bar is gone. @param {HTMLElement} bar */
  #figureOf(bar) {
    const index = Number(closest(bar, '[role="treeitem"]')?.dataset.index ?? -1);
    const kind = /** @type {Kind} */ (bar.dataset.kind);
    const figure = this.figures.byCell.get(index)?.[kind];
    const node = this.cells.nodes[index];
    return node && figure ? { path: node.path, label: node.label, kind, figure } : null;
  }

  /** @param {number} index */
  #build(index) {
    const siblings = this.outline.siblings(index);
    const among = { position: siblings.indexOf(index) + 1, of: siblings.length };
    return new CellItem(index, this.cells.nodes[index], this.cells.state(index).has_bprop, among, Boolean(this.go.findings));
  }

  /** @param {CellItem} item */
  #update(item) {
    const { nodes } = this.cells;
    const node = nodes[item.index];
    const { children, expansion, parents } = this.outline;
    const outer = parents[item.index];
    const now = this.cells.state(item.index);
    const isOpen = expansion.has(item.index);
    const below = isOpen ? undefined : this.findingCounts.below.get(item.index);
    item.update(node, now, {
      expansion: children[item.index].length ? isOpen : null,
      matches: this.matches.includes(item.index),
      differs: outer < 0 || this.cells.state(outer).training !== now.training,
      here: this.findingCounts.byPath.get(node.path),
      below,
      worstBelow: below ? nodes[below.at].label : "",
      figures: this.figures,
    });
  }

  /** Return the rows in view, and always the current one, so that it keeps the focus. */
  #inSight() {
    const top = Math.max(0, this.scroller.scrollTop);
    const first = Math.max(0, Math.floor(top / CELL_HEIGHT) - MARGIN);
    const last = Math.ceil((top + this.scroller.clientHeight) / CELL_HEIGHT) + MARGIN;
    const position = this.outline.positionOf(this.current);
    return [
      ...(position >= 0 && position < first ? [this.current] : []),
      ...this.outline.lines.slice(first, last),
      ...(position >= last ? [this.current] : []),
    ];
  }

  draw() {
    this.list.style.height = `${this.outline.lines.length * CELL_HEIGHT}px`; // first, because the visible part depends on the height
    const visible = this.#inSight();
    const keep = new Set(visible);
    for (const [index, { element }] of this.items) {
      if (keep.has(index)) continue;
      element.remove();
      this.items.delete(index);
    }
    // Indices ascend, so the kept elements are in the right order: none moves, since that would lose the focus.
    let at = this.list.firstElementChild;
    for (const index of visible) {
      const item = this.items.get(index) ?? this.#build(index);
      this.items.set(index, item);
      this.#update(item);
      item.place(`${this.outline.positionOf(index) * CELL_HEIGHT}px`, index === this.current);
      if (item.element === at) at = at.nextElementSibling;
      else this.list.insertBefore(item.element, at);
    }
    this.trend.update();
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.#look(visible), SETTLE);
  }

  /** Tell Python the rows that need statistics. @param {number[]} rows */
  #look(rows) {
    if (!this.element.offsetParent || !rows.length || String(rows) === this.reportedRows) return;
    this.reportedRows = String(rows);
    this.send({ type: "look_at_cells", rows });
  }

  #updateAll() {
    for (const item of this.items.values()) this.#update(item);
    this.trend.update();
  }

  /** @param {number} index @param {boolean} on */
  #setOpen(index, on) {
    if (!this.outline.setOpen(index, on)) return;
    if (!on && this.outline.isInside(this.current, index)) this.current = index;
    this.draw();
  }

  /** Make a node the one that Tab reaches, and scroll it into view. @param {number} index */
  #makeCurrent(index) {
    this.current = index;
    const top = this.outline.positionOf(index) * CELL_HEIGHT;
    const room = this.scroller.clientHeight - this.head.offsetHeight - CELL_HEIGHT;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (room > 0 && top > this.scroller.scrollTop + room) this.scroller.scrollTop = top - room;
    this.draw();
  }

  /** @param {number | undefined} index */
  #focus(index) {
    if (index === undefined) return;
    this.#makeCurrent(index);
    this.items.get(index)?.element.focus({ preventScroll: true });
  }

  /** Expand all ancestors of a node, and make it current. @param {number} index */
  #uncover(index) {
    this.outline.uncover(index);
    this.draw();
    this.#makeCurrent(index);
  }

  /** Go to the next match (1), to the previous one (-1), or to the first from the current cell on (0). @param {number} by */
  #find(by) {
    const { nodes } = this.cells;
    this.matches = this.search.matches(nodes);
    const next = nextMatch(this.matches, this.current, by);
    if (this.matches.length) this.#uncover(this.matches[next]);
    else this.draw();
    this.search.tell(next, this.matches.length, nodes[this.matches[next]]?.label ?? "");
  }

  /** Select a cell, given by its path or by its name in captures, as soon as it arrives. @param {string} cell */
  reveal(cell) {
    const index = this.cells.indexOf(cell);
    this.requestedCell = index < 0 ? cell : "";
    if (index < 0) return;
    this.#uncover(index);
    this.#focus(index);
  }

  /** @param {Partial<import("../../static/python.js").Tree>} texts @param {DataView} numbers @param {DataView} states @param {DataView} figures */
  update(texts, numbers, states, figures) {
    const fresh = this.cells.read(texts, numbers, states);
    if (fresh === "cells") this.figures.clear();
    const figured = this.figures.readState(figures);
    if (figured) this.#drawLegends();
    if (fresh === "same") {
      if (figured) this.#updateAll();
      return;
    }
    const count = this.cells.nodes.length;
    setText(this.empty, "No network yet. Its cells appear here when it is called.");
    this.empty.hidden = count > 0;
    this.head.hidden = this.bar.hidden = count === 0;
    setText(this.total, count === 1 ? "1 cell" : `${formatCount(count)} cells`);
    if (fresh === "cells") this.#rebuild();
    else this.#updateAll();
    if (this.requestedCell) this.reveal(this.requestedCell);
  }

  /** Read the statistics of rows that came into view. @param {DataView} figures */
  addFigures(figures) {
    this.figures.read(figures);
    this.#drawLegends();
    this.#updateAll();
  }

  #drawLegends() {
    for (const [kind, legend] of this.legends) setAttribute(legend, "title", this.figures.legend(kind) || null);
  }

  #rebuild() {
    this.items.clear();
    this.list.replaceChildren();
    this.current = 0;
    this.matches = [];
    this.reportedRows = "";
    this.outline.set(this.cells.nodes.map(({ depth }) => depth));
    this.findingCounts.sumDescendants(this.cells.nodes, this.outline.parents);
    this.draw();
  }

  /** Show the findings in each cell. @param {Partial<import("../../static/python.js").Conditions>} now */
  setFound(now) {
    this.findingCounts.update(now);
    this.findingCounts.sumDescendants(this.cells.nodes, this.outline.parents);
    this.#updateAll();
  }

  destroy() {
    clearTimeout(this.timer);
    this.resize.disconnect();
    this.trend.destroy();
  }

  /** @param {Event} event */
  #clicked(event) {
    const item = closest(event.target, '[role="treeitem"]');
    if (!item || closest(event.target, "select")) return;
    const index = Number(item.dataset.index);
    const button = closest(event.target, "button");
    if (button) this.#act(button, index);
    else {
      this.#focus(index);
      this.#setOpen(index, !this.outline.expansion.has(index));
    }
  }

  /** @param {HTMLElement} button @param {number} index */
  #act(button, index) {
    const { path } = this.cells.nodes[index];
    if (button.classList.contains("hs-figure")) return; // handled by the trend window
    if (button.classList.contains("hs-hits-below")) return this.go.findings?.(this.cells.nodes[this.findingCounts.below.get(index)?.at ?? index].path);
    if (button.classList.contains("hs-hits")) return this.go.findings?.(path);
    button.classList.add("hs-pending");
    const { kind } = button.dataset;
    if (kind) this.send({ type: "hook", path, kind, on: button.getAttribute("aria-pressed") !== "true" });
    else this.send({ type: "train", path, on: button.getAttribute("aria-checked") !== "true" });
  }

  /** @param {Event} event */
  #changed(event) {
    const item = closest(event.target, '[role="treeitem"]');
    if (!item || !(event.target instanceof HTMLSelectElement)) return;
    event.target.classList.add("hs-pending");
    this.send({ type: "breakpoint", path: this.cells.nodes[Number(item.dataset.index)].path, moment: event.target.value });
  }

  /** @param {Event} event */
  #focused(event) {
    const item = closest(event.target, '[role="treeitem"]');
    if (item && Number(item.dataset.index) !== this.current) this.#makeCurrent(Number(item.dataset.index));
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    const item = closest(event.target, '[role="treeitem"]');
    if (!item) return;
    const inControl = event.target !== item;
    if (inControl && event.key !== "Escape") return;
    if (inControl) item.focus();
    else if (!this.#walk(Number(item.dataset.index), event.key)) return;
    else event.stopPropagation();
    event.preventDefault();
  }

  /** Handle a key for the tree; return whether the tree uses that key. @param {number} index @param {string} key */
  #walk(index, key) {
    const { lines, children, parents, expansion } = this.outline;
    const position = this.outline.positionOf(index);
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / CELL_HEIGHT) - 2);
    const isOpen = expansion.has(index);
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => this.#focus(lines[position + 1]),
      ArrowUp: () => this.#focus(lines[position - 1]),
      PageDown: () => this.#focus(lines[Math.min(lines.length - 1, position + page)]),
      PageUp: () => this.#focus(lines[Math.max(0, position - page)]),
      Home: () => this.#focus(lines[0]),
      End: () => this.#focus(lines[lines.length - 1]),
      ArrowRight: () => (children[index].length && !isOpen ? this.#setOpen(index, true) : this.#focus(children[index][0])),
      ArrowLeft: () => (children[index].length && isOpen ? this.#setOpen(index, false) : parents[index] >= 0 && this.#focus(parents[index])),
      Enter: () => this.#setOpen(index, !isOpen),
      " ": () => this.#setOpen(index, !isOpen),
    };
    keys[key]?.();
    return key in keys;
  }
}

/**
 * @param {import("../../static/types.js").ViewContext} context
 * @returns {import("../../static/types.js").ViewPart}
 */
export function create({ send, go }) {
  const tree = new Tree(send, go);
  return {
    element: tree.element,
    traits: [
      [["tree", "tree_numbers", "tree_states", "cell_figures"], (texts, numbers, states, figures) => tree.update(texts, numbers, states, figures)],
      [["conditions"], (conditions) => tree.setFound(conditions)],
    ],
    messages: {
      cells_in_sight: (_, [buffer]) => tree.addFigures(buffer),
      cell_trend: (message, [buffer]) => tree.trend.receive(message, buffer),
    },
    reveal: (cell) => tree.reveal(cell),
    draw: () => tree.draw(),
    confirmed: () => tree.element.offsetParent && tree.draw(),
    destroy: () => tree.destroy(),
  };
}
