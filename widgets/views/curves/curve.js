// One curve: a series of a run by step, and the paths that draw it.

/**
 * @typedef {object} Curve
 * @property {string} name
 * @property {boolean} before whether it is of the run before
 * @property {Float64Array} steps the steps on the axis
 * @property {Float64Array} values
 * @property {Float64Array} sessionSteps the session's step at which each was added
 */

/** Size of the drawing, in units that are stretched to the size of its box. */
export const WIDTH = 1000;
export const HEIGHT = 200;
/** Share of the height that is free above and below the curves. */
const MARGIN = 0.06;
export const COLORS = 6;
export const DASHES = 4;

/** Return the attributes that give a series of a chart its color and dash, by its position. @param {number} k */
export const lookOf = (k) => ({ "data-color": k % COLORS, "data-dash": (k + Math.floor(k / COLORS)) % DASHES });

/** Return the share of the height at which a share of the axis is. @param {number} share */
export const inside = (share) => MARGIN + share * (1 - 2 * MARGIN);

/** @param {number} share */
export const heightOf = (share) => HEIGHT * (1 - inside(share));

/**
 * Return the path of a line, which breaks where a value is not finite or steps go back, and that of the marks of values
 * that are not finite: at the top, or for negative infinity at the bottom.
 * @param {Curve} curve @param {import("./axes.js").Axis} across @param {import("./axes.js").Axis | null} up
 */
export function pathsOf({ steps, values }, across, up) {
  let [line, faults] = ["", ""];
  let lastStep = Infinity;
  let isAlone = false;
  const end = () => {
    if (isAlone) line += "h0.01"; // an isolated value is a dot: its line is as long as its round cap
    isAlone = false;
  };
  for (let k = 0; k < steps.length; k++) {
    const x = (WIDTH * across.position(steps[k])).toFixed(1);
    if (!up || !Number.isFinite(values[k])) {
      faults += values[k] === -Infinity ? `M${x} ${HEIGHT}v-8` : `M${x} 0v8`;
      end();
      lastStep = Infinity;
      continue;
    }
    const continues = steps[k] >= lastStep;
    if (!continues) end();
    line += `${continues ? "L" : "M"}${x} ${heightOf(up.position(values[k])).toFixed(1)}`;
    isAlone = !continues;
    lastStep = steps[k];
  }
  end();
  return { line, faults };
}

/** Return the index of the point nearest to a step, the last of several. @param {Curve} curve @param {number} step */
export function nearest({ steps }, step) {
  let best = -1;
  for (let k = 0; k < steps.length; k++) if (best < 0 || Math.abs(steps[k] - step) <= Math.abs(steps[best] - step)) best = k;
  return best;
}
