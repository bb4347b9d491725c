// One statistic of one cell over the steps, in a small window at its bar: a line, and its first and latest values in
// words. The window opens when the bar is focused, pointed at or pressed; Escape closes it.

import { closest, make, makeSvg, newId, setAttribute, setText } from "../../static/dom.js";
import { formatNumber, toFloat64 } from "../../static/format.js";
import { FIGURE_WORDS, TREND_NUMBERS } from "../../static/python.js";
import { toWords } from "./figures.js";

/** @typedef {import("./figures.js").Kind} Kind */
/** @typedef {{step: number, value: number, word: (typeof FIGURE_WORDS)[number]}} Point */

const WIDTH = 232;
const HEIGHT = 56;
const EDGE = 5;
/** Maximum number of points that are also drawn as dots. */
const FEW = 24;
/** Ratio of the largest to the smallest value above which the scale is logarithmic. */
const WIDE = 30;
/** Delay in milliseconds before the window opens for the pointer. */
const LINGER = 180;

export class TrendWindow {
  /**
   * @param {import("../../static/types.js").Send} send
   * @param {(bar: HTMLElement) => {path: string, label: string, kind: Kind, figure: import("./figures.js").Figure} | null} of returns the subject of a bar
   */
  constructor(send, of) {
    this.send = send;
    this.of = of;
    /** @type {HTMLElement | null} */
    this.bar = null;
    this.shown = ["", ""]; // the path and the kind; "" for none
    this.timer = 0;
    this.title = make("p", { class: "hs-trend-title" });
    this.now = make("p", { class: "hs-trend-now" });
    this.picture = make("div", { class: "hs-trend-picture" });
    this.words = make("p", { class: "hs-trend-words", "aria-live": "polite" });
    this.element = make("div", { class: "hs-trend", role: "tooltip", id: newId("hs-trend"), popover: "manual" }, [this.title, this.now, this.picture, this.words]);
    this.element.addEventListener("pointerleave", () => this.#pass(null));
    this.element.addEventListener("pointerenter", () => clearTimeout(this.timer));
    this.keyed = (/** @type {KeyboardEvent} */ event) => this.#keyed(event);
    this.scrolled = () => this.update();
  }

  /** Handle the bars in a list. @param {HTMLElement} list */
  follow(list) {
    const barOf = (/** @type {EventTarget | null} */ target) => closest(target, ".hs-figure");
    list.addEventListener("focusin", ({ target }) => this.#show(barOf(target)));
    list.addEventListener("focusout", ({ target }) => barOf(target) && this.#show(null));
    list.addEventListener("pointerover", ({ target }) => this.#pass(barOf(target)));
    list.addEventListener("pointerleave", () => this.#pass(null));
    list.addEventListener("click", ({ target }) => barOf(target) && this.#show(barOf(target)));
  }

  /** Handle the pointer on a bar, or on none; then the focused bar gets the window back. @param {HTMLElement | null} bar */
  #pass(bar) {
    clearTimeout(this.timer);
    const wanted = bar ?? closest(document.activeElement, ".hs-figure");
    if (wanted !== this.bar) this.timer = window.setTimeout(() => this.#show(wanted), LINGER);
  }

  /** @param {HTMLElement | null} bar */
  #show(bar) {
    clearTimeout(this.timer);
    const what = bar && this.of(bar);
    if (bar === this.bar && what) return;
    if (this.bar) this.#shut();
    if (!bar || !what) return;
    this.bar = bar;
    setAttribute(bar, "aria-expanded", "true");
    setAttribute(bar, "aria-describedby", this.element.id);
    this.shown = [what.path, what.kind];
    setText(this.words, "");
    this.picture.replaceChildren();
    setAttribute(this.element, "data-kind", what.kind);
    this.#listen(true);
    this.element.showPopover?.();
    this.update();
    this.send({ type: "cell_trend", path: what.path, kind: what.kind });
  }

  /** While it is open, the window handles Escape and follows scrolling. @param {boolean} on */
  #listen(on) {
    const act = on ? "addEventListener" : "removeEventListener";
    document[act]("keydown", /** @type {EventListener} */ (this.keyed), true);
    document[act]("scroll", this.scrolled, true);
  }

  #shut() {
    this.#listen(false);
    if (this.bar) setAttribute(this.bar, "aria-expanded", "false");
    if (this.bar) setAttribute(this.bar, "aria-describedby", null);
    this.bar = null;
    this.shown = ["", ""];
    if (this.element.matches(":popover-open")) this.element.hidePopover();
    this.send({ type: "cell_trend", path: "", kind: "" });
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault();
    this.#show(null);
  }

  /** Follow the bar after the rows were drawn, or close without it. */
  update() {
    if (!this.bar) return;
    const what = this.bar.isConnected ? this.of(this.bar) : null;
    if (!what || what.path !== this.shown[0]) return this.#shut();
    setText(this.title, what.label);
    setText(this.now, `${toWords(what.kind, what.figure)}, in step ${what.figure.step}`);
    this.#place(this.bar.getBoundingClientRect());
  }

  /** Place the window below the bar, or above it if there is no room. @param {DOMRect} bar */
  #place(bar) {
    const { width, height } = this.element.getBoundingClientRect();
    const room = document.documentElement;
    const below = bar.bottom + 6 + height <= room.clientHeight || bar.top - 6 - height < 0;
    const left = Math.max(8, Math.min(bar.left - 12, room.clientWidth - width - 8));
    this.element.style.left = `${left}px`;
    this.element.style.top = `${below ? bar.bottom + 6 : bar.top - 6 - height}px`;
  }

  /** @param {import("../../static/python.js").Trend} trend @param {DataView} buffer */
  receive(trend, buffer) {
    if (!this.bar || trend.path !== this.shown[0] || trend.kind !== this.shown[1]) return;
    const points = readPoints(buffer);
    this.picture.replaceChildren(...(points.length > 1 ? [draw(points)] : []));
    setText(this.words, trendWords(points, trend));
    this.update();
  }

  destroy() {
    clearTimeout(this.timer);
    this.#listen(false);
  }
}

/** @param {DataView} buffer @returns {Point[]} */
function readPoints(buffer) {
  const numbers = toFloat64(buffer);
  const length = numbers.length / TREND_NUMBERS.length;
  return Array.from({ length }, (_, k) => {
    const [step, value, word] = TREND_NUMBERS.map((_, c) => numbers[c * length + k]);
    return { step, value, word: FIGURE_WORDS[word] };
  });
}

/** @param {Point[]} points @param {{rest: number, never: number}} missing */
function trendWords(points, { rest, never }) {
  const of = (/** @type {Point} */ { step, value, word }) => `${word || formatNumber(value)} in step ${step}`;
  const finite = points.filter(({ value, word }) => Number.isFinite(value) && !word).map(({ value }) => value);
  const faults = points.filter(({ word }) => word === "NaN" || word === "inf").length;
  const zeros = points.filter(({ word }) => word === "zero").length;
  const steps = (/** @type {number} */ number) => `${number} step${number === 1 ? "" : "s"}`;
  return [
    points.length > 1 ? `From ${of(points[0])} to ${of(points[points.length - 1])}` : points.length ? `Only ${of(points[0])} so far` : "No step is known yet",
    finite.length > 2 ? `; between ${formatNumber(Math.min(...finite))} and ${formatNumber(Math.max(...finite))}` : "",
    faults ? `; not finite at ${steps(faults)}` : "",
    zeros ? `; zero at ${steps(zeros)}` : "",
    ".",
    rest ? ` ${steps(rest)} still to come.` : "",
    never ? ` Of ${steps(never)} the value was given up before its figures were requested.` : "",
  ].join("");
}

/** Draw the line; the words below it describe it. @param {Point[]} points */
function draw(points) {
  const regular = points.filter(({ value, word }) => Number.isFinite(value) && word !== "NaN" && word !== "inf");
  const above = regular.filter(({ value }) => value > 0).map(({ value }) => value);
  const [low, high] = [Math.min(...above), Math.max(...above)];
  const logarithmic = high > WIDE * low;
  const [bottom, top] = logarithmic ? [Math.log(low), Math.log(high)] : [regular.length > above.length ? 0 : low, high];
  const [first, last] = [points[0].step, points[points.length - 1].step];
  const x = (/** @type {number} */ step) => EDGE + ((step - first) / (last - first || 1)) * (WIDTH - 2 * EDGE);
  const y = (/** @type {number} */ value) => {
    if (!(value > 0)) return HEIGHT - EDGE;
    const fraction = top > bottom ? ((logarithmic ? Math.log(value) : value) - bottom) / (top - bottom) : 0.5;
    return HEIGHT - EDGE - fraction * (HEIGHT - 2 * EDGE);
  };
  let line = "";
  /** @type {SVGElement[]} */
  const marks = [];
  let pen = "M";
  points.forEach(({ step, value, word }, k) => {
    const at = x(step).toFixed(1);
    if (word === "NaN" || word === "inf" || word === "empty") {
      marks.push(makeSvg("path", { class: "hs-trend-fault", d: `M${at} 1V${HEIGHT - 1}` }));
      pen = "M";
      return;
    }
    line += `${pen}${at} ${y(value).toFixed(1)}`;
    pen = "L";
    const isEnd = k === points.length - 1;
    if (points.length <= FEW || isEnd) marks.push(makeSvg("circle", { class: value > 0 ? "hs-trend-dot" : "hs-trend-zero", cx: at, cy: y(value).toFixed(1), r: isEnd ? 3.2 : 2 }));
  });
  return makeSvg("svg", { "aria-hidden": "true", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT }, [
    makeSvg("path", { class: "hs-trend-base", d: `M0 ${HEIGHT - 0.5}H${WIDTH}` }),
    makeSvg("path", { class: "hs-trend-line", d: line }),
    ...marks,
  ]);
}
