// The cell tree: the network's cells, and for each its hooks, its train mode and its breakpoint.
// Children are built when a cell is opened, so that a network of thousands of cells opens at once.

import { closest, make, setAttribute, setText } from "./dom.js";
import { formatCount } from "./format.js";

/** @typedef {import("./types.js").CellNode} CellNode */
/** @typedef {import("./types.js").HookKind} HookKind */
/** @typedef {{item: HTMLLIElement, group: HTMLUListElement | null, update: (node: CellNode) => void}} Entry */

/** @type {[HookKind, string][]} */
const HOOK_COLUMNS = [
  ["forward_pre", "fwd pre"],
  ["forward", "fwd"],
  ["backward_pre", "bwd pre"],
  ["backward", "bwd"],
];
/** Cells opened from the start: levels are opened as long as the rows stay within this number. */
const OPEN_ROWS = 40;

/** @param {import("./types.js").Send} send */
export function createTree(send) {
  /** @type {CellNode[]} */
  let nodes = [];
  /** @type {number[][]} */
  let children = [];
  /** @type {Map<number, Entry>} */
  const entries = new Map();
  let signature = "";

  const list = make("ul", { class: "hs-tree", role: "tree", "aria-label": "Cell tree" });
  const head = make("div", { class: "hs-cell hs-cell-head", "aria-hidden": "true" }, [
    make("span", { text: "cell" }),
    make("span", { class: "hs-number", text: "parameters" }),
    make("span", { text: "output" }),
    ...HOOK_COLUMNS.map(([, title]) => make("span", { class: "hs-center", text: title })),
    make("span", { class: "hs-center", text: "train" }),
    make("span", { class: "hs-center", text: "break" }),
  ]);
  const empty = make("p", { class: "hs-empty", text: "No network yet. Its cells appear here when it is called." });
  const element = make("div", { class: "hs-view hs-scroll" }, [head, list, empty]);

  /** @param {number} index */
  const isOpen = (index) => entries.get(index)?.item.getAttribute("aria-expanded") === "true";

  /** @param {number} index @returns {HTMLLIElement} */
  function build(index) {
    const node = nodes[index];
    const twist = make("span", { class: "hs-twist", "aria-hidden": "true" });
    const shape = make("span", { class: "hs-cell-shape" });
    const count = make("span", { class: "hs-number" });
    /** @type {[HookKind, HTMLButtonElement][]} */
    const hooks = HOOK_COLUMNS.map(([kind]) => [
      kind,
      make("button", { type: "button", class: "hs-hook", "aria-label": `${kind} hook on ${node.label}`, "data-kind": kind, tabindex: "-1" }),
    ]);
    const train = make("button", { type: "button", class: "hs-switch", role: "switch", "aria-label": `train mode of ${node.label}`, tabindex: "-1" });
    const stop = make("button", { type: "button", class: "hs-break", "aria-label": `pause in bprop of ${node.label}`, tabindex: "-1" });
    const row = make("div", { class: "hs-cell" }, [
      make("span", { class: "hs-cell-name" }, [twist, make("span", { class: "hs-name", text: node.name }), make("span", { class: "hs-type", text: node.name === node.type ? "" : node.type })]),
      count,
      shape,
      ...hooks.map(([, button]) => make("span", { class: "hs-center" }, [button])),
      make("span", { class: "hs-center" }, [train]),
      make("span", { class: "hs-center" }, node.has_bprop ? [stop] : []),
    ]);
    row.style.setProperty("--hs-depth", String(node.depth));
    const item = make("li", { role: "treeitem", "aria-level": node.depth + 1, "aria-label": `${node.label}, ${node.type}`, tabindex: "-1", "data-index": index }, [row]);
    if (children[index].length) item.setAttribute("aria-expanded", "false");

    /** @param {CellNode} now */
    function update(now) {
      setText(count, now.parameters ? formatCount(now.parameters) : "");
      setText(shape, now.shape);
      for (const [kind, button] of hooks) {
        const mine = now.attached.includes(kind);
        const others = now.hooks[kind] - (mine ? 1 : 0);
        setAttribute(button, "aria-pressed", mine);
        setText(button, others > 0 ? String(others) : "");
        setAttribute(button, "title", others > 0 ? `${others} of your own` : null);
      }
      setAttribute(train, "aria-checked", now.training);
      setAttribute(stop, "aria-pressed", now.breakpoint);
    }
    update(node);
    entries.set(index, { item, group: null, update });
    return item;
  }

  /** @param {number} index */
  function open(index) {
    const entry = entries.get(index);
    if (!entry || !children[index].length) return;
    if (!entry.group) {
      entry.group = make("ul", { role: "group" }, children[index].map(build));
      entry.item.append(entry.group);
    }
    entry.group.hidden = false;
    entry.item.setAttribute("aria-expanded", "true");
  }

  /** @param {number} index */
  function shut(index) {
    const entry = entries.get(index);
    if (!entry?.group) return;
    entry.group.hidden = true;
    entry.item.setAttribute("aria-expanded", "false");
  }

  /** Make one item, and its controls, the ones that Tab reaches. @param {HTMLElement} item */
  function makeCurrent(item) {
    for (const old of list.querySelectorAll('[tabindex="0"]')) old.setAttribute("tabindex", "-1");
    item.setAttribute("tabindex", "0");
    for (const control of item.querySelectorAll(":scope > .hs-cell button")) control.setAttribute("tabindex", "0");
  }

  /** The items on screen, from top to bottom. */
  const visible = () => /** @type {HTMLElement[]} */ ([...list.querySelectorAll('[role="treeitem"]')].filter((item) => !item.closest("[hidden]")));

  /** @param {CellNode[]} fresh */
  function update(fresh) {
    const now = fresh.map((node) => `${node.depth} ${node.path} ${node.type} ${node.has_bprop}`).join("\n");
    nodes = fresh;
    empty.hidden = fresh.length > 0;
    head.hidden = fresh.length === 0;
    if (now === signature) {
      for (const [index, entry] of entries) entry.update(fresh[index]);
      return;
    }
    signature = now;
    rebuild();
  }

  function rebuild() {
    /** @type {number[]} */
    const roots = [];
    /** @type {number[]} */
    const trail = [];
    children = nodes.map(() => []);
    nodes.forEach((node, index) => {
      while (trail.length && nodes[trail[trail.length - 1]].depth >= node.depth) trail.pop();
      if (trail.length) children[trail[trail.length - 1]].push(index);
      else roots.push(index);
      trail.push(index);
    });
    entries.clear();
    list.replaceChildren(...roots.map(build));
    let level = roots;
    let shown = roots.length;
    while (level.length) {
      const below = level.flatMap((index) => children[index]);
      shown += below.length;
      if (shown > OPEN_ROWS && level !== roots) break;
      level.forEach(open);
      level = below;
    }
    const first = list.firstElementChild;
    if (first instanceof HTMLElement) makeCurrent(first);
  }

  list.addEventListener("click", (event) => {
    const item = closest(event.target, '[role="treeitem"]');
    if (!item) return;
    const index = Number(item.dataset.index);
    const button = closest(event.target, "button");
    if (button) act(button, nodes[index]);
    else {
      item.focus();
      if (isOpen(index)) shut(index);
      else open(index);
    }
  });

  list.addEventListener("focusin", (event) => {
    const item = closest(event.target, '[role="treeitem"]');
    if (item) makeCurrent(item);
  });

  /** @param {HTMLElement} button @param {CellNode} node */
  function act(button, node) {
    button.classList.add("hs-pending");
    const pressed = button.getAttribute("aria-pressed") === "true";
    if (button.dataset.kind) send({ type: "hook", path: node.path, kind: button.dataset.kind, on: !pressed });
    else if (button.classList.contains("hs-switch")) send({ type: "train", path: node.path, on: button.getAttribute("aria-checked") !== "true" });
    else send({ type: "breakpoint", path: node.path, on: !pressed });
  }

  list.addEventListener("keydown", (event) => {
    const item = closest(event.target, '[role="treeitem"]');
    if (!item) return;
    const inside = event.target !== item;
    if (inside && event.key === "Escape") item.focus();
    if (inside) return;
    const index = Number(item.dataset.index);
    const shown = visible();
    const place = shown.indexOf(item);
    const parent = closest(item.parentElement, '[role="treeitem"]');
    switch (event.key) {
      case "ArrowDown": shown[place + 1]?.focus(); break;
      case "ArrowUp": shown[place - 1]?.focus(); break;
      case "Home": shown[0]?.focus(); break;
      case "End": shown[shown.length - 1]?.focus(); break;
      case "ArrowRight":
        if (!isOpen(index)) open(index);
        else shown[place + 1]?.focus();
        break;
      case "ArrowLeft":
        if (isOpen(index)) shut(index);
        else parent?.focus();
        break;
      case "Enter": case " ":
        if (isOpen(index)) shut(index);
        else open(index);
        break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  });

  return { element, update };
}
