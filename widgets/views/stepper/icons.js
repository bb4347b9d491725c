// The stepper's icons: lines in a square of 16, in the color of the surrounding text. Each icon's meaning is the
// accessible name of its button.

import { makeSvg } from "../../static/dom.js";

const AHEAD = "M10.5 8h4M12.6 5.8 14.8 8l-2.2 2.2";

/** Icons by name: lines, and areas. @type {Record<string, {lines?: string, areas?: string}>} */
const SHAPES = {
  over: { lines: "M2 9.2a5.6 5.6 0 0 1 10.7-2M13.4 3.2v4.2H9.2", areas: "M6.2 12.8a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0-3.6 0" },
  into: { lines: "M8 1.5v7M4.9 5.7 8 8.8l3.1-3.1", areas: "M6.2 12.8a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0-3.6 0" },
  out: { lines: "M8 9V2M4.9 4.9 8 1.8l3.1 3.1", areas: "M6.2 12.8a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0-3.6 0" },
  operator: { lines: `M1.6 8a3.7 3.7 0 1 0 7.4 0a3.7 3.7 0 1 0-7.4 0M3.6 8h3.4M5.3 6.3v3.4${AHEAD}` },
  cell: { lines: `M1.8 4.4h7.2v7.2H1.8z${AHEAD}` },
  continue: { lines: "M3 3v10", areas: "M6 3v10l7.5-5z" },
  abort: { areas: "M3.8 3.8h8.4v8.4H3.8z" },
  step_back: { lines: "M3 8.4a5 5 0 1 0 1.5-3.9M2.8 2v3.4h3.4M8 5.6v2.9l2 1.3" },
  step_forward: { lines: "M13 8.4a5 5 0 1 1-1.5-3.9M13.2 2v3.4H9.8M8 5.6v2.9l2 1.3" },
  open: { lines: "M7 3H3v10h10V9M9.5 2.8h3.7v3.7M13 3 7.6 8.4" },
  remove: { lines: "M4 4l8 8M12 4l-8 8" },
};

/** @param {string} name */
export function createIcon(name) {
  const { lines, areas } = SHAPES[name];
  return makeSvg("svg", { class: "hs-icon", viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", focusable: "false" }, [
    ...(lines ? [makeSvg("path", { class: "hs-icon-lines", d: lines })] : []),
    ...(areas ? [makeSvg("path", { class: "hs-icon-areas", d: areas })] : []),
  ]);
}
