// The timeline of captures: every value that passed a watched cell, one call per line, by cell, in run order or newest
// first, of all steps or of one.

import { make, setAttribute } from "../../static/dom.js";
import { formatCount } from "../../static/format.js";
import { Grid } from "../../static/grid.js";
import { OUT } from "./calls.js";
import { columns, shows } from "./columns.js";
import { createMemory } from "./memory.js";
import { CaptureRows } from "./rows.js";
import { createSteps } from "./steps.js";
import { makeName } from "./titles.js";

/** @typedef {import("./calls.js").Line} Line */
/** @typedef {import("./rows.js").CaptureRow} CaptureRow */

/** Delay in milliseconds after a scroll before statistics of visible rows are requested. */
const SETTLE = 60;

export class Timeline {
  /** @param {import("../../static/types.js").Send} send */
  constructor(send) {
    this.send = send;
    this.rows = new CaptureRows();
    /** The selected step; null for all. @type {number | null} */
    this.step = null;
    this.revealing = -1; // a capture to select as soon as it arrives
    this.awaited = -1; // a step to show as soon as it arrives
    this.selecting = false;
    /** The capture to select after Python's reply. @type {CaptureRow | null} */
    this.next = null;
    this.timer = 0;
    /** Captures whose statistics were requested. @type {Set<number>} */
    this.asked = new Set();
    /** Captures of the pending request. @type {number[]} */
    this.unanswered = [];
    this.waiting = false;
    this.pinned = -1; // the reference of comparisons
    /** @type {Grid<Line>} */
    this.grid = new Grid({
      label: "Captures",
      empty: "No captures yet. Run the network: values that pass its watched cells appear here.",
      key: (line) => line.key,
      parts: ({ parts }) => parts.map((row) => row?.index ?? null),
      state: ({ parts }, part) => (parts[part]?.given ? "given-up" : null),
      shows,
      count: (lines) => this.#count(lines),
      group: { key: (line) => line.group, draw: drawHeading },
      onSelect: ({ parts }, part) => parts[part] && this.#choose(parts[part]),
      onVisible: (visible) => {
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.#ask(visible.flatMap(({ parts }) => parts.flatMap((row) => row ?? []))), SETTLE);
      },
      columns: columns((row) => (row.index === this.pinned ? "A" : "")),
    });
    this.grid.side = OUT;
    this.order = make("button", { type: "button", class: "hs-button", "aria-pressed": "false", text: "Newest first", onclick: () => this.#turn() });
    this.byCell = make("button", { type: "button", class: "hs-button", "aria-pressed": "true", text: "By cell", title: "Group the forward and backward captures of each cell; otherwise all are in the order of the run", onclick: () => this.#group() });
    this.steps = createSteps(
      (step) => this.#showStep(step),
      () => this.#showStep(this.step === null ? (this.#selectedRow()?.step ?? this.steps.now()) : null),
    );
    this.memory = createMemory(send);
    const bar = make("div", { class: "hs-bar" }, [this.grid.filter, ...this.steps.elements, this.byCell, this.order, this.memory.button, make("span", { class: "hs-spring" }), this.grid.count]);
    this.elements = [bar, this.memory.element, this.grid.view];
  }

  #turn() {
    this.grid.newestFirst = !this.grid.newestFirst;
    setAttribute(this.order, "aria-pressed", this.grid.newestFirst);
    if (this.grid.selected === null || !this.grid.inSight.follows) this.grid.view.scrollTop = 0; // otherwise the selection stays in place
    this.grid.schedule();
  }

  #group() {
    this.grid.groups = !this.grid.groups;
    setAttribute(this.byCell, "aria-pressed", this.grid.groups);
    this.grid.schedule();
  }

  /** @param {Line[]} lines */
  #count(lines) {
    const all = this.rows.all.length;
    const count = lines.reduce((sum, { parts }) => sum + parts.filter(Boolean).length, 0);
    const noun = all === 1 ? "capture" : "captures";
    return count === all ? `${formatCount(all)} ${noun}` : `${formatCount(count)} of ${formatCount(all)} ${noun}`;
  }

  /** Mark the reference of comparisons. @param {number} index or -1 */
  pin(index) {
    this.pinned = index;
    this.grid.schedule();
  }

  #selectedRow() {
    return this.grid.selected === null ? undefined : this.rows.byIndex.get(Number(this.grid.selected));
  }

  /** Select a capture; while a reply is pending, only the last selection counts. @param {CaptureRow} row */
  #choose(row) {
    this.next = row;
    if (this.selecting) return;
    this.next = null;
    this.selecting = true;
    this.send({ type: "select", index: row.index });
  }

  #onlyStep() {
    const { step } = this;
    this.grid.only = step === null ? null : (line) => line.step === step;
    this.steps.update(this.rows, step);
  }

  /** Show one step, or all for null; the selection follows to the same value in that step. @param {number | null} step */
  #showStep(step) {
    this.step = step ?? null;
    this.awaited = -1;
    const now = this.#selectedRow();
    const there = now && this.step !== null && now.step !== this.step ? this.rows.inStep(now, this.step) : undefined;
    if (there) {
      this.grid.selected = there.index;
      this.#choose(there);
    }
    this.#onlyStep();
    this.#scrollToSelected();
  }

  #scrollToSelected() {
    this.grid.schedule();
    requestAnimationFrame(() => this.grid.reveal());
  }

  /** Request statistics, one request at a time, since Python may be busy. @param {CaptureRow[]} visible */
  #ask(visible) {
    if (this.waiting) return;
    const indices = visible.filter((row) => !row.known && !row.never && !this.asked.has(row.index)).map((row) => row.index);
    if (!indices.length) return;
    for (const index of indices) this.asked.add(index);
    this.unanswered = indices;
    this.waiting = true;
    this.send({ type: "statistics", indices });
  }

  /** @param {import("../../static/python.js").NewCaptures} message @param {DataView[]} buffers */
  add(message, buffers) {
    const newest = this.rows.steps.at(-1);
    if (message.reset) this.asked.clear();
    this.rows.add(message, buffers[0]);
    this.memory.update(message);
    const { steps } = this.rows;
    // If the newest step is selected, follow the run; if the selected step is gone, select the newest.
    if (this.step !== null && (this.step === newest || !steps.includes(this.step))) this.step = steps.at(-1) ?? null;
    this.#onlyStep();
    this.grid.setRows(this.rows.calls.lines());
    if (this.rows.byIndex.has(this.revealing)) this.reveal(this.revealing);
    if (steps.includes(this.awaited)) this.#revealStep(this.awaited);
  }

  /** @param {DataView[]} buffers */
  addStatistics(buffers) {
    this.unanswered = [];
    this.rows.addStatistics(buffers[0]);
    this.grid.schedule();
  }

  /** Show the captures of a step, clearing the filter. @param {number} step */
  #revealStep(step) {
    this.grid.filter.value = "";
    if (this.rows.steps.includes(step)) this.#showStep(step);
    else this.awaited = step;
  }

  /** Select a capture and scroll to it, or show a step, clearing the filter. @param {number | {step: number}} target the capture's index, or the step */
  reveal(target) {
    if (typeof target === "object") return this.#revealStep(target.step);
    const index = target;
    const row = this.rows.byIndex.get(index);
    this.revealing = row ? -1 : index;
    if (!row) return;
    this.grid.filter.value = "";
    this.grid.selected = index;
    if (this.step !== null && this.step !== row.step) this.#showStep(row.step);
    else this.#choose(row);
    this.#scrollToSelected();
  }

  /** Follow a selection by code or another view, unless a click here is still pending. @param {number} index */
  follow(index) {
    if (this.selecting || index === (this.grid.selected ?? -1)) return;
    this.grid.selected = index < 0 ? null : index;
    const row = this.rows.byIndex.get(index);
    if (row && this.step !== null && this.step !== row.step) this.#showStep(row.step);
    this.#scrollToSelected();
  }

  /** Handle Python's confirmation of a message. @param {string} action */
  confirmed(action) {
    if (action === "statistics") {
      // While code runs, Python may send no statistics; then they are requested again later.
      for (const index of this.unanswered) this.asked.delete(index);
      [this.unanswered, this.waiting] = [[], false];
    }
    if (action === "sync") this.grid.schedule();
    if (action !== "select") return;
    this.selecting = false;
    if (this.next) this.#choose(this.next);
  }

  destroy() {
    clearTimeout(this.timer);
    this.grid.destroy();
  }
}

/** Draw the heading of a cell's calls: its full name. @param {HTMLElement} element @param {Line[]} lines */
function drawHeading(element, [{ cell }]) {
  if (element.dataset.drawn === cell) return;
  element.dataset.drawn = cell;
  element.replaceChildren(makeName(cell));
}

/**
 * Create the view of the captures without the pictures of the selected one.
 * @param {import("../../static/types.js").ViewContext} context
 * @returns {import("../../static/types.js").ViewPart}
 */
export function create({ send }) {
  const timeline = new Timeline(send);
  return {
    element: make("div", { class: "hs-view" }, timeline.elements),
    traits: [[["selected"], (index) => timeline.follow(index)]],
    messages: { captures: (message, buffers) => timeline.add(message, buffers), statistics: (_, buffers) => timeline.addStatistics(buffers) },
    reveal: (target) => timeline.reveal(target),
    confirmed: (action) => timeline.confirmed(action),
    draw: () => timeline.grid.schedule(),
    destroy: () => timeline.destroy(),
  };
}
