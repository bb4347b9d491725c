// The selected parameter: its statistics, its histogram, and the editor of its values.

import { make, setText } from "../../static/dom.js";
import { formatNumber, parseNumber, toFloat64 } from "../../static/format.js";
import { createHistogram } from "../../static/histogram.js";
import { createParameterEditor } from "./parameter_editor.js";
import { notesOf } from "./rows.js";

/** @type {Record<string, string>} */
const NAMES = { minimum: "min", maximum: "max", nan: "NaN", positive_inf: "+inf", negative_inf: "−inf" };

/** @param {import("../../static/types.js").Send} send */
export function createParameterDetail(send) {
  const histogram = createHistogram();
  const editor = createParameterEditor(send);
  const heading = make("h3", { class: "hs-detail-title" });
  const notes = make("p", { class: "hs-parameter-notes" });
  const value = make("code", { class: "hs-detail-value" });
  const figures = make("dl", { class: "hs-figures" });

  return {
    element: make("section", { class: "hs-detail hs-parameter", "aria-label": "Selected parameter", hidden: "" }, [
      heading,
      notes,
      value,
      editor.element,
      make("div", { class: "hs-parameter-figures" }, [figures, histogram.element]),
    ]),
    editor,
    /** Show notes about the parameter, from its current row. @param {import("./rows.js").ParameterRow | undefined} row */
    tell(row) {
      const texts = row ? notesOf(row) : [];
      setText(notes, texts.join(" · "));
      notes.hidden = !texts.length;
      notes.classList.toggle("hs-unusual", Boolean(row?.unusual || (row?.known && (row.nan || row.inf))));
    },
    /** @param {import("../../static/python.js").SelectedParameter} parameter @param {DataView} buffer @param {string[]} initializers */
    update(parameter, buffer, initializers) {
      setText(heading, parameter.name);
      setText(value, parameter.value);
      const numbers = Object.fromEntries(Object.entries(parameter.figures).map(([name, text]) => [name, parseNumber(text)]));
      const entries = Object.entries(numbers).filter(([name, number]) => !/nan|inf/.test(name) || number > 0);
      figures.replaceChildren(...entries.map(([name, number]) => make("div", {}, [make("dt", { text: NAMES[name] ?? name }), make("dd", { text: formatNumber(number, 6) })])));
      const bins = toFloat64(buffer);
      const faults = { nan: numbers.nan, positive: numbers.positive_inf, negative: numbers.negative_inf };
      histogram.update(bins.subarray(0, 64), bins.subarray(64), parameter.name, faults);
      editor.edit(parameter.name, initializers);
    },
  };
}
