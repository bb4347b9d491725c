// A virtual table of thousands of rows, of which only the visible ones are elements. Row elements are recycled in
// place, so that a live update neither loses the focus nor flickers. A row may have several selectable parts, and rows
// may be grouped below headings.

import { Heading, filtered, grouped, sorted, tints } from "./row_order.js";
import { closest, make, newId, setAttribute, setText } from "./dom.js";
import { ScrollAnchor } from "./scroll_anchor.js";

/**
 * @template Row
 * @typedef {{key: string, title: string, width: string, label?: string, number?: boolean, part?: number, tinted?: boolean,
 *   value: (row: Row) => string | number, text?: (row: Row) => string, draw?: (cell: HTMLElement, row: Row) => void}} Column
 *   `label` is the title for screen readers; its cells belong to a `part` of the row, or else to the complete row;
 *   `tinted` cells show their magnitude relative to the column.
 */
/** @typedef {string | number} Key of a selectable item */
/**
 * @template Row
 * @typedef {object} Options
 * @property {string} label
 * @property {string} empty
 * @property {Column<Row>[]} columns
 * @property {(rows: Row[], width: number, grouped: boolean) => (column: Column<Row>) => boolean} [shows] returns which
 *   columns are useful and fit; the column of the sort order is always shown
 * @property {(row: Row) => Key} key
 * @property {(row: Row) => (Key | null)[]} [parts] the keys of a row's parts, null for a missing part; by default a row is one part
 * @property {(row: Row, part: number) => string | null} [state]
 * @property {(rows: Row[]) => string} [count] describes the visible rows
 * @property {{key: (row: Row) => string, draw: (cell: HTMLElement, rows: Row[]) => void}} [group] groups rows below headings
 * @property {(row: Row, part: number) => void} [onSelect]
 * @property {(rows: Row[]) => void} [onVisible]
 */

/** Height of a row in CSS pixels; panel.css uses the same through --hs-row. */
const ROW_HEIGHT = 26;
/** Maximum rows above the selected row, up to its heading, that are scrolled into view with it. */
const MOST_ABOVE = 2;
/**
 * @template {{search: string}} Row
 */
export class Grid {
  /** @param {Options<Row>} options */
  constructor(options) {
    this.options = options;
    /** @type {Row[]} */
    this.rows = [];
    /** Rows that match the filter, in order. @type {Row[]} */
    this.filtered = [];
    /** The same rows with the headings of groups. @type {(Row | Heading<Row>)[]} */
    this.shown = [];
    /** Cached position of the selection in `shown`. @type {{shown: unknown, selected: Key | null, position: number}} */
    this.cachedSelection = { shown: null, selected: null, position: -1 };
    this.newestFirst = false;
    this.groups = Boolean(options.group);
    /** @type {((row: Row) => boolean) | null} */
    this.only = null; // predicate applied before the filter
    this.sortKey = "";
    this.sortDirection = 1;
    /** @type {Key | null} */
    this.selected = null;
    this.side = 0; // the part that the up and down keys stay in
    /** The visible columns. @type {Column<Row>[]} */
    this.columns = [];
    /** The tint function of each tinted column. @type {Map<string, (value: number) => number>} */
    this.tints = new Map();
    this.id = newId("hs-grid");
    this.frame = 0;
    this.width = 0;
    this.filter = make("input", {
      type: "search",
      class: "hs-filter",
      placeholder: "Filter",
      "aria-label": `Filter ${options.label.toLowerCase()}`,
      spellcheck: "false",
      oninput: () => this.schedule(),
    });
    this.count = make("span", { class: "hs-count" });
    this.head = make("div", { class: "hs-grid-row hs-grid-head", role: "row" });
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
        onscroll: () => this.#scrolled(),
        onclick: (/** @type {MouseEvent} */ event) => this.#clicked(event),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.#keyed(event),
      },
      [this.head, this.space, this.empty],
    );
    this.inSight = new ScrollAnchor(this.view, this.head, ROW_HEIGHT);
    this.#chooseColumns([]);
    this.resize = new ResizeObserver(() => this.#resized());
    this.resize.observe(this.view);
  }

  /** @param {Row[]} rows */
  setRows(rows) {
    this.rows = rows;
    this.schedule();
  }

  /** Filter, sort and draw once before the next frame. */
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
    const { group } = this.options;
    const terms = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let rows = filtered(this.rows, this.only, terms);
    const column = this.options.columns.find((c) => c.key === this.sortKey);
    if (column) rows = sorted(rows, column.value, this.sortDirection);
    else if (this.newestFirst) rows = [...rows].reverse();
    this.#chooseColumns(rows);
    const tinted = this.columns.filter((c) => c.tinted);
    this.tints = new Map(tinted.map((c) => [c.key, tints(rows.map((row) => Number(c.value(row))))]));
    this.cachedSelection.shown = null; // rows may be modified in place
    this.filtered = rows;
    this.shown = group && this.#isGrouped() ? grouped(rows, group.key) : rows;
    setText(this.count, this.options.count?.(rows) ?? (rows.length === this.rows.length ? `${rows.length}` : `${rows.length} of ${this.rows.length}`));
    setAttribute(this.view, "aria-rowcount", this.shown.length + 1);
    this.space.style.height = `${this.shown.length * ROW_HEIGHT}px`;
    // The requested height; a filter does not change it, and without rows it holds the empty message.
    this.view.style.setProperty("--hs-rows", String(Math.max(4, this.rows.length, this.shown.length)));
    this.empty.hidden = rows.length > 0;
    this.#keepInSight();
  }

  /** Return whether rows are grouped; sorting by a column disables groups. */
  #isGrouped() {
    return this.groups && !this.sortKey;
  }

  /** Update the columns to those that are useful and fit. @param {Row[]} rows */
  #chooseColumns(rows) {
    const shows = this.options.shows?.(rows, this.width, this.#isGrouped());
    const now = this.options.columns.filter((column) => !shows || column.key === this.sortKey || shows(column));
    if (now.length === this.columns.length && now.every((column, k) => column === this.columns[k])) return;
    this.columns = now;
    const focusedIndex = [...this.head.children].findIndex((header) => header.contains(document.activeElement));
    const key = focusedIndex < 0 ? "" : /** @type {HTMLElement} */ (this.head.children[focusedIndex]).dataset.key;
    this.head.replaceChildren(...now.map((column) => this.#header(column)));
    this.body.replaceChildren();
    this.view.style.setProperty("--hs-columns", now.map((column) => column.width).join(" "));
    setAttribute(this.view, "aria-colcount", now.length);
    this.#drawOrder();
    const header = /** @type {HTMLElement[]} */ ([...this.head.children]).find((one) => key && one.dataset.key === key);
    header?.querySelector("button")?.focus();
  }

  #resized() {
    const width = this.view.clientWidth;
    if (width && width !== this.width) {
      this.width = width;
      this.#chooseColumns(this.filtered);
    }
    this.#keepInSight();
    this.draw();
  }

  #scrolled() {
    this.inSight.scrolled(this.#position());
    this.draw();
  }

  /** Draw the visible rows. */
  draw() {
    if (!this.view.clientHeight) return;
    const first = Math.min(Math.floor(this.view.scrollTop / ROW_HEIGHT), Math.max(0, this.shown.length - 1));
    const last = Math.min(this.shown.length, first + Math.ceil(this.view.clientHeight / ROW_HEIGHT) + 1);
    const visible = this.shown.slice(first, last);
    this.body.style.transform = `translateY(${first * ROW_HEIGHT}px)`;
    /** @type {string | null} */
    let active = null;
    this.#elements(visible).forEach((element, k) => (active = this.#fill(element, visible[k], first + k) ?? active));
    setAttribute(this.view, "aria-activedescendant", active);
    this.options.onVisible?.(visible.flatMap((row) => (row instanceof Heading ? [] : [row])));
  }

  /** @param {Row | Heading<Row>} row @returns {(Key | null)[]} */
  #keys(row) {
    if (row instanceof Heading) return [];
    return this.options.parts?.(row) ?? [this.options.key(row)];
  }

  /** Return the position of the selected row, or -1. */
  #position() {
    const { shown, selected } = this;
    if (this.cachedSelection.shown === shown && this.cachedSelection.selected === selected) return this.cachedSelection.position;
    const position = selected === null ? -1 : shown.findIndex((row) => this.#keys(row).includes(selected));
    this.cachedSelection = { shown, selected, position };
    return position;
  }

  /** Return the number of rows above the selected one to keep visible, up to its heading. @param {number} position */
  #above(position) {
    for (let above = 1; above <= MOST_ABOVE && above <= position; above++) if (this.shown[position - above] instanceof Heading) return above;
    return 0;
  }

  #keepInSight() {
    const position = this.#position();
    this.inSight.keep(position, this.#above(position));
  }

  /** @param {Column<Row>} column */
  #header(column) {
    const button = make("button", {
      type: "button",
      class: "hs-sort",
      text: column.title,
      "aria-label": column.label,
      onclick: () => this.#sortBy(column.key),
    });
    return make("div", { class: column.number ? "hs-number" : "", role: "columnheader", "aria-sort": "none", "data-key": column.key, "data-part": column.part }, [button]);
  }

  /** Cycle the sort order: ascending, descending, order of arrival. @param {string} key */
  #sortBy(key) {
    if (this.sortKey !== key) [this.sortKey, this.sortDirection] = [key, 1];
    else if (this.sortDirection === 1) this.sortDirection = -1;
    else this.sortKey = "";
    this.#drawOrder();
    this.schedule();
  }

  #drawOrder() {
    const direction = this.sortDirection === 1 ? "ascending" : "descending";
    this.columns.forEach((column, k) => setAttribute(this.head.children[k], "aria-sort", column.key === this.sortKey ? direction : "none"));
  }

  /** Return an element for each of these rows, reusing existing ones of the same kind. @param {(Row | Heading<Row>)[]} visible */
  #elements(visible) {
    const { body } = this;
    const there = /** @type {HTMLElement[]} */ ([...body.children]);
    const [headings, rows] = [true, false].map((heading) => there.filter((one) => one.hasAttribute("data-heading") === heading));
    const elements = visible.map((row) => (row instanceof Heading ? headings : rows).shift() ?? this.#newRow(row instanceof Heading));
    for (const left of [...headings, ...rows]) left.remove();
    elements.forEach((element, k) => body.children[k] !== element && body.insertBefore(element, body.children[k] ?? null));
    return elements;
  }

  /** @param {boolean} heading */
  #newRow(heading) {
    const cells = heading
      ? [make("div", { class: "hs-grid-heading", role: "gridcell", "aria-colspan": this.columns.length })]
      : this.columns.map((c) => make("div", { class: c.number ? "hs-number" : "hs-text", role: "gridcell", "data-key": c.key, "data-part": c.part }));
    return make("div", { class: "hs-grid-row", role: "row", "data-heading": heading ? "" : null }, cells);
  }

  /** Draw a row into an element; return the id of its selected part. @param {HTMLElement} element @param {Row | Heading<Row>} row @param {number} position */
  #fill(element, row, position) {
    element.dataset.position = String(position);
    setAttribute(element, "aria-rowindex", position + 2);
    if (!(row instanceof Heading)) return this.#fillCells(element, row);
    this.options.group?.draw(/** @type {HTMLElement} */ (element.firstElementChild), row.rows);
    return null;
  }

  /** @param {HTMLElement} element @param {Row} row */
  #fillCells(element, row) {
    const { state, onSelect } = this.options;
    const keys = this.#keys(row);
    const part = this.selected === null ? -1 : keys.indexOf(this.selected);
    setAttribute(element, "id", `${this.id}-${this.options.key(row)}`);
    setAttribute(element, "data-state", keys.length === 1 ? state?.(row, 0) : null);
    setAttribute(element, "aria-selected", onSelect ? part >= 0 : null);
    let active = part >= 0 ? element.id : null;
    this.columns.forEach((column, k) => {
      const cell = /** @type {HTMLElement} */ (element.children[k]);
      this.#fillCell(cell, column, row);
      if (column.part === undefined) return;
      setAttribute(cell, "data-state", state?.(row, column.part));
      setAttribute(cell, "data-selected", column.part === part ? "" : null);
      const first = this.columns[k - 1]?.part !== column.part;
      setAttribute(cell, "id", first ? `${element.id}-${column.part}` : null);
      if (first && column.part === part) active = cell.id;
    });
    return active;
  }

  /** @param {HTMLElement} cell @param {Column<Row>} column @param {Row} row */
  #fillCell(cell, column, row) {
    if (column.tinted) {
      const tint = this.tints.get(column.key)?.(Number(column.value(row))) ?? 0;
      cell.style.setProperty("--hs-tint", `${Math.round(100 * tint)}%`);
    }
    if (column.draw) return column.draw(cell, row);
    const text = column.text ? column.text(row) : String(column.value(row));
    setText(cell, text);
    setAttribute(cell, "title", column.number ? null : text);
  }

  /** @param {MouseEvent} event */
  #clicked(event) {
    const element = closest(event.target, ".hs-grid-row[data-position]");
    if (!element || closest(event.target, "input, button")) return;
    const part = closest(event.target, "[data-part]")?.dataset.part;
    const position = Number(element.dataset.position);
    const row = this.shown[position] instanceof Heading ? position + 1 : position; // a heading represents its first row
    this.#select(row, part === undefined ? this.side : Number(part));
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    if (event.target !== this.view || !this.options.onSelect) return;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") return this.#keyedAcross(event);
    const page = Math.max(1, Math.floor(this.view.clientHeight / ROW_HEIGHT) - 2);
    const now = this.#position();
    /** @type {Record<string, [number, number]>} the target position, and the direction of the search for a row there */
    const targets = {
      ArrowDown: [now + 1, 1],
      ArrowUp: [now - 1, -1],
      PageDown: [now + page, 1],
      PageUp: [now - page, -1],
      Home: [0, 1],
      End: [this.shown.length - 1, -1],
    };
    if (!(event.key in targets) || !this.shown.length) return;
    event.preventDefault();
    const [target, way] = targets[event.key];
    const start = Math.max(0, Math.min(this.shown.length - 1, target));
    // Headings are skipped; at either end, search in the other direction for the nearest row.
    for (const step of [way, -way]) {
      for (let position = start; position >= 0 && position < this.shown.length; position += step) {
        if (!(this.shown[position] instanceof Heading)) return this.#select(position, this.side);
      }
    }
  }

  /** Move the selection between parts of the selected row. @param {KeyboardEvent} event */
  #keyedAcross(event) {
    const position = this.#position();
    const keys = position < 0 ? [] : this.#keys(this.shown[position]);
    if (keys.length < 2 || this.selected === null) return;
    event.preventDefault();
    const by = event.key === "ArrowRight" ? 1 : -1;
    const next = keys.indexOf(this.selected) + by;
    if (keys[next] === null || keys[next] === undefined) return;
    this.#select(position, next);
  }

  /** Select a part of a row, or an existing part if it lacks that one. @param {number} position @param {number} wantedSide */
  #select(position, wantedSide) {
    const row = this.shown[position];
    if (!row || row instanceof Heading || !this.options.onSelect) return;
    const keys = this.#keys(row);
    const has = (/** @type {number} */ part) => keys[part] !== null && keys[part] !== undefined;
    const part = has(wantedSide) ? wantedSide : keys.findIndex((_, k) => has(k));
    this.side = wantedSide;
    this.selected = keys[part];
    this.reveal();
    this.options.onSelect(row, part);
  }

  /** Scroll to the selected row, if there is one, and keep it in view from now on. */
  reveal() {
    const position = this.#position();
    this.inSight.show(position, this.#above(position));
    this.draw();
  }
}
