// The cell tree: the network's cells, and for each its hooks, its train mode, its breakpoint and what was found there.
// Only the rows in sight are elements, so that ten thousand cells open at once.

import { Cells, HOOK_KINDS, MOMENTS } from "./cells.js";
import { closest, make, setAttribute, setText } from "./dom.js";
import { formatCount } from "./format.js";
import { Outline } from "./outline.js";

/** @typedef {import("./types.js").CellNode} CellNode */
/** @typedef {import("./types.js").HookKind} HookKind */
/** @typedef {{index: number, item: HTMLLIElement, update: () => void}} CellItem */

const HOOK_TITLES = ["fwd pre", "fwd", "bwd pre", "bwd"];
/** Height of a row in CSS pixels; tree.css uses the same through --hs-cell-height. */
const CELL_HEIGHT = 28;
/** Rows drawn beyond those in sight, above and below. */
const MARGIN = 4;

/**
 * @param {import("./types.js").Send} send
 * @param {import("./types.js").Go} go
 */
export function createTree(send, go) {
  const cells = new Cells();
  const outline = new Outline();
  /** The elements there are, by index of their node. @type {Map<number, CellItem>} */
  const items = new Map();
  /** @type {Map<string, [number, string]>} */
  let hits = new Map();
  /** @type {number[]} */
  let matches = [];
  let current = 0;
  let watching = true;
  let wanted = ""; // a cell to go to as soon as it is here

  const list = make("ul", { class: "hs-tree", role: "tree", "aria-label": "Cell tree" });
  const head = make("div", { class: "hs-cell hs-cell-head", "aria-hidden": "true" }, [
    make("span", { text: "cell" }),
    make("span", { class: "hs-number", text: "parameters" }),
    make("span", { text: "output" }),
    ...HOOK_TITLES.map((title) => make("span", { class: "hs-center", text: title })),
    make("span", { class: "hs-center", text: "train" }),
    make("span", { text: "pause at" }),
  ]);
  const empty = make("p", { class: "hs-empty", text: "Waiting for the kernel." });
  const scroller = make("div", { class: "hs-scroll hs-cells", onscroll: () => draw() }, [head, list, empty]);
  const search = make("input", {
    type: "search",
    class: "hs-filter",
    placeholder: "Search by path or type",
    "aria-label": "Search cells",
    spellcheck: "false",
    oninput: () => find(0),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      find(event.shiftKey ? -1 : 1);
    },
  });
  const found = make("span", { class: "hs-count", "aria-live": "polite" });
  const total = make("span", { class: "hs-count" });
  const bar = make("div", { class: "hs-bar" }, [search, found, make("span", { class: "hs-spring" }), total]);
  const element = make("div", { class: "hs-view" }, [bar, scroller]);
  const resize = new ResizeObserver(() => draw());
  resize.observe(scroller);

  /** @param {number} index @returns {CellItem} */
  function build(index) {
    const { path, label, name, type, depth } = cells.nodes[index];
    const { has_bprop } = cells.state(index);
    const shape = make("span", { class: "hs-cell-shape" });
    const count = make("span", { class: "hs-number" });
    const badge = make("button", { type: "button", class: "hs-hits", tabindex: "-1", hidden: "" });
    /** @type {[HookKind, HTMLButtonElement][]} */
    const hooks = HOOK_KINDS.map((kind) => [
      kind,
      make("button", { type: "button", class: "hs-hook", "aria-label": `${kind} hook on ${label}`, "data-kind": kind, tabindex: "-1" }),
    ]);
    const train = make("button", { type: "button", class: "hs-switch", role: "switch", "aria-label": `train mode of ${label}`, tabindex: "-1" });
    const several = make("option", { value: "several", hidden: "" });
    const stop = make("select", { class: "hs-break", "aria-label": `breakpoint at ${label}`, tabindex: "-1" }, [
      make("option", { value: "", text: "–", "aria-label": "none" }),
      ...MOMENTS.filter((moment) => moment !== "bprop" || has_bprop).map((moment) => make("option", { value: moment, text: moment })),
      several,
    ]);
    const row = make("div", { class: "hs-cell" }, [
      make("span", { class: "hs-cell-name" }, [
        make("span", { class: "hs-twist", "aria-hidden": "true" }),
        make("span", { class: "hs-name", text: name }),
        " ", // what is read is two words, as in the item's name
        make("span", { class: "hs-type", text: name === type ? "" : type }),
        badge,
      ]),
      count,
      shape,
      ...hooks.map(([, button]) => make("span", { class: "hs-center" }, [button])),
      make("span", { class: "hs-center" }, [train]),
      stop,
    ]);
    row.style.setProperty("--hs-depth", String(depth));
    const siblings = outline.siblings(index);
    const item = make("li", {
      role: "treeitem",
      "aria-level": depth + 1,
      "aria-setsize": siblings.length,
      "aria-posinset": siblings.indexOf(index) + 1,
      "aria-label": `${label}, ${type}`,
      tabindex: "-1",
      "data-index": index,
    }, [row]);

    function update() {
      const { parameters, shape: size } = cells.nodes[index];
      const now = cells.state(index);
      setAttribute(item, "aria-expanded", outline.children[index].length ? outline.opened.has(index) : null);
      item.classList.toggle("hs-match", matches.includes(index));
      setText(count, parameters ? formatCount(parameters) : "");
      setText(shape, size);
      for (const [kind, button] of hooks) {
        const mine = now.attached.includes(kind);
        const others = now.hooks[kind] - (mine ? 1 : 0);
        setAttribute(button, "aria-pressed", mine);
        setText(button, others > 0 ? String(others) : "");
        setAttribute(button, "title", others > 0 ? `${others} of your own` : null);
      }
      setAttribute(train, "aria-checked", now.training);
      setText(several, now.breaks.join(", "));
      const moment = now.breaks.length > 1 ? "several" : now.breaks[0] ?? "";
      if (stop.value !== moment && !stop.classList.contains("hs-pending")) stop.value = moment;
      stop.disabled = !watching;
      stop.classList.toggle("hs-set", now.breaks.length > 0);
      const [times, worst] = hits.get(path) ?? [0, ""];
      badge.hidden = !times;
      badge.disabled = !go.findings;
      setText(badge, times > 999 ? "999+" : String(times));
      setAttribute(badge, "aria-label", `${times} condition ${times === 1 ? "hit" : "hits"} at ${label}, the worst: ${worst}`);
      setAttribute(badge, "title", go.findings ? `${worst}: show what was found` : worst);
    }
    return { index, item, update };
  }

  /** Put the rows in sight on the page, and the current one wherever it is, so that it keeps the focus. */
  function draw() {
    list.style.height = `${outline.shown.length * CELL_HEIGHT}px`; // first: how much is in sight depends on it
    const top = Math.max(0, scroller.scrollTop);
    const first = Math.max(0, Math.floor(top / CELL_HEIGHT) - MARGIN);
    const last = Math.ceil((top + scroller.clientHeight) / CELL_HEIGHT) + MARGIN;
    const drawn = outline.shown.slice(first, last);
    const place = outline.placeOf(current);
    if (place >= 0 && place < first) drawn.unshift(current);
    else if (place >= last) drawn.push(current);
    const keep = new Set(drawn);
    for (const [index, { item }] of items) {
      if (keep.has(index)) continue;
      item.remove();
      items.delete(index);
    }
    // Indices ascend, so elements that stay are in the right order: none is moved, which would lose the focus.
    let at = list.firstElementChild;
    for (const index of drawn) {
      const entry = items.get(index) ?? build(index);
      items.set(index, entry);
      entry.update();
      entry.item.style.top = `${outline.placeOf(index) * CELL_HEIGHT}px`;
      const tab = index === current ? "0" : "-1";
      setAttribute(entry.item, "tabindex", tab);
      for (const control of entry.item.querySelectorAll("button, select")) setAttribute(control, "tabindex", tab);
      if (entry.item === at) at = at.nextElementSibling;
      else list.insertBefore(entry.item, at);
    }
  }

  /** @param {number} index @param {boolean} on */
  function setOpen(index, on) {
    if (!outline.setOpen(index, on)) return;
    if (!on && outline.isInside(current, index)) current = index;
    draw();
  }

  /** Make a node the one that Tab reaches, in sight. @param {number} index */
  function makeCurrent(index) {
    current = index;
    const top = outline.placeOf(index) * CELL_HEIGHT;
    const room = scroller.clientHeight - head.offsetHeight - CELL_HEIGHT;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (room > 0 && top > scroller.scrollTop + room) scroller.scrollTop = top - room;
    draw();
  }

  /** @param {number | undefined} index */
  function focus(index) {
    if (index === undefined) return;
    makeCurrent(index);
    items.get(index)?.item.focus({ preventScroll: true });
  }

  /** Open what is around a node, and make it current. @param {number} index */
  function uncover(index) {
    outline.uncover(index);
    draw();
    makeCurrent(index);
  }

  /** Go to the next match (1), the one before (-1), or from the current cell on (0). @param {number} by */
  function find(by) {
    const terms = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    matches = [];
    if (terms.length) {
      cells.nodes.forEach(({ label, type }, index) => {
        const text = `${label} ${type}`.toLowerCase();
        if (terms.every((term) => text.includes(term))) matches.push(index);
      });
    }
    if (matches.length) {
      const after = matches.findIndex((index) => (by > 0 ? index > current : index >= current));
      const from = after < 0 ? matches.length : after;
      const next = (from + (by < 0 ? -1 : 0) + matches.length) % matches.length;
      uncover(matches[next]);
      setText(found, `${next + 1} of ${matches.length}: ${cells.nodes[matches[next]].label}`);
    } else {
      setText(found, terms.length ? "no match" : "");
      draw();
    }
  }

  /** Show a cell by its path, or by its name in captures, as soon as it is here. @param {string} cell */
  function reveal(cell) {
    const index = cells.indexOf(cell);
    wanted = index < 0 ? cell : "";
    if (index < 0) return;
    uncover(index);
    focus(index);
  }

  /** @param {{paths?: string[]}} texts @param {DataView} numbers @param {DataView} states */
  function update(texts, numbers, states) {
    const fresh = cells.read(texts, numbers, states);
    if (fresh === "same") return;
    const count = cells.nodes.length;
    setText(empty, "No network yet. Its cells appear here when it is called.");
    empty.hidden = count > 0;
    head.hidden = bar.hidden = count === 0;
    setText(total, count === 1 ? "1 cell" : `${formatCount(count)} cells`);
    if (fresh === "cells") rebuild();
    else for (const entry of items.values()) entry.update();
    if (wanted) reveal(wanted);
  }

  function rebuild() {
    items.clear();
    list.replaceChildren();
    current = 0;
    matches = [];
    outline.set(cells.nodes.map(({ depth }) => depth));
    draw();
  }

  /** What was found: path, how often, and the worst condition's name. @param {[string, number, string][]} now */
  function setHits(now) {
    hits = new Map(now.map(([path, ...what]) => [path, what]));
    for (const entry of items.values()) entry.update();
  }

  list.addEventListener("click", (event) => {
    const item = closest(event.target, '[role="treeitem"]');
    if (!item || closest(event.target, "select")) return;
    const index = Number(item.dataset.index);
    const button = closest(event.target, "button");
    if (button) act(button, cells.nodes[index]);
    else {
      focus(index);
      setOpen(index, !outline.opened.has(index));
    }
  });

  list.addEventListener("change", (event) => {
    const item = closest(event.target, '[role="treeitem"]');
    if (!item || !(event.target instanceof HTMLSelectElement)) return;
    event.target.classList.add("hs-pending");
    send({ type: "breakpoint", path: cells.nodes[Number(item.dataset.index)].path, moment: event.target.value });
  });

  list.addEventListener("focusin", (event) => {
    const item = closest(event.target, '[role="treeitem"]');
    if (item && Number(item.dataset.index) !== current) makeCurrent(Number(item.dataset.index));
  });

  /** @param {HTMLElement} button @param {CellNode} node */
  function act(button, node) {
    if (button.classList.contains("hs-hits")) return go.findings?.(node.path);
    button.classList.add("hs-pending");
    if (button.dataset.kind) {
      const pressed = button.getAttribute("aria-pressed") === "true";
      send({ type: "hook", path: node.path, kind: button.dataset.kind, on: !pressed });
    } else send({ type: "train", path: node.path, on: button.getAttribute("aria-checked") !== "true" });
  }

  list.addEventListener("keydown", (event) => {
    const item = closest(event.target, '[role="treeitem"]');
    if (!item) return;
    const inControl = event.target !== item;
    if (inControl && event.key !== "Escape") return;
    if (inControl) {
      item.focus();
      event.preventDefault();
      return;
    }
    const index = Number(item.dataset.index);
    const place = outline.placeOf(index);
    const { shown, children, parents, opened } = outline;
    const page = Math.max(1, Math.floor(scroller.clientHeight / CELL_HEIGHT) - 2);
    switch (event.key) {
      case "ArrowDown": focus(shown[place + 1]); break;
      case "ArrowUp": focus(shown[place - 1]); break;
      case "PageDown": focus(shown[Math.min(shown.length - 1, place + page)]); break;
      case "PageUp": focus(shown[Math.max(0, place - page)]); break;
      case "Home": focus(shown[0]); break;
      case "End": focus(shown[shown.length - 1]); break;
      case "ArrowRight":
        if (children[index].length && !opened.has(index)) setOpen(index, true);
        else focus(children[index][0]);
        break;
      case "ArrowLeft":
        if (children[index].length && opened.has(index)) setOpen(index, false);
        else if (parents[index] >= 0) focus(parents[index]);
        break;
      case "Enter": case " ": setOpen(index, !opened.has(index)); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  });

  /** Whether the session watches, or is about to: without, nothing pauses anywhere. @param {boolean} now */
  function setWatching(now) {
    if (watching === now) return;
    watching = now;
    draw();
  }

  return { element, update, setHits, setWatching, reveal, draw, answered: () => element.offsetParent && draw(), destroy: () => resize.disconnect() };
}
