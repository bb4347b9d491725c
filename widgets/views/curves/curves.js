// The view of curves: charts of losses, metrics and learning rates, all with the same steps.

import { make, setAttribute } from "../../static/dom.js";
import { toFloat64 } from "../../static/format.js";
import { POINT_NUMBERS } from "../../static/python.js";
import { axisOf } from "./axes.js";
import { Chart } from "./chart.js";

/** @typedef {import("./curve.js").Curve} Curve */
/** @typedef {import("../../static/python.js").ChartRow} ChartRow */

/**
 * @param {import("../../static/types.js").ViewContext} context
 * @returns {import("../../static/types.js").ViewPart}
 */
export function create({ send, go }) {
  const empty = make("p", { class: "hs-empty" }, ["No numbers yet. Train the network: its losses and learning rates appear here, and those of ", make("code", { text: 'hookscope.log("val_loss", value)' }), "."]);
  const before = make("button", { type: "button", class: "hs-button", "aria-pressed": "true", text: "Run before", title: "Show the run before of the same cell, dimmed", hidden: "", onclick: () => toggle(before) });
  const bySession = make("button", { type: "button", class: "hs-button", "aria-pressed": "false", text: "By session step", title: "Place each point at the session's step at which it was logged, not at the step that was passed with it", hidden: "", onclick: () => toggle(bySession) });
  const bar = make("div", { class: "hs-bar", hidden: "" }, [before, bySession]);
  const list = make("div", { class: "hs-charts" });
  /** @type {Map<string, Chart>} */
  const charts = new Map();
  /** @type {{rows: ChartRow[], buffer: DataView | undefined}} */
  let now = { rows: [], buffer: undefined };

  /** @param {HTMLElement} button */
  function toggle(button) {
    setAttribute(button, "aria-pressed", button.getAttribute("aria-pressed") !== "true");
    draw(now.rows, now.buffer);
  }

  /** @type {((step: number) => void) | null} */
  const openStep = go.capture ? (step) => (send({ type: "open_step", step }), go.capture?.({ step })) : null;

  /** @param {ChartRow[]} rows @param {DataView | undefined} buffer */
  function draw(rows, buffer) {
    now = { rows, buffer };
    const isBySession = bySession.getAttribute("aria-pressed") === "true";
    const { curves, shifted } = read(rows, toFloat64(buffer), isBySession);
    const withBefore = before.getAttribute("aria-pressed") === "true";
    const hasBefore = curves.some((ofChart) => ofChart.some((curve) => curve.before));
    before.hidden = !hasBefore;
    bySession.hidden = !shifted.includes(true);
    bar.hidden = !hasBefore && bySession.hidden;
    empty.hidden = rows.length > 0;
    const common = axisOfSteps(curves.filter((_, k) => isBySession || !shifted[k]).flat(), withBefore);
    for (const title of charts.keys()) if (!rows.some((row) => row.title === title)) charts.delete(title);
    const elements = rows.map(({ title, summary }, k) => {
      const chart = charts.get(title) ?? new Chart(title, openStep);
      charts.set(title, chart);
      // Steps of their own may count something else, such as epochs.
      chart.update(curves[k], isBySession || !shifted[k] ? common : axisOfSteps(curves[k], withBefore), summary, withBefore);
      return chart.element;
    });
    if (elements.length !== list.childElementCount || elements.some((element, k) => element !== list.children[k])) list.replaceChildren(...elements);
  }

  return {
    element: make("div", { class: "hs-view hs-curves" }, [bar, make("div", { class: "hs-scroll" }, [empty, list])]),
    traits: [[["charts", "chart_points"], draw]],
  };
}

/** Return the axis of the steps of these curves. @param {Curve[]} curves @param {boolean} withBefore */
function axisOfSteps(curves, withBefore) {
  const visible = curves.filter((curve) => withBefore || !curve.before);
  return axisOf((visible.length ? visible : curves).flatMap(({ steps }) => [...steps]));
}

/**
 * Return the curves of each chart from the columns POINT_NUMBERS, and whether one of its points has a step of its own.
 * @param {ChartRow[]} rows @param {Float64Array} numbers @param {boolean} bySession whether the session's steps are those on the axis
 */
function read(rows, numbers, bySession) {
  const length = numbers.length / POINT_NUMBERS.length;
  const columns = POINT_NUMBERS.map((_, c) => numbers.subarray(c * length, (c + 1) * length));
  let from = 0;
  const shifted = rows.map(() => false);
  const curves = rows.map((row, chart) =>
    row.curves.map(({ name, length: count, before }) => {
      const [steps, values, sessionSteps] = columns.map((column) => column.subarray(from, from + count));
      from += count;
      shifted[chart] ||= steps.some((step, k) => step !== sessionSteps[k]);
      return { name, before, steps: bySession ? sessionSteps : steps, values, sessionSteps };
    }),
  );
  return { curves, shifted };
}
