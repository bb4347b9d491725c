// One matrix, or two and their difference, with a common cursor: its readout, movement and zoom.

import { make, setAttribute, setText } from "../../static/dom.js";
import { formatNumber } from "../../static/format.js";
import { createHeatmap, heatmapLegend, pictureInWords } from "./heatmap.js";
import { drawBars } from "./pictures.js";
import { besideEachOther, setTitle } from "./titles.js";

/** @typedef {import("./colors.js").Colors} Colors */
/** @typedef {import("./heatmap.js").Picture} Picture */
/** @typedef {import("../../static/python.js").Selection} Selection */
/** @typedef {import("../../static/python.js").Slice} Slice */
/** @typedef {[number, number]} Indices a row and a column */

const ZOOM = 1.6;
const HINT = "Arrow keys read values; + and − zoom, 0 shows all of it.";

export class Matrices {
  /** @param {(window: number[]) => void} look requests a window of the matrix; an empty one is the full matrix @param {() => boolean} isWaiting */
  constructor(look, isWaiting) {
    this.look = look;
    this.isWaiting = isWaiting;
    /** @type {Selection | null} */
    this.selection = null;
    /** @type {Slice | null} */
    this.currentSlice = null;
    /** @type {Picture[]} */
    this.pictures = [];
    /** In indices of the full matrix. @type {Indices | null} */
    this.cursor = null;
    this.maps = [0, 1, 2].map(() => createHeatmap((row, column, leaves) => this.#point(leaves ? null : [row, column])));
    for (const { surface } of this.maps) {
      surface.addEventListener("keydown", (event) => this.#keyed(event));
      for (const event of ["focus", "blur"]) surface.addEventListener(event, () => this.drawCursor());
      surface.addEventListener("wheel", (event) => this.#wheeled(event), { passive: false });
    }
    this.boxes = this.maps.map((map) => make("figure", { class: "hs-picture" }, [make("figcaption"), map.element, make("div")]));
    this.readout = make("div", { class: "hs-readout", "aria-live": "polite" });
    this.zooms = make("div", { class: "hs-zoom", role: "group", "aria-label": "Zoom" }, [
      make("button", { type: "button", class: "hs-button", "aria-label": "Zoom out", text: "−", onclick: () => this.#zoom(1 / ZOOM) }),
      make("button", { type: "button", class: "hs-button", "aria-label": "Zoom in", text: "+", onclick: () => this.#zoom(ZOOM) }),
      make("button", { type: "button", class: "hs-button", text: "All", "aria-label": "Show all of it", onclick: () => look([]) }),
    ]);
  }

  /** Set the data to show. @param {Selection} selection @param {Slice} currentSlice @param {Picture[]} pictures */
  show(selection, currentSlice, pictures) {
    [this.selection, this.currentSlice, this.pictures] = [selection, currentSlice, pictures];
  }

  /** Draw the matrices within a width. @param {number} width @param {Colors} colors */
  draw(width, colors) {
    return this.pictures.map((picture, k) => this.#drawOne(picture, k, Math.max(120, width - 60), colors)); // minus the indices of the rows
  }

  /** @param {Picture} picture @param {number} k @param {number} wide @param {Colors} colors */
  #drawOne(picture, k, wide, colors) {
    const { at, size, window } = /** @type {Slice} */ (this.currentSlice);
    const several = this.pictures.length > 1;
    const room = several ? { width: Math.min(210, wide), height: 170 } : { width: Math.min(560, wide), height: 230 };
    const shape = at.length ? `slice [${at.join(", ")}], ${size.join("x")}` : (this.selection?.shape ?? "");
    const isBars = this.#axes() < 2;
    const { update, surface } = this.maps[k];
    update(picture, window, pictureInWords(picture, isBars ? "Bars" : "Heatmap", shape), room, colors);
    surface.querySelector("svg")?.remove();
    if (isBars) {
      surface.style.width = `${room.width}px`;
      surface.style.height = "120px";
      surface.prepend(drawBars(picture, room.width));
    }
    setAttribute(surface, "data-bars", isBars ? "" : null);
    const [title, , range] = this.boxes[k].children;
    if (several) this.#drawTitle(/** @type {HTMLElement} */ (title), k, room.width + 24);
    else title.replaceChildren();
    range.replaceChildren(heatmapLegend(picture));
    return this.boxes[k];
  }

  /** Draw the title of A, of B, or of the difference B − A. @param {HTMLElement} title @param {number} k @param {number} width */
  #drawTitle(title, k, width) {
    const name = make("span");
    setTitle(name, k < 2 ? besideEachOther(this.pictures.slice(0, 2).map((one) => one.title))[k] : "B − A");
    setAttribute(name, "title", k < 2 ? this.pictures[k].title : "B minus A");
    title.style.maxWidth = `${width}px`;
    title.replaceChildren(...(k < 2 ? [make("span", { class: "hs-badge hs-pinned", text: "AB"[k] })] : []), name);
  }

  #axes() {
    return this.selection?.sizes.length ?? 0;
  }

  focus() {
    this.maps[0].surface.focus();
  }

  /** Handle the pointer over a cell, or its leaving. @param {Indices | null} cell */
  #point(cell) {
    const { currentSlice } = this;
    this.cursor = cell && currentSlice ? [currentSlice.window[0] + cell[0] * currentSlice.step[0], currentSlice.window[2] + cell[1] * currentSlice.step[1]] : null;
    this.drawCursor();
  }

  drawCursor() {
    const cell = this.cursor && this.currentSlice?.picture === "matrix" ? this.#cellAt(this.cursor) : null;
    for (const map of this.maps) map.mark(cell);
    const hasFocus = this.maps.some((map) => map.surface.matches(":focus-visible"));
    setText(this.readout, cell ? this.#reading(cell) : hasFocus ? HINT : "");
  }

  /** Describe a cell: its indices, and its number in each picture. @param {Indices} cell */
  #reading(cell) {
    const { at, window, step } = /** @type {Slice} */ (this.currentSlice);
    const index = [0, 1].map((k) => {
      const first = window[2 * k] + cell[k] * step[k];
      const last = Math.min(first + step[k], window[2 * k + 1]) - 1;
      return last > first ? `${first}:${last + 1}` : String(first);
    });
    const where = [...at, ...index].slice(-Math.max(1, this.#axes())).join(", ");
    const mean = step.some((one) => one > 1) ? " mean" : "";
    const values = this.pictures.map((picture) => formatNumber(picture.numbers[cell[0] * picture.columns + cell[1]], 6));
    const position = `[${this.#axes() ? where : ""}]${mean}`;
    if (values.length > 1) return `${position}: A = ${values[0]}, B = ${values[1]}, B − A = ${values[2]}`;
    return `${position} = ${values[0]}${this.selection?.attention ? `: query ${index[0]}, key ${index[1]}` : ""}`;
  }

  /** @param {Indices} position @returns {Indices | null} */
  #cellAt([row, column]) {
    const { window, step } = /** @type {Slice} */ (this.currentSlice);
    const [down, across] = [Math.floor((row - window[0]) / step[0]), Math.floor((column - window[2]) / step[1])];
    const { rows, columns } = this.pictures[0];
    return down >= 0 && across >= 0 && down < rows && across < columns ? [down, across] : null;
  }

  /** Zoom in or out, keeping the element under the cursor in place. @param {number} factor */
  #zoom(factor) {
    const { currentSlice } = this;
    if (currentSlice?.picture !== "matrix") return;
    const position = this.cursor ?? [(currentSlice.window[0] + currentSlice.window[1]) / 2, (currentSlice.window[2] + currentSlice.window[3]) / 2];
    const next = [0, 1].flatMap((k) => {
      const [first, last] = currentSlice.window.slice(2 * k, 2 * k + 2);
      const size = Math.max(1, Math.min(currentSlice.size[k], Math.round((last - first) / factor)));
      const share = (position[k] - first) / Math.max(1, last - first);
      const start = Math.max(0, Math.min(currentSlice.size[k] - size, Math.round(position[k] - share * size)));
      return [start, start + size];
    });
    this.look(next[1] - next[0] === currentSlice.size[0] && next[3] - next[2] === currentSlice.size[1] ? [] : next);
  }

  /** Zoom by the wheel if the picture has the focus; otherwise the wheel scrolls the notebook. @param {WheelEvent} event */
  #wheeled(event) {
    if (event.currentTarget !== document.activeElement && !event.ctrlKey) return;
    event.preventDefault();
    if (event.deltaY && !this.isWaiting()) this.#zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM);
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    if (!this.currentSlice || event.ctrlKey || event.metaKey || event.altKey) return;
    /** @type {Record<string, Indices>} */
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key in moves) this.#move(this.currentSlice, moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.#zoom(ZOOM);
    else if (event.key === "-") this.#zoom(1 / ZOOM);
    else if (event.key === "0") this.look([]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Move the cursor by a cell, and the window if the cursor would leave it. @param {Slice} currentSlice @param {Indices} by */
  #move({ window, size, step }, by) {
    const position = this.cursor && this.#cellAt(this.cursor) ? this.cursor : null;
    const next = [0, 1].map((k) => Math.max(0, Math.min(size[k] - 1, position ? position[k] + by[k] * step[k] : window[2 * k])));
    const moved = [0, 1].flatMap((k) => {
      const [first, last] = window.slice(2 * k, 2 * k + 2);
      const shift = next[k] < first ? next[k] - first : Math.max(0, next[k] - last + 1);
      const start = Math.max(0, Math.min(size[k] - (last - first), first + shift));
      return [start, start + last - first];
    });
    if (String(moved) !== String(window)) this.look(moved);
    this.cursor = [next[0], next[1]];
    this.drawCursor();
  }
}
