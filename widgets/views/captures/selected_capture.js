// The selected capture: its statistics, its histogram, its pictures, and the source of its cell.

import { make, setAttribute, setText } from "../../static/dom.js";
import { formatNumber, parseNumber, toFloat64 } from "../../static/format.js";
import { createHistogram } from "../../static/histogram.js";
import { numberedLines } from "../../static/source.js";
import { ORIGINS } from "./columns.js";
import { Tensor } from "./tensor.js";
import { setTitle } from "./titles.js";

/** @typedef {import("../../static/python.js").Selection} Selection */

/** @type {Record<string, string>} */
const FIGURE_NAMES = { nan: "NaN", positive_inf: "+inf", negative_inf: "−inf" };

/**
 * @param {import("../../static/types.js").Send} send
 * @param {import("../../static/types.js").Go} go
 * @param {(index: number) => void} [pinned] called with the index of the reference of comparisons
 */
export function createSelectedCapture(send, go, pinned) {
  /** @type {Selection | null} */
  let selection = null;
  const histogram = createHistogram();
  const tensor = new Tensor(send, pinned);
  const source = createSource((path) => send({ type: "source", path }));
  const heading = make("h3", { class: "hs-detail-title" });
  const value = make("code", { class: "hs-detail-value" });
  const figures = make("dl", { class: "hs-figures" });
  const showCell = make("button", { type: "button", class: "hs-button", text: "Show cell", hidden: go.cell ? null : "", onclick: () => selection && go.cell?.(selection.path) });
  const comparison = make("div", {}, tensor.comparing.elements);
  const element = make("section", { class: "hs-detail", "aria-label": "Selected capture", tabindex: "0", hidden: "" }, [
    make("div", { class: "hs-detail-head" }, [make("div", { class: "hs-detail-name" }, [heading, value]), tensor.tools, showCell, source.button]),
    comparison,
    source.element,
    make("div", { class: "hs-detail-body" }, [make("div", { class: "hs-detail-side" }, [histogram.element, figures]), tensor.element]),
  ]);

  /** @param {Selection} chosen @param {DataView} buffer */
  function draw(chosen, buffer) {
    setTitle(heading, `${chosen.key}, step ${chosen.step}`);
    setText(value, chosen.value);
    setAttribute(value, "title", chosen.value);
    const numbers = Object.fromEntries(Object.entries(chosen.figures).map(([name, text]) => [name, parseNumber(text)]));
    const marks = [...chosen.hits, ...(chosen.origin in ORIGINS ? [ORIGINS[chosen.origin][1]] : [])];
    figures.replaceChildren(
      ...(marks.length ? [figure("marks", marks.join(", "))] : []),
      ...Object.entries(numbers).map(([name, number]) => figure(FIGURE_NAMES[name] ?? name, formatNumber(number, 6))),
    );
    const bins = toFloat64(buffer);
    const faults = { nan: numbers.nan, positive: numbers.positive_inf, negative: numbers.negative_inf };
    histogram.element.hidden = !bins.length;
    if (bins.length) histogram.update(bins.subarray(0, 64), bins.subarray(64), chosen.key, faults);
    for (const part of [tensor.element, tensor.tools, comparison]) part.hidden = !chosen.kept;
    if (chosen.kept) tensor.select(chosen);
  }

  return {
    element,
    tensor,
    source,
    /** Show a capture; without an index, hide the selection. @param {Partial<Selection>} chosen @param {DataView} buffer */
    update(chosen, buffer) {
      element.hidden = chosen.index === undefined;
      if (element.hidden) return;
      selection = /** @type {Selection} */ (chosen);
      source.setCell(selection.path);
      draw(selection, buffer);
    },
  };
}

/** Create the source section of a cell, loaded on request. @param {(path: string) => void} ask */
function createSource(ask) {
  let path = "";
  const element = make("section", { class: "hs-cell-source", "aria-label": "Source", hidden: "" });
  const button = make("button", { type: "button", class: "hs-button", "aria-expanded": "false", text: "Show source", onclick: () => (element.hidden ? ask(path) : show(false)) });

  /** @param {boolean} now */
  function show(now) {
    element.hidden = !now;
    setAttribute(button, "aria-expanded", now);
  }

  return {
    element,
    button,
    /** @param {string} now */
    setCell(now) {
      if (now !== path) show(false);
      path = now;
    },
    /** @param {import("../../static/python.js").Source} message */
    draw({ path: of, title, location, first, lines }) {
      if (of !== path) return;
      element.replaceChildren(make("p", {}, [make("strong", { text: title }), " ", make("span", { class: "hs-count", text: location })]));
      if (lines.length) element.append(make("ol", { class: "hs-source", tabindex: "0", "aria-label": `Source of ${title}` }, numberedLines(lines, first)));
      show(true);
    },
  };
}

/** @param {string} name @param {string} text */
function figure(name, text) {
  return make("div", {}, [make("dt", { text: name }), make("dd", { text })]);
}

/** Return the message handlers of the selected capture. @param {ReturnType<typeof createSelectedCapture>} selected @returns {import("../../static/types.js").ViewPart["messages"]} */
export const messagesOf = (selected) => ({
  tensor: (message, buffers) => selected.tensor.receive(message, buffers),
  code: (message) => selected.tensor.copyCode(message),
  choices: (message) => selected.tensor.comparing.receive(message),
  source: (message) => selected.source.draw(message),
});

/**
 * Create the view of the selected capture alone.
 * @param {import("../../static/types.js").ViewContext} context
 * @returns {import("../../static/types.js").ViewPart}
 */
export function create({ send, go }) {
  const selected = createSelectedCapture(send, go);
  const none = make("p", { class: "hs-empty", text: "No capture is selected." });

  return {
    element: make("div", { class: "hs-view" }, [none, selected.element]),
    traits: [[["selection", "histogram"], (chosen, buffer) => (selected.update(chosen, buffer), (none.hidden = !selected.element.hidden))]],
    messages: messagesOf(selected),
    confirmed: (action) => action === "tensor" && selected.tensor.confirmed(),
    destroy: () => selected.tensor.destroy(),
  };
}
