// Controls for the visible part of a value: the kind of picture, and the index along each axis before the matrix.

import { make, setAttribute, setText } from "../../static/dom.js";

/** @typedef {"matrix" | "tiles" | "table"} Kind */
/** @typedef {{name: string, size: number, text: (value: number) => string}} Axis its slider and the function that formats its value */

/** @type {[Kind, string][]} */
const KINDS = [["matrix", "Heatmap"], ["tiles", "Channels"], ["table", "Table"]];

/** @param {(kind: Kind) => void} choose */
export function createKinds(choose) {
  const buttons = KINDS.map(([kind, text]) => make("button", { type: "button", class: "hs-button", "data-kind": kind, text, onclick: () => choose(kind) }));
  const [matrix, tiles, table] = buttons;
  return {
    element: make("div", { class: "hs-kinds", role: "group", "aria-label": "Picture" }, buttons),
    /** @param {Kind} now @param {number} axes @param {boolean} attention @param {boolean} fitsTable */
    update(now, axes, attention, fitsTable) {
      for (const button of buttons) setAttribute(button, "aria-pressed", button.dataset.kind === now);
      setText(matrix, axes < 2 ? "Bars" : "Heatmap");
      tiles.hidden = axes < 3;
      setText(tiles, attention ? "Attention" : "Channels");
      table.hidden = !fitsTable;
    },
  };
}

/** @param {(axis: number, value: number) => void} moved */
export function createSliders(moved) {
  const element = make("div", { class: "hs-sliders" });
  let drawn = "";

  /** @param {Axis} axis @param {number} k */
  function slider({ name, size, text }, k) {
    const input = make("input", { type: "range", class: "hs-range", min: 0, max: Math.max(0, size - 1), step: 1, disabled: size < 2 ? "" : null, "aria-label": name });
    const value = make("span", { class: "hs-range-value" });
    input.addEventListener("input", () => {
      setText(value, text(Number(input.value)));
      setAttribute(input, "aria-valuetext", value.textContent);
      moved(k, Number(input.value));
    });
    return make("label", { class: "hs-slider" }, [make("span", { text: name }), input, value]);
  }

  return {
    element,
    /** @param {Axis[]} axes @param {number[]} at */
    update(axes, at) {
      const key = JSON.stringify(axes.map(({ name, size }) => [name, size]));
      if (key !== drawn) {
        drawn = key;
        element.replaceChildren(...axes.map(slider));
      }
      [...element.children].forEach((label, k) => {
        const input = /** @type {HTMLInputElement} */ (label.querySelector("input"));
        if (input !== document.activeElement) input.value = String(at[k]);
        setAttribute(input, "aria-valuetext", axes[k].text(at[k]));
        setText(/** @type {HTMLElement} */ (label.lastElementChild), axes[k].text(at[k]));
      });
    },
  };
}
