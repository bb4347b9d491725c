// The picture on a card: a histogram of a value, with nonfinite elements beside it, or the curve of a number by step.
// It is an SVG whose colors follow the theme; the words below describe it.

import { make, makeSvg, setAttribute, setText } from "../../static/dom.js";
import { drawSparkline, series } from "../../static/sparkline.js";

/** @typedef {import("../../static/python.js").Evidence} Evidence */

const WIDTH = 168;
const HEIGHT = 56;
/** Width of one bar of nonfinite elements, with its name below. */
const FAULT = 26;
const BASE = HEIGHT - 12;

export function createEvidence() {
  const picture = make("div", { class: "hs-evidence-picture" });
  const captionText = make("figcaption");
  const element = make("figure", { class: "hs-evidence", hidden: "" }, [picture, captionText]);
  return {
    element,
    /** @param {Evidence} now */
    update(now) {
      element.hidden = !now.kind;
      setText(captionText, now.caption);
      setAttribute(element, "title", now.caption);
      if (!now.kind) return;
      if (now.kind === "series") drawSparkline(picture, series(now.points), now.caption);
      else picture.replaceChildren(makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, "aria-hidden": "true" }, bars(now)));
    },
  };
}

/** @param {Evidence} shown */
function bars({ counts, low, high, nan, positive_inf, negative_inf }) {
  /** @type {[string, number][]} */
  const all = [["NaN", nan], ["inf", positive_inf], ["−inf", negative_inf]];
  const faults = all.filter(([, count]) => count > 0);
  const width = WIDTH - FAULT * faults.length;
  const most = Math.max(1, ...counts);
  const tallest = Math.max(most, ...faults.map(([, count]) => count));
  const step = (width - 4) / Math.max(1, counts.length);
  const height = (/** @type {number} */ count, /** @type {number} */ of) => Math.max(2, ((BASE - 2) * count) / of);
  /** @type {SVGElement[]} */
  const parts = counts.flatMap((count, k) => (count ? [makeSvg("rect", { class: "hs-bin", x: k * step, y: BASE - height(count, most), width: Math.max(1, step - 0.5), height: height(count, most) })] : []));
  parts.push(makeSvg("rect", { class: "hs-axis", x: 0, y: BASE, width: width - 4, height: 1 }));
  if (low < 0 && high > 0) parts.push(makeSvg("rect", { class: "hs-axis", x: ((width - 4) * -low) / (high - low), y: 0, width: 1, height: BASE }));
  faults.forEach(([name, count], k) => {
    const x = width + k * FAULT;
    parts.push(
      makeSvg("rect", { class: "hs-fault-bar", x: x + 6, y: BASE - height(count, tallest), width: FAULT - 12, height: height(count, tallest) }),
      makeSvg("text", { x: x + FAULT / 2, y: HEIGHT - 2, "text-anchor": "middle" }, name),
    );
  });
  return parts;
}
