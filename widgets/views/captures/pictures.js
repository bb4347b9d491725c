// Other pictures of a slice: the values of one axis as bars, a few values as a table, channels as tiles.

import { make, makeSvg, setAttribute, setText } from "../../static/dom.js";
import { formatNumber } from "../../static/format.js";
import { paintMatrix } from "./heatmap.js";

/** @typedef {import("./colors.js").Colors} Colors */
/** @typedef {import("./heatmap.js").Picture} Picture */

const BARS_HEIGHT = 120;
/** The maximum side of a tile in CSS pixels, larger if there are few tiles. */
const SMALL_TILE = 64;
const LARGE_TILE = 104;
const FEW_TILES = 12;

/** Draw values as bars from zero; a nonfinite value is a full-height bar in the color of faults. @param {Picture} picture @param {number} width */
export function drawBars(picture, width) {
  const low = Math.min(0, picture.low);
  const high = Math.max(0, picture.high);
  const reach = high / 2 - low / 2 || 1; // halves, since a range may exceed the largest number
  const y = (/** @type {number} */ value) => 2 + (BARS_HEIGHT - 4) * ((high / 2 - value / 2) / reach);
  const step = width / Math.max(1, picture.columns);
  const gap = step > 4 ? 1 : 0;
  const parts = [...picture.numbers].map((number, k) => {
    const extent = { x: k * step + gap / 2, width: step - gap };
    if (!Number.isFinite(number)) return makeSvg("rect", { class: "hs-fault-bar", ...extent, y: 0, height: BARS_HEIGHT });
    return makeSvg("rect", { class: "hs-bin", ...extent, y: Math.min(y(number), y(0)), height: Math.max(1, Math.abs(y(number) - y(0))) });
  });
  parts.push(makeSvg("rect", { class: "hs-axis", x: 0, y: y(0), width, height: 1 }));
  return makeSvg("svg", { viewBox: `0 0 ${width} ${BARS_HEIGHT}`, width, height: BARS_HEIGHT, preserveAspectRatio: "none", "aria-hidden": "true" }, parts);
}

/** Create a table of every number of a small matrix, with the indices of its rows and columns. @param {Picture} picture @param {number[]} window */
export function drawTable(picture, window) {
  const head = make("tr", {}, [make("td"), ...Array.from({ length: picture.columns }, (_, c) => make("th", { scope: "col", text: window[2] + c }))]);
  const body = Array.from({ length: picture.rows }, (_, r) => {
    const numbers = picture.numbers.subarray(r * picture.columns, (r + 1) * picture.columns);
    const cells = [...numbers].map((number) => make("td", { class: Number.isFinite(number) ? "" : "hs-fault", text: formatNumber(number, 5) }));
    return make("tr", {}, [make("th", { scope: "row", text: window[0] + r }), ...cells]);
  });
  const table = make("table", { class: "hs-values", "aria-label": picture.title }, [make("thead", {}, [head]), make("tbody", {}, body)]);
  return make("div", { class: "hs-values-scroll", tabindex: "0", role: "region", "aria-label": `Values of ${picture.title}` }, [table]);
}

/**
 * Create tiles of channels; a click or Enter opens one, and arrow keys move between them.
 * @param {(channel: number) => void} onOpen
 */
export function createTiles(onOpen) {
  const element = make("div", { class: "hs-tiles", role: "group" });
  element.addEventListener("keydown", (event) => {
    const buttons = /** @type {HTMLElement[]} */ ([...element.children]);
    const now = buttons.findIndex((button) => button === event.target);
    /** @type {Record<string, number>} */
    const targets = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: buttons.length - 1 };
    const next = buttons[targets[event.key]];
    if (now < 0 || !next) return;
    event.preventDefault();
    for (const button of buttons) setAttribute(button, "tabindex", button === next ? 0 : -1);
    next.focus();
  });

  return {
    element,
    /** @param {Picture[]} pictures @param {string} kind the noun for one tile @param {Colors} colors */
    update(pictures, kind, colors) {
      setAttribute(element, "aria-label", `${kind[0].toUpperCase()}${kind.slice(1)}s`);
      const room = pictures.length > FEW_TILES ? SMALL_TILE : LARGE_TILE;
      while (element.childElementCount > pictures.length) element.lastElementChild?.remove();
      while (element.childElementCount < pictures.length) {
        const tile = make("button", { type: "button", class: "hs-tile", onclick: () => onOpen(Number(tile.dataset.channel)) }, [make("canvas", { class: "hs-heatmap" }), make("span")]);
        element.append(tile);
      }
      const focused = [...element.children].some((tile) => tile === document.activeElement);
      pictures.forEach((picture, k) => {
        const tile = /** @type {HTMLElement} */ (element.children[k]);
        const [canvas, name] = /** @type {[HTMLCanvasElement, HTMLElement]} */ (/** @type {unknown} */ ([...tile.children]));
        const faults = picture.nan + picture.positive_inf + picture.negative_inf;
        tile.dataset.channel = picture.title;
        if (!focused) setAttribute(tile, "tabindex", k ? -1 : 0);
        const range = picture.same ? `all ${picture.same}` : `from ${formatNumber(picture.minimum)} to ${formatNumber(picture.maximum)}`;
        setAttribute(tile, "aria-label", `${kind} ${picture.title}: ${range}${faults && !picture.same ? `, ${faults} not finite` : ""}`);
        setAttribute(tile, "title", picture.same ? `all values are ${picture.same}` : null);
        paintMatrix(canvas, picture, colors);
        const side = Math.min(room / Math.max(picture.rows, picture.columns), 24);
        canvas.style.width = `${Math.max(14, picture.columns * side)}px`;
        canvas.style.height = `${Math.max(14, picture.rows * side)}px`;
        setText(name, `${picture.title}${picture.same && picture.count > 1 ? ` all ${picture.same}` : faults ? " !" : ""}`);
      });
    },
  };
}
