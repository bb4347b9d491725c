// Readout of the sparklines in a table: the point nearest to the pointer, or in the selected row the one selected by
// the arrow keys. Its step and value appear beside the line, and screen readers announce them.

import { make, setAttribute, setText } from "../../static/dom.js";
import { formatNumber } from "../../static/format.js";
import { drawnIn, placesOf, SPARK_WIDTH } from "../../static/sparkline.js";

/** Distance between the line and the readout, in CSS pixels. */
const GAP = 6;

export class SparklineReading {
  /** @param {HTMLElement} table @param {() => Element | null} selected returns the row for the arrow keys */
  constructor(table, selected) {
    this.table = table;
    this.selected = selected;
    this.element = make("div", { class: "hs-spark-reading", role: "status", "aria-label": "Point of the history", hidden: "" });
    /** @type {{cell: HTMLElement, name: string, step: number} | null} */
    this.at = null;
    table.addEventListener("pointermove", (event) => this.#pointed(event));
    for (const end of ["pointerleave", "scroll", "blur"]) table.addEventListener(end, () => this.#hide());
    table.addEventListener("keydown", (event) => this.#keyed(event));
  }

  /** Update after the table was drawn again: its cells may belong to other rows and have more points. */
  refresh() {
    if (!this.at) return;
    const drawnLine = drawnIn(this.at.cell);
    const k = drawnLine?.name === this.at.name ? drawnLine.series.steps.indexOf(this.at.step) : -1;
    if (k < 0) this.#hide();
    else this.#show(this.at.cell, k);
  }

  /** @param {PointerEvent} event */
  #pointed(event) {
    const cell = cellAround(event.target);
    const drawnLine = cell && drawnIn(cell);
    if (!cell || !drawnLine) return this.#hide();
    const box = cell.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * SPARK_WIDTH;
    const distances = placesOf(drawnLine.series).map((place) => Math.abs(place.x - x));
    this.#show(cell, distances.indexOf(Math.min(...distances)));
  }

  /** @param {KeyboardEvent} event */
  #keyed(event) {
    if (event.target !== this.table || event.ctrlKey || event.altKey || event.metaKey) return;
    const way = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (!way) return this.#hide();
    const cell = cellAround(this.selected()?.querySelector(".hs-spark") ?? null);
    const drawnLine = cell && drawnIn(cell);
    if (!cell || !drawnLine) return;
    event.preventDefault();
    const { steps } = drawnLine.series;
    const now = this.at?.cell === cell ? steps.indexOf(this.at.step) : -1;
    this.#show(cell, now < 0 ? steps.length - 1 : Math.max(0, Math.min(steps.length - 1, now + way)));
  }

  /** @param {HTMLElement} cell @param {number} k index of the point */
  #show(cell, k) {
    const drawnLine = drawnIn(cell);
    if (!drawnLine) return;
    if (this.at?.cell !== cell) this.#hide();
    const { steps, values } = drawnLine.series;
    this.at = { cell, name: drawnLine.name, step: steps[k] };
    const { x, y } = placesOf(drawnLine.series)[k];
    mark(cell, `M${x.toFixed(1)} ${y.toFixed(1)}h0.01`);
    setText(this.element, `step ${steps[k]}: ${drawnLine.word} ${formatNumber(values[k])}`);
    this.element.hidden = false;
    const [box, around] = [cell.getBoundingClientRect(), (this.element.offsetParent ?? this.table).getBoundingClientRect()];
    this.element.style.top = `${box.top - around.top + (box.height - this.element.offsetHeight) / 2}px`;
    this.element.style.left = `${Math.max(GAP, box.left - around.left - this.element.offsetWidth - GAP)}px`;
  }

  #hide() {
    if (this.at) mark(this.at.cell, null);
    this.at = null;
    this.element.hidden = true;
  }
}

/** @param {EventTarget | null} target */
function cellAround(target) {
  return target instanceof Element ? (target.closest(".hs-spark")?.parentElement ?? null) : null;
}

/** @param {HTMLElement} cell @param {string | null} d */
function mark(cell, d) {
  const point = cell.querySelector(".hs-spark-point");
  if (point) setAttribute(point, "d", d);
}
