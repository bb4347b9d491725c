// The captures: every value that passed a watched cell, in the order of the run (forward, then backward) or newest
// first, of all steps or of one; of the selected one its figures, its histogram and its pictures.

import { make, setAttribute, setText } from "./dom.js";
import { formatCount, formatNumber, parseNumber, toFloat64 } from "./format.js";
import { Grid } from "./grid.js";
import { numberedLines } from "./highlight.js";
import { createHistogram } from "./histogram.js";
import { createMemory } from "./memory.js";
import { createTensor } from "./tensor.js";

/** @typedef {import("./types.js").CaptureRow} CaptureRow */
/** @typedef {import("./types.js").Selection} Selection */

/** The number columns of a message, in captures_view.py's order (CAPTURE_NUMBERS). */
const CAPTURE_NUMBERS = ["index", "step", "call", "known", "minimum", "maximum", "mean", "std", "nan", "inf"];
/** @type {Record<string, [string, string]>} */
const ORIGINS = { hook: ["hook", "recorded by a hook"], edit: ["edited", "edited at a pause"] };
const CAPTURE_TEXTS = ["path", "cell", "direction", "slot", "context", "shape", "dtype", "origin", "hits"];
/** @type {Record<string, string>} */
const FIGURE_NAMES = { nan: "NaN", positive_inf: "+inf", negative_inf: "−inf" };
/** Wait this long after a scroll before asking for statistics of what came into view, in milliseconds. */
const SETTLE = 60;
/** So many marks fit beside each other below the scrubber. */
const MOST_MARKS = 40;

/**
 * @param {import("./types.js").Send} send
 * @param {import("./types.js").Go} go
 * @param {"captures" | "timeline" | "tensor"} [part] the rows and the selected one, or one of the two
 */
export function createCaptures(send, go, part = "captures") {
  /** @type {CaptureRow[]} */
  let rows = [];
  /** @type {Map<number, CaptureRow>} */
  const byIndex = new Map();
  /** @type {Set<number>} */
  const asked = new Set();
  /** @type {Selection | null} */
  let selection = null;
  let timer = 0;
  let waiting = false;
  /** What the last question was for, until it is answered. @type {number[]} */
  let unanswered = [];
  /** @type {number[]} */
  let steps = [];
  /** The conditions that held in a step. @type {Map<number, Set<string>>} */
  const held = new Map();
  let drawnMarks = "";
  /** @type {number | null} */
  let step = null; // the one step that is shown; null for all
  let revealing = -1; // a capture to select as soon as it is here
  let selecting = false;
  /** @type {CaptureRow | null} */
  let next = null; // what to select when Python has answered
  const statistic = (/** @type {CaptureRow} */ row, /** @type {number} */ value) => (row.known ? formatNumber(value) : row.never ? "" : "·");

  /** @type {Grid<CaptureRow>} */
  const grid = new Grid({
    label: "Captures",
    empty: "No captures yet. Run the network: what passes its watched cells appears here.",
    key: (row) => row.index,
    state: (row) => (row.given ? "given-up" : null),
    onSelect: choose,
    onVisible: (visible) => {
      clearTimeout(timer);
      timer = window.setTimeout(() => ask(visible), SETTLE);
    },
    columns: [
      { key: "step", title: "step", width: "32px", number: true, value: (r) => r.step },
      { key: "cell", title: "cell", width: "minmax(76px, 1.6fr)", value: (r) => (r.call ? `${r.cell} #${r.call}` : r.cell) },
      { key: "direction", title: "direction", width: "106px", value: (r) => r.direction, draw: drawDirection },
      { key: "slot", title: "value", width: "minmax(94px, 1fr)", value: (r) => (r.context ? `${r.slot} (${r.context})` : r.slot) },
      { key: "shape", title: "shape", width: "minmax(56px, 0.9fr)", value: (r) => r.shape },
      { key: "dtype", title: "dtype", width: "54px", value: (r) => r.dtype },
      { key: "minimum", title: "min", width: "66px", number: true, value: (r) => r.minimum, text: (r) => (r.never ? "given up" : statistic(r, r.minimum)) },
      { key: "maximum", title: "max", width: "66px", number: true, value: (r) => r.maximum, text: (r) => statistic(r, r.maximum) },
      { key: "mean", title: "mean", width: "66px", number: true, value: (r) => r.mean, text: (r) => statistic(r, r.mean) },
      { key: "std", title: "std", width: "66px", number: true, value: (r) => r.std, text: (r) => statistic(r, r.std) },
      { key: "nan", title: "NaN", width: "30px", number: true, value: (r) => r.nan, draw: drawFault("nan") },
      { key: "inf", title: "inf", width: "30px", number: true, value: (r) => r.inf, draw: drawFault("inf") },
    ],
  });

  const order = make("button", {
    type: "button",
    class: "hs-button",
    "aria-pressed": "false",
    text: "Newest first",
    onclick: () => {
      grid.newestFirst = !grid.newestFirst;
      setAttribute(order, "aria-pressed", grid.newestFirst);
      grid.view.scrollTop = 0;
      grid.schedule();
    },
  });
  const scrubber = make("input", { type: "range", class: "hs-range", min: 0, max: 0, step: 1, "aria-label": "Step", oninput: () => showStep(steps[Number(scrubber.value)]) });
  const marks = make("span", { class: "hs-step-marks", "aria-hidden": "true" });
  const stepText = make("span", { class: "hs-range-value" });
  const allSteps = make("button", {
    type: "button",
    class: "hs-button",
    "aria-pressed": "true",
    text: "All steps",
    onclick: () => showStep(step === null ? (rowOf(selection)?.step ?? steps[Number(scrubber.value)]) : null),
  });
  const memory = createMemory(send);
  const histogram = createHistogram();
  const tensor = createTensor(send);
  const heading = make("h3", { class: "hs-detail-title" });
  const value = make("code", { class: "hs-detail-value" });
  const figures = make("dl", { class: "hs-figures" });
  const source = make("section", { class: "hs-cell-source", "aria-label": "Source", hidden: "" });
  const showSource = make("button", { type: "button", class: "hs-button", "aria-expanded": "false", text: "Show source", onclick: toggleSource });
  const showCell = make("button", { type: "button", class: "hs-button", text: "Show cell", hidden: go.cell ? null : "", onclick: () => selection && go.cell?.(selection.path) });
  const detail = make("section", { class: "hs-detail", "aria-label": "Selected capture", tabindex: "0", hidden: "" }, [
    make("div", { class: "hs-detail-head" }, [make("div", { class: "hs-detail-name" }, [heading, value]), tensor.tools, showCell, showSource]),
    source,
    make("div", { class: "hs-detail-body" }, [make("div", { class: "hs-detail-side" }, [histogram.element, figures]), tensor.element]),
  ]);
  const none = make("p", { class: "hs-empty", text: "No capture is selected." });
  const bar = make("div", { class: "hs-bar" }, [
    grid.filter,
    make("label", { class: "hs-slider" }, [make("span", { text: "step" }), make("span", { class: "hs-scrubber" }, [scrubber, marks]), stepText]),
    allSteps,
    order,
    memory.button,
    make("span", { class: "hs-spring" }),
    grid.count,
  ]);
  const parts = { captures: [bar, memory.element, grid.view, detail], timeline: [bar, memory.element, grid.view], tensor: [none, detail] };
  const element = make("div", { class: "hs-view" }, parts[part]);

  /** Select a capture; while Python has not answered, only the last of several counts. @param {CaptureRow} row */
  function choose(row) {
    next = row;
    if (selecting) return;
    next = null;
    selecting = true;
    send({ type: "select", index: row.index });
  }

  /** @param {Selection | null} one */
  function rowOf(one) {
    return one ? byIndex.get(one.index) : undefined;
  }

  /** Show one step, or with null all of them; what is selected follows to its place in that step. @param {number | null} shown */
  function showStep(shown) {
    step = shown ?? null;
    grid.only = step === null ? null : (row) => row.step === step;
    const now = grid.selected === null ? undefined : byIndex.get(Number(grid.selected));
    const place = (/** @type {CaptureRow} */ row) => `${row.path} ${row.call} ${row.direction} ${row.slot} ${row.context}`;
    const there = now && step !== null && now.step !== step ? rows.find((row) => row.step === step && place(row) === place(now)) : undefined;
    if (there) {
      grid.selected = there.index;
      choose(there);
    }
    drawStep();
    grid.schedule();
    requestAnimationFrame(() => grid.reveal());
  }

  function drawStep() {
    const at = step === null ? steps.length - 1 : steps.indexOf(step);
    setAttribute(scrubber, "max", Math.max(0, steps.length - 1));
    scrubber.value = String(Math.max(0, at));
    scrubber.disabled = !steps.length;
    allSteps.disabled = !steps.length;
    const text = step !== null ? String(step) : steps.length > 1 ? `${steps[0]}-${steps[steps.length - 1]}` : String(steps[0] ?? "-");
    setText(stepText, text);
    const names = step === null ? [] : [...(held.get(step) ?? [])];
    const found = step === null && held.size ? `, conditions held in ${held.size} of ${steps.length} steps` : names.length ? `, held: ${names.join(", ")}` : "";
    setAttribute(scrubber, "aria-valuetext", (step === null ? `all steps, ${text}` : `step ${text}`) + found);
    drawMarks();
    setAttribute(allSteps, "aria-pressed", step === null);
  }

  /** A mark below the scrubber for each step in which a condition held; of those that would touch, one. */
  function drawMarks() {
    const places = new Set(steps.flatMap((one, k) => (held.has(one) ? [Math.round((MOST_MARKS * k) / Math.max(1, steps.length - 1))] : [])));
    const now = [...places].join();
    if (now === drawnMarks) return;
    drawnMarks = now;
    setAttribute(marks.parentElement ?? marks, "title", places.size ? "The marks are steps in which a condition held" : null);
    marks.replaceChildren(
      ...[...places].map((place) => {
        const mark = make("span");
        mark.style.left = `${(100 * place) / MOST_MARKS}%`;
        return mark;
      }),
    );
  }

  function toggleSource() {
    if (!source.hidden || !selection) return hideSource();
    send({ type: "source", path: selection.path });
  }

  function hideSource() {
    source.hidden = true;
    setAttribute(showSource, "aria-expanded", false);
  }

  /** One question at a time: Python may be busy, and answers when it is not. @param {CaptureRow[]} visible */
  function ask(visible) {
    if (waiting) return;
    const indices = visible.filter((row) => !row.known && !row.never && !asked.has(row.index)).map((row) => row.index);
    if (!indices.length) return;
    for (const index of indices) asked.add(index);
    unanswered = indices;
    waiting = true;
    send({ type: "statistics", indices });
  }

  /** @param {Float64Array} numbers @param {number} count @param {(row: Record<string, number>, k: number) => void} each */
  function eachRow(numbers, count, each) {
    for (let k = 0; k < count; k++) {
      /** @type {Record<string, number>} */
      const row = {};
      CAPTURE_NUMBERS.forEach((name, c) => (row[name] = numbers[c * count + k]));
      each(row, k);
    }
  }

  /** New captures, and which of the old ones Python has dropped. @param {any} message @param {DataView[]} buffers */
  function add(message, buffers) {
    if (message.reset) {
      rows = [];
      byIndex.clear();
      asked.clear();
    }
    const text = message.columns;
    eachRow(toFloat64(buffers[0]), message.count, (numbers, k) => {
      const row = /** @type {CaptureRow} */ (/** @type {unknown} */ ({ ...numbers, ...asFar(numbers.known) }));
      for (const name of CAPTURE_TEXTS) Object.assign(row, { [name]: text[name][k] });
      row.search = `${row.cell} #${row.call} ${row.direction} ${row.slot} ${row.context} ${row.shape} ${row.dtype} ${row.origin} ${row.hits}`.toLowerCase();
      rows.push(row);
      byIndex.set(row.index, row);
    });
    const kept = rows.findIndex((row) => row.index >= message.oldest);
    for (const row of rows.splice(0, kept < 0 ? rows.length : kept)) byIndex.delete(row.index);
    rows.forEach((row, k) => (row.given = k < message.given_up));
    memory.update(message);
    const newest = steps[steps.length - 1];
    steps = [...new Set(rows.map((row) => row.step))].sort((a, b) => a - b);
    held.clear();
    for (const row of rows) {
      if (!row.hits) continue;
      const names = held.get(row.step) ?? new Set();
      for (const name of row.hits.split(", ")) names.add(name);
      held.set(row.step, names);
    }
    // Who looks at the newest step follows the run; a step that is gone is no longer looked at.
    if (step !== null && (step === newest || !steps.includes(step))) step = steps[steps.length - 1] ?? null;
    grid.only = step === null ? null : (row) => row.step === step;
    drawStep();
    grid.setRows(rows);
    if (byIndex.has(revealing)) reveal(revealing);
  }

  /** Select a capture and scroll to it, whatever was filtered. @param {number} index */
  function reveal(index) {
    const row = byIndex.get(index);
    revealing = row ? -1 : index;
    if (!row) return;
    grid.filter.value = "";
    grid.selected = index;
    if (step !== null && step !== row.step) showStep(row.step);
    else choose(row);
    grid.schedule();
    requestAnimationFrame(() => grid.reveal());
  }

  /** Code or another view has selected a capture; what was clicked here and not yet answered leads. @param {number} index */
  function follow(index) {
    if (selecting || index === (grid.selected ?? -1)) return;
    grid.selected = index < 0 ? null : index;
    const row = byIndex.get(index);
    if (row && step !== null && step !== row.step) showStep(row.step);
    grid.schedule();
    requestAnimationFrame(() => grid.reveal());
  }

  /** Statistics that were asked for. @param {DataView[]} buffers */
  function addStatistics(buffers) {
    unanswered = [];
    const numbers = toFloat64(buffers[0]);
    eachRow(numbers, numbers.length / CAPTURE_NUMBERS.length, (figures) => {
      const row = byIndex.get(figures.index);
      if (row) Object.assign(row, figures, asFar(figures.known));
    });
    grid.schedule();
  }

  /** @param {Selection} chosen @param {DataView} buffer */
  function select(chosen, buffer) {
    const opening = detail.hidden;
    detail.hidden = chosen.index === undefined;
    none.hidden = !detail.hidden;
    if (detail.hidden) return;
    if (chosen.path !== selection?.path) hideSource();
    selection = chosen;
    // What was clicked here leads; the model's selection is for a page that was just loaded.
    grid.selected ??= chosen.index;
    setText(heading, `${chosen.key}, step ${chosen.step}`);
    setText(value, chosen.value);
    setAttribute(value, "title", chosen.value);
    figures.replaceChildren();
    const marks = [...chosen.hits, ...(chosen.origin in ORIGINS ? [ORIGINS[chosen.origin][1]] : [])];
    if (marks.length) figures.append(figure("marks", marks.join(", ")));
    const numbers = Object.fromEntries(Object.entries(chosen.figures).map(([name, text]) => [name, parseNumber(text)]));
    for (const [name, number] of Object.entries(numbers)) figures.append(figure(FIGURE_NAMES[name] ?? name, formatNumber(number, 6)));
    const bins = toFloat64(buffer);
    const faults = { nan: numbers.nan, positive: numbers.positive_inf, negative: numbers.negative_inf };
    histogram.element.hidden = !bins.length;
    if (bins.length) histogram.update(bins.subarray(0, 64), bins.subarray(64), chosen.key, faults);
    for (const part of [tensor.element, tensor.tools]) part.hidden = !chosen.kept;
    if (chosen.kept) tensor.select(chosen);
    if (opening) grid.reveal();
  }

  /** The text of the selected capture's cell. @param {{path: string, title: string, place: string, first: number, lines: string[]}} message */
  function drawSource(message) {
    if (message.path !== selection?.path) return;
    source.replaceChildren(make("p", {}, [make("strong", { text: message.title }), " ", make("span", { class: "hs-count", text: message.place })]));
    if (message.lines.length) {
      const list = make("ol", { class: "hs-source", tabindex: "0", "aria-label": `Source of ${message.title}` });
      list.append(...numberedLines(message.lines, message.first));
      source.append(list);
    }
    source.hidden = false;
    setAttribute(showSource, "aria-expanded", true);
  }

  return {
    element,
    add,
    addStatistics,
    select,
    reveal,
    follow,
    drawSource,
    drawTensor: tensor.receive,
    copyCode: tensor.copyCode,
    /** Python has dealt with a message. @param {string} action */
    answered(action) {
      if (action === "tensor") tensor.answered();
      if (action === "statistics") {
        // While code runs, Python may leave it at that: then it is asked again later.
        for (const index of unanswered) asked.delete(index);
        [unanswered, waiting] = [[], false];
      }
      if (action === "sync") grid.schedule();
      if (action !== "select") return;
      selecting = false;
      if (next) choose(next);
    },
    draw: () => grid.schedule(),
    destroy() {
      clearTimeout(timer);
      grid.destroy();
      tensor.destroy();
    },
  };
}

/** Whether a row's figures are known, or never will be: captures_view.py tells it in one number. @param {number} known */
function asFar(known) {
  return { known: known > 0, never: known < 0 };
}

/** @param {string} name @param {string} text */
function figure(name, text) {
  return make("div", {}, [make("dt", { text: name }), make("dd", { text })]);
}

/** @param {HTMLElement} cell @param {CaptureRow} row */
function drawDirection(cell, row) {
  if (cell.dataset.drawn === `${row.direction} ${row.origin} ${row.hits}`) return;
  cell.dataset.drawn = `${row.direction} ${row.origin} ${row.hits}`;
  const [short, kind] = row.direction === "forward" ? ["fwd", "hs-forward"] : ["bwd", "hs-backward"];
  cell.replaceChildren(make("abbr", { class: `hs-direction ${kind}`, text: short, title: row.direction }));
  if (row.origin in ORIGINS) cell.append(make("span", { class: "hs-badge", text: ORIGINS[row.origin][0], title: ORIGINS[row.origin][1] }));
  if (row.hits) cell.append(make("span", { class: "hs-badge hs-warn", text: "!", title: row.hits, "aria-label": `condition: ${row.hits}`, role: "img" }));
}

/** @param {"nan" | "inf"} name */
function drawFault(name) {
  return (/** @type {HTMLElement} */ cell, /** @type {CaptureRow} */ row) => {
    setText(cell, row.known ? formatCount(row[name]) : row.never ? "" : "·");
    cell.classList.toggle("hs-fault", row.known && row[name] > 0);
  };
}
