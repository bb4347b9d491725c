// The selected capture as pictures: bars, heatmap, channels or table, beside another capture and their difference.
// Python sends what fits on the screen of the slice and window that are asked for, one answer at a time.

import { make, setAttribute, setText } from "./dom.js";
import { formatNumber, parseNumber, toFloat64 } from "./format.js";
import { createHeatmap, heatmapLegend, pictureInWords } from "./heatmap.js";
import { createTiles, drawBars, drawTable } from "./pictures.js";

/** @typedef {import("./types.js").Picture} Picture */
/** @typedef {import("./types.js").Selection} Selection */
/** @typedef {"matrix" | "tiles" | "table"} Kind */

const ZOOM = 1.6;
/** A table is for values that a person can read one by one. */
const MOST_IN_TABLE = 16;
const MOST_ON_PAGE = 32; // MOST_TILES in tensor_view.py
const HINT = "Arrow keys read values; + and − zoom, 0 shows all of it.";
const ATTENTION = "each row sums to 1: what a query (row) takes from the keys (columns)";

/** @param {import("./types.js").Send} send */
export function createTensor(send) {
  /** @type {Selection | null} */
  let selection = null;
  /** @type {Kind | ""} */
  let wanted = ""; // what a person chose; it holds for the next capture that can be shown so
  let other = -1;
  /** @type {number[]} */
  let at = [];
  /** @type {number[]} */
  let view = [];
  /** @type {any} */
  let shown = null;
  /** @type {Picture[]} */
  let pictures = [];
  /** @type {[number, number] | null} */
  let cursor = null;
  let waiting = false;
  let again = false;
  let focusNext = false; // the tile that had the focus goes: the matrix takes it

  const kinds = /** @type {const} */ ([["matrix", "Heatmap"], ["tiles", "Channels"], ["table", "Table"]]).map(([kind, text]) =>
    make("button", { type: "button", class: "hs-button", "data-kind": kind, text, onclick: () => chooseKind(kind) }),
  );
  const sliders = make("div", { class: "hs-sliders" });
  const compare = make("select", { class: "hs-select", "aria-label": "Compare with", onchange: () => compareWith(Number(compare.value)) });
  const zooms = make("div", { class: "hs-zoom", role: "group", "aria-label": "Zoom" }, [
    make("button", { type: "button", class: "hs-button", "aria-label": "Zoom out", text: "−", onclick: () => zoom(1 / ZOOM) }),
    make("button", { type: "button", class: "hs-button", "aria-label": "Zoom in", text: "+", onclick: () => zoom(ZOOM) }),
    make("button", { type: "button", class: "hs-button", text: "All", "aria-label": "Show all of it", onclick: () => look([]) }),
  ]);
  const copy = make("button", { type: "button", class: "hs-button", text: "Copy as NumPy", onclick: askForCode });
  const code = make("textarea", { class: "hs-code", readonly: "", rows: 4, "aria-label": "NumPy code", spellcheck: "false", hidden: "" });
  const readout = make("div", { class: "hs-readout", "aria-live": "polite" });
  const note = make("div", { class: "hs-note" });
  const body = make("div", { class: "hs-pictures" });
  const tiles = createTiles((channel) => {
    chooseKind("matrix", channel);
    focusNext = true;
  });
  const maps = [0, 1, 2].map(() => createHeatmap((row, column, leaves) => point(leaves ? null : [row, column])));
  for (const map of maps) {
    map.surface.addEventListener("keydown", keyed);
    for (const event of ["focus", "blur"]) map.surface.addEventListener(event, () => setCursor(cursor));
    map.surface.addEventListener("wheel", wheeled, { passive: false });
  }
  const element = make("div", { class: "hs-tensor" }, [
    make("div", { class: "hs-tensor-bar" }, [
      make("div", { class: "hs-kinds", role: "group", "aria-label": "Picture" }, kinds),
      zooms,
      sliders,
    ]),
    code,
    readout,
    body,
    note,
  ]);
  const tools = make("div", { class: "hs-tools" }, [compare, copy]);

  // Pictures fit the room there is, of which there is none while another tab is shown.
  let width = 0;
  const resize = new ResizeObserver(() => {
    if (body.clientWidth === width || !body.clientWidth) return;
    width = body.clientWidth;
    if (shown) draw();
  });
  resize.observe(body);

  const sizes = () => selection?.sizes ?? [];
  /** @returns {Kind} */
  function kind() {
    const axes = sizes().length;
    if (other >= 0) return "matrix";
    if (wanted === "tiles" && axes >= 3) return "tiles";
    if (wanted === "table" && fitsTable()) return "table";
    if (wanted) return "matrix";
    return axes >= 4 || selection?.attention ? "tiles" : "matrix";
  }
  /** What one tile shows. Weights of attention with three axes have a map for each head, or for each of a batch. */
  function tileName() {
    if (!selection?.attention) return "channel";
    return sizes().length === 4 ? "head" : "map";
  }
  function fitsTable() {
    return sizes().slice(-2).every((size) => size > 0 && size <= MOST_IN_TABLE);
  }

  /** Show the pictures of a kind; with a channel, the matrix of that one. @param {Kind} chosen @param {number} [channel] */
  function chooseKind(chosen, channel) {
    const before = kind();
    const axis = sizes().length - 3;
    wanted = chosen;
    if (chosen !== "matrix") other = -1;
    if (chosen !== before) view = [];
    // The last place is a channel in a matrix, and a page of channels among tiles.
    if (channel !== undefined) at[axis] = channel;
    else if (before !== "tiles" && chosen === "tiles") at[axis] = Math.floor(at[axis] / MOST_ON_PAGE);
    else if (before === "tiles" && chosen !== "tiles") at[axis] = (at[axis] ?? 0) * MOST_ON_PAGE;
    arrange();
    ask();
  }

  /** @param {number} index */
  function compareWith(index) {
    if (index >= 0 && kind() !== "matrix") chooseKind("matrix");
    other = index;
    arrange();
    ask();
  }

  /** Look at a window of the matrix; an empty one is all of it. @param {number[]} next */
  function look(next) {
    view = next;
    ask();
  }

  /** Ask for the picture, once the last answer is here. */
  function ask() {
    if (!selection) return;
    if (waiting) {
      again = true;
      return;
    }
    waiting = true;
    send({ type: "tensor", index: selection.index, other, picture: kind() === "tiles" ? "tiles" : "matrix", at, window: view });
  }

  /** Controls that fit the shape of the selected capture. */
  function arrange() {
    const now = kind();
    const axes = sizes().length;
    for (const button of kinds) {
      setAttribute(button, "aria-pressed", button.dataset.kind === now);
      if (button.dataset.kind === "matrix") setText(button, axes < 2 ? "Bars" : "Heatmap");
      if (button.dataset.kind === "tiles") {
        button.hidden = axes < 3;
        setText(button, selection?.attention ? "Attention" : "Channels");
      }
      if (button.dataset.kind === "table") button.hidden = !fitsTable();
    }
    zooms.hidden = now !== "matrix" || !sizes().length;
    const lead = now === "tiles" ? sizes().slice(0, -3) : sizes().slice(0, -2);
    const names = selection?.attention ? (axes === 4 ? ["batch", "head"] : ["map"]) : [];
    /** @type {[string, number, (value: number) => string][]} */
    const rows = lead.map((size, axis) => [names[axis] ?? `axis ${axis}`, size, (value) => `${value} of 0-${size - 1}`]);
    const channels = sizes()[axes - 3];
    if (now === "tiles" && channels > MOST_ON_PAGE) {
      rows.push([`${tileName()}s`, Math.ceil(channels / MOST_ON_PAGE), (page) => `${page * MOST_ON_PAGE}-${Math.min(channels, (page + 1) * MOST_ON_PAGE) - 1} of ${channels}`]);
    }
    at = rows.map(([, size], k) => Math.min(at[k] ?? 0, Math.max(0, size - 1)));
    const key = JSON.stringify(rows.map(([name, size]) => [name, size]));
    if (sliders.dataset.key !== key) {
      sliders.dataset.key = key;
      sliders.replaceChildren(...rows.map(([name, size, text], k) => makeSlider(name, size, text, k)));
    }
    [...sliders.children].forEach((label, k) => {
      const slider = /** @type {HTMLInputElement} */ (label.querySelector("input"));
      if (slider !== document.activeElement) slider.value = String(at[k]);
      setAttribute(slider, "aria-valuetext", rows[k][2](at[k]));
      setText(/** @type {HTMLElement} */ (label.lastElementChild), rows[k][2](at[k]));
    });
  }

  /** @param {string} name @param {number} size @param {(value: number) => string} text @param {number} k */
  function makeSlider(name, size, text, k) {
    const slider = make("input", { type: "range", class: "hs-range", min: 0, max: Math.max(0, size - 1), step: 1, disabled: size < 2 ? "" : null, "aria-label": name });
    const value = make("span", { class: "hs-range-value", text: text(at[k]) });
    slider.addEventListener("input", () => {
      at[k] = Number(slider.value);
      setText(value, text(at[k]));
      setAttribute(slider, "aria-valuetext", text(at[k]));
      ask();
    });
    return make("label", { class: "hs-slider" }, [make("span", { text: name }), slider, value]);
  }

  /** @param {Selection} next */
  function select(next) {
    const sameShape = String(next.sizes) === String(sizes());
    const sameCapture = next.index === selection?.index;
    selection = next;
    if (!sameCapture) code.hidden = true;
    if (!sameShape) [at, view, cursor] = [[], [], null];
    if (!next.choices.some((choice) => choice.index === other)) other = -1;
    const options = [{ index: -1, label: "Compare with…" }, ...next.choices];
    compare.replaceChildren(...options.map(({ index, label }) => make("option", { value: index, text: label })));
    compare.value = String(other);
    compare.hidden = !next.choices.length;
    arrange();
    if (!sameCapture) ask();
  }

  /** A picture from Python: its facts, then for each two buffers. @param {any} content @param {DataView[]} buffers */
  function receive(content, buffers) {
    if (content.index !== selection?.index) return;
    shown = content;
    pictures = content.pictures.map((/** @type {any} */ facts, /** @type {number} */ k) => ({
      ...facts,
      low: parseNumber(facts.low),
      high: parseNumber(facts.high),
      minimum: parseNumber(facts.minimum),
      maximum: parseNumber(facts.maximum),
      levels: toBytes(buffers[2 * k]),
      numbers: toFloat64(buffers[2 * k + 1]),
    }));
    if (content.picture === "matrix" && view.length) view = content.window;
    draw();
  }

  function draw() {
    const now = kind();
    if (shown.picture === "tiles") {
      const sum = (/** @type {"nan" | "positive_inf" | "negative_inf"} */ name) => pictures.reduce((all, picture) => all + picture[name], 0);
      const all = { ...(pictures[0] ?? NOTHING), nan: sum("nan"), positive_inf: sum("positive_inf"), negative_inf: sum("negative_inf") };
      if (tiles.element.parentElement !== body) body.replaceChildren(tiles.element);
      tiles.element.nextElementSibling?.remove();
      body.append(heatmapLegend(all));
      tiles.update(pictures, tileName());
    } else if (now === "table" && shown.step.every((/** @type {number} */ step) => step === 1)) {
      body.replaceChildren(drawTable(pictures[0], shown.window));
    } else {
      const boxes = pictures.map((picture, k) => drawMatrix(picture, k));
      if (body.childElementCount !== boxes.length || boxes.some((box, k) => box !== body.children[k])) body.replaceChildren(...boxes);
    }
    const attention = selection?.attention && other < 0 ? ATTENTION : "";
    setText(note, [shown.difference, attention, shown.note].filter(Boolean).join("; "));
    setCursor(cursor);
    if (focusNext && shown.picture === "matrix") {
      focusNext = false;
      maps[0].surface.focus();
    }
  }

  /** @type {HTMLElement[]} */
  const boxes = maps.map((map) => make("figure", { class: "hs-picture" }, [make("figcaption"), map.element, make("div")]));

  /** @param {Picture} picture @param {number} k */
  function drawMatrix(picture, k) {
    const wide = Math.max(120, body.clientWidth - 60); // less the indices of the rows
    const room = pictures.length > 1 ? { width: Math.min(210, wide), height: 170 } : { width: Math.min(560, wide), height: 230 };
    const shape = shown.at.length ? `slice [${shown.at.join(", ")}], ${shown.size.join("x")}` : selection?.shape ?? "";
    const isBars = sizes().length < 2;
    maps[k].update(picture, shown.window, pictureInWords(picture, isBars ? "Bars" : "Heatmap", shape), room);
    const old = maps[k].surface.querySelector("svg");
    if (isBars) {
      maps[k].surface.style.width = `${room.width}px`;
      maps[k].surface.style.height = "120px";
      const bars = drawBars(picture, room.width);
      if (old) old.replaceWith(bars);
      else maps[k].surface.prepend(bars);
    } else old?.remove();
    setAttribute(maps[k].surface, "data-bars", isBars ? "" : null);
    const [title, , range] = boxes[k].children;
    setText(title, pictures.length > 1 ? picture.title : "");
    setAttribute(title, "title", picture.title);
    range.replaceChildren(heatmapLegend(picture));
    return boxes[k];
  }

  /** The pointer is over a cell, or has left. @param {[number, number] | null} cell */
  function point(cell) {
    setCursor(cell && shown ? [shown.window[0] + cell[0] * shown.step[0], shown.window[2] + cell[1] * shown.step[1]] : null);
  }

  /** @param {[number, number] | null} place a row and a column of the whole matrix */
  function setCursor(place) {
    cursor = place;
    const cell = place && shown && shown.picture === "matrix" ? cellAt(place) : null;
    for (const map of maps) map.mark(cell);
    if (!cell || !place) {
      const focused = maps.some((map) => map.surface.matches(":focus-visible"));
      setText(readout, focused ? HINT : "");
      return;
    }
    const index = [0, 1].map((k) => {
      const first = shown.window[2 * k] + cell[k] * shown.step[k];
      const last = Math.min(first + shown.step[k], shown.window[2 * k + 1]) - 1;
      return last > first ? `${first}:${last + 1}` : String(first);
    });
    const where = [...shown.at, ...index].slice(-Math.max(1, sizes().length)).join(", ");
    const mean = shown.step.some((/** @type {number} */ step) => step > 1) ? " mean" : "";
    const values = pictures.map((picture) => formatNumber(picture.numbers[cell[0] * picture.columns + cell[1]], 6));
    const told = values.length > 1 ? `, ${values[1]}, difference ${values[2]}` : selection?.attention ? `: query ${index[0]}, key ${index[1]}` : "";
    setText(readout, `[${sizes().length ? where : ""}]${mean} = ${values[0]}${told}`);
  }

  /** @param {[number, number]} place @returns {[number, number] | null} */
  function cellAt([row, column]) {
    const cell = [Math.floor((row - shown.window[0]) / shown.step[0]), Math.floor((column - shown.window[2]) / shown.step[1])];
    const inside = cell[0] >= 0 && cell[1] >= 0 && cell[0] < pictures[0].rows && cell[1] < pictures[0].columns;
    return inside ? [cell[0], cell[1]] : null;
  }

  /** Show less or more, with what is under the cursor in its place. @param {number} factor */
  function zoom(factor) {
    if (!shown || shown.picture !== "matrix") return;
    const place = cursor ?? [(shown.window[0] + shown.window[1]) / 2, (shown.window[2] + shown.window[3]) / 2];
    const next = [0, 1].flatMap((k) => {
      const [first, last] = shown.window.slice(2 * k, 2 * k + 2);
      const size = Math.max(1, Math.min(shown.size[k], Math.round((last - first) / factor)));
      const share = (place[k] - first) / Math.max(1, last - first);
      const start = Math.max(0, Math.min(shown.size[k] - size, Math.round(place[k] - share * size)));
      return [start, start + size];
    });
    look(next[1] - next[0] === shown.size[0] && next[3] - next[2] === shown.size[1] ? [] : next);
  }

  /** The wheel zooms where the picture has the focus; elsewhere it scrolls the notebook. @param {WheelEvent} event */
  function wheeled(event) {
    if (event.currentTarget !== document.activeElement && !event.ctrlKey) return;
    event.preventDefault();
    if (event.deltaY && !waiting) zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM);
  }

  /** @param {KeyboardEvent} event */
  function keyed(event) {
    if (!shown || event.ctrlKey || event.metaKey || event.altKey) return;
    /** @type {Record<string, [number, number]>} */
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key in moves) move(moves[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(ZOOM);
    else if (event.key === "-") zoom(1 / ZOOM);
    else if (event.key === "0") look([]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Move the cursor by a cell, and the window with it where it would leave. @param {[number, number]} by */
  function move(by) {
    const place = cursor && cellAt(cursor) ? cursor : null;
    const next = [0, 1].map((k) => {
      const start = place ? place[k] + by[k] * shown.step[k] : shown.window[2 * k];
      return Math.max(0, Math.min(shown.size[k] - 1, start));
    });
    const window = [...shown.window];
    for (const k of [0, 1]) {
      const size = window[2 * k + 1] - window[2 * k];
      const shift = next[k] < window[2 * k] ? next[k] - window[2 * k] : Math.max(0, next[k] - window[2 * k + 1] + 1);
      const start = Math.max(0, Math.min(shown.size[k] - size, window[2 * k] + shift));
      [window[2 * k], window[2 * k + 1]] = [start, start + size];
    }
    if (String(window) !== String(shown.window)) look(window);
    setCursor([next[0], next[1]]);
  }

  /** Python writes the code of the slice that is shown; a page of channels shows what is behind the axes before them. */
  function askForCode() {
    if (selection && shown) send({ type: "code", index: selection.index, at: shown.picture === "tiles" ? shown.at.slice(0, -1) : shown.at });
  }

  /** To the clipboard, where the browser allows it; else it is shown to be copied by hand. @param {{code: string}} message */
  async function copyCode(message) {
    code.value = message.code;
    try {
      await navigator.clipboard.writeText(code.value);
      setText(readout, "Copied.");
    } catch {
      code.hidden = false;
      code.focus();
      code.select();
    }
  }

  return {
    element,
    /** What is done with the whole capture. */
    tools,
    select,
    receive,
    copyCode,
    /** Python has dealt with a question: the next one may go. */
    answered() {
      waiting = false;
      if (!again) return;
      again = false;
      ask();
    },
    destroy: () => resize.disconnect(),
  };
}

/** @type {Picture} */
const NOTHING = {
  title: "", rows: 0, columns: 0, low: 0, high: 0, minimum: NaN, maximum: NaN, nan: 0, positive_inf: 0, negative_inf: 0,
  levels: new Uint8Array(0), numbers: new Float64Array(0),
};

/** @param {DataView | undefined} view */
function toBytes(view) {
  return view ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength) : new Uint8Array(0);
}
