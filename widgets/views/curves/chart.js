// One chart: curves with axes, ticks and a legend. The pointer or the arrow keys read points, and a click or Enter opens
// the step of a point.

import { make, makeSvg, newId, setAttribute, setText } from "../../static/dom.js";
import { axisOf, tickText } from "./axes.js";
import { HEIGHT, heightOf, inside, lookOf, nearest, pathsOf, WIDTH } from "./curve.js";
import { Legend } from "./legend.js";
import { announce, Reading } from "./reading.js";

/** @typedef {import("./curve.js").Curve} Curve */

/** Ticks of each axis. */
const ACROSS = 5;
const UP = 5;
/** Steps by which the keys move the cursor. @type {Record<string, number>} */
const MOVES = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity };
/** Distance in CSS pixels within which a click is on a point. */
const NEAR = 24;

export class Chart {
  /** @param {string} title @param {((step: number) => void) | null} openStep opens a step of the session */
  constructor(title, openStep) {
    this.openStep = openStep;
    /** @type {Curve[]} */
    this.curves = [];
    /** The names of the series, in the order of the legend. @type {string[]} */
    this.names = [];
    this.withBefore = true;
    this.isLogarithmic = false;
    /** @type {import("./axes.js").Axis | null} */
    this.across = null;
    /** @type {import("./axes.js").Axis | null} */
    this.up = null;
    this.legend = new Legend(title, () => this.#draw());
    this.reading = new Reading();
    this.logButton = make("button", { type: "button", class: "hs-button", "aria-pressed": "false", text: "Log scale", "aria-label": `Log scale of ${title}`, onclick: () => this.#toggleScale() });
    this.summary = make("p", { class: "hs-chart-summary", id: newId("hs-chart") });
    this.grid = makeSvg("path", { class: "hs-chart-grid" });
    this.lines = makeSvg("g");
    const axes = makeSvg("path", { class: "hs-chart-axis", d: `M0 0V${HEIGHT}H${WIDTH}` });
    const svg = makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", width: "100%", height: "100%", "aria-hidden": "true" }, [this.grid, axes, this.lines, this.reading.line, this.reading.points]);
    this.ticks = make("div", { "aria-hidden": "true" });
    this.plot = make("div", {
      class: "hs-chart-plot",
      role: "slider",
      tabindex: 0,
      "aria-label": `Step of ${title}`,
      "aria-describedby": this.summary.id,
      "data-opens": openStep ? "" : null,
      onpointermove: (/** @type {PointerEvent} */ event) => this.#pointed(event),
      onpointerleave: () => document.activeElement !== this.plot && this.reading.hide(),
      onblur: () => this.reading.hide(),
      onfocus: () => this.reading.step === null && this.#read(this.#steps().at(-1) ?? null),
      onclick: (/** @type {MouseEvent} */ event) => this.#clicked(event),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#keyed(event),
    }, [svg, this.ticks, this.reading.box]);
    const heading = make("div", { class: "hs-chart-head" }, [make("h3", { text: title }), make("span", { class: "hs-spring" }), this.logButton]);
    this.element = make("section", { class: "hs-chart", "aria-label": title }, [heading, this.plot, this.legend.element, this.summary]);
  }

  /**
   * Draw new points.
   * @param {Curve[]} curves those of the run before first @param {import("./axes.js").Axis | null} across @param {string} summary @param {boolean} withBefore whether the run before is shown
   */
  update(curves, across, summary, withBefore) {
    this.curves = curves;
    this.across = across;
    this.withBefore = withBefore;
    setText(this.summary, summary);
    const current = curves.filter(({ before }) => !before);
    this.names = [...new Set([...current, ...curves].map(({ name }) => name))];
    this.legend.update(this.names);
    this.#draw();
  }

  /** @returns {Curve[]} */
  #visible() {
    return this.curves.filter(({ name, before }) => !this.legend.hidden.has(name) && (this.withBefore || !before));
  }

  #draw() {
    const { across } = this;
    if (!across) return;
    const visible = this.#visible();
    const isPositive = visible.every(({ values }) => values.every((value) => !Number.isFinite(value) || value > 0));
    this.logButton.disabled = !isPositive;
    setAttribute(this.logButton, "title", isPositive ? null : "A value is zero or negative");
    setAttribute(this.logButton, "aria-pressed", this.isLogarithmic && isPositive);
    this.up = axisOf(visible.flatMap(({ values }) => [...values]), this.isLogarithmic && isPositive);
    this.lines.replaceChildren(...visible.map((curve) => this.#drawCurve(curve, across)));
    this.#drawTicks(across);
    if (this.reading.step !== null) this.#read(this.reading.step);
    else announce(this.plot, this.summary.textContent ?? "", this.#steps().at(-1) ?? across.high, across);
  }

  /** @param {Curve} curve @param {import("./axes.js").Axis} across */
  #drawCurve(curve, across) {
    const { line, faults } = pathsOf(curve, across, this.up);
    const paths = [makeSvg("path", { class: "hs-chart-line", d: line })];
    if (faults) paths.push(makeSvg("path", { class: "hs-chart-fault", d: faults }));
    return makeSvg("g", { ...lookOf(this.names.indexOf(curve.name)), "data-before": curve.before ? "" : null }, paths);
  }

  /** @param {import("./axes.js").Axis} across */
  #drawTicks(across) {
    const up = this.up;
    const upward = up ? up.ticks(UP).map((value) => ({ axis: "up", share: up.position(value), text: tickText(value) })) : [];
    const steps = across.ticks(ACROSS).filter(Number.isInteger);
    const sideways = steps.map((value) => ({ axis: "across", share: across.position(value), text: tickText(value) }));
    setAttribute(this.grid, "d", upward.map(({ share }) => `M0 ${heightOf(share).toFixed(1)}H${WIDTH}`).join(""));
    this.ticks.replaceChildren(
      make("span", { class: "hs-tick", "data-axis": "name", "data-text": "step" }),
      ...[...upward, ...sideways].map(({ axis, share, text }) => {
        const tick = make("span", { class: "hs-tick", "data-axis": axis, "data-text": text });
        if (axis === "up") tick.style.bottom = `${100 * inside(share)}%`;
        else tick.style.left = `${100 * share}%`;
        return tick;
      }),
    );
  }

  #toggleScale() {
    this.isLogarithmic = !this.isLogarithmic;
    this.#draw();
  }

  /** Return the steps of the visible points, in their order. */
  #steps() {
    return [...new Set(this.#visible().flatMap(({ steps }) => [...steps]))].sort((a, b) => a - b);
  }

  /** Show the points at a step, or nothing for null. @param {number | null} step @param {(curve: Curve, value: number) => number} [distance] */
  #read(step, distance) {
    if (step === null || !this.across) return this.reading.hide();
    const text = this.reading.show(step, this.#visible(), { across: this.across, up: this.up }, distance);
    announce(this.plot, text, step, this.across);
  }

  /** Return the visible point nearest to the pointer, and its distance. @param {MouseEvent} event */
  #nearestTo({ clientX, clientY }) {
    const box = this.plot.getBoundingClientRect();
    const { across, up } = this;
    if (!across) return null;
    let best = /** @type {{curve: Curve, k: number, distance: number} | null} */ (null);
    for (const curve of this.#visible()) {
      for (let k = 0; k < curve.steps.length; k++) {
        const height = up && Number.isFinite(curve.values[k]) ? inside(up.position(curve.values[k])) : 1;
        const distance = Math.hypot(box.left + across.position(curve.steps[k]) * box.width - clientX, box.bottom - height * box.height - clientY);
        if (!best || distance < best.distance) best = { curve, k, distance };
      }
    }
    return best;
  }

  /** @param {PointerEvent} event */
  #pointed(event) {
    const { across, up } = this;
    if (!across) return;
    const box = this.plot.getBoundingClientRect();
    const wanted = across.low + ((event.clientX - box.left) / box.width) * (across.high - across.low);
    const steps = this.#visible().map((curve) => ({ curve, k: nearest(curve, wanted) })).filter(({ k }) => k >= 0).map(({ curve, k }) => curve.steps[k]);
    if (!steps.length) return this.reading.hide();
    const step = steps.reduce((best, candidate) => (Math.abs(candidate - wanted) < Math.abs(best - wanted) ? candidate : best));
    const heightAt = (/** @type {number} */ value) => box.bottom - (up && Number.isFinite(value) ? inside(up.position(value)) : 1) * box.height;
    this.#read(step, (_, value) => Math.abs(heightAt(value) - event.clientY));
  }

  /** Open the step of the point under the pointer. @param {MouseEvent} event */
  #clicked(event) {
    const best = this.#nearestTo(event);
    if (best && best.distance <= NEAR) this.#open(best.curve, best.k);
  }

  /** @param {Curve} curve @param {number} k */
  #open(curve, k) {
    if (!curve.before && curve.sessionSteps[k] > 0) this.openStep?.(curve.sessionSteps[k]);
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { step } = this.reading;
    if (event.key === "Enter" && step !== null) {
      const curve = this.#visible().find(({ before, steps }) => !before && steps.includes(step));
      if (curve) this.#open(curve, curve.steps.lastIndexOf(step));
      return;
    }
    if (event.key === "Escape" && step !== null) return this.reading.hide();
    const steps = this.#steps();
    if (!(event.key in MOVES) || !steps.length) return;
    event.preventDefault();
    const now = step === null ? steps.length - 1 : steps.indexOf(step) + MOVES[event.key];
    this.#read(steps[Math.max(0, Math.min(steps.length - 1, now))]);
  }
}
