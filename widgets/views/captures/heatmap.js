// One matrix as colors: a canvas with one pixel per cell, which the browser enlarges, with indices at its edges.

import { make, setAttribute, setText } from "../../static/dom.js";
import { formatNumber } from "../../static/format.js";
import { FAULTS, SCALES } from "./colors.js";

/** @typedef {import("./colors.js").Colors} Colors */
/** @typedef {import("./colors.js").Fault} Fault */
/**
 * @typedef {{title: string, rows: number, columns: number, low: number, high: number, minimum: number,
 *   maximum: number, nan: number, positive_inf: number, negative_inf: number, count: number, same: string,
 *   levels: Uint8Array, numbers: Float64Array}} Picture
 */

/** The maximum side of one cell, and the minimum side of a matrix, in CSS pixels. */
const MOST_SIDE = 36;
const LEAST_SIDE = 26;
/** The aspect ratio above which a matrix's cells are stretched, and their maximum stretch. */
const MOST_STRETCH = 4;

/** Return the color scale: for values of one sign, or around zero. @param {Picture} picture @returns {"one" | "two"} */
function scaleOf(picture) {
  return (picture.low < 0 && picture.high > 0) || (picture.low === 0 && picture.high === 0) ? "two" : "one";
}

/** Paint a matrix with one pixel per cell. @param {HTMLCanvasElement} canvas @param {Picture} picture @param {Colors} colors */
export function paintMatrix(canvas, picture, colors) {
  canvas.width = Math.max(1, picture.columns);
  canvas.height = Math.max(1, picture.rows);
  const context = canvas.getContext("2d");
  if (!context || !picture.numbers.length) return;
  const image = context.createImageData(picture.columns, picture.rows);
  const scale = colors[scaleOf(picture)];
  picture.numbers.forEach((number, k) => {
    const level = picture.levels[k] * 3;
    const fault = Number.isNaN(number) ? "NaN" : number === Infinity ? "inf" : number === -Infinity ? "−inf" : "";
    for (let c = 0; c < 3; c++) image.data[k * 4 + c] = fault ? colors.faults[fault][c] : scale[level + c];
    image.data[k * 4 + 3] = 255;
  });
  context.putImageData(image, 0, 0);
}

/** Describe the common value of all elements, if they are equal. @param {{count: number, same: string}} picture */
function sameInWords({ count, same }) {
  if (!same) return "";
  return count === 1 ? `the value is ${same}` : `all ${count.toLocaleString("en")} values are ${same}`;
}

/** Create a legend: the range of the colors, and those of nonfinite values if there are any. @param {Picture} picture */
export function heatmapLegend(picture) {
  const description = sameInWords(picture);
  /** @type {HTMLElement[]} */
  const children = [];
  if (description) children.push(make("strong", { class: "hs-same", text: description }));
  else children.push(make("span", { text: formatNumber(picture.low) }), makeRamp(scaleOf(picture)), make("span", { text: formatNumber(picture.high) }));
  for (const [name, count] of /** @type {[Fault, number][]} */ ([["NaN", picture.nan], ["inf", picture.positive_inf], ["−inf", picture.negative_inf]])) {
    if (!count) continue;
    const swatch = make("span", { class: "hs-swatch" });
    swatch.style.background = `var(${FAULTS[name]})`;
    children.push(make("span", { class: "hs-legend-fault" }, [swatch, `${count} ${name}`]));
  }
  return make("div", { class: "hs-legend", "aria-hidden": "true" }, children);
}

/** @param {"one" | "two"} scale */
function makeRamp(scale) {
  const ramp = make("span", { class: "hs-ramp" });
  ramp.style.background = `linear-gradient(90deg, ${SCALES[scale].map((name) => `var(${name})`).join(", ")})`;
  return ramp;
}

/** Describe a picture for screen readers. @param {Picture} picture @param {string} kind @param {string} shape */
export function pictureInWords(picture, kind, shape) {
  const same = sameInWords(picture);
  if (same) return `${kind} of ${picture.title}: ${shape}, ${same}`;
  const faults = [[picture.nan, "NaN"], [picture.positive_inf, "inf"], [picture.negative_inf, "−inf"]]
    .filter(([count]) => count)
    .map(([count, name]) => `, ${count} ${name}`);
  const range = Number.isNaN(picture.minimum) ? "no finite values" : `from ${formatNumber(picture.minimum)} to ${formatNumber(picture.maximum)}`;
  return `${kind} of ${picture.title}: ${shape}, ${range}${faults.join("")}`;
}

/**
 * Create a heatmap with indices. `onPoint` is called with the cell under the pointer, or with `isLeaving`.
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
    /** @param {Picture} picture @param {number[]} window @param {string} label @param {{width: number, height: number}} room @param {Colors} colors */
    update(picture, window, label, room, colors) {
      [rows, columns] = [Math.max(1, picture.rows), Math.max(1, picture.columns)];
      paintMatrix(canvas, picture, colors);
      // Cells are square; long matrices would be too thin to point at, so their cells may be stretched in one
      // direction.
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
