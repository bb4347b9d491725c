// Colors of pictures, from the palette: a canvas needs them as numbers, and again when the theme changes.

import { make } from "../../static/dom.js";

/** @typedef {[number, number, number]} Rgb */
/** @typedef {"NaN" | "inf" | "−inf"} Fault */
/** @typedef {{one: Uint8Array, two: Uint8Array, faults: Record<Fault, Rgb>}} Colors 256 colors of values of one sign, and of values around zero */

/** The palette's names, from low to high: for values of one sign, and for values around zero, which is the middle. */
export const SCALES = {
  one: ["--hs-size-0", "--hs-size-1", "--hs-size-2", "--hs-size-3", "--hs-size-4"],
  two: ["--hs-below-2", "--hs-below-1", "--hs-zero", "--hs-above-1", "--hs-above-2"],
};
/** @type {Record<Fault, string>} */
export const FAULTS = { NaN: "--hs-nan", inf: "--hs-inf", "−inf": "--hs-minus-inf" };

/** Return 256 colors interpolated between stops. @param {Rgb[]} stops */
function colorTable(stops) {
  const colors = new Uint8Array(768);
  for (let level = 0; level < 256; level++) {
    const position = (level / 255) * (stops.length - 1);
    const below = Math.min(stops.length - 2, Math.floor(position));
    for (let k = 0; k < 3; k++) colors[level * 3 + k] = stops[below][k] + (stops[below + 1][k] - stops[below][k]) * (position - below);
  }
  return colors;
}

/** Return any CSS color as numbers, by painting it on a canvas. @param {string} css @returns {Rgb} */
function rgb(css) {
  const canvas = make("canvas", { width: 1, height: 1 });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) return [0, 0, 0];
  context.fillStyle = css;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
  return [red, green, blue];
}

/** @param {() => void} changed called after a change of the theme, to repaint pictures */
export function createTheme(changed) {
  const probe = make("span");
  // Any change of the theme changes this color, and a color change with a transition emits an event.
  const element = make("span", { class: "hs-theme", "aria-hidden": "true", ontransitionend: changed }, [probe]);
  let cache = "";
  /** @type {Colors | null} */
  let colors = null;

  /** @param {string} name */
  function resolved(name) {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  }

  return {
    /** Must be on the page. */
    element,
    /** @returns {Colors} */
    colors() {
      const now = resolved("--hs-zero") + resolved("--hs-above-2");
      if (colors && now === cache) return colors;
      cache = now;
      const read = (/** @type {string} */ name) => rgb(resolved(name));
      colors = {
        one: colorTable(SCALES.one.map(read)),
        two: colorTable(SCALES.two.map(read)),
        faults: { NaN: read(FAULTS.NaN), inf: read(FAULTS.inf), "−inf": read(FAULTS["−inf"]) },
      };
      return colors;
    },
  };
}
