// The columns of the captures' table: of a call what went in, and what came out.

import { make, setAttribute } from "../../static/dom.js";
import { formatCount, formatNumber } from "../../static/format.js";
import { IN, OUT } from "./calls.js";
import { makeName } from "./titles.js";

/** @typedef {import("./calls.js").Line} Line */
/** @typedef {import("./rows.js").CaptureRow} CaptureRow */
/** @typedef {import("../../static/grid.js").Column<Line>} Column */

/** Where a capture comes from, if not from the watching itself: on its badge, and in words. @type {Record<string, [string, string]>} */
export const ORIGINS = { hook: ["hook", "recorded by a hook"], edit: ["edited", "edited at a pause"] };

/** From which width of the table on a figure is shown, in CSS pixels; the others are those of the selected capture. */
const ROOM = { shape: 560, maximum: 680, minimum: 800, mean: 960, dtype: 1240 };
/** Figures in the list have so many digits, for the room; the selected capture's have more. */
const DIGITS = 3;

/** @param {(row: CaptureRow) => string} mark what stands beside the name of a value: "A" if it is what others are compared with @returns {Column[]} */
export function columns(mark) {
  return [
    { key: "step", title: "step", width: "30px", number: true, value: (line) => line.step },
    { key: "cell", title: "cell", width: "minmax(76px, 1.4fr)", value: (line) => nameOf(line), draw: drawCell, shown: (_width, _rows, grouped) => !grouped },
    { key: "direction", title: "call", width: "minmax(48px, 0.5fr)", value: (line) => `${line.direction} ${line.call}`, draw: drawDirection },
    ...ofPart(IN, "in", mark),
    ...ofPart(OUT, "out", mark),
  ];
}

/** @param {number} part @param {string} side @param {(row: CaptureRow) => string} mark @returns {Column[]} */
function ofPart(part, side, mark) {
  /** @param {Line[]} lines @param {(row: CaptureRow) => boolean} holds */
  const some = (lines, holds) => lines.some(({ parts }) => parts[part] !== null && holds(/** @type {CaptureRow} */ (parts[part])));
  /** @param {Line[]} lines */
  const faulty = (lines) => lines.some(({ parts }) => parts.some((row) => row?.known && (row.nan > 0 || row.inf > 0)));
  /** @param {Line} line @param {keyof CaptureRow} name */
  const figure = ({ parts }, name) => Number(parts[part]?.[name] ?? NaN);

  /** @param {"minimum" | "maximum" | "mean" | "std"} name @param {string} title @returns {Column} */
  const figures = (name, title) => ({
    key: `${side} ${name}`,
    title,
    label: `${title} ${side}`,
    width: "62px",
    number: true,
    part,
    tinted: name !== "mean",
    value: (line) => figure(line, name),
    text: ({ parts }) => textOf(parts[part], parts[part]?.[name] ?? NaN, name === "std"),
    shown: (width) => name === "std" || width >= ROOM[name],
  });
  /** @param {"nan" | "inf"} name @param {string} title @returns {Column} */
  const faults = (name, title) => ({
    key: `${side} ${name}`,
    title,
    label: `${title} ${side}`,
    width: "28px",
    number: true,
    part,
    value: (line) => figure(line, name),
    draw: (cell, { parts }) => drawFault(cell, parts[part], name),
    shown: (_, lines) => some(lines, (row) => row.known && row[name] > 0),
  });
  return [
    { key: `${side} slot`, title: side, width: "minmax(56px, 1fr)", part, value: ({ parts }) => slotOf(parts[part]), draw: (cell, line) => drawSlot(cell, line.parts[part], mark) },
    {
      key: `${side} shape`,
      title: "shape",
      label: `shape ${side}`,
      width: "minmax(50px, 0.8fr)",
      part,
      value: ({ parts }) => parts[part]?.shape ?? "",
      shown: (width, lines) => width >= ROOM.shape || !faulty(lines),
    },
    {
      key: `${side} dtype`,
      title: "dtype",
      label: `dtype ${side}`,
      width: "58px",
      part,
      value: ({ parts }) => parts[part]?.dtype ?? "",
      shown: (width, lines) => width >= ROOM.dtype || (width >= ROOM.mean && new Set(lines.flatMap(({ parts }) => parts.flatMap((row) => row?.dtype ?? []))).size > 1),
    },
    figures("minimum", "min"),
    figures("maximum", "max"),
    figures("mean", "mean"),
    figures("std", "std"),
    faults("nan", "NaN"),
    faults("inf", "inf"),
  ];
}

/** @param {Line} line */
export function nameOf({ cell, call }) {
  return call ? `${cell} #${call}` : cell;
}

/** @param {CaptureRow | null} row */
function slotOf(row) {
  if (!row) return "";
  return row.context ? `${row.slot} (${row.context})` : row.slot;
}

/** A figure that nobody asked for yet is a dot; that it never will be there is told once. @param {CaptureRow | null} row @param {number} value @param {boolean} tells */
function textOf(row, value, tells) {
  if (!row) return "";
  return row.known ? formatNumber(value, DIGITS) : row.never ? (tells ? "given up" : "") : "·";
}

/** @param {HTMLElement} cell @param {Line} line */
function drawCell(cell, line) {
  const name = nameOf(line);
  if (cell.dataset.drawn === name) return;
  cell.dataset.drawn = name;
  cell.replaceChildren(makeName(name));
}

/** @param {HTMLElement} cell @param {Line} line */
function drawDirection(cell, { direction, call }) {
  const now = `${direction} ${call}`;
  if (cell.dataset.drawn === now) return;
  cell.dataset.drawn = now;
  const [short, kind] = direction === "forward" ? ["fwd", "hs-forward"] : ["bwd", "hs-backward"];
  cell.replaceChildren(make("abbr", { class: `hs-direction ${kind}`, text: short, title: direction }));
  if (call) cell.append(make("span", { class: "hs-count", text: ` #${call}`, title: `call ${call} of the step, counted from 0` }));
}

/** @param {HTMLElement} cell @param {CaptureRow | null} row @param {(row: CaptureRow) => string} mark */
function drawSlot(cell, row, mark) {
  const name = slotOf(row);
  const now = row ? `${name} ${row.origin} ${row.hits} ${mark(row)} ${row.dtype}` : "";
  if (cell.dataset.drawn === now) return;
  cell.dataset.drawn = now;
  cell.replaceChildren();
  if (!row) return;
  if (mark(row)) cell.append(make("span", { class: "hs-badge hs-pinned", text: mark(row), title: "what others are compared with" }));
  if (row.hits) cell.append(make("span", { class: "hs-badge hs-warn", text: "!", title: row.hits, "aria-label": `condition: ${row.hits}`, role: "img" }));
  if (row.origin in ORIGINS) cell.append(make("span", { class: "hs-badge", text: ORIGINS[row.origin][0], title: ORIGINS[row.origin][1] }));
  cell.append(makeName(name));
  setAttribute(cell.lastElementChild ?? cell, "title", `${name}: ${row.shape} ${row.dtype}`);
}

/** @param {HTMLElement} cell @param {CaptureRow | null} row @param {"nan" | "inf"} name */
function drawFault(cell, row, name) {
  const known = row?.known ?? false;
  const count = row?.[name] ?? 0;
  const text = known ? formatCount(count) : row && !row.never ? "·" : "";
  if (cell.textContent !== text) cell.textContent = text;
  cell.classList.toggle("hs-fault", known && count > 0);
}
