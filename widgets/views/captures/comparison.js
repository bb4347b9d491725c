// The reference of comparisons: a capture, A, that stays pinned while others are selected as B.

import { make, setAttribute, setText } from "../../static/dom.js";
import { createPicker } from "./picker.js";
import { setTitle } from "./titles.js";

/** @typedef {import("../../static/python.js").Selection} Selection */
/** @typedef {{index: number, label: string, sizes: number[]}} Pinned */

/** @param {import("../../static/types.js").Send} send @param {(index: number) => void} changed called with the index of the new A, or -1 */
export function createComparison(send, changed) {
  /** @type {Selection | null} */
  let selection = null;
  /** @type {Pinned | null} */
  let pinned = null;
  let lost = false;
  const pin = make("button", { type: "button", class: "hs-button", "aria-pressed": "false", text: "Pin A", title: "Compare with this capture: the next selection is B", onclick: () => (isA() ? setPinned(null) : pinSelected()) });
  const picker = createPicker({
    label: "Compare with",
    ask: (text) => selection && send({ type: "choices", index: selection.index, text }),
    pick: ({ index, label }) => selection && setPinned({ index, label, sizes: selection.sizes }),
  });
  const name = make("span", { class: "hs-pinned-name" });
  const state = make("span", { class: "hs-count" });
  const unpin = make("button", { type: "button", class: "hs-button", text: "Stop comparing", onclick: () => (setPinned(null), picker.input.focus()) });
  const line = make("div", { class: "hs-pinned-line", hidden: "" }, [make("span", { class: "hs-badge hs-pinned", text: "A" }), name, state, unpin]);

  function isA() {
    return pinned !== null && pinned.index === selection?.index;
  }

  function pinSelected() {
    if (selection) setPinned({ index: selection.index, label: `step ${selection.step}: ${selection.key}`, sizes: selection.sizes });
  }

  /** @param {Pinned | null} now */
  function setPinned(now) {
    [pinned, lost] = [now, false];
    draw();
    changed(now?.index ?? -1);
  }

  function fits() {
    return pinned !== null && String(pinned.sizes) === String(selection?.sizes);
  }

  function draw() {
    setAttribute(pin, "aria-pressed", isA());
    line.hidden = !pinned;
    if (!pinned) return;
    setTitle(name, pinned.label);
    const shape = pinned.sizes.join("x") || "()";
    setText(state, isA() ? "Select another capture: it becomes B." : lost ? "Its value is no longer kept." : fits() ? "" : `It has a different shape, ${shape}: no difference.`);
  }

  return {
    tools: [pin, picker.input],
    /** Elements below the tools. */
    elements: [picker.element, line],
    /** @param {Selection} now */
    select(now) {
      selection = now;
      picker.input.hidden = !now.comparable;
      picker.update(now.choices, now.comparable);
      draw();
    },
    /** Return the index of the capture that the selected one is compared with, or -1. */
    other: () => (pinned && !isA() && !lost && fits() ? pinned.index : -1),
    /** Handle the eviction of A's value, for which Python sent no data. */
    lose() {
      lost = true;
      draw();
    },
    /** @param {import("../../static/python.js").Choices} answer */
    receive({ index, text, choices, total }) {
      if (index === selection?.index) picker.receive(text, choices, total);
    },
    destroy: () => picker.destroy(),
  };
}
