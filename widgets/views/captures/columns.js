// The columns of the captures' table: the inputs and the outputs of a call.

import { make, setAttribute } from "../../static/dom.js";
import { formatCount, formatNumber } from "../../static/format.js";
import { makeName } from "./titles.js";

/** @typedef {import("./calls.js").Line} Line */
/** @typedef {import("./rows.js").CaptureRow} CaptureRow */
/** @typedef {import("../../static/grid.js").Column<Line>} Column */

/** The origin of a capture other than a tap: its badge, and a description. @type {Record<string, [string, string]>} */
export const ORIGINS = { hook: ["hook", "recorded by a hook"], edit: ["edited", "edited at a pause"], local: ["local", "opened from a pause"] };

/** Labels of the parts of a line. */
const SIDES = ["in", "out"];
/** Significant digits of statistics in the list, limited by its width; the selected capture shows more. */
const DIGITS = 3;
/** Width below which a value shows its index instead of its name; captures.css has the same width. */
const NARROW = 640;
/** Widths of columns in CSS pixels, with gaps: permanent columns, and optional ones. */
const ALWAYS = { wide: 474, narrow: 362, cell: 106, fault: 34 };
/** Widths of the other columns for both parts. As many as fit are shown, in this order; the selected capture shows all. */
const NEEDS = { shape: 156, maximum: 136, minimum: 136, mean: 136, dtype: 128 };

/** @param {(row: CaptureRow) => string} mark returns the badge of a value: "A" for the reference of comparisons @returns {Column[]} */
export function columns(mark) {
  return [
    { key: "step", title: "step", width: "30px", number: true, value: (line) => line.step },
    { key: "cell", title: "cell", width: "minmax(76px, 1.4fr)", value: (line) => nameOf(line), draw: drawCell },
    { key: "direction", title: "call", width: "minmax(64px, 0.5fr)", value: (line) => `${line.direction} ${line.call}`, draw: drawDirection },
    ...SIDES.flatMap((side, part) => ofPart(part, side, mark)),
  ];
}

/** @param {number} part @param {string} side @param {(row: CaptureRow) => string} mark @returns {Column[]} */
function ofPart(part, side, mark) {
  /** @param {string} name @param {string} title @returns {Pick<Column, "key" | "title" | "label" | "part">} */
  const heading = (name, title) => ({ key: `${side} ${name}`, title, label: `${title} ${side}`, part });
  /** @param {"minimum" | "maximum" | "mean" | "std" | "nan" | "inf"} name @returns {(line: Line) => number} */
  const figure = (name) => ({ parts }) => parts[part]?.[name] ?? NaN;

  /** @param {"minimum" | "maximum" | "mean" | "std"} name @param {string} title @returns {Column} */
  const figures = (name, title) => ({
    ...heading(name, title),
    width: "62px",
    number: true,
    tinted: name !== "mean",
    value: figure(name),
    text: ({ parts }) => textOf(parts[part], parts[part]?.[name] ?? NaN, name === "std"),
  });
  /** @param {"nan" | "inf"} name @param {string} title @returns {Column} */
  const faults = (name, title) => ({
    ...heading(name, title),
    width: "28px",
    number: true,
    value: figure(name),
    draw: (cell, { parts }) => drawFault(cell, parts[part], name),
  });
  return [
    { ...heading("slot", side), label: undefined, width: "var(--hs-slot)", value: ({ parts }) => slotOf(parts[part]), draw: (cell, line) => drawSlot(cell, line.parts[part], mark) },
    { ...heading("shape", "shape"), width: "minmax(72px, 0.8fr)", value: ({ parts }) => parts[part]?.shape ?? "" },
    { ...heading("dtype", "dtype"), width: "58px", value: ({ parts }) => parts[part]?.dtype ?? "" },
    figures("minimum", "min"),
    figures("maximum", "max"),
    figures("mean", "mean"),
    figures("std", "std"),
    faults("nan", "NaN"),
    faults("inf", "inf"),
  ];
}

/**
 * Return a predicate for the columns that these lines need and that fit: those for NaN and inf only if there are any.
 * @param {Line[]} lines @param {number} width @param {boolean} grouped whether headings name the cell
 * @returns {(column: Column) => boolean}
 */
export function shows(lines, width, grouped) {
  const initialColumns = new Set(["step", "direction", "in slot", "out slot", "in std", "out std"]);
  if (!grouped) initialColumns.add("cell");
  for (const { parts } of lines) {
    parts.forEach((row, part) => {
      if (row?.known && row.nan) initialColumns.add(`${SIDES[part]} nan`);
      if (row?.known && row.inf) initialColumns.add(`${SIDES[part]} inf`);
    });
  }
  const faults = [...initialColumns].filter((key) => key.endsWith(" nan") || key.endsWith(" inf")).length;
  let room = width - (width < NARROW ? ALWAYS.narrow : ALWAYS.wide) - (grouped ? 0 : ALWAYS.cell) - faults * ALWAYS.fault;
  for (const [name, needed] of Object.entries(NEEDS)) {
    room -= needed;
    if (room >= 0) for (const side of SIDES) initialColumns.add(`${side} ${name}`);
  }
  return ({ key }) => initialColumns.has(key);
}

/** @param {Line} line */
function nameOf({ cell, call }) {
  return call ? `${cell} #${call}` : cell;
}

/** @param {CaptureRow | null} row */
function slotOf(row) {
  if (!row) return "";
  return row.context ? `${row.slot} (${row.context})` : row.slot;
}

/** Format a statistic: a dot if it is not requested yet; if it never will be known, this is shown in one column. @param {CaptureRow | null} row @param {number} value @param {boolean} tells */
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
  if (mark(row)) cell.append(make("span", { class: "hs-badge hs-pinned", text: mark(row), title: "the capture that others are compared with" }));
  if (row.hits) cell.append(make("span", { class: "hs-badge hs-warn", text: "!", title: row.hits, "aria-label": `condition: ${row.hits}`, role: "img" }));
  if (row.origin in ORIGINS) cell.append(make("span", { class: "hs-badge", text: ORIGINS[row.origin][0], title: ORIGINS[row.origin][1] }));
  const short = make("bdi", { class: "hs-slot-index", dir: "ltr", text: /\[.*/.exec(name)?.[0] ?? "" });
  cell.append(short, makeName(name));
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
