// The selected capture as pictures: bars, heatmap, channels or table, next to another capture and their difference.
// Python sends the data of the requested slice and window that fits on the screen, one reply at a time.

import { make, setText } from "../../static/dom.js";
import { parseNumber, toFloat64 } from "../../static/format.js";
import { createTheme } from "./colors.js";
import { createComparison } from "./comparison.js";
import { heatmapLegend } from "./heatmap.js";
import { Matrices } from "./matrices.js";
import { createTiles, drawTable } from "./pictures.js";
import { createKinds, createSliders } from "./slice_controls.js";

/** @typedef {import("./heatmap.js").Picture} Picture */
/** @typedef {import("./slice_controls.js").Axis} Axis */
/** @typedef {import("./slice_controls.js").Kind} Kind */
/** @typedef {import("../../static/python.js").Selection} Selection */
/** @typedef {import("../../static/python.js").Slice} Slice */

/** Maximum side of a matrix shown as a table of readable values. */
const MOST_IN_TABLE = 16;
const MOST_ON_PAGE = 32; // MOST_TILES in tensor.py
const ATTENTION = "each row sums to 1: the weights of the keys (columns) for a query (row)";

export class Tensor {
  /** @param {import("../../static/types.js").Send} send @param {(index: number) => void} [pinned] called with the index of the reference of comparisons */
  constructor(send, pinned) {
    this.send = send;
    /** @type {Selection | null} */
    this.selection = null;
    /** The user's choice; it also applies to later captures that support it. @type {Kind | ""} */
    this.chosenKind = "";
    /** @type {number[]} */
    this.at = [];
    /** @type {number[]} */
    this.window = [];
    /** @type {Slice | null} */
    this.currentSlice = null;
    /** @type {Picture[]} */
    this.pictures = [];
    this.isPending = false;
    this.again = false;
    this.focusNext = false; // the focused tile is removed, so the matrix gets the focus
    this.kinds = createKinds((kind) => this.#chooseKind(kind));
    this.sliders = createSliders((axis, value) => {
      this.at[axis] = value;
      this.#ask();
    });
    this.matrices = new Matrices((window) => this.#look(window), () => this.isPending);
    this.tiles = createTiles((channel) => {
      this.#chooseKind("matrix", channel);
      this.focusNext = true;
    });
    this.comparing = createComparison(send, (index) => {
      pinned?.(index);
      this.#compare();
    });
    this.theme = createTheme(() => this.#draw());
    const copy = make("button", { type: "button", class: "hs-button", text: "Copy as NumPy", onclick: () => this.#askForCode() });
    this.code = make("textarea", { class: "hs-code", readonly: "", rows: 4, "aria-label": "NumPy code", spellcheck: "false", hidden: "" });
    this.note = make("div", { class: "hs-note" });
    this.body = make("div", { class: "hs-pictures" });
    const bar = make("div", { class: "hs-tensor-bar" }, [this.kinds.element, this.matrices.zooms, this.sliders.element]);
    this.element = make("div", { class: "hs-tensor" }, [bar, this.code, this.matrices.readout, this.body, this.note, this.theme.element]);
    /** Actions on the complete capture. */
    this.tools = make("div", { class: "hs-tools" }, [...this.comparing.tools, copy]);
    // Pictures fit the available width, which is zero while another tab is shown.
    let width = 0;
    this.resize = new ResizeObserver(() => {
      if (this.body.clientWidth === width || !this.body.clientWidth) return;
      width = this.body.clientWidth;
      if (this.currentSlice) this.#draw();
    });
    this.resize.observe(this.body);
  }

  #sizes() {
    return this.selection?.sizes ?? [];
  }

  /** @returns {Kind} */
  #kind() {
    const axes = this.#sizes().length;
    if (this.chosenKind === "tiles" && axes >= 3) return "tiles";
    if (this.chosenKind === "table" && this.#fitsTable()) return "table";
    if (this.chosenKind || this.comparing.other() >= 0) return "matrix";
    return axes >= 4 || this.selection?.attention ? "tiles" : "matrix";
  }

  /** Return the noun for one tile. Attention weights with three axes have a map for each head, or for each batch element. */
  #tileName() {
    if (!this.selection?.attention) return "channel";
    return this.#sizes().length === 4 ? "head" : "map";
  }

  #fitsTable() {
    return this.#sizes().slice(-2).every((size) => size > 0 && size <= MOST_IN_TABLE);
  }

  /** Show pictures of a kind; with a channel, the matrix of that channel. @param {Kind} newKind @param {number} [channel] */
  #chooseKind(newKind, channel) {
    const before = this.#kind();
    const axis = this.#sizes().length - 3;
    this.chosenKind = newKind;
    if (newKind !== before) this.window = [];
    // The last index is a channel for a matrix, and a page of channels for tiles.
    if (channel !== undefined) this.at[axis] = channel;
    else if (before !== "tiles" && newKind === "tiles") this.at[axis] = Math.floor(this.at[axis] / MOST_ON_PAGE);
    else if (before === "tiles" && newKind !== "tiles") this.at[axis] = (this.at[axis] ?? 0) * MOST_ON_PAGE;
    this.#arrange();
    this.#ask();
  }

  /** Show two captures as heatmaps; other pictures show a single capture. */
  #compare() {
    if (this.comparing.other() >= 0 && this.#kind() !== "matrix") this.#chooseKind("matrix");
    this.#arrange();
    this.#ask();
  }

  #other() {
    return this.#kind() === "matrix" ? this.comparing.other() : -1;
  }

  /** @param {number[]} window */
  #look(window) {
    this.window = window;
    this.#ask();
  }

  /** Request the picture after the last reply has arrived. */
  #ask() {
    if (!this.selection) return;
    if (this.isPending) {
      this.again = true;
      return;
    }
    this.isPending = true;
    this.send({ type: "tensor", index: this.selection.index, other: this.#other(), picture: this.#kind() === "tiles" ? "tiles" : "matrix", at: this.at, window: this.window });
  }

  /** Update the controls to the shape of the selected capture. */
  #arrange() {
    const now = this.#kind();
    const axes = this.#axes(now);
    this.kinds.update(now, this.#sizes().length, Boolean(this.selection?.attention), this.#fitsTable());
    this.matrices.zooms.hidden = now !== "matrix" || !this.#sizes().length;
    this.at = axes.map(({ size }, k) => Math.min(this.at[k] ?? 0, Math.max(0, size - 1)));
    this.sliders.update(axes, this.at);
  }

  /** Return the axes with sliders: the axes before the matrix, and the page of many channels. @param {Kind} kind @returns {Axis[]} */
  #axes(kind) {
    const sizes = this.#sizes();
    const names = this.selection?.attention ? (sizes.length === 4 ? ["batch", "head"] : ["map"]) : [];
    const before = kind === "tiles" ? sizes.slice(0, -3) : sizes.slice(0, -2);
    const axes = before.map((size, k) => ({ name: names[k] ?? `axis ${k}`, size, text: (/** @type {number} */ value) => `${value} of 0-${size - 1}` }));
    const channels = sizes[sizes.length - 3];
    if (kind === "tiles" && channels > MOST_ON_PAGE) {
      const text = (/** @type {number} */ page) => `${page * MOST_ON_PAGE}-${Math.min(channels, (page + 1) * MOST_ON_PAGE) - 1} of ${channels}`;
      axes.push({ name: `${this.#tileName()}s`, size: Math.ceil(channels / MOST_ON_PAGE), text });
    }
    return axes;
  }

  /** @param {Selection} next */
  select(next) {
    const sameShape = String(next.sizes) === String(this.#sizes());
    const sameCapture = next.index === this.selection?.index;
    this.selection = next;
    if (!sameCapture) this.code.hidden = true;
    if (!sameShape) [this.at, this.window, this.matrices.cursor] = [[], [], null];
    this.comparing.select(next);
    this.#arrange();
    if (!sameCapture) this.#ask();
  }

  /** Handle a picture from Python: its facts, and two buffers for each. @param {Slice} slice @param {DataView[]} buffers */
  receive(slice, buffers) {
    if (!this.selection || slice.index !== this.selection.index) return;
    if (slice.other < 0 && this.#other() >= 0 && !this.again) this.comparing.lose();
    this.currentSlice = slice;
    this.pictures = slice.pictures.map((facts, k) => ({
      ...facts,
      low: parseNumber(facts.low),
      high: parseNumber(facts.high),
      minimum: parseNumber(facts.minimum),
      maximum: parseNumber(facts.maximum),
      levels: toBytes(buffers[2 * k]),
      numbers: toFloat64(buffers[2 * k + 1]),
    }));
    if (slice.picture === "matrix" && this.window.length) this.window = slice.window;
    this.#draw();
  }

  #draw() {
    const { currentSlice, pictures, selection, matrices } = this;
    if (!currentSlice || !selection) return;
    matrices.show(selection, currentSlice, pictures);
    if (currentSlice.picture === "tiles") this.#put([this.tiles.element, heatmapLegend(together(pictures))], () => this.tiles.update(pictures, this.#tileName(), this.theme.colors()));
    else if (this.#kind() === "table" && currentSlice.step.every((step) => step === 1)) this.#put([drawTable(pictures[0], currentSlice.window)]);
    else this.#put(matrices.draw(this.body.clientWidth, this.theme.colors()));
    const attention = selection.attention && currentSlice.other < 0 ? ATTENTION : "";
    setText(this.note, [currentSlice.difference, attention, currentSlice.note].filter(Boolean).join("; "));
    matrices.drawCursor();
    if (this.focusNext && currentSlice.picture === "matrix") {
      this.focusNext = false;
      matrices.focus();
    }
  }

  /** Replace the pictures; existing ones stay, with the focus. @param {HTMLElement[]} elements @param {() => void} [fill] called after they are on the page */
  #put(elements, fill) {
    const { body } = this;
    for (const child of [...body.children]) if (!elements.includes(/** @type {HTMLElement} */ (child))) child.remove();
    elements.forEach((element, k) => body.children[k] !== element && body.insertBefore(element, body.children[k] ?? null));
    fill?.();
  }

  /** Request code for the visible slice; for a page of channels, for the array at the indices before them. */
  #askForCode() {
    const { selection, currentSlice } = this;
    if (selection && currentSlice) this.send({ type: "code", index: selection.index, at: currentSlice.picture === "tiles" ? currentSlice.at.slice(0, -1) : currentSlice.at });
  }

  /** Copy code to the clipboard, or show it for manual copying if the browser denies access. @param {{code: string}} message */
  async copyCode({ code }) {
    this.code.value = code;
    try {
      await navigator.clipboard.writeText(code);
      setText(this.matrices.readout, "Copied.");
    } catch {
      this.code.hidden = false;
      this.code.focus();
      this.code.select();
    }
  }

  /** Handle Python's confirmation of a request, and send the next one. */
  confirmed() {
    this.isPending = false;
    if (!this.again) return;
    this.again = false;
    this.#ask();
  }

  destroy() {
    this.comparing.destroy();
    this.resize.disconnect();
  }
}

/** Combine the facts of tiles: their color range is common, and their faults are counted. @param {Picture[]} pictures @returns {Picture} */
function together(pictures) {
  const sum = (/** @type {"nan" | "positive_inf" | "negative_inf" | "count"} */ name) => pictures.reduce((all, picture) => all + picture[name], 0);
  const [first] = pictures;
  const same = pictures.every((picture) => picture.same === first.same) ? first?.same ?? "" : "";
  return { ...(first ?? NOTHING), same, count: sum("count"), nan: sum("nan"), positive_inf: sum("positive_inf"), negative_inf: sum("negative_inf") };
}

/** @type {Picture} */
const NOTHING = {
  title: "", rows: 0, columns: 0, low: 0, high: 0, minimum: NaN, maximum: NaN, nan: 0, positive_inf: 0, negative_inf: 0, count: 0, same: "",
  levels: new Uint8Array(0), numbers: new Float64Array(0),
};

/** @param {DataView | undefined} view */
function toBytes(view) {
  return view ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength) : new Uint8Array(0);
}
