// The running statistics below the weights, behind a button with their number: they are not trained, and a network with
// batch normalization has as many of them as scales.

import { make, newId, setAttribute, setText } from "../../static/dom.js";

/** @typedef {import("./rows.js").ParameterRow} ParameterRow */

/** @param {import("../../static/grid.js").Grid<ParameterRow>} table @param {() => void} toggled called after the table was opened or closed */
export function createRunningStatistics(table, toggled) {
  const id = newId("hs-running");
  const count = make("span");
  const faults = make("span", { class: "hs-badge hs-warn", hidden: "" });
  const button = make("button", { type: "button", class: "hs-disclosure", "aria-expanded": "false", "aria-controls": id, title: "Statistics that layers such as BatchNorm keep for prediction; no gradient trains them", onclick: () => open(body.hidden) }, [count, faults]);
  const body = make("div", { class: "hs-running-rows", id, hidden: "" }, [table.view]);
  const element = make("section", { class: "hs-running", "aria-label": "Running statistics", hidden: "" }, [button, body]);

  /** @param {boolean} now */
  function open(now) {
    body.hidden = !now;
    setAttribute(button, "aria-expanded", now);
    toggled();
  }

  return {
    element,
    /** @param {ParameterRow[]} rows */
    setRows(rows) {
      table.setRows(rows);
      element.hidden = !rows.length;
      setText(count, `${rows.length} running ${rows.length === 1 ? "statistic" : "statistics"}, not trained`);
    },
    /** Report nonfinite statistics, which may be out of view. */
    tell() {
      const broken = table.rows.filter((row) => row.known && (row.nan || row.inf)).length;
      setText(faults, `${broken} with NaN or inf`);
      faults.hidden = !broken;
    },
    isOpen: () => !body.hidden && !element.hidden,
    open,
  };
}
