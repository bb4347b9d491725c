// The row of one cell: its name, findings, two statistics of its values, hooks, training mode and breakpoint.

import { make, setAttribute, setText } from "../../static/dom.js";
import { formatCount } from "../../static/format.js";
import { FIGURE_KINDS, HOOK_KINDS, MOMENTS } from "../../static/python.js";
import { FigureBar } from "./figure_bar.js";

/** @typedef {import("./cells.js").CellNode} CellNode */
/** @typedef {import("./cells.js").CellState} CellState */
/** @typedef {import("./cells.js").HookKind} HookKind */
/** A row's context: whether it is expanded (null if it has no children), matches the search, is watched by the session,
 * and differs in training mode from its parent; its findings and, while it is collapsed, those of its descendants, with
 * the label of the worst; and its statistics.
 * @typedef {{expansion: boolean | null, matches: boolean, differs: boolean,
 *   here: import("./finding_counts.js").CellCount | undefined, below: import("./finding_counts.js").DescendantCount | undefined, worstBelow: string,
 *   figures: import("./figures.js").Figures}} Around */

export class CellItem {
  /**
   * @param {number} index @param {CellNode} node @param {boolean} hasBprop
   * @param {{position: number, of: number}} among its siblings
   * @param {boolean} leadsToFindings
   */
  constructor(index, node, hasBprop, among, leadsToFindings) {
    const { label, name, type, depth } = node;
    this.index = index;
    this.label = label;
    this.leadsToFindings = leadsToFindings;
    this.shape = make("span", { class: "hs-cell-shape" });
    this.count = make("span", { class: "hs-number hs-cell-count" });
    this.shared = make("span", { class: "hs-shared", hidden: "" });
    this.here = makeBadge("hs-hits");
    this.below = makeBadge("hs-hits hs-hits-below");
    this.bars = FIGURE_KINDS.map((kind) => new FigureBar(kind, label));
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
        make("span", { class: "hs-name", text: name, title: label }),
        " ", // read as two words, as in the item's name
        make("span", { class: "hs-type", text: name === type ? "" : type }),
        this.shared,
      ]),
      make("span", { class: "hs-cell-found" }, [this.here, this.below]),
      ...this.bars.map((bar) => make("span", { class: "hs-cell-figure" }, [bar.element])),
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
      "aria-posinset": among.position,
      "aria-label": `${label}, ${type}`,
      tabindex: "-1",
      "data-index": index,
    }, [row]);
  }

  /** @param {CellNode} node @param {CellState} now @param {Around} around */
  update(node, now, { expansion, matches, differs, here, below, worstBelow, figures }) {
    setAttribute(this.element, "aria-expanded", expansion);
    this.element.classList.toggle("hs-match", matches);
    this.#drawShared(node);
    setText(this.count, node.parameters ? formatCount(node.parameters) : "");
    setText(this.shape, node.shape);
    setAttribute(this.shape, "title", node.shape ? `last output ${node.shape}` : null);
    for (const [kind, button] of this.hooks) drawHook(button, now.attached.includes(kind), now.hooks[kind]);
    setAttribute(this.train, "aria-checked", now.training);
    this.train.classList.toggle("hs-set", differs);
    setText(this.several, now.breaks.join(", "));
    const moment = now.breaks.length > 1 ? "several" : (now.breaks[0] ?? "");
    if (this.stop.value !== moment && !this.stop.classList.contains("hs-pending")) this.stop.value = moment;
    this.stop.classList.toggle("hs-set", now.breaks.length > 0);
    setAttribute(this.stop, "title", now.breaks.join(", ") || null); // a long moment is cut off
    this.#drawHits(this.here, here, "", "");
    this.#drawHits(this.below, below, below ? ` in ${below.cells} ${below.cells === 1 ? "cell" : "cells"} inside` : "", ` in ${worstBelow}`);
    const known = figures.byCell.get(this.index);
    for (const bar of this.bars) bar.update(known?.[bar.kind], figures);
  }

  /** @param {CellNode} node */
  #drawShared({ shared }) {
    const { mark = "", told = "", counted = "" } = shared ?? {};
    this.shared.hidden = !mark;
    setText(this.shared, mark);
    setAttribute(this.shared, "title", told || null);
    this.count.classList.toggle("hs-counted-twice", Boolean(counted));
    setAttribute(this.count, "title", counted || null);
    setAttribute(this.element, "aria-description", [told, counted].filter(Boolean).join(" ") || null);
  }

  /** @param {HTMLButtonElement} badge @param {import("./finding_counts.js").CellCount | undefined} found @param {string} inside @param {string} where the label of the cell with the worst finding */
  #drawHits(badge, found, inside, where) {
    badge.hidden = !found;
    badge.disabled = !this.leadsToFindings;
    if (!found) return;
    const { times, worst } = found;
    if (badge.firstElementChild) setText(badge.firstElementChild, worst);
    setAttribute(badge, "data-count", times > 999 ? "999+" : times); // drawn by the style; the accessible name has the count in words
    const hits = `${times} condition ${times === 1 ? "hit" : "hits"}`;
    setAttribute(badge, "aria-label", `${hits} ${inside ? "below" : "at"} ${this.label}, the worst: ${worst}${where}`);
    setAttribute(badge, "title", `${worst}${where}: ${hits}${inside}${this.leadsToFindings ? "; show the findings" : ""}`);
  }

  /** Set the row's position. Tab reaches only the current item. @param {string} top @param {boolean} isCurrent */
  place(top, isCurrent) {
    this.element.style.top = top;
    const tab = isCurrent ? "0" : "-1";
    for (const control of [this.element, ...this.element.querySelectorAll("button, select")]) setAttribute(control, "tabindex", tab);
  }
}

/** @param {string} kind */
function makeBadge(kind) {
  return make("button", { type: "button", class: kind, tabindex: "-1", hidden: "" }, [make("span", { class: "hs-hits-name" })]);
}

/** @param {HTMLButtonElement} button @param {boolean} hasOwn @param {number} count */
function drawHook(button, hasOwn, count) {
  const otherCount = count - (hasOwn ? 1 : 0);
  setAttribute(button, "aria-pressed", hasOwn);
  setText(button, otherCount > 0 ? String(otherCount) : "");
  setAttribute(button, "title", otherCount > 0 ? `${otherCount} of your own` : null);
}
