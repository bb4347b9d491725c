// The read-out of a chart: the points at a step, under the pointer or by the arrow keys.

import { make, makeSvg, setAttribute } from "../../static/dom.js";
import { formatNumber } from "../../static/format.js";
import { heightOf, HEIGHT, nearest, WIDTH } from "./curve.js";

/** @typedef {import("./curve.js").Curve} Curve */
/** @typedef {{curve: Curve, k: number}} Hit a point of a curve, by its index */
/** @typedef {{across: import("./axes.js").Axis, up: import("./axes.js").Axis | null}} Axes */

/** Maximum number of series in the read-out. */
const MOST_LINES = 8;

/** Return the points nearest to a step, one of each curve, those of the run before last. @param {Curve[]} curves @param {number} step @returns {Hit[]} */
export function hitsAt(curves, step) {
  const ordered = [...curves.filter(({ before }) => !before), ...curves.filter(({ before }) => before)];
  return ordered.map((curve) => ({ curve, k: nearest(curve, step) })).filter(({ k }) => k >= 0);
}

/** Return the name and the number of a point, with its step if that is another one than the read-out's. @param {Hit} hit @param {number} step */
function textsOf({ curve, k }, step) {
  const name = curve.before ? `${curve.name} (run before)` : curve.name;
  return [name, `${formatNumber(curve.values[k])}${curve.steps[k] === step ? "" : ` (step ${curve.steps[k]})`}`];
}

export class Reading {
  constructor() {
    this.line = makeSvg("path", { class: "hs-chart-cursor" });
    this.points = makeSvg("path", { class: "hs-chart-points" });
    this.box = make("div", { class: "hs-chart-reading", "aria-hidden": "true", hidden: "" });
    /** The step of the read-out; null for none. @type {number | null} */
    this.step = null;
  }

  hide() {
    this.step = null;
    this.box.hidden = true;
    for (const path of [this.line, this.points]) setAttribute(path, "d", null);
  }

  /**
   * Show the points at a step; return them in words.
   * @param {number} step @param {Curve[]} curves the visible ones @param {Axes} axes @param {(curve: Curve, value: number) => number} [distance] puts the nearest series first
   */
  show(step, curves, { across, up }, distance) {
    const hits = hitsAt(curves, step);
    if (distance) hits.sort((a, b) => distance(a.curve, a.curve.values[a.k]) - distance(b.curve, b.curve.values[b.k]));
    this.step = step;
    const share = across.position(step);
    setAttribute(this.line, "d", `M${WIDTH * share} 0V${HEIGHT}`);
    const dots = hits.filter(({ curve, k }) => up && Number.isFinite(curve.values[k]));
    setAttribute(this.points, "d", dots.map(({ curve, k }) => `M${WIDTH * across.position(curve.steps[k])} ${heightOf(up ? up.position(curve.values[k]) : 0)}h0.01`).join(""));
    const lines = hits.slice(0, MOST_LINES).map((hit) => textsOf(hit, step));
    if (hits.length > MOST_LINES) lines.push([`and ${hits.length - MOST_LINES} more`, ""]);
    this.box.replaceChildren(...[[`step ${step}`, ""], ...lines].map((texts) => make("div", {}, texts.map((text) => make("span", { text })))));
    setAttribute(this.box, "data-side", share > 0.5 ? "left" : "right");
    this.box.hidden = false;
    return `step ${step}: ${lines.map((texts) => texts.join(" ").trim()).join(", ")}`;
  }
}

/** Set the words that screen readers announce for the cursor. @param {HTMLElement} slider @param {string} text @param {number} step @param {import("./axes.js").Axis} across */
export function announce(slider, text, step, across) {
  setAttribute(slider, "aria-valuemin", across.low);
  setAttribute(slider, "aria-valuemax", across.high);
  setAttribute(slider, "aria-valuenow", step);
  setAttribute(slider, "aria-valuetext", text);
}

