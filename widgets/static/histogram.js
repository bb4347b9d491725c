// A histogram: 64 bars between the limits of the axis, with a line at zero if zero is between them, and a separate bar
// each for NaN, inf and −inf. It is SVG, whose colors follow the theme.

import { make, makeSvg, setAttribute } from "./dom.js";
import { formatCount, formatNumber } from "./format.js";

const HISTOGRAM_WIDTH = 320;
const HISTOGRAM_HEIGHT = 96;
const HISTOGRAM_AXIS = 16;
const HISTOGRAM_BASE = HISTOGRAM_HEIGHT - HISTOGRAM_AXIS;
/** Width of one bar for nonfinite values. */
const FAULT_WIDTH = 38;

/**
 * @typedef {{nan: number, positive: number, negative: number}} Faults
 * @returns {{element: HTMLElement, update: (counts: Float64Array, edges: Float64Array, label: string, faults: Faults) => void}}
 */
export function createHistogram() {
  const element = make("div", { class: "hs-histogram", role: "img", "aria-label": "No histogram" });
  let drawnKey = "";

  /** @param {Float64Array} counts @param {Float64Array} edges @param {string} label @param {Faults} faults */
  function update(counts, edges, label, faults) {
    const most = Math.max(0, ...counts);
    const low = edges[0];
    const high = edges[edges.length - 1];
    const finite = most > 0 && Number.isFinite(low) && Number.isFinite(high);
    const faultCounts = [["NaN", faults.nan], ["inf", faults.positive], ["−inf", faults.negative]].filter(([, count]) => Number(count) > 0);
    const inWords = finite
      ? `${counts.length} bins from ${formatNumber(low)} to ${formatNumber(high)}, largest bin ${most}`
      : "no finite values";
    const description = [`Histogram of ${label}: ${inWords}`, ...faultCounts.map(([name, count]) => `${count} ${name}`)].join(", ");
    setAttribute(element, "aria-label", description);
    const key = `${description} ${counts.join()}`;
    if (key === drawnKey) return; // live updates often repeat the same data
    drawnKey = key;
    const width = HISTOGRAM_WIDTH - FAULT_WIDTH * faultCounts.length;
    /** @type {SVGElement[]} */
    const parts = [makeSvg("rect", { class: "hs-axis", x: 0, y: HISTOGRAM_BASE, width: width - 4, height: 1 })];
    if (finite) parts.push(...histogramBars(counts, most, width - 4), ...histogramAxis(low, high, width - 4));
    const tallest = Math.max(most, ...faultCounts.map(([, count]) => Number(count)));
    faultCounts.forEach(([name, count], k) => {
      const height = Math.max(3, ((HISTOGRAM_BASE - 20) * Number(count)) / tallest);
      const left = width + k * FAULT_WIDTH;
      parts.push(
        makeSvg("rect", { class: "hs-fault-bar", x: left + 8, y: HISTOGRAM_BASE - height, width: FAULT_WIDTH - 14, height }),
        makeSvg("text", { class: "hs-fault-text", x: left + FAULT_WIDTH / 2 + 1, y: HISTOGRAM_BASE - height - 3, "text-anchor": "middle" }, shortCount(Number(count))),
        makeSvg("text", { x: left + FAULT_WIDTH / 2 + 1, y: HISTOGRAM_HEIGHT - 3, "text-anchor": "middle" }, String(name)),
      );
    });
    element.replaceChildren(makeSvg("svg", { viewBox: `0 0 ${HISTOGRAM_WIDTH} ${HISTOGRAM_HEIGHT}`, width: HISTOGRAM_WIDTH, height: HISTOGRAM_HEIGHT, "aria-hidden": "true" }, parts));
  }

  return { element, update };
}

/** @param {Float64Array} counts @param {number} most @param {number} width */
function histogramBars(counts, most, width) {
  const step = width / counts.length;
  return [...counts].flatMap((count, k) => {
    if (!count) return [];
    // A nonempty bin stays visible next to a bin a thousand times larger.
    const height = Math.max(1.5, ((HISTOGRAM_BASE - 6) * count) / most);
    return [makeSvg("rect", { class: "hs-bin", x: k * step + 0.5, y: HISTOGRAM_BASE - height, width: step - 1, height })];
  });
}

/** @param {number} low @param {number} high @param {number} width */
function histogramAxis(low, high, width) {
  /** @type {SVGElement[]} */
  const parts = [
    makeSvg("text", { x: 0, y: HISTOGRAM_HEIGHT - 3 }, formatNumber(low)),
    makeSvg("text", { x: width, y: HISTOGRAM_HEIGHT - 3, "text-anchor": "end" }, formatNumber(high)),
  ];
  if (low < 0 && high > 0) parts.push(makeSvg("rect", { class: "hs-axis", x: (width * -low) / (high - low), y: 0, width: 1, height: HISTOGRAM_BASE }));
  return parts;
}

/** Format a count in at most four characters. @param {number} count */
function shortCount(count) {
  if (count < 1e4) return String(count);
  return count < 1e6 ? `${Math.floor(count / 1e3)}k` : count < 1e9 ? `${Math.floor(count / 1e6)}M` : formatCount(count / 1e9) + "G";
}
