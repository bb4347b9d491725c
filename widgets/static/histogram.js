// A histogram on a canvas: 64 bars, the axis' ends, and a line at zero when zero is inside.

import { make, setAttribute } from "./dom.js";
import { formatNumber } from "./format.js";

const WIDTH = 320;
const HEIGHT = 96;
const AXIS = 16;

/**
 * @returns {{element: HTMLCanvasElement, update: (counts: Float64Array, edges: Float64Array, label: string) => void}}
 */
export function createHistogram() {
  const element = make("canvas", { class: "hs-histogram", role: "img", "aria-label": "No histogram" });
  element.style.width = `${WIDTH}px`;
  element.style.height = `${HEIGHT}px`;

  /** @param {Float64Array} counts @param {Float64Array} edges @param {string} label */
  function update(counts, edges, label) {
    const scale = window.devicePixelRatio || 1;
    element.width = WIDTH * scale;
    element.height = HEIGHT * scale;
    const context = element.getContext("2d");
    if (!context) return;
    const style = getComputedStyle(element);
    context.scale(scale, scale);
    context.clearRect(0, 0, WIDTH, HEIGHT);
    const most = Math.max(0, ...counts);
    const low = edges[0];
    const high = edges[edges.length - 1];
    const finite = most > 0 && Number.isFinite(low) && Number.isFinite(high);
    setAttribute(
      element,
      "aria-label",
      finite
        ? `Histogram of ${label}: ${counts.length} bins from ${formatNumber(low)} to ${formatNumber(high)}, largest bin ${most}`
        : `Histogram of ${label}: no finite values`,
    );
    const base = HEIGHT - AXIS;
    const step = WIDTH / counts.length;
    if (finite) {
      context.fillStyle = style.getPropertyValue("color");
      counts.forEach((count, k) => {
        // A bin that holds anything stays visible beside a bin a thousand times larger.
        const height = count ? Math.max(1.5, ((base - 6) * count) / most) : 0;
        context.fillRect(k * step + 0.5, base - height, step - 1, height);
      });
    }
    context.fillStyle = style.borderTopColor; // a colour that a canvas understands; panel.css puts the muted ink there
    context.globalAlpha = 0.5;
    context.fillRect(0, base, WIDTH, 1);
    context.globalAlpha = 1;
    if (!finite) return;
    if (low < 0 && high > 0) {
      const zero = (WIDTH * -low) / (high - low);
      context.globalAlpha = 0.6;
      context.fillRect(zero, 0, 1, base);
      context.globalAlpha = 1;
    }
    context.font = `11px ${style.fontFamily}`;
    context.textBaseline = "bottom";
    context.textAlign = "left";
    context.fillText(formatNumber(low), 0, HEIGHT);
    context.textAlign = "right";
    context.fillText(formatNumber(high), WIDTH, HEIGHT);
  }

  return { element, update };
}
