// One matrix as colors: a canvas of one pixel for each cell, which the browser enlarges, with the indices at its
// edges. The colors are the same in both themes, so that a picture means the same to everybody.

import { make, setAttribute, setText } from "../../static/dom.js";
import { formatNumber } from "../../static/format.js";

/**
 * @typedef {{title: string, rows: number, columns: number, low: number, high: number, minimum: number,
 *   maximum: number, nan: number, positive_inf: number, negative_inf: number, levels: Uint8Array,
 *   numbers: Float64Array}} Picture
 */
/** @typedef {[number, number, number]} Rgb */

/** Colors from low to high: of values of one sign, and of values around zero, which is the middle. */
/** @type {Rgb[]} */
const ONE_SIGN = [[16, 24, 72], [36, 88, 156], [98, 146, 170], [206, 190, 122], [255, 242, 160]];
/** @type {Rgb[]} */
const TWO_SIGNS = [[18, 62, 150], [126, 172, 222], [244, 244, 240], [236, 148, 116], [160, 18, 40]];
/** What is not finite has colors that are in neither. */
/** @type {Record<"NaN" | "inf" | "−inf", Rgb>} */
export const FAULT_COLORS = { NaN: [230, 0, 230], inf: [40, 215, 60], "−inf": [0, 105, 45] };
/** The largest side of one cell, and the smallest of a matrix, in CSS pixels. */
const MOST_SIDE = 36;
const LEAST_SIDE = 26;
/** How many times longer than wide a matrix is before its cells are stretched, and how far they are. */
const MOST_STRETCH = 4;

/** 256 colors between stops. @param {Rgb[]} stops */
function colorTable(stops) {
  const colors = new Uint8Array(768);
  for (let level = 0; level < 256; level++) {
    const place = (level / 255) * (stops.length - 1);
    const below = Math.min(stops.length - 2, Math.floor(place));
    for (let k = 0; k < 3; k++) colors[level * 3 + k] = stops[below][k] + (stops[below + 1][k] - stops[below][k]) * (place - below);
  }
  return colors;
}
const COLOR_TABLES = { one: colorTable(ONE_SIGN), two: colorTable(TWO_SIGNS) };

/** @param {Picture} picture */
function colorsOf(picture) {
  return picture.low < 0 && picture.high > 0 ? COLOR_TABLES.two : COLOR_TABLES.one;
}

/** Paint a matrix, one pixel a cell. @param {HTMLCanvasElement} canvas @param {Picture} picture */
export function paintMatrix(canvas, picture) {
  canvas.width = Math.max(1, picture.columns);
  canvas.height = Math.max(1, picture.rows);
  const context = canvas.getContext("2d");
  if (!context || !picture.numbers.length) return;
  const image = context.createImageData(picture.columns, picture.rows);
  const colors = colorsOf(picture);
  picture.numbers.forEach((number, k) => {
    const level = picture.levels[k] * 3;
    const fault = Number.isNaN(number) ? "NaN" : number === Infinity ? "inf" : number === -Infinity ? "−inf" : "";
    for (let c = 0; c < 3; c++) image.data[k * 4 + c] = fault ? FAULT_COLORS[fault][c] : colors[level + c];
    image.data[k * 4 + 3] = 255;
  });
  context.putImageData(image, 0, 0);
}

/** The range of the colors, and those of what is not finite where there is any. @param {Picture} picture */
export function heatmapLegend(picture) {
  const colors = colorsOf(picture);
  const stops = [0, 64, 128, 192, 255].map((level) => `rgb(${colors.subarray(level * 3, level * 3 + 3).join(" ")})`);
  const bar = make("span", { class: "hs-ramp" });
  bar.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
  const children = [make("span", { text: formatNumber(picture.low) }), bar, make("span", { text: formatNumber(picture.high) })];
  for (const [name, count] of /** @type {const} */ ([["NaN", picture.nan], ["inf", picture.positive_inf], ["−inf", picture.negative_inf]])) {
    if (!count) continue;
    const swatch = make("span", { class: "hs-swatch" });
    swatch.style.background = `rgb(${FAULT_COLORS[name].join(" ")})`;
    children.push(make("span", { class: "hs-legend-fault" }, [swatch, `${count} ${name}`]));
  }
  return make("div", { class: "hs-legend", "aria-hidden": "true" }, children);
}

/** What a picture is, for those who do not see it. @param {Picture} picture @param {string} kind @param {string} shape */
export function pictureInWords(picture, kind, shape) {
  const faults = [[picture.nan, "NaN"], [picture.positive_inf, "inf"], [picture.negative_inf, "−inf"]]
    .filter(([count]) => count)
    .map(([count, name]) => `, ${count} ${name}`);
  const range = Number.isNaN(picture.minimum) ? "no finite values" : `from ${formatNumber(picture.minimum)} to ${formatNumber(picture.maximum)}`;
  return `${kind} of ${picture.title}: ${shape}, ${range}${faults.join("")}`;
}

/**
 * A heatmap with its indices. `onPoint` is told the cell under the pointer, or null when it has left.
 * @param {(row: number, column: number, isLeaving: boolean) => void} onPoint
 */
export function createHeatmap(onPoint) {
  const canvas = make("canvas", { class: "hs-heatmap" });
  const cursor = make("div", { class: "hs-cursor", hidden: "" });
  const surface = make("div", { class: "hs-surface", role: "img", tabindex: "0" }, [canvas, cursor]);
  const top = make("span");
  const bottom = make("span");
  const left = make("span");
  const right = make("span");
  const element = make("div", { class: "hs-matrix" }, [
    make("div", { class: "hs-row-index", "aria-hidden": "true" }, [top, bottom]),
    surface,
    make("div", { class: "hs-column-index", "aria-hidden": "true" }, [left, right]),
  ]);
  let rows = 1;
  let columns = 1;

  /** @param {PointerEvent} event */
  function point(event) {
    const box = surface.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / box.height) * rows);
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    onPoint(Math.max(0, Math.min(rows - 1, row)), Math.max(0, Math.min(columns - 1, column)), false);
  }
  surface.addEventListener("pointermove", point);
  surface.addEventListener("pointerdown", point);
  surface.addEventListener("pointerleave", () => onPoint(0, 0, true));

  return {
    element,
    surface,
    /** @param {Picture} picture @param {number[]} window @param {string} label @param {{width: number, height: number}} room */
    update(picture, window, label, room) {
      [rows, columns] = [Math.max(1, picture.rows), Math.max(1, picture.columns)];
      paintMatrix(canvas, picture);
      // Cells are squares, which a long matrix would make too thin to point at: those may be as much longer one way.
      const side = Math.min(MOST_SIDE, room.width / columns, room.height / rows);
      const long = Math.min(MOST_STRETCH, Math.max(rows / columns, columns / rows) / MOST_STRETCH);
      const [across, down] = rows > columns ? [side * Math.max(1, long), side] : [side, side * Math.max(1, long)];
      surface.style.width = `${Math.round(Math.max(LEAST_SIDE, Math.min(room.width, across * columns)))}px`;
      surface.style.height = `${Math.round(Math.max(LEAST_SIDE, Math.min(room.height, down * rows)))}px`;
      setAttribute(surface, "aria-label", label);
      setText(top, String(window[0]));
      setText(bottom, window[1] - window[0] > 1 ? String(window[1] - 1) : "");
      setText(left, String(window[2]));
      setText(right, window[3] - window[2] > 1 ? String(window[3] - 1) : "");
    },
    /** Frame a cell; with null, none. @param {[number, number] | null} cell */
    mark(cell) {
      cursor.hidden = !cell;
      if (!cell) return;
      cursor.style.left = `${(cell[1] / columns) * 100}%`;
      cursor.style.top = `${(cell[0] / rows) * 100}%`;
      cursor.style.width = `${100 / columns}%`;
      cursor.style.height = `${100 / rows}%`;
    },
  };
}
