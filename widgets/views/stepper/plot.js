// The selected local variable, below the source: its statistics, a histogram, and its first matrix as a heatmap or its
// elements as bars.

import { make, setAttribute, setText } from "../../static/dom.js";
import { formatNumber, parseNumber, toFloat64 } from "../../static/format.js";
import { createHistogram } from "../../static/histogram.js";
import { createTheme } from "../captures/colors.js";
import { createHeatmap, heatmapLegend, pictureInWords } from "../captures/heatmap.js";
import { drawBars } from "../captures/pictures.js";
import { createIcon } from "./icons.js";

/** @typedef {import("../../static/python.js").LocalPlot} LocalPlot */
/** @typedef {import("../captures/heatmap.js").Picture} Picture */

/** Maximum size of a picture, in CSS pixels. */
const ROOM = { width: 300, height: 104 };
/** Size of the histogram: 64 counts, 65 edges. */
const BINS = 64;
const OF_HISTOGRAM = 129;

/**
 * @param {import("../../static/types.js").Send} send
 * @param {boolean} hasViewer whether a view can open a value
 */
export function createPlot(send, hasViewer) {
  /** @type {LocalPlot | null} */
  let plot = null;
  /** @type {Picture | null} */
  let picture = null;
  const title = make("h4");
  const parts = make("select", { class: "hs-select", "aria-label": "Part", hidden: "", onchange: () => plot && send({ type: "select_local", name: plot.name, part: parts.value }) });
  const open = make("button", { type: "button", class: "hs-button", hidden: "", onclick: () => plot && send({ type: "open_local", name: plot.name, part: plot.part }) }, [createIcon("open"), "Tensor viewer"]);
  const close = make("button", { type: "button", class: "hs-icon-button", "aria-label": "Close the plot", title: "Close the plot", onclick: () => send({ type: "select_local", name: "", part: "" }) }, [createIcon("remove")]);
  const value = make("p", { class: "hs-plot-value" });
  const figures = make("p", { class: "hs-plot-figures" });
  const histogram = createHistogram();
  const heatmap = createHeatmap((row, column, leaves) => point(leaves ? null : [row, column]));
  const frame = make("div", { class: "hs-plot-picture" });
  const readout = make("p", { class: "hs-plot-note" });
  const theme = createTheme(() => plot && drawPicture(plot));
  const element = make("section", { class: "hs-plot", "aria-label": "Selected local", hidden: "" }, [
    make("div", { class: "hs-side-head" }, [title, parts, open, close]),
    value,
    make("div", { class: "hs-plot-body" }, [make("div", { class: "hs-plot-bins" }, [histogram.element, figures]), make("div", { class: "hs-plot-map" }, [frame, readout])]),
    theme.element,
  ]);

  /** @param {[number, number] | null} cell */
  function point(cell) {
    heatmap.mark(cell);
    if (!picture || !plot) return;
    const number = cell ? picture.numbers[cell[0] * picture.columns + cell[1]] : 0;
    setText(readout, cell ? `[${cell.join(", ")}] ${formatNumber(number, 6)}` : plot.note);
  }

  /** @param {LocalPlot} now */
  function drawPicture(now) {
    histogram.element.hidden = frame.hidden = figures.hidden = !picture;
    value.classList.toggle("hs-plot-all", !picture); // without a picture there is room for the full text
    if (!picture) return frame.replaceChildren();
    const description = pictureInWords(picture, picture.rows > 1 ? "Heatmap" : "Bars", `${picture.rows}x${picture.columns}`);
    if (picture.rows > 1) {
      heatmap.update(picture, [0, picture.rows, 0, picture.columns], description, ROOM, theme.colors());
      frame.replaceChildren(heatmap.element, heatmapLegend(picture));
    } else frame.replaceChildren(make("div", { role: "img", "aria-label": description }, [drawBars(picture, ROOM.width)]));
    setText(readout, now.note);
  }

  return {
    element,
    /** @param {Partial<LocalPlot>} now @param {DataView} numbers */
    update(now, numbers) {
      element.hidden = now.name === undefined;
      plot = element.hidden ? null : /** @type {LocalPlot} */ (now);
      if (!plot) return;
      const label = plot.part || plot.name;
      setText(title, label);
      setAttribute(element, "aria-label", `Selected local ${label}`);
      parts.hidden = plot.parts.length < 2;
      parts.replaceChildren(...plot.parts.map((part) => make("option", { value: part, text: part })));
      parts.value = plot.part;
      open.hidden = !hasViewer || !plot.part;
      setAttribute(open, "aria-label", `Open ${label} in the tensor viewer`);
      setText(value, plot.lost ? "not here: no such variable at this line" : plot.text);
      setAttribute(value, "title", plot.text);
      setText(figures, plot.figures);
      picture = plot.picture && pictureOf(plot.picture, numbers);
      setText(readout, "");
      drawPicture(plot);
      const bins = toFloat64(numbers);
      if (picture) histogram.update(bins.subarray(0, BINS), bins.subarray(BINS, OF_HISTOGRAM), label, plot.faults);
    },
  };
}

/** Read a picture: its numbers follow the histogram, then one byte each for their colors. @param {import("../../static/python.js").PictureFacts} facts @param {DataView} buffer @returns {Picture} */
function pictureOf(facts, buffer) {
  const count = facts.rows * facts.columns;
  const behind = (OF_HISTOGRAM + count) * 8;
  return {
    ...facts,
    low: parseNumber(facts.low),
    high: parseNumber(facts.high),
    minimum: parseNumber(facts.minimum),
    maximum: parseNumber(facts.maximum),
    levels: new Uint8Array(buffer.buffer, buffer.byteOffset + behind, count),
    numbers: toFloat64(buffer).subarray(OF_HISTOGRAM, OF_HISTOGRAM + count),
  };
}
