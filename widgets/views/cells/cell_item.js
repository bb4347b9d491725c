// The row of one cell: its name, its hooks, its train mode and its breakpoint, and how much was found there.

import { make, setAttribute, setText } from "../../static/dom.js";
import { formatCount } from "../../static/format.js";
import { HOOK_KINDS, MOMENTS } from "../../static/python.js";

/** @typedef {import("./cells.js").CellNode} CellNode */
/** @typedef {import("./cells.js").CellState} CellState */
/** @typedef {import("./cells.js").HookKind} HookKind */
/** What is not the cell's own: whether it is opened (null where nothing is inside), whether the search found it, whether
 *  the session watches, and what was found there: how often, and the worst condition's name.
 * @typedef {{opened: boolean | null, matches: boolean, watching: boolean, hits: [number, string]}} Around */

export class CellItem {
  /**
   * @param {number} index @param {CellNode} node @param {boolean} hasBprop
   * @param {{place: number, of: number}} among its siblings
   * @param {boolean} leadsToFindings
   */
  constructor(index, node, hasBprop, among, leadsToFindings) {
    const { label, name, type, depth } = node;
    this.index = index;
    this.label = label;
    this.leadsToFindings = leadsToFindings;
    this.shape = make("span", { class: "hs-cell-shape" });
    this.count = make("span", { class: "hs-number" });
    this.badge = make("button", { type: "button", class: "hs-hits", tabindex: "-1", hidden: "" });
    /** @type {[HookKind, HTMLButtonElement][]} */
    this.hooks = HOOK_KINDS.map((kind) => [
      kind,
      make("button", { type: "button", class: "hs-hook", "aria-label": `${kind} hook on ${label}`, "data-kind": kind, tabindex: "-1" }),
    ]);
    this.train = make("button", { type: "button", class: "hs-switch", role: "switch", "aria-label": `train mode of ${label}`, tabindex: "-1" });
    this.several = make("option", { value: "several", hidden: "" });
    this.stop = make("select", { class: "hs-break", "aria-label": `breakpoint at ${label}`, tabindex: "-1" }, [
      make("option", { value: "", text: "–", "aria-label": "none" }),
      ...MOMENTS.filter((moment) => moment !== "bprop" || hasBprop).map((moment) => make("option", { value: moment, text: moment })),
      this.several,
    ]);
    const row = make("div", { class: "hs-cell" }, [
      make("span", { class: "hs-cell-name" }, [
        make("span", { class: "hs-twist", "aria-hidden": "true" }),
        make("span", { class: "hs-name", text: name }),
        " ", // what is read is two words, as in the item's name
        make("span", { class: "hs-type", text: name === type ? "" : type }),
        this.badge,
      ]),
      this.count,
      this.shape,
      ...this.hooks.map(([, button]) => make("span", { class: "hs-center" }, [button])),
      make("span", { class: "hs-center" }, [this.train]),
      this.stop,
    ]);
    row.style.setProperty("--hs-depth", String(depth));
    this.element = make("li", {
      role: "treeitem",
      "aria-level": depth + 1,
      "aria-setsize": among.of,
      "aria-posinset": among.place,
      "aria-label": `${label}, ${type}`,
      tabindex: "-1",
      "data-index": index,
    }, [row]);
  }

  /** @param {CellNode} node @param {CellState} now @param {Around} around */
  update(node, now, { opened, matches, watching, hits }) {
    setAttribute(this.element, "aria-expanded", opened);
    this.element.classList.toggle("hs-match", matches);
    setText(this.count, node.parameters ? formatCount(node.parameters) : "");
    setText(this.shape, node.shape);
    for (const [kind, button] of this.hooks) drawHook(button, now.attached.includes(kind), now.hooks[kind]);
    setAttribute(this.train, "aria-checked", now.training);
    setText(this.several, now.breaks.join(", "));
    const moment = now.breaks.length > 1 ? "several" : (now.breaks[0] ?? "");
    if (this.stop.value !== moment && !this.stop.classList.contains("hs-pending")) this.stop.value = moment;
    this.stop.disabled = !watching;
    this.stop.classList.toggle("hs-set", now.breaks.length > 0);
    this.#drawHits(...hits);
  }

  /** @param {number} times @param {string} worst */
  #drawHits(times, worst) {
    this.badge.hidden = !times;
    this.badge.disabled = !this.leadsToFindings;
    setText(this.badge, times > 999 ? "999+" : String(times));
    setAttribute(this.badge, "aria-label", `${times} condition ${times === 1 ? "hit" : "hits"} at ${this.label}, the worst: ${worst}`);
    setAttribute(this.badge, "title", this.leadsToFindings ? `${worst}: show what was found` : worst);
  }

  /** Put it at its place; of all items Tab reaches the current one. @param {string} top @param {boolean} isCurrent */
  place(top, isCurrent) {
    this.element.style.top = top;
    const tab = isCurrent ? "0" : "-1";
    for (const one of [this.element, ...this.element.querySelectorAll("button, select")]) setAttribute(one, "tabindex", tab);
  }
}

/** @param {HTMLButtonElement} button @param {boolean} mine @param {number} count */
function drawHook(button, mine, count) {
  const others = count - (mine ? 1 : 0);
  setAttribute(button, "aria-pressed", mine);
  setText(button, others > 0 ? String(others) : "");
  setAttribute(button, "title", others > 0 ? `${others} of your own` : null);
}
