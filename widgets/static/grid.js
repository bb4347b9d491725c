// A virtual table: thousands of rows, of which only the visible ones are elements. Row elements are recycled
// in place, so that a live update neither loses the focus nor flickers.

import { closest, make, setAttribute, setText } from "./dom.js";

/**
 * @template Row
 * @typedef {{key: string, title: string, width: string, number?: boolean, value: (row: Row) => string | number,
 *   text?: (row: Row) => string, draw?: (cell: HTMLElement, row: Row) => void}} Column
 */

/** Height of a row in CSS pixels; panel.css uses the same through --hs-row. */
const ROW_HEIGHT = 26;
let gridCount = 0;

/**
 * @template {{search: string}} Row
 */
export class Grid {
  /**
   * @param {{label: string, columns: Column<Row>[], key: (row: Row) => string | number, empty: string,
   *   state?: (row: Row) => string | null, onSelect?: (row: Row) => void, onVisible?: (rows: Row[]) => void}} options
   */
  constructor(options) {
    this.options = options;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Row[]} */
    this.shown = [];
    this.newestFirst = false;
    /** @type {((row: Row) => boolean) | null} */
    this.only = null; // which rows are there for the filter to choose from
    this.sortKey = "";
    this.sortDirection = 1;
    /** @type {string | number | null} */
    this.selected = null;
    this.id = `hs-grid-${++gridCount}`;
    this.frame = 0;
    this.filter = make("input", {
      type: "search",
      class: "hs-filter",
      placeholder: "Filter",
      "aria-label": `Filter ${options.label.toLowerCase()}`,
      spellcheck: "false",
      oninput: () => this.schedule(),
    });
    this.count = make("span", { class: "hs-count" });
    this.head = make("div", { class: "hs-grid-row hs-grid-head", role: "row" }, options.columns.map((c) => this.#header(c)));
    this.body = make("div", { class: "hs-grid-body", role: "presentation" });
    this.space = make("div", { class: "hs-grid-space", role: "presentation" }, [this.body]);
    this.empty = make("p", { class: "hs-empty", text: options.empty });
    this.view = make(
      "div",
      {
        class: "hs-grid",
        role: "grid",
        tabindex: "0",
        "aria-label": options.label,
        "aria-colcount": options.columns.length,
        onscroll: () => this.draw(),
        onclick: (/** @type {MouseEvent} */ event) => this.#clicked(event),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.#keyed(event),
      },
      [this.head, this.space, this.empty],
    );
    this.view.style.setProperty("--hs-columns", options.columns.map((c) => c.width).join(" "));
    this.resize = new ResizeObserver(() => this.draw());
    this.resize.observe(this.view);
  }

  /** @param {Row[]} rows */
  setRows(rows) {
    this.rows = rows;
    this.schedule();
  }

  /** Filter, sort and draw before the next frame, however often it is asked for until then. */
  schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.#arrange();
      this.draw();
    });
  }

  destroy() {
    this.resize.disconnect();
    cancelAnimationFrame(this.frame);
  }

  #arrange() {
    const terms = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = this.only ? this.rows.filter(this.only) : this.rows;
    if (terms.length) shown = shown.filter((row) => terms.every((term) => row.search.includes(term)));
    const column = this.options.columns.find((c) => c.key === this.sortKey);
    if (column) shown = [...shown].sort((a, b) => this.sortDirection * compare(column.value(a), column.value(b)));
    else if (this.newestFirst) shown = [...shown].reverse();
    this.shown = shown;
    setText(this.count, shown.length === this.rows.length ? `${this.rows.length}` : `${shown.length} of ${this.rows.length}`);
    setAttribute(this.view, "aria-rowcount", shown.length + 1);
    this.space.style.height = `${shown.length * ROW_HEIGHT}px`;
    // The room they ask for; a filter leaves it as it is, and without rows it is for the words that say so.
    this.view.style.setProperty("--hs-rows", String(Math.max(4, this.rows.length)));
    this.empty.hidden = shown.length > 0;
  }

  /** Put the visible rows on the page. */
  draw() {
    if (!this.view.clientHeight) return;
    const first = Math.min(Math.floor(this.view.scrollTop / ROW_HEIGHT), Math.max(0, this.shown.length - 1));
    const last = Math.min(this.shown.length, first + Math.ceil(this.view.clientHeight / ROW_HEIGHT) + 1);
    const visible = this.shown.slice(first, last);
    this.body.style.transform = `translateY(${first * ROW_HEIGHT}px)`;
    while (this.body.childElementCount < visible.length) this.body.append(this.#newRow());
    while (this.body.childElementCount > visible.length) this.body.lastElementChild?.remove();
    visible.forEach((row, k) => this.#fill(/** @type {HTMLElement} */ (this.body.children[k]), row, first + k));
    const active = visible.some((row) => this.options.key(row) === this.selected);
    setAttribute(this.view, "aria-activedescendant", active ? this.#rowId(this.selected) : null);
    this.options.onVisible?.(visible);
  }

  /** @param {string | number | null} key */
  #rowId(key) {
    return `${this.id}-${key}`;
  }

  /** @param {Column<Row>} column */
  #header(column) {
    const button = make("button", {
      type: "button",
      class: "hs-sort",
      text: column.title,
      onclick: () => this.#sortBy(column.key),
    });
    return make("div", { class: column.number ? "hs-number" : "", role: "columnheader", "aria-sort": "none" }, [button]);
  }

  /** Ascending, then descending, then the order of arrival again. @param {string} key */
  #sortBy(key) {
    if (this.sortKey !== key) [this.sortKey, this.sortDirection] = [key, 1];
    else if (this.sortDirection === 1) this.sortDirection = -1;
    else this.sortKey = "";
    this.options.columns.forEach((column, k) => {
      const direction = this.sortDirection === 1 ? "ascending" : "descending";
      setAttribute(this.head.children[k], "aria-sort", column.key === this.sortKey ? direction : "none");
    });
    this.schedule();
  }

  #newRow() {
    const cells = this.options.columns.map((c) => make("div", { class: c.number ? "hs-number" : "hs-text", role: "gridcell" }));
    return make("div", { class: "hs-grid-row", role: "row" }, cells);
  }

  /** @param {HTMLElement} element @param {Row} row @param {number} position */
  #fill(element, row, position) {
    const key = this.options.key(row);
    element.dataset.position = String(position);
    setAttribute(element, "id", this.#rowId(key));
    setAttribute(element, "aria-rowindex", position + 2);
    setAttribute(element, "data-state", this.options.state?.(row));
    setAttribute(element, "aria-selected", this.options.onSelect ? key === this.selected : null);
    this.options.columns.forEach((column, k) => {
      const cell = /** @type {HTMLElement} */ (element.children[k]);
      if (column.draw) return column.draw(cell, row);
      const text = column.text ? column.text(row) : String(column.value(row));
      setText(cell, text);
      setAttribute(cell, "title", column.number ? null : text);
    });
  }

  /** @param {MouseEvent} event */
  #clicked(event) {
    const element = closest(event.target, ".hs-grid-row[data-position]");
    if (element && !closest(event.target, "input, button")) this.#select(Number(element.dataset.position));
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    if (event.target !== this.view || !this.options.onSelect) return;
    const page = Math.max(1, Math.floor(this.view.clientHeight / ROW_HEIGHT) - 2);
    const now = this.shown.findIndex((row) => this.options.key(row) === this.selected);
    /** @type {Record<string, number>} */
    const targets = {
      ArrowDown: now + 1,
      ArrowUp: Math.max(0, now - 1),
      PageDown: now + page,
      PageUp: now - page,
      Home: 0,
      End: this.shown.length - 1,
    };
    if (!(event.key in targets) || !this.shown.length) return;
    event.preventDefault();
    this.#select(Math.max(0, Math.min(this.shown.length - 1, targets[event.key])));
  }

  /** @param {number} position */
  #select(position) {
    const row = this.shown[position];
    if (!row || !this.options.onSelect) return;
    this.selected = this.options.key(row);
    this.reveal();
    this.options.onSelect(row);
  }

  /** Scroll to the selected row, if there is one. */
  reveal() {
    const position = this.shown.findIndex((row) => this.options.key(row) === this.selected);
    const top = position * ROW_HEIGHT;
    const room = this.view.clientHeight - this.head.offsetHeight - ROW_HEIGHT;
    if (position >= 0 && top < this.view.scrollTop) this.view.scrollTop = top;
    else if (position >= 0 && top > this.view.scrollTop + room) this.view.scrollTop = top - room;
    this.draw();
  }
}

/**
 * Order two values of a column; what is not a number yet comes last in ascending order.
 * @param {string | number} a
 * @param {string | number} b
 */
function compare(a, b) {
  if (typeof a === "string" || typeof b === "string") return String(a).localeCompare(String(b), undefined, { numeric: true });
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  if (Number.isNaN(b)) return -1;
  return a - b;
}
